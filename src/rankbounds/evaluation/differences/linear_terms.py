"""An average over the relevant documents, bounded by what each of them can add on its own.

What it means: how far A can be ahead of B, where a score is a sum of terms, one for each relevant document, over a
number that grows by one with each of them (AP, Q, bpref). A term depends on what else is relevant; it is replaced by
the most that it can be in A and the least that it can be in B. Then every unjudged document adds a value of its own,
and the greatest quotient is found by asking, for a ratio t, which documents add more than t (Dinkelbach). Nothing
exceeds it; judgments that reach it may not exist.

Most documents stand in one of the two lists only, and add what they add there, whatever the other list is: each list
is sorted once, and only documents that two lists share are looked at pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.differences.greatest import Found
from rankbounds.evaluation.differences.shared_lists import Documents

STEPS = 12
"""So often the ratio is raised; what then is left to be gained is added, so that the bound holds in any case."""


@dataclass(frozen=True, eq=False)
class LinearTerms:
    """What is known of every list, and of every unjudged document where it stands (cell by cell of the documents)."""

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
    elsewhere: int = 0

    def greatest(self, a: Ints, b: Ints) -> Found:
        """How large the difference of two lists can be, at most."""
        documents = self.documents
        ends = np.cumsum(documents.held)
        result = np.empty(a.size)
        order = np.argsort(a, kind="stable")
        for pairs in np.split(order, np.flatnonzero(np.diff(a[order])) + 1):
            if pairs.size:
                line = int(a[pairs[0]])
                mine = slice(int(ends[line] - documents.held[line]), int(ends[line]))
                in_b = self._cells[documents.document[mine]].T[b[pairs]]
                result[pairs] = self._against(line, mine, b[pairs], in_b)
        return result, np.zeros(a.size, dtype=bool)

    @cached_property
    def _cells(self) -> Ints:
        """By document and list, the document's cell there; -1 where the list lacks it."""
        cells = np.full((self.documents.count, self.documents.held.size), -1, dtype=np.int32)
        cells[self.documents.document, self.documents.line] = np.arange(self.documents.line.size)
        return cells

    def _against(self, line: int, mine: slice, others: Ints, in_b: Ints) -> Floats:
        """One A against several B: by B and document of A, the document's cell in B (-1: not there)."""
        row, column = np.nonzero(in_b >= 0)
        cell_a, cell_b = mine.start + column, in_b[row, column].astype(np.int64)
        value = self.shared(cell_a, cell_b, self._common(row, cell_a, cell_b, others.size))
        alone_a, alone_b = self.plus[cell_a], -self.minus[cell_b]
        held = _Segments(row, others.size)
        rising = np.sort(self.plus[mine])[::-1]
        sums = np.append(0.0, np.cumsum(rising))
        base = self.base_most[line] - self.base_least[others]

        def beyond(ratio: Floats) -> tuple[Floats, Floats]:
            """What documents that add more than the ratio add beyond it, and how many they are."""
            limit = ratio[row]
            worth, alone = value - limit, alone_a - limit
            above = np.searchsorted(-rising, -ratio, side="left")
            total = sums[above] - ratio * above + held.sums(np.maximum(worth, 0.0) - np.maximum(alone, 0.0))
            number = above + held.sums((worth > 0).astype(np.float64) - (alone > 0))
            if (negative := np.flatnonzero(ratio < 0)).size:
                more, count = self._of_others(others[negative], ratio[negative])
                again = alone_b - limit
                total[negative] += more - held.sums(np.maximum(again, 0.0))[negative]
                number[negative] += count - held.sums((again > 0).astype(np.float64))[negative]
            return total, number

        total, number = beyond(np.zeros(others.size))
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
            over = self.known + number
            better = np.where(over > 0, (left + ratio * over) / np.maximum(over, 1.0), 0.0)
            if not (better > ratio * (1 + 1e-12) + 1e-15).any():
                break
            ratio = np.maximum(ratio, better)
        return bound

    def _of_others(self, others: Ints, ratio: Floats) -> tuple[Floats, Floats]:
        """What documents of B, and those elsewhere, add beyond a negative ratio, by making the divisor larger."""
        held, ends = self.documents.held, np.cumsum(self.documents.held)
        total, number = -ratio * self.elsewhere, np.full(others.size, float(self.elsewhere))
        for place, other in enumerate(others.tolist()):
            gained = -self.minus[ends[other] - held[other] : ends[other]] - ratio[place]
            total[place] += np.maximum(gained, 0.0).sum()
            number[place] += np.count_nonzero(gained > 0)
        return total, number

    def _common(self, row: Ints, cell_a: Ints, cell_b: Ints, rows: int) -> Ints:
        """For each shared document, how many other shared ones stand above it in both lists, for certain.

        Those do whose lower rank is above its higher rank.
        """
        rank = self.documents.rank
        if not row.size:
            return np.zeros(0, dtype=np.int64)
        lower, higher = np.maximum(rank[cell_a], rank[cell_b]), np.minimum(rank[cell_a], rank[cell_b])
        width = int(lower.max()) + 2
        counts = np.bincount(row * width + lower + 1, minlength=rows * width).reshape(rows, width)
        return np.cumsum(counts, axis=-1).reshape(-1)[row * width + higher]


class _Segments:
    """Sums over stretches of equal rows."""

    def __init__(self, row: Ints, rows: int) -> None:
        self._counts = np.bincount(row, minlength=rows)
        self._filled: Flags = self._counts > 0
        self._starts = (np.cumsum(self._counts) - self._counts)[self._filled]

    def sums(self, values: Floats) -> Floats:
        """By row."""
        result: Floats = np.zeros(self._counts.size)
        if values.size:
            result[self._filled] = np.add.reduceat(values, self._starts)
        return result
