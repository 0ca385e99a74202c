"""Python objects as columns: dicts of dicts, frames of pandas, polars and pyarrow, rows, records, ranx's objects.

Frames, and dicts of plain numbers, are read without a Python object per row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.columns.ids import Ids
from rankbounds.columns.native.reading import ids_and_numbers
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, Place, UsageError
from rankbounds.files.id_lists import answers_in, columns_of_list_table, columns_of_lists, hits_by_query
from rankbounds.files.named_columns import (
    LISTS,
    ColumnNames,
    Columns,
    find_column,
    found_columns,
    has_lists,
    question_column,
    shown_value,
)
from rankbounds.files.opening import Text
from rankbounds.files.records import parse_json_lines

_MOST_COLUMNS = 50
_LISTS = (list, tuple, set, frozenset, np.ndarray)
_SCALARS = (str, bytes, int, float, np.generic)


def is_table(given: Any) -> bool:
    kind = type(given)
    return kind.__module__.startswith("ranx.") or any(
        hasattr(kind, name) for name in ("columns", "column_names", "read_all")
    )


def is_row(given: Any, names: ColumnNames) -> bool:
    """Return whether this is one row: (query, document, value), an object with such fields, or a dict of columns."""
    if hasattr(given, "query_id") and hasattr(given, "doc_id"):
        return True
    if isinstance(given, Mapping):
        return _names_ids(given, names) or is_list_row(given, names)
    if isinstance(given, list | tuple | np.ndarray):
        return len(given) >= 3 and all(isinstance(part, _SCALARS) for part in given[:3])
    return False


def is_column_wise(given: Any, names: ColumnNames) -> bool:
    if not isinstance(given, Mapping) or len(given) > _MOST_COLUMNS:
        return False
    if any(isinstance(column, Mapping | str) for column in given.values()):
        return False
    if _names_ids(given, names):
        return True
    lists = _lists_in(given, names) if is_list_row(given, names) else []
    named = len(lists) > 1 or question_column(map(str, given), names) is not None  # else it may be a run of that name
    return named and bool(lists) and all(isinstance(cell, _LISTS) for name in lists for cell in list(given[name])[:1])


def is_list_row(given: Any, names: ColumnNames) -> bool:
    if not isinstance(given, Mapping) or len(given) > _MOST_COLUMNS or not has_lists(map(str, given), names):
        return False
    return any(isinstance(given[name], (*_LISTS, Mapping)) for name in _lists_in(given, names))


def _lists_in(given: Mapping[Any, Any], names: ColumnNames) -> list[Any]:
    known = {*LISTS["run"], *LISTS["judgments"], *names.listed}
    return [key for key in given if str(key).lower() in known]


def _names_ids(given: Mapping[Any, Any], names: ColumnNames) -> bool:
    return len(given) <= _MOST_COLUMNS and all(
        find_column(map(str, given), known) for known in (names.query, names.doc)
    )


def expected_shapes(names: ColumnNames) -> str:
    lists = "{query: {document, ...}}" if names.of_judgments else "{query: [document, ...]}"
    value, ours = names.value_name, "Qrels" if names.of_judgments else "a Run"
    if not names.listed:  # neither judgments nor a run, but a number for each document
        return f"a path, {{query: {{document: {value}}}}}, a frame, or rows (query, document, {value})"
    return (
        f"a path, {{query: {{document: {value}}}}}, {lists}, a pandas, polars or pyarrow frame, rows (query, document, "
        f'{value}), rows {{"query_id": ..., "{names.listed[0]}": [...]}}, or {ours} of rankbounds or ranx'
    )


def columns_of(given: Any, names: ColumnNames, *, source: str, before: int = 0) -> Columns:
    """Read a dict of dicts, a pandas, polars or pyarrow frame, a ranx object, or rows ``(query, document, value)``."""
    package, kind = type(given).__module__.partition(".")[0], type(given).__name__
    if package == "ranx":
        given = given.to_dict()
    elif package == "polars" and kind == "LazyFrame":
        given = given.collect()
    elif package == "pyspark":
        raise UsageError(f'{source}: Spark holds this frame; add engine="spark", or collect it with toPandas().')
    elif package == "pyarrow" and hasattr(given, "read_all"):
        given = given.read_all()
    given = _judged_lists(given) if names.of_judgments else given
    if names.of_run and (answers := answers_in(given)) is not None:
        given = hits_by_query(answers, source)
    columns = list(given) if is_column_wise(given, names) else frame_columns(given)
    if columns is None and isinstance(given, Mapping):
        return _columns_of_nested(given, names, source)
    if columns is not None:
        by_name = {str(column): column for column in columns}
        place = Source(source, "row", before)
        return columns_of_table(list(map(str, columns)), lambda name: given[by_name[name]], names, place)
    try:
        listed = list(given)
        if listed and isinstance(listed[0], Mapping):
            return columns_of_records(listed, names, source)
        rows = []
        for row in listed:
            if hasattr(row, "query_id") and hasattr(row, "doc_id"):
                rows.append((row.query_id, row.doc_id, getattr(row, names.value_name)))
            elif isinstance(row, str) or len(row) < 3:
                raise TypeError
            else:
                rows.append((row[0], row[1], row[2]))
    except (TypeError, IndexError, KeyError, AttributeError):
        raise DataError(source, f"expected {expected_shapes(names)}; got {type(given).__name__}.") from None
    queries, docs, values = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
    return Columns.of(queries, docs, values, value_name=names.value_name, source=source)


def _judged_lists(given: Any) -> Any:
    """The relevant documents of llama-index's data sets: ``{"queries": ..., "relevant_docs": {query: [id, ...]}}``."""
    inside = given.get("relevant_docs") if isinstance(given, Mapping) else getattr(given, "relevant_docs", None)
    return inside if isinstance(inside, Mapping) else given


