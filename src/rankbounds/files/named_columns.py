"""Tables with named columns, whatever holds them: files, data frames, dicts of dicts, rows."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns.decimals import finite_numbers, whole_numbers
from rankbounds.columns.ids import Ids, is_missing
from rankbounds.columns.native.reading import ids_and_numbers
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, Place, UsageError, did_you_mean
from rankbounds.files.frame_columns import id_column, listed_values, number_column
from rankbounds.files.opening import Text
from rankbounds.files.records import parse_json_lines

QUERY_NAMES = ("query_id", "qid", "query-id", "q_id", "topic_id", "topic", "query")
DOC_NAMES = ("doc_id", "docno", "corpus-id", "corpus_id", "doc-id", "docid", "pid", "document", "doc")
RUN_NAMES = ("run", "run_id", "system", "tag")
"""Which run a row is of, in a table of several."""
RANK_NAMES = ("rank",)
NO_RUN, NAME_THE_RUN = "a row has no run", "Name its run, leave such rows out, or drop the column."
"""What is wrong with a row of no run in a table that tells runs apart, and what to do."""
POSITION_NAMES = ("doc position", "position", "rank")
"""Where a document stands, in tables that have no scores."""
SOURCE_NAMES = ("source",)
"""Who or what made a label: people, a language model, clicks."""
SUBTOPIC_NAMES = ("subtopic", "subtopic_id", "nugget", "nugget_id")
"""What a document is judged for, where a query is about several things."""
STRATUM_NAMES = ("stratum",)
"""From which part of the pool a document was drawn for judging, or could have been."""
IMPORTANCE_NAMES = ("importance",)
"""Whether a nugget is vital or okay."""


@dataclass(frozen=True)
class ColumnNames:
    """Under which names the columns of a table are known; earlier names win."""

    value: tuple[str, ...]
    what: str
    query: tuple[str, ...] = QUERY_NAMES
    doc: tuple[str, ...] = DOC_NAMES
    rank: tuple[str, ...] = RANK_NAMES
    source: tuple[str, ...] = SOURCE_NAMES
    run: tuple[str, ...] = RUN_NAMES
    subtopic: tuple[str, ...] = SUBTOPIC_NAMES
    called: str = ""
    """What the value is to us, where a user's table has a name of its own for it."""

    @property
    def value_name(self) -> str:
        """What the value is called in messages, and in objects with fields."""
        return self.called or self.value[0]

    @property
    def of_judgments(self) -> bool:
        """Is this a table of judgments?"""
        return self.what == "judgments"

    @property
    def of_run(self) -> bool:
        """Is this a table of a run?"""
        return self.what == "run"

    def renamed(self, columns: Mapping[str, str] | None) -> ColumnNames:
        """With a user's own names, ``{"query_id": "q", "doc_id": "d", "score": "s", "relevance": "grade"}``."""
        if not columns:
            return self
        known = [*CANONICAL, "score", "relevance"]
        for name in columns:
            if name not in known:
                hint = did_you_mean(str(name), known)
                raise UsageError(f'There is no column "{name}" to be named.{hint} Known: {_listed(known)}.')
        own = {field: (str(columns[name]).lower(),) for name, field in CANONICAL.items() if name in columns}
        if self.value_name in columns:
            own["value"] = (str(columns[self.value_name]).lower(),)
        return replace(self, **own, called=self.value_name)  # type: ignore[arg-type]


CANONICAL = {
    "query_id": "query",
    "doc_id": "doc",
    "rank": "rank",
    "source": "source",
    "run": "run",
    "subtopic": "subtopic",
}
"""Our own names of columns, beside those of the value, and which names of a table they are."""


RUN_COLUMNS = ColumnNames(value=("score", "sim", "similarity"), what="run")
QRELS_COLUMNS = ColumnNames(value=("relevance", "label", "rel", "grade", "rating", "score"), what="judgments")


