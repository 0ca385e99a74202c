"""Where marked cells stand: the twin of ``columns.places``."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.columns import native
from rankbounds.columns.native.addresses import address_of


def found_by_kernel(marked: Flags) -> tuple[Ints, Ints, Ints] | None:
    """The list, the rank and the number within its list of every marked cell; None where that is left to NumPy."""
    if native.kernel is None or marked.dtype != np.bool_ or not marked.flags.c_contiguous:
        return None
    lists, width = marked.shape
    count = int(np.count_nonzero(marked))
    places = np.empty((3, count + 1), dtype=np.int64)
    native.kernel.find_places(
        address_of(marked, np.bool_, lists * width),
        lists,
        width,
        *(address_of(column, np.int64, count + 1) for column in places),
    )
    row, rank, number = places[:, :count]
    return row, rank, number
