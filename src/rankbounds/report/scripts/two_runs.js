// Is one run better than another?

const pairAddress = (a, b) => `#pair=${encodeURIComponent(runs[a])},${encodeURIComponent(runs[b])}`;

function showPair() {
  const { a, b, measure } = looked;
  at("run-a").selectedIndex = closely.indexOf(a);
  at("run-b").selectedIndex = closely.indexOf(b);
  at("pair-title").textContent = a === b ? "Is one run better than another?" : `Is ${runs[a]} better than ${runs[b]}?`;
  if (a === b) {
    replace(at("verdict"), element("p", "Choose two different runs."));
    for (const id of ["pair-chart", "pair-lanes", "pair-board"]) replace(at(id));
    at("pair-caption").textContent = "";
    return;
  }
  replace(at("verdict"), ...sentencesOf(a, b, measure).map((sentence, number) => {
    const line = element("p");
    line.append(number ? element("span", sentence) : element("strong", sentence));
    return line;
  }));
  const rows = topics.map((query, topic) => ({ query, topic, a: value("value", a, topic, measure), b: value("value", b, topic, measure),
    low: less(value("low", a, topic, measure), value("high", b, topic, measure)), high: less(value("high", a, topic, measure), value("low", b, topic, measure)) }))
    .filter((row) => known(row.a) && known(row.b)).map((row) => ({ ...row, difference: less(row.a, row.b) }))
    .sort((one, other) => merit(less(other.difference, one.difference), measure));
  chartUnknowns(a, b, measure);
  chartPair(rows, a, b, measure);
  showChanged(rows, a, b, measure);
  showSlices(a, b, measure);
  const bounded = rows.some((row) => known(row.low));
  table(at("pair-board"), [
    { name: "topic", words: true, names: true, node: (row) => link(row.query, topicAddress(row.topic)), value: (row) => row.query, classes: () => ["name"] },
    { name: runs[a], text: (row) => fixed(row.a), order: (row) => row.a },
    { name: runs[b], text: (row) => fixed(row.b), order: (row) => row.b },
    { name: "difference", text: (row) => signed(row.difference), order: (row) => row.difference },
    ...(bounded ? [{ name: "bounds", wide: true, text: (row) => (known(row.low) ? bracketed(row.low, row.high) : "-") }] : []),
  ], rows, { caption: `${measures[measure].label} on each topic; the difference is ${runs[a]} minus ${runs[b]}.`, sorted: { by: "difference", down: !measures[measure].lower_is_better }, file: "pair" });
}

const MOST_CHANGED = 8;

function showChanged(rows, a, b, measure) {
  const changed = rows.filter((row) => row.difference).sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference)).slice(0, MOST_CHANGED);
  const asked = changed.some((row) => queryOf(row.topic));
  at("changed-part").hidden = !changed.length;
  const most = Math.max(...changed.map((row) => Math.abs(row.difference)).filter(Number.isFinite), 1e-9), ends = [-most, most];
  table(at("changed-board"), [
    { name: "topic", words: true, names: true, node: (row) => link(row.query, topicAddress(row.topic)), value: (row) => row.query, classes: () => ["name"] },
    ...(asked ? [{ name: "query", words: true, text: (row) => queryOf(row.topic), classes: () => ["wrap"] }] : []),
    { name: runs[a], wide: asked, text: (row) => fixed(row.a), order: (row) => row.a },
    { name: runs[b], wide: asked, text: (row) => fixed(row.b), order: (row) => row.b },
    { name: "difference", text: (row) => signed(row.difference), order: (row) => row.difference },
    { name: "drawn", words: true, roomy: true, head: element("span", `${runs[b]} better \u2190 \u2192 ${runs[a]} better`), fields: [], values: () => [], node: (row) => barCell(merit(row.difference, measure), ends) },
  ], changed, { file: "topics-changed" });
}

// A bar from the middle to the right (blue) or to the left (orange).
function barCell(value, ends) {
  const svg = drawn("svg", { class: "cell", "aria-hidden": true });
  svg.append(drawn("rect", { x: share(Math.min(0, value), ends), width: shareWide(Math.min(0, value), Math.max(0, value), ends), y: 4, height: 12, style: `fill:${value > 0 ? "var(--blue)" : "var(--orange)"}` }),
    drawn("line", { x1: "50%", x2: "50%", y1: 0, y2: "100%", class: "zero" }));
  return svg;
}

