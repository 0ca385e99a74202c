// What a page lacks for those who do not see it well, or use no mouse: a list of what is wrong, to be run as a function.
const wrong = [], seen = new Set();
const named = (e) => (e.getAttribute("aria-label") || e.textContent || "").trim();
for (const e of document.querySelectorAll("[id]")) { if (seen.has(e.id)) wrong.push("id twice: " + e.id); seen.add(e.id); }
for (const e of document.querySelectorAll("input, select, textarea")) if (!e.labels.length) wrong.push("no label: " + e.id);
for (const e of document.querySelectorAll("button, a[href], svg[role=img]")) if (!named(e)) wrong.push("no name: " + e.outerHTML.slice(0, 90));
for (const e of document.querySelectorAll("table")) {
  if (!e.rows.length) continue;
  if ([...e.rows[0].cells].some((c) => c.tagName !== "TH" || c.scope !== "col")) wrong.push("columns without heads: " + e.id);
  if (!e.querySelector("tbody th[scope=row]")) wrong.push("rows without heads: " + e.id);
}
let level = 1;
for (const e of document.querySelectorAll("h1, h2, h3")) { const own = Number(e.tagName[1]); if (own > level + 1) wrong.push("heading " + e.textContent); level = own; }
const parse = (text) => text.match(/[\d.]+/g).map(Number);
const light = (rgb) => { const [r, g, b] = rgb.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
for (const e of document.querySelectorAll("body *")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || e.closest("script, style, title")) continue;
  const style = getComputedStyle(e), ink = light(parse(e instanceof SVGElement ? style.fill : style.color)), paper = light(behind(e));
  const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(2)}: ` + e.outerHTML.slice(0, 90));
}
for (const e of document.querySelectorAll("button, select, input, a[href]")) {
  if (!e.getClientRects().length || e.tabIndex < 0) continue;
  e.focus({ preventScroll: true, focusVisible: true });
  if (document.activeElement === e && getComputedStyle(e).outlineStyle === "none") wrong.push("focus is not seen: " + e.outerHTML.slice(0, 90));
}
return wrong;
