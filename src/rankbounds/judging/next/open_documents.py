"""What is open between runs, what each judgment would tell of it, and when nothing is open."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.differences import SharedLists, difference_bounds
from rankbounds.evaluation.score_differences import merit, merit_of_range
from rankbounds.judging.candidates import heaviest
from rankbounds.judging.next.plan import SETTLED, Needed, SettlingPlan
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.probability.completions import OpenCollection
from rankbounds.probability.drawn_scores import DrawnCompletions, draw_differences
from rankbounds.probability.effects import document_effects, is_plain_sum
from rankbounds.probability.models.chosen import SAMPLES, ChosenModels
from rankbounds.probability.probable_differences import chances_of_sums, draw_chances
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts

GROWTH = 0.1
"""Values are brought up to date whenever judgments have grown by this share."""
FIRST_LOOK = 2000
"""So many documents of the largest effects are looked at first, and more as judging goes on."""


def least_count(settled: Callable[[int], bool], most: int, guess: float) -> float:
    """The least count for which this holds, if it goes on holding from there; infinite where it never does."""
    if settled(0):
        return 0
    if not settled(most):
        return math.inf
    below, above = 0, most
    place, step = int(min(guess, most - 1)), 1
    while below < place < above:  # away from the guess in growing steps, until the answer lies between two counts
        step = max(2 * step, place // 16)
        if settled(place):
            above, place = place, place - step
        else:
            below, place = place, place + step
    return below + 1 + bisect_left(range(below + 1, above), True, key=settled)


def chance_of_better(mean: float, sd: float) -> float:
    """How likely a normal difference is positive; even odds for none that can be told from 0."""
    if not math.isfinite(mean):  # of searches that may never end
        return 0.5
    if sd == 0:
        return 0.5 if mean == 0 else float(mean > 0)
    return 0.5 * math.erfc(-mean / sd / math.sqrt(2))


def values_of_judging(effect: Floats, share: Floats, better: Floats) -> Floats:
    """What each judgment is expected to move the bound that settles a pair by; a row for each probability of A."""
    rises = np.where(effect > 0, share, 1 - share) * np.abs(effect)
    falls = np.abs(effect) - rises
    return better[:, None] * rises + (1 - better[:, None]) * falls


class SimulatedJudging:
    """Rounds of judging in the order of values, until every pair is settled, or decided with probability ``level``.

    ``effect``, ``standing`` (mean and sd) and ``bounds`` are of pairs; ``truth``, of rounds, is the gain of documents.
    """

    def __init__(
        self,
        effect: Floats,
        share: Floats,
        truth: Floats,
        standing: Floats,
        bounds: tuple[Floats, Floats],
        *,
        level: float,
        to_the_end: bool = False,
    ) -> None:
        size = np.abs(effect).max(axis=0, initial=0.0)
        matter = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
        self.documents = matter
        self.effect, self.share, self.truth = effect[:, matter], share[matter], truth[:, matter]
        self.level, self.to_the_end = level, to_the_end
        rounds = truth.shape[0]
        mean, sd = standing
        self.low, self.high, self.mean = (np.repeat(part[:, None], rounds, axis=1) for part in (*bounds, mean))
        spread = self.effect**2 * self.share * (1 - self.share)
        of_documents = spread.sum(axis=-1)
        factor = np.divide(sd**2, of_documents, out=np.ones(sd.size), where=of_documents > 0)
        self.spread = spread * factor[:, None]
        self.variance = np.repeat(self.spread.sum(axis=-1)[:, None], rounds, axis=1)
        self.counts: Floats = np.full(rounds, np.inf)
        """For each round, after how many judgments it ended; infinite where it never did."""
        self._orders: list[list[Ints]] = [[] for _ in range(rounds)]
        self._judge()

    def orders(self) -> list[Ints]:
        """For each round, the documents in the order in which they were judged."""
        nothing = np.empty(0, dtype=np.int64)
        return [self.documents[np.concatenate([nothing, *parts])] for parts in self._orders]

    def _ended(self, low: Floats, high: Floats, mean: Floats, variance: Floats) -> Flags:
        from scipy.special import ndtri

        certain: Flags = (low > 1e-12) | (high < -1e-12)
        if self.level < 1:
            needed = float(ndtri(self.level)) * np.sqrt(np.maximum(variance, 0.0))
            certain = certain | ((np.abs(mean) >= needed) & (np.abs(mean) > 1e-12))
        return np.atleast_1d(np.logical_and.reduce(certain))

    def _judge(self) -> None:
        active = np.arange(self.truth.shape[0])
        ended = self._ended(self.low, self.high, self.mean, self.variance)
        self.counts[ended] = 0
        if not self.to_the_end:
            active = active[~ended]
        left = np.ones(self.truth.shape, dtype=bool)
        count, looked_at = 0, FIRST_LOOK
        while active.size and count < self.documents.size:
            # Documents stand by the size of their effects, and no value is larger: those far behind need no look yet.
            looked_at = min(max(looked_at, 3 * count), self.documents.size)
            size = min(max(1, int(GROWTH * count)), self.documents.size - count)
            value = self._values_of(active, looked_at)
            value = np.where(left[active, :looked_at], value, -1.0)
            picked = np.argpartition(-value, size - 1, axis=-1)[:, :size]
            order = np.argsort(-np.take_along_axis(value, picked, axis=-1), axis=-1, kind="stable")
            picked = np.take_along_axis(picked, order, axis=-1)
            left[active[:, None], picked] = False
            ended = self._learn(active, picked, count)
            count += size
            active = active[~ended]

    def _values_of(self, active: Ints, looked_at: int) -> Floats:
        from scipy.special import ndtr

        mean, sd = self.mean[:, active], np.sqrt(np.maximum(self.variance[:, active], 0.0))
        ratio = np.divide(mean, sd, out=np.sign(mean) * np.inf, where=sd > 1e-12)
        better = np.where(np.isnan(ratio), 0.5, ndtr(ratio))
        value = np.zeros((active.size, looked_at))
        parts = zip(self.effect, self.spread, better, self.low, self.high, strict=True)
        for effect, spread, ahead, low, high in parts:
            if self.level < 1:
                of_pair = np.broadcast_to(np.sqrt(spread[:looked_at]), value.shape)
            else:
                of_pair = values_of_judging(effect[:looked_at], self.share[:looked_at], ahead)
            if len(self.effect) > 1:
                of_pair = np.where(((low[active] <= 0) & (high[active] >= 0))[:, None], of_pair, 0.0)
            value += of_pair
        return value

    def _learn(self, active: Ints, picked: Ints, count: int) -> Flags:
        truth, share = self.truth[active[:, None], picked], self.share[picked]
        effect = self.effect[:, picked]
        rises = np.abs(effect) * np.where(effect > 0, truth, 1 - truth)
        falls = np.abs(effect) - rises
        low = self.low[:, active, None] + np.cumsum(rises, axis=-1)
        high = self.high[:, active, None] - np.cumsum(falls, axis=-1)
        mean = self.mean[:, active, None] + np.cumsum(effect * (truth - share), axis=-1)
        variance = self.variance[:, active, None] - np.cumsum(self.spread[:, picked], axis=-1)
        for line, documents in zip(active.tolist(), picked, strict=True):
            self._orders[line].append(documents)
        ends = self._ended(low, high, mean, variance)
        ended = np.logical_or.reduce(ends, axis=-1)
        first = np.where(ended, count + 1.0 + np.argmax(ends, axis=-1), np.inf)
        self.counts[active] = np.minimum(self.counts[active], first)
        for whole, part in ((self.low, low), (self.high, high), (self.mean, mean), (self.variance, variance)):
            whole[:, active] = part[..., -1]
        return np.zeros(active.size, dtype=bool) if self.to_the_end else np.asarray(ended)


DRAWS, DRAWS_OF_EFFECTS = 200, 8
"""How often the others are drawn for the mean difference, and for each document's effect."""
Pair: TypeAlias = tuple[int, int]
Progress: TypeAlias = Callable[[int, int], None] | None
SIMULATIONS = {True: 200, False: 20}
"""How many simulated rounds of judging, for weighted sums and for other measures."""
SPAN = (0.05, 0.95)
"""The share of simulations that the interval for the number of judgments leaves below, and that it reaches."""


