// The judging page. Ids and texts are text from strangers: everything is shown by textContent, nothing becomes markup.

const element = (id) => document.getElementById(id);
const make = (tag, text, classes = []) => { const made = document.createElement(tag); if (text !== undefined) made.textContent = text; made.classList.add(...classes); return made; };
const token = document.querySelector("meta[name=token]").content;
const unique = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
const keyOf = (pair) => JSON.stringify(pair);
const same = (one, other) => Boolean(one && other) && one[0] === other[0] && one[1] === other[1];
const QUICKEST = 200; // milliseconds that a document must have been shown before a key judges it
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;
const HARD_WRAP = /([^\n]{40,})\n(?=[^\s\-*\u2022])/g; // lines that end because lines were short, not because something ended
const visible = (id) => id.replace(HIDDEN, (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"));
const readable = (text) => text.replace(/\r\n?/g, "\n").replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, "\ufffd").replace(/[\ud800-\udfff]/gu, "\ufffd");

function kept(storage, name, value) { // a browser may keep nothing at all
  try { if (value === undefined) return storage.getItem(name); storage.setItem(name, value); } catch { /* nothing is kept */ }
  return null;
}

const page = kept(sessionStorage, "page") || unique();
kept(sessionStorage, "page", page);
const waitingAt = () => `rankbounds-waiting ${settings.desk} `; // of another file on the same address nothing is sent here
let settings = null, judge = "", current = null, queue = [], aside = null, shownAt = 0, sending = false, progress = null, goal = null;
let waiting = []; // what was done and is not saved yet, the oldest first
const texts = new Map();

// ---- talking to the server ----

async function send(what, message) {
  const answer = await fetch("/" + what, { method: "POST", headers: { "Content-Type": "application/json", "X-Token": token }, body: JSON.stringify(message) });
  const said = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(said.error || "The server failed."), { refused: true });
  return said;
}

const about = (pair) => ({ query_id: pair[0], doc_id: pair[1] });
const holding = () => ({ judge, page, holding: current });

function textOf(pair) {
  const key = keyOf(pair);
  if (!texts.has(key)) {
    if (texts.size > 50) texts.delete(texts.keys().next().value);
    texts.set(key, send("document", about(pair)).catch((error) => { texts.delete(key); throw error; }));
  }
  return texts.get(key);
}

function take(said) {
  progress = said.progress; goal = said.goal;
  const done = waiting.map((action) => keyOf([action.message.query_id, action.message.doc_id]));
  queue = said.next.filter((pair) => !same(pair, current) && !same(pair, aside) && !done.includes(keyOf(pair)));
  queue.slice(0, 3).forEach((pair) => textOf(pair).catch(() => {}));
  showGoal();
  if (!current) forward();
}

// ---- what judges do ----

function act(what, extra = {}) {
  const pair = current;
  if (what !== "undo" && !pair) return;
  const message = { key: unique(), judge, ...(pair && what !== "undo" ? about(pair) : {}), ...(what === "judge" ? { why: element("why").value } : {}), ...extra };
  waiting.push({ what, message });
  keep();
  status("Saving ...");
  if (what !== "undo") { texts.delete(keyOf(pair)); current = null; forward(); }
  drain();
}

const keep = () => kept(localStorage, waitingAt() + page, JSON.stringify(waiting));

function leftBehind() { // by this page before it was loaded again, or by one that was closed; sent twice does no harm
  const found = [];
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(waitingAt())) { found.push(...JSON.parse(localStorage[name])); delete localStorage[name]; }
  } catch { /* nothing was kept */ }
  return found;
}

async function drain() { // one after the other, in the order in which they were done
  if (sending) return;
  sending = true;
  while (waiting.length) {
    const action = waiting[0];
    try {
      const said = await send(action.what, { ...action.message, page, holding: action.what === "undo" ? null : current });
      waiting.shift(); keep();
      saved(action, said);
    } catch (error) {
      if (error.refused) { waiting.shift(); keep(); refused(action, error); continue; }
      status(`Not saved yet, the server does not answer: ${waiting.length} waiting, trying again.`, "problem");
      await new Promise((done) => setTimeout(done, 1500));
    }
  }
  sending = false;
}

