(() => {
// Text from files goes into the page by textContent alone: nothing in it is ever read as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const LITTLE_JUDGED = 0.8;
const COLOURS = ["var(--blue)", "var(--orange)", "var(--green)", "#b85c92", "#b38600", "#5b7fc4", "#7a6a58", "#7d8a3c"];

// ---- elements ----

function element(tag, text, ...classes) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const one of classes) if (one) made.classList.add(one);
  return made;
}

function drawn(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function replace(parent, ...children) { parent.replaceChildren(...children); }

// ---- numbers ----

const TYPES = { f8: Float64Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

function unpacked(held) {
  const text = atob(held.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[held.type](bytes.buffer);
}

// As Python prints it: an exact half goes to the even digit.
function fixed(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const text = value.toFixed(digits);
  const exact = value.toFixed(60);
  const rest = exact.slice(exact.length - 60 + digits);
  if (!/^50*$/.test(rest)) return text;
  const cut = exact.slice(0, exact.length - 60 + digits).replace(/\.$/, "");
  return Number(cut[cut.length - 1]) % 2 ? text : cut;
}
const signed = (value, digits = 4) => (value >= 0 && !Object.is(value, -0) ? "+" : "") + fixed(value, digits);
const percent = (share, digits = 0) => (share === null || Number.isNaN(share) ? "-" : fixed(100 * share, digits) + "%");
const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);

// JSON has no infinite numbers: they come as words.
const finite = (number) => (number === "Infinity" ? Infinity : number === "-Infinity" ? -Infinity : number);

// ---- what was embedded ----

const runs = data.runs, topics = data.topics, measures = data.measures;
const count = runs.length;
const values = Object.fromEntries(Object.entries(data.values).map(([name, held]) => [name, unpacked(held)]));
const strips = unpacked(data.strips), depth = data.strips.shape[2];
const pairs = data.pairs && Object.fromEntries(Object.entries(data.pairs).map(([name, held]) => [name, unpacked(held)]));
const settings = data.comparison;
// Python wrote the sentences, and decided which of them hold for each pair.
const words = data.words;
const choices = words && Object.fromEntries(Object.entries(words.choices).map(([name, held]) => [name, unpacked(held)]));
for (const system of data.systems) for (const name of ["mean", "low", "high", "ci_low", "ci_high"]) if (system[name]) system[name] = system[name].map(finite);
for (const list of data.lists) list.tie_range = list.tie_range.map((range) => range && range.map(finite));

// One less other; scores that are equal come as the same number, and two searches that never end are equal.
const less = (one, other) => (one === other ? 0 : one - other);
// One mean less another, 0 where no more is left than rounding.
const apart = (one, other) => { const found = less(one, other); return Math.abs(found) <= 2 ** -42 * (Math.abs(one) + Math.abs(other)) ? 0 : found; };
// Turned so that more is better, also where a measure counts effort.
const merit = (difference, measure) => (measures[measure].lower_is_better ? -difference : difference);
// The runs by a measure's means, the best first.
const ranked = (measure) => { const { mean } = data.systems[measure]; return [...runs.keys()].sort((a, b) => merit(less(mean[b], mean[a]), measure) || a - b); };
const value = (what, run, topic, measure) => values[what][(run * topics.length + topic) * measures.length + measure];

// One pair's row, turned around where it is stored the other way.
function pairOf(a, b, measure) {
  const [first, second] = a < b ? [a, b] : [b, a];
  const number = measure * (count * (count - 1) / 2) + first * count - first * (first + 1) / 2 + second - first - 1;
  const row = Object.fromEntries(Object.entries(pairs).map(([name, column]) => [name, column[number]]));
  row.choices = Object.fromEntries(Object.entries(choices).map(([name, codes]) => [name, codes[number]]));
  const one = data.lists[first].tie_range[measure], other = data.lists[second].tie_range[measure];
  [row.ties_low, row.ties_high] = one && other ? [apart(one[0], other[1]), apart(one[1], other[0])] : [NaN, NaN];
  if (a < b) return row;
  const around = { ...row };
  for (const [name, from] of Object.entries(words.negated)) around[name] = less(0, row[from]);
  for (const [name, from] of Object.entries(words.swapped)) around[name] = row[from];
  for (const name of words.complemented) around[name] = 1 - row[name];
  return around;
}
const separated = (a, b, measure) => pairOf(a, b, measure).p_adjusted < settings.alpha;
const alike = (run, measure) => [...runs.keys()].filter((other) => other !== run && !separated(run, other, measure));

// ---- tables that sort ----

// columns: {name, title, words, wide, text(row), node(row), order(row), classes(row)}
function table(target, columns, rows, caption, sorting, onRow) {
  const state = target.state || (target.state = { ...sorting });
  const head = element("tr");
  const body = element("tbody");
  for (const column of columns) {
    const cell = element("th", null, column.words && "words", column.wide && "wide");
    cell.scope = "col";
    if (column.order) {
      const button = element("button", column.name.replace(/[(,]/g, "$&\u200b"));  // long names of measures may break here
      button.type = "button";
      button.title = "Sort by " + column.name;
      button.addEventListener("click", () => {
        state.down = state.by === column.name ? !state.down : !column.words;
        state.by = column.name;
        fill();
        for (const other of head.children) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      });
      cell.append(button);
      if (state.by === column.name) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    } else cell.textContent = column.name;
    head.append(cell);
  }
  function fill() {
    const by = columns.find((column) => column.name === state.by && column.order);
    const sorted = rows.slice();
    if (by) sorted.sort((one, other) => {
      const x = by.order(one), y = by.order(other);
      const lack = !known(x) - !known(y);
      const compared = lack || (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1);
      return compared || rows.indexOf(one) - rows.indexOf(other);
    });
    replace(body, ...sorted.map((row, place) => {
      const line = element("tr");
      for (const column of columns) {
        const cell = element("td", column.text ? column.text(row, place) : null,
          column.words && "words", column.wide && "wide", ...(column.classes ? column.classes(row) : []));
        if (column.node) cell.append(column.node(row));
        if (column.title) cell.title = column.title(row);
        line.append(cell);
      }
      if (onRow) onRow(line, row);
      return line;
    }));
  }
  fill();
  const top = element("thead");
  top.append(head);
  const told = element("caption", caption);
  told.style.cssText = "text-align:left;caption-side:bottom;font-size:.85rem;padding:.3rem 0;white-space:normal";
  replace(target, ...(caption ? [told] : []), top, body);
}

function nameColumn(onChoose) {
  const column = { name: "run", words: true, order: (run) => runs[run].toLowerCase(), classes: () => ["name"], title: (run) => runs[run] };
  if (!onChoose) column.text = (run) => runs[run];
  else column.node = (run) => {
    const button = element("button", runs[run], "plain");
    button.type = "button";
    button.addEventListener("click", () => onChoose(run));
    return button;
  };
  return column;
}

// ---- leaderboard ----

// The run that others are held against: the best one, until the reader chooses another or none.
let chosen = data.pairs ? ranked(0)[0] : null;

function bar(low, high, ciLow, ciHigh, mean, most, label) {
  const width = 240, x = (score) => Math.max(0, Math.min(width, score / most * width));
  const svg = drawn("svg", { class: "range", role: "img", "aria-label": label, viewBox: `0 0 ${width} 18`, preserveAspectRatio: "none" });
  svg.append(drawn("line", { x1: 0, x2: width, y1: 17.5, y2: 17.5, class: "axis" }));
  if (known(low)) svg.append(drawn("rect", { x: x(low), width: Math.max(1, x(high) - x(low)), y: 3, height: 12, class: "bound" }));
  if (known(ciLow)) {
    svg.append(drawn("line", { x1: x(ciLow), x2: x(ciHigh), y1: 9, y2: 9, class: "whisker" }));
    for (const end of [ciLow, ciHigh]) svg.append(drawn("line", { x1: x(end), x2: x(end), y1: 6, y2: 12, class: "whisker" }));
  }
  svg.append(drawn("rect", { x: x(mean) - 2, width: 4, y: 1, height: 16, class: "tick" }));
  return svg;
}

function showBoard() {
  const measure = at("measure").selectedIndex, { label, digits } = measures[measure];
  const system = data.systems[measure];
  const rows = ranked(measure);
  const place = new Map(rows.map((run) => [run, 1 + rows.findIndex((other) => system.mean[other] === system.mean[run])]));
  const ends = [...system.mean, ...(system.ci_high || []), ...system.high].filter(Number.isFinite);
  const most = Math.max(...ends, 1e-9);
  const several = pairs !== null;
  const ci = several ? percent(settings.confidence) + " interval" : null;
  const range = (low, high) => known(low) && known(high) ? `[${fixed(low, digits)}, ${fixed(high, digits)}]` : "-";
  const alikes = several ? rows.map((run) => [run, alike(run, measure).length]) : [];
  const numberAlike = new Map(alikes);
  const mark = (line, run) => {
    if (chosen === null || !several) return;
    if (run === chosen) line.classList.add("chosen");
    else if (!separated(run, chosen, measure)) line.classList.add("alike");
  };
  const choose = (run) => { chosen = chosen === run ? null : run; showBoard(); focusRun(run); };
  const columns = [
    { name: "#", text: (run) => place.get(run), order: (run) => place.get(run) },
    nameColumn(several ? choose : null),
    { name: label, text: (run) => fixed(system.mean[run], digits), order: (run) => system.mean[run], classes: () => ["value"] },
    { name: `0 to ${fixed(most, digits ? 2 : 0)}`, words: true, node: (run) => {
      const holder = element("div");
      holder.append(bar(system.low[run], system.high[run],
        several ? system.ci_low[run] : null, several ? system.ci_high[run] : null, system.mean[run], most,
        `${fixed(system.mean[run], digits)}, bounds ${range(system.low[run], system.high[run])}` +
        (several ? `, interval ${range(system.ci_low[run], system.ci_high[run])}` : "")));
      if (notes(run, measure)) holder.append(element("div", notes(run, measure), "remark"));
      return holder;
    } },
    { name: "bounds", wide: true, text: (run) => range(system.low[run], system.high[run]), order: (run) => system.high[run] - system.low[run] },
    ...(several ? [
      { name: ci, wide: true, text: (run) => range(system.ci_low[run], system.ci_high[run]), order: (run) => system.ci_high[run] - system.ci_low[run] },
      { name: "not separable from", text: (run) => numberAlike.get(run), order: (run) => numberAlike.get(run) },
      ...(chosen === null ? [] : [["p_value", "p against it"], ["p_adjusted", "corrected"]].slice(0, count > 2 ? 2 : 1).map(([name, title]) => (
        { name: title, wide: true, text: (run) => run === chosen ? "-" : fixed(pairOf(run, chosen, measure)[name]), order: (run) => run === chosen ? null : pairOf(run, chosen, measure)[name] }))),
      { name: "group", wide: true, words: true, text: (run) => system.group[run].length > 12 ? "many" : system.group[run], title: (run) => system.group[run] },
    ] : []),
    { name: "judged@10", text: (run) => percent(system.judged_at_10[run]), order: (run) => system.judged_at_10[run],
      classes: (run) => system.judged_at_10[run] < LITTLE_JUDGED ? ["little"] : [] },
    ...(several ? [{ name: "topics led", wide: true, text: (run) => fixed(system.topics_led[run], 1), order: (run) => system.topics_led[run] }] : []),
  ];
  table(at("board"), columns, rows, null, { by: "#", down: false }, mark);
  at("board").parentElement.classList.toggle("tall", count > 25);
  at("reading").textContent = `Thick mark: the mean of ${label} over ${data.number_of_topics} topics${measures[measure].lower_is_better ? ", the lower the better" : ""}. ` +
    `Light bar: bounds, what ${boundsOf()} leave open; nothing is random in them. ` +
    (several ? `Thin line: ${ci} over topics, which are a sample. Shaded: runs that the test does not separate from the chosen one; choose another by its name. ${words.method}` : "");
  const told = at("group");
  if (chosen === null || !several) told.textContent = "";
  else {
    const others = alike(chosen, measure);
    told.textContent = others.length
      ? `${runs[chosen]} is not separable from ${others.length} of ${count - 1} other runs by ${label} (${settings.tested_by}, level ${settings.alpha}).`
      : `${runs[chosen]} is separable from every other run by ${label}.`;
  }
}

function focusRun(run) {
  for (const button of at("board").querySelectorAll("button.plain")) if (button.textContent === runs[run]) { button.focus(); return; }
}

function boundsOf() {
  const what = data.identity.options.bounds;
  return { unjudged: "unjudged documents", ties: "ties", both: "unjudged documents and ties", none: "nothing (no bounds were asked for)" }[what];
}

function notes(run, measure) {
  const list = data.lists[run], told = [];
  if (data.systems[measure].judged_at_10[run] < LITTLE_JUDGED) told.push("rests on unjudged documents");
  if (list.missing) told.push(`${list.missing} topic${list.missing > 1 ? "s" : ""} missing`);
  const range = list.tie_range[measure];
  if (range && less(range[1], range[0]) >= 0.00005) told.push(`ties move it by ${fixed(less(range[1], range[0]))}`);
  return told.join("; ");
}

// ---- persistence ----

const polynomials = data.persistence.runs.map((one) => {
  const sums = unpacked(one.sums), width = one.sums.shape[1];
  return { sure: sums.subarray(0, width), open: sums.subarray(width), lengths: one.lengths,
    topics: one.lengths.reduce((total, [, lists]) => total + lists, 0) };
});

// Mean RBP and its residual at p: sums over ranks of what all topics hold there, and p^length for what lies beyond.
const unit = data.persistence.unit;

function rbp(run, p) {
  const { sure, open, lengths, topics: lists } = polynomials[run];
  let low = 0, rest = 0;
  for (let i = sure.length - 1; i >= 0; i--) { low = low * p + sure[i]; rest = rest * p + open[i]; }
  let beyond = 0;
  for (const [length, number] of lengths) beyond += number * p ** length;
  return { low: (1 - p) * low / unit / lists, residual: ((1 - p) * rest / unit + beyond) / lists };
}

const FIRST = 0.3, LAST = 0.99;
const GRID = Array.from({ length: 70 }, (_, i) => (30 + i) / 100);
let curves = null;
const curveOf = () => curves || (curves = runs.map((_, run) => GRID.map((p) => rbp(run, p).low)));

// The difference of two runs' RBP is 1 - p times a polynomial with these coefficients.
function differenceOf(a, b) {
  const one = polynomials[a], other = polynomials[b], same = one.topics === other.topics;
  const [times, less] = same ? [1, 1] : [other.topics, one.topics];
  return Array.from({ length: Math.max(one.sure.length, other.sure.length) }, (_, i) => times * (one.sure[i] || 0) - less * (other.sure[i] || 0));
}

// Every place between 0 and 1 where A and B change the lead, and who leads from there on: 1 for A, -1 for B.
const changes = new Map();
function changesOf(a, b) {
  if (a > b) return changesOf(b, a).map(({ at: p, after }) => ({ at: p, after: -after }));
  const key = a * count + b;
  if (!changes.has(key)) changes.set(key, signChanges(differenceOf(a, b)));
  return changes.get(key);
}
const crossingsOf = (a, b) => changesOf(a, b).map((one) => one.at).filter((p) => p >= FIRST && p <= LAST);

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
    const left = some.filter((run) => height(run, to) >= least);
    if (left.length > 3 && to - from > 1e-4) {
      const middle = (from + to) / 2;
      look(from, middle, left);
      look(middle, to, left);
      return;
    }
    const cuts = left.flatMap((a, place) => left.slice(place + 1).flatMap((b) => changesOf(a, b).map((one) => one.at)));
    const edges = [from, ...cuts.filter((p) => p > from && p < to).sort((one, other) => one - other), to];
    for (let i = 0; i + 1 < edges.length; i++) add(edges[i], edges[i + 1], left);
  };
  for (let i = 0; i + 1 < GRID.length; i++) look(GRID[i], GRID[i + 1], [...runs.keys()]);
  return leading;
}

function persistence() { return Number(at("p").value); }

function showPersistence() {
  const p = persistence(), base = data.persistence.p;
  at("p-shown").textContent = "p = " + p.toFixed(2);
  const now = runs.map((_, run) => rbp(run, p));
  const order = (scores) => [...runs.keys()].sort((a, b) => scores[b].low - scores[a].low || a - b);
  const here = order(now), before = order(runs.map((_, run) => rbp(run, base)));
  const rank = new Map(here.map((run, place) => [run, place + 1]));
  const moved = new Map(before.map((run, place) => [run, place + 1 - rank.get(run)]));
  const changed = [...moved.values()].filter((places) => places).length;
  const open = here.filter((run) => run !== here[0] && now[run].low + now[run].residual > now[here[0]].low).length;
  at("p-words").textContent = `A user with p = ${p.toFixed(2)} looks at ${fixed(1 / (1 - p), 1)} documents on average. ` +
    `${runs[here[0]]} leads with ${fixed(now[here[0]].low)} +${fixed(now[here[0]].residual)}; ` +
    (open ? `${open} other run${open > 1 ? "s" : ""} could be better than that once everything is judged. ` : "no run can be better than that. ") +
    (p === base ? "" : `${changed} of ${count} runs stand at another place than at p = ${base}. `) +
    (leaders().length > 1 ? "The leader: " + leaders().map(({ run, from }) => `${runs[run]} from p = ${from.toFixed(3)}`).join(", ") + "."
      : `${runs[leaders()[0].run]} leads at every p from 0.30 to 0.99.`);
  const most = Math.max(...now.map((one) => one.low + one.residual), 1e-9);
  table(at("p-board"), [
    { name: "#", text: (run) => rank.get(run), order: (run) => rank.get(run) },
    nameColumn(),
    { name: "RBP", text: (run) => fixed(now[run].low), order: (run) => now[run].low, classes: () => ["value"] },
    { name: "residual", text: (run) => "+" + fixed(now[run].residual), order: (run) => now[run].residual, classes: () => ["residual"] },
    { name: `0 to ${most.toFixed(2)}`, words: true, node: (run) => bar(now[run].low, now[run].low + now[run].residual, null, null, now[run].low, most,
      `${fixed(now[run].low)}, residual ${fixed(now[run].residual)}`) },
    { name: `moved from p = ${base}`, text: (run) => { const places = moved.get(run); return places > 0 ? `up ${places}` : places < 0 ? `down ${-places}` : "-"; },
      order: (run) => Math.abs(moved.get(run)) },
  ], here, null, { by: "#", down: false });
  at("p-board").parentElement.classList.toggle("tall", count > 12);
  at("p-paper").hidden = count <= 20;
  chartPersistence(p, here.slice(0, 8));
  showStrips();
}

function chartPersistence(p, shown) {
  const width = Math.max(300, Math.min(720, at("p-chart").clientWidth || 720)), height = 300, left = 44, right = 14, top = 10, bottom = 34;
  const most = Math.max(...shown.map((run) => Math.max(...curveOf()[run])), 1e-9);
  const x = (one) => left + (one - 0.3) / 0.69 * (width - left - right);
  const y = (score) => height - bottom - score / most * (height - top - bottom);
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", style: "max-width:100%;height:auto",
    "aria-label": "RBP of the runs that lead at this p, by persistence; circles mark where two of them change places" });
  for (let part = 0; part <= 4; part++) {
    const score = most * part / 4;
    svg.append(drawn("line", { x1: left, x2: width - right, y1: y(score), y2: y(score), class: "axis" }));
    svg.append(drawn("text", { x: left - 6, y: y(score) + 4, "text-anchor": "end" }, score.toFixed(2)));
  }
  for (const one of width > 500 ? [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99] : [0.3, 0.5, 0.7, 0.9])
    svg.append(drawn("text", { x: x(one), y: height - bottom + 16, "text-anchor": "middle" }, String(one)));
  svg.append(drawn("text", { x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle" }, "persistence p"));
  svg.append(drawn("line", { x1: x(p), x2: x(p), y1: top, y2: height - bottom, class: "now" }));
  shown.forEach((run, number) => {
    const line = drawn("polyline", { points: GRID.map((one, i) => `${x(one).toFixed(1)},${y(curveOf()[run][i]).toFixed(1)}`).join(" "),
      fill: "none", "stroke-width": 2, style: `stroke:${COLOURS[number]}` });
    line.append(drawn("title", {}, runs[run]));
    svg.append(line);
  });
  let marks = 0;
  for (let a = 0; a < shown.length; a++) for (let b = a + 1; b < shown.length; b++)
    for (const one of crossingsOf(shown[a], shown[b])) {
      const mark = drawn("circle", { cx: x(one), cy: y(rbp(shown[a], one).low), r: 3.5, class: "crossing",
        "data-a": shown[a], "data-b": shown[b], "data-p": one });
      mark.append(drawn("title", {}, `${runs[shown[a]]} and ${runs[shown[b]]} change places at p = ${one.toFixed(3)}`));
      svg.append(mark);
      marks++;
    }
  replace(at("p-chart"), svg);
  const caption = at("p-caption");
  replace(caption, element("span", `RBP without residual of the ${shown.length} runs that lead at p = ${p.toFixed(2)}; ${marks} crossing${marks === 1 ? "" : "s"} marked by circles. ` +
    (data.persistence.exact ? "All of them are marked: they are roots of polynomials with whole numbers, isolated one by one and not searched for on a grid; only two closer than 0.0000001 to each other would go unseen. "
      : "Here they are roots of polynomials with rounded numbers: two very close to each other may go unseen. ")));
  const legend = element("span", null, "legend");
  shown.forEach((run, number) => {
    const item = element("span");
    const swatch = element("i");
    swatch.style.cssText = `display:inline-block;width:1.2rem;height:3px;background:${COLOURS[number]}`;
    item.append(swatch, element("span", runs[run]));
    legend.append(item);
  });
  caption.append(legend);
}

// ---- two runs ----

// A number as its template asks for it, in Python's way: .4f, +.4f, .0%, or with commas between thousands.
function shown(value, format) {
  if (!format) return String(value);
  if (format === ",") return value.toLocaleString("en");
  const [, sign, digits, kind] = /^(\+?)\.(\d+)([f%])$/.exec(format);
  return kind === "%" ? percent(value, Number(digits)) : sign ? signed(value, Number(digits)) : fixed(value, Number(digits));
}

const filled = (template, held) => template.replace(/\{(\w+)(?::([^}]*))?\}/g, (_, name, format) => shown(held[name], format));

function sentencesOf(a, b, measure) {
  const row = pairOf(a, b, measure), { mean } = data.systems[measure], lead = leadChanges(a, b, measure);
  const held = { ...row, ...words.constants, ...lead.held, measure: words.measures[measure], a: runs[a], b: runs[b],
    mean_a: mean[a], mean_b: mean[b], size: Math.abs(row.difference) };
  const choice = { ...row.choices, lead: lead.choice };
  for (const [name, templates] of Object.entries(words.templates))
    held[name] = choice[name] === undefined ? "" : filled(templates[choice[name]], held);
  return words.sentences.map((name) => held[name]).filter((one) => one);
}

// Where the lead changes over p is found in the page; how it is told is Python's.
function leadChanges(a, b, measure) {
  if (!measures[measure].slider || !data.persistence.in_order) return { choice: 0, held: {} };
  const found = changesOf(a, b), name = (sign) => runs[sign > 0 ? a : b];
  const places = found.slice(0, words.shown_changes).map(({ at: p, after }) => filled(words.lead_change, { p, below: name(-after), above: name(after) }));
  const more = found.length - words.shown_changes;
  return { choice: found.length ? (more > 0 ? 3 : 2) : 1, held: { changes: places.join(", "), more } };
}

function showPair() {
  const a = at("run-a").selectedIndex, b = at("run-b").selectedIndex, measure = at("pair-measure").selectedIndex;
  if (a === b) {
    replace(at("verdict"), element("p", "Choose two different runs."));
    replace(at("pair-chart")); replace(at("pair-board")); at("pair-caption").textContent = "";
    return;
  }
  const told = sentencesOf(a, b, measure);
  replace(at("verdict"), ...told.map((one, number) => {
    const line = element("p");
    line.append(number ? element("span", one) : element("strong", one));
    return line;
  }));
  const rows = topics.map((query, topic) => ({ query, a: value("value", a, topic, measure), b: value("value", b, topic, measure),
    low: less(value("low", a, topic, measure), value("high", b, topic, measure)), high: less(value("high", a, topic, measure), value("low", b, topic, measure)) }))
    .filter((row) => known(row.a) && known(row.b)).map((row) => ({ ...row, difference: less(row.a, row.b) }))
    .sort((one, other) => merit(less(other.difference, one.difference), measure));
  chartPair(rows, a, b, measure);
  table(at("pair-board"), [
    { name: "topic", words: true, text: (row) => row.query, classes: () => ["name"] },
    { name: runs[a], text: (row) => fixed(row.a), order: (row) => row.a },
    { name: runs[b], text: (row) => fixed(row.b), order: (row) => row.b },
    { name: "difference", text: (row) => signed(row.difference), order: (row) => row.difference },
    { name: "it can lie in", wide: true, text: (row) => known(row.low) ? `[${signed(row.low)}, ${signed(row.high)}]` : "-" },
  ], rows, `${measures[measure].label} on each topic; the difference is ${runs[a]} less ${runs[b]}.`, { by: "difference", down: !measures[measure].lower_is_better });
}

function chartPair(rows, a, b, measure) {
  const step = Math.max(3, Math.min(16, 700 / Math.max(rows.length, 1))), left = 50, height = 240, bottom = 18;
  const width = left + step * rows.length + 14;
  const most = Math.max(...rows.map((row) => Math.abs(row.difference)).filter(Number.isFinite), 1e-9);
  const middle = (height - bottom) / 2, y = (difference) => middle - Math.max(-1, Math.min(1, difference / most)) * (middle - 12);
  const svg = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Difference A less B of ${measures[measure].label} on each topic, largest first` });
  for (const one of [most, 0, -most]) {
    svg.append(drawn("line", { x1: left, x2: width, y1: y(one), y2: y(one), class: "axis" }));
    svg.append(drawn("text", { x: left - 5, y: y(one) + 4, "text-anchor": "end" }, signed(one, 2)));
  }
  rows.forEach((row, number) => {
    const mark = drawn("rect", { x: left + number * step + 1, width: Math.max(1, step - 2), y: Math.min(y(0), y(row.difference)),
      height: Math.max(1, Math.abs(y(row.difference) - y(0))), class: merit(row.difference, measure) >= 0 ? "bar" : "lost" });
    mark.append(drawn("title", {}, `topic ${row.query}: ${signed(row.difference)}`));
    svg.append(mark);
  });
  svg.append(drawn("text", { x: left, y: height - 3 }, "topics, best for A first"));
  replace(at("pair-chart"), svg);
  at("pair-caption").textContent = `${measures[measure].label} of A (${runs[a]}) less B (${runs[b]}), topic by topic. Blue: A is better; orange: B is better.`;
}

// ---- one topic ----

const cellName = (code) => ["no document", "unjudged", "judged non-relevant"][code] ||
  (data.grades.length > 1 ? `grade ${data.grades[code - 3]}` : "relevant");
const cellClass = (code) => code === 0 ? "absent" : code === 1 ? "unjudged" : code === 2 ? "judged"
  : code - 3 === data.grades.length - 1 ? "relevant" : "part";

function showStrips() {
  if (!depth) { replace(at("strips"), element("p", "Rankings are left out of this report: it would be too large.")); return; }
  const topic = at("query").selectedIndex, p = persistence(), measure = at("measure").selectedIndex;
  const picked = [...at("runs").selectedOptions].map((one) => Number(one.value));
  let longest = 0;
  for (const run of picked) for (let rank = 0; rank < depth; rank++)
    if (strips[(run * topics.length + topic) * depth + rank] & 127) longest = Math.max(longest, rank + 1);
  const line = (name, number, kind) => {
    const made = element("div", null, "strip", kind), who = element("span", null, "who");
    who.append(element("span", name), element("b", number));
    made.append(who);
    return made;
  };
  const weights = line("weight, p =", p.toFixed(2), "weights"), ranks = line("rank", "", "ranks");
  for (let rank = 0; rank < longest; rank++) {
    const cell = element("span", null, "cell"), mark = element("i"), weight = (1 - p) * p ** rank;
    mark.style.height = `${weight / (1 - p) * 100}%`;
    cell.title = `rank ${rank + 1} weighs ${fixed(weight)}`;
    cell.append(mark);
    weights.append(cell);
    ranks.append(element("span", rank === 0 || (rank + 1) % 5 === 0 ? rank + 1 : "", "cell"));
  }
  const lines = picked.map((run) => {
    const made = line(runs[run], fixed(value("value", run, topic, measure), measures[measure].digits), "list");
    made.firstChild.title = runs[run];
    const offset = (run * topics.length + topic) * depth, words = [];
    for (let rank = 0; rank < longest; rank++) {
      const held = strips[offset + rank], code = held & 127, tied = held > 127;
      const next = rank + 1 < depth && strips[offset + rank + 1] > 127;
      const cell = element("span", null, "cell", cellClass(code), tied && "tied", !tied && next && "tie-begin", tied && !next && "tie-end");
      cell.title = `rank ${rank + 1}: ${cellName(code)}${tied || next ? ", tied" : ""}`;
      if (code > 2) words.push(rank + 1);
      made.append(cell);
    }
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", `${runs[run]}: relevant at rank ${words.join(", ") || "none"}`);
    return made;
  });
  replace(at("strips"), weights, ...lines, ranks);
  if (!picked.length) replace(at("strips"), element("p", "Choose at least one run."));
  const legend = [...(data.grades.length > 2 ? [3, 3 + data.grades.length - 1] : data.grades.map((_, number) => 3 + number)), 2, 1].map((code) => {
    const item = element("span");
    item.append(element("span", null, "cell", cellClass(code)), element("span", cellName(code)));
    return item;
  });
  replace(at("legend"), ...legend, element("span", "a bracket below joins tied documents"),
    element("span", `number behind a run: its ${measures[measure].label} on this topic`));
}

// ---- the other tables ----

function showCoverage() {
  const measure = at("measure").selectedIndex, depths = data.coverage_depths;
  table(at("coverage-board"), [
    nameColumn(),
    ...depths.map((one, number) => ({ name: one === "all" ? "judged, all" : `judged@${one}`, text: (run) => percent(data.lists[run].judged[number]),
      order: (run) => data.lists[run].judged[number], classes: (run) => data.lists[run].judged[number] < LITTLE_JUDGED && number === 0 ? ["little"] : [] })),
    { name: "tied in the first 10", text: (run) => percent(data.lists[run].tied[0]), order: (run) => data.lists[run].tied[0] },
    { name: "tied, all", text: (run) => percent(data.lists[run].tied[1], 1), order: (run) => data.lists[run].tied[1] },
    { name: "topics with ties", wide: true, text: (run) => `${data.lists[run].tied_topics} of ${data.lists[run].topics}`, order: (run) => data.lists[run].tied_topics },
    { name: `ties move ${measures[measure].label}`, text: (run) => { const range = data.lists[run].tie_range[measure]; return range ? fixed(less(range[1], range[0])) : "-"; },
      order: (run) => { const range = data.lists[run].tie_range[measure]; return range ? less(range[1], range[0]) : null; } },
    { name: "missing topics", wide: true, text: (run) => data.lists[run].missing, order: (run) => data.lists[run].missing },
  ], [...runs.keys()], "judged@10 here is the share of the retrieved documents down to rank 10, all topics together.", { by: `ties move ${measures[measure].label}`, down: true });
  at("coverage-board").parentElement.classList.toggle("tall", count > 25);
}

function showAgreement() {
  if (!data.agreement.length) { replace(at("agreement-board"), element("caption", "This needs two measures, two runs and two topics.")); return; }
  table(at("agreement-board"), [
    { name: "measure", words: true, text: (row) => row.measure_a }, { name: "and", words: true, text: (row) => row.measure_b },
    ...[["tau", "Kendall's tau"], ["tau_ap", "tau AP"], ["spearman", "Spearman"], ["rbo", "RBO"]].map(([key, name]) => (
      { name, wide: key !== "tau", text: (row) => fixed(row[key]), order: (row) => row[key] })),
    { name: "swapped", text: (row) => row.swapped, order: (row) => row.swapped },
    { name: "both significant", text: (row) => row.swapped_significantly, order: (row) => row.swapped_significantly },
  ], data.agreement, null, { by: "Kendall's tau", down: true });
}

function showNext() {
  if (!data.next) return;
  const { documents, open, open_after: after, measure, depth: looked } = data.next;
  at("next").hidden = at("next-link").hidden = false;
  const listed = data.next.words !== undefined;
  at("next-words").textContent = listed ? data.next.words : documents.length
    ? `By ${measure} a run's mean is open by ${fixed(open)} on average. These ${documents.length} documents, judged in this order, would leave ` +
      `${fixed(after[after.length - 1])} open. They were looked for in the first ${looked} ranks; the weight is what a document adds up to over all runs.`
    : `By ${measure} every document that counts in the first ${looked} ranks is judged.`;
  if (!documents.length) return;
  const rows = documents.map(([query, doc, weight], number) => ({ number, query, doc, weight, after: listed ? 0 : after[number] }));
  table(at("next-board"), [
    { name: "#", text: (row) => row.number + 1, order: (row) => row.number },
    { name: "topic", words: true, text: (row) => row.query, order: (row) => row.query, classes: () => ["name"], title: (row) => row.query },
    { name: "document", words: true, text: (row) => row.doc, classes: () => ["wrap"] },
    ...(data.live && data.live.judging ? [{ name: "judge", words: true, node: judging }] : []),
    ...(listed ? [] : [
      { name: "weight", text: (row) => fixed(row.weight), order: (row) => row.weight },
      { name: "then open", wide: true, text: (row) => fixed(row.after), order: (row) => row.after },
    ]),
  ], rows, null, { by: "#", down: false });
}

// ---- live: only where the page comes from "rankbounds serve" ----

function judging(row) {
  const holder = element("div"), told = element("span", "", "note");
  told.setAttribute("role", "status");
  for (const grade of data.live.grades) {
    const button = element("button", grade);
    button.type = "button";
    button.setAttribute("aria-label", `judge ${row.doc} for topic ${row.query} as grade ${grade}`);
    button.addEventListener("click", () => {
      for (const other of holder.querySelectorAll("button")) other.disabled = true;
      send("judge", { query_id: row.query, doc_id: row.doc, grade: Number(grade) }).then((said) => {
        if (said.error) told.textContent = said.error; else location.reload();
      });
    });
    holder.append(button, " ");
  }
  if (data.live.documents) {
    const button = element("button", "read");
    button.type = "button";
    const text = element("div", "", "wrap");
    button.addEventListener("click", () => send("document", { doc_id: row.doc }).then((said) => { text.textContent = said.error || said.text; }));
    holder.append(button, text);
  }
  holder.append(told);
  return holder;
}

function send(what, message) {
  return fetch("/" + what, { method: "POST", headers: { "Content-Type": "application/json", "X-Token": data.live.token }, body: JSON.stringify(message) })
    .then((answer) => answer.json()).catch(() => ({ error: "The server does not answer." }));
}

function watch() {
  if (!data.live) return;
  setInterval(() => send("state", {}).then((said) => { if (said.state && said.state !== data.live.state) location.reload(); }), 2000);
}

function showIdentity() {
  const { counts, options, files } = data.identity;
  at("made").textContent = `Made by rankbounds ${data.version} from ` + Object.entries(counts).map(([name, number]) => `${number.toLocaleString("en")} ${name}`).join(", ") + ". " + data.thinned.join(" ");
  replace(at("options"), ...Object.entries(options).flatMap(([name, chosenOption]) => [element("dt", name), element("dd", chosenOption)]));
  table(at("files"), [
    { name: "file", words: true, text: (file) => file.name, classes: () => ["wrap"] }, { name: "as", words: true, text: (file) => file.role, classes: () => ["wrap"] },
    { name: "bytes", text: (file) => file.bytes.toLocaleString("en"), order: (file) => file.bytes },
    { name: "SHA-256", words: true, text: (file) => file.sha256, classes: () => ["code"] },
  ], files, null, {});
}

// ---- begin ----

function fillSelect(select, names, index) {
  replace(select, ...names.map((name, number) => { const option = element("option", name); option.value = number; return option; }));
  if (index !== undefined) select.selectedIndex = index;
}

at("title").textContent = data.title;
replace(at("warnings"), ...[...data.warnings, ...data.thinned].map((one) => element("p", "Note: " + one, "warning")));
const labels = measures.map((one) => one.label);
const best = ranked(0);
fillSelect(at("measure"), labels, 0);
at("p").value = Math.min(0.99, Math.max(0.3, data.persistence.p));
fillSelect(at("query"), topics, 0);
fillSelect(at("runs"), runs);
for (const run of best.slice(0, 5)) at("runs").options[run].selected = true;
at("measure").addEventListener("change", () => { at("board").state = null; at("coverage-board").state = null; showBoard(); showCoverage(); showStrips(); });
at("p").addEventListener("input", showPersistence);
for (const id of ["query", "runs"]) at(id).addEventListener("change", showStrips);
if (pairs) {
  fillSelect(at("run-a"), runs, best[0]);
  fillSelect(at("run-b"), runs, best[1]);
  fillSelect(at("pair-measure"), labels, 0);
  for (const id of ["run-a", "run-b", "pair-measure"]) at(id).addEventListener("change", showPair);
  at("swap").addEventListener("click", () => {
    const a = at("run-a").selectedIndex;
    at("run-a").selectedIndex = at("run-b").selectedIndex;
    at("run-b").selectedIndex = a;
    showPair();
  });
  showPair();
} else {
  at("pair").hidden = true;
}
showBoard();
showPersistence();
showCoverage();
showAgreement();
showNext();
showIdentity();
watch();
})();
