// What was embedded: runs, topics, measures, values, pairs, and the sentences that Python wrote.

const runs = data.runs, topics = data.topics, measures = data.measures, lists = data.lists;
const count = runs.length;
const values = allUnpacked(data.values);
const strips = data.strips && unpacked(data.strips), depth = data.strips ? data.strips.shape[2] : 0;
const pairs = data.pairs && allUnpacked(data.pairs);
const corrected = data.p_adjusted && unpacked(data.p_adjusted);
const settings = data.comparison, ofTheDifference = `${percent(settings?.confidence ?? 0.95)} (topics, of the difference)`;
// Python wrote the sentences, and decided which of them hold for each pair.
const words = data.words;
const choices = words && allUnpacked(words.choices);
const LITTLE_JUDGED = 0.8;
for (const system of data.systems) for (const name of ["mean", "low", "high", "ci_low", "ci_high"]) if (system[name]) system[name] = system[name].map(finite);
for (const list of lists || []) list.tie_range = list.tie_range.map((range) => range && range.map(finite));

// One mean minus another, 0 where no more is left than rounding.
const apart = (one, other) => { const found = less(one, other); return Number.isFinite(found) && Math.abs(found) <= 2 ** -42 * (Math.abs(one) + Math.abs(other)) ? 0 : found; };
// Turned so that more is better, also where a measure counts effort.
const merit = (difference, measure) => (measures[measure].lower_is_better ? -difference : difference);
// The runs by a measure's means, the best first; of those that are level the one that is ahead by the first measure.
const ordered = (measure, among) => { const { mean } = data.systems[measure]; return [...among].sort((a, b) => merit(apart(mean[b], mean[a]), measure)); };
const ranked = (measure) => ordered(measure, ordered(0, runs.keys()));
const value = (what, run, topic, measure) => values[what][(run * topics.length + topic) * measures.length + measure];
const tieRange = (run, measure) => lists && lists[run].tie_range[measure];

// A run's colour is that of its place by the first measure, whatever is shown.
const places = new Map(ranked(0).map((run, place) => [run, place]));
const runColour = (run) => colourOf(places.get(run));
const runDash = (run) => dashOf(places.get(run));

// What a topic asks, where the texts are known.
const queryOf = (topic) => (data.queries || {})[topics[topic]] || "";

// What the reader looks at: one measure everywhere, a run that others are held against, two runs, a topic.
const looked = { measure: 0, chosen: ranked(0)[0], a: 0, b: 0, topic: 0 };

const pairNumber = (a, b, number) => a * number - a * (a + 1) / 2 + b - a - 1;
const pairsOf = (number) => number * (number - 1) / 2;

// The corrected p of any two runs.
const placeOfPair = (a, b, measure) => measure * pairsOf(count) + pairNumber(Math.min(a, b), Math.max(a, b), count);
const correctedOf = (a, b, measure) => corrected[placeOfPair(a, b, measure)];
const notSeparated = new Set(data.not_separated);
const separated = (a, b, measure) => correctedOf(a, b, measure) < settings.alpha && !notSeparated.has(placeOfPair(a, b, measure));
const alike = (run, measure) => [...runs.keys()].filter((other) => other !== run && !separated(run, other, measure));

// Of many runs, the pairs of the leading ones are looked at closely.
const closely = data.closely, placeAmong = new Map(closely.map((run, place) => [run, place]));

// One pair's row, turned around where it is stored the other way: the later run minus the earlier.
function pairOf(a, b, measure) {
  const [first, second] = a > b ? [a, b] : [b, a];
  const number = measure * pairsOf(closely.length) + pairNumber(placeAmong.get(second), placeAmong.get(first), closely.length);
  const row = Object.fromEntries(Object.entries(pairs).map(([name, column]) => [name, column[number]]));
  row.choices = Object.fromEntries(Object.entries(choices).map(([kind, codes]) => [kind, Object.keys(words.templates[kind])[codes[number]]]));
  const one = tieRange(first, measure), other = tieRange(second, measure);
  [row.ties_low, row.ties_high] = one && other ? [apart(one[0], other[1]), apart(one[1], other[0])] : [NaN, NaN];
  if (a > b) return row;
  const around = { ...row };
  for (const [name, from] of Object.entries(words.negated)) around[name] = less(0, row[from]);
  around.choices = { ...row.choices };
  for (const [name, from] of Object.entries(words.swapped)) { around[name] = row[from]; if (from in row.choices) around.choices[name] = row.choices[from]; }
  return around;
}

// ---- sentences ----

// A number as its template asks for it, in Python's way: .4f, +.4f, .0%, with commas between thousands, or p for a p-value.
function formatted(value, format) {
  if (!format) return String(value);
  if (format === ",") return value.toLocaleString("en");
  if (format === "p") return pNumber(value).replace(/^<?/, (below) => `p ${below || "="} `);
  const [, sign, digits, kind] = /^(\+?)\.(\d+)([f%])$/.exec(format);
  return kind === "%" ? percent(value, Number(digits)) : sign ? signed(value, Number(digits)) : fixed(value, Number(digits));
}

const filled = (template, held) => template.replace(/\{(\w+)(?::([^}]*))?\}/g, (_, name, format) => formatted(held[name], format));

// Every sentence on a pair by its name; those that do not hold are empty.
function saidOf(a, b, measure) {
  const row = pairOf(a, b, measure), { mean } = data.systems[measure], lead = leadChanges(a, b, measure, row.difference);
  const held = { ...row, ...words.constants, ...lead.held, measure: words.measures[measure], a: runs[a], b: runs[b],
    mean_a: mean[a], mean_b: mean[b], size: Math.abs(row.difference) };
  const choice = { ...row.choices, lead: lead.choice };
  for (const [name, templates] of Object.entries(words.templates))
    held[name] = choice[name] === undefined ? "" : filled(templates[choice[name]], held);
  return Object.fromEntries(words.sentences.map((name) => [name, held[name]]));
}

const sentencesOf = (a, b, measure) => Object.values(saidOf(a, b, measure)).filter((sentence) => sentence);

// Where the lead changes over p is found in the page; how it is told is Python's.
function leadChanges(a, b, measure, difference) {
  const found = measures[measure].slider && data.persistence.in_order ? changesOf(a, b) : null;
  if (!found || (!found.length && !difference)) return { choice: "none", held: {} };
  const name = (sign) => runs[sign > 0 ? a : b];
  const told = found.slice(0, words.shown_changes).map(({ at: p, after }) => filled(words.lead_change, { p, below: name(-after), above: name(after) }));
  const more = found.length - words.shown_changes;
  return { choice: found.length ? (more > 0 ? "more_changes" : "changes") : "same", held: { changes: told.join(", "), more } };
}

// ---- columns that several tables have ----

function nameColumn(onChoose) {
  return {
    name: "run", words: true, names: true, order: (run) => runs[run].toLowerCase(), classes: () => ["name"],
    title: (run) => runs[run], value: (run) => runs[run],
    node: (run) => {
      const holder = element("span", null, "run"), mark = element("i", null, "mark");
      mark.style.background = runColour(run);
      holder.append(mark, onChoose ? button(runs[run], () => onChoose(run), "plain") : element("span", runs[run]));
      return holder;
    },
  };
}
