"""Changes of sign between 0 and 1 of a polynomial with whole-number coefficients: all of them, and no others.

Coefficients are listed from the constant term up. Between two changes of sign of its slope a polynomial changes its own
at most once. Most intervals are settled in floating point, allowing for every rounding error; in the others (multiple
or very close roots) the changes of sign of the slope are found first in the same way, with exact signs. Two changes
that floating point numbers cannot separate do not count.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Floats

Coefficients = Sequence[int]
MARGIN = 1e-11
"""What rounding can do to a sum of a few thousand terms of one sign, with room to spare."""
NARROWEST = 2.0**-24
"""Intervals this narrow that are still open are left to the slope."""
MOST_OPEN = 1 << 13
"""When this many intervals are open, halving them further will not settle them."""
WIDTH_OF_ROOT = Fraction(1, 1 << 50)


class SignChange(NamedTuple):
    """A place where the sign turns to ``after``, -1 or 1, from the opposite."""

    at: float
    after: int


def sign_changes(coefficients: Coefficients) -> list[SignChange]:
    """Return the places strictly between 0 and 1 where the polynomial changes its sign, ascending.

    A root where the polynomial only touches 0 does not count.
    """
    reduced = _without_roots_at_ends(coefficients)
    if not reduced:
        return []
    terms = _Terms(reduced)
    one_change, narrow = _open_intervals(terms)
    places = {Fraction(end) for interval in one_change + narrow for end in interval}
    for low, high in narrow:
        places.update(_turning_points(_derivative(reduced), Fraction(low), Fraction(high)))
    changes = _changes_among(terms, [Fraction(0), *sorted(places), Fraction(1)])
    return [SignChange(float(place), after) for place, after in changes]


def sign_near_zero(coefficients: Coefficients) -> int:
    """The sign just above 0; 0 for the polynomial that is 0 everywhere."""
    return next((1 if term > 0 else -1 for term in coefficients if term), 0)


def _exact_sign(coefficients: Coefficients, place: Fraction) -> int:
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


def _derivative(coefficients: Coefficients) -> list[int]:
    return [power * term for power, term in enumerate(coefficients)][1:]


def _without_roots_at_ends(coefficients: Coefficients) -> list[int]:
    """The polynomial divided by all powers of x and of 1 - x in it, which are positive between 0 and 1."""
    reduced = list(itertools.dropwhile(lambda term: term == 0, coefficients))
    while reduced and not reduced[-1]:
        reduced.pop()
    while reduced and sum(reduced) == 0:
        reduced = list(itertools.accumulate(reduced))[:-1]  # division by 1 - x, from the constant term up
    divisor = math.gcd(*reduced)
    return [term // divisor for term in reduced]


class _Terms:
    """Sum the positive and the negative terms of a polynomial and of its slope separately in floating point.

    Each of the four sums rises with x and has hardly any rounding error, so its values at the ends of an interval
    enclose all between.
    """

    def __init__(self, coefficients: Coefficients) -> None:
        self.coefficients = coefficients
        largest = max(abs(term) for term in coefficients)
        self.exponent = np.array([power for power, term in enumerate(coefficients) if term], dtype=np.float64)
        scaled = np.array([term / largest for term in coefficients if term])
        slope = scaled * self.exponent
        self.value = np.stack([np.maximum(scaled, 0), np.maximum(-scaled, 0)])
        self.slope = np.stack([np.maximum(slope, 0), np.maximum(-slope, 0)])

    def one_sign(self, low: Floats, high: Floats, *, slope: bool = False) -> Flags:
        """Has the polynomial (or its slope) one sign in each interval?"""
        weight, exponent = (self.slope, np.maximum(self.exponent - 1, 0)) if slope else (self.value, self.exponent)
        (least, least_lost), (most, most_lost) = (weight @ _powers(place, exponent) for place in (low, high))
        room = MARGIN * (most + most_lost)
        return (least - most_lost > room) | (least_lost - most > room)

    def sign(self, place: Fraction) -> int:
        """The exact sign at a place of [0, 1]: by floating point where that is enough."""
        positive, negative = (self.value @ _powers(np.array([float(place)]), self.exponent))[:, 0]
        if abs(positive - negative) > MARGIN * (positive + negative):
            return 1 if positive > negative else -1
        return _exact_sign(self.coefficients, place)


def _powers(place: Floats, exponent: Floats) -> Floats:
    """Return powers of places in [0, 1], by exponent and place; negligible ones are not distinguished."""
    return np.exp(np.maximum(np.multiply.outer(exponent, np.log(np.maximum(place, 1e-300))), -650.0))


def _open_intervals(terms: _Terms) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return intervals with at most one change, because the slope has one sign there, and the undecided ones."""
    edges = np.linspace(0.0, 1.0, 65)
    low, high = edges[:-1], edges[1:]
    one_change: list[tuple[float, float]] = []
    while low.size:
        undecided = ~terms.one_sign(low, high)
        low, high = low[undecided], high[undecided]
        monotone = terms.one_sign(low, high, slope=True)
        one_change += zip(low[monotone].tolist(), high[monotone].tolist(), strict=True)
        low, high = low[~monotone], high[~monotone]
        if low.size > MOST_OPEN or (low.size and high[0] - low[0] <= NARROWEST):
            break
        middle = (low + high) / 2
        low, high = np.append(low, middle), np.append(middle, high)
    alone = zip(np.setdiff1d(low, high).tolist(), np.setdiff1d(high, low).tolist(), strict=True)  # neighbours are one
    return one_change, list(alone)


def _turning_points(coefficients: Coefficients, low: Fraction, high: Fraction) -> list[Fraction]:
    """Where the polynomial changes its sign between two places: among the turning points of its slope."""
    terms = _Terms(coefficients)
    ends = np.array([float(low)]), np.array([float(high)])
    if terms.one_sign(*ends)[0]:
        return []
    inner = [] if terms.one_sign(*ends, slope=True)[0] else _turning_points(_derivative(coefficients), low, high)
    return [place for place, _ in _changes_among(terms, [low, *inner, high])]


def _changes_among(terms: _Terms, places: Iterable[Fraction]) -> list[tuple[Fraction, int]]:
    """Return the changes of sign, with the sign after each, if there is at most one between neighbouring places."""
    changes: list[tuple[Fraction, int]] = []
    before, sign, zero = Fraction(0), 0, None
    for place in places:
        here = terms.sign(place)
        if not here:
            zero = place
            continue
        if sign and here != sign:
            changes.append((_bisect(terms, before, place, sign) if zero is None else zero, here))
        before, sign, zero = place, here, None
    return changes


def _bisect(terms: _Terms, low: Fraction, high: Fraction, before: int) -> Fraction:
    while high - low > WIDTH_OF_ROOT:
        middle = (low + high) / 2
        sign = terms.sign(middle)
        if not sign:
            return middle
        low, high = (middle, high) if sign == before else (low, middle)
    return (low + high) / 2
