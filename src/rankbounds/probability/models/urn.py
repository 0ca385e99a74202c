"""The urn that imitates ranked lists: relevant and non-relevant balls, drawn one after the other into a ranking.

An urn holds N documents, M of them relevant. The next document of the ranking is drawn with chances proportional to
weights: 1 for a relevant document, w for a non-relevant one. The relevance ratio w says how bad the system is (and how
hard the topic): at w = 1 the ranking is random, near 0 relevant documents come first. M is fixed, or Binomial(N, q).

Source: Park, Uncertainty in Rank-Biased Precision, ADCS 2016, section 3. The paper simulates; here mean and variance
come from a recursion over the states of the urn (ranks drawn, relevant documents drawn), which is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_persistence
from rankbounds.errors import UsageError
from rankbounds.stats.logistic import expit

MOST_NUMBERS = 64
"""How many numbers of relevant documents are followed down the ranks; those between them are interpolated."""
FARTHEST_PLAUSIBLE = 8.0
"""A log likelihood that is farther than this below the greatest is not looked at closely."""
PLACES = 15
"""How many values of q, and of w, stand for all that are plausible: about two for each standard deviation."""
_TINY = 1e-15
_CERTAIN: Floats = np.ones((1, 1))


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
    """Exact mean and sd of what the ranks below the judged depth add to mean RBP, for lists drawn from an urn.

    Parameters
    ----------
    n_documents
        How many documents the urn holds.
    q
        The share of relevant documents: their number is Binomial(n_documents, q). May be an array.
    relevance_ratio
        The weight w of a non-relevant document when a relevant one has 1: at 1 the order is random, near 0 relevant
        documents come first. May be an array, which is broadcast against ``q``.
    p
        RBP's persistence.
    judged_depth
        Ranks down to this one are judged and not counted.
    topics
        How many topics the mean is over.
    relevant
        The number of relevant documents, in place of ``q``.

    Returns
    -------
    Moments
        ``mean`` and ``sd``; arrays where the parameters were arrays.

    Notes
    -----
    By recursion over the states of the urn, which is exact; Park (ADCS 2016) simulates.

    Examples
    --------
    >>> import rankbounds as rb
    >>> mean, sd = rb.urn_moments(100, q=0.1, relevance_ratio=0.5, topics=50)
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
    weights = (1 - p) * p ** np.arange(_reach(n_documents, p))
    weights[:judged_depth] = 0.0
    mean, second = np.empty(shares.shape), np.empty(shares.shape)
    for ratio in np.unique(ratios):
        here = ratios == ratio
        number, mixture = (np.array([relevant]), _CERTAIN) if q is None else _binomial(n_documents, shares[here])
        for _, at_state, second_at_state in _backward(weights, n_documents, number, float(ratio)):
            start, second_start = at_state[:, 0], second_at_state[:, 0]
        mean[here], second[here] = mixture @ start, mixture @ second_start
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
    """Draw ranked lists from the urn.

    Parameters
    ----------
    n_documents, lists
        How many documents the urn holds, all of which are drawn, and how many lists.
    q, relevant, relevance_ratio
        As in ``urn_moments``; each may differ by list.
    seed
        Of the draws, or a generator.

    Returns
    -------
    array of bool
        True for a relevant document: a row for each list, the last axis is rank.

    Notes
    -----
    Every document arrives after a random time, exponential with its weight for a rate; the order of arrival is the
    order of draws from the urn.

    Examples
    --------
    >>> import rankbounds as rb
    >>> lists = rb.sample_rankings(10, 3, relevant=4, relevance_ratio=0.1, seed=1)
    >>> lists.shape, lists.sum(axis=-1).tolist()
    ((3, 10), [4, 4, 4])

    """
    rng = np.random.default_rng(seed)
    _check_number(q, relevant)
    number = rng.binomial(n_documents, q, lists) if relevant is None else np.broadcast_to(relevant, lists)
    is_relevant = np.arange(n_documents) < number[:, None]
    rate = np.where(is_relevant, 1.0, np.broadcast_to(_ratios(relevance_ratio), lists)[:, None])
    arrival = rng.exponential(size=(lists, n_documents)) / rate
    return np.take_along_axis(is_relevant, np.argsort(arrival, axis=-1), axis=-1)


