// What a checker of accessibility looks at: names of everything that takes input, focus that shows, contrast, landmarks.
const wrong = [];
const name = (node) => (node.getAttribute("aria-label") || (node.getAttribute("aria-labelledby") || "").split(" ").map((id) =>
  (document.getElementById(id) || {}).textContent || "").join("") || (node.labels && node.labels[0] && node.labels[0].textContent) ||
  node.textContent || "").trim();
const seen = (node) => node.getClientRects().length > 0;
for (const node of document.querySelectorAll("button, a, input, select, [role=group], [role=region], section, aside, nav, summary, progress"))
  if (seen(node) && !name(node)) wrong.push("no name: " + node.outerHTML.slice(0, 80));
for (const node of document.querySelectorAll("table")) if (![...node.querySelectorAll("th")].every((cell) => cell.scope)) wrong.push("headers without scope");
if (document.querySelectorAll("main").length !== 1 || document.querySelectorAll("h1").length !== 1) wrong.push("one main and one h1");
const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
if (new Set(ids).size < ids.length) wrong.push("ids stand twice");
if (!document.documentElement.lang || !document.title) wrong.push("no language or title");
const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((part) => part / 255).map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  .reduce((sum, part, number) => sum + part * [0.2126, 0.7152, 0.0722][number], 0);
const behind = (node) => { for (let one = node; one; one = one.parentElement) { const colour = parts(getComputedStyle(one).backgroundColor); if (colour.length < 4 || colour[3] > 0) return colour; } return [255, 255, 255]; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let text = walker.nextNode(); text; text = walker.nextNode()) {
  const node = text.parentElement;
  if (!text.data.trim() || !seen(node) || node.closest("script, option, :disabled")) continue;
  const [one, other] = [light(parts(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
  const ratio = (one + 0.05) / (other + 0.05);
  if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${text.data.trim().slice(0, 40)}`);
}
if (document.documentElement.scrollWidth > document.documentElement.clientWidth) wrong.push("scrolls sideways");
for (const node of document.querySelectorAll("#grades button, #skip, #undo")) if (seen(node) && node.getBoundingClientRect().height < 24) wrong.push("too small to touch");
return wrong;
