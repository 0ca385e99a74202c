"""Lists of runs completed: every unjudged document that they retrieved gets a grade, the same one in all of them.

A measure such as nDCG or AP reads more than one list. A document that turns out relevant adds to the ideal ranking and
to the number of relevant documents too, whichever of the runs retrieved it and however deep it stands. So a completion
is a collection: the lists with grades for all their documents, and the facts of the topic with those documents judged.
Any measure can be evaluated on it as it is on a collection that is judged in full.

Many completions of many topics are evaluated at once. Of each, only documents of a grade above 0 are listed one by one:
among the unjudged ones they are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import number_pairs
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures import Measure
from rankbounds.probability.unjudged_documents import UnjudgedDocuments
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import CompletedFacts, TopicFacts

CELLS = 1 << 20
"""How many cells of completed lists are held at once."""
NO_DOCUMENT = -1


@dataclass(frozen=True, eq=False)
class Completions:
    """Several completions of each of some topics: the unjudged documents that have a grade above 0, one by one.

    ``at`` is the place of a document's topic among ``topics``, ``completion`` the completion it belongs to.
    """

    topics: Ints
    completions: int
    at: Ints
    completion: Ints
    document: Ints
    grade: Floats

    def only(self, chosen: Flags) -> Completions:
        """Those of the documents that are chosen; the others have grade 0."""
        at, completion, document = (part[chosen] for part in (self.at, self.completion, self.document))
        return Completions(self.topics, self.completions, at, completion, document, self.grade[chosen])

    def line_of(self, topic: Ints) -> Ints:
        """The place among ``topics`` of each of these, which are all among them."""
        order = np.argsort(self.topics)
        return order[np.searchsorted(self.topics[order], topic)]


@dataclass(frozen=True, eq=False)
class OpenLists:
    """The lists of one run, flat and topic by topic: ``start`` and ``length`` by topic (-1: the run lacks it)."""

    start: Ints
    length: Ints
    grade: Floats
    tied: Flags
    row: Ints
    """The row of the run's table that each document has."""

    @property
    def topic(self) -> Ints:
        """The topic of each document."""
        some = np.flatnonzero(self.length > 0)
        order = some[np.argsort(self.start[some])]
        return np.repeat(order, self.length[order])


