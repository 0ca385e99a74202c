"""Lines of fields and Python's dicts, read by the kernel.

The twin of the parsing in ``files.trec`` and of how ``files.objects`` reads dicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Bytes, Floats, Ints, Words
from rankbounds.columns import native
from rankbounds.columns.ids import PADDING, Ids
from rankbounds.columns.native.keys import float64, int32, int64, text_address, text_bytes, uint64


def count_lines(text: Bytes, begin: int, stop: int) -> int | None:
    return None if native.kernel is None else native.kernel.count_lines(text_address(text, stop), begin, stop)


def holds_nul(text: Bytes, begin: int, stop: int) -> bool:
    if native.kernel is None:
        return bool(text[begin:stop].min(initial=1) == 0)
    return bool(native.kernel.holds_nul(text_bytes(text, stop), begin, stop))


def merged_topics(text: Bytes, start: Ints, length: Ints) -> tuple[tuple[str, ...], Ints] | None:
    """Return the distinct ids of a text of lines in order of first appearance, and the number of each."""
    if native.kernel is None:
        return None
    count = start.size
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int32)
    place = text_address(text, int((start + length).max(initial=0)))
    number, first_length = np.empty((2, count), dtype=np.int32)
    first = np.empty(count, dtype=np.int64)
    found = int32(number, count), int64(first, count), int32(first_length, count)
    topics = native.kernel.merge_topics(place, int64(start, count), int32(length, count), count, *found)
    return None if topics < 0 else (_names(place, first[:topics], first_length[:topics]), number)


def renumber(topic: Ints, number: Ints) -> None:
    if native.kernel is None or topic.dtype != np.int32 or not topic.flags.c_contiguous:
        topic[:] = number[topic]
        return
    number = np.ascontiguousarray(number, np.int32)
    if native.kernel.renumber(int32(topic, topic.size), topic.size, int32(number, number.size), number.size) < 0:
        raise IndexError("a topic without a number")


def _names(place: int, start: Ints, length: Ints) -> tuple[str, ...]:
    count = start.size
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int32)
    joined = np.empty(int(length.sum()) + count, dtype=np.uint8)
    native.built.write_ids(place, int64(start, count), int32(length, count), count, text_bytes(joined, joined.size))
    return tuple(joined.tobytes().decode("utf-8", "surrogateescape").split("\n")[:-1])


@dataclass(frozen=True)
class Lines:
    """Columns with a row for each line, to be filled block by block."""

    topic: Ints
    start: Ints
    length: Ints
    keys: Words
    value: Floats

    @classmethod
    def empty(cls, rows: int) -> Lines:
        kinds = (np.int32, np.int64, np.int32, np.uint64, np.float64)
        return cls(*(np.empty(rows, dtype=kind) for kind in kinds))  # type: ignore[arg-type]

    def __getitem__(self, rows: slice) -> Lines:
        return Lines(*(column[rows] for column in vars(self).values()))

    def parse(
        self, text: Bytes, block: tuple[int, int], fields: int, query: int, doc: int, value: int
    ) -> tuple[int, Ints, Ints] | None:
        """Fill the columns from a block of lines; return the number of rows, and its topics with their lengths."""
        rows = self.topic.size
        if native.kernel is None or not 0 <= max(query, doc, value) < fields:
            return None
        topic_start, topic_length = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int32)
        read, topics = native.kernel.parse_lines(
            *(text_address(text, block[1], across=PADDING - 1), *block),
            *(fields, query, doc, value, rows),
            *(int32(self.topic, rows), int64(self.start, rows), int32(self.length, rows)),
            *(uint64(self.keys, rows), float64(self.value, rows)),
            *(int64(topic_start, rows), int32(topic_length, rows)),
        )
        return None if read < 0 else (read, topic_start[:topics], topic_length[:topics])


def ids_and_numbers(of_query: list[dict[Any, Any]], lengths: Ints) -> tuple[Ids, Floats] | None:
    """Return text keys of dicts of these lengths, and their values, finite numbers; None: left to Python."""
    if native.kernel is None:
        return None
    count = int(lengths.sum())
    (length, hashes), numbers = np.empty((2, count), dtype=np.int64), np.empty(count)
    found = int64(length, count), float64(numbers, count), int64(hashes, count)
    lines = native.kernel.read_dicts(of_query, int64(lengths, len(of_query)), count, PADDING, *found)
    if lines is None:
        return None
    start = PADDING + np.cumsum(length + 1) - length - 1
    return Ids(np.frombuffer(lines, dtype=np.uint8), start, length, hashes), numbers


def dict_of_rows(rows: list[str], columns: list[str], values: Floats) -> dict[str, dict[str, float]]:
    if values.shape != (len(rows), len(columns)):
        raise IndexError("names of other rows and columns")
    if native.kernel is None:
        each = zip(rows, values.tolist(), strict=True)
        return {row: dict(zip(columns, numbers, strict=True)) for row, numbers in each}
    values = np.ascontiguousarray(values, np.float64)
    return native.kernel.dict_of_rows(rows, columns, float64(values, values.size))
