"""Averages of precisions: which unjudged documents of A to turn relevant, decided from the top of A's list down.

What it means: how far A can be ahead of B. Going down A's list, all that matters of the choices made is how many
documents were turned: the next one, if it is turned too, adds its own precision and one over its rank for each of them.
So the best choices of every number of documents follow from those above them (dynamic programming), and what they do
to A is exact.

What they do to B is exact for each of them alone. Two documents that B holds also raise each other's precision there.
With c turned above a document in A, of which at most n do not stand above it in B too, at least c - n do: so much is
taken off for sure, and where B gains more the bound is too large. Whether it is, is looked up: the chosen documents'
true difference is worked out, and where it is the bound, the bound is exact.

Documents that B alone holds only help B. They count where A cannot get ahead, because they make the divisor larger: of
any number of them, the lowest ones of B's list help it least. Those that neither list reads, or holds, change the
divisor alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.differences.shared_lists import CELLS, Documents, Found
from rankbounds.evaluation.score_differences import TOLERANCE

MANY = 100
"""Lists with more unjudged documents than this, down to the depth, are left to a coarser argument."""


@dataclass(frozen=True, eq=False)
class ChoicesFromTheTop:
    """What is known of every list, and of every unjudged document where it stands."""

    documents: Documents
    base: Floats
    """By list, the sum of the terms of judged documents."""
    single: Floats
    """By list and rank, what a document there adds to that sum alone: its own term, and to judged ones below it."""
    factor: Floats
    """By rank, what every relevant document above one at this rank adds. Rank 0 stands for no document here, and
    adds nothing."""
    depth: int
    known: int
    """How many relevant documents are known; what the sum is divided by at first."""
    averaged: bool = True
    elsewhere: int = 0

    @cached_property
    def within(self) -> Ints:
        """By list, how many unjudged documents stand within the depth."""
        read = self.documents.rank < self.depth
        return np.bincount(self.documents.line[read], minlength=self.documents.held.size)

    def answers(self, a: Ints, b: Ints) -> Flags:
        """Of which pairs the lists are short enough."""
        return (self.within[a] <= MANY) & (self.within[b] <= MANY)

    def greatest(self, a: Ints, b: Ints) -> Found:
        """How large the differences of these pairs can be, at most."""
        result, exact = np.empty(a.size), np.zeros(a.size, dtype=bool)
        # Lists of about the same length are taken together.
        order = np.argsort(self.within[a], kind="stable")
        widest = 1 + int(self.within[a].max(initial=0))
        for start in range(0, a.size, size := max(1, CELLS // widest**2)):
            pairs = order[start : start + size]
            result[pairs], exact[pairs] = self._of_some(a[pairs], b[pairs])
        return result, exact

    def _of_some(self, a: Ints, b: Ints) -> Found:
        best, choices = _Read.of(self, a, b).best_sums()
        total = (self.base[a] - self.base[b])[:, None] + best
        if not self.averaged:
            number = np.argmax(total, axis=-1)
            bound = np.take_along_axis(total, number[:, None], axis=-1)[:, 0]
            reached = (self.base[a] - self.base[b]) + choices.true_sum(number)
            return bound, _alike(reached, bound, total)
        over = self.known + np.arange(total.shape[-1], dtype=np.float64)
        ratio = np.divide(total, over, out=np.zeros(total.shape), where=over > 0)
        number = np.argmax(ratio, axis=-1)
        bound = np.take_along_axis(ratio, number[:, None], axis=-1)[:, 0]
        reached = (self.base[a] - self.base[b]) + choices.true_sum(number)
        exact = _alike(reached, np.take_along_axis(total, number[:, None], axis=-1)[:, 0], total)
        behind = np.flatnonzero(bound < 0)
        if behind.size:
            bound[behind], exact[behind] = self._of_those_behind(a[behind], b[behind], total[behind]), False
        return bound, exact

    def _of_those_behind(self, a: Ints, b: Ints, total: Floats) -> Floats:
        """Where A cannot get ahead: documents that B holds, or neither reads, make the divisor larger."""
        listed, ranks = self.documents.tables
        width = int(self.within[b].max(initial=0))
        documents = listed[b][:, :width]
        rank_a, rank_b = ranks[a[:, None], documents], ranks[b[:, None], documents]
        mine = (np.arange(width) < self.within[b][:, None]) & ((rank_a == 0) | (rank_a > self.depth))
        # From the bottom up: a document adds what it adds alone, and one factor for each of those below it.
        below = np.where(mine, self.factor[rank_b], 0.0)
        below = below.sum(axis=-1, keepdims=True) - np.cumsum(below, axis=-1)
        added = np.where(mine, self.single[b[:, None], rank_b] + below, 0.0)[:, ::-1]
        order = np.argsort(~mine[:, ::-1], axis=-1, kind="stable")
        lost = np.cumsum(np.take_along_axis(added, order, axis=-1), axis=-1)
        lost = np.concatenate((np.zeros((a.size, 1)), lost), axis=-1)
        number_b = np.count_nonzero(mine, axis=-1)
        lost = np.where(np.arange(width + 1) <= number_b[:, None], lost, np.inf)
        held, of_b = self.documents.held, listed[b]
        only_b = np.count_nonzero((of_b < self.documents.count) & (ranks[a[:, None], of_b] == 0), axis=-1)
        unread = held[a] + only_b - self.within[a] - number_b + self.elsewhere
        # The divisor counts those of A, those of B, and all that change nothing else.
        from_a = self.known + unread[:, None] + np.arange(total.shape[-1])
        best = np.full(a.size, -np.inf)
        for chosen_b in range(width + 1):
            sums = total - lost[:, chosen_b : chosen_b + 1]
            over = from_a + chosen_b
            ratio = np.divide(sums, over, out=np.where(np.isneginf(sums), -np.inf, 0.0), where=over > 0)
            best = np.maximum(best, ratio.max(axis=-1))
        return best


@dataclass(frozen=True, eq=False)
class _Read:
    """The unjudged documents that A's lists hold within the depth, from the top down, pair by pair."""

    there: Flags
    alone: Floats
    """What each adds to A minus what it adds to B, alone."""
    at_a: Floats
    """What each relevant document above it adds in A."""
    at_b: Floats
    rank_b: Ints

    @classmethod
    def of(cls, known: ChoicesFromTheTop, a: Ints, b: Ints) -> _Read:
        listed, ranks = known.documents.tables
        width = int(known.within[a].max(initial=0))
        documents = listed[a][:, :width]
        there = np.arange(width) < known.within[a][:, None]
        rank_a, rank_b = ranks[a[:, None], documents], ranks[b[:, None], documents]
        return cls(
            there,
            np.where(there, known.single[a[:, None], rank_a] - known.single[b[:, None], rank_b], -np.inf),
            known.factor[rank_a],
            known.factor[rank_b],
            np.where(there, rank_b, 0),
        )

    def best_sums(self) -> tuple[Floats, _Chosen]:
        """For every number of documents the most that they can add, and which they are."""
        pairs, width = self.there.shape
        best = np.full((pairs, width + 1), -np.inf)
        best[:, 0] = 0.0
        taken = np.zeros((pairs, width, width + 1), dtype=bool)
        terms = self._terms()
        for place in range(width):
            so_far = best[:, 1 : place + 2]
            with_it = best[:, : place + 1] + terms[:, place, : place + 1]
            np.greater(with_it, so_far, out=taken[:, place, 1 : place + 2])
            np.maximum(with_it, so_far, out=so_far)
        return best, _Chosen(self, taken)

    def _terms(self) -> Floats:
        """By document and number of those chosen above it in A: the most that it adds."""
        number = np.arange(self.there.shape[1])
        terms = self.alone[:, :, None] + number * self.at_a[:, :, None]
        rows, columns = np.nonzero(self.rank_b > 0)
        if rows.size:
            # Of those above it in A, how many do not stand above it in B for certain?
            ranks = self.rank_b[rows]
            above = (ranks > 0) & (ranks < ranks[np.arange(rows.size), columns][:, None]) & (number < columns[:, None])
            others = columns - np.count_nonzero(above, axis=-1)
            terms[rows, columns] -= np.maximum(number - others[:, None], 0) * self.at_b[rows, columns][:, None]
        return terms


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The choices that were made at every document, for every number of documents chosen down to it."""

    read: _Read
    taken: Flags

    def true_sum(self, number: Ints) -> Floats:
        """What the best choice of so many documents adds to A minus what it adds to B, exactly."""
        pairs, width = self.read.there.shape
        left = np.empty((width + 1, pairs), dtype=np.int64)  # how many are chosen above each place
        left[width] = number
        taken, line = self.taken.reshape(-1), np.arange(pairs) * (width * (width + 1))
        for place in range(width - 1, -1, -1):
            np.subtract(left[place + 1], taken[line + place * (width + 1) + left[place + 1]], out=left[place])
        chosen = np.diff(left, axis=0).T.astype(np.float64)
        in_b = np.argsort(self.read.rank_b, axis=-1, kind="stable")
        total = np.where(chosen > 0, self.read.alone, 0.0).sum(axis=-1)
        total += (chosen * self.read.at_a * (np.cumsum(chosen, axis=-1) - chosen)).sum(axis=-1)
        held = np.take_along_axis(chosen * (self.read.rank_b > 0), in_b, axis=-1)
        at_b = np.take_along_axis(self.read.at_b, in_b, axis=-1)
        return total - (held * at_b * (np.cumsum(held, axis=-1) - held)).sum(axis=-1)


def _alike(one: Floats, other: Floats, sums: Floats) -> Flags:
    """Are these sums the same but for rounding, by the size of what they were added up from?"""
    size = 1 + np.abs(np.where(np.isfinite(sums), sums, 0.0)).max(axis=-1)
    return np.asarray(np.abs(one - other) <= TOLERANCE * size)
