"""Probabilities of relevance estimated from the judgments at hand.

A document that many runs retrieved, and near the top, is likelier to be relevant; so is any document of a topic whose
judged documents often are. The rate of relevance among judged documents is fitted by these facts and carried over to
the unjudged ones. That is an extrapolation: pools hold the documents that runs ranked high, unjudged documents are
deeper and rarer, and nothing in the judgments can show that the trend goes on below the pool. ``reliability`` checks
the fit on held-out documents, and ``deeper=True`` holds out those that were found deepest, which is the harsher and
fairer test.

That a document is unjudged says something itself: no run that was pooled had it near the top. So ranks in runs whose
first documents are (nearly) all judged, as pooling leaves them, are told apart from ranks in the other runs; and since
a good system's rank says more than a poor one's, runs are grouped by how often their judged documents are relevant.
Without that, the top documents of a poor run that came too late for the pool would look as good as the pool's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import number_pairs
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.probability.unjudged_documents import Holes, joined_run
from rankbounds.probability.urn import UrnFit, fit_urn
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

KINDS = ("logistic", "isotonic", "urn")
POOLED_DEPTH, POOLED_SHARE = 5, 0.95
"""A run looks pooled when at least this share of its first documents, down to this depth, is judged."""
GROUPS = 6
"""Runs that look pooled are put into at most so many groups of about the same quality, and so are the others."""
RIDGE = 1.0
"""A pull towards coefficients of 0 (as if each had a normal distribution of sd 1), felt where judgments are few."""


@dataclass(frozen=True, eq=False)
class RetrievedDocuments:
    """Every document that some run retrieved for a judged topic, once: where and how often, and its grade if judged."""

    topic: Ints
    best_rank: Ints
    """A row for each group of runs; ``nowhere`` where none of the group has the document."""
    retrieved_by: Ints
    grade: Floats
    group: dict[str, int]
    """The group of each run."""
    pooled: dict[str, bool]
    """For each run, does it look pooled: are its first documents judged?"""
    nowhere: int
    by_run: dict[str, Ints]
    """For each run, the document that stands in each row of its table (-1: of a topic without judgments)."""

    @property
    def judged(self) -> Flags:
        """Which are judged."""
        return ~np.isnan(self.grade)


def gather(
    runs: Sequence[Run],
    facts: TopicFacts,
    assumptions: Assumptions,
    rankings_of_runs: Sequence[list[Rankings]] | None = None,
) -> RetrievedDocuments:
    """All documents that the runs retrieved; ``rankings_of_runs`` are those of ``joined_run``, if at hand."""
    numbers = number_pairs([run.pairs for run in runs])
    size = max((int(one.max(initial=-1)) for one in numbers), default=-1) + 1
    batches = rankings_of_runs or [list(joined_run(run, facts, assumptions).batches) for run in runs]
    pooled = [_looks_pooled(parts) for parts in batches]
    group = _groups(batches, pooled)
    topic, retrieved_by, grade = np.full(size, -1), np.zeros(size, dtype=np.int64), np.full(size, np.nan)
    nowhere = 1 + max(rankings.width for parts in batches for rankings in parts)
    best_rank = np.full((max(group) + 1, size), nowhere)
    for parts, number, its_group in zip(batches, numbers, group, strict=True):
        ranks = best_rank[its_group]
        for rankings in parts:
            assert rankings.row is not None
            line, rank = np.nonzero(rankings.row >= 0)
            document = number[rankings.row[line, rank]]
            topic[document] = rankings.topic[line]
            retrieved_by[document] += 1
            ranks[document] = np.minimum(ranks[document], rank + 1)
            grade[document] = rankings.grade[line, rank]
    known = topic >= 0
    place = np.cumsum(known) - 1
    return RetrievedDocuments(
        topic[known],
        best_rank[:, known],
        retrieved_by[known],
        grade[known],
        {run.name: its_group for run, its_group in zip(runs, group, strict=True)},
        {run.name: looks for run, looks in zip(runs, pooled, strict=True)},
        nowhere,
        {run.name: np.where(known[one], place[one], -1) for run, one in zip(runs, numbers, strict=True)},
    )


def _looks_pooled(parts: list[Rankings]) -> bool:
    first = np.concatenate([one.holes[:, :POOLED_DEPTH][one.present[:, :POOLED_DEPTH]] for one in parts])
    return bool(first.size) and float(first.mean()) <= 1 - POOLED_SHARE


def _groups(batches: Sequence[list[Rankings]], pooled: list[bool]) -> list[int]:
    """A group for each run: those that look pooled and the others apart, in each part by quality."""
    quality = []
    for parts in batches:
        # The rate of relevance among judged documents, higher ranks counting more.
        discount = [(one.present & ~one.holes) / np.arange(1, one.width + 1) for one in parts]
        met = sum(float((one.relevant() * each).sum()) for one, each in zip(parts, discount, strict=True))
        quality.append(met / max(sum(float(each.sum()) for each in discount), 1e-300))
    group = np.zeros(len(batches), dtype=np.int64)
    used = 0
    for looks_pooled in (True, False):
        members = np.flatnonzero(np.array(pooled) == looks_pooled)
        ordered = members[np.argsort(-np.array(quality)[members], kind="stable")]
        for part in np.array_split(ordered, min(GROUPS, max(1, ordered.size))):
            group[part] = used
            used += bool(part.size)
    return group.tolist()


@dataclass(frozen=True, eq=False)
class Estimate:
    """A fit of relevance by best ranks, number of runs and topic. Called with holes, it gives their probabilities.

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

    def features_of(self, holes: Holes) -> Floats:
        """The features of a run's holes; what lies beyond the end of a list is met there and nowhere else."""
        documents = self.documents
        rank = np.full((len(documents.best_rank), holes.rank.size), documents.nowhere)
        rank[documents.group[holes.run.name]] = np.minimum(holes.rank, documents.nowhere)
        found_by = np.ones(holes.rank.size, dtype=np.int64)
        place = documents.by_run[holes.run.name][holes.row[holes.retrieved]]
        rank[:, holes.retrieved] = documents.best_rank[:, place]
        found_by[holes.retrieved] = documents.retrieved_by[place]
        return self.features(holes.topic, rank, found_by)

    def predict(self, features: Floats) -> Floats:
        """Probabilities from features."""
        score = features @ self.coefficients
        if self.steps is None:
            return _logistic(score)
        begin, q = self.steps
        return q[np.maximum(np.searchsorted(begin, score, side="right") - 1, 0)]

    def __call__(self, holes: Holes) -> Floats:
        """By the document of each hole."""
        return self.predict(self.features_of(holes))

    def slope(self, holes: Holes) -> Floats:
        """How the expected total weight of the relevant holes moves with each coefficient."""
        features = self.features_of(holes)
        q = _logistic(features @ self.coefficients)
        return (holes.weight * q * (1 - q)) @ features

    def __str__(self) -> str:
        return f"q estimated ({self.kind})"


