"""Quepid's exports: ratings (``query,docid,rating``) and snapshots (``Query Text,Doc ID,Doc Position,Rating``).

An empty rating is a document that nobody rated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.columns.decimals import finite_numbers
from rankbounds.columns.ids import Ids
from rankbounds.errors import DataError
from rankbounds.files import delimited
from rankbounds.files.named_columns import POSITION_NAMES, Columns, find_column
from rankbounds.files.opening import Text

WHAT = "ratings and snapshots exported by Quepid"
QUERY, DOC = ("query", "query text", "query_text"), ("docid", "doc id", "doc_id")
RATING = ("rating",)


def recognises(text: Text) -> bool:
    """Does the first line name Quepid's columns?"""
    if delimited.header_separator(text) != ",":
        return False
    names = delimited.header(text)
    rated = find_column(names, RATING) or find_column(names, POSITION_NAMES[:1])
    return bool(find_column(names, QUERY) and find_column(names, DOC) and rated)


def judgments(text: Text) -> Columns:
    """The documents that have a rating."""
    table, query, doc = _table(text)
    rating = _needed(table, RATING, "rating", text)
    rated = _filled(table, rating, doc)
    if not rated.size:
        raise DataError(text.name, "no document has a rating.")
    return _columns(table, query, doc, rated, table[rating].take(rated), "rating", text)


def run(text: Text) -> Columns:
    """The documents of a snapshot by their position."""
    table, query, doc = _table(text)
    position = _needed(table, POSITION_NAMES, "position", text)
    shown = _filled(table, doc, position)
    if not shown.size:
        raise DataError(text.name, "no document has a position.")
    ranks = table[position].take(shown)
    return _columns(table, query, doc, shown, -finite_numbers(ranks)[0], position, text, ranks)


def _table(text: Text) -> tuple[dict[str, Ids], str, str]:
    table = delimited.delimited_columns(text)
    return table, _needed(table, QUERY, "query", text), _needed(table, DOC, "document", text)


def _needed(table: dict[str, Ids], known: tuple[str, ...], what: str, text: Text) -> str:
    found = find_column(table, known)
    if found is None:
        raise DataError(text.name, f"no column for the {what} ({', '.join(known)}); this file has {', '.join(table)}.")
    return found


def _filled(table: dict[str, Ids], *names: str) -> Ints:
    """The rows that have something in these columns."""
    return np.flatnonzero(np.all([table[name].length > 0 for name in names], axis=0))


def _columns(
    table: dict[str, Ids],
    query: str,
    doc: str,
    rows: Ints,
    values: Any,
    value_name: str,
    text: Text,
    ranks: Ids | None = None,
) -> Columns:
    return Columns.of(
        table[query].take(rows),
        table[doc].take(rows),
        values,
        value_name=value_name,
        source=text.name,
        ranks=ranks,
        unit="entry",
        rank_name=value_name,
    )
