"""Arrays whose last axis is rank: sums along it, and the places of marked cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns import native
from rankbounds.columns.native.keys import flags, float64, int64


def _kernel_takes(array: Floats) -> bool:
    return native.kernel is not None and array.dtype == np.float64 and array.flags.c_contiguous and array.size > 0


def running_sums(array: Floats, *, upward: bool = False) -> Floats:
    if not _kernel_takes(array):
        return np.cumsum(array[..., ::-1], axis=-1)[..., ::-1] if upward else np.cumsum(array, axis=-1)
    size, width, out = array.size, array.shape[-1], np.empty(array.shape)
    native.built.running_sums(float64(array, size), size // width, width, int(upward), float64(out, size))
    return out


def weighted_sums(array: Floats, weights: Floats) -> Floats:
    """Return the sums of the first entries, each times its weight, added one after the other.

    So the sum does not depend on other lists in the batch, nor on padding: a perfect ranking has exactly the sum of the
    ideal one.
    """
    width, count = array.shape[-1], weights.size
    if not (_kernel_takes(array) and _kernel_takes(weights) and count <= width):
        weighted = array[..., :count] * weights
        return np.cumsum(weighted, axis=-1)[..., -1] if count else weighted.sum(axis=-1)
    out = np.empty(array.shape[:-1])
    lists = float64(array, array.size), out.size, width
    native.built.weighted_sums(*lists, float64(weights, count), count, float64(out, out.size))
    return out


class Places(NamedTuple):
    """Some cells of a batch, list after list and rank after rank."""

    row: Ints
    """The list of each cell."""
    rank: Ints
    number: Ints
    """How many of the chosen cells of its list come before it."""

    @classmethod
    def of(cls, marked: Flags) -> Places:
        lists, width = marked.shape
        if native.kernel is not None and marked.dtype == np.bool_ and marked.flags.c_contiguous:
            count = int(np.count_nonzero(marked))
            places = np.empty((3, count + 1), dtype=np.int64)
            found = (int64(column, count + 1) for column in places)
            native.kernel.find_places(flags(marked, lists * width), lists, width, *found)
            return cls(*places[:, :count])
        cell = marked.ravel().nonzero()[0]
        edge = np.searchsorted(cell, np.arange(lists + 1) * width)
        count_of_list = np.diff(edge)
        row = np.repeat(np.arange(lists), count_of_list)
        return cls(row, cell - row * width, np.arange(cell.size) - np.repeat(edge[:-1], count_of_list))
