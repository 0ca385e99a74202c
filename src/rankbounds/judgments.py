"""Judgments: which grade a document has for a query."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from rankbounds.arrays import Floats
from rankbounds.errors import DataError
from rankbounds.files import columns, trec
from rankbounds.files.opening import read_text
from rankbounds.pairs import Pairs

POOLED_NOT_JUDGED = -1


class Qrels:
    """A table ``query_id, doc_id, relevance``. Relevance -1 means pooled but not judged. Never changed."""

    def __init__(self, pairs: Pairs, grade: Floats) -> None:
        self.pairs, self.grade = pairs, grade

    @classmethod
    def from_columns(
        cls, query_ids: Iterable[Any], doc_ids: Iterable[Any], grades: Iterable[Any], *, source: str = "judgments"
    ) -> Qrels:
        """From three columns of equal length."""
        table = columns.Columns.of(query_ids, doc_ids, grades, value_name="relevance", source=source)
        return cls._checked(*table.checked())

    @classmethod
    def _checked(cls, pairs: Pairs, grade: Floats) -> Qrels:
        pairs.reject_repeats("Keep one judgment for each document.")
        return cls(pairs, grade)

    @property
    def query_ids(self) -> tuple[str, ...]:
        """The topics, in the order of their first judgment."""
        return self.pairs.topics

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"Qrels({len(self):,} judgments, {len(self.query_ids):,} topics, {self.pairs.source.name})"

    def rows(self) -> Iterable[tuple[str, str, float]]:
        """``(query_id, doc_id, relevance)``, in the order given."""
        return self.pairs.rows(self.grade)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """``{query_id: {doc_id: relevance}}``."""
        return self.pairs.nested(self.grade)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write as a TREC file."""
        trec.write_rows(path, (f"{query} 0 {doc} {grade:g}\n" for query, doc, grade in self.rows()))


def read_qrels(path: str | os.PathLike[str], *, lenient: bool = False, threads: int = 1) -> Qrels:
    """Read judgments: a TREC file, or CSV, TSV, JSON lines or Parquet with named columns.

    ``"-"`` is standard input. ``lenient=True`` leaves out lines that cannot be used and warns with their number.
    """
    name = os.fspath(path)
    if columns.is_table(name):
        table = columns.read(name, columns.QRELS_COLUMNS)
        return Qrels._checked(*table.checked())
    text = read_text(name, threads)
    if columns.has_header(text):
        return Qrels._checked(*columns.read_delimited(text, columns.QRELS_COLUMNS).checked())
    lines = trec.read_lines(text, trec.qrels_layout, lenient=lenient, threads=threads)
    return Qrels(lines.pairs, lines.value)


def as_qrels(given: Any) -> Qrels:
    """Judgments from whatever a caller holds: a path, a dict of dicts, a frame, or rows of three."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | os.PathLike):
        return read_qrels(given)
    table = columns.of_object(given, columns.QRELS_COLUMNS, source="judgments")
    if not len(table):
        raise DataError("The judgments are empty.")
    return Qrels._checked(*table.checked())
