"""Ties, by accident and on purpose: how far they move scores, places and comparisons.

Source: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, AIRS 2016.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.checking.bands import worst_difference
from rankbounds.checking.findings import in_words, places
from rankbounds.checking.submissions import check
from rankbounds.collection.bands import Rho
from rankbounds.collection.inputs import Reading
from rankbounds.collection.run import Run, unique_names
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import RankboundsWarning, UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.score_differences import differences
from rankbounds.measures import Measure, parse_measure, parse_measures
from rankbounds.measures.naming.parser import MeasureLike
from rankbounds.plots.style import COLOURS
from rankbounds.stats.significance import p_values, pairs_of
from rankbounds.studies.study import Measures, Rows, Study, StudyResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_RANGE = 1e-6
LEAST_P = 1e-10
LIMITS = (0.99, 0.97)
BANDS = "rho="


@Study
def range_by_ties(
    qrels: QrelsLike, runs: RunsLike, *, measure: MeasureLike = "AP", best: int | None = None
) -> StudyResult:
    """How far can ties move a system's score, and does the order of systems depend on how they are broken?

    For each run the mean of a measure with every tied group in its worst, its best and in trec_eval's order, and the
    mean over all orders; with the places that the run could take among the others. Rows are by falling score under
    trec_eval's order; ``best`` is how many of the best runs to keep, as the paper does.

    Source: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, 2016, section 3 (Figure 2).
    """
    checked = {one.run: one for one in check(runs, qrels=qrels, measures=[parse_measure(measure)], examples=0)}
    ranking = places(checked.values())
    if best is not None:
        ranking = places([checked[row["run"]] for row in ranking[:best]])
    counted = ("tied_documents", "tied_topics", "lines")
    rows = [row | {name: getattr(checked[row["run"]], name) for name in counted} for row in ranking]
    return StudyResult(rows, in_words(ranking))


@range_by_ties.figure(figsize=(6.0, 4.0))
def ranges_of_runs(result: StudyResult, axes: Axes) -> None:
    """For each run a line from its score with ties at worst to that with ties at best, by how far apart the two are.

    Circles are trec_eval's order, triangles the mean over all; darker is more tied. Ranges below one in a million are
    drawn there.
    """
    rows = result.rows()
    height = np.maximum([row["range"] for row in rows], LEAST_RANGE)
    share = np.array([row["tied_documents"] / max(row["lines"], 1) for row in rows])
    low, high, value, expected = ([row[key] for row in rows] for key in ("low", "high", "value", "expected"))
    axes.hlines(height, low, high, colors="0.6", linewidth=1, label="worst to best")
    shades: dict[str, Any] = {"c": share, "cmap": "viridis_r", "vmin": 0, "vmax": 1}
    points = axes.scatter(value, height, s=22, zorder=3, label="trec_eval's order", **shades)
    hollow: dict[str, Any] = {"facecolors": "none", "edgecolors": COLOURS[1]}
    axes.scatter(expected, height, marker="^", s=14, zorder=4, label="mean over all orders", **hollow)
    axes.set_yscale("log")
    axes.set(xlabel=f"mean {rows[0]['measure']}", ylabel="best minus worst order of ties\n(at $10^{-6}$: that or less)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small", frameon=False)
    figure: Any = axes.get_figure()
    figure.colorbar(points, ax=axes, label="share of documents tied to the one before")


@Study
def change_by_banding(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = ("RR", "RBP(p=0.5)", "RBP(p=0.85)", "AP"),
    rhos: Sequence[Rho] = ("1.1", "1.2", "1.4", "1.7", "2.0"),
    bits: Sequence[str | int] = (),
    digits: Sequence[int] = (),
    best: int | None = None,
    alpha: float = 0.05,
    gain: Any = None,
) -> StudyResult:
    """How exact must a ranking be? What happens to scores and comparisons when documents are ranked in bands only.

    Each run is scored as it is, and again with its documents in bands (``rhos``) or its scores rounded (to ``bits`` or
    ``digits``), taking the mean over all orders inside a band. Per topic the score changes a little; the questions are
    how much, for how many systems it can be ruled out that more than 1% or 3% of the score is lost (a one-sided paired
    t-test), and whether pairs of systems that differed significantly still do, and no others. ``best`` is how many of
    the best runs by the last measure to keep.

    Source: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, 2016, section 4 (Figures 3 and 4,
    Tables 1 to 3).
    """
    treatments: dict[str, Callable[[Run], Run]] = {f"{BANDS}{rho}": partial(Run.banded, rho=rho) for rho in rhos}
    for number in bits:
        treatments[f"{number} bits" if str(number).isdigit() else str(number)] = partial(Run.rounded, bits=number)
    treatments |= {f"{number} digits": partial(Run.rounded, digits=number) for number in digits}
    changes = Changes.measured(qrels, runs, measures, treatments, gain)
    if best is not None:  # the paper leaves out the worst by AP
        kept = np.argsort(-changes.before[..., -1].mean(axis=-1), kind="stable")[:best]
        names = [changes.runs[number] for number in kept]
        changes = replace(changes, runs=names, before=changes.before[kept], after=changes.after[:, kept])
    rows = [
        changes.summary(treatment, measure, alpha)
        for measure in range(len(changes.measures))
        for treatment in range(len(changes.treatments))
    ]
    settings = {"limits": list(LIMITS), "treatments": changes.treatments}
    return StudyResult(rows, _answer(rows, alpha), changes, settings=settings)


@dataclass(frozen=True)
class Changes:
    """Scores before and after, by treatment, run, topic and measure."""

    treatments: list[str]
    runs: list[str]
    measures: list[Measure]
    before: Floats
    """Axes: run, topic, measure."""
    after: Floats
    """Axes: treatment, run, topic, measure."""

    @classmethod
    def measured(
        cls,
        qrels: QrelsLike,
        runs: RunsLike,
        measures: Measures,
        treatments: Mapping[str, Callable[[Run], Run]],
        gain: Any,
    ) -> Changes:
        """Score every run as it is and under each treatment."""
        if not treatments:
            raise UsageError("Name at least one rho, number of bits or number of digits.")
        judgments = Reading(gain=Assumptions(gain=gain).gain).judgments(qrels)
        chosen = parse_measures(measures)
        jobs = Reading().runs_to_read(runs)  # (one at a time, so that memory holds few)
        names, before, after = [], [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankboundsWarning)  # topics missing or without relevant documents count 0
            for job in jobs:
                run = job.read()
                treated = [treat(run) for treat in treatments.values()]
                names.append(run.name)
                before.append(evaluate(judgments, run, chosen, gain=gain, bounds="none").value[0])
                after.append(evaluate(judgments, treated, chosen, ties="expected", gain=gain, bounds="none").value)
        if before[0].shape[0] < 2:
            raise UsageError("A t-test needs at least two topics.")
        unique = unique_names(names, [job.place for job in jobs])
        return cls(list(treatments), unique, chosen, np.stack(before), np.stack(after, axis=1))

    def differences(self, treatment: int, measure: int) -> Floats:
        """Before minus after for every run and topic: positive where the treatment costs something."""
        return (self.before[..., measure] - self.after[treatment, ..., measure]).ravel()

    def runs_within(self, treatment: int, measure: int, limit: float, alpha: float = 0.05) -> int:
        """For how many runs a one-sided paired t-test shows that at least this share of the score is kept."""
        kept = self.after[treatment, ..., measure] - limit * self.before[..., measure]
        return int(np.count_nonzero(p_values(kept, "t", "greater") <= alpha))

    def p_values(self, measure: int, treatment: int | None = None) -> Floats:
        """Of a two-sided paired t-test, for every pair of runs."""
        scores = self.before[..., measure] if treatment is None else self.after[treatment, ..., measure]
        first, second = pairs_of(len(scores))
        return p_values(differences(scores[first], scores[second]), "t") if first.size else np.empty(0)

    def summary(self, treatment: int, measure: int, alpha: float) -> dict[str, Any]:
        """The numbers of Figures 3 and 4 and of Tables 2 and 3."""
        label, difference = self.treatments[treatment], self.differences(treatment, measure)
        before, after = (self.p_values(measure, which) <= alpha for which in (None, treatment))
        quadrants = {
            "both": before & after,
            "before_only": before & ~after,
            "after_only": ~before & after,
            "neither": ~before & ~after,
        }
        lower, median, upper = np.quantile(difference, (0.25, 0.5, 0.75)).tolist()
        return {
            "treatment": label,
            "measure": str(self.measures[measure]),
            "runs": len(self.runs),
            "mean_before": float(self.before[..., measure].mean()),
            "mean_change": float(difference.mean()),
            "lower_quartile": lower,
            "median": median,
            "upper_quartile": upper,
            "largest": float(np.abs(difference).max()),
            "most_possible_loss": _most_possible_loss(self.measures[measure], label),
            **{f"runs_within_{limit:.0%}": self.runs_within(treatment, measure, limit, alpha) for limit in LIMITS},
            **{f"significant_{name}": float(flags.mean()) if flags.size else None for name, flags in quadrants.items()},
        }


def _most_possible_loss(measure: Measure, treatment: str) -> float | None:
    """What bands can take from any list at all; None for rounding, and for measures of which no limit is known."""
    if not treatment.startswith(BANDS):
        return None
    try:
        return worst_difference(measure, treatment.removeprefix(BANDS))
    except UsageError:
        return None


def _answer(rows: Rows, alpha: float) -> str:
    """For each measure, which treatments lose no run more than 1%, and how many comparisons come out otherwise."""
    sentences = []
    for measure in dict.fromkeys(row["measure"] for row in rows):
        mine = [row for row in rows if row["measure"] == measure]
        safe = ", ".join(row["treatment"] for row in mine if row["runs_within_99%"] == row["runs"])
        shown = f"with {safe} t-tests (p <= {alpha:g})" if safe else "no treatment lets t-tests"
        flipped = {
            row["treatment"]: (row["significant_before_only"] or 0) + (row["significant_after_only"] or 0)
            for row in mine
        }
        worst = max(flipped, key=lambda treatment: flipped[treatment])
        sentences.append(
            f"{measure}: {shown} rule out for each run that more than 1% is lost; at most {flipped[worst]:.1%} of the "
            f"pairs of runs (with {worst}) change between significantly different and not."
        )
    return "\n".join(sentences)


@change_by_banding.figure()
def mean_changes(result: StudyResult, axes: Axes) -> None:
    """The mean change of each measure by treatment."""
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    for measure, rows, colour in result.by("measure"):
        change = [row["mean_change"] for row in rows]
        axes.plot(result.settings["treatments"], change, marker="o", color=colour, label=measure)
    axes.set(xlabel="how documents are ranked (rho: growth of bands)", ylabel="score lost, mean over topics and runs")
    axes.legend(frameon=False)


@change_by_banding.figure()
def boxes_of_changes(result: StudyResult, axes: Axes, measure: int = 0) -> None:
    """Box plots of the score lost on each topic of each run, by treatment. Whiskers end within 1.5 box lengths."""
    changes: Changes = result.data
    lost = [changes.differences(treatment, measure) for treatment in range(len(changes.treatments))]
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    boxes = axes.boxplot(lost, whis=1.5, widths=0.6, patch_artist=True, flierprops={"markersize": 2, "alpha": 0.3})
    for box in boxes["boxes"]:
        box.set(facecolor="white", edgecolor=COLOURS[0])
    for line in boxes["medians"]:
        line.set(color=COLOURS[1])
    axes.set_xticks(range(1, len(lost) + 1), changes.treatments, rotation=30 if len(lost) > 6 else 0)
    axes.set_ylabel(f"{changes.measures[measure]} lost on a topic")


@change_by_banding.figure(figsize=(4.2, 4.0))
def p_values_before_and_after(
    result: StudyResult, axes: Axes, measure: int = 0, treatment: int = 0, alpha: float = 0.05
) -> None:
    """The p-values of all pairs of runs before (across) and after (up), and the share of pairs in each quadrant."""
    changes: Changes = result.data
    before, after = changes.p_values(measure), changes.p_values(measure, treatment)
    shown = [np.maximum(levels, LEAST_P) for levels in (before, after)]  # smaller ones are drawn there
    axes.scatter(shown[0], shown[1], s=6, alpha=0.4, color=COLOURS[0], linewidths=0)
    axes.set(xscale="log", yscale="log", xlim=(LEAST_P / 2, 2), ylim=(LEAST_P / 2, 2))
    axes.axvline(alpha, color="0.4", linestyle=":")
    axes.axhline(alpha, color="0.4", linestyle=":")
    style: dict[str, Any] = {"transform": axes.transAxes, "fontsize": "small"}
    style["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}
    for along, y, late in (("top", 0.96, after > alpha), ("bottom", 0.04, after <= alpha)):
        for across, x, early in (("left", 0.04, before <= alpha), ("right", 0.96, before > alpha)):
            axes.text(x, y, f"{(early & late).mean():.1%}", ha=across, va=along, **style)
    label = changes.measures[measure]
    axes.set(xlabel=f"p of {label}, exact", ylabel=f"p of {label}, {changes.treatments[treatment]}")
