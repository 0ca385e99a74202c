// Is A better than B?

const pairAddress = (a, b) => `#pair=${encodeURIComponent(runs[a])},${encodeURIComponent(runs[b])}`;

function showPair() {
  const { a, b, measure } = looked;
  at("run-a").selectedIndex = closely.indexOf(a);
  at("run-b").selectedIndex = closely.indexOf(b);
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
  const bounded = rows.some((row) => known(row.low));
  table(at("pair-board"), [
    { name: "topic", words: true, names: true, node: (row) => link(row.query, topicAddress(row.topic)), value: (row) => row.query, classes: () => ["name"] },
    { name: runs[a], text: (row) => fixed(row.a), order: (row) => row.a },
    { name: runs[b], text: (row) => fixed(row.b), order: (row) => row.b },
    { name: "difference", text: (row) => signed(row.difference), order: (row) => row.difference },
    ...(bounded ? [{ name: "possible range", wide: true, text: (row) => (known(row.low) ? `[${signed(row.low)}, ${signed(row.high)}]` : "-") }] : []),
  ], rows, { caption: `${measures[measure].label} on each topic; the difference is ${runs[a]} minus ${runs[b]}.`, sorted: { by: "difference", down: !measures[measure].lower_is_better }, file: "pair" });
}

function chartUnknowns(a, b, measure) {
  const unknowns = unknownsOf(a, b, measure), room = roomOf("pair-lanes"), top = 12, step = LANE * 4, narrow = room < 560, left = narrow ? 196 : 300;
  const kinds = unknowns.told, bottom = top + kinds.length * step;
  const svg = canvas(room, bottom + 40, `What noise, unjudged documents, ties and another p leave of the difference of ${runs[a]} and ${runs[b]}`);
  const x = scale(...stretch([0, unknowns.difference, ...kinds.flatMap(({ low, high }) => [low, high])], 5), left, room - 20);
  axisBelow(svg, x, top - 6, bottom, narrow ? 3 : 6, { withSign: true, name: "difference A minus B" });
  kinds.forEach((unknown, number) => {
    const y = top + number * step;
    svg.append(drawn("text", { x: left - 10, y: y + step / 2, "text-anchor": "end", class: unknown.turns ? "turns" : "" }, unknown.name + (!unknown.turns ? "" : narrow ? ": open" : ": could reverse the order")));
    lanes(svg, x, y + step / 2 - LANE, { difference: unknowns.difference, told: [unknown] }, "var(--ink)");
  });
  showFigure("pair-lanes", svg);
}

function chartPair(rows, a, b, measure) {
  const room = roomOf("pair-chart"), left = 58, height = 260, bottom = height - 34, top = 14;
  const step = Math.max(3, Math.min(44, (room - left - 12) / Math.max(rows.length, 1))), width = Math.max(room, left + step * rows.length + 12);
  const differences = rows.map((row) => row.difference).filter(Number.isFinite), most = Math.max(...differences.map(Math.abs), 1e-9);
  const y = scale(...stretch([most, -most], 6), bottom, top);
  const svg = canvas(width, height, `Difference A minus B of ${measures[measure].label} on each topic, best for A first`);
  axisLeft(svg, y, left, left + step * rows.length, 6, { withSign: true });
  rows.forEach((row, number) => {
    const mark = drawn("rect", { x: left + number * step + 1, width: Math.max(1, step - 2), y: Math.min(y(0), y(row.difference)),
      height: Math.max(1, Math.abs(y(row.difference) - y(0))), style: `fill:${row.difference === 0 ? "var(--quiet)" : merit(row.difference, measure) > 0 ? "var(--blue)" : "var(--orange)"}` });
    const anchor = drawn("a", { href: topicAddress(row.topic), tabindex: -1, "aria-label": `topic ${row.query}` });
    anchor.append(titled(mark, `topic ${row.query}: ${signed(row.difference)}`));
    svg.append(anchor);
    if (step > 17) svg.append(nameText(row.query, { x: left + (number + 0.5) * step, y: bottom + 14, "text-anchor": "middle", class: "small" }, 4));
  });
  svg.append(drawn("text", { x: left, y: height - 3 }, "topics, best for A first"));
  showFigure("pair-chart", svg);
  at("pair-caption").textContent = `${measures[measure].label} of A (${runs[a]}) minus B (${runs[b]}), topic by topic. Blue: A is better; orange: B is better.`;
}