@dataclass(frozen=True)
class Columns:
    """Three columns of equal length, whose ids are checked, and whose values are not yet."""

    topics: Sequence[str]
    topic: Ints
    docs: Ids
    values: Any
    value_name: str
    source: Source
    ranks: Ints | None = None
    label_sources: Sequence[Any] | None = None
    """Who made each label, where the table says so."""
    distinct: bool = False
    """Is it known that no pair stands twice?"""
    runs: Any = None
    """Which run each row belongs to, where the table says so."""
    run_name: str = "run"
    """What the column of runs is called in messages."""
    subtopics: Any = None
    """What each document is judged for, where the table says so."""
    importance: Sequence[Any] | None = None
    """Whether each row's nugget is vital, where the table says so."""
    strata: Any = None
    """From which stratum each document was drawn, where the table says so."""

    @classmethod
    def of(
        cls,
        query_ids: Iterable[Any],
        doc_ids: Iterable[Any],
        values: Iterable[Any],
        *,
        value_name: str,
        source: str,
        ranks: Iterable[Any] | None = None,
        label_sources: Sequence[Any] | None = None,
        runs: Any = None,
        unit: str = "row",
        before: int = 0,
        names: tuple[str, str] | None = None,
        rank_name: str = "rank",
        run_name: str = "run",
    ) -> Columns:
        """From any columns; their lengths must agree. ``names`` are those of the columns of ids, for messages."""
        queries, docs, numbers = _sized(query_ids), _sized(doc_ids), _sized(values)
        if not len(queries) == len(docs) == len(numbers):
            raise DataError(
                source,
                f"the columns differ in length ({len(queries)} query ids, {len(docs)} document ids, "
                f"{len(numbers)} values).",
            )
        where = Source(source, unit, before)
        stated = None if ranks is None else _sized(ranks)
        rows: Ints | None = None
        if _holds_lists(docs):
            rows = np.repeat(np.arange(len(docs)), [_length(several) for several in docs])
            docs = [doc for several in docs if several is not None for doc in several]
            numbers, stated, label_sources, runs = (
                _spread(column, rows, source) for column in (numbers, stated, label_sources, runs)
            )
        topics, topic = Ids.checked(queries, _id_in(names and names[0], "query id"), where.place).numbered()
        return cls(
            topics,
            topic if rows is None else topic[rows],
            Ids.checked(docs, _id_in(names and names[1], "document id"), where.place),
            numbers,
            value_name,
            where,
            None if stated is None else _whole(stated, rank_name, where),
            label_sources,
            runs=runs,
            run_name=run_name,
        )

    @classmethod
    def of_rows(
        cls, rows: Sequence[tuple[Any, ...]], value_name: str, source: str, nothing: str, fourth: str = "ranks"
    ) -> Columns:
        """From rows of query, document and value, and perhaps a fourth entry; an error says ``nothing`` of no rows."""
        if not rows:
            raise DataError(source, nothing)
        queries, docs, values, *further = map(list, zip(*rows, strict=True))
        named: dict[str, Any] = dict(zip([fourth], further, strict=False))
        return cls.of(queries, docs, values, value_name=value_name, source=source, unit="entry", **named)

    def __len__(self) -> int:
        return len(self.docs)

    def numbered_runs(self, *, one: bool = False) -> tuple[list[str], Ints]:
        """The names of the runs in the order of their first row, and the number of each row's run.

        A row that names none is an error. Where all rows are of ``one`` run, none of them need name it.
        """
        ids = self.runs
        if not isinstance(ids, Ids):
            ids = Ids.of(["" if is_missing(name) else str(name) for name in self.runs])
        names, number = ids.numbered()
        if "" in names and not (one and len(names) == 1):
            row = int(np.flatnonzero(number == names.index(""))[0])
            raise DataError(self.source.place(row), f'{NO_RUN} (column "{self.run_name}").', NAME_THE_RUN)
        return names, number

    def checked(self) -> tuple[Pairs, Floats]:
        """Pairs and finite values, or an error that names the first row that has none."""
        pairs = Pairs.numbered(self.topics, self.topic, self.docs, self.source)
        values, bad = finite_numbers(self.values)
        if bad.size:
            row = int(bad[0])
            raise DataError(
                pairs.where(row),
                f"the {self.value_name} of {pairs.describe(row)} is {_shown(self.values[row])}, not a finite number.",
            )
        return pairs, values


def _sized(column: Iterable[Any]) -> Any:
    return column if isinstance(column, Ids | np.ndarray | list) else list(column)


