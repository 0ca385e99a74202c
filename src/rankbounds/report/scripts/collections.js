// The same systems on several collections: a leaderboard over all, every cell, and any two runs as a forest.

const { runs, collections } = data;
const looked = { measure: 0, a: null, b: null };
const measured = () => data.measures[looked.measure];
const places = new Map(data.measures[0].systems.map((row, place) => [row.run, place]));
const colour = (run) => colourOf(places.get(run));
const isSought = (run) => at("search").value.trim().toLowerCase().split(/\s*,\s*/).some((part) => run.toLowerCase().includes(part));

const runColumn = {
  name: "run", words: true, names: true, order: (row) => row.run.toLowerCase(), classes: () => ["name"], title: (row) => row.run, value: (row) => row.run,
  node: (row) => {
    const holder = element("span", null, "run"), mark = element("i", null, "mark");
    mark.style.background = colour(row.run);
    holder.append(mark, element("span", row.run));
    return holder;
  },
};

function showBoard() {
  const { label, systems } = measured(), rows = systems.filter((row) => isSought(row.run)), all = runs.length;
  const ends = stretch(systems.flatMap((row) => [row.mean, row.ci_low, row.ci_high]).filter(known), 5, true), placed = systems.some((row) => known(row.rank_low));
  table(at("board"), [
    ...(placed ? [{ name: "#", text: (row) => row.rank ?? "-", order: (row) => row.rank }] : []),
    runColumn,
    { name: label, text: (row) => fixed(row.mean), order: (row) => row.mean, classes: () => ["value"] },
    { name: "score", words: true, head: axisHead("mean and interval", ends), fields: ["ci_low", "ci_high"], values: (row) => [row.ci_low, row.ci_high],
      node: (row) => dotCell({ dot: row.mean, interval: [row.ci_low, row.ci_high], colour: colour(row.run), label: `${fixed(row.mean)}, interval ${fixed(row.ci_low)} to ${fixed(row.ci_high)}` }, ends) },
    ...(placed ? [
      { name: "place", words: true, roomy: true, head: axisHead(`place among ${all} runs`, [1, all], true), fields: ["rank_low", "rank_high"], values: (row) => [row.rank_low, row.rank_high],
        node: (row) => dotCell({ dot: row.rank, interval: [row.rank_low, row.rank_high], colour: colour(row.run), label: row.place || "no place" }, [1, all], true) },
      { name: "place range", text: (row) => placeRange(row.rank_low, row.rank_high), order: (row) => (known(row.rank_low) ? row.rank_low * 1e6 + row.rank_high : null) },
    ] : []),
    { name: "collections led", wide: true, text: (row) => `${fixed(row.collections_led, Number.isInteger(row.collections_led) ? 0 : 1)} of ${row.collections}`, order: (row) => row.collections_led },
    ...(systems.some((row) => row.lacks.length) ? [{ name: "lacks", words: true, text: (row) => row.lacks.join(", "), classes: () => ["remark"] }] : []),
  ], rows, { file: "leaderboard" });
  at("found").textContent = rows.length === all ? "" : `${rows.length} of ${plural(all, "run")}`;
}

function showCells() {
  const { cells, systems, lower_is_better: lower } = measured();
  const means = new Map(cells.map((cell) => [JSON.stringify([cell.run, cell.collection]), cell]));
  const cellOf = (row, collection) => means.get(JSON.stringify([row.run, collection]));
  table(at("cells-board"), [
    runColumn,
    ...collections.map((collection) => {
      const best = (lower ? Math.min : Math.max)(...cells.filter((cell) => cell.collection === collection && Number.isFinite(cell.mean)).map((cell) => cell.mean));
      const mean = (row) => cellOf(row, collection)?.mean;
      return { name: collection, text: (row) => fixed(mean(row)), order: mean, title: (row) => { const cell = cellOf(row, collection); return cell ? `interval ${fixed(cell.ci_low)} to ${fixed(cell.ci_high)}; judged@10 ${percent(cell.judged_at_10)}` : "lacks it"; },
        classes: (row) => (mean(row) === best ? ["best"] : []),
        node: (row) => { const holder = element("span", null, "share"), bar = element("i"), part = lower ? best / mean(row) : mean(row) / best; bar.style.width = `${100 * Math.max(0, Math.min(1, part || 0))}%`; holder.append(bar); return holder; } };
    }),
  ], systems.filter((row) => isSought(row.run)), { file: "collections" });
}

function pairOf(a, b) {
  const held = measured().pairs.find((pair) => (pair.a === a && pair.b === b) || (pair.a === b && pair.b === a));
  if (!held || held.a === a) return held;
  const turn = (low, high) => [known(high) ? less(0, high) : null, known(low) ? less(0, low) : null];
  const turned = { ...held, a, b, words: held.turned_words, difference: less(0, held.difference), summary: known(held.summary) ? less(0, held.summary) : null };
  for (const name of ["ci", "summary"]) [turned[`${name}_low`], turned[`${name}_high`]] = turn(held[`${name}_low`], held[`${name}_high`]);
  turned.parts = held.parts.map((part) => { const [low, high] = turn(part.ci_low, part.ci_high); return { ...part, difference: less(0, part.difference), ci_low: low, ci_high: high }; });
  return turned;
}

