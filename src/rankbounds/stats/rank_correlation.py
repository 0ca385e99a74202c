"""Do two columns of scores put systems in the same order? Kendall's tau and tau_AP, with allowance for ties.

Scores that differ by rounding alone are equal here, as everywhere (``score_differences``). Functions of ``signs`` take
whole batches, such as the orders of many resamples: the last two axes are systems by systems.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import levelled


def levels(scores: Floats) -> Floats:
    """The scores' places from the lowest on, equal scores on one place: all that an order is."""
    return np.unique(levelled(scores), return_inverse=True)[1].astype(np.float64)


def order_signs(scores: Floats) -> Ints:
    """For every two systems, which of them scores higher: 1 the row's, -1 the column's, 0 neither."""
    level = levelled(scores)
    row, column = level[..., :, None], level[..., None, :]
    return np.greater(row, column).view(np.int8) - np.less(row, column).view(np.int8)


def kendall_tau_a(a: Floats, b: Floats) -> float:
    """Concordant minus discordant pairs, over all pairs; a tie on either side counts for neither."""
    _check_number(a)
    return float((order_signs(a) * order_signs(b)).sum() / (a.size * (a.size - 1)))


def kendall_tau(a: Floats, b: Floats) -> float:
    """Kendall's tau-b: as tau-a, but divided by the pairs that are not tied; NaN where one side is all ties."""
    _check_number(a)
    return float(tau_of_signs(order_signs(a), order_signs(b)))


def tau_of_signs(a: Ints, b: Ints) -> Floats:
    """Kendall's tau-b of every order in one batch with the same one in another; NaN where one side is all ties."""
    untied = np.sqrt(np.count_nonzero(a, axis=(-2, -1)).astype(np.float64) * np.count_nonzero(b, axis=(-2, -1)))
    with np.errstate(invalid="ignore"):
        return (a * b).sum(axis=(-2, -1)) / np.where(untied > 0, untied, np.nan)


def tau_ap(observed: Floats, reference: Floats) -> float:
    """Yilmaz, Aslam and Robertson's tau: as Kendall's, but mistakes near the top of the observed order weigh more.

    Not symmetric: the weights follow ``observed``. Ties there are averaged over all ways to break them; a pair tied in
    ``reference`` counts half.
    """
    _check_number(observed)
    return float(tau_ap_of_signs(order_signs(observed), order_signs(reference)))


def tau_ap_of_signs(observed: Ints, reference: Ints) -> Floats:
    """``tau_ap`` of every order in one batch with the same one in another."""
    count = observed.shape[-1]
    above, level = observed < 0, observed == 0
    first = np.count_nonzero(above, axis=-1)  # so many stand above each system
    tied = np.count_nonzero(level, axis=-1) - 1  # so many others stand level with it
    from_above = (first - (above * reference).sum(axis=-1)) / 2  # of those above, so many the reference has above too
    from_group = (tied - (level * reference).sum(axis=-1)) / 2 / np.maximum(tied, 1)
    # A system stands below 0, 1, ... of those level with it, each equally likely: sums of 1 / rank and place / rank.
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, count + 1)))
    of_ranks = harmonic[first + tied] - harmonic[np.maximum(first - 1, 0)]
    of_places = tied + (first > 0) - first * of_ranks
    agreeing = (from_above * of_ranks + from_group * of_places) / (tied + 1)
    return 2 * agreeing.sum(axis=-1) / (count - 1) - 1


def _check_number(scores: Floats) -> None:
    if len(scores) < 2:
        raise UsageError("The order of runs needs at least two of them.")
