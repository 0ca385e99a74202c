"""Means over several collections, with intervals and tests over topics as samples within their collection.

``parts`` holds an array per collection, with a row per pair (or run) and a column per topic; a row is NaN if a run
lacks the collection. In a row's mean collections have equal shares (``collections``, the mean of means), or those of
their topics (``queries``, the mean over all topics), among the collections of the row.
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

    NaN if topics do not vary within any collection: that shows no error, not that there is none.
    """
    from scipy.special import stdtrit

    mean, error, degrees = _studentise(means, variances, share, topics)
    half = np.where(error > 0, stdtrit(degrees, (1 + confidence) / 2) * error, np.nan)
    return mean, mean - half, mean + half


def t_p_values(means: Floats, variances: Floats, share: Floats, topics: Ints) -> Floats:
    """Test whether each row's mean is 0, by the t test that matches ``interval``: collections are fixed.

    Without variation, the p-value is the smallest possible with sign flips of the smallest collection with a
    difference.
    """
    from scipy.special import stdtr

    mean, error, degrees = _studentise(means, variances, share, topics)
    differing = np.where((share > 0) & (means != 0), topics, np.inf).min(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(degrees, -np.abs(mean / error))
    return np.where(mean == 0, 1.0, np.where(error > 0, p, 2.0 ** (1 - differing)))


def _studentise(means: Floats, variances: Floats, share: Floats, topics: Ints) -> tuple[Floats, Floats, Floats]:
    """Return each row's mean, standard error, and Welch and Satterthwaite's degrees of freedom (1 without an error)."""
    there = share > 0
    mean = np.where(there, share * means, 0.0).sum(axis=-1)
    squared = np.where(there, share**2 * variances, 0.0)
    total = squared.sum(axis=-1)
    degrees = np.divide(total**2, (squared**2 / (topics - 1)).sum(axis=-1), out=np.ones_like(total), where=total > 0)
    return mean, np.sqrt(total), degrees
