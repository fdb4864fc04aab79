// The sections of results: what was aggregated when the page was made, as tables.
import { choice, decimal, element, percent, table } from "./html.js";

const word = (lossless) => (lossless === null ? "undecided" : lossless ? "lossless" : "lossy");
const marked = (found, declared) =>
  element("span", { class: found === null || found === undefined ? "" : found !== declared ? "bad" : found ? "good" : "" }, word(found));
const count = (number) => number.toLocaleString("en");

export function verdicts(rows) {
  return table("Verdicts by kind of draft and verifier; means are over the same drafts within a kind", [
    { title: "verifier", cell: (r) => r.verifier, key: (r) => r.verifier },
    { title: "drafts", cell: (r) => r.kind, key: (r) => r.kind },
    { title: "instances", number: true, cell: (r) => count(r.instances), key: (r) => r.instances },
    { title: "lossless", number: true, cell: (r) => count(r.lossless), key: (r) => r.lossless },
    { title: "largest TV", number: true, cell: (r) => exactly(r.total_variation_exact, r.total_variation), key: (r) => r.total_variation },
    { title: "mean E[tau]", number: true, cell: (r) => decimal(r.expected_accepted), key: (r) => r.expected_accepted },
    { title: "declared", cell: (r) => word(r.declared) },
    { title: "found", cell: (r) => [marked(r.found, r.declared), r.not_shown ? element("small", { class: "note" }, ` ${r.not_shown}`) : null] },
  ], rows, { sorted: 1 });
}

const exactly = (exact, value) => (exact && exact.length <= 12 ? exact : value !== null && value < 1e-6 && value > 0 ? value.toExponential(1) : decimal(value, 6));

// One table or chart for each of some settings, behind a choice.
function chosen(label, id, settings, made) {
  const place = element("div");
  const show = (n) => place.replaceChildren(made(settings[n]));
  show(0);
  const pick = choice(label, settings.map((each, n) => [n, each.title]), (n) => show(Number(n)), id);
  return element("div", {}, settings.length > 1 ? element("div", { class: "choices" }, pick) : null, place);
}

export function gaps(settings) {
  return chosen("Draft and vocabulary", "gap-setting", settings, ({ title, rows }) =>
    table(`Share of the ${rows[0].of} optimum: ${title}`, [
      { title: "verifier", cell: (r) => [r.verifier, r.note ? element("small", { class: "note" }, ` ${r.note}`) : null], key: (r) => r.verifier },
      { title: "instances", number: true, cell: (r) => count(r.instances) },
      { title: "mean E[tau]", number: true, cell: (r) => decimal(r.mean), key: (r) => r.mean },
      { title: "mean share", number: true, cell: (r) => percent(r.share), key: (r) => r.share },
      { title: "least", number: true, cell: (r) => percent(r.least), key: (r) => r.least },
      { title: "median", number: true, cell: (r) => percent(r.median), key: (r) => r.median },
      { title: "at 100 %", number: true, cell: (r) => percent(r.reached / r.instances), key: (r) => r.reached / r.instances },
    ], rows, { sorted: 3, descending: true }));
}

const instanceOf = (r) => element("details", {}, element("summary", {}, r.instance), r.document ? element("pre", { tabindex: "0", "aria-label": "instance file" }, r.document) : null);

export const worst = (rows) =>
  table("Furthest below the optimum, each verifier's worst instance", [
    { title: "verifier", cell: (r) => r.verifier, key: (r) => r.verifier },
    { title: "missing", number: true, cell: (r) => decimal(r.missing, 5), key: (r) => r.missing },
    { title: "share", number: true, cell: (r) => percent(r.share), key: (r) => r.share },
    { title: "E[tau]", number: true, cell: (r) => exactly(r.mean_exact, r.mean) },
    { title: "optimum", number: true, cell: (r) => exactly(r.optimum_exact, r.optimum) },
    { title: "of", cell: (r) => r.of },
    { title: "instance", cell: instanceOf },
  ], rows, { sorted: 1, descending: true });

export const wrong = (rows) =>
  table("Largest total variation, each lossy verifier's worst instance", [
    { title: "verifier", cell: (r) => r.verifier, key: (r) => r.verifier },
    { title: "TV", number: true, cell: (r) => exactly(r.total_variation_exact, r.total_variation), key: (r) => r.total_variation },
    { title: "first wrong prefix", cell: (r) => (r.witness_prefix === null ? "–" : r.witness_prefix || "(empty)") },
    { title: "came out", number: true, cell: (r) => exactly(r.witness_got, r.got) },
    { title: "should", number: true, cell: (r) => exactly(r.witness_want, r.want) },
    { title: "instance", cell: instanceOf },
  ], rows, { sorted: 1, descending: true });
