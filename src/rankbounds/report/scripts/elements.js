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
const percent = (share, digits = 0) => (share === null || Number.isNaN(share) ? "-" : fixed(100 * share, digits) + "%");
const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);
const plural = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

// JSON has no infinite numbers: they come as words.
const finite = (number) => (number === "Infinity" ? Infinity : number === "-Infinity" ? -Infinity : number);

// One less other; scores that are equal come as the same number, and two searches that never end are equal.
const less = (one, other) => (one === other ? 0 : one - other);

const TYPES = { f8: Float64Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

function unpacked(held) {
  const text = atob(held.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[held.type](bytes.buffer);
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

// What was chosen, name by name; what was left open is left out.
function showOptions(options) {
  replace(at("options"), ...Object.entries(options).filter(([, option]) => option !== null && String(option)).map(([name, option]) => {
    const row = element("div");
    row.append(element("dt", name.replace(/_/g, " ")), element("dd", String(option)));
    return row;
  }));
}
