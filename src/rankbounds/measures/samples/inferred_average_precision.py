"""Inferred average precision."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.measures.measure import Measure, quotient
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import before_and_within, chance_drawn, group_place

SMOOTHING = 0.00001
"""trec_eval's constant: what precision is taken to be where nothing above was judged is a half."""


class infAP(Measure):  # noqa: N801 (the name everybody knows it by)
    """Average precision estimated from a random sample of the pool.

    It goes with judgments that list the whole pool, grade -1 standing for "pooled, but not judged", and whose judged
    documents are a random sample of it. The precision above a relevant document is taken from the judged documents
    there and stretched over the pooled ones; documents outside the pool count as not relevant. When the whole pool is
    judged it is AP, but for a smoothing constant of 0.00001. An estimate has no bounds; none are given.

    At a relevant rank i: 1/i + (pooled above / i) * (relevant above + e) / (judged above + 2e).

    Sources: Yilmaz and Aslam, CIKM 2006; formula, constant and the meaning of -1 as in trec_eval.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.infAP).value.item(), 4)
    0.8333
    """

    rel: float = 1.0

    name = "infAP"
    examples = ("infAP", "infAP(rel=2)")
    sources = ("yilmaz2006estimating",)
    trec_names = ("infAP",)
    promotable = False
    estimates = True
    exactness = "unknown"

    def value(self, rankings: Rankings) -> Floats:
        relevant, judged, pooled = self._marks(rankings)
        above = [np.cumsum(marks, axis=-1, dtype=np.float64) - marks for marks in (relevant, judged, pooled)]
        relevant_above, judged_above, pooled_above = above
        precision = (relevant_above + SMOOTHING) / (judged_above + 2 * SMOOTHING)
        terms = (1 + pooled_above * precision) / np.arange(1, rankings.width + 1)
        return quotient(np.where(relevant, terms, 0.0).sum(axis=-1), rankings.num_relevant(self.rel))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        if rankings.tied is None:
            return self.value(rankings)
        marks = self._marks(rankings)
        first, size = group_place(rankings)
        sums = [before_and_within(rankings, flags.astype(np.float64)) for flags in marks]
        total = np.zeros(rankings.length.size)
        # One step for each tied group that holds relevant documents (an untied document is a group of one).
        begins = first == np.arange(rankings.width)
        for row, column in zip(*np.nonzero(begins & (sums[0][1] > 0)), strict=True):
            before = [int(before_group[row, column]) for before_group, _ in sums]
            within = [int(within_group[row, column]) for _, within_group in sums]
            total[row] += within[0] * _expected_term(int(column), int(size[row, column]), before, within)
        return quotient(total, rankings.num_relevant(self.rel))

    def _marks(self, rankings: Rankings) -> tuple[Flags, Flags, Flags]:
        """Which documents are relevant, which judged, which pooled; unjudged ones as they are assumed to be."""
        assumed = rankings.holes & (np.broadcast_to(rankings.chance, rankings.grade.shape) == 1)
        relevant = (rankings.grade >= self.rel) | assumed
        judged = (rankings.present & ~rankings.holes) | assumed
        return relevant, judged, judged | rankings.pooled_holes


def _expected_term(column: int, size: int, before: list[int], within: list[int]) -> float:
    """What a relevant document of a tied group adds on average, over all places it may have in the group.

    Of the documents above it in the group, the number that are judged is hypergeometric; given that number, the
    relevant and the pooled ones among them have their proportional means, and the term is linear in both.
    """
    relevant, judged, pooled = (count - 1 for count in within)  # the others of the group
    others = size - 1
    place = np.arange(size)[:, None]
    number = np.arange(judged + 1)
    chance = chance_drawn(others, judged, place, number)
    relevant_above = before[0] + number * (relevant / max(judged, 1))
    judged_above = before[1] + number
    pooled_above = before[2] + number + (place - number) * ((pooled - judged) / max(others - judged, 1))
    precision = (relevant_above + SMOOTHING) / (judged_above + 2 * SMOOTHING)
    terms = (1 + pooled_above * precision) / (column + 1 + place)
    return float((chance * terms).sum() / size)
