"""Keys that stand twice, and rows found by their keys: the twin of ``columns.hash_tables``."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Bytes, Ints, Words
from rankbounds.columns import native
from rankbounds.columns.native.addresses import address_of


def none_repeated(keys: Words, topic: Ints) -> bool:
    """Is it sure that no key stands twice in a topic? The rows of each topic stand together."""
    if native.kernel is None or topic.dtype != np.int32 or not (keys.flags.c_contiguous and topic.flags.c_contiguous):
        return False
    rows = keys.size
    repeated: int = native.kernel.any_repeated(
        address_of(keys, np.uint64, rows), address_of(topic, np.int32, rows), rows
    )
    return repeated == 0


def topic_ends(topic: Ints) -> Ints | None:
    """Where the rows of each topic end, if they stand together in rising order of topics."""
    if native.kernel is None or topic.dtype != np.int32 or not topic.flags.c_contiguous:
        return None
    rows = topic.size
    ends = np.empty(rows, dtype=np.int64)
    topics = native.kernel.topic_ends(address_of(topic, np.int32, rows), rows, address_of(ends, np.int64, rows))
    return None if topics < 0 else ends[:topics]


def fill_table(keys: Words, topic: Ints, begin: Ints, last: Ints, row: Ints) -> bool:
    """Give every row a place in its topic's stretch of the table; False where that is left to NumPy."""
    if native.kernel is None or row.dtype != np.int32:
        return False
    rows, stretches = topic.size, begin.size
    topic = np.ascontiguousarray(topic, dtype=np.int64)
    if rows and not 0 <= topic.min() <= topic.max() < stretches:
        return False
    keys = np.ascontiguousarray(keys)
    status: int = native.kernel.fill_table(
        address_of(keys, np.uint64, rows),
        address_of(topic, np.int64, rows),
        rows,
        address_of(begin, np.int64, stretches),
        address_of(last, np.int64, stretches),
        address_of(row, np.int32, 0),
    )
    if status < 0:
        row.fill(-1)
    return status == 0


class Table:
    """Judgments as the kernel looks documents up in them; what it is made of must be kept, and is kept here."""

    def __init__(self, text: Bytes, start: Ints, length: Ints, begin: Ints, last: Ints, row: Ints) -> None:
        self.count, topics = start.size, begin.size
        start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int32)
        words = last // 64 + 1
        first_word = np.cumsum(words) - words
        places = np.empty((int(words.sum()), 2), dtype=np.int64)
        ids = np.empty((self.count, 4), dtype=np.int64)
        self.kept = (text, ids, places, first_word, last)
        ours = (
            address_of(text, np.uint8, 0),
            address_of(ids, np.int64, ids.size),
            address_of(places, np.int64, places.size),
            address_of(first_word, np.int64, topics),
            address_of(last, np.int64, topics),
        )
        gathered = native.built.gather_ids(
            ours[0],
            address_of(start, np.int64, self.count),
            address_of(length, np.int32, self.count),
            self.count,
            address_of(begin, np.int64, topics),
            ours[4],
            topics,
            address_of(row, np.int32, int(last.sum()) + topics),
            ours[3],
            ours[2],
            ours[1],
        )
        if gathered != self.count:
            raise IndexError("a table of other rows")
        self.addresses = ours
