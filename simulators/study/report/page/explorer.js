// One small instance under the hand: sliders for its rows, a verifier's walk, the law that comes out.
import { choice, element, percent, prefixed, row, spelled, table } from "./html.js";
import { measure, optimum, Recorded, surplus } from "./law.js";
import { outcome, walkList } from "./steps.js";
import { legend, named, picture } from "./tree.js";

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const STEPS = { ArrowRight: 1, ArrowUp: 1, PageUp: 4, ArrowLeft: -1, ArrowDown: -1, PageDown: -4 };

export class Explorer {
  constructor(place, instances) {
    this.place = place;
    this.instances = instances;
    this.chosen = { instance: 0, verifier: "traversal", against: "", draft: null, taken: [] };
    this.parts = Object.fromEntries(["sliders", "leaves", "drafts", "tree", "walk", "outcome", "law"].map((name) => [name, element("div", { id: `explorer-${name}` })]));
    this.said = element("div", { id: "said", class: "said", role: "status", "aria-live": "polite" });
    this.stepSaid = element("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    this.link = element("a", { id: "link", href: "#explorer" }, "Link to this view");
  }

  // `state` is what a link says: instance, verifier, against, draft, taken, and "p 0 1" or "q" -> the row's value.
  async open(state = new URLSearchParams()) {
    const { chosen } = this;
    const titled = this.instances.findIndex((each) => each.title === state.get("instance"));
    if (titled >= 0) chosen.instance = titled;
    this.recorded = new Recorded(await unpacked(this.instances[chosen.instance].data));
    const { recorded } = this, names = recorded.verifiers.map((each) => each.name);
    for (const key of ["verifier", "against"]) if (state.has(key)) chosen[key] = state.get(key);
    if (!names.includes(chosen.verifier)) chosen.verifier = names[0];
    if (!names.includes(chosen.against)) chosen.against = "";
    chosen.taken = state.get("taken")?.split(",").map(Number) ?? [];
    chosen.draft = state.get("draft");
    recorded.sliders.forEach(({ of, prefix }, n) => {
      const found = recorded.values(n).findIndex((value) => value.toString() === state.get(`${of} ${prefix}`.trim()));
      if (found >= 0) recorded.positions[n] = found;
    });
    this.layout(names);
    this.sliders();
    this.refresh(false);
  }

  // The state as a link, which is the page's address after every change.
  linked(changed = true) {
    const { recorded, chosen } = this;
    const state = new URLSearchParams({ instance: this.instances[chosen.instance].title, verifier: chosen.verifier });
    if (chosen.against) state.set("against", chosen.against);
    state.set("draft", chosen.draft);
    if (chosen.taken.length) state.set("taken", chosen.taken);
    for (const { of, prefix, n } of recorded.moved) state.set(`${of} ${prefix}`.trim(), recorded.values(n)[recorded.positions[n]]);
    this.link.href = `#explorer?${state}`;
    if (changed) history.replaceState(null, "", this.link.href);
  }

  layout(names) {
    const pick = (label, options, key, changed) => {
      const made = choice(label, options, (value) => changed(value), key);
      made.querySelector("select").value = this.chosen[key];
      return made;
    };
    const rule = (key) => (name) => {
      Object.assign(this.chosen, key === "verifier" ? { verifier: name, taken: [] } : { against: name });
      this.refresh();
    };
    const reset = element("button", { type: "button", id: "reset", onclick: () => {
      this.recorded.reset();
      this.chosen.taken = [];
      this.sliders();
      this.refresh();
    } }, "Rows as given");
    const { parts } = this, listed = names.map((name) => [name, name]);
    this.place.replaceChildren(
      element("div", { class: "choices" },
        pick("Instance", this.instances.map((each, n) => [n, each.title]), "instance", (n) => {
          this.chosen.instance = Number(n);
          this.open().then(() => {
            this.linked();
            document.getElementById("instance").focus();
          });
        }),
        pick("Verifier", listed, "verifier", rule("verifier")),
        pick("Compared with", [["", "no other"], ...listed], "against", rule("against")),
        reset, this.link),
      this.said, this.stepSaid,
      element("div", { class: "columns" },
        element("section", { "aria-label": "Rows" }, element("h3", {}, "Rows"), parts.sliders, parts.leaves),
        element("section", { "aria-label": "Draft and walk" }, element("h3", {}, "Draft and walk"), parts.drafts, parts.tree, legend(), parts.walk, parts.outcome),
        element("section", { "aria-label": "Law" }, element("h3", {}, "What comes out"), parts.law)));
  }

  // Each slider runs over the probability of token 0 and rests at the values that were recorded.
  sliders() {
    const inner = [], leaves = [];
    this.recorded.sliders.forEach((slider, n) => {
      const values = this.recorded.values(n).map((value) => value.number);
      const shown = element("output", { for: `slider-${n}` });
      const show = () => {
        const numbers = row(this.recorded.current(slider.of, slider.prefix));
        shown.textContent = numbers;
        input.value = values[this.recorded.positions[n]];
        input.setAttribute("aria-valuetext", numbers);
      };
      const move = (at) => {
        this.recorded.positions[n] = Math.max(0, Math.min(values.length - 1, at));
        show();
        this.refresh();
      };
      const nearest = (value) => values.reduce((best, each, at) => (Math.abs(each - value) < Math.abs(values[best] - value) ? at : best), 0);
      const input = element("input", {
        type: "range", id: `slider-${n}`, min: 0, max: 1, step: "any", list: `values-${n}`,
        "data-row": `${slider.of} ${slider.prefix}`, disabled: values.length < 2,
        oninput: () => move(nearest(Number(input.value))),
        onkeydown: (event) => {
          if (!STEPS[event.key]) return;
          event.preventDefault();
          move(this.recorded.positions[n] + STEPS[event.key]);
        },
      });
      show();
      const ticks = element("datalist", { id: `values-${n}` }, values.map((value) => element("option", { value })));
      const leaf = slider.prefix !== "" && slider.prefix.split(" ").length === this.recorded.depth;
      (leaf ? leaves : inner).push(element("div", { class: `slider ${slider.of}` },
        element("label", { for: `slider-${n}` }, `${slider.of}( · | ${prefixed(slider.prefix)} )`), shown, input, ticks));
    });
    if (inner.every((each) => each.querySelector("input").disabled)) {
      inner.unshift(element("p", { class: "note" }, "This instance has too many drafts for sliders; rows that drafts look at stay as given."));
    }
    const open = this.parts.leaves.querySelector("details")?.open;
    this.parts.sliders.replaceChildren(element("p", { class: "note" }, "A slider is the probability of token 0."), ...inner);
    this.parts.leaves.replaceChildren(element("details", { open }, element("summary", {}, "Target rows after a full draft"), ...leaves));
  }

  refresh(changed = true) {
    const { recorded, chosen } = this;
    const at = (name) => recorded.verifiers.findIndex((each) => each.name === name);
    const verifier = at(chosen.verifier), drafts = recorded.drafts(verifier), names = drafts.map(named);
    const likeliest = drafts.reduce((best, each, n) => (each.weight.number > drafts[best].weight.number ? n : best), 0);
    const draft = names.includes(chosen.draft) ? names.indexOf(chosen.draft) : likeliest;
    chosen.draft = names[draft];
    this.draftChoice(drafts, names, draft);
    this.walk(drafts[draft]);
    this.law([verifier, ...(chosen.against ? [at(chosen.against)] : [])]);
    this.linked(changed);
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
      this.linked();
      this.parts.walk.querySelector(`[data-step="${step}"][data-branch="${branch}"]`).focus();
      this.stepSaid.textContent = this.parts.outcome.textContent;
    };
    const { steps, stop, list } = walkList(this.recorded, draft.step, this.chosen.taken, changed);
    this.parts.tree.replaceChildren(picture(this.recorded, draft, stop, steps));
    this.parts.walk.replaceChildren(steps.length ? list : element("p", {}, "No choice is left: this draft has one way to end."));
    this.parts.outcome.replaceChildren(...outcome(stop, draft.tree, this.recorded.current("p", stop.prefix)));
  }

