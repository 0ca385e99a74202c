"""Where a polynomial with whole-number coefficients changes its sign between 0 and 1: all places, and no others.

Coefficients are listed from the constant term up. Intervals are first settled in floating point with room for every
rounding error; what that leaves open (roots of higher order, roots very close to each other) is settled by Sturm's
theorem in exact arithmetic, which takes minutes instead of milliseconds at a degree of several hundred.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Floats

Coefficients = Sequence[int]
Interval = tuple[Fraction, Fraction]
MARGIN = 1e-11
"""What rounding can do to a sum of a few thousand terms of one sign, with room to spare."""
NARROWEST = 2.0**-24
"""Intervals this narrow that are still open are left to exact arithmetic."""
MOST_OPEN = 1 << 13
"""When this many intervals are open, halving them further will not settle them."""
WIDTH_OF_ROOT = Fraction(1, 1 << 50)


class SignChange(NamedTuple):
    """A place where the sign turns to ``after``, -1 or 1, from the opposite."""

    at: float
    after: int


def sign_changes(coefficients: Coefficients) -> list[SignChange]:
    """The places strictly between 0 and 1 where the polynomial changes its sign, ascending.

    A root that the polynomial only touches is no change of sign.
    """
    reduced = _without_roots_at_ends(coefficients)
    if not reduced:
        return []
    terms = _Terms(reduced)
    sign, changes = sign_near_zero(reduced), []
    for low, high in _with_at_most_one_root(reduced, terms):
        at_end = terms.sure_sign(high) or sign_at(reduced, high)
        after = at_end or _sign_right_of(reduced, high)
        if after != sign:
            place = _refined(reduced, terms, low, high, sign) if at_end else high
            changes.append(SignChange(float(place), after))
            sign = after
    return changes


def sign_near_zero(coefficients: Coefficients) -> int:
    """The sign just above 0; 0 for the polynomial that is 0 everywhere."""
    return next((1 if term > 0 else -1 for term in coefficients if term), 0)


def sign_at(coefficients: Coefficients, place: Fraction) -> int:
    """The exact sign at a rational place of [0, 1]."""
    top, bottom = place.numerator, place.denominator
    value = 0
    for term in reversed(coefficients):  # every step rounds down, by less than one in the last of 256 binary digits
        value = value * top // bottom + (term << 256)
    if value > 0:
        return 1
    if value < -len(coefficients):
        return -1
    value, power = 0, 1
    for term in reversed(coefficients):
        value = value * top + term * power
        power *= bottom
    return (value > 0) - (value < 0)


def _sign_right_of(coefficients: Coefficients, place: Fraction) -> int:
    """The sign just above a place: that of the first derivative that is not 0 there."""
    while not (sign := sign_at(coefficients, place)):
        coefficients = _derivative(coefficients)
    return sign


def _derivative(coefficients: Coefficients) -> list[int]:
    return [power * term for power, term in enumerate(coefficients)][1:]


def _without_roots_at_ends(coefficients: Coefficients) -> list[int]:
    """The polynomial divided by all powers of x and of 1 - x in it, which are positive between 0 and 1."""
    reduced = list(itertools.dropwhile(lambda term: term == 0, coefficients))
    while reduced and not any(reduced[-1:]):
        reduced.pop()
    while reduced and sum(reduced) == 0:
        reduced = list(itertools.accumulate(reduced))[:-1]  # division by 1 - x, from the constant term up
    divisor = math.gcd(*reduced)
    return [term // divisor for term in reduced]


class _Terms:
    """The positive and the negative terms of a polynomial and of its slope, summed apart in floating point.

    Each of the four sums rises with x and has hardly any rounding error, so that its values at the two ends of an
    interval enclose all between.
    """

    def __init__(self, coefficients: Coefficients) -> None:
        largest = max(abs(term) for term in coefficients)
        self.exponent = np.array([power for power, term in enumerate(coefficients) if term], dtype=np.float64)
        scaled = np.array([term / largest for term in coefficients if term])
        slope = scaled * self.exponent
        self.value = np.stack([np.maximum(scaled, 0), np.maximum(-scaled, 0)])
        self.slope = np.stack([np.maximum(slope, 0), np.maximum(-slope, 0)])

    def values(self, place: Floats) -> Floats:
        """The sum of the positive and of the negative terms at each place."""
        return self.value @ _powers(place, self.exponent)

    def slopes(self, place: Floats) -> Floats:
        """As ``values``, for the slope."""
        return self.slope @ _powers(place, np.maximum(self.exponent - 1, 0))

    def sure_sign(self, place: Fraction) -> int:
        """The sign at a place where floating point is enough to tell; else 0."""
        positive, negative = self.values(np.array([float(place)]))[:, 0]
        sure = abs(positive - negative) > MARGIN * (positive + negative)
        return (1 if positive > negative else -1) if sure else 0


def _powers(place: Floats, exponent: Floats) -> Floats:
    """Powers of places in [0, 1], by exponent and place; those too small to matter are not told apart."""
    return np.exp(np.maximum(np.multiply.outer(exponent, np.log(np.maximum(place, 1e-300))), -650.0))


def _settled(low: Floats, high: Floats) -> Flags:
    """Has the difference of two rising sums one sign between places where they are ``low`` and ``high``?"""
    room = MARGIN * high.sum(axis=0)
    return (low[0] - high[1] > room) | (low[1] - high[0] > room)


def _with_at_most_one_root(coefficients: Coefficients, terms: _Terms) -> list[Interval]:
    """Intervals (low, high] of [0, 1], ascending, with at most one root each; outside them there are no roots."""
    one_root, narrow = _settled_intervals(terms)
    chain = _sturm_chain(coefficients) if narrow else []
    if narrow and len(chain[-1]) > 1:  # a divisor shared with the slope: roots of higher order, made simple ones here
        simple = _exact_quotient(coefficients, chain[-1])
        one_root, narrow = _settled_intervals(_Terms(simple))
        chain = _sturm_chain(simple) if narrow else []
    exact = [(Fraction(low), Fraction(high)) for low, high in one_root]
    for low, high in _joined(sorted(narrow)):
        exact += _split(Fraction(low), Fraction(high), chain)
    return sorted(exact)


def _settled_intervals(terms: _Terms) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Intervals with at most one root, because the slope has one sign there; and those that stay open."""
    edges = np.linspace(0.0, 1.0, 65)
    low, high = edges[:-1], edges[1:]
    one_root: list[tuple[float, float]] = []
    while low.size:
        undecided = ~_settled(terms.values(low), terms.values(high))
        low, high = low[undecided], high[undecided]
        monotone = _settled(terms.slopes(low), terms.slopes(high))
        one_root += zip(low[monotone].tolist(), high[monotone].tolist(), strict=True)
        low, high = low[~monotone], high[~monotone]
        if low.size > MOST_OPEN or (low.size and high[0] - low[0] <= NARROWEST):
            break
        middle = (low + high) / 2
        low, high = np.append(low, middle), np.append(middle, high)
    return one_root, list(zip(low.tolist(), high.tolist(), strict=True))


