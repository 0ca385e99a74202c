"""Measures estimated from judgments of a sample, drawn from strata of the pool at different rates.

A drawn document represents N/n documents of its stratum, which has N of which n were drawn. Estimates have no bounds.

Sources: Yilmaz, Kanoulas and Aslam, A Simple and Efficient Sampling Method for Estimating AP and NDCG, SIGIR 2008; as
in TREC's script sample_eval.pl, whose constants for smoothing and longest list (1000) these are.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.formulas import quotient
from rankbounds.measures.measure import Measure
from rankbounds.measures.parameters import parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.strata import StratifiedLists

SMOOTHING = 0.00001
LONGEST = 1000
"""How far a list is read where no depth is given."""


class Sampled(Measure):
    """A subclass has ``estimate``."""

    promotable = False
    exactness = "unknown"
    reads_judgments = True
    estimates = True
    value_range = (0.0, np.inf)

    def estimate(self, lists: StratifiedLists) -> Floats:
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        return self.estimate(StratifiedLists.of(rankings, self.rel))

    @property
    def longest(self) -> int:
        return self.cutoff or LONGEST


def inferred_relevant(lists: StratifiedLists) -> Floats:
    """Return, at every rank, how many documents down to it are relevant by the rates seen in their strata so far."""
    total = np.zeros(lists.stratum.shape)
    for _, documents, drawn, relevant in lists.down_to():
        total += documents * (relevant + SMOOTHING) / (drawn + 3 * SMOOTHING)
    return total


def inferred_total(lists: StratifiedLists) -> Floats:
    return (lists.relevant_sampled * lists.expansion).sum(axis=-1)


def _at(values: Floats, depth: int) -> Floats:
    return values[:, min(depth, values.shape[1]) - 1]


class infP(Sampled):  # noqa: N801 (of a family of such names)
    """Precision at k estimated from judgments of a sample drawn from strata at different rates.

    The share of a stratum's documents among the first k that are relevant is taken from its drawn ones there.

    Source: as in TREC's sample_eval.pl (iP5, iP10, ...), with its smoothing.
    """

    takes = ("rel", "cutoff")
    example = ("infP @ 4", 0.625)
    examples = ("infP@3",)
    trec_names = ("iP{cutoff}",)
    needs_cutoff = True

    def estimate(self, lists: StratifiedLists) -> Floats:
        return _at(inferred_relevant(lists), self.longest) / self.longest


class infNumRelRet(Sampled):  # noqa: N801 (of a family of such names)
    """How many of the retrieved documents are relevant, estimated from a sample with strata. The total is a sum.

    Source: as in TREC's sample_eval.pl (inum_rel_ret), with its smoothing; lists are read down to rank 1000.
    """

    takes = ("rel",)
    example = ("infNumRelRet", 2.5)
    examples = ("infNumRelRet",)
    trec_names = ("inum_rel_ret",)
    total = "sum"

    def estimate(self, lists: StratifiedLists) -> Floats:
        return _at(inferred_relevant(lists), self.longest)


class infNumRel(Sampled):  # noqa: N801 (of a family of such names)
    """How many documents of the pool are relevant, estimated from a sample with strata. The total is a sum.

    The sum of N/n over the relevant documents drawn, where n of a stratum's N documents were drawn.

    Source: as in TREC's sample_eval.pl (inum_rel).
    """

    takes = ("rel",)
    example = ("infNumRel", 2.5)
    examples = ("infNumRel",)
    trec_names = ("inum_rel",)
    total = "sum"

    def estimate(self, lists: StratifiedLists) -> Floats:
        return np.asarray(inferred_total(lists))


WHOLE = 1e-9
"""What a number of documents may lack of a whole one by rounding."""


class infNDCG(Sampled):  # noqa: N801 (the name everybody knows it by)
    """nDCG estimated from judgments of a sample drawn from strata at different rates.

    Judgments are as for xinfAP. The gain of a stratum's retrieved documents is that of its drawn ones there, discounted
    by 1 / log2(rank + 1), times the retrieved documents of the stratum per drawn one. The ideal has as many documents
    of each grade as the sample suggests: N/n per drawn one. Grades are gains, unless a gain rule says otherwise.

    Lists and the ideal are read to rank 1000 (or ``@k``). The estimate may be more than 1, and has no bounds.

    Source: Yilmaz, Kanoulas and Aslam, SIGIR 2008; as in TREC's sample_eval.pl.
    """

    cutoff: int | None = parameter("The depth, written after the @; None: 1000.", default=None)

    aliases = ("inf_nDCG",)
    example = ("infNDCG", 1.073)
    examples = ("infNDCG", "infNDCG@3")
    sources = ("yilmaz2008simple",)
    graded = True

    def estimate(self, lists: StratifiedLists) -> Floats:
        rank = np.arange(1, lists.stratum.shape[1] + 1)
        read = rank <= self.longest
        discounted = np.where(read, lists.gain / np.log2(rank + 1), 0.0)
        total = np.zeros(lists.stratum.shape[0])
        for inside, _, _, _ in lists.down_to():
            documents, drawn = ((inside & read & mark).sum(axis=-1) for mark in (True, lists.drawn))
            total += quotient(documents * np.where(inside, discounted, 0.0).sum(axis=-1), drawn)
        return quotient(total, self._ideal(lists))

    def _ideal(self, lists: StratifiedLists) -> Floats:
        number = (lists.gain_sampled * lists.expansion[..., None]).sum(axis=-2)
        ideal, start = np.zeros(number.shape[0]), np.zeros(number.shape[0])
        for level in range(lists.levels.size - 1, -1, -1):
            fitting = np.maximum(np.ceil(self.longest - start - WHOLE), 1)
            whole = np.minimum(np.floor(number[:, level] + WHOLE), fitting)
            place = np.arange(1, int(whole.max(initial=0)) + 1)
            discount = 1 / np.log2(start[:, None] + place + 1)
            ideal += lists.levels[level] * np.where(place <= whole[:, None], discount, 0.0).sum(axis=-1)
            start = start + number[:, level]
        return ideal


class xinfAP(Sampled):  # noqa: N801 (the name everybody knows it by)
    """Average precision estimated from judgments of a sample drawn from strata at different rates.

    Judgments have five fields, "topic 0 document stratum grade" (or a column ``stratum``), and list the whole pool: -1
    is a document that was not drawn. The precision at a relevant document counts one for itself, and for the documents
    above what the drawn ones of each stratum suggest; a relevant document represents N/n of its stratum. Documents
    outside the pool count as not relevant. infAP is the case of one stratum, smoothed a little differently.

    Lists are read to rank 1000 (or ``@k``); if more documents than that are estimated to be relevant, the sum is
    divided by that number, as in TREC's script. The estimate has no bounds.

    Source: Yilmaz, Kanoulas and Aslam, SIGIR 2008; as in TREC's sample_eval.pl (infAP there).
    """

    rel: float = 1.0
    cutoff: int | None = parameter("The depth, written after the @; None: 1000.", default=None)

    example = ("xinfAP", 0.8667)
    examples = ("xinfAP", "xinfAP(rel=2)")
    sources = ("yilmaz2008simple",)

    def estimate(self, lists: StratifiedLists) -> Floats:
        rank = np.arange(1, lists.stratum.shape[1] + 1)
        above: Floats = np.pad(inferred_relevant(lists), ((0, 0), (1, 0)))[:, :-1]
        precision = (1 + above) / rank
        read = lists.relevant & (rank <= self.longest)
        stands_for = np.take_along_axis(lists.expansion, np.maximum(lists.stratum, 0), axis=-1)
        total = np.where(read, precision * stands_for, 0.0).sum(axis=-1)
        return quotient(total, np.minimum(inferred_total(lists), self.longest if self.cutoff is None else np.inf))


class infAP(Measure):  # noqa: N801 (the name everybody knows it by)
    """Average precision estimated from a random sample of the pool.

    For judgments that list the whole pool, with grade -1 for "pooled, but not judged", and whose judged documents are a
    random sample of it. The precision above a relevant document is taken from the judged documents there and scaled to
    the pooled ones; documents outside the pool count as not relevant. If the whole pool is judged it is AP, but for a
    smoothing constant of 0.00001. An estimate has no bounds.

    At a relevant rank i: 1/i + (pooled above / i) * (relevant above + e) / (judged above + 2e).

    Sources: Yilmaz and Aslam, CIKM 2006; formula, constant and the meaning of -1 as in trec_eval.
    """

    takes = ("rel",)
    example = ("infAP", 0.8333, "unjudged")
    examples = ("infAP", "infAP(rel=2)")
    sources = ("yilmaz2006estimating",)
    trec_names = ("infAP",)
    promotable = False
    estimates = True
    exactness = "unknown"

    def value(self, rankings: Rankings) -> Floats:
        assumed = rankings.holes & (np.broadcast_to(rankings.chance, rankings.grade.shape) == 1)
        relevant = (rankings.grade >= self.rel) | assumed
        judged = (rankings.present & ~rankings.holes) | assumed
        pooled = judged | rankings.pooled_holes
        above = [np.cumsum(marks, axis=-1, dtype=np.float64) - marks for marks in (relevant, judged, pooled)]
        relevant_above, judged_above, pooled_above = above
        precision = (relevant_above + SMOOTHING) / (judged_above + 2 * SMOOTHING)
        terms = (1 + pooled_above * precision) / np.arange(1, rankings.width + 1)
        return quotient(np.where(relevant, terms, 0.0).sum(axis=-1), rankings.num_relevant(self.rel))
