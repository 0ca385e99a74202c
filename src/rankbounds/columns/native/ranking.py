"""Rows of a run, or dicts, looked up in judgments and ranked by the kernel; scores shuffled within every topic.

The twin of ``rankings.join`` and ``collection.order``, and of NumPy's ``permuted`` in ``stats.corrections``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns import native
from rankbounds.columns.hash_tables import HashTable
from rankbounds.columns.ids import Ids
from rankbounds.columns.native.keys import Table, address_of, flags, float64, int32, int64, text_bytes, uint64

if TYPE_CHECKING:
    from rankbounds.columns.pairs import Pairs

ORDERS = {"run": 0, "line": 1, "trec": 2, "docid": 3}
"""The orders of tied documents that the kernel knows."""


class RankedLists:
    """Rows of a run ranked by the kernel: lists one after the other, each in rank order."""

    def __init__(self, rows: int, keep_rows: bool, keep_judgments: bool) -> None:
        self.grade = np.empty(rows)
        self.tied: Flags = np.empty(rows, dtype=bool)
        self.row = np.empty(rows, dtype=np.int64) if keep_rows else None
        self.judgment = np.empty(rows, dtype=np.int32) if keep_judgments else None
        self.length = np.empty(rows, dtype=np.int64)
        self.topic = np.empty(rows, dtype=np.int64)

    def addresses(self) -> tuple[int, ...]:
        rows = self.grade.size
        return (
            float64(self.grade, rows),
            flags(self.tied, rows),
            0 if self.row is None else int64(self.row, rows),
            0 if self.judgment is None else int32(self.judgment, rows),
            int64(self.length, rows),
            int64(self.topic, rows),
        )

    def cut(self, made: int) -> RankedLists | None:
        """Return the lists, cut to as many as were made; None if the kernel left them to Python."""
        if made < 0:
            return None
        self.length, self.topic = self.length[:made], self.topic[:made]
        return self


class RunRows:
    """The rows of a run, ready to be looked up in a table and ranked, slice by slice."""

    def __init__(
        self, pairs: Pairs, score: Floats, judged_topic: Ints, table: Table, grade: Floats, order: int
    ) -> None:
        self.count = count = len(pairs)
        text, start = pairs.docs.text, np.ascontiguousarray(pairs.docs.start, np.int64)
        length, topic = (np.ascontiguousarray(column, np.int32) for column in (pairs.docs.length, pairs.topic))
        score, grade = np.ascontiguousarray(score, np.float64), np.ascontiguousarray(grade, np.float64)
        keys, judged_topic = np.ascontiguousarray(pairs.keys), np.ascontiguousarray(judged_topic, np.int64)
        self.kept = text, start, length, score, keys, topic, judged_topic, grade, table
        self.documents = (
            text_bytes(text, 0),
            int64(start, count),
            int32(length, count),
            float64(score, count),
            uint64(keys, count),
            int32(topic, count),
        )
        self.judged_topic = int64(judged_topic, 0)
        self.judgments = (*table.addresses, float64(grade, table.count))
        self.order = order

    def ranked(self, rows: slice | Ints, keep_rows: bool, keep_judgments: bool) -> RankedLists | None:
        """Return the lists of the judged topics in these rows, in which every topic's rows are adjacent."""
        if native.kernel is None:
            return None
        if isinstance(rows, slice):
            chosen, first, count = 0, rows.start, rows.stop - rows.start
            inside = 0 <= first <= rows.stop <= self.count
        else:
            rows = np.ascontiguousarray(rows, np.int64)
            chosen, first, count = int64(rows, rows.size), 0, rows.size
            inside = not count or 0 <= rows.min() <= rows.max() < self.count
        if not inside:
            raise IndexError("rows beyond the end of the run")
        lists = RankedLists(count, keep_rows, keep_judgments)
        wanted = chosen, first, count, self.judged_topic
        return lists.cut(
            native.kernel.rank_lists(*self.documents, *wanted, *self.judgments, self.order, *lists.addresses())
        )


def order_in_groups(value: Floats, start: Ints, falling: bool) -> Ints | None:
    if native.kernel is None or value.dtype != np.float64 or not value.size:
        return None
    count, groups = value.size, start.size
    value, start = np.ascontiguousarray(value), np.ascontiguousarray(start, np.int64)
    if start[0] < 0 or start[-1] > count or (start[1:] < start[:-1]).any():
        raise IndexError("groups beyond the end of the column")
    order = np.empty(count, dtype=np.int64)
    status = native.kernel.order_in_groups(
        float64(value, count), count, int64(start, groups), groups, int(falling), int64(order, count)
    )
    return None if status < 0 else order


def block_of(column: NDArray[Any], beyond: float, start: Ints, length: Ints, width: int) -> NDArray[Any] | None:
    if native.kernel is None or not column.flags.c_contiguous:
        return None
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int64)
    lacking = min(int(start.min()), int(length.min())) < 0
    if lacking or int(length.max()) > width or int((start + length).max()) > column.size:
        raise IndexError("lists beyond the end of the column")
    lists, kind = length.size, column.dtype.type
    block, filler = np.empty((lists, width), dtype=kind), np.array([beyond], dtype=kind)
    stretches = int64(start, lists), int64(length, lists), lists, width
    given = address_of(column, kind, 0), column.itemsize
    native.kernel.fill_block(*given, *stretches, address_of(filler, kind, 1), address_of(block, kind, block.size))
    return block


