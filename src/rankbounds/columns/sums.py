"""Sums along the last axis, which is rank."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.columns import native
from rankbounds.columns.native.keys import address_of


def _kernel_takes(array: Floats) -> bool:
    return native.kernel is not None and array.dtype == np.float64 and array.flags.c_contiguous and array.size > 0


def running_sums(array: Floats, *, upward: bool = False) -> Floats:
    """At every rank the sum down to it, one entry after the other; ``upward``, from the end up to it."""
    if not _kernel_takes(array):
        return np.cumsum(array[..., ::-1], axis=-1)[..., ::-1] if upward else np.cumsum(array, axis=-1)
    width, out = array.shape[-1], np.empty(array.shape)
    native.built.running_sums(
        address_of(array, np.float64, array.size),
        array.size // width,
        width,
        int(upward),
        address_of(out, np.float64, array.size),
    )
    return out


def weighted_sums(array: Floats, weights: Floats) -> Floats:
    """The first entries, each times its weight, one added after the other.

    So a list has the same sum whichever lists stand beside it, and however many zeros behind it: a perfect ranking
    comes to what the ideal one does, to the last bit.
    """
    width = array.shape[-1]
    if not (_kernel_takes(array) and _kernel_takes(weights) and weights.size <= width):
        weighted = array[..., : weights.size] * weights
        return np.cumsum(weighted, axis=-1)[..., -1] if weights.size else weighted.sum(axis=-1)
    out = np.empty(array.shape[:-1])
    native.built.weighted_sums(
        address_of(array, np.float64, array.size),
        out.size,
        width,
        address_of(weights, np.float64, weights.size),
        weights.size,
        address_of(out, np.float64, out.size),
    )
    return out