def estimate(
    kind: str,
    runs: Sequence[Run],
    facts: TopicFacts,
    assumptions: Assumptions,
    *,
    measure: Measure | None = None,
    documents: RetrievedDocuments | None = None,
    training: Flags | None = None,
) -> Estimate:
    """Fit ``logistic`` or ``isotonic`` to the judged documents (``training``: to some of them).

    What is fitted is whether a document is relevant to ``measure``; for a graded measure, its gain as a share of the
    largest.
    """
    documents = documents or gather(runs, facts, assumptions)
    use = documents.judged if training is None else documents.judged & training
    if not use.any():
        raise UsageError("No retrieved document is judged: there is nothing to estimate q from. Give --q a number.")
    relevant = _relevance(documents.grade[use], facts, measure)
    topic, topics = documents.topic[use], len(facts.query_ids)
    rate = (relevant.sum() + 0.5) / (relevant.size + 1)
    # Ten documents at the overall rate stand behind each topic's own: topics with few judgments lean on the others.
    met = np.bincount(topic, relevant, topics) + 10 * rate
    missed = np.bincount(topic, 1 - relevant, topics) + 10 * (1 - rate)
    fit = Estimate(kind, documents, np.log(met / missed), np.empty(0), np.empty(0))
    features = fit.features(topic, documents.best_rank[:, use], documents.retrieved_by[use])
    # A document must not help to predict itself: in the fit its topic's odds are those of the other documents.
    features[:, 1] = np.log((met[topic] - relevant) / (missed[topic] - (1 - relevant)))
    coefficients, covariance = _fit_logistic(features, relevant, topic)
    fit = replace(fit, coefficients=coefficients, covariance=covariance)
    return replace(fit, steps=_isotonic(features @ coefficients, relevant)) if kind == "isotonic" else fit


