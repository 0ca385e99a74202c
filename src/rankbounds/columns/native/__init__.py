"""The compiled twin of the columns: the same work on the same arrays, in C and without the interpreter's lock.

It is built when the package is installed, where there is a compiler; everything works without it, on NumPy.
``RANKBOUNDS_NATIVE=0`` turns it off. A function here returns None where the kernel is not in use, or where it met
something that it leaves to Python: a broken line, an id of hundreds of bytes, keys that crowd. So whatever there is to
tell, one place tells it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Bytes, Flags, Floats, Ints, Words

SWITCH = "RANKBOUNDS_NATIVE"
ORDERS = {"run": 0, "line": 1, "trec": 2, "docid": 3}
"""The orders of tied documents that the kernel knows."""


def _loaded() -> Any:
    try:
        from rankbounds.columns.native import _kernel  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        return None
    return _kernel


_built = _loaded()
_kernel = None if os.environ.get(SWITCH) == "0" else _built


def in_use() -> bool:
    """Is the kernel at work?"""
    return _kernel is not None


def described() -> str:
    """Which of the two is at work, in words."""
    if _kernel is not None:
        return "compiled kernel"
    return f"NumPy alone ({f'{SWITCH}=0' if _built is not None else 'the kernel was not built'})"


@contextlib.contextmanager
def switched(to: Literal["kernel", "NumPy"]) -> Iterator[None]:
    """Meanwhile, one of the two does the work; for tests, which hold them against each other."""
    global _kernel
    before = _kernel
    if to == "kernel" and _built is None:
        raise RuntimeError("the kernel was not built")
    _kernel = _built if to == "kernel" else None
    try:
        yield
    finally:
        _kernel = before


def seconds_outside_the_lock() -> float:
    """Processor time that the kernel has spent so far, in all threads, while others could hold the interpreter."""
    return 0.0 if _kernel is None else float(_kernel.seconds_outside_the_lock())


def _address(array: NDArray[Any], kind: type, size: int) -> int:
    """Where an array lies; an error unless it is as large, and of the kind, that the kernel takes it for."""
    if array.dtype != kind or array.size < size or not array.flags.c_contiguous:
        raise TypeError(f"{size} contiguous {kind.__name__} expected, not {array.size} {array.dtype}")
    place: int = array.__array_interface__["data"][0]
    return place


def _text_address(text: Bytes, end: int) -> int:
    """The same for a text of which words are read up to ``end``, across it."""
    return _address(text, np.uint8, end + 8)


def count_lines(text: Bytes, begin: int, stop: int) -> int | None:
    """How many newlines stand in ``text[begin:stop]``."""
    if _kernel is None:
        return None
    count: int = _kernel.count_lines(_text_address(text, stop), begin, stop)
    return count


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
        if _kernel is None or not 0 <= max(query, doc, value) < fields:
            return None
        topic_start, topic_length = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int32)
        read, topics = _kernel.parse_lines(
            _text_address(text, block[1]),
            *block,
            fields,
            query,
            doc,
            value,
            rows,
            _address(self.topic, np.int32, rows),
            _address(self.start, np.int64, rows),
            _address(self.length, np.int32, rows),
            _address(self.keys, np.uint64, rows),
            _address(self.value, np.float64, rows),
            _address(topic_start, np.int64, rows),
            _address(topic_length, np.int32, rows),
        )
        return None if read < 0 else (read, topic_start[:topics], topic_length[:topics])


def none_repeated(keys: Words, topic: Ints) -> bool:
    """Is it sure that no key stands twice in a topic? The rows of each topic stand together."""
    if _kernel is None or topic.dtype != np.int32 or not (keys.flags.c_contiguous and topic.flags.c_contiguous):
        return False
    rows = keys.size
    repeated: int = _kernel.any_repeated(_address(keys, np.uint64, rows), _address(topic, np.int32, rows), rows)
    return repeated == 0


def topic_ends(topic: Ints) -> Ints | None:
    """Where the rows of each topic end, if they stand together in rising order of topics."""
    if _kernel is None or topic.dtype != np.int32 or not topic.flags.c_contiguous:
        return None
    ends = np.empty(topic.size, dtype=np.int64)
    topics = _kernel.topic_ends(_address(topic, np.int32, topic.size), topic.size, _address(ends, np.int64, topic.size))
    return None if topics < 0 else ends[:topics]


def fill_table(keys: Words, topic: Ints, begin: Ints, last: Ints, row: Ints) -> bool:
    """Give every row a place in its topic's stretch of the table; False where that is left to NumPy."""
    if _kernel is None or row.dtype != np.int32:
        return False
    rows, stretches = topic.size, begin.size
    topic = np.ascontiguousarray(topic, dtype=np.int64)
    if rows and not 0 <= topic.min() <= topic.max() < stretches:
        return False
    keys = np.ascontiguousarray(keys)
    status: int = _kernel.fill_table(
        _address(keys, np.uint64, rows),
        _address(topic, np.int64, rows),
        rows,
        _address(begin, np.int64, stretches),
        _address(last, np.int64, stretches),
        _address(row, np.int32, 0),
    )
    if status < 0:
        row.fill(-1)
    return status == 0


