"""Random-effects summary of estimates from several collections, whose true values may differ.

Each collection gives an estimate (a mean difference over its topics) with a known sampling variance. The true values
vary about a mean with the variance tau^2, the heterogeneity. It is estimated

- by ``reml``, restricted maximum likelihood (the global maximum of the profile, not the nearest stationary point); or
- by ``dl``, the moments of DerSimonian and Laird (1986, "Meta-analysis in clinical trials").

The mean has a Hartung-Knapp interval (t with k - 1 degrees; its factor never below 1).

The prediction interval is for the true value of a *new* collection. A plain one treats the estimate of tau^2 as the
truth and is too narrow for few collections. Here tau^2 is as uncertain as Cochran's Q leaves it: the weighted sum of
squares at the true tau^2 has a chi-squared distribution, which is inverted (the Q-profile of Viechtbauer 2007), and
normal predictions are mixed over it. With equal and small variances it is the prediction interval of the t
distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_choice, check_share

ESTIMATORS = ("reml", "dl")
_GRID = 48
"""How many values of tau^2 are tried before the best one is refined."""
_BISECTIONS = 50
_NODES = 48
"""How many quantiles of the distribution of tau^2 are used."""
_ROWS_PREDICTED_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class RandomEffects:
    """By pair: the mean over collections with its interval, heterogeneity, and the prediction for a new collection.

    NaN for fewer than two collections, or one with variance 0 or unknown; of a new collection also for fewer than
    three.
    """

    mean: Floats
    error: Floats
    low: Floats
    high: Floats
    tau_squared: Floats
    i_squared: Floats
    q: Floats
    q_p_value: Floats
    new_low: Floats
    new_high: Floats
    new_above: Floats
    """How probable it is that the true value of a new collection lies above 0."""


def random_effects(
    estimates: Floats, variances: Floats, estimator: str = "reml", confidence: float = 0.95
) -> RandomEffects:
    """Summarise estimates of collections, for many rows at once.

    Parameters
    ----------
    estimates, variances : array
        A row per pair and a column per collection; NaN if a pair lacks one. Variances are those of the estimates
        (squared standard errors).
    estimator : {"reml", "dl"}
        The estimator of the variance between collections.
    confidence : float
        The level of both intervals.

    Returns
    -------
    RandomEffects

    Examples
    --------
    >>> import numpy as np
    >>> from rankbounds.stats.random_effects import random_effects
    >>> summary = random_effects(np.array([[0.1, 0.3, 0.5]]), np.array([[0.01, 0.01, 0.01]]), "dl")
    >>> [round(float(part[0]), 4) for part in (summary.mean, summary.tau_squared, summary.i_squared, summary.q)]
    [0.3, 0.03, 0.75, 8.0]
    """
    from scipy import stats

    check_choice("estimator", estimator, ESTIMATORS)
    check_share("confidence", confidence)
    estimates, variances = np.atleast_2d(estimates), np.atleast_2d(variances)
    has = ~np.isnan(estimates)
    count = has.sum(axis=-1)
    usable = (count > 1) & (np.where(has, variances, 1.0) > 0).all(axis=-1)
    within = np.where(has & usable[:, None], variances, np.inf)  # a weight of 0
    values = np.where(has & usable[:, None], estimates, 0.0)
    degrees = np.maximum(count - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        q = _squares(values, 1 / within)
        if estimator == "dl":  # the tau^2 at which Q is what is expected of it, and not below 0
            total, squared = (1 / within).sum(axis=-1), (1 / within**2).sum(axis=-1)
            tau_squared = np.maximum(0.0, (q - degrees) / (total - squared / total))
        else:
            tau_squared = _likeliest(values, within, count)
        weight = 1 / (within + tau_squared[:, None])
        mean = (weight * values).sum(axis=-1) / weight.sum(axis=-1)
        factor = np.maximum(1.0, _squares(values, weight) / degrees)
        error = np.sqrt(factor / weight.sum(axis=-1))
        half = stats.t.ppf((1 + confidence) / 2, degrees) * error
        i_squared = np.where(q > 0, np.maximum(0.0, (q - degrees) / q), 0.0)
    predicted = np.full((3, len(values)), np.nan)
    rows = np.flatnonzero(usable & (count > 2))
    for start in range(0, rows.size, _ROWS_PREDICTED_AT_ONCE):
        chosen = rows[start : start + _ROWS_PREDICTED_AT_ONCE]
        predicted[:, chosen] = _predicted(values[chosen], within[chosen], degrees[chosen], confidence)
    columns = [
        mean, error, mean - half, mean + half, tau_squared, i_squared, q, stats.chi2.sf(q, degrees), *predicted,
    ]  # fmt: skip
    return RandomEffects(*(np.where(usable, column, np.nan) for column in columns))


def _squares(values: Floats, weight: Floats) -> Floats:
    mean = (weight * values).sum(axis=-1, keepdims=True) / weight.sum(axis=-1, keepdims=True)
    return (weight * (values - mean) ** 2).sum(axis=-1)


def _likeliest(values: Floats, within: Floats, count: Ints) -> Floats:
    """Return the tau^2 of greatest restricted likelihood: the best of a grid, refined where its slope is 0."""
    known = np.isfinite(within)
    spread = np.where(known, (values - values.sum(axis=-1, keepdims=True) / count[:, None]) ** 2, 0.0).sum(axis=-1)
    # The likelihood falls where tau^2 exceeds a quarter of the squared range times the number of collections, and the
    # squared range is at most twice the sum of squares.
    largest = np.maximum(spread * count / 2, 1e-300)
    grid = np.concatenate([[0.0], np.geomspace(1e-10, 1.0, _GRID)])[:, None] * largest
    best = np.argmax([_likelihood(values, within, tau_squared) for tau_squared in grid], axis=0)
    row = np.arange(len(values))
    low, high = grid[np.maximum(best - 1, 0), row], grid[np.minimum(best + 1, _GRID), row]
    at_zero = (best == 0) & (_slope(values, within, np.zeros(len(values))) <= 0)
    return np.where(at_zero, 0.0, _bisect(lambda middle: _slope(values, within, middle) > 0, low, high))


def _bisect(is_low: Callable[[Floats], Flags], low: Floats, high: Floats) -> Floats:
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        too_low = is_low(middle)
        low, high = np.where(too_low, middle, low), np.where(too_low, high, middle)
    return (low + high) / 2


def _likelihood(values: Floats, within: Floats, tau_squared: Floats) -> Floats:
    total = within + tau_squared[:, None]
    weight = 1 / total
    logs = np.where(np.isfinite(total), np.log(np.where(np.isfinite(total), total, 1.0)), 0.0).sum(axis=-1)
    return -logs - np.log(weight.sum(axis=-1)) - _squares(values, weight)


def _slope(values: Floats, within: Floats, tau_squared: Floats) -> Floats:
    weight = 1 / (within + tau_squared[:, None])
    total = weight.sum(axis=-1)
    mean = (weight * values).sum(axis=-1) / total
    squares = (weight**2 * (values - mean[:, None]) ** 2).sum(axis=-1)
    return squares - total + (weight**2).sum(axis=-1) / total


def _predicted(values: Floats, within: Floats, degrees: Ints, confidence: float) -> Floats:
    from scipy import stats
    from scipy.special import ndtr

    node, weight = np.polynomial.legendre.leggauss(_NODES)
    share = weight / 2
    squares = stats.chi2.ppf((node + 1) / 2, degrees[:, None])
    values, within = values[:, None], within[:, None]
    known = np.isfinite(within)
    centre = np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1)
    spread = np.where(known, (values - centre[..., None]) ** 2, 0.0).sum(axis=-1)
    tau_squared = _bisect(
        lambda middle: _squares(values, 1 / (within + middle[..., None])) > squares,
        np.zeros(squares.shape),
        spread / squares,  # at tau^2 the sum of squares is at most spread / tau^2
    )
    weight = 1 / (within + tau_squared[..., None])
    mean = (weight * values).sum(axis=-1) / weight.sum(axis=-1)
    deviation = np.sqrt(tau_squared + 1 / weight.sum(axis=-1))

    def below(value: Floats) -> Floats:
        return ndtr((value[:, None] - mean) / deviation) @ share

    reach = 40 * deviation.max(axis=-1)
    least, most = mean.min(axis=-1) - reach, mean.max(axis=-1) + reach
    low, high = (1 - confidence) / 2, (1 + confidence) / 2
    ends = [_bisect(lambda middle: below(middle) < low, least, most)]
    ends.append(_bisect(lambda middle: below(middle) < high, least, most))
    return np.stack([*ends, 1 - below(np.zeros(len(values)))])
