"""Means over several collections, with intervals and tests over topics, which are a sample within their collection.

``parts`` holds an array for each collection, with a row for each pair (or run) and a column for each of its topics; a
row is NaN where a run lacks the collection. A row's mean gives every collection a share: the same for all
(``collections``, the mean of means), or that of its topics (``queries``, the mean over all topics). Shares are over the
collections that a row has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.stats.significance import deviation_of

MEANS = ("collections", "queries")


def held(parts: Sequence[Floats]) -> Flags:
    """By row and collection: is it there?"""
    return np.stack([~np.isnan(part).any(axis=-1) for part in parts], axis=-1)


def shares(has: Flags, topics: Ints, mean: str) -> Floats:
    """Share out each row's mean among collections; 0 for what is not there."""
    weight = has * (1.0 if mean == "collections" else topics.astype(np.float64))
    total = weight.sum(axis=-1, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def variances_of_means(parts: Sequence[Floats]) -> Floats:
    """Compute by row and collection the squared standard error of the mean over its topics."""
    return np.stack([deviation_of(part) ** 2 / part.shape[-1] for part in parts], axis=-1)


def interval(
    means: Floats, variances: Floats, share: Floats, topics: Ints, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """Compute each row's mean and its t interval over topics, with Welch and Satterthwaite's degrees of freedom.

    None (NaN) where no topic differs from the others of its collection: that shows no error, not that there is none.
    """
    from scipy.special import stdtrit

    mean, error, degrees = _studentised(means, variances, share, topics)
    half = np.where(error > 0, stdtrit(degrees, (1 + confidence) / 2) * error, np.nan)
    return mean, mean - half, mean + half


def t_p_values(means: Floats, variances: Floats, share: Floats, topics: Ints) -> Floats:
    """Is each row's mean 0? The t test that goes with ``interval``: collections keep the differences that they have.

    Without any error, the p-value is what sign flips of the topics of the smallest collection with a difference reach.
    """
    from scipy.special import stdtr

    mean, error, degrees = _studentised(means, variances, share, topics)
    differing = np.where((share > 0) & (means != 0), topics, np.inf).min(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(degrees, -np.abs(mean / error))
    return np.where(mean == 0, 1.0, np.where(error > 0, p, 2.0 ** (1 - differing)))


def _studentised(means: Floats, variances: Floats, share: Floats, topics: Ints) -> tuple[Floats, Floats, Floats]:
    """Each row's mean, its standard error, and Welch and Satterthwaite's degrees of freedom (1 without an error)."""
    there = share > 0
    mean = np.where(there, share * means, 0.0).sum(axis=-1)
    squared = np.where(there, share**2 * variances, 0.0)
    total = squared.sum(axis=-1)
    degrees = np.divide(total**2, (squared**2 / (topics - 1)).sum(axis=-1), out=np.ones_like(total), where=total > 0)
    return mean, np.sqrt(total), degrees
