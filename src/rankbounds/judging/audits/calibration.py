"""Labels as probabilities, calibrated on a sample of judgments and cross-fitted.

The probability that a document reaches a grade is a logistic regression on its label (a coefficient for each), on how
high the runs have it, and on its topic (a coefficient for each, drawn towards 0). Documents are dealt into folds; those
of a fold are calibrated on the judgments of the others, so that no judgment has a say in its own calibration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.stats.logistic import expit, fit_logistic

FOLDS = 10
CONSTANT_SD, LABEL_SD = 3.0, 3.0
"""How far coefficients are expected to lie from 0 (for labels: from what holds for all), in logits."""
OTHER_SDS = (0.03, 0.3, 1.0)
"""As much for topics and for how high runs have a document: whichever the judgments make most plausible."""


def calibrate_labels(pool: LabelledPool, rows: Ints, reached: Floats) -> Floats:
    """The probability that each document reaches each level (levels by documents).

    ``rows`` are the judged documents, ``reached`` says for each level (a row) whether they reach it.
    """
    fold = folds(len(pool))
    features = Features(pool)
    chance = np.empty((reached.shape[0], len(pool)))
    for level, outcome in enumerate(reached):
        other_sds = (features.fit(rows, outcome).other_sd,)
        for number in range(FOLDS):
            others, mine = fold[rows] != number, np.flatnonzero(fold == number)
            fit = features.fit(rows[others], outcome[others], other_sds)
            chance[level, mine] = expit(features.logits(mine, fit.coefficient))
    return chance


def simulate_levels(pool: LabelledPool, rows: Ints, reached: Floats, draws: int, rng: np.random.Generator) -> Ints:
    """How many levels each document may reach, drawn again and again (draws by documents); judged ones as judged.

    Coefficients are drawn from what the sample leaves plausible (the normal approximation of their posterior), then
    documents from their probabilities: a topic may turn out richer or poorer than its calibrated labels say.
    """
    features = Features(pool)
    everything = np.arange(len(pool))
    place = rng.random((draws, len(pool)))
    normal = rng.standard_normal((draws, 2 + features.labels + features.topics))
    height = np.zeros((draws, len(pool)), dtype=np.int64)
    still: Flags = np.ones((draws, len(pool)), dtype=bool)
    for outcome in reached:
        fit = features.fit(rows, outcome)
        middle = features.logits(everything, fit.coefficient)
        # A logit that is unsure stands for a probability nearer to one half; moved back, the draws have the right mean.
        shift = 0.5 * fit.variance(features.design(everything)) * np.tanh(middle / 2)
        still &= place < expit(features.logits(everything, fit.drawn(normal)) + shift)
        height += still
    height[:, rows] = reached.sum(axis=0).astype(np.int64)
    return height


def folds(documents: int) -> Ints:
    """The fold of each document: dealt at random, always in the same way."""
    return np.random.default_rng(0).permutation(documents) % FOLDS


class Features:
    """What is known of a pool's documents before they are judged, as a regression reads it."""

    def __init__(self, pool: LabelledPool) -> None:
        self.label, self.topic, self.support = pool.group, pool.topic, pool.support
        self.labels, self.topics = int(pool.group.max()) + 1, pool.number_of_topics

    def design(self, rows: Ints) -> Floats:
        """A row for each document: the constant, its label, the support and its topic."""
        matrix = np.zeros((rows.size, 2 + self.labels + self.topics))
        place = np.arange(rows.size)
        matrix[:, 0] = 1.0
        matrix[place, 1 + self.label[rows]] = 1.0
        matrix[:, 1 + self.labels] = self.support[rows]
        matrix[place, 2 + self.labels + self.topic[rows]] = 1.0
        return matrix

    def fit(self, rows: Ints, outcome: Floats, other_sds: Sequence[float] = OTHER_SDS) -> Fit:
        """The coefficients that these judged documents make most plausible (a normal prior on each)."""
        matrix = self.design(rows)
        fits = []
        for other_sd in other_sds:
            penalty = 1 / np.square((CONSTANT_SD, *[LABEL_SD] * self.labels, *[other_sd] * (1 + self.topics)))
            coefficient, curvature = fit_logistic(matrix, outcome, penalty)
            root = np.linalg.cholesky(curvature)
            logit = matrix @ coefficient
            likelihood = outcome @ logit - np.logaddexp(0.0, logit).sum()
            prior = 0.5 * (np.log(penalty).sum() - penalty @ coefficient**2)
            fits.append(Fit(coefficient, root, float(likelihood + prior - np.log(np.diag(root)).sum()), other_sd))
        return max(fits, key=lambda fit: fit.plausibility)

    def logits(self, rows: Ints, coefficient: Floats) -> Floats:
        """What the coefficients say of these documents; a row for each row of coefficients."""
        constant, of_label, support, of_topic = np.split(coefficient, [1, 1 + self.labels, 2 + self.labels], axis=-1)
        return (
            constant + support * self.support[rows] + of_label[..., self.label[rows]] + of_topic[..., self.topic[rows]]
        )


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients, and how sure they are."""

    coefficient: Floats
    root: Floats
    """Of the curvature of the plausibility (Cholesky's): the inverse of the coefficients' covariance."""
    plausibility: float
    """Of the judgments, over all coefficients (Laplace's approximation), in logarithms."""
    other_sd: float

    def drawn(self, normal: Floats) -> Floats:
        """Coefficients that are as plausible, from independent normal numbers (a row for each draw)."""
        return self.coefficient + np.linalg.solve(self.root.T, normal.T).T

    def variance(self, matrix: Floats) -> Floats:
        """Of the logit of each row of a design."""
        return np.square(np.linalg.solve(self.root, matrix.T)).sum(axis=0)
