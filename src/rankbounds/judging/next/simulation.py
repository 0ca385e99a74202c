"""Judging simulated: documents are judged in the order of their value until the question is settled."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints

GROWTH = 0.1
"""Values are brought up to date whenever judgments have grown by this share."""
FIRST_LOOK = 2000
"""So many documents of the largest effects are looked at first, and more as judging goes on."""


def least_count(settled: Callable[[int], bool], most: int, guess: float) -> float:
    """The least count for which this holds, if it goes on holding from there; infinite where it never does."""
    if settled(0):
        return 0
    if not settled(most):
        return math.inf
    below, above = 0, most
    place, step = int(min(guess, most - 1)), 1
    while below < place < above:  # away from the guess in growing steps, until the answer lies between two counts
        step = max(2 * step, place // 16)
        if settled(place):
            above, place = place, place - step
        else:
            below, place = place, place + step
    return below + 1 + bisect_left(range(below + 1, above), True, key=settled)


def chance_of_better(mean: float, sd: float) -> float:
    """How likely a normal difference is positive; even odds for none that can be told from 0."""
    if not math.isfinite(mean):  # of searches that may never end
        return 0.5
    if sd == 0:
        return 0.5 if mean == 0 else float(mean > 0)
    return 0.5 * math.erfc(-mean / sd / math.sqrt(2))


def values_of_judging(effect: Floats, share: Floats, better: Floats) -> Floats:
    """What each judgment is expected to move the bound that settles a pair by; a row for each probability of A."""
    rises = np.where(effect > 0, share, 1 - share) * np.abs(effect)
    falls = np.abs(effect) - rises
    return better[:, None] * rises + (1 - better[:, None]) * falls


class SimulatedJudging:
    """Rounds of judging in which documents come in the order of their values.

    ``effect`` has a row for each pair, ``truth`` one for each round: the gain of every document as a share of the
    largest. ``standing`` (mean and sd) and ``bounds`` are those of each pair before anything is judged. A round ends
    when every pair is settled, which for weighted sums is exact, or decided with the probability ``level`` (taken as
    normal; what estimating probabilities adds to the variance falls in proportion to that of documents). With
    ``to_the_end`` every document is judged all the same.
    """

    def __init__(
        self,
        effect: Floats,
        share: Floats,
        truth: Floats,
        standing: Floats,
        bounds: tuple[Floats, Floats],
        *,
        level: float,
        to_the_end: bool = False,
    ) -> None:
        size = np.abs(effect).max(axis=0, initial=0.0)
        matter = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
        self.documents = matter
        self.effect, self.share, self.truth = effect[:, matter], share[matter], truth[:, matter]
        self.level, self.to_the_end = level, to_the_end
        rounds = truth.shape[0]
        mean, sd = standing
        self.low, self.high, self.mean = (np.repeat(part[:, None], rounds, axis=1) for part in (*bounds, mean))
        spread = self.effect**2 * self.share * (1 - self.share)
        of_documents = spread.sum(axis=-1)
        factor = np.divide(sd**2, of_documents, out=np.ones(sd.size), where=of_documents > 0)
        self.spread = spread * factor[:, None]
        self.variance = np.repeat(self.spread.sum(axis=-1)[:, None], rounds, axis=1)
        self.counts: Floats = np.full(rounds, np.inf)
        """For each round, after how many judgments it ended; infinite where it never did."""
        self._orders: list[list[Ints]] = [[] for _ in range(rounds)]
        self._judge()

    def orders(self) -> list[Ints]:
        """For each round, the documents in the order in which they were judged."""
        nothing = np.empty(0, dtype=np.int64)
        return [self.documents[np.concatenate([nothing, *parts])] for parts in self._orders]

    def _ended(self, low: Floats, high: Floats, mean: Floats, variance: Floats) -> Flags:
        """Which are settled or decided, over all pairs (the first axis)."""
        from scipy.special import ndtri

        certain: Flags = (low > 1e-12) | (high < -1e-12)
        if self.level < 1:
            needed = float(ndtri(self.level)) * np.sqrt(np.maximum(variance, 0.0))
            certain = certain | ((np.abs(mean) >= needed) & (np.abs(mean) > 1e-12))
        return np.atleast_1d(np.logical_and.reduce(certain))

    def _judge(self) -> None:
        active = np.arange(self.truth.shape[0])
        ended = self._ended(self.low, self.high, self.mean, self.variance)
        self.counts[ended] = 0
        if not self.to_the_end:
            active = active[~ended]
        left = np.ones(self.truth.shape, dtype=bool)
        count, looked_at = 0, FIRST_LOOK
        while active.size and count < self.documents.size:
            # Documents stand by the size of their effects, and no value is larger: those far behind need no look yet.
            looked_at = min(max(looked_at, 3 * count), self.documents.size)
            size = min(max(1, int(GROWTH * count)), self.documents.size - count)
            value = self._values_of(active, looked_at)
            value = np.where(left[active, :looked_at], value, -1.0)
            picked = np.argpartition(-value, size - 1, axis=-1)[:, :size]
            order = np.argsort(-np.take_along_axis(value, picked, axis=-1), axis=-1, kind="stable")
            picked = np.take_along_axis(picked, order, axis=-1)
            left[active[:, None], picked] = False
            ended = self._learn(active, picked, count)
            count += size
            active = active[~ended]

    def _values_of(self, active: Ints, looked_at: int) -> Floats:
        """The values of the first documents in each round, summed over the pairs that are open."""
        from scipy.special import ndtr

        mean, sd = self.mean[:, active], np.sqrt(np.maximum(self.variance[:, active], 0.0))
        ratio = np.divide(mean, sd, out=np.sign(mean) * np.inf, where=sd > 1e-12)
        better = np.where(np.isnan(ratio), 0.5, ndtr(ratio))
        value = np.zeros((active.size, looked_at))
        parts = zip(self.effect, self.spread, better, self.low, self.high, strict=True)
        for effect, spread, ahead, low, high in parts:
            if self.level < 1:
                of_pair = np.broadcast_to(np.sqrt(spread[:looked_at]), value.shape)
            else:
                of_pair = values_of_judging(effect[:looked_at], self.share[:looked_at], ahead)
            if len(self.effect) > 1:
                of_pair = np.where(((low[active] <= 0) & (high[active] >= 0))[:, None], of_pair, 0.0)
            value += of_pair
        return value

    def _learn(self, active: Ints, picked: Ints, count: int) -> Flags:
        """Bring bounds and means up to date with the judgments of these documents; which rounds have ended?"""
        truth, share = self.truth[active[:, None], picked], self.share[picked]
        effect = self.effect[:, picked]
        rises = np.abs(effect) * np.where(effect > 0, truth, 1 - truth)
        falls = np.abs(effect) - rises
        low = self.low[:, active, None] + np.cumsum(rises, axis=-1)
        high = self.high[:, active, None] - np.cumsum(falls, axis=-1)
        mean = self.mean[:, active, None] + np.cumsum(effect * (truth - share), axis=-1)
        variance = self.variance[:, active, None] - np.cumsum(self.spread[:, picked], axis=-1)
        for line, documents in zip(active.tolist(), picked, strict=True):
            self._orders[line].append(documents)
        ends = self._ended(low, high, mean, variance)
        ended = np.logical_or.reduce(ends, axis=-1)
        first = np.where(ended, count + 1.0 + np.argmax(ends, axis=-1), np.inf)
        self.counts[active] = np.minimum(self.counts[active], first)
        for whole, part in ((self.low, low), (self.high, high), (self.mean, mean), (self.variance, variance)):
            whole[:, active] = part[..., -1]
        return np.zeros(active.size, dtype=bool) if self.to_the_end else np.asarray(ended)
