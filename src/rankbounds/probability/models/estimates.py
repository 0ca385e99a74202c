"""Probabilities of relevance estimated from the judgments at hand.

A document that many runs retrieved, and near the top, is likelier to be relevant; so is any document of a topic whose
judged documents often are. The rate of relevance among judged documents is fitted by these facts and carried over to
the unjudged ones. That is an extrapolation: pools hold the documents that runs ranked high, unjudged documents are
deeper and rarer, and nothing in the judgments can show that the trend goes on below the pool. ``groups_left_out`` holds
probabilities against documents whose relevance is known, and so does ``JudgedAtRandom`` here, for random judgments.

That a document is unjudged says something itself: no run that was pooled had it near the top. So ranks in runs whose
first documents are (nearly) all judged, as pooling leaves them, are told apart from ranks in the other runs; and since
a good system's rank says more than a poor one's, runs are grouped by how often their judged documents are relevant.
Without that, the top documents of a poor run that came too late for the pool would look as good as the pool's.

Where chance decided which documents were judged, unjudged documents at a rank are like the judged ones there. Relevance
is estimated from the judgments as everywhere, and the judged documents of a run show by how much the estimate is off:
their errors, weighted by the odds of not being judged at their rank, are added to the run's expected score. The result
is right on average however wrong the estimate is, and the scatter of these errors is what the sample leaves open (a
difference estimator: Sarndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, chapter 6). The correction is
made by a shift of all log odds of the run, so that every measure can use it.

Scores that are drawn (AP, nDCG) may change by more than predicted, or by less, even so: AP rises where relevant
documents stand close together, and independent draws miss some of that. So half of the judgments are removed once more,
all is estimated anew, and predictions are stretched by as much as these documents were found to need, on average over
runs. Scores of single topics are found to lie farther from their predictions than draws do: by as much, variances grow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.probability.documents import UnjudgedDocuments, looks_pooled
from rankbounds.probability.models.calibrated import (
    Calibrated,
    LeftOut,
    stretch_of,
    weight_of_ranks,
    without_judgments,
)
from rankbounds.probability.models.probabilities import RelevanceProbability
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
MOST = 50.0
"""The largest odds of not being judged that count: far down, where hardly anything is judged, a document stands for no
more than this many others."""
FAR = 30.0
"""The longest shift of log odds."""
REMOVED = 0.5
"""The share of the judgments that are removed once more."""
SPLITS, MOST_RUNS, DRAWS = 4, 20, 60
"""How often they are, for how many runs, and how often removed documents are drawn."""


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
    """The group of each run."""
    pooled: dict[str, bool]
    """For each run, does it look pooled: are its first documents judged?"""
    nowhere: int

    @classmethod
    def of(cls, runs: Sequence[Run], batches: Sequence[list[Rankings]]) -> GroupedRanks:
        """From the lists of each run, joined with their judgments."""
        names, pooled = [run.name for run in runs], [looks_pooled(parts) for parts in batches]
        group, documents = _groups(batches, pooled, names), RetrievedDocuments.in_lists(runs, batches)
        nowhere = 1 + max(rankings.width for parts in batches for rankings in parts)
        best = np.full((max(group) + 1, len(documents)), nowhere)
        np.minimum.at(best, (np.array(group)[documents.run], documents.document), documents.rank)
        group_of = dict(zip(names, group, strict=True))
        return cls(documents, best, group_of, dict(zip(names, pooled, strict=True)), nowhere)

    def numbers(self, run: str) -> Ints:
        """Return the document in every row of a run's table; -1 for those of topics without judgments."""
        return self.documents.numbers[list(self.group).index(run)]


def _groups(batches: Sequence[list[Rankings]], pooled: list[bool], names: Sequence[str]) -> list[int]:
    """A group for each run: those that look pooled and the others apart, in each part by quality, then by name."""
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
    """A fit of relevance by best ranks, number of runs and topic. Called with unjudged documents, it gives their
    probabilities.

    A document has one probability, whichever run it is met in. ``covariance`` is that of the coefficients, robust
    against dependence within topics; what it leaves open is part of the uncertainty of a mean.
    """

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

    def logit(self, unjudged: UnjudgedDocuments) -> Floats:
        """The log odds of unjudged documents."""
        return self.features_of(unjudged) @ self.coefficients

    def of_documents(self, place: Ints) -> Floats:
        """The probabilities of some of all documents."""
        documents = self.ranks.documents
        facts = documents.topic[place], self.ranks.best[:, place], documents.number_of_runs[place]
        return expit(self.features(*facts) @ self.coefficients)

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """By document."""
        return expit(self.logit(unjudged))

    def __str__(self) -> str:
        return "q estimated (logistic)"


