"""The lists of several runs, topic by topic, and their unjudged documents, each with one number in all lists.

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
from rankbounds.columns.pairs import number_pairs
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

Found: TypeAlias = tuple[Floats, Flags]
"""By pair the greatest difference (NaN: not known), and whether some judgments attain it."""
Greatest: TypeAlias = Callable[[Ints, Ints], Found]
"""Asked with the lines of A and of B, pair by pair."""
Choice: TypeAlias = Callable[[Rankings], Flags]
CELLS = 1 << 21
"""How many numbers an array over pairs may have; more pairs are taken in parts."""
MATCHED = 1 << 20
"""So many cells are matched at a time."""


class SharedLists:
    """The ranked lists of several runs over the same judgments.

    Parameters
    ----------
    runs : sequence of Run
        The runs.
    facts : TopicFacts
        What the judgments say.
    rankings_of_runs : sequence of iterables of Rankings
        For each run its batches, with the row that each cell came from.

    Attributes
    ----------
    has_list : array of bool
        By run and topic of the judgments: does the run have a list?
    topics : array of int
        The topics that all runs have lists for.
    """

    def __init__(self, runs: Sequence[Run], facts: TopicFacts, rankings_of_runs: Sequence[Iterable[Rankings]]) -> None:
        self.runs, self.facts = list(runs), facts
        self.batches = [list(batches) for batches in rankings_of_runs]
        self.has_list = np.zeros((len(self.runs), len(facts.query_ids)), dtype=bool)
        for number, batches in enumerate(self.batches):
            for batch in batches:
                self.has_list[number, batch.topic] = True
        self.topics = np.flatnonzero(self.has_list.all(axis=0))
        self._matched: dict[object, list[Documents]] = {}

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
        """The batches of the topics that all runs have lists for."""
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

    def documents(self, choice: Choice, key: object) -> list[Documents]:
        """Return every topic's chosen unjudged documents, matched among the runs; cached under the ``key``."""
        if key not in self._matched:
            self._matched[key] = self.match([choice(rankings) & rankings.holes for rankings in self.by_topic])
        return self._matched[key]

    def match(self, chosen: Sequence[Flags], lists: Sequence[Rankings] | None = None) -> list[Documents]:
        """Number the documents in the chosen cells of each topic, equally in all lists."""
        lists = self.by_topic if lists is None else lists
        matched: list[Documents] = []
        ends = np.cumsum([np.count_nonzero(flags) for flags in chosen])
        while (begin := len(matched)) < len(chosen):  # some topics at a time, whose documents fit into memory
            room = MATCHED + (ends[begin - 1] if begin else 0)
            end = max(begin + 1, int(np.searchsorted(ends, room, side="right")))
            matched += self._match(chosen[begin:end], lists[begin:end])
        return matched

    def _match(self, chosen: Sequence[Flags], lists: Sequence[Rankings]) -> list[Documents]:
        cells = [np.nonzero(flags) for flags in chosen]
        held = np.stack([np.count_nonzero(flags, axis=-1) for flags in chosen])
        rows: list[list[Ints]] = [[] for _ in self.runs]
        for rankings, (line, rank), counts in zip(lists, cells, held, strict=True):
            assert rankings.row is not None
            for number, part in enumerate(np.split(rankings.row[line, rank], np.cumsum(counts)[:-1])):
                rows[number].append(part)
        numbers = number_pairs(
            [run.pairs_in(np.concatenate(parts).astype(np.int64)) for run, parts in zip(self.runs, rows, strict=True)]
        )
        # Pairs of a topic are numbered on from 0, in the order of their numbers among all.
        topic = np.zeros(1 + max((int(of_run.max(initial=-1)) for of_run in numbers), default=-1), dtype=np.int64)
        for of_run, counts in zip(numbers, held.T, strict=True):
            topic[of_run] = np.repeat(np.arange(len(cells)), counts)
        order = np.argsort(topic, kind="stable")
        distinct = np.bincount(topic, minlength=len(cells))
        document = np.empty(topic.size, dtype=np.int32)
        document[order] = np.arange(topic.size) - np.repeat(np.cumsum(distinct) - distinct, distinct)
        ends = np.cumsum(held, axis=0)
        matched = []
        for place, (line, rank) in enumerate(cells):
            of_runs = zip(numbers, ends[place], held[place], strict=True)
            of_topic = np.concatenate([document[number[end - count : end]] for number, end, count in of_runs])
            in_cells = line.astype(np.int32), rank.astype(np.int32)
            matched.append(Documents(*in_cells, of_topic, held[place], int(distinct[place])))
        return matched


