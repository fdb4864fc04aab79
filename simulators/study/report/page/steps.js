// The walk of one draft: each choice with its line of the algorithm, what is at hand, and a button for each branch.
import { element, prefixed, row, spelled } from "./html.js";

const likeliest = (step) => {
  const open = step.branches.map((mass, n) => [mass.number, n]).filter(([, n]) => step.after[n] >= 0);
  return open.sort((a, b) => b[0] - a[0])[0][1];
};

// The steps along the branches taken; where none is taken yet, along the likeliest.
export function along(recorded, first, taken) {
  const steps = [];
  let step = recorded.step(first);
  while (!step.stops) {
    const wanted = taken[steps.length];
    const branch = wanted !== undefined && step.after[wanted] >= 0 ? wanted : likeliest(step);
    steps.push({ ...step, branch });
    step = recorded.step(step.after[branch]);
  }
  return { steps, stop: step };
}

const branchName = (step, n) => (step.accepts ? ["accept", "reject"][n] : `token ${n}`);

function variables(step) {
  const shown = ({ kind, value }) => (kind === "row" ? row(value) : kind === "node" ? prefixed(value) : spelled(value));
  return element("dl", { class: "variables" },
    step.variables.map((each) => element("div", {}, element("dt", {}, each.name), element("dd", {}, shown(each)))));
}

function listing(step) {
  const lines = step.source.replace(/\n$/, "").split("\n");
  const indent = Math.min(...lines.filter((line) => line.trim()).map((line) => line.match(/^ */)[0].length));
  const code = element("code", {}, lines.map((line, n) => {
    const here = n === step.line;
    return element(here ? "mark" : "span", { class: "line" }, `${line.slice(indent)}\n`);
  }));
  return element("details", {},
    element("summary", {}, element("code", {}, lines[step.line].trim())),
    element("pre", { tabindex: "0", "aria-label": `source of ${step.name}` }, code));
}

export function walkList(recorded, first, taken, changed) {
  const { steps, stop } = along(recorded, first, taken);
  const items = steps.map((step, n) =>
    element("li", {},
      listing(step),
      variables(step),
      element("div", { class: "branches", role: "group", "aria-label": `step ${n + 1}` },
        step.branches.map((mass, branch) =>
          element("button", {
            type: "button",
            "aria-pressed": String(branch === step.branch),
            disabled: step.after[branch] < 0,
            class: step.accepts ? ["yes", "no"][branch] : "token",
            "data-step": n,
            "data-branch": branch,
            onclick: () => changed([...steps.slice(0, n).map((each) => each.branch), branch], n, branch),
          }, `${branchName(step, branch)} `, element("b", {}, spelled(mass)))))));
  return { steps, stop, list: element("ol", { class: "walk" }, items) };
}

// What the walk came to, in words.
export function outcome(stop, tree, current) {
  const kept = stop.prefix === "" ? [] : stop.prefix.split(" ");
  const drafted = [];
  const visit = (children, path) => children.forEach(([token, below]) => {
    drafted.push([...path, token].join(" "));
    visit(below, [...path, token]);
  });
  visit(tree, []);
  const inside = new Set(kept.map((_, n) => kept.slice(0, n + 1).join(" ")));
  const lost = [...new Set(drafted)].filter((prefix) => !inside.has(prefix));
  return [
    element("p", {}, element("b", {}, kept.length ? `Accepted: ${stop.prefix}. ` : "Nothing accepted. "),
      lost.length ? `Not kept: ${lost.join(", ")}.` : "Nothing was left out."),
    element("p", {}, stop.row === null ? "The extra token Y comes from the target's own row " : "The extra token Y comes from the residual row ",
      element("b", { id: "stop-row" }, row(stop.row ?? current)), ` after ${prefixed(stop.prefix)}.`),
  ];
}
