"""Probabilities of relevance estimated from the judgments at hand.

A document that many runs retrieved, and near the top, is likelier to be relevant; so is any document of a topic whose
judged documents often are. The rate of relevance among judged documents is fitted by these facts and carried over to
the unjudged ones. That is an extrapolation: pools hold the documents that runs ranked high, unjudged documents are
deeper and rarer, and nothing in the judgments can show that the trend goes on below the pool. ``reliability`` checks
the fit on held-out documents, and ``deeper=True`` holds out those that were found deepest, which is the harsher and
fairer test. An urn is fitted to what is judged at the top of each list instead, and goes by topic and rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.probability.models.probabilities import RelevanceProbability, as_relevance_probability
from rankbounds.probability.models.urn import UrnFit, fit_urn
from rankbounds.probability.retrieved_documents import POOLED, RetrievedDocuments, looks_pooled, retrieved_documents
from rankbounds.probability.unjudged_documents import UnjudgedDocuments, joined_run
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.stats.logistic import expit, fit_logistic
from rankbounds.tables import plain_rows

KINDS = ("logistic", "isotonic", "urn")
"""The ways to estimate probabilities from the judgments at hand."""
SHOWN = 5
"""The urns of up to this many runs are described one by one."""
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
    runs: Sequence[Run],
    facts: TopicFacts,
    assumptions: Assumptions,
    *,
    measure: Measure | None = None,
    rel: float = 1.0,
    documents: RetrievedDocuments | None = None,
    training: Flags | None = None,
) -> Estimate:
    """Fit ``logistic`` or ``isotonic`` to the judged documents (``training``: to some of them).

    What is fitted is whether a document is relevant to ``measure``; for a graded measure, its gain as a share of the
    largest. Without a measure it is whether its grade is at least ``rel``.
    """
    documents = documents or retrieved_documents(runs, facts, assumptions)
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


@dataclass(frozen=True, eq=False)
class UrnEstimate:
    """Probabilities by topic and rank from an urn fitted to each run's judged beginnings.

    They are averaged over what is left open about an urn's q and w. How they move together with these is part of the
    uncertainty of a mean: ``directions`` of each run, which are independent of those of the other runs.
    """

    fits: dict[str, UrnFit]
    topics: dict[str, Ints]
    outlooks: dict[str, tuple[Floats, Floats]]
    pooled: dict[str, bool]
    """For each run, does it look pooled: are its first documents judged?"""

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """By run, topic and rank; deeper than the urn was followed, the last rank's probability goes on."""
        return self._of(self.outlooks[unjudged.run.name][0], unjudged)

    def directions(self, unjudged: UnjudgedDocuments) -> Floats:
        """How each document's probability moves with the urn's q and w: a row for each, a column for each direction."""
        return self._of(self.outlooks[unjudged.run.name][1], unjudged)

    def _of(self, table: Floats, unjudged: UnjudgedDocuments) -> Floats:
        """What a table by list and rank has for each document."""
        topics = self.topics[unjudged.run.name]
        place = np.full(len(unjudged.facts.query_ids), -1)
        place[topics] = np.arange(topics.size)
        # A topic whose first document is unjudged has no evidence of its own: the other topics' mean stands in.
        table = np.concatenate((table, table.mean(axis=0)[None]))
        found: Floats = table[place[unjudged.topic], np.minimum(unjudged.rank, table.shape[1]) - 1]
        return found

    def moves(self, of_runs: Sequence[UnjudgedDocuments], document: Sequence[Ints]) -> Any:
        """Documents by directions of all runs, sparse; a document of several runs moves as in their mean.

        ``document`` has the number of each run's unjudged documents.
        """
        from scipy.sparse import csr_array, hstack

        copies = np.bincount(np.concatenate(document))
        blocks = []
        for unjudged, number in zip(of_runs, document, strict=True):
            moves = self.directions(unjudged) / copies[number][:, None]
            row, column = np.broadcast_arrays(number[:, None], np.arange(moves.shape[1]))
            shape = (copies.size, moves.shape[1])
            blocks.append(csr_array((moves.ravel(), (row.ravel(), column.ravel())), shape=shape))
        return hstack(blocks, format="csr")

    def slopes(self, of_runs: Sequence[UnjudgedDocuments], document: Sequence[Ints]) -> Floats:
        """For each run, how the expected total weight of its relevant documents moves with every direction."""
        moves = self.moves(of_runs, document)
        return np.stack([moves[number].T @ own.weight for own, number in zip(of_runs, document, strict=True)])

    def remarks(self) -> list[str]:
        """What a reader must know, in sentences: which urns were fitted, and how far they can be trusted."""
        sentences = []
        if len(self.fits) > 1:
            some = [f"{name} {fit}" for name, fit in list(self.fits.items())[:SHOWN]]
            more = [f"and {len(self.fits) - SHOWN} more"] if len(self.fits) > SHOWN else []
            sentences.append(f"Urns, with what is plausible of each at 95%: {'; '.join([*some, *more])}.")
        sentences.append(
            "An urn takes all topics of a run for alike, which real ones are not: its intervals are too short there. "
            "For TREC-8's 129 runs, judged to depth 10, 3 hold the official mean. Trust the certain bounds."
        )
        return sentences

    def __str__(self) -> str:
        if len(self.fits) == 1:
            return f"q from an urn with {next(iter(self.fits.values()))}"
        return "q from an urn for each run"


