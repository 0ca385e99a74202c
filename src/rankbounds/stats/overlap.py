"""Rank-biased overlap: the top-weighted similarity of two rankings with ties and of any length.

RBO is the mean over depths d of the share of the first d documents that two lists have in common, with weights that
fall by the factor p (Webber, Moffat and Zobel 2010). Of ties (Corsi and Urbano 2024) ``a`` takes the mean over all
orders, ``b`` the same divided so that a list fully agrees with itself, ``w`` the first rank of the group. Behind the
ends ``low`` assumes nothing in common, ``high`` as much as possible, ``value`` that the agreement continues. A depth
cuts only one tied group of a list, so four counts of common documents (by tops and bottoms) give the mean over orders.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints

READINGS = ("a", "b", "w")
NEGLIGIBLE = 1e-17
"""Depths whose weights sum to less than this are ignored."""


@dataclass(frozen=True, eq=False)
class TiedLists:
    """A run's lists for some topics: a row per document, each topic's rows in rank order."""

    topic: Ints
    """The topic of each row, by its number among those compared."""
    document: Ints
    """A number that a document has in every list of the topic, and no document of another topic has."""
    top: Ints
    """The first rank of the document's tied group; its own rank where it is tied to none."""
    bottom: Ints
    length: Ints

    @cached_property
    def rank(self) -> Ints:
        """The rank of each row, with ties in the order of the rows."""
        start = np.searchsorted(self.topic, np.arange(self.length.size))
        rank: Ints = np.arange(self.topic.size) - start[self.topic] + 1
        return rank

    @classmethod
    def of(cls, topic: Ints, document: Ints, tied: Flags, topics: int) -> TiedLists:
        """Build lists from rows in rank order, and marks at rows tied to the one before."""
        length = np.bincount(topic, minlength=topics)
        start = np.cumsum(length) - length
        rank = np.arange(topic.size) - start[topic] + 1
        first = np.flatnonzero(~tied)
        size = np.diff(first, append=topic.size)
        top = np.repeat(rank[first], size)
        return cls(topic, document, top, top + np.repeat(size, size) - 1, length)

    def to_depth(self, depth: int) -> CountedLists:
        kept = self.top <= depth
        lists = TiedLists(self.topic[kept], self.document[kept], self.top[kept], self.bottom[kept], self.length)
        cell = lists.topic * (depth + 1) - 1
        begun, ended = (count_within(cell, rank, self.length.size, depth) for rank in (lists.top, lists.bottom))
        cut = begun - ended
        inside = np.minimum(np.arange(1, depth + 1), self.length[:, None]) - ended
        share = np.divide(inside, cut, out=np.zeros(cut.shape), where=cut > 0)
        return CountedLists(lists, cell, begun, ended, share, bool((lists.bottom > lists.top).any()))


@dataclass(frozen=True, eq=False)
class CountedLists:
    """A run's lists to some depth, with counts by topic and depth for every comparison."""

    lists: TiedLists
    cell: Ints
    """For each row, where its topic's counts begin."""
    begun: Ints
    """Documents whose tied group begins within the depth."""
    ended: Ints
    """Documents whose tied group ends within the depth."""
    share: Floats
    """The chance that a document of the group that the depth cuts stands within it."""
    has_ties: bool

    @property
    def depth(self) -> int:
        return self.begun.shape[1]

    @cached_property
    def squares(self) -> Floats:
        """The sum over documents of the squared chance to stand within the depth."""
        squares: Floats = self.ended.astype(np.float64) + self.share**2 * (self.begun - self.ended)
        return squares


def count_within(cell: Ints, rank: Ints, topics: int, depth: int) -> Ints:
    counts = np.bincount(cell + np.minimum(rank, depth + 1), minlength=topics * (depth + 1))
    return np.cumsum(counts.reshape(topics, depth + 1)[:, :depth], axis=1)


def deepest_rank(p: float, longest: int) -> int:
    """Return the depth beyond which nothing can be seen of the sum, or the longest list."""
    return max(1, min(longest, math.ceil(math.log(NEGLIGIBLE) / math.log(p))))


Overlap = tuple[Floats, Floats, Floats]
"""The extrapolated, the least and the greatest overlap of every topic."""


def overlaps(
    a: CountedLists, b: CountedLists, p: float, readings: Sequence[str] = READINGS, place: Ints | None = None
) -> dict[str, Overlap]:
    """The overlap of every topic for each treatment of ties; ``place``: scratch space for documents, all -1."""
    pair = _PairOfLists(a, b, p, place)
    if not pair.tied:  # the readings are of ties
        return dict.fromkeys(readings, pair.overlap("a"))
    return {reading: pair.overlap(reading) for reading in readings}