def _joined(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Neighbours made one."""
    whole: list[tuple[float, float]] = []
    for low, high in intervals:
        if whole and low == whole[-1][1]:
            whole[-1] = (whole[-1][0], high)
        else:
            whole.append((low, high))
    return whole


def _split(low: Fraction, high: Fraction, chain: list[list[int]]) -> Iterator[Interval]:
    """The interval cut until every piece has at most one root; pieces without a root are left out.

    Sturm's theorem: the chain's signs change once less often behind each root.
    """
    number = _turns(chain, low) - _turns(chain, high)
    if number == 1:
        yield low, high
    elif number:
        middle = (low + high) / 2
        yield from _split(low, middle, chain)
        yield from _split(middle, high, chain)


def _turns(chain: list[list[int]], place: Fraction) -> int:
    signs = [sign for terms in chain if (sign := sign_at(terms, place))]
    return sum(before != after for before, after in itertools.pairwise(signs))


def _sturm_chain(coefficients: Coefficients) -> list[list[int]]:
    chain = [list(coefficients), _derivative(coefficients)]
    while len(chain[-1]) > 1:
        remainder = _negative_remainder(chain[-2], chain[-1])
        if not remainder:
            break
        chain.append(remainder)
    return chain


def _negative_remainder(dividend: list[int], divisor: list[int]) -> list[int]:
    """Minus the remainder of a division, times a positive number that makes it whole."""
    rest, lead = list(dividend), divisor[-1]
    while len(rest) >= len(divisor):
        if rest[-1]:
            shared = math.gcd(rest[-1], lead)
            factor, times = abs(lead) // shared, rest[-1] // shared * (1 if lead > 0 else -1)
            offset = len(rest) - len(divisor)
            rest = [factor * term for term in rest]
            for power, term in enumerate(divisor):
                rest[offset + power] -= times * term
        rest.pop()
    while rest and not rest[-1]:
        rest.pop()
    shared = math.gcd(*rest)
    return [-term // shared for term in rest]


def _exact_quotient(dividend: Coefficients, divisor: list[int]) -> list[int]:
    """The quotient of a division without remainder, times a positive number that makes it whole."""
    rest, quotient = [Fraction(term) for term in dividend], []
    while len(rest) >= len(divisor):
        quotient.append(rest[-1] / divisor[-1])
        offset = len(rest) - len(divisor)
        for power, term in enumerate(divisor):
            rest[offset + power] -= quotient[-1] * term
        rest.pop()
    common = math.lcm(*(term.denominator for term in quotient))
    return [int(term * common) for term in reversed(quotient)]


def _refined(coefficients: Coefficients, terms: _Terms, low: Fraction, high: Fraction, before: int) -> Fraction:
    """The place in an interval with one root where the sign ``before`` ends."""
    while high - low > WIDTH_OF_ROOT:
        middle = (low + high) / 2
        sign = terms.sure_sign(middle) or sign_at(coefficients, middle)
        if not sign:
            return middle
        low, high = (middle, high) if sign == before else (low, middle)
    return (low + high) / 2
