// Fills the page from the data it carries.
import { decimal } from "./html.js";
import { gaps, verdicts, worst, wrong } from "./sections.js";

const data = JSON.parse(document.getElementById("data").textContent);
const fill = (id, made) => document.getElementById(id)?.querySelector(".body").replaceChildren(...[made].flat());

const tables = {
  verdicts: (rows) => verdicts(rows),
  gaps: (settings) => gaps(settings),
  worst: ({ missing, wrong: lossy }) => [...(missing.length ? [worst(missing)] : []), ...(lossy.length ? [wrong(lossy)] : [])],
};
for (const [id, made] of Object.entries(tables)) if (data[id]) fill(id, made(data[id]));