class OpenCollection:
    """The lists of several runs and the unjudged documents that they retrieved, each document once.

    ``topic`` is that of each unjudged document, and documents of a topic stand together; ``held`` has a row for each
    run: does it hold the document? ``unjudged`` are those of each run in the order of its lists, for models of their
    probabilities, and ``numbers`` which documents they are.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        facts: TopicFacts,
        assumptions: Assumptions,
        rankings_of_runs: Sequence[Sequence[Rankings]],
    ) -> None:
        self.runs, self.facts, self.assumptions = list(runs), facts, assumptions
        topics = len(facts.query_ids)
        flat = [_flat(rankings, topics) for rankings in rankings_of_runs]
        holes = [np.flatnonzero(np.isnan(lists.grade)) for lists in flat]
        rows = [lists.row[hole] for lists, hole in zip(flat, holes, strict=True)]
        numbered = number_pairs([run.pairs.take(row) for run, row in zip(self.runs, rows, strict=True)])
        topic_of = [lists.topic[hole] for lists, hole in zip(flat, holes, strict=True)]
        size = max((int(number.max(initial=-1)) for number in numbered), default=-1) + 1
        topic, key = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.uint64)
        for run, number, its_topic, row in zip(self.runs, numbered, topic_of, rows, strict=True):
            topic[number], key[number] = its_topic, run.pairs.keys[row]
        # Documents are numbered anew, topic by topic, in an order that does not depend on that of the runs.
        order = np.lexsort((key, topic))
        place = np.empty(size, dtype=np.int64)
        place[order] = np.arange(size)
        self.numbers = [place[number] for number in numbered]
        self.topic = topic[order]
        self.first = np.searchsorted(self.topic, np.arange(topics + 1))
        """Where each topic's documents begin; behind them, the end."""
        self.held = np.zeros((len(self.runs), size), dtype=bool)
        self.rank = np.zeros((len(self.runs), size), dtype=np.int64)
        """By run, the rank of each document; 0 where the run lacks it."""
        self.lists = flat
        self.unjudged: list[UnjudgedDocuments] = []
        for at, (lists, hole, number, row) in enumerate(zip(flat, holes, self.numbers, rows, strict=True)):
            rank = hole - lists.start[self.topic[number]] + 1
            self.held[at, number], self.rank[at, number] = True, rank
            base = np.where(lists.length >= 0, 0.0, np.nan)
            nothing = np.zeros(number.size)
            self.unjudged.append(
                UnjudgedDocuments(self.runs[at], facts, base, np.zeros(topics), self.topic[number], rank, nothing, row)
            )

    def __len__(self) -> int:
        return self.topic.size

    @property
    def has_list(self) -> Flags:
        """A row for each run: which topics it is scored on."""
        return np.stack([lists.length >= 0 for lists in self.lists])

    def mean_over_runs(self, values: Sequence[Floats]) -> Floats:
        """One value for each document from those that the runs' ``unjudged`` have."""
        total = sum(
            (np.bincount(number, value, len(self)) for number, value in zip(self.numbers, values, strict=True)),
            start=np.zeros(len(self)),
        )
        return np.asarray(total / np.maximum(self.held.sum(axis=0), 1))

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

    def doc_ids(self, documents: Ints) -> list[str]:
        """The names of these documents."""
        names = np.empty(documents.size, dtype=object)
        for run, unjudged, number in zip(self.runs, self.unjudged, self.numbers, strict=True):
            row = np.full(len(self), -1)
            row[number] = unjudged.row
            mine = np.flatnonzero(row[documents] >= 0)
            if mine.size:
                names[mine] = run.pairs.docs.take(row[documents[mine]]).to_list()
        return names.tolist()

    def depth(self, measure: Measure) -> int | None:
        """How deep a list matters to the measure, where the order of its documents is fixed."""
        return measure.cutoff if self.assumptions.ties in ORDERS else None

    def is_open(self, measure: Measure, among: Sequence[int]) -> bool:
        """Do these runs hold an unjudged document that can matter to the measure?"""
        depth = self.depth(measure) if measure.list_only else None
        rank = self.rank[list(among)]
        return bool((rank > 0).any() if depth is None else ((rank > 0) & (rank <= depth)).any())

    def parts(self, measure: Measure, completions: int, topics: Ints | None = None) -> Iterator[Ints]:
        """The topics in parts whose completions fit into memory, this many of each topic."""
        chosen = np.arange(self.first.size - 1) if topics is None else topics
        deepest = np.max([lists.length for lists in self.lists], axis=0)
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

    def documents_of(self, topics: Ints) -> Ints:
        """A row for each topic: the numbers of its documents, ``NO_DOCUMENT`` behind them."""
        return _padded(np.arange(len(self)), self.first[topics], np.diff(self.first)[topics], NO_DOCUMENT)

    def flat_documents_of(self, topics: Ints) -> Ints:
        """The numbers of the documents of these topics, one topic after the other."""
        documents = self.documents_of(topics)
        return documents[documents >= 0]

    def held_by(self, among: Sequence[int], documents: Ints) -> Flags:
        """Which of these documents one of the runs holds."""
        held: Flags = np.logical_or.reduce([self.held[run, documents] for run in among])
        return held

    def number_held(self, topics: Ints, among: Sequence[int]) -> Ints:
        """How many documents of each topic one of the runs holds."""
        ends = zip(self.first[topics].tolist(), self.first[topics + 1].tolist(), strict=True)
        stretches = [np.arange(begin, end) for begin, end in ends]
        return np.array([np.count_nonzero(self.held_by(among, stretch)) for stretch in stretches], dtype=np.int64)

    def facts_of(
        self, completed: Completions, among: Sequence[int], elsewhere: tuple[Ints, Floats] | None = None
    ) -> CompletedFacts:
        """The facts of the completed topics, when the documents that some of the runs hold are judged.

        ``elsewhere``: completions in which one more document is judged, that none of the runs holds, and its grade.
        """
        more = np.repeat(self.number_held(completed.topics, among), completed.completions)
        mine = self.held_by(among, completed.document)
        completion, grade = (completed.at * completed.completions + completed.completion)[mine], completed.grade[mine]
        if elsewhere is not None:
            more[elsewhere[0]] += 1
            completion, grade = np.append(completion, elsewhere[0]), np.append(grade, elsewhere[1])
        return CompletedFacts(self.facts, np.repeat(completed.topics, completed.completions), more, completion, grade)

    def grades(self, run: int, measure: Measure, completed: Completions) -> tuple[Floats, Ints]:
        """The grades of one run's completed lists, by topic, completion and rank, and how far each topic's list goes.

        Lists are cut at the measure's depth, and have grade 0 behind their ends.
        """
        lists, topics = self.lists[run], completed.topics
        length, depth = np.maximum(lists.length[topics], 0), self.depth(measure)
        if depth is not None:
            length = np.minimum(length, depth)
        known = np.nan_to_num(_padded(lists.grade, lists.start[topics], length, 0.0), nan=0.0)
        grade = np.repeat(known[:, None, :], completed.completions, axis=1)
        rank = self.rank[run][completed.document]
        stands = np.flatnonzero((rank > 0) & (rank <= length[completed.at]))
        grade[completed.at[stands], completed.completion[stands], rank[stands] - 1] = completed.grade[stands]
        return grade, length

    def values(self, run: int, measure: Measure, completed: Completions, facts: CompletedFacts) -> Floats:
        """The measure of one run's lists: a row for each topic, a column for each completion; NaN: no list."""
        lists, topics, completions = self.lists[run], completed.topics, completed.completions
        grade, length = self.grades(run, measure, completed)
        tied = None
        if self.assumptions.ties not in ORDERS and lists.tied.any():
            tied = np.repeat(_padded(lists.tied, lists.start[topics], length, False), completions, axis=0)
        rankings = Rankings(
            grade.reshape(-1, grade.shape[-1]),
            np.repeat(length, completions),
            np.arange(topics.size * completions),
            facts,
            tied,
        )
        plain = measure.plain
        value = self.assumptions.value(plain, rankings).reshape(topics.size, completions)
        return np.where((lists.length[topics] >= 0)[:, None], value, np.nan)


