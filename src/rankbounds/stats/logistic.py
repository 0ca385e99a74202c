"""Logistic regression with a normal prior on each coefficient, by Newton's method."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats

STEPS, CLOSE, LONGEST_STEP = 100, 1e-10, 2.0
"""Of Newton's method: how many steps at most, how short the last one is, how far one moves a coefficient at most."""


def expit(logit: Floats) -> Floats:
    """Return the probability that has these log odds."""
    from scipy import special

    probability: Floats = special.expit(logit)
    return probability


def fit_logistic(features: Floats, outcome: Floats, penalty: Floats) -> tuple[Floats, Floats]:
    """Fit the most plausible coefficients; return them and the curvature of minus the log posterior there.

    ``outcome`` lies between 0 and 1; ``penalty`` is 1 / variance of the prior of each coefficient, whose mean is 0.
    """
    coefficients = np.zeros(features.shape[1])
    for _ in range(STEPS):
        probability = expit(features @ coefficients)
        curvature = (features.T * (probability * (1 - probability))) @ features + np.diag(penalty)
        step = np.linalg.solve(curvature, features.T @ (outcome - probability) - penalty * coefficients)
        longest = np.abs(step).max()
        coefficients = coefficients + step / max(1.0, longest / LONGEST_STEP)
        if longest < CLOSE:
            break
    return coefficients, curvature
