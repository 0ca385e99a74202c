"""Judgments: which grade a document has for a query."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.files import columns, formats, trec
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
        return cls._of(columns.Columns.of(query_ids, doc_ids, grades, value_name="relevance", source=source))

    @classmethod
    def _of(cls, table: columns.Columns, labels: str | Sequence[str] | None = None) -> Qrels:
        pairs, grade = table.checked()
        if table.label_sources is not None or labels is not None:
            return cls(*LabelSources.of(table).chosen(pairs, grade, labels))
        if not table.distinct:
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


def read_qrels(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    labels: str | Sequence[str] | None = None,
    lenient: bool = False,
    threads: int = 1,
) -> Qrels:
    """Read judgments in any known format, recognised by its contents unless ``kind`` names it.

    ``"-"`` is standard input; ``"ir_datasets:ID"`` are the judgments of a data set that this package knows.
    ``labels`` chooses by the column ``source``: ``"human"``, or ``"human,llm"`` for the first that has a label.
    ``lenient=True`` leaves out lines that cannot be used and warns with their number.
    """
    found = formats.read(os.fspath(path), columns.QRELS_COLUMNS, kind=kind, lenient=lenient, threads=threads)
    if isinstance(found, columns.Columns):
        return Qrels._of(found, labels)
    if labels is not None:
        raise _no_sources(os.fspath(path))
    return Qrels(found.pairs, found.value)


def read_qrels_by_source(path: str | os.PathLike[str], *, kind: str | None = None) -> dict[str, Qrels]:
    """The judgments of every source in the column ``source``, apart from each other."""
    found = formats.read(os.fspath(path), columns.QRELS_COLUMNS, kind=kind)
    if not isinstance(found, columns.Columns):
        raise _no_sources(os.fspath(path))
    return {name: Qrels._of(found, name) for name in LabelSources.of(found).names}


def as_qrels(given: Any, labels: str | Sequence[str] | None = None) -> Qrels:
    """Judgments from whatever a caller holds: a path, a dict of dicts, a frame, or rows of three."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | os.PathLike):
        return read_qrels(given, labels=labels)
    table = columns.of_object(given, columns.QRELS_COLUMNS, source="judgments")
    if not len(table):
        raise DataError("The judgments are empty.")
    return Qrels._of(table, labels)


def _no_sources(name: str) -> DataError:
    return DataError(f'{name}: labels cannot be chosen by source, because there is no column "source".')


@dataclass(frozen=True)
class LabelSources:
    """Who made each label of a table."""

    names: list[str]
    number: Ints

    @classmethod
    def of(cls, table: columns.Columns) -> LabelSources:
        """The sources that the table states."""
        if table.label_sources is None:
            raise _no_sources(table.source.name)
        seen: dict[str, int] = {}
        stated = ("" if one is None else str(one) for one in table.label_sources)
        number = np.fromiter((seen.setdefault(one, len(seen)) for one in stated), np.int64, len(table))
        return cls(list(seen), number)

    def chosen(self, pairs: Pairs, grade: Floats, labels: str | Sequence[str] | None) -> tuple[Pairs, Floats]:
        """One label for each pair: of the sources wanted, the first that has one; of all, where they agree."""
        if labels is None:
            return self._where_all_agree(pairs, grade)
        wanted = [name.strip() for name in labels.split(",")] if isinstance(labels, str) else list(labels)
        for name in wanted:
            if name not in self.names:
                hint = did_you_mean(name, self.names)
                raise UsageError(
                    f'{pairs.source.name}: no label has the source "{name}".{hint} Known: {", ".join(self.names)}.'
                )
        kept = []
        for name in wanted:
            rows = np.flatnonzero(self.number == self.names.index(name))
            pairs.take(rows).reject_repeats(f'Keep one judgment of the source "{name}" for each document.')
            kept.append(rows)
        rows = np.concatenate(kept)
        again = pairs.take(rows).repeats()
        rows = np.sort(np.delete(rows, again))
        return pairs.take(rows).without_unused_topics(), grade[rows]

    def _where_all_agree(self, pairs: Pairs, grade: Floats) -> tuple[Pairs, Floats]:
        again = pairs.repeats()
        twice = {pairs.raw(row) for row in again.tolist()}
        suspects = np.flatnonzero(np.isin(pairs.keys, pairs.keys[again])).tolist()
        first: dict[tuple[int, bytes], int] = {}
        for row in suspects:
            if pairs.raw(row) in twice:
                first.setdefault(pairs.raw(row), row)
        for row in again.tolist():
            one = first[pairs.raw(row)]
            if self.number[one] == self.number[row]:
                raise DataError(
                    f"{pairs.where(row)}: {pairs.describe(row)} has two judgments of the source "
                    f'"{self.names[self.number[row]]}" (column "source"). Keep one.'
                )
            if grade[one] != grade[row]:
                raise DataError(
                    f"{pairs.where(row)}: sources disagree on {pairs.describe(row)}: {grade[one]:g} by "
                    f'"{self.names[self.number[one]]}", {grade[row]:g} by "{self.names[self.number[row]]}" (column '
                    f'"source"). Choose: --labels {self.names[self.number[one]]} uses one source, --labels '
                    f"{self.names[self.number[one]]},{self.names[self.number[row]]} the first that has a label."
                )
        keep = np.delete(np.arange(len(pairs)), again)
        return pairs.take(keep), grade[keep]
