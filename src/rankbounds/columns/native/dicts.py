"""Python's dicts: the twin of how ``files.named_columns`` reads them, and ``rankings.join`` ranks their lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns import native
from rankbounds.columns.hash_tables import HashTable
from rankbounds.columns.ids import PADDING, Ids
from rankbounds.columns.native.keys import address_of
from rankbounds.columns.native.lists import ORDERS, RankedLists


def ids_and_numbers(of_query: list[dict[Any, Any]], lengths: Ints) -> tuple[Ids, Floats] | None:
    """The keys of dicts of these lengths, which are text, and their values, finite numbers; None: left to Python."""
    if native.kernel is None:
        return None
    count = int(lengths.sum())
    (length, hashes), numbers = np.empty((2, count), dtype=np.int64), np.empty(count)
    lines = native.kernel.read_dicts(
        of_query,
        address_of(lengths, np.int64, len(of_query)),
        count,
        PADDING,
        address_of(length, np.int64, count),
        address_of(numbers, np.float64, count),
        address_of(hashes, np.int64, count),
    )
    if lines is None:
        return None
    start = PADDING + np.cumsum(length + 1) - length - 1
    return Ids(np.frombuffer(lines, dtype=np.uint8), start, length, hashes), numbers


class Seen(NamedTuple):
    """Documents that came twice: one query's behind the other's, with their judgments."""

    lists: Ints
    """The topics of the queries, and how many documents each has: the same documents may be cut elsewhere."""
    documents: list[str]
    judgment: Ints


NOTHING_SEEN = Seen(np.empty((2, 0), dtype=np.int64), [], np.empty(0, dtype=np.int32))


class HeldDocuments:
    """Judged documents as dicts have them: found by the hashes that Python's strings carry.

    While a ranker is trained, the same documents come with new scores. Of each run the first query's are remembered,
    and of one that begins as the last did all: where they are the same objects once more, none is looked up.
    """

    def __init__(self, docs: Ids, topic: Ints, topics: int, grade: Floats) -> None:
        count = len(docs)
        hashes = docs.string_hashes
        if hashes is None:
            hashes = np.fromiter(map(hash, docs.to_list()), np.int64, count)
        table = HashTable(hashes.view(np.uint64), topic, topics)
        self.usable = table.crowded is None and not table.refused.size and table.row.dtype == np.int32
        self.topics = topics
        judgments = np.empty((count, 4), dtype=np.uint64)  # what is read of a judgment, together
        judgments[:, 0], judgments[:, 1], judgments[:, 2] = table.keys[:count], docs.start, docs.length
        judgments[:, 3] = grade.astype(np.float64).view(np.uint64)
        self.kept = docs.text, judgments, table
        self.places = (
            address_of(docs.text, np.uint8, 0),
            address_of(judgments, np.uint64, 4 * count),
            address_of(table.begin, np.int64, topics),
            address_of(table.last, np.int64, topics),
            address_of(table.row, np.int32, 0),
        )
        self._last: tuple[list[Any], Seen] = [], NOTHING_SEEN  # replaced as a whole, so that threads may share this

    def ranked(
        self, of_query: list[dict[Any, Any]], topic: Ints, order: str, *, single: bool, keep_judgments: bool
    ) -> RankedLists | None:
        """Documents and scores of queries whose judged topics are these, or -1, as ranked lists; None: odd ones."""
        if not self.usable or order not in ORDERS or set(map(type, of_query)) != {dict}:
            return None
        if native.kernel is None:
            return None
        if topic.size != len(of_query) or topic.max(initial=-1) >= self.topics:
            raise IndexError("topics that nobody judged")
        lengths = list(map(len, of_query))
        count = sum(lengths)
        cut = np.empty((2, topic.size), dtype=np.int64)
        cut[0], cut[1] = topic, lengths
        lists = RankedLists(count, keep_rows=False, keep_judgments=keep_judgments)
        (begun, seen), begins = self._last, list(of_query[0])
        alike = begins == begun
        if not np.array_equal(cut, seen.lists):
            seen = NOTHING_SEEN
        # What is kept is what the kernel looks up: it fills both, or neither where another thread changed a dict.
        found = np.empty(count if alike and not seen.documents else 0, dtype=np.int32)
        documents: list[Any] = [None] * found.size
        again = np.zeros(1, dtype=np.int64)
        made = native.kernel.rank_dicts(
            of_query,
            seen.documents,
            documents,
            count,
            address_of(cut[0], np.int64, topic.size),
            address_of(cut[1], np.int64, topic.size),
            *self.places,
            ORDERS[order],
            int(single),
            address_of(lists.grade, np.float64, count),
            address_of(lists.tied, np.bool_, count),
            0 if lists.judgment is None else address_of(lists.judgment, np.int32, count),
            address_of(lists.length, np.int64, count),
            address_of(lists.topic, np.int64, count),
            address_of(seen.judgment, np.int32, len(seen.documents)),
            address_of(found, np.int32, count) if found.size else 0,
            address_of(again, np.int64, 1),
        )
        if made < 0:
            return None
        if found.size:
            seen = Seen(cut, documents, found)
        self._last = begins, seen if again[0] or found.size else NOTHING_SEEN
        lists.length, lists.topic = lists.length[:made], lists.topic[:made]
        return lists


def dict_of_rows(rows: list[str], columns: list[str], values: Floats) -> dict[str, dict[str, float]]:
    """``{row: {column: value}}``, of names that are text."""
    if values.shape != (len(rows), len(columns)):
        raise IndexError("names of other rows and columns")
    if native.kernel is None:
        each = zip(rows, values.tolist(), strict=True)
        return {row: dict(zip(columns, numbers, strict=True)) for row, numbers in each}
    values = np.ascontiguousarray(values, np.float64)
    made: dict[str, dict[str, float]] = native.kernel.dict_of_rows(
        rows, columns, address_of(values, np.float64, values.size)
    )
    return made
