// Who leads, and how sure is that?

const range = (low, high, digits) => (known(low) && known(high) ? `[${fixed(low, digits)}, ${fixed(high, digits)}]` : "-");
const several = pairs !== null, two = several && count === 2;

// Notes are told where they matter: where a score rests on what nobody looked at, or a place on the order of ties.
function notes(run, measure) {
  const told = [];
  if (data.systems[measure].judged_at_10[run] < LITTLE_JUDGED) told.push("few of its top 10 are judged");
  if (!lists) return told;
  const { missing, ties_matter: matter } = lists[run], moved = tieRange(run, measure);
  if (missing) told.push(`${plural(missing, "topic")} missing`);
  if (matter[measure]) told.push(`ties alone could change its place (${fixed(less(moved[1], moved[0]))})`);
  return told;
}

const FILTERS = [
  ["all runs", () => true],
  ["runs that may be first", (run) => data.systems[looked.measure].rank_low[run] === 1],
  ["not separable from the chosen run", (run) => run === looked.chosen || !separated(run, looked.chosen, looked.measure)],
  ["runs with a note", (run) => notes(run, looked.measure).length > 0],
];

function isSought(run) {
  const sought = at("search").value.trim().toLowerCase();
  return FILTERS[at("filter").selectedIndex][1](run) && sought.split(/\s*,\s*/).some((part) => runs[run].toLowerCase().includes(part));
}

// Intervals of scores that are all positive may end below 0; nothing is to be seen there.
function shownEnds(system) {
  const [low, high] = stretch([...system.mean, ...(system.ci_low || []), ...(system.ci_high || []), ...system.low, ...system.high].map((end) => (known(end) ? end : NaN)), 5, true);
  return [system.mean.every((mean) => mean >= 0) ? Math.max(0, low) : low, high];
}

function showBoard() {
  const { measure, chosen } = looked, { label, digits } = measures[measure], system = data.systems[measure];
  const every = ranked(measure), rows = every.filter(isSought), ends = shownEnds(system), all = data.number_of_runs;
  const level = (run) => (system.rank && known(system.rank[run]) ? system.rank[run] : 1 + every.findIndex((other) => system.mean[other] === system.mean[run]));
  const sure = percent(settings?.confidence ?? 0.95), sampled = system.ci_low.some(known), placed = several && known(system.rank_low[0]), bounded = system.low.some(known);
  const dots = (run) => ({ dot: system.mean[run], interval: sampled && [system.ci_low[run], system.ci_high[run]], bounds: [system.low[run], system.high[run]], colour: runColour(run) });
  const told = (run) => `${fixed(system.mean[run], digits)}` + (sampled ? `, ${sure} (topics) ${range(system.ci_low[run], system.ci_high[run], digits)}` : "") + (bounded ? `, bounds ${range(system.low[run], system.high[run], digits)}` : "");
  const columns = [
    { name: "#", text: level, order: level },
    nameColumn(several ? (run) => { looked.chosen = run; showBoard(); showChanges(); focusRun(run); } : null),
    { name: label, text: (run) => fixed(system.mean[run], digits), order: (run) => system.mean[run], classes: () => ["value"] },
    { name: "score", words: true, head: axisHead(["mean", sampled && `${sure} (topics)`, bounded && "bounds"].filter((part) => part).join(", "), ends, !digits), node: (run) => titled(dotCell({ ...dots(run), label: told(run) }, ends, !digits), told(run)),
      fields: ["ci_low", "ci_high", "low", "high"], values: (run) => [system.ci_low?.[run], system.ci_high?.[run], system.low[run], system.high[run]] },
    ...(placed ? [
      { name: "place", words: true, roomy: true, head: axisHead(`place among ${all} runs`, [1, all], true),
        node: (run) => dotCell({ dot: system.rank[run], interval: [system.rank_low[run], system.rank_high[run]], colour: runColour(run), label: system.place[run] }, [1, all], true),
        fields: ["rank_low", "rank_high"], values: (run) => [system.rank_low[run], system.rank_high[run]] },
      { name: "place range", text: (run) => placeRange(system.rank_low[run], system.rank_high[run]), order: (run) => system.rank_low[run] * 1e6 + system.rank_high[run] },
    ] : []),
    ...(several ? [{ name: "p corrected", wide: true, text: (run) => (run === chosen ? "-" : pNumber(correctedOf(run, chosen, measure))), order: (run) => (run === chosen ? null : correctedOf(run, chosen, measure)) }] : []),
    ...(lists ? [{ name: "judged@10", text: (run) => percent(system.judged_at_10[run]), order: (run) => system.judged_at_10[run],
      classes: (run) => (system.judged_at_10[run] < LITTLE_JUDGED ? ["little"] : []) }] : []),
    ...(every.some((run) => notes(run, measure).length) ? [{ name: "note", words: true, widest: true, text: (run) => notes(run, measure).join("; "), classes: () => ["remark"] }] : []),
  ];
  table(at("board"), columns, rows, { sorted: { by: "#", down: false }, file: "leaderboard", onRow: (line, run) => {
    if (!several) return;
    if (run === chosen) line.classList.add("chosen");
    else if (!separated(run, chosen, measure)) line.classList.add("alike");
  } });
  at("found").textContent = rows.length === count ? "" : `${rows.length} of ${plural(count, "run")}`;
  at("reading").textContent = `Dot: the mean of ${label} over ${plural(data.number_of_topics, "topic")}${measures[measure].lower_is_better ? ", lower is better" : ""}. ` +
    (sampled ? `Line: ${sure} (topics), the interval of this mean. ` : "") +
    (bounded ? `Bar: bounds due to ${boundsOf()}, which involve no randomness. ` : "") +
    (several ? words.method : "");
  showChosen();
}

