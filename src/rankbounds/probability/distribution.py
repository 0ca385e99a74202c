"""The distribution of a sum of things that happen or not, each with its own weight and probability.

Few of them are enumerated, which is exact. Many are put on a grid, whose error is stated.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints

ENUMERATED = 15
"""Up to so many weights, all sums are enumerated."""
CELLS = 1 << 17
BLOCK = 64
REACH = 1 << 13
TOGETHER = 4
FRACTIONS = 8
"""Weights that are multiples of the least of them, or of a half to an eighth of it, are added up without rounding."""
EVEN = 1e-9
"""Values that are no further apart count as equal."""
MISSED = 1e-9
"""The stated error of a grid is exceeded with at most this probability."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Ascending values and probabilities; ``error``: how far off a value may be, but for ``MISSED``."""

    value: Floats
    probability: Floats
    error: float = 0.0

    @property
    def mean(self) -> float:
        return float(self.value @ self.probability)

    @property
    def sd(self) -> float:
        return math.sqrt(max(0.0, float((self.value - self.mean) ** 2 @ self.probability)))

    def cdf(self, x: Floats | float) -> Floats:
        reached = np.append(0.0, np.cumsum(self.probability))
        return np.minimum(reached[np.searchsorted(self.value, x, side="right")], 1.0)

    def quantile(self, share: Floats | float) -> Floats:
        reached = np.cumsum(self.probability)
        place = np.searchsorted(reached, np.asarray(share) - 1e-12)
        return self.value[np.minimum(place, self.value.size - 1)]

    def distance_from_normal(self) -> float:
        """The largest difference between this distribution function and the normal one of the same mean and sd."""
        from scipy.special import ndtr

        if self.sd < 1e-12:
            return 0.0
        reached = np.cumsum(self.probability)
        normal = ndtr((self.value - self.mean) / self.sd)
        before = np.append(0.0, reached[:-1])
        return float(max(np.abs(reached - normal).max(), np.abs(before - normal).max()))


def distribution_of_sum(weight: Floats, chance: Floats, base: float = 0.0) -> Distribution:
    """Compute the distribution of a sum of weights, each of which counts with its own chance.

    Parameters
    ----------
    weight, chance : array
        The weights, which may be negative, and the probability that each counts.
    base : float
        What is added for certain.

    Returns
    -------
    Distribution
        With ``cdf``, ``quantile`` and ``distance_from_normal``; enumerated for few weights, else on a fine grid.

    Examples
    --------
    >>> import rankbounds as rb, numpy as np
    >>> found = rb.probability.distribution_of_sum(np.array([0.2, 0.1]), np.array([0.5, 0.5]))
    >>> found.value.round(1).tolist(), found.probability.tolist()
    ([0.0, 0.1, 0.2, 0.3], [0.25, 0.25, 0.25, 0.25])
    """
    certain = (chance == 0) | (chance == 1) | (np.abs(weight) < 1e-100)
    base += float(weight[certain & (chance == 1)].sum())
    weight, chance = weight[~certain], chance[~certain]
    # A negative weight that counts with probability q is, minus itself, a positive one that counts with 1 - q.
    negative = weight < 0
    base += float(weight[negative].sum())
    weight, chance = np.abs(weight), np.where(negative, 1 - chance, chance)
    if weight.size <= ENUMERATED:
        return _enumerated(weight, chance, base)
    return _on_grid(weight, chance, base)


def _enumerated(weight: Floats, chance: Floats, base: float) -> Distribution:
    value, probability = np.array([base]), np.ones(1)
    for added, q in zip(weight.tolist(), chance.tolist(), strict=True):
        value = np.concatenate((value, value + added))
        probability = np.concatenate((probability * (1 - q), probability * q))
    order = np.argsort(value, kind="stable")
    return Distribution(value[order], probability[order])


def _on_grid(weight: Floats, chance: Floats, base: float) -> Distribution:
    """Weights rounded to a grid, convolved in blocks, the blocks joined by Fourier transforms.

    The grid spans all sums, or where that is shorter a window around the mean which Hoeffding's inequality says the
    sum leaves with a probability below 1e-12. Rounding moves the sum by a random amount with mean zero (the shift of
    the mean is undone), and the same inequality bounds that amount. Where all weights are multiples of one, as those of
    precision are, the grid has its steps: nothing is rounded, and sums that are equal fall together.
    """
    from scipy.fft import rfft

    window = 2 * math.sqrt(math.log(2e12) / 2 * float(weight @ weight))
    length = min(float(weight.sum()), window)
    step = _unit(weight) or length / (CELLS - 2 * weight.size if 4 * weight.size < CELLS else CELLS / 2)
    steps = np.rint(weight / step).astype(np.int64)
    rounding = np.where(_same(weight, steps * step), 0.0, weight - steps * step)
    error = min(float(np.abs(rounding).sum()), math.sqrt(math.log(2 / MISSED) / 2 * float(rounding @ rounding)))
    transform = np.ones(CELLS // 2 + 1, dtype=np.complex128)
    order = np.argsort(steps)
    order = order[np.searchsorted(steps[order], 1) :]
    blocks = [order[begin:end] for begin, end in itertools.pairwise(_blocks(steps[order]))]
    for first in range(0, len(blocks), TOGETHER):  # several transforms at once take less time than one by one
        several = np.stack([_convolved(steps[mine], chance[mine]) for mine in blocks[first : first + TOGETHER]])
        transform *= rfft(several, axis=-1).prod(axis=0)
    probability = np.maximum(np.fft.irfft(transform, CELLS), 0.0)
    most = int(steps.sum())
    if most < CELLS:  # beyond the largest sum there is nothing but what transforms leave of rounding
        first, probability = 0, probability[: most + 1]
    else:  # the grid is a circle: it is cut open opposite the mean
        first = math.floor(float(steps @ chance)) - CELLS // 2
        probability = np.roll(probability, -(first % CELLS))
    value = base + float(rounding @ chance) + step * (first + np.arange(probability.size))
    inside = np.flatnonzero(probability > 1e-18)
    kept = slice(int(inside[0]), int(inside[-1]) + 1)
    return Distribution(value[kept], probability[kept] / probability[kept].sum(), error)


def _unit(weight: Floats) -> float | None:
    units = float(weight.min()) / np.arange(1, FRACTIONS + 1)
    fits = (weight.sum() / units < CELLS - 1) & _same(weight[:, None], np.rint(weight[:, None] / units) * units).all(0)
    return float(units[np.argmax(fits)]) if fits.any() else None


def _same(one: Floats, other: Floats) -> Flags:
    return np.abs(one - other) <= 1e-12 * one


def _blocks(steps: Ints) -> list[int]:
    reached = np.cumsum(steps)
    begins = [0]
    while begins[-1] < steps.size:
        begin = begins[-1]
        near = int(np.searchsorted(reached, reached[begin] - steps[begin] + REACH, side="right"))
        begins.append(min(max(begin + BLOCK, near), steps.size))
    return begins


def _convolved(steps: Ints, chance: Floats) -> Floats:
    reach = int(steps.sum())
    size = min(reach + 1, CELLS)
    probability = np.zeros(size)
    probability[0] = 1.0
    top = 1
    for step, q in zip(steps.tolist(), chance.tolist(), strict=True):
        if top + step <= size:
            moved = probability[:top] * q
            probability[:top] *= 1 - q
            probability[step : top + step] += moved
            top += step
        else:
            probability = (1 - q) * probability + q * np.roll(np.pad(probability, (0, CELLS - size)), step)
            size = top = CELLS
    return np.pad(probability, (0, CELLS - size))
