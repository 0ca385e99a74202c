"""Fewer judgments: do they keep scores, the order of systems, and the power to separate them?

Source: Sakai, Alternatives to Bpref, SIGIR 2007. The paper has one draw of judgments for each rate; here each is
repeated over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError
from rankbounds.evaluation.judged_runs import JudgedRuns
from rankbounds.evaluation.score_differences import differences
from rankbounds.judging.pools import RATES, draw_reductions
from rankbounds.measures import Measure, parse_measures
from rankbounds.stats.rank_correlation import kendall_tau
from rankbounds.stats.significance import p_values, pairs_of
from rankbounds.studies.study import BESIDE, Measures, Progress, Rows, Study, StudyResult, draw_series, rows_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = (
    *("AP", "Q", "nDCG(base=2)@1000", "AP'", "Q'", "nDCG'(base=2)@1000"),
    *("Bpref", "Rpref_relative2", "RBP(p=0.8)", "RBP'(p=0.8)"),
)
LEVEL = 0.05


@Study
def score_by_judgment_rate(
    qrels: Any,
    runs: Any,
    *,
    measures: Measures = MEASURES,
    rates: Sequence[float] = RATES,
    seeds: int = 20,
    first_seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do scores stay level while judgments grow fewer?

    Sakai (SIGIR 2007, Figure 1) reduced the judgments of four collections to 90, 70, 50, 30 and 10 percent and averaged
    each measure over all runs: AP, Q and nDCG fall with the judgments, bpref and measures on condensed lists hardly do.
    The paper has one draw for each rate; here each is repeated over seeds, and 95% of the draws lie between
    ``low_draw`` and ``high_draw``.
    """
    chosen = parse_measures(measures)
    means = _by_rate(_mean_of_runs, JudgedRuns(qrels, runs, gain=gain), chosen, rates, seeds, first_seed, progress)
    full, least = means[0, 0], means[:, -1].mean(axis=0)
    change = {str(measure): float(b / a - 1) if a else 0.0 for measure, a, b in zip(chosen, full, least, strict=True)}
    steady = min(change, key=lambda name: abs(change[name]))
    moved = max(change, key=lambda name: abs(change[name]))
    answer = (
        f"At {rates[-1]:g}% of the judgments {steady} changes least ({change[steady]:+.0%}) and {moved} most "
        f"({change[moved]:+.0%})."
    )
    return StudyResult(_rows(chosen, rates, means, "value"), answer)


@score_by_judgment_rate.figure(figsize=(6.4, 3.8))
def scores_by_rate(result: StudyResult, axes: Axes) -> None:
    """Each measure's mean over runs as judgments grow fewer."""
    _draw_by_rate(result, axes, "value", "mean over topics and runs")
    axes.set_ylim(bottom=0)