@dataclass(frozen=True, eq=False)
class UrnFit:
    """The urn that makes the judged beginnings of some lists most likely.

    ``prefix`` holds the judged beginnings (a row each: 1, 0, then NaN), ``likelihood`` the log likelihood of each pair
    of ``shares`` (values of q) and ``ratios`` (values of w).
    """

    n_documents: int
    prefix: Floats
    shares: Floats
    ratios: Floats
    likelihood: Floats

    @cached_property
    def best(self) -> tuple[float, float]:
        """The most likely q and w, between the values of the grid too."""
        from scipy.optimize import minimize

        best_share, best_ratio = np.unravel_index(np.argmax(self.likelihood), self.likelihood.shape)
        share = self.shares[best_share]
        different, copies = np.unique(self.prefix, axis=0, return_counts=True)

        def loss(point: Sequence[float]) -> float:
            share, ratio = expit(np.array(point[:1])), np.exp(point[1:])
            return -float(_total_likelihood(different, copies, self.n_documents, share, ratio)[0, 0])

        start = (math.log(share / (1 - share)), math.log(self.ratios[best_ratio]))
        bounds = [(-9, 6), (math.log(1e-3), math.log(20))]
        least = minimize(loss, start, method="Nelder-Mead", bounds=bounds, options={"xatol": 1e-4})
        return float(expit(least.x[0])), math.exp(least.x[1])

    @property
    def q(self) -> float:
        """The most likely share of relevant documents."""
        return self.best[0]

    @property
    def relevance_ratio(self) -> float:
        """The most likely w."""
        return self.best[1]

    @cached_property
    def posterior(self) -> Floats:
        """Every pair of q and w weighed by its likelihood.

        The two are hard to tell apart by the first few ranks, and what is not known of them belongs to the uncertainty
        of what follows.
        """
        weight = np.exp(self.likelihood - self.likelihood.max())
        return weight / weight.sum()

    @cached_property
    def drawn(self) -> tuple[Ints, Ints]:
        """For each list, how many ranks are judged, and how many of them hold relevant documents."""
        return np.count_nonzero(~np.isnan(self.prefix), axis=-1), np.nansum(self.prefix, axis=-1).astype(np.int64)

    def rest(self, weights: Floats) -> Moments:
        """Mean and sd, averaged over the lists, of the weighted relevance below the judged beginnings.

        ``weights`` are those of ranks 1, 2, ... The sd covers what the urn leaves to chance and what the judged
        documents leave open about q and w. Lists are independent given q and w.
        """
        ranks, relevant = self.drawn
        number, mixture = _binomial(self.n_documents, self.shares)
        mean, variance = np.zeros(self.posterior.shape), np.zeros(self.posterior.shape)
        weights = np.asarray(weights, dtype=float)[: self.n_documents]
        depths = tuple(int(rank) for rank in np.unique(ranks) if rank <= weights.size)
        evidence = np.exp(_log_likelihood(self.prefix, number, self.n_documents, self.ratios))
        for column, (ratio, by_list) in enumerate(zip(self.ratios.tolist(), evidence.swapaxes(0, 1), strict=True)):
            # Each share's numbers of relevant documents are weighed by how likely the judged beginning makes them.
            whole = np.maximum(mixture @ by_list.T, 1e-300)
            states = _states(weights.tobytes(), self.n_documents, number.tobytes(), ratio, depths)
            for rank, (at_state, second_at_state) in zip(depths, states, strict=True):
                lists = np.flatnonzero(ranks == rank)
                first, second = (
                    mixture @ (by_list[lists].T * state[:, relevant[lists]]) / whole[:, lists]
                    for state in (at_state, second_at_state)
                )
                mean[:, column] += first.sum(axis=-1)
                variance[:, column] += (second - first**2).sum(axis=-1)
        lists_in_all = len(self.prefix)
        mean, variance = mean / lists_in_all, variance / lists_in_all**2
        middle = float((self.posterior * mean).sum())
        spread = float((self.posterior * (variance + (mean - middle) ** 2)).sum())
        return Moments(middle, math.sqrt(max(spread, 0.0)))

    def ranges(self, confidence: float = 0.95) -> dict[str, tuple[float, float, float]]:
        """The middle and the ends of what the judged documents leave plausible of ``q`` and of ``w``."""
        levels = (0.5, (1 - confidence) / 2, (1 + confidence) / 2)

        def quantiles(values: Floats, weight: Floats) -> tuple[float, float, float]:
            place = np.searchsorted(np.cumsum(weight), levels).clip(max=values.size - 1)
            middle, low, high = values[place].tolist()
            return middle, low, high

        by_share, by_ratio = self.posterior.sum(axis=1), self.posterior.sum(axis=0)
        return {"q": quantiles(self.shares, by_share), "w": quantiles(self.ratios, by_ratio)}

    def __str__(self) -> str:
        return ", ".join(
            f"{name}={middle:.2g} ({low:.2g} to {high:.2g})" for name, (middle, low, high) in self.ranges().items()
        )

    def __repr__(self) -> str:
        return (
            f"UrnFit({self}; {len(self.prefix):,} lists from an urn of {self.n_documents:,} documents, judged to depth "
            f"{int(self.drawn[0].max())})"
        )


