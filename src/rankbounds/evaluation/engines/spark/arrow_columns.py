"""Columns of Arrow from arrays, and arrays from columns, without a Python object for each row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.columns.ids import Ids


def gathered(batches: Iterator[Any], enough: int) -> Iterator[Any]:
    """Small batches as tables of some size."""
    import pyarrow

    held, rows = [], 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= enough:
            yield pyarrow.Table.from_batches(held)
            held, rows = [], 0
    if rows:
        yield pyarrow.Table.from_batches(held)


def column_of(values: Any) -> Any:
    """The bytes of texts, or an array, as a column of Arrow, NaN as null. pyarrow.array would import pandas."""
    import pyarrow

    if isinstance(values, list):
        texts = [text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape") for text in values]
        offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        return pyarrow.Array.from_buffers(
            pyarrow.binary(), len(texts), [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"".join(texts))]
        )
    if values.dtype == bool:
        return _of_buffers(pyarrow.bool_(), values.size, None, np.packbits(values, bitorder="little"))
    valid = np.packbits(~np.isnan(values), bitorder="little") if values.dtype == np.float64 else None
    return _of_buffers(pyarrow.from_numpy_dtype(values.dtype), values.size, valid, np.ascontiguousarray(values))


def _of_buffers(kind: Any, size: int, valid: Any, data: Any) -> Any:
    import pyarrow

    mask = None if valid is None else pyarrow.py_buffer(valid)
    return pyarrow.Array.from_buffers(kind, size, [mask, pyarrow.py_buffer(data)])


def texts(ids: Ids) -> Any:
    """Ids as a column of text; bytes that are no UTF-8 stay as they are."""
    import pyarrow

    data, offsets = ids.packed()
    cuts, content = pyarrow.py_buffer(offsets.astype(np.int32)), pyarrow.py_buffer(np.ascontiguousarray(data))
    return pyarrow.StringArray.from_buffers(len(ids), cuts, content)


def _offsets(table: Any, name: str) -> tuple[Any, Ints]:
    """The bytes of a column, and where each entry begins (and the last ends)."""
    import pyarrow

    column = table.column(name)
    kind = pyarrow.large_binary() if pyarrow.types.is_binary(column.type) else pyarrow.large_string()
    array = pyarrow.concat_arrays(column.cast(kind).chunks)
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return array.buffers()[2], offsets


def bytes_of(table: Any, name: str) -> memoryview:
    """The bytes of all entries of a column, one behind the other."""
    data, offsets = _offsets(table, name)
    return memoryview(data if data is not None else b"")[int(offsets[0]) : int(offsets[-1])]


def lengths_of(table: Any, name: str) -> Ints:
    """How many bytes each entry of a column has."""
    return np.diff(_offsets(table, name)[1])
