"""Lists of runs completed: every unjudged document that they retrieved gets a grade, the same one in all of them.

A document that turns out relevant adds to the ideal ranking and to the number of relevant documents, whichever run
retrieved it. So a completion is a collection: the lists with grades, and the facts of the topic with those documents
judged. Many completions are evaluated at once; of each, only documents of a grade above 0 are listed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import SharedLists
from rankbounds.measures import Measure
from rankbounds.probability.documents import UnjudgedDocuments
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts

CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Completions:
    """As many completions of each topic: unjudged documents of a grade above 0; ``at`` is the topic's place."""

    topics: Ints
    completions: int
    at: Ints
    completion: Ints
    document: Ints
    grade: Floats

    @cached_property
    def number(self) -> Ints:
        return self.at * self.completions + self.completion

    def only(self, chosen: Flags) -> Completions:
        at, completion, document = (part[chosen] for part in (self.at, self.completion, self.document))
        return Completions(self.topics, self.completions, at, completion, document, self.grade[chosen])

    def line_of(self, topic: Ints) -> Ints:
        order = np.argsort(self.topics)
        return order[np.searchsorted(self.topics[order], topic)]


class CompletedLists(NamedTuple):
    """One run's lists, a row for each topic and completion."""

    grade: Floats
    length: Ints
    tied: Flags | None
    is_there: Flags
    """By topic: has the run a list for it?"""


