"""Planning an evaluation with RBP: which p, how deep to judge for it, and what a pool depth supports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_persistence, check_share
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.options import RankingOptions
from rankbounds.evaluation.score_differences import merit
from rankbounds.measures import parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rbp.curves import GRID
from rankbounds.rbp.published_score import significant_ranks
from rankbounds.stats.rank_correlation import kendall_tau

if TYPE_CHECKING:
    from typing_extensions import Unpack

FINE_GRID = (*GRID, *(thousandth / 1000 for thousandth in range(991, 1000)))
FINEST = 6
"""Decimals of a persistence that a depth supports."""


def fit_persistence(
    counts: Mapping[Any, Any] | Iterable[tuple[Any, Any]], *, confidence: float = 0.95
) -> dict[str, Any]:
    """Estimate the p that makes the observed reading depths most likely, with a confidence interval.

    Parameters
    ----------
    counts
        How many sessions ended at each rank (their deepest click, or the last result looked at), as a mapping or as
        pairs. A rank ``"10+"`` counts sessions seen to reach it, which may have continued.
    confidence
        The level of the interval.

    Returns
    -------
    dict
        ``p``, the share of decisions to continue (maximum likelihood); ``ci_low, ci_high``, its interval, exact if the
        number of stops was fixed; the number of ``sessions``; and ``expected_examined``, the documents that a user of
        this p reads on average.

    Examples
    --------
    >>> import rankbounds as rb
    >>> fit = rb.rbp.fit_persistence({1: 50, 2: 25, 3: 13, "4+": 12})
    >>> print(round(fit["p"], 3), round(fit["ci_low"], 3), round(fit["ci_high"], 3))
    0.497 0.423 0.574
    """
    check_share("The confidence of the interval", confidence)
    ended, unseen = _stops(counts)
    ranks = np.arange(1, ended.size + 1)
    stops = float(ended.sum())
    went_on = float(((ranks - 1) * (ended + unseen)).sum())
    if not stops:
        raise DataError("No session is known to have ended: p cannot be distinguished from 1.")
    from scipy.stats import beta

    p = went_on / (went_on + stops)
    outside = (1 - confidence) / 2
    return {
        "p": p,
        "ci_low": float(beta.ppf(outside, went_on, stops)) if went_on else 0.0,
        "ci_high": float(beta.ppf(1 - outside, went_on + 1, stops)),
        "confidence": confidence,
        "sessions": stops + float(unseen.sum()),
        "expected_examined": 1 / (1 - p),
    }


def _stops(counts: Any) -> tuple[Floats, Floats]:
    sessions: dict[tuple[int, bool], float] = {}
    for rank, number in counts.items() if isinstance(counts, Mapping) else counts:
        text = str(rank).strip()
        try:
            depth, value = int(text.rstrip("+")), float(number)
        except ValueError:
            raise DataError(f'The line "{rank},{number}" is not a rank and a count.') from None
        if depth < 1 or not 0 <= value < np.inf:
            raise DataError(f'The line "{rank},{number}": ranks count from 1 on, and counts are not negative.')
        if (depth, text.endswith("+")) in sessions:
            raise DataError(f"Rank {text} is listed twice.")
        sessions[depth, text.endswith("+")] = value
    if not sessions:
        raise DataError("There are no counts.")
    ranks = range(1, max(depth for depth, _ in sessions) + 1)
    ended, unseen = (np.array([sessions.get((rank, mark), 0.0) for rank in ranks]) for mark in (False, True))
    return ended, unseen


def persistence_agreement(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike = ("AP", "nDCG", "P@10"),
    *,
    p: Iterable[float] = FINE_GRID,
    measure: RBP | None = None,
    **options: Unpack[RankingOptions],
) -> list[dict[str, Any]]:
    """Compute how similarly RBP and other measures order runs, for each p.

    Parameters
    ----------
    qrels, runs, measure, **options
        As in ``bounds_by_persistence``; at least three runs.
    measures
        The measures to compare with RBP.
    p
        The persistences; by default 0, 0.01, ..., 0.99, 0.991, ..., 0.999.

    Returns
    -------
    list of dict
        Rows ``measure``, ``p`` and ``tau``: Kendall's tau-b between the orders of the runs by mean RBP and by the
        measure's mean; 0 if one of the orders ties all runs.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
    >>> runs = {"best": {"q": {"a": 3, "c": 2, "b": 1}}, "good": {"q": {"a": 3, "b": 2, "c": 1}}}
    >>> runs["poor"] = {"q": {"b": 3, "a": 2}}
    >>> rb.rbp.persistence_agreement(qrels, runs, "AP", p=[0.5])
    [{'measure': 'AP', 'p': 0.5, 'tau': 1.0}]
    """
    family = [replace(measure or RBP(), p=float(persistence)) for persistence in p]
    targets = parse_measures(measures)
    means = evaluate(qrels, runs, [*family, *targets], bounds="none", **options).mean()
    if len(means.runs) < 3:
        raise UsageError("Agreement between orders of runs needs at least three runs.")
    rows = []
    for target in targets:
        by_target = merit(means.filter(measure=target).value[:, 0, 0], target)
        taus = [kendall_tau(means.filter(measure=rbp).value[:, 0, 0], by_target) for rbp in family]
        rows += [{"measure": str(target), "p": rbp.p, "tau": 0.0 if np.isnan(tau) else tau}
                 for rbp, tau in zip(family, taus, strict=True)]  # fmt: skip
    return rows


def best_agreement(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each measure the p of greatest agreement, and the range of neighbouring p that agree as well."""
    best = []
    for name in dict.fromkeys(row["measure"] for row in rows):
        table = [row for row in rows if row["measure"] == name]
        most = max(row["tau"] for row in table)
        ties = [place for place, row in enumerate(table) if row["tau"] > most - 1e-12]
        last = ties[0]
        while last + 1 in ties:
            last += 1
        chosen = table[(ties[0] + last) // 2]
        if chosen is table[-1]:
            warn(f"{name} agrees best at {chosen['p']:g}, the largest p that was tried; a larger one may agree better.")
        best.append({**chosen, "p_from": table[ties[0]]["p"], "p_to": table[last]["p"], "tau": most})
    return best


def plan(
    p: float | None = None,
    digits: int | None = None,
    depth: int | None = None,
    *,
    relevant: int | None = None,
    rank: int | None = None,
) -> dict[str, Any]:
    """Plan judgments for RBP: of the persistence, the certain decimals and the judged depth, two give the third.

    Parameters
    ----------
    p, digits, depth
        Two of them: the persistence, from 0 to below 1, the number of certain decimals, from 1, and how many documents
        of each list are judged.
    relevant
        With p and depth: the number of relevant documents of a topic, whose score has the ``ceiling`` 1 - p^relevant.
    rank
        With p and depth: adds ``reaches``, the probability that the user looks at this rank, p^(rank - 1).

    Returns
    -------
    dict
        ``p``, ``digits``, ``depth``, and ``expected_examined``, the documents that a user reads on average. The depth
        is the least d with p^d < 10^-digits, exactly; p is the largest, rounded down to six decimals. From p and depth:
        the ``residual`` p^depth, and ``print_at_most``, a decimal more than is certain (both None at p = 0, where
        nothing is open). From the others: ``significant_ranks``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.rbp.plan(0.8, digits=4)["depth"], rb.rbp.plan(digits=4, depth=100)["p"]
    (42, 0.91201)
    >>> left = rb.rbp.plan(0.8, depth=20, relevant=5, rank=11)
    >>> round(left["residual"], 4), left["digits"], round(left["ceiling"], 4), round(left["reaches"], 4)
    (0.0115, 1, 0.6723, 0.1074)
    """
    if [p, digits, depth].count(None) != 1:
        raise UsageError("A plan needs two of p, digits and depth.")
    for what, number in (("depth", depth), ("number of relevant documents", relevant), ("rank", rank)):
        if number is not None and number < 1:
            raise UsageError(f"The {what} must be a whole number from 1 on, not {number}.")
    if digits is not None and not 1 <= digits <= 300:
        raise UsageError(f"The number of digits must be a whole number from 1 on, not {digits}.")
    if digits is not None and (relevant, rank) != (None, None):
        raise UsageError("The numbers of relevant documents and of a rank go with p and depth.")
    if p is not None and depth is not None:
        row = _plan_residual(check_persistence(p), depth)
        row |= {} if relevant is None else {"ceiling": 1 - float(p) ** relevant}
        row |= {} if rank is None else {"reaches": float(p) ** (rank - 1)}
    else:
        assert digits is not None
        if p is None:
            assert depth is not None
            p = math.floor(10 ** (-digits / depth) * 10**FINEST) / 10**FINEST
            p = p if least_depth(p, digits) <= depth else round(p - 10**-FINEST, FINEST)
        ranks = significant_ranks(check_persistence(p), 10.0**-digits)
        row = {"p": p, "digits": digits, "depth": depth or least_depth(p, digits), "significant_ranks": ranks}
    return row | {"expected_examined": float(1 / (1 - Fraction(repr(p))))}


def least_depth(p: float, digits: int) -> int:
    """Return the least d with p^d < 10^-digits, exactly."""
    exact = Fraction(repr(p))
    if not exact:
        return 1
    wanted = digits * math.log(10) / -math.log(exact)
    near = round(wanted)
    if abs(wanted - near) < 1e-9 * max(1.0, wanted):  # too near to a whole number for logarithms
        return max(1, near if exact**near < Fraction(1, 10**digits) else near + 1)
    return max(1, math.floor(wanted) + 1)


def _plan_residual(p: float, depth: int) -> dict[str, Any]:
    digits = None
    if p:
        known = -depth * math.log10(p)
        near = 1e-9 * max(1.0, known)  # logarithms are rounded
        digits = math.floor(known + near)
        if digits and known - digits < near and not Fraction(repr(p)) ** depth < Fraction(1, 10**digits):
            digits -= 1
    printed = None if digits is None else digits + 1
    return {"p": p, "depth": depth, "residual": float(p) ** depth, "digits": digits, "print_at_most": printed}