class _PairOfLists:
    def __init__(self, a: CountedLists, b: CountedLists, p: float, place: Ints | None) -> None:
        self.a, self.b, self.p = a, b, p
        in_a, in_b = common_rows(a.lists.document, b.lists.document, place)
        cell, length_a, length_b = a.cell[in_a], a.lists.length, b.lists.length
        top_a, bottom_a = a.lists.top[in_a], a.lists.bottom[in_a]
        top_b, bottom_b = b.lists.top[in_b], b.lists.bottom[in_b]

        def within(rank: Ints) -> Ints:
            return count_within(cell, rank, length_a.size, a.depth)

        self.tops = self.bottoms = self.top_of_a = self.top_of_b = within(np.maximum(top_a, top_b))
        self.tied = a.has_ties or b.has_ties
        if self.tied:
            self.bottoms, self.top_of_a, self.top_of_b = (
                within(np.maximum(*ranks)) for ranks in ((bottom_a, bottom_b), (top_a, bottom_b), (bottom_a, top_b))
            )
        self.depth = np.arange(1, a.depth + 1)
        self.short, self.long = np.minimum(length_a, length_b), np.maximum(length_a, length_b)
        # By topic, how many documents both lists hold, as far as they are looked at.
        self.common = np.bincount(a.lists.topic[in_a], minlength=self.short.size)
        self.uneven = bool((self.short < np.minimum(self.long, a.depth)).any())
        if self.uneven:
            self.unseen = np.clip(self.depth - self.short[:, None], 0, (self.long - self.short)[:, None])
            self.a_is_long = (length_a >= length_b)[:, None]
            self.share = np.where(self.a_is_long, a.share, b.share)
            self.alone_begun = np.where(self.a_is_long, a.begun - within(top_a), b.begun - within(top_b))
            self.alone_ended = np.where(self.a_is_long, a.ended - within(bottom_a), b.ended - within(bottom_b))

    def overlap(self, reading: str) -> Overlap:
        p, within = self.p, self.depth <= self.long[:, None]
        weight = np.where(within, (1 - p) * p ** (self.depth - 1), 0.0)
        overlap, divisor = self._agreement(reading)
        least = overlap / divisor
        extrapolated = most = least
        if self.uneven:
            chance, most_unseen = self._unseen_weights(reading)
            extrapolated = (overlap + _at(least, self.short)[:, None] * self.unseen * chance) / divisor
            most = (overlap + most_unseen) / divisor
        fit = self.short + self.long - self.common  # from this depth on, lists that fit as well as they can agree fully
        deep = np.arange(1, int(fit.max(initial=0)) + 1)
        harmonic = np.concatenate([[0.0], np.cumsum(p**deep / deep)])
        to_long, to_fit = p**self.long, p**fit
        beyond = np.maximum(-math.log1p(-p) - harmonic[self.long], 0.0)
        value = (weight * extrapolated).sum(axis=1) + _at(extrapolated, self.long) * to_long
        low = (weight * least).sum(axis=1) + (1 - p) / p * self.common * beyond
        rising = 2 * (to_long - to_fit) - fit * (1 - p) / p * (harmonic[fit] - harmonic[self.long])
        high = (weight * most).sum(axis=1) + rising + to_fit
        return value, low, high

    def _agreement(self, reading: str) -> tuple[Floats, Floats]:
        a, b = self.a, self.b
        if reading == "w":
            return self.tops.astype(np.float64), (a.begun + b.begun + (self.unseen if self.uneven else 0)) / 2
        overlap: Floats = self.bottoms.astype(np.float64)
        if self.tied:
            overlap += a.share * (self.top_of_a - self.bottoms)
            overlap += b.share * (self.top_of_b - self.bottoms)
            overlap += a.share * b.share * (self.tops - self.top_of_a - self.top_of_b + self.bottoms)
        if reading == "a":
            return overlap, self.depth.astype(np.float64)
        of_a, of_b = a.squares, b.squares
        if self.uneven:
            of_a = of_a + np.where(self.a_is_long, 0, self.unseen)
            of_b = of_b + np.where(self.a_is_long, self.unseen, 0)
        return overlap, np.sqrt(of_a * of_b)

    def _unseen_weights(self, reading: str) -> tuple[Floats, Floats]:
        if reading == "w":
            return np.ones(self.unseen.shape), np.minimum(self.unseen, self.alone_begun)
        cut = self.alone_begun - self.alone_ended
        inside = self.alone_ended + self.share * cut
        chance = np.divide(inside, self.alone_begun, out=np.zeros(inside.shape), where=self.alone_begun > 0)
        whole = np.minimum(self.unseen, self.alone_ended)
        return chance, whole + self.share * np.clip(self.unseen - self.alone_ended, 0, cut)


def _at(by_depth: Floats, depth: Ints) -> Floats:
    column = np.minimum(depth, by_depth.shape[-1])[:, None] - 1
    return np.take_along_axis(by_depth, column, axis=1)[:, 0]


def common_rows(a: Ints, b: Ints, place: Ints | None) -> tuple[Ints, Ints]:
    if place is None:
        place = np.full(int(max(a.max(initial=-1), b.max(initial=-1))) + 1, -1)
    place[a] = np.arange(a.size)
    in_a = place[b]
    place[a] = -1
    in_b = np.flatnonzero(in_a >= 0)
    return in_a[in_b], in_b
