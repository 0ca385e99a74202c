"""Measures of lists that should serve several subtopics of a query (Agrawal et al., WSDM 2009), or several people.

Each subtopic has its own list, and the value is the mean over the subtopics with a relevant document, as in ndeval.
A document that is relevant to a subtopic which n documents above cover gains (1 - alpha)^n for it, times a weight of
its rank, over what a list has that is relevant to everything (ndeval's "ideal ideal"), or over the greedy ideal
ranking of the judged documents. Several people's judgments of one topic are judgment groups, named by the second
field of judgments or the column ``judgment_group``: in the list of each, only its own judgments count.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.formulas import quotient, weighted_sum
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import PERSISTENCE, POSITIVE, SHARE, parameter
from rankbounds.measures.precision.average_precision import AP
from rankbounds.measures.precision.precision_and_recall import P, RPrec, Success
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.subtopics import ListsBySubtopic
from rankbounds.rankings.ties import expected_products, group_means

ALL_RANKS = 10**15
DEEPEST = 1 << 20
"""How far the sum of a list without end is followed."""


class BySubtopic(Measure):
    """A measure of the lists of a topic's subtopics.

    A subclass has ``of_subtopic``, the measure of one such list, and ``combined``. The order of ties that is best for
    one subtopic may be bad for another: no best or worst order is known.
    """

    takes: ClassVar[tuple[str, ...]] = ("rel", "cutoff")
    given: ClassVar[bool] = False
    value_range = (0.0, 1.0)
    promotable = False
    reads_judgments = True

    def of_subtopic(self) -> Measure:
        raise NotImplementedError

    def combined(self, lists: ListsBySubtopic, values: Floats) -> Floats:
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        return self.over_lists(self.of_subtopic(), rankings)

    def over_lists(self, measure: Measure, rankings: Rankings) -> Floats:
        lists = rankings.by_subtopic(given=self.given)
        return self.combined(lists, measure.value(lists.rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        lists = rankings.by_subtopic(given=self.given)
        expected = self.of_subtopic().expected_over_ties(lists.rankings)
        return None if expected is None else self.combined(lists, expected)


class IntentAware(BySubtopic):
    """The mean of a binary measure over a topic's subtopics with a relevant document.

    The measure is 0 if nothing is relevant, and least if the one relevant document is ranked lowest. An unjudged
    document may be relevant to any subtopic, also to those without a relevant one, which then count. Subtopics are
    independent, and adding equal ones moves a mean in one direction: the extremes are none and all, and are attained.
    """

    sources = ("agrawal2009diversifying",)

    def combined(self, lists: ListsBySubtopic, values: Floats) -> Floats:
        counts = lists.rankings.num_relevant(self.rel) > 0
        return quotient(lists.total(np.where(counts, values, 0.0)), lists.total(counts))

    def bounds(self, rankings: Rankings) -> Bounds | None:
        lists = rankings.assume(0.0).by_subtopic()
        measure, seen = self.of_subtopic(), lists.rankings
        found = measure.bounds(seen)
        if found is None:
            return None
        counts = seen.num_relevant(self.rel) > 0
        may_count = ~counts & (seen.num_holes > 0)
        lowest = seen.holes & (np.cumsum(seen.holes[:, ::-1], axis=-1)[:, ::-1] == 1)
        least_new = measure.value(seen.assume(lowest.astype(np.float64))) if may_count.any() else found[0]
        number, further = lists.total(counts), lists.total(may_count)
        low, high = (lists.total(np.where(counts, bound, 0.0)) for bound in found)
        new_low, new_high = (lists.total(np.where(may_count, bound, 0.0)) for bound in (least_new, found[1]))
        return (
            np.minimum(quotient(low, number), quotient(low + new_low, number + further)),
            np.maximum(quotient(high, number), quotient(high + new_high, number + further)),
        )


class P_IA(IntentAware):  # noqa: N801 (the name everybody knows it by)
    """The precision at k of each subtopic, averaged. It does not reward novelty; a list for the most popular subtopic
    does well.

    Sources: Agrawal et al., WSDM 2009; as in ndeval (P-IA).
    """

    aliases = ("P-IA",)
    example = ("P_IA @ 2", 0.75)
    examples = ("P_IA@3",)
    needs_cutoff = True

    def of_subtopic(self) -> Measure:
        return P(rel=self.rel, cutoff=self.cutoff)


class AP_IA(IntentAware):  # noqa: N801 (the name everybody knows it by)
    """The average precision of each subtopic, averaged (MAP-IA).

    Sources: Agrawal et al., WSDM 2009; as in ndeval (MAP-IA).
    """

    aliases = ("AP-IA", "MAP-IA", "MAP_IA")
    example = ("AP_IA", 0.75)
    examples = ("AP_IA", "AP_IA@3")

    def of_subtopic(self) -> Measure:
        return AP(rel=self.rel, cutoff=self.cutoff)


class StRec(IntentAware):
    """The share of the topic's subtopics for which one of the first k documents is relevant.

    Subtopics without a relevant judged document do not count. ``low`` and ``high`` say what the retrieved unjudged
    documents could change: each may be relevant to every subtopic, or to one that nobody has found yet.

    Sources: Zhai, Cohen and Lafferty, SIGIR 2003; as in ndeval (strec).
    """

    aliases = ("S-Recall", "I-rec")
    example = ("StRec @ 1", 0.5)
    examples = ("StRec@2", "StRec(rel=2)")
    sources = ("zhai2003beyond",)

    def of_subtopic(self) -> Measure:
        return Success(rel=self.rel, cutoff=self.cutoff or ALL_RANKS)


class NuggetRecall(BySubtopic):
    """The share of the nuggets (facts that an answer should hold) in the first k passages, where okay nuggets count
    less than vital ones.

    Nuggets are all subtopics that the judgments name, including those that no passage holds. The column ``importance``
    says which are vital and which okay; without it all are vital. With okay=0 only vital nuggets count. An unjudged
    passage may hold any of them.

    Sources: Voorhees, Overview of the TREC 2003 Question Answering Track (vital and okay nuggets); weights as in TREC
    2024 RAG (1 and 0.5).

    Parameters
    ----------
    rel : float, default 1
        The lowest grade at which a passage holds a nugget.

    Examples
    --------
    >>> import rankbounds as rb
    >>> passages = {
    ...     "query_id": ["q", "q"], "nugget": ["born in 1912", "liked chess"], "doc_id": ["a", "b"],
    ...     "relevance": [1, 1], "importance": ["vital", "okay"],
    ... }
    >>> round(rb.evaluate(passages, {"q": ["a", "c", "b"]}, "NuggetRecall@2").value.item(), 4)
    0.6667
    """

    okay: float = parameter("The weight of an okay nugget; a vital one has 1.", SHARE, default=0.5)

    examples = ("NuggetRecall@2", "NuggetRecall(okay=0)")
    sources = ("voorhees2003overview",)
    monotone = True
    multilinear = True

    def of_subtopic(self) -> Measure:
        return Success(rel=self.rel, cutoff=self.cutoff or ALL_RANKS)

    def combined(self, lists: ListsBySubtopic, values: Floats) -> Floats:
        weight = np.where(lists.okay, self.okay, 1.0)
        return quotient(lists.total(weight * values), lists.total(weight))


class Novel(IntentAware):
    """Gain by rank and novelty; a subclass has ``weights``, which fall with rank."""

    alpha: float = parameter(
        "How much a repeated subtopic loses: with 0 a repetition counts as new, with 1 it counts nothing.",
        SHARE,
        default=0.5,
    )

    def weights(self, n: int) -> Floats:
        raise NotImplementedError

    def check(self) -> None:
        self.greatest()

    def of_subtopic(self) -> Measure:
        return GainOfSubtopic(self)

    def greatest(self) -> float:
        n = self.cutoff or 1
        while not self.cutoff and (1 - self.alpha) ** n * float(self.weights(n)[-1]) > 1e-18:
            n *= 2
            if n > DEEPEST:
                raise UsageError(f"{self.name} needs a depth where alpha is {self.alpha:g}, as in {self.name}@10.")
        return float(((1 - self.alpha) ** np.arange(n)) @ self.weights(n))


class GainOfSubtopic(Measure):
    """The gain of one subtopic from a list, as a share of the greatest."""

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


class NormalisedNovel(Novel):
    """A measure of novelty, the next base class, divided by ``ideal``: what the greedy ideal ranking has of it.

    At every rank the ideal ranking takes the judged document that adds the most. Retrieved documents that count as
    relevant belong to it, relevant to every subtopic. There are no bounds: judgments change the list and its ideal, and
    the greedy ranking need not be the best, so more relevance may raise or lower the value.
    """

    value_range = (0.0, np.inf)
    exactness = "unknown"

    def bounds(self, rankings: Rankings) -> None:
        """Return None: none are known."""

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        expected = super().expected_over_ties(rankings)
        return None if expected is None else quotient(expected, self.ideal(rankings))

    def ideal(self, rankings: Rankings) -> Floats:
        lists = rankings.by_subtopic()
        counting = lists.total(lists.rankings.num_relevant(self.rel) > 0)
        known = rankings.facts.relevant(self.rel)
        # Documents relevant to everything stand first, whatever follows them gains less by their number.
        ahead = rankings.num_relevant(self.rel) - known[rankings.topic]
        depth = self.cutoff or max(1, int(known.max(initial=0)) + int(ahead.max(initial=0)))
        weights, fresh = self.weights(depth), (1 - self.alpha) ** np.arange(depth)
        first = np.append(0.0, np.cumsum(weights * fresh))[np.minimum(ahead, depth).astype(np.int64)] * counting
        gains = rankings.facts.subtopics.greedy_gains(self.rel, self.alpha, depth)[rankings.topic]
        place = np.arange(depth) + ahead[:, None].astype(np.int64)
        moved = np.where(place < depth, weights[np.minimum(place, depth - 1)], 0.0)
        behind = (gains * moved).sum(axis=-1) * (1 - self.alpha) ** ahead
        return quotient(first + behind, counting) / self.greatest()


class ERR_IA(Novel):  # noqa: N801 (the name everybody knows it by)
    """The expected reciprocal rank at which a user interested in one of the subtopics is satisfied, averaged over
    subtopics.

    A document relevant to the user's subtopic satisfies with probability alpha. The mean of 1/rank is divided by that
    of a list relevant to every subtopic at every rank to the same depth, as in ndeval: ERR_IA@20 may be less than
    ERR_IA@10.

    Sources: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009; divided as in ndeval (ERR-IA).
    """

    aliases = ("ERR-IA",)
    example = ("ERR_IA @ 2", 0.7)
    examples = ("ERR_IA@3", "ERR_IA(alpha=0.3)")
    sources = ("chapelle2009expected",)

    def weights(self, n: int) -> Floats:
        return 1 / np.arange(1, n + 1)


class nERR_IA(NormalisedNovel, ERR_IA):  # noqa: N801 (the name everybody knows it by)
    """The expected reciprocal rank at which users interested in different subtopics are satisfied, over that of the
    ideal order of the judged documents.

    The ideal ranking takes at every rank the judged document that adds the most, of equals the one whose id sorts last
    (as in ndeval; the very best ranking is not feasible to find, and a list may score a little above 1).

    Sources: Chapelle et al., CIKM 2009; as in ndeval (nERR-IA).
    """

    aliases = ("nERR-IA",)
    example = ("nERR_IA @ 2", 0.7778)
    examples = ("nERR_IA@3", "nERR_IA(alpha=0.3)")

    def value(self, rankings: Rankings) -> Floats:
        return quotient(ERR_IA.value(self, rankings), self.ideal(rankings))


class alpha_DCG(Novel):  # noqa: N801 (the name everybody knows it by)
    """Gain that falls with the logarithm of the rank, and with every repetition of a subtopic.

    The document at rank i gains, for each subtopic that it is relevant to, (1 - alpha)^n / log2(i + 1), where n
    documents above are relevant to that subtopic. The sum is divided by that of a list relevant to every subtopic at
    every rank to the same depth, so that topics with many and few subtopics compare.

    Sources: Clarke et al., Novelty and Diversity in Information Retrieval Evaluation, SIGIR 2008; divided as in
    ndeval (alpha-DCG).
    """

    aliases = ("alpha-DCG",)
    example = ("alpha_DCG @ 2", 0.7398)
    examples = ("alpha_DCG@3", "alpha_DCG(alpha=0.3)")
    sources = ("clarke2008novelty",)

    def weights(self, n: int) -> Floats:
        return 1 / np.log2(np.arange(2, n + 2))


class alpha_nDCG(NormalisedNovel, alpha_DCG):  # noqa: N801 (the name everybody knows it by)
    """The gain of new and repeated subtopics by rank (alpha_DCG), over that of the ideal order of the judged documents.

    The ideal ranking is the one of nERR_IA.

    Sources: Clarke et al., SIGIR 2008; as in ndeval (alpha-nDCG).
    """

    aliases = ("alpha-nDCG",)
    example = ("alpha_nDCG @ 2", 0.8406)
    examples = ("alpha_nDCG@3", "alpha_nDCG(alpha=0.3)")

    def value(self, rankings: Rankings) -> Floats:
        return quotient(alpha_DCG.value(self, rankings), self.ideal(rankings))


class NRBP(Novel):
    """Subtopics per document read, repetitions counting less, for a user who continues with probability beta.

    The document at rank i gains beta^(i-1) (1 - alpha)^n for each subtopic that it is relevant to and that n documents
    above are relevant to, divided by the gain of an infinite list relevant to every subtopic. With alpha=0 it is RBP,
    averaged over subtopics. What lies beyond the end of the list counts as not relevant.

    Source: Clarke, Kolla and Vechtomova, An Effectiveness Measure for Ambiguous and Underspecified Queries, ICTIR
    2009; as in ndeval (NRBP).
    """

    beta: float = parameter("The probability of continuing to the next document.", PERSISTENCE, default=0.5)

    takes = ("rel",)
    example = ("NRBP", 0.6562)
    examples = ("NRBP", "NRBP(alpha=0,beta=0.8)")
    sources = ("clarke2009effectiveness",)

    def weights(self, n: int) -> Floats:
        return self.beta ** np.arange(n)


class nNRBP(NormalisedNovel, NRBP):  # noqa: N801 (the name everybody knows it by)
    """Subtopics per document read (NRBP), over that of the ideal order of the judged documents.

    The ideal ranking is the one of nERR_IA.

    Source: Clarke, Kolla and Vechtomova, ICTIR 2009; as in ndeval (nNRBP).
    """

    example = ("nNRBP", 0.7778)
    examples = ("nNRBP", "nNRBP(beta=0.8)")

    def value(self, rankings: Rankings) -> Floats:
        return quotient(NRBP.value(self, rankings), self.ideal(rankings))


class OverGroups(BySubtopic):
    """The mean of a measure over a topic's judgment groups."""

    given = True

    def combined(self, lists: ListsBySubtopic, values: Floats) -> Floats:
        return quotient(lists.total(values), lists.total(values == values))

    def bounds(self, rankings: Rankings) -> Bounds | None:
        lists = rankings.by_subtopic(given=self.given)
        of_groups = self.of_subtopic().bounds(lists.rankings)
        return of_groups and (self.combined(lists, of_groups[0]), self.combined(lists, of_groups[1]))


