// The drafted tree as a picture, with p and q beside each token; the same in words for those who cannot see it.
import { element, prefixed, spelled } from "./html.js";

const WIDTH = 116, HEIGHT = 78;

export function picture(recorded, draft, stop, steps) {
  const nodes = [], edges = [];
  let column = 0;
  const inside = stop.prefix;
  const last = steps.at(-1);
  const judged = last?.variables.filter((each) => each.kind === "node").at(-1)?.value;
  const visit = (children, prefix, depth) => {
    const places = children.map(([token, below]) => {
      const child = prefix === "" ? `${token}` : `${prefix} ${token}`;
      const place = visit(below, child, depth + 1);
      return { ...place, token, child };
    });
    const x = places.length ? (places[0].x + places.at(-1).x) / 2 : column++;
    const node = { x, depth, prefix };
    nodes.push(node);
    const p = recorded.current("p", prefix);
    for (const place of places) {
      const q = recorded.current("q", prefix);
      edges.push({ from: node, to: place, token: place.token, p: p[place.token], q: q[place.token] });
    }
    return node;
  };
  visit(draft.tree, "", 0);
  const depth = Math.max(...nodes.map((node) => node.depth));
  const [w, h] = [Math.max(column, 2) * WIDTH, depth * HEIGHT + 40];
  const at = (node) => [node.x * WIDTH + 20, node.depth * HEIGHT + 18];
  const kept = (prefix) => prefix === "" || inside === prefix || inside.startsWith(`${prefix} `);
  const said = edges.map((e) => `${e.to.child ?? e.to.prefix}: p ${e.p}, q ${e.q}, ${kept(e.to.prefix) ? "kept" : "not kept"}`).join("; ");
  return element("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Drafted tree. ${said}`, class: "tree", style: `max-width:${w}px` },
    edges.map((edge) => {
      const [[x1, y1], [x2, y2]] = [at(edge.from), at(edge.to)];
      return element("g", { class: kept(edge.to.prefix) ? "kept" : "lost" },
        element("line", { x1, y1, x2, y2 }),
        element("text", { x: x2 + 19, y: y2 - 2, class: "p" }, `p ${spelled(edge.p)}`),
        element("text", { x: x2 + 19, y: y2 + 12, class: "q" }, `q ${spelled(edge.q)}`));
    }),
    nodes.map((node) => {
      const [x, y] = at(node);
      const token = node.prefix === "" ? "·" : node.prefix.split(" ").at(-1);
      return element("g", { class: `${kept(node.prefix) ? "kept" : "lost"} ${node.prefix === judged ? "judged" : ""}` },
        element("circle", { cx: x, cy: y, r: 14 }),
        element("text", { x, y: y + 5, class: "token" }, token),
        element("title", {}, `${prefixed(node.prefix)}: ${kept(node.prefix) ? "kept" : "not kept"}`));
    }));
}

// What the picture's signs mean.
export function legend() {
  const sign = (kind, text) => element("li", {}, element("svg", { viewBox: "0 0 30 30", class: "tree sign", "aria-hidden": "true" },
    element("g", { class: kind }, element("circle", { cx: 15, cy: 15, r: 12 }))), text);
  return element("ul", { class: "legend" }, sign("kept", "accepted"), sign("lost", "not kept"), sign("lost judged", "where the last choice was made"),
    element("li", {}, element("span", { class: "p" }, "p"), " the target's, ", element("span", { class: "q" }, "q"), " the proposal's probability of the token"));
}

// A draft in a line: tokens, with those below a token in brackets.
export function named(draft) {
  const name = (children) => children.map(([token, below]) => (below.length ? `${token}(${name(below)})` : `${token}`)).join(" ");
  if (draft.paths) return draft.paths.map((path) => path).join(" | ");
  const chain = (children) => children.length === 1 && (children[0][1].length === 0 || chain(children[0][1]));
  const flat = (children) => (children.length ? [children[0][0], ...flat(children[0][1])] : []);
  return chain(draft.tree) ? flat(draft.tree).join(" ") : name(draft.tree);
}
