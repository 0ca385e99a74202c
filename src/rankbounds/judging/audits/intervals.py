"""How far an estimate may be off: for a size fixed in advance, at every look, for all comparisons and places at once.

All three rest on the same two numbers: the variance of the estimate as its draws show it, and the variance of one draw
that contradicts its label. Where labels are good the first is next to nothing as long as no error was seen, and errors
may be among the documents that nobody judged: the second keeps the interval from ending before them, as the upper limit
for a count of which no case was seen does (Poisson's: minus the logarithm of what the confidence leaves on one side,
3.7 cases at 95%).

- A size fixed in advance: the root of t^2 * variance + limit^2 * unseen, with Student's or the normal quantile t.
- All pairs at once: the same with the quantile of the largest of all (max-T).
- Every look: the boundary of Robbins' normal mixture (Annals of Mathematical Statistics 41, 1970; for estimated
  variances Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Annals of Statistics 52, 2024), with the variance of what
  was never seen as the mixture's. An interval that leaves out the truth at any look at all does so with probability
  1 - confidence.

Two runs are separated where the interval of their difference, all pairs at once, leaves out 0. A run's place lies
between 1 + how many are separated above it and the number of runs minus how many are separated below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.results import Column, Result, place_cell
from rankbounds.stats.rank_intervals import observed_places, places
from rankbounds.stats.significance import pairs_of

if TYPE_CHECKING:
    from rankbounds.judging.audits.audit import Audit
    from rankbounds.judging.audits.estimates import Estimate

MULTIPLIED, AT_ONCE = 2000, 1000
"""How often errors are multiplied by normal numbers, and for how many pairs at once."""
STEP, STEPS = 1.05, 160
"""How finely numbers of judgments are tried, and how many."""


def half_widths(variance: Floats, unseen: Floats, critical: Floats | float) -> Floats:
    """Of intervals for a size that was fixed in advance; ``critical`` is the quantile that the confidence asks for."""
    from scipy.special import log_ndtr

    return np.sqrt(np.square(critical) * variance + np.square(log_ndtr(-np.asarray(critical))) * unseen)


def half_widths_at_any_look(variance: Floats, unseen: Floats, confidence: float) -> Floats:
    """Of intervals that hold at all looks together."""
    mixed = unseen * normal_quantile(confidence) ** 2
    finite = np.isfinite(variance + mixed)
    ratio = np.divide(variance + mixed, mixed, out=np.ones(mixed.shape), where=finite & (mixed > 0))
    return np.where(finite, np.sqrt((variance + mixed) * np.log(ratio / (1 - confidence) ** 2)), np.inf)


def critical_for_all(
    deviations: Floats, first: Ints, second: Ints, confidence: float, rng: np.random.Generator
) -> float:
    """How many standard errors no difference of these pairs exceeds, so often: the largest of all is looked at.

    Runs share the judgments, so that their errors go together: parts of the error are multiplied by normal numbers,
    alike for all runs (Chernozhukov, Chetverikov and Kato, Annals of Statistics 41, 2013).
    """
    errors = deviations @ rng.standard_normal((deviations.shape[1], MULTIPLIED))
    largest = np.zeros(MULTIPLIED)
    for start in range(0, first.size, AT_ONCE):
        one, other = first[start : start + AT_ONCE], second[start : start + AT_ONCE]
        scale = np.sqrt(np.square(deviations[one] - deviations[other]).sum(axis=1))[:, None]
        apart = np.abs(errors[one] - errors[other])
        ratio = np.divide(apart, scale, out=np.zeros(apart.shape), where=scale > 0)
        largest = np.maximum(largest, ratio.max(axis=0, initial=0.0))
    return float(np.quantile(largest, confidence))


def judgments_until(
    half_width: Floats, variance: Floats, unseen: Floats, confidence: float, judged: int, most: Ints
) -> Ints:
    """How many judgments in all make intervals at any look this short, if they are like those so far; at most ``most``.

    A variance falls with the number of judgments, that of one error never seen with its square.
    """
    growth = STEP ** np.arange(STEPS)[:, None]
    enough = half_widths_at_any_look(variance / growth, unseen / growth**2, confidence) <= half_width
    needed = np.ceil(judged * growth[np.argmax(enough, axis=0), 0])
    return np.where(enough.any(axis=0), np.minimum(needed, most), most).astype(np.int64)


def normal_quantile(confidence: float) -> float:
    """Within how many standard deviations of its mean a normal number lies so often."""
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


def differences_of_all(estimate: Estimate, confidence: float) -> tuple[Floats, Floats]:
    """The difference of every pair of runs, and half the width of its interval; all hold at once."""
    first, second = pairs_of(len(estimate.value))
    critical = critical_for_all(estimate.deviations, first, second, confidence, np.random.default_rng(0))
    difference, variance, unseen = estimate.errors(first, second)
    return difference, half_widths(variance, unseen, critical)


@dataclass(frozen=True, eq=False, repr=False)
class AuditedPlaces(Result):
    """Runs by their estimated scores, each with the places that it may have."""

    audited: Audit
    title = "Runs by scores estimated from a model's labels and a judged sample; places hold for all runs at once."
    columns = (
        *map(Column, ("run", "measure", "by_labels", "estimate")),
        Column("rank", "place", place_cell),
        Column("rank_low", None),
        Column("rank_high", None),
        Column("judged"),
    )

    def rows(self) -> list[dict[str, Any]]:
        """A dict per run and measure, the best first: ``run, measure, by_labels, estimate, rank, rank_low, ...``."""
        rows: list[dict[str, Any]] = []
        for estimate in self.audited.estimates:
            first, second = pairs_of(len(self.audited.runs))
            difference, half = differences_of_all(estimate, self.audited.confidence)
            merits = estimate.value * (-1.0 if estimate.measure.lower_is_better else 1.0)
            lead = merits[first] - merits[second]
            placed = observed_places(merits), *places(merits.size, first, second, lead, np.abs(difference) > half)
            for run in np.argsort(-merits, kind="stable").tolist():
                rank, low, high = (int(part[run]) for part in placed)
                numbers = (float(estimate.by_labels[run]), float(estimate.value[run]), rank, low, high)
                cells = (self.audited.runs[run], str(estimate.measure), *numbers, len(self.audited.sample))
                rows.append(dict(zip(self.fields, cells, strict=True)))
        return rows

    def notes(self) -> list[str]:
        """What a reader of the numbers must know, in sentences."""
        share, number = f"{100 * self.audited.confidence:.6g}%", len(self.audited.runs)
        return [
            f"In {share} of samples, the intervals of all {number:,} places are right at once.",
            *self.audited.notes(),
        ][:3]