def fit_urn(prefix: Any, n_documents: int, *, depth: int = 100) -> UrnFit:
    """Fit an urn to the judged beginnings of ranked lists.

    Parameters
    ----------
    prefix
        Judged relevance: a row for each list, 1 or 0 by rank, NaN from the first unjudged rank on.
    n_documents
        How many documents the urn holds.
    depth
        Look no deeper than this.

    Returns
    -------
    UrnFit
        The most likely share ``q`` of relevant documents and ``relevance_ratio`` w; ``rest`` says what they mean for
        the ranks that are not judged.

    Notes
    -----
    Maximum likelihood, on a grid and then between its values. The two parameters are hard to tell apart by few ranks;
    ``rest`` allows for that.

    Examples
    --------
    >>> import rankbounds as rb
    >>> lists = rb.sample_rankings(50, 60, q=0.3, relevance_ratio=0.2, seed=6)
    >>> fit = rb.fit_urn(lists[:, :20], 50)
    >>> print(round(fit.q, 1), round(fit.relevance_ratio, 1))
    0.3 0.2
    >>> fit
    UrnFit(q=0.31 (0.27 to 0.37), w=0.21 (0.16 to 0.31); 60 lists from an urn of 50 documents, judged to depth 20)

    """
    judged = np.atleast_2d(np.asarray(prefix, dtype=float))[:, :depth].copy()
    judged[np.cumsum(np.isnan(judged), axis=-1) > 0] = np.nan
    judged = judged[~np.isnan(judged).all(axis=-1)]
    if not judged.size:
        raise UsageError("An urn can be fitted only where the first document of some list is judged.")
    if judged.shape[1] > n_documents:
        raise UsageError(f"A list is longer than the urn's {n_documents} documents.")
    different, copies = np.unique(judged, axis=0, return_counts=True)
    log_odds: Floats = np.linspace(-6, 3, 37)
    log_ratios: Floats = np.linspace(math.log(0.005), math.log(4), 27)
    for _ in range(2):  # the second time only where the first found anything plausible: that may be one place
        shares, ratios = expit(log_odds), np.exp(log_ratios)
        likelihood = _total_likelihood(different, copies, n_documents, shares, ratios)
        plausible = likelihood >= likelihood.max() - FARTHEST_PLAUSIBLE
        log_odds, log_ratios = _around(log_odds, plausible.any(axis=1)), _around(log_ratios, plausible.any(axis=0))
    return UrnFit(n_documents, judged, shares, ratios, likelihood)


def _around(values: Floats, kept: Flags) -> Floats:
    """Values spread from the one before the first that is kept to the one after the last."""
    first, last = np.flatnonzero(kept)[[0, -1]]
    return np.linspace(values[max(first - 1, 0)], values[min(last + 1, values.size - 1)], PLACES)


def _check_number(q: Any, relevant: Any) -> None:
    if (q is None) == (relevant is None):
        raise UsageError("An urn needs either q, the share of relevant documents, or relevant, their number.")


def _ratios(given: Any) -> Floats:
    ratios = np.asarray(given, dtype=float)
    if not (np.isfinite(ratios) & (ratios > 0)).all():
        raise UsageError("The relevance ratio w must be positive.")
    return ratios


def _reach(n_documents: int, p: float) -> int:
    """The rank behind which all weights together are too small to show."""
    return n_documents if p in (0.0, 1.0) else min(n_documents, math.ceil(math.log(_TINY) / math.log(p)))


def _binomial(n: int, shares: Floats) -> tuple[Ints, Floats]:
    """The numbers of relevant documents that can be met, and a row a share with their probabilities."""
    from scipy.special import gammaln, xlog1py, xlogy

    number = np.arange(n + 1)
    share = np.ravel(shares)[:, None]
    logs = gammaln(n + 1) - gammaln(number + 1) - gammaln(n - number + 1) + xlogy(number, share)
    probability = np.exp(logs + xlog1py(n - number, -share))
    met = probability.max(axis=0) > 1e-18
    probability = probability[:, met]
    return number[met], probability / probability.sum(axis=-1, keepdims=True)


