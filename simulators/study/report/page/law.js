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
  get moved() {
    return this.sliders.map((slider, n) => ({ ...slider, n })).filter(({ at, n }) => at !== this.positions[n]);
  }
  // The probabilities of token 0 at a slider's positions, rising.
  values(n) {
    return this.sliders[n].rows.map((number) => this.row(number)[0]);
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

// The largest E[tau] of lossless rules without state: on a chain block verification's; of one level
// 1 + min over sets H of p(H) - Pr(all drafts in H); else what the engine certified for the rows as given, or null.
export function optimum(recorded) {
  const block = recorded.verifiers.findIndex((each) => each.name === "block");
  if (recorded.label === "chain" && block >= 0) return measure(recorded, block).accepted;
  if (recorded.depth > 1) return recorded.optimum && !recorded.moved.length ? Rational.read(recorded.optimum) : null;
  const p = recorded.current("p", ""), drafts = recorded.drafts(0);
  let least = ZERO;
  for (let set = 0; set < 2 ** recorded.vocab; set++) {
    const inside = (token) => Boolean(set & (1 << token));
    const gain = p.filter((_, token) => inside(token)).reduce((sum, mass) => sum.plus(mass), ZERO);
    const value = drafts.filter(({ tree }) => tree.every(([token]) => inside(token))).reduce((sum, { weight }) => sum.minus(weight), gain);
    if (value.minus(least).top < 0n) least = value;
  }
  return ONE.plus(least);
}

// The shortest tokens that come out too often, and the draft and branches from which most of their mass comes.
export function surplus(recorded, verifier, words) {
  const sums = new Map();
  for (const { word, got, want } of words) {
    word.split(" ").forEach((_, n, tokens) => {
      const start = tokens.slice(0, n + 1).join(" "), [a, b] = sums.get(start) ?? [ZERO, ZERO];
      sums.set(start, [a.plus(got), b.plus(want)]);
    });
  }
  const over = [...sums].map(([word, [got, want]]) => ({ word, got, want, by: got.minus(want).number })).filter((each) => each.by > 0);
  if (!over.length) return null;
  const [found] = over.sort((a, b) => length(a.word) - length(b.word) || b.by - a.by);
  const wanted = found.word.split(" ").map(Number);
  const share = ({ prefix, row }) => {
    const kept = prefix === "" ? [] : prefix.split(" ").map(Number);
    if (kept.some((token, n) => n < wanted.length && token !== wanted[n])) return ZERO;
    return wanted.slice(kept.length).reduce((mass, token, n) => {
      const at = n || row === null ? recorded.current("p", wanted.slice(0, kept.length + n).join(" ")) : row;
      return mass.times(at[token]);
    }, ONE);
  };
  let best = { mass: -1 };
  const follow = (draft, number, weight, taken) => {
    const step = recorded.step(number);
    if (!step.stops) {
      step.after.forEach((next, n) => next >= 0 && follow(draft, next, weight.times(step.branches[n]), [...taken, n]));
      return;
    }
    const mass = weight.times(share(step)).number;
    if (mass > best.mass) best = { draft, taken, mass };
  };
  recorded.drafts(verifier).forEach((draft) => follow(draft, draft.step, draft.weight, []));
  return { ...found, ...best };
}
