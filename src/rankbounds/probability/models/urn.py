"""The urn that imitates ranked lists: relevant and non-relevant balls, drawn one after the other into a ranking.

An urn holds N documents, M of them relevant. The next document of the ranking is drawn with chances proportional to
weights: 1 for a relevant document, w for a non-relevant one. The relevance ratio w says how bad the system is (and how
hard the topic): at w = 1 the ranking is random, near 0 relevant documents come first. M is fixed, or Binomial(N, q).

Source: Park, Uncertainty in Rank-Biased Precision, ADCS 2016, section 3. The paper simulates; here mean and variance
come from a recursion over the states of the urn (ranks drawn, relevant documents drawn), which is exact.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_persistence
from rankbounds.errors import UsageError

NEGLIGIBLE = 1e-15
"""Ranks below which all weights together are this small are not looked at."""


class Moments(NamedTuple):
    """Mean and standard deviation; arrays where the parameters were arrays."""

    mean: Any
    sd: Any


def urn_moments(
    n_documents: int,
    q: Any = None,
    relevance_ratio: Any = 1.0,
    p: float = 0.8,
    judged_depth: int = 10,
    topics: int = 1,
    *,
    relevant: int | None = None,
) -> Moments:
    """Compute the exact mean and sd of what the ranks below the judged depth add to mean RBP, for lists from an urn.

    Parameters
    ----------
    n_documents
        How many documents the urn holds.
    q
        The share of relevant documents: their number is Binomial(n_documents, q). May be an array.
    relevance_ratio
        The weight w of a non-relevant document when a relevant one has 1: at 1 the order is random, near 0 relevant
        documents come first. May be an array, which is broadcast against ``q``.
    p, judged_depth, topics
        RBP's persistence; ranks down to the judged depth do not count; the mean is over so many topics.
    relevant
        The number of relevant documents, in place of ``q``.

    Returns
    -------
    Moments
        ``mean`` and ``sd``; arrays where the parameters were arrays.

    Examples
    --------
    >>> import rankbounds as rb
    >>> mean, sd = rb.probability.urn_moments(100, q=0.1, relevance_ratio=0.5, topics=50)
    >>> print(round(mean, 5), round(sd, 5))
    0.01727 0.00188
    """
    if n_documents < 1 or topics < 1 or judged_depth < 0:
        raise UsageError("An urn needs at least one document and one topic, and a judged depth from 0 on.")
    check_persistence(p)
    _check_number(q, relevant)
    if relevant is not None and not 0 <= relevant <= n_documents:
        raise UsageError(f"Of {n_documents} documents, {relevant} cannot be relevant.")
    shares, ratios = np.broadcast_arrays(np.nan if q is None else np.asarray(q, float), _ratios(relevance_ratio))
    if q is not None and not ((shares >= 0) & (shares <= 1)).all():
        raise UsageError("The share q of relevant documents must lie between 0 and 1.")
    depth = n_documents if p in (0.0, 1.0) else min(n_documents, math.ceil(math.log(NEGLIGIBLE) / math.log(p)))
    weights = (1 - p) * p ** np.arange(depth)
    weights[:judged_depth] = 0.0
    mean, second = np.empty(shares.shape), np.empty(shares.shape)
    for ratio in np.unique(ratios):
        here = ratios == ratio
        number, mixture = (np.array([relevant]), np.ones((1, 1))) if q is None else _binomial(n_documents, shares[here])
        at_start, second_at_start = _from_start(weights, n_documents, number, float(ratio))
        mean[here], second[here] = mixture @ at_start, mixture @ second_at_start
    sd = np.sqrt(np.maximum(second - mean**2, 0.0) / topics)
    return Moments(float(mean), float(sd)) if shares.ndim == 0 else Moments(mean, sd)


def sample_rankings(
    n_documents: int,
    lists: int,
    *,
    q: Any = None,
    relevant: Any = None,
    relevance_ratio: Any = 1.0,
    seed: int | np.random.Generator = 0,
) -> Flags:
    """Draw ranked lists of all documents of an urn, as ``urn_moments`` describes it.

    Parameters
    ----------
    n_documents : int
        How many documents the urn holds.
    lists : int
        How many lists to draw.
    q : float, optional
        The share of relevant documents: their number is Binomial(n_documents, q).
    relevant : int or sequence of int, optional
        The number of relevant documents, in place of ``q``; one for all lists, or one for each.
    relevance_ratio : float or sequence of float, default 1
        The weight of a non-relevant document when a relevant one has 1.
    seed : int or Generator, default 0
        Where the random numbers start.

    Returns
    -------
    array of bool
        Lists by ranks: True for a relevant document.

    Notes
    -----
    Every document arrives after a random time, exponential with its weight for a rate; the order of arrival is the
    order of draws from the urn.

    Examples
    --------
    >>> import rankbounds as rb
    >>> drawn = rb.probability.sample_rankings(20, 1000, relevant=5, relevance_ratio=0.1, seed=1)
    >>> drawn.shape, set(drawn.sum(axis=-1).tolist()), bool(drawn[:, 0].mean() > drawn[:, 9].mean())
    ((1000, 20), {5}, True)
    """
    rng = np.random.default_rng(seed)
    _check_number(q, relevant)
    number = rng.binomial(n_documents, q, lists) if relevant is None else np.broadcast_to(relevant, lists)
    is_relevant = np.arange(n_documents) < number[:, None]
    rate = np.where(is_relevant, 1.0, np.broadcast_to(_ratios(relevance_ratio), lists)[:, None])
    arrival = rng.exponential(size=(lists, n_documents)) / rate
    return np.take_along_axis(is_relevant, np.argsort(arrival, axis=-1), axis=-1)


def _check_number(q: Any, relevant: Any) -> None:
    if (q is None) == (relevant is None):
        raise UsageError("An urn needs either q, the share of relevant documents, or relevant, their number.")


def _ratios(given: Any) -> Floats:
    ratios = np.asarray(given, dtype=float)
    if not (np.isfinite(ratios) & (ratios > 0)).all():
        raise UsageError("The relevance ratio w must be positive.")
    return ratios


def _binomial(n: int, shares: Floats) -> tuple[Ints, Floats]:
    """The numbers of relevant documents that can be met, and a row per share with their probabilities."""
    from scipy.special import gammaln, xlog1py, xlogy

    number = np.arange(n + 1)
    share = np.ravel(shares)[:, None]
    logs = gammaln(n + 1) - gammaln(number + 1) - gammaln(n - number + 1) + xlogy(number, share)
    probability = np.exp(logs + xlog1py(n - number, -share))
    met = probability.max(axis=0) > 1e-18
    probability = probability[:, met]
    return number[met], probability / probability.sum(axis=-1, keepdims=True)


def _from_start(weights: Floats, n: int, number: Ints, ratio: float) -> tuple[Floats, Floats]:
    """Mean and mean square of the weighted relevance of a list, by the number of relevant documents in the urn.

    From the last rank to the first: what is still to come has a column for each count of relevant documents drawn.
    """
    mean, second = np.zeros((2, number.size, weights.size + 1))
    for rank in range(weights.size - 1, -1, -1):
        drawn = np.arange(rank + 1)
        left = np.maximum(number[:, None] - drawn, 0)
        others = np.maximum(n - number[:, None] - (rank - drawn), 0)
        weight = left + ratio * others
        chance = np.divide(left, weight, out=np.zeros(weight.shape), where=weight > 0)
        gain = weights[rank]
        hit, miss = slice(1, rank + 2), slice(0, rank + 1)
        second = chance * (gain**2 + 2 * gain * mean[:, hit] + second[:, hit]) + (1 - chance) * second[:, miss]
        mean = chance * (gain + mean[:, hit]) + (1 - chance) * mean[:, miss]
    return mean[:, 0], second[:, 0]
