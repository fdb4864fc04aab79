// Elements, numbers and tables.

export function element(name, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "rect", "circle", "text", "title", "polyline"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return made;
}

export const decimal = (number, digits = 4) =>
  number === null || number === undefined ? "–" : Number(number).toLocaleString("en", { maximumFractionDigits: digits });

export const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(2)} %`);

// A table; columns are {title, cell(row), key(row)?, number?}. Those with a key sort by a button in the heading.
export function table(caption, columns, rows, { sorted, descending } = {}) {
  const body = element("tbody");
  const fill = (listed) =>
    body.replaceChildren(
      ...listed.map((each) =>
        element("tr", {}, columns.map((column, n) =>
          element(n ? "td" : "th", { class: column.number ? "number" : null, scope: n ? null : "row" }, [column.cell(each)].flat().filter((part) => part !== null)))),
      ),
    );
  const headings = columns.map((column) => {
    const heading = element("th", { scope: "col", class: column.number ? "number" : null });
    if (!column.key) heading.append(column.title);
    else heading.append(element("button", { type: "button", class: "sort", onclick: () => sort(column, heading) }, column.title));
    return heading;
  });
  const sort = (column, heading, up = heading.getAttribute("aria-sort") !== "ascending") => {
    headings.forEach((each) => each.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const compare = (a, b) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b === up ? -1 : 1);
    fill([...rows].sort((a, b) => compare(column.key(a), column.key(b))));
  };
  fill(rows);
  if (sorted !== undefined) sort(columns[sorted], headings[sorted], !descending);
  const made = element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, headings)), body);
  return element("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" }, made);
}

export function choice(label, options, changed, id) {
  const select = element("select", { id, onchange: () => changed(select.value) },
    options.map(([value, text]) => element("option", { value }, text)));
  return element("label", { class: "choice" }, element("span", {}, label), select);
}
