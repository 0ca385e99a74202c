"""The judgments of each subtopic of a topic, and lists as each subtopic sees them.

A judged document is not relevant to subtopics that no judgment of it names. A document without any judgment is unjudged
for all subtopics that the topic's judgments name. Without subtopics, a topic is its own only one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.subtopics import POOLED_NOT_JUDGED
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import UsageError

if TYPE_CHECKING:
    from rankbounds.rankings.rankings import Rankings
    from rankbounds.rankings.topic_facts import TopicFacts


class SubtopicFacts:
    """The subtopics of all topics, one after the other: topic t has those from ``first[t]`` to ``first[t + 1]``."""

    def __init__(self, facts: TopicFacts) -> None:
        self.of_topics = facts
        self.first: Ints
        self._greedy: dict[tuple[float, float], Floats] = {}
        qrels, topics = facts.qrels, len(facts.query_ids)
        known = qrels.subtopics
        if known is None:
            self.first = np.arange(topics + 1)
            self.facts = facts
            self.okay: Flags = np.zeros(topics, dtype=bool)
            """Which subtopics are okay nuggets, not vital ones."""
            self._row: Ints = np.arange(len(qrels))
            self._place: Ints = np.zeros(len(qrels), dtype=np.int64)
            self._grade = facts.grade
            return
        topic = qrels.pairs.topic[known.row].astype(np.int64)
        named, first, number = np.unique(
            topic * len(known.names) + known.number, return_index=True, return_inverse=True
        )
        owner = named // len(known.names)
        self.first = np.searchsorted(owner, np.arange(topics + 1))
        self.okay = known.okay[first]
        self._row, self._place = known.row, number - self.first[topic]
        judged = (known.grade != POOLED_NOT_JUDGED) & ~np.isnan(facts.grade[known.row])
        self._grade = np.where(judged, np.maximum(known.grade, 0.0), np.nan)
        names = tuple(qrels.query_ids[number] for number in owner.tolist())
        source = qrels.pairs.take(known.row)
        pairs = Pairs(names, number, source.docs, source.keys, source.source)
        self.facts = type(facts)(Qrels._of_pairs(pairs, np.where(judged, known.grade, POOLED_NOT_JUDGED)), facts.rule)

    @property
    def count(self) -> Ints:
        return np.diff(self.first)

    def judgments(self) -> tuple[Ints, Ints, Floats]:
        return self._row, self._place, self._grade

    @cached_property
    def grades(self) -> Floats:
        """Return the grades of each judgment's document for each subtopic, then rows for documents without any."""
        table = self.grades_given.copy()
        judged = np.append(~np.isnan(self.of_topics.grade), [False, False])
        table[judged] = np.where(np.isnan(table[judged]), 0.0, table[judged])
        return table

    @cached_property
    def grades_given(self) -> Floats:
        """Return ``grades`` with documents unjudged for the subtopics that no judgment of them names."""
        table = np.full((self.of_topics.grade.size + 2, max(1, int(self.count.max(initial=1)))), np.nan)
        table[-2:] = [[0.0], [0.0 if self.of_topics.complete else np.nan]]  # what BEYOND and NOT_POOLED stand for
        known = ~np.isnan(self._grade)
        table[self._row[known], self._place[known]] = self._grade[known]
        return table

    def greedy_gains(self, rel: float, alpha: float, depth: int) -> Floats:
        """Return what documents of the greedy ideal ranking add (Clarke et al., SIGIR 2008); ties as in ndeval."""
        known = self._greedy.get((rel, alpha))
        if known is None or known.shape[1] < depth:
            relevant = self._grade >= rel
            row, place, pairs = self._row[relevant], self._place[relevant], self.of_topics.qrels.pairs
            known = greedy_gains(pairs, row, place, alpha, depth, self.grades.shape[1])
            self._greedy[rel, alpha] = known
        return known[:, :depth]


