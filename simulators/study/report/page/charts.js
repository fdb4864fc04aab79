// Small pictures of aggregated numbers; every one stands beside the numbers it shows.
import { element } from "./html.js";

// A histogram in a table cell; heights are roots of counts, so that few are still seen.
export function histogram(counts) {
  const most = Math.max(...counts), width = 160 / counts.length;
  const height = (count) => (count ? Math.max(2, 30 * Math.sqrt(count / most)) : 0);
  return element("svg", { viewBox: "0 0 160 32", class: "histogram", "aria-hidden": "true" },
    element("line", { x1: 0, y1: 31, x2: 160, y2: 31 }),
    counts.map((count, n) => element("rect", { x: n * width + 0.5, y: 31 - height(count), width: width - 1, height: height(count) })));
}