function inWords(grade) {
  const named = settings.grades.find((one) => one.grade === grade);
  return `grade ${grade}` + (named && named.name ? ` (${named.name})` : "");
}

function saved(action, said) {
  if (said.undone) {
    const pair = [said.undone.query_id, said.undone.doc_id];
    texts.delete(keyOf(pair));
    current = pair; aside = null;
    status(`Taken back: ${said.undone.grade === null ? "the skip" : inWords(said.undone.grade)} for ${visible(pair[1])}.`, "saved");
    take(said); show();
  } else {
    const { grade, doc_id } = said.saved;
    status(grade === null ? `Skipped ${visible(doc_id)}.` : `Saved: ${inWords(grade)} for ${visible(doc_id)}. ${said.note}`, "saved");
    take(said);
  }
  showPast();
}

function refused(action, error) {
  status(`Not saved: ${error.message}`, "problem");
  if (action.what === "undo") return;
  const pair = [action.message.query_id, action.message.doc_id];
  if (current && !same(current, pair)) queue.unshift(current);
  current = pair;
  show();
}

function forward() { // to the next document
  current = aside || queue.shift() || null;
  aside = null;
  show();
}

function open(pair) { // a past judgment, to be looked at again
  if (!aside && current) aside = current;
  current = pair;
  show();
  element("document").focus();
}

function status(text, kind = "") { element("status").textContent = text; element("status").className = kind; }

// ---- the document ----

async function show() {
  const pair = current;
  element("document").hidden = !pair;
  element("empty").hidden = Boolean(pair);
  element("back").hidden = !aside;
  for (const id of ["grades", "skip"]) element(id).hidden = !pair;
  document.querySelector(".answer").hidden = !judge;
  element("skip").disabled = Boolean(aside);
  if (!pair) { showEmpty(); return; }
  let said = null, problem = "";
  try { said = await textOf(pair); } catch (error) { problem = error.refused ? error.message : "The server does not answer."; }
  if (!same(pair, current)) return;
  const query = said && said.query;
  element("query-id").textContent = query ? visible(pair[0]) : "";
  element("query-text").textContent = query ? readable(query.text) : visible(pair[0]);
  fill("description", query ? query.description : "");
  fill("narrative", query ? query.narrative : "");
  element("narrative-part").hidden = !(query && query.narrative);
  element("doc-id").textContent = visible(pair[1]);
  const stems = stemsOf(query ? query.text : pair[0]);
  const document_ = said && said.document;
  marked(element("doc-title"), document_ ? readable(document_.title) : "", stems);
  element("doc-title").hidden = !(document_ && document_.title);
  const body = element("doc-text");
  body.replaceChildren();
  if (document_) {
    for (const part of readable(document_.text).split(/\n\s*\n/)) if (part.trim()) marked(body.appendChild(make("p")), part.replace(HARD_WRAP, "$1 ").trim(), stems);
    if (!document_.text && !document_.title) body.append(make("p", "This document has no text.", ["quiet"]));
    if (document_.cut) body.append(make("p", `${document_.cut.toLocaleString("en")} more characters are not shown.`, ["quiet"]));
  } else body.append(make("p", problem || said.missing, ["quiet"]));
  const own = said && said.opinions[judge];
  element("why").value = (said && said.why[judge]) || "";
  element("results-part").hidden = !settings.runs;
  if (element("results-part").open) showResults();
  for (const button of document.querySelectorAll("#grades button")) button.setAttribute("aria-pressed", String(own !== undefined && Number(button.value) === own));
  if (aside) status(own === undefined ? "Judged by somebody else; your grade stands beside theirs." : `You gave ${inWords(own)}. Another grade changes it.`);
  const top = element("document").offsetTop;
  if (window.scrollY > top) window.scrollTo(0, top); // whoever read on reads the next one from its beginning
  shownAt = performance.now();
}