def _relevance(grade: Floats, facts: TopicFacts, measure: Measure | None) -> Floats:
    """Between 0 and 1: how far a document of this grade counts as relevant to the measure."""
    if getattr(measure, "graded", False):
        return facts.rule(grade) / facts.max_gain
    return (grade >= getattr(measure, "rel", 1.0)).astype(float)


def _logistic(score: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(score, -500, 500)))


def _fit_logistic(features: Floats, relevant: Floats, cluster: Ints) -> tuple[Floats, Floats]:
    """Coefficients by Newton's method, and their covariance with dependence inside clusters allowed for."""
    size = features.shape[1]
    ridge = RIDGE * np.eye(size)
    ridge[0, 0] = 1e-3 * RIDGE
    beta = np.zeros(size)
    for _ in range(100):
        q = _logistic(features @ beta)
        curvature = (features.T * (q * (1 - q))) @ features + ridge
        step = np.linalg.solve(curvature, features.T @ (relevant - q) - ridge @ beta)
        beta = beta + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-10:
            break
    q = _logistic(features @ beta)
    bread = np.linalg.inv((features.T * (q * (1 - q))) @ features + ridge)
    score = np.zeros((int(cluster.max()) + 1, size))
    np.add.at(score, cluster, features * (relevant - q)[:, None])
    return beta, bread @ (score.T @ score) @ bread


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
        return [
            {"predicted": predicted, "observed": observed, "documents": count}
            for predicted, observed, count in zip(
                self.predicted.tolist(), self.observed.tolist(), self.count.tolist(), strict=True
            )
        ]


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
    documents = gather(runs, facts, assumptions)
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


@dataclass(frozen=True, eq=False)
class UrnEstimate:
    """Probabilities by topic and rank from an urn fitted to each run's judged beginnings."""

    fits: dict[str, UrnFit]
    topics: dict[str, Ints]
    chances: dict[str, Floats]

    def __call__(self, holes: Holes) -> Floats:
        """By run, topic and rank; deeper than the urn was followed, the last rank's probability goes on."""
        name = holes.run.name
        table = self.chances[name]
        place = np.full(len(holes.facts.query_ids), -1)
        place[self.topics[name]] = np.arange(self.topics[name].size)
        at = place[holes.topic]
        column = np.minimum(holes.rank, table.shape[1]) - 1
        # A topic whose first document is unjudged has no evidence of its own: the other topics' mean stands in.
        return np.where(at >= 0, table[at, column], table.mean(axis=0)[column])

    def __str__(self) -> str:
        if len(self.fits) == 1:
            fit = next(iter(self.fits.values()))
            return f"q from an urn with q={fit.q:.3g}, w={fit.relevance_ratio:.3g}"
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
    fits, topics, chances = {}, {}, {}
    for run in runs:
        prefix, topic, longest = judged_beginnings(run, facts, assumptions, rel=rel, depth=depth)
        if not topic.size:
            raise UsageError(
                f"{run.name}: the first document of no topic is judged; an urn cannot be fitted. Use --q logistic."
            )
        fit = fit_urn(prefix, n_documents or max(longest, depth))
        fits[run.name], topics[run.name] = fit, topic
        chances[run.name] = fit.chances(2 * depth)
    return UrnEstimate(fits, topics, chances)


def judged_beginnings(
    run: Run, facts: TopicFacts, assumptions: Assumptions, *, rel: float = 1.0, depth: int = 100
) -> tuple[Floats, Ints, int]:
    """Each list's relevance down to its first unjudged document (NaN from there), its topic, the longest length."""
    rows, topics, longest = [], [], 1
    for rankings in joined_run(run, facts, assumptions).batches:
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
