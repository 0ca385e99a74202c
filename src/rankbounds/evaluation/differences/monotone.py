"""Measures of the list alone that never fall with more relevance: only shared documents have to be tried.

What it means: how far A can be ahead of B. An unjudged document that A alone holds helps A (or does it no harm) when it
is relevant, and one that B alone holds when it is not: both are settled without any search. What is left are the
documents that stand in both lists.

Why it is right: of the shared documents, those that stand highest are judged in all possible ways. Where these are all
there are, the greatest difference found is attained. The others are taken to be relevant in A and not relevant in B,
which is more than any judgments give: an outer bound, and a close one, since what stands low counts little.

For graded measures a document's extremes are enough where the value is linear in what each document is worth, as a
difference of two such values is; else all its gains are tried.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.completions import (
    EnumeratedFacts,
    cells_to_fill,
    completed,
    subtracted,
    value_ends,
    worths,
)
from rankbounds.evaluation.differences.greatest import CELLS, Found, Greatest
from rankbounds.evaluation.differences.shared_lists import Documents
from rankbounds.measures import Measure
from rankbounds.rankings.rankings import Rankings

WORK = 1 << 14
"""So many cells of lists may be filled for one pair of lists."""
AT_MOST = 10
"""So many shared documents are tried."""


def greatest_when_monotone(
    measure: Measure, rankings: Rankings, documents: Documents, assumptions: Assumptions
) -> Greatest:
    """How large the difference of any two of the lists can be."""
    choices = worths(measure, rankings.facts)
    if measure.multilinear:
        choices = choices[[0, -1]]
    least, most = (choices[-1], choices[0]) if measure.lower_is_better else (choices[0], choices[-1])
    cells = cells_to_fill(measure, rankings, assumptions)
    width = cells.shape[-1]
    holes = rankings.holes[:, :width]
    raised, lowered = np.where(holes, most, cells), np.where(holes, least, cells)  # to the greatest and least value
    tried = 0
    while tried < AT_MOST and choices.size ** (tried + 1) * width <= WORK:
        tried += 1
    listed, ranks = documents.tables
    facts = EnumeratedFacts(rankings.facts, int(rankings.topic[0]), np.zeros((1, 0)), graded=measure.graded)

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = np.empty(a.size), np.empty(a.size, dtype=bool)
        size = max(1, CELLS // (choices.size**tried * width + listed.shape[1]))
        for start in range(0, a.size, size):
            part = slice(start, start + size)
            result[part], exact[part] = of_some(a[part], b[part])
        return result, exact

    def of_some(a: Ints, b: Ints) -> Found:
        rank_a = ranks[a[:, None], listed[a]]
        rank_b = ranks[b[:, None], listed[a]]
        # A document that one list holds only below what the measure reads counts in the other alone.
        shared = (rank_a > 0) & (rank_b > 0) & (rank_a <= width) & (rank_b <= width)
        count = np.count_nonzero(shared, axis=-1)
        number = min(tried, int(count.max(initial=0)))
        highest = np.argsort(np.where(shared, np.minimum(rank_a, rank_b), 2 * rankings.width), axis=-1, kind="stable")
        highest = highest[:, :number]
        rank_a, rank_b = (np.take_along_axis(np.where(shared, rank, 0), highest, axis=-1) for rank in (rank_a, rank_b))
        ways = (
            np.stack(np.meshgrid(*[choices] * number, indexing="ij"), axis=-1).reshape(-1, number)
            if number
            else np.zeros((1, 0))
        )
        _, high = ends(a, raised, rank_a, ways)
        low, _ = ends(b, lowered, rank_b, ways)
        return subtracted(high, low).max(axis=-1), count <= number

    def ends(lines: Ints, start: Floats, ranks_tried: Ints, ways: Floats) -> tuple[Floats, Floats]:
        filled = np.repeat(start[lines][:, None], len(ways), axis=1)
        for column, rank in enumerate(ranks_tried.T):
            inside = np.flatnonzero(rank > 0)
            filled[inside, :, rank[inside] - 1] = ways[:, column]
        many = np.repeat(lines, len(ways))
        lists = completed(rankings, filled.reshape(-1, width), many, facts, np.zeros_like(many))
        low, high = value_ends(measure, lists, assumptions)
        return low.reshape(lines.size, -1), high.reshape(lines.size, -1)

    return greatest
