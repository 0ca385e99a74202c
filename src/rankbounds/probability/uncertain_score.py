"""One run's score under one measure when unjudged documents are relevant with a probability.

For a weighted sum such as RBP, a topic's score is what its judged documents add for certain plus, for every unjudged
document, its weight with its probability. Mean and variance are exact, documents being independent of each other, and
add up over topics. For other measures (AP, nDCG) the same probabilities are drawn many times.

Source: Park, Uncertainty in Rank-Biased Precision, ADCS 2016; equation 8 is the case of one probability and the same
unjudged ranks in every topic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.scores import ALL
from rankbounds.measures import Measure
from rankbounds.probability.completions import OpenCollection
from rankbounds.probability.distribution import Distribution, distribution_of_sum
from rankbounds.probability.drawn_scores import DrawnCompletions
from rankbounds.probability.models.estimates import Estimate
from rankbounds.probability.models.probabilities import RelevanceProbability
from rankbounds.probability.models.urn_estimates import UrnEstimate
from rankbounds.probability.unjudged_documents import UnjudgedDocuments, joined_run
from rankbounds.rankings.topic_facts import TopicFacts


@dataclass(frozen=True, eq=False)
class UncertainScore:
    """One run under one measure: by topic (NaN: left out) the certain part, mean, variance and bounds.

    ``weight``, ``chance`` and ``topic`` are those of its unjudged documents; measures that are not weighted sums have
    ``draws`` instead, a row for each draw and a column for each topic. ``estimation`` is the variance that estimating
    the probabilities adds to the mean over topics.
    """

    run: str
    measure: Measure
    query_ids: Sequence[str]
    base: Floats
    mean: Floats
    variance: Floats
    low: Floats
    high: Floats
    topic: Ints
    weight: Floats
    chance: Floats
    draws: Floats | None = None
    estimation: float = 0.0

    @cached_property
    def topics(self) -> int:
        """How many topics are scored."""
        return int(np.count_nonzero(~np.isnan(self.base)))

    def mean_of(self, values: Floats) -> float:
        """The mean over the topics that are scored."""
        return float(np.nansum(np.where(np.isnan(self.base), np.nan, values)) / self.topics)

    @property
    def variance_of_documents(self) -> float:
        """The part of the mean's variance that comes from not knowing which unjudged documents are relevant."""
        if self.draws is not None:  # estimated probabilities move together in all topics
            return float(np.nanmean(self.draws, axis=-1).var(ddof=1))
        return float(np.nansum(self.variance)) / self.topics**2 + self.estimation

    @property
    def variance_of_topics(self) -> float:
        """The part of the mean's variance that comes from the topics being a sample."""
        if self.topics < 2:
            raise UsageError("With one topic nothing can be said about other topics.")
        return float(np.nanvar(self.mean, ddof=1)) / self.topics

    def sd(self, sources: str = "documents") -> float:
        """The standard deviation of the mean over topics."""
        documents = self.variance_of_documents if sources != "topics" else 0.0
        topics = self.variance_of_topics if sources != "documents" else 0.0
        return math.sqrt(documents + topics)

    def distribution(self, query_id: str = ALL) -> Distribution:
        """The distribution of one topic's score, or of the mean over topics: enumerated or convolved, not normal."""
        if query_id == ALL:
            if self.draws is not None:
                return _of_draws(np.nanmean(self.draws, axis=-1))
            return distribution_of_sum(self.weight / self.topics, self.chance, self.mean_of(self.base))
        topic = list(self.query_ids).index(query_id)
        if self.draws is not None:
            return _of_draws(self.draws[:, topic])
        mine = self.topic == topic
        return distribution_of_sum(self.weight[mine], self.chance[mine], float(self.base[topic]))

    def interval(self, confidence: float, sources: str = "documents", kind: str = "normal") -> tuple[float, float]:
        """An interval for the mean over topics.

        ``documents``: the mean over these topics, were all documents judged. ``topics`` and ``both``: the mean over
        all topics these are a sample of (Student's t).
        """
        from scipy.special import ndtri, stdtrit

        if sources == "documents" and kind == "distribution":
            return self.distribution().interval(confidence)
        share = (1 + confidence) / 2
        middle = self.mean_of(self.mean)
        if sources == "documents":
            half = float(ndtri(share)) * self.sd()
            return _within(middle - half, middle + half, self.mean_of(self.low), self.mean_of(self.high))
        half = float(stdtrit(self.topics - 1, share)) * self.sd(sources)
        return middle - half, middle + half

    def distance_from_normal(self) -> float | None:
        """By how much the normal approximation's probabilities are off at most; None for draws, too coarse to say."""
        return None if self.draws is not None else self.distribution().distance_from_normal()

    def topic_interval(self, topic: int, confidence: float, kind: str) -> tuple[float, float]:
        """An interval for one topic's score."""
        from scipy.special import ndtri

        if kind == "distribution":
            return self.distribution(self.query_ids[topic]).interval(confidence)
        half = float(ndtri((1 + confidence) / 2)) * math.sqrt(self.variance[topic])
        return _within(self.mean[topic] - half, self.mean[topic] + half, self.low[topic], self.high[topic])


