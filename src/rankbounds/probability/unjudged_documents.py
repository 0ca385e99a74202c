"""The unjudged documents of a run, and what each would add to its topic's score if it were relevant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.score_sheet import join_lists
from rankbounds.measures import Measure, RankWeighted, parse_measures
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS, group_means
from rankbounds.rankings.topic_facts import TopicFacts

NEGLIGIBLE = 1e-12
"""Beyond the end of a list, ranks are counted until all that follow weigh less than this together."""
WEIGHTLESS = 1e-17
"""Lighter documents are not kept one by one: a thousand of them are less than the rounding error of a score."""


@dataclass(frozen=True, eq=False)
class UnjudgedDocuments:
    """One run's certain scores by topic, and its unjudged documents one by one.

    ``base`` is the score with unjudged documents counted as non-relevant (NaN: the topic is left out), ``tail`` the
    weight of all that lies beyond the end of the list (and of documents too light to be kept). Each document has its
    ``topic``, its ``rank``, its ``weight`` (what it adds when relevant) and the ``row`` of the run's table where it
    stands; -1: it lies beyond the end of the list.
    """

    run: Run
    facts: TopicFacts
    base: Floats
    tail: Floats
    topic: Ints
    rank: Ints
    weight: Floats
    row: Ints

    @cached_property
    def counted(self) -> Flags:
        """Which topics are scored."""
        return ~np.isnan(self.base)

    @cached_property
    def retrieved(self) -> Flags:
        """Which stand in the list."""
        return self.row >= 0

    @cached_property
    def open(self) -> Floats:
        """By topic, what its retrieved unjudged documents could add."""
        return self.sums(np.where(self.retrieved, self.weight, 0.0))

    @property
    def high(self) -> Floats:
        """By topic, the score when all that is unjudged is relevant, beyond the end of the list too."""
        return self.base + self.open + self.tail

    def sums(self, values: Floats) -> Floats:
        """Values that go with the documents, added up by topic."""
        return np.bincount(self.topic, weights=values, minlength=self.base.size).astype(np.float64)

    @cached_property
    def pairs(self) -> Pairs:
        """The retrieved ones as (query, document) pairs."""
        return self.run.pairs.take(self.row[self.retrieved])

    def of_topics(self, chosen: Flags) -> UnjudgedDocuments:
        """Those of some topics; the other topics are left out."""
        return replace(self.only(chosen[self.topic]), base=np.where(chosen, self.base, np.nan))

    def only(self, chosen: Flags) -> UnjudgedDocuments:
        """Some of the documents."""
        return replace(
            self, topic=self.topic[chosen], rank=self.rank[chosen], weight=self.weight[chosen], row=self.row[chosen]
        )


def follows_grades(measure: Measure) -> bool:
    """Is the mean over topics settled by the grades that unjudged documents turn out to have?"""
    known = measure.as_retrieved or measure.reads_judgments or measure.plain is not measure
    return not known and measure.total == "mean"


def open_measures(measures: Any, assumptions: Assumptions) -> list[Measure]:
    """The measures, if what unjudged documents turn out to be can make their means uncertain."""
    chosen = parse_measures(measures)
    for measure in chosen:
        if measure.reads_judgments:
            raise UsageError(
                f"{measure} reads more of the judgments than grades: a probability of relevance is not enough."
            )
        if measure.as_retrieved or measure.plain is not measure:
            raise UsageError(f"{measure} does not depend on what unjudged documents turn out to be.")
        if measure.total == "sum":
            raise UsageError(f"{measure} is a count, not a mean over topics.")
        if measure.total == "geometric":
            raise UsageError(f"{measure} has a geometric mean over topics, of which no distribution is known.")
        if assumptions.ties not in ORDERS and not is_weighted_sum(measure):
            raise UsageError(f'{measure} is drawn in one order of tied documents. Use ties="trec".')
    return chosen


def find_unjudged(
    run: Run,
    facts: TopicFacts,
    measure: RankWeighted,
    assumptions: Assumptions,
    *,
    tail: bool = False,
    rankings_of_run: Iterable[Rankings] | None = None,
) -> UnjudgedDocuments:
    """The unjudged documents of a run under a weighted-sum measure.

    With ``tail`` also the ranks beyond the end of each list. ``rankings_of_run`` are those of ``join_lists``, where
    they are at hand.
    """
    if assumptions.ties not in (*ORDERS, "expected"):
        raise UsageError(
            f'Which order of tied documents is {assumptions.ties} depends on the missing judgments. Use ties="trec" or '
            '"expected".'
        )
    topics = len(facts.query_ids)
    base, beyond = np.full(topics, np.nan), np.zeros(topics)
    parts: list[tuple[Ints, Ints, Floats, Ints]] = []
    if rankings_of_run is None:
        rankings_of_run = join_lists(run, facts, assumptions).batches
    for rankings in rankings_of_run:
        weight = _weights(rankings, measure, mean_over_ties=assumptions.ties == "expected")
        worth = measure.worth(rankings.assume(0.0))
        base[rankings.topic] = (worth * weight).sum(axis=-1)
        added = np.where(rankings.holes, weight * (measure.worth(rankings.assume(1.0)) - worth), 0.0)
        heavy = added > WEIGHTLESS
        beyond[rankings.topic] = measure.open_tail(rankings) + np.where(heavy, 0.0, added).sum(axis=-1)
        line, rank = np.nonzero(heavy)
        assert rankings.row is not None
        parts.append((rankings.topic[line], rank + 1, added[line, rank], rankings.row[line, rank]))
        if tail:
            parts += _beyond(rankings, measure)
    topic, rank, weight, row = (np.concatenate(column) for column in zip(*parts, strict=True))
    return UnjudgedDocuments(run, facts, base, beyond, topic, rank, weight, row)


def _weights(rankings: Rankings, measure: RankWeighted, *, mean_over_ties: bool) -> Floats:
    """What one unit of worth counts in every cell."""
    depth = measure.depth(rankings)
    weight: Floats = np.zeros(rankings.grade.shape)
    weight[:, :depth] = measure.weights(depth)
    return group_means(rankings, weight) if mean_over_ties else weight


def _beyond(rankings: Rankings, measure: RankWeighted) -> Iterator[tuple[Ints, Ints, Floats, Ints]]:
    """The ranks beyond each list's end or the measure's depth, where the measure leaves them open."""
    reach = 64
    while float(measure.tail(np.array([reach]))[0]) > NEGLIGIBLE and reach < 1 << 20:
        reach *= 2
    if not measure.open_tail(rankings).any():
        return
    weights = measure.weights(reach)
    end = rankings.length if measure.cutoff is None else np.minimum(rankings.length, measure.cutoff)
    for topic, length in zip(rankings.topic, end.tolist(), strict=True):
        rank = np.arange(length + 1, reach + 1)
        yield np.full(rank.size, topic), rank, weights[length:], np.full(rank.size, -1)
