"""How exact must a ranking be? What happens to scores and comparisons when documents are ranked in bands only.

Each run is scored as it is, and again with its documents in bands (or its scores rounded), taking the mean over all
orders inside a band. Per topic the score changes a little; the questions are how much, for how many systems it can be
ruled out that more than 1% or 3% of the score is lost (a one-sided paired t-test), and whether pairs of systems that
differed significantly still do, and no others.

Source: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, 2016, section 4 (Figures 3 and 4,
Tables 1 to 3).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.checking.bands import Rho, banded, rounded, worst_difference
from rankbounds.collection.inputs import Reading
from rankbounds.collection.run import unique_names
from rankbounds.errors import RankboundsWarning, UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.score_differences import differences
from rankbounds.measures import Measure, parse_measures
from rankbounds.plots.style import fresh_axes
from rankbounds.stats.significance import p_values, pairs_of
from rankbounds.studies import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = ("RR", "RBP(p=0.5)", "RBP(p=0.85)", "AP")
RHOS = ("1.1", "1.2", "1.4", "1.7", "2.0")
LIMITS = (0.99, 0.97)
BANDS = "rho="


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
        if len(scores) < 2:
            raise UsageError("p-values of pairs need at least two runs.")
        first, second = pairs_of(len(scores))
        return p_values(differences(scores[first], scores[second]), "t")


def measure_changes(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Sequence[str | Measure] = MEASURES,
    *,
    rhos: Sequence[Rho] = RHOS,
    bits: Sequence[str | int] = (),
    digits: Sequence[int] = (),
    ties: str = "trec",
    gain: Any = None,
) -> Changes:
    """Score every run as it is, in bands for each rho, and with its scores rounded to bits and to digits."""
    judgments = Reading(gain=Assumptions(gain=gain).gain).judgments(qrels)
    chosen = parse_measures(measures)
    labels = [f"{BANDS}{rho}" for rho in rhos]
    labels += [f"{number} bits" if str(number).isdigit() else str(number) for number in bits]
    labels += [f"{number} digits" for number in digits]
    if not labels:
        raise UsageError("Name at least one rho, number of bits or number of digits.")
    jobs = Reading().runs_to_read(runs)  # (one at a time, so that memory holds few)
    names, before, after = [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)  # topics missing or without relevant documents count as 0
        for job in jobs:
            run = job.read()
            treated = [banded(run, rho, ties=ties) for rho in rhos]
            treated += [rounded(run, bits=number) for number in bits]
            treated += [rounded(run, digits=number) for number in digits]
            names.append(run.name)
            before.append(evaluate(judgments, run, chosen, ties=ties, gain=gain, bounds="none").value[0])
            after.append(evaluate(judgments, treated, chosen, ties="expected", gain=gain, bounds="none").value)
    if before[0].shape[0] < 2:
        raise UsageError("A t-test needs at least two topics.")
    unique = unique_names(names, [job.place for job in jobs])
    return Changes(labels, unique, chosen, np.stack(before), np.stack(after, axis=1))


def run(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Sequence[str | Measure] = MEASURES,
    *,
    best: int | None = None,
    alpha: float = 0.05,
    gain: Any = None,
    **treatments: Any,
) -> Result:
    """A row for each treatment and measure; ``treatments`` are ``rhos``, ``bits``, ``digits`` of ``measure_changes``.

    ``best``: how many of the runs to keep, the best by the last measure.
    """
    changes = measure_changes(qrels, runs, measures, gain=gain, **treatments)
    return summarise(changes if best is None else best_runs(changes, best), alpha=alpha)


def best_runs(changes: Changes, count: int) -> Changes:
    """The runs with the highest means of the last measure, as the paper leaves out the worst by AP."""
    kept = np.argsort(-changes.before[..., -1].mean(axis=-1), kind="stable")[:count]
    return replace(
        changes,
        runs=[changes.runs[number] for number in kept],
        before=changes.before[kept],
        after=changes.after[:, kept],
    )


def summarise(changes: Changes, *, alpha: float = 0.05) -> Result:
    """The numbers of Figures 3 and 4 and of Tables 2 and 3."""
    rows: list[dict[str, Any]] = []
    for number, measure in enumerate(changes.measures):
        before = changes.p_values(number) <= alpha if len(changes.runs) > 1 else np.zeros(0, dtype=bool)
        for treatment, label in enumerate(changes.treatments):
            difference = changes.differences(treatment, number)
            after = changes.p_values(number, treatment) <= alpha if before.size else before
            lower, median, upper = np.quantile(difference, (0.25, 0.5, 0.75))
            row = {
                "treatment": label,
                "measure": str(measure),
                "runs": len(changes.runs),
                "mean_before": float(changes.before[..., number].mean()),
                "mean_change": float(difference.mean()),
                "lower_quartile": float(lower),
                "median": float(median),
                "upper_quartile": float(upper),
                "largest": float(np.abs(difference).max()),
                "most_possible_loss": _most_possible_loss(measure, label),
            }
            within = {
                f"runs_within_{limit:.0%}": changes.runs_within(treatment, number, limit, alpha) for limit in LIMITS
            }
            quadrants = {
                "both": before & after, "before_only": before & ~after,
                "after_only": ~before & after, "neither": ~before & ~after,
            }  # fmt: skip
            shares = {
                f"significant_{name}": float(flags.mean()) if flags.size else None for name, flags in quadrants.items()
            }
            rows.append(row | within | shares)
    return Result(rows, _answer(rows, alpha), {"alpha": alpha, "limits": LIMITS, "treatments": changes.treatments})


def _most_possible_loss(measure: Measure, treatment: str) -> float | None:
    """What bands can take from any list at all; None for rounding, and for measures of which no limit is known."""
    if not treatment.startswith(BANDS):
        return None
    try:
        return worst_difference(measure, treatment.removeprefix(BANDS))
    except UsageError:
        return None


def _answer(rows: list[dict[str, Any]], alpha: float) -> str:
    """For each measure, which treatments lose no run more than 1%, and how many comparisons come out otherwise."""
    sentences = []
    for measure in dict.fromkeys(row["measure"] for row in rows):
        mine = [row for row in rows if row["measure"] == measure]
        safe = [row["treatment"] for row in mine if row["runs_within_99%"] == row["runs"]]
        kept = (
            f"with {', '.join(safe)} t-tests (p <= {alpha:g}) rule out for each run that more than 1% is lost"
            if safe
            else "no treatment lets t-tests rule out for each run that more than 1% is lost"
        )
        flipped = {
            row["treatment"]: (row["significant_before_only"] or 0) + (row["significant_after_only"] or 0)
            for row in mine
        }
        worst = max(flipped, key=lambda treatment: flipped[treatment])
        sentences.append(
            f"{measure}: {kept}; at most {flipped[worst]:.1%} of the pairs of runs (with {worst}) change between "
            "significantly different and not."
        )
    return "\n".join(sentences)


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """The mean change of each measure by treatment."""
    axes = fresh_axes(ax)
    treatments = list(dict.fromkeys(row["treatment"] for row in result.rows))
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    for measure, rows, colour in result.by("measure"):
        axes.plot(treatments, [row["mean_change"] for row in rows], marker="o", color=colour, label=measure)
    axes.set_xlabel("how documents are ranked (rho: growth of bands)")
    axes.set_ylabel("score lost, mean over topics and runs")
    axes.legend(frameon=False)
    return axes
