"""Discounted cumulated gain, alone and as a share of what an ideal ranking has; trec_eval's experimental measures."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rankbounds.arrays import Floats, Ints, read_only
from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.measures.formulas import IdealRatio, RankWeighted, quotient, weighted_sum
from rankbounds.measures.measure import Bounds, Measure, smallest_over_numbers
from rankbounds.measures.parameters import ABOVE_1, parameter
from rankbounds.rankings.rankings import Rankings

BASE = "The base of Jarvelin and Kekalainen's logarithm; None: log2(rank + 1)."
GAINS = ("linear", "exp")
LARGEST_EXPONENT = 1000
"""Of 2^g in sums over many documents: double precision ends at 2^1024."""


class Discounted(Measure):
    """Gains discounted by the logarithm of the rank."""

    base: float | None = parameter(BASE, ABOVE_1, default=None)
    gain: str = parameter("``linear``: gains as they are; ``exp``: 2^g - 1.", default="linear")
    cutoff: int | None = None

    sources = ("jarvelin2002cumulated",)
    graded = True

    def check(self) -> None:
        if self.gain not in GAINS:
            hint = did_you_mean(self.gain, list(GAINS))
            raise UsageError(f'{self.name}: gain must be linear or exp, not "{self.gain}".{hint}')

    def cited(self) -> tuple[str, ...]:
        return (*self.sources, "burges2005learning") if self.gain == "exp" else self.sources

    def worth(self, rankings: Rankings) -> Floats:
        gain, facts = rankings.gain(), rankings.facts
        if self.gain == "linear":
            return gain
        least, most = (self.worth_of_gain(np.asarray(end)) for end in (facts.nonrelevant_gain, facts.max_gain))
        return np.where(rankings.holes, least + rankings.chance * (most - least), self.worth_of_gain(gain))

    def worth_of_gain(self, gain: Floats) -> Floats:
        if self.gain == "linear":
            return gain
        if np.max(gain, initial=0.0) > LARGEST_EXPONENT:
            raise DataError(
                f"gain=exp takes 2^g - 1, but documents may have gain {np.max(gain):g}, and above {LARGEST_EXPONENT} "
                'that is more than a number holds. Use gain=linear, or a gain table such as "1=1,2=3".'
            )
        return np.exp2(gain) - 1


@lru_cache(maxsize=16)
def discounts(base: float | None, n: int) -> Floats:
    rank = np.arange(1, n + 1)
    if base is None:
        return read_only(1 / np.log2(rank + 1))
    return read_only(1 / np.maximum(1.0, np.log(np.maximum(rank, base)) / np.log(base)))


class DCG(Discounted, RankWeighted):
    """The sum of the documents' gains, each divided by the logarithm of its rank plus one.

    It has no upper limit, so topics with many relevant documents dominate means; nDCG normalises it.

    DCG = sum over ranks i of g_i / log2(i + 1), as in trec_eval. With ``base=b``, documents before rank b count
    in full and others are divided by log_b(i) (Jarvelin and Kekalainen, TOIS 20(4), 2002). ``gain=exp`` takes
    2^g - 1 for g.
    """

    example = ("DCG @ 3", 2.0)
    examples = ("DCG", "DCG@3", "DCG(base=2)", "DCG(base=3,gain=exp)@4")
    value_range = (0.0, np.inf)

    def weights(self, n: int) -> Floats:
        return discounts(self.base, n)


class nDCG(Discounted, IdealRatio):  # noqa: N801 (the name everybody knows it by)
    """Discounted gain divided by that of the ideal ranking: 1 when the best documents known come first, best first.

    The ideal ranking holds all judged documents of the topic, retrieved or not. Without parameters (as trec_eval's
    ndcg), gains are the grades, and the discount is log2(rank + 1). ``low`` and ``high`` are exact over the retrieved
    unjudged documents, each of which may have any gain up to the largest, and then joins the ideal ranking too; so
    judging more can lower the value. With ``open="collection"``, ``low`` also covers relevant documents that nobody
    retrieved, in the ideal ranking alone: to the depth, all of the largest gain; without a depth, ``most_relevant`` of
    them. Over ties and unjudged documents together, ``high`` is exact for binary gains, and safe for graded ones.

    Sources: Jarvelin and Kekalainen, TOIS 20(4), 2002 (``base=b``); ``gain=exp`` takes 2^g - 1 (Burges et al. 2005).
    """

    example = ("nDCG @ 3", 0.7602)
    examples = ("nDCG", "nDCG@3", "nDCG(base=2)@4", "nDCG(gain=exp)")
    trec_names = ("ndcg", "ndcg_cut_{cutoff}")

    def weights(self, n: int) -> Floats:
        return discounts(self.base, n)

    def value(self, rankings: Rankings) -> Floats:
        gained = weighted_sum(self.weights(self.depth(rankings)), self.worth(rankings))
        ideal = self.divisor(rankings)  # the same sum over all judged documents of the topic, best first
        return quotient(gained, ideal)


class AveragedDCG(Measure):
    """nDCG at several ranks, averaged; no bounds are known."""

    promotable = False
    exactness = "unknown"
    graded = True


class nDCG_rel(AveragedDCG):  # noqa: N801 (trec_eval's name)
    """nDCG at the ranks of the documents with gain, averaged over all such documents of the topic.

    For a document that is not retrieved it is the discounted gain of the whole list over that of the ideal ranking.

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
    """nDCG averaged over the ranks where the gain of the ideal ranking falls, and the end of the list.

    R-precision reads to the rank where a perfect list would end; this reads to the ranks where its documents of the
    highest gain would end, those of the second highest, and so on. The end of the list counts once more if the list is
    longer than that by more than one document.

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

    It does not depend on the list, only on what the topic has to offer.

    Source: as in trec_eval (ideal_dcg).
    """

    example = ("IdealDCG", 2.6309)
    examples = ("IdealDCG",)
    trec_names = ("ideal_dcg",)
    topic_only = True
    order_free = True
    graded = True
    monotone = True
    value_range = (0.0, np.inf)

    def value(self, rankings: Rankings) -> Floats:
        ideal = _ideal(rankings)
        return weighted_sum(discounts(None, ideal.shape[-1]), ideal)


