"""Bounds of differences for any measure: by enumerating judgments, or from each list's own least and greatest value.

A completion is one way to judge all unjudged documents of a topic; it becomes a topic with its own facts, so that the
measure's formula scores all completions in one call. Otherwise the difference is at most A's greatest value minus B's
least, an outer bound, because one document may count as relevant for A and not for B.

With ``open="collection"``, relevant documents that neither list holds count too (``Rankings.room``). Where both lists
are divided by the same number (nDCG, recall, AP), they shrink B's lead where A is behind whatever the judgments: for a
weighted sum to its least numerator over the largest divisor; for others (AP) to the lead without them, shrunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.gains import GainRule
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.shared_lists import CELLS, Found, Greatest, OpenTopic, in_parts
from rankbounds.evaluation.differences.sums import TiedWeights
from rankbounds.measures import Measure
from rankbounds.measures.formulas import Normalised, quotient
from rankbounds.rankings.documents import RetrievedDocuments
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts

WORK = 1 << 17
"""So many cells of lists may be filled for one pair of lists, where all documents are tried."""
WORK_OF_SHARED, MOST_SHARED = 1 << 14, 10
"""The same where shared documents are tried, and how many of them at most."""


class EnumeratedFacts(CompletedFacts):
    """One topic's facts under several completions, which act as topics; ``worth`` has a row for each."""

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
    rankings = topic.rankings
    cells = np.where(rankings.present, rankings.assume(0.0).gain(), 0.0) if measure.graded else rankings.grade
    if measure.cutoff is not None and not measure.judged_only and rankings.tied is None:
        return cells[:, : measure.depth(rankings)]
    return cells


def completed_ends(
    measure: Measure, topic: OpenTopic, cells: Floats, lines: Ints, facts: TopicFacts, completion: Ints
) -> tuple[Floats, Floats]:
    """Compute the least and the greatest value of lists with these cells, for each list and completion."""
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
    return not (measure.has_residual and measure.exactness == "outer")


