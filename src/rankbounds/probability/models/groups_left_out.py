"""Probabilities of relevance for runs that were not pooled, calibrated by leaving groups out of the pool.

What is an unjudged document worth that a run found and the pool did not? Other runs answer: leave a group of runs out
of the pool, and the documents that it alone brought in become unjudged documents of its runs, whose relevance is known.
(Only ranks down to the pool's depth are looked at: further down, hardly any such document is judged.) Their rate of
relevance is fitted, by logistic regression, to

- the run's judged precision, documents at rank k counting 1/k (judged without the group),
- the document's rank in the run,
- how many other groups retrieved it, however deep,
- the rate of relevance among the judged documents of its topic,

and carried over to the run in question, whose own group is left out of the pool all the while. A group of many such
documents counts as the square root of their number, so that no single group decides the fit.

Then each group is predicted by the others. A run's error is the weight of its left-out documents that are relevant
minus its expected value; its variance is that of documents which are relevant independently of each other, plus that of
a shift of all log odds of the run, whose size the errors of all runs show (method of moments). The conformal quantile
of |error| / sd says how many standard deviations an interval must reach: were the group in question exchangeable with
the others, it would hold the truth with the probability asked for, but for what all fits share. Each group counts once,
its runs sharing the weight.

Sources: Webber and Park, Score adjustment for correction of pooling bias, SIGIR 2009 (leaving systems out of the pool);
Barber, Candes, Ramdas and Tibshirani, Predictive inference with the jackknife+, 2021; Dunn, Wasserman and Ramdas,
Distribution-free prediction sets for two-layer hierarchical models, 2023 (one weight for each group).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import number_pairs
from rankbounds.measures import Measure
from rankbounds.probability.documents import UnjudgedDocuments
from rankbounds.probability.models.calibrated import Calibrated, weight_of_ranks
from rankbounds.probability.models.estimates import all_relevant
from rankbounds.probability.pool_depth import PoolDepth
from rankbounds.rankings.rankings import Rankings
from rankbounds.stats.logistic import expit, fit_logistic, robust_covariance

PENALTY = np.array([1e-3, 1.0, 1.0, 1.0, 1.0])
"""A pull of each coefficient towards 0, felt where left-out documents are few."""
TOPIC_PRIOR = 10.0
"""How many documents at the overall rate of relevance stand behind each topic's own."""
ROUNDS = 20
"""How often the variance of the shift is estimated anew with weights that depend on it."""
TOO_DEEP, MOST = 2, 0.5
"""Documents below twice the pool's depth are too deep to learn about; where more than half of what is open lies there,
an interval is not calibrated."""
MANY_GRADES = 2
"""Of relevant documents, as many as coverage was found to hold for."""
NOBODY, EVERYBODY = -1, -2
"""Who misses a document when a group leaves the pool: none of the other groups, or all of them."""


