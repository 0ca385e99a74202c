"""The documents that runs retrieved, each once, and where each run has them; documents to judge, as a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.order import Order, Precision, ranks
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.pairs import Pairs, number_pairs
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.results import Result

ALL = "all"
NOT_RETRIEVED = np.iinfo(np.int32).max
"""The rank of a document that a run does not have."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The different documents that runs retrieved, each once, and where each run has them.

    ``document``, ``run`` and ``rank`` are parallel: an entry for each document of each run.
    """

    topics: list[str]
    topic: Ints
    """The topic of each different document."""
    document: Ints
    run: Ints
    rank: Ints
    sources: Sequence[tuple[Run, Ints]]
    """The runs, and which of their rows the entries are, run after run."""

    @classmethod
    def at_rows(cls, sources: Sequence[tuple[Run, Ints]], rank: Sequence[Ints]) -> Candidates:
        """The documents in these rows of runs, whose ranks are known."""
        if not sources:
            raise UsageError("No run was given.")
        pairs = [run.pairs_in(rows) for run, rows in sources]
        document = np.concatenate(number_pairs(pairs))
        numbers: dict[str, int] = {}
        topic = np.zeros(int(document.max(initial=-1)) + 1, dtype=np.int64)
        names = (np.array([numbers.setdefault(name, len(numbers)) for name in one.topics], np.int64) for one in pairs)
        topic[document] = np.concatenate([of_run[one.topic] for of_run, one in zip(names, pairs, strict=True)])
        run = np.repeat(np.arange(len(pairs)), [len(one) for one in pairs])
        return cls(list(numbers), topic, document, run, np.concatenate(rank), sources)

    def __len__(self) -> int:
        return self.topic.size

    def doc_ids(self, documents: Ints) -> list[str]:
        """The names of these documents."""
        entry = np.zeros(len(self), dtype=np.int64)
        entry[self.document] = np.arange(self.document.size)
        names = np.empty(documents.size, dtype=object)
        start = 0
        for run, rows in self.sources:
            mine = np.flatnonzero((entry[documents] >= start) & (entry[documents] < start + rows.size))
            if mine.size:
                names[mine] = run.pairs.docs.take(rows[entry[documents[mine]] - start]).to_list()
            start += rows.size
        return names.tolist()

    def grades(self, qrels: Qrels) -> Floats:
        """The grade of each document; NaN where it has no judgment."""
        grade = np.full(len(self), np.nan)
        start = 0
        for run, rows in self.sources:
            judged, judgment = qrels.pairs.index.find(run.pairs_in(rows))
            grade[self.document[start + judged]] = qrels.grade[judgment]
            start += rows.size
        return np.where(grade == POOLED_NOT_JUDGED, np.nan, np.maximum(grade, 0.0))

    def unjudged(self, qrels: Qrels) -> Flags:
        """Which documents have no judgment, of topics that have some."""
        judged_topic = np.isin(self.topics, list(qrels.query_ids))
        return judged_topic[self.topic] & np.isnan(self.grades(qrels))

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
    """The documents that runs retrieved, down to a depth."""
    sources, rank = [], []
    for run in runs:
        rank_of_row = ranks(run, order, precision)
        rows = np.flatnonzero(rank_of_row <= depth) if depth is not None else np.arange(len(run))
        sources.append((run, rows))
        rank.append(rank_of_row[rows])
    return Candidates.at_rows(sources, rank)


def grades_of_pairs(qrels: Qrels, pairs: Pairs) -> Floats:
    """The grade of each of these pairs; -1 where it has no judgment."""
    grade = np.full(len(pairs), float(POOLED_NOT_JUDGED))
    here, there = qrels.pairs.index.find(pairs)
    grade[here] = qrels.grade[there]
    return grade


def ranks_of_judgments(
    qrels: Qrels, runs: Iterable[Run], order: Order = "trec", precision: Precision = "double"
) -> Ints:
    """A row for each run: the rank it gives each judged document, ``NOT_RETRIEVED`` where it has none."""
    systems = list(runs)
    if not systems:
        raise UsageError("No run was given.")
    rank_of_judgment = np.full((len(systems), len(qrels)), NOT_RETRIEVED, dtype=np.int32)
    for row, run in zip(rank_of_judgment, systems, strict=True):
        retrieved, judgments = qrels.pairs.index.find(run.pairs)
        row[judgments] = ranks(run, order, precision)[retrieved]
    return rank_of_judgment


def runs_to_compare(names: Sequence[str], compare: tuple[str, str] | str) -> list[int]:
    """The runs that a comparison is about, by number: two of these names, or ``"all"``."""
    if isinstance(compare, str):
        if compare != ALL:
            raise UsageError(f'compare is a pair of names, or "{ALL}", not "{compare}".')
        if len(names) < 2:
            raise UsageError("A comparison needs at least two runs.")
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
