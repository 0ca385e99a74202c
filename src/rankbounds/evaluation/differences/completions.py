"""Lists whose unjudged documents have got judgments, many ways at once, for any measure to read.

A completion is one way to judge all unjudged documents of a topic. The judgments of each completion are the facts of a
topic of their own (how many documents are relevant, the ideal gains), so that the measure's own formula scores all of
them in one call: nothing about the measure needs to be known here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.gains import GainRule
from rankbounds.evaluation.differences.shared_lists import CELLS, Documents, Found, Greatest, OpenTopic, in_parts
from rankbounds.measures import Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts

WORK = 1 << 17
"""So many cells of lists may be filled for one pair of lists, where all documents are tried."""
WORK_OF_SHARED, MOST_SHARED = 1 << 14, 10
"""The same where shared documents are tried, and how many of them at most."""


class EnumeratedFacts(CompletedFacts):
    """What the judgments say of one topic under each of several completions, which are its topics here.

    ``worth`` has a line for each completion and a column for each unjudged document: its gain, or, for a measure that
    asks only whether documents are relevant, 1 or 0.
    """

    def __init__(self, rankings: Rankings, worth: Floats, *, graded: bool) -> None:
        facts, topic = rankings.facts, int(rankings.topic[0])
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


def cells_to_fill(measure: Measure, topic: OpenTopic) -> Floats:
    """The lists' cells as completions read them: gains for graded measures, else grades; no deeper than is read."""
    rankings = topic.rankings
    cells = np.where(rankings.present, rankings.assume(0.0).gain(), 0.0) if measure.graded else rankings.grade
    if measure.cutoff is not None and not measure.judged_only and rankings.tied is None:
        return cells[:, : measure.depth(rankings)]
    return cells


def completed_ends(
    measure: Measure, topic: OpenTopic, cells: Floats, lines: Ints, facts: TopicFacts, completion: Ints
) -> tuple[Floats, Floats]:
    """The least and the greatest value of lists with these cells, each of a line and a completion among the facts.

    Lists are judged in full then: what is left open lies beyond their ends, or in the order of ties if asked for.
    """
    tied = None if topic.rankings.tied is None else topic.rankings.tied[lines, : cells.shape[-1]]
    tied = tied if tied is not None and tied.any() else None
    lists = Rankings(cells, topic.rankings.length[lines], completion, facts, tied)
    if topic.assumptions.bounds == "both" or measure.has_residual:
        ends = topic.assumptions.low_high(measure, lists)
        if ends is not None:
            return ends
        if tied is not None:
            return (unknown := np.full(lists.length.shape, np.nan)), unknown
    return (value := topic.assumptions.value(measure, lists)), value


def ends_are_attained(measure: Measure) -> bool:
    """Are the least and the greatest value of fully judged lists attained, whatever lies beyond them?"""
    return not (measure.has_residual and measure.exactness == "outer")


