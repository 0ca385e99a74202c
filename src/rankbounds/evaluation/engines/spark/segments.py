"""Rows and lines packed into segments, by Spark's tasks.

A segment is a stretch of rows of one run and topic, packed into a few columns of bytes: a shuffle of segments moves the
same bytes as one of rows, in far fewer rows, and tasks read them without a Python object for each document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.ids import Ids
from rankbounds.errors import DataError
from rankbounds.evaluation.engines.spark.arrow_columns import (
    binary,
    bytes_of,
    column_of,
    gathered,
    lengths_of,
    numbers_of,
)
from rankbounds.evaluation.engines.spark.task_errors import Task, telling
from rankbounds.files import trec
from rankbounds.files.opening import text_of

JUDGMENT = -1
"""What stands for the run's number in a row that is a judgment."""
NO_RUN = np.iinfo(np.int32).min
PACKED_ROWS = 1 << 16
"""How many rows a task gathers before it parses or packs them."""

# Ids are bytes, of any encoding: as text, those that are not UTF-8 would change on their way.
SEGMENT_FIELDS = {
    "run": "int",
    "query_id": "binary",
    "docs": "binary",
    "lengths": "binary",
    "value": "binary",
    "rank": "binary",
}
SEGMENT_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in SEGMENT_FIELDS.items())


def packing(place: str, columns: Mapping[str, str]) -> Task:
    """From rows ``run, query_id, doc_id, value, rank`` to segments; an error for a row that cannot be used.

    ``columns`` has the names under which the user knows them, for what is said of a row of ``place``.
    """

    def reject(table: Any, bad: Flags, column: str, problem: str) -> None:
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            inside = ", ".join(
                f"{own}={table.column(name)[row].as_py()!r}" for name, own in columns.items() if name != "run"
            )
            raise DataError(place, f'{problem} (column "{columns.get(column, column)}"). The row has {inside}.')

    def ids(table: Any, column: str, what: str) -> Ids:
        reject(table, table.column(column).is_null().to_numpy().astype(bool), column, f"a {what} is null")
        lengths = lengths_of(table, column)
        reject(table, lengths == 0, column, f"a {what} is empty")
        return Ids.of_bytes(bytes_of(table, column), lengths)

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow.compute

        for table in gathered(batches, PACKED_ROWS):
            run = table.column("run").fill_null(NO_RUN).to_numpy()
            if (run == NO_RUN).any():
                _reject_strangers(table.filter(pyarrow.compute.is_null(table.column("run"))), reject)
            queries, docs = ids(table, "query_id", "query id"), ids(table, "doc_id", "document id")
            value = table.column("value").fill_null(np.nan).to_numpy()
            reject(table, ~np.isfinite(value), "value", "a value is not a finite number")
            names, topic = queries.codes(queries.hashes())
            topics = [name.decode("utf-8", "surrogateescape") for name in names]
            ranks = table.column("rank")
            if "rank" in columns:
                reject(table, ranks.is_null().to_numpy().astype(bool), "rank", "a rank is null")
            yield _segments(run, topics, topic, docs, value, ranks.to_numpy() if "rank" in columns else None)

    return telling(pack)


def _reject_strangers(rows: Any, reject: Callable[[Any, Flags, str, str], None]) -> None:
    """Raise for rows whose run is none of those that were named."""
    stranger = rows.column("stranger")[0].as_py()
    problem = (
        "a row has no run: name it, or leave such rows out"
        if stranger is None
        else f'a row is of the run "{stranger}", which "names" does not name: name it too, or leave its rows out'
    )
    reject(rows, np.ones(len(rows), dtype=bool), "run", problem)


def packing_lines(path: str, layout: trec.Layout, run: int, need_rank: bool) -> Task:
    """From lines of TREC to segments of one run."""

    def pack_lines(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        import pyarrow.compute

        for several in gathered(batches, PACKED_ROWS):
            lines = pyarrow.ListArray.from_arrays([0, len(several)], several.column(0).combine_chunks())
            content = memoryview(pyarrow.compute.binary_join(lines, "\n")[0].as_buffer())
            try:
                parsed = trec.read_lines(text_of(path, content), same_layout(layout), distinct=True)
            except trec.NothingReadError:
                continue
            except DataError as error:
                raise _without_line_number(error, path, content) from None
            yield segments_of_lines(parsed, run, need_rank)

    return telling(pack_lines)


def _without_line_number(error: DataError, path: str, content: memoryview) -> DataError:
    """The error with the line itself: Spark hands out parts of a file, so that its number is not known."""
    if error.place is None or error.place.line is None:
        return error
    line = content.tobytes().split(b"\n")[error.place.line - 1].decode("utf-8", "replace")
    return DataError(path, f'{error.problem} The line is "{line[:200]}".', error.remedy)


def segments_of_lines(lines: trec.TrecLines, run: int, need_rank: bool) -> Any:
    """Lines of TREC as segments of one run."""
    pairs = lines.pairs
    ranks = trec.stated_ranks(lines) if need_rank else None
    return _segments(np.full(len(pairs), run), pairs.topics, pairs.topic, pairs.docs, lines.value, ranks)


def same_layout(layout: trec.Layout) -> trec.ChooseLayout:
    """The layout that the driver found, whatever the first line of a part looks like; tags are not read again."""
    here = layout if layout.tag is None else replace(layout, tag=None)
    known = next((known for known in (trec.QRELS_LAYOUT, trec.RUN_OF_SCORES) if known == here), here)  # a copy got here
    return lambda *_: known


def _segments(run: Ints, topics: Sequence[str], topic: Ints, docs: Ids, value: Floats, ranks: Ints | None) -> Any:
    """Rows of any order, packed by run and topic."""
    import pyarrow

    if (np.diff(topic) < 0).any() or (np.diff(run) != 0).any():
        order = np.lexsort((topic, run))
        run, topic, value, docs = run[order], topic[order], value[order], docs.take(order)
        ranks = None if ranks is None else ranks[order]
    first = np.flatnonzero((np.diff(run, prepend=NO_RUN) != 0) | (np.diff(topic, prepend=-1) != 0))
    edges = np.append(first, topic.size)
    data, offsets = docs.packed()
    return pyarrow.RecordBatch.from_arrays(
        [
            column_of(run[first].astype(np.int32)),
            column_of([topics[number] for number in topic[first].tolist()]),
            binary(data, offsets[edges]),
            binary(docs.length.astype(np.int32), 4 * edges),
            binary(value, 8 * edges),
            pyarrow.nulls(first.size, pyarrow.binary()) if ranks is None else binary(ranks.astype(np.int64), 8 * edges),
        ],
        list(SEGMENT_FIELDS),
    )


def distinct_values(batches: Iterator[Any]) -> Iterator[Any]:
    """The distinct grades in segments of judgments."""
    import pyarrow

    for table in gathered(batches, PACKED_ROWS):
        grades = np.unique(numbers_of(table, "value", np.float64))
        yield pyarrow.RecordBatch.from_arrays([column_of(grades)], ["value"])
