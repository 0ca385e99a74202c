"""Addresses of arrays, hashes of ids, repeated keys, rows found by their keys: what the other modules here need.

The twin of the hashes in ``columns.ids`` and of ``columns.hash_tables``.
"""

from __future__ import annotations

from collections.abc import Callable
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
    return native.built.address(array, _KINDS[kind], size)


def _addresses(kind: type) -> Callable[[NDArray[Any], int], int]:
    code = _KINDS[kind]
    return lambda array, size: native.built.address(array, code, size)


int32, int64, uint64, float64, flags, text_bytes = map(
    _addresses, (np.int32, np.int64, np.uint64, np.float64, np.bool_, np.uint8)
)


def text_address(text: Bytes, end: int, across: int = 8) -> int:
    """Return the address of a text whose words are read up to ``end``, and up to ``across`` bytes beyond it."""
    return text_bytes(text, end + across)


def hashes_of(text: Bytes, start: Ints, length: Ints) -> Words | None:
    rows = start.size
    if native.kernel is None or not rows:
        return None
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int64)
    if int(start.min()) < 0 or int(length.min()) < 0:
        raise IndexError("ids beyond the text")
    hashes = np.empty(rows, dtype=np.uint64)
    place = text_address(text, int((start + length).max()))
    status = native.kernel.hash_ids(place, int64(start, rows), int64(length, rows), rows, uint64(hashes, rows))
    return None if status < 0 else hashes


def none_repeated(keys: Words, topic: Ints) -> bool:
    """Return whether certainly no key is repeated in a topic. The rows of each topic must be adjacent."""
    if native.kernel is None or topic.dtype != np.int32 or not (keys.flags.c_contiguous and topic.flags.c_contiguous):
        return False
    rows = keys.size
    return bool(native.kernel.any_repeated(uint64(keys, rows), int32(topic, rows), rows) == 0)


def topic_ends(topic: Ints) -> Ints | None:
    if native.kernel is None or topic.dtype != np.int32 or not topic.flags.c_contiguous:
        return None
    rows = topic.size
    ends = np.empty(rows, dtype=np.int64)
    topics = native.kernel.topic_ends(int32(topic, rows), rows, int64(ends, rows))
    return None if topics < 0 else ends[:topics].copy()  # a view would keep a number for each row


def fill_table(keys: Words, topic: Ints, begin: Ints, last: Ints, row: Ints) -> bool:
    if native.kernel is None or row.dtype != np.int32:
        return False
    rows, stretches = topic.size, begin.size
    topic = np.ascontiguousarray(topic, dtype=np.int64)
    if rows and not 0 <= topic.min() <= topic.max() < stretches:
        return False
    keys = np.ascontiguousarray(keys)
    table = int64(begin, stretches), int64(last, stretches), int32(row, 0)
    status: int = native.kernel.fill_table(uint64(keys, rows), int64(topic, rows), rows, *table)
    if status < 0:
        row.fill(-1)
    return status == 0


class Table:
    """Judgments for lookups by the kernel; keeps the arrays whose addresses it holds."""

    def __init__(self, text: Bytes, start: Ints, length: Ints, begin: Ints, last: Ints, row: Ints) -> None:
        count, topics = start.size, begin.size
        start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int32)
        words = last // 64 + 1
        first_word = np.cumsum(words) - words
        places = np.empty((int(words.sum()), 2), dtype=np.int64)
        ids = np.empty((count, 4), dtype=np.int64)
        self.count, self.kept = count, (text, ids, places, first_word, last)
        of_text, of_ids, of_places, of_first, of_last = self.addresses = (
            text_bytes(text, 0),
            int64(ids, ids.size),
            int64(places, places.size),
            int64(first_word, topics),
            int64(last, topics),
        )
        columns = of_text, int64(start, count), int32(length, count), count
        stretches = int64(begin, topics), of_last, topics, int32(row, int(last.sum()) + topics)
        if native.built.gather_ids(*columns, *stretches, of_first, of_places, of_ids) != count:
            raise IndexError("a table of other rows")
