"""Labels of queries: tables with a query a row and a column for each way to divide the queries."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from rankbounds.errors import DataError, Place
from rankbounds.files import json_text
from rankbounds.files.named_columns import QUERY_NAMES, find_column
from rankbounds.files.opening import plain_name, read_text
from rankbounds.tables import without_apostrophe

Labels = dict[str, dict[str, str]]
"""For each way to divide queries, the label of each query that has one."""


def read_query_labels(path: str) -> Labels:
    """CSV or TSV with a header, two plain columns, or JSON: ``{query: label}`` or ``{query: {way: label}}``."""
    text = read_text(path)
    content = text.buffer[text.begin : text.end].tobytes().decode("utf-8", "surrogateescape")
    if content.lstrip().startswith("{"):
        return labels_of(json_text.parse(content, text.name), plain_name(path), text.name)
    first = next((line for line in content.split("\n") if line.strip()), "")
    separator = next((mark for mark in "\t,;" if mark in first), None)
    if separator is None:
        rows = [(number, line.split(None, 1)) for number, line in enumerate(content.split("\n"), 1)]
    else:
        reader = csv.reader(io.StringIO(content, newline=""), delimiter=separator, strict=True, skipinitialspace=True)
        try:
            rows = [(reader.line_num, [without_apostrophe(cell.strip()) for cell in row]) for row in reader]
        except csv.Error as error:
            raise DataError(Place(text.name, reader.line_num), f"cannot be read as a table ({error}).") from None
    rows = [(number, row) for number, row in rows if any(row)]
    if not rows:
        raise DataError(text.name, "no label stands here.")
    header = rows[0][1]
    known = find_column(header, QUERY_NAMES)
    if known is not None:
        rows = rows[1:]
    elif len(header) == 2:
        header, known = ["query_id", plain_name(path)], "query_id"
    else:
        raise DataError(
            Place(text.name, rows[0][0]),
            f"the first line must name the columns, one of them {', '.join(QUERY_NAMES[:-1])} or {QUERY_NAMES[-1]}; "
            "only a query and one label on each line need no header.",
        )
    return _by_column(rows, header, header.index(known), text.name)


def _by_column(rows: list[tuple[int, list[str]]], header: list[str], query_column: int, file: str) -> Labels:
    labels: Labels = {name: {} for number, name in enumerate(header) if number != query_column}
    if not labels or len(labels) < len(header) - 1:
        raise DataError(Place(file, 1), "every column of labels needs a name of its own.")
    seen: set[str] = set()
    for number, row in rows:
        if len(row) > len(header):
            raise DataError(Place(file, number), f"there are {len(row)} fields in a table of {len(header)} columns.")
        query = row[query_column] if query_column < len(row) else ""
        if not query:
            raise DataError(Place(file, number), "the query has no id.")
        if query in seen:
            raise DataError(Place(file, number), f"a second line for query {query}.", "Keep one line a query.")
        seen.add(query)
        for place, name in enumerate(header):
            if place != query_column and place < len(row) and row[place].strip():
                labels[name][query] = row[place].strip()
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
