// One topic: every run's score, and rankings side by side.

const topicAddress = (topic) => `#topic=${encodeURIComponent(topics[topic])}`;
const STRIPS = 8;
const cellName = (code) => ["no document", "unjudged", "judged non-relevant"][code] ||
  (data.grades.length > 1 ? `grade ${data.grades[code - 3]}` : "relevant");
const cellClass = (code) => (code === 0 ? "absent" : code === 1 ? "unjudged" : code === 2 ? "judged"
  : code - 3 === data.grades.length - 1 ? "relevant" : "part");

// The runs that are asked for by name; else the two that are compared, and the best.
function runsOfTopic() {
  const { measure, a, b } = looked, sought = at("topic-runs").value.trim().toLowerCase().split(/\s*,\s*/), order = ranked(measure);
  if (sought.join("")) return order.filter((run) => sought.some((part) => part && runs[run].toLowerCase().includes(part)));
  return [...new Set([...(several ? [a, b] : []), ...order])].slice(0, STRIPS).sort((one, other) => order.indexOf(one) - order.indexOf(other));
}

function showTopic() {
  const { topic, measure } = looked, picked = runsOfTopic();
  at("query").selectedIndex = topic;
  at("query-words").textContent = queryOf(topic);
  chartTopic(topic, measure, picked);
  showDocuments(topic);
  if (!strips) { at("strips-part").hidden = true; return; }
  if (!depth) { replace(at("strips"), element("p", "Rankings are left out of this report: it would be too large.")); return; }
  const weighed = Boolean(data.persistence), p = weighed ? persistence() : 0;
  at("weights-note").hidden = !weighed;
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
  for (const unread of [weights, ranks]) unread.setAttribute("aria-hidden", "true");
  const shown = picked.map((run) => {
    const made = line(runs[run], fixed(value("value", run, topic, measure), measures[measure].digits), "list");
    made.firstChild.title = runs[run];
    const offset = (run * topics.length + topic) * depth, relevant = [];
    for (let rank = 0; rank < longest; rank++) {
      const held = strips[offset + rank], code = held & 127, tied = held > 127;
      const next = rank + 1 < depth && strips[offset + rank + 1] > 127;
      const cell = element("span", null, "cell", cellClass(code), tied && "tied", !tied && next && "tie-begin", tied && !next && "tie-end");
      cell.title = `rank ${rank + 1}: ${cellName(code)}${tied || next ? ", tied" : ""}`;
      if (code > 2) relevant.push(rank + 1);
      made.append(cell);
    }
    made.setAttribute("role", "img");
    made.setAttribute("aria-label", `${runs[run]}: relevant at rank ${relevant.join(", ") || "none"}`);
    return made;
  });
  replace(at("strips"), ...(weighed ? [weights] : []), ...shown, ranks);
  const legend = [...(data.grades.length > 2 ? [3, 3 + data.grades.length - 1] : data.grades.map((_, number) => 3 + number)), 2, 1].map((code) => {
    const item = element("span");
    const between = code === 3 && data.grades.length > 2, others = `grades ${data.grades[0]} to ${data.grades[data.grades.length - 2]}`;
    item.append(element("span", null, "cell", cellClass(code)), element("span", between ? others : cellName(code)));
    return item;
  });
  replace(at("legend"), ...legend, element("span", "a bracket below joins tied documents"),
    element("span", `number after a run: its ${measures[measure].label} on this topic`));
}

// The first documents of two runs, with what was judged, where the other run has them, and their texts.
function showDocuments(topic) {
  const { a, b } = looked, held = data.results && several && a !== b ? data.results : null;
  at("results-part").hidden = !held;
  if (!held) return;
  const stems = stemsOf(queryOf(topic)), texts = held.texts[topics[topic]] || {};
  replace(at("side-by-side"), ...[[a, b], [b, a]].map(([run, other]) => {
    const part = element("section"), list = element("ol"), elsewhere = held.documents[other][topic];
    part.append(element("h4", `${runs[run]} ${fixed(value("value", run, topic, looked.measure))}`), list);
    held.documents[run][topic].forEach((document_, rank) => {
      const item = element("li"), code = depth > rank ? strips[(run * topics.length + topic) * depth + rank] & 127 : 0, there = elsewhere.indexOf(document_);
      const head = element("p", null, "found-at");
      head.append(element("span", null, "cell", cellClass(code)), element("strong", document_), element("span", [cellName(code), there < 0 ? `not in ${runs[other]}'s first ten` : there === rank ? "" : `rank ${there + 1} in ${runs[other]}`].filter(Boolean).join(", "), "quiet"));
      item.append(head);
      const [title, said] = texts[document_] || ["", ""];
      if (title) marked(item.appendChild(element("p", null, "title")), title, stems);
      if (said) marked(item.appendChild(element("p", null, "snippet")), said, stems);
      list.append(item);
    });
    if (!list.children.length) part.append(element("p", "This run has no documents for this topic.", "note"));
    return part;
  }));
}