def estimate_urn(
    runs: Sequence[Run],
    facts: TopicFacts,
    assumptions: Assumptions,
    *,
    rel: float = 1.0,
    n_documents: int | None = None,
    depth: int = 100,
) -> UrnEstimate:
    """Fit an urn to each run's judged beginnings; it holds ``n_documents`` (else as many as the longest list)."""
    fits, topics, outlooks, pooled = {}, {}, {}, {}
    for run in runs:
        batches = list(joined_run(run, facts, assumptions).batches)
        prefix, topic, longest = judged_beginnings(batches, rel=rel, depth=depth)
        if not topic.size:
            raise UsageError(
                f"{run.name}: the first document of no topic is judged; an urn cannot be fitted. Use --q logistic."
            )
        fit = fit_urn(prefix, n_documents or max(longest, depth))
        fits[run.name], topics[run.name], pooled[run.name] = fit, topic, looks_pooled(batches)
        outlooks[run.name] = fit.outlook(max(depth, int(fit.drawn[0].max()) + depth // 2))
    return UrnEstimate(fits, topics, outlooks, pooled)


def judged_beginnings(batches: Sequence[Rankings], *, rel: float = 1.0, depth: int = 100) -> tuple[Floats, Ints, int]:
    """Each list's relevance down to its first unjudged document (NaN from there), its topic, the longest length."""
    rows, topics, longest = [], [], 1
    for rankings in batches:
        width = min(depth, rankings.width)
        relevant = np.full((rankings.length.size, depth), np.nan)
        inside = rankings.present[:, :width] & ~rankings.holes[:, :width]
        relevant[:, :width] = np.where(inside, rankings.grade[:, :width] >= rel, np.nan)
        relevant[np.cumsum(np.isnan(relevant), axis=-1) > 0] = np.nan
        some = ~np.isnan(relevant[:, 0])
        rows.append(relevant[some])
        topics.append(rankings.topic[some])
        longest = max(longest, int(rankings.length.max(initial=1)))
    return np.concatenate(rows), np.concatenate(topics), longest


def estimation_slopes(
    model: RelevanceProbability, of_runs: Sequence[UnjudgedDocuments], document: Sequence[Ints]
) -> tuple[Floats, Floats]:
    """How each run's expected weight of relevant documents moves with what a model estimated, and the covariance.

    ``document`` has the number of each run's unjudged documents. A model that is given moves nothing.
    """
    if isinstance(model, Estimate):
        return np.stack([model.slope(unjudged) for unjudged in of_runs]), model.covariance
    slope = model.slopes(of_runs, document) if isinstance(model, UrnEstimate) else np.zeros((len(of_runs), 1))
    return slope, np.eye(slope.shape[1])


def lowest_relevant_grade(measure: Measure, facts: TopicFacts) -> float:
    """From which grade on a document is relevant: the measure's own, or for gains the least that is judged above 0."""
    if not measure.graded:
        return measure.rel
    known = facts.grade[facts.grade > 0]
    return float(min(known.min(initial=np.inf), 1.0))


class ChosenModels:
    """The probabilities asked for; those estimated from judgments are fitted once for each kind of relevance."""

    def __init__(
        self,
        given: Any,
        otherwise: float | None,
        runs: list[Run],
        facts: TopicFacts,
        assumptions: Assumptions,
        rankings_of_runs: Sequence[list[Rankings]] | None = None,
    ) -> None:
        self.runs, self.facts, self.assumptions, self.rankings_of_runs = runs, facts, assumptions, rankings_of_runs
        self.kind = given if isinstance(given, str) and given in KINDS else None
        self.given = None if self.kind else as_relevance_probability(given, otherwise)
        self._fitted: dict[Any, RelevanceProbability] = {}
        self._documents: RetrievedDocuments | None = None

    def of(self, measure: Measure) -> RelevanceProbability:
        """The model for documents relevant to this measure."""
        return self.given or self._fitted_once(measure if measure.graded else None, measure.rel)

    def of_grades(self, measure: Measure) -> RelevanceProbability:
        """The model for documents that have a grade which is relevant to this measure, however relevant it is."""
        return self.given or self._fitted_once(None, lowest_relevant_grade(measure, self.facts))

    def _fitted_once(self, graded: Measure | None, rel: float) -> RelevanceProbability:
        key = (graded is not None, rel)
        if key not in self._fitted and self.kind == "urn":
            self._fitted[key] = estimate_urn(self.runs, self.facts, self.assumptions, rel=rel)
        elif key not in self._fitted:
            collection = (self.runs, self.facts, self.assumptions)
            self._documents = self._documents or retrieved_documents(*collection, self.rankings_of_runs)
            self._fitted[key] = estimate(
                str(self.kind), *collection, measure=graded, rel=rel, documents=self._documents
            )
        return self._fitted[key]

    def unpooled(self) -> list[str]:
        """Runs whose first documents are not judged, where probabilities were estimated from documents at all."""
        known = dict(self._documents.pooled) if self._documents else {}
        for urn in self._urns():
            known |= urn.pooled
        return [name for name, pooled in known.items() if not pooled]

    def _urns(self) -> list[UrnEstimate]:
        return [model for model in self._fitted.values() if isinstance(model, UrnEstimate)]

    def remarks(self) -> list[str]:
        """What a reader of estimated probabilities must know, in sentences."""
        sentences = list(dict.fromkeys(remark for urn in self._urns() for remark in urn.remarks()))
        apart = self.unpooled()
        if not apart:
            return sentences
        some = ", ".join(apart[:5]) + (f" and {len(apart) - 5} more" if len(apart) > 5 else "")
        return [
            *sentences,
            f"{some}: fewer than {POOLED} are judged, so that the estimate rests on what other runs found; trust the "
            "certain bounds, not the probabilities.",
        ]


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

    def rows(self) -> list[dict[str, float]]:
        """A dict for each bin."""
        return plain_rows(("predicted", "observed", "documents"), self.predicted, self.observed, self.count.tolist())


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
    documents = retrieved_documents(runs, facts, assumptions)
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
        fit = estimate(kind, runs, facts, assumptions, measure=measure, documents=documents, training=training)
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