function showPair() {
  const { a, b } = looked, pair = pairOf(a, b);
  at("run-a").value = runs.indexOf(a);
  at("run-b").value = runs.indexOf(b);
  if (!pair) {
    at("verdict").textContent = a === b ? "Choose two different runs." : "This pair is left out of the page; \"rankbounds collections --pair\" shows it.";
    for (const id of ["forest", "pair-board"]) replace(at(id));
    return;
  }
  at("verdict").textContent = pair.words;
  const rows = [
    ...pair.parts.map((part) => ({ name: part.collection, note: plural(part.topics, "topic"), dot: part.difference, low: part.ci_low, high: part.ci_high })),
    { name: "all of these", note: "", dot: pair.difference, low: pair.ci_low, high: pair.ci_high, strong: true },
    ...(known(pair.summary) ? [{ name: "collections like these", note: "random effects", dot: pair.summary, low: pair.summary_low, high: pair.summary_high, strong: true }] : []),
  ];
  forest(rows, a, b);
  table(at("pair-board"), [
    { name: "collection", words: true, names: true, text: (row) => row.name }, { name: "of", words: true, text: (row) => row.note },
    { name: "difference", text: (row) => (known(row.dot) ? signed(row.dot) : "-"), order: (row) => row.dot },
    ...["low", "high"].map((end) => ({ name: { low: "from", high: "to" }[end], text: (row) => (known(row[end]) ? signed(row[end]) : "-") })),
  ], rows, { file: "pair" });
}

function forest(rows, a, b) {
  const room = roomOf("forest"), narrow = room < 620, left = narrow ? 130 : 230, right = narrow ? 12 : 190, step = 24, top = 12, bottom = top + rows.length * step;
  const svg = canvas(room, bottom + 40, `Difference of ${a} and ${b} in each collection, and over all`);
  const x = scale(...stretch([0, ...rows.flatMap(({ dot, low, high }) => [dot, low, high]).filter(known)], 6), left, room - right);
  axisBelow(svg, x, top - 6, bottom, narrow ? 4 : 8, { withSign: true, name: `${measured().label}: ${a.slice(0, 30)} minus ${b.slice(0, 30)}` });
  rows.forEach(({ name, note, dot, low, high, strong }, number) => {
    const y = top + (number + 0.5) * step;
    svg.append(nameText(name, { x: left - 10, y: y + 4, "text-anchor": "end", class: "name" }, narrow ? 16 : 30));
    if (known(low)) svg.append(drawn("line", { x1: x(low), x2: x(high), y1: y, y2: y, class: strong ? "whisker strong" : "whisker" }));
    if (known(dot)) svg.append(titled(drawn("circle", { cx: x(dot), cy: y, r: strong ? 6 : 4.5, style: `fill:${dot >= 0 ? "var(--blue)" : "var(--orange)"}` }), `${name}: ${signed(dot)}`));
    if (!narrow) svg.append(drawn("text", { x: room - right + 14, y: y + 4 }, known(dot) ? `${signed(dot)}  ${note}` : note));
  });
  showFigure("forest", svg);
}

const address = () => `#pair=${encodeURIComponent(looked.a)},${encodeURIComponent(looked.b)}${looked.measure ? `&measure=${encodeURIComponent(measured().label)}` : ""}`;

function follow() {
  const parts = new Map(location.hash.slice(1).split("&").map((part) => [part.split("=")[0], part.slice(part.indexOf("=") + 1)]));
  const decoded = (text) => { try { return decodeURIComponent(text || ""); } catch { return ""; } };
  const measure = data.measures.findIndex(({ label }) => label === decoded(parts.get("measure")));
  const [a, b] = (parts.get("pair") || "").split(",").map(decoded);
  if (measure >= 0) looked.measure = measure;
  if (!runs.includes(a) || !runs.includes(b)) return false;
  [looked.a, looked.b] = [a, b];
  return true;
}

function showAll() { at("measure").selectedIndex = looked.measure; showBoard(); showCells(); showPair(); }

at("title").textContent = data.title;
showFacts(plural(collections.length, "collection"), plural(data.topics.reduce((sum, number) => sum + number, 0), "topic"), plural(runs.length, "run"));
at("method").textContent = data.method;
fillSelect(at("measure"), data.measures.map(({ label }) => label), 0);
for (const id of ["run-a", "run-b"]) {
  fillSelect(at(id), runs);
  at(id).addEventListener("change", () => {
    [looked.a, looked.b] = ["run-a", "run-b"].map((select) => runs[at(select).selectedIndex]);
    showPair();
    if (location.protocol !== "about:") history.replaceState(null, "", address());
  });
}
at("measure").addEventListener("change", () => { looked.measure = at("measure").selectedIndex; for (const id of ["board", "cells-board", "pair-board"]) at(id).state = null; showAll(); });
at("search").addEventListener("input", () => { showBoard(); showCells(); });
window.addEventListener("hashchange", () => { if (follow()) { showAll(); at("pair").scrollIntoView(); } });
let waiting = null;
window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(showPair, 150); });
drawAgainForPaper(showAll);
const first = measured().pairs[0];
[looked.a, looked.b] = first ? [first.a, first.b] : [runs[0], runs[1]];
const asked = follow();
at("made").textContent = `Made by rankbounds ${data.version} from ${plural(collections.length, "collection")}: ${collections.map((name, number) => `${name} (${plural(data.topics[number], "topic")})`).join(", ")}; ${plural(runs.length, "run")}.`;
showOptions(data.settings);
showAll();
if (asked) at("pair").scrollIntoView();