// All runs' scores on the topic as dots along one line; those whose rankings are shown have their colours and names.
function chartTopic(topic, measure, picked) {
  const room = roomOf("topic-chart"), left = 12, top = 16, named = picked.slice(0, STRIPS).sort((one, other) => value("value", other, topic, measure) - value("value", one, topic, measure)), height = 78 + named.length * 15;
  const held = runs.map((_, run) => [run, value("value", run, topic, measure)]).filter(([, score]) => Number.isFinite(score));
  const svg = canvas(room, height, `${measures[measure].label} of all runs on topic ${topics[topic]}`);
  const x = scale(...stretch([0, ...held.map(([, score]) => score)], 8), left + 8, room - 24), bottom = height - 40;
  axisBelow(svg, x, top - 10, bottom, room < 500 ? 4 : 8, { name: `${measures[measure].label} on topic ${topics[topic]}: ${held.length > 2 ? "all " : ""}${plural(held.length, "run")}` });
  for (const [run, score] of held) if (!named.includes(run)) svg.append(titled(drawn("circle", { cx: x(score), cy: top, r: 4.5, class: "other" }), `${runs[run]}: ${fixed(score)}`));
  named.forEach((run, number) => {
    const score = value("value", run, topic, measure);
    if (!Number.isFinite(score)) return;
    const y = top + 17 + number * 15, after = x(score) + 7 * (runs[run].length + 7) < room;
    svg.append(drawn("line", { x1: x(score), x2: x(score), y1: top, y2: y - 4, style: `stroke:${runColour(run)}`, class: "thread" }));
    svg.append(titled(drawn("circle", { cx: x(score), cy: top, r: 5, style: `fill:${runColour(run)}` }), `${runs[run]}: ${fixed(score)}`));
    svg.append(nameText(`${runs[run]} ${fixed(score, measures[measure].digits)}`, { x: x(score) + (after ? 5 : -5), y, "text-anchor": after ? "start" : "end", class: "small name halo" }, 40));
  });
  showFigure("topic-chart", svg);
}

function showCoverage() {
  if (!lists) { at("coverage").hidden = at("coverage-link").hidden = true; return; }
  const { measure } = looked, moves = `ties move ${measures[measure].label}`, width = (run) => { const held = tieRange(run, measure); return held ? less(held[1], held[0]) : null; };
  table(at("coverage-board"), [
    nameColumn(),
    ...data.coverage_depths.map((to, number) => ({ name: to === "all" ? "judged, all" : `judged@${to}`, wide: to === "all", text: (run) => percent(lists[run].judged[number]), node: (run) => shareBar(lists[run].judged[number]),
      order: (run) => lists[run].judged[number], classes: (run) => (lists[run].judged[number] < LITTLE_JUDGED && number === 0 ? ["little"] : []) })),
    { name: "tied@10", text: (run) => percent(lists[run].tied[0]), order: (run) => lists[run].tied[0] },
    { name: "tied, all", wide: true, text: (run) => percent(lists[run].tied[1], 1), order: (run) => lists[run].tied[1] },
    { name: "topics with ties", wide: true, text: (run) => `${lists[run].tied_topics} of ${lists[run].topics}`, order: (run) => lists[run].tied_topics },
    { name: moves, text: (run) => fixed(width(run)), order: width },
    { name: "missing topics", wide: true, text: (run) => lists[run].missing, order: (run) => lists[run].missing },
  ], ranked(measure).filter(isSought), { caption: "judged@10 here is the share of the retrieved documents down to rank 10, all topics together.", sorted: { by: "judged@10", down: false }, file: "coverage" });
}

function shareBar(part) {
  const holder = element("span", null, "share"), bar = element("i");
  bar.style.width = `${100 * (part || 0)}%`;
  holder.append(bar);
  return holder;
}
