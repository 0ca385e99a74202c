"""Probabilities of relevance that were held against documents whose relevance is known.

The probabilities of a run's unjudged documents may all be too high or too low: on the scale of log odds they are off by
a shift of their own for each run, of mean 0 and a standard deviation that is known. An interval reaches as many
standard deviations as the calibration found to be needed, infinitely many where it cannot tell.

To calibrate, judgments of some documents are left out, and a model gives the probability that each of these is
relevant. Drawn many times, they give the predicted scores of a run, by any measure; their own grades give the score
itself. Documents that are not judged at all count as non-relevant in both: of them, nothing is learned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.measures.formulas import is_weighted_sum, weights_by_rank
from rankbounds.probability.documents import UnjudgedDocuments
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts
from rankbounds.stats.logistic import expit

CELLS, FEWEST = 1 << 20, 20
"""Left-out documents are drawn less often where lists would have more cells than this, but so often."""
NEVER, ALWAYS = 1e-12, 1 - 1e-12


class Calibrated(ABC):
    """Probabilities of relevance for one measure, with how far they may be off."""

    @abstractmethod
    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """Return the probability of each."""

    def features_of(self, unjudged: UnjudgedDocuments) -> Floats:
        """Return what fitted coefficients multiply, a row for each; no columns where nothing was fitted."""
        return np.zeros((unjudged.rank.size, 0))

    def covariance(self, _run: str) -> Floats:
        """Return that of the fitted coefficients."""
        return np.zeros((0, 0))

    @abstractmethod
    def shift(self, run: str) -> float:
        """Return the standard deviation of the shift of a run's log odds."""

    @abstractmethod
    def reach(self, run: str, confidence: float) -> float:
        """Return how many standard deviations an interval reaches to either side."""

    def stretch(self, _run: str) -> tuple[float, float]:
        """Return by how much a predicted change of a drawn score is multiplied, and the standard error of that."""
        return 1.0, 0.0

    def spread(self) -> float:
        """Return how many times as far as drawn the scores of topics lie from their means."""
        return 1.0

    def out_of_sight(self, _run: str) -> bool:
        """Return whether a run's score cannot be told from what the calibration saw; its certain bounds are left."""
        return False

    def too_deep(self, rank: Ints) -> Flags:
        """Return at which ranks documents do not count."""
        return np.zeros(rank.shape, dtype=bool)

    def reach_of_pair(self, run: str, against: str, confidence: float) -> float:
        """Return the same for the difference of two runs: at least the larger one of theirs."""
        return max(self.reach(run, confidence), self.reach(against, confidence))


def weight_of_ranks(measure: Measure, rank: Ints) -> Floats:
    """Return what ranks count in a calibration.

    For a weighted sum over ranks their weights; for other measures, the discount of DCG down to the measure's depth.
    """
    if is_weighted_sum(measure) and not getattr(measure, "by_topic", False):
        return weights_by_rank(measure, rank)
    inside = rank <= (measure.cutoff or rank.max(initial=1))
    return np.where(inside, 1 / np.log2(np.maximum(rank, 1) + 1), 0.0)


def stretch_of(excess: float, error: float) -> tuple[float, float]:
    """Return by how much predicted changes are multiplied that were found too small by this share of them.

    As far as the excess is more than its standard error (the positive part of James and Stein's rule).
    """
    kept = max(0.0, 1 - (error / excess) ** 2) if excess else 0.0
    return max(0.0, 1 + kept * excess), error


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
        """Those of all relevant documents that are judged; where there are none, the lowest that is relevant."""
        least = lowest_relevant_grade(measure, facts)
        if not measure.graded:
            return cls(np.array([least]), np.ones(1))
        return cls._weighted(facts.grade, np.ones(facts.grade.size), least)

    @classmethod
    def _weighted(cls, grades: Floats, weight: Floats, least: float) -> RelevantGrades:
        grade, place = np.unique(grades[grades >= least], return_inverse=True)
        if not grade.size:
            return cls(np.array([least]), np.ones(1))
        count = np.bincount(place, weight[grades >= least])
        return cls(grade, np.cumsum(count[::-1])[::-1] / count.sum())

    @classmethod
    def near_the_top(cls, measure: Measure, facts: TopicFacts, lists: Iterable[Rankings]) -> RelevantGrades:
        """Those of the judged documents of some lists, each with the weight of its rank."""
        least = lowest_relevant_grade(measure, facts)
        if not measure.graded:
            return cls(np.array([least]), np.ones(1))
        parts: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty(0))]
        for rankings in lists:
            line, rank = np.nonzero(rankings.present & ~rankings.holes)
            parts.append((rankings.grade[line, rank], weight_of_ranks(measure, rank + 1)))
        grade, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls._weighted(grade[weight > 0], weight[weight > 0], least)

    def drawn(self, uniform: Floats) -> Floats:
        """A grade for each uniform number, the highest for the lowest ones."""
        if self.grade.size == 1:
            return np.full(uniform.shape, self.grade[0])
        return self.grade[np.searchsorted(-self.reached, -uniform, side="left").clip(1) - 1]

    def expected_gain(self, rule: Callable[[Floats], Floats]) -> float:
        """The mean gain of a relevant document."""
        return float(rule(self.grade) @ -np.diff(self.reached, append=0.0))


