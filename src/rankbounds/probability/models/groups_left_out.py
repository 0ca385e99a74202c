"""Probabilities of relevance for runs that were not pooled, calibrated by leaving groups out of the pool.

Without a group, the documents that it alone brought in (down to the pool's depth) become unjudged documents of its
runs, whose relevance is known. It is fitted by the run's judged precision (ranks counting 1/k), the rank, the number of
other groups that retrieved the document, and the topic's rate of relevance. A group of n such documents counts as
sqrt(n). Then each group is predicted by the others: its variance is that of independent documents, plus that of a shift
of all log odds of a run (method of moments), and the conformal quantile of |error| / sd says how far intervals reach.

Sources: Webber and Park, Score adjustment for correction of pooling bias, SIGIR 2009 (leaving systems out of the pool);
Barber, Candes, Ramdas and Tibshirani, Predictive inference with the jackknife+, 2021; Dunn, Wasserman and Ramdas,
Distribution-free prediction sets for two-layer hierarchical models, 2023 (one weight for each group).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.probability.documents import PoolDepth, UnjudgedDocuments
from rankbounds.probability.models.estimates import Estimate, all_relevant
from rankbounds.probability.models.probabilities import RelevanceProbability
from rankbounds.probability.models.relevant_grades import RelevantGrades, centred, weight_of_ranks
from rankbounds.rankings.documents import RetrievedDocuments
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts
from rankbounds.stats.logistic import expit, fit_logistic, robust_covariance

PENALTY = np.array([1e-3, 1.0, 1.0, 1.0, 1.0])
"""A pull of each coefficient towards 0, felt where left-out documents are few."""
TOPIC_PRIOR = 10.0
"""How many documents at the overall rate of relevance stand behind each topic's own."""
DRAWS, CELLS, FEWEST_DRAWS = 300, 1 << 20, 20
"""How often left-out documents are drawn, less often where lists would have more cells, and how often at least."""
ROUNDS = 20
"""How often the variance of the shift is estimated anew with weights that depend on it."""
FEWEST = 2
"""Of fewer groups nothing shows how far groups differ."""
TOO_DEEP, MOST = 2, 0.5
"""Documents below twice the pool's depth are too deep to learn about; where more than half of what is open lies there,
an interval is not calibrated."""
NOBODY = -1


class GroupedLists:
    """The documents of all runs, each once: who retrieved it, and which group alone brought it into the pool."""

    def __init__(
        self, runs: Sequence[Run], batches: Sequence[list[Rankings]], facts: TopicFacts, group: Ints, depth: PoolDepth
    ) -> None:
        self.batches, self.facts = batches, facts
        self.names = {run.name: at for at, run in enumerate(runs)}
        self.group, self.topics, self.depth = group, len(facts.query_ids), depth.pool
        self.groups = int(group.max()) + 1
        self.documents = RetrievedDocuments.in_lists(runs, batches)
        self.topic, self.grade, self.numbers = self.documents.topic, self.documents.grade, self.documents.numbers
        size = len(self.documents)
        self.judged_entries: list[tuple[Ints, Ints]] = []
        """By run: its judged documents and their ranks."""
        self.unjudged_ranks: list[Ints] = []
        pooled: list[Ints] = []
        for mine, is_pooled in zip(self.documents.entries, depth.pooled.tolist(), strict=True):
            document, rank = self.documents.document[mine], self.documents.rank[mine]
            pooled.append(document[rank <= depth.pool] if is_pooled else document[:0])
            known = ~np.isnan(self.grade[document])
            self.judged_entries.append((document[known], rank[known]))
            self.unjudged_ranks.append(rank[~known])
        held_by = [self.documents.document[mine] for mine in self.documents.entries]
        self.judged: Flags = ~np.isnan(self.grade)
        self.held, pooled_by, owner = np.zeros((3, size), dtype=np.int64)
        for number_of_group in range(self.groups):
            self.held += self._any_of(number_of_group, held_by)
            brought = self._any_of(number_of_group, pooled)
            pooled_by += brought
            owner[brought] = number_of_group
        self.owner = np.where(self.judged & (pooled_by == 1), owner, NOBODY)
        """The group without which a judged document would not be in the pool."""
        kept = [self.owner[document] == its for (document, _), its in zip(self.judged_entries, group, strict=True)]
        self.own_run = np.repeat(np.arange(len(runs)), [int(np.count_nonzero(own)) for own in kept])
        """Entries of the documents that a run's group alone brought into the pool: their runs, documents and ranks."""
        entries = zip(self.judged_entries, kept, strict=True)
        parts = [(document[own], rank[own]) for (document, rank), own in entries]
        self.own_document, self.own_rank = (np.concatenate(column) for column in zip(*parts, strict=True))

    def _any_of(self, group: int, of_runs: Sequence[Ints]) -> Flags:
        met: Flags = np.zeros(self.grade.size, dtype=bool)
        for at in np.flatnonzero(self.group == group).tolist():
            met[of_runs[at]] = True
        return met

    @cached_property
    def judgment(self) -> Ints:
        return self.documents.judgments(self.facts.qrels)

    def without(self, group: int) -> tuple[Flags, TopicFacts]:
        gone = self.owner == group
        kept = np.ones(len(self.facts.qrels), dtype=bool)
        kept[self.judgment[gone]] = False
        return gone, self.facts.restricted(kept)


