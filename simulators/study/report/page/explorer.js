// One small instance under the hand: sliders for its rows, a verifier's walk, the law that comes out.
import { choice, element, prefixed, row, spelled, table } from "./html.js";
import { measure, Recorded } from "./law.js";
import { outcome, walkList } from "./steps.js";
import { named, picture } from "./tree.js";

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

export class Explorer {
  constructor(place, instances) {
    this.place = place;
    this.instances = instances;
    this.chosen = { instance: 0, verifier: "traversal", draft: null, taken: [] };
    this.parts = Object.fromEntries(["sliders", "leaves", "drafts", "tree", "walk", "outcome", "law"].map((name) => [name, element("div", { id: `explorer-${name}` })]));
    this.said = element("p", { id: "said", class: "said", role: "status", "aria-live": "polite" });
    this.stepSaid = element("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  }

  async open(instance = this.chosen.instance) {
    this.chosen.instance = Number(instance);
    const { data } = this.instances[this.chosen.instance];
    this.recorded = new Recorded(await unpacked(data));
    const names = this.recorded.verifiers.map((each) => each.name);
    if (!names.includes(this.chosen.verifier)) this.chosen.verifier = names[0];
    Object.assign(this.chosen, { taken: [], draft: null });
    this.layout(names);
    this.sliders();
    this.refresh();
  }

  layout(names) {
    const pick = choice("Instance", this.instances.map((each, n) => [n, each.title]), (n) => this.open(n).then(() => document.getElementById("instance").focus()), "instance");
    pick.querySelector("select").value = this.chosen.instance;
    const verifier = choice("Verifier", names.map((name) => [name, name]), (name) => {
      Object.assign(this.chosen, { verifier: name, taken: [] });
      this.refresh();
    }, "verifier");
    verifier.querySelector("select").value = this.chosen.verifier;
    const reset = element("button", { type: "button", id: "reset", onclick: () => {
      this.recorded.reset();
      this.chosen.taken = [];
      this.sliders();
      this.refresh();
    } }, "Rows as given");
    const { parts } = this;
    this.place.replaceChildren(
      element("div", { class: "choices" }, pick, verifier, reset),
      this.said, this.stepSaid,
      element("div", { class: "columns" },
        element("section", { "aria-label": "Rows" }, element("h3", {}, "Rows"), parts.sliders, parts.leaves),
        element("section", { "aria-label": "Draft and walk" }, element("h3", {}, "Draft and walk"), parts.drafts, parts.tree, parts.walk, parts.outcome),
        element("section", { "aria-label": "Law" }, element("h3", {}, "What comes out"), parts.law)));
  }

  sliders() {
    const inner = [], leaves = [];
    this.recorded.sliders.forEach((slider, n) => {
      const name = `${slider.of}( · | ${prefixed(slider.prefix)} )`;
      const value = element("output", { for: `slider-${n}` });
      const show = () => {
        const numbers = row(this.recorded.current(slider.of, slider.prefix));
        value.textContent = numbers;
        input.setAttribute("aria-valuetext", numbers);
      };
      const input = element("input", {
        type: "range", id: `slider-${n}`, min: 0, max: slider.rows.length - 1, step: 1,
        "data-row": `${slider.of} ${slider.prefix}`, disabled: slider.rows.length < 2,
        oninput: () => {
          this.recorded.positions[n] = Number(input.value);
          show();
          this.refresh();
        },
      });
      input.value = this.recorded.positions[n];
      show();
      const leaf = slider.prefix !== "" && slider.prefix.split(" ").length === this.recorded.depth;
      (leaf ? leaves : inner).push(element("div", { class: `slider ${slider.of}` }, element("label", { for: `slider-${n}` }, name), value, input));
    });
    if (inner.every((each) => each.querySelector("input").disabled)) {
      inner.unshift(element("p", { class: "note" }, "This instance has too many drafts for sliders; rows that drafts look at stay as given."));
    }
    const open = this.parts.leaves.querySelector("details")?.open;
    this.parts.sliders.replaceChildren(...inner);
    this.parts.leaves.replaceChildren(element("details", { open }, element("summary", {}, "Target rows after a full draft"), ...leaves));
  }

  refresh() {
    const { recorded, chosen } = this;
    const verifier = recorded.verifiers.findIndex((each) => each.name === chosen.verifier);
    const drafts = recorded.drafts(verifier);
    const names = drafts.map(named);
    const likeliest = drafts.reduce((best, each, n) => (each.weight.number > drafts[best].weight.number ? n : best), 0);
    const at = names.includes(chosen.draft) ? names.indexOf(chosen.draft) : likeliest;
    chosen.draft = names[at];
    this.draftChoice(drafts, names, at);
    this.walk(drafts[at]);
    this.law(measure(recorded, verifier), recorded.verifiers[verifier]);
  }

  draftChoice(drafts, names, at) {
    const pick = choice("Draft", drafts.map((draft, n) => [n, `${names[n]}, with probability ${spelled(draft.weight)}`]), (n) => {
      Object.assign(this.chosen, { draft: names[n], taken: [] });
      this.refresh();
      document.getElementById("draft").focus();
    }, "draft");
    pick.querySelector("select").value = at;
    this.parts.drafts.replaceChildren(pick);
  }

  walk(draft) {
    const changed = (taken, step, branch) => {
      this.chosen.taken = taken;
      this.walk(draft);
      this.parts.walk.querySelector(`[data-step="${step}"][data-branch="${branch}"]`).focus();
      this.stepSaid.textContent = this.parts.outcome.textContent;
    };
    const { steps, stop, list } = walkList(this.recorded, draft.step, this.chosen.taken, changed);
    this.parts.tree.replaceChildren(picture(this.recorded, draft, stop, steps));
    this.parts.walk.replaceChildren(steps.length ? list : element("p", {}, "No choice is left: this draft has one way to end."));
    this.parts.outcome.replaceChildren(...outcome(stop, draft.tree, this.recorded.current("p", stop.prefix)));
  }

  law({ words, accepted, distance }, verifier) {
    const exact = distance.isZero;
    const state = verifier.keeps_state && !exact ? " It keeps state: the next iteration's modified target makes up for it." : "";
    const shown = (name, value) => element("span", {}, `${name} `, element("b", { "data-number": name, title: value.toString() }, spelled(value)));
    this.said.replaceChildren(
      element("b", { class: exact ? "good" : "bad" }, exact ? "Law equals the target's. " : "Law differs from the target's. "),
      shown("total variation", distance), ", ", shown("E[tau]", accepted), `.${state}`);
    const most = Math.max(...words.flatMap((each) => [each.got.number, each.want.number]));
    const bar = (value, kind) => element("span", { class: `bar ${kind}`, style: `width:${(100 * value.number) / most}%`, "aria-hidden": "true" });
    this.parts.law.replaceChildren(
      table(`First ${this.recorded.depth + 1} tokens, ${verifier.name}`, [
        { title: "tokens", cell: (each) => each.word },
        { title: "emitted", number: true, cell: (each) => element("span", { title: each.got.toString() }, spelled(each.got)) },
        { title: "target", number: true, cell: (each) => element("span", { title: each.want.toString() }, spelled(each.want)) },
        { title: "difference", number: true, cell: (each) => (each.got.equals(each.want) ? "0" : element("b", { class: "bad" }, spelled(each.got.minus(each.want)))) },
        { title: "", cell: (each) => element("span", { class: "bars" }, bar(each.got, "got"), bar(each.want, "want")) },
      ], words),
      element("p", { class: "note" }, `${verifier.name}: ${verifier.source}. Declared ${verifier.lossless ? "lossless" : "lossy"}. Upper bar: what comes out; lower bar: the target. Shorter blocks are continued by the target.`));
  }
}
