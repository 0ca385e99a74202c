"""Tables with named columns: CSV, TSV, JSON lines, Parquet, data frames, dicts of dicts, rows."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import DataError
from rankbounds.files.opening import Text
from rankbounds.ids import Ids
from rankbounds.pairs import Pairs, Source

QUERY_NAMES = ("query_id", "qid", "query-id", "q_id", "topic_id", "topic", "query")
DOC_NAMES = ("doc_id", "docno", "corpus-id", "corpus_id", "doc-id", "docid", "pid", "document", "doc")
RANK_NAMES = ("rank",)
SOURCE_NAMES = ("source",)
"""Who or what made a label: people, a language model, clicks."""


@dataclass(frozen=True)
class ColumnNames:
    """Under which names the value of a pair is known; earlier names win."""

    value: tuple[str, ...]
    what: str


RUN_COLUMNS = ColumnNames(value=("score", "sim", "similarity"), what="run")
QRELS_COLUMNS = ColumnNames(value=("relevance", "label", "rel", "grade", "rating", "score"), what="judgments")


@dataclass(frozen=True)
class Columns:
    """Three columns of equal length, not yet checked."""

    topics: Sequence[str]
    topic: Ints
    docs: Sequence[Any]
    values: Any
    value_name: str
    source: Source
    ranks: Ints | None = None
    label_sources: Sequence[Any] | None = None
    """Who made each label, where the table says so."""
    distinct: bool = False
    """Is it known that no pair stands twice?"""

    @classmethod
    def of(
        cls,
        query_ids: Iterable[Any],
        doc_ids: Iterable[Any],
        values: Iterable[Any],
        *,
        value_name: str,
        source: str,
        ranks: Iterable[int] | None = None,
        label_sources: Sequence[Any] | None = None,
        unit: str = "row",
    ) -> Columns:
        """From any columns; their lengths must agree."""
        queries, docs, numbers = list(query_ids), list(doc_ids), list(values)
        if not len(queries) == len(docs) == len(numbers):
            raise DataError(
                f"{source}: the columns differ in length ({len(queries)} query ids, {len(docs)} document ids, "
                f"{len(numbers)} values)."
            )
        seen: dict[Any, int] = {}
        topic = np.fromiter((seen.setdefault(query, len(seen)) for query in queries), np.int64, len(queries))
        for query in seen:
            _reject_odd_id(query, "query id", source)
        stated = None if ranks is None else np.asarray(list(ranks), dtype=np.int64)
        where = Source(source, unit)
        return cls([str(query) for query in seen], topic, docs, numbers, value_name, where, stated, label_sources)

    def __len__(self) -> int:
        return len(self.docs)

    def checked(self) -> tuple[Pairs, Floats]:
        """Pairs and finite values, or an error that names the first row that has none."""
        docs = self.docs if isinstance(self.docs, Ids) else _document_ids(self.docs, self.source.name)
        pairs = Pairs.numbered(self.topics, self.topic, docs, self.source)
        return pairs, self._finite_values(pairs)

    def _finite_values(self, pairs: Pairs) -> Floats:
        try:
            values = np.array(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.array([_number_or_nan(value) for value in self.values])
        if values.ndim != 1:  # lists among the values
            values = np.array([_number_or_nan(value) for value in self.values])
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            row = int(bad[0])
            raise DataError(
                f"{pairs.where(row)}: the {self.value_name} of {pairs.describe(row)} is {self.values[row]!r}, "
                "not a finite number."
            )
        return values


def _number_or_nan(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _reject_odd_id(value: Any, what: str, source: str) -> None:
    if value is None or isinstance(value, float | np.floating) or value == "":
        reason = "empty" if value is None or value != value or value == "" else "a floating-point number"
        raise DataError(f"{source}: a {what} is {reason} ({value!r}); ids are text. Convert the column first.")


def _document_ids(values: Sequence[Any], source: str) -> Ids:
    try:
        ids = Ids.of(values)
    except (TypeError, AttributeError):
        for value in values:
            _reject_odd_id(value, "document id", source)
        ids = Ids.of([str(value) for value in values])
    if ids.length.size and not ids.length.all():
        _reject_odd_id("", "document id", source)
    return ids


def has_header(text: Text) -> bool:
    """Does the first line name the columns?"""
    return header_separator(text) is not None and find_column(header(text), QUERY_NAMES) is not None


def header(text: Text) -> list[str]:
    """The names in the first line."""
    separator = header_separator(text) or ","
    return [name.strip().strip('"') for name in _first_line(text).decode("utf-8", "replace").split(separator)]


def header_separator(text: Text) -> str | None:
    """What stands between the names in the first line: a tab, a comma, or nothing of the kind."""
    first = _first_line(text)
    return "\t" if b"\t" in first else "," if b"," in first else None


def _first_line(text: Text) -> bytes:
    return text.buffer[text.begin : min(text.begin + 4096, text.end)].tobytes().split(b"\n")[0]


def read_parquet(path: str, names: ColumnNames) -> Columns:
    """Read one Parquet file, or a folder of them."""
    import polars

    parts = os.path.join(path, "*.parquet") if os.path.isdir(path) else path
    try:
        frame = polars.read_parquet(parts)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file.") from None
    except (polars.exceptions.PolarsError, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({_first_sentence(error)}).") from None
    return of_object(frame, names, source=path)


def read_json_lines(text: Text, names: ColumnNames) -> Columns:
    """Read one JSON object a line, each with the same columns."""
    import polars

    try:
        frame = polars.read_ndjson(io.BytesIO(text.tobytes()), infer_schema_length=None)
    except polars.exceptions.PolarsError as error:
        raise DataError(f"{text.name}: cannot be read as JSON lines ({_first_sentence(error)}).") from None
    return of_object(frame, names, source=text.name)


def read_delimited(text: Text, names: ColumnNames) -> Columns:
    """Read CSV or TSV with a header line."""
    if not has_header(text):
        raise DataError(
            f"{text.name}: the first line must name the columns: one of {_listed(QUERY_NAMES)}, one of "
            f"{_listed(DOC_NAMES)} and one of {_listed(names.value)}."
        )
    return of_object(delimited_frame(text), names, source=text.name)


def delimited_frame(text: Text) -> Any:
    """CSV or TSV with a header line as a polars frame of text."""
    import polars

    separator = header_separator(text) or ","
    try:
        return polars.read_csv(io.BytesIO(text.tobytes()), separator=separator, infer_schema=False)
    except polars.exceptions.PolarsError as error:
        raise DataError(f"{text.name}: cannot be read as a table ({_first_sentence(error)}).") from None


def _first_sentence(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def of_object(given: Any, names: ColumnNames, *, source: str, before: int = 0) -> Columns:
    """From a dict of dicts, a pandas, polars or pyarrow frame, a ranx object, or rows ``(query, document, value)``.

    ``before`` rows of the source come before those of a polars frame.
    """
    if type(given).__module__.partition(".")[0] == "ranx":
        given = given.to_dict()
    if isinstance(given, Mapping):
        return _of_nested(given, names, source)
    columns = getattr(given, "column_names", None) or getattr(given, "columns", None)
    if columns is not None:
        return _of_frame(given, [str(column) for column in columns], names, source, before)
    try:
        rows = [_row(row, names) for row in given]
    except (TypeError, IndexError):
        raise DataError(
            f"{source}: expected a path, a dict of dicts, a data frame, or rows (query, document, value); "
            f"got {type(given).__name__}."
        ) from None
    queries, docs, values = zip(*rows, strict=True) if rows else ((), (), ())
    return Columns.of(queries, docs, values, value_name=names.value[0], source=source)


def _row(row: Any, names: ColumnNames) -> tuple[Any, Any, Any]:
    if hasattr(row, "query_id") and hasattr(row, "doc_id"):
        return row.query_id, row.doc_id, getattr(row, names.value[0])
    if isinstance(row, str) or len(row) < 3:
        raise TypeError
    return row[0], row[1], row[2]


def _of_nested(given: Mapping[Any, Any], names: ColumnNames, source: str) -> Columns:
    values: list[Any] = []
    counts = []
    for query, inner in given.items():
        _reject_odd_id(query, "query id", source)
        if not isinstance(inner, Mapping):
            raise DataError(
                f'{source}: expected {{query: {{document: value}}}}, but the entry of "{query}" is a '
                f"{type(inner).__name__}."
            )
        values.extend(inner.values())
        counts.append(len(inner))
    topic = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    topics = [str(query) for query in given]
    if len(set(topics)) < len(topics):
        raise DataError(f"{source}: two query ids have the same text; ids are compared as text.")
    ids: Sequence[Any] | None = None
    with contextlib.suppress(TypeError, AttributeError):  # ids that are not text: two may have the same text
        ids = Ids.of_lines("\n".join("\n".join(inner) for inner in given.values() if inner), len(values))
    if ids is None:
        ids = [doc for inner in given.values() for doc in inner]
        with contextlib.suppress(TypeError, AttributeError):
            ids = Ids.of(ids)
    if isinstance(ids, Ids) and not ids.length.all():
        _reject_odd_id("", "document id", source)
    return Columns(topics, topic, ids, values, names.value[0], Source(source), distinct=isinstance(ids, Ids))


def wanted_columns(columns: list[str], names: ColumnNames, source: str) -> list[str]:
    """Of a table's columns those that are read; an error where one is lacking."""
    return [name for name in _found_columns(columns, names, source) if name is not None]


