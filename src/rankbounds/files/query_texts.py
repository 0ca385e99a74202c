"""What queries say: TREC topics, TSV, CSV, JSON lines, or a JSON object, with descriptions where the file has them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rankbounds.errors import DataError, Place
from rankbounds.files.named_columns import QUERY_NAMES, find_column
from rankbounds.files.opening import read_text
from rankbounds.files.records import cell_rows, filled_lines, first_line_of, json_records, records_by_name, separator_in

ID_NAMES = (*QUERY_NAMES[:-2], "_id", "id", "number", "num", "topic", "query")
"""What a file may call the id of a query; "query" is its text where there is another id."""
TEXT_NAMES = ("text", "query", "title", "query_text", "question", "keywords")
DESCRIPTION_NAMES = ("description", "desc", "question", "information_need")
NARRATIVE_NAMES = ("narrative", "narr", "notes", "intent")
EXPECTED = "Expected are TREC topics, TSV, CSV or JSON lines with an id and a text for each query."


@dataclass(frozen=True)
class QueryText:
    """What a query says, and what whoever asked meant by it."""

    text: str
    description: str = ""
    narrative: str = ""


def read_query_texts(path: str) -> dict[str, QueryText]:
    """The texts of queries by their ids."""
    text = read_text(path)
    content = text.tobytes().decode("utf-8", "replace")
    start = content.lstrip()[:1]
    if start == "<":
        entries = _topics(content, text.name)
    elif start in ("{", "["):
        entries = _json(content, text.name)
    else:
        entries = _table(content, text.name)
    queries: dict[str, QueryText] = {}
    for place, query_id, query in entries:
        if not query_id:
            raise DataError(place, "the query has no id.")
        if query_id in queries:
            raise DataError(place, f"a second text for query {query_id}.", "Keep one for each query.")
        queries[query_id] = query
    if not queries:
        raise DataError(text.name, "no query stands here.", EXPECTED)
    return queries


Entries = Iterable[tuple[Place, str, QueryText]]


def _topics(content: str, name: str) -> Entries:
    """TREC topics, whose fields mostly are not closed, and topics in XML."""
    for topic in re.finditer(r"<(top|topic)\b([^>]*)>(.*?)(?=</\1>|<\1\b|\Z)", content, re.S | re.I):
        place = Place(name, content.count("\n", 0, topic.start()) + 1)
        fields: dict[str, str] = {}
        # A field goes up to the next one that begins a line, or to its own end.
        for field in re.finditer(r"<(\w+)\b[^>]*>(.*?)(?=</\1>|\n\s*<\w+\b[^>]*>|\Z)", topic[3], re.S):
            fields.setdefault(field[1].lower(), _plain(field[2]))
        number = re.search(r"""\b(?:number|id|num)\s*=\s*["']?([^"'\s>]+)""", topic[2])
        query_id = number[1] if number else _unlabelled(_first(fields, ("num", "number", "id", "qid")), "Number")
        yield place, query_id, QueryText(
            _unlabelled(_first(fields, ("title", *TEXT_NAMES)), "Topic"),
            _unlabelled(_first(fields, DESCRIPTION_NAMES), "Description"),
            _unlabelled(_first(fields, NARRATIVE_NAMES), "Narrative"),
        )  # fmt: skip


def _plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def _unlabelled(text: str, label: str) -> str:
    """Without the word that TREC puts before a field: "Number: 401"."""
    return re.sub(rf"^{label}\s*:\s*", "", text, flags=re.I)


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> str:
    found = find_column(fields, tuple(name for name in names if fields.get(name) not in (None, "")))
    return "" if found is None else str(fields[found]).strip()


def _json(content: str, name: str) -> Entries:
    held = json_records(content, name)
    if isinstance(held, Mapping):
        is_query = find_column(held, ID_NAMES[:-1])
        held = [(Place(name, row=1), held)] if is_query else records_by_name(held, name, "id", "text")
    for place, row in held:
        if not isinstance(row, Mapping):
            raise DataError(place, "this is no object with an id and a text.", EXPECTED)
        yield place, *_of_fields(row, place)


def _of_fields(row: Mapping[str, Any], place: Place) -> tuple[str, QueryText]:
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


def _table(content: str, name: str) -> Entries:
    first = first_line_of(content)
    separator = separator_in(first) or ","
    header = [cell.strip().strip('"') for cell in first.split(separator)]
    if len(header) > 1 and find_column(header, ID_NAMES):
        quotes = separator == "," or '"' in first
        rows = cell_rows(content, name, separator, quotes=quotes, strict=False)
        next(rows, None)
        for place, row in rows:
            yield place, *_of_fields(dict(zip(header, row, strict=False)), place)
        return
    for place, line in filled_lines(content, name):
        # Without a header a query is its id and its text: 401<TAB>text, 401 text, 1:text.
        mark = r"\t" if "\t" in line else r":" if re.match(r"\s*\w+:\S", line) else r"\s+"
        query_id, *said = re.split(mark, line, maxsplit=1)
        if not said:
            raise DataError(place, "this line has an id, but no text.", EXPECTED)
        yield place, query_id.strip(), QueryText(said[0].strip())
