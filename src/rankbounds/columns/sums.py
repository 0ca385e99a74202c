"""Sums along the last axis, which is rank."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.columns.native.sums import summed_by_kernel, weighted_by_kernel


def running_sums(array: Floats, *, upward: bool = False) -> Floats:
    """At every rank the sum down to it, one entry after the other; ``upward``, from the end up to it."""
    sums = summed_by_kernel(array, upward)
    if sums is None:
        sums = np.cumsum(array[..., ::-1], axis=-1)[..., ::-1] if upward else np.cumsum(array, axis=-1)
    return sums


def weighted_sums(array: Floats, weights: Floats) -> Floats:
    """The first entries, each times its weight, one added after the other.

    So a list has the same sum whichever lists stand beside it, and however many zeros behind it: a perfect ranking
    comes to what the ideal one does, to the last bit.
    """
    sums = weighted_by_kernel(array, weights)
    if sums is None:
        weighted = array[..., : weights.size] * weights
        sums = np.cumsum(weighted, axis=-1)[..., -1] if weights.size else weighted.sum(axis=-1)
    return sums
