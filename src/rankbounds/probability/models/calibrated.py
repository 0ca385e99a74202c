"""Probabilities of relevance that were held against documents whose relevance is known.

The probabilities of a run's unjudged documents may all be too high or too low: on the scale of log odds they are off by
a shift of their own for each run, of mean 0 and a standard deviation that is known. An interval reaches as many
standard deviations as the calibration found to be needed, infinitely many where it cannot tell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum, weights_by_rank
from rankbounds.probability.documents import UnjudgedDocuments


class Calibrated(ABC):
    """Probabilities of relevance for one measure, with how far they may be off."""

    @abstractmethod
    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """Return the probability of each."""

    def features_of(self, unjudged: UnjudgedDocuments) -> Floats:
        """Return what fitted coefficients multiply, a row for each; no columns where nothing was fitted."""
        return np.zeros((unjudged.rank.size, 0))

    def covariance(self, _run: str) -> Floats:
        """Return that of the fitted coefficients."""
        return np.zeros((0, 0))

    @abstractmethod
    def shift(self, run: str) -> float:
        """Return the standard deviation of the shift of a run's log odds."""

    @abstractmethod
    def reach(self, run: str, confidence: float) -> float:
        """Return how many standard deviations an interval reaches to either side."""

    def stretch(self, _run: str) -> tuple[float, float]:
        """Return by how much a predicted change of a drawn score is multiplied, and the standard error of that."""
        return 1.0, 0.0

    def spread(self) -> float:
        """Return how many times as far as drawn the scores of topics lie from their means."""
        return 1.0

    def out_of_sight(self, _run: str) -> bool:
        """Return whether a run's score cannot be told from what the calibration saw; its certain bounds are left."""
        return False

    def too_deep(self, rank: Ints) -> Flags:
        """Return at which ranks documents do not count."""
        return np.zeros(rank.shape, dtype=bool)

    def reach_of_pair(self, run: str, against: str, confidence: float) -> float:
        """Return the same for the difference of two runs: at least the larger one of theirs."""
        return max(self.reach(run, confidence), self.reach(against, confidence))


def weight_of_ranks(measure: Measure, rank: Ints) -> Floats:
    """Return what ranks count in a calibration.

    For a weighted sum over ranks their weights; for other measures, the discount of DCG down to the measure's depth.
    """
    if is_weighted_sum(measure) and not getattr(measure, "by_topic", False):
        return weights_by_rank(measure, rank)
    inside = rank <= (measure.cutoff or rank.max(initial=1))
    return np.where(inside, 1 / np.log2(np.maximum(rank, 1) + 1), 0.0)


def stretch_of(excess: float, error: float) -> tuple[float, float]:
    """Return by how much predicted changes are multiplied that were found too small by this share of them.

    As far as the excess is more than its standard error (the positive part of James and Stein's rule).
    """
    kept = max(0.0, 1 - (error / excess) ** 2) if excess else 0.0
    return max(0.0, 1 + kept * excess), error
