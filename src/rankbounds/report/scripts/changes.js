// What could change it: noise, unjudged documents, ties, another p, another measure.

const comparable = (a, b) => pairs !== null && a !== b && placeAmong.has(a) && placeAmong.has(b);
const BEHIND = 12, LANE = 7;

// What each unknown leaves of the difference A minus B, and whether it could turn it: that is Python's decision.
function unknownsOf(a, b, measure) {
  const row = pairOf(a, b, measure), { noise, holes, ties } = row.choices;
  const told = [{ name: "noise", of: "noise", low: row.ci_low, high: row.ci_high, turns: noise === "likely" || noise === "level" }];
  if (known(row.certain_low)) told.push({ name: "unjudged documents", of: "unjudged", low: row.certain_low, high: row.certain_high, turns: holes === "yes" || holes === "perhaps" });
  if (known(row.ties_low)) told.push({ name: "ties", of: "ties", low: row.ties_low, high: row.ties_high, turns: ties === "yes" });
  if (measures[measure].slider && data.persistence) {
    const along = GRID.map((_, place) => less(curveOf()[a][place], curveOf()[b][place]));
    told.push({ name: "another p", of: "persistence", low: Math.min(...along), high: Math.max(...along), turns: crossingsOf(a, b).length > 0 });
  }
  return { difference: row.difference, told };
}

const UNKNOWNS = [["noise", "noise: 95% (topics, of the difference)"], ["unjudged", "unjudged documents: bounds, whatever they are"], ["ties", "ties: over all orders"], ["persistence", "p from 0.30 to 0.99"]];

function lanes(svg, x, top, { difference, told }, thick = LANE) {
  told.forEach(({ name, of, low, high, turns }, number) => {
    if (!known(low) || !Number.isFinite(low) || !Number.isFinite(high)) return;
    const y = top + number * thick;
    svg.append(titled(drawn("rect", { x: x(low), width: Math.max(2, x(high) - x(low)), y, height: thick - 2, class: `lane ${of} ${turns ? "turns" : "holds"}` }),
      `${name}: ${bracketed(low, high)}; ${turns ? "could reverse it" : "cannot reverse it"}`));
  });
  if (Number.isFinite(difference)) svg.append(drawn("line", { x1: x(difference), x2: x(difference), y1: top - 3, y2: top + told.length * thick + 1, class: "difference" }));
}

const turning = (told) => told.filter((unknown) => unknown.turns).map((unknown) => unknown.name);

function showChanges() {
  if (!several) return;
  if (two) { showAnswers(); return; }
  const { measure } = looked, order = ranked(measure), leader = order[0], label = measures[measure].label;
  showDoubts(data.doubts[measure]);
  const behind = order.slice(1).filter((run) => comparable(run, leader)).slice(0, BEHIND);
  if (!behind.length || !Number.isFinite(data.systems[measure].mean[leader])) { replace(at("changes-chart"), element("p", "There is nothing to draw.")); return; }
  const rows = behind.map((run) => ({ run, ...unknownsOf(leader, run, measure) }));
  const kinds = rows[0].told.length, step = kinds * LANE + 14, room = roomOf("changes-chart"), narrow = room < 620;
  const left = narrow ? 112 : 190, right = narrow ? 10 : 250, top = 10, bottom = top + rows.length * step;
  const svg = canvas(room, bottom + 40, `How far the runs behind ${runs[leader]} are from it by ${label}, and what noise, unjudged documents, ties and another p leave of that`);
  const x = scale(...stretch([0, ...rows.flatMap(({ told, difference }) => [difference, ...told.flatMap(({ low, high }) => [low, high])])], 6), left, room - right);
  axisBelow(svg, x, top - 6, bottom, narrow ? 4 : 8, { withSign: true, name: `${label}: ${runs[leader].slice(0, narrow ? 14 : 40)} minus the run` });
  rows.forEach((row, number) => {
    const y = top + number * step + 4, anchor = drawn("a", { href: pairAddress(leader, row.run) });
    anchor.append(nameText(runs[row.run], { x: left - 10, y: y + step / 2 - 2, "text-anchor": "end", class: narrow ? "small name" : "name" }, narrow ? 16 : 24));
    svg.append(anchor);
    lanes(svg, x, y, row);
    if (!narrow) svg.append(drawn("text", { x: room - right + 14, y: y + step / 2 - 2, class: turning(row.told).length ? "turns" : "" }, turning(row.told).join(", ") || "nothing reverses it"));
  });
  showFigure("changes-chart", svg);
  const counted = UNKNOWNS.map(([of]) => { const held = rows.filter(({ told }) => told.some((unknown) => unknown.of === of)); return [held.length, held.filter(({ told }) => told.some((unknown) => unknown.of === of && unknown.turns)).length]; });
  const parts = [["noise", 0], ["unjudged documents", 1], ["the order of ties", 2], ["another p", 3]].filter(([, of]) => counted[of][0]).map(([name, of]) => `${name} for ${counted[of][1] || "none"}`);
  at("changes-words").textContent = `What could put the next ${plural(rows.length, "run")} ahead of ${runs[leader]} by ${label}: ${parts.join(", ")}.`;
  const legend = UNKNOWNS.filter((_, of) => counted[of][0]).map(([of, text]) => { const item = element("span"); item.append(element("i", null, "swatch", of), element("span", text)); return item; });
  replace(at("changes-legend"), ...legend, element("span", "Strong bars could reverse the order, pale ones cannot. For noise the corrected test decides; the bar is the interval of the pair alone."));
}

// ---- three doubts: how many of all other runs each leaves within reach of the leader ----

