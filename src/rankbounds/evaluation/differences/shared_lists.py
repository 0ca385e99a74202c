"""The lists of several runs, topic by topic, and their unjudged documents.

A topic's lists are one batch of rankings with a row per run, so that a measure reads them all at once. Each argument
names the unjudged documents that it needs, because matching is costly: one that reads ten ranks needs none at rank 900.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.rankings.documents import NOTHING, RetrievedDocuments, entries_of
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

Found: TypeAlias = tuple[Floats, Flags]
"""By pair the greatest difference (NaN: not known), and whether some judgments attain it."""
Greatest: TypeAlias = Callable[[Ints, Ints], Found]
"""Asked with the lines of A and of B, pair by pair."""
Choice: TypeAlias = Callable[[Rankings], Flags]
CELLS = 1 << 21
"""How many numbers an array over pairs may have; more pairs are taken in parts."""


class SharedLists:
    """The ranked lists of several runs over the same judgments, and for which topics each of them, or all, have one."""

    def __init__(self, runs: Sequence[Run], facts: TopicFacts, rankings_of_runs: Sequence[Iterable[Rankings]]) -> None:
        self.runs, self.facts = list(runs), facts
        self.batches = [list(batches) for batches in rankings_of_runs]
        self.has_list = np.zeros((len(self.runs), len(facts.query_ids)), dtype=bool)
        for number, batches in enumerate(self.batches):
            for batch in batches:
                self.has_list[number, batch.topic] = True
        self.topics = np.flatnonzero(self.has_list.all(axis=0))
        self._matched: dict[object, list[RetrievedDocuments]] = {}

    @cached_property
    def any_list(self) -> dict[int, Rankings]:
        """For each topic that some run has, one batch with a line for each run, empty where it has no list."""
        pieces: dict[int, list[tuple[int, Rankings, int]]] = {}
        for number, batches in enumerate(self.batches):
            for batch in batches:
                for line, topic in enumerate(batch.topic.tolist()):
                    pieces.setdefault(topic, []).append((number, batch, line))
        return {topic: self._batch(topic, pieces.pop(topic)) for topic in sorted(pieces)}

    @cached_property
    def by_topic(self) -> list[Rankings]:
        return [self.any_list[topic] for topic in self.topics.tolist()]

    def _batch(self, topic: int, lists: list[tuple[int, Rankings, int]]) -> Rankings:
        runs = len(self.runs)
        length = np.zeros(runs, dtype=np.int64)
        for number, batch, line in lists:
            length[number] = batch.length[line]
        width = max(1, int(length.max(initial=0)))
        grade, row = np.zeros((runs, width)), np.full((runs, width), -1, dtype=np.int32)
        tied = np.zeros((runs, width), dtype=bool)
        for number, batch, line in lists:
            size = length[number]
            assert batch.row is not None
            grade[number, :size] = batch.grade[line, :size]
            row[number, :size] = batch.row[line, :size]
            if batch.tied is not None:
                tied[number, :size] = batch.tied[line, :size]
        return Rankings(grade, length, np.full(runs, topic), self.facts, tied if tied.any() else None, row=row)

    @cached_property
    def same(self) -> Flags:
        """Are two runs the same lists from the same file, so that they certainly do not differ?"""
        same = np.eye(len(self.runs), dtype=bool)
        for one in range(len(self.runs)):
            for other in range(one):
                same[one, other] = same[other, one] = same_lists(self.runs[one], self.runs[other])
        return same

    def documents(self, choice: Choice, key: object) -> list[RetrievedDocuments]:
        if key not in self._matched:
            matched = self.match(self.by_topic, lambda rankings: choice(rankings) & rankings.holes)
            self._matched[key] = matched.by_topic(self.topics)
        return self._matched[key]

    def match(self, lists: Iterable[Rankings], choice: Choice) -> RetrievedDocuments:
        """Number the documents in chosen cells of topics' lists; entries are topic by topic, run after run."""
        every = np.arange(len(self.runs))
        entries = (entries_of(every, rankings, choice(rankings)) for rankings in lists)
        return RetrievedDocuments.at(self.runs, np.concatenate([NOTHING, *entries], axis=1))


@dataclass(frozen=True, eq=False)
class OpenTopic:
    """One topic's lists, its matched unjudged documents, and the assumptions."""

    rankings: Rankings
    documents: RetrievedDocuments
    assumptions: Assumptions


def in_parts(greatest: Greatest, a: Ints, b: Ints, cells: int) -> Found:
    result, exact = np.empty(a.size), np.zeros(a.size, dtype=bool)
    for start in range(0, a.size, size := max(1, CELLS // cells)):
        part = slice(start, start + size)
        result[part], exact[part] = greatest(a[part], b[part])
    return result, exact


def same_lists(one: Run, other: Run) -> bool:
    return (
        one.source == other.source
        and len(one) == len(other)
        and bool((one.pairs.keys == other.pairs.keys).all())
        and bool((one.score == other.score).all())
    )
