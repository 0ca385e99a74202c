"""Fewer judgments: do they keep scores, the order of systems, and the power to separate them?

Source: Sakai, Alternatives to Bpref, SIGIR 2007. The paper has one draw of judgments for each rate; here each is
repeated over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import DataError
from rankbounds.evaluation.judged_runs import JudgedRuns
from rankbounds.evaluation.score_differences import differences
from rankbounds.judging.pools import RATES, draw_reductions
from rankbounds.measures import Measure, parse_measures
from rankbounds.stats.rank_correlation import kendall_tau
from rankbounds.stats.significance import p_values, pairs_of
from rankbounds.studies.study import BESIDE, Measures, Progress, Study, StudyResult, draw_series, rows_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = (
    *("AP", "Q", "nDCG(base=2)@1000", "AP'", "Q'", "nDCG'(base=2)@1000"),
    *("Bpref", "Rpref_relative2", "RBP(p=0.8)", "RBP'(p=0.8)"),
)
LEVEL = 0.05


Statistic: TypeAlias = Callable[[Floats, Floats], Floats]
"""A number per measure from scores (run, topic, measure), and those under all judgments."""
Answer: TypeAlias = Callable[[Floats, list[Measure], Sequence[float], int], str]
"""The answer in words from numbers (seed, rate, measure; the first rate is 100), measures, rates, how many runs."""


def by_judgment_rate(
    column: str, label: str, statistic: Statistic, *, seeds: int = 20, **settings: Any
) -> Callable[[Answer], Study]:
    """Declare a study of what a statistic does as judgments grow fewer by the function that answers it in words."""

    def declare(answer: Answer) -> Study:
        def compute(
            qrels: QrelsLike,
            runs: RunsLike,
            *,
            measures: Measures = MEASURES,
            rates: Sequence[float] = RATES,
            seeds: int = seeds,
            first_seed: int = 0,
            gain: Any = None,
            progress: Progress | None = None,
        ) -> StudyResult:
            chosen, judged = parse_measures(measures), JudgedRuns(qrels, runs, gain=gain)
            subsets: list[Any] = [None]
            for seed in range(first_seed, first_seed + seeds):
                reductions = draw_reductions(judged.qrels, rates, seed=seed)
                subsets += [reductions[rate] for rate in rates]
            scores = judged.scores(subsets, chosen, progress=progress)
            full, *drawn = (statistic(part, scores[0]) for part in scores)
            reduced = np.reshape(drawn, (seeds, len(rates), len(chosen)))
            values = np.concatenate((np.broadcast_to(full, (seeds, 1, len(chosen))), reduced), axis=1)
            low, high = np.quantile(values, (0.025, 0.975), axis=0)
            axes: dict[str, list[Any]] = {"measure": list(map(str, chosen)), "rate": [100.0, *map(float, rates)]}
            rows = rows_by(axes, {column: values.mean(axis=0).T, "low_draw": low.T, "high_draw": high.T})
            # Where all judgments are compared with themselves, there is nothing to see.
            rows = [row for row in rows if row["rate"] < 100 or statistic is not order_kept]
            return StudyResult(rows, answer(values, chosen, rates, len(judged.names)), settings=settings)

        compute.__name__, compute.__doc__ = answer.__name__, answer.__doc__
        study = Study(compute)

        @study.figure(figsize=(6.4, 3.8))
        def by_rate(result: StudyResult, axes: Axes) -> None:
            """A line for each measure by the share of judgments kept; bands hold 95% of the draws."""
            draw_series(axes, result.rows(), "rate", column)
            axes.invert_xaxis()
            axes.set(xlabel="judgments kept (%)", ylabel=label)
            if statistic is order_kept:
                axes.set_ylim(top=1.0)
            if statistic is mean_of_runs:
                axes.set_ylim(bottom=0)
            axes.legend(fontsize="x-small", **BESIDE)

        return study

    return declare


def mean_of_runs(scores: Floats, _: Floats) -> Floats:
    """The mean over runs and topics."""
    return np.asarray(scores.mean(axis=1).mean(axis=0))


def order_kept(scores: Floats, full: Floats) -> Floats:
    """Kendall's tau with the order of runs under all judgments."""
    return np.array([kendall_tau(*both) for both in zip(full.mean(axis=1).T, scores.mean(axis=1).T, strict=True)])


