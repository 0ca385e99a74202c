"""Any measure under probabilities of relevance: what unjudged documents turn out to be is drawn many times.

A document is relevant with its probability, independently of the others and in all runs alike; how relevant, is drawn
from the grades of judged relevant documents. Where probabilities were estimated, each draw takes its own from what the
estimate leaves open. Draw i of one topic goes with draw i of every other: the mean over topics has draws too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.score_differences import TOLERANCE, merit
from rankbounds.measures import Measure
from rankbounds.probability.completions import Completions, OpenCollection
from rankbounds.probability.models.estimates import Estimate
from rankbounds.probability.models.groups_left_out import GroupsLeftOut
from rankbounds.probability.models.probabilities import RelevanceProbability
from rankbounds.probability.models.relevant_grades import RelevantGrades, centred
from rankbounds.stats.logistic import expit

CACHED_CELLS = 1 << 16
"""So many documents are drawn at a time: few enough to stay in the processor's cache."""
KEPT_LISTS = 8
"""The completed lists of so many runs are kept while pairs of runs are scored."""
KEPT_DOCUMENTS = 1 << 21
"""So many documents that turned out relevant are kept for other measures."""


class DrawnCompletions:
    """Seeded draws of what the unjudged documents of a collection turn out to be, for one measure."""

    def __init__(
        self, collection: OpenCollection, measure: Measure, model: RelevanceProbability, samples: int, seed: int
    ) -> None:
        self.collection, self.measure, self.model = collection, measure, model
        self.samples, self.seed = samples, seed
        if isinstance(model, GroupsLeftOut):
            self.grades = RelevantGrades.near_the_top(measure, collection.facts, collection.any_list.values())
        else:
            self.grades = RelevantGrades.of(measure, collection.facts)
        self._features: Floats | None = None
        if isinstance(model, Estimate) and len(collection):
            self._features, self._covariance = collection.of_first_run(model.features_of), model.covariance
            self.chance = expit(self._features @ model.coefficients)
        else:
            self.chance = collection.mean_over_runs([model(unjudged) for unjudged in collection.unjudged])
        if isinstance(model, GroupsLeftOut) and len(collection):
            # A document moves with what was fitted, and with the runs that hold it.
            fitted = [model.features_of(unjudged) for unjudged in collection.unjudged]
            columns = [collection.mean_over_runs(list(each)) for each in zip(*(part.T for part in fitted), strict=True)]
            # (Held by two, it moves with both, no further than with one.)
            with_runs = collection.held / np.sqrt(np.maximum(collection.held.sum(axis=0), 1))
            self._features = np.stack([*columns, *with_runs], axis=-1)
            self._covariance = np.zeros((self._features.shape[1],) * 2)
            self._covariance[: len(columns), : len(columns)] = model.covariance
            shifts = np.arange(len(columns), len(self._covariance))
            self._covariance[shifts, shifts] = model.shift**2
            nearest = np.where(collection.held, collection.rank, collection.length.max()).min(axis=0)
            self.chance = np.where(model.too_deep(nearest), 0.0, self.chance)

    def again(self, samples: int, seed: int | None = None) -> DrawnCompletions:
        drawn = copy(self)
        drawn.__dict__.pop("_moved", None)
        drawn.samples, drawn.seed = samples, self.seed if seed is None else seed
        return drawn

    @cached_property
    def _variance(self) -> Floats:
        assert self._features is not None
        return np.asarray(((self._features @ self._covariance) * self._features).sum(axis=-1))

    @cached_property
    def _moved(self) -> Floats:
        rng = np.random.default_rng((self.seed, 1))
        covariance = self._covariance
        nothing = np.zeros(len(covariance))
        return rng.multivariate_normal(nothing, covariance, self.samples, method="eigh", check_valid="ignore")

    def completed(self, topics: Ints) -> Completions:
        """The draws of these topics; other measures with the same model have the same documents relevant in them."""
        kept, parts = self.collection.drawn, []
        for place, topic in enumerate(topics.tolist()):
            key = (id(self.model), self.seed, topic)
            samples, _, drawn = kept.get(key, (0, None, None))
            if drawn is None or samples < self.samples:
                drawn = self._relevant(topic)
                if len(self.collection.runs) > 1:  # of one run, they are asked for once
                    if self.collection.drawn_documents + drawn[0].size > KEPT_DOCUMENTS:
                        kept.clear()
                        self.collection.drawn_documents = 0
                    self.collection.drawn_documents += drawn[0].size
                    kept[key] = self.samples, self.model, drawn
            first = int(np.searchsorted(drawn[0], self.samples))  # fewer draws are the first ones of more
            parts.append((np.full(first, place), *(column[:first] for column in drawn)))
        at, draw, document, uniform = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Completions(topics, self.samples, at, draw, document, self.grades.drawn(uniform))

    def _relevant(self, topic: int) -> tuple[Ints, Ints, Floats]:
        begin, end = self.collection.first[topic : topic + 2].tolist()
        possible = begin + np.flatnonzero(self.chance[begin:end])
        chance, size = self.chance[possible], possible.size
        rows = max(1, CACHED_CELLS // max(size, 1))
        starts = range(0, self.samples, rows)
        most, odds, features = chance, chance, None
        moved: Floats = np.empty((self.samples, 0))
        if self._features is not None and size:
            # Few documents are ever relevant: their own chance in a draw is worked out where it can matter.
            features, moved = self._features[possible], self._moved
            odds = centred(chance, self._variance[possible] if isinstance(self.model, GroupsLeftOut) else 0.0)
            farthest = np.max([(moved[start : start + rows] @ features.T).max(axis=0) for start in starts], axis=0)
            most = expit(odds + farthest)
        # Each topic has its own stream: what is drawn for it does not depend on the other topics.
        stream = np.random.default_rng((self.seed, 2, topic))
        buffer: Floats = np.empty((rows, size))
        parts = []
        for start in starts:
            drawn = buffer[: self.samples - start]
            stream.random(out=drawn)
            draw, column = np.divmod(np.flatnonzero(drawn < most), max(size, 1))
            uniform: Floats = drawn[draw, column]
            draw += start
            own = chance[column]
            if features is not None:
                own = expit(odds[column] + np.einsum("ij,ij->i", moved[draw], features[column]))
                met = uniform < own
                uniform, draw, column, own = uniform[met], draw[met], column[met], own[met]
            parts.append((draw.astype(np.int32), possible[column].astype(np.int32), uniform / own))
        draw, document, uniform = (np.concatenate(column) for column in zip(*parts, strict=True))
        return draw, document, uniform

    def scores(self, groups: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, Ints, Floats]]:
        """For each group of runs and part of the topics: the group, the topics, scores by run, topic and draw."""
        collection, measure = self.collection, self.measure
        for topics in collection.parts(measure, self.samples):
            completed = self.completed(topics)
            lists = lru_cache(KEPT_LISTS)(partial(collection.lists, measure=measure, completed=completed))
            for at, group in enumerate(groups):
                facts = collection.facts_of(completed, group)
                yield at, topics, np.stack([collection.values(lists(run), measure, facts) for run in group])

    def cells(self, pairs: int) -> float:
        depth = self.collection.depth(self.measure)
        length = self.collection.length
        read = float((length if depth is None else np.minimum(length, depth)).sum(axis=1).mean())
        return 2 * pairs * read + 4 * len(self.collection)


