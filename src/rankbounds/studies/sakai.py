"""Fewer judgments: do they keep scores, the order of systems, and the power to separate them?

Source: Sakai, Alternatives to Bpref, SIGIR 2007. The paper has one draw of judgments for each rate; here each is
repeated over seeds. Its 30 best runs by AP are kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import rankbounds as rb
from rankbounds.studies.moffat_zobel import order_agreement, share_of_pairs
from rankbounds.studies.study import (
    BESIDE,
    Floats,
    Measures,
    Progress,
    StudyResult,
    draw_series,
    extremes,
    rows_by,
    study,
    track,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RAW = ("AP", "Q", "nDCG(base=2)@1000")
CONDENSED = ("Rpref_relative2", "AP'", "Q'", "nDCG'(base=2)@1000")
MEASURES = ("Bpref_R", *CONDENSED, *RAW)
"""Those of the paper's figures; its tables have two more."""
ALL_TEN = ("Bpref_R", "Bpref_N", "Rpref_N", *CONDENSED, *RAW)
BEST = 30
LEVEL = 0.05
RATES = (90.0, 70.0, 50.0, 30.0, 10.0)


@study("Sakai 2007, Table 1")
def judgments_by_topic(qrels: rb.Qrels, runs: list[rb.Run]) -> StudyResult:  # noqa: ARG001
    """How much is judged, and how much of it is relevant?

    The numbers of topics, of judged, relevant and non-relevant documents and of each grade: the least, the mean and the
    most of a topic. ``rankbounds check`` prints the same.
    """
    described = rb.checking.describe(qrels)
    return StudyResult(described.rows(), described.words(), settings=described.settings)


