"""Which lists of a partition are whole, found out without a shuffle.

A list is what one run retrieved for one topic. Where rows stand together list by list, every list between the first and
the last of a run in a partition is whole: its neighbours prove where it begins and ends. The first and the last may go
on in other partitions; these edges are handed to the driver, which puts together what belongs together. That the lists
are whole is then certain if no list turned up twice, which the driver sees when all partitions are done. A partition in
which a list goes on after another began gives up at once, and all rows are shuffled by topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from rankbounds.collection.run import Run
from rankbounds.columns.ids import Ids
from rankbounds.evaluation.engines.spark.packed_rows import PackedRows, RunKey, run_of
from rankbounds.files.topic_batches import TopicsMet

EDGE_ROWS = 1 << 18
"""How many rows of its edges a partition hands to the driver at most."""


class MixedListsError(Exception):
    """A list went on after another had begun, or the edges of a partition are too large for the driver."""


@dataclass
class WholeLists:
    """Takes the rows of a partition piece by piece, and gives whole lists back; ``edges`` may go on elsewhere."""

    edges: list[PackedRows] = field(default_factory=list)
    _open: dict[RunKey, list[PackedRows]] = field(default_factory=dict)
    """Of each run the list that was met last, which may go on."""
    _begun: set[RunKey] = field(default_factory=set)
    """Runs whose first list here is known to have ended."""
    _met: dict[RunKey, TopicsMet] = field(default_factory=dict)

    def of(self, key: RunKey, piece: Run) -> Iterator[Run]:
        """The lists that are whole now that this piece of a run is known."""
        topic = piece.pairs.topic
        starts = np.flatnonzero(np.diff(topic, prepend=-1))
        names = Ids.of([piece.pairs.topics[number] for number in topic[starts].tolist()])
        before = self._open.pop(key, [])
        goes_on = bool(before) and before[0].topics == [names.raw(0)]
        self._reject_mixed(key, names.take(slice(int(goes_on), None)))
        first_end, last = int(starts[1]) if starts.size > 1 else topic.size, int(starts[-1])
        first = _packed(key, piece, 0, first_end)
        if before and not goes_on:
            yield from self._ended(key, before, piece.name)
            before = []
        if starts.size == 1:
            self._open[key] = [*before, first]
            return
        yield from self._ended(key, [*before, first], piece.name)
        if last > first_end:
            inner = piece.take(slice(first_end, last))
            yield Run(piece.name, inner.pairs.without_unused_topics(), inner.score, lambda: inner.stated_rank)
        self._open[key] = [_packed(key, piece, last, topic.size)]

    def end(self) -> None:
        """There are no more pieces: lists that are open may go on elsewhere."""
        for parts in self._open.values():
            self._hand_over(parts)
        self._open.clear()

    def _reject_mixed(self, key: RunKey, new: Ids) -> None:
        """Raise if a topic of the run that seemed complete goes on."""
        hashes = new.hashes()
        if hashes.size and (np.unique(hashes).size < hashes.size or self._met.setdefault(key, TopicsMet()).add(hashes)):
            raise MixedListsError

    def _ended(self, key: RunKey, parts: list[PackedRows], name: str) -> Iterator[Run]:
        """A list that has ended is whole, unless it is the first of its run here: that may have begun elsewhere."""
        if key in self._begun:
            yield run_of(parts, name)
        else:
            self._begun.add(key)
            self._hand_over(parts)

    def _hand_over(self, parts: list[PackedRows]) -> None:
        self.edges += parts
        if sum(map(len, self.edges)) > EDGE_ROWS:
            raise MixedListsError


def _packed(key: RunKey, piece: Run, begin: int, end: int) -> PackedRows:
    part = piece.take(slice(begin, end))
    return PackedRows.of(key, part.pairs, part.score, part.stated_rank)
