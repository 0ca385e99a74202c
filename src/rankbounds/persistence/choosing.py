"""Choosing p: from how far users read, or from which p orders systems most like another measure."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, RankboundsWarning, UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.persistence.curves import GRID, bounds_by_persistence

KINDS = ("depths", "examined")
FINE_GRID = (*GRID, *(thousandth / 1000 for thousandth in range(991, 1000)))
"""Persistences 0, 0.01, ..., 0.99, 0.991, ..., 0.999."""


def fit_persistence(
    counts: Mapping[Any, Any] | Iterable[tuple[Any, Any]], *, kind: str = "depths", level: float = 0.95
) -> dict[str, Any]:
    """The p that makes the observed reading depths most likely, with a confidence interval.

    ``kind="depths"``: how many sessions ended at each rank (their deepest click, or the last result looked at).
    A rank written ``"10+"`` counts sessions seen to go at least that far, which may have gone on unseen.
    ``kind="examined"``: how many sessions looked at each rank from 1 on; those at the last rank may have gone on.

    Under RBP every decision to go on is the toss of a coin: p is the share of tosses that went on, and
    ``ci_low, ci_high`` is the exact interval of such a share when the number of stops is given. ``misfit`` is the
    p-value of a chi-squared test of the geometric model: when it is small, no single p describes these users, and the
    interval is too narrow.
    """
    if kind not in KINDS:
        raise UsageError(f'There is no kind "{kind}" of counts. Known: {", ".join(KINDS)}.')
    if not 0 < level < 1:
        raise UsageError(f"The level of the interval must lie between 0 and 1, not {level}.")
    ended, unseen = _stops(counts, kind)
    ranks = np.arange(1, ended.size + 1)
    stops = float(ended.sum())
    went_on = float(((ranks - 1) * (ended + unseen)).sum())
    if not stops:
        raise DataError("No session is known to have ended: p cannot be told from 1.")
    from scipy.stats import beta

    p = went_on / (went_on + stops)
    outside = (1 - level) / 2
    return {
        "p": p,
        "ci_low": float(beta.ppf(outside, went_on, stops)) if went_on else 0.0,
        "ci_high": float(beta.ppf(1 - outside, went_on + 1, stops)),
        "level": level,
        "sessions": stops + float(unseen.sum()),
        "expected_examined": 1 / (1 - p),
        "misfit": _misfit(ended, unseen, p),
    }


def _stops(counts: Any, kind: str) -> tuple[Floats, Floats]:
    """By rank, how many sessions ended there, and how many were seen to go that far and no further."""
    pairs = list(counts.items() if isinstance(counts, Mapping) else counts)
    if not pairs:
        raise DataError("There are no counts.")
    table: dict[tuple[int, bool], float] = {}
    for rank, number in pairs:
        text = str(rank).strip()
        censored = text.endswith("+")
        try:
            at, value = int(text.rstrip("+")), float(number)
        except ValueError:
            raise DataError(f'The line "{rank},{number}" is not a rank and a count.') from None
        if at < 1 or not 0 <= value < np.inf:
            raise DataError(f'The line "{rank},{number}": ranks count from 1 on, and counts are not negative.')
        if (at, censored) in table:
            raise DataError(f"Rank {text} stands there twice.")
        table[at, censored] = value
    deepest = max(at for at, _ in table)
    ended, unseen = (np.array([table.get((at, mark), 0.0) for at in range(1, deepest + 1)]) for mark in (False, True))
    if kind == "depths":
        return ended, unseen
    if unseen.any() or len(table) < deepest:
        raise DataError("Counts of examined ranks must give every rank from 1 on, without a plus.")
    fewer = -np.diff(ended)
    if (fewer < 0).any():
        at = int(np.flatnonzero(fewer < 0)[0]) + 2
        raise DataError(f"More sessions examined rank {at} than rank {at - 1}, which RBP's user cannot do.")
    unseen[-1] = ended[-1]
    return np.append(fewer, 0.0), unseen


def _misfit(ended: Floats, unseen: Floats, p: float) -> float | None:
    """The p-value of Pearson's test; None where there are too few sessions, or sessions that were lost on the way."""
    from scipy.stats import chi2

    sessions = ended.sum() + unseen.sum()
    if unseen[:-1].any() or not 0 < p < 1:
        return None
    observed, expected = [], []
    left = sessions
    for rank, number in enumerate(ended[:-1].tolist()):  # (who went to the last rank may have gone on)
        here = sessions * (1 - p) * p**rank
        if here < 5 or left - here < 5:
            break
        observed.append(number)
        expected.append(here)
        left -= here
    if len(observed) < 2:
        return None
    observed.append(sessions - sum(observed))
    expected.append(left)
    statistic = sum((one - other) ** 2 / other for one, other in zip(observed, expected, strict=True))
    return float(chi2.sf(statistic, len(observed) - 2))


def persistence_agreement(
    qrels: Any,
    runs: Any,
    measures: Any = ("AP", "nDCG", "P@10"),
    *,
    p: Iterable[float] = FINE_GRID,
    measure: RBP | None = None,
    **assumptions: Any,
) -> list[dict[str, Any]]:
    """For each measure and p Kendall's tau (b) between the order of the runs by mean RBP and by the measure's mean."""
    grid = bounds_by_persistence(qrels, runs, p, measure=measure, **assumptions).mean()
    if len(grid.runs) < 3:
        raise UsageError("Agreement between orders of runs needs at least three runs.")
    targets = evaluate(qrels, runs, measures, bounds="none", **assumptions).mean()
    signs = _signs(grid.value[:, 0])
    rows = []
    for at, target in enumerate(targets.measures):
        tau = _kendall(signs, _signs(targets.value[:, 0, at : at + 1]))
        rows += [
            {"measure": str(target), "p": one.p, "tau": float(value)}  # type: ignore[attr-defined]
            for one, value in zip(grid.measures, tau.tolist(), strict=True)
        ]
    return rows


def best_agreement(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each measure the p of greatest agreement, and the range of neighbouring p on the grid that agree as well."""
    best = []
    for name in dict.fromkeys(row["measure"] for row in rows):
        table = [row for row in rows if row["measure"] == name]
        most = max(row["tau"] for row in table)
        ties = [at for at, row in enumerate(table) if row["tau"] > most - 1e-12]
        last = ties[0]
        while last + 1 in ties:
            last += 1
        chosen = table[(ties[0] + last) // 2]
        if chosen is table[-1]:
            warnings.warn(
                f"{name} agrees best at {chosen['p']:g}, the largest p that was tried; a larger one may agree better.",
                RankboundsWarning,
                stacklevel=2,
            )
        best.append({**chosen, "p_from": table[ties[0]]["p"], "p_to": table[last]["p"], "tau": most})
    return best


def _signs(means: Floats) -> Floats:
    """For every pair of runs which of the two is ahead, by column; differences that rounding makes are none."""
    first, second = np.triu_indices(means.shape[0], 1)
    difference = means[first] - means[second]
    return np.sign(np.where(np.abs(difference) < 1e-12, 0.0, difference))


def _kendall(one: Floats, other: Floats) -> Floats:
    """Kendall's tau-b of each column with the other's only one; 0 where an order has ties alone."""
    together = (one * other).sum(axis=0)
    scale = np.sqrt(np.abs(one).sum(axis=0) * np.abs(other).sum(axis=0))
    return np.divide(together, scale, out=np.zeros(together.shape), where=scale > 0)
