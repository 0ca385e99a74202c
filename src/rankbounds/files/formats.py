"""The format of a file: named by the user, or recognised by its contents."""

from __future__ import annotations

import codecs
import importlib
import json
import os
from collections.abc import Callable
from functools import partial
from typing import IO, Any

from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.files import delimited, objects, parquet, trec
from rankbounds.files.compression import is_compressed
from rankbounds.files.id_lists import answers_in
from rankbounds.files.json_formats import IN_JSON, Format
from rankbounds.files.named_columns import RUN_COLUMNS, ColumnNames, Columns
from rankbounds.files.objects import columns_of_json_lines, columns_of_records, is_row
from rankbounds.files.opening import (
    PARQUET_MAGIC,
    Text,
    can_be_read_again,
    format_ending,
    is_pipe,
    read_content,
    stream,
    text_of,
)
from rankbounds.files.records import is_number, parse_json
from rankbounds.plugins import load_plugins

_MARKS = (b"\t", b",", b";", b"{", b"[", b"#")
"""What the first line holds of a format other than TREC's, or of TREC's where comments come first."""
_LARGEST_ROW = 1 << 22
"""How much of a file is looked at to see its first row."""
OURS = ("trec", "prefs", "csv", "tsv", "jsonl", "parquet", *IN_JSON, "ir_datasets")
IN_TEXT: dict[str, Format] = {}
"""Those of other packages."""


def known_formats() -> tuple[str, ...]:
    for name, known in load_plugins("rankbounds.formats").items():
        if isinstance(known, Format):
            (IN_JSON if known.parsed else IN_TEXT).setdefault(name, known)
    return tuple(dict.fromkeys((*OURS, *IN_JSON, *IN_TEXT)))


def pair_of_names(given: str | tuple[str | None, str | None] | None) -> tuple[str | None, str | None]:
    """Return the formats of judgments and of runs, from ``"beir"`` or ``"csv,elasticsearch"``."""
    if given is None:
        return None, None
    parts = [part.strip() for part in given.split(",")] if isinstance(given, str) else list(given)
    if len(parts) == 1:
        parts = parts * 2
    if len(parts) != 2:
        raise UsageError(f'"{given}" names more than two formats; give that of the judgments, then that of the runs.')
    for part in filter(None, parts):
        if part not in OURS and part not in (known := known_formats()):
            raise UsageError(
                f'There is no format "{part}".{did_you_mean(part, list(known))} Known: {", ".join(known)}.'
            )
    return parts[0] or None, parts[1] or None


def read(
    path: str,
    names: ColumnNames,
    *,
    kind: str | None = None,
    lenient: bool = False,
    threads: int = 1,
    words: Callable[[str], float] | None = None,
    distinct: bool = False,
) -> Columns:
    read_lines = partial(trec.read_lines, lenient=lenient, words=words, threads=threads, distinct=distinct)
    contents = _read(path, names, pair_of_names(kind)[0], read_lines, threads)
    if not (len(contents) or (contents.pairs.topics and names.of_run)):
        raise DataError(path, "this file has no rows.")
    return contents


def _read(path: str, names: ColumnNames, kind: str | None, read_lines: Callable[..., Columns], threads: int) -> Columns:
    if kind == "ir_datasets" or path.startswith(_PREFIX):
        return _reader(_IR_DATASETS, "ir_datasets", names)(path.removeprefix(_PREFIX))
    in_place = kind == "parquet" or (kind is None and os.path.isdir(path) and parquet.is_parquet(path, names))
    if in_place and not is_pipe(path):
        return parquet.read_parquet(path, names)
    content = read_content(path, threads, not_beyond=PARQUET_MAGIC if kind is None else None)
    from_pipe_or_plain = is_pipe(path) or content.size == len(PARQUET_MAGIC)  # not from within a compressed file
    if kind == "parquet" or (kind is None and from_pipe_or_plain and content.starts_with(PARQUET_MAGIC)):
        return parquet.read_parquet(content.name, names, content.tobytes() if is_pipe(path) else None)
    text = content.text()
    kind = kind or recognise(text, path, names)
    if kind in IN_JSON or kind == "json":
        return _from_json(text, None if kind == "json" else kind, names)
    if kind in IN_TEXT:
        return _reader(IN_TEXT[kind], kind, names, text.name)(text)
    if kind == "jsonl":
        return columns_of_json_lines(text, names)
    if kind in ("csv", "tsv"):
        return delimited.read_delimited(text, names)
    if kind == "prefs" and not names.of_judgments:
        raise DataError(text.name, "the format prefs holds preferences, but a run was expected.")
    layout = partial(trec.qrels_layout, preferences=kind == "prefs") if names.of_judgments else trec.run_layout
    return read_lines(text, layout, subtopics=names.of_judgments)


