"""Probabilities of relevance estimated from the judgments at hand.

A document that many runs retrieved, and near the top, is likelier to be relevant; so is any document of a topic whose
judged documents often are. The rate of relevance among judged documents is fitted by these facts and carried over to
the unjudged ones. That is an extrapolation: pools hold the documents that runs ranked high, unjudged documents are
deeper and rarer, and nothing in the judgments can show that the trend goes on below the pool. ``reliability`` checks
the fit on held-out documents, and ``deeper=True`` holds out those that were found deepest, which is the harsher and
fairer test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_share
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.evaluation.run_notes import RunNotes, some, topic_warnings
from rankbounds.evaluation.scoring import join_lists
from rankbounds.measures import Measure, RankWeighted
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.probability.documents import (
    POOLED,
    RetrievedDocuments,
    UnjudgedDocuments,
    find_retrieved,
    find_unjudged,
    open_measures,
)
from rankbounds.probability.models.probabilities import RelevanceProbability, as_relevance_probability
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.stats.logistic import expit, fit_logistic
from rankbounds.threads import processors

KINDS = ("logistic", "isotonic")
"""The ways to estimate probabilities from the judgments at hand."""
RIDGE = 1.0
"""A pull towards coefficients of 0 (as if each had a normal distribution of sd 1), felt where judgments are few."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A fit of relevance by best ranks, number of runs and topic. Called with unjudged documents, it gives their
    probabilities.

    A document has one probability, whichever run it is met in. ``covariance`` is that of the coefficients, robust
    against dependence within topics; what it leaves open is part of the uncertainty of a mean.
    """

    kind: str
    documents: RetrievedDocuments
    topic_rate: Floats
    coefficients: Floats
    covariance: Floats
    steps: tuple[Floats, Floats] | None = None
    """Of an isotonic fit: where each step of the linear score begins, and its probability."""

    def features(self, topic: Ints, best_rank: Ints, retrieved_by: Ints) -> Floats:
        """A row for each document: 1, the topic's log odds, log odds of being retrieved by a run, logs of its ranks."""
        odds = (retrieved_by + 0.5) / (len(self.documents.group) - retrieved_by + 0.5)
        ranks = np.log(self.documents.nowhere / best_rank)
        return np.stack([np.ones(topic.size), self.topic_rate[topic], np.log(odds), *ranks], axis=-1)

    def features_of(self, unjudged: UnjudgedDocuments) -> Floats:
        """The features of unjudged documents; what lies beyond the end of a list is met there and nowhere else."""
        documents = self.documents
        rank = np.full((len(documents.best_rank), unjudged.rank.size), documents.nowhere)
        rank[documents.group[unjudged.run.name]] = np.minimum(unjudged.rank, documents.nowhere)
        found_by = np.ones(unjudged.rank.size, dtype=np.int64)
        place = documents.by_run[unjudged.run.name][unjudged.row[unjudged.retrieved]]
        rank[:, unjudged.retrieved] = documents.best_rank[:, place]
        found_by[unjudged.retrieved] = documents.retrieved_by[place]
        return self.features(unjudged.topic, rank, found_by)

    def predict(self, features: Floats) -> Floats:
        """Probabilities from features."""
        score = features @ self.coefficients
        if self.steps is None:
            return expit(score)
        begin, q = self.steps
        return q[np.maximum(np.searchsorted(begin, score, side="right") - 1, 0)]

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """By document."""
        return self.predict(self.features_of(unjudged))

    def slope(self, unjudged: UnjudgedDocuments) -> Floats:
        """How the expected total weight of those that are relevant moves with each coefficient."""
        features = self.features_of(unjudged)
        q = expit(features @ self.coefficients)
        return (unjudged.weight * q * (1 - q)) @ features

    def __str__(self) -> str:
        return f"q estimated ({self.kind})"


