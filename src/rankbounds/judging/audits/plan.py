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
from rankbounds.errors import UsageError
from rankbounds.judging.audits.estimates import CalibratedPool, student_quantile
from rankbounds.judging.audits.expected_scores import Steps, check_measure, expected_scores
from rankbounds.judging.audits.judged_sample import JudgedSample
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.judging.sample import asked, inclusion_probabilities, prior_steps, sizes_of_question
from rankbounds.measures import Measure, parse_measures
from rankbounds.results import Column, Result, count

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.evaluation.options import OrderOptions

PRIOR, PILOT = "prior", "pilot"
MANY = 1e6
"""Degrees of freedom of a normal distribution."""


@dataclass(frozen=True, eq=False)
class PlannedMeasure:
    """One measure: what each document adds to the variance, and how probably it would be drawn."""

    measure: Measure
    question: str
    spread: Floats
    sizes: tuple[Floats, ...]

    def half_width(self, judgments: int, confidence: float) -> float:
        """What half the interval's width is expected to be."""
        probability = inclusion_probabilities([*self.sizes, np.ones(self.spread.size)], judgments)
        counting = self.spread > 0
        variance = float((self.spread[counting] * (1 / probability[counting] - 1)).sum()) if counting.any() else 0.0
        return math.sqrt(variance) * float(student_quantile(confidence, np.array(MANY)))

    def judgments(self, half_width: float, confidence: float) -> int:
        """The fewest judgments for which it is no more than this."""

        def reached(judgments: int) -> bool:
            with np.errstate(divide="ignore"):  # documents that would not be drawn at all: the width is infinite
                return self.half_width(judgments, confidence) <= half_width

        return 1 + bisect_left(range(1, self.spread.size), True, key=reached)


@dataclass(frozen=True, eq=False, repr=False)
class AuditPlan(Result):
    """How many judgments are needed for intervals of a wanted half-width."""

    planned: list[PlannedMeasure]
    half_width: float
    confidence: float
    pool: int
    basis: str
    pilot: int
    columns = (
        *map(Column, ("question", "measure")),
        Column("half_width", "half-width"),
        count("judgments"),
        count("pool", "of labelled"),
        Column("basis", None),
    )

    def rows(self) -> list[dict[str, Any]]:
        """A dict per measure: ``question, measure, half_width, judgments, pool, basis``."""
        return [
            {
                "question": one.question,
                "measure": str(one.measure),
                "half_width": self.half_width,
                "judgments": one.judgments(self.half_width, self.confidence),
                "pool": self.pool,
                "basis": self.basis,
            }
            for one in self.planned
        ]

    def notes(self) -> list[str]:
        """What a reader of the numbers must know, in sentences."""
        if self.basis == PRIOR:
            basis = (
                "Nobody has judged yet: a document of the lowest label is taken to be relevant with probability 0.15, "
                "one of the highest with 0.65. A good judge needs fewer judgments, and a pilot sample tells."
            )
        else:
            basis = f"How unsure labels are is read off a pilot of {self.pilot:,} judgments."
        return [
            f"{basis} Half-widths are of {self.confidence:.6g} intervals, expected, and of several runs or pairs the "
            "root mean square: single ones will be wider or narrower."
        ]


def plan_audit(
    labels: Any,
    runs: Any,
    measures: Any = "RBP(p=0.8)",
    *,
    half_width: float,
    sample: Any = None,
    compare: tuple[str, str] | str | None = None,
    confidence: float = 0.95,
    **options: Unpack[OrderOptions],
) -> AuditPlan:
    """How many human judgments an audit needs for intervals of a wanted half-width.

    Parameters
    ----------
    labels, runs, measures
        As in ``audit``.
    half_width
        Half the width that intervals should have.
    sample
        A pilot sample that people judged, as ``audit`` takes it; None: nobody has judged yet.
    compare
        What is asked, as in ``draw_sample``: two names, ``"all"`` pairs, or (None) the score of every run.
    confidence, **options
        As in ``audit``.

    Returns
    -------
    AuditPlan
        ``rows()`` are dicts ``question, measure, half_width, judgments, pool, basis`` (``prior`` or ``pilot``).

    Notes
    -----
    An expectation, not a promise: without a pilot it rests on a prior of how far labels can be trusted (see
    ``draw_sample``). What linearisation leaves out of nDCG, AP and Recall is not planned for.

    Examples
    --------
    >>> import rankbounds as rb
    >>> labels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
    >>> plan = rb.plan_audit(labels, {"run": {"q": ["a", "b", "c", "d"]}}, "P@4", half_width=0.3)
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
        spread = spread_of_question(measure, pool, steps, chance, differences=compare is not None)
        sizes = sizes_of_question(measure, pool, differences=compare is not None)
        planned.append(PlannedMeasure(measure, asked(compare, pool), spread, sizes))
    return AuditPlan(
        planned,
        half_width,
        confidence,
        len(pool),
        PRIOR if pilot is None else PILOT,
        0 if pilot is None else len(pilot),
    )


def spread_of_question(
    measure: Measure, pool: LabelledPool, steps: Steps, chance: Floats, *, differences: bool
) -> Floats:
    """Each document's variance in what is asked: what it adds at each grade, the mean square over runs or pairs."""
    reached = np.minimum.accumulate(chance, axis=0)
    share = -np.diff(reached, axis=0, prepend=1.0, append=0.0)  # of documents whose grade is just this one
    number_of_runs = len(pool.names)
    total, squares = np.zeros(share.shape), np.zeros(share.shape)
    middle, middle_squares = np.zeros(len(pool)), np.zeros(len(pool))
    for _, slope in expected_scores(measure, pool, steps, chance):
        added = np.concatenate((np.zeros((1, len(pool))), np.cumsum(slope, axis=0))) / pool.number_of_topics
        mean = (share * added).sum(axis=0)
        total, squares = total + added, squares + added**2
        middle, middle_squares = middle + mean, middle_squares + mean**2
    if differences:
        pairs = 2 * number_of_runs / (number_of_runs - 1)
        squares = pairs * (squares - total**2 / number_of_runs)
        middle_squares = pairs * (middle_squares - middle**2 / number_of_runs)
    spread = ((share * squares).sum(axis=0) - middle_squares) / number_of_runs
    return np.where(spread > 1e-12 * spread.max(initial=0.0), spread, 0.0)
