"""How probable it is that an unjudged document is relevant: one number for all, or one for each document.

A model is called with a run's ``UnjudgedDocuments`` and gives a probability for each. Models estimated from the
judgments at hand are in ``estimates`` and ``groups_left_out``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import DataError, Place, UsageError
from rankbounds.files import delimited, named_columns, parquet, trec
from rankbounds.files.objects import columns_of, columns_of_json_lines
from rankbounds.files.opening import format_ending, read_text
from rankbounds.probability.documents import UnjudgedDocuments

PROBABILITY_NAMES = ("probability", "p_relevant", "q", "chance", "score", "relevance")
DOCUMENT_COLUMNS = named_columns.ColumnNames(value=PROBABILITY_NAMES, what="probabilities")


class RelevanceProbability(Protocol):
    """The probability that each unjudged document is relevant."""

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats: ...


@dataclass(frozen=True)
class Constant:
    """The same probability for every unjudged document."""

    q: float

    def __post_init__(self) -> None:
        _checked([self.q], "The probability q")

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        return np.full(unjudged.topic.size, float(self.q))

    def __str__(self) -> str:
        return f"q={self.q:g}"


@dataclass(frozen=True, eq=False)
class ByDocument:
    """A probability for each (query, document), such as a classifier, a click model or a language model gives."""

    pairs: Pairs
    q: Floats
    otherwise: float | None = None

    def __post_init__(self) -> None:
        _checked(self.q, "A probability of a document")

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        chance = np.full(unjudged.topic.size, np.nan)
        inside = np.flatnonzero(unjudged.retrieved)
        rows, here = self.pairs.index.find(unjudged.pairs)
        chance[inside[rows]] = self.q[here]
        lacking = np.isnan(chance)
        if lacking.any():
            if self.otherwise is None:
                known = lacking[inside]
                example = f", such as {unjudged.pairs.describe(int(np.flatnonzero(known)[0]))}" if known.any() else ""
                raise DataError(
                    f"{self.pairs.source.name}: {int(lacking.sum())} unjudged documents of {unjudged.run.name} have no "
                    f"probability{example}. Add them, or set otherwise= (--otherwise) for those without one."
                )
            chance[lacking] = self.otherwise
        return chance

    def __str__(self) -> str:
        return "q by document"


def as_relevance_probability(given: Any, otherwise: float | None = None) -> RelevanceProbability:
    """A model from a number, ``{query: {document: q}}``, rows or a frame, a path, or a model itself."""
    if otherwise is not None:
        _checked([otherwise], "The probability for all others")
    if isinstance(given, int | float | np.number):
        return Constant(float(given))
    if isinstance(given, str | os.PathLike):
        return read_probabilities(os.fspath(given), otherwise)
    if callable(given):
        return given
    return _by_document(columns_of(given, DOCUMENT_COLUMNS, source="probabilities"), otherwise)


def read_probabilities(path: str, otherwise: float | None = None) -> ByDocument:
    """Read probabilities of documents: a table with named columns, or lines as those of judgments."""
    try:
        if parquet.is_parquet(path, DOCUMENT_COLUMNS):
            return _by_document(parquet.read_parquet(path, DOCUMENT_COLUMNS), otherwise)
        text = read_text(path)
        if format_ending(path) in (".jsonl", ".ndjson"):
            return _by_document(columns_of_json_lines(text, DOCUMENT_COLUMNS), otherwise)
        if any(name.lower() in PROBABILITY_NAMES for name in delimited.header(text)):
            return _by_document(delimited.read_delimited(text, DOCUMENT_COLUMNS), otherwise)
        lines = trec.read_lines(text, _layout)
        return ByDocument(lines.pairs, lines.numbers, otherwise)
    except UsageError as error:  # what would be wrong usage in a call is bad data in a file
        raise DataError(f"{path}: {error}") from None


def _by_document(table: named_columns.Columns, otherwise: float | None) -> ByDocument:
    q = table.numbers
    table.pairs.reject_repeats("Keep one probability for each document.")
    return ByDocument(table.pairs, q, otherwise)


def _layout(fields: list[bytes], place: Place) -> trec.Layout:
    if len(fields) not in (3, 4):
        raise DataError(
            f"{place}: a line of probabilities has three fields (topic document probability) or four, as judgments "
            f"have; this one has {len(fields)}. A table with a header names its columns: query_id, doc_id, probability."
        )
    return trec.RUN_OF_SCORES if len(fields) == 3 else trec.QRELS_LAYOUT


def _checked(values: Floats | Ints | Sequence[float], what: str) -> None:
    numbers = np.asarray(values, dtype=float)
    bad = numbers[~((numbers >= 0) & (numbers <= 1))]
    if bad.size:
        raise UsageError(f"{what} must lie between 0 and 1, not {bad[0]:g}.")
