"""Few unjudged documents: all judgments that they can get, one by one, for any measure whatever.

What it means: the greatest difference that any judgments give. Why it is right: there are no others. It takes as many
values of the measure as there are ways to judge the documents of both lists, so that it is for few of them; where it is
too much work nothing is said here (NaN), and another argument has to answer.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.completions import (
    EnumeratedFacts,
    cells_to_fill,
    completed,
    ends_are_attained,
    holes_of,
    subtracted,
    value_ends,
    worths,
)
from rankbounds.evaluation.differences.greatest import CELLS, Found, Greatest
from rankbounds.evaluation.differences.shared_lists import Documents
from rankbounds.measures import Measure
from rankbounds.rankings.rankings import Rankings

WORK = 1 << 17
"""So many cells of lists may be filled for one pair of lists."""


def greatest_of_all(
    measure: Measure,
    rankings: Rankings,
    documents: Documents,
    assumptions: Assumptions,
    elsewhere: int = 0,
) -> Greatest:
    """How large the difference of any two of the lists can be, where their unjudged documents are few."""
    choices = worths(measure, rankings.facts)
    cells = cells_to_fill(measure, rankings, assumptions)
    attained = ends_are_attained(measure)
    most = 0
    while choices.size ** (most + 1) * cells.shape[-1] <= WORK:
        most += 1

    def greatest(a: Ints, b: Ints) -> Found:
        result = np.full(a.size, np.nan)
        few = np.flatnonzero(np.maximum(documents.held[a], documents.held[b]) + elsewhere <= most)
        for start in range(0, few.size, size := max(1, CELLS // (2 * most + 1))):
            pairs = few[start : start + size]
            rank_a, rank_b = documents.of_either(a[pairs], b[pairs])
            there = (rank_a > 0) | (rank_b > 0)
            count = np.count_nonzero(there, axis=-1)
            for number in np.unique(count[count + elsewhere <= most]).tolist():
                alike = np.flatnonzero(count == number)
                ranks = holes_of(there[alike], rank_a[alike], rank_b[alike])
                result[pairs[alike]] = of_alike(a[pairs[alike]], b[pairs[alike]], *ranks)
        return result, ~np.isnan(result) & attained

    def of_alike(a: Ints, b: Ints, rank_a: Ints, rank_b: Ints) -> Floats:
        """Of pairs with equally many unjudged documents."""
        number = rank_a.shape[1] + elsewhere
        ways = (
            np.stack(np.meshgrid(*[choices] * number, indexing="ij"), axis=-1).reshape(-1, number)
            if number
            else (np.zeros((1, 0)))
        )
        facts = EnumeratedFacts(rankings.facts, int(rankings.topic[0]), ways, graded=measure.graded)
        result = np.empty(a.size)
        for start in range(0, a.size, size := max(1, CELLS // (len(ways) * cells.shape[-1]))):
            part = slice(start, start + size)
            _, high = ends(a[part], rank_a[part], ways, facts)
            low, _ = ends(b[part], rank_b[part], ways, facts)
            result[part] = subtracted(high, low).max(axis=-1)
        return result

    def ends(lines: Ints, ranks: Ints, ways: Floats, facts: EnumeratedFacts) -> tuple[Floats, Floats]:
        filled = np.repeat(cells[lines][:, None], len(ways), axis=1)
        for column, rank in enumerate(ranks.T):
            inside = np.flatnonzero((rank > 0) & (rank <= cells.shape[-1]))
            filled[inside, :, rank[inside] - 1] = ways[:, column]
        lists = completed(
            rankings,
            filled.reshape(-1, cells.shape[-1]),
            np.repeat(lines, len(ways)),
            facts,
            np.tile(np.arange(len(ways)), lines.size),
        )
        low, high = value_ends(measure, lists, assumptions)
        return low.reshape(lines.size, -1), high.reshape(lines.size, -1)

    return greatest
