"""Parquet: one file or a folder of them, at once or some rows at a time, by pyarrow or, without it, by polars."""

from __future__ import annotations

import contextlib
import glob
import io
import os
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import Any

from rankbounds.errors import DataError
from rankbounds.files import objects
from rankbounds.files.named_columns import ColumnNames, Columns, wanted_columns
from rankbounds.files.opening import PARQUET_MAGIC, check_unchanged


def is_parquet(path: str, names: ColumnNames) -> bool:
    """Return whether this file is Parquet, or, for judgments, a folder of such files. Pipes are not read."""
    if os.path.isdir(path):
        return names.of_judgments and any(name.endswith(".parquet") for name in os.listdir(path))
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(4) == PARQUET_MAGIC
    except OSError:
        return False  # reading it reports what is wrong


def files_of(path: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(path), "*.parquet"))) if os.path.isdir(path) else [path]


def read_parquet(path: str, names: ColumnNames, content: bytes | None = None) -> Columns:
    """Read a Parquet file, or a folder of them; ``content`` is that of a pipe, which cannot be reopened."""
    frame = read_frame(path, content, lambda columns: wanted_columns(columns, names, path))
    return objects.columns_of(frame, names, source=path)


def read_frame(
    path: str, content: bytes | None = None, wanted: Callable[[list[str]], list[str] | None] = lambda _: None
) -> Any:
    """Return the wanted columns (None: all) as a table of pyarrow or, without it, a polars frame."""
    parts = files_of(path)
    if content is None and not all(map(os.path.exists, parts)):
        raise DataError(path, "there is no such file.")
    reader, tables = _pyarrow_parquet(), []
    with report_damage(path), contextlib.ExitStack() as guards:
        if reader is None:
            import polars

            for part in parts if content is None else ():
                guards.enter_context(_unchanged(part))
            return polars.read_parquet(parts if content is None else io.BytesIO(content))
        import pyarrow

        for part in parts:
            with _opened(part) if content is None else reader.ParquetFile(io.BytesIO(content)) as file:
                tables.append(file.read(columns=wanted(file.schema_arrow.names)))
        return pyarrow.concat_tables(tables, promote_options="permissive") if len(tables) > 1 else tables[0]


@contextlib.contextmanager
def _unchanged(path: str) -> Iterator[None]:
    with open(path, "rb") as file, check_unchanged(path, file.fileno()):
        yield


@contextlib.contextmanager
def _opened(path: str) -> Iterator[Any]:
    import pyarrow.parquet

    with _unchanged(path), pyarrow.parquet.ParquetFile(path) as file:
        yield file


def _pyarrow_parquet() -> Any | None:
    """Return pyarrow's Parquet reader, if installed: it says better than polars what is wrong with a damaged file."""
    try:
        import pyarrow.parquet
    except ImportError:
        return None
    return pyarrow.parquet


@contextlib.contextmanager
def report_damage(path: str) -> Iterator[None]:
    """Report errors of the Parquet libraries as one sentence; polars raises panics that are no Exception."""
    try:
        yield
    except DataError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        if isinstance(error, MemoryError):
            reason = f"it needs more memory than there is: {reason}"
        raise DataError(path, f"cannot be read as Parquet ({reason}).") from None


def shape_of(path: str) -> tuple[list[str], int]:
    if _pyarrow_parquet() is None:
        import polars

        with _unchanged(path):
            table = polars.scan_parquet(path)
            return table.collect_schema().names(), int(table.select(polars.len()).collect().item())
    with _opened(path) as file:
        return list(file.schema_arrow.names), int(file.metadata.num_rows)


def frames_of(path: str, wanted: list[str], rows: int, begin: int = 0, end: int | None = None) -> Iterator[Any]:
    """Yield frames of these columns with up to so many rows each, from row ``begin`` to before row ``end``."""
    import polars

    if _pyarrow_parquet() is None:
        with _unchanged(path):
            for at in range(0, shape_of(path)[1], rows):
                yield polars.scan_parquet(path).select(wanted).slice(at, rows).collect()
        return
    with _opened(path) as file:
        starts = _group_starts(file)
        last = starts[-1] if end is None else end
        groups = [group for group, (at, to) in enumerate(pairwise(starts)) if at < last and to > begin]
        at = starts[groups[0]] if groups else 0
        for batch in file.iter_batches(rows, row_groups=groups, columns=wanted):
            mine = batch.slice(max(0, begin - at), max(0, min(last - at, batch.num_rows) - max(0, begin - at)))
            # Without what else the file says of its columns: polars cannot take it where it is damaged.
            yield polars.from_arrow(type(mine).from_arrays(mine.columns, names=mine.schema.names))
            at += batch.num_rows


def _group_starts(file: Any) -> list[int]:
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    return [0, *accumulate(sizes)]


def starts_of_ids(path: str, column: str, rows: int) -> list[int]:
    """Return rows at least so far apart where the id in a column changes, from 0 to the number of rows."""
    import pyarrow.compute

    edges = [0]
    with _opened(path) as file:
        *starts, end = _group_starts(file)
        for group, start in enumerate(starts):
            if start - edges[-1] >= rows:
                ids = file.read_row_group(group, columns=[column]).column(0)
                other = pyarrow.compute.index(pyarrow.compute.not_equal(ids, ids[0]), True).as_py()
                edges += [start + other] if other > 0 else []
    return [*edges, end]