def centred(chance: Floats, variance: Floats | float) -> Floats:
    """Log odds whose probability is ``chance`` on average when they are shifted by a normal number of this variance.

    A shift to either side leaves a small probability larger on average: that is taken back, of long shifts as in a
    probit model.
    """
    odds: Floats = np.log(np.clip(chance, NEVER, ALWAYS) / np.clip(1 - chance, NEVER, ALWAYS))
    longer = np.abs(odds) * (np.sqrt(1 + np.pi / 8 * variance) - 1)
    return odds + np.sign(odds) * np.minimum(np.abs(1 - 2 * chance) * variance / 2, longer)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The documents of one run whose judgments were left out, and how probable it was that each is relevant."""

    topic: Ints
    rank: Ints
    grade: Floats
    chance: Floats

    def scores(
        self, parts: Sequence[Rankings], measure: Measure, assumptions: Assumptions, shift: float, draws: int
    ) -> tuple[Floats, Floats, Floats]:
        """By topic the score without these documents, that with them, and a row of drawn ones.

        ``parts`` are the run's lists without these judgments; ``shift`` is the standard deviation of the shift of all
        log odds.
        """
        facts = parts[0].facts
        depth = [min(rankings.width, measure.cutoff or rankings.width) for rankings in parts]
        cells = sum(rankings.topic.size * width for rankings, width in zip(parts, depth, strict=True))
        draws = max(FEWEST, min(draws, CELLS // max(cells, 1)))
        rng = np.random.default_rng(0)
        own = expit(centred(self.chance, shift**2) + shift * rng.normal(size=(draws, 1)))
        uniform = rng.random(own.shape)
        relevant_grades = RelevantGrades.near_the_top(measure, facts, parts)
        drawn = np.where(uniform < own, relevant_grades.drawn(uniform / own), 0.0)
        grades = np.vstack((np.zeros(self.grade.size), self.grade, drawn))
        completions = draws + 2
        more = np.bincount(self.topic, minlength=len(facts.query_ids))
        found = []
        for rankings, width in zip(parts, depth, strict=True):
            line = np.full(more.size, -1)
            line[rankings.topic] = np.arange(rankings.topic.size)
            mine = np.flatnonzero(line[self.topic] >= 0)
            at, place = line[self.topic[mine]], np.arange(completions)[:, None]
            some = grades[:, mine] > 0
            completed = CompletedFacts(
                facts, np.repeat(rankings.topic, completions), np.repeat(more[rankings.topic], completions),
                (at * completions + place)[some], grades[:, mine][some],
            )  # fmt: skip
            grade = np.repeat(np.nan_to_num(rankings.grade[:, None, :width]), completions, axis=1)
            stands = self.rank[mine] <= width
            grade[at[stands], :, self.rank[mine][stands] - 1] = grades[:, mine[stands]].T
            length = np.repeat(np.minimum(rankings.length, width), completions)
            lists = Rankings(grade.reshape(-1, width), length, np.arange(length.size), completed)
            found.append(assumptions.value(measure.plain, lists).reshape(-1, completions))
        score = np.concatenate(found)
        return score[:, 0], score[:, 1], score[:, 2:]


def without_judgments(parts: Sequence[Rankings], number: Ints, gone: Flags, facts: TopicFacts) -> list[Rankings]:
    """The lists of a run when the documents that are gone are not judged; ``facts`` are those that remain."""
    lists = []
    for rankings in parts:
        assert rankings.row is not None
        lost = (rankings.row >= 0) & gone[number[rankings.row]]
        lists.append(replace(rankings, grade=np.where(lost, np.nan, rankings.grade), facts=facts, _memory={}))
    return lists