class OpenCollection(SharedLists):
    """The lists of several runs and the unjudged documents that they retrieved, each document once.

    ``topic`` is that of each of the unjudged documents, which are ``retrieved``; those of a topic begin at its
    ``first``. ``rank`` has a row for each run: the document's rank, 0 where the run lacks it. ``unjudged`` are those of
    each run in the order of its lists, for models of their probabilities, and ``numbers`` which documents they are.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        facts: TopicFacts,
        assumptions: Assumptions,
        rankings_of_runs: Sequence[Iterable[Rankings]],
    ) -> None:
        super().__init__(runs, facts, rankings_of_runs)
        self.assumptions = assumptions
        self.drawn: dict[tuple[Any, ...], Any] = {}
        """By model, seed and topic: how often was drawn, the model, and what was drawn."""
        self.drawn_documents = 0
        self.length = np.zeros(self.has_list.shape, dtype=np.int64)
        for topic, rankings in self.any_list.items():
            self.length[:, topic] = rankings.length
        documents = self.retrieved = self.match(self.any_list.values(), lambda rankings: rankings.holes)
        self.topic, size = documents.topic, len(documents)
        self.first = np.searchsorted(self.topic, np.arange(len(facts.query_ids) + 1))
        self.rank = np.zeros((len(self.runs), size), dtype=np.int32)  # (the largest array here)
        self.rank[documents.run, documents.document] = documents.rank
        self.held = self.rank > 0
        self.numbers = [documents.document[mine] for mine in documents.entries]
        self.unjudged = [
            UnjudgedDocuments(
                run, facts, np.where(has_list, 0.0, np.nan), np.zeros(has_list.size), self.topic[number],
                documents.rank[mine], np.zeros(mine.size), documents.row[mine],
            )
            for run, number, mine, has_list in zip(
                self.runs, self.numbers, documents.entries, self.has_list, strict=True
            )
        ]  # fmt: skip

    def __len__(self) -> int:
        return self.topic.size

    def mean_over_runs(self, values: Sequence[Floats]) -> Floats:
        total = np.zeros(len(self))
        for number, value in zip(self.numbers, values, strict=True):
            total += np.bincount(number, value, len(self))
        return total / np.maximum(self.held.sum(axis=0), 1)

    def of_first_run(self, values_of: Callable[[UnjudgedDocuments], Floats]) -> Floats:
        """One value (or row of values) for each document, where it is the same in all runs: asked of the first run."""
        met: Flags = np.zeros(len(self), dtype=bool)
        values: Floats | None = None
        for unjudged, number in zip(self.unjudged, self.numbers, strict=True):
            new = ~met[number]
            met[number] = True
            of_run = values_of(unjudged.only(new))
            if values is None:
                values = np.zeros((len(self), *of_run.shape[1:]))
            values[number[new]] = of_run
        assert values is not None
        return values

    def depth(self, measure: Measure) -> int | None:
        return measure.cutoff if self.assumptions.ties in ORDERS else None

    def is_open(self, measure: Measure, among: Sequence[int]) -> bool:
        depth = self.depth(measure) if measure.list_only else None
        rank = self.rank[list(among)]
        return bool((rank > 0).any() if depth is None else ((rank > 0) & (rank <= depth)).any())

    def parts(self, measure: Measure, completions: int, topics: Ints | None = None) -> Iterator[Ints]:
        chosen = np.arange(self.first.size - 1) if topics is None else topics
        deepest = self.length.max(axis=0)
        depth = self.depth(measure)
        width = np.maximum(np.diff(self.first), deepest if depth is None else np.minimum(deepest, depth))[chosen]
        ordered = chosen[np.argsort(width, kind="stable")]
        width = np.sort(width)
        begin = 0
        while begin < ordered.size:
            room = np.arange(1, ordered.size - begin + 1) * np.maximum(width[begin:], 1) * completions
            end = begin + max(1, int(np.searchsorted(room, CELLS, side="right")))
            yield ordered[begin:end]
            begin = end

    def held_by(self, among: Sequence[int], documents: Ints) -> Flags:
        held: Flags = np.logical_or.reduce([self.held[run, documents] for run in among])
        return held

    def facts_of(
        self, completed: Completions, among: Sequence[int], elsewhere: tuple[Ints, Floats] | None = None
    ) -> CompletedFacts:
        """The facts of the completed topics; ``elsewhere`` are completions with one more document, and its grade."""
        ends = zip(self.first[completed.topics].tolist(), self.first[completed.topics + 1].tolist(), strict=True)
        held = [np.count_nonzero(self.held[list(among), begin:end].any(axis=0)) for begin, end in ends]
        more = np.repeat(np.array(held, dtype=int), completed.completions)
        mine = self.held_by(among, completed.document)
        completion, grade = completed.number[mine], completed.grade[mine]
        if elsewhere is not None:
            more[elsewhere[0]] += 1
            completion, grade = np.append(completion, elsewhere[0]), np.append(grade, elsewhere[1])
        return CompletedFacts(self.facts, np.repeat(completed.topics, completed.completions), more, completion, grade)

    def grades(self, run: int, measure: Measure, completed: Completions) -> tuple[Floats, Ints]:
        """The grades of one run's completed lists down to the measure's depth, and how far each topic's list goes."""
        length, depth = self.length[run, completed.topics], self.depth(measure)
        if depth is not None:
            length = np.minimum(length, depth)
        known = np.nan_to_num(self._cells("grade", run, completed.topics, length), nan=0.0)
        grade = np.repeat(known[:, None, :], completed.completions, axis=1)
        rank = self.rank[run][completed.document]
        stands = np.flatnonzero((rank > 0) & (rank <= length[completed.at]))
        grade[completed.at[stands], completed.completion[stands], rank[stands] - 1] = completed.grade[stands]
        return grade, length

    def lists(self, run: int, measure: Measure, completed: Completions) -> CompletedLists:
        topics, completions = completed.topics, completed.completions
        grade, length = self.grades(run, measure, completed)
        tied = None
        if self.assumptions.ties not in ORDERS:
            marks = self._cells("tied", run, topics, length)
            tied = np.repeat(marks > 0, completions, axis=0) if marks.any() else None
        flat = grade.reshape(-1, grade.shape[-1])
        return CompletedLists(flat, np.repeat(length, completions), tied, self.has_list[run, topics][:, None])

    def values(self, lists: CompletedLists, measure: Measure, facts: CompletedFacts) -> Floats:
        """The measure of one run's lists: a row for each topic, a column for each completion; NaN: no list."""
        rankings = Rankings(lists.grade, lists.length, np.arange(lists.length.size), facts, lists.tied)
        value = self.assumptions.value(measure.plain, rankings).reshape(lists.is_there.size, -1)
        return np.where(lists.is_there, value, np.nan)

    def _cells(self, name: str, run: int, topics: Ints, length: Ints) -> Floats:
        block = np.zeros((topics.size, max(1, int(length.max(initial=0)))))
        for line, (topic, size) in enumerate(zip(topics.tolist(), length.tolist(), strict=True)):
            cells = getattr(self.any_list[topic], name) if size else None
            if cells is not None:
                block[line, :size] = cells[run, :size]
        return block
