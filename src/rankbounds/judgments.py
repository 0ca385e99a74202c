"""Judgments: which grade a document has for a query."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, RankboundsWarning
from rankbounds.files import columns, trec
from rankbounds.files.opening import read_text
from rankbounds.gains import is_number
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

    def lines(self) -> Iterable[str]:
        """The lines of a TREC file."""
        return (f"{query} 0 {doc} {grade:.12g}\n" for query, doc, grade in self.rows())

    def text(self) -> str:
        """The judgments as a TREC file has them."""
        return "".join(self.lines())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write as a TREC file."""
        trec.write_rows(path, self.lines())


def read_qrels(
    path: str | os.PathLike[str],
    *,
    lenient: bool = False,
    threads: int = 1,
    grade_of: Mapping[str, float] | None = None,
) -> Qrels:
    """Read judgments: a TREC file, or CSV, TSV, JSON lines or Parquet with named columns.

    ``"-"`` is standard input. ``lenient=True`` leaves out lines that cannot be used and warns with their number.
    ``grade_of`` says which grades words stand for (``{"S": 3, "A": 2, "B": 1}``); words that it leaves out are then
    judged non-relevant, with a warning.
    """
    name = os.fspath(path)
    words = Words(grade_of or {}, "standard input" if name == "-" else name)
    if columns.is_table(name):
        table = columns.read(name, columns.QRELS_COLUMNS)
        return Qrels._checked(*words.put_into(table).checked())
    text = read_text(name, threads)
    if columns.has_header(text):
        return Qrels._checked(*words.put_into(columns.read_delimited(text, columns.QRELS_COLUMNS)).checked())
    lines = trec.read_lines(text, trec.qrels_layout, lenient=lenient, threads=threads, words=words or None)
    words.warn()
    return Qrels(lines.pairs, lines.value)


class Words:
    """Words that stand for grades in one table of judgments; those nobody explained count as 0, and are counted."""

    def __init__(self, grade_of: Mapping[str, float], source: str) -> None:
        self.grade_of, self.source = dict(grade_of), source
        self.unknown: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self.grade_of)

    def __call__(self, word: str) -> float:
        """The grade of a word that is not a number."""
        if word not in self.grade_of:
            self.unknown[word] += 1
        return self.grade_of.get(word, 0.0)

    def put_into(self, table: columns.Columns) -> columns.Columns:
        """The table with numbers for words."""
        if not self:
            return table
        values = [self(value) if isinstance(value, str) and not is_number(value) else value for value in table.values]
        self.warn()
        return replace(table, values=values)

    def warn(self) -> None:
        """Say which words counted as 0."""
        if self.unknown:
            told = ", ".join(f"{word} ({count} times)" for word, count in self.unknown.most_common(5))
            warnings.warn(
                f"{self.source}: grades that the gain rule does not name count as not relevant: {told}.",
                RankboundsWarning,
                stacklevel=4,
            )


def as_qrels(given: Any, grade_of: Mapping[str, float] | None = None) -> Qrels:
    """Judgments from whatever a caller holds: a path, a dict of dicts, a frame, or rows of three."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | os.PathLike):
        return read_qrels(given, grade_of=grade_of)
    table = columns.of_object(given, columns.QRELS_COLUMNS, source="judgments")
    if not len(table):
        raise DataError("The judgments are empty.")
    return Qrels._checked(*Words(grade_of or {}, "judgments").put_into(table).checked())
