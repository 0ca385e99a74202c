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
from rankbounds.measures.diversity.intent_aware import IntentAware
from rankbounds.measures.formulas import quotient, weighted_sum
from rankbounds.measures.measure import Measure
from rankbounds.measures.parameters import SHARE, parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_products, group_means

DEEPEST = 1 << 20
"""How far the sum of a list without end is followed."""


class Novel(IntentAware):
    """Gain by rank and novelty; a subclass has ``weights``, which fall with rank, and the field ``alpha``."""

    alpha: float = parameter(
        "How little is worth what has been met before: 0, a repetition is as good as new; 1, it is worth nothing.",
        SHARE,
        default=0.5,
    )

    def weights(self, n: int) -> Floats:
        """What ranks 1 to n weigh."""
        raise NotImplementedError

    def check(self) -> None:
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

    A subclass has ``undivided``, the measure before that. Retrieved documents that count as relevant belong to the
    ideal ranking, relevant to every subtopic. No bounds are given: judgments change the list and its ideal, and the
    greedy ranking need not be the best, so that more relevance may raise or lower it.
    """

    alpha: float = parameter(
        "How little is worth what has been met before: 0, a repetition is as good as new; 1, it is worth nothing.",
        SHARE,
        default=0.5,
    )

    promotable = False
    exactness = "unknown"
    reads_judgments = True

    def undivided(self) -> Novel:
        """The measure before it is divided."""
        raise NotImplementedError

    def check(self) -> None:
        self.undivided().greatest()

    def value(self, rankings: Rankings) -> Floats:
        return quotient(self.undivided().value(rankings), self._ideal(rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        expected = self.undivided().expected_over_ties(rankings)
        return None if expected is None else quotient(expected, self._ideal(rankings))

    def _ideal(self, rankings: Rankings) -> Floats:
        """What the greedy ideal ranking has of the measure before division."""
        plain, lists = self.undivided(), rankings.by_subtopic()
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


class ERR_IA(Novel):  # noqa: N801 (the name everybody knows it by)
    """The expected reciprocal rank at which a user with one of the subtopics in mind is satisfied, averaged over
    subtopics.

    A document relevant to the user's subtopic satisfies with probability alpha. The mean of 1/rank is divided by that
    of a list all of which is relevant to every subtopic, down to the same depth, as ndeval does: ERR_IA@20 may be less
    than ERR_IA@10.

    Sources: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; divided as in ndeval (ERR-IA).
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    aliases = ("ERR-IA",)
    example = ("ERR_IA @ 2", 0.7)
    examples = ("ERR_IA@3", "ERR_IA(alpha=0.3)")
    sources = ("chapelle2009expected",)

    def weights(self, n: int) -> Floats:
        return 1 / np.arange(1, n + 1)


class nERR_IA(NormalisedNovel):  # noqa: N801 (the name everybody knows it by)
    """The expected reciprocal rank at which users with different subtopics in mind are satisfied, as a share of what
    the best order of the judged documents has.

    The ideal ranking takes at every rank the judged document that adds the most, of equals the one whose id sorts
    last (as ndeval; to find the very best ranking is not feasible, and a list may score a little above 1).

    Sources: Chapelle et al., CIKM 2009; as in ndeval (nERR-IA).
    """

    takes = ("rel", "cutoff")
    aliases = ("nERR-IA",)
    example = ("nERR_IA @ 2", 0.7778)
    examples = ("nERR_IA@3", "nERR_IA(alpha=0.3)")
    sources = ("chapelle2009expected",)

    def undivided(self) -> Novel:
        return ERR_IA(alpha=self.alpha, rel=self.rel, cutoff=self.cutoff)


