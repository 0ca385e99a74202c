"""Columns as data frames of other packages: text, and numbers of which NaN means "not known"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import DataError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Column: TypeAlias = Sequence[Any] | Floats | Ints
Columns: TypeAlias = Mapping[str, Column]
Frame = TypeVar("Frame")


class Framed:
    """A table whose columns can be a data frame of any package."""

    def _columns(self) -> Columns:
        raise NotImplementedError

    def to_polars(self) -> polars.DataFrame:
        """Return a polars data frame; what is not known is null."""
        return polars_frame(self._columns())

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas data frame; a number that is not known is NaN."""
        import pandas

        columns = self._columns()
        copied = {name: np.array(one) if isinstance(one, np.ndarray) else one for name, one in columns.items()}
        return _in_utf8("pandas", lambda: pandas.DataFrame(copied, columns=list(copied)))

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow table; what is not known is null."""
        import pyarrow

        def array(column: Column) -> pyarrow.Array:
            if isinstance(column, np.ndarray):
                return pyarrow.array(np.array(column), from_pandas=True)
            return pyarrow.array(column, pyarrow.string() if _is_text(column) else None)

        columns = self._columns()
        return _in_utf8("pyarrow", lambda: pyarrow.table({name: array(one) for name, one in columns.items()}))


def polars_frame(
    columns: Columns, holder: str = "polars", remedy: str = "Use to_dict(), which keeps every byte."
) -> polars.DataFrame:
    """Return a polars frame, null for unknown. ``holder`` and ``remedy`` are for messages about text."""
    import polars

    def series(name: str, column: Column) -> polars.Series:
        if isinstance(column, np.ndarray):
            return polars.Series(name, column, nan_to_null=True)
        return polars.Series(name, column, polars.String if _is_text(column) else None, strict=False)

    return _in_utf8(holder, lambda: polars.DataFrame([series(*item) for item in columns.items()]), remedy)


def _is_text(column: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, str) for value in column)


def _in_utf8(holder: str, make: Callable[[], Frame], remedy: str = "Use to_dict(), which keeps every byte.") -> Frame:
    try:
        return make()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{holder} holds text in UTF-8 only, which {ascii(error.object)[:80]} is not. {remedy}"
        ) from None
