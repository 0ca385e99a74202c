"""What the measures of novelty have in common: gain that falls with rank, and with every repetition of a subtopic.

A document relevant to a subtopic that was met n times above gains (1 - alpha)^n for it, times the weight of its rank.
ERR_IA, alpha_DCG and NRBP differ in these weights only. Their sum is divided by what a list would gain of which every
document is relevant to every subtopic (ndeval's "ideal ideal"); without a depth that list never ends. The measures
that begin with n (alpha_nDCG has its n inside) are divided by what the greedy ideal ranking of the judged documents
gains instead.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.diversity.intent_aware import IntentAware, check_share
from rankbounds.measures.measure import Bounds, Measure, quotient, weighted_sum
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_products, group_means

DEEPEST = 1 << 20
"""How far the sum of a list without end is followed."""


class Novel(IntentAware):
    """Gain by rank and novelty; a subclass has ``weights``, which fall with rank, and the field ``alpha``."""

    alpha: float = 0.5

    def weights(self, n: int) -> Floats:
        """What ranks 1 to n weigh."""
        raise NotImplementedError

    def check(self) -> None:
        check_share(self, "alpha", self.alpha)
        self.greatest()

    def of_subtopic(self) -> Measure:
        return GainOfSubtopic(self)

    def greatest(self) -> float:
        """What one subtopic gains of a list all of which is relevant to it."""
        n = self.cutoff or 1
        while not self.cutoff and (1 - self.alpha) ** n * float(self.weights(n)[-1]) > 1e-18:
            n *= 2
            if n > DEEPEST:
                raise UsageError(f"{self.name} needs a depth where alpha is {self.alpha:g}, as in {self.name}@10.")
        return float(((1 - self.alpha) ** np.arange(n)) @ self.weights(n))


class GainOfSubtopic(Measure):
    """What one subtopic gains of a list, as a share of the most that it could."""

    of: Novel

    monotone = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rel", self.of.rel)
        object.__setattr__(self, "cutoff", self.of.cutoff)

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)[..., : self.depth(rankings)]
        novelty = np.ones(relevant.shape)
        np.cumprod(1 - self.of.alpha * relevant[..., :-1], axis=-1, out=novelty[..., 1:])
        return self._share(relevant * novelty)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        relevant, alpha = rankings.relevant(self.rel), self.of.alpha
        if alpha == 0:
            return self._share(group_means(rankings, relevant)[..., : self.depth(rankings)])
        # Who stops with probability alpha at each relevant document gets past a rank less often than the one above.
        got_past = expected_products(rankings, 1 - alpha * relevant)[..., : self.depth(rankings)]
        return self._share(-np.diff(got_past, prepend=1.0, axis=-1) / alpha)

    def _share(self, gain: Floats) -> Floats:
        return weighted_sum(self.of.weights(gain.shape[-1]), gain) / self.of.greatest()


class NormalisedNovel(Measure):
    """A measure of novelty divided by what the greedy ideal ranking of the judged documents gains.

    A subclass has ``plain``, the measure before the division. Retrieved documents that count as relevant belong to the
    ideal ranking, relevant to every subtopic. No bounds are given: judgments change the list and its ideal, and the
    greedy ranking need not be the best, so that more relevance may raise or lower it.
    """

    alpha: float = 0.5

    promotable = False
    exactness = "unknown"
    reads_judgments = True

    def plain(self) -> Novel:
        """The measure before it is divided."""
        raise NotImplementedError

    def check(self) -> None:
        check_share(self, "alpha", self.alpha)
        self.plain().greatest()

    def value(self, rankings: Rankings) -> Floats:
        return quotient(self.plain().value(rankings), self._ideal(rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        expected = self.plain().expected_over_ties(rankings)
        return None if expected is None else quotient(expected, self._ideal(rankings))

    def bounds(self, rankings: Rankings) -> Bounds | None:  # noqa: ARG002
        return None

    def _ideal(self, rankings: Rankings) -> Floats:
        """What the greedy ideal ranking has of the measure before division."""
        plain, lists = self.plain(), rankings.by_subtopic()
        counting = lists.total(lists.rankings.num_relevant(self.rel) > 0)
        facts = rankings.facts.subtopics
        most = int(rankings.facts.relevant(self.rel).max(initial=0))
        # Documents relevant to everything stand first, whatever follows them gains less by their number.
        ahead = rankings.num_relevant(self.rel) - rankings.facts.relevant(self.rel)[rankings.topic]
        depth = self.cutoff or max(1, most + int(ahead.max(initial=0)))
        weights, fresh = plain.weights(depth), (1 - self.alpha) ** np.arange(depth)
        first = np.append(0.0, np.cumsum(weights * fresh))[np.minimum(ahead, depth).astype(np.int64)] * counting
        gains = facts.greedy_gains(self.rel, self.alpha, depth)[rankings.topic]
        place = np.arange(depth) + ahead[:, None].astype(np.int64)
        moved = np.where(place < depth, weights[np.minimum(place, depth - 1)], 0.0)
        behind = (gains * moved).sum(axis=-1) * (1 - self.alpha) ** ahead
        return quotient(first + behind, counting) / plain.greatest()
