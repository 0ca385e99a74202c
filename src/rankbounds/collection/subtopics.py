"""What judgments may contain besides grades: subtopics, groups of judgments, preferences, and strata of a sample.

Judgments by group (of several people) have the form of those by subtopic. Preferences are judgments by group and
subgroup, whose grades only order the documents of a subgroup. A passage's nuggets are subtopics, each vital or okay.
The judgments hold every document once, with its largest grade; this table has a row per document and subtopic.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, number_pairs
from rankbounds.errors import DataError

POOLED_NOT_JUDGED = -1
IMPORTANCE = {"vital": False, "okay": True, "1": False, "0": True}
"""What the column ``importance`` may say of a nugget, and whether it makes it a merely okay one."""


@dataclass(frozen=True, eq=False)
class Subtopics:
    """For each judgment of a document for a subtopic: the document's row in the judgments, the subtopic, the grade.

    ``number`` counts within ``names``; the same name in two topics means two subtopics. ``okay`` marks judgments whose
    subtopic is an okay nugget; all others are vital. ``subgroup`` numbers the subgroups of preferences, within
    ``subgroup_names``; None: these are no preferences.
    """

    names: tuple[str, ...]
    row: Ints
    number: Ints
    grade: Floats
    okay: Flags
    subgroup: Ints | None = None
    subgroup_names: tuple[str, ...] = ()

    def taken(self, rows: Ints) -> Subtopics:
        place = np.full(max(int(self.row.max(initial=-1)), int(rows.max(initial=-1))) + 1, -1)
        place[rows] = np.arange(rows.size)
        kept = np.flatnonzero(place[self.row] >= 0)
        return replace(
            self,
            row=place[self.row[kept]],
            number=self.number[kept],
            grade=self.grade[kept],
            okay=self.okay[kept],
            subgroup=None if self.subgroup is None else self.subgroup[kept],
        )

    def kept(self, judged: Flags) -> Subtopics:
        return replace(self, grade=np.where(judged[self.row], self.grade, POOLED_NOT_JUDGED))

    @property
    def labels(self) -> list[str]:
        return [self.names[number] for number in self.number.tolist()]

    @property
    def subgroup_labels(self) -> list[str]:
        return [] if self.subgroup is None else [self.subgroup_names[number] for number in self.subgroup.tolist()]

    def same(self, other: Subtopics | None) -> bool:
        return (
            other is not None
            and np.array_equal(self.row, other.row)
            and np.array_equal(self.grade, other.grade)
            and np.array_equal(self.okay, other.okay)
            and self.labels == other.labels
            and self.subgroup_labels == other.subgroup_labels
        )


def by_document(
    pairs: Pairs, grade: Floats, subtopic: Ids, importance: Iterable[Any] | None = None, subgroup: Ids | None = None
) -> tuple[Pairs, Floats, Subtopics]:
    """Return every document of a topic once, with its largest grade, and its grades for each subtopic."""
    names, number = subtopic.numbered()
    _, first, code = np.unique(number_pairs([pairs])[0], return_index=True, return_inverse=True)
    rows = np.sort(first)
    row = np.searchsorted(rows, first[code])
    largest = np.full(rows.size, -np.inf)
    np.maximum.at(largest, row, np.where(grade == POOLED_NOT_JUDGED, -np.inf, grade))
    okay = np.zeros(len(pairs), dtype=bool) if importance is None else _okay(importance, pairs, subtopic, number)
    of_documents = np.where(np.isinf(largest), POOLED_NOT_JUDGED, largest)
    subgroup_names, in_subgroup = ((), None) if subgroup is None else subgroup.numbered()
    known = Subtopics(tuple(names), row, number, grade, okay, in_subgroup, tuple(subgroup_names))
    return pairs.take(rows), of_documents, known


def _okay(importance: Iterable[Any], pairs: Pairs, subtopic: Ids, number: Ints) -> Flags:
    words = ["" if word is None else str(word).strip().lower() for word in importance]
    for row, word in enumerate(words):
        if word and word not in IMPORTANCE:
            problem = f'the importance of the nugget "{subtopic[row]}" is "{word}".'
            raise DataError(pairs.where(row), problem, "A nugget is vital or okay.")
    okay = np.array([IMPORTANCE.get(word, False) for word in words], dtype=bool)
    nugget = pairs.topic.astype(np.int64) * (int(number.max(initial=0)) + 1) + number
    _, first, code = np.unique(nugget, return_index=True, return_inverse=True)
    differs = np.flatnonzero(okay != okay[first[code]])
    if differs.size:
        row = int(differs[0])
        topic = pairs.topics[int(pairs.topic[row])]
        problem = f'the nugget "{subtopic[row]}" of topic "{topic}" is vital on one row and okay on another.'
        raise DataError(pairs.where(row), problem, "Give a nugget the same importance on all its rows.")
    return okay


@dataclass(frozen=True, eq=False)
class Strata:
    """For each judgment the stratum that its document was sampled from, as a number within ``names``."""

    names: tuple[str, ...]
    number: Ints

    @classmethod
    def of(cls, column: Ids) -> Strata:
        names, number = column.numbered()
        return cls(tuple(names), number)

    @property
    def labels(self) -> list[str]:
        return [self.names[number] for number in self.number.tolist()]

    def taken(self, rows: Ints) -> Strata:
        return Strata(self.names, self.number[rows])
