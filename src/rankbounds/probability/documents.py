"""Which runs were pooled, as far as the judgments show; the unjudged documents of a run, and what each adds to a score.

A pool holds the first documents of the runs that contributed to it, so that all of these are judged; a run that did not
contribute has unjudged documents at every depth. Documents that the judgments list as pooled and not judged (-1) count
as pooled here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.sums import TiedWeights
from rankbounds.evaluation.scoring import join_lists
from rankbounds.measures import Measure, RankWeighted, parse_measures
from rankbounds.measures.formulas import is_weighted_sum, quotient
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import TopicFacts

POOLED_DEPTH, POOLED_SHARE = 5, 0.95
"""A run looks pooled when at least this share of its first documents, down to this depth, is judged."""
POOLED = f"{POOLED_SHARE:.0%} of the first {POOLED_DEPTH} documents"
NEARLY = 0.9
"""A run that is judged to this share of the pool's depth was pooled: a few may be missing for other reasons."""


def looks_pooled(parts: list[Rankings]) -> bool:
    first = np.concatenate([batch.holes[:, :POOLED_DEPTH][batch.present[:, :POOLED_DEPTH]] for batch in parts])
    return bool(first.size) and float(first.mean()) <= 1 - POOLED_SHARE


@dataclass(frozen=True, eq=False)
class PoolDepth:
    """By run, the depth to which nearly all of its documents are judged; and the depth of the pool."""

    judged_to: Ints
    """The deepest rank such that 95% of the documents down to it, and of those at it, are in the pool; 0 for none."""
    pool: int
    """The depth that most runs are judged to; the deeper one of two that are as frequent; 0 where no run is."""

    @classmethod
    def of(cls, batches: Sequence[Sequence[Rankings]]) -> PoolDepth:
        judged_to = np.array([_judged_to(parts) for parts in batches])
        depth, count = np.unique(judged_to[judged_to > 0], return_counts=True)
        pool = int(depth[count == count.max()].max()) if depth.size else 0
        return cls(judged_to, pool)

    @property
    def pooled(self) -> Flags:
        return (self.judged_to > 0) & (self.judged_to >= NEARLY * self.pool)


def _judged_to(parts: Sequence[Rankings]) -> int:
    width = max((rankings.width for rankings in parts), default=0)
    present, known = np.zeros((2, width))
    for rankings in parts:
        present[: rankings.width] += rankings.present.sum(axis=0)
        known[: rankings.width] += (rankings.present & (~rankings.holes | rankings.pooled_holes)).sum(axis=0)
    nearly_all = (known >= POOLED_SHARE * present) & (np.cumsum(known) >= POOLED_SHARE * np.cumsum(present))
    return int(np.flatnonzero(nearly_all & (present > 0)).max(initial=-1)) + 1


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
        return ~np.isnan(self.base)

    @cached_property
    def retrieved(self) -> Flags:
        return self.row >= 0

    @cached_property
    def open(self) -> Floats:
        return self.sums(np.where(self.retrieved, self.weight, 0.0))

    @property
    def high(self) -> Floats:
        """By topic, the score when all that is unjudged is relevant, beyond the end of the list too."""
        return self.base + self.open + self.tail

    def sums(self, values: Floats) -> Floats:
        return np.bincount(self.topic, weights=values, minlength=self.base.size).astype(np.float64)

    @cached_property
    def pairs(self) -> Pairs:
        return self.run.pairs.take(self.row[self.retrieved])

    def of_topics(self, chosen: Flags) -> UnjudgedDocuments:
        return replace(self.only(chosen[self.topic]), base=np.where(chosen, self.base, np.nan))

    def only(self, chosen: Flags) -> UnjudgedDocuments:
        return replace(
            self, topic=self.topic[chosen], rank=self.rank[chosen], weight=self.weight[chosen], row=self.row[chosen]
        )


def follows_grades(measure: Measure) -> bool:
    """Is the mean over topics settled by the grades that unjudged documents turn out to have?"""
    known = measure.as_retrieved or measure.reads_judgments or measure.plain is not measure
    return not known and measure.total == "mean"


def open_measures(measures: MeasuresLike, assumptions: Assumptions) -> list[Measure]:
    """The measures, if what unjudged documents turn out to be can make their means uncertain."""
    chosen = parse_measures(measures)
    for measure in chosen:
        if measure.reads_judgments:
            raise UsageError(
                f"{measure} needs more than the grades of the judgments: a probability of relevance is not enough."
            )
        if measure.as_retrieved or measure.plain is not measure:
            raise UsageError(f"{measure} does not depend on unjudged documents.")
        if measure.total == "sum":
            raise UsageError(f"{measure} is a count, not a mean over topics.")
        if measure.total == "geometric":
            raise UsageError(f"{measure} uses a geometric mean over topics, whose distribution is not known.")
        if assumptions.ties not in ORDERS and not is_weighted_sum(measure):
            raise UsageError(f'{measure} is drawn with one order of tied documents. Use ties="trec".')
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
    """The unjudged documents of a run under a weighted sum; with ``tail`` also the ranks beyond the ends of lists."""
    if assumptions.ties not in (*ORDERS, "expected"):
        raise UsageError(
            f'Which order of tied documents is {assumptions.ties} depends on the missing judgments. Use ties="trec" or '
            '"expected".'
        )
    topics, settled = len(facts.query_ids), replace(assumptions, bounds="none", open="retrieved", most_relevant=None)
    base, beyond = np.full(topics, np.nan), np.zeros(topics)
    parts: list[tuple[Ints, Ints, Floats, Ints]] = []
    if rankings_of_run is None:
        rankings_of_run = join_lists(run, facts, assumptions).batches
    for rankings in rankings_of_run:
        weights = TiedWeights.of(measure, rankings, settled)
        base[rankings.topic] = weights.base_most
        worth = measure.worth(rankings.assume(1.0)) - measure.worth(rankings.assume(0.0))
        added = np.where(rankings.holes, weights.most * worth, 0.0)
        heavy = added > WEIGHTLESS
        beyond[rankings.topic] = measure.open_tail(rankings) + np.where(heavy, 0.0, added).sum(axis=-1)
        line, rank = np.nonzero(heavy)
        assert rankings.row is not None
        parts.append((rankings.topic[line], rank + 1, added[line, rank], rankings.row[line, rank]))
        if tail:
            parts += _beyond(rankings, measure)
    topic, rank, weight, row = (np.concatenate(column) for column in zip(*parts, strict=True))
    return UnjudgedDocuments(run, facts, base, beyond, topic, rank, weight, row)


def _beyond(rankings: Rankings, measure: RankWeighted) -> Iterator[tuple[Ints, Ints, Floats, Ints]]:
    reach = 64
    while float(measure.tail(np.array([reach]))[0]) > NEGLIGIBLE and reach < 1 << 20:
        reach *= 2
    if not (open_tail := measure.open_tail(rankings)).any():
        return
    weights = measure.weights(reach)
    end = rankings.length if measure.cutoff is None else np.minimum(rankings.length, measure.cutoff)
    worth = quotient(open_tail, measure.tail(end))  # of the best document
    for topic, length, most in zip(rankings.topic, end.tolist(), worth.tolist(), strict=True):
        rank = np.arange(length + 1, reach + 1)
        yield np.full(rank.size, topic), rank, weights[length:] * most, np.full(rank.size, -1)
