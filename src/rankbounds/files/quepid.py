"""Quepid's exports: ratings (``query,docid,rating``) and snapshots (``Query Text,Doc ID,Doc Position,Rating``).

An empty rating is a document that nobody rated.
"""

from __future__ import annotations

from typing import Any

from rankbounds.errors import DataError
from rankbounds.files import columns
from rankbounds.files.columns import Columns, find_column
from rankbounds.files.opening import Text

WHAT = "ratings and snapshots exported by Quepid"
QUERY, DOC = ("query", "query text", "query_text"), ("docid", "doc id", "doc_id")
RATING, POSITION = ("rating",), ("doc position", "position", "rank")


def recognises(text: Text) -> bool:
    """Does the first line name Quepid's columns?"""
    if columns.header_separator(text) != ",":
        return False
    names = columns.header(text)
    rated = find_column(names, RATING) or find_column(names, POSITION[:1])
    return bool(find_column(names, QUERY) and find_column(names, DOC) and rated)


def judgments(text: Text) -> Columns:
    """The documents that have a rating."""
    frame, query, doc = _frame(text)
    rating = _needed(frame, RATING, "rating", text)
    rated = frame.filter(_filled(frame, rating) & _filled(frame, doc))
    if not rated.height:
        raise DataError(f"{text.name}: no document has a rating.")
    return _columns(rated, query, doc, rated[rating].to_list(), "rating", text)


def run(text: Text) -> Columns:
    """The documents of a snapshot by their position."""
    frame, query, doc = _frame(text)
    position = _needed(frame, POSITION, "position", text)
    shown = frame.filter(_filled(frame, doc) & _filled(frame, position))
    if not shown.height:
        raise DataError(f"{text.name}: no document has a position.")
    try:
        ranks = [int(one) for one in shown[position].to_list()]
    except ValueError:
        raise DataError(f'{text.name}: the column "{position}" holds something that is not a whole number.') from None
    return _columns(shown, query, doc, [-rank for rank in ranks], position, text, ranks)


def _frame(text: Text) -> tuple[Any, str, str]:
    frame = columns.delimited_frame(text)
    return frame, _needed(frame, QUERY, "query", text), _needed(frame, DOC, "document", text)


def _needed(frame: Any, known: tuple[str, ...], what: str, text: Text) -> str:
    found = find_column(frame.columns, known)
    if found is None:
        raise DataError(
            f"{text.name}: no column for the {what} ({', '.join(known)}); this file has {', '.join(frame.columns)}."
        )
    return found


def _filled(frame: Any, column: str) -> Any:
    return frame[column].is_not_null() & (frame[column].str.strip_chars() != "")


def _columns(
    frame: Any, query: str, doc: str, values: list[Any], value_name: str, text: Text, ranks: list[int] | None = None
) -> Columns:
    return Columns.of(
        frame[query].to_list(),
        frame[doc].to_list(),
        values,
        value_name=value_name,
        source=text.name,
        ranks=ranks,
        unit="entry",
    )