// The first results of the runs for this query, with the judge's own grades alone.
async function showResults() {
  const pair = current;
  if (!pair) return;
  let said;
  try { said = await send("results", { judge, query_id: pair[0] }); } catch { return; }
  if (!same(pair, current)) return;
  const query = (await textOf(pair)).query, stems = stemsOf(query ? query.text : pair[0]);
  element("results").replaceChildren(...said.results.map(({ run, documents }) => {
    const part = make("section"), list = make("ol");
    part.append(make("h3", visible(run)), list);
    for (const { doc_id, grade, title, snippet } of documents) {
      const item = make("li"), button = make("button");
      button.type = "button";
      button.disabled = doc_id === pair[1];
      button.append(make("span", visible(doc_id), ["id"]), make("span", doc_id === pair[1] ? "this document" : grade === null ? "" : `you: ${grade}`, ["quiet"]));
      button.addEventListener("click", () => open([pair[0], doc_id]));
      item.append(button);
      if (title) marked(item.appendChild(make("p", "", ["title"])), readable(title), stems);
      if (snippet) marked(item.appendChild(make("p", "", ["quiet"])), readable(snippet), stems);
      list.append(item);
    }
    if (!documents.length) part.append(make("p", "No results for this query.", ["quiet"]));
    return part;
  }));
}

async function exportJudgments() {
  let said;
  try { said = await send("export", {}); } catch (error) { status(error.message, "problem"); return; }
  const made = make("a");
  made.href = URL.createObjectURL(new Blob([said.csv], { type: "text/csv" }));
  made.download = "judgments.csv";
  document.body.append(made);
  made.click();
  made.remove();
  setTimeout(() => URL.revokeObjectURL(made.href), 1000);
}

function fill(id, text) { element(id).textContent = readable(text); element(id).hidden = !text; }

function showEmpty() {
  const computing = goal && goal.computing, list = progress && progress.list;
  const trouble = goal && goal.trouble;
  element("empty-title").textContent = !judge ? "Who judges?" : computing ? "Looking for the documents that matter most ..." : "Nothing left to judge";
  element("names").replaceChildren(...(judge ? [] : settings.judges.map((name) => {
    const button = make("button", name);
    button.type = "button";
    button.addEventListener("click", () => { element("judge").value = name; choose(name); });
    return button;
  })));
  element("empty-words").textContent = !judge ? "Judgments are kept under the name of whoever gave them." : computing ? "This takes a few seconds with many runs." : trouble || (list ? "Every document of the list is judged." : goal && goal.bounds && !goal.settled ? "No document that is left would change the comparison; what is still open lies beyond the ends of the lists." : "Every document that counts is judged.");
}

// ---- beside the document ----

function showGoal() {
  const list = progress && progress.list;
  element("goal").hidden = !(goal || list);
  element("trouble").textContent = (progress && progress.trouble) || (goal && goal.trouble) || "";
  element("trouble").hidden = !element("trouble").textContent;
  element("undo").disabled = !(progress && progress.undo);
  element("undo").title = progress && progress.undo ? `take back: ${visible(progress.undo)}` : "";
  const words = [];
  if (goal && goal.headline) words.push(goal.headline);
  if (list) words.push(`${list.judged.toLocaleString("en")} of ${list.all.toLocaleString("en")} documents of the list are judged.`);
  element("headline").textContent = words.join(" ") || "Computing how far the goal is ...";
  element("headline").classList.toggle("settled", Boolean(goal && goal.settled));
  if (goal && goal.computing && goal.headline) element("headline").append(" ", make("span", "updating ...", ["quiet"]));
  element("list-bar").hidden = !list || Boolean(goal && goal.bounds);
  if (list) { element("list-bar").max = list.all; element("list-bar").value = list.judged; }
  const sentences = (goal && goal.sentences) || [];
  element("more").hidden = !sentences.length;
  element("sentences").replaceChildren(...sentences.map((text) => make("li", text)));
  const opened = goal && goal.bounds ? showBounds() : goal && goal.first && goal.first.open > 0 ? showOpen() : false;
  element("range").hidden = !opened;
}

const place = (node, low, high, from, to) => {
  const left = 100 * (low - from) / (to - from), right = 100 * (high - from) / (to - from);
  node.style.left = left + "%"; node.style.width = Math.max(0.5, right - left) + "%";
};

