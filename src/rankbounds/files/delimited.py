"""Tables with commas, tabs or semicolons, with or without a header; an empty grade is a document that nobody judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

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
from rankbounds.files.records import is_number, numbered_cells, padded_row, separator_in

SEPARATORS = "\t,;"
UNNAMED = {
    ("run", 3): "query doc value",
    ("run", 6): "query 0 doc rank value run",
    ("judgments", 3): "query doc value",
    ("judgments", 4): "query 0 doc value",
}
"""The columns of tables without a header, by what they hold and how many they are."""


def header(text: Text) -> list[str]:
    return _cells(text, header_separator(text) or ",")


def _cells(text: Text, separator: str) -> list[str]:
    line = text.first_line.decode("utf-8", "surrogateescape")
    cells = numbered_cells(line, text.name, separator, strict=False) or [(0, [""])]
    return [cell.strip().strip('"').strip() for cell in cells[0][1]]


def header_separator(text: Text) -> str | None:
    return separator_in(text.first_line.decode("utf-8", "replace"), SEPARATORS)


def has_header(text: Text, names: ColumnNames = RUN_COLUMNS) -> bool:
    if header_separator(text) is None:
        return False
    named = header(text)
    return find_column(named, names.query) is not None or has_lists(named, names)


def unnamed_columns(text: Text, names: ColumnNames) -> tuple[str, list[str]] | None:
    """Return the separator and names for the columns where the first line is a row of a table, and not one of TREC."""
    fields = text.first_line.split()
    if len(fields) in (4, 6) and fields[1].upper() in (b"0", b"Q0"):
        return None
    for separator in SEPARATORS:
        cells = _cells(text, separator)
        columns = UNNAMED.get((names.what, len(cells)), "").split()
        if not columns or not is_number(cells[columns.index("value")].replace(",", ".")):
            continue
        alone = cells[:-1] == [field.decode("utf-8", "surrogateescape") for field in fields[: len(cells) - 1]]
        as_trec = alone and (names.of_run or len(cells) == 4)  # text may follow the last
        if not (separator == "\t" and as_trec) and ("0" not in columns or cells[1].upper() in ("", "0", "Q0")):
            return separator, [getattr(names, column)[0] if column != "0" else "" for column in columns]
    return None


def read_delimited(text: Text, names: ColumnNames) -> Columns:
    separator, columns = header_separator(text) or ",", header(text)
    unnamed = None if has_header(text, names) else unnamed_columns(text, names)
    if unnamed is not None:
        separator, columns = unnamed
    wanted_columns(columns, names, text.name)
    table = _columns_under(columns, text, separator, begin=0 if unnamed else len(text.first_line) + 1)
    source = Source(text.name, "row")
    if not has_lists(table, names):
        value, rank = found_columns(list(table), names, text.name)[2:4]
        filled = np.flatnonzero(table[value].length)
        if (names.of_judgments or value == rank) and filled.size < len(table[value]):
            if not filled.size:
                raise DataError(text.name, f"no document has a {value}.")
            table, source = {name: column.take(filled) for name, column in table.items()}, Source(text.name)
    return replace(columns_of_table(list(table), table.__getitem__, names, source), headed=unnamed is None)


def _columns_under(names: list[str], text: Text, separator: str, begin: int) -> dict[str, Ids]:
    even = _even_fields(text, text.begin + begin, separator, len(names))
    if even is not None:
        return dict(zip(names, even, strict=True))
    content = text.buffer[text.begin + begin : text.end].tobytes().decode("utf-8", "surrogateescape")
    numbered = numbered_cells(content, text.name, separator, before=text.before + (begin > 0))
    rows = [
        row if len(row) == len(names) else padded_row(Place(text.name, number), row, len(names))
        for number, row in numbered
    ]
    return {name: Ids.of([row[number].strip(BLANKS) for row in rows]) for number, name in enumerate(names)}


def _even_fields(text: Text, begin: int, separator: str, count: int) -> list[Ids] | None:
    """Return the columns in place, without the blanks around cells, if no cell is in quotes and no line lacks one."""
    body = text.buffer[begin : text.end]
    ends = np.flatnonzero((body == ord(separator)) | (body == 10)) + begin
    lines = ends[count - 1 :: count]
    alike = lines.size * count == ends.size and np.count_nonzero(body == 10) == lines.size
    if not lines.size or not alike or (text.buffer[lines] != 10).any() or (body == ord('"')).any():
        return None
    start = np.minimum(past(np.append(begin, ends[:-1] + 1), text.buffer, 1, blanks=True), ends)
    length = np.where(start < ends, past(ends, text.buffer, -1, blanks=True) - start, 0)
    return [Ids(text.buffer, start[column::count].copy(), length[column::count].copy()) for column in range(count)]
