"""Estimates of scores from labels and documents that people judged in a random order.

Each judgment gives X = G + D_i (h_i - f_i) / p_i: G is the score expected from the judgments before it and the labels
calibrated on them, D_i how much it moves with document i, which was drawn with probability p_i, h_i what people say and
f_i what the label stood for. X is unbiased whatever the labels are (Des Raj, Journal of the American Statistical
Association 51, 1956; labels as side information: Shekhar and others, UAI 2023). The estimate is the mean of all X, each
weighted by the inverse of its expected variance; the X minus their mean are martingale differences. nDCG, AP and Recall
are linearised, and what that leaves out is seen in collections drawn from the calibrated labels: its mean is added to
the estimate, its spread to the error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.qrels import Qrels
from rankbounds.judging.audits.expected_scores import Features, Steps, expected_scores, simulate_levels
from rankbounds.judging.audits.labelled_pool import JudgedSample, LabelledPool
from rankbounds.judging.audits.sample import prior_chances
from rankbounds.measures import Measure
from rankbounds.measures.formulas import IdealRatio, is_weighted_sum
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.stats.logistic import expit

DESIGN, LINEARISED = "design", "linearised"
FIRST_FIT, GROWTH = 10, 1.25
"""After how many judgments labels are calibrated for the first time, and by how much their number grows until again."""
DRAWS = 40
"""Collections drawn to see what linearisation leaves out."""
CAUTION, CAUTION_OF_IDEAL = 3.0, 2.0
"""What linearisation leaves out varies more than drawn collections say, in which documents of a topic hang together by
its richness alone: held against real labels, about so many times more. The second is for ratios to an ideal (nDCG)."""
LEAST_LEFT, LEAST_UNSURE = 1e-6, 1e-3
"""Less is never taken for what is left to draw from and for how unsure labels are, so that weights are numbers."""
UNSEEN = 3.0
"""What was never seen among n draws has a share of up to about this over n (rule of three)."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """One measure of all runs: what each judgment says of the score, in the order of judging."""

    measure: Measure
    by_labels: Floats
    """Of each run, what the labels alone claim; NaN where they cannot be read."""
    single: Floats
    """Runs by judgments: the unbiased estimate that each draw gives."""
    reach: Floats
    """Runs by judgments: how far an error of the label would have moved that."""
    weight: Floats
    """The weight of each judgment in the mean."""
    value: Floats
    """The estimate of each run."""
    remainder: Floats | None
    """Runs by draws: what linearisation may leave out of the mean over topics; None for weighted sums."""
    known: Floats
    """Of each run, the score that is expected with all judgments: exact where nothing that counts is left."""
    slopes: Floats
    """Runs by documents that nobody judged: what the value gains when the document is relevant instead of not."""
    doubt: Floats
    """How far each of these documents may be from what its label stands for."""
    certain: Floats
    """Of each run, what the judged documents alone give."""
    limit: float
    """The highest score that any list of these lengths can have."""

    @property
    def method(self) -> str:
        return DESIGN if self.remainder is None else LINEARISED

    @property
    def effective_size(self) -> float:
        return float(self.weight.sum() ** 2 / np.square(self.weight).sum())

    @cached_property
    def deviations(self) -> Floats:
        """Runs by independent parts of the error, whose squares sum to the variance."""
        weight, effective = self.weight / self.weight.sum(), self.effective_size
        parts = [weight * (self.single - (self.single @ weight)[:, None])]
        if effective > 1:
            parts[0] *= math.sqrt(effective / (effective - 1))
        if self.remainder is not None:
            caution = CAUTION_OF_IDEAL if isinstance(self.measure, IdealRatio) else CAUTION
            scale = math.sqrt((caution**2 + 1 / DRAWS) / (DRAWS - 1))
            parts.append(scale * (self.remainder - self.remainder.mean(axis=1, keepdims=True)))
        return np.concatenate(parts, axis=1)

    def errors(self, first: Ints, second: Ints | None) -> tuple[Floats, Floats, Floats]:
        """Of these runs or differences: the estimate, its variance, and that of one error never seen."""
        reach, slopes = select_runs(self.reach, first, second), select_runs(self.slopes, first, second)
        variance = np.square(select_runs(self.deviations, first, second)).sum(axis=1)
        if self.effective_size <= 1:
            variance = np.full(variance.size, np.inf)
        value, size = select_runs(self.value, first, second), self.weight.size
        seen = np.minimum(1.0, (np.count_nonzero(reach, axis=1) + UNSEEN) / size)  # share of draws that count here
        hardly_drawn = np.square(np.abs(slopes) @ self.doubt / size) * (1 / seen - 1)
        unseen = np.square(self.weight * reach).mean(axis=1) / self.weight.sum() ** 2 + hardly_drawn
        unseen[~reach.any(axis=1)] = np.inf  # no draw says anything here
        exact = self.is_exact(first, second)
        known = select_runs(self.known, first, second)
        return np.where(exact, known, value), np.where(exact, 0.0, variance), np.where(exact, 0.0, unseen)

    def is_exact(self, first: Ints, second: Ints | None) -> Flags:
        return np.logical_not(select_runs(self.slopes, first, second).any(axis=1))

    def possible(self, first: Ints, second: Ints | None) -> tuple[Floats, Floats]:
        least, most = np.zeros(first.size), np.full(first.size, self.limit)
        if second is not None:
            least = -most
        if self.method == LINEARISED:  # slopes are no weights
            return least, most
        certain, slopes = select_runs(self.certain, first, second), select_runs(self.slopes, first, second)
        low, high = certain + np.minimum(slopes, 0.0).sum(axis=1), certain + np.maximum(slopes, 0.0).sum(axis=1)
        return np.clip(low, least, most), np.clip(high, least, most)


@dataclass(frozen=True, eq=False)
class CalibratedPool:
    """A pool whose documents are judged one after the other, and reach each level with a probability until then."""

    pool: LabelledPool
    judged: JudgedSample
    steps: Steps
    reached: Floats
    """Levels by judged documents: 1 where the document reaches the level."""
    fits: dict[int, Floats] = field(default_factory=dict)
    """What labels stand for after so many judgments, as far as it was asked."""

    @classmethod
    def of(cls, pool: LabelledPool, judged: JudgedSample, measure: Measure) -> CalibratedPool:
        steps = Steps.of(judged.grade, TopicFacts(judged.judgments, pool.question.assumptions.gain), measure)
        return cls(pool, judged, steps, steps.reached(judged.grade))

    def first(self, number: int) -> CalibratedPool:
        return replace(self, judged=self.judged.first(number), reached=self.reached[:, :number])

    def stages(self) -> Iterator[tuple[int, int, Floats]]:
        """Judgments from the first number to before the second, and what labels stood for before these."""
        start, end, size = 0, FIRST_FIT, len(self.judged)
        while start < size:
            yield start, min(end, size), self.calibrated(start)
            start, end = end, max(end + 1, int(end * GROWTH))

    def calibrated(self, number: int) -> Floats:
        """The probability of every document to reach each level, as its label says after so many judgments."""
        if number not in self.fits:
            rows, reached = self.judged.row[:number], self.reached[:, :number]
            features, everything = Features(self.pool), np.arange(len(self.pool))
            fitted = [
                expit(features.logits(everything, features.fit(rows, of).coefficient)) for of in reached if number
            ]
            self.fits[number] = np.stack(fitted) if fitted else prior_chances(self.pool, self.steps)
        return self.fits[number]

    def known(self, number: int) -> Floats:
        known = self.calibrated(number).copy()
        known[:, self.judged.row[:number]] = self.reached[:, :number]
        return known

    def estimate(self, measure: Measure, for_labels: Measure | None) -> Estimate:
        pool, chance = self.pool, self.known(len(self.judged))
        known, slopes = np.empty(len(pool.names)), np.empty((len(pool.names), *chance.shape))
        for run, (by_topic, slope) in enumerate(expected_scores(measure, pool, self.steps, chance)):
            known[run], slopes[run] = by_topic.mean(), slope / pool.number_of_topics
        single, reach, weight, mean_of_draws = self._draws(slopes)

        def linear(chance: Floats) -> Floats:
            """The linear part of each run's score where documents reach levels with these probabilities."""
            return np.asarray(np.einsum("rld,ld->r", slopes, chance))

        constant = known - linear(chance)
        value, remainder, limit = constant + linear(mean_of_draws), None, 1.0
        if is_weighted_sum(measure):
            widest = max(measure.depth(rankings) for lists in pool.rankings for rankings in lists)
            limit = float(measure.weights(widest).sum() * self.steps.heights(measure).sum())
        else:
            scores = np.stack([_scores(pool, measure, facts).mean(axis=1) for _, facts in self._drawn], axis=1)
            remainder = scores - np.stack([constant + linear(drawn) for drawn, _ in self._drawn], axis=1)
            value = value + remainder.mean(axis=1)
        unjudged = np.ones(len(pool), dtype=bool)
        unjudged[self.judged.row] = False
        return Estimate(
            measure,
            np.full(len(pool.names), np.nan) if for_labels is None else _scores(pool, for_labels).mean(axis=1),
            single + constant[:, None],
            reach,
            weight,
            value,
            remainder,
            known,
            slopes[:, :, unjudged].sum(axis=1),
            np.maximum(chance, 1 - chance).max(axis=0)[unjudged],
            np.einsum("rld,ld->r", slopes[:, :, self.judged.row], self.reached),
            limit,
        )

    def _draws(self, slopes: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        size, rows, probability = len(self.judged), self.judged.row, self.judged.probability
        single, reach, weight = np.empty((len(slopes), size)), np.empty((len(slopes), size)), np.empty(size)
        counts, together = np.sqrt(np.square(slopes).mean(axis=0)), np.zeros(slopes.shape[1:])
        left = np.maximum(np.cumprod(np.append(1.0, 1 - probability[:-1])), LEAST_LEFT)  # of the sizes, before a draw
        for start, end, chance in self.stages():
            part, drawn = slice(start, end), rows[start:end]
            known, of_drawn = self.known(start), slopes[:, :, drawn]
            rest = self.reached[:, part] - chance[:, drawn]
            move = np.einsum("rld,ld->rd", of_drawn, rest)
            base = np.einsum("rld,ld->r", slopes, known)[:, None]
            single[:, part] = base + np.cumsum(move, axis=1) - move + move / probability[part]
            extreme = np.maximum(chance, 1 - chance)[:, drawn]
            reach[:, part] = np.einsum("rld,ld->rd", of_drawn, extreme) / probability[part]
            unsure = (counts * np.sqrt(chance * (1 - chance))).sum() / max(counts.sum(), np.finfo(float).tiny)
            weight[part] = (left[part] * max(unsure, LEAST_UNSURE)) ** -2.0
            together += known * weight[part].sum()
            after = weight[part].sum() - np.cumsum(weight[part])  # of the draws to which it is known
            together[:, drawn] += rest * (after + weight[part] / probability[part])
        return single, reach, weight, together / weight.sum()

    @cached_property
    def _drawn(self) -> list[tuple[Floats, TopicFacts]]:
        rng = np.random.default_rng(0)
        heights = simulate_levels(self.pool, self.judged.row, self.reached, DRAWS, rng)
        level, grades = np.arange(len(self.reached))[:, None], np.concatenate(([0.0], self.steps.level))
        labels, rule = self.pool.labels, self.pool.question.assumptions.gain
        return [
            ((height > level).astype(np.float64), TopicFacts(Qrels._of_pairs(labels.pairs, grades[height]), rule))
            for height in heights
        ]


def _scores(pool: LabelledPool, measure: Measure, facts: TopicFacts | None = None) -> Floats:
    scores = np.zeros((len(pool.rankings), pool.number_of_topics))
    for run, lists in enumerate(pool.rankings):
        for rankings in lists:
            scores[run, rankings.topic] = measure.value(rankings if facts is None else rankings.rejudged(facts))
    return np.stack([scores[list(own)].mean(axis=0) for own in pool.members])


def select_runs(of_runs: Floats, first: Ints, second: Ints | None) -> Floats:
    """What is known of these runs, or of the differences of these pairs of runs."""
    return of_runs[first] if second is None else of_runs[first] - of_runs[second]
