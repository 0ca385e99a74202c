"""Documents that carry labels and where runs have them; a sample of them that people judged, and lists to judge.

A document without a label counts as non-relevant, as an unjudged one does elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run_names import GroupsLike, named_groups
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.columns.decimals import finite_numbers
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import DataError, warn
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.run_notes import RunNotes, topic_warnings
from rankbounds.evaluation.scoring import join_lists
from rankbounds.files import formats, named_columns
from rankbounds.files.objects import columns_of, is_table
from rankbounds.judging.candidates import grades_of_pairs
from rankbounds.judging.pools import subset
from rankbounds.rankings.rankings import NOT_POOLED, Rankings
from rankbounds.rankings.topic_facts import TopicFacts

PROBABILITIES = named_columns.ColumnNames(value=("probability",), what="sample")
ORDERS = named_columns.ColumnNames(value=("order",), what="sample")
GRADES = named_columns.ColumnNames(value=("relevance", "grade", "rating", "rel"), what="sample")
WORKLIST = named_columns.ColumnNames(value=("probability", "weight", "value"), what="judgments")
SAMPLE = (
    'Give the file that "rankbounds sample" wrote (columns query_id, doc_id, order, probability), with the column '
    "relevance filled in; --judgments FILE adds judgments from another file."
)
OUTSIDE = "Leave out documents that were judged outside of it; why they were judged is not known."

MOST_GROUPS = 12
"""Up to this number of different labels each stands for itself; more are put into groups of like size."""
LEAST_PROBABLE, RISE = 0.15, 0.5
"""Before anybody judged: documents of the lowest label are relevant with the first probability, those of the highest
with the sum. Models call too much relevant, so that high labels are unsure; mild, because a judge may be a bad one."""

ONE_ORDER = "Labels are audited in"
SMOOTHING, LEAST_SUPPORT = 10, 1000
"""Of a document that no run has the reciprocal rank is that of the second; the first keeps top ranks from towering."""


@dataclass(frozen=True, eq=False)
class LabelledPool:
    """Labels, and the rankings of runs in which each document is known by its row among the labels."""

    labels: Qrels
    names: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    """Of each name, the runs whose mean is asked for: one, or those of a family."""
    rankings: tuple[tuple[Rankings, ...], ...]
    """The lists of each run."""
    question: Question
    reading: Reading

    @classmethod
    def of(
        cls, labels: QrelsLike, runs: RunsLike, question: Question, reading: Reading, families: GroupsLike | None = None
    ) -> LabelledPool:
        assumptions, read = question.assumptions, reading.judgments(labels)
        labelled = read.grade != POOLED_NOT_JUDGED
        kept = read if labelled.all() else subset(read, labelled)
        facts, systems = TopicFacts(kept, assumptions.gain), reading.runs(runs)
        joined = [join_lists(run, facts, assumptions, keep_rows=False, keep_judgments=True) for run in systems]
        names, notes = tuple(run.name for run in systems), [RunNotes(one.missing, one.unknown) for one in joined]
        for message in topic_warnings(names, notes, assumptions.topics):
            warn(message)
        family = dict(zip(names, names, strict=True)) if families is None else named_groups(list(names), families)
        members: dict[str, tuple[int, ...]] = {}
        for run, name in enumerate(names):
            if name in family:
                members[family[name]] = (*members.get(family[name], ()), run)
        lists = tuple(tuple(one.batches) for one in joined)
        return cls(kept, tuple(members), tuple(members.values()), lists, question, reading)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def source(self) -> str:
        return self.labels.pairs.source.name

    @property
    def topic(self) -> Ints:
        return self.labels.pairs.topic

    @property
    def number_of_topics(self) -> int:
        return len(self.labels.query_ids)

    def of_question(self) -> LabelledPool:
        """The same documents in those runs alone that are compared; in all where nothing is."""
        chosen = self.question.runs_among(self.names)
        used = [run for place in chosen for run in self.members[place]]
        return replace(
            self,
            names=tuple(self.names[place] for place in chosen),
            members=tuple(tuple(map(used.index, self.members[place])) for place in chosen),
            rankings=tuple(self.rankings[run] for run in used),
        )

    def means(self, of_runs: Iterable[Any]) -> Iterator[Any]:
        """Numbers of one run after the other (arrays, or tuples of arrays) as those of the names."""
        if self.members == tuple((run,) for run in range(len(self.rankings))):
            yield from of_runs
            return
        found = list(of_runs)
        for own in self.members:
            yield tuple(np.mean(parts, axis=0) for parts in zip(*(found[run] for run in own), strict=True))

    @cached_property
    def group(self) -> Ints:
        """The label of each document as a number from 0 on, the lowest first; labels of many values in groups."""
        values, group = np.unique(self.labels.grade, return_inverse=True)
        if values.size <= MOST_GROUPS:
            return group.reshape(-1)
        share = (np.cumsum(np.bincount(group)) - 0.5 * np.bincount(group)) / group.size
        of_value = np.unique((share * MOST_GROUPS).astype(np.int64), return_inverse=True)[1].reshape(-1)
        return of_value[group].reshape(-1)

    @cached_property
    def support(self) -> Floats:
        """How high the runs have each document, standardised: reciprocal ranks summed over runs, in logarithms."""
        total = np.zeros(len(self) + 2)
        for rankings in self._all():
            assert rankings.judgment is not None
            total[rankings.judgment] += 1 / (SMOOTHING + np.arange(rankings.width))
        logarithm = np.log(total[:-2] + 1 / LEAST_SUPPORT)
        spread = logarithm.std()
        return (logarithm - logarithm.mean()) / (spread if spread > 0 else 1.0)

    @cached_property
    def prior(self) -> Floats:
        """The probability that each document is relevant, from its label alone, before anybody judged."""
        label = self.labels.grade
        low, high = float(label.min()), float(label.max())
        if low == high:
            return np.full(label.size, 0.5)
        return LEAST_PROBABLE + RISE * (label - low) / (high - low)

    def unlabelled(self, depth: int) -> tuple[int, int]:
        """Of the documents down to this depth in all lists, how many have no label; and how many there are."""
        lacking = total = 0
        for rankings in self._all():
            judgment = rankings.judgment
            assert judgment is not None
            lacking += int(np.count_nonzero(judgment[:, :depth] == NOT_POOLED))
            total += int(np.minimum(rankings.length, depth).sum())
        return lacking, total

    def _all(self) -> Iterable[Rankings]:
        return (rankings for lists in self.rankings for rankings in lists)


@dataclass(frozen=True, eq=False)
class JudgedSample:
    """Rows of a pool in the order of judging, with the probability of being drawn next and the grade people gave."""

    row: Ints
    probability: Floats
    grade: Floats
    judgments: Qrels
    size: int
    """How many documents the sample has."""
    unused: int = 0
    """How many of them were judged although one before them was not."""

    def __len__(self) -> int:
        return self.row.size

    @property
    def left(self) -> int:
        return self.size - len(self)

    def first(self, number: int) -> JudgedSample:
        kept = Qrels._of_pairs(self.judgments.pairs.take(np.arange(number)), self.judgments.grade[:number])
        return JudgedSample(self.row[:number], self.probability[:number], self.grade[:number], kept, self.size)

    @classmethod
    def of(cls, given: Any, pool: LabelledPool, judgments: Qrels | None = None) -> JudgedSample:
        """From a file, a frame or rows, up to the first document without a grade; ``judgments`` may hold no others."""
        drawn = _columns(given, PROBABILITIES)
        if None in (values := _values(drawn)):
            _reject(
                drawn.pairs, values.index(None), "{} has no probability: it does not belong to the sample.", OUTSIDE
            )
        pairs, probability = drawn.pairs, drawn.numbers
        pairs.reject_repeats("Keep one row for each document.")
        for row in np.flatnonzero(~((probability > 0) & (probability <= 1)))[:1].tolist():
            wrong = f"the probability of {{}} is {probability[row]:g}, but a drawn document has a probability above 0 "
            _reject(pairs, row, f"{wrong}and up to 1.")
        turn = _places_in_order(_columns(given, ORDERS))
        here, there = pool.labels.pairs.index.find(pairs)
        for row in np.setdiff1d(np.arange(len(pairs)), here)[:1].tolist():
            lacking = f"{{}} is in the sample, but the labels ({pool.source}) lack it."
            _reject(pairs, row, lacking, "Give the labels that the sample was drawn from.")
        in_pool = np.empty(len(pairs), dtype=np.int64)
        in_pool[here] = there
        if judgments is None:
            listed = [POOLED_NOT_JUDGED if value is None else value for value in _values(_columns(given, GRADES))]
            grade, bad = finite_numbers(listed)
            for row in bad[:1].tolist():
                _reject(pairs, row, f"the relevance of {{}} is {listed[row]!r}, not a finite number.")
        else:
            judged = np.flatnonzero(judgments.grade != POOLED_NOT_JUDGED)
            for row in np.setdiff1d(judged, judgments.pairs.index.find(pairs)[1])[:1].tolist():
                outside = f"{{}} was judged, but is not in the sample ({pairs.source.name})."
                _reject(judgments.pairs, row, outside, OUTSIDE)
            grade = grades_of_pairs(judgments, pairs)
        has_grade = grade[turn] != POOLED_NOT_JUDGED
        used = turn[: np.argmin(np.append(has_grade, False))]
        if not used.size:
            none = f"{{}}, the first document of the sample of {len(pairs):,}, has no relevance."
            _reject(pairs, int(turn[0]), none, "Judge the documents in order, starting with the first.")
        kept = Qrels._of_pairs(pairs.take(used), grade[used])
        unused = int(np.count_nonzero(has_grade)) - used.size
        return cls(in_pool[used], probability[used], np.maximum(grade[used], 0.0), kept, len(pairs), unused)


def _places_in_order(orders: named_columns.Columns) -> Ints:
    turn = np.argsort(orders.numbers, kind="stable")
    wrong = np.flatnonzero(orders.numbers[turn] != np.arange(1, turn.size + 1))
    for place in wrong[:1].tolist():
        problem = f"the orders of a sample are 1, 2, 3, ...: {place + 1} is missing, or not where {{}} has it."
        _reject(orders.pairs, int(turn[place]), problem, "Keep all rows as drawn, in any order of lines.")
    return turn


def _reject(pairs: Pairs, row: int, problem: str, remedy: str = "") -> NoReturn:
    raise DataError(pairs.where(row), problem.replace("{}", pairs.describe(row)), remedy)


def _columns(given: Any, names: named_columns.ColumnNames) -> named_columns.Columns:
    if hasattr(given, "rows") and callable(given.rows) and not is_table(given):
        given = given.rows()
    if isinstance(given, str | os.PathLike):
        path, no_sample = os.fspath(given), "this is not a sample."
        try:
            table = formats.read(path, names)
        except DataError as error:
            raise DataError(path, no_sample, SAMPLE) if error.place and error.place.line == 1 else error from None
        if table.pairs.source.unit == "line":
            raise DataError(path, no_sample, SAMPLE)
    else:
        table = columns_of(given, names, source="sample")
    if not len(table):
        raise DataError(table.pairs.source.name, "the sample is empty.")
    return table


def _values(table: named_columns.Columns) -> list[Any]:
    values = table.values.to_list() if hasattr(table.values, "to_list") else list(table.values)
    return [None if value is None or value != value or not str(value).strip() else value for value in values]


def left_to_judge(path: str, qrels: Qrels | None = None) -> tuple[list[tuple[str, str, float]], int]:
    """Of a list of documents, those without a judgment, with probability or weight; and how many it has."""
    read = formats.read(path, WORKLIST)
    pairs, number = read.pairs, read.numbers
    pairs.reject_repeats("Keep one row for each document.")
    left = np.arange(len(pairs))
    if qrels is not None:
        left = np.flatnonzero(grades_of_pairs(qrels, pairs) == POOLED_NOT_JUDGED)
    return list(pairs.take(left).rows(number[left])), len(pairs)


def listed_documents(path: str) -> list[tuple[str, str]]:
    return [(query_id, doc_id) for query_id, doc_id, _ in left_to_judge(path)[0]]
