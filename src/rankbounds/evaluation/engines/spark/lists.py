"""What tasks find and the driver needs: the scores of lists, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints, Words
from rankbounds.collection.run import Run
from rankbounds.columns.ids import Ids
from rankbounds.errors import RankboundsWarning
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.spark.packed_rows import PackedRows, RunKey
from rankbounds.evaluation.score_sheet import ScoreSheet
from rankbounds.measures import Measure
from rankbounds.rankings.join import empty_rankings, slices_of
from rankbounds.rankings.topic_facts import TopicFacts

LISTS_TO_DRIVER = 20_000
"""How many lists a task hands to the driver with their scores, where little data lets hope for few."""


@dataclass(frozen=True)
class Lists:
    """The scores of one run on some topics: arrays with an axis of topics, and behind it one of measures."""

    run: RunKey
    query_ids: Ids
    value: Floats
    low: Floats
    high: Floats
    judged: Floats
    tie_range: Floats
    tied: Flags
    missing: Flags
    """Which topics the run lacks."""
    relevant: Flags
    """Which topics have relevant documents."""
    parts: Floats | None = None
    """An axis of ``PARTS`` before the others."""
    label: str | None = None
    """What the run calls itself, where the driver could not know."""
    unknown: list[str] = field(default_factory=list)
    """Topics of the run that nobody judged."""
    said: list[RankboundsWarning] = field(default_factory=list)
    prepared: Ints | None = None
    """What was done to the run before it was scored, in numbers."""

    def __len__(self) -> int:
        return len(self.query_ids)


def lists_of(
    run: Run | None, key: RunKey, facts: TopicFacts, measures: Sequence[Measure], assumptions: Assumptions
) -> Lists:
    """A run's scores on those of the judged topics that it has; without a run, the scores of empty lists on all."""
    sheet = ScoreSheet(len(facts.query_ids), measures, assumptions)
    unknown: list[str] = []
    if run is None:
        chosen: Ints = np.arange(len(facts.query_ids))
        if assumptions.topics == "judged":
            sheet.fill([lambda: [empty_rankings(chosen, facts)]])
    else:
        topic = facts.qrels.pairs.index.topics_of(run.pairs)
        rows = np.bincount(run.pairs.topic, minlength=topic.size)
        unknown = [run.pairs.topics[number] for number in np.flatnonzero(topic < 0).tolist()]
        chosen = topic[topic >= 0]
        sheet.fill(slices_of(run, facts, topic, assumptions.order, assumptions.score_precision))
        emptied = topic[(topic >= 0) & (rows == 0)]  # every document of the list was left out before
        if emptied.size:
            sheet.fill([lambda: [empty_rankings(emptied, facts)]])
    return Lists(
        key,
        Ids.of([facts.query_ids[number] for number in chosen.tolist()]),
        sheet.value[chosen],
        sheet.low[chosen],
        sheet.high[chosen],
        sheet.judged[chosen],
        sheet.tie_range[chosen],
        sheet.tied[chosen],
        np.full(chosen.size, run is None),
        (facts.relevant(1.0) > 0)[chosen],
        None if sheet.parts is None else sheet.parts[:, chosen],
        unknown=unknown,
    )


def some_lists(lists: Lists, rows: Ints, run: RunKey | None = None) -> Lists:
    """Some of the lists, under another key if one is given; what was noticed by the way is left out."""
    columns = ("value", "low", "high", "judged", "tie_range", "tied", "missing", "relevant")
    return replace(
        lists,
        run=lists.run if run is None else run,
        query_ids=lists.query_ids.take(rows),
        parts=None if lists.parts is None else lists.parts[:, rows],
        unknown=[],
        said=[],
        prepared=None,
        **{name: getattr(lists, name)[rows] for name in columns},
    )


