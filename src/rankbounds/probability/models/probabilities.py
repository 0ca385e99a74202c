"""How probable it is that an unjudged document is relevant: one number, or by rank, run, topic or document.

A model is called with a run's ``UnjudgedDocuments`` and gives a probability for each. Models estimated from the
judgments at hand are in ``estimates``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import DataError, Place, UsageError
from rankbounds.files import named_columns, parquet, text_formats, trec
from rankbounds.files.objects import columns_of, columns_of_json_lines
from rankbounds.files.opening import format_ending, read_text
from rankbounds.files.records import decoded, records, table_rows
from rankbounds.probability.documents import UnjudgedDocuments

PROBABILITY_NAMES = ("probability", "p_relevant", "q", "chance", "score", "relevance")
DOCUMENT_COLUMNS = named_columns.ColumnNames(value=PROBABILITY_NAMES, what="probabilities")


class RelevanceProbability(Protocol):
    """The probability that each unjudged document is relevant."""

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """One probability for each."""
        ...


@dataclass(frozen=True)
class Constant:
    """The same probability for every unjudged document."""

    q: float

    def __post_init__(self) -> None:
        _checked([self.q], "The probability q")

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """``q`` for each."""
        return np.full(unjudged.topic.size, float(self.q))

    def __str__(self) -> str:
        return f"q={self.q:g}"


@dataclass(frozen=True)
class ByRank:
    """A probability that holds from a rank on, until the next rank that is named."""

    q: Mapping[int, float]

    def __post_init__(self) -> None:
        if not self.q:
            raise UsageError("No rank has a probability.")
        _checked(list(self.q.values()), "A probability by rank")

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """By rank."""
        ranks = sorted(self.q)
        step = np.searchsorted(ranks, unjudged.rank, side="right") - 1
        if step.size and step.min() < 0:
            raise DataError(f"Probabilities by rank begin at rank {ranks[0]}, but rank 1 needs one too.")
        return np.array([self.q[rank] for rank in ranks], dtype=float)[step]

    def __str__(self) -> str:
        return "q by rank"


@dataclass(frozen=True)
class ByName:
    """A probability for each run (``of="run"``) or each topic (``of="topic"``)."""

    of: str
    q: Mapping[str, float]
    otherwise: float | None = None

    def __post_init__(self) -> None:
        _checked(list(self.q.values()), f"A probability by {self.of}")

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """By the name of the run or topic."""
        if self.of == "run":
            return np.full(unjudged.topic.size, self._get(unjudged.run.name))
        needed = np.unique(unjudged.topic)
        table = np.zeros(len(unjudged.facts.query_ids))
        table[needed] = [self._get(unjudged.facts.query_ids[number]) for number in needed.tolist()]
        return table[unjudged.topic]

    def _get(self, name: str) -> float:
        probability = self.q.get(name, self.otherwise)
        if probability is None:
            raise DataError(
                f'No probability is given for {self.of} "{name}". Add it, or say otherwise= (--otherwise) what holds '
                "for those without one."
            )
        return probability

    def __str__(self) -> str:
        return f"q by {self.of}"


@dataclass(frozen=True, eq=False)
class ByDocument:
    """A probability for each (query, document), such as a classifier, a click model or a language model gives."""

    pairs: Pairs
    q: Floats
    otherwise: float | None = None

    def __post_init__(self) -> None:
        _checked(self.q, "A probability of a document")

    def __call__(self, unjudged: UnjudgedDocuments) -> Floats:
        """By document; ``otherwise`` for those not in the table, and beyond the ends of lists."""
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
    """A model from a number, a sequence (by rank), ``{query: {document: q}}``, a frame, a path, or a model itself."""
    if otherwise is not None:
        _checked([otherwise], "The probability for all others")
    if isinstance(given, int | float | np.number):
        return Constant(float(given))
    if isinstance(given, str | os.PathLike):
        return read_probabilities(os.fspath(given), otherwise)
    if callable(given):
        return given
    if isinstance(given, Mapping) and all(isinstance(key, int | np.integer) for key in given):
        return ByRank(given)
    if isinstance(given, Sequence | np.ndarray) and not any(isinstance(row, tuple | list) for row in given):
        return ByRank(dict(enumerate(map(float, given), 1)))
    return _by_document(columns_of(given, DOCUMENT_COLUMNS, source="probabilities"), otherwise)


def read_probabilities(path: str, otherwise: float | None = None) -> RelevanceProbability:
    """Read a file of probabilities; what its columns are says what they go by.

    CSV or TSV with a header: ``rank, probability``; ``run, probability``; ``query_id, probability``; or ``query_id,
    doc_id, probability`` (also JSON lines and Parquet). Without a header: ``topic document probability`` or TREC
    judgments with a probability for a grade.
    """
    try:
        return _read(path, otherwise)
    except UsageError as error:  # what would be wrong usage in a call is bad data in a file
        raise DataError(f"{path}: {error}") from None


def _read(path: str, otherwise: float | None) -> RelevanceProbability:
    if parquet.is_parquet(path, DOCUMENT_COLUMNS):
        return _by_document(parquet.read_parquet(path, DOCUMENT_COLUMNS), otherwise)
    text = read_text(path)
    if format_ending(path) in (".jsonl", ".ndjson"):
        return _by_document(columns_of_json_lines(text, DOCUMENT_COLUMNS), otherwise)
    header = [name.lower() for name in text_formats.header(text)]
    value = next((name for name in PROBABILITY_NAMES if name in header), None)
    if value is None:
        lines = trec.read_lines(text, _layout)
        return ByDocument(lines.pairs, lines.numbers, otherwise)
    if any(name in header for name in named_columns.DOC_NAMES):
        return _by_document(text_formats.read_delimited(text, DOCUMENT_COLUMNS), otherwise)
    key = next((name for name in ("rank", "run", *named_columns.QUERY_NAMES) if name in header), None)
    if key is None:
        raise DataError(
            f"{path}: the columns are {', '.join(header)}. "
            f"Besides {value} it needs a column rank, run or query_id, or query_id and doc_id."
        )
    table: dict[str, float] = {}
    rows = table_rows(decoded(text), path)
    next(rows, None)
    for place, row in records(rows, header):
        try:
            table[row[key]] = float(row[value])
        except ValueError:
            raise DataError(place, f'expected {key} and {value}, found "{row[key]}" and "{row[value]}".') from None
    if key != "rank":
        return ByName("run" if key == "run" else "topic", table, otherwise)
    odd = [rank for rank in table if not rank.isdigit() or int(rank) < 1]
    if odd:
        raise DataError(f'{path}: the rank "{odd[0]}" is not a whole number from 1 on.')
    return ByRank({int(rank): q for rank, q in table.items()})


def _by_document(table: named_columns.Columns, otherwise: float | None) -> ByDocument:
    q = table.numbers
    table.pairs.reject_repeats("Keep one probability for each document.")
    return ByDocument(table.pairs, q, otherwise)


def _layout(fields: list[bytes], place: Place) -> trec.Layout:
    if len(fields) not in (3, 4):
        raise DataError(
            f"{place}: a line of probabilities has three fields (topic document probability) or four, as judgments "
            f"have; this one has {len(fields)}. A table with a header names its columns: rank, run, query_id, doc_id, "
            "probability."
        )
    return trec.RUN_OF_SCORES if len(fields) == 3 else trec.QRELS_LAYOUT


def _checked(values: Floats | Ints | Sequence[float], what: str) -> None:
    numbers = np.asarray(values, dtype=float)
    bad = numbers[~((numbers >= 0) & (numbers <= 1))]
    if bad.size:
        raise UsageError(f"{what} must lie between 0 and 1, not {bad[0]:g}.")
