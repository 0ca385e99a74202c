"""Rows of a run looked up in a table and ranked: the twin of ``rankings.join`` and ``rankings.order``.

And scores shuffled within every topic: the twin of what ``stats.corrections`` does with NumPy's ``permuted``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Bytes, Flags, Floats, Ints, Words
from rankbounds.columns import native
from rankbounds.columns.native.keys import Table, address_of

ORDERS = {"run": 0, "line": 1, "trec": 2, "docid": 3}
"""The orders of tied documents that the kernel knows."""


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
            address_of(text, np.uint8, 0),
            address_of(start, np.int64, count),
            address_of(length, np.int32, count),
            address_of(score, np.float64, count),
            address_of(keys, np.uint64, count),
            address_of(topic, np.int32, count),
        )
        self.judged_topic = address_of(judged_topic, np.int64, 0)
        self.judgments = (*table.addresses, address_of(grade, np.float64, table.count))
        self.order = order

    def ranked(self, rows: slice | Ints, keep_rows: bool, keep_judgments: bool) -> RankedLists | None:
        """The lists of the judged topics in these rows, which stand together topic by topic."""
        if native.kernel is None:
            return None
        if isinstance(rows, slice):
            chosen, first, count = 0, rows.start, rows.stop - rows.start
            inside = 0 <= first <= rows.stop <= self.count
        else:
            rows = np.ascontiguousarray(rows, np.int64)
            chosen, first, count = address_of(rows, np.int64, rows.size), 0, rows.size
            inside = not count or 0 <= rows.min() <= rows.max() < self.count
        if not inside:
            raise IndexError("rows beyond the end of the run")
        lists = RankedLists(count, keep_rows, keep_judgments)
        made = native.kernel.rank_lists(
            *self.documents,
            chosen,
            first,
            count,
            self.judged_topic,
            *self.judgments,
            self.order,
            address_of(lists.grade, np.float64, count),
            address_of(lists.tied, np.bool_, count),
            0 if lists.row is None else address_of(lists.row, np.int64, count),
            0 if lists.judgment is None else address_of(lists.judgment, np.int32, count),
            address_of(lists.length, np.int64, count),
            address_of(lists.topic, np.int64, count),
        )
        if made < 0:
            return None
        lists.length, lists.topic = lists.length[:made], lists.topic[:made]
        return lists


def order_in_groups(value: Floats, start: Ints, falling: bool) -> Ints | None:
    """The order by value within groups that stand one behind the other, equal ones in the order they have."""
    if native.kernel is None or value.dtype != np.float64 or not value.size:
        return None
    count, groups = value.size, start.size
    value, start = np.ascontiguousarray(value), np.ascontiguousarray(start, np.int64)
    if start[0] < 0 or start[-1] > count or (start[1:] < start[:-1]).any():
        raise IndexError("groups beyond the end of the column")
    order = np.empty(count, dtype=np.int64)
    status = native.kernel.order_in_groups(
        address_of(value, np.float64, count),
        count,
        address_of(start, np.int64, groups),
        groups,
        int(falling),
        address_of(order, np.int64, count),
    )
    return None if status < 0 else order


def block_of(column: NDArray[Any], beyond: float, start: Ints, length: Ints, width: int) -> NDArray[Any] | None:
    """Stretches of a flat column as rows of one width, filled up with ``beyond`` where a stretch has ended."""
    if native.kernel is None or not column.flags.c_contiguous:
        return None
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int64)
    lacking = min(int(start.min()), int(length.min())) < 0
    if lacking or int(length.max()) > width or int((start + length).max()) > column.size:
        raise IndexError("lists beyond the end of the column")
    block = np.empty((length.size, width), dtype=column.dtype)
    filler = np.array([beyond], dtype=column.dtype)
    kind = column.dtype.type
    native.kernel.fill_block(
        address_of(column, kind, 0),
        column.itemsize,
        address_of(start, np.int64, length.size),
        address_of(length, np.int64, length.size),
        length.size,
        width,
        address_of(filler, kind, 1),
        address_of(block, kind, block.size),
    )
    return block


def shuffled_means_by_kernel(
    values: Floats, generator: np.random.Generator, resamples: int, step: int
) -> Iterator[Floats] | None:
    """For ``step`` resamples after the other the means over topics, by measure and system; None: left to NumPy.

    ``values`` lie by topic, system and measure. The shuffles are those of ``permuted``, as long as the generator is a
    new one of NumPy's default kind.
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
            generator.bit_generator.capsule,
            address_of(random, np.uint64, random.size),
            address_of(values, np.float64, values.size),
            topics,
            systems,
            measures,
            len(means),
            address_of(scratch, np.int32, scratch.size),
            address_of(sums, np.float64, sums.size),
            address_of(means, np.float64, means.size),
        )
        yield means
