"""Audited leaderboards: the places of runs, such that all comparisons are right at once.

Two runs are separated where the interval of their difference leaves out 0, with intervals so wide that those of all
pairs hold together in the share of samples that the confidence says. A run's place lies between 1 + how many are
separated above it and the number of runs minus how many are separated below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.judging.audits.audit import Audit
from rankbounds.judging.audits.estimates import Estimate
from rankbounds.judging.audits.intervals import critical_for_all, half_widths
from rankbounds.results import Column, Result, place_cell
from rankbounds.stats.rank_intervals import observed_places, places
from rankbounds.stats.significance import pairs_of


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
            order = np.argsort(-merits, kind="stable")
            for run in order.tolist():
                rank, low, high = (int(part[run]) for part in placed)
                numbers = (float(estimate.by_labels[run]), float(estimate.value[run]), rank, low, high)
                cells = (self.audited.runs[run], str(estimate.measure), *numbers, len(self.audited.sample))
                rows.append(dict(zip(self.fields, cells, strict=True)))
        return rows

    def notes(self) -> list[str]:
        """What a reader of the numbers must know, in sentences."""
        number, pairs = len(self.audited.runs), len(pairs_of(len(self.audited.runs))[0])
        apart = []
        for estimate in self.audited.estimates:
            difference, half = differences_of_all(estimate, self.audited.confidence)
            separated = np.count_nonzero(np.abs(difference) > half)
            apart.append(f"{separated:,} of {pairs:,} pairs are separated in {estimate.measure}")
        share = f"{100 * self.audited.confidence:.6g}%"
        return [
            f"In {share} of samples, the intervals of all {number:,} places are right at once. {'; '.join(apart)}.",
            *self.audited.notes(),
        ]


def differences_of_all(estimate: Estimate, confidence: float) -> tuple[Floats, Floats]:
    """The difference of every pair of runs, and half the width of its interval; all hold at once."""
    first, second = pairs_of(len(estimate.value))
    critical = critical_for_all(estimate.deviations, first, second, confidence, np.random.default_rng(0))
    difference, variance, unseen = estimate.errors(first, second)
    return difference, half_widths(variance, unseen, critical)