@study("Sakai 2007, Table 2", best=BEST)
def agreement_by_alternative(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    measures: Measures = ALL_TEN,
    alpha: float = 0.01,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do bpref and its alternatives order systems as AP does?

    Kendall's tau between the orders of runs by every two measures, with all judgments.
    """
    result = order_agreement([qrels], runs, measures, (), gain, progress)
    least = rb.stats.critical_tau(result.settings["runs"], alpha)
    if not math.isnan(least):
        chance = f"Of {result.settings['runs']} runs, a tau of {least:.3f} or more is significant at {alpha:g}."
        result = replace(result, answer=f"{result.answer} {chance}")
    return result


@study("Sakai 2007, Table 3", best=BEST)
def power_by_alternative(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    measures: Measures = ALL_TEN,
    resamples: int = 1000,
    alpha: float = LEVEL,
    seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Which alternatives to bpref separate systems best?

    Discriminative power by the paired bootstrap test, the measures ranked by it, and the difference of means that was
    large enough for every pair.
    """
    scores = rb.evaluate(qrels, runs, measures, bounds="none", gain=gain)
    rows = rb.stats.discriminative_power(scores, alpha, resamples=resamples, seed=seed, progress=progress).rows()
    rows = sorted(rows, key=lambda row: -row["power"])
    return StudyResult(rows, f"At level {alpha:g}, {share_of_pairs(rows)}")


@dataclass(frozen=True)
class Reduced:
    """Scores under all judgments, and for each seed and rate under those that are kept."""

    full: rb.Scores
    drawn: list[list[rb.Scores]]
    rates: list[float]
    first_seed: int

    @property
    def measures(self) -> list[str]:
        return list(map(str, self.full.measures))

    def each(self, statistic: Callable[[rb.Scores], Floats]) -> Floats:
        under_all = statistic(self.full)
        return np.array([[under_all, *(statistic(scores) for scores in of_seed)] for of_seed in self.drawn])

    def result(self, column: str, values: Floats, what: str, numbers: str = ".3f") -> StudyResult:
        low, high = np.quantile(values, (0.025, 0.975), axis=0)
        axes: dict[str, list[Any]] = {"measure": self.measures, "rate": self.rates}
        rows = rows_by(axes, {column: values.mean(axis=0).T, "low_draw": low.T, "high_draw": high.T})
        if column == "tau":  # all judgments compared with themselves show nothing
            rows = [row for row in rows if row["rate"] < 100]
        last = values[:, -1].mean(axis=0)
        if column == "value":
            last, what = last / values[0, 0] - 1, f"{what} changes"
        most = extremes(dict(zip(self.measures, last.tolist(), strict=True)), numbers)
        return StudyResult(rows, f"At {self.rates[-1]:g}% of the judgments {what}: {most}.")


def scores_of_reductions(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    measures: Measures = MEASURES,
    rates: Sequence[float] = RATES,
    seeds: int = 20,
    first_seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> Reduced:
    full = rb.evaluate(qrels, runs, measures, bounds="none", gain=gain)
    drawn = []
    for seed in track(range(first_seed, first_seed + seeds), progress, seeds):
        parts = rb.judging.pools.reduce(qrels, rates, seed=seed)
        drawn.append([rb.evaluate(parts[rate], runs, measures, bounds="none", gain=gain) for rate in rates])
    return Reduced(full, drawn, [100.0, *map(float, rates)], first_seed)


def _draw_by_rate(result: StudyResult, axes: Axes, column: str, label: str, **limits: float) -> None:
    draw_series(axes, result.rows(), "rate", column)
    axes.invert_xaxis()
    axes.set(xlabel="judgments kept (%)", ylabel=label)
    axes.set_ylim(**limits)  # type: ignore[arg-type]
    axes.legend(fontsize="x-small", **BESIDE)


@study("Sakai 2007, Figure 1", best=BEST, start=scores_of_reductions)
def score_by_judgment_rate(reduced: Reduced) -> StudyResult:
    """Do scores stay level while judgments grow fewer?

    Judgments are reduced topic by topic, and each measure is averaged over all runs. The paper has one draw for each
    rate; here each is repeated over seeds, and 95% of the draws lie between ``low_draw`` and ``high_draw``.
    """
    values = reduced.each(lambda scores: np.asarray(scores.value.mean(axis=(0, 1))))
    return reduced.result("value", values, "the mean over runs and topics", "+.1%")


@score_by_judgment_rate.figure(figsize=(6.4, 3.8))
def scores_by_rate(result: StudyResult, axes: Axes) -> None:
    """The mean of each measure by the share of judgments kept; bands hold 95% of the draws (Figure 1)."""
    _draw_by_rate(result, axes, "value", "mean over topics and runs", bottom=0)


@study("Sakai 2007, Figure 2", best=BEST, start=scores_of_reductions)
def agreement_by_judgment_rate(reduced: Reduced) -> StudyResult:
    """Do fewer judgments order systems as all judgments do?

    Kendall's tau between the order of runs under all judgments and under a reduced part of them, over seeds; 95% of the
    draws lie between ``low_draw`` and ``high_draw``.
    """
    full = reduced.full.value.mean(axis=1).T

    def order_kept(scores: rb.Scores) -> Floats:
        means = scores.value.mean(axis=1).T
        return np.array([rb.stats.kendall_tau(*both) for both in zip(full, means, strict=True)])

    return reduced.result("tau", reduced.each(order_kept), "the tau with the order under all judgments")


@agreement_by_judgment_rate.figure(figsize=(6.4, 3.8))
def orders_by_rate(result: StudyResult, axes: Axes) -> None:
    """Kendall's tau with the order under all judgments, by the share of judgments kept (Figure 2)."""
    _draw_by_rate(result, axes, "tau", "Kendall's tau with all judgments", top=1.0)


@study("Sakai 2007, Figure 3", best=BEST, start=scores_of_reductions, seeds=5)
def power_by_judgment_rate(
    reduced: Reduced, *, test: str = "bootstrap", alpha: float = LEVEL, resamples: int = 1000
) -> StudyResult:
    """Do measures still separate systems when judgments are few?

    Judgments are reduced at random, topic by topic, and for every measure the share of pairs of runs is counted that a
    paired test over topics separates. A measure whose power falls slowly makes do with fewer judgments.
    """

    def share_separated(scores: rb.Scores) -> Floats:
        power = rb.stats.discriminative_power(scores, alpha, test, resamples=resamples, seed=reduced.first_seed)
        return np.array([row["power"] for row in power.rows()])

    answer = f"the share of pairs of runs separated at level {alpha:g}"
    return reduced.result("power", reduced.each(share_separated), answer, ".1%")


@power_by_judgment_rate.figure(figsize=(6.4, 3.8))
def powers_by_rate(result: StudyResult, axes: Axes) -> None:
    """The share of pairs of runs that are separated, by the share of judgments kept (Figure 3)."""
    label = f"share of pairs separated ({result.settings['test']}, {result.settings['alpha']:g})"
    _draw_by_rate(result, axes, "power", label, bottom=0)