def _holds_lists(column: Any) -> bool:
    """Does a table have a row for each query, with a list of documents?"""
    if isinstance(column, Ids | np.ndarray):
        return False
    first = next((entry for entry in column if entry is not None), None)
    return isinstance(first, list | tuple | np.ndarray) and all(
        entry is None or isinstance(entry, list | tuple | np.ndarray) for entry in column
    )


def _length(several: Sequence[Any] | None) -> int:
    return 0 if several is None else len(several)


def _spread(column: Any, rows: Ints, source: str) -> Any:
    """A column with an entry for each document, where it had one, or a list of them, for each query."""
    if column is None:
        return None
    if not _holds_lists(column):
        return [column[row] for row in rows.tolist()]
    if not np.array_equal(np.repeat(np.arange(len(column)), [_length(several) for several in column]), rows):
        raise DataError(source, "a row has a list of documents and a list of values that differ in length.")
    return [entry for several in column if several is not None for entry in several]


def _id_in(column: str | None, what: str) -> str:
    """What to call the id in a message."""
    return f'the {what} (column "{column}")' if column else f"a {what}"


def _shown(value: Any) -> str:
    try:
        return repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # a whole number of thousands of digits
        return "a number of thousands of digits"


def _whole(values: Any, column: str, source: Source) -> Ints:
    numbers, bad = whole_numbers(values)
    if bad.size:
        row = int(bad[0])
        raise DataError(
            source.place(row),
            f'the column "{column}" holds {_shown(values[row])}, which is not a whole number up to 2**53.',
        )
    return numbers


def read_json_lines(text: Text, names: ColumnNames) -> Columns:
    """Read one JSON object a line, each with the same columns."""
    return of_records(parse_json_lines(text.tobytes(), text.name)[1], names, text.name)


def of_records(rows: Sequence[Any], names: ColumnNames, source: str) -> Columns:
    """From a list of objects, each with the same columns."""
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise DataError(Place(source, row=number), f"expected an object with named columns, got {_shown(row)}.")
    known = list(dict.fromkeys(key for row in rows for key in row))
    wanted = wanted_columns(known, names, source)
    return of_columns({name: [row.get(name) for row in rows] for name in wanted}, names, source)


def is_table(given: Any) -> bool:
    """Is this a data frame, or a run of the package ranx?"""
    kind = type(given)
    if kind.__module__.startswith("ranx."):
        return True
    return any(hasattr(kind, name) for name in ("columns", "column_names", "read_all"))


def of_object(given: Any, names: ColumnNames, *, source: str, before: int = 0) -> Columns:
    """From a dict of dicts, a pandas, polars or pyarrow frame, a ranx object, or rows ``(query, document, value)``.

    ``before`` rows of the source come before those of a frame.
    """
    package, kind = type(given).__module__.partition(".")[0], type(given).__name__
    if package == "ranx":
        given = given.to_dict()
    elif package == "polars" and kind == "LazyFrame":
        given = given.collect()
    elif package == "pyarrow" and hasattr(given, "read_all"):
        given = given.read_all()
    if is_column_wise(given, names):
        lists = {str(column): list(values) for column, values in given.items()}
        return of_columns({name: lists[name] for name in wanted_columns(list(lists), names, source)}, names, source)
    if isinstance(given, Mapping):
        return _of_nested(given, names, source)
    columns = getattr(given, "column_names", None)
    if columns is None:
        columns = getattr(given, "columns", None)
    if columns is not None:
        wanted = wanted_columns([str(column) for column in columns], names, source)
        by_name = {str(column): column for column in columns}
        return of_columns({name: given[by_name[name]] for name in wanted}, names, source, before)
    try:
        listed = list(given)
        if listed and isinstance(listed[0], Mapping):
            return of_records(listed, names, source)
        rows = [_row(row, names) for row in listed]
    except (TypeError, IndexError, KeyError, AttributeError):
        raise DataError(source, f"expected {taken(names)}; got {type(given).__name__}.") from None
    queries, docs, values = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
    return Columns.of(queries, docs, values, value_name=names.value_name, source=source)


def taken(names: ColumnNames) -> str:
    """What judgments, or a run, may be made from, for a message."""
    lists = "{query: {document, ...}}" if names.of_judgments else "{query: [document, ...]}"
    value, ours = names.value_name, "Qrels" if names.of_judgments else "a Run"
    return (
        f"a path, {{query: {{document: {value}}}}}, {lists}, a pandas, polars or pyarrow frame, rows (query, document, "
        f"{value}), or {ours} of rankbounds or ranx"
    )


