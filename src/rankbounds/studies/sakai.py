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

from rankbounds.arrays import Floats
from rankbounds.checking.judgments import describe
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import DataError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.judged_runs import JudgedRuns
from rankbounds.evaluation.score_differences import differences
from rankbounds.judging.pools import RATES, draw_reductions
from rankbounds.measures import Measure, parse_measures
from rankbounds.stats.rank_correlation import critical_tau, kendall_tau
from rankbounds.stats.separation import discriminative_power
from rankbounds.stats.significance import Resampling, p_values, pairs_of
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
    Measures,
    Progress,
    StudyResult,
    draw_series,
    list_words,
    of_extreme,
    rows_by,
    study,
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


@study("Sakai 2007, Table 1")
def judgments_by_topic(qrels: QrelsLike, runs: RunsLike) -> StudyResult:
    """How much is judged, and how much of it is relevant?

    The numbers of topics, of judged, relevant and non-relevant documents and of each grade: the least, the mean and the
    most of a topic. ``rankbounds check`` prints the same.
    """
    found = describe(qrels, runs)
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
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = ALL_TEN,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do bpref and its alternatives order systems as AP does?

    Kendall's tau between the orders of runs by every two measures, with all judgments.
    """
    result = order_agreement(JudgedRuns(qrels, runs, gain=gain), measures, (), progress)
    least = critical_tau(result.settings["runs"], 0.01)
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
    qrels: QrelsLike,
    runs: RunsLike,
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
    scores = evaluate(qrels, runs, measures, bounds="none", gain=gain)
    rows = discriminative_power(scores, alpha, resamples=resamples, seed=seed, progress=progress).rows()
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
    """A number per measure for each seed and rate of judgments kept; the first rate is 100."""

    measures: list[Measure]
    rates: list[float]
    values: Floats
    """Axes: seed, rate, measure."""
    runs: int

    @classmethod
    def measured(
        cls,
        collection: tuple[QrelsLike, RunsLike],
        measures: Measures,
        rates: Sequence[float],
        seeds: range,
        gain: Any,
        progress: Progress | None,
        statistic: Callable[[Floats, Floats], Floats],
    ) -> Reduced:
        """Draw the judgments again and again, and compute a statistic of scores and those under all judgments."""
        chosen, judged = parse_measures(measures), JudgedRuns(*collection, gain=gain)
        subsets: list[Any] = [None]
        for seed in seeds:
            reductions = draw_reductions(judged.qrels, rates, seed=seed)
            subsets += [reductions[rate] for rate in rates]
        scores = judged.scores(subsets, chosen, progress=progress)
        full, *drawn = (statistic(part, scores[0]) for part in scores)
        reduced = np.reshape(drawn, (len(seeds), len(rates), len(chosen)))
        whole = np.broadcast_to(full, (len(seeds), 1, len(chosen)))
        values = np.concatenate((whole, reduced), axis=1)
        return cls(chosen, [100.0, *map(float, rates)], values, len(judged.names))

    @property
    def last(self) -> dict[str, float]:
        """The mean over seeds at the last rate, by measure."""
        return dict(zip(map(str, self.measures), self.values[:, -1].mean(axis=0).tolist(), strict=True))

    def result(self, column: str, answer: str, agreement: str, **settings: Any) -> StudyResult:
        """The means over seeds with the ends of 95% of the draws."""
        low, high = np.quantile(self.values, (0.025, 0.975), axis=0)
        axes: dict[str, list[Any]] = {"measure": list(map(str, self.measures)), "rate": self.rates}
        rows = rows_by(axes, {column: self.values.mean(axis=0).T, "low_draw": low.T, "high_draw": high.T})
        if column == "tau":  # all judgments compared with themselves show nothing
            rows = [row for row in rows if row["rate"] < 100]
        return StudyResult(rows, answer, agreement=agreement, settings=settings)


def _draw_by_rate(result: StudyResult, axes: Axes, column: str, label: str, **limits: float) -> None:
    draw_series(axes, result.rows(), "rate", column)
    axes.invert_xaxis()
    axes.set(xlabel="judgments kept (%)", ylabel=label)
    axes.set_ylim(**limits)  # type: ignore[arg-type]
    axes.legend(fontsize="x-small", **BESIDE)


@study("Sakai 2007, Figure 1", best=BEST)
def score_by_judgment_rate(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = MEASURES,
    rates: Sequence[float] = RATES,
    seeds: int = 20,
    first_seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do scores stay level while judgments grow fewer?

    Judgments are reduced topic by topic to 90, 70, 50, 30 and 10 percent, and each measure is averaged over all runs.
    The paper has one draw for each rate; here each is repeated over seeds, and 95% of the draws lie between
    ``low_draw`` and ``high_draw``.
    """

    def mean_of_runs(scores: Floats, _: Floats) -> Floats:
        return np.asarray(scores.mean(axis=1).mean(axis=0))

    drawn = range(first_seed, first_seed + seeds)
    found = Reduced.measured((qrels, runs), measures, rates, drawn, gain, progress, mean_of_runs)
    full, last = found.values[0, 0], found.last
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
    return found.result("value", answer, agreement)