@dataclass(frozen=True)
class Sums:
    """What the driver keeps of a run's scores: sums, with an axis of measures, and a hash of every topic."""

    run: RunKey
    hashes: Words
    count: Ints
    """On how many topics a measure has a value."""
    value: Floats
    low: Floats
    high: Floats
    squares: Floats
    """Squared distances of values from their mean, summed."""
    parts: Floats | None
    topics: int
    """How many topics were scored."""
    judged: float
    tied: int
    tie_range: float
    with_tie_range: int
    missing: list[str]
    without_relevant: list[str]
    label: str | None
    unknown: list[str]
    said: list[RankboundsWarning]
    prepared: Ints

    @classmethod
    def of(cls, lists: Lists) -> Sums:
        """The sums over some lists."""
        counted = ~np.isnan(lists.value)
        count = counted.sum(axis=0)

        def total(array: Floats) -> Floats:
            return np.where(counted, array, 0.0).sum(axis=-2)

        value = total(lists.value)
        with np.errstate(invalid="ignore"):  # of infinite scores
            distance = np.where(counted, lists.value - value / np.maximum(count, 1), 0.0)
            squares = (distance**2).sum(axis=0)
        known, seen = ~np.isnan(lists.tie_range), ~np.isnan(lists.judged)
        return cls(
            lists.run,
            lists.query_ids.hashes(),
            count,
            value,
            total(lists.low),
            total(lists.high),
            squares,
            None if lists.parts is None else total(lists.parts),
            int(seen.sum()),
            float(lists.judged[seen].sum()),
            int(lists.tied.sum()),
            float(lists.tie_range[known].sum()),
            int(known.sum()),
            lists.query_ids.take(np.flatnonzero(lists.missing)).to_list(),
            lists.query_ids.take(np.flatnonzero(~lists.relevant)).to_list(),
            lists.label,
            lists.unknown,
            lists.said,
            np.zeros(4, dtype=np.int64) if lists.prepared is None else lists.prepared,
        )

    def __add__(self, other: Sums) -> Sums:
        """The sums over the lists of both, which are of one run."""
        count = self.count + other.count
        with np.errstate(invalid="ignore"):
            apart = other.value / np.maximum(other.count, 1) - self.value / np.maximum(self.count, 1)
            between = np.where(self.count * other.count > 0, apart**2 * self.count * other.count, 0.0)
            squares = self.squares + other.squares + between / np.maximum(count, 1)
        return Sums(
            self.run,
            np.concatenate((self.hashes, other.hashes)),
            count,
            self.value + other.value,
            self.low + other.low,
            self.high + other.high,
            squares,
            None if self.parts is None or other.parts is None else self.parts + other.parts,
            self.topics + other.topics,
            self.judged + other.judged,
            self.tied + other.tied,
            self.tie_range + other.tie_range,
            self.with_tie_range + other.with_tie_range,
            self.missing + other.missing,
            self.without_relevant + other.without_relevant,
            self.label or other.label,
            self.unknown + other.unknown,
            self.said + other.said,
            self.prepared + other.prepared,
        )


@dataclass(frozen=True)
class Edges:
    """Rows of lists that may go on in other partitions; ``mixed`` where lists were found not to stand together."""

    rows: list[PackedRows]
    mixed: bool = False


Found = Lists | Edges
"""What a task hands on."""


def summed(found: Iterable[Found]) -> Iterator[Sums | Edges]:
    """The sums of each run in a partition, and the edges as they are."""
    sums: dict[RunKey, Sums] = {}
    for part in found:
        if isinstance(part, Edges):
            yield part
        else:
            sums = added(sums, [part])
    yield from sums.values()


def added(sums: dict[RunKey, Sums], lists: Iterable[Lists]) -> dict[RunKey, Sums]:
    """The sums with those of further lists."""
    total = dict(sums)
    for part in map(Sums.of, lists):
        total[part.run] = total[part.run] + part if part.run in total else part
    return total


def unless_many(found: Iterable[Found]) -> Iterator[Found | None]:
    """What was found in a partition, as far as it is little enough for the driver; None behind it if there is more."""
    lists = 0
    for part in found:
        lists += len(part) if isinstance(part, Lists) else 0
        if lists > LISTS_TO_DRIVER:
            yield None
            return
        yield part