def share_separated(scores: Floats, _: Floats) -> Floats:
    """The share of pairs of runs that a t test separates."""
    if len(scores) < 2:
        raise DataError("The power to separate runs needs at least two of them.")
    first, second = pairs_of(len(scores))
    matrices = np.moveaxis(scores, -1, 0)
    return np.array([np.mean(p_values(differences(of[first], of[second]), "t") < LEVEL) for of in matrices])


@by_judgment_rate("value", "mean over topics and runs", mean_of_runs)
def score_by_judgment_rate(means: Floats, measures: list[Measure], rates: Sequence[float], _: int) -> str:
    """Do scores stay level while judgments grow fewer?

    Sakai (SIGIR 2007, Figure 1) reduced the judgments of four collections to 90, 70, 50, 30 and 10 percent and averaged
    each measure over all runs: AP, Q and nDCG fall with the judgments, bpref and measures on condensed lists hardly do.
    The paper has one draw for each rate; here each is repeated over seeds, and 95% of the draws lie between
    ``low_draw`` and ``high_draw``.
    """
    full, least = means[0, 0], means[:, -1].mean(axis=0)
    change = {str(measure): float(b / a - 1) if a else 0.0 for measure, a, b in zip(measures, full, least, strict=True)}
    steady = min(change, key=lambda name: abs(change[name]))
    moved = max(change, key=lambda name: abs(change[name]))
    return (
        f"At {rates[-1]:g}% of the judgments {steady} changes least ({change[steady]:+.0%}) and {moved} most "
        f"({change[moved]:+.0%})."
    )


@by_judgment_rate("tau", "Kendall's tau with all judgments", order_kept)
def agreement_by_judgment_rate(tau: Floats, measures: list[Measure], rates: Sequence[float], _: int) -> str:
    """Do fewer judgments order systems as all judgments do?

    Sakai (SIGIR 2007, Figure 2): Kendall's tau between the order of runs under all judgments and under a reduced part
    of them. The paper has one draw for each rate; here each is repeated over seeds, and 95% of the draws lie between
    ``low_draw`` and ``high_draw``.
    """
    last = tau[:, -1].mean(axis=0)
    best, worst = int(np.argmax(last)), int(np.argmin(last))
    return (
        f"At {rates[-1]:g}% of the judgments {measures[best]} keeps the order of runs best (tau {last[best]:.3f}) and "
        f"{measures[worst]} worst (tau {last[worst]:.3f})."
    )


@by_judgment_rate(
    "power", f"share of pairs separated (t test, {LEVEL:g})", share_separated, seeds=5, alpha=LEVEL, test="t"
)
def power_by_judgment_rate(power: Floats, measures: list[Measure], rates: Sequence[float], runs: int) -> str:
    """Do measures still separate systems when judgments are few?

    Judgments are reduced at random, topic by topic, and for every measure the share of pairs of runs is counted that a
    paired t test over topics separates at level 0.05. A measure whose power falls slowly makes do with fewer judgments.

    Source: Sakai, Alternatives to Bpref (SIGIR 2007, Figure 3), who tested by the bootstrap.
    """
    mean = power.mean(axis=0)
    most = int(np.argmax(mean[-1]))
    return (
        f"With {rates[-1]:g}% of the judgments {measures[most]} separates most pairs of runs ({mean[-1, most]:.1%} of "
        f"{math.comb(runs, 2):,} at level {LEVEL:g}, after {mean[0, most]:.1%} with all judgments)."
    )
