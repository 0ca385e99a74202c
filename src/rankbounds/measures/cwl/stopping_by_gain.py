"""Users who stop by what they have found so far, where more relevance may mean more reading and a lower rate.

Two fillings do not give their bounds. But whether a user continues depends on the rank, the number of relevant
documents found and the last document only, so dynamic programming from the end of the list finds the least and the
greatest rate: for a candidate rate, the best from here on for each number found so far (the sum of r_i minus the rate,
over documents examined); the rate for which that sum is 0 is the extreme (Dinkelbach's method for ratios). Within the
list this is exact. Beyond its end it assumes the most that the remaining users may examine, all of it relevant for
``high`` and none for ``low``: the bounds are safe, but may be wider than necessary.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.cwl.continuing import ContinuingByRelevance
from rankbounds.measures.measure import Bounds
from rankbounds.measures.parameters import NOT_NEGATIVE, POSITIVE, SHARE, parameter
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

    promotable = False
    exactness = "outer"

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:
        """Return the probability of continuing past a rank, by documents found to it and its own relevance."""
        raise NotImplementedError

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:
        """Return how many relevant documents, and documents, a user at the next rank may examine at most."""
        raise NotImplementedError

    def continuation(self, relevant: Floats) -> Floats:
        rank = np.arange(1.0, relevant.shape[-1] + 1)
        return self.going_on(rank, np.cumsum(relevant, axis=-1), relevant)

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: float) -> Floats:
        return self._examined_below(relevant.shape[-1], relevant.sum(axis=-1), relevant_beyond=relevant_beyond)

    def _examined_below(self, rank: int, found: Floats, *, relevant_beyond: float) -> Floats:
        relevant = np.full(found.shape, relevant_beyond)
        return examined_in_all(
            lambda step: self.going_on(np.asarray(float(rank + step)), found + step * relevant_beyond, relevant)
        )

    def open_tail(self, rankings: Rankings) -> Floats:
        def nothing_beyond(rank: int, found: Floats) -> tuple[Floats, Floats]:
            return np.zeros(found.shape), self._examined_below(rank, found, relevant_beyond=0.0)

        without = self._extreme(rankings, nothing_beyond, greatest=True)
        return np.maximum(0.0, self.bounds(rankings)[1] - np.clip(without, 0.0, 1.0))

    def bounds(self, rankings: Rankings) -> Bounds:
        low = self._extreme(rankings, lambda rank, found: (found * 0, self.most_beyond(rank, found)[1]), greatest=False)
        high = self._extreme(rankings, lambda rank, found: (self.most_beyond(rank, found)[0],) * 2, greatest=True)
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def _extreme(self, rankings: Rankings, beyond: Beyond, *, greatest: bool) -> Floats:
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


def examined_in_all(going_on: Callable[[int], Floats]) -> Floats:
    chance = going_on(1)
    reached = chance
    examined = 1 + reached
    for step in range(2, STEPS):
        if reached.max(initial=0.0) < NOBODY:
            return examined
        chance = going_on(step)
        reached = reached * chance
        examined = examined + reached
    return np.minimum(examined + reached * chance / np.maximum(1 - chance, 1 / MOST), MOST)


@lru_cache(maxsize=256)
def depth_reached(measure: StoppingByGain, width: int) -> int:
    """Return a rank that hardly anybody reaches, whatever is relevant; or the last of so many."""
    reached = 1.0
    for rank in range(1, width):
        found = np.arange(rank + 1.0)
        both = [measure.going_on(np.asarray(float(rank)), found, np.full(rank + 1, last)) for last in (0.0, 1.0)]
        reached *= float(np.max(both))
        if reached < SO_FEW:
            return rank
    return width


class BPM(StoppingByGain):
    """Relevant documents per document read, for a user who stops after T relevant ones or K documents.

    The static model is precision where the user stops: at the T-th relevant document or at rank K, whichever comes
    first. In the dynamic one (``hb``, ``hc``) expectations change: a relevant document raises T by hb (1 - median) and
    K by hc (1 - median), any other lowers them by hb median and hc median, for the ranks that follow.

    Source: Zhang, Liu, Li, Zhang, Xu and Ma, Evaluating Web Search with a Bejeweled Player Model, SIGIR 2017, in the
    C/W/L framework. cwl_eval's dynamic model never changes K: hc=0 gives its numbers.
    """

    T: float = parameter("How many relevant documents the user wants.", POSITIVE, default=1.0)
    K: float = parameter("How many documents the user is willing to read.", POSITIVE, default=10.0)
    hb: float = parameter("How much what was seen moves T; 0: the static model.", NOT_NEGATIVE, default=0.0)
    hc: float = parameter("How much what was seen moves K; 0: the static model.", NOT_NEGATIVE, default=0.0)
    median: float = parameter("The relevance between good and bad news.", SHARE, default=0.5)

    example = ("BPM(T=2, K=10)", 0.6667)
    examples = ("BPM(T=2,K=4)", "BPM(T=1,K=3,hb=1,hc=1)", "BPM(T=2,K=5,hb=0.5)")
    sources = ("zhang2017evaluating",)
    always_shown = ("T", "K")

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:
        news = found - relevant - self.median * (rank - 1)  # of the documents above this one
        wanted, willing = self.T + self.hb * news, self.K + self.hc * news
        return ((found < wanted) & (rank < willing)).astype(np.float64)

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:
        """Good news at every rank move both ends the furthest: as many as then fit are read, at least one."""
        news = found - self.median * rank
        most = _most_steps(self.K - rank, news, self.hc, self.median)
        return np.minimum(most, _most_steps(self.T - found, news, self.hb, self.median)), most


def _most_steps(left: Floats | float, news: Floats, moved: float, median: float) -> Floats:
    further = moved * (1 - median)
    if further >= 1:
        return np.full(news.shape, MOST)
    steps: Floats = np.clip(np.ceil((left + moved * news - further) / (1 - further)), 1, MOST)
    return steps


def _logistic(log_odds: Any) -> Floats:
    share: Floats = 1 / (1 + np.exp(-np.clip(log_odds, -700, 700)))
    return share


class Goal(StoppingByGain):
    """C1 = 1 - 1 / (1 + b1 e^((T - y) R1)), where y is what was found."""

    T: float = parameter("How many relevant documents the user wants.", default=2.0)
    b1: float = parameter("The odds of continuing when T are found.", POSITIVE, default=0.9)
    R1: float = parameter("How rational the user is about the goal.", NOT_NEGATIVE, default=1.0)

    def enough(self, found: Floats) -> Floats:
        return _logistic((self.T - found) * self.R1 + np.log(self.b1))

    def most_with_goal(self, found: Floats) -> tuple[Floats, Floats]:
        """As ``most_beyond``: relevant documents make stopping likelier, others leave it as it is."""
        return examined_in_all(lambda step: self.enough(found + step)), 1 / np.maximum(1 - self.enough(found), 1 / MOST)


class Rate(StoppingByGain):
    """C2 = 1 / (1 + b2 e^((A - y/i) R2)), where y/i is the rate at which relevant documents were found so far."""

    A: float = parameter("The rate of relevant documents that the user expects.", default=0.2)
    b2: float = parameter("The odds of stopping at that rate.", POSITIVE, default=0.9)
    R2: float = parameter("How rational the user is about the rate.", NOT_NEGATIVE, default=1.0)

    def fast(self, rank: Floats, found: Floats) -> Floats:
        return _logistic((found / rank - self.A) * self.R2 - np.log(self.b2))

    def most_at_rate(self) -> float:
        return float(1 / max(1 - float(self.fast(np.ones(1), np.ones(1))[0]), 1 / MOST))


class IFT_C1(Goal):  # noqa: N801 (the name everybody knows it by)
    """Relevant documents per document read, for a user who is likely to stop once about T are found.

    The probability of continuing is 1 - 1 / (1 + b1 e^((T - y) R1)), where y relevant documents were found. A large R1
    makes the user stop at T; with R1 = 0 this is RBP with p = b1 / (1 + b1).

    Source: Azzopardi, Thomas and Craswell, Measuring the Utility of Search Engine Result Pages, SIGIR 2018.
    """

    aliases = ("IFT-C1",)
    example = ("IFT_C1(T=2)", 0.5638)
    examples = ("IFT_C1(T=1.5)",)
    sources = ("azzopardi2018measuring",)
    always_shown = ("T", "b1", "R1")

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:  # noqa: ARG002
        return self.enough(found)

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        return self.most_with_goal(found)

    def examined_beyond(self, relevant: Floats, *, relevant_beyond: float) -> Floats:
        return self.most_with_goal(relevant.sum(axis=-1))[0 if relevant_beyond else 1]


class IFT_C2(Rate):  # noqa: N801 (the name everybody knows it by)
    """Relevant documents per document read, for a user who is likely to stop when they come slower than expected.

    The probability of continuing past rank i is 1 / (1 + b2 e^((A - y/i) R2)), where y relevant documents were found.
    With R2 = 0 this is RBP with p = 1 / (1 + b2). More relevance may keep the user reading non-relevant documents and
    so lower the rate.

    Source: Azzopardi, Thomas and Craswell, SIGIR 2018.
    """

    aliases = ("IFT-C2",)
    example = ("IFT_C2()", 0.5124)
    examples = ("IFT_C2(A=0.4,R2=3)",)
    sources = ("azzopardi2018measuring",)
    always_shown = ("A", "b2", "R2")

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:  # noqa: ARG002
        return self.fast(rank, found)

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        most = np.full(found.shape, self.most_at_rate())
        return most, most


class IFT(Rate, Goal):
    """Relevant documents per document read, for a user who stops when enough are found, or when they come too slowly.

    The probability of continuing is the product of those of IFT_C1 and IFT_C2.

    Source: Azzopardi, Thomas and Craswell, SIGIR 2018.
    """

    aliases = ("IFT_C1_C2", "IFT-C1-C2")
    example = ("IFT()", 0.6709)
    examples = ("IFT(T=1.5,R2=3)",)
    sources = ("azzopardi2018measuring",)
    always_shown = ("T", "b1", "R1", "A", "b2", "R2")

    def going_on(self, rank: Floats, found: Floats, relevant: Floats) -> Floats:  # noqa: ARG002
        return self.enough(found) * self.fast(rank, found)

    def most_beyond(self, rank: int, found: Floats) -> tuple[Floats, Floats]:  # noqa: ARG002
        relevant, examined = self.most_with_goal(found)
        return np.minimum(relevant, self.most_at_rate()), np.minimum(examined, self.most_at_rate())
