"""Discounted cumulated gain, as it is and as a share of what an ideal ranking has."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rankbounds.arrays import Floats, read_only
from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.measures.formulas import RankWeighted
from rankbounds.measures.gain.ideal_ratio import IdealRatio
from rankbounds.measures.measure import Measure
from rankbounds.measures.parameters import ABOVE_1, parameter
from rankbounds.rankings.rankings import Rankings

BASE = "Of the logarithm, where it is the one of Jarvelin and Kekalainen; None: log2(rank + 1)."
GAINS = ("linear", "exp")
LARGEST_EXPONENT = 1000
"""Of 2^g in sums over many documents: double precision ends at 2^1024."""


class Discounted(Measure):
    """Gains that count less the deeper they stand, by the logarithm of the rank."""

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

    def weights(self, n: int) -> Floats:
        """The weights of ranks 1 to n."""
        return discounts(self.base, n)

    def worth(self, rankings: Rankings) -> Floats:
        gain, facts = rankings.gain(), rankings.facts
        if self.gain == "linear":
            return gain
        least, most = (self.worth_of_gain(np.asarray(end)) for end in (facts.nonrelevant_gain, facts.max_gain))
        return np.where(rankings.holes, least + rankings.chance * (most - least), self.worth_of_gain(gain))

    def worth_of_gain(self, gain: Floats) -> Floats:
        """What documents of these gains are worth: 2^g - 1 for ``exp``, g itself for ``linear``."""
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
    """The weights of ranks 1 to n, not to be written to."""
    rank = np.arange(1, n + 1)
    if base is None:
        return read_only(1 / np.log2(rank + 1))
    return read_only(1 / np.maximum(1.0, np.log(np.maximum(rank, base)) / np.log(base)))


class DCG(Discounted, RankWeighted):
    """The gains of the documents, each divided by the logarithm of its rank plus one, summed.

    There is no upper limit, and topics with many relevant documents dominate means: nDCG divides it away.

    DCG = sum over ranks i of g_i / log2(i + 1), as trec_eval has it. With ``base=b``, documents before rank b count
    in full and others are divided by log_b(i) (Jarvelin and Kekalainen, TOIS 20(4), 2002). ``gain=exp`` takes
    2^g - 1 for g.
    """

    example = ("DCG @ 3", 2.0)
    examples = ("DCG", "DCG@3", "DCG(base=2)", "DCG(base=3,gain=exp)@4")
    value_range = (0.0, np.inf)


class nDCG(Discounted, IdealRatio):  # noqa: N801 (the name everybody knows it by)
    """Discounted gain divided by that of the ideal ranking: 1 when the best documents known come first, best first.

    The ideal ranking holds all judged documents of the topic, retrieved or not. Without parameters this is
    trec_eval's ndcg: gains are the grades, the discount is log2(rank + 1). ``low`` and ``high`` are exact over the
    retrieved unjudged documents, each of which may have any gain up to the largest, and then also belongs to the
    ideal ranking; so judging more can lower the value. With ``open="collection"``, ``low`` also covers relevant
    documents that nobody retrieved, which can stand in the ideal ranking alone: to the depth, all of the largest gain;
    without a depth, as many as ``most_relevant`` says. Over ties and unjudged documents together, ``high`` is exact for
    binary gains; for graded ones it holds, but may be more than can be reached.

    Sources: Jarvelin and Kekalainen, TOIS 20(4), 2002 (``base=b``); ``gain=exp`` takes 2^g - 1 (Burges et al. 2005).
    """

    example = ("nDCG @ 3", 0.7602)
    examples = ("nDCG", "nDCG@3", "nDCG(base=2)@4", "nDCG(gain=exp)")
    trec_names = ("ndcg", "ndcg_cut_{cutoff}")
