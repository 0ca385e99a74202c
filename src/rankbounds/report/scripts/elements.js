// Text from files goes into the page by textContent alone: nothing in it is ever read as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);

// ---- elements ----

function element(tag, text, ...classes) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const name of classes) if (name) made.classList.add(name);
  return made;
}

function button(text, onPress, ...classes) {
  const made = element("button", text, ...classes);
  made.type = "button";
  made.addEventListener("click", onPress);
  return made;
}

function link(text, address, ...classes) {
  const made = element("a", text, ...classes);
  made.href = address;
  return made;
}

function replace(parent, ...children) { parent.replaceChildren(...children); }

function fillSelect(select, names, index) {
  replace(select, ...names.map((name, number) => { const option = element("option", name); option.value = number; return option; }));
  if (index !== undefined) select.selectedIndex = index;
}

// ---- numbers ----

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
const bracketed = (low, high) => `[${signed(low)}, ${signed(high)}]`;
const percent = (share, digits = 0) => (share === null || Number.isNaN(share) ? "-" : fixed(Number((100 * share).toFixed(9)), digits) + "%"); // without what adding up left of rounding
const pNumber = (value) => (value < 0.00005 ? "<0.0001" : fixed(value));
const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);
const plural = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

// Places from one to another, as a table has room for them.
const placeRange = (low, high) => (!known(low) ? "-" : low === high ? String(low) : `${low} to ${high}`);

// JSON has no infinite numbers: they come as words.
const finite = (number) => (number === "Infinity" ? Infinity : number === "-Infinity" ? -Infinity : number);

// One less other; scores that are equal come as the same number, and two searches that never end are equal.
const less = (one, other) => (one === other ? 0 : one - other);

const TYPES = { f8: Float64Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

function unpacked(held) {
  const kind = TYPES[held.type], text = atob(held.data);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  return new kind(inflate(bytes, held.shape.reduce((all, size) => all * size, kind.BYTES_PER_ELEMENT)).buffer);
}

// RFC 1951, without waiting as DecompressionStream would.
function inflate(bytes, size) {
  const out = new Uint8Array(size);
  let from = 0, to = 0, held = 0, ready = 0;
  const bits = (number) => {
    for (; ready < number; ready += 8) held |= bytes[from++] << ready;
    const found = held & ((1 << number) - 1);
    held >>>= number;
    ready -= number;
    return found;
  };
  const code = (lengths) => {
    const counts = new Uint16Array(16), next = new Uint16Array(16), symbols = new Uint16Array(lengths.length);
    for (const length of lengths) if (length) counts[length]++;
    for (let length = 1; length < 15; length++) next[length + 1] = next[length] + counts[length];
    lengths.forEach((length, symbol) => { if (length) symbols[next[length]++] = symbol; });
    return { counts, symbols };
  };
  const symbol = ({ counts, symbols }) => {
    for (let length = 1, read = 0, first = 0, before = 0; length < 16; length++) {
      read |= bits(1);
      if (read - counts[length] < first) return symbols[before + read - first];
      before += counts[length];
      first = (first + counts[length]) << 1;
      read <<= 1;
    }
    throw new Error("the data of this page is damaged");
  };
  const steps = (start, every, number) => { let at = start; return Array.from({ length: number }, (_, place) => { const now = at, extra = Math.max(0, Math.floor(place / every) - 1); at += 1 << extra; return [now, extra]; }); };
  const LENGTHS = [...steps(3, 4, 28), [258, 0]], DISTANCES = steps(1, 2, 30);
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      held = ready = 0;
      const length = bytes[from] | (bytes[from + 1] << 8);
      out.set(bytes.subarray(from + 4, from + 4 + length), to);
      from += 4 + length;
      to += length;
      continue;
    }
    let literals = [144, 112, 24, 8].flatMap((number, place) => Array(number).fill([8, 9, 7, 8][place])), distances = Array(30).fill(5);
    if (kind === 2) {
      const numbers = [bits(5) + 257, bits(5) + 1], asked = bits(4) + 4, lengths = Array(19).fill(0);
      for (let place = 0; place < asked; place++) lengths[ORDER[place]] = bits(3);
      const known = code(lengths), all = [];
      while (all.length < numbers[0] + numbers[1]) {
        const found = symbol(known);
        if (found < 16) all.push(found);
        else { const again = found === 16 ? all[all.length - 1] : 0; for (let more = found === 18 ? bits(7) + 11 : found === 17 ? bits(3) + 3 : bits(2) + 3; more > 0; more--) all.push(again); }
      }
      [literals, distances] = [all.slice(0, numbers[0]), all.slice(numbers[0])];
    }
    const [ofLiterals, ofDistances] = [code(literals), code(distances)];
    for (let found = symbol(ofLiterals); found !== 256; found = symbol(ofLiterals)) {
      if (found < 256) { out[to++] = found; continue; }
      const [length, extra] = LENGTHS[found - 257], end = to + length + bits(extra), [distance, more] = DISTANCES[symbol(ofDistances)], back = distance + bits(more);
      for (; to < end; to++) out[to] = out[to - back];
    }
  }
  return out;
}

const allUnpacked = (columns) => Object.fromEntries(Object.entries(columns).map(([name, held]) => [name, unpacked(held)]));

// ---- files to keep ----

function download(name, type, text) {
  const made = link("", URL.createObjectURL(new Blob([text], { type })));
  made.download = name.replace(/[^\w.@()=-]+/g, "_");
  document.body.append(made);
  made.click();
  made.remove();
  setTimeout(() => URL.revokeObjectURL(made.href), 1000);
}

// What was evaluated, below the title.
const showFacts = (...facts) => replace(at("facts"), ...facts.map((text) => element("li", text)));

// What was chosen, name by name; what was left open is left out.
function showOptions(options) {
  replace(at("options"), ...Object.entries(options).filter(([, option]) => option !== null && String(option)).map(([name, option]) => {
    const row = element("div");
    row.append(element("dt", name.replace(/_/g, " ")), element("dd", String(option)));
    return row;
  }));
}
