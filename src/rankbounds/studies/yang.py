"""Ties, by accident and on purpose: how far they move scores, places and comparisons.

Source: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, AIRS 2016.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import rankbounds as rb
from rankbounds.studies.study import (
    COLOURS,
    Floats,
    Measures,
    Progress,
    Rows,
    StudyResult,
    compare_printed,
    extremes,
    list_words,
    pivot,
    study,
    track,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_RANGE = 1e-6
LEAST_P = 1e-10
LIMITS = (0.99, 0.97, 0.95)
"""Those of Table 3, and the one of the text below it."""
BANDS = "rho="
BEST = 80
LENGTH = 4096
RHOS = ("1.1", "1.2", "1.4", "1.7", "2.0")
SHOWN_RHO = "1.4"
DISORDER = {
    "ties": "tied scores",
    "rank_against_score": "rank against score",
    "line_against_score": "line order against score",
    "line_against_rank": "line order against rank",
}
LOSING_MEASURES = ("RR", "RBP(p=0.5)", "RBP(p=0.85)")


@study("Yang, Moffat and Turpin 2016, Table 1")
def ties_by_level(qrels: rb.Qrels, runs: list[rb.Run]) -> StudyResult:  # noqa: ARG001 (they say which runs are best)
    """How common are tied scores, and ranks and lines that contradict the scores?

    The shares of systems, of lists (a system and a topic) and of documents with the same score as the document before,
    and of those whose stated ranks, or order of lines, contradict the scores. ``rankbounds check`` shows them per run.
    """
    checked = list(rb.check(runs, examples=0))
    lists, lines = sum(run.topics for run in checked), sum(run.lines for run in checked)
    rows: Rows = [
        {
            "what": words,
            "systems": float(np.mean([run.count(kind) > 0 for run in checked])),
            "lists": sum(run.topics_with(kind) for run in checked) / max(lists, 1),
            "documents": sum(run.count(kind) for run in checked) / max(lines, 1),
        }
        for kind, words in DISORDER.items()
    ]
    tied, contradicted = rows[0], rows[1]
    answer = (
        f"{tied['documents']:.1%} of documents in {tied['systems']:.1%} of systems have the score of the one before; "
        f"stated ranks contradict scores for {contradicted['documents']:.1%} of documents."
    )
    size = {"runs": len(checked), "lists": lists, "documents": lines}
    return StudyResult(rows, answer, settings=size)


@study("Yang, Moffat and Turpin 2016, Table 2")
def loss_by_rho(*, measures: Measures = LOSING_MEASURES, rhos: Sequence[float | str] = RHOS) -> StudyResult:
    """How much can bands of ranks take from any list at all?

    The most that a score can lose when documents are ranked in bands that grow by the factor rho, taking the mean over
    all orders inside a band. Down to the rank-safe depth every document keeps its place.
    """
    if not rhos:
        raise rb.UsageError("Name at least one rho.")
    rows: Rows = [
        {
            "measure": str(measure),
            "rho": str(rho),
            "loss": worst_loss(measure, rho),
            "rank_safe_depth": int(sizes.argmax()) if (sizes := _band_sizes(rho) > 1).any() else None,
        }
        for measure in rb.measures.parse_measures(measures)
        for rho in rhos
    ]
    if unknown := next((row["measure"] for row in rows if row["loss"] is None), None):
        raise rb.UsageError(f"No limit is known for {unknown}: name RR, or sums over ranks with falling weights.")
    tables, agreement = compare_printed(rows, "yang, Table 2", "rho", "measure", "loss")
    worst = max(rows, key=lambda row: row["loss"])
    answer = f"At most {worst['loss']:.4f} is lost (by {worst['measure']}, with rho = {worst['rho']})."
    return StudyResult(rows, answer, tables=tables, agreement=agreement)


def worst_loss(measure: rb.Measure, rho: float | str) -> float | None:
    """The most that bands take from a list of 4,096 documents, in the mean over all orders; None: no limit is known.

    A band loses most when its first documents are the relevant ones: their weights minus as many times the mean weight.
    """
    weights = np.zeros(LENGTH)
    read = LENGTH if measure.cutoff is None else min(measure.cutoff, LENGTH)
    if isinstance(measure, rb.RR):
        weights[:read] = 1 / np.arange(1, read + 1)
    elif isinstance(measure, rb.measures.RankWeighted):
        weights[:read] = measure.weights(read)
    else:
        return None
    if (np.diff(weights) > LEAST_P).any():
        return None
    lost = [np.cumsum(band - band.mean()) for band in np.split(weights, np.cumsum(_band_sizes(rho))[:-1])]
    if isinstance(measure, rb.RR):  # one document is relevant
        return float(max(band[0] for band in lost))
    return float(sum(band.max() for band in lost))


def _band_sizes(rho: float | str) -> Any:
    ranking = rb.Run({"q": [str(rank) for rank in range(LENGTH)]})
    return np.unique(ranking.banded(rho).score, return_counts=True)[1][::-1]


@study("Yang, Moffat and Turpin 2016, Figure 2", best=BEST)
def range_by_ties(qrels: rb.Qrels, runs: list[rb.Run], *, measure: str | rb.Measure = "AP") -> StudyResult:
    """How far can ties move a system's score, and does the order of systems depend on how they are broken?

    For each run the mean of a measure with every tied group in its worst, its best and in trec_eval's order, and the
    mean over all orders; with the places that the run could take among the others. Rows are by falling score under
    trec_eval's order.
    """
    checks = rb.check(runs, qrels=qrels, measures=[measure], examples=0)
    ties = {
        one.run: {"tied_documents": one.count("ties"), "tied_topics": one.topics_with("ties"), "lines": one.lines}
        for one in checks
    }
    return StudyResult([row | ties[row["run"]] for row in checks.ranking()], checks.words_of_ties())


@range_by_ties.figure(figsize=(6.0, 4.0))
def ranges_of_runs(result: StudyResult, axes: Axes) -> None:
    """For each run a line from its score with ties at worst to that at best, by how far apart they are (Figure 2).

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


