"""Averages bounded by what each relevant document can add on its own, for lists with any number of documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.differences.shared_lists import Documents, Found

PAIRS = 512
"""So many pairs are taken at once."""
NEGLIGIBLE = 1e-9
"""A bound may be so much larger than it need be."""
STEPS = 12
"""So often the ratio is raised; what then is left to be gained is added, so that the bound holds in any case."""


@dataclass(frozen=True, eq=False)
class LinearTerms:
    """Bound a difference of averages over relevant documents by what each of them can add on its own.

    A score is a sum of terms, one per relevant document, over a number that grows by one with each of them (AP, Q,
    bpref). A term depends on what else is relevant; here it is replaced by its greatest value in A and its least in B.
    Then every unjudged document adds a fixed value, and the greatest quotient is found by asking, for a ratio t, which
    documents add more than t (Dinkelbach). Nothing exceeds it; judgments that reach it may not exist.

    Most documents are in one of the two lists only, so each list is sorted once, and only shared documents are compared
    pair by pair. The arrays hold what is known of every list, and of every unjudged document cell by cell.
    """

    documents: Documents
    base_most: Floats
    """By list, the most that the terms of judged documents add up to while all that is unjudged is not relevant."""
    base_least: Floats
    plus: Floats
    """By cell, the most that the document adds to its list when it is relevant, for itself and for others."""
    minus: Floats
    """By cell, the least that it adds."""
    shared: Callable[[Ints, Ints, Ints], Floats]
    """For documents of both lists (cells in A, in B, how many shared ones surely stand above in both): the net."""
    known: int
    """How many relevant documents are known; what the sum is divided by at first."""
    averaged: bool = True
    """Does each relevant document add one to what the sum is divided by?"""

    def greatest(self, a: Ints, b: Ints) -> Found:
        """How large the difference of two lists can be, at most."""
        result = np.empty(a.size)
        one, other = np.minimum(a, b), np.maximum(a, b)
        order = np.argsort(one, kind="stable")
        for start in range(0, a.size, PAIRS):
            pairs = order[start : start + PAIRS]
            result[pairs] = self._against(a[pairs], b[pairs], self._met(one[pairs], other[pairs]))
        return result, np.zeros(a.size, dtype=bool)

    def _against(self, a: Ints, b: Ints, met: _Met) -> Floats:
        turned = np.repeat(a > b, met.counts)
        cell_a, cell_b = np.where(turned, met.other, met.one), np.where(turned, met.one, met.other)
        value = self.shared(cell_a, cell_b, met.common)
        alone_a, alone_b = self.plus[cell_a], -self.minus[cell_b]
        base = self.base_most[a] - self.base_least[b]

        def beyond(ratio: Floats) -> tuple[Floats, Floats]:
            """Return what documents above the ratio add beyond it, and their number."""
            limit = np.repeat(ratio, met.counts)
            total, number = self._in_a.beyond(a, ratio)
            total += met.sums(np.maximum(value, limit) - np.maximum(alone_a, limit))
            number += met.sums((value > limit).astype(np.int32) - (alone_a > limit))
            if (negative := np.flatnonzero(ratio < 0)).size:  # documents of B make the divisor larger
                more, count = self._in_b.beyond(b[negative], ratio[negative])
                again = alone_b - limit
                more -= met.sums(np.maximum(again, 0.0))[negative]
                total[negative] += more
                number[negative] += count - met.sums((again > 0).astype(np.float64))[negative]
            return total, number

        total, number = beyond(np.zeros(a.size))
        if not self.averaged:
            return np.asarray(base + total)
        known = float(max(self.known, 1))
        # Where some choice reaches 0, the ratio starts there; else from what is judged, below 0.
        over = self.known + number
        ratio = np.where(base + total >= 0, (base + total) / np.maximum(over, 1.0), base / known)
        bound = ratio
        for _ in range(STEPS):
            total, number = beyond(ratio)
            left = base - ratio * self.known + total  # what the ratio at hand leaves to be gained
            bound = ratio + np.maximum(left, 0.0) / known
            if (left <= NEGLIGIBLE * known).all():
                break
            over = self.known + number
            better = np.where(over > 0, (left + ratio * over) / np.maximum(over, 1.0), 0.0)
            ratio = np.maximum(ratio, better)
        return bound

    @cached_property
    def _in_a(self) -> _Sorted:
        return _Sorted(self.documents.held, self.plus)

    @cached_property
    def _in_b(self) -> _Sorted:
        return _Sorted(self.documents.held, -self.minus)

    @cached_property
    def _cells(self) -> Ints:
        cells = np.full((self.documents.count, self.documents.held.size), -1, dtype=np.int32)
        cells[self.documents.document, self.documents.line] = np.arange(self.documents.line.size)
        return cells

    @cached_property
    def _known_meetings(self) -> dict[bytes, _Met]:
        return {}

    def _met(self, one: Ints, other: Ints) -> _Met:
        """Return what pairs of lists share; cached for the reverse question."""
        key = one.tobytes() + other.tobytes()
        if key not in self._known_meetings:
            starts = np.flatnonzero(np.diff(one, prepend=-1))
            several = zip(one[starts].tolist(), np.split(other, starts[1:]), strict=True)
            parts = zip(*(self._met_by(line, others) for line, others in several), strict=True)
            self._known_meetings[key] = _Met(*map(np.concatenate, parts))
        return self._known_meetings[key]

    def _met_by(self, line: int, others: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """What a list shares with each of the others."""
        held, rank = self.documents.held, self.documents.rank
        begin = int(held[:line].sum())
        cells = self._cells[self.documents.document[begin : begin + held[line]]]
        met = np.flatnonzero((cells >= 0).T[others])  # (several times as fast as for two axes)
        pair = met // max(len(cells), 1)
        cell = met - pair * len(cells)
        there = cells[cell, others[pair]]
        cell += begin
        rank_here, rank_there = rank[cell], rank[there]
        lower, higher = np.maximum(rank_here, rank_there), np.minimum(rank_here, rank_there)
        width = int(lower.max(initial=0)) + 2
        pair *= width
        down = np.bincount(pair + lower + 1, minlength=others.size * width).reshape(-1, width)
        common = np.cumsum(down, axis=-1, out=down).reshape(-1)[pair + higher]
        counts = np.diff(np.searchsorted(met, np.arange(others.size + 1) * len(cells)))
        return counts, cell, there.astype(np.int64), common


@dataclass(frozen=True, eq=False)
class _Met:
    """The documents that lists share with others, pair after pair: their cells here and there.

    ``common`` counts the other shared documents certainly above in both lists: those whose lower rank is above its
    higher rank.
    """

    counts: Ints
    one: Ints
    other: Ints
    common: Ints

    def sums(self, values: Floats | Ints) -> Floats:
        result: Floats = np.zeros(self.counts.size)
        if values.size:
            filled = self.counts > 0
            result[filled] = np.add.reduceat(values, (np.cumsum(self.counts) - self.counts)[filled])
        return result


class _Sorted:
    """Sorted values of the cells of many lists, to sum those above a limit."""

    def __init__(self, held: Ints, values: Floats) -> None:
        line = np.repeat(np.arange(held.size), held)
        inside = np.arange(held.max(initial=0)) < held[:, None]
        by_list = np.full(inside.shape, np.inf)
        by_list[inside] = values
        ordered = np.sort(by_list, axis=-1)[inside]
        self._sums = np.append(0.0, np.cumsum(ordered))
        self._ends = np.cumsum(held)
        # Lists lie one behind the other on one line of numbers, none of which reaches into the next.
        self._low, self._high = float(ordered.min(initial=0.0)) - 1, float(ordered.max(initial=0.0)) + 1
        self._span = self._high - self._low + 1
        self._keys = ordered + line * self._span

    def beyond(self, line: Ints, limit: Floats) -> tuple[Floats, Floats]:
        """Return, by list and limit, what values above the limit add beyond it, and their number."""
        place = np.searchsorted(self._keys, np.clip(limit, self._low, self._high) + line * self._span, side="right")
        number = (self._ends[line] - place).astype(np.float64)
        return self._sums[self._ends[line]] - self._sums[place] - limit * number, number