  // The verdict on each chosen rule, and their laws beside the target's.
  law(chosen) {
    const best = optimum(this.recorded);
    const rules = chosen.map((n) => ({ ...this.recorded.verifiers[n], n, ...measure(this.recorded, n) }));
    this.said.replaceChildren(...rules.map((rule, n) => this.verdict(rule, best, n ? "other " : "")));
    const words = rules[0].words.map((each, n) => ({ ...each, all: rules.map((rule) => rule.words[n].got) }));
    const most = Math.max(...words.flatMap((each) => [...each.all, each.want].map((mass) => mass.number)));
    const bar = (value, kind) => element("span", { class: `bar ${kind}`, style: `width:${(100 * value.number) / most}%`, "aria-hidden": "true" });
    const mass = (value, want) => element(value.equals(want) ? "span" : "b", { title: value.toString(), class: value.equals(want) ? null : "bad" }, spelled(value));
    this.parts.law.replaceChildren(
      table(`First ${this.recorded.depth + 1} tokens`, [
        { title: "tokens", cell: (each) => each.word },
        ...rules.map((rule, n) => ({ title: rule.name, number: true, cell: (each) => mass(each.all[n], each.want) })),
        { title: "target", number: true, cell: (each) => mass(each.want, each.want) },
        ...(rules.length > 1 ? [] : [{ title: "difference", number: true, cell: (each) => spelled(each.got.minus(each.want)) }]),
        { title: "", cell: (each) => element("span", { class: "bars" }, each.all.map((value, n) => bar(value, n ? "other" : "got")), bar(each.want, "want")) },
      ], words),
      element("ul", { class: "legend" },
        rules.map((rule, n) => element("li", {}, element("span", { class: `bar swatch ${n ? "other" : "got"}` }), `${rule.name}: ${rule.source}. Declared ${rule.lossless ? "lossless" : "lossy"}.`)),
        element("li", {}, element("span", { class: "bar swatch want" }), "the target; it continues shorter blocks")));
  }

  verdict({ name, n, words, accepted, distance, keeps_state }, best, which) {
    const exact = distance.isZero;
    const state = keeps_state && !exact ? " It keeps state: the next iteration's modified target makes up for it." : "";
    const shown = (what, value) => element("span", {}, `${what} `, element("b", { "data-number": `${which}${what}`, title: value.toString() }, spelled(value)));
    const share = best && !best.isZero ? ` (${percent(accepted.number / best.number)})` : "";
    const found = surplus(this.recorded, n, words);
    const lead = () => {
      Object.assign(this.chosen, { verifier: name, against: which ? this.chosen.verifier : this.chosen.against, draft: named(found.draft), taken: found.taken });
      this.place.querySelector("#verifier").value = name;
      this.place.querySelector("#against").value = this.chosen.against;
      this.refresh();
    };
    return element("p", {},
      element("b", { class: exact ? "good" : "bad" }, `${name}: ${exact ? "law equals the target's" : "law differs from the target's"}. `),
      shown("total variation", distance), ", ", shown("E[tau]", accepted),
      best ? [", ", shown("optimum", best), share] : ", optimum known only for the rows as given", `.${state}`,
      found ? [` Tokens ${found.word} come out first with probability ${spelled(found.got)}, and should with ${spelled(found.want)}. `,
        element("button", { type: "button", class: "lead", onclick: lead }, "Show the draft behind it")] : null);
  }
}