@score_by_judgment_rate.figure(figsize=(6.4, 3.8))
def scores_by_rate(result: StudyResult, axes: Axes) -> None:
    """The mean of each measure by the share of judgments kept; bands hold 95% of the draws (Figure 1)."""
    _draw_by_rate(result, axes, "value", "mean over topics and runs", bottom=0)


@study("Sakai 2007, Figure 2", best=BEST)
def agreement_by_judgment_rate(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = MEASURES,
    rates: Sequence[float] = RATES,
    seeds: int = 20,
    first_seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do fewer judgments order systems as all judgments do?

    Kendall's tau between the order of runs under all judgments and under a reduced part of them, over seeds; 95% of the
    draws lie between ``low_draw`` and ``high_draw``.
    """

    def order_kept(scores: Floats, full: Floats) -> Floats:
        return np.array([kendall_tau(*both) for both in zip(full.mean(axis=1).T, scores.mean(axis=1).T, strict=True)])

    drawn = range(first_seed, first_seed + seeds)
    found = Reduced.measured((qrels, runs), measures, rates, drawn, gain, progress, order_kept)
    tau = {name: one for name, one in found.last.items() if not math.isnan(one)}
    if not tau:
        return found.result("tau", "With few judgments no measure orders these runs: their means are equal.", "")
    best, worst = max(tau.values()), min(tau.values())
    answer = f"At {rates[-1]:g}% of the judgments the order of runs is kept best by {of_extreme(tau)} (tau {best:.3f})"
    answer += f" and worst by {of_extreme(tau, min)} (tau {worst:.3f})." if worst < best else "."
    claim = "In the paper AP keeps the order worst, and measures on condensed lists at least as well as bpref_R."
    return found.result("tau", answer, _compare_with_paper(claim, tau))


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


@study("Sakai 2007, Figure 3", best=BEST)
def power_by_judgment_rate(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = MEASURES,
    rates: Sequence[float] = RATES,
    test: str = "bootstrap",
    alpha: float = LEVEL,
    resamples: int = 1000,
    seeds: int = 5,
    first_seed: int = 0,
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Do measures still separate systems when judgments are few?

    Judgments are reduced at random, topic by topic, and for every measure the share of pairs of runs is counted that a
    paired test over topics separates. A measure whose power falls slowly makes do with fewer judgments.
    """
    resampling = Resampling(resamples, first_seed)

    def share_separated(scores: Floats, _: Floats) -> Floats:
        if len(scores) < 2:
            raise DataError("The power to separate runs needs at least two of them.")
        first, second = pairs_of(len(scores))
        tested = (p_values(differences(of[first], of[second]), test, resampling=resampling)
                  for of in np.moveaxis(scores, -1, 0))  # fmt: skip
        return np.array([np.mean(levels < alpha) for levels in tested])

    drawn = range(first_seed, first_seed + seeds)
    found = Reduced.measured((qrels, runs), measures, rates, drawn, gain, progress, share_separated)
    last, whole = found.last, dict(zip(map(str, found.measures), found.values[0, 0].tolist(), strict=True))
    most = max(last, key=lambda name: last[name])
    answer = (
        f"With {rates[-1]:g}% of the judgments {separates(of_extreme(last))} most pairs of runs ({last[most]:.1%} of "
        f"{math.comb(found.runs, 2):,} at level {alpha:g}; {most} {whole[most]:.1%} with all judgments)."
    )
    claim = "In the paper AP then separates fewest pairs, and measures on condensed lists more than bpref_R."
    return found.result("power", answer, _compare_with_paper(claim, last))


@power_by_judgment_rate.figure(figsize=(6.4, 3.8))
def powers_by_rate(result: StudyResult, axes: Axes) -> None:
    """The share of pairs of runs that are separated, by the share of judgments kept (Figure 3)."""
    label = f"share of pairs separated ({result.settings['test']}, {result.settings['alpha']:g})"
    _draw_by_rate(result, axes, "power", label, bottom=0)
