"""Discounted cumulated gain, as it is and as a share of what an ideal ranking has."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rankbounds.arrays import Floats, read_only
from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.measures.ideal_ratio import IdealRatio
from rankbounds.measures.measure import Measure, RankWeighted
from rankbounds.rankings.rankings import Rankings

GAINS = ("linear", "exp")
LARGEST_EXPONENT = 1000
"""Of 2^g in sums over many documents: double precision ends at 2^1024."""


class DCG(RankWeighted):
    """The gains of the documents, each divided by the logarithm of its rank plus one, summed.

    There is no upper limit, and topics with many relevant documents dominate means: nDCG divides it away.

    DCG = sum over ranks i of g_i / log2(i + 1), as trec_eval has it. With ``base=b``, documents before rank b count
    in full and others are divided by log_b(i) (Jarvelin and Kekalainen, TOIS 20(4), 2002). ``gain=exp`` takes
    2^g - 1 for g.

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.DCG @ 3).value.item(), 4)
    2.0
    """

    base: float | None = None
    gain: str = "linear"
    cutoff: int | None = None

    name = "DCG"
    examples = ("DCG", "DCG@3", "DCG(base=2)", "DCG(base=3,gain=exp)@4")
    sources = ("jarvelin2002cumulated",)
    graded = True
    value_range = (0.0, np.inf)

    def check(self) -> None:
        check_discount(self, self.base, self.gain)

    def cited(self) -> tuple[str, ...]:
        return (*self.sources, "burges2005learning") if self.gain == "exp" else self.sources

    def weights(self, n: int) -> Floats:
        return discounts(self.base, n)

    def worth(self, rankings: Rankings) -> Floats:
        return gains(rankings, self.gain)


def check_discount(measure: Measure, base: float | None, gain: str) -> None:
    """Reject parameters that no discounted gain has."""
    if base is not None and not base > 1:
        raise UsageError(f"{measure.name}: the logarithm's base must be above 1, not {base}.")
    if gain not in GAINS:
        raise UsageError(f'{measure.name}: gain must be linear or exp, not "{gain}".{did_you_mean(gain, list(GAINS))}')


@lru_cache(maxsize=16)
def discounts(base: float | None, n: int) -> Floats:
    """The weights of ranks 1 to n, not to be written to."""
    rank = np.arange(1, n + 1)
    if base is None:
        return read_only(1 / np.log2(rank + 1))
    return read_only(1 / np.maximum(1.0, np.log(np.maximum(rank, base)) / np.log(base)))


def transformed(gain: Floats | float, kind: str) -> Floats:
    """2^g - 1 for ``exp``, g itself for ``linear``."""
    if kind == "linear":
        return np.asarray(gain)
    if np.max(gain, initial=0.0) > LARGEST_EXPONENT:
        raise DataError(
            f"gain=exp takes 2^g - 1, but documents may have gain {np.max(gain):g}, and above {LARGEST_EXPONENT} that "
            'is more than a number holds. Use gain=linear, or a gain table such as "1=1,2=3".'
        )
    return np.exp2(gain) - 1


def gains(rankings: Rankings, kind: str) -> Floats:
    """The gain of every document; an unjudged one has its chance of the largest."""
    if kind == "linear":
        return rankings.gain()
    least, most = (transformed(gain, kind) for gain in (rankings.facts.nonrelevant_gain, rankings.facts.max_gain))
    return np.where(rankings.holes, least + rankings.chance * (most - least), transformed(rankings.gain(), kind))


class nDCG(IdealRatio):  # noqa: N801 (the name everybody knows it by)
    """Discounted gain divided by that of the ideal ranking: 1 when the best documents known come first, best first.

    The ideal ranking holds all judged documents of the topic, retrieved or not. Without parameters this is
    trec_eval's ndcg: gains are the grades, the discount is log2(rank + 1). ``low`` and ``high`` are exact over the
    retrieved unjudged documents, each of which may have any gain up to the largest, and then also belongs to the
    ideal ranking; so judging more can lower the value. With ``open="collection"``, ``low`` also covers relevant
    documents that nobody retrieved, which can stand in the ideal ranking alone: to the depth, all of the largest gain;
    without a depth, as many as ``most_relevant`` says. Over ties and unjudged documents together, ``high`` is exact for
    binary gains; for graded ones it holds, but may be more than can be reached.

    Sources: Jarvelin and Kekalainen, TOIS 20(4), 2002 (``base=b``); ``gain=exp`` takes 2^g - 1 (Burges et al. 2005).

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.nDCG @ 3).value.item(), 4)
    0.7602
    """

    base: float | None = None
    gain: str = "linear"
    cutoff: int | None = None

    name = "nDCG"
    value_range = (0.0, 1.0)
    examples = ("nDCG", "nDCG@3", "nDCG(base=2)@4", "nDCG(gain=exp)")
    sources = ("jarvelin2002cumulated",)
    trec_names = ("ndcg", "ndcg_cut_{cutoff}")
    graded = True

    def check(self) -> None:
        check_discount(self, self.base, self.gain)

    def cited(self) -> tuple[str, ...]:
        return (*self.sources, "burges2005learning") if self.gain == "exp" else self.sources

    def weights(self, n: int) -> Floats:
        return discounts(self.base, n)

    def worth(self, rankings: Rankings) -> Floats:
        return gains(rankings, self.gain)

    def worth_of_gain(self, gain: Floats) -> Floats:
        return transformed(gain, self.gain)
