"""The documents that runs retrieved, each once; the unjudged ones of a run, and what each would add to a topic's score.

That a document is unjudged says something itself: no run that was pooled had it near the top. So ranks in runs whose
first documents are (nearly) all judged, as pooling leaves them, are told apart from ranks in the other runs; and since
a good system's rank says more than a poor one's, runs are grouped by how often their judged documents are relevant.
Without that, the top documents of a poor run that came too late for the pool would look as good as the pool's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import Pairs, number_pairs
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.scoring import join_lists
from rankbounds.measures import Measure, RankWeighted, parse_measures
from rankbounds.measures.formulas import is_weighted_sum, quotient
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS, group_means
from rankbounds.rankings.topic_facts import TopicFacts

POOLED_DEPTH, POOLED_SHARE = 5, 0.95
"""A run looks pooled when at least this share of its first documents, down to this depth, is judged."""
POOLED = f"{POOLED_SHARE:.0%} of the first {POOLED_DEPTH} documents"
"""The same in words."""
GROUPS = 6
"""Into how many groups of about the same quality runs that look pooled are put at most, and the others too."""


@dataclass(frozen=True, eq=False)
class RetrievedDocuments:
    """Every document that some run retrieved for a judged topic, once: where and how often, and its grade if judged."""

    topic: Ints
    best_rank: Ints
    """A row for each group of runs; ``nowhere`` where none of the group has the document."""
    retrieved_by: Ints
    grade: Floats
    group: dict[str, int]
    """The group of each run."""
    pooled: dict[str, bool]
    """For each run, does it look pooled: are its first documents judged?"""
    nowhere: int
    by_run: dict[str, Ints]
    """For each run, the document that stands in each row of its table (-1: of a topic without judgments)."""

    @property
    def judged(self) -> Flags:
        """Which are judged."""
        return ~np.isnan(self.grade)


def find_retrieved(
    runs: Sequence[Run],
    facts: TopicFacts,
    assumptions: Assumptions,
    rankings_of_runs: Sequence[list[Rankings]] | None = None,
) -> RetrievedDocuments:
    """All documents that the runs retrieved; ``rankings_of_runs`` are those of ``join_lists``, if at hand."""
    numbers = number_pairs([run.pairs for run in runs])
    size = max((int(number.max(initial=-1)) for number in numbers), default=-1) + 1
    batches = rankings_of_runs or [list(join_lists(run, facts, assumptions).batches) for run in runs]
    pooled = [looks_pooled(parts) for parts in batches]
    group = _groups(batches, pooled, [run.name for run in runs])
    topic, retrieved_by, grade = np.full(size, -1), np.zeros(size, dtype=np.int64), np.full(size, np.nan)
    key = np.zeros(size, dtype=np.uint64)
    for run, number in zip(runs, numbers, strict=True):
        key[number] = run.pairs.keys
    nowhere = 1 + max(rankings.width for parts in batches for rankings in parts)
    best_rank = np.full((max(group) + 1, size), nowhere)
    for parts, number, its_group in zip(batches, numbers, group, strict=True):
        ranks = best_rank[its_group]
        for rankings in parts:
            assert rankings.row is not None
            line, rank = np.nonzero(rankings.row >= 0)
            document = number[rankings.row[line, rank]]
            topic[document] = rankings.topic[line]
            retrieved_by[document] += 1
            ranks[document] = np.minimum(ranks[document], rank + 1)
            grade[document] = rankings.grade[line, rank]
    # Documents stand in an order that does not depend on that of the runs, so that sums over them do not either.
    order = np.argsort(key)
    order = order[topic[order] >= 0]
    place = np.full(size, -1)
    place[order] = np.arange(order.size)
    return RetrievedDocuments(
        topic[order],
        best_rank[:, order],
        retrieved_by[order],
        grade[order],
        {run.name: its_group for run, its_group in zip(runs, group, strict=True)},
        {run.name: looks for run, looks in zip(runs, pooled, strict=True)},
        nowhere,
        {run.name: place[number] for run, number in zip(runs, numbers, strict=True)},
    )


def looks_pooled(parts: list[Rankings]) -> bool:
    """Are a run's first documents judged, as pooling leaves them?"""
    first = np.concatenate([batch.holes[:, :POOLED_DEPTH][batch.present[:, :POOLED_DEPTH]] for batch in parts])
    return bool(first.size) and float(first.mean()) <= 1 - POOLED_SHARE


def _groups(batches: Sequence[list[Rankings]], pooled: list[bool], names: Sequence[str]) -> list[int]:
    """A group for each run: those that look pooled and the others apart, in each part by quality, then by name."""
    quality = []
    for parts in batches:
        # The rate of relevance among judged documents, higher ranks counting more.
        discount = [(batch.present & ~batch.holes) / np.arange(1, batch.width + 1) for batch in parts]
        met = sum(float((batch.relevant() * each).sum()) for batch, each in zip(parts, discount, strict=True))
        quality.append(met / max(sum(float(each.sum()) for each in discount), 1e-300))
    group = np.zeros(len(batches), dtype=np.int64)
    used = 0
    for looks_pooled in (True, False):
        members = np.flatnonzero(np.array(pooled) == looks_pooled)
        ordered = members[np.lexsort((np.array(names)[members], -np.array(quality)[members]))]
        for part in np.array_split(ordered, min(GROUPS, max(1, ordered.size))):
            group[part] = used
            used += bool(part.size)
    return group.tolist()


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
    if not (open_tail := measure.open_tail(rankings)).any():
        return
    weights = measure.weights(reach)
    end = rankings.length if measure.cutoff is None else np.minimum(rankings.length, measure.cutoff)
    worth = quotient(open_tail, measure.tail(end))  # of the best document
    for topic, length, most in zip(rankings.topic, end.tolist(), worth.tolist(), strict=True):
        rank = np.arange(length + 1, reach + 1)
        yield np.full(rank.size, topic), rank, weights[length:] * most, np.full(rank.size, -1)
