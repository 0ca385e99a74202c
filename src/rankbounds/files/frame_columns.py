"""A column of a pandas, polars or pyarrow frame as ids or as numbers, without a Python object a row where possible."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from rankbounds.columns.ids import Ids


def id_column(column: Any) -> Any:
    """A frame's column of ids; where it is text without gaps, without a Python string for each row."""
    package = type(column).__module__.partition(".")[0]
    if package == "polars":
        import polars

        kinds = (polars.String, polars.Categorical, polars.Enum)
        if not column.null_count() and (column.dtype in kinds or column.dtype.is_integer()):
            return ids_of_series(column.cast(polars.String))
    if package == "pandas":
        found = _ids_of_pandas(column)
        if found is not None:
            return found
    if package == "pyarrow":
        found = _ids_of_arrow(column)
        if found is not None:
            return found
    return listed_values(column)


def ids_of_series(series: Any) -> Ids:
    """The ids in a polars column of text without nulls."""
    if not len(series):
        return Ids.of([])
    if sys.modules.get(
        "pyarrow"
    ):  # which read the file, and lets bytes pass that are no UTF-8: polars cannot show those
        of_arrow = _ids_of_arrow(series.to_arrow())
        if of_arrow is not None:
            return of_arrow
    length = series.str.len_bytes().to_numpy().astype(np.int64)
    return Ids.of_bytes(series.str.join("")[0].encode("utf-8"), length)


def _ids_of_pandas(column: Any) -> Ids | None:
    """The ids in a pandas column that is categorical, of whole numbers, or of text that Arrow holds."""
    kind = column.dtype
    if kind.kind in "iu" and isinstance(kind, np.dtype):
        import polars

        return ids_of_series(polars.Series(column.to_numpy()).cast(polars.String))
    if hasattr(column, "cat"):
        categories, code = list(column.cat.categories), column.cat.codes.to_numpy()
        plain = set(map(type, categories)) == {str} and not (code < 0).any()
        return Ids.of(categories).take(code) if plain else None
    if getattr(kind, "storage", "") == "pyarrow" or hasattr(kind, "pyarrow_dtype"):
        import pyarrow

        return _ids_of_arrow(pyarrow.array(column, from_pandas=True))
    return None


def _ids_of_arrow(column: Any) -> Ids | None:
    import pyarrow

    kinds = pyarrow.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if column.null_count or not (kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_integer(kind)):
        return None
    text = column.cast(pyarrow.large_string())
    if isinstance(text, pyarrow.ChunkedArray):
        text = text.combine_chunks()
    _, offsets, content = text.buffers()
    if not len(text) or content is None:
        return None
    edges = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
    return Ids.of_bytes(memoryview(content)[edges[0] : edges[-1]], np.diff(edges))


def number_column(column: Any) -> Any:
    """A frame's column of numbers as an array, where it is one without gaps."""
    package = type(column).__module__.partition(".")[0]
    if package == "polars" and column.dtype.is_numeric() and not column.null_count():
        return column.to_numpy()
    if package == "pyarrow":
        import pyarrow

        kinds, kind = pyarrow.types, column.type
        if not column.null_count and (kinds.is_floating(kind) or kinds.is_integer(kind)):
            return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
    if package == "pandas" and isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu":
        return column.to_numpy()
    return listed_values(column)


def listed_values(column: Any) -> Any:
    """The entries of a column of any package."""
    if isinstance(column, Ids):
        return column
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)