function showChosen() {
  const { measure, chosen } = looked, { label } = measures[measure];
  if (!several) return;
  const others = alike(chosen, measure), leader = ranked(measure)[0], told = at("group");
  told.textContent = (others.length
    ? `Shaded: ${runs[chosen]} is not separable from ${others.length} of ${plural(count - 1, "other run")} by ${label} (${settings.tested_by}, level ${settings.alpha}). `
    : `${runs[chosen]} is separable from every other run by ${label}. `);
  if (chosen !== leader && comparable(chosen, leader)) told.append(link(`${runs[leader]} beside ${runs[chosen]}`, pairAddress(leader, chosen)));
  else told.append(element("span", "Choose another run by its name."));
}

function focusRun(run) {
  for (const name of at("board").querySelectorAll("button.plain")) if (name.textContent === runs[run]) { name.focus({ preventScroll: true }); return; }
}

function boundsOf() {
  return { unjudged: "unjudged documents", ties: "ties", both: "unjudged documents and ties" }[data.identity.options.bounds] || "unknowns";
}

// The leaderboard as one figure, for the runs that are shown.
function boardFigure() {
  const { measure } = looked, system = data.systems[measure], rows = ranked(measure).filter(isSought), ends = shownEnds(system), placed = several && known(system.rank_low[0]);
  const width = 1000, step = 20, top = 24, bottom = top + rows.length * step, left = 190, middle = placed ? 660 : 980;
  const svg = canvas(width, bottom + 44, `Leaderboard by ${measures[measure].label}`);
  const x = scale(...ends, left, middle), place = scale(1, data.number_of_runs, middle + 50, 980);
  axisBelow(svg, x, top - 8, bottom, 6, { name: `${measures[measure].label}: mean, ${percent(settings?.confidence ?? 0.95)} (topics), bounds` });
  if (placed) axisBelow(svg, place, top - 8, bottom, 6, { whole: true, name: `place among ${data.number_of_runs} runs` });
  const dotted = (along, y, dot, interval, colour) => {
    if (interval && known(interval[0])) svg.append(drawn("line", { x1: along(interval[0]), x2: along(interval[1]), y1: y, y2: y, class: "whisker" }));
    if (known(dot)) svg.append(drawn("circle", { cx: along(dot), cy: y, r: 4.5, style: `fill:${colour}` }));
  };
  rows.forEach((run, number) => {
    const y = top + (number + 0.5) * step;
    svg.append(nameText(runs[run], { x: left - 10, y: y + 4, "text-anchor": "end" }, 26));
    if (known(system.low[run]) && system.high[run] > system.low[run]) svg.append(drawn("rect", { x: x(system.low[run]), width: x(system.high[run]) - x(system.low[run]), y: y - 6, height: 12, class: "bound" }));
    dotted(x, y, system.mean[run], system.ci_low.some(known) && [system.ci_low[run], system.ci_high[run]], runColour(run));
    if (placed) dotted(place, y, system.rank[run], [system.rank_low[run], system.rank_high[run]], runColour(run));
  });
  return svg;
}
