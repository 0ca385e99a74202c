"""Ids and numbers in dicts: the twin of how ``files.named_columns`` reads ``{query: {document: number}}``."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.columns import native
from rankbounds.columns.ids import PADDING, Ids
from rankbounds.columns.native.addresses import address_of


def ids_and_numbers(of_query: list[dict[Any, Any]], count: int) -> tuple[Ids, Floats] | None:
    """The ``count`` keys of dicts, which are text, and their values, finite numbers; None: to be left to Python."""
    if native.kernel is None or not hasattr(native.kernel, "read_dicts"):  # one that was built before it could
        return None
    length, numbers = np.empty(count, dtype=np.int64), np.empty(count)
    addresses = address_of(length, np.int64, count), address_of(numbers, np.float64, count)
    lines = native.kernel.read_dicts(of_query, count, PADDING, *addresses)
    if lines is None:
        return None
    start = PADDING + np.cumsum(length + 1) - length - 1
    return Ids(np.frombuffer(lines, dtype=np.uint8), start, length), numbers
