"""What labels stand for, as probabilities; the scores expected from these, and how fast each probability moves them.

The probability that a document reaches a grade is a logistic regression on its label, on how high the runs have it and
on its topic. Relevance is written as steps, one for each level that a grade reaches. For every run there is a value for
each topic, the expected score, and a slope for each level and document: what the score gains when the document surely
reaches the level instead of surely not. Both are exact for weighted sums over ranks, and for AP and recall of documents
that are relevant independently (1/R = integral of x^(R-1) over [0, 1], by Gauss and Legendre's rule). For nDCG it is
expected gain over expected ideal gain: an approximation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.errors import UsageError
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.measures import Measure, RankWeighted
from rankbounds.measures.formulas import IdealRatio, is_weighted_sum
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.stats.logistic import expit, fit_logistic

CONSTANT_SD, LABEL_SD = 3.0, 3.0
"""How far coefficients are expected to lie from 0 (for labels: from what holds for all), in logits."""
OTHER_SDS = (0.03, 0.3, 1.0)
"""As much for topics and for how high runs have a document: whichever the judgments make most plausible."""
DRAWN_SD = 1.5
"""As much to see what linearisation leaves out: topics differ more than few judgments of each make plausible, and their
relevant documents stand closer together. Held against real labels."""

NODES = 48
"""Of the rule by which integrals are computed; enough for thousands of relevant documents."""
Scored = tuple[Floats, Floats]
"""The values of topics, and the slopes: levels by documents."""


def check_measure(measure: Measure) -> Measure:
    if is_weighted_sum(measure) and getattr(measure, "by_topic", False):
        raise UsageError(f"{measure} divides by a topic's largest grade, which a sample does not show. Use max_grade=.")
    if not (is_weighted_sum(measure) or isinstance(measure, IdealRatio) or measure.averaged):
        raise UsageError(
            f"Labels cannot be audited for {measure}, only for weighted sums over ranks (RBP, P, DCG), nDCG, AP and "
            "Recall."
        )
    return measure


@dataclass(frozen=True, eq=False)
class Steps:
    """The levels of grades from which relevance is built up, and the facts that gains go by."""

    level: Floats
    facts: TopicFacts

    @classmethod
    def of(cls, grade: Floats, facts: TopicFacts, measure: Measure) -> Steps:
        """The levels of these grades that the measure tells apart; one that nothing reaches if there is none."""
        level = np.unique(grade[grade > 0])
        if not measure.graded:
            level = level[level >= measure.rel][:1]
        return cls(level if level.size else np.array([measure.rel]), facts)

    def reached(self, grade: Floats) -> Floats:
        return (grade >= self.level[:, None]).astype(np.float64)

    def heights(self, measure: Measure) -> Floats:
        """What reaching each level adds to what a document is worth to the measure."""
        grades = np.concatenate(([0.0], self.level))[None, :]
        one_list = Rankings(grades, np.array([grades.size]), np.zeros(1, dtype=np.int64), self.facts)
        worth = measure.worth(one_list)[0]
        if not measure.averaged and worth[0] > 0:
            raise UsageError("Audits need a gain rule that maps grade 0 to 0.")
        return cast(Floats, np.diff(worth))


def expected_scores(measure: Measure, pool: LabelledPool, steps: Steps, chance: Floats) -> Iterator[Scored]:
    """For one run (or family) after the other: values of topics, slopes of documents."""
    if is_weighted_sum(measure) or isinstance(measure, IdealRatio):
        return pool.means(_sums(measure, pool, steps.heights(measure), chance))
    return pool.means(_averages(measure, pool, chance))


def _padded(of_documents: Floats) -> Floats:
    return np.concatenate((of_documents, np.zeros((*of_documents.shape[:-1], 2))), axis=-1)


def _cells(rankings: Rankings, measure: Measure) -> Ints:
    assert rankings.judgment is not None
    return rankings.judgment[:, : measure.depth(rankings)]


def _sums(measure: RankWeighted | IdealRatio, pool: LabelledPool, height: Floats, chance: Floats) -> Iterator[Scored]:
    ideal, ideal_slope = np.ones(pool.number_of_topics), np.zeros(chance.shape)
    if isinstance(measure, IdealRatio):
        most = int(np.bincount(pool.topic).max())
        discount = measure.weights(most if measure.cutoff is None else min(most, measure.cutoff))
        ideal[:] = 0.0
        for level, step in enumerate(height.tolist()):
            expected, slope = _ideal_of_level(pool, chance[level], discount)
            ideal += step * expected
            ideal_slope[level] = step * slope
    inverse = np.divide(1.0, ideal, out=np.zeros(ideal.size), where=ideal > 0)
    worth = _padded(height @ chance)
    for lists in pool.rankings:
        total, weight = np.zeros(pool.number_of_topics), np.zeros(len(pool) + 2)
        for rankings in lists:
            cells = _cells(rankings, measure)
            weights = measure.weights(cells.shape[-1])
            total[rankings.topic] = worth[cells] @ weights
            weight[cells] = weights
        value = total * inverse
        of_list = height[:, None] * (weight[:-2] * inverse[pool.topic])
        yield value, of_list - ideal_slope * (value * inverse)[pool.topic]


def _ideal_of_level(pool: LabelledPool, chance: Floats, discount: Floats) -> tuple[Floats, Floats]:
    share = counts_reaching(pool.topic, chance, pool.number_of_topics, discount.size + 1)
    sums = np.concatenate(([0.0], np.cumsum(discount)))
    sums = np.append(sums, sums[-1])  # of more documents than the depth
    next_place = share[:, :-2] @ discount  # the discount of one document more
    own_place = share[:, 1:-1] @ discount  # of the last one that is there
    slope = (1 - chance) * next_place[pool.topic] + chance * own_place[pool.topic]
    return share @ sums, slope


def counts_reaching(topic: Ints, chance: Floats, topics: int, most: int) -> Floats:
    """By topic, the probabilities that 0, 1, ..., ``most`` or more documents reach a level (Poisson binomial)."""
    order = np.argsort(topic, kind="stable")
    count = np.bincount(topic, minlength=topics)
    place = np.arange(order.size) - np.repeat(np.cumsum(count) - count, count)
    by_place = np.zeros((int(count.max(initial=0)), topics))
    by_place[place, topic[order]] = chance[order]
    share = np.zeros((topics, most + 1))
    share[:, 0] = 1.0
    for reaches in by_place:
        moved = share * reaches[:, None]
        moved[:, -1] = 0.0  # that many or more stay that many or more
        share -= moved
        share[:, 1:] += moved[:, :-1]
    return share


def _averages(measure: Measure, pool: LabelledPool, chance: Floats) -> Iterator[Scored]:
    (relevant,) = chance
    at, weight = np.polynomial.legendre.leggauss(NODES)
    root = (at + 1) / 2
    x, share = (1 - root**2)[:, None], weight * root  # x = 1 - root^2: more places near 1, where large R count
    base = 1 - relevant * (1 - x)
    odds = _padded(relevant / base)
    log_product = np.stack([np.bincount(pool.topic, row, pool.number_of_topics) for row in np.log(base)])
    product = np.exp(log_product) * share[:, None]
    from_number = (1 - x) / base
    squared = _padded(1 / base**2)
    for lists in pool.rankings:
        value, slope = np.zeros(pool.number_of_topics), np.zeros(len(pool) + 2)
        inner = np.zeros(product.shape)
        for rankings in lists:
            cells = _cells(rankings, measure)
            own, rising = _sums_of_odds(measure, odds[:, cells], x[:, :, None])
            inner[:, rankings.topic] = own
            at_topic = product[:, rankings.topic]
            slope[cells] = np.einsum("qt,qtr,qtr->tr", at_topic, rising, squared[:, cells])
            value[rankings.topic] = np.einsum("qt,qt->t", at_topic, own)
        through_number = np.einsum("qd,qd->d", (product * inner)[:, pool.topic], from_number)
        yield value, (slope[:-2] - through_number)[None, :]


def _sums_of_odds(measure: Measure, odds: Floats, x: Floats) -> Scored:
    if measure.averaged != "precisions":
        return odds.sum(axis=-1), np.ones(odds.shape)
    inverse_rank = 1 / np.arange(1, odds.shape[-1] + 1)
    above = np.cumsum(odds, axis=-1) - odds
    with_above = (1 + x * above) * inverse_rank
    at_rank = odds * inverse_rank
    below = at_rank.sum(axis=-1, keepdims=True) - np.cumsum(at_rank, axis=-1)
    return (odds * with_above).sum(axis=-1), with_above + x * below


# ---- calibration ----


def simulate_levels(pool: LabelledPool, rows: Ints, reached: Floats, draws: int, rng: np.random.Generator) -> Ints:
    """How many levels documents may reach (draws by documents): coefficients are drawn, then documents from them."""
    features = Features(pool)
    everything = np.arange(len(pool))
    place = rng.random((draws, len(pool)))
    normal = rng.standard_normal((draws, 2 + features.labels + 2 * features.topics))
    height = np.zeros((draws, len(pool)), dtype=np.int64)
    still: Flags = np.ones((draws, len(pool)), dtype=bool)
    for outcome in reached:
        fit = features.fit(rows, outcome, (DRAWN_SD,))
        middle = features.logits(everything, fit.coefficient)
        # A logit that is unsure stands for a probability nearer to one half; moved back, the draws have the right mean.
        variance = np.square(features.design(everything) @ np.linalg.inv(fit.root).T).sum(axis=1)
        drawn = features.logits(everything, fit.coefficient + np.linalg.solve(fit.root.T, normal.T).T)
        still &= place < expit(drawn + 0.5 * variance * np.tanh(middle / 2))
        height += still
    height[:, rows] = reached.sum(axis=0).astype(np.int64)
    return height


class Features:
    """What is known of a pool's documents before they are judged, as a regression reads it."""

    def __init__(self, pool: LabelledPool) -> None:
        self.label, self.topic, self.support = pool.group, pool.topic, pool.support
        self.labels, self.topics = int(pool.group.max()) + 1, pool.number_of_topics

    def design(self, rows: Ints) -> Floats:
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