def _flat(rankings_of_run: Sequence[Rankings], topics: int) -> OpenLists:
    """Batches laid end to end."""
    start, length = np.zeros(topics, dtype=np.int64), np.full(topics, -1)
    grade: list[Floats] = [np.empty(0)]
    tied: list[Flags] = [np.empty(0, dtype=bool)]
    row: list[Ints] = [np.empty(0, dtype=np.int64)]
    begin = 0
    for rankings in rankings_of_run:
        assert rankings.row is not None
        present = rankings.present
        ends = begin + np.cumsum(rankings.length)
        start[rankings.topic], length[rankings.topic] = ends - rankings.length, rankings.length
        grade.append(rankings.grade[present])
        tied.append(np.zeros(grade[-1].size, dtype=bool) if rankings.tied is None else rankings.tied[present])
        row.append(rankings.row[present])
        begin = int(ends[-1]) if ends.size else begin
    return OpenLists(start, length, np.concatenate(grade), np.concatenate(tied), np.concatenate(row))


def _padded(column: NDArray[Any], start: Ints, length: Ints, beyond: Any) -> NDArray[Any]:
    """Stretches of a flat column as rows, filled up where a stretch has ended."""
    width = max(1, int(length.max(initial=0)))
    block = np.full((length.size, width), beyond, dtype=column.dtype)
    inside = np.arange(width) < length[:, None]
    block[inside] = column[(start[:, None] + np.arange(width))[inside]]
    return block
