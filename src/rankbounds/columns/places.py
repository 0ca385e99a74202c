"""Cells of lists that are marked, and where they stand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.columns.native.places import found_by_kernel


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
        found = found_by_kernel(marked)
        if found is not None:
            return cls(*found)
        lists, width = marked.shape
        cell = marked.ravel().nonzero()[0]
        edge = np.searchsorted(cell, np.arange(lists + 1) * width)
        count = np.diff(edge)
        row = np.repeat(np.arange(lists), count)
        return cls(row, cell - row * width, np.arange(cell.size) - np.repeat(edge[:-1], count))
