"""How far ties move a run's scores, and the run's place among others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.evaluation.score_differences import better, equal
from rankbounds.measures import parse_measure

SHOWN_PLACES = 10
"""Of the best runs, so many are looked at by themselves."""


@dataclass(frozen=True)
class TieEffect:
    """The mean of a measure under trec_eval's order of ties, over all orders, and between the worst and the best."""

    measure: str
    value: float
    expected: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """How far ties can move the mean."""
        return 0.0 if equal(self.high, self.low) else self.high - self.low


class HasEffects(Protocol):
    """A run, and what ties do to its scores by each measure."""

    @property
    def run(self) -> str:
        """The run's name."""

    @property
    def effects(self) -> Sequence[TieEffect]:
        """By each measure; none where nothing could be scored."""


@dataclass(frozen=True)
class RunPlace:
    """Where a run stands among others by one measure, and where it could stand if ties were broken otherwise."""

    run: str
    effect: TieEffect
    place: int
    expected_place: int
    highest: int
    lowest: int


def places(diagnoses: Sequence[HasEffects], measure: int = 0) -> list[RunPlace]:
    """The runs by their mean of a measure, the best first; equal means share a place.

    A run could stand as high as its best order allows with all others in their worst, and as low as the reverse.
    """
    known = [diagnosis for diagnosis in diagnoses if diagnosis.effects]
    effects = [diagnosis.effects[measure] for diagnosis in known]
    value, expected, low, high = (
        np.array([getattr(effect, name) for effect in effects]) for name in ("value", "expected", "low", "high")
    )
    kind = parse_measure(effects[0].measure)
    worst, best = (high, low) if kind.lower_is_better else (low, high)

    def ahead(others: Floats, mean: float) -> int:
        return int(np.count_nonzero(better(others, mean, kind)))

    ranking = [
        RunPlace(
            diagnosis.run,
            effect,
            place=1 + ahead(value, value[number]),
            expected_place=1 + ahead(expected, expected[number]),
            highest=1 + ahead(worst, best[number]),
            lowest=1 + ahead(np.delete(best, number), worst[number]),
        )
        for number, (diagnosis, effect) in enumerate(zip(known, effects, strict=True))
    ]
    return sorted(ranking, key=lambda standing: (standing.place, standing.run))


def in_words(ranking: Sequence[RunPlace]) -> str:
    """What ties do to the order of the runs, in plain words."""
    if len(ranking) < 2:
        return ""
    measure = ranking[0].effect.measure
    movable = [run for run in ranking if run.highest < run.lowest]
    if not movable:
        return f"By {measure}, no run's place depends on how ties are broken."
    widest = max(movable, key=lambda run: (run.lowest - run.highest, run.effect.width, run.run))
    moved = [run for run in ranking if run.place != run.expected_place]
    top = [run for run in movable if run.place <= SHOWN_PLACES]
    sentences = [
        f"By {measure}, the places of {len(movable)} of {len(ranking)} runs depend on how ties are broken; most of all "
        f"that of {widest.run}, which stands in place {widest.place} and could stand anywhere from {widest.highest} to "
        f"{widest.lowest}."
    ]
    if top:
        shown = ", ".join(f"{run.run} ({run.highest} to {run.lowest})" for run in top[:5])
        sentences.append(
            f"Among the first {SHOWN_PLACES}: {shown}{f' and {len(top) - 5} more' if len(top) > 5 else ''}."
        )
    example = f", such as {moved[0].run} from {moved[0].place} to {moved[0].expected_place}" if moved else ""
    sentences.append(
        f"With the mean over all orders in place of trec_eval's, {len(moved)} run{'s' * (len(moved) != 1)} would "
        f"change place{example}."
    )
    return " ".join(sentences)
