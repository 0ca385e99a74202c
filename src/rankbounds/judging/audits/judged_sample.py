"""A sample that people have judged: which documents, with which probability each was drawn, and their grades."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.columns.decimals import finite_numbers
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import DataError
from rankbounds.files import formats, named_columns
from rankbounds.files.objects import columns_of, is_table
from rankbounds.judging.audits.labelled_pool import LabelledPool
from rankbounds.judging.candidates import find_judgments, grades_of_pairs

PROBABILITIES = named_columns.ColumnNames(value=("probability",), what="sample")
GRADES = named_columns.ColumnNames(value=("relevance", "grade", "rating", "rel"), what="sample")
WORKLIST = named_columns.ColumnNames(value=("probability", "weight", "value"), what="judgments")
REMEDY = "A sample is a table with the columns query_id, doc_id, probability (as drawn) and relevance (as judged)."


@dataclass(frozen=True, eq=False)
class JudgedSample:
    """Rows of a pool with the probability of being drawn and the grade that people gave."""

    row: Ints
    probability: Floats
    grade: Floats
    judgments: Qrels

    def __len__(self) -> int:
        return self.row.size

    @classmethod
    def of(cls, given: Any, pool: LabelledPool, judgments: Qrels | None = None) -> JudgedSample:
        """From a file, a frame or rows; grades from ``judgments`` where these are given.

        Every document must be among the labels, have a probability above 0 and up to 1, and a grade.
        """
        drawn = _columns(given, PROBABILITIES)
        pairs, probability = _checked_probabilities(drawn)
        pairs.reject_repeats("Keep one row for each document.")
        wrong = np.flatnonzero(~((probability > 0) & (probability <= 1)))
        if wrong.size:
            row = int(wrong[0])
            raise DataError(
                pairs.where(row),
                f"the probability of {pairs.describe(row)} is {probability[row]:g}, but a document that was drawn had "
                "one above 0 and up to 1.",
            )
        here, there = find_judgments(pool.labels, pairs)
        if here.size < len(pairs):
            row = int(np.setdiff1d(np.arange(len(pairs)), here)[0])
            raise DataError(
                pairs.where(row),
                f"{pairs.describe(row)} is in the sample, but the labels ({pool.source}) lack it.",
                "Give the labels that the sample was drawn from.",
            )
        in_pool = np.empty(len(pairs), dtype=np.int64)
        in_pool[here] = there
        judged = Qrels(pairs, _grades(_columns(given, GRADES), pairs) if judgments is None else _of(judgments, pairs))
        missing = np.flatnonzero(judged.grade == POOLED_NOT_JUDGED)
        if missing.size:
            row = int(missing[0])
            raise DataError(
                pairs.where(row),
                f"{missing.size:,} of {len(pairs):,} documents of the sample have no relevance, such as "
                f"{pairs.describe(row)}.",
                "Judge them all: to leave some out would bend the result.",
            )
        return cls(in_pool, probability, np.maximum(judged.grade, 0.0), judged)


def _listed(path: str) -> tuple[Pairs, Floats]:
    """The documents of a table or of a pool in TREC lines, each with its probability, weight or value."""
    read = formats.read(path, WORKLIST)
    pairs, number = read.checked() if isinstance(read, named_columns.Columns) else (read.pairs, read.value)
    pairs.reject_repeats("Keep one row for each document.")
    return pairs, number


def listed_documents(path: str) -> list[tuple[str, str]]:
    """The documents that somebody is to judge: a table of ``sample`` or ``judge-next``, or a pool as TREC lines."""
    pairs, _ = _listed(path)
    return list(zip((pairs.topics[topic] for topic in pairs.topic.tolist()), pairs.docs.to_list(), strict=True))


def left_to_judge(path: str, qrels: Qrels) -> tuple[list[tuple[str, str, float]], int]:
    """Of the documents that a list has, those without a judgment, with their probability or weight; and all."""
    pairs, number = _listed(path)
    left = np.flatnonzero(grades_of_pairs(qrels, pairs) == POOLED_NOT_JUDGED)
    topics = [pairs.topics[topic] for topic in pairs.topic[left].tolist()]
    return list(zip(topics, pairs.docs.take(left).to_list(), number[left].tolist(), strict=True)), len(pairs)


def is_sample(path: str) -> bool:
    """Does this file hold a sample, a table with a column of probabilities, rather than a run?"""
    try:
        _columns(path, PROBABILITIES)
    except DataError:
        return False
    return True


def _columns(given: Any, names: named_columns.ColumnNames) -> named_columns.Columns:
    """Three columns of the sample."""
    if hasattr(given, "rows") and callable(given.rows) and not is_table(given):
        given = given.rows()
    if not isinstance(given, str | os.PathLike):
        table = columns_of(given, names, source="sample")
    else:
        read = formats.read(os.fspath(given), names)
        if not isinstance(read, named_columns.Columns):
            raise DataError(os.fspath(given), "this is no table with named columns.", REMEDY)
        table = read
    if not len(table):
        raise DataError(table.source.name, "the sample is empty.")
    return table


def _checked_probabilities(drawn: named_columns.Columns) -> tuple[Pairs, Floats]:
    """The pairs and their probabilities; a judged document without one was judged outside the sample."""
    empty = _empty(_as_list(drawn.values))
    if empty.any():
        pairs = replace(drawn, values=np.zeros(len(drawn))).checked()[0]
        row = int(np.flatnonzero(empty)[0])
        raise DataError(
            pairs.where(row),
            f"{pairs.describe(row)} has no probability: it is not of the sample.",
            "Leave out documents that were judged outside of it; nothing is known of why they were.",
        )
    return drawn.checked()


def _empty(values: list[Any]) -> Flags:
    """Which values are not there."""
    return np.array([value is None or value != value or not str(value).strip() for value in values], dtype=bool)


def _as_list(values: Any) -> list[Any]:
    return values.to_list() if hasattr(values, "to_list") else list(values)


def _grades(table: named_columns.Columns, pairs: Pairs) -> Floats:
    """The grades in the sample's own table; -1 where there is none yet."""
    given = _as_list(table.values)
    listed = [POOLED_NOT_JUDGED if lacking else value for value, lacking in zip(given, _empty(given), strict=True)]
    grade, bad = finite_numbers(listed)
    if bad.size:
        row = int(bad[0])
        raise DataError(
            pairs.where(row), f"the relevance of {pairs.describe(row)} is {listed[row]!r}, not a finite number."
        )
    return grade


def _of(judgments: Qrels, pairs: Pairs) -> Floats:
    """The grades of these documents in judgments, which hold no others."""
    outside = np.setdiff1d(np.flatnonzero(judgments.grade != POOLED_NOT_JUDGED), find_judgments(judgments, pairs)[1])
    if outside.size:
        row = int(outside[0])
        raise DataError(
            judgments.pairs.where(row),
            f"{judgments.pairs.describe(row)} was judged, but is not in the sample ({pairs.source.name}).",
            "Leave out documents that were judged outside of it; nothing is known of why they were.",
        )
    return grades_of_pairs(judgments, pairs)
