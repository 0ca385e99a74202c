"""The documents that runs retrieved, each once, and where each run has them; and lists of documents to judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints, Words
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.rankings.order import Order, Precision, ranks
from rankbounds.results import Result

ALL = "all"
NOT_RETRIEVED = np.iinfo(np.int32).max
"""The rank of a document that a run does not have."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The different documents that runs retrieved, topic by topic, and where each run has them.

    ``document``, ``run`` and ``rank`` are parallel: one entry for each document of each run.
    """

    topics: list[str]
    topic: Ints
    """The topic of each different document."""
    document: Ints
    run: Ints
    rank: Ints
    sources: Sequence[tuple[Run, Ints]]
    """The runs, and which of their rows the entries stand for, run after run."""
    _first: Ints

    def __len__(self) -> int:
        return self.topic.size

    def doc_ids(self, documents: Ints) -> list[str]:
        """The names of these documents."""
        names = np.empty(documents.size, dtype=object)
        entry = self._first[documents]
        starts = np.cumsum([0, *(rows.size for _, rows in self.sources)])
        for number, (run, rows) in enumerate(self.sources):
            mine = np.flatnonzero((entry >= starts[number]) & (entry < starts[number + 1]))
            if mine.size:
                names[mine] = run.pairs.docs.take(rows[entry[mine] - starts[number]]).to_list()
        return names.tolist()

    def grades(self, qrels: Qrels) -> Floats:
        """The grade of each document; NaN where it has no judgment."""
        grade = np.full(len(self), np.nan)
        start = 0
        for run, rows in self.sources:
            judged, judgment = find_judgments(qrels, run.pairs.take(rows))
            grade[self.document[start + judged]] = qrels.grade[judgment]
            start += rows.size
        return np.where(grade == POOLED_NOT_JUDGED, np.nan, np.maximum(grade, 0.0))

    @cached_property
    def best_rank(self) -> Ints:
        """The best rank that any run gives each document."""
        best = np.full(len(self), NOT_RETRIEVED, dtype=np.int64)
        np.minimum.at(best, self.document, self.rank)
        return best

    @cached_property
    def number_of_runs(self) -> Ints:
        """How many runs hold each document."""
        return np.bincount(self.document, minlength=len(self))


def collect(
    runs: Iterable[Run], *, depth: int | None = None, order: Order = "trec", precision: Precision = "double"
) -> Candidates:
    """The documents that runs retrieved, down to a depth, told apart byte by byte."""
    kept: list[tuple[Run, Ints]] = []
    rank = []
    for run in runs:
        rank_of_row = ranks(run, order, precision)
        rows = np.flatnonzero(rank_of_row <= depth) if depth is not None else np.arange(len(run))
        kept.append((run, rows))
        rank.append(rank_of_row[rows])
    return at_rows(kept, rank)


def at_rows(kept: list[tuple[Run, Ints]], rank: Sequence[Ints]) -> Candidates:
    """The documents in these rows of runs, whose ranks are known."""
    if not kept:
        raise UsageError("No run was given.")
    numbers: dict[str, int] = {}
    topic = []
    for run, rows in kept:
        names = np.array([numbers.setdefault(name, len(numbers)) for name in run.query_ids], dtype=np.int64)
        topic.append(names[run.pairs.topic[rows]])
    topics_of_entries = np.concatenate(topic)
    keys = np.concatenate([run.pairs.keys[rows] for run, rows in kept])
    first, document = _distinct(keys, topics_of_entries, kept)
    return Candidates(
        list(numbers),
        topics_of_entries[first],
        document,
        np.repeat(np.arange(len(kept)), [rows.size for _, rows in kept]),
        np.concatenate(rank),
        kept,
        first,
    )


def _distinct(keys: Words, topic: Ints, kept: list[tuple[Run, Ints]]) -> tuple[Ints, Ints]:
    """The first entry of every different document, and every entry's document."""
    docs = [run.pairs.docs.take(rows) for run, rows in kept]
    width = max(ids.word_count() for ids in docs)
    columns = [topic.astype(np.uint64), np.concatenate([ids.length for ids in docs]).astype(np.uint64)]
    columns += [np.concatenate(words) for words in zip(*(ids.telling_words(width) for ids in docs), strict=True)]
    _, first, document = np.unique(keys, return_index=True, return_inverse=True)
    if all((column == column[first[document]]).all() for column in columns):
        return first, document
    # Two documents share a 64-bit key: tell them apart by all their bytes.
    _, first, document = np.unique(np.stack(columns, axis=-1), axis=0, return_index=True, return_inverse=True)
    return first, document.reshape(-1)


def find_judgments(qrels: Qrels, pairs: Pairs) -> tuple[Ints, Ints]:
    """Which of these pairs are among the judgments, and where there."""
    return qrels.pairs.index.find(pairs, qrels.pairs.index.topics_of(pairs))


def grades_of_pairs(qrels: Qrels, pairs: Pairs) -> Floats:
    """The grade of each of these pairs; -1 where it has no judgment."""
    grade = np.full(len(pairs), float(POOLED_NOT_JUDGED))
    here, there = find_judgments(qrels, pairs)
    grade[here] = qrels.grade[there]
    return grade


def ranks_of_judgments(
    qrels: Qrels, runs: Iterable[Run], order: Order = "trec", precision: Precision = "double"
) -> Ints:
    """A row for each run: the rank it gives each judged document, ``NOT_RETRIEVED`` where it has none."""
    rank_of_judgment = []
    for run in runs:
        retrieved, judgments = find_judgments(qrels, run.pairs)
        row = np.full(len(qrels), NOT_RETRIEVED, dtype=np.int32)
        row[judgments] = ranks(run, order, precision)[retrieved]
        rank_of_judgment.append(row)
    if not rank_of_judgment:
        raise UsageError("No run was given.")
    return np.stack(rank_of_judgment)


def compared_runs(names: Sequence[str], compare: tuple[str, str] | str) -> list[int]:
    """The runs that a comparison is about, by number: two of these names, or ``"all"``."""
    if isinstance(compare, str):
        if compare != ALL:
            raise UsageError(f'compare is a pair of names, or "{ALL}", not "{compare}".')
        if len(names) < 2:
            raise UsageError("Two runs at least are compared.")
        return list(range(len(names)))
    if len(compare) != 2 or compare[0] == compare[1]:
        raise UsageError(f"Two different runs are compared, not {' and '.join(compare) or 'none'}.")
    for name in compare:
        if name not in names:
            raise UsageError(f'There is no run "{name}" to compare.{did_you_mean(name, list(names))}')
    return [names.index(name) for name in compare]


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsToJudge(Result):
    """Documents to be judged, each with numbers: the columns after the first two are attributes of these names."""

    query_ids: list[str]
    doc_ids: list[str]

    def __len__(self) -> int:
        return len(self.doc_ids)

    def rows(self) -> list[dict[str, Any]]:
        """A dict per document: ``query_id``, ``doc_id`` and its numbers."""
        numbers = (getattr(self, name).tolist() for name in self.fields[2:])
        return [
            dict(zip(self.fields, row, strict=True)) for row in zip(self.query_ids, self.doc_ids, *numbers, strict=True)
        ]

    def sentences(self) -> list[str]:
        """What these judgments would do."""
        return []

    def words(self) -> str:
        """The sentences in a paragraph."""
        return " ".join(self.sentences())

    def pool(self) -> Qrels:
        """The documents as a pool: judgments of grade -1, to be filled in."""
        return Qrels.from_columns(self.query_ids, self.doc_ids, [POOLED_NOT_JUDGED] * len(self), source="plan")