class GroupedLists:
    """The documents of all runs, each once: who retrieved it, and which groups brought it into the pool."""

    def __init__(
        self, runs: Sequence[Run], batches: Sequence[list[Rankings]], topics: int, group: Ints, depth: PoolDepth
    ) -> None:
        self.names = {run.name: at for at, run in enumerate(runs)}
        self.group, self.topics, self.depth = group, topics, depth.pool
        self.groups = int(group.max()) + 1
        self.numbers = number_pairs([run.pairs for run in runs])
        size = 1 + max(int(number.max(initial=-1)) for number in self.numbers)
        self.topic, self.grade = np.zeros(size, dtype=np.int64), np.full(size, np.nan)
        self.judged_entries: list[tuple[Ints, Ints]] = []
        """By run: its judged documents and their ranks."""
        self.unjudged_ranks: list[Ints] = []
        pooled: list[Ints] = []
        for number, parts, is_pooled in zip(self.numbers, batches, depth.pooled.tolist(), strict=True):
            documents: list[Ints] = [np.empty(0, dtype=np.int64)]
            ranks: list[Ints] = [np.empty(0, dtype=np.int64)]
            for rankings in parts:
                assert rankings.row is not None
                line, column = np.nonzero(rankings.row >= 0)
                document = number[rankings.row[line, column]]
                self.topic[document] = rankings.topic[line]
                self.grade[document] = rankings.grade[line, column]
                documents.append(document)
                ranks.append(column + 1)
            document, rank = np.concatenate(documents), np.concatenate(ranks)
            pooled.append(document[rank <= depth.pool] if is_pooled else document[:0])
            known = ~np.isnan(self.grade[document])
            self.judged_entries.append((document[known], rank[known]))
            self.unjudged_ranks.append(rank[~known])
        self.judged: Flags = ~np.isnan(self.grade)
        self.held, self.pooled_by = np.zeros((2, size), dtype=np.int64)
        self.first, self.last = np.full(size, self.groups), np.full(size, NOBODY)
        for number_of_group in range(self.groups):
            self.held += self.any_of(number_of_group, self.numbers)
            brought = self.any_of(number_of_group, pooled)
            self.pooled_by += brought
            self.first[brought] = np.minimum(self.first[brought], number_of_group)
            self.last[brought] = number_of_group
        few = self.judged & (self.pooled_by >= 1) & (self.pooled_by <= 2)
        kept = [few[document] for document, _ in self.judged_entries]
        self.few_run = np.repeat(np.arange(len(runs)), [int(np.count_nonzero(some)) for some in kept])
        """Entries of judged documents that one group or two brought into the pool: their runs, documents and ranks."""
        entries = zip(self.judged_entries, kept, strict=True)
        parts_of_few = [(document[some], rank[some]) for (document, rank), some in entries]
        self.few_document, self.few_rank = (np.concatenate(column) for column in zip(*parts_of_few, strict=True))

    def any_of(self, group: int, of_runs: Sequence[Ints]) -> Flags:
        """Which documents are among those that are given of the group's runs."""
        met: Flags = np.zeros(self.grade.size, dtype=bool)
        for at in np.flatnonzero(self.group == group).tolist():
            met[of_runs[at]] = True
        return met

    def missed_by(self, target: int) -> Ints:
        """Which group would miss each document, were it and the target's group left out of the pool."""
        alone, two = self.pooled_by == 1, self.pooled_by == 2
        missed = np.where(alone, self.first, NOBODY)
        missed[alone & (self.first == target)] = EVERYBODY
        missed = np.where(two & (self.first == target), self.last, missed)
        return np.where(two & (self.last == target), self.first, missed)


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit for one group in question, and how well it predicts the others: an entry for each of their runs."""

    coefficients: Floats
    covariance: Floats
    shift: float
    """The standard deviation of the shift of log odds."""
    error: Floats
    variance: Floats
    group: Ints

    @cached_property
    def groups(self) -> int:
        """How many groups were left out."""
        return np.unique(self.group).size

    @cached_property
    def share(self) -> Floats:
        """The weight of each run: those of a group add up to 1."""
        return 1 / np.bincount(self.group)[self.group]

    def reach(self, confidence: float) -> float:
        """How many standard deviations hold the error of a group with this probability."""
        score = np.abs(self.error) / np.sqrt(self.variance)
        return weighted_quantile(score, self.share, confidence * (self.groups + 1))

    @cached_property
    def _pairs(self) -> tuple[Floats, Floats]:
        one, other = np.triu_indices(self.error.size, 1)
        apart = self.group[one] != self.group[other]
        one, other = one[apart], other[apart]
        sd = np.sqrt(self.variance[one] + self.variance[other])
        return np.abs(self.error[one] - self.error[other]) / sd, self.share[one] * self.share[other]

    def reach_of_pair(self, confidence: float) -> float:
        """The same for the difference of two groups."""
        score, share = self._pairs
        return weighted_quantile(score, share, confidence * (self.groups + 1) * (self.groups - 1) / 2)


def weighted_quantile(score: Floats, share: Floats, needed: float) -> float:
    """Return the least score that scores of this total weight do not exceed; infinity where there are too few."""
    order = np.argsort(score)
    place = int(np.searchsorted(np.cumsum(share[order]), needed - 1e-9))
    return float(score[order][place]) if place < score.size else math.inf


class GroupsLeftOut(Calibrated):
    """Probabilities calibrated by leaving groups out of the pool, for one measure.

    ``relevance`` is that of each document of the lists, between 0 and 1; of unjudged ones it is not read.
    """

    def __init__(self, lists: GroupedLists, relevance: Floats, measure: Measure) -> None:
        self.lists, self.measure = lists, measure
        self.relevance = np.where(lists.judged, relevance, 0.0)
        met, seen = [], []
        for document, rank in lists.judged_entries:
            met.append(float((self.relevance[document] / rank).sum()))
            seen.append(float((1 / rank).sum()))
        self._met, self._seen = np.array(met), np.array(seen)
        judged = lists.topic[lists.judged]
        self._judged = np.bincount(judged, minlength=lists.topics)
        self._relevant: Floats = np.bincount(judged, self.relevance[lists.judged], lists.topics).astype(np.float64)
        self.all_relevant = all_relevant(lists.grade[lists.judged], relevance[lists.judged])
        self._fits: dict[int, Fit | None] = {}
        self._start: Floats = np.zeros(PENALTY.size)
        """Where a fit begins: at the last one, which is near."""

    def fit(self, run: str) -> Fit | None:
        """The fit for the group of a run; None where no group has a document of its own, or all are relevant."""
        group = int(self.lists.group[self.lists.names[run]])
        if group not in self._fits:
            self._fits[group] = self._leave_out(group)
        return self._fits[group]

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """Return the probability of each; NaN where there is nothing to learn from."""
        fit = self.fit(unjudged.run.name)
        if fit is None:
            return np.full(unjudged.rank.size, np.nan)
        return expit(self.features_of(unjudged) @ fit.coefficients)

    def covariance(self, run: str) -> Floats:
        """Return that of the fitted coefficients, groups being independent of each other."""
        fit = self.fit(run)
        return np.zeros((PENALTY.size, PENALTY.size)) if fit is None else fit.covariance

    def shift(self, run: str) -> float:
        """Return the standard deviation of the shift of a run's log odds."""
        fit = self.fit(run)
        return 0.0 if fit is None else fit.shift

    def reach(self, run: str, confidence: float) -> float:
        """Return how many standard deviations an interval reaches to either side."""
        fit = self.fit(run)
        return math.inf if fit is None or self.out_of_sight(run) else fit.reach(confidence)

    def reach_of_pair(self, run: str, against: str, confidence: float) -> float:
        """Return the same for the difference of two runs: the most that pairs of groups and single ones ask for."""
        fits = [fit for name in (run, against) if (fit := self.fit(name)) is not None]
        return max(super().reach_of_pair(run, against, confidence), *(fit.reach_of_pair(confidence) for fit in fits), 0)

    def is_open(self, run: str) -> bool:
        """Return whether a run has an unjudged document that counts."""
        return bool(weight_of_ranks(self.measure, self.lists.unjudged_ranks[self.lists.names[run]]).any())

    def out_of_sight(self, run: str) -> bool:
        """Return whether other groups cannot show enough about a run's score.

        So it is with measures that all relevant documents of a topic are a part of (AP, recall): which topics these
        fall into matters, and independent draws miss it. With nDCG where relevant documents have many grades: those
        of unjudged documents make up the ideal ranking. And where most of what is open lies too deep.
        """
        rank = self.lists.unjudged_ranks[self.lists.names[run]]
        weight = weight_of_ranks(self.measure, rank)
        if not weight.any():
            return False
        deep = float(weight[rank > TOO_DEEP * self.lists.depth].sum()) > MOST * float(weight.sum())
        ideal = self.measure.graded and not self.measure.list_only
        many_grades = ideal and np.unique(self.lists.grade[self.lists.grade > 0]).size > MANY_GRADES
        return self.measure.vanishes or many_grades or deep

    def too_deep(self, rank: Ints) -> Flags:
        """Return which ranks are so deep in a list that the pool shows nothing, where documents there count too."""
        return (rank > TOO_DEEP * self.lists.depth) & (not self.measure.list_only)

    def groups_of(self, run: str) -> int:
        """Return how many groups a run's probabilities are calibrated on."""
        fit = self.fit(run)
        return 0 if fit is None else fit.groups

    def __str__(self) -> str:
        return "q calibrated by leaving groups out of the pool"

    def _features(self, precision: Floats, rank: Ints, others: Ints, among: int, topic_odds: Floats) -> Floats:
        odds = np.log((others + 0.5) / (among - others + 0.5))
        return np.stack([np.ones(rank.size), precision, np.log(rank), odds, topic_odds], axis=-1)

    def _topic_odds(self, relevant: Floats, judged: Floats | Ints) -> Floats:
        """By topic; the rate of all topics stands behind each."""
        rate = (relevant.sum() + 0.5) / (judged.sum() + 1)
        return np.log((relevant + TOPIC_PRIOR * rate) / (judged - relevant + TOPIC_PRIOR * (1 - rate)))

    def _precision(self, met: Floats, seen: Floats) -> Floats:
        return np.log((met + 0.25) / (seen - met + 0.25))

    def features_of(self, unjudged: UnjudgedDocuments) -> Floats:
        """Return the features of a run's unjudged documents; beyond the end of a list no other group has them."""
        lists, at = self.lists, self.lists.names[unjudged.run.name]
        others = np.zeros(unjudged.rank.size, dtype=np.int64)
        others[unjudged.retrieved] = lists.held[lists.numbers[at][unjudged.row[unjudged.retrieved]]] - 1
        precision = np.full(unjudged.rank.size, self._precision(self._met[at], self._seen[at]))
        odds = self._topic_odds(self._relevant, self._judged)[unjudged.topic]
        return self._features(precision, unjudged.rank, others, lists.groups - 1, odds)

    def _leave_out(self, target: int) -> Fit | None:
        lists = self.lists
        missed_by, of_target = lists.missed_by(target), lists.any_of(target, lists.numbers)
        group = lists.group[lists.few_run]
        owner = missed_by[lists.few_document]
        missed = (group != target) & ((owner == group) | (owner == EVERYBODY))
        left_out = missed & (owner == group) & (lists.few_rank <= lists.depth)
        if self.all_relevant or not left_out.any():
            return None
        runs, groups = self._met.size, lists.groups
        # As judged without these documents: precisions of runs, rates of topics.
        lost, at_rank = lists.few_run[missed], 1 / lists.few_rank[missed]
        met = self._met - np.bincount(lost, self.relevance[lists.few_document[missed]] * at_rank, runs)
        seen = self._seen - np.bincount(lost, at_rank, runs)
        run, document, rank = (part[left_out] for part in (lists.few_run, lists.few_document, lists.few_rank))
        group, topic, relevant = group[left_out], lists.topic[document], self.relevance[document]
        known, relevant_in = self._without(missed_by)
        odds = np.stack([self._topic_odds(*of_group) for of_group in zip(relevant_in, known, strict=True)])
        others = lists.held[document] - 1 - of_target[document]
        features = self._features(
            self._precision(np.maximum(met, 0.0), np.maximum(seen, met))[run], rank, others, max(groups - 2, 0),
            odds[group, topic],
        )  # fmt: skip
        siblings = np.bincount(lists.group)[group]
        weight = 1 / siblings / np.sqrt(np.bincount(group, 1 / siblings, groups)[group])
        coefficients, curvature = fit_logistic(features, relevant, PENALTY, weight, self._start)
        self._start = coefficients
        errors = weight * (relevant - expit(features @ coefficients))
        fitted = coefficients, robust_covariance(features, errors, group, curvature)
        without = self._without_each(features, relevant, weight, group, coefficients, curvature)
        chance = expit((features * without).sum(axis=-1))
        return self._errors(fitted, run, weight_of_ranks(self.measure, rank), relevant, chance)

    def _without(self, missed_by: Ints) -> tuple[Floats, Floats]:
        """By group left out and topic: how many documents remain judged, and how many of them are relevant."""
        lists = self.lists
        counts = []
        for value, total in ((np.ones(lists.judged.size), self._judged), (self.relevance, self._relevant)):
            everybody = lists.judged & (missed_by == EVERYBODY)
            own = lists.judged & (missed_by >= 0)
            cell = missed_by[own] * lists.topics + lists.topic[own]
            lost = np.bincount(cell, value[own], lists.groups * lists.topics).reshape(lists.groups, lists.topics)
            lost += np.bincount(lists.topic[everybody], value[everybody], lists.topics)
            counts.append(np.maximum(total - lost, 0.0))
        return counts[0], counts[1]

    def _without_each(
        self, features: Floats, relevant: Floats, weight: Floats, group: Ints, coefficients: Floats, curvature: Floats
    ) -> Floats:
        """For each document the coefficients that one step of Newton's method gives without its group."""
        chance = expit(features @ coefficients)
        order = np.argsort(group, kind="stable")
        present, begin = np.unique(group[order], return_index=True)
        gradient = (features * (weight * (relevant - chance))[:, None])[order]
        bend = weight * chance * (1 - chance)
        outer = (features[:, :, None] * features[:, None, :] * bend[:, None, None])[order]
        without = curvature - np.add.reduceat(outer, begin)
        step = np.linalg.solve(without, np.add.reduceat(gradient, begin)[..., None])[..., 0]
        return (coefficients - step)[np.searchsorted(present, group)]

    def _errors(
        self, fitted: tuple[Floats, Floats], run: Ints, weight: Floats, relevant: Floats, chance: Floats
    ) -> Fit | None:
        lists, runs = self.lists, self._met.size
        bend = weight * chance * (1 - chance)
        parts = np.stack((weight * (relevant - chance), weight * bend, bend))
        error, variance, slope = (np.bincount(run, part, runs).astype(np.float64) for part in parts)
        told = np.flatnonzero(slope > 1e-12)
        if not told.size:
            return None
        error, variance, slope, group = error[told], variance[told], slope[told], lists.group[told]
        share = 1 / np.bincount(group)[group]
        shift = 0.5
        for _ in range(ROUNDS):
            precise = share * (slope**2 / (variance + shift * slope**2)) ** 2
            shift = max(float((precise * (error**2 - variance) / slope**2).sum() / precise.sum()), 0.0)
        return Fit(*fitted, math.sqrt(shift), error, variance + shift * slope**2, group)