def subtracted(one: Floats, other: Floats) -> Floats:
    """One minus other; two searches that never end differ by nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, one - other)


def possible_worths(measure: Measure, facts: TopicFacts) -> Floats:
    """What an unjudged document may turn out to be: any gain; for binary measures 0 or the least relevant grade."""
    if not measure.graded:
        return np.array([0.0, measure.rel])
    return np.unique(np.append(facts.levels, facts.nonrelevant_gain))


def every_way(choices: Floats, number: int) -> Floats:
    """Every way to give this many documents one of the choices each, a line for each way."""
    if not number:
        return np.zeros((1, 0))
    return np.stack(np.meshgrid(*[choices] * number, indexing="ij"), axis=-1).reshape(-1, number)


def pairs_by_number(
    documents: Documents, a: Ints, b: Ints, pairs: Ints, most: int, cells: int
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Of these pairs those with equally many unjudged documents at a time, at most so many, and their ranks in A, B."""
    for start in range(0, pairs.size, size := max(1, CELLS // cells)):
        some = pairs[start : start + size]
        ranks = documents.of_either(a[some], b[some])
        there = (ranks[0] > 0) | (ranks[1] > 0)
        count = np.count_nonzero(there, axis=-1)
        for number in np.unique(count[count <= most]).tolist():
            alike = np.flatnonzero(count == number)
            first = np.argsort(~there[alike], axis=-1, kind="stable")[:, :number]
            rank_a, rank_b = (np.take_along_axis(rank[alike], first, axis=-1) for rank in ranks)
            yield some[alike], rank_a, rank_b


def greatest_of_all(measure: Measure, topic: OpenTopic) -> Greatest:
    """Few unjudged documents: all judgments that they can get, one by one, for any measure whatever.

    What it means: the greatest difference that any judgments give. Why it is right: there are no others. It takes as
    many values of the measure as there are ways to judge the documents of both lists, so that it is for few of them;
    where it is too much work nothing is said here (NaN), and another argument has to answer.
    """
    rankings, documents = topic.rankings, topic.documents
    choices = possible_worths(measure, rankings.facts)
    cells = cells_to_fill(measure, topic)
    width = cells.shape[-1]
    most = 0
    while choices.size ** (most + 1) * width <= WORK:
        most += 1

    def greatest(a: Ints, b: Ints) -> Found:
        result = np.full(a.size, np.nan)
        few = np.flatnonzero(np.maximum(documents.held[a], documents.held[b]) <= most)
        for pairs, *ranks in pairs_by_number(documents, a, b, few, most, 2 * most + 1):
            ways = every_way(choices, ranks[0].shape[1])
            facts = EnumeratedFacts(rankings, ways, graded=measure.graded)
            for start in range(0, pairs.size, size := max(1, CELLS // (len(ways) * width))):
                part = slice(start, start + size)
                (_, high), (low, _) = (
                    _ends(measure, topic, cells, lines[pairs[part]], rank[part], ways, facts)
                    for lines, rank in zip((a, b), ranks, strict=True)
                )
                result[pairs[part]] = subtracted(high, low).max(axis=-1)
        return result, ~np.isnan(result) & ends_are_attained(measure)

    return greatest


def _ends(
    measure: Measure, topic: OpenTopic, cells: Floats, lines: Ints, ranks: Ints, ways: Floats, facts: TopicFacts
) -> tuple[Floats, Floats]:
    """By list and way the least and the greatest value, the documents at these ranks judged in every way.

    The facts have each way for a topic, or one topic for all of them where other documents change nothing.
    """
    filled = np.repeat(cells[lines][:, None], len(ways), axis=1)
    for column, rank in enumerate(ranks.T):
        inside = np.flatnonzero((rank > 0) & (rank <= cells.shape[-1]))
        filled[inside, :, rank[inside] - 1] = ways[:, column]
    completion = np.arange(len(ways)) if len(facts.query_ids) > 1 else np.zeros(len(ways), dtype=np.int64)
    lists = filled.reshape(-1, cells.shape[-1])
    low, high = completed_ends(
        measure, topic, lists, np.repeat(lines, len(ways)), facts, np.tile(completion, lines.size)
    )
    return low.reshape(lines.size, -1), high.reshape(lines.size, -1)


def greatest_when_monotone(measure: Measure, topic: OpenTopic) -> Greatest:
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
    rankings = topic.rankings
    choices = possible_worths(measure, rankings.facts)
    if measure.multilinear:
        choices = choices[[0, -1]]
    least, most = (choices[-1], choices[0]) if measure.lower_is_better else (choices[0], choices[-1])
    cells = cells_to_fill(measure, topic)
    width = cells.shape[-1]
    holes = rankings.holes[:, :width]
    raised, lowered = np.where(holes, most, cells), np.where(holes, least, cells)  # to the greatest and least value
    tried = 0
    while tried < MOST_SHARED and choices.size ** (tried + 1) * width <= WORK_OF_SHARED:
        tried += 1
    listed, ranks = topic.documents.tables
    facts = EnumeratedFacts(rankings, np.zeros((1, 0)), graded=measure.graded)

    def greatest(a: Ints, b: Ints) -> Found:
        rank_a, rank_b = (ranks[side[:, None], listed[a]] for side in (a, b))
        # A document that one list holds only below what the measure reads counts in the other alone.
        shared = (rank_a > 0) & (rank_b > 0) & (rank_a <= width) & (rank_b <= width)
        count = np.count_nonzero(shared, axis=-1)
        number = min(tried, int(count.max(initial=0)))
        highest = np.argsort(np.where(shared, np.minimum(rank_a, rank_b), 2 * rankings.width), axis=-1, kind="stable")
        rank_a, rank_b = (
            np.take_along_axis(np.where(shared, rank, 0), highest[:, :number], axis=-1) for rank in (rank_a, rank_b)
        )
        ways = every_way(choices, number)
        _, high = _ends(measure, topic, raised, a, rank_a, ways, facts)
        low, _ = _ends(measure, topic, lowered, b, rank_b, ways, facts)
        return subtracted(high, low).max(axis=-1), count <= number

    return lambda a, b: in_parts(greatest, a, b, choices.size**tried * width + listed.shape[1])
