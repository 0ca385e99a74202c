// Drawing: scales, axes with round numbers, dots with intervals, and figures that can be kept as SVG.

function drawn(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function titled(made, text) {
  made.append(drawn("title", {}, text));
  return made;
}

// From a stretch of values to a stretch of places; what lies outside is put at its end.
function scale(low, high, from, to) {
  const place = (value) => from + Math.max(0, Math.min(1, (value - low) / (high - low || 1))) * (to - from);
  return Object.assign(place, { low, high, from, to });
}

// Round numbers between two values: steps of 1, 2 or 5 times a power of ten; of whole numbers, no smaller ones than 1.
function ticks(low, high, most, whole) {
  const rough = Math.max((high - low) / Math.max(1, most), whole ? 1 : 0), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough * (1 - 1e-9));
  const found = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number++) found.push(number * step);
  return { at: found, step, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

// The smallest stretch between round numbers that holds all these values.
function stretch(values, most, fromZero) {
  const held = values.filter(Number.isFinite);
  let low = Math.min(...held), high = Math.max(...held);
  if (!held.length) return [0, 1];
  if (fromZero && low >= 0 && low < 0.5 * high) low = 0;
  if (low === high) [low, high] = low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
  const { step } = ticks(low, high, most);
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

const tickText = (value, digits, withSign) => (withSign && Math.abs(value) > 1e-12 ? signed(value, digits) : fixed(Math.abs(value) < 1e-12 ? 0 : value, digits));

function axisBelow(svg, x, top, bottom, most, { withSign = false, whole = false, name = "" } = {}) {
  const { at: places, digits } = ticks(x.low, x.high, Math.max(3, Math.min(most, Math.floor((x.to - x.from) / 48))), whole);
  for (const value of places) {
    svg.append(drawn("line", { x1: x(value), x2: x(value), y1: top, y2: bottom, class: Math.abs(value) < 1e-12 && withSign ? "zero" : "axis" }));
    const text = tickText(value, digits, withSign), half = 3.5 * text.length, edge = Number(svg.getAttribute("width"));
    svg.append(drawn("text", { x: Math.max(half, Math.min(edge - half, x(value))), y: bottom + 16, "text-anchor": "middle" }, text));
  }
  if (name) svg.append(drawn("text", { x: (x.from + x.to) / 2, y: bottom + 33, "text-anchor": "middle" }, name));
}

function axisLeft(svg, y, left, right, most, { withSign = false } = {}) {
  const { at: places, digits } = ticks(y.low, y.high, most);
  for (const value of places) {
    svg.append(drawn("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: Math.abs(value) < 1e-12 && withSign ? "zero" : "axis" }));
    svg.append(drawn("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, tickText(value, digits, withSign)));
  }
}

const canvas = (width, height, label) => drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });

// How wide a figure may be in its place: on paper as wide as a page, so that its words stay as large as they are.
const PAGE = 700;
let onPaper = false;
const roomOf = (id) => (onPaper ? PAGE : Math.max(280, at(id).clientWidth || PAGE));
function drawAgainForPaper(draw) {
  for (const [event, paper] of [["beforeprint", true], ["afterprint", false]]) window.addEventListener(event, () => { onPaper = paper; draw(); });
}

// Names that are too long for their place end in dots; the whole name is a title.
function nameText(name, attributes, letters) {
  return titled(drawn("text", attributes, name.length > letters ? name.slice(0, letters - 1) + "\u2026" : name), name);
}

// ---- inside a table: x is a share of the cell's width ----

const share = (value, [low, high]) => `${(100 * Math.max(0, Math.min(1, (value - low) / (high - low || 1)))).toFixed(2)}%`;
const shareWide = (from, to, [low, high]) => `${(100 * Math.max(0, Math.min(1, (Math.min(to, high) - Math.max(from, low)) / (high - low || 1)))).toFixed(2)}%`;

// A dot with its interval (a line) over its bounds (a bar), where they are known.
function dotCell({ dot, interval, bounds, colour, label }, ends, whole) {
  const svg = drawn("svg", { class: "cell", role: "img", "aria-label": label });
  for (const value of ticks(ends[0], ends[1], 5, whole).at) svg.append(drawn("line", { x1: share(value, ends), x2: share(value, ends), y1: 0, y2: "100%", class: "axis" }));
  if (bounds && known(bounds[0]) && bounds[1] > bounds[0]) svg.append(drawn("rect", { x: share(bounds[0], ends), width: shareWide(...bounds, ends), y: 4, height: 12, class: "bound" }));
  if (interval && known(interval[0])) svg.append(drawn("line", { x1: share(interval[0], ends), x2: share(interval[1], ends), y1: 10, y2: 10, class: "whisker" }));
  if (known(dot)) svg.append(drawn("circle", { cx: share(dot, ends), cy: 10, r: 4.5, style: `fill:${colour}` }));
  return svg;
}

function axisHead(name, ends, whole) {
  const holder = element("div", null, "axis-head"), scaleOf = ticks(ends[0], ends[1], 5, whole);
  holder.append(element("span", name));
  const line = element("div", null, "ticks");
  line.setAttribute("aria-hidden", "true");
  for (const value of scaleOf.at) {
    const tick = element("span", tickText(value, scaleOf.digits));
    tick.style.left = share(value, ends);
    line.append(tick);
  }
  holder.append(line);
  return holder;
}

// ---- colours: they belong to runs ----

const COLOURS = 10, DASHES = ["none", "7 3", "2 3"];
const colourOf = (number) => `var(--run-${number % COLOURS})`;
const dashOf = (number) => DASHES[Math.floor(number / COLOURS) % DASHES.length];

// ---- figures to keep ----

const KEPT_STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "paint-order"];

// A figure as a file of its own: what the page's style says is written into every element.
function standalone(svg) {
  const copy = svg.cloneNode(true), originals = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, number) => {
    const style = getComputedStyle(original);
    copies[number].removeAttribute("class");
    copies[number].removeAttribute("style");
    for (const name of KEPT_STYLES) copies[number].setAttribute(name, style.getPropertyValue(name));
  });
  for (const anchor of copy.querySelectorAll("a")) anchor.removeAttribute("href");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.prepend(drawn("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}

function keepFigure(name, svg) {
  const apart = !svg.isConnected;
  if (apart) { svg.classList.add("apart"); document.body.append(svg); }
  download(`${name}.svg`, "image/svg+xml", standalone(svg));
  if (apart) svg.remove();
}

function showFigure(id, svg) {
  if (svg.querySelector("a")) svg.setAttribute("role", "group");  // what holds links is more than an image
  replace(at(id), svg);
  const holder = at(id).parentElement;
  if (!holder.querySelector("button.keep")) holder.append(button("SVG", () => keepFigure(id, at(id).querySelector("svg")), "keep"));
  holder.querySelector("button.keep").setAttribute("aria-label", `SVG: save this figure, ${svg.getAttribute("aria-label")}`);
}
