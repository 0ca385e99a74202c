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
from rankbounds.studies.moffat_zobel import (
    bars,
    most_and_fewest,
    order_agreement,
    power_of_measures,
    separates,
    square,
    tau_of_measures,
)
from rankbounds.studies.study import (
    BESIDE,
    Floats,
    Measures,
    Progress,
    StudyResult,
    draw_series,
    list_words,
    of_extreme,
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
"""In percent."""


@study("Sakai 2007, Table 1")
def judgments_by_topic(qrels: rb.Qrels, runs: list[rb.Run]) -> StudyResult:
    """How much is judged, and how much of it is relevant?

    The numbers of topics, of judged, relevant and non-relevant documents and of each grade: the least, the mean and the
    most of a topic. ``rankbounds check`` prints the same.
    """
    found = rb.checking.describe(qrels, runs)
    counts = {row["documents"]: row for row in found.rows()}
    more = counts["non-relevant"]["least"] >= counts["relevant"]["most"]
    agreement = (
        "As in the paper's collections, all topics have more non-relevant than relevant documents: bpref is bpref_R."
        if more
        else "Unlike in the paper's collections, bpref may be bpref_R for one topic and bpref_N for another."
    )
    return StudyResult(found.rows(), found.words(), agreement=agreement, settings=found.settings)


@judgments_by_topic.figure(figsize=(5.6, 3.2))
def judgments_of_topics(result: StudyResult, axes: Axes) -> None:
    """The least, mean and most judged documents of a topic, by kind."""
    rows = [row for row in result.rows() if row["most"]]
    for place, row in enumerate(rows):
        axes.plot([row["least"], row["most"]], [place, place], color="0.6", linewidth=2, zorder=1)
    axes.plot([row["mean"] for row in rows], range(len(rows)), "o", zorder=2, label="mean of the topics")
    axes.set_yticks(range(len(rows)), [row["documents"] for row in rows])
    axes.invert_yaxis()
    axes.set_xscale("symlog", linthresh=1)
    axes.set_xlim(left=0)
    axes.set_xlabel("documents per topic (lines: least to most)")
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))