class AP_JG(OverGroups):  # noqa: N801 (as the measures by subtopic)
    """Average precision by each judgment group, averaged.

    ``low`` and ``high`` cover the documents that a group did not judge. Source: as in trec_eval (map_avgjg).
    """

    aliases = ("AP-JG", "MAP_JG")
    example = ("AP_JG", 0.75)
    examples = ("AP_JG", "AP_JG@3", "AP_JG(rel=2)")
    trec_names = ("map_avgjg",)

    def of_subtopic(self) -> Measure:
        return AP(rel=self.rel, cutoff=self.cutoff)


class P_JG(OverGroups):  # noqa: N801
    """Precision at k by each judgment group, averaged. Source: as in trec_eval (P_avgjg)."""

    aliases = ("P-JG",)
    example = ("P_JG @ 2", 0.75)
    examples = ("P_JG@3",)
    trec_names = ("P_avgjg_{cutoff}",)
    needs_cutoff = True

    def of_subtopic(self) -> Measure:
        return P(rel=self.rel, cutoff=self.cutoff)


class RPrec_JG(OverGroups):  # noqa: N801
    """Precision at depth R by each judgment group, averaged, where R is the number of documents that the group judged
    relevant. Source: as in trec_eval (Rprec_mult_avgjg).
    """

    times: float = parameter("The depth as a multiple of R.", POSITIVE, default=1.0)

    takes = ("rel",)
    aliases = ("RPrec-JG",)
    example = ("RPrec_JG", 0.5)
    examples = ("RPrec_JG", "RPrec_JG(times=0.4)")
    trec_names = ("Rprec_mult_avgjg_{times:.2f}",)

    def of_subtopic(self) -> Measure:
        return RPrec(times=self.times, rel=self.rel)
