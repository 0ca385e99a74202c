// The words of a query, marked where a text has them: in the report and on the judging page.

const COMMON = new Set(("a an and are as at be been but by can could did do does for from had has have how if in into is it its may not of on or our should " +
  "so such than that the their them then there these they this those to was we were what when where which who why will with would you your about any all " +
  "document documents relevant discuss identify information describe find").split(" "));
const stem = (word) => { // word forms of one kind look alike, which is all that marking needs
  const low = word.toLowerCase();
  for (const ending of ["ations", "ation", "ings", "ing", "ies", "ers", "ed", "es", "er", "ly", "s", "e", "y"]) if (low.endsWith(ending) && low.length - ending.length >= 3) return low.slice(0, -ending.length);
  return low;
};
const stemsOf = (text) => new Set((text.match(/[\p{L}\p{N}]+/gu) || []).filter((word) => !COMMON.has(word.toLowerCase()) && (word.length > 1 || /\p{N}/u.test(word))).map(stem));

function marked(node, text, stems) { // the query's words stand out
  node.replaceChildren();
  let end = 0;
  for (const found of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (!stems.has(stem(found[0]))) continue;
    const mark = document.createElement("mark");
    mark.textContent = found[0];
    node.append(text.slice(end, found.index), mark);
    end = found.index + found[0].length;
  }
  node.append(text.slice(end));
}