def estimate(
    kind: str,
    documents: RetrievedDocuments,
    facts: TopicFacts,
    *,
    measure: Measure | None = None,
    rel: float = 1.0,
    training: Flags | None = None,
) -> Estimate:
    """Fit ``logistic`` or ``isotonic`` to the judged documents (``training``: to some of them).

    What is fitted is whether a document is relevant to ``measure``; for a graded measure, its gain as a share of the
    largest. Without a measure it is whether its grade is at least ``rel``.
    """
    use = documents.judged if training is None else documents.judged & training
    if not use.any():
        raise UsageError("No retrieved document is judged: there is nothing to estimate q from. Give --q a number.")
    relevant = _relevance(documents.grade[use], facts, measure, rel)
    topic, topics = documents.topic[use], len(facts.query_ids)
    rate = (relevant.sum() + 0.5) / (relevant.size + 1)
    # Ten documents at the overall rate stand behind each topic's own: topics with few judgments lean on the others.
    met = np.bincount(topic, relevant, topics) + 10 * rate
    missed = np.bincount(topic, 1 - relevant, topics) + 10 * (1 - rate)
    fit = Estimate(kind, documents, np.log(met / missed), np.empty(0), np.empty(0))
    features = fit.features(topic, documents.best_rank[:, use], documents.retrieved_by[use])
    # A document must not help to predict itself: in the fit its topic's odds are those of the other documents.
    features[:, 1] = np.log((met[topic] - relevant) / (missed[topic] - (1 - relevant)))
    penalty = np.append(1e-3 * RIDGE, np.full(features.shape[1] - 1, RIDGE))
    coefficients, curvature = fit_logistic(features, relevant, penalty)
    covariance = _robust_covariance(features, relevant - expit(features @ coefficients), topic, curvature)
    fit = replace(fit, coefficients=coefficients, covariance=covariance)
    return replace(fit, steps=_isotonic(features @ coefficients, relevant)) if kind == "isotonic" else fit


def _relevance(grade: Floats, facts: TopicFacts, measure: Measure | None, rel: float = 1.0) -> Floats:
    """Between 0 and 1: how far a document of this grade counts as relevant to the measure."""
    if measure is not None and measure.graded:
        return facts.rule(grade) / facts.max_gain
    return (grade >= (rel if measure is None else measure.rel)).astype(float)


def _robust_covariance(features: Floats, errors: Floats, cluster: Ints, curvature: Floats) -> Floats:
    """That of fitted coefficients, with dependence of the errors inside clusters allowed for."""
    score = np.zeros((int(cluster.max()) + 1, features.shape[1]))
    np.add.at(score, cluster, features * errors[:, None])
    bread = np.linalg.inv(curvature)
    return bread @ (score.T @ score) @ bread


def _isotonic(score: Floats, relevant: Floats) -> tuple[Floats, Floats]:
    """A rising step function; each step's rate is drawn half a document towards one half, so that none is 0 or 1."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(score, kind="stable")
    fitted = isotonic_regression(relevant[order])
    first = fitted.blocks[:-1]
    count = np.diff(fitted.blocks)
    rate = (fitted.x[first] * count + 0.5) / (count + 1)
    return score[order][first], np.maximum.accumulate(rate)


def estimation_slopes(model: RelevanceProbability, of_runs: Sequence[UnjudgedDocuments]) -> tuple[Floats, Floats]:
    """How each run's expected weight of relevant documents moves with what a model estimated, and the covariance.

    A model that is given moves nothing.
    """
    if not isinstance(model, Estimate):
        return np.zeros((len(of_runs), 1)), np.eye(1)
    return np.stack([model.slope(unjudged) for unjudged in of_runs]), model.covariance


def lowest_relevant_grade(measure: Measure, facts: TopicFacts) -> float:
    """From which grade on a document is relevant: the measure's own, or for gains the least that is judged above 0."""
    if not measure.graded:
        return measure.rel
    known = facts.grade[facts.grade > 0]
    return float(min(known.min(initial=np.inf), 1.0))


