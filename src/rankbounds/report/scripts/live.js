// What to judge next; and, where the page comes from "rankbounds serve", following the files.

function showNext() {
  if (!data.next) { at("next").hidden = at("next-link").hidden = true; return; }
  const { words, fields, rows } = data.next;
  at("next-words").textContent = words;
  at("next-board").parentElement.hidden = !rows.length;
  if (!rows.length) return;
  if (fields.length > 2) at("next-title").textContent = `What to judge next, by ${measures[0].label}?`;
  const numbers = fields.slice(2).map((name, place) => ({ name: name.replace("_", " "), wide: place > 0, text: (row) => fixed(row.held[place + 2]), order: (row) => row.held[place + 2] }));
  table(at("next-board"), [
    { name: "#", text: (row) => row.number + 1, order: (row) => row.number },
    { name: "topic", words: true, text: (row) => row.held[0], order: (row) => row.held[0], classes: () => ["name"], title: (row) => row.held[0] },
    { name: "document", words: true, names: true, text: (row) => row.held[1], classes: () => ["wrap"] },
    ...numbers,
  ], rows.map((held, number) => ({ number, held })), { sorted: { by: "#", down: false }, file: "judge-next" });
}

function send(what, message) {
  return fetch("/" + what, { method: "POST", headers: { "Content-Type": "application/json", "X-Token": data.live.token }, body: JSON.stringify(message) })
    .then((answer) => answer.json()).catch(() => ({ error: "The server does not answer." }));
}

function watch() {
  if (!data.live) return;
  setInterval(() => send("state", {}).then((said) => { if (said.state && said.state !== data.live.state) location.reload(); }), 2000);
}
