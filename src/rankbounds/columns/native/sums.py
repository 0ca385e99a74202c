"""Sums along lists: the twin of ``columns.sums``."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.columns import native
from rankbounds.columns.native.addresses import address_of


def summed_by_kernel(array: Floats, upward: bool) -> Floats | None:
    """The running sums of every list; None where they are left to NumPy."""
    if native.kernel is None or array.dtype != np.float64 or not (array.size and array.flags.c_contiguous):
        return None
    width = array.shape[-1]
    out = np.empty(array.shape)
    native.kernel.running_sums(
        address_of(array, np.float64, array.size),
        array.size // width,
        width,
        int(upward),
        address_of(out, np.float64, array.size),
    )
    return out


def weighted_by_kernel(array: Floats, weights: Floats) -> Floats | None:
    """The weighted sum of every list; None where it is left to NumPy."""
    if native.kernel is None or array.dtype != np.float64 or not (array.size and array.flags.c_contiguous):
        return None
    width = array.shape[-1]
    if not 0 < weights.size <= width or weights.dtype != np.float64 or not weights.flags.c_contiguous:
        return None
    out = np.empty(array.shape[:-1])
    native.kernel.weighted_sums(
        address_of(array, np.float64, array.size),
        out.size,
        width,
        address_of(weights, np.float64, weights.size),
        weights.size,
        address_of(out, np.float64, out.size),
    )
    return out