@dataclass(frozen=True, eq=False)
class DrawnDifferences:
    """Draws (pairs by draws) of mean differences; ``scale`` is how large scores are. NaN: a draw is infinite."""

    measure: Measure
    draws: Floats
    scale: Floats

    @cached_property
    def _finite(self) -> Floats:
        return np.where(np.isfinite(self.draws).all(axis=-1, keepdims=True), self.draws, np.nan)

    @property
    def mean(self) -> Floats:
        return self._finite.mean(axis=-1)

    @property
    def sd(self) -> Floats:
        varies = ~(np.ptp(self._finite, axis=-1) <= TOLERANCE * self.scale)
        return np.where(varies, self._finite.std(axis=-1, ddof=1), 0.0)

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        low, high = np.quantile(self._finite, ((1 - confidence) / 2, (1 + confidence) / 2), axis=-1)
        return low, high

    @cached_property
    def better(self) -> tuple[Floats, Floats]:
        lead, slack = merit(self.draws, self.measure), TOLERANCE * self.scale[:, None]
        return (lead > slack).mean(axis=-1), (lead < -slack).mean(axis=-1)

    @property
    def error(self) -> Floats:
        return np.maximum(*(error_of_share(share, self.draws.shape[-1]) for share in self.better))


def error_of_share(share: Floats, draws: int) -> Floats:
    """The standard error of a share of draws. All or none of them do not make it certain: one more of each is added."""
    likely = (share * draws + 1) / (draws + 2)
    return np.sqrt(likely * (1 - likely) / draws)


def draw_differences(drawn: DrawnCompletions, pairs: Sequence[tuple[int, int]]) -> DrawnDifferences:
    has_list = drawn.collection.has_list
    total, scale = np.zeros((len(pairs), drawn.samples)), np.zeros(len(pairs))
    for at, topics, scores in drawn.scores(pairs):
        both: Flags = np.logical_and.reduce(has_list[list(pairs[at])])[topics]
        one, other = scores[:, both]
        with np.errstate(invalid="ignore"):  # of searches that never end; where neither does, there is no difference
            total[at] += np.where(one == other, 0.0, one - other).sum(axis=0)
        scale[at] += np.where(np.isfinite(scores[:, both]), np.abs(scores[:, both]), 0.0).max(axis=-1).sum()
    topics_of_both = np.array([max(int(has_list[list(pair)].all(axis=0).sum()), 1) for pair in pairs])
    return DrawnDifferences(drawn.measure, total / topics_of_both[:, None], scale / topics_of_both)