@Study
def agreement_by_judgment_rate(
    qrels: Any,
    runs: Any,
    *,
    measures: Measures = MEASURES,
    rates: Sequence[float] = RATES,
    seeds: int = 20,
    first_seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do fewer judgments order systems as all judgments do?

    Sakai (SIGIR 2007, Figure 2): Kendall's tau between the order of runs under all judgments and under a reduced part
    of them. The paper has one draw for each rate; here each is repeated over seeds, and 95% of the draws lie between
    ``low_draw`` and ``high_draw``.
    """
    chosen = parse_measures(measures)
    tau = _by_rate(_order_kept, JudgedRuns(qrels, runs, gain=gain), chosen, rates, seeds, first_seed, progress)
    last = tau[:, -1].mean(axis=0)
    best, worst = int(np.argmax(last)), int(np.argmin(last))
    answer = (
        f"At {rates[-1]:g}% of the judgments {chosen[best]} keeps the order of runs best (tau {last[best]:.3f}) and "
        f"{chosen[worst]} worst (tau {last[worst]:.3f})."
    )
    rows = [row for row in _rows(chosen, rates, tau, "tau") if row["rate"] < 100]
    return StudyResult(rows, answer)


@agreement_by_judgment_rate.figure(figsize=(6.4, 3.8))
def agreement_by_rate(result: StudyResult, axes: Axes) -> None:
    """How well fewer judgments keep the order of runs."""
    _draw_by_rate(result, axes, "tau", "Kendall's tau with all judgments")
    axes.set_ylim(top=1.0)


@Study
def power_by_judgment_rate(
    qrels: Any,
    runs: Any,
    *,
    measures: Measures = MEASURES,
    rates: Sequence[float] = RATES,
    seeds: int = 5,
    first_seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do measures still separate systems when judgments are few?

    Judgments are reduced at random, topic by topic, and for every measure the share of pairs of runs is counted that a
    paired t test over topics separates at level 0.05. A measure whose power falls slowly makes do with fewer judgments.

    Source: Sakai, Alternatives to Bpref (SIGIR 2007, Figure 3), who tested by the bootstrap.
    """
    chosen = parse_measures(measures)
    judged = JudgedRuns(qrels, runs, gain=gain)
    pairs = math.comb(len(judged.names), 2)
    if not pairs:
        raise DataError("The power to separate runs needs at least two of them.")
    power = _by_rate(_share_separated, judged, chosen, rates, seeds, first_seed, progress)
    mean = power.mean(axis=0)
    most = int(np.argmax(mean[-1]))
    answer = (
        f"With {rates[-1]:g}% of the judgments {chosen[most]} separates most pairs of runs ({mean[-1, most]:.1%} of "
        f"{pairs:,} at level {LEVEL:g}, after {mean[0, most]:.1%} with all judgments)."
    )
    return StudyResult(_rows(chosen, rates, power, "power"), answer, settings={"alpha": LEVEL, "test": "t"})


@power_by_judgment_rate.figure(figsize=(6.4, 3.8))
def power_by_rate(result: StudyResult, axes: Axes) -> None:
    """Each measure's power as judgments grow fewer."""
    _draw_by_rate(result, axes, "power", f"share of pairs separated (t test, {LEVEL:g})")


def _mean_of_runs(scores: Floats, _: Floats) -> Floats:
    mean: Floats = scores.mean(axis=1).mean(axis=0)
    return mean


def _order_kept(scores: Floats, full: Floats) -> Floats:
    return np.array([kendall_tau(*both) for both in zip(full.mean(axis=1).T, scores.mean(axis=1).T, strict=True)])


def _share_separated(scores: Floats, _: Floats) -> Floats:
    first, second = pairs_of(len(scores))
    matrices = np.moveaxis(scores, -1, 0)
    return np.array([np.mean(p_values(differences(of[first], of[second]), "t") < LEVEL) for of in matrices])


def _by_rate(
    statistic: Callable[[Floats, Floats], Floats],
    judged: JudgedRuns,
    measures: Sequence[Measure],
    rates: Sequence[float],
    seeds: int,
    first_seed: int,
    progress: Progress | None,
) -> Floats:
    """A number per measure from scores (run, topic, measure) and those under all judgments, by seed and rate.

    The first rate is 100.
    """
    subsets: list[Any] = [None]
    for seed in range(first_seed, first_seed + seeds):
        reductions = draw_reductions(judged.qrels, rates, seed=seed)
        subsets += [reductions[rate] for rate in rates]
    scores = judged.scores(subsets, measures, progress=progress)
    full, *drawn = (statistic(part, scores[0]) for part in scores)
    reduced = np.reshape(drawn, (seeds, len(rates), len(measures)))
    return np.concatenate((np.broadcast_to(full, (seeds, 1, len(measures))), reduced), axis=1)


def _rows(measures: Sequence[Measure], rates: Sequence[float], values: Floats, name: str) -> Rows:
    """Rows from values with axes seed, rate, measure: the mean over seeds, and where 95% of the draws lie."""
    low, high = np.quantile(values, (0.025, 0.975), axis=0)
    axes: dict[str, list[Any]] = {"measure": list(map(str, measures)), "rate": [100.0, *map(float, rates)]}
    return rows_by(axes, {name: values.mean(axis=0).T, "low_draw": low.T, "high_draw": high.T})


def _draw_by_rate(result: StudyResult, axes: Axes, name: str, label: str) -> None:
    """A column of the rows by the share of judgments kept, a line for each measure; bands hold 95% of the draws."""
    draw_series(axes, result.rows(), "rate", name)
    axes.invert_xaxis()
    axes.set(xlabel="judgments kept (%)", ylabel=label)
    axes.legend(fontsize="x-small", **BESIDE)
