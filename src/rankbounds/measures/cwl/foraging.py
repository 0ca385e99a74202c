"""What foragers for information have in common: they stop when they have found enough, or when finding is too slow.

Source: Azzopardi, Thomas and Craswell, Measuring the Utility of Search Engine Result Pages: An Information Foraging
Based Measure, SIGIR 2018.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.cwl.stopping_by_gain import MOST, NOBODY, STEPS, StoppingByGain


def check_odds(measure: StoppingByGain, intercept: str, rationality: str) -> None:
    """Raise unless odds and rationality make sense."""
    if not 0 < getattr(measure, intercept) < np.inf or not 0 <= getattr(measure, rationality) < np.inf:
        raise UsageError(f"{measure.name}: {intercept} must be positive, and {rationality} at least 0.")


def _logistic(log_odds: Any) -> Floats:
    share: Floats = 1 / (1 + np.exp(-np.clip(log_odds, -700, 700)))
    return share


class Goal:
    """C1 = 1 - 1 / (1 + b1 e^((T - y) R1)), where y is what was found."""

    T: float
    b1: float
    R1: float

    def enough(self, found: Floats) -> Floats:
        """The probability of going on for what is missing."""
        return _logistic((self.T - found) * self.R1 + np.log(self.b1))

    def most_with_goal(self, found: Floats) -> tuple[Floats, Floats]:
        """As ``most_beyond``: relevant documents make stopping likelier, others leave it as it is."""
        relevant, reached = np.ones(found.shape), np.ones(found.shape)
        last = self.enough(found)
        for step in range(1, STEPS):
            last = self.enough(found + step)
            reached = reached * last
            relevant += reached
            if reached.max(initial=0.0) < NOBODY:
                break
        relevant += reached * last / np.maximum(1 - last, 1 / MOST)  # the probability only falls
        return np.minimum(relevant, MOST), 1 / np.maximum(1 - self.enough(found), 1 / MOST)


class Rate:
    """C2 = 1 / (1 + b2 e^((A - y/i) R2)), where y/i is the rate at which relevant documents were found so far."""

    A: float
    b2: float
    R2: float

    def fast(self, rank: Floats, found: Floats) -> Floats:
        """The probability of going on at the rate so far."""
        return _logistic((found / rank - self.A) * self.R2 - np.log(self.b2))

    def most_at_rate(self) -> float:
        """How many documents are examined at most, by a user who finds nothing but relevant ones."""
        return float(1 / max(1 - float(self.fast(np.ones(1), np.ones(1))[0]), 1 / MOST))
