"""The hashes of ids: the twin of those in ``columns.ids``."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Bytes, Ints, Words
from rankbounds.columns import native
from rankbounds.columns.native.addresses import address_of, text_address


def hashes_of(text: Bytes, start: Ints, length: Ints) -> Words | None:
    """The hash of every id; None where that is left to NumPy."""
    rows = start.size
    if native.kernel is None or not rows:
        return None
    start, length = np.ascontiguousarray(start, np.int64), np.ascontiguousarray(length, np.int64)
    if int(start.min()) < 0 or int(length.min()) < 0:
        raise IndexError("ids beyond the text")
    hashes = np.empty(rows, dtype=np.uint64)
    status: int = native.kernel.hash_ids(
        text_address(text, int((start + length).max())),
        address_of(start, np.int64, rows),
        address_of(length, np.int64, rows),
        rows,
        address_of(hashes, np.uint64, rows),
    )
    return None if status < 0 else hashes
