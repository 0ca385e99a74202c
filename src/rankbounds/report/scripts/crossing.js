"use strict";
// Where a polynomial changes its sign between 0 and 1, as rankbounds.polynomials does it: all places, and no others.
// Coefficients are listed from the constant term up; whole numbers are treated exactly.
const signChanges = (() => {
// What rounding can do to a sum of a few thousand terms of one sign, with room to spare.
const MARGIN = 1e-11;
// Narrower intervals are not split: two changes inside one of them are not told apart, nor drawn apart.
const NARROWEST = 2 ** -24;
const MOST_OPEN = 1 << 13;

// The polynomial divided by all powers of x and of 1 - x in it, which are positive between 0 and 1.
function reduced(coefficients) {
  const first = coefficients.findIndex((one) => one !== 0);
  if (first < 0) return [];
  let rest = coefficients.slice(first);
  while (rest[rest.length - 1] === 0) rest.pop();
  while (rest.length && rest.reduce((sum, one) => sum + one, 0) === 0) {
    let sum = 0;
    rest = rest.map((one) => (sum += one)).slice(0, -1);
  }
  return rest;
}

// Positive and negative terms of the value and of the slope, summed apart: each sum rises with x and has hardly any
// rounding error, so that its values at the two ends of an interval enclose all between.
function terms(coefficients) {
  const value = [], slope = [];
  for (const sign of [1, -1]) {
    const part = coefficients.map((one) => Math.max(0, sign * one));
    value.push(part);
    slope.push(part.map((one, power) => power * one).slice(1));
  }
  return { value, slope };
}

function sums(parts, x) {
  return parts.map((part) => { let sum = 0; for (let i = part.length - 1; i >= 0; i--) sum = sum * x + part[i]; return sum; });
}

function settled(low, high) {
  const room = MARGIN * (high[0] + high[1]);
  return low[0] - high[1] > room || low[1] - high[0] > room;
}

// The sign at a place that is a whole number of some 1 / 2^m, as all places here are.
function exactSign(coefficients, x) {
  let bits = 0n, top = x;
  while (top !== Math.floor(top)) { top *= 2; bits += 1n; }
  const place = BigInt(top);
  let sum = 0n, scale = 0n;
  for (let i = coefficients.length - 1; i >= 0; i--) { sum = sum * place + (BigInt(coefficients[i]) << scale); scale += bits; }
  return sum > 0n ? 1 : sum < 0n ? -1 : 0;
}

function signAt(coefficients, parts, x) {
  const [up, down] = sums(parts.value, x);
  if (Math.abs(up - down) > MARGIN * (up + down)) return Math.sign(up - down);
  return coefficients.every(Number.isInteger) ? exactSign(coefficients, x) : Math.sign(up - down);
}

// The sign just above a place: that of the first derivative that is not 0 there.
function signRightOf(coefficients, x) {
  for (let rest = coefficients; rest.length; rest = rest.map((one, power) => power * one).slice(1)) {
    const sign = signAt(rest, terms(rest), x);
    if (sign) return sign;
  }
  return 0;
}

// Intervals (low, high], ascending, that hold at most one change of sign that can be told apart; none lies outside them.
function intervals(parts) {
  let open = Array.from({ length: 64 }, (_, i) => [i / 64, (i + 1) / 64]);
  const found = [];
  while (open.length) {
    const undecided = open.filter(([low, high]) => !settled(sums(parts.value, low), sums(parts.value, high)));
    const steep = (one) => settled(sums(parts.slope, one[0]), sums(parts.slope, one[1]));
    const rest = [];
    for (const one of undecided) (steep(one) ? found : rest).push(one);
    if (rest.length > MOST_OPEN || (rest.length && rest[0][1] - rest[0][0] <= NARROWEST)) { found.push(...rest); break; }
    open = rest.flatMap(([low, high]) => [[low, (low + high) / 2], [(low + high) / 2, high]]);
  }
  return found.sort((one, other) => one[0] - other[0]);
}

return (given) => {
  const coefficients = reduced(given), found = [];
  if (!coefficients.length) return found;
  const parts = terms(coefficients);
  let sign = Math.sign(coefficients[0]);
  for (let [low, high] of intervals(parts)) {
    const atEnd = signAt(coefficients, parts, high), after = atEnd || signRightOf(coefficients, high);
    if (after === sign) continue;
    if (!atEnd) low = high;
    while (high - low > 2 ** -50) {
      const middle = (low + high) / 2, here = signAt(coefficients, parts, middle);
      if (!here) low = high = middle;
      else if (here === sign) low = middle;
      else high = middle;
    }
    found.push({ at: (low + high) / 2, after });
    sign = after;
  }
  return found;
};
})();
