"""Tables with a header line and commas, tabs or semicolons; an empty grade is a document that nobody judged."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Bytes, Ints
from rankbounds.columns.ids import BLANKS, Ids, past
from rankbounds.columns.pairs import Source
from rankbounds.errors import DataError, Place
from rankbounds.files.named_columns import (
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
from rankbounds.files.records import numbered_cells, padded_row, separator_in


def header(text: Text) -> list[str]:
    separator = header_separator(text) or ","
    return [name.strip().strip('"').strip() for name in text.first_line.decode("utf-8", "replace").split(separator)]


def header_separator(text: Text) -> str | None:
    """Return the separator of the names in the first line: a tab, a comma or a semicolon, or none."""
    return separator_in(text.first_line.decode("utf-8", "replace"), "\t,;")


def has_header(text: Text, names: ColumnNames = RUN_COLUMNS) -> bool:
    if header_separator(text) is None:
        return False
    named = header(text)
    return find_column(named, names.query) is not None or has_lists(named, names)


def read_delimited(text: Text, names: ColumnNames) -> Columns:
    if not has_header(text, names):
        raise DataError(
            text.name,
            f"the first line must name the columns: one of {', '.join(names.query)}, one of "
            f"{', '.join(names.doc)} and one of {', '.join(names.value)}.",
        )
    wanted_columns(header(text), names, text.name)
    table, source = delimited_columns(text), Source(text.name, "row")
    if not has_lists(table, names):
        value, rank = found_columns(list(table), names, text.name)[2:4]
        filled = np.flatnonzero(table[value].length)
        if (names.of_judgments or value == rank) and filled.size < len(table[value]):
            if not filled.size:
                raise DataError(text.name, f"no document has a {value}.")
            table, source = {name: column.take(filled) for name, column in table.items()}, Source(text.name)
    return columns_of_table(list(table), table.__getitem__, names, source)


def delimited_columns(text: Text) -> dict[str, Ids]:
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