def greedy_gains(pairs: Pairs, row: Ints, place: Ints, alpha: float, depth: int, width: int) -> Floats:
    """Return for each topic what the document at each rank of its greedy ideal ranking adds, padded with zeros.

    Every rank takes the document that adds the most, where a subtopic met n times before counts (1 - alpha)^n. Finding
    the best ranking is NP-complete, so measures use this one. Document ``row`` is relevant to its topic's subtopic
    number ``place``. All topics take a step at a time, and of documents relevant to the same subtopics only the one
    whose id sorts last is examined.
    """
    topics = len(pairs.topics)
    if not row.size:
        return np.zeros((topics, depth))
    documents, document = np.unique(row, return_inverse=True)
    covers = np.zeros((documents.size, width), dtype=bool)
    covers[document, place] = True
    topic = pairs.topic[documents].astype(np.int64)
    last_id_first = np.empty(documents.size, dtype=np.int64)
    last_id_first[np.lexsort(pairs.docs.take(documents).sort_keys()[::-1])] = np.arange(documents.size)
    # Documents of a topic that cover the same subtopics are a kind; each kind is a queue, the last id at its head.
    _, kind = np.unique(np.column_stack((topic, np.packbits(covers, axis=1))), axis=0, return_inverse=True)
    kind = kind.reshape(-1)  # NumPy 2.0 has it as a column
    order = np.lexsort((-last_id_first, kind))
    head = np.flatnonzero(np.diff(kind[order], prepend=-1))
    size = np.diff(head, append=order.size)
    of_kind, covered = topic[order[head]], covers[order[head]]
    queue = last_id_first[order]
    starts = np.searchsorted(of_kind, np.arange(topics + 1))
    columns = np.arange(int(np.diff(starts).max()))
    cell = np.minimum(starts[:-1, None] + columns, of_kind.size - 1)
    there = columns < np.diff(starts)[:, None]
    used = np.zeros((topics, columns.size), dtype=np.int64)
    worth = np.ones((topics, width))
    gains = np.zeros((topics, depth))
    everyone = np.arange(topics)
    for rank in range(min(depth, int(np.bincount(topic).max()))):
        open_kind = there & (used < size[cell])
        gain = np.where(open_kind, (covered[cell] * worth[:, None, :]).sum(axis=-1), -1.0)
        best = gain == gain.max(axis=1, keepdims=True)
        candidate = queue[np.minimum(head[cell] + used, queue.size - 1)]
        chosen = np.where(best & open_kind, candidate, -1).argmax(axis=1)
        some = open_kind.any(axis=1)
        gains[:, rank] = np.where(some, gain[everyone, chosen], 0.0)
        used[everyone[some], chosen[some]] += 1
        met = covered[cell[everyone, chosen]] & some[:, None]
        worth[met] *= 1 - alpha
    return gains


@dataclass(frozen=True)
class ListsBySubtopic:
    """Lists by subtopic of their topic: a row for each in ``rankings``, the list's ``number``."""

    rankings: Rankings
    number: Ints
    okay: Flags
    lists: int

    def total(self, values: Floats | Flags) -> Floats:
        return np.bincount(self.number, weights=values, minlength=self.lists).astype(np.float64, copy=False)


def lists_by_subtopic(rankings: Rankings, *, given: bool = False) -> ListsBySubtopic:
    """Return each list once per subtopic of its topic; ``given``: documents judged for others alone are unjudged."""
    known: SubtopicFacts = rankings.facts.subtopics
    lists = rankings.length.size
    if known.facts is rankings.facts:
        return ListsBySubtopic(rankings, np.arange(lists), known.okay[rankings.topic], lists)
    if rankings.judgment is None:
        raise UsageError("Measures that tell subtopics apart cannot be computed here; use evaluate.")
    count = known.count[rankings.topic]
    number = np.repeat(np.arange(lists), count)
    place = np.arange(number.size) - np.repeat(np.cumsum(count) - count, count)
    topic = known.first[rankings.topic][number] + place
    chance = rankings.chance
    return ListsBySubtopic(
        replace(
            rankings,
            grade=(known.grades_given if given else known.grades)[rankings.judgment[number], place[:, None]],
            length=rankings.length[number],
            topic=topic,
            facts=known.facts,
            tied=None if rankings.tied is None else rankings.tied[number],
            chance=chance if isinstance(chance, float) else np.broadcast_to(chance, rankings.grade.shape)[number],
            row=None,
            judgment=None,
            _memory={},
        ),
        number,
        known.okay[topic],
        lists,
    )