class Table:
    """Judgments as the kernel looks documents up in them; what it is made of must be kept, and is kept here."""

    def __init__(self, text: Bytes, start: Ints, length: Ints, keys: Words, begin: Ints, last: Ints, row: Ints) -> None:
        count = start.size
        self.count, self.topics = count, begin.size
        self.start, self.length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int32)
        self.keys, self.kept = np.ascontiguousarray(keys), (text, begin, last, row)
        self.text = _address(text, np.uint8, 0)
        self.columns = (
            _address(self.start, np.int64, count),
            _address(self.length, np.int32, count),
            _address(self.keys, np.uint64, count),
        )
        self.places = (
            _address(begin, np.int64, self.topics),
            _address(last, np.int64, self.topics),
            _address(row, np.int32, 0),
        )


class RankedLists:
    """What the kernel makes of rows of a run: lists one behind the other, each in the order of rank."""

    def __init__(self, rows: int, keep_rows: bool, keep_judgments: bool) -> None:
        self.grade = np.empty(rows)
        self.tied: Flags = np.empty(rows, dtype=bool)
        self.row = np.empty(rows, dtype=np.int64) if keep_rows else None
        self.judgment = np.empty(rows, dtype=np.int32) if keep_judgments else None
        self.length = np.empty(rows, dtype=np.int64)
        self.topic = np.empty(rows, dtype=np.int64)


class RunRows:
    """The rows of a run, ready to be looked up in a table and ranked, slice by slice."""

    def __init__(
        self,
        text: Bytes,
        start: Ints,
        length: Ints,
        keys: Words,
        topic: Ints,
        score: Floats,
        judged_topic: Ints,
        table: Table,
        grade: Floats,
        order: int,
    ) -> None:
        count = topic.size
        self.count, self.text = count, text
        self.kept = (
            np.ascontiguousarray(start, np.int64),
            np.ascontiguousarray(length, np.int32),
            np.ascontiguousarray(score, np.float64),
            np.ascontiguousarray(keys),
            np.ascontiguousarray(topic, np.int32),
            np.ascontiguousarray(judged_topic, np.int64),
            np.ascontiguousarray(grade, np.float64),
            table,
        )
        start, length, score, keys, topic, judged_topic, grade, _ = self.kept
        self.documents = (
            _address(text, np.uint8, 0),
            _address(start, np.int64, count),
            _address(length, np.int32, count),
            _address(score, np.float64, count),
            _address(keys, np.uint64, count),
            _address(topic, np.int32, count),
        )
        self.judged_topic = _address(judged_topic, np.int64, 0)
        self.judgments = (table.text, *table.columns, _address(grade, np.float64, table.count), *table.places)
        self.order = order

    def ranked(self, rows: slice | Ints, keep_rows: bool, keep_judgments: bool) -> RankedLists | None:
        """The lists of the judged topics in these rows, which stand together topic by topic."""
        if _kernel is None:
            return None
        if isinstance(rows, slice):
            chosen, first, count = 0, rows.start, rows.stop - rows.start
            inside = 0 <= first <= rows.stop <= self.count
        else:
            rows = np.ascontiguousarray(rows, np.int64)
            chosen, first, count = _address(rows, np.int64, rows.size), 0, rows.size
            inside = not count or 0 <= rows.min() <= rows.max() < self.count
        if not inside:
            raise IndexError("rows beyond the end of the run")
        lists = RankedLists(count, keep_rows, keep_judgments)
        made = _kernel.rank_lists(
            *self.documents,
            chosen,
            first,
            count,
            self.judged_topic,
            *self.judgments,
            self.order,
            _address(lists.grade, np.float64, count),
            _address(lists.tied, np.bool_, count),
            0 if lists.row is None else _address(lists.row, np.int64, count),
            0 if lists.judgment is None else _address(lists.judgment, np.int32, count),
            _address(lists.length, np.int64, count),
            _address(lists.topic, np.int64, count),
        )
        if made < 0:
            return None
        lists.length, lists.topic = lists.length[:made], lists.topic[:made]
        return lists


def block_of(column: NDArray[Any], beyond: float, start: Ints, length: Ints, width: int) -> NDArray[Any] | None:
    """Stretches of a flat column as rows of one width, filled up with ``beyond`` where a stretch has ended."""
    if _kernel is None or not column.flags.c_contiguous:
        return None
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int64)
    lacking = min(int(start.min()), int(length.min())) < 0
    if lacking or int(length.max()) > width or int((start + length).max()) > column.size:
        raise IndexError("lists beyond the end of the column")
    block = np.empty((length.size, width), dtype=column.dtype)
    filler = np.array([beyond], dtype=column.dtype)
    kind = column.dtype.type
    _kernel.fill_block(
        _address(column, kind, 0),
        column.itemsize,
        _address(start, np.int64, length.size),
        _address(length, np.int64, length.size),
        length.size,
        width,
        _address(filler, kind, 1),
        _address(block, kind, block.size),
    )
    return block
