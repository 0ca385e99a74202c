"""Lines of fields, read by the kernel: the twin of the parsing in ``files.trec``."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Bytes, Ints
from rankbounds.columns import native
from rankbounds.columns.ids import PADDING
from rankbounds.columns.native.keys import address_of, text_address


def count_lines(text: Bytes, begin: int, stop: int) -> int | None:
    """How many newlines stand in ``text[begin:stop]``."""
    if native.kernel is None:
        return None
    count: int = native.kernel.count_lines(text_address(text, stop), begin, stop)
    return count


def holds_nul(text: Bytes, begin: int, stop: int) -> bool:
    """Is there a NUL in ``text[begin:stop]``?"""
    if native.kernel is None:
        return bool(text[begin:stop].min(initial=1) == 0)
    holds: bool = native.kernel.holds_nul(address_of(text, np.uint8, stop), begin, stop)
    return holds


def merged_topics(text: Bytes, start: Ints, length: Ints) -> tuple[tuple[str, ...], Ints] | None:
    """The distinct ids in order of first appearance, and for every one the number of it.

    They stand in a text of lines, so that none holds a newline.
    """
    if native.kernel is None:
        return None
    count = start.size
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int32)
    place = text_address(text, int((start + length).max(initial=0)))
    number, length_of_first = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    first = np.empty(count, dtype=np.int64)
    topics = native.kernel.merge_topics(
        place,
        address_of(start, np.int64, count),
        address_of(length, np.int32, count),
        count,
        address_of(number, np.int32, count),
        address_of(first, np.int64, count),
        address_of(length_of_first, np.int32, count),
    )
    return None if topics < 0 else (_names(place, first[:topics], length_of_first[:topics]), number)


def renumber(topic: Ints, number: Ints) -> None:
    """Give every row of a column the number that stands in the place of its own."""
    if native.kernel is None or topic.dtype != np.int32 or not topic.flags.c_contiguous:
        topic[:] = number[topic]
        return
    number = np.ascontiguousarray(number, np.int32)
    places = address_of(topic, np.int32, topic.size), topic.size, address_of(number, np.int32, number.size), number.size
    if native.kernel.renumber(*places) < 0:
        raise IndexError("a topic without a number")


def names_in_lines(text: Bytes, start: Ints, length: Ints) -> tuple[str, ...] | None:
    """Ids that stand in a text of lines."""
    if native.kernel is None:
        return None
    return _names(address_of(text, np.uint8, 0), start, length)


def _names(place: int, start: Ints, length: Ints) -> tuple[str, ...]:
    count = start.size
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int32)
    joined = np.empty(int(length.sum()) + count, dtype=np.uint8)
    native.built.write_ids(
        place,
        address_of(start, np.int64, count),
        address_of(length, np.int32, count),
        count,
        address_of(joined, np.uint8, joined.size),
    )
    return tuple(joined.tobytes().decode("utf-8", "surrogateescape").split("\n")[:-1])


class Lines:
    """Columns for so many lines, to be filled block by block."""

    def __init__(self, rows: int) -> None:
        self.topic = np.empty(rows, dtype=np.int32)
        self.start = np.empty(rows, dtype=np.int64)
        self.length = np.empty(rows, dtype=np.int32)
        self.keys = np.empty(rows, dtype=np.uint64)
        self.value = np.empty(rows, dtype=np.float64)

    def __getitem__(self, rows: slice) -> Lines:
        part = object.__new__(Lines)
        for name, column in vars(self).items():
            setattr(part, name, column[rows])
        return part

    def parse(
        self, text: Bytes, block: tuple[int, int], fields: int, query: int, doc: int, value: int
    ) -> tuple[int, Ints, Ints] | None:
        """Fill the columns from a block of lines. How many rows it has, and where its topics stand, with their lengths.

        ``fields`` is how many a line has, the others say which of them holds what.
        """
        rows = self.topic.size
        if native.kernel is None or not 0 <= max(query, doc, value) < fields:
            return None
        topic_start, topic_length = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int32)
        read, topics = native.kernel.parse_lines(
            text_address(text, block[1], across=PADDING - 1),
            *block,
            fields,
            query,
            doc,
            value,
            rows,
            address_of(self.topic, np.int32, rows),
            address_of(self.start, np.int64, rows),
            address_of(self.length, np.int32, rows),
            address_of(self.keys, np.uint64, rows),
            address_of(self.value, np.float64, rows),
            address_of(topic_start, np.int64, rows),
            address_of(topic_length, np.int32, rows),
        )
        return None if read < 0 else (read, topic_start[:topics], topic_length[:topics])
