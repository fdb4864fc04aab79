// Fills the page from the data it carries. The explorer's numbers are unpacked when it is first reached.
import { Explorer } from "./explorer.js";
import { decimal } from "./html.js";
import { code, curves, filtered, gaps, verdict, verdicts, worst, wrong } from "./sections.js";

const data = JSON.parse(document.getElementById("data").textContent);
const fill = (id, made) => document.getElementById(id)?.querySelector(".body").replaceChildren(...[made].flat());

const tables = {
  verdicts: (rows) => verdicts(rows),
  gaps: (settings) => gaps(settings),
  worst: ({ missing, wrong: lossy }) => [...(missing.length ? [worst(missing)] : []), ...(lossy.length ? [wrong(lossy)] : [])],
  curves: (settings) => curves(settings),
  proofs: (rows) => filtered("Proofs", [["verifier", "verifier"], ["draft", "draft"], ["scope", "scope"], ["verdict", "verdict", verdict], ["cells", "cells"], ["parameters", "parameters"], ["why", "why"]], rows, "filter-proofs"),
  audits: (rows) => filtered("Audits", [["target", "target"], ["adapter", "adapter"], ["instances", "instances"], ["verdict", "verdict", verdict], ["largest TV", "total_variation", (value) => decimal(value, 6)], ["findings", "findings"]], rows, "filter-audits"),
  claims: (rows) => filtered("Claims", [["claim", "statement"], ["source", "source"], ["scope", "scope"], ["verdict", "verdict"], ["behind it", "behind"], ["reproduce", "command", code]], rows, "filter-claims"),
  mutants: (rows) => filtered("Mutants and controls", [["mutant", "name", code], ["flaw", "flaw"], ["found", "verdict"], ["evidence", "evidence"], ["on", "instance"]], rows, "filter-mutants"),
};
for (const [id, made] of Object.entries(tables)) if (data[id]) fill(id, made(data[id]));

const section = document.getElementById("explorer");
if (section) {
  const packed = [...document.querySelectorAll("script[data-instance]")].map((script) => ({ title: script.dataset.title, data: script.textContent }));
  const explorer = new Explorer(section.querySelector(".body"), packed);
  const linked = () => {
    const [name, state] = location.hash.split("?");
    if (name !== "#explorer" || state === undefined) return false;
    explorer.open(new URLSearchParams(state)).then(() => section.scrollIntoView());
    return true;
  };
  const seen = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) {
      seen.disconnect();
      explorer.open();
    }
  }, { rootMargin: "400px" });
  if (!linked()) seen.observe(section);
  addEventListener("hashchange", () => linked() && seen.disconnect());
}