// Differences by class of topic, for this pair; stored either way round.
function showSlices(a, b, measure) {
  const all = data.slices ? data.slices.rows.filter(([label]) => label === measures[measure].label) : [];
  const rows = all.map(([, by, slice, number, run, against, difference, low, high, p, corrected_, won, lost]) => (run === runs[a] && against === runs[b] ? { by, slice, number, difference, low, high, p, corrected: corrected_, won, lost }
    : run === runs[b] && against === runs[a] ? { by, slice, number, difference: less(0, difference), low: low === null ? null : less(0, high), high: low === null ? null : less(0, low), p, corrected: corrected_, won: lost, lost: won } : null)).filter(Boolean);
  at("slices-part").hidden = !rows.length;
  if (!rows.length) return;
  const ends = stretch([0, ...rows.flatMap((row) => [row.difference, row.low ?? 0, row.high ?? 0])], 5);
  table(at("slices-board"), [
    ...(new Set(rows.map((row) => row.by)).size > 1 ? [{ name: "by", words: true, text: (row) => row.by }] : []), { name: rows.every((row) => row.by === rows[0].by) ? rows[0].by : "class", words: true, names: true, text: (row) => row.slice },
    { name: "topics", text: (row) => row.number, order: (row) => row.number },
    { name: "difference", text: (row) => signed(row.difference), order: (row) => row.difference },
    { name: "interval", words: true, head: axisHead(ofTheDifference, ends), fields: ["ci_low", "ci_high"], values: (row) => [row.low, row.high],
      node: (row) => dotCell({ dot: row.difference, interval: [row.low, row.high], colour: "var(--ink)", label: known(row.low) ? bracketed(row.low, row.high) : "no interval" }, ends) },
    { name: "p corrected", text: (row) => (known(row.corrected) ? pNumber(row.corrected) : "-"), order: (row) => row.corrected },
    { name: "won", wide: true, text: (row) => row.won }, { name: "lost", wide: true, text: (row) => row.lost },
  ], rows, { file: "by-class" });
  at("slices-method").textContent = data.slices.method;
}

function chartUnknowns(a, b, measure) {
  const unknowns = unknownsOf(a, b, measure), room = roomOf("pair-lanes"), top = 12, step = LANE * (two ? 5 : 4), narrow = room < 620, left = narrow ? 172 : 300;
  const kinds = unknowns.told, bottom = top + kinds.length * step;
  const svg = canvas(room, bottom + 40, `What noise, unjudged documents, ties and another p leave of the difference of ${runs[a]} and ${runs[b]}`);
  const x = scale(...stretch([0, unknowns.difference, ...kinds.flatMap(({ low, high }) => [low, high])], 5), left, room - 20);
  axisBelow(svg, x, top - 6, bottom, narrow ? 3 : 6, { withSign: true, name: `${narrow ? "" : `${measures[measure].label}: `}${runs[a].slice(0, narrow ? 12 : 30)} minus ${runs[b].slice(0, narrow ? 12 : 30)}` });
  kinds.forEach((unknown, number) => {
    const y = top + number * step, ends = known(unknown.low) && unknown.high > unknown.low && !narrow ? ` ${bracketed(unknown.low, unknown.high)}` : "";
    svg.append(drawn("text", { x: left - 10, y: y + step / 2 + 4, "text-anchor": "end", class: unknown.turns ? "turns" : "name" }, unknown.name + ends));
    lanes(svg, x, y + step / 2 - LANE, { difference: unknowns.difference, told: [unknown] }, two ? 2 * LANE : LANE);
  });
  showFigure("pair-lanes", svg);
}

function chartPair(rows, a, b, measure) {
  const room = roomOf("pair-chart"), left = 58, top = 14, bottom = 226;
  const step = Math.max(3, Math.min(44, (room - left - 12) / Math.max(rows.length, 1))), width = Math.max(room, left + step * rows.length + 12);
  const letters = Math.min(12, Math.max(...rows.map((row) => row.query.length), 1)), upright = step <= 7 * letters + 4, named = step > 13;
  const height = bottom + 34 + (named && upright ? 6 * letters : 0);
  const y = scale(...stretch([0, 1e-9, ...rows.map((row) => row.difference).filter(Number.isFinite)], 8), bottom, top);
  const svg = canvas(width, height, `${measures[measure].label} of ${runs[a]} minus ${runs[b]} on each topic, best for ${runs[a]} first`);
  axisLeft(svg, y, left, left + step * rows.length, 6, { withSign: true });
  rows.forEach((row, number) => {
    const mark = drawn("rect", { x: left + number * step + 1, width: Math.max(1, step - 2), y: Math.min(y(0), y(row.difference)),
      height: Math.max(1, Math.abs(y(row.difference) - y(0))), style: `fill:${row.difference === 0 ? "var(--quiet)" : merit(row.difference, measure) > 0 ? "var(--blue)" : "var(--orange)"}` });
    const anchor = drawn("a", { href: topicAddress(row.topic), tabindex: -1, "aria-label": `topic ${row.query}` });
    anchor.append(titled(mark, `topic ${row.query}: ${signed(row.difference)}`));
    svg.append(anchor);
    const x = left + (number + 0.5) * step, turned = { x: x + 4, y: bottom + 8, "text-anchor": "end", transform: `rotate(-90 ${x + 4} ${bottom + 8})` };
    if (named) svg.append(nameText(row.query, { ...(upright ? turned : { x, y: bottom + 14, "text-anchor": "middle" }), class: "small" }, 12));
  });
  svg.append(drawn("text", { x: left, y: height - 3 }, `topics, best for ${runs[a].slice(0, 30)} first`));
  showFigure("pair-chart", svg);
  at("pair-caption").textContent = `${measures[measure].label} of ${runs[a]} minus ${runs[b]}, topic by topic. Blue: ${runs[a]} is better; orange: ${runs[b]} is better.`;
}
