"""Judgments and runs in other text formats than TREC's: CSV and TSV with named columns, Quepid's exports.

Quepid exports ratings (``query,docid,rating``) and snapshots (``Query Text,Doc ID,Doc Position,Rating``). An empty
rating is an unrated document.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Bytes, Ints
from rankbounds.columns.decimals import finite_numbers
from rankbounds.columns.ids import BLANKS, Ids, past
from rankbounds.columns.pairs import Source
from rankbounds.errors import DataError, Place
from rankbounds.files.json_formats import Format
from rankbounds.files.named_columns import (
    POSITION_NAMES,
    RUN_COLUMNS,
    ColumnNames,
    Columns,
    find_column,
    found_columns,
    has_lists,
    wanted_columns,
)
from rankbounds.files.objects import columns_of_table
from rankbounds.files.opening import Text
from rankbounds.files.records import numbered_cells, padded_row

QUEPID_QUERY, QUEPID_DOC = ("query", "query text", "query_text"), ("docid", "doc id", "doc_id")
QUEPID_RATING = ("rating",)


def header(text: Text) -> list[str]:
    """The names in the first line."""
    separator = header_separator(text) or ","
    return [name.strip().strip('"').strip() for name in text.first_line.decode("utf-8", "replace").split(separator)]


def header_separator(text: Text) -> str | None:
    """Return the separator of the names in the first line: a tab, a comma, or none."""
    first = text.first_line
    return "\t" if b"\t" in first else "," if b"," in first else None


def has_header(text: Text, names: ColumnNames = RUN_COLUMNS) -> bool:
    """Does the first line name the columns?"""
    if header_separator(text) is None:
        return False
    named = header(text)
    return find_column(named, names.query) is not None or has_lists(named, names)


def read_delimited(text: Text, names: ColumnNames) -> Columns:
    """Read CSV or TSV with a header line."""
    if not has_header(text, names):
        raise DataError(
            text.name,
            f"the first line must name the columns: one of {', '.join(names.query)}, one of "
            f"{', '.join(names.doc)} and one of {', '.join(names.value)}.",
        )
    wanted_columns(header(text), names, text.name)
    table = delimited_columns(text)
    return columns_of_table(list(table), table.__getitem__, names, Source(text.name, "row"))


def delimited_columns(text: Text) -> dict[str, Ids]:
    """Return the columns of CSV or TSV with a header line, with stripped fields."""
    names = header(text)
    separator = header_separator(text) or ","
    begin = text.begin + len(text.first_line) + 1
    body = text.buffer[begin : text.end]
    even = None if (body == ord('"')).any() else _even_fields(text, begin, separator, len(names))
    if even is None:
        # The general way: fields in quotes, lines that lack their last fields, empty lines.
        content = body.tobytes().decode("utf-8", "surrogateescape")
        numbered = numbered_cells(content, text.name, separator, before=text.before + 1)
        rows = [
            row if len(row) == len(names) else padded_row(Place(text.name, number), row, len(names))
            for number, row in numbered
        ]
        return {name: Ids.of([row[number].strip(BLANKS) for row in rows]) for number, name in enumerate(names)}
    start, end = even
    fields = [(start[:, number].copy(), end[:, number].copy()) for number in range(len(names))]
    return {name: Ids(text.buffer, *_strip(text.buffer, *field)) for name, field in zip(names, fields, strict=True)}


def _even_fields(text: Text, begin: int, separator: str, count: int) -> tuple[Ints, Ints] | None:
    """Return where fields begin and end, if all lines have as many as the header; else None."""
    body = text.buffer[begin : text.end]
    ends = np.flatnonzero((body == ord(separator)) | (body == 10)) + begin
    if not ends.size or ends.size % count:
        return None
    line_ends = ends[count - 1 :: count]
    if np.count_nonzero(body == 10) != line_ends.size or not (text.buffer[line_ends] == 10).all():
        return None
    start = np.concatenate(([begin], ends[:-1] + 1))
    return start.reshape(-1, count), ends.reshape(-1, count)


def _strip(text: Bytes, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Where fields begin without the blanks around them, and how long they are."""
    start = np.minimum(past(start, text, 1, blanks=True), end)
    end = np.maximum(past(end, text, -1, blanks=True), start)
    return start, end - start


def _is_quepid(text: Text) -> bool:
    if header_separator(text) != ",":
        return False
    names = header(text)
    rated = find_column(names, QUEPID_RATING) or find_column(names, POSITION_NAMES[:1])
    return bool(find_column(names, QUEPID_QUERY) and find_column(names, QUEPID_DOC) and rated)


def read_quepid_judgments(text: Text) -> Columns:
    """The documents that have a rating."""
    return _read_quepid(text, ColumnNames(QUEPID_RATING, "judgments", QUEPID_QUERY, QUEPID_DOC), "rating")


def read_quepid_run(text: Text) -> Columns:
    """The documents of a snapshot by their position."""
    names = ColumnNames(POSITION_NAMES, "run", QUEPID_QUERY, QUEPID_DOC, called="position")
    return _read_quepid(text, names, "position")


def _read_quepid(text: Text, names: ColumnNames, value: str) -> Columns:
    table = delimited_columns(text)
    found = found_columns(list(table), names, text.name)
    rows = np.flatnonzero((table[found.doc].length > 0) & (table[found.value].length > 0))
    if not rows.size:
        raise DataError(text.name, f"no document has a {value}.")
    queries, docs, values = (table[name].take(rows) for name in found[:3])
    return Columns.of(
        queries,
        docs,
        -finite_numbers(values)[0] if names.of_run else values,
        value_name=found.value,
        source=Source(text.name),
        ranks=values if names.of_run else None,
        names=found._replace(rank=found.value, run=None),
    )


IN_TEXT = {
    "quepid": Format(
        "ratings and snapshots exported by Quepid",
        _is_quepid,
        read_quepid_judgments,
        read_quepid_run,
        parsed=False,
    ),
}
"""In the order in which they are tried."""
