"""Users who stop by what they have found so far, where more relevance may mean more to read, and a lower rate.

Their bounds cannot be had from two fillings. But whether a user goes on depends on the rank, on the number of relevant
documents found and on the last document only, so that the least and the greatest rate follow from the end of the list
backwards: for a rate in question, what is best from here on for each number found so far (the sum of r_i less the rate,
over documents examined); the rate for which that sum is 0 is the extreme (Dinkelbach's method for ratios). Within the
list this is exact. Beyond its end the most is taken that the remaining users may examine, all of it relevant for
``high`` and none for ``low``: the bounds hold, and may be wider than needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TypeAlias

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.cwl.continuation import ContinuingByRelevance
from rankbounds.measures.measure import Bounds
from rankbounds.rankings.rankings import Rankings

NOBODY = 1e-16
"""A share of users that does not count."""
MOST = 1e12
"""More documents than anybody examines."""
SO_FEW = 1e-9
"""A share of users that need not be followed rank by rank: what they may examine is bounded instead."""
STEPS = 1 << 14
"""How far a user is followed beyond the list, before the probability of going on is taken to stay as it is."""

Beyond: TypeAlias = Callable[[int, Floats], tuple[Floats, Floats]]
"""From the rank where a list ends and what was found: what is gained and what is examined behind it."""
AtEnd: TypeAlias = Callable[[int], tuple[Floats, Floats]]


class StoppingByGain(ContinuingByRelevance):
    """A subclass has ``going_on`` and ``most_beyond``."""

    list_only = True
    promotable = False
    exactness = "outer"

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:
        """The probability of looking past a rank, where so many are found down to it, itself relevant (1) or not."""
        raise NotImplementedError

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:
        """How many relevant documents, and how many documents, a user at the next rank may still examine at most."""
        raise NotImplementedError

    def continuation(self, relevant: Floats) -> Floats:
        rank = np.arange(1.0, relevant.shape[-1] + 1)
        return self.going_on(rank, np.cumsum(relevant, axis=-1), relevant)

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: bool) -> Floats:
        return self._followed(relevant.shape[-1], relevant.sum(axis=-1), relevant_beyond=relevant_beyond)

    def _followed(self, rank: int, found: Floats, *, relevant_beyond: bool) -> Floats:
        """How many documents behind this rank are examined, all of them relevant or none."""
        last: Floats = np.zeros(found.shape)
        examined, reached = np.ones(found.shape), np.ones(found.shape)
        relevant = np.full(found.shape, float(relevant_beyond))
        for step in range(1, STEPS):
            last = self.going_on(np.asarray(float(rank + step)), found + step * relevant_beyond, relevant)
            reached = reached * last
            examined += reached
            if reached.max(initial=0.0) < NOBODY:
                return examined
        return np.minimum(examined + reached * last / np.maximum(1 - last, 1 / MOST), MOST)

    def open_tail(self, rankings: Rankings) -> Floats:
        nothing_beyond = self._extreme(rankings, self._nothing_beyond, greatest=True)
        return np.maximum(0.0, self.bounds(rankings)[1] - np.clip(nothing_beyond, 0.0, 1.0))

    def bounds(self, rankings: Rankings) -> Bounds:
        low = self._extreme(rankings, lambda rank, found: (found * 0, self.most_beyond(rank, found)[1]), greatest=False)
        high = self._extreme(rankings, lambda rank, found: (self.most_beyond(rank, found)[0],) * 2, greatest=True)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def _nothing_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:
        return np.zeros(found.shape), self._followed(rank, found, relevant_beyond=False)

    def _extreme(self, rankings: Rankings, beyond: Beyond, *, greatest: bool) -> Floats:
        """The least or the greatest rate, where so much is gained and examined behind the list."""
        depth = depth_reached(self, rankings.width)
        relevant = rankings.assume(0.0).relevant(self.rel)[:, :depth]

        @cache
        def at_end(rank: int) -> tuple[Floats, Floats]:
            return beyond(rank, np.arange(depth + 2.0))

        rate = np.zeros(rankings.length.size) if greatest else np.ones(rankings.length.size)
        for _ in range(100):
            gained, examined = self._best_response(rankings, relevant, at_end, rate, greatest=greatest)
            better = gained / examined
            done = np.abs(better - rate).max(initial=0.0) < 1e-13
            rate = better
            if done:
                break
        return rate

    def _best_response(
        self, rankings: Rankings, relevant: Floats, at_end: AtEnd, rate: Floats, *, greatest: bool
    ) -> tuple[Floats, Floats]:
        """What is gained and examined in the completion that is best (or worst) where reading costs so much."""
        depth, sign = relevant.shape[1], 1.0 if greatest else -1.0
        holes = rankings.holes[:, :depth]
        gained, examined = (np.tile(part, (rate.size, 1)) for part in at_end(depth))
        for rank in range(depth, 0, -1):
            ends = np.flatnonzero(rankings.length < rank)
            found = np.arange(rank, dtype=np.float64)  # before this document
            ways = []
            for last in (0.0, 1.0):
                after = slice(int(last), rank + int(last))
                on = self.going_on(np.asarray(float(rank)), found + last, np.full(rank, last))
                ways.append((last + on * gained[:, after], 1 + on * examined[:, after]))
            worth = [sign * (gain - rate[:, None] * cost) for gain, cost in ways]
            free = holes[:, rank - 1, None] & (worth[1] > worth[0])
            chosen = free | (~holes[:, rank - 1, None] & (relevant[:, rank - 1, None] > 0))
            gained, examined = (np.where(chosen, ways[1][part], ways[0][part]) for part in (0, 1))
            if ends.size:
                of_end = at_end(rank - 1)
                gained[ends], examined[ends] = of_end[0][:rank], of_end[1][:rank]
        return gained[:, 0], examined[:, 0]


@lru_cache(maxsize=256)
def depth_reached(measure: StoppingByGain, width: int) -> int:
    """A rank that hardly anybody reaches, whatever is relevant; or the last of so many."""
    reached = 1.0
    for rank in range(1, width):
        found = np.arange(rank + 1.0)
        both = [measure.going_on(np.asarray(float(rank)), found, np.full(rank + 1, last)) for last in (0.0, 1.0)]
        reached *= float(np.max(both))
        if reached < SO_FEW:
            return rank
    return width
