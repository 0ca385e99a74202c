"""Which documents of a batch of ranked lists share their score, as segments of flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Flags, Floats, Ints


@dataclass(frozen=True, eq=False)
class TiedGroups:
    """All groups of two or more documents of equal score. Documents tied to no other belong to none.

    ``cell`` holds the places of the tied documents in the flattened batch, group after group, and ``start`` where in
    ``cell`` each group begins. A group never reaches from one list into the next.
    """

    cell: Ints
    start: Ints
    size: Ints
    width: int

    @classmethod
    def of(cls, tied: Flags) -> TiedGroups:
        """From marks at the documents that have the score of the one before them."""
        flat = tied.ravel()
        inside = flat.copy()
        inside[:-1] |= flat[1:]
        cell = np.flatnonzero(inside)
        start = np.flatnonzero(~flat[cell])
        return cls(cell, start, np.diff(start, append=cell.size), tied.shape[-1])

    @cached_property
    def number(self) -> Ints:
        """For every tied document the number of its group."""
        return np.repeat(np.arange(self.size.size), self.size)

    @cached_property
    def position(self) -> Ints:
        """For every tied document how many of its group stand before it."""
        return np.arange(self.cell.size) - np.repeat(self.start, self.size)

    @property
    def row(self) -> Ints:
        """For every group the list it stands in."""
        return self.cell[self.start] // self.width

    @property
    def offset(self) -> Ints:
        """For every group how many documents of the list stand before it."""
        return self.cell[self.start] % self.width

    def cut_by(self, depth: int) -> Ints:
        """The groups that have documents on both sides of this depth."""
        return np.flatnonzero((self.offset < depth) & (self.offset + self.size > depth))

    def values(self, array: NDArray[Any]) -> NDArray[Any]:
        """The entries of an array of the batch at the tied documents."""
        return array.reshape(-1)[self.cell]

    def sums(self, array: NDArray[Any]) -> Floats:
        """For every group the sum of an array of the batch."""
        return np.add.reduceat(self.values(array).astype(np.float64, copy=False), self.start)

    def spread(self, by_group: NDArray[Any]) -> NDArray[Any]:
        """One entry for each group to one for each tied document."""
        return np.repeat(by_group, self.size)

    def filled_from(self, array: NDArray[Any], source: Ints) -> NDArray[Any]:
        """An array of the batch with other entries, from the cells named, at the tied documents."""
        filled = np.array(array, order="C")
        filled.reshape(-1)[self.cell] = array.reshape(-1)[source]
        return filled
