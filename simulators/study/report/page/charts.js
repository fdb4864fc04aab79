// Small pictures of aggregated numbers; every one stands beside the numbers it shows.
import { decimal, element } from "./html.js";

// A histogram in a table cell; heights are roots of counts, so that few are still seen.
export function histogram(counts) {
  const most = Math.max(...counts), width = 160 / counts.length;
  const height = (count) => (count ? Math.max(2, 30 * Math.sqrt(count / most)) : 0);
  return element("svg", { viewBox: "0 0 160 32", class: "histogram", "aria-hidden": "true" },
    element("line", { x1: 0, y1: 31, x2: 160, y2: 31 }),
    counts.map((count, n) => element("rect", { x: n * width + 0.5, y: 31 - height(count), width: width - 1, height: height(count) })));
}

const STYLES = ["", "6 3", "2 3", "8 3 2 3"];

// The next of 1, 2, 5 times a power of ten.
const rounded = (value) => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((each) => each * power >= value * 0.999);
};

// Lines {name, points: [[x, y]..]} over a shared axis, with a legend.
export function lines(label, axis, series) {
  const [w, h, left, bottom] = [Math.min(600, document.documentElement.clientWidth - 32), 300, 52, 44];
  const points = series.flatMap((each) => each.points);
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  const [least, most] = [Math.min(0, ...points.map(([, y]) => y)), Math.max(1e-9, ...points.map(([, y]) => y))];
  const step = rounded((most - least) / 4);
  const [low, top] = [step * Math.floor(least / step), step * Math.ceil(most / step)];
  const x = (value) => left + ((value - xs[0]) / (xs.at(-1) - xs[0] || 1)) * (w - left - 12);
  const y = (value) => h - bottom - ((value - low) / (top - low)) * (h - bottom - 12);
  const ticks = Array.from({ length: Math.round((top - low) / step) + 1 }, (_, n) => low + step * n);
  const colour = (n) => `var(--line-${n % 8})`;
  const figure = element("svg", { viewBox: `0 0 ${w} ${h}`, class: "lines", role: "img", "aria-label": `${label}; the numbers are in the table below` },
    ticks.map((tick) => element("g", { class: "grid" },
      element("line", { x1: left, x2: w - 12, y1: y(tick), y2: y(tick) }),
      element("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, decimal(tick, 6)))),
    xs.map((tick) => element("text", { x: x(tick), y: h - bottom + 18, "text-anchor": "middle" }, decimal(tick))),
    element("text", { x: (left + w) / 2, y: h - 8, "text-anchor": "middle" }, axis),
    series.map((each, n) => element("g", { style: `--colour:${colour(n)}` },
      element("polyline", { points: each.points.map(([a, b]) => `${x(a)},${y(b)}`).join(" "), "stroke-dasharray": STYLES[(n + Math.floor(n / 8)) % 4] }),
      each.points.map(([a, b]) => element("circle", { cx: x(a), cy: y(b), r: 3 }, element("title", {}, `${each.name}: ${decimal(b)} at ${decimal(a)}`))))));
  const legend = element("ul", { class: "legend" }, series.map((each, n) =>
    element("li", { style: `--colour:${colour(n)}` },
      element("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" }, element("line", { x1: 0, x2: 26, y1: 4, y2: 4, "stroke-dasharray": STYLES[(n + Math.floor(n / 8)) % 4] })),
      each.name)));
  return element("div", { class: "chart" }, figure, legend);
}