def recognise(text: Text, path: str, names: ColumnNames = RUN_COLUMNS) -> str:
    ending = format_ending(path)
    first = text.first_line
    if first.strip() and not any(mark in first for mark in _MARKS):
        return "csv" if ending == ".csv" else "trec"
    if (text.start(64) or text.start())[:1] in (b"{", b"["):
        lines = ending in (".jsonl", ".ndjson") or (len(first) < text.end - text.begin - 2 and _is_row(first, names))
        return "jsonl" if lines else "json"
    for name, known in IN_TEXT.items():
        if known.recognises(text):
            return name
    if ending == ".csv" or delimited.has_header(text, names) or delimited.unnamed_columns(text, names) is not None:
        return "csv"
    return "csv" if ending == ".tsv" and not any(map(is_number, first.split())) else "trec"


def _is_row(line: bytes, names: ColumnNames) -> bool:
    try:
        row = parse_json(line, "")
        return is_row(row, names) or answers_in(row) is not None
    except DataError:
        return False


def _from_json(text: Text, kind: str | None, names: ColumnNames) -> Columns:
    content = parse_json(text.tobytes(), text.name)
    for name, known in IN_JSON.items() if kind is None else [(kind, IN_JSON[kind])]:
        if kind is not None or known.recognises(content):
            reader = _reader(known, name, names, text.name)
            try:
                return reader(content, text.name)
            except (AttributeError, KeyError, IndexError, TypeError, RecursionError):
                raise DataError(text.name, f"this JSON does not have the shape of {name} ({known.what}).") from None
    if is_row(content, names) and isinstance(content, dict):
        content = [content]
    if isinstance(content, list) and any(isinstance(row, dict) for row in content):
        return columns_of_records(content, names, text.name)
    ours = len(IN_JSON)
    known_formats()
    if len(IN_JSON) > ours:  # other packages know more
        return _from_json(text, kind, names)
    raise DataError(
        text.name,
        f"this JSON is in no known format: expected {{query: {{document: {names.value[0]}}}}}, a list of "
        f"rows, or one of {', '.join(IN_JSON)}.",
    )


def columns_in(path: str) -> list[str]:
    """Return the column names of a table, or the keys of its first row; none if this is no such table."""
    if path.startswith(_PREFIX) or not (os.path.isfile(path) or can_be_read_again(path)):
        return []
    start = _start_of(path)
    if start.startswith(PARQUET_MAGIC) and not is_pipe(path) and not is_compressed(path):
        with parquet.report_damage(path):
            return parquet.shape_of(path)[0]
    start = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if start.startswith(PARQUET_MAGIC):
        return [*map(str, objects.frame_columns(parquet.read_frame(path, start)) or ())]
    if start[:1] not in (b"{", b"["):
        first = text_of(path, start.split(b"\n")[0] or b" ")
        return delimited.header(first) if delimited.header_separator(first) else []
    text = start.decode("utf-8", "surrogateescape")
    try:
        row, _ = json.JSONDecoder().raw_decode(text, text.find("{") if text[0] == "[" else 0)
    except (ValueError, RecursionError):
        return []
    return list(row) if isinstance(row, dict) else []


def _start_of(path: str) -> bytes:
    try:
        if is_pipe(path):
            return read_content(path).tobytes()
        with stream(path) as file:
            return _first_row(file)
    except (OSError, DataError):
        return b""


def _first_row(file: IO[bytes]) -> bytes:
    start = file.read(1 << 16)
    in_json = start.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"{", b"[")
    return start + file.read(_LARGEST_ROW) if in_json else start


def _reader(known: Format, name: str, names: ColumnNames, source: str = "") -> Callable[..., Columns]:
    reader = known.judgments if names.of_judgments else known.run
    if reader is None:
        holds = "judgments" if known.judgments else "runs"
        expected = "judgments were" if names.of_judgments else "a run was"
        problem = f"the format {name} ({known.what}) holds {holds}, but {expected} expected."
        raise DataError(source, problem) if source else DataError(problem)
    return reader


_PREFIX = "ir_datasets:"


def _judgments_of_ir_datasets(identifier: str) -> Columns:
    try:
        ir_datasets: Any = importlib.import_module("ir_datasets")
    except ImportError:
        raise UsageError(f'"{_PREFIX}{identifier}" needs the package ir_datasets: pip install ir_datasets.') from None
    try:
        dataset = ir_datasets.load(identifier)
    except KeyError:
        raise DataError(f"{_PREFIX}{identifier}", f'ir_datasets knows no data set "{identifier}".') from None
    judged = dataset.qrels_iter() if dataset.has_qrels() else ()
    rows = [(judgment.query_id, judgment.doc_id, judgment.relevance) for judgment in judged]
    return Columns.of_rows(rows, "relevance", f"{_PREFIX}{identifier}", "this data set has no judgments.")


_IR_DATASETS = Format("judgments that the package ir_datasets downloads", lambda _: False, _judgments_of_ir_datasets)