class OpenDocuments:
    """The runs of ``models`` under one measure, and what is not known of their documents."""

    def __init__(self, models: ChosenModels, measure: Measure, *, seed: int = 0) -> None:
        self.models, self.measure, self.seed, self.batches = models, measure, seed, models.batches
        self.collection = OpenCollection(models.runs, models.facts, models.assumptions, models.batches)
        self._effect: dict[Pair, Floats] = {}
        self._standing: dict[Pair, tuple[float, float, float]] = {}

    # ---- documents ----

    @cached_property
    def drawn(self) -> DrawnCompletions:
        return DrawnCompletions(self.collection, self.measure, self._model, DRAWS, self.seed)

    @property
    def _model(self) -> Any:
        return self.models.model_of(self.measure)

    @cached_property
    def share(self) -> Floats:
        """Of each document, the expected gain as a share of the largest; for binary measures its probability."""
        if is_weighted_sum(self.measure) or not self.measure.graded:
            return self.drawn.chance
        rule, grades = self.collection.facts.rule, self.drawn.grades
        return self.drawn.chance * grades.expected_gain(rule) / max(float(rule(grades.grade[-1:])[0]), 1e-300)

    def effects(
        self, groups: Sequence[tuple[int, ...]], progress: Progress = None
    ) -> Iterator[tuple[int, Ints, Floats]]:
        """For each group of runs and some of the documents: what each adds to the runs' means."""
        few = self.drawn.again(DRAWS_OF_EFFECTS)
        done, last = 0, len(groups) - 1
        for number, documents, effect in document_effects(few, groups):
            yield number, documents, merit(effect, self.measure)
            done += documents.size if number == last else 0
            if progress:
                progress(done, len(self.collection))

    def effects_on(self, pairs: Sequence[Pair], progress: Progress = None) -> list[Floats]:
        """For each pair, what each document adds to the first run minus the second."""
        new = [pair for pair in pairs if pair not in self._effect]
        self._effect.update((pair, np.zeros(len(self.collection))) for pair in new)
        for number, documents, (one, other) in self.effects(new, progress) if new else ():
            self._effect[new[number]][documents] = one - other
        return [self._effect[pair] for pair in pairs]

    # ---- pairs ----

    def pairs_of_leader(self) -> list[Pair]:
        """The second of two runs against the first; of more, the one that leads as judged against every other."""
        if len(self.batches) == 2:
            return [(1, 0)]
        value = partial(self.collection.assumptions.value, self.measure)
        means = [np.concatenate([value(part.assume(0.0)) for part in parts]).mean() for parts in self.batches]
        leader = int(np.argmax(merit(np.array(means), self.measure)))
        return [(leader, run) for run in range(len(means)) if run != leader]

    def bounds(self, pairs: Sequence[Pair], judged: Floats | None = None) -> tuple[Floats, Floats]:
        """The least and the greatest difference of each pair, turned so that more is better (``judged``: NaN: open)."""
        return merit_of_range(*self._bounds(pairs, judged), self.measure)

    def _bounds(self, pairs: Sequence[Pair], judged: Floats | None = None) -> tuple[Floats, Floats]:
        facts, batches = self.collection.facts, self.batches
        if judged is not None:
            facts, batches = self._judged(judged)
        lists = SharedLists(self.collection.runs, facts, batches)
        first, second = (np.array(side) for side in zip(*pairs, strict=True))
        bounds = difference_bounds(lists, self.measure, self.collection.assumptions, (first, second))
        return bounds.low, bounds.high

    def _judged(self, judged: Floats) -> tuple[TopicFacts, list[list[Rankings]]]:
        collection = self.collection
        known, topics = ~np.isnan(judged), len(collection.facts.query_ids)
        relevant = np.flatnonzero(known & (np.nan_to_num(judged) > 0))
        facts = CompletedFacts(
            collection.facts,
            np.arange(topics),
            np.bincount(collection.topic[known], minlength=topics),
            collection.topic[relevant],
            judged[relevant],
        )
        batches = []
        for run, unjudged, number, parts in zip(
            collection.runs, collection.unjudged, collection.numbers, self.batches, strict=True
        ):
            of_row = np.full(len(run) + 1, np.nan)  # the last stands for cells beyond a list's end
            of_row[unjudged.row] = judged[number]
            grades = [of_row[part.row] for part in parts]
            grades = [np.where(np.isnan(new), part.grade, new) for new, part in zip(grades, parts, strict=True)]
            batches.append(
                [replace(part, grade=new, facts=facts, _memory={}) for part, new in zip(parts, grades, strict=True)]
            )
        return facts, batches

    # ---- values ----

    def standing(self, pairs: Sequence[Pair]) -> Floats:
        """A row for each pair: the expected difference, its sd, how likely the first run is better (as if normal)."""
        if new := [pair for pair in pairs if pair not in self._standing]:
            drawn = draw_differences(self.drawn, new)
            for pair, mean, sd in zip(new, merit(drawn.mean, self.measure).tolist(), drawn.sd.tolist(), strict=True):
                self._standing[pair] = mean, sd, chance_of_better(mean, sd)
        return np.array([self._standing[pair] for pair in pairs])

    def likely(self) -> tuple[float, float] | None:
        """How likely the second of two runs is the better one, and the first; None where that would take long."""
        if is_weighted_sum(self.measure):
            of_runs = [self.models.unjudged(at, self.measure) for at in (0, 1)]
            better, worse = chances_of_sums(of_runs, self._model, self._bounds([(0, 1)]))
        else:
            chances = draw_chances(self.drawn.again(SAMPLES, self.seed), [(0, 1)])
            if chances is None:
                return None
            better, worse, _ = chances
        return (float(worse[0]), float(better[0])) if np.isfinite(better[0]) else None

    def plan(
        self, pairs: Sequence[Pair] | None, budget: int, level: float = 1.0, *, progress: Progress = None
    ) -> SettlingPlan:
        """The documents in order of their value, for these pairs or, without any, for all runs' bounds."""
        names = [run.name for run in self.collection.runs]
        value, effect = np.zeros(len(self.collection)), np.zeros(len(self.collection))
        low: Floats = np.empty(0)
        high, better = low, low
        settled: Flags = np.empty(0, dtype=bool)
        spread = np.sqrt(self.share * (1 - self.share))
        if pairs is None:
            for _, documents, (of_run,) in self.effects([(run,) for run in range(len(names))], progress):
                value[documents] += spread[documents] * np.abs(of_run)
                effect[documents] += of_run
        else:
            low, high = self.bounds(pairs)
            better, settled = self.standing(pairs)[:, 2], (low > 0) | (high < 0)
            opened = [number for number in range(len(pairs)) if len(pairs) == 1 or not settled[number]]
            ahead = self.effects_on([pairs[number] for number in opened], progress)
            for number, of_pair in zip(opened, ahead, strict=True):
                if level < 1:
                    value += spread * np.abs(of_pair)
                else:
                    value += values_of_judging(of_pair, self.share, better[number : number + 1])[0]
                effect += of_pair
        order = heaviest(self.collection.retrieved, value, budget)
        return SettlingPlan(
            [self.collection.facts.query_ids[topic] for topic in self.collection.topic[order].tolist()],
            self.collection.retrieved.doc_ids(order),
            value[order],
            self.share[order] * (np.nan if self.models.unknown else 1.0) if order.size else np.empty(0),
            np.asarray(merit(effect[order], self.measure)),
            () if pairs is None else tuple((names[a], names[b]) for a, b in pairs),
            tuple(better.tolist()),
            tuple(settled.tolist()),
            len(self.collection),
            remarks=tuple(self.models.remarks()),
            bounds=tuple(zip(low.tolist(), high.tolist(), strict=True)),
            settings={"measure": str(self.measure), "seed": self.seed},
        )

    # ---- how many judgments ----

    def needed(
        self, pairs: Sequence[Pair], level: float, simulations: int | None = None, *, progress: Progress = None
    ) -> Needed:
        exact = is_plain_sum(self.measure)
        rounds = simulations or SIMULATIONS[exact or level < 1]
        grade = self._truths(rounds)
        judging = SimulatedJudging(
            np.stack(self.effects_on(pairs)),
            self.share,
            self.gain_shares(grade),
            self.standing(pairs)[:, :2].T,
            self.bounds(pairs),
            level=level,
            to_the_end=not exact and level == 1,
        )
        counts = judging.counts
        if judging.to_the_end:
            for line, (order, guess) in enumerate(zip(judging.orders(), counts.tolist(), strict=True)):
                counts[line] = self.until_settled(pairs, grade[line], order, guess)
                if progress:
                    progress(line + 1, rounds)
        quantiles = np.quantile(counts, (0.5, *SPAN), method="inverted_cdf")
        median, low, high = (int(count) if np.isfinite(count) else None for count in quantiles)
        settled = np.count_nonzero(np.isfinite(counts)) / rounds
        until = SETTLED if level == 1 else f"{level:g}"
        return Needed(until, rounds, settled, median, low, high, len(self.collection))

    def _truths(self, rounds: int) -> Floats:
        truth = self.drawn.again(rounds, self.seed + 1)
        grade = np.zeros((rounds, len(self.collection)))
        for topics in self.collection.parts(self.measure, rounds):
            part = truth.completed(topics)
            grade[part.completion, part.document] = part.grade
        return grade

    def gain_shares(self, grade: Floats) -> Floats:
        """The gains of these grades as shares of the largest; 1 for every relevant one where gains do not count."""
        if not self.measure.graded:
            return (grade > 0).astype(np.float64)
        facts = self.collection.facts
        span = facts.max_gain - facts.nonrelevant_gain
        return np.clip((facts.rule(grade) - facts.nonrelevant_gain) / (span or 1.0), 0, 1)

    def until_settled(self, pairs: Sequence[Pair], grade: Floats, order: Ints, guess: float) -> float:
        """After how many judgments in this order every pair's bounds lie on one side of 0; bounds only narrow."""

        def settled(count: int) -> bool:
            judged = np.full(len(self.collection), np.nan)
            judged[order[:count]] = grade[order[:count]]
            low, high = self.bounds(pairs, judged)
            return bool(((low > 0) | (high < 0)).all())

        return least_count(settled, order.size, guess)
