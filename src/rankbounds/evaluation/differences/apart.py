"""Where nothing better is known: the most that A can have less the least that B can have.

What it means: a bound that no judgments leave, though none may attain it, because one document may be taken to be
relevant for A and not for B. Three cases:

* A measure of the list alone has bounds over its own unjudged documents, and other documents change nothing.
* A search among all documents of a collection (ESL) is shortest with all documents of either list relevant, and longest
  with none.
* Most others lie between 0 and 1; where relevant documents outside the list never raise them, what A can have by its
  own documents is less than that. YAAP has no such range, but it rises with the sum of precisions, which is least when
  nothing unjudged is relevant, and falls with R, which is largest when everything is.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.completions import EnumeratedFacts, completed, subtracted, value_ends
from rankbounds.evaluation.differences.greatest import CELLS, Found, Greatest
from rankbounds.evaluation.differences.shared_lists import Documents
from rankbounds.measures import Measure
from rankbounds.measures.average_precision import AP, sum_of_precisions
from rankbounds.measures.binary_preference import LimitedPenalty
from rankbounds.measures.compatibility import Compatibility
from rankbounds.measures.interpolated_precision import IPrec, IPrecMean
from rankbounds.measures.logarithms import YAAP
from rankbounds.measures.precision_and_recall import Shaw
from rankbounds.measures.q_measure import Q
from rankbounds.measures.relative_preference import Preference
from rankbounds.measures.retrieved_set import RPrec, SetAP
from rankbounds.measures.search_effort import ESL
from rankbounds.rankings.rankings import Rankings

LOWERED_FROM_OUTSIDE = (AP, IPrec, IPrecMean, Shaw, Q, SetAP)
"""Relevant documents outside the list never raise these: they enter what the list is divided by."""
FROM_0_TO_1 = (*LOWERED_FROM_OUTSIDE, LimitedPenalty, Preference, RPrec, Compatibility)


def greatest_apart(
    measure: Measure, rankings: Rankings, documents: Documents, assumptions: Assumptions, elsewhere: int = 0
) -> Greatest:
    """How large the difference of any two of the lists can be, at most."""
    ends = assumptions.low_high(measure, rankings)
    never = np.zeros(rankings.length.size)
    if measure.list_only and ends is not None:
        low, high = ends
    elif isinstance(measure, ESL):
        return _greatest_of_ends(measure, rankings, documents, assumptions, elsewhere)
    elif isinstance(measure, YAAP) and ends is not None:
        return _greatest_of_yaap(measure, rankings, documents, elsewhere, ends[1])
    elif isinstance(measure, FROM_0_TO_1):
        high = np.ones(never.size)
        if isinstance(measure, LOWERED_FROM_OUTSIDE) and ends is not None:
            high = np.minimum(1.0, np.where(np.isnan(ends[1]), 1.0, ends[1]))
        low = never
    else:
        low = high = np.full(never.size, np.nan)

    def greatest(a: Ints, b: Ints) -> Found:
        return subtracted(high[a], low[b]), np.zeros(a.size, dtype=bool)

    return greatest


def _greatest_of_yaap(
    measure: YAAP, rankings: Rankings, documents: Documents, elsewhere: int, high: Floats
) -> Greatest:
    judged = rankings.assume(0.0)
    total = sum_of_precisions(judged, measure.rel, rankings.width)
    known = judged.num_relevant(measure.rel)

    def greatest(a: Ints, b: Ints) -> Found:
        relevant = known[b] + documents.held[a] + documents.held[b] - documents.overlap[a, b] + elsewhere
        return high[a] - np.log((1 + total[b]) / (1 + relevant - total[b])), np.zeros(a.size, dtype=bool)

    return greatest


def _greatest_of_ends(
    measure: ESL, rankings: Rankings, documents: Documents, assumptions: Assumptions, elsewhere: int
) -> Greatest:
    """All documents of either list relevant on the one side, none on the other."""
    filled = [np.where(rankings.holes, worth, rankings.grade) for worth in (0.0, measure.rel)]

    def greatest(a: Ints, b: Ints) -> Found:
        either = documents.held[a] + documents.held[b] - documents.overlap[a, b].astype(np.int64) + elsewhere
        result = np.empty(a.size)
        for start in range(0, a.size, size := max(1, CELLS // (rankings.width + int(either.max(initial=0)) + 1))):
            part = slice(start, start + size)
            highs = [high for _, high in values(a[part], either[part])]
            lows = [low for low, _ in values(b[part], either[part])]
            result[part] = subtracted(np.maximum(*highs), np.minimum(*lows))
        return result, np.zeros(a.size, dtype=bool)

    def values(lines: Ints, either: Ints) -> list[tuple[Floats, Floats]]:
        of_sides = []
        for cells, turned in zip(filled, (0, 1), strict=True):
            worth = turned * (np.arange(int(either.max(initial=0))) < either[:, None]).astype(np.float64)
            facts = EnumeratedFacts(rankings.facts, int(rankings.topic[0]), worth, graded=False)
            lists = completed(rankings, cells[lines], lines, facts, np.arange(lines.size))
            of_sides.append(value_ends(measure, lists, assumptions))
        return of_sides

    return greatest
