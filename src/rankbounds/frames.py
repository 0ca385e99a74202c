"""Columns as data frames of other packages: text, and numbers of which NaN means "not known"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import DataError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Column: TypeAlias = Sequence[str | None] | Floats | Ints
Columns: TypeAlias = Mapping[str, Column]
Frame = TypeVar("Frame")

OTHERWISE = "Use to_dict(), which keeps every byte."
"""What to do about an id that is not UTF-8."""


def polars_frame(columns: Columns, holder: str = "polars", remedy: str = OTHERWISE) -> polars.DataFrame:
    """Return a polars frame, null for unknown. ``holder`` and ``remedy`` are for messages."""
    import polars

    def series(name: str, column: Column) -> polars.Series:
        if isinstance(column, np.ndarray):
            return polars.Series(name, column, nan_to_null=True)
        return polars.Series(name, column, dtype=polars.String)

    return _in_utf8(holder, lambda: polars.DataFrame([series(*item) for item in columns.items()]), remedy)


def pandas_frame(columns: Columns) -> pandas.DataFrame:
    """A pandas data frame; a number that is not known is NaN."""
    import pandas

    copied = {name: np.array(column) if isinstance(column, np.ndarray) else column for name, column in columns.items()}
    return _in_utf8("pandas", lambda: pandas.DataFrame(copied))


def arrow_table(columns: Columns) -> pyarrow.Table:
    """A pyarrow table; what is not known is null."""
    import pyarrow

    def array(column: Column) -> pyarrow.Array:
        if isinstance(column, np.ndarray):
            return pyarrow.array(np.array(column), from_pandas=True)
        return pyarrow.array(column, pyarrow.string())

    return _in_utf8("pyarrow", lambda: pyarrow.table({name: array(column) for name, column in columns.items()}))


def _in_utf8(holder: str, make: Callable[[], Frame], remedy: str = OTHERWISE) -> Frame:
    try:
        return make()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{holder} holds text in UTF-8 only, which {ascii(error.object)[:80]} is not. {remedy}"
        ) from None