def _found_columns(columns: list[str], names: ColumnNames, source: str) -> tuple[str, str, str, str | None, str | None]:
    """The columns of the query, the document, the value, the rank and the label's source."""

    def needed(known: tuple[str, ...], what: str) -> str:
        found = find_column(columns, known)
        if found is None:
            raise DataError(
                f"{source}: no column for the {what}. Known names are {_listed(known)}; this table has "
                f"{_listed(columns)}. Rename one."
            )
        return found

    return (
        needed(QUERY_NAMES, "query id"),
        needed(DOC_NAMES, "document id"),
        needed(names.value, names.value[0]),
        find_column(columns, RANK_NAMES) if names is RUN_COLUMNS else None,
        find_column(columns, SOURCE_NAMES) if names is QRELS_COLUMNS else None,
    )


def _of_frame(frame: Any, columns: list[str], names: ColumnNames, source: str, before: int) -> Columns:
    query, doc, value, rank, label = _found_columns(columns, names, source)
    if type(frame).__module__.startswith("polars."):
        frame = _lists_spread(frame, doc, value)
        if str(frame.schema[query]) == str(frame.schema[doc]) == "String":
            return _of_text_frame(frame, query, doc, value, rank, label, Source(source, "row", before))
    return Columns.of(
        _values(frame, query),
        _values(frame, doc),
        _values(frame, value),
        value_name=value,
        source=source,
        ranks=None if rank is None else _whole_numbers(_values(frame, rank), rank, source),
        label_sources=None if label is None else _values(frame, label),
    )