function showBounds() {
  const [low, high] = goal.bounds, [first, second] = goal.runs, began = goal.first.bounds || goal.bounds;
  const reach = 1.05 * Math.max(...began.map(Math.abs), Math.abs(low), Math.abs(high), 1e-9);
  const track = document.querySelector(".track");
  place(track.querySelector(".first"), ...began, -reach, reach);
  place(track.querySelector(".now"), low, high, -reach, reach);
  track.querySelector(".zero").style.left = "50%";
  ends(`${visible(second)} better`, "0", "50%", `${visible(first)} better`);
  element("range-words").textContent = visible(goal.difference_left);
  return true;
}

function showOpen() {
  const track = document.querySelector(".track"), most = goal.first.open;
  place(track.querySelector(".first"), 0, most, 0, most);
  place(track.querySelector(".now"), 0, goal.open, 0, most);
  track.querySelector(".zero").style.left = "0%";
  ends("0", "", "0%", most.toFixed(4));
  element("range-words").textContent = `What unjudged documents leave open: ${goal.open.toFixed(4)} of the ${most.toFixed(4)} that judging began with.`;
  return true;
}

function ends(left, middle, at, right) {
  document.querySelector(".ends .left").textContent = left;
  document.querySelector(".ends .middle").textContent = middle;
  document.querySelector(".ends .middle").style.left = at;
  document.querySelector(".ends .right").textContent = right;
}

async function showPast() {
  const grade = element("of-grade").value;
  let said;
  try {
    said = await send("past", { words: element("words").value, of: element("of-judge").value, grade: grade === "" ? null : Number(grade) });
  } catch { return; }
  const shown = said.judgments.length;
  element("past-count").textContent = !said.all ? "Nothing was judged here yet." : said.fit === said.all ? `${said.all.toLocaleString("en")} judgment${said.all > 1 ? "s" : ""}` + (shown < said.fit ? `, the last ${shown} shown` : "")
    : `${said.fit.toLocaleString("en")} of ${said.all.toLocaleString("en")} judgments fit` + (shown < said.fit ? `, ${shown} shown` : "");
  element("past").replaceChildren(...said.judgments.map(pastRow));
  const names = Object.keys((progress && progress.by_judge) || {});
  const select = element("of-judge");
  if (select.options.length !== names.length + 1) {
    const chosen = select.value;
    select.replaceChildren(option("", "anybody"), ...names.map((name) => option(name, name)));
    select.value = chosen;
  }
  select.parentElement.hidden = names.length < 2;
}

const option = (value, text) => { const made = make("option", text); made.value = value; return made; };

function pastRow(row) {
  const item = make("li"), button = make("button"), others = Object.entries(row.others);
  button.type = "button";
  button.append(make("span", String(row.grade), ["grade", ...(row.grade > 0 ? ["relevant"] : [])]),
    make("span", `${visible(row.query || row.query_id)}`, ["of"]));
  const by = make("span", `${visible(row.doc_id)}, ${row.judge}, ${new Date(row.time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`, ["by"]);
  if (row.why) by.append(make("span", `: ${readable(row.why)}`));
  if (others.length) by.append(make("span", "; " + others.map(([name, grade]) => `${name}: ${grade}`).join(", "), others.some(([, grade]) => grade !== row.grade) ? ["differ"] : []));
  button.append(by);
  button.setAttribute("aria-label", `${inWords(row.grade)}, query ${visible(row.query || row.query_id)}, document ${visible(row.doc_id)}, by ${row.judge}` + (others.length ? `; ${others.map(([name, grade]) => `${name} gave ${grade}`).join(", ")}` : "") + ": look again");
  button.addEventListener("click", () => open([row.query_id, row.doc_id]));
  item.append(button);
  return item;
}

// ---- who judges, keys, and the beginning ----

function choose(name) {
  judge = name.trim();
  kept(localStorage, "rankbounds-judge", judge);
  current = aside = null; queue = [];
  show(); look();
}