def is_row(given: Any, names: ColumnNames) -> bool:
    """Is this one row of a table: (query, document, value), an object with such fields, or a dict of columns?"""
    if hasattr(given, "query_id") and hasattr(given, "doc_id"):
        return True
    if isinstance(given, Mapping):
        return len(given) <= _MOST_COLUMNS and all(
            find_column(map(str, given), known) for known in (names.query, names.doc)
        )
    if isinstance(given, list | tuple | np.ndarray):
        return len(given) >= 3 and all(isinstance(part, _SCALARS) for part in given[:3])
    return False


def is_column_wise(given: Any, names: ColumnNames) -> bool:
    """Is this a dict of whole columns, rather than one of queries?"""
    return (
        isinstance(given, Mapping)
        and len(given) <= _MOST_COLUMNS
        and not any(isinstance(column, Mapping | str) for column in given.values())
        and all(find_column(map(str, given), known) for known in (names.query, names.doc))
    )


_MOST_COLUMNS = 50
_SCALARS = (str, bytes, int, float, np.generic)


def _row(row: Any, names: ColumnNames) -> tuple[Any, Any, Any]:
    if hasattr(row, "query_id") and hasattr(row, "doc_id"):
        return row.query_id, row.doc_id, getattr(row, names.value_name)
    if isinstance(row, str) or len(row) < 3:
        raise TypeError
    return row[0], row[1], row[2]


def _of_nested(given: Mapping[Any, Any], names: ColumnNames, source: str) -> Columns:
    where = Source(source)
    given = dict(given)  # as it is now: another thread may change it
    topics = list(given)
    if not _are_ids(topics):
        topics = Ids.checked(topics, "a query id", where.place).to_list()
    if len(set(topics)) < len(topics):
        raise DataError(source, "two query ids have the same text; ids are compared as text.")
    of_query = list(given.values())
    if set(map(type, of_query)) != {dict}:
        of_query = [_with_values(query, inner, names, source) for query, inner in given.items()]
    counts = np.fromiter(map(len, of_query), np.int64, len(of_query))
    ids: Ids | None
    values: Any
    ids, values = ids_and_numbers(of_query, counts) or (None, None)
    if ids is None:
        of_query = list(map(dict, of_query))  # another thread may change them
        counts = np.fromiter(map(len, of_query), np.int64, len(of_query))
        values = plain_numbers(of_query)
    if values is None:
        values = [value for inner in of_query for value in inner.values()]
    if ids is None:
        with contextlib.suppress(TypeError, AttributeError, UnicodeEncodeError):
            ids = Ids.of_lines("\n".join(map("\n".join, filter(None, of_query))), len(values))
    distinct = ids is not None
    if ids is None or not ids.length.all():  # an id holds a newline, is not text, or is none
        docs = [doc for inner in of_query for doc in inner]
        ids = Ids.checked(docs, "a document id", where.place)
        distinct = set(map(type, docs)) <= {str}  # of others, two may have the same text
    topic = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return Columns(topics, topic, ids, values, names.value_name, where, distinct=distinct)


def _are_ids(names: list[Any]) -> bool:
    """Are these ids as they are: text, none of it empty, which bytes can hold?"""
    try:
        "".join(names).encode("utf-8", "surrogateescape")
    except (TypeError, UnicodeEncodeError):
        return False
    return "" not in names and set(map(type, names)) == {str}


def plain_numbers(of_query: Iterable[Mapping[Any, Any]]) -> Floats | None:
    """All values of dicts as an array, if they are finite numbers; otherwise None. Text is no number here."""
    try:
        packed = b"".join([struct.pack(f"{len(inner)}d", *inner.values()) for inner in of_query])
    except (struct.error, TypeError, ValueError, OverflowError):
        return None
    numbers = np.frombuffer(packed, dtype=np.float64)
    return numbers if np.isfinite(numbers).all() else None


