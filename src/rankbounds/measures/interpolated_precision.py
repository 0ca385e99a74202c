"""Interpolated precision at points of recall, and its averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.measure import Measure
from rankbounds.rankings import Rankings

POINTS = {11: tuple(tenth / 10 for tenth in range(11)), 3: (0.2, 0.5, 0.8)}


@dataclass(frozen=True)
class IPrec(Measure):
    """The highest precision at any rank where at least this share of the relevant documents has been found.

    The points of a recall-precision curve; 0 where that recall is never reached. As in trec_eval, recall r of R
    documents is reached with floor(r * R + 0.5) of them (version 10; version 9 has 0.9 in place of 0.5).
    """

    recall: float = 0.0
    rel: float = 1.0

    name: ClassVar[str] = "IPrec"
    examples: ClassVar[tuple[str, ...]] = ("IPrec(recall=0)", "IPrec(recall=0.5)", "IPrec(recall=1)")
    always_shown: ClassVar[tuple[str, ...]] = ("recall",)
    trec_names: ClassVar[tuple[str, ...]] = ("iprec_at_recall_{recall:.2f}",)

    def check(self) -> None:
        if not 0 <= self.recall <= 1:
            raise UsageError(f"IPrec: recall must lie between 0 and 1, not {self.recall}.")

    def value(self, rankings: Rankings) -> Floats:
        return interpolated(rankings, self.rel, (self.recall,))[0]


@dataclass(frozen=True)
class IPrecMean(Measure):
    """Interpolated precision averaged over the 11 points of recall 0, 0.1, ..., 1, or over the 3 points 0.2, 0.5, 0.8.

    The standard measure before average precision took its place.
    """

    points: int = 11
    rel: float = 1.0

    name: ClassVar[str] = "IPrecMean"
    examples: ClassVar[tuple[str, ...]] = ("IPrecMean(points=11)", "IPrecMean(points=3)")
    always_shown: ClassVar[tuple[str, ...]] = ("points",)
    trec_names: ClassVar[tuple[str, ...]] = ("11pt_avg",)

    def check(self) -> None:
        if self.points not in POINTS:
            raise UsageError(f"IPrecMean: points must be 11 or 3, not {self.points}.")

    def value(self, rankings: Rankings) -> Floats:
        return np.mean(interpolated(rankings, self.rel, POINTS[self.points]), axis=0)


def interpolated(rankings: Rankings, rel: float, recalls: tuple[float, ...]) -> list[Floats]:
    """For each recall the highest precision from the rank on where it is reached."""
    so_far = rankings.relevant_so_far(rel)
    precision = so_far / np.arange(1, rankings.width + 1)
    number = rankings.num_relevant(rel)
    return [
        np.where(so_far >= np.floor(recall * number + 0.5)[:, None], precision, 0.0).max(axis=-1) for recall in recalls
    ]