function showWho() {
  const who = element("who"), saved_ = new URLSearchParams(location.search).get("judge") || kept(localStorage, "rankbounds-judge") || "";
  if (settings.judges.length === 1) { judge = settings.judges[0]; who.replaceChildren("Judge ", make("strong", judge)); return; }
  const label = make("label", "Judge"), field = make(settings.judges.length ? "select" : "input");
  field.id = "judge";
  if (settings.judges.length) {
    field.append(option("", "who?"), ...settings.judges.map((name) => option(name, name)));
    judge = settings.judges.includes(saved_) ? saved_ : "";
  } else {
    Object.assign(field, { maxLength: 60, autocomplete: "off", spellcheck: false });
    judge = saved_ || settings.user || "judge";
  }
  field.value = judge;
  field.addEventListener("change", () => choose(field.value));
  label.append(" ", field);
  who.replaceChildren(label);
}

function showGrades() {
  const keys = element("keys");
  settings.grades.forEach(({ grade, name }, number) => {
    const button = make("button"), key = Number.isInteger(grade) && grade < 10 ? String(grade) : String(number);
    Object.assign(button, { type: "button", value: String(grade) });
    button.dataset.key = key;
    button.append(String(grade), ...(name ? [make("span", name, ["name"])] : []));
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => act("judge", { grade }));
    element("grades").append(button);
    element("of-grade").append(option(String(grade), name ? `${grade} ${name}` : String(grade)));
  });
  const all = [...element("grades").children].map((button) => button.dataset.key);
  for (const [key, does] of [[all.length > 2 ? `${all[0]} to ${all[all.length - 1]}` : all.join(", "), "judge the document"], ["s", "skip it; it comes again at the end"], ["u", "take back what you did last"], ["w", "say why"], ["/", "find a past judgment"], ["Esc", "back to the next document"]]) {
    const term = make("dt"); term.append(make("kbd", key));
    keys.append(term, make("dd", does));
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.matches("input, select")) { event.target.blur(); return; }
  if (event.target.matches("input:not([type=checkbox]), select, textarea") || event.altKey || event.metaKey || event.repeat) return;
  if (event.ctrlKey) { if (event.key === "z") { event.preventDefault(); element("undo").click(); } return; }
  if (event.key === "Escape") { element("back").click(); return; }
  const button = event.key === "s" ? element("skip") : event.key === "u" ? element("undo") : document.querySelector(`#grades button[data-key="${CSS.escape(event.key)}"]`);
  if (event.key === "w" && current) { event.preventDefault(); element("why").focus(); return; }
  if (event.key === "/") { event.preventDefault(); element("words").focus(); return; }
  if (!button || button.disabled || !button.getClientRects().length) return;
  if (button.id !== "undo" && performance.now() - shownAt < QUICKEST) return; // meant for the document before
  event.preventDefault();
  button.click();
});
element("results-part").addEventListener("toggle", () => { if (element("results-part").open) showResults(); });
element("export").addEventListener("click", exportJudgments);
element("why").addEventListener("keydown", (event) => { if (event.key === "Enter") element("why").blur(); });
element("skip").addEventListener("click", () => act("skip"));
element("undo").addEventListener("click", () => act("undo"));
element("back").addEventListener("click", () => { if (aside) { status(""); forward(); } });
for (const id of ["of-grade", "of-judge"]) element(id).addEventListener("change", showPast);
let typed = 0;
element("words").addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(showPast, 150); });
window.addEventListener("beforeunload", (event) => { if (waiting.length) event.preventDefault(); });

let lost = false;
async function look() { // what changed meanwhile: other judges, the plan
  if (!judge || sending) return;
  const before = progress && progress.version;
  try {
    take(await send("next", holding()));
    if (lost) { lost = false; status(""); }
    if (progress.version !== before) showPast();
    if (!current) showEmpty();
  } catch (error) {
    lost = true;
    status(error.refused ? error.message : "The server does not answer.", "problem");
  }
}

async function begin() {
  try { settings = await send("start", {}); } catch (error) { status(error.message, "problem"); return; }
  showWho(); showGrades(); show();
  waiting = leftBehind(); keep();
  if (waiting.length) drain();
  await look();
  showPast();
  const again = () => setTimeout(async () => { if (!document.hidden) await look(); again(); }, goal && goal.computing ? 700 : 3000);
  again();
}
begin();
