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


def polars_frame(columns: Columns) -> polars.DataFrame:
    """A polars data frame; what is not known is null."""
    import polars

    def series(name: str, column: Column) -> polars.Series:
        if isinstance(column, np.ndarray):
            return polars.Series(name, column, nan_to_null=True)
        return polars.Series(name, column, dtype=polars.String)

    return _in_utf8("polars", lambda: polars.DataFrame([series(*item) for item in columns.items()]))


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


class NotUtf8Error(DataError):
    """An id holds bytes that are no UTF-8, which tables of other packages cannot hold."""

    def __init__(self, holder: str, text: str, remedy: str = "Use to_dict(), which keeps every byte.") -> None:
        super().__init__(f"{holder} holds text in UTF-8 only, which {ascii(text)[:80]} is not. {remedy}")
        self.text = text


def _in_utf8(package: str, make: Callable[[], Frame]) -> Frame:
    try:
        return make()
    except UnicodeEncodeError as error:
        raise NotUtf8Error(package, error.object) from None
