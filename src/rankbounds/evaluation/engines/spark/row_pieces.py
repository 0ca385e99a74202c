"""Rows and lines that Spark itself reads, as pieces of runs: Arrow's buffers become columns as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from rankbounds.arrays import Flags
from rankbounds.collection.run import Run, of_lines
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError
from rankbounds.evaluation.engines.spark.arrow_columns import bytes_of, gathered, lengths_of
from rankbounds.evaluation.engines.spark.file_parts import NAME_IT_TOO, PIECE_ROWS, Pieces, not_named, same_layout
from rankbounds.evaluation.engines.spark.packed_rows import RunKey
from rankbounds.files import trec
from rankbounds.files.compression import decompressed
from rankbounds.files.named_columns import NAME_THE_RUN, NO_RUN
from rankbounds.files.opening import text_of

PiecesOfBatches = Callable[[Iterator[Any]], Pieces]
"""From batches of Arrow to pieces of runs."""


def pieces_of_rows(
    place: str, called: Mapping[str, str], key: RunKey | None, expected: tuple[str, ...] | None = None
) -> PiecesOfBatches:
    """From rows ``query_id, doc_id, value`` and, where wanted, ``rank`` and ``run``; an error for a row of no use.

    ``called`` has the names under which the user knows the columns, for what is said of a row of ``place``. Without a
    ``key`` the column ``run`` says of which run a row is, and it must be one of those ``expected``, if they are given.
    """

    def reject(table: Any, bad: Flags, column: str, problem: str, remedy: str = "") -> None:
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            inside = ", ".join(
                f"{own}={table.column(name)[row].as_py()!r}" for name, own in called.items() if name != "run"
            )
            problem = f'{problem} (column "{called.get(column, column)}"). The row has {inside}.'
            raise DataError(place, problem, remedy)

    def reject_nulls(table: Any, column: str, problem: str) -> None:
        if table.column(column).null_count:
            reject(table, table.column(column).is_null().to_numpy().astype(bool), column, problem)

    def ids(table: Any, column: str, what: str) -> Ids:
        reject_nulls(table, column, f"a {what} is null")
        lengths = lengths_of(table, column)
        reject(table, lengths == 0, column, f"a {what} is empty")
        return Ids.of_bytes(bytes_of(table, column), lengths)

    def pieces(batches: Iterator[Any]) -> Pieces:
        for table in gathered(batches, PIECE_ROWS):
            queries, docs = ids(table, "query_id", "query id"), ids(table, "doc_id", "document id")
            value = table.column("value").fill_null(np.nan).to_numpy()
            reject(table, ~np.isfinite(value), "value", "a value is not a finite number")
            ranks = None
            if "rank" in called:
                reject_nulls(table, "rank", "a rank is null")
                ranks = table.column("rank").to_numpy()
            hashes = queries.hashes()
            names, topic = queries.first_and_codes(hashes)
            pairs = Pairs(tuple(names.to_list()), topic, docs, Pairs.keys_of(docs, hashes), Source(place))
            if key is not None:
                yield key, Run(place, pairs, value, _given(ranks))
                continue
            unnamed = table.column("run").is_null().to_numpy().astype(bool) | (lengths_of(table, "run") == 0)
            reject(table, unnamed, "run", NO_RUN, NAME_THE_RUN)
            of_run = Ids.of_bytes(bytes_of(table, "run"), lengths_of(table, "run"))
            tags, number = of_run.numbered()
            for own, tag in enumerate(tags):
                rows = np.flatnonzero(number == own)
                if expected is not None and tag not in expected:
                    reject(table, number == own, "run", not_named(tag), NAME_IT_TOO)
                mine = None if ranks is None else ranks[rows]
                yield tag, Run(f'run "{tag}"', pairs.take(rows).without_unused_topics(), value[rows], _given(mine))

    return pieces


def _given(ranks: Any) -> Any:
    return lambda: ranks


def pieces_of_lines(path: str, layout: trec.Layout, key: RunKey, need_rank: bool) -> PiecesOfBatches:
    """From lines of TREC, of which Spark hands out some at a time."""

    def pieces(batches: Iterator[Any]) -> Pieces:
        import pyarrow
        import pyarrow.compute

        for several in gathered(batches, PIECE_ROWS):
            lines = pyarrow.ListArray.from_arrays([0, len(several)], several.column(0).combine_chunks())
            content = memoryview(pyarrow.compute.binary_join(lines, "\n")[0].as_buffer())
            try:
                parsed = trec.read_lines(text_of(path, content), same_layout(layout), distinct=True)
            except trec.NothingReadError:
                continue
            except DataError as error:
                raise _without_line_number(error, path, content) from None
            yield key, _run(parsed, path, need_rank)

    return pieces


def pieces_of_contents(path: str, layout: trec.Layout, key: RunKey) -> PiecesOfBatches:
    """From whole files, compressed as they are: a file is a row with its ``content``."""

    def pieces(batches: Iterator[Any]) -> Pieces:
        for batch in batches:
            for content in batch.column(0):
                text = text_of(path, decompressed(content.as_buffer().to_pybytes(), path))
                yield key, of_lines(trec.read_lines(text, same_layout(layout)), path)

    return pieces


def _run(lines: trec.TrecLines, path: str, need_rank: bool) -> Run:
    ranks = trec.stated_ranks(lines) if need_rank else None
    return Run(path, lines.pairs, lines.value, lambda: ranks)


def _without_line_number(error: DataError, path: str, content: memoryview) -> DataError:
    """The error with the line itself: Spark hands out parts of a file, so that its number is not known."""
    if error.place is None or error.place.line is None:
        return error
    line = content.tobytes().split(b"\n")[error.place.line - 1].decode("utf-8", "replace")
    return DataError(path, f'{error.problem} The line is "{line[:200]}".', error.remedy)
