// RBP at any persistence, from sums over topics for each rank.

const polynomials = data.persistence && data.persistence.runs.map((run) => {
  const sums = unpacked(run.sums), width = run.sums.shape[1];
  return { sure: sums.subarray(0, width), open: sums.subarray(width), lengths: run.lengths,
    topics: run.lengths.reduce((total, [, number]) => total + number, 0) };
});

// Mean RBP and its residual at p: sums over ranks of what all topics hold there, and p^length for what lies beyond.
function rbp(run, p) {
  const { sure, open, lengths, topics: number } = polynomials[run], { unit } = data.persistence;
  let low = 0, rest = 0;
  for (let i = sure.length - 1; i >= 0; i--) { low = low * p + sure[i]; rest = rest * p + open[i]; }
  let beyond = 0;
  for (const [length, lists] of lengths) beyond += lists * p ** length;
  return { low: (1 - p) * low / unit / number, residual: ((1 - p) * rest / unit + beyond) / number };
}

const FIRST = 0.3, LAST = 0.99;
const GRID = Array.from({ length: 70 }, (_, i) => (30 + i) / 100);
let curves = null;
const curveOf = () => curves || (curves = runs.map((_, run) => GRID.map((p) => rbp(run, p).low)));

// The difference of two runs' RBP is 1 - p times a polynomial with these coefficients.
function differenceOf(a, b) {
  const one = polynomials[a], other = polynomials[b], same = one.topics === other.topics;
  const [times, minus] = same ? [1, 1] : [other.topics, one.topics];
  return Array.from({ length: Math.max(one.sure.length, other.sure.length) }, (_, i) => times * (one.sure[i] || 0) - minus * (other.sure[i] || 0));
}

// Every place between 0 and 1 where A and B change the lead, and who leads from there on: 1 for A, -1 for B.
const changes = new Map();
function changesOf(a, b) {
  if (a > b) return changesOf(b, a).map(({ at: p, after }) => ({ at: p, after: -after }));
  const key = a * count + b;
  if (!changes.has(key)) changes.set(key, signChanges(differenceOf(a, b)));
  return changes.get(key);
}
const crossingsOf = (a, b) => changesOf(a, b).map((change) => change.at).filter((p) => p >= FIRST && p <= LAST);

// Who leads from which p on. A run's sum over ranks never falls with p: one whose sum at the end of a stretch is below
// another's at its beginning cannot lead there, and few runs are left whose crossings must be known.
let leading = null;
function leaders() {
  if (leading) return leading;
  leading = [];
  const height = (run, p) => rbp(run, p).low / (1 - p);
  const add = (from, to, some) => {
    const middle = (from + to) / 2;
    const best = some.reduce((one, other) => (height(other, middle) > height(one, middle) ? other : one));
    if (!leading.length || leading[leading.length - 1].run !== best) leading.push({ run: best, from });
  };
  const look = (from, to, some) => {
    const least = Math.max(...some.map((run) => height(run, from)));
    const left = some.filter((run) => height(run, to) >= least * (1 - 1e-12));  // (a sum that stays the same is rounded)
    if (left.length > 3 && to - from > 1e-4) {
      const middle = (from + to) / 2;
      look(from, middle, left);
      look(middle, to, left);
      return;
    }
    const cuts = left.flatMap((a, place) => left.slice(place + 1).flatMap((b) => changesOf(a, b).map((change) => change.at)));
    const edges = [from, ...cuts.filter((p) => p > from && p < to).sort((one, other) => one - other), to];
    for (let i = 0; i + 1 < edges.length; i++) add(edges[i], edges[i + 1], left);
  };
  for (let i = 0; i + 1 < GRID.length; i++) look(GRID[i], GRID[i + 1], [...runs.keys()]);
  return leading;
}

const persistence = () => Number(at("p").value);
const CURVES = 8;