def stretch_of(excess: float, error: float) -> tuple[float, float]:
    """By how much predictions that are too small by this share are multiplied (James and Stein, positive part)."""
    kept = max(0.0, 1 - (error / excess) ** 2) if excess else 0.0
    return max(0.0, 1 + kept * excess), error


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The documents of one run whose judgments were left out, and how probable it was that each is relevant."""

    topic: Ints
    rank: Ints
    grade: Floats
    chance: Floats

    def scores(
        self, parts: Sequence[Rankings], measure: Measure, assumptions: Assumptions, shift: float
    ) -> tuple[Floats, Floats, Floats]:
        facts = parts[0].facts
        depth = [min(rankings.width, measure.cutoff or rankings.width) for rankings in parts]
        cells = sum(rankings.topic.size * width for rankings, width in zip(parts, depth, strict=True))
        draws = max(FEWEST_DRAWS, min(DRAWS, CELLS // max(cells, 1)))
        rng = np.random.default_rng(0)
        own = expit(centred(self.chance, shift**2) + shift * rng.normal(size=(draws, 1)))
        uniform = rng.random(own.shape)
        relevant_grades = RelevantGrades.near_the_top(measure, facts, parts)
        drawn = np.where(uniform < own, relevant_grades.drawn(uniform / own), 0.0)
        grades = np.vstack((np.zeros(self.grade.size), self.grade, drawn))
        completions = draws + 2
        more = np.bincount(self.topic, minlength=len(facts.query_ids))
        values = []
        for rankings, width in zip(parts, depth, strict=True):
            line = np.full(more.size, -1)
            line[rankings.topic] = np.arange(rankings.topic.size)
            mine = np.flatnonzero(line[self.topic] >= 0)
            at, place = line[self.topic[mine]], np.arange(completions)[:, None]
            relevant = grades[:, mine] > 0
            completed = CompletedFacts(
                facts, np.repeat(rankings.topic, completions), np.repeat(more[rankings.topic], completions),
                (at * completions + place)[relevant], grades[:, mine][relevant],
            )  # fmt: skip
            grade = np.repeat(np.nan_to_num(rankings.grade[:, None, :width]), completions, axis=1)
            stands = self.rank[mine] <= width
            grade[at[stands], :, self.rank[mine][stands] - 1] = grades[:, mine[stands]].T
            length = np.repeat(np.minimum(rankings.length, width), completions)
            lists = Rankings(grade.reshape(-1, width), length, np.arange(length.size), completed)
            values.append(assumptions.value(measure.plain, lists).reshape(-1, completions))
        score = np.concatenate(values)
        return score[:, 0], score[:, 1], score[:, 2:]


def without_judgments(parts: Sequence[Rankings], number: Ints, gone: Flags, facts: TopicFacts) -> list[Rankings]:
    """The lists of a run when the documents that are gone are not judged; ``facts`` are those that remain."""
    lists = []
    for rankings in parts:
        assert rankings.row is not None
        lost = (rankings.row >= 0) & gone[number[rankings.row]]
        lists.append(replace(rankings, grade=np.where(lost, np.nan, rankings.grade), facts=facts, _memory={}))
    return lists


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients, and how well they predict groups that are left out: an entry for each of their runs."""

    coefficients: Floats
    covariance: Floats
    shift: float
    error: Floats
    variance: Floats
    group: Ints
    predicted: Floats | None = None
    stretch: tuple[float, float] = 1.0, 0.0
    """By how much these are multiplied, and its standard error."""

    def but(self, group: int) -> Fit:
        others = self.group != group
        left = replace(self, error=self.error[others], variance=self.variance[others], group=self.group[others])
        return left if self.predicted is None else left.stretched(self.predicted[others])

    def stretched(self, predicted: Floats) -> Fit:
        """Return the same with predictions multiplied by what other groups than the predicted one show to be needed."""
        if not predicted.any():
            return self
        weight = self.share * predicted / self.variance
        top, bottom = np.bincount(self.group, weight * self.error), np.bincount(self.group, weight * predicted)
        excess = float(top.sum() / bottom.sum())
        among = max(self.groups, 2)
        error = math.sqrt(float(((top - excess * bottom) ** 2).sum()) * among / (among - 1)) / float(bottom.sum())
        factor, error = stretch_of(excess, error)
        kept = (factor - 1) / excess if excess else 0.0
        rest = bottom.sum() - bottom
        without = kept * np.divide(top.sum() - top, rest, out=np.zeros(rest.size), where=rest > 0)
        return replace(
            self, error=self.error - without[self.group] * predicted,
            variance=max(factor, 1.0) ** 2 * self.variance + (error * predicted) ** 2, predicted=predicted,
            stretch=(factor, error),
        )  # fmt: skip

    @cached_property
    def groups(self) -> int:
        return np.unique(self.group).size

    @cached_property
    def share(self) -> Floats:
        return 1 / np.bincount(self.group)[self.group]

    def reach(self, confidence: float) -> float:
        score = np.abs(self.error) / np.sqrt(self.variance)
        return weighted_quantile(score, self.share, confidence * (self.groups + 1))

    def reach_of_pair(self, confidence: float) -> float:
        one, other = np.triu_indices(self.error.size, 1)
        apart = self.group[one] != self.group[other]
        one, other = one[apart], other[apart]
        score = np.abs(self.error[one] - self.error[other]) / np.sqrt(self.variance[one] + self.variance[other])
        needed = confidence * (self.groups + 1) * (self.groups - 1) / 2
        return weighted_quantile(score, self.share[one] * self.share[other], needed)


