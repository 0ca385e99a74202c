"""Labels as probabilities, calibrated on judgments.

The probability that a document reaches a grade is a logistic regression on its label (a coefficient for each), on how
high the runs have it, and on its topic: a coefficient for each topic, and one for how much it matters there how high
the runs have a document, drawn towards 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.stats.logistic import expit, fit_logistic

CONSTANT_SD, LABEL_SD = 3.0, 3.0
"""How far coefficients are expected to lie from 0 (for labels: from what holds for all), in logits."""
OTHER_SDS = (0.03, 0.3, 1.0)
"""As much for topics and for how high runs have a document: whichever the judgments make most plausible."""
DRAWN_SD = 1.5
"""As much to see what linearisation leaves out: topics differ more than few judgments of each make plausible, and their
relevant documents stand closer together. Held against real labels."""


def calibrate_labels(pool: LabelledPool, rows: Ints, reached: Floats) -> Floats:
    """The probability that each document reaches each level (levels by documents).

    ``rows`` are the judged documents, ``reached`` says for each level (a row) whether they reach it.
    """
    features, everything = Features(pool), np.arange(len(pool))
    return np.stack(
        [expit(features.logits(everything, features.fit(rows, outcome).coefficient)) for outcome in reached]
    )


def simulate_levels(
    pool: LabelledPool,
    rows: Ints,
    reached: Floats,
    draws: int,
    rng: np.random.Generator,
    other_sds: Sequence[float] = OTHER_SDS,
) -> Ints:
    """How many levels each document may reach, drawn again and again (draws by documents); judged ones as judged.

    Coefficients are drawn from what the sample leaves plausible (the normal approximation of their posterior), then
    documents from their probabilities: a topic may turn out richer or poorer than its calibrated labels say.
    """
    features = Features(pool)
    everything = np.arange(len(pool))
    place = rng.random((draws, len(pool)))
    normal = rng.standard_normal((draws, 2 + features.labels + 2 * features.topics))
    height = np.zeros((draws, len(pool)), dtype=np.int64)
    still: Flags = np.ones((draws, len(pool)), dtype=bool)
    for outcome in reached:
        fit = features.fit(rows, outcome, other_sds)
        middle = features.logits(everything, fit.coefficient)
        # A logit that is unsure stands for a probability nearer to one half; moved back, the draws have the right mean.
        shift = 0.5 * fit.variance(features.design(everything)) * np.tanh(middle / 2)
        still &= place < expit(features.logits(everything, fit.drawn(normal)) + shift)
        height += still
    height[:, rows] = reached.sum(axis=0).astype(np.int64)
    return height


class Features:
    """What is known of a pool's documents before they are judged, as a regression reads it."""

    def __init__(self, pool: LabelledPool) -> None:
        self.label, self.topic, self.support = pool.group, pool.topic, pool.support
        self.labels, self.topics = int(pool.group.max()) + 1, pool.number_of_topics

    def design(self, rows: Ints) -> Floats:
        """A row for each document: the constant, its label, the support and its topic."""
        matrix = np.zeros((rows.size, 2 + self.labels + 2 * self.topics))
        place = np.arange(rows.size)
        matrix[:, 0] = 1.0
        matrix[place, 1 + self.label[rows]] = 1.0
        matrix[:, 1 + self.labels] = self.support[rows]
        matrix[place, 2 + self.labels + self.topic[rows]] = 1.0
        matrix[place, 2 + self.labels + self.topics + self.topic[rows]] = self.support[rows]
        return matrix

    def fit(self, rows: Ints, outcome: Floats, other_sds: Sequence[float] = OTHER_SDS) -> Fit:
        """The coefficients that these judged documents make most plausible (a normal prior on each)."""
        matrix = self.design(rows)
        fits: list[Fit] = []
        for other_sd in other_sds:
            penalty = 1 / np.square((CONSTANT_SD, *[LABEL_SD] * self.labels, *[other_sd] * (1 + 2 * self.topics)))
            near = fits[-1].coefficient if fits else None
            coefficient, curvature = fit_logistic(matrix, outcome, penalty, start=near)
            root = np.linalg.cholesky(curvature)
            logit = matrix @ coefficient
            likelihood = outcome @ logit - np.logaddexp(0.0, logit).sum()
            prior = 0.5 * (np.log(penalty).sum() - penalty @ coefficient**2)
            fits.append(Fit(coefficient, root, float(likelihood + prior - np.log(np.diag(root)).sum())))
        return max(fits, key=lambda fit: fit.plausibility)

    def logits(self, rows: Ints, coefficient: Floats) -> Floats:
        """What the coefficients say of these documents; a row for each row of coefficients."""
        parts = [1, 1 + self.labels, 2 + self.labels, 2 + self.labels + self.topics]
        constant, of_label, support, of_topic, in_topic = np.split(coefficient, parts, axis=-1)
        topic = self.topic[rows]
        rising = (support + in_topic[..., topic]) * self.support[rows]
        return constant + of_label[..., self.label[rows]] + of_topic[..., topic] + rising


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients, and how sure they are."""

    coefficient: Floats
    root: Floats
    """Of the curvature of the plausibility (Cholesky's): the inverse of the coefficients' covariance."""
    plausibility: float
    """Of the judgments, over all coefficients (Laplace's approximation), in logarithms."""

    def drawn(self, normal: Floats) -> Floats:
        """Coefficients that are as plausible, from independent normal numbers (a row for each draw)."""
        return self.coefficient + np.linalg.solve(self.root.T, normal.T).T

    def variance(self, matrix: Floats) -> Floats:
        """Of the logit of each row of a design."""
        return np.square(matrix @ np.linalg.inv(self.root).T).sum(axis=1)