const DOUBTS = [
  { of: "noise", name: "Noise", one: "is within noise of", many: "are within noise of" },
  { of: "unjudged", name: "Unjudged documents", one: "could overtake", many: "could overtake" },
  { of: "ties", name: "Ties", one: "could overtake", many: "could overtake" },
];

const cardParts = (name, open, found, note) => [element("h2", name), element("p", open ? "open" : "settled", "state"), element("p", found, "finding"), ...(note ? [element("p", note, "note")] : [])];

// Of two runs each card has the answer of the verdict, in Python's words: what comes before the colon, and what after.
function showAnswers() {
  const { a, b, measure } = looked;
  if (a === b) { replace(at("doubts")); return; }
  const said = saidOf(a, b, measure), { told } = unknownsOf(a, b, measure);
  const cards = [["noise", "noise"], ["holes", "unjudged"], ["ties", "ties"]].filter(([name]) => said[name]).map(([name, of]) => {
    const [, question, answer] = /^([^?]*\?) (.*)$/s.exec(said[name]) || [null, DOUBTS.find((doubt) => doubt.of === of).name, said[name]];
    const [, short, rest] = /^([^.:]*)[.:;] (.*)$/s.exec(answer) || [null, answer, ""], open = told.some((unknown) => unknown.of === of && unknown.turns);
    const unknown = !told.some((one) => one.of === of), card = element("article", null, "card", open || unknown ? "open" : "settled");
    card.append(...cardParts(question.replace(/^(\w+ \w+)\?$/, "$1 overturn it?"), open || unknown, `${short.replace(/[.:]$/, "")}.`, rest.charAt(0).toUpperCase() + rest.slice(1)));
    if (unknown && !open) card.querySelector(".state").textContent = "unknown";
    return card;
  });
  replace(at("doubts"), ...cards);
}

function showDoubts(held) {
  const cards = DOUBTS.map(({ of, name, one, many }) => {
    const [asked, open] = held[of] || [0, 0];
    if (!asked) return null;
    const card = element("article", null, "card", open ? "open" : "settled");
    const found = `${open || "None"} of ${plural(asked, "other run")} ${open > 1 ? many : one} ${held.leader}.`;
    card.append(...cardParts(name, open > 0, found));
    return card;
  }).filter(Boolean);
  replace(at("doubts"), ...cards);
}

// ---- another measure ----

function showMeasuresOfTwo() {
  const { a, b } = looked, [run, against] = a === b ? [1, 0] : [a, b], rows = measures.map((_, measure) => ({ measure, ...pairOf(run, against, measure) }));
  const ends = stretch([0, ...rows.flatMap((row) => [row.ci_low, row.ci_high, row.difference])], 5);
  table(at("measures-board"), [
    { name: "measure", words: true, names: true, text: ({ measure }) => words.measures[measure] },
    ...[run, against].map((one) => ({ name: runs[one], roomy: true, text: ({ measure }) => fixed(data.systems[measure].mean[one]) })),
    { name: "difference", text: (row) => signed(row.difference), order: (row) => row.difference },
    { name: "interval", words: true, head: axisHead(ofTheDifference, ends), fields: ["ci_low", "ci_high"], values: (row) => [row.ci_low, row.ci_high],
      node: (row) => dotCell({ dot: row.difference, interval: [row.ci_low, row.ci_high], colour: "var(--ink)", label: bracketed(row.ci_low, row.ci_high) }, ends) },
    { name: "p", text: (row) => (known(row.p_adjusted) ? pNumber(row.p_adjusted) : "-"), order: (row) => row.p_adjusted, classes: (row) => (row.p_adjusted < settings.alpha ? ["value"] : []) },
    { name: "won", wide: true, text: (row) => row.won }, { name: "lost", wide: true, text: (row) => row.lost },
  ], rows, { file: "measures" });
  at("agreement-board").parentElement.parentElement.hidden = true;
  at("agreement-note").textContent = `Differences are ${runs[run]} minus ${runs[against]}. ${words.method}`;
}

function showMeasures() {
  if (measures.length < 2 || !several) { at("measures-part").hidden = true; return; }
  if (two) { showMeasuresOfTwo(); return; }
  const leader = ranked(looked.measure)[0];
  table(at("measures-board"), [
    { name: "measure", words: true, names: true, text: (measure) => measures[measure].label },
    { name: "leads", words: true, text: (measure) => measures[measure].leaders, classes: () => ["name"] },
    { name: "with", text: (measure) => fixed(data.systems[measure].mean[ranked(measure)[0]], measures[measure].digits) },
    { name: "may be first", text: (measure) => (data.systems[measure].rank_low || []).filter((low) => low === 1).length || "-" },
    { name: `place of ${runs[leader]}`, words: true, text: (measure) => data.systems[measure].place[leader] || "-" },
  ], [...measures.keys()], { file: "measures" });
  table(at("agreement-board"), [
    { name: "measure", words: true, names: true, text: (row) => row.measure_a }, { name: "and", words: true, text: (row) => row.measure_b },
    ...[["tau", "Kendall's tau"], ["tau_ap", "tau AP"], ["spearman", "Spearman"], ["rbo", "RBO"]].map(([key, name]) => (
      { name, widest: key !== "tau", text: (row) => fixed(row[key]), order: (row) => row[key] })),
    { name: "swapped", text: (row) => row.swapped, order: (row) => row.swapped },
    { name: "both significant", text: (row) => row.swapped_significantly, order: (row) => row.swapped_significantly },
  ], data.agreement, { sorted: { by: "Kendall's tau", down: true }, file: "agreement" });
}
