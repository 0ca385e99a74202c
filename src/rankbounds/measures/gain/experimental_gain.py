"""Measures of gain that trec_eval calls experimental: nDCG averaged over ranks, and gain by what it cost."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.formulas import quotient, weighted_sum
from rankbounds.measures.gain.discounted_gain import discounts
from rankbounds.measures.measure import Measure
from rankbounds.rankings.rankings import Rankings


class AveragedDCG(Measure):
    """nDCG at several ranks, averaged; no bounds are known."""

    promotable = False
    exactness = "unknown"
    graded = True


class nDCG_rel(AveragedDCG):  # noqa: N801 (trec_eval's name)
    """nDCG at the ranks of the documents with gain, averaged over all such documents of the topic.

    A document that is not retrieved counts with the discounted gain of the whole list over that of the ideal ranking.

    Source: as in trec_eval (ndcg_rel), which calls it experimental.
    """

    value_range = (0.0, 1.0)
    example = ("nDCG_rel", 0.6301)
    examples = ("nDCG_rel",)
    trec_names = ("ndcg_rel",)

    def value(self, rankings: Rankings) -> Floats:
        gain, ideal = rankings.gain(), _ideal(rankings)
        gained, possible = _discounted_sums(rankings, gain, ideal)
        last = slice(0, rankings.width)
        at_gains = np.where(gain > 0, quotient(gained[..., last], possible[..., last]), 0.0).sum(axis=-1)
        number = np.count_nonzero(ideal > 0, axis=-1)
        missed = number - np.count_nonzero(gain > 0, axis=-1)
        return quotient(at_gains + missed * quotient(gained[..., -1], possible[..., -1]), number)


class RnDCG(AveragedDCG):
    """nDCG averaged over the ranks where the ideal ranking goes on to a lower gain, and the end of the list.

    As R-precision reads to the rank where a perfect list would end, this reads to the ranks where it would end with
    documents of the highest gain, the second highest, and so on. The end of the list counts once more where the list
    is longer than that by more than one document.

    Source: as in trec_eval (Rndcg), which calls it experimental.
    """

    value_range = (0.0, 1.0)
    example = ("RnDCG", 0.44)
    examples = ("RnDCG",)
    trec_names = ("Rndcg",)

    def value(self, rankings: Rankings) -> Floats:
        ideal = _ideal(rankings)
        share = quotient(*_discounted_sums(rankings, rankings.gain(), ideal))
        falls = ideal[..., 1:] < ideal[..., :-1]
        past_the_end = rankings.length > np.count_nonzero(ideal > 0, axis=-1) + 1
        total = np.where(falls, share[..., :-1], 0.0).sum(axis=-1) + past_the_end * share[..., -1]
        return quotient(total, np.count_nonzero(falls, axis=-1) + past_the_end)


class IdealDCG(Measure):
    """The discounted gain of the ideal ranking: what nDCG divides by.

    It says nothing of the list, only how much the topic has to offer.

    Source: as in trec_eval (ideal_dcg).
    """

    example = ("IdealDCG", 2.6309)
    examples = ("IdealDCG",)
    trec_names = ("ideal_dcg",)
    topic_only = True
    graded = True
    monotone = True
    value_range = (0.0, np.inf)

    def value(self, rankings: Rankings) -> Floats:
        ideal = _ideal(rankings)
        return weighted_sum(discounts(None, ideal.shape[-1]), ideal)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return self.value(rankings)


def _ideal(rankings: Rankings) -> Floats:
    """The ideal gains of every list, one rank longer than the list and than the gains."""
    most = int((rankings.facts.count_from_level[0][rankings.topic] + rankings.num_holes).max(initial=1))
    return rankings.ideal(max(rankings.width, most) + 1)


def _discounted_sums(rankings: Rankings, gain: Floats, ideal: Floats) -> tuple[Floats, Floats]:
    """At every rank of the ideal ranking, the discounted gain of the list down to it, and its own."""
    weights = discounts(None, ideal.shape[-1])
    gained = np.zeros(ideal.shape)
    gained[..., : rankings.width] = gain
    return np.cumsum(gained * weights, axis=-1), np.cumsum(ideal * weights, axis=-1)


class BinG(Measure):
    """Over all R relevant documents known, the mean of 1 / log2(2 + non-relevant documents above it).

    Between AP and nDCG: only what was read in vain is discounted, so that a list whose relevant documents come first
    has 1, however many there are. A relevant document that is not retrieved adds 0.

    Source: as in trec_eval (binG), which calls it experimental.
    """

    takes = ("rel",)
    value_range = (0.0, 1.0)
    example = ("BinG", 0.5436)
    examples = ("BinG", "BinG(rel=2)")
    trec_names = ("binG",)

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)
        in_vain = np.arange(1, rankings.width + 1) - rankings.relevant_so_far(self.rel)
        return quotient((relevant / np.log2(2 + in_vain)).sum(axis=-1), rankings.num_relevant(self.rel))


class G(Measure):
    """The gains of the documents, each divided by log2(2 + what reading so far cost - what it gained), over all gains
    that the topic has.

    Reading a document costs what the ideal ranking gains at that rank, and at least 1. With binary judgments it is
    BinG. No bounds are known.

    Source: as in trec_eval (G), which calls it experimental.
    """

    value_range = (0.0, 1.0)
    example = ("G", 0.6309)
    examples = ("G",)
    trec_names = ("G",)
    graded = True
    promotable = False
    exactness = "unknown"

    def value(self, rankings: Rankings) -> Floats:
        gain = rankings.gain()
        most = int((rankings.facts.count_from_level[0][rankings.topic] + rankings.num_holes).max(initial=1))
        ideal = rankings.ideal(max(rankings.width, most))
        cost = np.cumsum(np.maximum(ideal[..., : rankings.width], 1.0), axis=-1)
        in_vain = cost - np.cumsum(gain, axis=-1)
        return quotient((gain / np.log2(2 + in_vain)).sum(axis=-1), ideal.sum(axis=-1))
