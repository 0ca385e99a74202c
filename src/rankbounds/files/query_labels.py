"""Labels of queries: tables with a query a row and a column for each way to divide the queries."""

from __future__ import annotations

from collections.abc import Mapping

from rankbounds.errors import DataError, Place
from rankbounds.files.named_columns import QUERY_NAMES, find_column
from rankbounds.files.opening import plain_name
from rankbounds.files.records import (
    filled_lines,
    first_line_of,
    parse_json,
    read_decoded,
    records,
    separator_in,
    table_rows,
)
from rankbounds.tables import without_apostrophe

Labels = dict[str, dict[str, str]]
"""For each way to divide queries, the label of each query that has one."""


def read_query_labels(path: str) -> Labels:
    """CSV or TSV with a header, two plain columns, or JSON: ``{query: label}`` or ``{query: {way: label}}``."""
    content, file = read_decoded(path)
    if content.lstrip().startswith("{"):
        return labels_of(parse_json(content, file), plain_name(path), file)
    if separator_in(first_line_of(content), "\t,;"):
        cells = table_rows(content, file, "\t,;")
        rows = [(place, list(map(without_apostrophe, row))) for place, row in cells]
    else:
        rows = [(place, list(map(str.strip, line.split(None, 1)))) for place, line in filled_lines(content, file)]
    if not rows:
        raise DataError(file, "no label stands here.")
    place, header = rows[0]
    query_column = find_column(header, QUERY_NAMES)
    if query_column is not None:
        rows = rows[1:]
    elif len(header) == 2:
        header, query_column = ["query_id", plain_name(path)], "query_id"
    else:
        raise DataError(
            place,
            f"the first line must name the columns, one of them {', '.join(QUERY_NAMES[:-1])} or {QUERY_NAMES[-1]}; "
            "only a query and one label on each line need no header.",
        )
    labels: Labels = {name: {} for name in header if name != query_column}
    if not labels or len(labels) < len(header) - 1:
        raise DataError(Place(file, 1), "every column of labels needs a name of its own.")
    seen: set[str] = set()
    for place, record in records(rows, header):
        query = record.pop(query_column)
        if not query:
            raise DataError(place, "the query has no id.")
        if query in seen:
            raise DataError(place, f"a second line for query {query}.", "Keep one line a query.")
        seen.add(query)
        for name, label in record.items():
            if label:
                labels[name][query] = label
    return labels


def labels_of(given: object, name: str, source: str = "labels") -> Labels:
    """From a mapping ``{query: label}``, in which ``name`` is what is divided by, or ``{query: {way: label}}``."""
    if not isinstance(given, Mapping) or not given:
        raise DataError(source, "labels are {query: label}, or {query: {name: label}}.")
    labels: Labels = {}
    for query, label in given.items():
        of_query = label if isinstance(label, Mapping) else {name: label}
        for way, text in of_query.items():
            if isinstance(text, Mapping | list):
                raise DataError(source, f"the label of query {query} is not a word or a number.")
            if text is not None and str(text).strip():
                labels.setdefault(str(way), {})[str(query)] = str(text).strip()
    return labels


def labels_by_prefix(queries: list[str], mark: str) -> Labels:
    """What stands before the first such mark in each query's id, where one does."""
    return {"prefix": {query: query.partition(mark)[0] for query in queries if query.find(mark) > 0}}