class alpha_DCG(Novel):  # noqa: N801 (the name everybody knows it by)
    """Gain that falls with the logarithm of the rank, and with every repetition of a subtopic.

    The document at rank i gains, for each subtopic that it is relevant to, (1 - alpha)^n / log2(i + 1), where n of the
    documents above are relevant to that subtopic. The sum is divided by that of a list all of which is relevant to
    every subtopic, down to the same depth, so that topics of many subtopics and of few compare.

    Sources: Clarke et al., Novelty and Diversity in Information Retrieval Evaluation, SIGIR 2008; divided as in
    ndeval (alpha-DCG).
    """

    takes = ("rel", "cutoff")
    aliases = ("alpha-DCG",)
    example = ("alpha_DCG @ 2", 0.7398)
    examples = ("alpha_DCG@3", "alpha_DCG(alpha=0.3)")
    sources = ("clarke2008novelty",)
    value_range = (0.0, np.inf)

    def weights(self, n: int) -> Floats:
        return 1 / np.log2(np.arange(2, n + 2))


class alpha_nDCG(NormalisedNovel):  # noqa: N801 (the name everybody knows it by)
    """The gain of new and repeated subtopics by rank, as a share of what the best order of the judged documents gains.

    1: at every rank the list has what adds the most. alpha_DCG says what the gain is made of.

    The ideal ranking takes at every rank the judged document that adds the most, of equals the one whose id sorts
    last (as ndeval; to find the very best ranking is not feasible, and a list may score a little above 1).

    Sources: Clarke et al., SIGIR 2008; as in ndeval (alpha-nDCG).
    """

    takes = ("rel", "cutoff")
    aliases = ("alpha-nDCG",)
    example = ("alpha_nDCG @ 2", 0.8406)
    examples = ("alpha_nDCG@3", "alpha_nDCG(alpha=0.3)")
    sources = ("clarke2008novelty",)

    def undivided(self) -> Novel:
        return alpha_DCG(alpha=self.alpha, rel=self.rel, cutoff=self.cutoff)


class NRBP(Novel):
    """The rate at which a user who goes on to the next document with probability beta meets subtopics, repetitions
    counting less.

    The document at rank i gains beta^(i-1) (1 - alpha)^n for each subtopic that it is relevant to and that n documents
    above are relevant to. Divided by what a list without end would gain all of which is relevant to every subtopic.
    With alpha=0 it is RBP, averaged over subtopics. What lies beyond the end of the list counts as not relevant.

    Source: Clarke, Kolla and Vechtomova, An Effectiveness Measure for Ambiguous and Underspecified Queries, ICTIR
    2009; as in ndeval (NRBP).
    """

    beta: float = parameter("The probability of going on to the next document.", default=0.5)

    takes = ("rel",)
    aliases = ()
    example = ("NRBP", 0.6562)
    examples = ("NRBP", "NRBP(alpha=0,beta=0.8)")
    sources = ("clarke2009effectiveness",)

    def check(self) -> None:
        if not 0 <= self.beta < 1:
            raise UsageError(f"NRBP: beta, the probability of going on, must be from 0 to below 1, not {self.beta}.")
        super().check()

    def weights(self, n: int) -> Floats:
        return self.beta ** np.arange(n)


class nNRBP(NormalisedNovel):  # noqa: N801 (the name everybody knows it by)
    """The rate at which a user meets subtopics (NRBP), as a share of what the best order of the judged documents has.

    The ideal ranking takes at every rank the judged document that adds the most, of equals the one whose id sorts
    last (as ndeval; to find the very best ranking is not feasible, and a list may score a little above 1).

    Source: Clarke, Kolla and Vechtomova, ICTIR 2009; as in ndeval (nNRBP).
    """

    beta: float = parameter("The probability of going on to the next document.", default=0.5)

    takes = ("rel",)
    aliases = ()
    example = ("nNRBP", 0.7778)
    examples = ("nNRBP", "nNRBP(beta=0.8)")
    sources = ("clarke2009effectiveness",)

    def undivided(self) -> Novel:
        return NRBP(alpha=self.alpha, beta=self.beta, rel=self.rel)
