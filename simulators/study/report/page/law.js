// What one iteration emits, gathered from recorded walks, and how far that is from the target.
import { ONE, ZERO, Rational } from "./rational.js";

const extend = (prefix, token) => (prefix === "" ? `${token}` : `${prefix} ${token}`);
const length = (prefix) => (prefix === "" ? 0 : prefix.split(" ").length);

// One instance's document with its sliders: `positions` holds where each stands.
export class Recorded {
  constructor(document) {
    Object.assign(this, document);
    this.exact = this.pool.numbers.map((text) => Rational.read(text));
    this.slot = new Map(this.sliders.map((slider, n) => [`${slider.of} ${slider.prefix}`, n]));
    this.reset();
  }
  reset() {
    this.positions = this.sliders.map((slider) => slider.at);
  }
  row(number) {
    return this.pool.rows[number].map((at) => this.exact[at]);
  }
  current(of, prefix) {
    const n = this.slot.get(`${of} ${prefix}`);
    return this.row(this.sliders[n].rows[this.positions[n]]);
  }
  // The drafts that the sliders allow: where they stand in the record, their probability, their first step.
  drafts(verifier) {
    const found = [];
    this.groups.forEach((group, g) => {
      const part = (of) =>
        group.reads.reduce((place, prefix) => {
          const n = this.slot.get(`${of} ${prefix}`);
          return place * this.sliders[n].rows.length + this.positions[n];
        }, 0);
      const [q, p] = [part("q"), part("p")];
      const targets = group.reads.reduce((size, prefix) => size * this.sliders[this.slot.get(`p ${prefix}`)].rows.length, 1);
      group.drafts.forEach((tree, d) => {
        const weight = this.exact[group.weights[d][q]];
        if (weight.isZero) return;
        const step = this.verifiers[verifier].walks[g][d][q * targets + p];
        found.push({ tree, paths: group.paths[d], weight, step });
      });
    });
    return found;
  }
  // A recorded step: {prefix, row} of a stop, or {name, source, line, variables, branches, after, accepts}.
  step(number) {
    const entry = this.pool.steps[number];
    if (entry.length === 2) {
      return { stops: true, prefix: this.pool.prefixes[entry[0]], row: entry[1] < 0 ? null : this.row(entry[1]) };
    }
    const [code, line, variables, branches, after, accepts] = entry;
    const shown = variables.map((n) => {
      const [name, kind, value] = this.pool.values[n];
      const read = [() => this.exact[value], () => this.row(value), () => this.pool.prefixes[value]][kind];
      return { name: this.pool.names[name], kind: ["number", "row", "node"][kind], value: read() };
    });
    return { stops: false, ...this.pool.functions[code], line, variables: shown, branches: branches.map((n) => this.exact[n]), after, accepts };
  }
}

// The completed law, E[tau] and total variation at the sliders' positions.
export function measure(recorded, verifier) {
  const bonus = new Map();
  const residual = new Map();
  let accepted = ZERO;
  const add = (map, key, value) => map.set(key, map.has(key) ? map.get(key).plus(value) : value);
  const follow = (number, weight) => {
    const step = recorded.step(number);
    if (!step.stops) {
      step.after.forEach((next, n) => next >= 0 && follow(next, weight.times(step.branches[n])));
      return;
    }
    accepted = accepted.plus(weight.times(new Rational(BigInt(length(step.prefix)))));
    if (step.row === null) add(bonus, step.prefix, weight);
    else step.row.forEach((mass, x) => add(residual, extend(step.prefix, x), weight.times(mass)));
  };
  recorded.drafts(verifier).forEach(({ weight, step }) => follow(step, weight));

  const words = [];
  let distance = ZERO;
  const complete = (prefix, got, want, left) => {
    if (left === 0) {
      words.push({ word: prefix, got, want });
      distance = distance.plus(got.minus(want).absolute);
      return;
    }
    recorded.current("p", prefix).forEach((mass, x) => {
      const child = extend(prefix, x);
      const more = [bonus.get(child), residual.get(child)].filter(Boolean).reduce((sum, each) => sum.plus(each), ZERO);
      complete(child, got.times(mass).plus(more), want.times(mass), left - 1);
    });
  };
  complete("", bonus.get("") ?? ZERO, ONE, recorded.depth + 1);
  return { words, accepted, distance: distance.half };
}
