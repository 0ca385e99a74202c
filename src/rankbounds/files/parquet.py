"""Parquet: one file or a folder of them, at once or some rows at a time.

A damaged file must not take the process down. pyarrow raises; polars may abort, so that without pyarrow it has to show
in another process that it can read the file.
"""

from __future__ import annotations

import contextlib
import glob
import io
import os
import sys
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from rankbounds.errors import DataError
from rankbounds.files import objects
from rankbounds.files.named_columns import ColumnNames, Columns, wanted_columns
from rankbounds.files.opening import PARQUET_MAGIC

if TYPE_CHECKING:
    import polars


def is_parquet(path: str, names: ColumnNames) -> bool:
    """Is this file Parquet, or, for judgments, a folder of such files? A pipe is not looked into."""
    if os.path.isdir(path):
        return names.of_judgments and any(name.endswith(".parquet") for name in os.listdir(path))
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(4) == PARQUET_MAGIC
    except OSError:
        return False  # whoever reads the file next says what is wrong


def files_of(path: str) -> list[str]:
    """The files of a table: itself, or those in a folder, in name order."""
    return sorted(glob.glob(os.path.join(glob.escape(path), "*.parquet"))) if os.path.isdir(path) else [path]


def read_parquet(path: str, names: ColumnNames, content: bytes | None = None) -> Columns:
    """Read one Parquet file, or a folder of them; ``content`` is that of a pipe, which cannot be opened again."""
    parts = files_of(path)
    reader = _pyarrow_parquet()
    if reader is None:
        return objects.columns_of(_read_by_polars(parts, path, content), names, source=path)
    import pyarrow

    tables = []
    try:
        for part in parts:
            with reader.ParquetFile(part if content is None else io.BytesIO(content)) as file:
                tables.append(file.read(columns=wanted_columns(file.schema_arrow.names, names, path)))
        table = pyarrow.concat_tables(tables, promote_options="permissive") if len(tables) > 1 else tables[0]
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(path, "there is no such file.") from None
    except Exception as error:
        raise _no_parquet(path, error) from None
    return objects.columns_of(table, names, source=path)


def read_frame(path: str, content: bytes | None = None) -> polars.DataFrame:
    """All columns of a file, whatever they are called, as a polars frame; ``content`` is that of a pipe."""
    reader = _pyarrow_parquet()
    if reader is None:
        return _read_by_polars([path], path, content)
    with damage_told(path):
        table = reader.read_table(path if content is None else io.BytesIO(content))
        return polars_module().DataFrame(table.to_pydict(), strict=False)


_TRIAL = (
    "import io, sys; sys.path.append(sys.argv[1]); import polars; "
    "polars.read_parquet(sys.argv[2:] or io.BytesIO(sys.stdin.buffer.read()))"
)
"""Run in isolated mode, which imports nothing from the current folder, with the place where polars was found here."""


def _read_by_polars(parts: list[str], path: str, content: bytes | None) -> polars.DataFrame:
    import subprocess

    import polars

    if content is None and not all(map(os.path.exists, parts)):
        raise DataError(path, "there is no such file.")
    given = [os.path.dirname(os.path.dirname(os.path.abspath(polars.__file__))), *(parts if content is None else ())]
    trial = subprocess.run(
        [sys.executable, "-I", "-c", _TRIAL, *given], input=content, capture_output=True, check=False
    )
    if trial.returncode:
        last = trial.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise _no_parquet(path, ValueError(*last))
    try:
        return polars.read_parquet(parts if content is None else io.BytesIO(content))
    except (polars.exceptions.PolarsError, OSError) as error:
        raise _no_parquet(path, error) from None


def _no_parquet(path: str, error: BaseException) -> DataError:
    told = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    if isinstance(error, MemoryError):
        told = f"it asks for more memory than there is: {told}"
    return DataError(path, f"cannot be read as Parquet ({told}).")


def _pyarrow_parquet() -> Any | None:
    """Pyarrow's reader of Parquet, if it is there: a damaged file makes it raise, where polars may abort."""
    try:
        import pyarrow.parquet
    except ImportError:
        return None
    return pyarrow.parquet


@contextlib.contextmanager
def damage_told(path: str) -> Iterator[None]:
    """Whatever the libraries for Parquet raise as one sentence; polars panics with what is no Exception."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise _no_parquet(path, error) from None


def columns_of(path: str) -> list[str]:
    """The names of a file's columns."""
    parquet = _pyarrow_parquet()
    if parquet is None:
        return list(polars_module().scan_parquet(path).collect_schema().names())
    return list(parquet.read_schema(path).names)


def rows_of(path: str) -> int:
    """How many rows a file has."""
    parquet = _pyarrow_parquet()
    if parquet is None:
        return int(polars_module().scan_parquet(path).select(polars_module().len()).collect().item())
    return int(parquet.read_metadata(path).num_rows)


def frames_of(path: str, wanted: list[str], rows: int, begin: int = 0, end: int | None = None) -> Iterator[Any]:
    """So many rows of these columns at a time, from the row ``begin`` to the row before ``end``."""
    parquet, polars = _pyarrow_parquet(), polars_module()
    if parquet is None:
        for at in range(0, rows_of(path), rows):
            yield polars.scan_parquet(path).select(wanted).slice(at, rows).collect()
        return
    with parquet.ParquetFile(path) as file:
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
    """The row at which each group of rows begins, and behind them how many rows there are."""
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    return [0, *accumulate(sizes)]


def starts_of_ids(path: str, column: str, rows: int) -> list[int]:
    """Rows at least so far apart where another id begins in a column, from 0 to the number of rows.

    They are looked for where groups of rows begin: groups are what can be read by itself.
    """
    import pyarrow.compute
    import pyarrow.parquet

    edges = [0]
    with pyarrow.parquet.ParquetFile(path) as file:
        *starts, end = _group_starts(file)
        for group, start in enumerate(starts):
            if start - edges[-1] >= rows:
                ids = file.read_row_group(group, columns=[column]).column(0)
                other = pyarrow.compute.index(pyarrow.compute.not_equal(ids, ids[0]), True).as_py()
                edges += [start + other] if other > 0 else []
    return [*edges, end]


def polars_module() -> Any:
    """Polars, imported when it is needed."""
    import polars

    return polars
