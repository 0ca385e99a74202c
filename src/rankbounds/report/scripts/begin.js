// Where the data comes from, what the reader can choose, and links to what is chosen.

function showIdentity() {
  const { counts, options, files } = data.identity;
  at("made").textContent = `Made by rankbounds ${data.version} from ` + Object.entries(counts).map(([name, number]) => `${number.toLocaleString("en")} ${name}`).join(", ") + `; fingerprint of the files ${data.identity.fingerprint}. ` + data.thinned.join(" ");
  showOptions(options);
  table(at("files"), [
    { name: "file", words: true, names: true, text: (file) => file.name, classes: () => ["wrap"] }, { name: "as", words: true, text: (file) => file.role, classes: () => ["wrap"] },
    { name: "bytes", text: (file) => (known(file.bytes) ? file.bytes.toLocaleString("en") : "-"), order: (file) => file.bytes },
    { name: "SHA-256", words: true, text: (file) => file.sha256, classes: () => ["code"] },
  ], files, { file: "files" });
}

// ---- links: #pair=a,b  #topic=...  #run=...  each with &measure=... ----

function address(what) {
  const asked = { pair: () => pairAddress(looked.a, looked.b), topic: () => topicAddress(looked.topic), run: () => `#run=${encodeURIComponent(runs[looked.chosen])}` }[what]();
  return looked.measure ? `${asked}&measure=${encodeURIComponent(measures[looked.measure].label)}` : asked;
}

// In a notebook the page stands in a frame without an address of its own.
const framed = location.protocol === "about:";

function remember(what) { if (!framed) history.replaceState(null, "", address(what)); }

function decoded(text) { try { return decodeURIComponent(text); } catch { return text; } }

function follow(hash) {
  const parts = Object.fromEntries(hash.slice(1).split("&").map((part) => { const [name, ...rest] = part.split("="); return [name, rest.join("=")]; }));
  const numberOf = (names, text) => (text === undefined ? -1 : names.indexOf(decoded(text)));
  const measure = numberOf(measures.map(({ label }) => label), parts.measure), topic = numberOf(topics, parts.topic), run = numberOf(runs, parts.run);
  const [a, b] = (parts.pair || "").split(",").map((name) => numberOf(runs, name));
  let section = null;
  if (measure >= 0) looked.measure = measure;
  if (run >= 0) { looked.chosen = run; section = "leaderboard"; }
  if (parts.pair && comparable(a, b)) { [looked.a, looked.b] = [a, b]; section = "pair"; }
  if (topic >= 0) { looked.topic = topic; section = "topic"; }
  return section;
}

function showAll() {
  at("measure").selectedIndex = looked.measure;
  showBoard();
  showChanges();
  showMeasures();
  if (several) showPair();
  if (two) showAnswers();
  showCoverage();
  showPersistence();
  if (!data.persistence) showTopic();
}

function arrive(hash) {
  const section = follow(hash);
  if (section) showAll();
  const target = at(section || hash.slice(1));
  if (target) target.scrollIntoView();
}

// ---- what can be chosen ----

function chooseMeasure() {
  looked.measure = at("measure").selectedIndex;
  for (const id of ["board", "coverage-board", "pair-board"]) at(id).state = null;
  showAll();
}

function chooseTopic(topic) {
  looked.topic = (topic + topics.length) % topics.length;
  showTopic();
  remember("topic");
}

function choosePair() {
  looked.a = closely[at("run-a").selectedIndex];
  looked.b = closely[at("run-b").selectedIndex];
  showPair();
  if (two) { showAnswers(); showMeasures(); }
  showTopic();
  if (looked.a !== looked.b) remember("pair");
}

