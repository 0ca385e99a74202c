"""Scores that known judgments left out would have been predicted to have, and those that they have.

Judgments of some documents are left out, and a model gives the probability that each of these is relevant. Drawn many
times, they give the predicted scores of a run, by any measure; their own grades give the score itself. Documents that
are not judged at all count as non-relevant in both: of them, nothing is learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.probability.drawn_scores import RelevantGrades, centred
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts
from rankbounds.stats.logistic import expit

CELLS, FEWEST = 1 << 20, 20
"""Left-out documents are drawn less often where lists would have more cells than this, but so often."""


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


def judgments_of(facts: TopicFacts, runs: Sequence[Run], numbers: Sequence[Ints], size: int) -> Ints:
    """By number of a document, its row among the judgments; -1 where it has none. ``numbers`` are by row of a run."""
    row = np.full(size, -1)
    for run, number in zip(runs, numbers, strict=True):
        retrieved, judged = facts.qrels.pairs.index.find(run.pairs)
        row[number[retrieved]] = judged
    return row


def without_judgments(parts: Sequence[Rankings], number: Ints, gone: Flags, facts: TopicFacts) -> list[Rankings]:
    """The lists of a run when the documents that are gone are not judged; ``facts`` are those that remain."""
    lists = []
    for rankings in parts:
        assert rankings.row is not None
        lost = (rankings.row >= 0) & gone[number[rankings.row]]
        lists.append(replace(rankings, grade=np.where(lost, np.nan, rankings.grade), facts=facts, _memory={}))
    return lists
