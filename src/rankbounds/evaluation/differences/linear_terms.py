"""Averages bounded by what each relevant document can add on its own, for lists with any number of documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.differences.shared_lists import Found
from rankbounds.rankings.documents import RetrievedDocuments

PAIRS = 1024
"""So many pairs are taken at once."""
NEGLIGIBLE, ROUGH = 1e-9, 1e-3
"""A bound may be so much larger than it need be; and a ratio that only begins the search."""
STEPS = 13
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

    documents: RetrievedDocuments
    base_most: Floats
    """By list, the most that the terms of judged documents add up to while all that is unjudged is not relevant."""
    base_least: Floats
    plus: Floats
    """By cell, the most that the document adds to its list when it is relevant, for itself and for others."""
    minus: Floats
    """By cell, the least that it adds."""
    known: int
    """How many relevant documents are known; what the sum is divided by at first."""
    averaged: bool = True
    """Does each relevant document add one to what the sum is divided by?"""
    shared: Callable[[Ints, Ints, Ints], Floats] | None = None
    """For documents of both lists (cells in A, in B, how many shared ones surely stand above in both): what cancels,
    at least 0, as are ``plus`` and ``minus``. So what a shared document adds is at most what it adds to A alone."""

    def greatest(self, a: Ints, b: Ints) -> Found:
        """How large the difference of two lists can be, at most."""
        result = np.empty(a.size)
        for forward in (True, False):
            pairs = np.flatnonzero((a <= b) == forward)
            one, other = (a, b) if forward else (b, a)
            pairs = pairs[np.argsort(one[pairs], kind="stable")]
            for start in range(0, pairs.size, PAIRS):
                some = pairs[start : start + PAIRS]
                met = self._met(one[some], other[some])
                result[some] = self._against(a[some], b[some], met, *((met.one, met.other)[:: 1 if forward else -1]))
        return result, np.zeros(a.size, dtype=bool)

    def _against(self, a: Ints, b: Ints, met: _Met, cell_a: Ints, cell_b: Ints) -> Floats:
        alone_a = self.plus[cell_a]
        value = alone_a - self.minus[cell_b]
        if self.shared is not None:
            value -= self.shared(cell_a, cell_b, met.common)
        base = self.base_most[a] - self.base_least[b]
        if not self.averaged:
            total, _ = self._in_a.beyond(a, np.zeros(a.size))
            return np.asarray(base + total + met.sums(np.maximum(value, 0.0) - np.maximum(alone_a, 0.0)))
        # If no document were shared, the ratio would be a little higher. There most documents are far from the limit
        # that the ratio is, and one step down leads below the ratio sought, because the rest is convex.
        highest = self._raised(base, np.zeros(a.size), lambda ratio: self._in_a.beyond(a, ratio), ROUGH)
        limit = np.repeat(highest, met.counts)
        above, above_alone = value > limit, alone_a > limit
        fixed = met.sums(np.where(above, value, 0.0) - np.where(above_alone, alone_a, 0.0))
        count = met.sums(np.subtract(above, above_alone, dtype=np.int8))
        total, number = self._in_a.beyond(a, highest)
        left = base - highest * self.known + total + fixed - highest * count
        over = self.known + number + count
        ratio = np.where(over > 0, highest + left / np.maximum(over, 1.0), 0.0) if self.known else np.zeros(a.size)
        # What is beyond either end has been added up; what is between them is looked at again and again.
        limit = np.repeat(ratio, met.counts)
        some = np.flatnonzero(((value > limit) > above) | ((alone_a > limit) > above_alone) | (limit < 0))
        value = np.where(above[some], -np.inf, value[some])
        alone_a, alone_b = np.where(above_alone[some], -np.inf, alone_a[some]), -self.minus[cell_b[some]]
        ends = np.searchsorted(some, met.ends)
        counts = np.diff(ends)

        def beyond(ratio: Floats) -> tuple[Floats, Floats]:
            """Return what documents above the ratio add beyond it, and their number."""
            limit = np.repeat(ratio, counts)
            total, number = self._in_a.beyond(a, ratio)
            total += fixed - ratio * count + sums_of_groups(np.maximum(value, limit) - np.maximum(alone_a, limit), ends)
            number += count + sums_of_groups(np.subtract(value > limit, alone_a > limit, dtype=np.int8), ends)
            if (negative := np.flatnonzero(ratio < 0)).size:  # documents of B make the divisor larger
                more, added = self._in_b.beyond(b[negative], ratio[negative])
                again = alone_b - limit
                more -= sums_of_groups(np.maximum(again, 0.0), ends)[negative]
                total[negative] += more
                number[negative] += added - sums_of_groups(again > 0, ends)[negative]
            return total, number

        return self._raised(base, ratio, beyond, NEGLIGIBLE)

    def _raised(
        self, base: Floats, ratio: Floats, beyond: Callable[[Floats], tuple[Floats, Floats]], negligible: float
    ) -> Floats:
        """Raise ratios until nearly nothing is left to be gained, and add what is."""
        known = float(max(self.known, 1))
        bound = ratio
        for _ in range(STEPS):
            total, number = beyond(ratio)
            left = base - ratio * self.known + total  # what the ratio at hand leaves to be gained
            bound = ratio + np.maximum(left, 0.0) / known
            if (left <= negligible * known).all():
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
        cells = np.full((len(self.documents), self.documents.held.size), -1, dtype=np.int32)
        cells[self.documents.document, self.documents.run] = np.arange(self.documents.run.size)
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
        held_by = (cells >= 0).T[others]
        counts = np.count_nonzero(held_by, axis=-1)
        pair = np.repeat(np.arange(others.size), counts)
        cell = np.flatnonzero(held_by) - pair * len(cells)  # (several times as fast as for two axes)
        there = cells[cell, others[pair]].astype(np.int64)
        cell += begin
        rank_here, rank_there = rank[cell], rank[there]
        lower, higher = np.maximum(rank_here, rank_there), np.minimum(rank_here, rank_there)
        width = int(lower.max(initial=0)) + 2
        pair *= width
        down = np.bincount(pair + lower + 1, minlength=others.size * width).reshape(-1, width)
        common = np.cumsum(down, axis=-1, out=down).reshape(-1)[pair + higher]
        return counts, cell, there, common


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

    @cached_property
    def ends(self) -> Ints:
        return np.append(0, np.cumsum(self.counts))

    def sums(self, values: Floats | Ints | Flags) -> Floats:
        return sums_of_groups(values, self.ends)


def sums_of_groups(values: Floats | Ints | Flags, ends: Ints) -> Floats:
    """Add up values that lie group behind group; ``ends`` begins with 0."""
    result: Floats = np.zeros(ends.size - 1)
    if values.size:
        filled = ends[1:] > ends[:-1]
        result[filled] = np.add.reduceat(values, ends[:-1][filled], dtype=np.float64)
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
