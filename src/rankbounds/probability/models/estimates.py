"""Probabilities of relevance estimated from the judgments at hand, by logistic regression, not calibrated.

A document that many runs retrieved, and near the top, is likelier to be relevant; so is any document of a topic whose
judged documents often are. That is carried over to unjudged documents, which are deeper and rarer: nothing in the
judgments shows that the trend goes on below the pool (``groups_left_out`` calibrates). That a document is unjudged says
something itself, so ranks in runs that look pooled are told apart from those in others; and since a good system's rank
says more than a poor one's, runs are grouped by how often their judged documents are relevant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.measures import Measure
from rankbounds.probability.documents import UnjudgedDocuments, looks_pooled
from rankbounds.rankings.documents import RetrievedDocuments
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.stats.logistic import expit, fit_logistic, robust_covariance

ALL_RELEVANT = (
    "every judged document that the runs retrieved is relevant, so they do not show how often unjudged documents are"
)
GROUPS = 6
"""Into how many groups of about the same quality runs that look pooled are put at most, and the others too."""
RIDGE = 1.0
"""A pull towards coefficients of 0 (as if each had a normal distribution of sd 1), felt where judgments are few."""


class NotEstimatedError(UsageError):
    """The judgments do not show how probable it is that unjudged documents are relevant."""

    def __init__(self, why: str) -> None:
        super().__init__(f"q cannot be estimated from these judgments: {why}. Give --q a number.")
        self.why = why


@dataclass(frozen=True, eq=False)
class GroupedRanks:
    """Every document that some run retrieved for a judged topic, and the best rank that each group of runs gives it."""

    documents: RetrievedDocuments
    best: Ints
    """A row for each group of runs; ``nowhere`` where none of the group has the document."""
    group: dict[str, int]
    pooled: dict[str, bool]
    """For each run, does it look pooled: are its first documents judged?"""
    nowhere: int

    @classmethod
    def of(cls, runs: Sequence[Run], batches: Sequence[list[Rankings]]) -> GroupedRanks:
        names, pooled = [run.name for run in runs], [looks_pooled(parts) for parts in batches]
        group, documents = _groups(batches, pooled, names), RetrievedDocuments.in_lists(runs, batches)
        nowhere = 1 + max(rankings.width for parts in batches for rankings in parts)
        best = np.full((max(group) + 1, len(documents)), nowhere)
        np.minimum.at(best, (np.array(group)[documents.run], documents.document), documents.rank)
        group_of = dict(zip(names, group, strict=True))
        return cls(documents, best, group_of, dict(zip(names, pooled, strict=True)), nowhere)

    def numbers(self, run: str) -> Ints:
        return self.documents.numbers[list(self.group).index(run)]


def _groups(batches: Sequence[list[Rankings]], pooled: list[bool], names: Sequence[str]) -> list[int]:
    quality = []
    for parts in batches:
        # The rate of relevance among judged documents, higher ranks counting more.
        discount = [(batch.present & ~batch.holes) / np.arange(1, batch.width + 1) for batch in parts]
        met = sum(float((batch.relevant() * each).sum()) for batch, each in zip(parts, discount, strict=True))
        quality.append(met / max(sum(float(each.sum()) for each in discount), 1e-300))
    group = np.zeros(len(batches), dtype=np.int64)
    used = 0
    for kind in (True, False):
        members = np.flatnonzero(np.array(pooled) == kind)
        ordered = members[np.lexsort((np.array(names)[members], -np.array(quality)[members]))]
        for part in np.array_split(ordered, min(GROUPS, max(1, ordered.size))):
            group[part] = used
            used += bool(part.size)
    return group.tolist()


@dataclass(frozen=True, eq=False)
class Estimate:
    """A fit of relevance by best ranks, runs and topic; ``covariance`` allows for dependence within topics."""

    ranks: GroupedRanks
    topic_rate: Floats
    coefficients: Floats
    covariance: Floats

    def features(self, topic: Ints, best_rank: Ints, retrieved_by: Ints) -> Floats:
        """A row for each document: 1, the topic's log odds, log odds of being retrieved by a run, logs of its ranks."""
        odds = (retrieved_by + 0.5) / (len(self.ranks.group) - retrieved_by + 0.5)
        ranks = np.log(self.ranks.nowhere / best_rank)
        return np.stack([np.ones(topic.size), self.topic_rate[topic], np.log(odds), *ranks], axis=-1)

    def features_of(self, unjudged: UnjudgedDocuments) -> Floats:
        """The features of unjudged documents; what lies beyond the end of a list is met there and nowhere else."""
        ranks, name = self.ranks, unjudged.run.name
        rank = np.full((len(ranks.best), unjudged.rank.size), ranks.nowhere)
        rank[ranks.group[name]] = np.minimum(unjudged.rank, ranks.nowhere)
        found_by = np.ones(unjudged.rank.size, dtype=np.int64)
        place = ranks.numbers(name)[unjudged.row[unjudged.retrieved]]
        rank[:, unjudged.retrieved] = ranks.best[:, place]
        found_by[unjudged.retrieved] = ranks.documents.number_of_runs[place]
        return self.features(unjudged.topic, rank, found_by)

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        return expit(self.features_of(unjudged) @ self.coefficients)

    def __str__(self) -> str:
        return "q estimated (logistic)"


def estimate(
    ranks: GroupedRanks,
    facts: TopicFacts,
    *,
    measure: Measure | None = None,
    rel: float = 1.0,
) -> Estimate:
    """Fit to the judged documents how relevant they are to ``measure``, or whether their grade is at least ``rel``."""
    documents = ranks.documents
    use = documents.judged
    if not use.any():
        raise NotEstimatedError("no retrieved document is judged, so there is no data to estimate it from")
    relevant = relevance_of(documents.grade[use], facts, measure, rel)
    if all_relevant(documents.grade[use], relevant):
        raise NotEstimatedError(ALL_RELEVANT)
    topic, topics = documents.topic[use], len(facts.query_ids)
    rate = (relevant.sum() + 0.5) / (relevant.size + 1)
    # Ten documents at the overall rate stand behind each topic's own: topics with few judgments lean on the others.
    met = np.bincount(topic, relevant, topics) + 10 * rate
    missed = np.bincount(topic, 1 - relevant, topics) + 10 * (1 - rate)
    fit = Estimate(ranks, np.log(met / missed), np.empty(0), np.empty(0))
    features = fit.features(topic, ranks.best[:, use], documents.number_of_runs[use])
    # A document must not help to predict itself: in the fit its topic's odds are those of the other documents.
    features[:, 1] = np.log((met[topic] - relevant) / (missed[topic] - (1 - relevant)))
    penalty = np.append(1e-3 * RIDGE, np.full(features.shape[1] - 1, RIDGE))
    coefficients, curvature = fit_logistic(features, relevant, penalty)
    covariance = robust_covariance(features, relevant - expit(features @ coefficients), topic, curvature)
    return replace(fit, coefficients=coefficients, covariance=covariance)


def all_relevant(grade: Floats, relevance: Floats) -> bool:
    return bool(min(grade.min(initial=1.0), relevance.min(initial=1.0)) > 0)


def relevance_of(grade: Floats, facts: TopicFacts, measure: Measure | None, rel: float = 1.0) -> Floats:
    if measure is not None and measure.graded:
        return facts.rule(grade) / facts.max_gain
    return (grade >= (rel if measure is None else measure.rel)).astype(float)