@dataclass(frozen=True, eq=False)
class Documents:
    """Unjudged documents of one topic: by cell the line (run), the rank (from 0) and the document's number."""

    line: Ints
    rank: Ints
    document: Ints
    held: Ints
    """How many each run holds."""
    count: int

    @property
    def most_of_two(self) -> int:
        """So many documents two lists hold together at most."""
        return 2 * int(self.held.max(initial=0))

    def by_run(self, values: Floats | Ints) -> Floats:
        """Return values of the cells as a matrix of runs by documents, 0 for missing ones."""
        matrix: Floats = np.zeros((self.held.size, self.count))
        matrix[self.line, self.document] = values
        return matrix

    @cached_property
    def tables(self) -> tuple[Ints, Ints]:
        """Return each run's documents from the top down, filled up with ``count``, and its rank of every document.

        Ranks count from 1; 0 means that the run does not have the document.
        """
        place = np.arange(self.line.size) - np.repeat(np.cumsum(self.held) - self.held, self.held)
        listed = np.full((self.held.size, int(self.held.max(initial=0))), self.count)
        listed[self.line, place] = self.document
        ranks = np.zeros((self.held.size, self.count + 1), dtype=np.int32)
        ranks[self.line, self.document] = self.rank + 1
        return listed, ranks

    def of_either(self, a: Ints, b: Ints) -> tuple[Ints, Ints]:
        """Return for each pair of runs the documents of either list, each once: its rank in A and in B (0: not there).

        Rows are as long as the longest; entries with two zeros are padding.
        """
        listed, ranks = self.tables
        documents = np.concatenate((listed[a], listed[b]), axis=-1)
        rank_a, rank_b = ranks[a[:, None], documents], ranks[b[:, None], documents]
        # What stands in both was listed with A's.
        again = rank_a[:, listed.shape[1] :] > 0
        rank_a[:, listed.shape[1] :][again] = 0
        rank_b[:, listed.shape[1] :][again] = 0
        return rank_a, rank_b

    def shared(self, chosen: Flags | None = None) -> Floats:
        """Count the documents (of the chosen cells, if given) that two runs share."""
        member = np.zeros((self.held.size, -(-self.count // 64) * 64), dtype=bool)
        member[self.line, self.document] = True if chosen is None else chosen
        sets = np.packbits(member, axis=-1).view(np.uint64)  # (a product of matrices takes threads that wait)
        shared: Floats = np.zeros((len(sets), len(sets)))
        for line, of_run in enumerate(sets):
            shared[line] = np.bitwise_count(sets & of_run).sum(axis=-1, dtype=np.int64)
        return shared

    @cached_property
    def overlap(self) -> Floats:
        """By two runs, how many documents they share."""
        return self.shared()


@dataclass(frozen=True, eq=False)
class OpenTopic:
    """One topic's lists, its matched unjudged documents, and the assumptions."""

    rankings: Rankings
    documents: Documents
    assumptions: Assumptions


def in_parts(greatest: Greatest, a: Ints, b: Ints, cells: int) -> Found:
    """Split pairs so that arrays with this many cells each stay small."""
    result, exact = np.empty(a.size), np.zeros(a.size, dtype=bool)
    for start in range(0, a.size, size := max(1, CELLS // cells)):
        part = slice(start, start + size)
        result[part], exact[part] = greatest(a[part], b[part])
    return result, exact


def same_lists(one: Run, other: Run) -> bool:
    """Are these the same lists from the same place?"""
    return (
        one.source == other.source
        and len(one) == len(other)
        and bool((one.pairs.keys == other.pairs.keys).all())
        and bool((one.score == other.score).all())
    )