function showPersistence() {
  if (!data.persistence) { at("persistence").hidden = true; return; }
  const p = persistence(), base = data.persistence.p;
  at("p-shown").textContent = "p = " + p.toFixed(2);
  const now = runs.map((_, run) => rbp(run, p));
  const order = (scores) => [...runs.keys()].sort((a, b) => scores[b].low - scores[a].low || a - b);
  const here = order(now), before = order(runs.map((_, run) => rbp(run, base)));
  const rank = new Map(here.map((run, place) => [run, place + 1]));
  const moved = new Map(before.map((run, place) => [run, place + 1 - rank.get(run)]));
  const changed = [...moved.values()].filter((number) => number).length;
  const open = here.filter((run) => run !== here[0] && now[run].low + now[run].residual > now[here[0]].low).length;
  at("p-words").textContent = `A user with p = ${p.toFixed(2)} looks at ${fixed(1 / (1 - p), 1)} documents on average. ` +
    `${runs[here[0]]} leads with ${fixed(now[here[0]].low)} +${fixed(now[here[0]].residual)}; ` +
    (open ? `${plural(open, "other run")} could be better than that once everything is judged. ` : "no run can be better than that. ") +
    (p === base ? "" : `${changed} of ${plural(count, "run")} have another place than at p = ${base}. `) +
    (leaders().length > 1 ? "The leader: " + leaders().map(({ run, from }) => `${runs[run]} from p = ${from.toFixed(3)}`).join(", ") + "."
      : `${runs[leaders()[0].run]} leads at every p from 0.30 to 0.99.`);
  const ends = stretch([0, ...now.map(({ low, residual }) => low + residual)], 5);
  table(at("p-board"), [
    { name: "#", text: (run) => rank.get(run), order: (run) => rank.get(run) },
    nameColumn(),
    { name: "RBP", text: (run) => fixed(now[run].low), order: (run) => now[run].low, classes: () => ["value"] },
    { name: "residual", text: (run) => "+" + fixed(now[run].residual), order: (run) => now[run].residual },
    { name: "drawn", words: true, head: axisHead("RBP and residual", ends), fields: [], values: () => [],
      node: (run) => dotCell({ dot: now[run].low, bounds: [now[run].low, now[run].low + now[run].residual], colour: runColour(run), label: `${fixed(now[run].low)}, residual ${fixed(now[run].residual)}` }, ends) },
    { name: `moved from p = ${base}`, text: (run) => { const number = moved.get(run); return number > 0 ? `up ${number}` : number < 0 ? `down ${-number}` : "-"; },
      order: (run) => Math.abs(moved.get(run)) },
  ], here, { sorted: { by: "#", down: false }, file: "persistence" });
  chartPersistence(p, here.slice(0, CURVES));
  showTopic();
}

function chartPersistence(p, shown) {
  const width = roomOf("p-chart"), height = 340, left = 44, right = 14, top = 10, bottom = height - 40;
  const svg = canvas(width, height, "RBP of the runs that lead at this p, by persistence; circles mark where two of them change places");
  const x = scale(FIRST, LAST, left, width - right), y = scale(...stretch([0, ...shown.flatMap((run) => curveOf()[run])], 5), bottom, top);
  axisLeft(svg, y, left, width - right, 5);
  axisBelow(svg, x, top, bottom, width > 500 ? 7 : 4, { name: "persistence p" });
  svg.append(drawn("line", { x1: x(p), x2: x(p), y1: top, y2: bottom, class: "now" }));
  for (const run of shown) svg.append(titled(drawn("polyline", { points: GRID.map((place, i) => `${x(place).toFixed(1)},${y(curveOf()[run][i]).toFixed(1)}`).join(" "),
    class: "curve", style: `stroke:${runColour(run)};stroke-dasharray:${runDash(run)}` }), runs[run]));
  let marks = 0;
  for (let a = 0; a < shown.length; a++) for (let b = a + 1; b < shown.length; b++)
    for (const place of crossingsOf(shown[a], shown[b])) {
      svg.append(titled(drawn("circle", { cx: x(place), cy: y(rbp(shown[a], place).low), r: 3.5, class: "crossing",
        "data-a": shown[a], "data-b": shown[b], "data-p": place }), `${runs[shown[a]]} and ${runs[shown[b]]} change places at p = ${place.toFixed(3)}`));
      marks++;
    }
  showFigure("p-chart", svg);
  const legend = element("span", null, "legend");
  for (const run of shown) {
    const item = element("span"), swatch = drawn("svg", { width: 26, height: 6, "aria-hidden": true });
    swatch.append(drawn("line", { x1: 0, x2: 26, y1: 3, y2: 3, class: "curve", style: `stroke:${runColour(run)};stroke-dasharray:${runDash(run)}` }));
    item.append(swatch, element("span", runs[run]));
    legend.append(item);
  }
  replace(at("p-caption"), legend, element("span", `RBP without residual of the ${plural(shown.length, "run")} that lead at p = ${p.toFixed(2)}; ${plural(marks, "crossing")} marked by circles. ` +
    "They are found on a grid of p with steps of 0.001, and refined: two within one step may be missed."));
}
