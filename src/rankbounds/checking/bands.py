"""How much bands of ranks can cost: down to which rank they are safe, and the most that a score can lose.

``Run.banded`` puts documents in bands. Source: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?,
2016.
"""

from __future__ import annotations

import math

import numpy as np

from rankbounds.collection.bands import Rho, band_starts, exact_rho, next_start
from rankbounds.errors import UsageError
from rankbounds.measures import RankWeighted, parse_measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.naming.parser import MeasureLike
from rankbounds.measures.reciprocal_rank import RR

NEGLIGIBLE = 1e-12
MOST_RANKS = 1 << 22


def rank_safe_depth(rho: Rho) -> int | None:
    """Return the rank down to which every document has a band of its own.

    Parameters
    ----------
    rho
        The growth factor of bands, 1 or more. It is the decimal that you write: 1.1 is eleven tenths.

    Returns
    -------
    int or None
        None if all documents have (rho = 1).

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.checking.rank_safe_depth(1.1), rb.checking.rank_safe_depth(2), rb.checking.rank_safe_depth(1)
    (10, 1, None)
    """
    factor = exact_rho(rho)
    return None if factor == 1 else math.floor(1 / (factor - 1))


def worst_difference(measure: MeasureLike, rho: Rho) -> float:
    """Return the most that a score can lose when bands replace the ranking, taking the mean over all orders.

    Parameters
    ----------
    measure
        RR, RBP, P@k, DCG@k or another sum over ranks with falling weights.
    rho
        The growth factor of bands, 1 or more.

    Returns
    -------
    float
        The difference for the list that loses most.

    Notes
    -----
    Exact for reciprocal rank and for sums over ranks with falling weights and gains from 0 to 1. Average precision and
    other measures divided by the number of relevant documents have no known limit, and are refused.

    Examples
    --------
    >>> import rankbounds as rb
    >>> round(rb.checking.worst_difference("RBP(p=0.8)", 1.4), 4), round(rb.checking.worst_difference("RR", 2), 4)
    (0.0493, 0.0833)
    """
    measure = parse_measure(measure)
    if isinstance(measure, RR):
        return _worst_reciprocal_rank(measure, rho)
    if not is_weighted_sum(measure):
        raise UsageError(
            f"{measure} has no known worst difference: it is not a sum over ranks with fixed weights. Use RR, RBP, P@k "
            "or DCG@k."
        )
    weights = measure.weights(_depth(measure))
    if (np.diff(weights) > NEGLIGIBLE).any():
        raise UsageError(f"{measure} has no known worst difference: its weights do not fall with rank.")
    starts = band_starts(rho, weights.size)
    # The last band may go on below the depth, where nothing counts.
    last_size = min(next_start(exact_rho(rho), int(starts[-1])) - int(starts[-1]), 2**60)
    size = np.append(np.diff(starts), last_size)
    inside = np.diff(starts, append=weights.size + 1)
    first = np.repeat(starts - 1, inside)
    mean = np.repeat(np.add.reduceat(weights, starts - 1) / size, inside)
    number = np.arange(weights.size) - first + 1
    above = np.append(0.0, np.cumsum(weights))
    # With so many relevant documents at the top of a band: their weights minus as many times the band's mean weight.
    lost = above[first + number] - above[first] - number * mean
    return float(np.maximum(np.maximum.reduceat(lost, starts - 1), 0.0).sum())


def _depth(measure: RankWeighted) -> int:
    """Return the depth of the measure, or one below which nothing visible counts."""
    if measure.cutoff is not None:
        return measure.cutoff
    depth = 16
    while measure.tail(np.array([depth]))[0] > NEGLIGIBLE or measure.weights(depth + 1)[-1] > NEGLIGIBLE:
        depth *= 2
        if depth > MOST_RANKS:
            raise UsageError(f"{measure} has no end here: give it a depth, as in {measure.name}@1000.")
    return depth


def _worst_reciprocal_rank(measure: RR, rho: Rho) -> float:
    """Put the only relevant document first in a band; the first band need not be the worst."""
    from scipy.special import digamma

    factor, safe = exact_rho(rho), rank_safe_depth(rho)
    if safe is None:
        return 0.0
    worst, start = 0.0, safe + 1
    deepest = measure.cutoff if measure.cutoff is not None else math.inf
    while start <= deepest and 1 / start > worst:
        after = next_start(factor, start)
        summed = float(digamma(min(after, deepest + 1)) - digamma(start))
        worst = max(worst, 1 / start - summed / (after - start))
        start = after
    return worst
