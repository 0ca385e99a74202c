"""Do the judges say the same? Over documents that two of them judged: the share of equal grades, and kappa."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from rankbounds.collection.qrels import Qrels
from rankbounds.desk.journal import Entry
from rankbounds.desk.judgment_file import Pair
from rankbounds.judging.judges.agreement import LabelTables, TopicBootstrap, with_interval
from rankbounds.stats.significance import Resampling
from rankbounds.tables import plain

RESAMPLES, CONFIDENCE = 1000, 0.95
FEWEST_TOPICS = 2
"""Of fewer there is nothing to resample."""


def agreement(judged: Sequence[Entry]) -> list[dict[str, Any]]:
    """A row for every two judges with documents in common.

    ``kappa`` is Cohen's on relevant or not (grade 1 and above), ``kappa_linear`` counts a disagreement by its distance
    in grades; intervals are over resampled topics. None where it has no value: all labels are the same grade, or all
    documents are of one topic.
    """
    grades: dict[str, dict[Pair, float]] = {}
    for entry in judged:
        if entry.grade is not None:
            grades.setdefault(entry.judge, {})[entry.pair] = entry.grade
    return [
        _row(first, second, shared, grades)
        for first, second in itertools.combinations(grades, 2)
        if (shared := [pair for pair in grades[first] if pair in grades[second]])
    ]


def _row(first: str, second: str, shared: list[Pair], grades: dict[str, dict[Pair, float]]) -> dict[str, Any]:
    queries, docs = map(list, zip(*shared, strict=True))
    labels = [
        Qrels.from_columns(queries, docs, [grades[judge][pair] for pair in shared], source=judge)
        for judge in (first, second)
    ]
    tables = LabelTables.count(labels[0], labels[1], second, rel=1, labels_rel=1)
    same = sum(grades[first][pair] == grades[second][pair] for pair in shared)
    row: dict[str, Any] = {"first": first, "second": second, "documents": len(shared), "same": same}
    statistics, topics = tables.statistics(same_scale=True), len(set(queries))
    bootstrap = TopicBootstrap(topics, Resampling(RESAMPLES, 0), CONFIDENCE) if topics >= FEWEST_TOPICS else None
    for name in ("kappa", "kappa_linear"):
        if bootstrap is not None:
            row |= with_interval(name, statistics[name], bootstrap)[0]
        else:
            by_topic, compute = statistics[name]
            row |= {name: plain(float(compute(by_topic.sum(axis=0)))), f"{name}_low": None, f"{name}_high": None}
    return row
