"""Judgments and runs as files that can be read back: TREC lines, or CSV, TSV and JSON lines, by the file's ending."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rankbounds.columns.ids import BLANKS
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import DataError
from rankbounds.files.formats import recognise
from rankbounds.files.opening import format_ending, text_of
from rankbounds.files.writing import writing

DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
_LONGEST_SHOWN = 80
_ROWS_TO_RECOGNISE = 20
_TABLES = "CSV or JSON lines (a name that ends in .csv or .jsonl)"
_CONTROL = "holds a control character"


def write_pairs(
    path: str | os.PathLike[str],
    pairs: Pairs,
    columns: Mapping[str, Iterable[float | str]],
    trec_lines: Callable[[], Iterable[str]],
) -> None:
    """Write a table of pairs with further columns, in the format of the name's ending, else as TREC."""
    ending, header = format_ending(os.fspath(path)), ["query_id", "doc_id", *columns]
    if "judgment_subgroup" in columns and ending in (*DELIMITERS, *JSON_LINES):
        raise DataError(path, "a table cannot hold preferences.", "Write a TREC file (any other ending).")
    with writing(path) as out:
        if ending in DELIMITERS:
            writer = csv.writer(out, delimiter=DELIMITERS[ending], lineterminator="\n")
            writer.writerow(header)
            writer.writerows(_rows(pairs, columns, in_csv=True))
        elif ending in JSON_LINES:
            for row in _rows(pairs, columns, in_csv=False):
                out.write(json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False) + "\n")
        else:
            out.writelines(recognisable(trec_lines(), os.fspath(path)))


def _rows(pairs: Pairs, columns: Mapping[str, Iterable[float | str]], *, in_csv: bool) -> Iterator[tuple[Any, ...]]:

    def checked(what: str, name: str) -> str:
        if not _is_utf8(name):
            raise _unwritable(
                what, name, "is not UTF-8", "a table", "a TREC file (any other ending), which keeps bytes"
            )
        if in_csv and (reason := unheld_by_table(name)):
            raise _unwritable(what, name, reason, "CSV", "JSON lines (a name that ends in .jsonl)")
        return name

    topics = [checked("topic", name) for name in pairs.topics]
    docs = (checked("document", name) for name in pairs.docs.to_list())
    cells = (map(_shortest, column) for column in columns.values())
    return zip((topics[number] for number in pairs.topic.tolist()), docs, *cells, strict=True)


def _shortest(value: float | str) -> float | str:
    return value if isinstance(value, str) or value != int(value) or abs(value) >= 1e16 else int(value)


def decimal(value: float) -> str:
    """Format the number in full: whole ones without a point, others with as many digits as needed."""
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e16 else repr(value)


def reject_for_trec(pairs: Pairs) -> None:
    for topic in pairs.topics:
        if reason := unheld_by_trec(topic, begins_line=True):
            raise _unwritable("topic", topic, reason, "a TREC file", _TABLES)
    if pairs.docs.length.all() and (pairs.docs.packed()[0] > ord(" ")).all():
        return
    for doc in pairs.docs.to_list():
        if reason := unheld_by_trec(doc):
            raise _unwritable("document", doc, reason, "a TREC file", _TABLES)


def unheld_by_trec(name: str, *, begins_line: bool = False) -> str | None:
    if not name:
        return "is empty"
    odd = re.search(r"[\x00-\x20]", name)
    if odd:
        return "holds a blank" if odd[0] in " \t" else "holds a line break" if odd[0] in "\r\n" else _CONTROL
    if begins_line and name.startswith("#"):
        return 'begins with "#", as comments do'
    if begins_line and name.startswith("\ufeff"):
        return "begins with a byte order mark"
    return None if _is_utf8(name, "surrogateescape") else "holds half a character"


def unheld_by_table(name: str) -> str | None:
    if not _is_utf8(name):
        return "is not UTF-8"
    if name != name.strip(BLANKS):
        return "begins or ends with a blank or a control character"
    if odd := re.search(r"[\0\r\n]", name):
        return "holds a NUL character" if odd[0] == "\0" else "holds a line break"
    return None


def _is_utf8(name: str, errors: str = "strict") -> bool:
    try:
        name.encode("utf-8", errors)
    except UnicodeEncodeError:
        return False
    return True


def recognisable(lines: Iterable[str], name: str) -> Iterator[str]:
    lines = iter(lines)
    first = list(itertools.islice(lines, _ROWS_TO_RECOGNISE))
    if first:
        kind = recognise(text_of(name, "".join(first).encode("utf-8", "surrogateescape")), name)
        if kind != "trec":
            problem = f"these lines would be read as {kind}, because the first is {shown(first[0].rstrip())}."
            raise DataError(name, problem, f"Write {_TABLES}.")
    return itertools.chain(first, lines)


def shown(name: str) -> str:
    text = json.dumps(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}...", ensure_ascii=False)
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _unwritable(what: str, name: str, reason: str, file: str, other: str) -> DataError:
    return DataError(f"The {what} id {shown(name)} {reason}, and {file} cannot hold it. Write {other}.")
