"""Grades of documents that turn out relevant, the weight of their ranks, and log odds that are shifted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum, weights_by_rank
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

NEVER, ALWAYS = 1e-12, 1 - 1e-12


def weight_of_ranks(measure: Measure, rank: Ints) -> Floats:
    """Return what ranks count in a calibration: their weights, or DCG's discounts where the measure is no sum."""
    if is_weighted_sum(measure) and not getattr(measure, "by_topic", False):
        return weights_by_rank(measure, rank)
    inside = rank <= (measure.cutoff or rank.max(initial=1))
    return np.where(inside, 1 / np.log2(np.maximum(rank, 1) + 1), 0.0)


def lowest_relevant_grade(measure: Measure, facts: TopicFacts) -> float:
    """From which grade on a document is relevant: the measure's own, or for gains the least that is judged above 0."""
    if not measure.graded:
        return measure.rel
    known = facts.grade[facts.grade > 0]
    return float(min(known.min(initial=np.inf), 1.0))


@dataclass(frozen=True, eq=False)
class RelevantGrades:
    """Grades of relevant documents, ascending, and which share of these documents has at least each of them."""

    grade: Floats
    reached: Floats

    @classmethod
    def of(cls, measure: Measure, facts: TopicFacts) -> RelevantGrades:
        return cls._weighted(measure, facts, facts.grade, np.ones(facts.grade.size))

    @classmethod
    def near_the_top(cls, measure: Measure, facts: TopicFacts, lists: Iterable[Rankings]) -> RelevantGrades:
        parts: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))]
        for rankings in lists if measure.graded else ():
            line, rank = np.nonzero(rankings.present & ~rankings.holes)
            parts.append((rankings.grade[line, rank], weight_of_ranks(measure, rank + 1)))
        grade, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls._weighted(measure, facts, grade[weight > 0], weight[weight > 0])

    @classmethod
    def _weighted(cls, measure: Measure, facts: TopicFacts, grades: Floats, weight: Floats) -> RelevantGrades:
        least = lowest_relevant_grade(measure, facts)
        kept = grades >= least
        if not (measure.graded and kept.any()):
            return cls(np.array([least]), np.ones(1))
        grade, place = np.unique(grades[kept], return_inverse=True)
        count = np.bincount(place, weight[kept])
        return cls(grade, np.cumsum(count[::-1])[::-1] / count.sum())

    def drawn(self, uniform: Floats) -> Floats:
        if self.grade.size == 1:
            return np.full(uniform.shape, self.grade[0])
        return self.grade[np.searchsorted(-self.reached, -uniform, side="left").clip(1) - 1]

    def expected_gain(self, rule: Callable[[Floats], Floats]) -> float:
        return float(rule(self.grade) @ -np.diff(self.reached, append=0.0))


def centred(chance: Floats, variance: Floats | float) -> Floats:
    """Log odds whose probability is ``chance`` on average when they are shifted by a normal number of this variance.

    A shift to either side leaves a small probability larger on average: that is taken back, of long shifts as in a
    probit model.
    """
    odds: Floats = np.log(np.clip(chance, NEVER, ALWAYS) / np.clip(1 - chance, NEVER, ALWAYS))
    longer = np.abs(odds) * (np.sqrt(1 + np.pi / 8 * variance) - 1)
    return odds + np.sign(odds) * np.minimum(np.abs(1 - 2 * chance) * variance / 2, longer)
