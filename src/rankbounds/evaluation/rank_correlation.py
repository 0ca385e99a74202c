"""Do two columns of scores put systems in the same order? Kendall's tau, with and without allowance for ties.

Scores that differ by rounding alone are equal here, as everywhere (``score_differences``).
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import levelled


def levels(scores: Floats) -> Floats:
    """The scores' places from the lowest on, equal scores on one place: all that an order is."""
    return np.unique(levelled(scores), return_inverse=True)[1].astype(np.float64)


def order_signs(scores: Floats) -> Floats:
    """For every two systems, which of them scores higher: 1 the row's, -1 the column's, 0 neither."""
    level = levels(scores)
    return np.sign(level[:, None] - level[None, :])


def kendall_tau_a(a: Floats, b: Floats) -> float:
    """Concordant less discordant pairs, over all pairs; a tie on either side counts for neither."""
    _check_number(a)
    return float((order_signs(a) * order_signs(b)).sum() / (a.size * (a.size - 1)))


def kendall_tau(a: Floats, b: Floats) -> float:
    """Kendall's tau-b: as tau-a, but divided by the pairs that are not tied; NaN where one side is all ties."""
    _check_number(a)
    signs_a, signs_b = order_signs(a), order_signs(b)
    untied = np.sqrt(float(np.count_nonzero(signs_a)) * np.count_nonzero(signs_b))
    return float((signs_a * signs_b).sum() / untied) if untied else float("nan")


def _check_number(scores: Floats) -> None:
    if len(scores) < 2:
        raise UsageError("The order of runs needs at least two of them.")