def _chance_of_relevant(left: Floats | Ints, others: Floats | Ints, ratio: Any) -> Floats:
    """The probability that the next draw is relevant, given how many relevant and other documents are left."""
    left, others = np.maximum(left, 0), np.maximum(others, 0)
    weight = left + ratio * others
    return np.divide(left, weight, out=np.zeros(weight.shape), where=weight > 0)


def _backward(weights: Floats, n: int, number: Ints, ratio: float) -> Iterator[tuple[int, Floats, Floats]]:
    """From the last rank to the first: mean and mean square of the weighted relevance still to come.

    Yields (ranks drawn, mean, mean square) with a row for each number of relevant documents in the urn and a column
    for each count of relevant documents drawn.
    """
    depth = weights.size
    mean, second = np.zeros((number.size, depth + 1)), np.zeros((number.size, depth + 1))
    yield depth, mean, second
    for rank in range(depth - 1, -1, -1):
        drawn = np.arange(rank + 1)
        left = number[:, None] - drawn
        chance = _chance_of_relevant(left, n - number[:, None] - (rank - drawn), ratio)
        gain = weights[rank]
        hit, miss = slice(1, rank + 2), slice(0, rank + 1)
        second = chance * (gain**2 + 2 * gain * mean[:, hit] + second[:, hit]) + (1 - chance) * second[:, miss]
        mean = chance * (gain + mean[:, hit]) + (1 - chance) * mean[:, miss]
        yield rank, mean, second


@lru_cache(maxsize=64)
def _states(
    weights: bytes, n: int, number: bytes, ratio: float, depths: tuple[int, ...]
) -> list[tuple[Floats, Floats]]:
    """What ``_backward`` yields at these depths. It does not depend on any judgment, so that fits may share it."""
    by_depth = {}
    for rank, mean, second in _backward(np.frombuffer(weights), n, np.frombuffer(number, dtype=np.int64), ratio):
        if rank in depths:
            by_depth[rank] = (mean, second)
    return [by_depth[rank] for rank in depths]


def _followed(n: int, shares: Floats) -> tuple[Ints, Floats]:
    """As ``_binomial``, for some numbers of relevant documents; what lies between two of them is shared out to both."""
    number, probability = _binomial(n, shares)
    if number.size <= MOST_NUMBERS:
        return number, probability
    # Closer together where documents are few, and one more changes much.
    followed = np.unique(np.rint(np.linspace(0, np.sqrt(n), MOST_NUMBERS) ** 2).astype(np.int64))
    above = np.searchsorted(followed, number).clip(1)
    share = (number - followed[above - 1]) / (followed[above] - followed[above - 1])
    shared_out = np.zeros((number.size, followed.size))
    shared_out[np.arange(number.size), above] = share
    shared_out[np.arange(number.size), above - 1] = 1 - share
    return followed, probability @ shared_out


def _log_likelihood(prefix: Floats, number: Ints, n: int, ratios: Floats) -> Floats:
    """For each judged beginning, ratio and number of relevant documents, how likely the urn draws it."""
    total = np.zeros((len(prefix), ratios.size, number.size))
    drawn = np.zeros(len(prefix), dtype=np.int64)
    for rank in range(prefix.shape[1]):
        lists = np.flatnonzero(~np.isnan(prefix[:, rank]))
        hit = prefix[lists, rank] == 1
        counts, place = np.unique(drawn[lists], return_inverse=True)  # few: the chance depends on nothing else
        before = counts[:, None, None]
        chance = _chance_of_relevant(number - before, n - number - (rank - before), ratios[:, None])
        with np.errstate(divide="ignore"):
            logs = np.log(np.concatenate([1 - chance, chance]))
        total[lists] += logs[place + counts.size * hit]
        drawn[lists] += hit
    return np.maximum(total, -1e4)


def _total_likelihood(prefix: Floats, copies: Ints, n: int, shares: Floats, ratios: Floats) -> Floats:
    """For each share and ratio, the log likelihood of all judged beginnings together, with their copies."""
    number, mixture = _followed(n, shares)
    logs = _log_likelihood(prefix, number, n, ratios)
    top = logs.max(axis=-1, keepdims=True)
    inside = np.exp(logs - top) @ mixture.T
    return np.tensordot(copies, np.log(np.maximum(inside, 1e-300)) + top, axes=1).T
