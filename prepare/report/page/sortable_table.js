/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table in a box of its own, which scrolls instead of the page and takes the focus for the arrow
 * keys. A column is {title, cell(row), value(row), number, kind}: with `value` its head sorts by
 * it.
 */
let tableCount = 0;

function bodyCell(column, row, first) {
  const kind = [column.number && "number", column.kind].filter(Boolean).join(" ") || null;

  return first
    ? make("th", {scope: "row", class: kind}, column.cell(row))
    : make("td", {class: kind}, column.cell(row));
}

function compareValues(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en");
}

/* `options`: caption, tall (bounded height), pinned (first column stays), rowClass(row). */
function makeTable(columns, rows, options) {
  const captionId = `table-${tableCount++}`;
  const body = make("tbody");
  const heads = columns.map((column) => make("th", {
    scope: "col", class: column.number ? "number" : null,
  }));
  const table = {sorted: -1, down: false, shown: rows};

  table.show = (shown) => {
    table.shown = shown;
    const order = shown.slice();
    if (table.sorted >= 0) {
      const {value} = columns[table.sorted];
      order.sort((a, b) => compareValues(value(a), value(b)) * (table.down ? -1 : 1));
    }
    body.replaceChildren(...order.map((row) => make("tr", {
      class: options.rowClass ? options.rowClass(row) : null,
    }, columns.map((column, i) => bodyCell(column, row, i === 0)))));
  };
  const sortBy = (index) => {
    table.down = table.sorted === index && !table.down;
    table.sorted = index;
    heads.forEach((head, i) => {
      const arrow = head.querySelector(".arrow");
      head.removeAttribute("aria-sort");
      if (i === index) {
        head.setAttribute("aria-sort", table.down ? "descending" : "ascending");
      }
      if (arrow) {
        arrow.textContent = i !== index ? "↕" : table.down ? "↓" : "↑";
      }
    });
    table.show(table.shown);
  };
  columns.forEach((column, i) => append(heads[i], [column.value
    ? make("button", {type: "button", onclick: () => sortBy(i)}, column.title,
      make("span", {class: "arrow", "aria-hidden": "true"}, "↕"))
    : column.title]));
  table.show(rows);
  table.node = make("div", {
    class: ["scroll", options.tall && "tall", options.pinned && "pinned"].filter(Boolean).join(" "),
    role: "region", tabindex: "0", "aria-labelledby": captionId,
  }, make("table", null, make("caption", {id: captionId}, make("span", null, options.caption)),
    make("thead", null, make("tr", null, heads)), body));
  return table;
}