@study("Yang, Moffat and Turpin 2016, Figure 3, Table 3, Figure 4", best=BEST)
def change_by_banding(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    *,
    measures: Measures = ("RR", "RBP(p=0.5)", "RBP(p=0.85)", "AP"),
    rhos: Sequence[float | str] = RHOS,
    bits: Sequence[str] = (),
    digits: Sequence[int] = (),
    limits: Sequence[float] = LIMITS,
    alpha: float = 0.05,
    ties: Any = "trec",
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """How exact must a ranking be for scores and comparisons to stay as they are?

    Each run is scored unchanged, and with its documents in bands (``rhos``) or its scores rounded (``bits``,
    ``digits``), taking the mean over all orders inside a band: how much scores change per topic, for how many systems a
    loss of more than ``limits`` can be ruled out (one-sided paired t-test), and which pairs differ significantly.
    """
    treatments: dict[str, Callable[[rb.Run], rb.Run]] = {
        f"{BANDS}{rho}": partial(rb.Run.banded, rho=rho, ties=ties) for rho in rhos
    }
    treatments |= {kind: partial(rb.Run.rounded, bits=kind) for kind in bits}
    treatments |= {f"{number} digits": partial(rb.Run.rounded, digits=number) for number in digits}
    if not treatments:
        raise rb.UsageError("Name at least one rho, kind of bits or number of digits.")
    before = rb.evaluate(qrels, runs, measures, ties=ties, gain=gain, bounds="none")
    if len(before.query_ids) < 2:
        raise rb.UsageError("A t-test needs at least two topics.")
    after = []
    for treat in track(treatments.values(), progress, len(treatments)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rb.RankboundsWarning)  # said of the runs before
            treated = [treat(run) for run in runs]
            after.append(rb.evaluate(qrels, treated, measures, ties="expected", gain=gain, bounds="none").value)
    changes = Changes(list(treatments), before.runs, before.measures, before.value, np.stack(after))
    rows = [
        changes.summary(treatment, measure, limits, alpha)
        for measure in range(len(changes.measures))
        for treatment in range(len(changes.treatments))
    ]
    settings = {"treatments": changes.treatments}
    tables = {
        f"Runs of {len(changes.runs)} that keep {100 * limit:g}% of the score (t test, {alpha:g})": pivot(
            rows, "treatment", "measure", within(limit)
        )
        for limit in limits
    }
    return StudyResult(rows, _answer(rows, max(limits), alpha), changes, tables, settings=settings)


def within(limit: float) -> str:
    return f"runs_within_{100 * limit:g}%"


@dataclass(frozen=True)
class Changes:
    """Scores before and after, by treatment, run, topic and measure."""

    treatments: list[str]
    runs: list[str]
    measures: list[rb.Measure]
    before: Floats
    """Axes: run, topic, measure."""
    after: Floats
    """Axes: treatment, run, topic, measure."""

    def differences(self, treatment: int, measure: int) -> Floats:
        return (self.before[..., measure] - self.after[treatment, ..., measure]).ravel()

    def runs_within(self, treatment: int, measure: int, limit: float, alpha: float = 0.05) -> int:
        kept = self.after[treatment, ..., measure] - limit * self.before[..., measure]
        return int(np.count_nonzero(rb.stats.p_values(kept, "t", "greater") <= alpha))

    def p_values(self, measure: int, treatment: int | None = None) -> Floats:
        scores = self.before[..., measure] if treatment is None else self.after[treatment, ..., measure]
        first, second = np.triu_indices(len(scores), 1)
        return rb.stats.p_values(scores[first] - scores[second], "t") if first.size else np.empty(0)

    def summary(self, treatment: int, measure: int, limits: Sequence[float], alpha: float) -> dict[str, Any]:
        label, difference = self.treatments[treatment], self.differences(treatment, measure)
        before, after = (self.p_values(measure, which) <= alpha for which in (None, treatment))
        quadrants = {
            "both": before & after,
            "before_only": before & ~after,
            "after_only": ~before & after,
            "neither": ~before & ~after,
        }
        lower, median, upper = np.quantile(difference, (0.25, 0.5, 0.75)).tolist()
        rho = label.removeprefix(BANDS)
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
            "most_possible_loss": None if rho == label else worst_loss(self.measures[measure], rho),
            **{within(limit): self.runs_within(treatment, measure, limit, alpha) for limit in limits},
            **{f"significant_{name}": float(flags.mean()) if flags.size else None for name, flags in quadrants.items()},
        }


