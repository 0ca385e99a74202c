"use strict";
// Where a polynomial changes its sign between 0 and 1, as rankbounds.rbp.crossings does it: on a grid, each change
// between two of its points refined by bisection. Coefficients are listed from the constant term up.
const signChanges = (() => {
const POINTS = 1000;
// What rounding can do to a sum of a thousand terms, as a share of their sizes.
const ROUNDING = 1e-13;

function signAt(terms, x, room) {
  let value = 0, size = 0;
  for (let i = terms.length - 1; i >= 0; i--) { value = value * x + terms[i]; size = size * x + Math.abs(terms[i]); }
  return Math.abs(value) > room * size ? Math.sign(value) : 0;
}

function bisected(terms, low, high, before) {
  for (;;) {
    const middle = (low + high) / 2, here = signAt(terms, middle, 0);
    if (!here || middle <= low || middle >= high) return middle;
    if (here === before) low = middle;
    else high = middle;
  }
}

return (coefficients) => {
  const first = coefficients.findIndex((one) => one !== 0), found = [];
  if (first < 0) return found;
  const terms = coefficients.slice(first);
  let low = 0, before = Math.sign(terms[0]);
  for (let point = 1; point <= POINTS; point++) {
    const x = point / POINTS, after = signAt(terms, x, ROUNDING);
    if (!after) continue;
    if (after !== before) found.push({ at: bisected(terms, low, x, before), after });
    [low, before] = [x, after];
  }
  return found;
};
})();
