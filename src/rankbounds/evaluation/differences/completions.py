"""Lists whose unjudged documents have got judgments, many ways at once, for any measure to read.

A completion is one way to judge all unjudged documents of a topic. The judgments of each completion are the facts of a
topic of their own (how many documents are relevant, the ideal gains), so that the measure's own formula scores all of
them in one call: nothing about the measure needs to be known here.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.gains import GainRule
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts


class EnumeratedFacts(TopicFacts):
    """What the judgments say of one topic under each of several completions, which are its topics here.

    ``worth`` has a line for each completion and a column for each unjudged document: its gain, or, for a measure that
    asks only whether documents are relevant, 1 or 0.
    """

    def __init__(self, facts: TopicFacts, topic: int, worth: Floats, *, graded: bool) -> None:
        self.rule = GainRule() if graded else facts.rule
        self.max_gain, self.nonrelevant_gain = facts.max_gain, facts.nonrelevant_gain
        self._facts, self._of = facts, topic
        self._worth, self._graded = worth, graded
        self._gains = worth if graded else np.where(worth > 0, facts.max_gain, facts.nonrelevant_gain)

    @property
    def some_only_pooled(self) -> bool:
        """Every document is judged."""
        return False

    def relevant(self, rel: float) -> Ints:
        """How many documents have at least this grade."""
        turned = self._worth >= rel if self._graded else self._worth > 0
        return self._facts.relevant(rel)[self._of] + np.count_nonzero(turned, axis=-1)

    @cached_property
    def judged(self) -> Ints:
        """How many documents are judged."""
        return np.full(len(self._worth), self._facts.judged[self._of] + self._worth.shape[1])

    @cached_property
    def positive(self) -> Ints:
        """How many documents have a positive gain."""
        return self._facts.positive[self._of] + np.count_nonzero(self._gains > 0, axis=-1)

    @cached_property
    def total_gain(self) -> Floats:
        """All gains, summed."""
        return self._facts.total_gain[self._of] + self._gains.sum(axis=-1)

    @cached_property
    def top_gain(self) -> Floats:
        """The largest gain, and at least 1."""
        return np.maximum(self._facts.top_gain[self._of], self._gains.max(axis=-1, initial=0.0))

    @cached_property
    def levels(self) -> Floats:
        """The gains that documents may have."""
        return self._facts.levels

    @cached_property
    def count_from_level(self) -> Ints:
        """Row by row for the levels, how many documents have at least that gain."""
        known = self._facts.count_from_level[:, self._of]
        return np.stack([
            count + np.count_nonzero(self._gains >= level, axis=-1)
            for count, level in zip(known.tolist(), self.levels, strict=True)
        ])  # fmt: skip

    def ideal(self, topic: Ints, width: int) -> Floats:
        """The largest gains, descending."""
        known = np.broadcast_to(self._facts.ideal(np.array([self._of]), width), (len(self._worth), width))
        gains = np.concatenate((known, self._gains), axis=-1)
        return -np.sort(-gains, axis=-1)[topic, :width]


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
    """One less other; two searches that never end differ by nothing."""
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
