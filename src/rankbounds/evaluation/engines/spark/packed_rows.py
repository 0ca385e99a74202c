"""Rows of a run or of judgments on their way between Spark's tasks: a few arrays of bytes, no object for each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError

RunKey = int | str
"""What a run is known by among tasks: the number of its file, or its name in a frame."""
JUDGMENTS = -1
"""What stands in the place of a run's key in rows that are judgments."""


@dataclass(frozen=True)
class PackedRows:
    """Rows of one run, or of judgments, in the order given."""

    run: RunKey
    topics: list[bytes]
    topic: Ints
    docs: bytes
    lengths: Ints
    value: Floats
    ranks: Ints | None

    @classmethod
    def of(cls, run: RunKey, pairs: Pairs, value: Floats, ranks: Ints | None) -> PackedRows:
        """Pairs with what goes with them; topics that have no row are left out."""
        used = pairs.without_unused_topics()
        docs, _ = used.docs.packed()
        names = [name.encode("utf-8", "surrogateescape") for name in used.topics]
        lengths, topic = used.docs.length.astype(np.int32), used.topic.astype(np.int32)
        return cls(run, names, topic, docs.tobytes(), lengths, np.ascontiguousarray(value), ranks)

    def __len__(self) -> int:
        return self.topic.size


def pairs_of(parts: Sequence[PackedRows], place: str) -> tuple[Pairs, Floats, Ints | None]:
    """All rows of these parts, with their values and, where there are any, their ranks."""
    numbers: dict[bytes, int] = {}
    topic = [
        np.array([numbers.setdefault(name, len(numbers)) for name in part.topics], dtype=np.int64)[part.topic]
        for part in parts
    ]
    lengths = np.concatenate([part.lengths for part in parts]).astype(np.int64)
    docs = Ids.of_bytes(b"".join(part.docs for part in parts), lengths)
    topics = [name.decode("utf-8", "surrogateescape") for name in numbers]
    ranks = [part.ranks for part in parts if part.ranks is not None]
    return (
        Pairs.numbered(topics, np.concatenate(topic), docs, Source(place)),
        np.concatenate([part.value for part in parts]),
        np.concatenate(ranks) if len(ranks) == len(parts) else None,
    )


def run_of(parts: Sequence[PackedRows], name: str) -> Run:
    """The run that these parts are of."""
    pairs, value, ranks = pairs_of(parts, name)
    return Run(name, pairs, value, lambda: ranks)


def by_run(parts: Iterable[PackedRows]) -> dict[RunKey, list[PackedRows]]:
    """The parts of each run."""
    runs: dict[RunKey, list[PackedRows]] = {}
    for part in parts:
        runs.setdefault(part.run, []).append(part)
    return runs


def by_topic(
    pairs: Pairs, value: Floats, ranks: Ints | None, run: RunKey, parts: int
) -> Iterator[tuple[int, PackedRows]]:
    """The rows cut into so many parts, each topic's in one: it is the same for every table that is cut so."""
    part_of_topic = (Ids.of(list(pairs.topics)).hashes() % np.uint64(parts)).astype(np.int64)
    part = part_of_topic[pairs.topic]
    order = np.argsort(part, kind="stable")
    edges = np.searchsorted(part[order], np.arange(parts + 1))
    for number in np.flatnonzero(np.diff(edges)).tolist():
        rows = order[edges[number] : edges[number + 1]]
        taken = None if ranks is None else ranks[rows]
        yield number, PackedRows.of(run, pairs.take(rows), value[rows], taken)


def reject_repeats(pairs: Pairs, value: Floats, place: str) -> None:
    """Raise for a document that stands twice in a topic, with both its values: rows have no numbers on Spark."""
    again = pairs.repeats()
    if again.size:
        row = int(again[0])
        same = (pairs.keys == pairs.keys[row]) & (pairs.topic == pairs.topic[row])
        values = " and ".join(f"{each:g}" for each in np.sort(value[same])[:2])
        raise DataError(place, f"{pairs.describe(row)} stands there twice (with {values}).", "Keep one row.")
