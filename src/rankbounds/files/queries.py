"""Tables of queries: their texts, and labels that divide them into groups.

Labels are CSV or TSV with a query per row and a column per grouping, or JSON. Texts are TREC topics, TSV, CSV, JSON
lines, or a JSON object, with descriptions if the file has them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rankbounds.errors import DataError, Place
from rankbounds.files.named_columns import QUERY_NAMES, find_column
from rankbounds.files.opening import plain_name, read_text
from rankbounds.files.records import (
    filled_lines,
    first_line_of,
    named_records,
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
    """Read CSV or TSV with a header, two plain columns, or JSON: ``{query: label}`` or ``{query: {way: label}}``."""
    content, file = read_decoded(path)
    if content.lstrip().startswith("{"):
        return labels_of(parse_json(content, file), plain_name(path), file)
    first = first_line_of(content)
    if separator_in(first, "\t,;"):
        cells = table_rows(content, file, "\t,;")
        rows = [(place, list(map(without_apostrophe, row))) for place, row in cells]
    else:
        rows = [(place, list(map(str.strip, line.split(None, 1)))) for place, line in filled_lines(content, file)]
        fields = first.split()
        if (len(fields), fields[1:2]) in ((4, ["0"]), (4, ["Q0"]), (6, ["Q0"])):
            kind = "judgments" if len(fields) == 4 else "a run"
            problem = f"this looks like {kind}, but a class for each query was expected."
            raise DataError(file, problem, 'Write lines such as "301 question".')
    if not rows:
        raise DataError(file, "the file holds no labels.")
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
            raise DataError(place, f"a second line for query {query}.", "Keep one line per query.")
        seen.add(query)
        for name, label in record.items():
            if label:
                labels[name][query] = label
    return labels


def labels_of(given: object, name: str, source: str = "labels") -> Labels:
    """From a mapping ``{query: label}``, a division called ``name``, or ``{query: {way: label}}``."""
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


def is_mark(text: str) -> bool:
    return bool(text) and not any(map(str.isalnum, text)) and not os.path.isfile(text)


def labels_from(given: str, queries: list[str]) -> Labels:
    return labels_by_prefix(queries, given) if is_mark(given) else read_query_labels(given)


def labels_by_prefix(queries: list[str], mark: str) -> Labels:
    return {"prefix": {query: query.partition(mark)[0] for query in queries if query.find(mark) > 0}}


# ---- texts ----

ID_NAMES = (*QUERY_NAMES[:-2], "_id", "id", "number", "num", "topic", "query")
TEXT_NAMES = ("text", "query", "title", "query_text", "question", "keywords")
DESCRIPTION_NAMES = ("description", "desc", "question", "information_need")
NARRATIVE_NAMES = ("narrative", "narr", "notes", "intent")
EXPECTED = "Expected: TREC topics, TSV, CSV or JSON lines with an id and a text for each query."
Entries = Iterable[tuple[Place, str, "QueryText"]]


@dataclass(frozen=True)
class QueryText:
    """The text of a query, and what its author meant by it."""

    text: str
    description: str = ""
    narrative: str = ""


def read_query_texts(path: str) -> dict[str, QueryText]:
    text = read_text(path)
    content = text.tobytes().decode("utf-8", "replace")
    formats = {"<": _topics, "{": _json_texts, "[": _json_texts}
    queries: dict[str, QueryText] = {}
    for place, query_id, query in formats.get(content.lstrip()[:1], _table_of_texts)(content, text.name):
        if not query_id:
            raise DataError(place, "the query has no id.")
        if query_id in queries:
            fields = first_line_of(content).split()
            if len(fields) == 4 and fields[1] in ("0", "Q0"):
                problem = "this looks like judgments, but queries were expected."
                raise DataError(text.name, problem, "Judgments are given as such (check: --qrels FILE).")
            raise DataError(place, f"a second text for query {query_id}.", "Keep one for each query.")
        queries[query_id] = query
    if not queries:
        raise DataError(text.name, "the file holds no query.", EXPECTED)
    return queries


def _topics(content: str, name: str) -> Entries:
    import html

    for topic in re.finditer(r"<(top|topic)\b([^>]*)>(.*?)(?=</\1>|<\1\b|\Z)", content, re.S | re.I):
        fields: dict[str, str] = {}
        # A field goes up to the next one that begins a line, or to its own end.
        for field in re.finditer(r"<(\w+)\b[^>]*>(.*?)(?=</\1>|\n\s*<\w+\b[^>]*>|\Z)", topic[3], re.S):
            plain = html.unescape(re.sub(r"<[^>]*>", " ", field[2]))
            fields.setdefault(field[1].lower(), " ".join(plain.split()))
        number = re.search(r"""\b(?:number|id|num)\s*=\s*["']?([^"'\s>]+)""", topic[2])
        query_id = number[1] if number else _first(fields, ("num", "number", "id", "qid"), "Number")
        text = QueryText(
            _first(fields, ("title", *TEXT_NAMES), "Topic"),
            _first(fields, DESCRIPTION_NAMES, "Description"),
            _first(fields, NARRATIVE_NAMES, "Narrative"),
        )
        yield Place(name, content.count("\n", 0, topic.start()) + 1), query_id, text


def _first(fields: Mapping[str, Any], names: tuple[str, ...], label: str = "") -> str:
    text = next((str(fields[name]).strip() for name in names if fields.get(name) not in (None, "")), "")
    return re.sub(rf"^{label}\s*:\s*", "", text, flags=re.I) if label else text


def _json_texts(content: str, name: str) -> Entries:
    for place, row in named_records(content, name, "id", "text", ID_NAMES[:-1]):
        if not isinstance(row, Mapping):
            raise DataError(place, "this is not an object with an id and a text.", EXPECTED)
        yield place, *_text_of(row, place)


def _text_of(row: Mapping[str, Any], place: Place) -> tuple[str, QueryText]:
    fields = {str(key).lower(): value for key, value in row.items()}
    id_name = find_column(fields, ID_NAMES)
    if id_name is None:
        raise DataError(place, f"no id: none of {', '.join(ID_NAMES)}.", EXPECTED)
    query_id = str(fields[id_name]).strip()
    rest = {key: value for key, value in fields.items() if key != id_name or id_name == "query"}
    text = _first(rest, TEXT_NAMES)
    if not text:
        raise DataError(place, f"query {query_id} has no text: none of {', '.join(TEXT_NAMES)}.", EXPECTED)
    description, narrative = _first(rest, DESCRIPTION_NAMES), _first(rest, NARRATIVE_NAMES)
    return query_id, QueryText(text, "" if description == text else description, narrative)


def _table_of_texts(content: str, name: str) -> Entries:
    first = first_line_of(content)
    separator = separator_in(first) or ","
    header = [cell.strip().strip('"') for cell in first.split(separator)]
    if len(header) > 1 and find_column(header, ID_NAMES):
        quotes = separator == "," or '"' in first
        rows = table_rows(content, name, separator, quotes=quotes, strict=False)
        next(rows, None)
        for place, row in rows:
            yield place, *_text_of(dict(zip(header, row, strict=False)), place)
        return
    for place, line in filled_lines(content, name):
        # Without a header a query is its id and its text: 401<TAB>text, 401 text, 1:text.
        mark = r"\t" if "\t" in line else r":" if re.match(r"\s*\w+:\S", line) else r"\s+"
        query_id, *rest = re.split(mark, line, maxsplit=1)
        if not rest:
            raise DataError(place, "this line has an id, but no text.", EXPECTED)
        yield place, query_id.strip(), QueryText(rest[0].strip())
