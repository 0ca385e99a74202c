"""The best relevant document alone counts (RR, Success): one unjudged document decides.

What it means: how far A can be ahead of B. The score is the largest weight of any relevant document (1 / rank, or 1
within the depth), 0 where there is none.

Why it is right: take any judgments, and let d be the best relevant document of A. If d is unjudged, let it be the only
unjudged one that is relevant: A's score stays, and B's cannot rise. If d was judged before, let none be relevant: the
same holds. So the greatest difference is attained with no unjudged document relevant or with one, and those of A that
stand above its best judged relevant one are the only ones to try.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.differences.shared_lists import Choice, Documents, Found, Greatest
from rankbounds.measures.formulas import BestRelevant
from rankbounds.rankings.rankings import Rankings


def _weights(measure: BestRelevant, rankings: Rankings) -> Floats:
    weights = np.zeros(rankings.width)
    depth = measure.depth(rankings)
    weights[:depth] = measure.weights(depth)
    return weights


def documents_that_matter(measure: BestRelevant) -> Choice:
    """Those that would count for more than the best judged one does."""

    def choice(rankings: Rankings) -> Flags:
        return _weights(measure, rankings) > measure.value(rankings.assume(0.0))[:, None]

    return choice


def greatest_of_best(measure: BestRelevant, rankings: Rankings, documents: Documents) -> Greatest:
    """How large the difference of any two of the lists can be."""
    known = measure.value(rankings.assume(0.0))
    weights = np.append(0.0, _weights(measure, rankings))
    listed, ranks = documents.tables

    def greatest(a: Ints, b: Ints) -> Found:
        result = known[a] - known[b]
        # The documents of one A after the other: they are few, and all B are asked at once.
        order = np.argsort(a, kind="stable")
        cuts = np.flatnonzero(np.diff(a[order])) + 1
        for pairs in np.split(order, cuts):
            if not pairs.size:
                continue
            line, others = int(a[pairs[0]]), b[pairs]
            held = listed[line, : documents.held[line]]
            if held.size:
                in_b = np.maximum(known[others][:, None], weights[ranks[others[:, None], held]])
                turned = (weights[ranks[line, held]] - in_b).max(axis=-1)
                result[pairs] = np.maximum(result[pairs], turned)
        return result, np.ones(a.size, dtype=bool)

    return greatest
