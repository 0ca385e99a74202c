"""Probabilities of relevance where judgments are a random sample of what could have been judged.

Where chance decided which documents were judged, unjudged documents at a rank are like the judged ones there. Relevance
is estimated from the judgments (``estimates``), and the judged documents of a run show by how much the estimate is off:
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
from dataclasses import replace
from functools import cached_property

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.run import Run
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.probability.documents import UnjudgedDocuments
from rankbounds.probability.models.calibrated import (
    Calibrated,
    LeftOut,
    stretch_of,
    weight_of_ranks,
    without_judgments,
)
from rankbounds.probability.models.estimates import Estimate, GroupedRanks
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.stats.logistic import expit

MOST = 50.0
"""The largest odds of not being judged that count: far down, where hardly anything is judged, a document stands for no
more than this many others."""
FAR = 30.0
"""The longest shift of log odds."""
REMOVED = 0.5
"""The share of the judgments that are removed once more."""
SPLITS, MOST_RUNS, DRAWS = 4, 20, 60
"""How often they are, for how many runs, and how often removed documents are drawn."""


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
