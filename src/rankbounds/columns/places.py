"""Cells of lists that are marked, and where they stand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.columns import native
from rankbounds.columns.native.keys import address_of


class Places(NamedTuple):
    """Some cells of a batch, list after list and rank after rank."""

    row: Ints
    """Which list each stands in."""
    rank: Ints
    """Its rank, 0 at the top."""
    number: Ints
    """How many of the chosen cells of its list stand before it."""

    @classmethod
    def of(cls, marked: Flags) -> Places:
        """Those that are marked."""
        lists, width = marked.shape
        if native.kernel is not None and marked.dtype == np.bool_ and marked.flags.c_contiguous:
            count = int(np.count_nonzero(marked))
            places = np.empty((3, count + 1), dtype=np.int64)
            addresses = (address_of(column, np.int64, count + 1) for column in places)
            native.kernel.find_places(address_of(marked, np.bool_, lists * width), lists, width, *addresses)
            return cls(*places[:, :count])
        cell = marked.ravel().nonzero()[0]
        edge = np.searchsorted(cell, np.arange(lists + 1) * width)
        count_of_list = np.diff(edge)
        row = np.repeat(np.arange(lists), count_of_list)
        return cls(row, cell - row * width, np.arange(cell.size) - np.repeat(edge[:-1], count_of_list))