def columns_of_records(rows: Sequence[Any], names: ColumnNames, source: str) -> Columns:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            problem = f"expected an object with named columns, got {shown_value(row)}."
            raise DataError(Place(source, row=number), problem)
    known = list(dict.fromkeys(key for row in rows for key in row))
    return columns_of_table(known, lambda name: [row.get(name) for row in rows], names, Source(source, "row"))


def columns_of_json_lines(text: Text, names: ColumnNames) -> Columns:
    rows = parse_json_lines(text.tobytes(), text.name)[1]
    answers = names.of_run and answers_in(rows) is not None
    return (columns_of if answers else columns_of_records)(rows, names, source=text.name)


def columns_of_table(header: list[str], get: Callable[[str], Any], names: ColumnNames, source: Source) -> Columns:
    if has_lists(header, names):
        return columns_of_list_table(header, lambda name: listed_values(get(name)), names, source.name)
    found = found_columns(header, names, source.name)

    def column(name: str | None, of_kind: Callable[[Any], Any]) -> Any:
        return None if name is None else of_kind(get(name))

    return Columns.of(
        id_column(get(found.query)),
        id_column(get(found.doc)),
        None if found.value == found.rank else number_column(get(found.value)),
        value_name=found.value,
        source=source,
        names=found,
        ranks=column(found.rank, number_column),
        label_sources=column(found.source, listed_values),
        runs=column(found.run, id_column),
        subtopics=column(found.subtopic, id_column),
        importance=column(found.importance, listed_values),
        strata=column(found.stratum, id_column),
    )


# ---- dicts ----


def _columns_of_nested(given: Mapping[Any, Any], names: ColumnNames, source: str) -> Columns:
    where = Source(source)
    given = dict(given)  # as it is now: another thread may change it
    topics = Ids.checked(list(given), "a query id", where.place).to_list()
    if len(set(topics)) < len(topics):
        raise DataError(source, "two query ids have the same text; ids are compared as text.")
    of_query = list(given.values())
    if not all(type(inner) is dict or isinstance(inner, Mapping) for inner in of_query):
        if not names.listed:
            raise DataError(source, f"expected {expected_shapes(names)}; got lists of documents.")
        return columns_of_lists(topics, [_list(*item, names, source) for item in given.items()], names, source)
    counts = np.fromiter(map(len, of_query), np.int64, len(of_query))
    ids: Ids | None
    values: Any
    ids, values = ids_and_numbers(of_query, counts) or (None, None)
    distinct = True
    if ids is None or not ids.length.all():  # an id holds a newline, is not text, or is none
        of_query = list(map(dict, of_query))  # another thread may change them
        counts = np.fromiter(map(len, of_query), np.int64, len(of_query))
        docs = [doc for inner in of_query for doc in inner]
        values = [value for inner in of_query for value in inner.values()]
        ids = Ids.checked(docs, "a document id", where.place)
        distinct = set(map(type, docs)) <= {str}  # of others, two may have the same text
    topic = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return Columns(Pairs.numbered(topics, topic, ids, where), values, names.value_name, distinct=distinct)