def _ideal(rankings: Rankings) -> Floats:
    most = int((rankings.facts.count_from_level[0][rankings.topic] + rankings.num_holes).max(initial=1))
    return rankings.ideal(max(rankings.width, most) + 1)


def _discounted_sums(rankings: Rankings, gain: Floats, ideal: Floats) -> tuple[Floats, Floats]:
    weights = discounts(None, ideal.shape[-1])
    gained = np.zeros(ideal.shape)
    gained[..., : rankings.width] = gain
    return np.cumsum(gained * weights, axis=-1), np.cumsum(ideal * weights, axis=-1)


class BinG(Measure):
    """Over all R relevant documents known, the mean of 1 / log2(2 + non-relevant documents above it).

    Between AP and nDCG: only non-relevant documents are discounted, so a list with all relevant documents first scores
    1, however many there are. A relevant document that is not retrieved adds 0.

    Source: as in trec_eval (binG), which calls it experimental.
    """

    takes = ("rel",)
    value_range = (0.0, 1.0)
    example = ("BinG", 0.5436)
    examples = ("BinG", "BinG(rel=2)")
    trec_names = ("binG",)

    def value(self, rankings: Rankings) -> Floats:
        found, number = rankings.relevant_so_far(self.rel), rankings.num_relevant(self.rel)
        return self._mean(rankings.relevant(self.rel), found, number)

    def _mean(self, relevant: Floats, found: Floats, number: Floats) -> Floats:
        in_vain = np.arange(1, found.shape[-1] + 1) - found
        return quotient((relevant / np.log2(2 + in_vain)).sum(axis=-1), number)

    def bounds(self, rankings: Rankings) -> Bounds:
        """Among so many unjudged documents relevant, the highest are best and the lowest worst, as for all measures.

        With what is found of one number of them and the divisor of another, it bounds the value of those between.
        """
        judged, holes, turned = rankings.assume(0.0), rankings.holes, rankings.num_holes
        relevant, found = judged.relevant(self.rel), judged.relevant_so_far(self.rel)
        number, above = judged.num_relevant(self.rel), np.cumsum(holes, axis=-1)
        below, room = turned[:, None] - above, rankings.room(number)

        def least(line: Ints, first: Ints, last: Ints) -> Floats:
            lowest = first[:, None] - below[line]
            marks = relevant[line] + (holes[line] & (lowest > 0))
            return self._mean(marks, found[line] + np.maximum(lowest, 0), number[line] + np.maximum(last, room[line]))

        def most(line: Ints, first: Ints, last: Ints) -> Floats:
            marks = relevant[line] + (holes[line] & (above[line] <= last[:, None]))
            return self._mean(marks, found[line] + np.minimum(above[line], last[:, None]), number[line] + first)

        high = smallest_over_numbers(lambda *between: -most(*between), turned, rankings.width)
        return smallest_over_numbers(least, turned, rankings.width), -high


class G(Measure):
    """The sum of the documents' gains, each divided by log2(2 + cost of reading so far - gain so far), over all gains
    of the topic.

    Reading a document costs the ideal ranking's gain at that rank, and at least 1. With binary judgments it is BinG. No
    bounds are known.

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
        ideal = _ideal(rankings)
        cost = np.cumsum(np.maximum(ideal[..., : rankings.width], 1.0), axis=-1)
        in_vain = cost - np.cumsum(gain, axis=-1)
        return quotient((gain / np.log2(2 + in_vain)).sum(axis=-1), ideal.sum(axis=-1))
