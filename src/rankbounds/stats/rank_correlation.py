"""Correlation of two orders of systems: Kendall's tau, tau_AP, Spearman's rho, RBO; ties included.

Scores that differ by rounding alone are equal (``score_differences``). Functions of ``signs`` take whole batches, such
as the orders of many resamples: the last two axes are systems by systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_share
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.score_differences import merge_equal, merit, tolerant_difference
from rankbounds.evaluation.scores import Scores
from rankbounds.results import Column, Result
from rankbounds.stats.overlap import TiedLists, deepest_rank, overlaps
from rankbounds.stats.significance import p_values, pairs_of
from rankbounds.tables import p_number, plain

LEVEL = 0.05
EXACT_RUNS = 33
"""Up to how many runs the distribution of tau is computed exactly."""


def order_signs(scores: Floats) -> Ints:
    """Return for every two systems which scores higher: 1 the row's, -1 the column's, 0 neither."""
    level = merge_equal(scores)
    row, column = level[..., :, None], level[..., None, :]
    return np.greater(row, column).view(np.int8) - np.less(row, column).view(np.int8)


def kendall_tau(a: ArrayLike, b: ArrayLike) -> float:
    """Compute Kendall's tau-b of two orders of the same systems.

    Parameters
    ----------
    a, b : sequence of float
        The scores of the same systems, in the same order; higher is better.

    Returns
    -------
    float
        Concordant minus discordant pairs, over the untied ones; NaN if one side is all ties.

    Examples
    --------
    >>> import rankbounds as rb
    >>> round(rb.stats.kendall_tau([0.3, 0.2, 0.1], [0.5, 0.6, 0.1]), 4)
    0.3333
    """
    a, b = _scores_of_same(a, b)
    return float(tau_of_signs(order_signs(a), order_signs(b)))


def tau_of_signs(a: Ints, b: Ints) -> Floats:
    """Return Kendall's tau-b of every order in one batch with its counterpart; NaN if one is all ties."""
    untied = np.sqrt(np.count_nonzero(a, axis=(-2, -1)).astype(np.float64) * np.count_nonzero(b, axis=(-2, -1)))
    with np.errstate(invalid="ignore"):
        return (a * b).sum(axis=(-2, -1)) / np.where(untied > 0, untied, np.nan)


def tau_ap(observed: ArrayLike, reference: ArrayLike) -> float:
    """Compute Yilmaz, Aslam and Robertson's tau_AP: as Kendall's, but mistakes near the top weigh more.

    Parameters
    ----------
    observed, reference : sequence of float
        The scores of the same systems, in the same order; higher is better.

    Returns
    -------
    float
        Not symmetric: the weights follow ``observed``. Pairs tied there do not count, and pairs tied in ``reference``
        count half (tau_AP,b of Urbano and Marrero, ICTIR 2017). NaN if all are tied in ``observed``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.stats.tau_ap([0.3, 0.2, 0.1], [0.5, 0.6, 0.1]), rb.stats.tau_ap([0.3, 0.2, 0.1], [0.5, 0.1, 0.2])
    (0.0, 0.5)
    >>> rb.stats.tau_ap([0.3, 0.3, 0.1], [0.3, 0.3, 0.1])
    1.0
    """
    observed, reference = _scores_of_same(observed, reference)
    return float(tau_ap_of_signs(order_signs(observed), order_signs(reference)))


def tau_ap_of_signs(observed: Ints, reference: Ints) -> Floats:
    """``tau_ap`` of every order in one batch with the same one in another; NaN if one is all ties."""
    above = observed < 0
    first = np.count_nonzero(above, axis=-1)  # so many stand above each system
    agreeing = -(above * reference).sum(axis=-1) / np.maximum(first, 1)
    below = np.count_nonzero(first, axis=-1)  # systems that any stand above
    return agreeing.sum(axis=-1) / np.where(below > 0, below, np.nan)


