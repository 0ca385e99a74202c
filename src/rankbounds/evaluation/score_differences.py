"""Differences of scores: when two scores are equal, which of them is better, and by how much.

Scores that are equal as fractions can differ in their last bits: .6 - .4, .4 - .2 and .2 - 0 are three different
doubles. Two numbers are equal when they differ by at most ``TOLERANCE``, relative to the larger of the two scores they
come from: more than the rounding of sums over some thousand ranks, and far less than any real difference. Equality is
transitive: numbers in a row, each equal to the next, are all equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Floats

if TYPE_CHECKING:
    from rankbounds.measures import Measure

TOLERANCE = 1024 * float(np.finfo(np.float64).eps)


def equal(one: Floats | float, other: Floats | float) -> Flags:
    """Are these scores equal up to rounding? An infinite one equals only itself."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # of infinities
        return (one == other) | (np.abs(one - other) <= TOLERANCE * _finite(np.maximum(np.abs(one), np.abs(other))))


def merge_equal(values: Floats, scale: Floats | None = None) -> Floats:
    """Return the values with those equal along the last axis, at this ``scale``, replaced by one number."""
    result = np.array(values, dtype=np.float64, order="C")
    size = np.abs(result) if scale is None else np.broadcast_to(scale, result.shape)
    most = TOLERANCE * _finite(size).max(axis=-1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):
        gaps = np.diff(np.sort(result, axis=-1), axis=-1)
    near = ((gaps > 0) & (gaps <= most)).any(axis=-1)  # elsewhere numbers that are equal are the same already
    if near.any():
        result[near] = _levelled(result[near], size[near])
    return result


def _levelled(values: Floats, size: Floats) -> Floats:
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    slack = TOLERANCE * _finite(np.take_along_axis(size, order, axis=-1))
    with np.errstate(invalid="ignore"):
        apart = ~(ordered[..., 1:] - ordered[..., :-1] <= np.maximum(slack[..., 1:], slack[..., :-1]))
    apart &= ordered[..., 1:] != ordered[..., :-1]  # (infinite ones have no distance)
    place = np.arange(1, values.shape[-1])
    first = np.zeros(values.shape, dtype=np.int64)
    np.maximum.accumulate(np.where(apart, place, 0), axis=-1, out=first[..., 1:])
    result = np.empty(values.shape)
    np.put_along_axis(result, order, np.take_along_axis(ordered, first, axis=-1), axis=-1)
    return result


def differences(one: Floats, other: Floats) -> Floats:
    """Return one minus other: 0 where they are equal (or both infinite), and of the same size where sizes are."""
    found = tolerant_difference(one, other)
    scale = np.where(found == 0, 0.0, np.maximum(np.abs(one), np.abs(other)))
    return np.copysign(merge_equal(np.abs(found), scale), found)


def tolerant_difference(one: Floats, other: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.where(equal(one, other), 0.0, np.subtract(one, other))


def mean_difference(one: Floats, other: Floats) -> Floats:
    """Return the mean of differences along the last axis: 0 where means are equal, NaN for infinities of both signs."""
    scale = (_finite(np.abs(one)) + _finite(np.abs(other))).mean(axis=-1)
    with np.errstate(invalid="ignore"):
        return drop_rounding(tolerant_difference(one, other).mean(axis=-1), scale)


def drop_rounding(values: Floats, scale: Floats | float) -> Floats:
    return np.where(np.abs(values) <= TOLERANCE * scale, 0.0, values)


def merit(values: Floats, measure: Measure) -> Floats:
    """Return values or differences with the sign turned so that greater is better."""
    return -values if measure.lower_is_better else values


def merit_of_range(low: Floats, high: Floats, measure: Measure) -> tuple[Floats, Floats]:
    return (-high, -low) if measure.lower_is_better else (low, high)


def limits_of(measure: Measure, scores: Floats) -> tuple[float, float]:
    """Return the range of scores; unknown for another tool's scores outside it, such as percentages."""
    least, most = measure.value_range
    with np.errstate(invalid="ignore"):
        outside = (scores < least - TOLERANCE) | (scores > most + TOLERANCE)
    return (-np.inf, np.inf) if outside.any() else (least, most)


def limits_of_differences(measure: Measure, scores: Floats) -> tuple[float, float]:
    least, most = limits_of(measure, scores)
    return least - most, most - least


def better(one: Floats | float, other: Floats | float, measure: Measure) -> Flags:
    ahead = np.less(one, other) if measure.lower_is_better else np.greater(one, other)
    return np.asarray(ahead & ~equal(one, other))


def _finite(size: Floats) -> Floats:
    return np.where(np.isfinite(size), size, 0.0)