def _answer(rows: Rows, limit: float, alpha: float) -> str:
    sentences = []
    for measure in dict.fromkeys(row["measure"] for row in rows):
        mine = [row for row in rows if row["measure"] == measure]
        safe = [row["treatment"] for row in mine if row[within(limit)] == row["runs"]]
        shown = f"with {list_words(safe)} t tests (p <= {alpha:g})" if safe else "no treatment lets t tests"
        sentences.append(f"{measure}: {shown} rule out for each run that more than {100 * (1 - limit):.3g}% is lost.")
        if mine[0]["significant_neither"] is not None:
            flipped = {row["treatment"]: row["significant_before_only"] + row["significant_after_only"] for row in mine}
            turned = extremes(flipped, ".1%")
            sentences.append(f"Pairs of runs that change between significantly different and not: {turned}.")
    return " ".join(sentences)


BY_MEASURE: Any = {
    "figsize": lambda result: (3.4 * len(result.data.measures), 2.9),
    "panels": lambda result: (1, len(result.data.measures)),
}


@change_by_banding.figure(**BY_MEASURE)
def boxes_of_changes(result: StudyResult, axes: Any) -> None:
    """The score lost on each topic of each run, by treatment; whiskers end within 1.5 box lengths (Figure 3)."""
    changes: Changes = result.data
    names = [name.removeprefix(BANDS) for name in changes.treatments]
    for measure, panel in enumerate(axes.flat):
        lost = [changes.differences(treatment, measure) for treatment in range(len(names))]
        panel.axhline(0, color="0.8", linewidth=0.8, zorder=0)
        look: dict[str, Any] = {"medianprops": {"color": COLOURS[1]}, "boxprops": {"color": COLOURS[0]}}
        panel.boxplot(lost, widths=0.6, flierprops={"markersize": 2, "alpha": 0.3, "rasterized": True}, **look)
        panel.set_xticks(range(1, len(names) + 1), names, rotation=30 if len(names) > 6 else 0)
        panel.set_title(str(changes.measures[measure]), fontsize=9)
        panel.set(xlabel="growth of bands, rho, or rounding", ylabel="lost on a topic")


@change_by_banding.figure(**BY_MEASURE)
def p_values_before_and_after(result: StudyResult, axes: Any, treatment: int | None = None) -> None:
    """The p-values of all pairs of runs before (across) and after (up), and the share in each quadrant (Figure 4)."""
    changes: Changes = result.data
    if treatment is None:
        middle = len(changes.treatments) // 2
        shown = f"{BANDS}{SHOWN_RHO}"
        treatment = changes.treatments.index(shown) if shown in changes.treatments else middle
    for measure, panel in enumerate(axes.flat):
        _draw_p_values(changes, panel, measure, treatment, float(result.settings["alpha"]))


def _draw_p_values(changes: Changes, axes: Axes, measure: int, treatment: int, alpha: float) -> None:
    before, after = changes.p_values(measure), changes.p_values(measure, treatment)
    shown = [np.maximum(levels, LEAST_P) for levels in (before, after)]  # smaller ones are drawn there
    axes.scatter(shown[0], shown[1], s=4, alpha=0.4, color=COLOURS[0], linewidths=0, rasterized=True)
    axes.set(xscale="log", yscale="log", xlim=(LEAST_P / 2, 2), ylim=(LEAST_P / 30, 30), yticks=np.logspace(-10, 0, 6))
    axes.axvline(alpha, color="0.4", linestyle=":")
    axes.axhline(alpha, color="0.4", linestyle=":")
    style: dict[str, Any] = {"transform": axes.transAxes, "fontsize": "small", "zorder": 0}  # below the points
    for along, y, late in (("top", 0.96, after > alpha), ("bottom", 0.04, after <= alpha)):
        for across, x, early in (("left", 0.04, before <= alpha), ("right", 0.96, before > alpha)):
            if before.size:
                axes.text(x, y, f"{(early & late).mean():.1%}", ha=across, va=along, **style)
    axes.set_title(str(changes.measures[measure]), fontsize=9)
    axes.set(xlabel="p, exact", ylabel=f"p, {changes.treatments[treatment]}")
