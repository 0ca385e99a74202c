"""What is open between runs, what each judgment would tell of it, and when nothing is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.differences import SharedLists, difference_bounds
from rankbounds.evaluation.score_differences import merit, merit_of_range
from rankbounds.judging.next.plan import SETTLED, Needed, SettlingPlan
from rankbounds.judging.next.residuals import heaviest
from rankbounds.judging.next.simulation import SimulatedJudging, chance_of_better, least_count, values_of_judging
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.probability.completions import OpenCollection
from rankbounds.probability.differences import chances_of_sums, draw_chances
from rankbounds.probability.drawn_scores import SAMPLES, DrawnCompletions, draw_differences
from rankbounds.probability.effects import document_effects, is_plain_sum
from rankbounds.probability.models.chosen import ChosenModels
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts

DRAWS, DRAWS_OF_EFFECTS = 200, 8
"""How often the others are drawn for the mean difference, and for each document's effect."""
Pair: TypeAlias = tuple[int, int]
Progress: TypeAlias = Callable[[int, int], None] | None
SIMULATIONS = {True: 200, False: 20}
"""How many simulated rounds of judging, for weighted sums and for other measures."""
SPAN = (0.05, 0.95)
"""The share of simulations that the interval for the number of judgments leaves below, and that it reaches."""


class Question:
    """Runs under one measure, and what is not known of their documents: those of ``models``, or ``among`` them."""

    def __init__(
        self, models: ChosenModels, measure: Measure, among: Sequence[int] | None = None, *, seed: int = 0
    ) -> None:
        self.models, self.measure, self.seed = models, measure, seed
        self.among = range(len(models.runs)) if among is None else among
        runs, self.batches = [models.runs[at] for at in self.among], [models.batches[at] for at in self.among]
        self.collection = OpenCollection(runs, models.facts, models.assumptions, self.batches)
        self._effect: dict[Pair, Floats] = {}
        self._standing: dict[Pair, tuple[float, float, float]] = {}

    # ---- documents ----

    @cached_property
    def drawn(self) -> DrawnCompletions:
        """Draws of what the documents turn out to be."""
        return DrawnCompletions(self.collection, self.measure, self._model, DRAWS, self.seed)

    @property
    def _model(self) -> Any:
        return self.models.of(self.measure) if is_weighted_sum(self.measure) else self.models.of_grades(self.measure)

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
        """For each group of runs and some of the documents: what each adds to the runs' means.

        Effects are turned so that more is better. ``progress`` gets the number of documents that are done.
        """
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
        """Two runs as they stand; of more, the one that leads as judged against every other."""
        if len(self.batches) == 2:
            return [(0, 1)]
        value = partial(self.collection.assumptions.value, self.measure)
        means = [np.concatenate([value(part.assume(0.0)) for part in parts]).mean() for parts in self.batches]
        leader = int(np.argmax(merit(np.array(means), self.measure)))
        return [(leader, run) for run in range(len(means)) if run != leader]

    def bounds(self, pairs: Sequence[Pair], judged: Floats | None = None) -> tuple[Floats, Floats]:
        """The least and the greatest difference of each pair, turned so that more is better.

        ``judged`` are grades for some of the documents, NaN for the others.
        """
        facts, batches = self.collection.facts, self.batches
        if judged is not None:
            facts, batches = self._judged(judged)
        lists = SharedLists(self.collection.runs, facts, batches)
        first, second = (np.array(side) for side in zip(*pairs, strict=True))
        found = difference_bounds(lists, self.measure, self.collection.assumptions, (first, second))
        return merit_of_range(found.low, found.high, self.measure)

    def _judged(self, judged: Floats) -> tuple[TopicFacts, list[list[Rankings]]]:
        """Facts and rankings with some of the documents judged."""
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
        """Of two runs, how likely each is the better one, as ``compare`` tells it; None where that would take long."""
        if is_weighted_sum(self.measure):
            of_runs = [self.models.unjudged(at, self.measure) for at in self.among]
            better, worse = chances_of_sums(of_runs, self._model)
        else:
            chances = draw_chances(self.drawn.again(SAMPLES, self.seed), [(0, 1)])
            if chances is None:
                return None
            better, worse, _ = chances
        return (float(better[0]), float(worse[0])) if np.isfinite(better[0]) else None

    def plan(
        self, pairs: Sequence[Pair] | None, budget: int, level: float = 1.0, *, progress: Progress = None
    ) -> SettlingPlan:
        """The documents in order of their value, for these pairs or, without any, for all runs' bounds.

        Where a probability below 1 is to be reached, a document's value is its part of the standard deviation.
        """
        names = [run.name for run in self.collection.runs]
        value, effect = np.zeros(len(self.collection)), np.zeros(len(self.collection))
        low: Floats = np.empty(0)
        high, better = low, low
        settled: Flags = np.empty(0, dtype=bool)
        if pairs is None:
            for _, documents, (of_run,) in self.effects([(run,) for run in range(len(names))], progress):
                value[documents] += np.abs(of_run)
                effect[documents] += of_run
        else:
            low, high = self.bounds(pairs)
            better, settled = self.standing(pairs)[:, 2], (low > 0) | (high < 0)
            opened = [number for number in range(len(pairs)) if len(pairs) == 1 or not settled[number]]
            ahead = self.effects_on([pairs[number] for number in opened], progress)
            for number, of_pair in zip(opened, ahead, strict=True):
                if level < 1:
                    value += np.sqrt(self.share * (1 - self.share)) * np.abs(of_pair)
                else:
                    value += values_of_judging(of_pair, self.share, better[number : number + 1])[0]
                effect += of_pair
        order = heaviest(self.collection, value, budget)
        return SettlingPlan(
            [self.collection.facts.query_ids[topic] for topic in self.collection.topic[order].tolist()],
            self.collection.doc_ids(order),
            value[order],
            self.share[order] * (np.nan if self.models.unknown else 1.0) if order.size else np.empty(0),
            np.asarray(merit(effect[order], self.measure)),
            () if pairs is None else tuple((names[a], names[b]) for a, b in pairs),
            tuple(better.tolist()),
            tuple(settled.tolist()),
            len(self.collection),
            remarks=tuple(self.models.remarks()),
            bounds=tuple(zip(low.tolist(), high.tolist(), strict=True)),
            unpooled=frozenset(self.models.unpooled()),
            settings={"measure": str(self.measure), "seed": self.seed},
        )

    # ---- how many judgments ----

    def needed(
        self, pairs: Sequence[Pair], level: float, simulations: int | None = None, *, progress: Progress = None
    ) -> Needed:
        """How many judgments it takes until every pair is settled, or decided with this probability."""
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
        """What documents turn out to be: a row of grades for each round."""
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
        return np.clip((facts.rule(grade) - facts.nonrelevant_gain) / (facts.max_gain - facts.nonrelevant_gain), 0, 1)

    def until_settled(self, pairs: Sequence[Pair], grade: Floats, order: Ints, guess: float) -> float:
        """After how many judgments in this order every pair's bounds lie on one side of 0; bounds only narrow."""

        def settled(count: int) -> bool:
            judged = np.full(len(self.collection), np.nan)
            judged[order[:count]] = grade[order[:count]]
            low, high = self.bounds(pairs, judged)
            return bool(((low > 0) | (high < 0)).all())

        return least_count(settled, order.size, guess)
