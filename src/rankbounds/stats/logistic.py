"""Logistic regression with a normal prior on each coefficient, by Newton's method."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints

STEPS, CLOSE, LONGEST_STEP = 100, 1e-10, 2.0
"""Of Newton's method: how many steps at most, how short the last one is, how far one moves a coefficient at most."""


def expit(logit: Floats) -> Floats:
    from scipy import special

    probability: Floats = special.expit(logit)
    return probability


def fit_logistic(
    features: Floats,
    outcome: Floats,
    penalty: Floats,
    weight: Floats | float = 1.0,
    start: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Fit coefficients with priors of variance 1 / ``penalty``; return them and the curvature of the loss there."""
    coefficients = np.zeros(features.shape[1]) if start is None else start
    for _ in range(STEPS):
        probability = expit(features @ coefficients)
        curvature = (features.T * (weight * probability * (1 - probability))) @ features + np.diag(penalty)
        step = np.linalg.solve(curvature, features.T @ (weight * (outcome - probability)) - penalty * coefficients)
        longest = np.abs(step).max()
        coefficients = coefficients + step / max(1.0, longest / LONGEST_STEP)
        if longest < CLOSE:
            break
    return coefficients, curvature


def robust_covariance(features: Floats, errors: Floats, cluster: Ints, curvature: Floats) -> Floats:
    """The covariance of fitted coefficients, with dependence of the errors inside clusters allowed for."""
    score = np.zeros((int(cluster.max()) + 1, features.shape[1]))
    np.add.at(score, cluster, features * errors[:, None])
    bread = np.linalg.inv(curvature)
    return bread @ (score.T @ score) @ bread