@study("Sakai 2007, Table 2", best=BEST)
def agreement_by_alternative(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    measures: Measures = ALL_TEN,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do bpref and its alternatives order systems as AP does?

    Kendall's tau between the orders of runs by every two measures, with all judgments.
    """
    result = order_agreement(qrels, runs, measures, (), gain, progress)
    least = rb.stats.critical_tau(result.settings["runs"], 0.01)
    if not math.isnan(least):
        chance = f"Of {result.settings['runs']} runs, a tau of {least:.3f} or more is significant at 0.01."
        result = replace(result, answer=f"{result.answer} {chance}")
    tau = {frozenset((row["measure"], row["other"])): row["tau"] for row in result.rows()}
    pairs = [frozenset((name, "AP")) for name in ("AP'", "Bpref_R")]
    if all(pair in tau for pair in pairs):
        of_alternative, of_bpref = (tau[pair] for pair in pairs)
        agreement = "On the paper's four collections AP' agrees better with AP than bpref_R does; "
        if of_alternative is None or of_bpref is None:
            agreement += "here some of them do not order these runs."
        else:
            agreement += "the same here" if of_alternative > of_bpref else "not so here"
            agreement += f" ({of_alternative:.3f} and {of_bpref:.3f})."
        return replace(result, agreement=agreement)
    return result


agreement_by_alternative.figure(figsize=square)(tau_of_measures)


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
    power = {row["measure"]: row["discriminated"] for row in rows}
    behind = [name for name in (*CONDENSED, *RAW) if power.get(name, 0) <= power.get("Bpref_R", 0) and name in power]
    agreement = (
        "In the paper all measures but bpref_N and rpref_N separate more pairs than bpref_R; here "
        + (f"{list_words(behind)} {'does' if len(behind) == 1 else 'do'} not." if behind else "they do, too.")
        if "Bpref_R" in power
        else ""
    )
    printed = [
        {
            "measure": row["measure"],
            "disc. power": f"{row['discriminated']}/{row['pairs']} = {row['power']:.1%}",
            "diff. required": row["required_difference"],
        }
        for row in rows
    ]
    answer = f"At level {alpha:g}, {most_and_fewest(rows)}"
    caption = f"Discriminative power at level {alpha:g}"
    return StudyResult(rows, answer, tables={caption: printed}, agreement=agreement)


power_by_alternative.figure(figsize=bars)(power_of_measures)


@dataclass(frozen=True)
class Reduced:
    """Scores under all judgments, and for each seed and rate under those that are kept."""

    full: rb.Scores
    drawn: list[list[rb.Scores]]
    rates: list[float]
    """The percentages kept; the first is 100."""
    first_seed: int

    @property
    def measures(self) -> list[str]:
        """The labels of the measures."""
        return list(map(str, self.full.measures))

    def each(self, statistic: Callable[[rb.Scores], Floats]) -> Floats:
        """A number per measure, with axes of seeds, rates (the first is 100) and measures."""
        whole = statistic(self.full)
        return np.array([[whole, *(statistic(scores) for scores in of_seed)] for of_seed in self.drawn])

    def last(self, values: Floats) -> dict[str, float]:
        """The mean over seeds at the last rate, by measure."""
        return dict(zip(self.measures, values[:, -1].mean(axis=0).tolist(), strict=True))

    def result(self, column: str, values: Floats, answer: str, agreement: str) -> StudyResult:
        """The means over seeds with the ends of 95% of the draws."""
        low, high = np.quantile(values, (0.025, 0.975), axis=0)
        axes: dict[str, list[Any]] = {"measure": self.measures, "rate": self.rates}
        rows = rows_by(axes, {column: values.mean(axis=0).T, "low_draw": low.T, "high_draw": high.T})
        if column == "tau":  # all judgments compared with themselves show nothing
            rows = [row for row in rows if row["rate"] < 100]
        return StudyResult(rows, answer, agreement=agreement)


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
    """Score the runs under all judgments and under random parts of them; the paper has one draw for each rate."""
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

    Judgments are reduced topic by topic to 90, 70, 50, 30 and 10 percent, and each measure is averaged over all runs.
    The paper has one draw for each rate; here each is repeated over seeds, and 95% of the draws lie between
    ``low_draw`` and ``high_draw``.
    """
    values = reduced.each(lambda scores: np.asarray(scores.value.mean(axis=(0, 1))))
    full, last, rates = values[0, 0], reduced.last(values), reduced.rates
    change = {name: b / a - 1 if a else 0.0 for (name, b), a in zip(last.items(), full.tolist(), strict=True)}
    steady, moved = (pick(change, key=lambda name: abs(change[name])) for pick in (min, max))
    answer = (
        f"At {rates[-1]:g}% of the judgments {steady} changes least ({change[steady]:+.0%}) and {moved} most "
        f"({change[moved]:+.0%})."
        if len(change) > 1
        else f"At {rates[-1]:g}% of the judgments {steady} changes by {change[steady]:+.0%}."
    )
    raw, others = ([abs(change[name]) for name in names if name in change] for names in (RAW, ("Bpref_R", *CONDENSED)))
    holds = raw and others and min(raw) > max(others)
    agreement = (
        "In the paper AP, Q and nDCG fall with the judgments, and bpref and measures on condensed lists hardly do; "
        f"{'the same' if holds else 'not quite so'} here."
        if raw and others
        else ""
    )
    return reduced.result("value", values, answer, agreement)


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

    values, rates = reduced.each(order_kept), reduced.rates
    tau = {name: one for name, one in reduced.last(values).items() if not math.isnan(one)}
    if not tau:
        return reduced.result("tau", values, "With few judgments no measure orders these runs: means are equal.", "")
    best, worst = max(tau.values()), min(tau.values())
    answer = f"At {rates[-1]:g}% of the judgments the order of runs is kept best by {of_extreme(tau)} (tau {best:.3f})"
    answer += f" and worst by {of_extreme(tau, min)} (tau {worst:.3f})." if worst < best else "."
    claim = "In the paper AP keeps the order worst, and measures on condensed lists at least as well as bpref_R."
    return reduced.result("tau", values, answer, _compare_with_paper(claim, tau))


def _compare_with_paper(claim: str, last: dict[str, float]) -> str:
    """The claim, and is AP the worst, and condensed lists as good as bpref? Empty without the measures to compare."""
    condensed = [name for name in CONDENSED if name in last]
    if not condensed or "Bpref_R" not in last:
        return ""
    behind = [name for name in condensed if last[name] < last["Bpref_R"]]
    told = f"{list_words(behind)} {'is' if len(behind) == 1 else 'are'}" if behind else "none is"
    here = f"Here {of_extreme(last, min)} comes last, and of the measures on condensed lists {told} behind bpref_R."
    return f"{claim} {here}"


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
        found = rb.stats.discriminative_power(scores, alpha, test, resamples=resamples, seed=reduced.first_seed)
        return np.array([row["power"] for row in found.rows()])

    values, rates = reduced.each(share_separated), reduced.rates
    last, whole = reduced.last(values), dict(zip(reduced.measures, values[0, 0].tolist(), strict=True))
    most = max(last, key=lambda name: last[name])
    answer = (
        f"With {rates[-1]:g}% of the judgments {separates(of_extreme(last))} most pairs of runs ({last[most]:.1%} of "
        f"{math.comb(len(reduced.full.runs), 2):,} at level {alpha:g}; {most} {whole[most]:.1%} with all judgments)."
    )
    claim = "In the paper AP then separates fewest pairs, and measures on condensed lists more than bpref_R."
    return reduced.result("power", values, answer, _compare_with_paper(claim, last))


@power_by_judgment_rate.figure(figsize=(6.4, 3.8))
def powers_by_rate(result: StudyResult, axes: Axes) -> None:
    """The share of pairs of runs that are separated, by the share of judgments kept (Figure 3)."""
    label = f"share of pairs separated ({result.settings['test']}, {result.settings['alpha']:g})"
    _draw_by_rate(result, axes, "power", label, bottom=0)