def estimate(
    ranks: GroupedRanks,
    facts: TopicFacts,
    *,
    measure: Measure | None = None,
    rel: float = 1.0,
    random: bool = False,
) -> Estimate:
    """Fit relevance to the judged documents.

    What is fitted is whether a document is relevant to ``measure``; for a graded measure, its gain as a share of the
    largest. Without a measure it is whether its grade is at least ``rel``. ``random`` judgments may all be relevant.
    """
    documents = ranks.documents
    use = documents.judged
    if not use.any():
        raise NotEstimatedError("no retrieved document is judged, so there is no data to estimate it from")
    relevant = relevance_of(documents.grade[use], facts, measure, rel)
    if not random and all_relevant(documents.grade[use], relevant):
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
    """Return whether no judgment found anything that is not relevant, as where relevant documents alone were listed."""
    return bool(min(grade.min(initial=1.0), relevance.min(initial=1.0)) > 0)


def relevance_of(grade: Floats, facts: TopicFacts, measure: Measure | None, rel: float = 1.0) -> Floats:
    """Between 0 and 1: how far a document of this grade counts as relevant to the measure."""
    if measure is not None and measure.graded:
        return facts.rule(grade) / facts.max_gain
    return (grade >= (rel if measure is None else measure.rel)).astype(float)


def estimation_slopes(model: RelevanceProbability, of_runs: Sequence[UnjudgedDocuments]) -> tuple[Floats, Floats]:
    """How each run's expected weight of relevant documents moves with what a model fitted, and the covariance.

    A model that is given moves nothing. Fits for several runs, each without its own group, are taken as one.
    """
    if not isinstance(model, Calibrated | Estimate):
        return np.zeros((len(of_runs), 1)), np.eye(1)
    bends = [each.weight * q * (1 - q) for each in of_runs for q in [model(each)]]
    slopes = np.stack([bend @ model.features_of(each) for bend, each in zip(bends, of_runs, strict=True)])
    if isinstance(model, Estimate):
        return slopes, model.covariance
    return slopes, np.mean([model.covariance(each.run.name) for each in of_runs], axis=0)


