"""What the report shows of ranked lists, gathered while they are scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import group_means, reorder

STRIP_DEPTH = 100
"""How many ranks of a list can be looked at."""
PERSISTENCE_DEPTH = 2000
"""How many ranks the persistence slider reads: 0.99^2000 is too small for any digit shown."""
COVERAGE_DEPTHS = (10, 100)
ABSENT, UNJUDGED, NONRELEVANT = 0, 1, 2
"""Codes of a cell; higher ones are the positive grades of the collection, in order."""
TIED = 128
"""Added to a cell's code where the document has the score of the one before."""


@dataclass
class Lists:
    """One run's lists: sums over topics for each rank, and what the first ranks hold."""

    sure: Floats = field(default_factory=lambda: np.zeros(PERSISTENCE_DEPTH))
    """At each rank, the worth of its documents summed over topics, unjudged ones as worthless."""
    most: Floats = field(default_factory=lambda: np.zeros(PERSISTENCE_DEPTH))
    """As ``sure``, unjudged documents as relevant."""
    strips: dict[int, Ints] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)
    tied: list[int] = field(default_factory=lambda: [0, 0])
    """How many documents share their score with another one, in the first ten and in all."""
    judged: list[int] = field(default_factory=lambda: [0] * (len(COVERAGE_DEPTHS) + 1))
    """How many documents are judged down to each depth of coverage, and in all."""
    seen: list[int] = field(default_factory=lambda: [0] * (len(COVERAGE_DEPTHS) + 1))
    """How many documents there are down to these depths."""


class Observed:
    """Gathers from batches of rankings, which may come from several threads."""

    def __init__(self, measures: Sequence[Measure], assumptions: Assumptions) -> None:
        self.assumptions = assumptions
        self.rbp = next((measure for measure in measures if isinstance(measure, RBP) and not measure.by_topic), RBP())
        self.runs: dict[int, Lists] = {}
        self.grades: Floats = np.empty(0)
        self.largest = 1.0
        """What the worth of a document is to be multiplied with to be a gain."""
        self._lock = Lock()

    def __call__(self, run: int, rankings: Rankings) -> None:
        """Take in a batch of one run's lists."""
        sure, most = (self._worth(rankings.assume(chance)).sum(axis=0) for chance in (0.0, 1.0))
        cutoff = self.rbp.cutoff or PERSISTENCE_DEPTH
        depth = min(rankings.width, PERSISTENCE_DEPTH, cutoff)
        read = rankings.length if self.rbp.cutoff is None else np.minimum(rankings.length, cutoff)
        strips = self._strips(rankings)
        with self._lock:
            lists = self.runs.setdefault(run, Lists())
            lists.sure[:depth] += sure[:depth]
            lists.most[:depth] += most[:depth]
            lists.lengths += read.tolist()
            lists.strips.update(zip(rankings.topic.tolist(), strips, strict=True))
            self._count(lists, rankings)

    def _worth(self, rankings: Rankings) -> Floats:
        """What each rank holds for RBP, tied documents treated as the assumptions say."""
        worth = self.rbp.worth(rankings)
        rule = self.assumptions.ties
        if rule == "expected":
            return group_means(rankings, worth)
        if rule in ("best", "worst"):
            return self.rbp.worth(reorder(rankings, worth, best=rule == "best"))
        return worth

    def _strips(self, rankings: Rankings) -> Ints:
        """The first ranks of each list as codes."""
        if not self.grades.size:
            grade = rankings.facts.grade
            self.grades = np.unique(grade[grade > 0])
            if self.rbp.graded:
                self.largest = self.rbp.max_grade or rankings.facts.scale
        depth = min(rankings.width, STRIP_DEPTH)
        grade = rankings.grade[:, :depth]
        level = np.searchsorted(self.grades, grade, side="right")
        code = np.where(rankings.holes[:, :depth], UNJUDGED, np.minimum(NONRELEVANT + level, TIED - 1))
        code = np.where(rankings.present[:, :depth], code, ABSENT)
        if rankings.tied is not None:
            code = code + TIED * rankings.tied[:, :depth]
        return code.astype(np.uint8)

    def _count(self, lists: Lists, rankings: Rankings) -> None:
        judged = rankings.present & ~rankings.holes
        for at, depth in enumerate((*COVERAGE_DEPTHS, rankings.width)):
            lists.judged[at] += int(np.count_nonzero(judged[:, :depth]))
            lists.seen[at] += int(np.minimum(rankings.length, depth).sum())
        if rankings.tied is not None:
            shared = rankings.tied.copy()
            shared[:, :-1] |= rankings.tied[:, 1:]
            for at, depth in enumerate((COVERAGE_DEPTHS[0], rankings.width)):
                lists.tied[at] += int(np.count_nonzero(shared[:, :depth]))