def _list(query: Any, inner: Any, names: ColumnNames, source: str) -> Any:
    if isinstance(inner, Mapping | list | tuple | np.ndarray) or (
        names.of_judgments and isinstance(inner, set | frozenset)
    ):
        return inner
    problem = f'expected {expected_shapes(names)}; but the entry of "{query}" is a {type(inner).__name__}.'
    raise DataError(source, problem)


# ---- columns of frames ----


def frame_columns(frame: Any) -> list[Any] | None:
    if type(frame).__name__ == "LazyFrame":
        return list(frame.collect_schema().names())
    columns = getattr(frame, "column_names", None)
    columns = getattr(frame, "columns", None) if columns is None else columns
    return None if columns is None else list(columns)


def id_column(column: Any) -> Any:
    """Read a frame's column of ids; text without gaps is read without a Python string per row."""
    package = type(column).__module__.partition(".")[0]
    found = None
    if package == "polars":
        import polars

        kinds = (polars.String, polars.Categorical, polars.Enum)
        if not column.null_count() and (column.dtype in kinds or column.dtype.is_integer()):
            found = ids_of_series(column.cast(polars.String))
    elif package == "pandas":
        found = _ids_of_pandas(column)
    elif package == "pyarrow":
        found = _ids_of_arrow(column)
    return listed_values(column) if found is None else found


def ids_of_series(series: Any) -> Ids:
    if not len(series):
        return Ids.of([])
    if sys.modules.get("pyarrow"):  # it lets bytes pass that are not UTF-8, which polars cannot show
        of_arrow = _ids_of_arrow(series.to_arrow())
        if of_arrow is not None:
            return of_arrow
    length = series.str.len_bytes().to_numpy().astype(np.int64)
    return Ids.of_bytes(series.str.join("")[0].encode("utf-8"), length)


def _ids_of_pandas(column: Any) -> Ids | None:
    kind = column.dtype
    if kind.kind in "iu" and isinstance(kind, np.dtype):
        try:
            import polars
        except ImportError:
            return None
        return ids_of_series(polars.Series(column.to_numpy()).cast(polars.String))
    if hasattr(column, "cat"):
        categories, code = list(column.cat.categories), column.cat.codes.to_numpy()
        plain = set(map(type, categories)) == {str} and not (code < 0).any()
        return Ids.of(categories).take(code) if plain else None
    if getattr(kind, "storage", "") == "pyarrow" or hasattr(kind, "pyarrow_dtype"):
        import pyarrow

        return _ids_of_arrow(pyarrow.array(column, from_pandas=True))
    return None


def _ids_of_arrow(column: Any) -> Ids | None:
    import pyarrow

    kinds = pyarrow.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if column.null_count or not (kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_integer(kind)):
        return None
    text = column.cast(pyarrow.large_string())
    if isinstance(text, pyarrow.ChunkedArray):
        text = text.combine_chunks()
    _, offsets, content = text.buffers()
    if not len(text) or content is None:
        return None
    edges = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
    return Ids.of_bytes(memoryview(content)[edges[0] : edges[-1]], np.diff(edges))


def number_column(column: Any) -> Any:
    package = type(column).__module__.partition(".")[0]
    if package == "polars" and column.dtype.is_numeric() and not column.null_count():
        return column.to_numpy()
    if package == "pyarrow":
        import pyarrow

        kinds, kind = pyarrow.types, column.type
        if not column.null_count and (kinds.is_floating(kind) or kinds.is_integer(kind)):
            return column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
    if package == "pandas" and isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu":
        return column.to_numpy()
    return listed_values(column)


def listed_values(column: Any) -> Any:
    if isinstance(column, Ids):
        return column
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)
