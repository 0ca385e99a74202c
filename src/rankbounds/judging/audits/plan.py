"""How many judgments an audit of a wanted width needs, by rehearsing it.

Collections are drawn from what the labels stand for, before anybody judged by a prior, after a pilot as the pilot
leaves plausible. In each one documents are drawn, judged as the collection says and audited, and the number of
judgments is the one after which the audits' intervals have the wanted width on average.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.choices import check_share
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.judging.audits.audit import Audit
from rankbounds.judging.audits.estimates import CalibratedPool
from rankbounds.judging.audits.expected_scores import check_measure, simulate_levels
from rankbounds.judging.audits.labelled_pool import JudgedSample, LabelledPool
from rankbounds.judging.audits.sample import asked, draw_in_order, prior_steps, sizes_of_question
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.phrases import counted
from rankbounds.results import Column, Result, count

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.evaluation.options import OrderOptions

REHEARSALS = 4
"""Collections that are drawn."""
MOST_RUNS = 6
"""More runs are not rehearsed: these stand for the others."""
ROUGH = 1.24, 2.24
"""How many times as wide as planned intervals of AP were: the mean over pilots, and the most of single pairs."""
GROWTH = 1.1
"""Numbers of judgments are tried in these steps; between them the width is taken to fall evenly, in logarithms."""


@dataclass(frozen=True, eq=False, repr=False)
class AuditPlan(Result):
    """How many judgments are needed for intervals of a wanted half-width."""

    planned: list[dict[str, Any]]
    confidence: float
    pilot: int | None
    """How many judgments the pilot has; None where nobody has judged."""
    rough: tuple[str, ...] = ()
    """The measures whose number of judgments is about right only."""
    title = "How many judgments intervals of a given half-width need."
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
            "No document is judged yet, so the plan assumes that documents of the lowest label are relevant with "
            "probability 0.15 and those of the highest with 0.65; a pilot sample shows how good the labels are."
        )
        if self.pilot is not None:
            basis = f"The uncertainty of the labels is estimated from a pilot of {counted(self.pilot, 'judgment')}."
        found = [
            f"{basis} The half-width is the expected one of {100 * self.confidence:.6g}% intervals (for several runs "
            "or pairs, their root mean square)."
        ]
        if self.rough:
            found.append(
                f"{', '.join(self.rough)}: about so many judgments. With pilots, intervals of AP were {ROUGH[0]} times "
                f"as wide as planned on average, and up to {ROUGH[1]} times for single pairs."
            )
        return found


def plan_audit(
    labels: QrelsLike,
    runs: RunsLike,
    measures: MeasuresLike = DEFAULT_MEASURES[0],
    *,
    half_width: float,
    sample: Any = None,
    compare: tuple[str, str] | str | None = None,
    confidence: float = 0.95,
    **options: Unpack[OrderOptions],
) -> AuditPlan:
    """Plan how many human judgments an audit needs for intervals of a wanted half-width.

    Audits are rehearsed on drawn collections. Without a pilot these rest on the prior of ``draw_sample`` of how far
    labels can be trusted.

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
    2
    """
    check_share("The confidence", confidence)
    if not half_width > 0:
        raise UsageError(f"The half-width must be positive, not {half_width:g}.")
    chosen = [check_measure(measure) for measure in parse_measures(measures)]
    pool = LabelledPool.of(labels, runs, options).about(compare)
    pilot = None if sample is None else JudgedSample.of(sample, pool)
    planned = []
    for measure in chosen:
        differences = compare is not None
        rehearsals = list(rehearse(measure, pool, pilot, differences=differences))
        needed = judgments_needed(measure, rehearsals, half_width, confidence, differences=differences)
        planned.append(
            {
                "question": asked(compare, pool),
                "measure": str(measure),
                "half_width": half_width,
                "judgments": needed,
                "pool": len(pool),
                "basis": "prior" if pilot is None else "pilot",
            }
        )
    rough = tuple(str(measure) for measure in chosen if measure.difference_argument == "averaged_precisions")
    return AuditPlan(planned, confidence, None if pilot is None else len(pilot), rough)


def rehearse(
    measure: Measure, pool: LabelledPool, pilot: JudgedSample | None, *, differences: bool
) -> Iterator[CalibratedPool]:
    """Yield collections that may be the true one, each judged in an order that may be drawn."""
    rng = np.random.default_rng(0)
    steps, chance = prior_steps(measure, pool)
    if pilot is None:
        place = rng.random((REHEARSALS, 1, len(pool)))
        heights = (place < chance).sum(axis=1)
    else:
        calibrated = CalibratedPool.of(pool, pilot, measure)
        steps = calibrated.steps
        heights = simulate_levels(pool, pilot.row, calibrated.reached, REHEARSALS, rng)
    sizes = sizes_of_question(measure, pool, differences=differences)
    few = pool.of_runs(rng.permutation(len(pool.names))[:MOST_RUNS].tolist())
    grades = np.concatenate(([0.0], steps.level))
    for height in heights:
        order, probability = draw_in_order(sizes, rng)
        judged = JudgedSample.drawn(pool, order, probability, grades[height[order]])
        yield CalibratedPool.of(few, judged, measure)


def judgments_needed(
    measure: Measure, rehearsals: list[CalibratedPool], half_width: float, confidence: float, *, differences: bool
) -> int:
    """The fewest judgments for which half the interval's width is expected to be no more than this."""
    most = len(rehearsals[0].judged)
    sizes = [*range(2, min(10, most))]
    while sizes and (larger := math.ceil(sizes[-1] * GROWTH)) < most:
        sizes.append(larger)
    expected: dict[int, float] = {most: 0.0}

    def width(number: int) -> float:
        """The mean over rehearsals of half the width; in each, the root mean square over runs or pairs."""
        if number not in expected:
            widths = []
            for first in (rehearsal.first(number) for rehearsal in rehearsals):
                estimates, runs = [first.estimate(measure, None)], first.pool.names
                rows = Audit(runs, estimates, first.judged, confidence, "judgments", differences).rows()
                widths.append(math.sqrt(np.mean([(row["ci_high"] - row["ci_low"]) ** 2 for row in rows])) / 2)
            expected[number] = float(np.mean(widths))
        return expected[number]

    place = bisect_left(sizes, True, key=lambda number: width(number) <= half_width)
    if place == 0 or place == len(sizes):
        return sizes[0] if sizes and place == 0 else most
    low, high = sizes[place - 1], sizes[place]
    slope = math.log(width(low) / max(width(high), 1e-12)) / math.log(high / low)
    return min(high, math.ceil(low * (width(low) / half_width) ** (1 / slope)))