def weighted_quantile(score: Floats, share: Floats, needed: float) -> float:
    """Return the least score that scores of this total weight do not exceed; infinity where there are too few."""
    order = np.argsort(score)
    place = int(np.searchsorted(np.cumsum(share[order]), needed - 1e-9))
    return float(score[order][place]) if place < score.size else math.inf


class GroupsLeftOut:
    """Probabilities calibrated by leaving groups out, for one measure; ``relevance`` is that of each document."""

    def __init__(self, lists: GroupedLists, relevance: Floats, measure: Measure, assumptions: Assumptions) -> None:
        self.lists, self.measure, self.assumptions = lists, measure, assumptions
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
        self._of_others: dict[int, Fit] = {}
        self._reach: dict[tuple[int, float, bool], float] = {}

    @cached_property
    def fit(self) -> Fit | None:
        return self._leave_out()

    def of_others(self, run: str) -> Fit | None:
        group = int(self.lists.group[self.lists.names[run]])
        if self.fit is None:
            return None
        if group not in self._of_others:
            self._of_others[group] = self.fit.but(group)
        return self._of_others[group]

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        if self.fit is None:
            return np.full(unjudged.rank.size, np.nan)
        return expit(self.features_of(unjudged) @ self.fit.coefficients)

    @property
    def covariance(self) -> Floats:
        return np.zeros((PENALTY.size, PENALTY.size)) if self.fit is None else self.fit.covariance

    @property
    def shift(self) -> float:
        return 0.0 if self.fit is None else self.fit.shift

    def stretch(self, run: str) -> tuple[float, float]:
        fit = self.of_others(run)
        return (1.0, 0.0) if fit is None else fit.stretch

    def reach(self, run: str, confidence: float) -> float:
        if not self.is_open(run):
            return 0.0
        return math.inf if self.out_of_sight(run) else self._reach_of(run, confidence, pair=False)

    def reach_of_pair(self, run: str, against: str, confidence: float) -> float:
        """The same for the difference of two runs: the most that pairs of groups and single ones ask for."""
        pairs = (self._reach_of(name, confidence, pair=True) for name in (run, against))
        return max(self.reach(run, confidence), self.reach(against, confidence), *pairs)

    def _reach_of(self, run: str, confidence: float, *, pair: bool) -> float:
        fit = self.of_others(run)
        if fit is None:
            return math.inf
        key = int(self.lists.group[self.lists.names[run]]), confidence, pair
        if key not in self._reach:
            self._reach[key] = (fit.reach_of_pair if pair else fit.reach)(confidence)
        return self._reach[key]

    def is_open(self, run: str) -> bool:
        rank = self.lists.unjudged_ranks[self.lists.names[run]]
        counts = weight_of_ranks(self.measure, rank).any()
        return bool(counts or not (self.measure.list_only or self.too_deep(rank).all()))

    def out_of_sight(self, run: str) -> bool:
        """Whether groups are too few, or most of what is open of a run's score too deep, for them to show it."""
        if self.is_open(run) and self.groups_of(run) < FEWEST:
            return True
        rank = self.lists.unjudged_ranks[self.lists.names[run]]
        weight = weight_of_ranks(self.measure, rank)
        return bool(weight[rank > TOO_DEEP * self.lists.depth].sum() > MOST * weight.sum())

    @property
    def deepest(self) -> float:
        """Down to which rank documents count: all, unless what else is relevant to the topic matters to the measure."""
        pool, most = self.lists.depth, TOO_DEEP * self.lists.depth
        return math.inf if self.measure.list_only else max(pool, min(self.measure.cutoff or most, most))

    def too_deep(self, rank: Ints) -> Flags:
        return rank > self.deepest

    def groups_of(self, run: str) -> int:
        fit = self.of_others(run)
        return 0 if fit is None else fit.groups

    def __str__(self) -> str:
        return "q calibrated by leaving groups out of the pool"

    def _features(self, precision: Floats, rank: Ints, others: Ints, topic_odds: Floats) -> Floats:
        odds = np.log((others + 0.5) / (self.lists.groups - 1 - others + 0.5))
        return np.stack([np.ones(rank.size), precision, np.log(rank), odds, topic_odds], axis=-1)

    def _topic_odds(self, relevant: Floats, judged: Floats | Ints) -> Floats:
        rate = (relevant.sum() + 0.5) / (judged.sum() + 1)
        return np.log((relevant + TOPIC_PRIOR * rate) / (judged - relevant + TOPIC_PRIOR * (1 - rate)))

    def _precision(self, met: Floats, seen: Floats) -> Floats:
        return np.log((met + 0.25) / (seen - met + 0.25))

    def features_of(self, unjudged: UnjudgedDocuments) -> Floats:
        """What fitted coefficients multiply, a row for each; beyond the end of a list no other group has documents."""
        lists, at = self.lists, self.lists.names[unjudged.run.name]
        others = np.zeros(unjudged.rank.size, dtype=np.int64)
        others[unjudged.retrieved] = lists.held[lists.numbers[at][unjudged.row[unjudged.retrieved]]] - 1
        precision = np.full(unjudged.rank.size, self._precision(self._met[at], self._seen[at]))
        odds = self._topic_odds(self._relevant, self._judged)[unjudged.topic]
        return self._features(precision, unjudged.rank, others, odds)

    @np.errstate(invalid="ignore")  # of searches that never end
    def _leave_out(self) -> Fit | None:
        lists = self.lists
        left_out = lists.own_rank <= lists.depth
        if self.all_relevant or not left_out.any():
            return None
        runs, groups = self._met.size, lists.groups
        # As judged without these documents: precisions of runs, rates of topics.
        at_rank = 1 / lists.own_rank
        met = self._met - np.bincount(lists.own_run, self.relevance[lists.own_document] * at_rank, runs)
        seen = self._seen - np.bincount(lists.own_run, at_rank, runs)
        run, document, rank = (part[left_out] for part in (lists.own_run, lists.own_document, lists.own_rank))
        group, topic, relevant = lists.group[run], lists.topic[document], self.relevance[document]
        owned = lists.owner >= 0
        cell = lists.owner[owned] * lists.topics + lists.topic[owned]
        known, relevant_in = (
            np.maximum(total - np.bincount(cell, value, groups * lists.topics).reshape(groups, lists.topics), 0.0)
            for total, value in ((self._judged, None), (self._relevant, self.relevance[owned]))
        )
        odds = np.stack([self._topic_odds(*of_group) for of_group in zip(relevant_in, known, strict=True)])
        precision = self._precision(np.maximum(met, 0.0), np.maximum(seen, met))[run]
        features = self._features(precision, rank, lists.held[document] - 1, odds[group, topic])
        siblings = np.bincount(lists.group)[group]
        weight = 1 / siblings / np.sqrt(np.bincount(group, 1 / siblings, groups)[group])
        coefficients, curvature = fit_logistic(features, relevant, PENALTY, weight)
        errors = weight * (relevant - expit(features @ coefficients))
        covariance = robust_covariance(features, errors, group, curvature)
        without = self._without_each(features, relevant, weight, group, coefficients, curvature)
        chance = expit((features * without).sum(axis=-1))
        # How far the weight of relevant documents is off, and by which shift of log odds.
        of_rank = weight_of_ranks(self.measure, rank)
        bend = of_rank * chance * (1 - chance)
        parts = np.stack((of_rank * (relevant - chance), of_rank * bend, bend))
        error, variance, slope = (np.bincount(run, part, runs).astype(np.float64) for part in parts)
        tested = np.flatnonzero(slope > 1e-12)
        if not tested.size:
            return None
        share = 1 / np.bincount(lists.group[tested])[lists.group[tested]]
        shift = 0.5
        for _ in range(ROUNDS):
            at, turn = variance[tested], slope[tested] ** 2
            precise = share * (turn / (at + shift * turn)) ** 2
            shift = max(float((precise * (error[tested] ** 2 - at) / turn).sum() / precise.sum()), 0.0)
        variance += shift * slope**2
        predicted = None
        if not is_weighted_sum(self.measure):
            predicted = np.zeros(runs)
            without_group = lru_cache(1)(lists.without)
            for each in sorted(tested.tolist(), key=lists.group.__getitem__):
                own = run == each
                left = LeftOut(topic[own], rank[own], lists.grade[document[own]], chance[own])
                gone, facts = without_group(int(lists.group[each]))
                remaining = without_judgments(lists.batches[each], lists.numbers[each], gone, facts)
                base, score, drawn = left.scores(remaining, self.measure, self.assumptions, math.sqrt(shift))
                means = drawn.mean(axis=0)
                predicted[each], variance[each] = means.mean() - base.mean(), means.var(ddof=1)
                error[each] = score.mean() - means.mean()
            finite = np.isfinite(error[tested] + variance[tested] + predicted[tested]).all()
            tested = tested[finite & (variance[tested] > 0)]  # searches that may never end calibrate nothing
            predicted = predicted[tested]
        of_runs = error[tested], variance[tested], lists.group[tested], predicted
        return Fit(coefficients, covariance, math.sqrt(shift), *of_runs)

    def _without_each(
        self, features: Floats, relevant: Floats, weight: Floats, group: Ints, coefficients: Floats, curvature: Floats
    ) -> Floats:
        chance = expit(features @ coefficients)
        order = np.argsort(group, kind="stable")
        present, begin = np.unique(group[order], return_index=True)
        gradient = (features * (weight * (relevant - chance))[:, None])[order]
        bend = weight * chance * (1 - chance)
        outer = (features[:, :, None] * features[:, None, :] * bend[:, None, None])[order]
        without = curvature - np.add.reduceat(outer, begin)
        step = np.linalg.solve(without, np.add.reduceat(gradient, begin)[..., None])[..., 0]
        return (coefficients - step)[np.searchsorted(present, group)]


def estimation_slopes(model: RelevanceProbability, of_runs: Sequence[UnjudgedDocuments]) -> tuple[Floats, Floats]:
    """How each run's expected weight of relevant documents moves with what a model fitted, and the covariance."""
    if not isinstance(model, GroupsLeftOut | Estimate):  # a model that is given moves nothing
        return np.zeros((len(of_runs), 1)), np.eye(1)
    bends = [each.weight * q * (1 - q) for each in of_runs for q in [model(each)]]
    slopes = [bend @ model.features_of(each) for bend, each in zip(bends, of_runs, strict=True)]
    return np.stack(slopes), model.covariance
