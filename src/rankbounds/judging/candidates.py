"""Which runs are compared, the grades of documents, and documents to judge, as a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.columns.pairs import Pairs
from rankbounds.rankings.documents import RetrievedDocuments
from rankbounds.results import Result


def grades_of_pairs(qrels: Qrels, pairs: Pairs) -> Floats:
    grade = np.full(len(pairs), float(POOLED_NOT_JUDGED))
    here, there = qrels.pairs.index.find(pairs)
    grade[here] = qrels.grade[there]
    return grade


def heaviest(documents: RetrievedDocuments, weight: Floats, budget: int) -> Ints:
    rounded = np.round(weight, 12)  # sums of the same weights in another order are equal
    rows = np.flatnonzero(rounded > 0)
    if rows.size > budget:
        least = np.partition(rounded[rows], rows.size - budget)[rows.size - budget]
        rows = rows[rounded[rows] >= least]
    keys = zip(-rounded[rows], documents.topic[rows].tolist(), documents.doc_ids(rows), rows.tolist(), strict=True)
    return np.array([key[-1] for key in sorted(keys)[:budget]], dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsToJudge(Result):
    """Documents to be judged, each with numbers: the columns after the first two are attributes of these names."""

    query_ids: list[str]
    doc_ids: list[str]
    words_beside = "above"

    def __len__(self) -> int:
        return len(self.doc_ids)

    def rows(self) -> list[dict[str, Any]]:
        numbers = (getattr(self, name).tolist() for name in self.fields[2:])
        return [
            dict(zip(self.fields, row, strict=True)) for row in zip(self.query_ids, self.doc_ids, *numbers, strict=True)
        ]

    def sentences(self) -> list[str]:
        return []

    def doubts(self) -> list[str]:
        return []

    def words(self) -> str:
        return " ".join(self.sentences())

    def pool(self) -> Qrels:
        return Qrels.from_columns(self.query_ids, self.doc_ids, [POOLED_NOT_JUDGED] * len(self), source="plan")