def _lists_spread(frame: Any, doc: str, value: str) -> Any:
    """A frame with a row for each document, where it had a row with lists for each query."""
    lists = [name for name in (doc, value) if str(frame.schema[name]).startswith("List")]
    return frame.explode(lists) if doc in lists else frame


def _of_text_frame(
    frame: Any, query: str, doc: str, value: str, rank: str | None, label: str | None, source: Source
) -> Columns:
    """The same without a Python string for each row, for a polars frame whose ids are text."""
    for name, what in ((query, "query id"), (doc, "document id")):
        if frame[name].null_count():
            row = int(frame[name].is_null().arg_max() or 0)
            raise DataError(
                f'{source.name}, row {source.before + row + 1}: the {what} (column "{name}") is empty; ids are text. '
                f"The row is {frame.row(row, named=True)}."
            )
    queries, docs = ids_of_series(frame[query]), ids_of_series(frame[doc])
    if not queries.length.all():
        _reject_odd_id("", "query id", source.name)
    if not docs.length.all():
        _reject_odd_id("", "document id", source.name)
    topics, topic = queries.codes(queries.hashes())
    numbers = frame[value]
    values: Any = numbers.to_numpy() if numbers.dtype.is_numeric() else numbers.to_list()
    return Columns(
        [name.decode("utf-8", "surrogateescape") for name in topics],
        topic,
        docs,
        values,
        value,
        source,
        None if rank is None else _whole_numbers(frame[rank], rank, source.name),
        None if label is None else frame[label].to_list(),
    )


def ids_of_series(series: Any) -> Ids:
    """The ids in a polars column of text without nulls."""
    length = series.str.len_bytes().to_numpy().astype(np.int64)
    return Ids.of_bytes(series.str.join("")[0].encode("utf-8"), length)


def _whole_numbers(values: Iterable[Any], column: str, source: str) -> Ints:
    try:
        if getattr(values, "dtype", None) is not None and values.dtype.is_integer() and not values.null_count():  # type: ignore[attr-defined]
            return values.to_numpy().astype(np.int64)  # type: ignore[attr-defined]
        return np.array([int(one) for one in values], dtype=np.int64)
    except (TypeError, ValueError):
        raise DataError(f'{source}: the column "{column}" holds something that is not a whole number.') from None


def _values(frame: Any, column: str) -> list[Any]:
    series = frame[column]
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(series, method):
            return list(getattr(series, method)())
    return list(series)


def find_column(columns: Iterable[str], known: tuple[str, ...]) -> str | None:
    """The first of the known names that is among the columns, as it is written there."""
    folded = {column.lower(): column for column in columns}
    return next((folded[name] for name in known if name in folded), None)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