class JudgedAtRandom(Calibrated):
    """Estimated probabilities, corrected by how far they are off among each run's judged documents, for one measure.

    ``estimated`` fits them to judged documents; ``relevance`` gives that of documents of these grades, between 0 and 1.
    """

    def __init__(
        self,
        estimated: Callable[[GroupedRanks, TopicFacts], Estimate],
        ranks: GroupedRanks,
        relevance: Callable[[Floats], Floats],
        measure: Measure,
        runs: Sequence[Run],
        batches: Sequence[list[Rankings]],
        facts: TopicFacts,
        assumptions: Assumptions,
    ) -> None:
        self.estimated, self.estimate = estimated, estimated(ranks, facts)
        self.relevance, self.measure, self.facts, self.assumptions = relevance, measure, facts, assumptions
        self.lists = {run.name: (run, parts) for run, parts in zip(runs, batches, strict=True)}
        width = max(rankings.width for parts in batches for rankings in parts)
        present, judged = np.zeros((2, width))
        for parts in batches:
            for rankings in parts:
                present[: rankings.width] += rankings.present.sum(axis=0)
                judged[: rankings.width] += (rankings.present & ~rankings.holes).sum(axis=0)
        self.odds = np.minimum((present - judged) / np.maximum(judged, 1.0), MOST)
        """By rank, of not being judged."""
        self._shifts: dict[str, tuple[float, float, int]] = {}

    def _shift_of(self, name: str) -> tuple[float, float, int]:
        """The shift that corrects a run's log odds, its standard deviation, and the number of its topics."""
        if name in self._shifts:
            return self._shifts[name]
        run, parts = self.lists[name]
        place = self.estimate.ranks.numbers(name)
        correction, variance, judged = 0.0, 0.0, 0
        for rankings in parts:
            assert rankings.row is not None
            line, column = np.nonzero(rankings.present & ~rankings.holes)
            document = place[rankings.row[line, column]]
            error = self.relevance(rankings.grade[line, column]) - self.estimate.of_documents(document)
            each = weight_of_ranks(self.measure, column + 1) * self.odds[column] * error
            correction, variance = correction + float(each.sum()), variance + float(each @ each)
            judged += each.size
        holes = self._holes_of(run, parts)
        logit = self.estimate.logit(holes)
        whole = float(holes.weight.sum())
        least = 0.5 / (judged + 1)  # half a document among those judged and one more: no few judgments make it certain
        expected = holes.weight @ expit(logit) + correction
        wanted = float(np.clip(expected, least * whole, (1 - least) * whole))
        low, high = -FAR, FAR
        for _ in range(60):  # the expected weight rises with the shift
            middle = (low + high) / 2
            low, high = (middle, high) if float(holes.weight @ expit(logit + middle)) < wanted else (low, middle)
        chance = expit(logit + low)
        slope = float(holes.weight @ (chance * (1 - chance)))
        sd = math.sqrt(variance) / slope if slope > 0 else 0.0
        self._shifts[name] = low, min(sd, FAR), sum(rankings.topic.size for rankings in parts)
        return self._shifts[name]

    def _holes_of(self, run: Run, parts: list[Rankings]) -> UnjudgedDocuments:
        topic, rank, row = [], [], []
        for rankings in parts:
            assert rankings.row is not None
            line, column = np.nonzero(rankings.holes & rankings.present)
            topic.append(rankings.topic[line])
            rank.append(column + 1)
            row.append(rankings.row[line, column])
        nothing, ranks = np.zeros(len(self.facts.query_ids)), np.concatenate(rank)
        weight = weight_of_ranks(self.measure, ranks)
        return UnjudgedDocuments(
            run, self.facts, nothing, nothing, np.concatenate(topic), ranks, weight, np.concatenate(row)
        )

    def stretch(self, _run: str) -> tuple[float, float]:
        """Return by how much a predicted change of a drawn score is multiplied, and the standard error of that."""
        return self._stretch

    def spread(self) -> float:
        """Return how many times as far as drawn the scores of topics lie from their means."""
        *_, error, variance = self._sums
        return max(1.0, math.sqrt(error.sum() / variance.sum())) if variance.sum() > 0 else 1.0

    @cached_property
    def _sums(self) -> Floats:
        return np.array([self._removed_again(split) for split in range(SPLITS)]).T

    @cached_property
    def _stretch(self) -> tuple[float, float]:
        predicted, change, *_ = self._sums
        if not ((predicted > 0) & np.isfinite(predicted + change)).all():
            return 1.0, 0.0
        excess = change / predicted - 1
        return stretch_of(float(excess.mean()), float(excess.std(ddof=1)) / math.sqrt(SPLITS))

    @np.errstate(invalid="ignore")  # of searches that never end
    def _removed_again(self, split: int) -> Floats:
        """Remove judgments once more; sum over runs the products of predicted changes with themselves and with those
        that came, and over runs and topics squared errors and variances.
        """
        ranks, documents = self.estimate.ranks, self.estimate.ranks.documents
        kept = np.random.default_rng(split).random(len(self.facts.qrels)) >= REMOVED
        judgment = documents.judgments(self.facts.qrels)
        gone = documents.judged & (judgment >= 0) & ~kept[judgment]
        if not gone.any() or not (documents.judged & ~gone).any():
            return np.zeros(4)
        facts = self.facts.restricted(kept)
        fewer = replace(ranks, documents=replace(documents, grade=np.where(gone, np.nan, documents.grade)))
        names = sorted(self.lists)[:: math.ceil(len(self.lists) / MOST_RUNS)]
        runs = [self.lists[name][0] for name in names]
        lists = [without_judgments(self.lists[name][1], ranks.numbers(name), gone, facts) for name in names]
        collection = runs, lists, facts, self.assumptions
        model = JudgedAtRandom(self.estimated, fewer, self.relevance, self.measure, *collection)
        sums = np.zeros(4)
        for run, parts in zip(runs, lists, strict=True):
            holes, number = model._holes_of(run, parts), ranks.numbers(run.name)
            mine = gone[number[holes.row]]
            grade = documents.grade[number[holes.row[mine]]]
            left = LeftOut(holes.topic[mine], holes.rank[mine], grade, model(holes)[mine])
            base, score, drawn = left.scores(parts, self.measure, self.assumptions, model.shift(run.name), DRAWS)
            mean = drawn.mean(axis=1)
            predicted = mean.sum() - base.sum()
            sums += predicted**2, predicted * (score.sum() - base.sum()), 0.0, drawn.var(axis=1, ddof=1).sum()
            sums[2] += ((score - mean) ** 2).sum()
        return sums

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """Return the probability of each."""
        return expit(self.estimate.logit(unjudged) + self._shift_of(unjudged.run.name)[0])

    def shift(self, run: str) -> float:
        """Return the standard deviation of the shift of a run's log odds."""
        return self._shift_of(run)[1]

    def reach(self, run: str, confidence: float) -> float:
        """Return the quantile of Student's t with a degree of freedom for each topic but one."""
        from scipy.special import stdtrit

        return float(stdtrit(max(self._shift_of(run)[2] - 1, 1), (1 + confidence) / 2))

    def __str__(self) -> str:
        return "q estimated, judgments taken as a random sample"
