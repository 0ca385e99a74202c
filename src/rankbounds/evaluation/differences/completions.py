"""Lists whose unjudged documents have got judgments, many ways at once, for any measure to read.

A completion is one way to judge all unjudged documents of a topic. The judgments of each completion are the facts of a
topic of their own (how many documents are relevant, the ideal gains), so that the measure's own formula scores all of
them in one call: nothing about the measure needs to be known here.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.gains import GainRule
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.shared_lists import CELLS, Documents, Found, Greatest
from rankbounds.measures import Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts


class EnumeratedFacts(CompletedFacts):
    """What the judgments say of one topic under each of several completions, which are its topics here.

    ``worth`` has a line for each completion and a column for each unjudged document: its gain, or, for a measure that
    asks only whether documents are relevant, 1 or 0.
    """

    def __init__(self, facts: TopicFacts, topic: int, worth: Floats, *, graded: bool) -> None:
        completions, documents = worth.shape
        super().__init__(
            facts,
            np.full(completions, topic),
            np.full(completions, documents),
            np.repeat(np.arange(completions), documents),
            (worth if graded else np.where(worth > 0, np.inf, 0.0)).ravel(),  # relevant by any rule
            (worth if graded else np.where(worth > 0, facts.max_gain, facts.nonrelevant_gain)).ravel(),
            GainRule() if graded else None,
        )


def cells_to_fill(measure: Measure, rankings: Rankings, assumptions: Assumptions) -> Floats:
    """The lists' cells as completions read them: gains for graded measures, else grades; no deeper than is read."""
    cells = np.where(rankings.present, rankings.assume(0.0).gain(), 0.0) if measure.graded else rankings.grade
    settled = rankings.tied is None or assumptions.bounds != "both"
    if measure.cutoff is not None and not measure.judged_only and rankings.tied is None and settled:
        return cells[:, : measure.depth(rankings)]
    return cells


def completed(rankings: Rankings, cells: Floats, lines: Ints, facts: TopicFacts, completion: Ints) -> Rankings:
    """Lists with these cells: for each the line that it comes from, and its completion among those of the facts."""
    width = cells.shape[-1]
    tied = None if rankings.tied is None else rankings.tied[lines, :width]
    return Rankings(cells, rankings.length[lines], completion, facts, tied if tied is not None and tied.any() else None)


def ends_are_attained(measure: Measure) -> bool:
    """Are the least and the greatest value of fully judged lists attained, whatever lies beyond them?"""
    return not (measure.has_residual and measure.exactness == "outer")


def value_ends(measure: Measure, lists: Rankings, assumptions: Assumptions) -> tuple[Floats, Floats]:
    """The least and the greatest value of fully judged lists: what lies beyond their ends, and orders if asked for."""
    if assumptions.bounds == "both" or measure.has_residual:
        ends = assumptions.low_high(measure, lists)
        if ends is not None:
            return ends
        if lists.tied is not None:
            unknown = np.full(lists.length.shape, np.nan)
            return unknown, unknown
    return (value := assumptions.value(measure, lists)), value


def subtracted(one: Floats, other: Floats) -> Floats:
    """One minus other; two searches that never end differ by nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, one - other)


def worths(measure: Measure, facts: TopicFacts) -> Floats:
    """What an unjudged document may turn out to be: any gain; for binary measures 0 or the least relevant grade."""
    if not measure.graded:
        return np.array([0.0, measure.rel])
    return np.unique(np.append(facts.levels, facts.nonrelevant_gain))


def holes_of(there: Flags, *ranks: Ints) -> tuple[Ints, ...]:
    """Ranks of documents that are there, moved to the front of each line, which all have equally many."""
    number = int(np.count_nonzero(there[0])) if len(there) else 0
    order = np.argsort(~there, axis=-1, kind="stable")[:, :number]
    return tuple(np.take_along_axis(rank, order, axis=-1) for rank in ranks)


WORK = 1 << 17
"""So many cells of lists may be filled for one pair of lists."""


def greatest_of_all(
    measure: Measure,
    rankings: Rankings,
    documents: Documents,
    assumptions: Assumptions,
    elsewhere: int = 0,
) -> Greatest:
    """Few unjudged documents: all judgments that they can get, one by one, for any measure whatever.

    What it means: the greatest difference that any judgments give. Why it is right: there are no others. It takes as
    many values of the measure as there are ways to judge the documents of both lists, so that it is for few of them;
    where it is too much work nothing is said here (NaN), and another argument has to answer.
    """
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


WORK_OF_SHARED = 1 << 14
"""So many cells of lists may be filled for one pair of lists."""
AT_MOST = 10
"""So many shared documents are tried."""


def greatest_when_monotone(
    measure: Measure, rankings: Rankings, documents: Documents, assumptions: Assumptions
) -> Greatest:
    """Measures of the list alone that never fall with more relevance: only shared documents have to be tried.

    What it means: how far A can be ahead of B. An unjudged document that A alone holds helps A (or does it no harm)
    when it is relevant, and one that B alone holds when it is not: both are settled without any search. What is left
    are the documents that stand in both lists.

    Why it is right: of the shared documents, those that stand highest are judged in all possible ways. Where these are
    all there are, the greatest difference found is attained. The others are taken to be relevant in A and not relevant
    in B, which is more than any judgments give: an outer bound, and a close one, since what stands low counts little.

    For graded measures a document's extremes are enough where the value is linear in what each document is worth, as a
    difference of two such values is; else all its gains are tried.
    """
    choices = worths(measure, rankings.facts)
    if measure.multilinear:
        choices = choices[[0, -1]]
    least, most = (choices[-1], choices[0]) if measure.lower_is_better else (choices[0], choices[-1])
    cells = cells_to_fill(measure, rankings, assumptions)
    width = cells.shape[-1]
    holes = rankings.holes[:, :width]
    raised, lowered = np.where(holes, most, cells), np.where(holes, least, cells)  # to the greatest and least value
    tried = 0
    while tried < AT_MOST and choices.size ** (tried + 1) * width <= WORK_OF_SHARED:
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
