"""How many judgments an audit of a wanted width needs, from the labels alone or from a pilot sample.

The variance that a sample of n documents will have is sum of s_i * (1/pi_i - 1): pi_i is the probability with which
the document would be drawn, and s_i its weight squared times how unsure its label is. Before anybody judged, how unsure
labels are is a prior; a pilot sample tells it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_share
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.judging.audits.estimates import CalibratedPool
from rankbounds.judging.audits.expected_scores import Steps, check_measure, expected_scores
from rankbounds.judging.audits.judged_sample import JudgedSample
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.judging.audits.sample import (
    ROUNDING,
    SquaresOverRuns,
    asked,
    inclusion_probabilities,
    prior_steps,
    sizes_of_question,
)
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.results import Column, Result, count

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.evaluation.options import OrderOptions


@dataclass(frozen=True, eq=False, repr=False)
class AuditPlan(Result):
    """How many judgments are needed for intervals of a wanted half-width."""

    planned: list[dict[str, Any]]
    confidence: float
    pilot: int | None
    """How many judgments the pilot has; None where nobody has judged."""
    columns = (
        *map(Column, ("question", "measure")),
        Column("half_width", "half-width"),
        count("judgments"),
        count("pool", "of labelled"),
        Column("basis", None),
    )

    def rows(self) -> list[dict[str, Any]]:
        """A dict per measure: ``question, measure, half_width, judgments, pool, basis``."""
        return self.planned

    def notes(self) -> list[str]:
        """What a reader of the numbers must know, in sentences."""
        basis = (
            "Nobody has judged yet: the plan assumes that documents of the lowest label are relevant with probability "
            "0.15 and those of the highest with 0.65. Good labels need fewer judgments; a pilot sample shows how many."
        )
        if self.pilot is not None:
            basis = f"The uncertainty of the labels is estimated from a pilot of {self.pilot:,} judgments."
        return [
            f"{basis} Half-widths are expected ones of {100 * self.confidence:.6g}% intervals, and for several runs or "
            "pairs their root mean square: single intervals will be wider or narrower."
        ]


def plan_audit(
    labels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike = "RBP(p=0.8)",
    *,
    half_width: float,
    sample: Any = None,
    compare: tuple[str, str] | str | None = None,
    confidence: float = 0.95,
    **options: Unpack[OrderOptions],
) -> AuditPlan:
    """Plan how many human judgments an audit needs for intervals of a wanted half-width.

    An expectation: without a pilot it rests on the prior of ``draw_sample`` of how far labels can be trusted, and what
    linearisation leaves out of nDCG, AP and Recall is not planned for.

    Parameters
    ----------
    labels, runs, measures, confidence, **options
        As in ``audit``.
    half_width
        Half the width that intervals should have.
    sample
        A pilot sample that people judged, as ``audit`` takes it; None: nobody has judged yet.
    compare
        What is asked, as in ``draw_sample``: two names, ``"all"`` pairs, or (None) the score of every run.

    Returns
    -------
    AuditPlan
        ``rows()`` are dicts ``question, measure, half_width, judgments, pool, basis`` (``prior`` or ``pilot``).

    Examples
    --------
    >>> import rankbounds as rb
    >>> labels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
    >>> plan = rb.judging.plan_audit(labels, {"run": {"q": ["a", "b", "c", "d"]}}, "P@4", half_width=0.3)
    >>> plan.rows()[0]["judgments"]
    3
    """
    check_share("The confidence", confidence)
    if not half_width > 0:
        raise UsageError(f"The half-width must be positive, not {half_width:g}.")
    chosen = [check_measure(measure) for measure in parse_measures(measures)]
    pool = LabelledPool.of(labels, runs, options).about(compare)
    pilot = None if sample is None else JudgedSample.of(sample, pool)
    planned = []
    for measure in chosen:
        if pilot is None:
            steps, chance = prior_steps(measure, pool)
        else:
            calibrated = CalibratedPool.of(pool, pilot, measure)
            steps, chance = calibrated.steps, calibrated.calibrated
        sizes = sizes_of_question(measure, pool, differences=compare is not None)
        spread = spread_of_question(measure, pool, steps, chance, differences=compare is not None)
        planned.append(
            {
                "question": asked(compare, pool),
                "measure": str(measure),
                "half_width": half_width,
                "judgments": judgments_needed(spread, sizes, half_width, confidence),
                "pool": len(pool),
                "basis": "prior" if pilot is None else "pilot",
            }
        )
    return AuditPlan(planned, confidence, None if pilot is None else len(pilot))


def judgments_needed(spread: Floats, sizes: tuple[Floats, ...], half_width: float, confidence: float) -> int:
    """The fewest judgments for which half the interval's width is expected to be no more than this."""
    from scipy.special import ndtri

    counting = spread > 0

    def reached(judgments: int) -> bool:
        probability = inclusion_probabilities(sizes, judgments)[counting]
        with np.errstate(divide="ignore"):  # documents that would not be drawn at all: the width is infinite
            variance = float((spread[counting] * (1 / probability - 1)).sum())
        return math.sqrt(variance) * float(ndtri((1 + confidence) / 2)) <= half_width

    return 1 + bisect_left(range(1, spread.size), True, key=reached)


def spread_of_question(
    measure: Measure, pool: LabelledPool, steps: Steps, chance: Floats, *, differences: bool
) -> Floats:
    """Each document's variance in what is asked: what it adds at each grade, the mean square over runs or pairs."""
    reached = np.minimum.accumulate(chance, axis=0)
    share = -np.diff(reached, axis=0, prepend=1.0, append=0.0)  # of documents whose grade is just this one
    added, means = SquaresOverRuns(), SquaresOverRuns()
    for _, slope in expected_scores(measure, pool, steps, chance):
        of_grades = np.concatenate((np.zeros((1, len(pool))), np.cumsum(slope, axis=0))) / pool.number_of_topics
        added.add(of_grades)
        means.add((share * of_grades).sum(axis=0))
    spread = (share * added.mean(differences=differences)).sum(axis=0) - means.mean(differences=differences)
    if differences:
        spread *= 2 * added.runs / (added.runs - 1)
    return np.where(spread > ROUNDING * spread.max(initial=0.0), spread, 0.0)