class ChosenModels:
    """Runs and the probabilities asked for; those estimated from judgments are fitted once per kind of relevance."""

    def __init__(
        self,
        given: Any,
        otherwise: float | None,
        runs: list[Run],
        facts: TopicFacts,
        assumptions: Assumptions,
        batches: Sequence[list[Rankings]] | None = None,
    ) -> None:
        self.runs, self.facts, self.assumptions = runs, facts, assumptions
        self.batches = batches or [list(join_lists(run, facts, assumptions).batches) for run in runs]
        self.kind = given if isinstance(given, str) and given in KINDS else None
        self.given = None if self.kind else as_relevance_probability(given, otherwise)
        self._fitted: dict[Any, RelevanceProbability] = {}
        self._documents: RetrievedDocuments | None = None

    @classmethod
    def read(
        cls,
        qrels: QrelsLike,
        runs: RunsLike,
        measures: MeasuresLike,
        q: Any,
        otherwise: float | None,
        options: RankingOptions,
        confidence: float,
        samples: int,
    ) -> tuple[ChosenModels, list[Measure]]:
        """From everything that ``uncertainty`` takes, each run read and joined once; and the measures."""
        check_share("The confidence", confidence)
        if samples < 2:
            raise UsageError(f"At least two samples are needed, not {samples}.")
        assumptions, reading = chosen_options(options, RankingOptions, threads=processors())
        chosen = open_measures(measures, assumptions)
        facts = TopicFacts(reading.judgments(qrels), assumptions.gain)
        systems = reading.runs(runs)
        joined = [join_lists(run, facts, assumptions) for run in systems]
        notes = [RunNotes(missing=lists.missing, unknown=lists.unknown) for lists in joined]
        for message in topic_warnings([run.name for run in systems], notes, assumptions.topics):
            warn(message)
        return cls(q, otherwise, systems, facts, assumptions, [list(lists.batches) for lists in joined]), chosen

    def unjudged(self, at: int, measure: RankWeighted, *, tail: bool = False) -> UnjudgedDocuments:
        """The unjudged documents of one run under a weighted sum."""
        batches = self.batches[at]
        return find_unjudged(self.runs[at], self.facts, measure, self.assumptions, tail=tail, rankings_of_run=batches)

    def words(self, measures: Sequence[Measure]) -> str:
        """The probabilities in words."""
        return ", ".join(dict.fromkeys(str(self.of(measure)) for measure in measures))

    def of(self, measure: Measure) -> RelevanceProbability:
        """The model for documents relevant to this measure."""
        return self.given or self._fitted_once(measure if measure.graded else None, measure.rel)

    def of_grades(self, measure: Measure) -> RelevanceProbability:
        """The model for documents that have a grade which is relevant to this measure, however relevant it is."""
        return self.given or self._fitted_once(None, lowest_relevant_grade(measure, self.facts))

    def _fitted_once(self, graded: Measure | None, rel: float) -> RelevanceProbability:
        key = (graded is not None, rel)
        if key not in self._fitted:
            collection = (self.runs, self.facts, self.assumptions, self.batches)
            self._documents = self._documents or find_retrieved(*collection)
            self._fitted[key] = estimate(str(self.kind), self._documents, self.facts, measure=graded, rel=rel)
        return self._fitted[key]

    def unpooled(self) -> list[str]:
        """Runs whose first documents are not judged, where probabilities were estimated from documents at all."""
        known = self._documents.pooled if self._documents else {}
        return [name for name, pooled in known.items() if not pooled]

    def remarks(self) -> list[str]:
        """What a reader of estimated probabilities must know, in sentences."""
        unpooled = self.unpooled()
        remark = (
            f"{some(unpooled)}: fewer than {POOLED} are judged, so the estimate relies on the documents of other runs."
        )
        return [f"{remark} Trust the certain bounds, not the probabilities."] if unpooled else []


@dataclass(frozen=True, eq=False)
class Reliability:
    """Predicted against observed rates of relevance, in bins of held-out documents."""

    predicted: Floats
    observed: Floats
    count: Ints
    brier: float
    """The mean squared error of the predicted probabilities."""
    mean_predicted: float
    mean_observed: float
    held_out: str


def reliability(
    kind: str,
    runs: Sequence[Run],
    facts: TopicFacts,
    assumptions: Assumptions | None = None,
    *,
    measure: Measure | None = None,
    deeper: bool = False,
    folds: int = 5,
    bins: int = 10,
    seed: int = 0,
) -> Reliability:
    """How well estimated probabilities hold on judged documents that the fit did not see.

    Documents are held out at random in ``folds``; with ``deeper`` the half of the judged documents whose best rank is
    largest is held out at once, so that the fit must extrapolate as it does for unjudged documents.
    """
    assumptions = assumptions or Assumptions()
    documents = find_retrieved(runs, facts, assumptions)
    judged = np.flatnonzero(documents.judged)
    if deeper:
        best = documents.best_rank.min(axis=0)[judged]
        parts = [judged[best > np.median(best)]]
    else:
        parts = np.array_split(np.random.default_rng(seed).permutation(judged), folds)
    predicted, observed = [], []
    for part in parts:
        training = np.ones(documents.topic.size, dtype=bool)
        training[part] = False
        fit = estimate(kind, documents, facts, measure=measure, training=training)
        predicted.append(
            fit.predict(fit.features(documents.topic[part], documents.best_rank[:, part], documents.retrieved_by[part]))
        )
        observed.append(_relevance(documents.grade[part], facts, measure))
    q, relevant = np.concatenate(predicted), np.concatenate(observed)
    if not q.size:
        raise UsageError("There are too few judged documents to hold some out.")
    order = np.argsort(q, kind="stable")
    cells = [cell for cell in np.array_split(order, bins) if cell.size]
    return Reliability(
        predicted=np.array([q[cell].mean() for cell in cells]),
        observed=np.array([relevant[cell].mean() for cell in cells]),
        count=np.array([cell.size for cell in cells]),
        brier=float(((q - relevant) ** 2).mean()),
        mean_predicted=float(q.mean()),
        mean_observed=float(relevant.mean()),
        held_out="the deeper half" if deeper else f"{folds} random parts in turn",
    )
