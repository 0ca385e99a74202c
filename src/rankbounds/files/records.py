"""Rows of small tables with the place of each: cells between separators, lines, JSON, JSON lines."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rankbounds.errors import DataError, Place
from rankbounds.files.opening import Text, read_text

Rows = Iterator[tuple[Place, list[str]]]
_SEPARATING = bytes(max(code, 32) for code in range(256))
_CSV_LIMIT = threading.Lock()
_ALONE = re.compile("\r(?!\n)")
_STAND_IN = "\ud800"
"""Half of a character, which no decoded text holds, for a carriage return that csv would take for the end of a row."""


def read_decoded(path: str | os.PathLike[str]) -> tuple[str, str]:
    text = read_text(os.fspath(path))
    return decoded(text), text.name


def decoded(text: Text) -> str:
    return text.tobytes().decode("utf-8", "surrogateescape")


def filled_lines(content: str, name: str) -> Iterator[tuple[Place, str]]:
    for number, line in enumerate(content.split("\n"), 1):
        if line.strip():
            yield Place(name, number), line.strip("\r ")


def first_line_of(content: str) -> str:
    return next(filled_lines(content, ""), (None, ""))[1]


def fields_of(line: bytes) -> list[bytes]:
    return line.translate(_SEPARATING).split()


def field_lines(text: Text) -> Iterator[tuple[Place, list[bytes]]]:
    for number, line in enumerate(text.lines(), text.before + 1):
        fields = fields_of(line)
        if fields and not fields[0].startswith(b"#"):
            yield Place(text.name, number), fields


def is_number(token: str | bytes) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def separator_in(line: str, known: str = "\t,") -> str | None:
    return next((mark for mark in known if mark in line), None)


def numbered_cells(
    content: str, name: str, separator: str, *, before: int = 0, quotes: bool = True, strict: bool = True
) -> list[tuple[int, list[str]]]:
    """Yield rows of cells of CSV or TSV, each with the number of its last line, without empty lines.

    ``before`` lines of the file precede these. Quotation marks count where a cell begins with one, without ``quotes``
    nowhere; with ``strict``, text after a closing one is an error. A carriage return alone is a part of its cell.
    """
    alone = content.count("\r") > content.count("\r\n")
    reader = csv.reader(
        io.StringIO(_ALONE.sub(_STAND_IN, content) if alone else content, newline=""),
        delimiter=separator,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=strict,
        skipinitialspace=True,
    )
    with _CSV_LIMIT:  # the longest cell that csv reads is a setting of the whole process
        longest = csv.field_size_limit(max(csv.field_size_limit(), len(content)))
        try:
            rows = [(before + reader.line_num, row) for row in reader if row]
        except csv.Error as error:
            raise DataError(Place(name, before + reader.line_num), f"cannot be read as a table ({error}).") from None
        finally:
            csv.field_size_limit(longest)
    return [(number, [cell.replace(_STAND_IN, "\r") for cell in row]) for number, row in rows] if alone else rows


def table_rows(content: str, name: str, known: str = "\t,", *, quotes: bool = True, strict: bool = True) -> Rows:
    """Return the non-empty rows of a small table with stripped cells.

    The separator is the first of those known that the first line holds, by default the last.
    """
    separator = separator_in(first_line_of(content), known) or known[-1]
    for number, row in numbered_cells(content, name, separator, quotes=quotes, strict=strict):
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield Place(name, number), cells


def padded_row(place: Place, row: list[str], count: int) -> list[str]:
    if len(row) > count:
        raise DataError(place, f"there are {len(row)} fields in a table of {count} columns.")
    return row + [""] * (count - len(row))


def records(rows: Iterable[tuple[Place, list[str]]], header: Sequence[str]) -> Iterator[tuple[Place, dict[str, str]]]:
    count, first = len(header), [header.index(name) for name in header]
    for place, row in rows:
        cells = row if len(row) == count else padded_row(place, row, count)
        yield place, {name: cells[at] for name, at in zip(header, first, strict=True)}


# ---- JSON ----


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f'the key "{key}" occurs twice in one object; keep one')
    return found


def parse_json(content: bytes | str, place: Place | str, what: str = "JSON") -> Any:
    try:
        return json.loads(content, object_pairs_hook=_object)
    except RecursionError:
        reason = "brackets are nested too deep"
    except ValueError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        if "integer string conversion" in reason:
            reason = "a number has thousands of digits"
    raise DataError(place, f"cannot be read as {what} ({reason}).")


def parse_json_lines(content: bytes, name: str) -> tuple[list[int], list[Any]]:
    lines = [(number, line.strip()) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    numbers = [number for number, _ in lines]
    if all(line[:1] == b"{" and line[-1:] == b"}" for _, line in lines):
        try:  # all at once, which is faster
            rows = json.loads(b"[" + b",".join(line for _, line in lines) + b"]", object_pairs_hook=_object)
            if len(rows) == len(lines):
                return numbers, list(rows)
        except (ValueError, RecursionError):
            pass  # line by line it is seen where the mistake is
    return numbers, [parse_json(line, Place(name, number), "a line of JSON") for number, line in lines]


def json_records(content: str, name: str) -> list[tuple[Place, Any]] | Mapping[str, Any]:
    """Return the values of a list, or of each line, with their places; a single object as it is."""
    lines = [line for _, line in filled_lines(content, name)]
    if len(lines) > 1 and _are_objects(lines):
        numbers, values = parse_json_lines(content.encode("utf-8", "surrogateescape"), name)
        return [(Place(name, number), value) for number, value in zip(numbers, values, strict=True)]
    whole = parse_json(content, name)
    if isinstance(whole, list):
        return [(Place(name, row=number), value) for number, value in enumerate(whole, 1)]
    return whole if isinstance(whole, dict) else [(Place(name), whole)]


def named_records(
    content: str, file: str, key: str, alone: str, keys: Sequence[str] = ()
) -> Iterable[tuple[Place, Any]]:
    """Return the records of JSON, or of a table with a header.

    Of an object in JSON without any of these ``keys`` they are its entries, with the name under ``key`` and non-objects
    under ``alone``.
    """
    if content.lstrip()[:1] not in ("{", "["):
        cells = table_rows(content, file)
        return records(cells, next(cells, (None, []))[1])
    held = json_records(content, file)
    if not isinstance(held, Mapping):
        return held
    if {name.lower() for name in held} & {*keys}:
        return [(Place(file, row=1), held)]
    entries = ((name, value if isinstance(value, dict) else {alone: value}) for name, value in held.items())
    return [(Place(file, row=number), {key: name, **entry}) for number, (name, entry) in enumerate(entries, 1)]


def _are_objects(lines: list[str]) -> bool:
    if not lines[0].startswith("{"):
        return False
    if all(line.startswith("{") and line.endswith("}") for line in lines):
        return True
    try:
        return isinstance(parse_json(lines[0], ""), dict)
    except DataError:
        return False
