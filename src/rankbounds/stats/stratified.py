"""Means over several collections, these or ones like them.

``parts`` holds an array per collection, with a row per pair (or run) and a column per topic; a row is NaN if a run
lacks the collection. In a row's mean collections have equal shares (``collections``) or those of their topics
(``queries``). For collections like these, ``random_effects`` estimates the variance tau^2 of true values by moments
(DerSimonian and Laird 1986), and the mean has a Hartung-Knapp interval: t with k - 1 degrees, its factor at least 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_share
from rankbounds.stats.significance import deviation_of

MEANS = ("collections", "queries")


def held(parts: Sequence[Floats]) -> Flags:
    return np.stack([~np.isnan(part).any(axis=-1) for part in parts], axis=-1)


def shares(has: Flags, topics: Ints, mean: str) -> Floats:
    weight = has * (1.0 if mean == "collections" else topics.astype(np.float64))
    total = weight.sum(axis=-1, keepdims=True)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def variances_of_means(parts: Sequence[Floats]) -> Floats:
    return np.stack([deviation_of(part) ** 2 / part.shape[-1] for part in parts], axis=-1)


def interval(
    means: Floats, variances: Floats, share: Floats, topics: Ints, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """Each row's mean and its t interval over topics (Welch and Satterthwaite); NaN where no topics vary."""
    from scipy.special import stdtrit

    mean, error, degrees = _studentise(means, variances, share, topics)
    half = np.where(error > 0, stdtrit(degrees, (1 + confidence) / 2) * error, np.nan)
    return mean, mean - half, mean + half


def t_p_values(means: Floats, variances: Floats, share: Floats, topics: Ints) -> Floats:
    """Test each row's mean for 0, as ``interval`` does; without variation by the signs of the smallest collection."""
    from scipy.special import stdtr

    mean, error, degrees = _studentise(means, variances, share, topics)
    differing = np.where((share > 0) & (means != 0), topics, np.inf).min(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(degrees, -np.abs(mean / error))
    return np.where(mean == 0, 1.0, np.where(error > 0, p, 2.0 ** (1 - differing)))


def _studentise(means: Floats, variances: Floats, share: Floats, topics: Ints) -> tuple[Floats, Floats, Floats]:
    there = share > 0
    mean = np.where(there, share * means, 0.0).sum(axis=-1)
    squared = np.where(there, share**2 * variances, 0.0)
    total = squared.sum(axis=-1)
    degrees = np.divide(total**2, (squared**2 / (topics - 1)).sum(axis=-1), out=np.ones_like(total), where=total > 0)
    return mean, np.sqrt(total), degrees


@dataclass(frozen=True, eq=False)
class RandomEffects:
    """By pair: the mean over collections with its interval, and the heterogeneity; NaN: too few, or no variance."""

    mean: Floats
    error: Floats
    low: Floats
    high: Floats
    tau_squared: Floats
    i_squared: Floats
    q: Floats
    q_p_value: Floats


def random_effects(estimates: Floats, variances: Floats, confidence: float = 0.95) -> RandomEffects:
    """Summarise estimates of collections: a row per pair and a column per collection; NaN if a pair lacks one.

    >>> summary = random_effects(np.array([[0.1, 0.3, 0.5]]), np.array([[0.01, 0.01, 0.01]]))
    >>> [round(float(part[0]), 4) for part in (summary.mean, summary.tau_squared, summary.i_squared, summary.q)]
    [0.3, 0.03, 0.75, 8.0]
    """
    from scipy.special import chdtrc, stdtrit

    check_share("confidence", confidence)
    has = ~np.isnan(estimates)
    usable = (has.sum(axis=-1) > 1) & (np.where(has, variances, 1.0) > 0).all(axis=-1)
    within = np.where(has & usable[:, None], variances, np.inf)  # a weight of 0
    values = np.where(has & usable[:, None], estimates, 0.0)
    degrees = np.maximum(has.sum(axis=-1) - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        q, total, squared = _squares(values, 1 / within), (1 / within).sum(axis=-1), (1 / within**2).sum(axis=-1)
        # The tau^2 at which Q is what is expected of it, and not below 0.
        tau_squared = np.maximum(0.0, (q - degrees) / (total - squared / total))
        weight = 1 / (within + tau_squared[:, None])
        mean = (weight * values).sum(axis=-1) / weight.sum(axis=-1)
        error = np.sqrt(np.maximum(1.0, _squares(values, weight) / degrees) / weight.sum(axis=-1))
        half = stdtrit(degrees, (1 + confidence) / 2) * error
        i_squared = np.where(q > 0, np.maximum(0.0, (q - degrees) / q), 0.0)
    columns = (mean, error, mean - half, mean + half, tau_squared, i_squared, q, chdtrc(degrees, q))
    return RandomEffects(*(np.where(usable, column, np.nan) for column in columns))


def _squares(values: Floats, weight: Floats) -> Floats:
    mean = (weight * values).sum(axis=-1, keepdims=True) / weight.sum(axis=-1, keepdims=True)
    return (weight * (values - mean) ** 2).sum(axis=-1)
