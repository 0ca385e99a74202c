// What to judge next; and, where the page comes from "rankbounds serve", following the files.

function showNext() {
  if (!data.next) { at("next").hidden = at("next-link").hidden = true; return; }
  const { documents, open, open_after: after, measure, depth: looks } = data.next;
  const listed = data.next.words !== undefined;
  at("next-words").textContent = listed ? data.next.words : documents.length
    ? `By ${measure}, missing judgments leave a run's mean open by ${fixed(open)} on average. Judging these ${documents.length} documents in this order would leave ` +
      `${fixed(after[after.length - 1])} open. Only the first ${looks} ranks were searched; weight is a document's total weight over all runs.`
    : `By ${measure} every document that counts in the first ${looks} ranks is judged.`;
  if (!documents.length) return;
  const rows = documents.map(([query, doc, weight], number) => ({ number, query, doc, weight, after: listed ? 0 : after[number] }));
  table(at("next-board"), [
    { name: "#", text: (row) => row.number + 1, order: (row) => row.number },
    { name: "topic", words: true, text: (row) => row.query, order: (row) => row.query, classes: () => ["name"], title: (row) => row.query },
    { name: "document", words: true, names: true, text: (row) => row.doc, classes: () => ["wrap"] },
    ...(listed ? [] : [
      { name: "weight", text: (row) => fixed(row.weight), order: (row) => row.weight },
      { name: "then open", wide: true, text: (row) => fixed(row.after), order: (row) => row.after },
    ]),
  ], rows, { sorted: { by: "#", down: false }, file: "judge-next" });
}

function send(what, message) {
  return fetch("/" + what, { method: "POST", headers: { "Content-Type": "application/json", "X-Token": data.live.token }, body: JSON.stringify(message) })
    .then((answer) => answer.json()).catch(() => ({ error: "The server does not answer." }));
}

function watch() {
  if (!data.live) return;
  setInterval(() => send("state", {}).then((said) => { if (said.state && said.state !== data.live.state) location.reload(); }), 2000);
}
