"""Where arrays lie, ids hashed, keys that stand twice, rows found by their keys: what other modules here stand on.

The twin of the hashes in ``columns.ids`` and of ``columns.hash_tables``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Bytes, Ints, Words
from rankbounds.columns import native

_KINDS: dict[type, int] = {
    kind: ord(np.dtype(kind).kind) << 8 | np.dtype(kind).itemsize
    for kind in (np.bool_, np.uint8, np.int32, np.int64, np.uint64, np.float64)
}


def address_of(array: NDArray[Any], kind: type, size: int) -> int:
    """Where an array lies; an error unless it is as large, and of the kind, that the kernel takes it for."""
    place: int = native.built.address(array, _KINDS[kind], size)
    return place


def text_address(text: Bytes, end: int, across: int = 8) -> int:
    """The same for a text of which words are read up to ``end``, and so many bytes across it."""
    return address_of(text, np.uint8, end + across)


def hashes_of(text: Bytes, start: Ints, length: Ints) -> Words | None:
    """The hash of every id; None where that is left to NumPy."""
    rows = start.size
    if native.kernel is None or not rows:
        return None
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int64)
    if int(start.min()) < 0 or int(length.min()) < 0:
        raise IndexError("ids beyond the text")
    hashes = np.empty(rows, dtype=np.uint64)
    status: int = native.kernel.hash_ids(
        text_address(text, int((start + length).max())),
        address_of(start, np.int64, rows),
        address_of(length, np.int64, rows),
        rows,
        address_of(hashes, np.uint64, rows),
    )
    return None if status < 0 else hashes


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