def _within(low: float, high: float, least: float, most: float) -> tuple[float, float]:
    """The interval without what is impossible; where bounds are not known (NaN), as it is."""
    return float(np.fmax(low, least)), float(np.fmin(high, most))


def _of_draws(values: Floats) -> Distribution:
    return Distribution(np.sort(values), np.full(values.size, 1 / values.size), float("nan"))


def exact_score(unjudged: UnjudgedDocuments, measure: Measure, model: RelevanceProbability) -> UncertainScore:
    """The moments of a weighted sum."""
    chance = model(unjudged)
    mean = unjudged.base + unjudged.sums(unjudged.weight * chance)
    variance = np.where(unjudged.counted, unjudged.sums(unjudged.weight**2 * chance * (1 - chance)), np.nan)
    estimation = 0.0
    if isinstance(model, Estimate):
        slope = model.slope(unjudged) / np.count_nonzero(unjudged.counted)
        estimation = max(float(slope @ model.covariance @ slope), 0.0)  # rounding may leave it below
    elif isinstance(model, UrnEstimate):
        (slope,) = model.slopes([unjudged], [np.arange(unjudged.topic.size)])
        estimation = float(slope @ slope) / np.count_nonzero(unjudged.counted) ** 2
    return UncertainScore(
        unjudged.run.name, measure, unjudged.facts.query_ids, unjudged.base, mean, variance, unjudged.low,
        unjudged.high, unjudged.topic, unjudged.weight, chance, estimation=estimation,
    )  # fmt: skip


def drawn_score(
    run: Run,
    facts: TopicFacts,
    measure: Measure,
    assumptions: Assumptions,
    model: RelevanceProbability,
    samples: int,
    seed: int,
) -> UncertainScore:
    """The moments of any measure, from draws of which unjudged documents are relevant, and how relevant.

    A document that is drawn relevant counts among the topic's relevant ones, as it does in the measure's bounds.
    """
    topics = len(facts.query_ids)
    base, low, high = (np.full(topics, np.nan) for _ in range(3))
    draws = np.full((samples, topics), np.nan)
    batches = list(joined_run(run, facts, assumptions).batches)
    for rankings in batches:
        base[rankings.topic] = assumptions.value(measure, rankings.assume(0.0))
        bounds = assumptions.low_high(measure, rankings)
        if bounds is not None:
            low[rankings.topic], high[rankings.topic] = bounds
    collection = OpenCollection([run], facts, assumptions, [batches])
    for _, part, scores in DrawnCompletions(collection, measure, model, samples, seed).scores([(0,)]):
        draws[:, part] = scores[0].T
    none_kept = np.empty(0, dtype=np.int64)
    return UncertainScore(
        run.name, measure, facts.query_ids, base, draws.mean(axis=0), draws.var(axis=0, ddof=1), low, high,
        none_kept, np.empty(0), np.empty(0), draws=draws,
    )  # fmt: skip