// Of two runs there is no leaderboard: the page begins with what is left of their difference.
function openWithTheVerdict() {
  const pair = at("pair"), words_ = element("details"), picture = at("pair-lanes").parentElement;
  document.body.classList.add("two");
  for (const id of ["leaderboard", "leaderboard-link", "changes-part", "pair-controls", "agreement-title"]) at(id).hidden = true;
  at("results").prepend(pair);
  at("pair-link").textContent = "Verdict";
  at("changes-link").before(at("pair-link"), " ");
  at("changes-title").textContent = at("changes-link").textContent = "Do other measures agree?";
  at("measures-part").removeAttribute("aria-labelledby");
  at("changes").hidden = at("changes-link").hidden = measures.length < 2;
  words_.append(element("summary", "The verdict in full, as rankbounds compare prints it"), at("verdict"));
  picture.after(at("doubts"), words_);
}

function filter() { showBoard(); showCoverage(); }

at("title").textContent = data.title;
const counts = { topics: data.number_of_topics, runs: data.number_of_runs, judgments: data.identity.counts.judgments };
showFacts(data.identity.of, ...Object.entries(counts).filter(([, number]) => number).map(([what, number]) => plural(number, what.slice(0, -1))), data.identity.date);
replace(at("warnings"), ...[...data.warnings, ...data.thinned].map((text) => element("p", "Note: " + text, "warning")));
const [baseline, candidate] = (Array.isArray(data.pair) ? data.pair : []).map((name) => runs.indexOf(name));
[looked.a, looked.b] = comparable(candidate, baseline) ? [candidate, baseline] : count === 2 ? [1, 0] : ranked(0).slice(0, 2);
fillSelect(at("measure"), measures.map(({ label }) => label), 0);
fillSelect(at("query"), topics.map((name, topic) => (queryOf(topic) ? `${name}: ${queryOf(topic).slice(0, 60)}` : name)), 0);
fillSelect(at("filter"), FILTERS.map(([name]) => name), 0);
at("measure").addEventListener("change", chooseMeasure);
at("search").addEventListener("input", filter);
at("filter").addEventListener("change", filter);
at("keep-board").addEventListener("click", () => keepFigure("leaderboard", boardFigure()));
at("topic-runs").addEventListener("input", showTopic);
at("query").addEventListener("change", () => chooseTopic(at("query").selectedIndex));
at("topic-before").addEventListener("click", () => chooseTopic(looked.topic - 1));
at("topic-after").addEventListener("click", () => chooseTopic(looked.topic + 1));
if (data.persistence) {
  at("p").value = Math.min(LAST, Math.max(FIRST, data.persistence.p));
  at("p").addEventListener("input", showPersistence);
}
if (several) {
  for (const id of ["run-a", "run-b"]) { fillSelect(at(id), closely.map((run) => runs[run])); at(id).addEventListener("change", choosePair); }
  at("swap").addEventListener("click", () => { [looked.a, looked.b] = [looked.b, looked.a]; showPair(); showDocuments(looked.topic); remember("pair"); });
  if (closely.length < count) at("pair-note").textContent = `The ${closely.length} runs that lead by ${measures[0].label} can be compared here; "rankbounds compare" compares any two.`;
} else {
  for (const id of ["pair", "pair-link", "changes", "changes-link", "filter-label"]) at(id).hidden = true;
}
if (!data.persistence) at("persistence-link").hidden = true;
if (two) openWithTheVerdict();
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  at("search").focus();
});
window.addEventListener("hashchange", () => arrive(location.hash));
document.addEventListener("click", (event) => {
  const followed = event.target.closest("a[href^='#']");
  if (!framed || !followed) return;
  event.preventDefault();
  arrive(followed.getAttribute("href"));
});
let waiting = null, drawnFor = innerWidth;
window.addEventListener("resize", () => {  // (also when a phone hides its bars: nothing is to be drawn again then)
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (innerWidth !== drawnFor) { drawnFor = innerWidth; showAll(); } }, 150);
});
drawAgainForPaper(showAll);
const asked = follow(location.hash);
showAll();
showNext();
showIdentity();
if (asked) at(asked).scrollIntoView();
watch();