def subtracted(one: Floats, other: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.where(one == other, 0.0, one - other)


def possible_worths(measure: Measure, facts: TopicFacts) -> Floats:
    if not measure.graded:
        return np.array([0.0, measure.rel])
    largest = measure.largest_gain(facts)
    return np.unique([*facts.levels[facts.levels < largest], facts.nonrelevant_gain, largest])


def every_way(choices: Floats, number: int) -> Floats:
    if not number:
        return np.zeros((1, 0))
    return np.stack(np.meshgrid(*[choices] * number, indexing="ij"), axis=-1).reshape(-1, number)


def pairs_by_number(
    documents: RetrievedDocuments, a: Ints, b: Ints, pairs: Ints, most: int, cells: int
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Group pairs by their number of unjudged documents, up to a limit, with ranks in A and B."""
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
    """Find the greatest difference by trying all judgments of few unjudged documents; NaN where they are too many."""
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
    """Bound the difference for measures of the list alone that never fall with more relevance.

    An unjudged document that only A holds is best for A when relevant, and one that only B holds when not. Of shared
    ones, the highest-ranked are judged in all ways; any others count as relevant in A alone, an outer bound. The
    extreme grades suffice where the value is linear in each document's worth, as it is not in the best or worst order.
    """
    rankings = topic.rankings
    choices = possible_worths(measure, rankings.facts)
    one_order = (
        rankings.tied is None or topic.assumptions.bounds == "both" or topic.assumptions.ties not in ("best", "worst")
    )
    if measure.multilinear and one_order:
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


def greatest_of_ends(measure: Measure, topic: OpenTopic) -> Greatest:
    rankings, documents = topic.rankings, topic.documents
    # Of documents outside the list, those judged not to be relevant can count for measures of judged documents.
    outside = "either" if measure.judged_only else measure.outside
    if outside == "raises" and measure.monotone and not (measure.list_only or measure.graded):
        return _greatest_of_all_or_none(measure, topic)
    least, most = topic.assumptions.low_high(measure, rankings) or (None, None)
    if not measure.list_only:  # documents outside the list may lower the least, or raise the greatest value
        least = least if outside == "lowers" and measure.lower_is_better else None
        most = most if outside == "lowers" and not measure.lower_is_better else None
    low, high = _within_range(measure, rankings, least, most)
    if not measure.list_only and (np.isnan(low).any() or np.isnan(high).any()):
        # To either list, the other one's documents are like any that it lacks.
        known_relevant = float(_known_relevant(measure, rankings).max(initial=0))
        opened = rankings.open_to(known_relevant + documents.most_of_two)
        outer = replace(topic.assumptions, open="collection").low_high(measure, opened)
        if outer is not None:
            low, high = np.where(np.isnan(low), outer[0], low), np.where(np.isnan(high), outer[1], high)
    relevant_known = rankings.assume(0.0).num_relevant(measure.rel)

    def greatest(a: Ints, b: Ints) -> Found:
        relevant = relevant_known[b] + documents.held[a] + documents.held[b] - documents.overlap[a, b]
        least = measure.least_among(rankings, b, relevant)
        return subtracted(high[a], low[b] if least is None else least), np.zeros(a.size, dtype=bool)

    return greatest


def _within_range(
    measure: Measure, rankings: Rankings, low: Floats | None, high: Floats | None
) -> tuple[Floats, Floats]:
    least, most = (
        np.full(rankings.length.size, limit if np.isfinite(limit) else np.nan) for limit in measure.value_range
    )
    if low is not None:
        least = np.where(np.isnan(low), least, low)
    return least, most if high is None else np.fmin(np.where(np.isnan(high), most, high), most)


def _greatest_of_all_or_none(measure: Measure, topic: OpenTopic) -> Greatest:
    rankings, documents = topic.rankings, topic.documents

    def number_of_either(a: Ints, b: Ints) -> Ints:
        shared = documents.overlap[a, b].astype(np.int64)
        return np.asarray(documents.held[a] + documents.held[b] - shared)

    def greatest(a: Ints, b: Ints) -> Found:
        either = number_of_either(a, b)
        highs, lows = ([ends(lines, either, turned)[end] for turned in (0, 1)] for lines, end in ((a, 1), (b, 0)))
        return subtracted(np.maximum(*highs), np.minimum(*lows)), np.zeros(a.size, dtype=bool)

    def ends(lines: Ints, either: Ints, turned: int) -> tuple[Floats, Floats]:
        cells = np.where(rankings.holes, turned * measure.rel, rankings.grade)[lines]
        worth = turned * (np.arange(int(either.max(initial=0))) < either[:, None]).astype(np.float64)
        facts = EnumeratedFacts(rankings, worth, graded=False)
        return completed_ends(measure, topic, cells, lines, facts, np.arange(lines.size))

    return lambda a, b: in_parts(greatest, a, b, rankings.width + int(number_of_either(a, b).max(initial=0)) + 1)


def has_room(measure: Measure, rankings: Rankings) -> bool:
    if measure.judged_only:  # judged documents that are not relevant count too, and there is no limit to them
        return True
    return bool(rankings.room(_known_relevant(measure, rankings)).any()) or _all_gain(measure, rankings)


def greatest_of_shrunk(measure: Measure, rankings: Rankings, retrieved: Greatest) -> Greatest | None:
    """Shrink the greatest differences by such documents; None: they do not divide both lists by the same."""
    shrinkage = measure.shrinkage(rankings)
    if shrinkage is None:
        return None
    judged = rankings.num_holes == 0

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = retrieved(a, b)
        behind = result < 0
        return np.where(behind, result * shrinkage[a], result), exact & (~behind | (judged[a] & judged[b]))

    return greatest


def greatest_of_sums(measure: Normalised, topic: OpenTopic, retrieved: Greatest) -> Greatest | None:
    rankings, documents = topic.rankings, topic.documents
    shrinkage = measure.shrinkage(rankings)
    if shrinkage is None or not rankings.length.size:
        return None
    weights = TiedWeights.of(measure, rankings, topic.assumptions)
    judged = rankings.assume(0.0)
    spread = float((measure.worth(rankings.assume(1.0)) - measure.worth(judged)).max(initial=0.0))
    divisor = measure.divisor(judged)
    room = int(min(rankings.room(_known_relevant(measure, rankings)).max(), len(documents)))

    def least_lead(a: Ints, b: Ints) -> Found:
        """Use the largest positive net weights of unjudged documents, at most as many as there is room for."""
        net = np.maximum(weights.net(documents, a, b)[0], 0.0)
        net[:, ::-1].sort(axis=-1)
        ahead = weights.base(a, b) + spread * net[:, :room].sum(axis=-1)
        return quotient(ahead, divisor[a]) * shrinkage[a], np.ones(a.size, dtype=bool)

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = retrieved(a, b)
        behind = np.flatnonzero(result < 0)
        shrunk, _ = in_parts(least_lead, a[behind], b[behind], documents.most_of_two + 1)
        result[behind] = np.maximum(result[behind], shrunk)
        return result, exact & ((result >= 0) | (not _all_gain(measure, rankings)))

    return greatest


def _known_relevant(measure: Measure, rankings: Rankings) -> Ints:
    facts = rankings.facts
    if not measure.graded:
        return facts.relevant(measure.rel)[rankings.topic]
    level = min(int(_all_gain(measure, rankings)), facts.levels.size - 1)
    return facts.count_from_level[level][rankings.topic]


def _all_gain(measure: Measure, rankings: Rankings) -> bool:
    return measure.graded and rankings.facts.nonrelevant_gain > 0


def greatest_in_collection(measure: Measure, rankings: Rankings, assumptions: Assumptions) -> Greatest:
    everything = replace(assumptions, open="collection", most_relevant=None)
    low, high = _within_range(measure, rankings, *(everything.low_high(measure, rankings) or (None, None)))
    return lambda a, b: (subtracted(high[a], low[b]), np.zeros(a.size, dtype=bool))