class Seen(NamedTuple):
    """Documents that came twice: one query's behind the other's, with their judgments."""

    lists: Ints
    """The topics of the queries, and how many documents each has: the same documents may be cut elsewhere."""
    documents: list[str]
    judgment: Ints


NOTHING_SEEN = Seen(np.empty((2, 0), dtype=np.int64), [], np.empty(0, dtype=np.int32))


class HeldDocuments:
    """Judged documents as dicts, found by the hashes that Python's strings carry.

    While a ranker is trained, the same documents come with new scores. The first query's of each run are remembered,
    and all of a run that begins like the last: if they are the same objects again, none is looked up.
    """

    def __init__(self, docs: Ids, topic: Ints, topics: int, grade: Floats) -> None:
        count = len(docs)
        hashes = docs.string_hashes
        if hashes is None:
            hashes = np.fromiter(map(hash, docs.to_list()), np.int64, count)
        table = HashTable(hashes.view(np.uint64), topic, topics)
        self.usable = not table.crowded and not table.refused.size and table.row.dtype == np.int32
        self.topics = topics
        judgments = np.empty((count, 4), dtype=np.uint64)  # what is read of a judgment, together
        judgments[:, 0], judgments[:, 1], judgments[:, 2] = table.keys[:count], docs.start, docs.length
        judgments[:, 3] = grade.astype(np.float64).view(np.uint64)
        self.kept = docs.text, judgments, table
        self.places = (
            text_bytes(docs.text, 0),
            uint64(judgments, 4 * count),
            int64(table.begin, topics),
            int64(table.last, topics),
            int32(table.row, 0),
        )
        self._last: tuple[list[Any], Seen] = [], NOTHING_SEEN  # replaced as a whole, so that threads may share this

    def ranked(
        self, of_query: list[dict[Any, Any]], topic: Ints, order: str, *, single: bool, keep_judgments: bool
    ) -> RankedLists | None:
        """Return documents and scores of queries with these judged topics, or -1, as ranked lists; None: odd ones."""
        if not self.usable or order not in ORDERS or set(map(type, of_query)) != {dict} or native.kernel is None:
            return None
        if topic.size != len(of_query) or topic.max(initial=-1) >= self.topics:
            raise IndexError("topics that nobody judged")
        lengths = list(map(len, of_query))
        count = sum(lengths)
        cut = np.empty((2, topic.size), dtype=np.int64)
        cut[0], cut[1] = topic, lengths
        lists = RankedLists(count, keep_rows=False, keep_judgments=keep_judgments)
        grade, tied, _, *others = lists.addresses()
        (begun, seen), begins = self._last, list(of_query[0])
        alike = begins == begun
        if not np.array_equal(cut, seen.lists):
            seen = NOTHING_SEEN
        # What is kept is what the kernel looks up: it fills both, or neither where another thread changed a dict.
        found = np.empty(count if alike and not seen.documents else 0, dtype=np.int32)
        documents: list[Any] = [None] * found.size
        again = np.zeros(1, dtype=np.int64)
        made = native.kernel.rank_dicts(
            *(of_query, seen.documents, documents, count),
            *(int64(cut[0], topic.size), int64(cut[1], topic.size)),
            *self.places,
            *(ORDERS[order], int(single)),
            *(grade, tied, *others),
            int32(seen.judgment, len(seen.documents)),
            int32(found, count) if found.size else 0,
            int64(again, 1),
        )
        if made >= 0:
            if found.size:
                seen = Seen(cut, documents, found)
            self._last = begins, seen if again[0] or found.size else NOTHING_SEEN
        return lists.cut(made)


def shuffled_means_by_kernel(
    values: Floats, generator: np.random.Generator, resamples: int, step: int
) -> Iterator[Floats] | None:
    """Yield the means over topics of ``step`` resamples at a time, by measure and system; None: left to NumPy.

    ``values`` has axes topic, system, measure. The shuffles are those of ``permuted``, if the generator is a new one of
    NumPy's default kind.
    """
    if native.kernel is None or type(generator.bit_generator) is not np.random.PCG64:
        return None
    return _means(np.ascontiguousarray(values), generator, resamples, step)


def _means(values: Floats, generator: np.random.Generator, resamples: int, step: int) -> Iterator[Floats]:
    topics, systems, measures = values.shape
    random = np.zeros(native.built.RANDOM_WORDS, dtype=np.uint64)  # words that were drawn, and are not used up yet
    scratch, sums = np.empty(2 * systems, dtype=np.int32), np.empty(systems * measures)
    for begin in range(0, resamples, step):
        means = np.empty((min(step, resamples - begin), measures, systems))
        native.built.shuffled_means(
            *(generator.bit_generator.capsule, uint64(random, random.size)),
            *(float64(values, values.size), topics, systems, measures, len(means)),
            *(int32(scratch, scratch.size), float64(sums, sums.size), float64(means, means.size)),
        )
        yield means
