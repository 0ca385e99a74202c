"""Documents that have several ids: the first of each group stands for all, in judgments and runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.collection.subtopics import POOLED_NOT_JUDGED, Subtopics, by_document
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, number_pairs
from rankbounds.errors import DataError, Place, UsageError, warn
from rankbounds.files.records import filled_lines, json_records, read_decoded, separator_in

WRITE_GROUPS = "Write the ids of one document on a line, or as a list."


class SameDocuments:
    """Groups of ids of one document each: a file, or lists of ids."""

    def __init__(self, given: Any) -> None:
        self._stands_for: dict[str, str] = {}
        first: dict[str, Place] = {}
        for place, group in _groups_in(given):
            ids = _ids_in(group, place)
            if len(ids) < 2:
                raise DataError(place, f"a group of equal ids has two or more; this one has {len(ids)}.", WRITE_GROUPS)
            for doc in ids:
                if doc in first:
                    raise DataError(place, f'the id "{doc}" is in a group already ({first[doc]}).', "Join the groups.")
                first[doc] = place
            self._stands_for |= dict.fromkeys(ids[1:], ids[0])

    def run(self, run: Run) -> Run:
        docs = self._joined(run.pairs.docs)
        return run if docs is None else under_other_ids(run, docs)

    def judgments(self, qrels: Qrels) -> Qrels:
        """Of different grades of one document, the highest counts."""
        pairs, docs = qrels.pairs, self._joined(qrels.pairs.docs)
        if docs is None:
            return qrels
        if isinstance(qrels._subtopics, Subtopics) or qrels.strata is not None:
            problem = "grades of equal ids cannot be joined where judgments have subtopics, strata or preferences."
            raise DataError(pairs.source.name, problem, "Write these judgments with one id for each document.")
        whole = Pairs.numbered(pairs.topics, pairs.topic, docs, pairs.source)
        joined, grade, each = by_document(whole, qrels.grade, docs)
        differ = np.flatnonzero((each.grade != POOLED_NOT_JUDGED) & (each.grade != grade[each.row]))
        if differ.size:
            first = joined.describe(int(each.row[differ[0]]))
            warn(f"{pairs.source.name}: equal ids have different grades, of which the highest counts (first: {first}).")
        return Qrels._of_pairs(joined, grade, complete=qrels.complete)

    def _joined(self, docs: Ids) -> Ids | None:
        names, number = docs.numbered()
        if self._stands_for.keys().isdisjoint(names):
            return None
        return Ids.of([self._stands_for.get(name, name) for name in names]).take(number)


def under_other_ids(run: Run, docs: Ids) -> Run:
    """Those that become one document have the highest score, the first line and the first stated rank of them all."""
    pairs = Pairs.numbered(run.pairs.topics, run.pairs.topic, docs, run.source)
    _, first, code = np.unique(number_pairs([pairs])[0], return_index=True, return_inverse=True)
    rows = np.sort(first)
    place = np.searchsorted(rows, first)[code]
    score = run.score[rows].copy()
    np.maximum.at(score, place, run.score)

    def ranks() -> Ints | None:
        if run.stated_rank is None:
            return None
        rank = run.stated_rank[rows].copy()
        np.minimum.at(rank, place, run.stated_rank)
        return rank

    return Run._of_pairs(run.name, pairs.take(rows), score, ranks, run.prepared)


def same_documents(given: Any) -> SameDocuments | None:
    return given if given is None or isinstance(given, SameDocuments) else SameDocuments(given)


def _ids_in(group: list[Any], place: Place) -> list[str]:
    return Ids.checked(group, "a document id", lambda _: place).to_list()


def _groups_in(given: Any) -> Iterator[tuple[Place, list[Any]]]:
    if not isinstance(given, str | os.PathLike):
        if isinstance(given, Mapping) or not isinstance(given, Iterable):
            raise UsageError(f"Equal ids are a file or lists of ids, not {type(given).__name__}.")
        lists: Iterable[tuple[Place, Any]] = ((Place("same_as", row=row), group) for row, group in enumerate(given, 1))
    else:
        content, name = read_decoded(given)
        if content.lstrip()[:1] == "[":
            rows = json_records(content, name)
            lists = rows if isinstance(rows, list) else []
        else:
            cut = ((place, line, separator_in(line)) for place, line in filled_lines(content, name))
            lists = ((place, [cell.strip() for cell in line.split(mark)]) for place, line, mark in cut)
    for place, group in lists:
        if not isinstance(group, list | tuple | set | frozenset):
            raise DataError(place, f"a group of equal ids is a list, not {group!r}.", WRITE_GROUPS)
        yield place, sorted(group) if isinstance(group, set | frozenset) else list(group)