def _scores_of_same(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    one, other = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise UsageError(f"Both orders need scores of the same systems, but there are {one.size} and {other.size}.")
    if one.size < 2:
        raise UsageError("An order of runs needs at least two runs.")
    return one, other


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Compute Spearman's correlation of two orders of the same systems.

    Parameters
    ----------
    a, b : sequence of float
        The scores of the same systems, in the same order; higher is better.

    Returns
    -------
    float
        NaN if one side is all ties.

    Examples
    --------
    >>> import rankbounds as rb
    >>> round(rb.stats.spearman([0.3, 0.2, 0.1], [0.5, 0.6, 0.1]), 4)
    0.5
    """
    places: Floats = np.stack([_mean_places(merge_equal(scores)) for scores in _scores_of_same(a, b)])
    return float("nan") if (np.ptp(places, axis=-1) == 0).any() else float(np.corrcoef(*places)[0, 1])


def _mean_places(scores: Floats) -> Floats:
    _, level, count = np.unique(scores, return_inverse=True, return_counts=True)
    return np.full(scores.size, np.nan) if np.isnan(scores).any() else (np.cumsum(count) - (count - 1) / 2).take(level)


def rank_biased_overlap(a: ArrayLike, b: ArrayLike, p: float = 0.9) -> float:
    """Compute Webber, Moffat and Zobel's rank-biased overlap (RBO) of two orders of the same systems.

    Parameters
    ----------
    a, b : sequence of float
        The scores of the same systems, in the same order; higher is better.
    p : float, default 0.9
        The persistence; a lower one gives the top more weight.

    Returns
    -------
    float
        1 if the orders agree. Ties are averaged over all ways to break them, independently for each side (Corsi and
        Urbano's RBO^a). Beyond the last system the agreement is assumed to continue.

    Examples
    --------
    >>> import rankbounds as rb
    >>> round(rb.stats.rank_biased_overlap([0.3, 0.2, 0.1], [0.5, 0.6, 0.1], p=0.8), 4)
    0.8
    """
    check_share("RBO's persistence p", p)
    a, b = _scores_of_same(a, b)
    lists = []
    for scores in (a, b):  # systems as documents of one list, those of equal score tied
        level = np.unique(merge_equal(scores), return_inverse=True)[1]
        order = np.argsort(-level, kind="stable")
        tied = np.append(False, level[order][1:] == level[order][:-1])
        one_list = TiedLists.of(np.zeros(order.size, dtype=np.int64), order, tied, 1)
        lists.append(one_list.to_depth(deepest_rank(p, a.size)))
    return float(overlaps(lists[0], lists[1], p, "a")["a"][0][0])


def correlations(a: Floats, b: Floats, p: float = 0.9) -> dict[str, float]:
    return {
        "tau": kendall_tau(a, b),
        "tau_ap": (tau_ap(a, b) + tau_ap(b, a)) / 2,
        "spearman": spearman(a, b),
        "rbo": rank_biased_overlap(a, b, p),
    }


def tau_p_value(a: Floats, b: Floats) -> float:
    """Compute the p-value of Kendall's tau against 0; exact for up to 33 runs without ties, else by the normal law."""
    from scipy.special import ndtr  # (scipy.stats takes long to load)

    signs = order_signs(a), order_signs(b)
    runs, pairs = a.size, a.size * (a.size - 1)  # pairs in either order
    ahead = abs(int((signs[0] * signs[1]).sum()))
    alike = [runs - 1 - np.count_nonzero(each, axis=-1) for each in signs]  # by run, how many it is tied with
    tied = [int(each.sum()) for each in alike]
    if pairs in tied:
        return float("nan")
    inversions = (pairs - ahead) // 4
    if not any(tied) and (runs <= EXACT_RUNS or inversions <= 1):
        return min(1.0, 2 * float(_shares_of_orders(runs, inversions).sum()))
    triples = np.prod([(each * (each - 1.0)).sum() for each in alike]) / max(runs - 2, 1)
    variance = (pairs * (2 * runs + 5) - sum((each * (2 * each + 7)).sum() for each in alike)) / 18
    variance += (tied[0] * tied[1] + triples / 4.5) / (2 * pairs)
    return float(2 * ndtr(-ahead / 2 / np.sqrt(variance)))


def _shares_of_orders(runs: int, most: int) -> Floats:
    share = np.ones(1)
    for size in range(2, runs + 1):  # one more run adds 0 to size - 1 of them
        share = np.convolve(share, np.full(size, 1 / size))[: most + 1]
    return share


def critical_tau(runs: int, alpha: float = LEVEL) -> float:
    """Compute the smallest significant tau of two orders of this many runs, for a two-sided test.

    Parameters
    ----------
    runs, alpha
        The number of runs, and the significance level.

    Returns
    -------
    float
        Exact for up to 33 runs without ties, by a normal approximation for more; NaN if no tau suffices.

    Examples
    --------
    >>> import rankbounds as rb
    >>> round(rb.stats.critical_tau(30, 0.01), 3), round(rb.stats.critical_tau(129), 3)
    (0.333, 0.117)
    """
    from scipy.special import ndtri

    if runs > EXACT_RUNS:
        return float(-ndtri(alpha / 2) * np.sqrt(2 * (2 * runs + 5) / (9 * runs * (runs - 1))))
    pairs = runs * (runs - 1) // 2
    beyond = 2 * np.cumsum(_shares_of_orders(runs, pairs))
    enough = np.flatnonzero(beyond < alpha)  # so few inversions at most
    return 1 - 2 * int(enough[-1]) / pairs if enough.size else float("nan")


class _Order(NamedTuple):
    measure: str
    merits: Floats
    signs: Ints
    """By two runs, which of them is ahead."""
    significant: Flags
    """By two runs, does a t test separate them? Of infinite differences it cannot tell."""


def _order_runs(scores: Scores) -> list[_Order]:
    first, second = pairs_of(len(scores.runs))
    means, found = scores.mean().value[:, 0, :], []
    for at, measure in enumerate(scores.measures):
        apart = tolerant_difference(scores.value[first, :, at], scores.value[second, :, at])
        finite = ~np.isinf(apart).any(axis=-1)
        separated = np.zeros(first.size, dtype=bool)
        separated[finite] = p_values(apart[finite]) < LEVEL
        table = np.zeros((len(scores.runs), len(scores.runs)), dtype=bool)
        table[first, second] = table[second, first] = separated
        merits = merit(means[:, at], measure)
        found.append(_Order(str(measure), merits, order_signs(merits), table))
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How alike two measures, or two sets of judgments, order the runs."""

    found: list[dict[str, Any]]

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        return (
            Column("measure_a"),
            Column("measure_b"),
            Column("tau", importance=1),
            Column("p_value", "p of tau", lambda row: p_number(row["p_value"])),
            Column("tau_ap", "tau_AP"),
            Column("spearman", "Spearman"),
            Column("rbo", f"RBO(p={self.settings['p']:g})"),
            Column("swapped", "pairs swapped"),
            Column("swapped_significantly", "both significant"),
        )

    def rows(self) -> list[dict[str, Any]]:
        return [{name: plain(value) for name, value in row.items()} for row in self.found]

    def notes(self) -> list[str]:
        runs, critical = self.settings["runs"], critical_tau(self.settings["runs"])
        related = f"a tau of {critical:.3f} or more" if critical <= 1 else "no tau"
        return [f"With {runs} runs, {related} differs significantly from 0 (level {LEVEL:g}, two-sided)."]


def agreement(scores: Scores, p: float = 0.9, against: Scores | None = None) -> Agreement:
    """Compute rank correlations of the orders of runs by different measures, or by two sets of judgments.

    Parameters
    ----------
    scores, p
        Scores of two runs or more, and the persistence of RBO.
    against : Scores, optional
        Those of the same runs with other judgments; by default every two measures of ``scores`` are compared.

    Returns
    -------
    Agreement
        A row per two orders by mean score: ``tau`` (Kendall's tau-b) with its ``p_value`` against 0,
        ``tau_ap`` (the mean of both directions), ``spearman``, ``rbo``; ``swapped``, the pairs of runs that change
        places, and ``swapped_significantly``, those where both sides find a significant difference (t test, 0.05). Runs
        with infinite means, as of ESL, share the last rank.

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"a": {"1": ["x", "y"], "2": ["x"]}, "b": {"1": ["y", "x"], "2": ["x"]}, "c": {"1": ["y"], "2": ["y"]}}
    >>> scores = rb.evaluate({"1": {"x": 1, "y": 0}, "2": {"x": 1, "y": 0}}, runs, ["RR", "Recall@2"])
    >>> [(round(row["tau"], 4), row["swapped"]) for row in rb.stats.agreement(scores).rows()]
    [(0.8165, 0)]
    """
    if len(scores.runs) < 2:
        raise UsageError("Agreement of orderings needs at least two runs.")
    if against is not None and against.runs != scores.runs:
        raise DataError("The orderings to compare are of different runs.")
    ours = _order_runs(scores)
    chosen = list(combinations(ours, 2))
    if against is not None:
        theirs = dict(zip(against.measures, _order_runs(against), strict=True))
        chosen = [(mine, theirs[one]) for mine, one in zip(ours, scores.measures, strict=True)]
    rows = []
    for a, b in chosen:
        swapped = a.signs * b.signs < 0
        rows.append(
            {"measure_a": a.measure, "measure_b": b.measure}
            | correlations(a.merits, b.merits, p)
            | {
                "p_value": tau_p_value(a.merits, b.merits),
                "swapped": int(np.count_nonzero(swapped) // 2),
                "swapped_significantly": int(np.count_nonzero(swapped & a.significant & b.significant) // 2),
            }
        )
    return Agreement(rows, settings={"p": p, "runs": len(scores.runs)})
