// Tables that sort, are searched, and can be kept as CSV.

// columns: {name, head, title, words, names, wide, widest, roomy, text(row), node(row), order(row), value(row), classes(row)}; what a column
// shows as text stands in the file, or its value where it draws.
function table(target, columns, rows, { caption, sorted, onRow, file } = {}) {
  const state = target.state || (target.state = { by: null, down: false, ...sorted });
  const body = element("tbody"), head = element("tr");
  for (const column of columns) {
    const cell = element("th", null, column.words && "words", column.wide && "wide", column.widest && "widest", column.roomy && "roomy", column.head && "drawn");
    cell.scope = "col";
    if (column.order) {
      const sorter = button(column.name.replace(/[(,]/g, "$&\u200b"), () => {  // long names of measures may break here
        state.down = state.by === column.name ? !state.down : !column.words;
        state.by = column.name;
        fill();
        for (const other of head.children) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      });
      sorter.title = "Sort by " + column.name;
      cell.append(sorter);
      if (state.by === column.name) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    } else if (column.head) cell.append(column.head);
    else cell.textContent = column.name;
    head.append(cell);
  }
  const inOrder = () => {
    const by = columns.find((column) => column.name === state.by && column.order), found = rows.slice();
    if (by) found.sort((one, other) => {
      const x = by.order(one), y = by.order(other);
      return !known(x) - !known(y) || (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1) || rows.indexOf(one) - rows.indexOf(other);
    });
    return found;
  };
  function fill() {
    replace(body, ...inOrder().map((row) => {
      const line = element("tr");
      columns.forEach((column) => {
        const cell = element(column.names ? "th" : "td", column.text ? column.text(row) : null,
          column.words && "words", column.wide && "wide", column.widest && "widest", column.roomy && "roomy", column.head && "drawn", ...(column.classes ? column.classes(row) : []));
        if (cell.tagName === "TH") cell.scope = "row";
        if (column.node) cell.append(column.node(row));
        if (column.title) cell.title = column.title(row);
        line.append(cell);
      });
      if (onRow) onRow(line, row);
      return line;
    }));
  }
  fill();
  const top = element("thead");
  top.append(head);
  replace(target, ...(caption ? [element("caption", caption)] : []), top, body);
  const holder = target.parentElement;
  holder.classList.toggle("tall", rows.length > 20);
  target.file = () => [columns, ...inOrder()].map((row) => columns.flatMap((column) => {
    if (row === columns) return column.fields || [column.name];
    return column.values ? column.values(row) : [column.text ? column.text(row) : column.value(row)];
  }).map(field).join(",") + "\r\n").join("");
  if (file && !holder.nextElementSibling?.classList.contains("keep")) {
    const keep = button("CSV", () => download(`${file}.csv`, "text/csv", target.file()), "keep");
    keep.setAttribute("aria-label", `CSV: save this table, ${file}`);
    holder.after(keep);
  }
}

const field = (value) => { const text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value); return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text; };