def _with_values(query: Any, inner: Any, names: ColumnNames, source: str) -> Mapping[Any, Any]:
    """``{document: value}`` of one query; of a list, the order says the score, and all that is listed is relevant."""
    if isinstance(inner, Mapping):
        return inner
    listed = (list, tuple, np.ndarray) + ((set, frozenset) if names.of_judgments else ())
    try:
        if not isinstance(inner, listed):
            raise TypeError
        docs = inner.tolist() if isinstance(inner, np.ndarray) else list(inner)
        values: dict[Any, float] = {}
        for place, doc in enumerate(docs):
            if doc in values:
                raise DataError(source, f'document "{doc}" of topic "{query}" is listed twice.', "Keep one.")
            values[doc] = 1.0 if names.of_judgments else float(len(docs) - place)
    except TypeError:
        raise DataError(
            source, f'expected {taken(names)}; but the entry of "{query}" is a {type(inner).__name__}.'
        ) from None
    return values


class FoundColumns(NamedTuple):
    """What a table calls its columns; None where it lacks one that need not be there, or that is not looked for."""

    query: str
    doc: str
    value: str
    rank: str | None = None
    source: str | None = None
    run: str | None = None
    subtopic: str | None = None
    importance: str | None = None
    stratum: str | None = None


def wanted_columns(columns: list[str], names: ColumnNames, source: str) -> list[str]:
    """Of a table's columns those that are read; an error where one is lacking."""
    return [name for name in found_columns(columns, names, source) if name is not None]


def found_columns(columns: list[str], names: ColumnNames, source: str) -> FoundColumns:
    """The columns of a run, or of judgments, in a table."""

    def needed(known: tuple[str, ...], what: str) -> str:
        found = find_column(columns, known)
        if found is not None and [name.lower() for name in columns].count(found.lower()) > 1:
            raise DataError(source, f'two columns are called "{found}".', "Rename or drop one.")
        if found is None:
            ranked = find_column(columns, POSITION_NAMES) if names.of_run and known == names.value else None
            raise DataError(
                source,
                f"no column for the {what}. Known names are {_listed(known)}; this table has {_listed(columns)}.",
                "Rename one."
                if ranked is None
                else f'Scores fall from rank to rank: add minus "{ranked}" as {known[0]}, or read a CSV file as quepid '
                "does (--from quepid), by its ranks.",
            )
        return found

    found = FoundColumns(
        needed(names.query, "query id"), needed(names.doc, "document id"), needed(names.value, names.value_name)
    )
    if names.of_run:
        return found._replace(rank=find_column(columns, names.rank), run=find_column(columns, names.run))
    if not names.of_judgments:
        return found
    return found._replace(
        source=find_column(columns, names.source),
        subtopic=find_column(columns, names.subtopic),
        importance=find_column(columns, IMPORTANCE_NAMES),
        stratum=find_column(columns, STRATUM_NAMES),
    )


def of_columns(table: Mapping[str, Any], names: ColumnNames, source: str, before: int = 0) -> Columns:
    """From columns by their names: those of a frame, of any package, or our own."""
    found = found_columns(list(table), names, source)

    def column(name: str | None, of_kind: Callable[[Any], Any]) -> Any:
        return None if name is None else of_kind(table[name])

    columns = Columns.of(
        id_column(table[found.query]),
        id_column(table[found.doc]),
        number_column(table[found.value]),
        value_name=found.value,
        source=source,
        ranks=column(found.rank, number_column),
        label_sources=column(found.source, listed_values),
        runs=column(found.run, id_column),
        before=before,
        names=found[:2],
        rank_name=found.rank or "rank",
        run_name=found.run or "run",
    )
    if found.subtopic is None and found.stratum is None:
        return columns
    if len(columns) != len(table[found.query]):
        problem = "judgments by subtopic or stratum need a row for each document, not lists of documents."
        raise DataError(source, problem)

    def ids(name: str | None, what: str) -> Ids | None:
        return column(name, lambda held: Ids.checked(id_column(held), _id_in(name, what), columns.source.place))

    return replace(
        columns,
        subtopics=ids(found.subtopic, "subtopic"),
        importance=column(found.importance, listed_values),
        strata=ids(found.stratum, "stratum"),
    )


def find_column(columns: Iterable[str], known: tuple[str, ...]) -> str | None:
    """The first of the known names that is among the columns, as it is written there."""
    folded = {column.lower(): column for column in columns}
    return next((folded[name] for name in known if name in folded), None)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
