"""Quepid's exports: ratings (``query,docid,rating``) and snapshots (``Query Text,Doc ID,Doc Position,Rating``).

An empty rating is a document that nobody rated.
"""

from __future__ import annotations

import numpy as np

from rankbounds.columns.decimals import finite_numbers
from rankbounds.errors import DataError
from rankbounds.files import delimited
from rankbounds.files.named_columns import POSITION_NAMES, ColumnNames, Columns, find_column, found_columns
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
    return _read(text, ColumnNames(RATING, "judgments", QUERY, DOC), "no document has a rating.")


def run(text: Text) -> Columns:
    """The documents of a snapshot by their position."""
    return _read(text, ColumnNames(POSITION_NAMES, "run", QUERY, DOC, called="position"), "no document has a position.")


def _read(text: Text, names: ColumnNames, nothing: str) -> Columns:
    table = delimited.delimited_columns(text)
    found = found_columns(list(table), names, text.name)
    rows = np.flatnonzero((table[found.doc].length > 0) & (table[found.value].length > 0))
    if not rows.size:
        raise DataError(text.name, nothing)
    queries, docs, values = (table[name].take(rows) for name in found[:3])
    return Columns.of(
        queries,
        docs,
        -finite_numbers(values)[0] if names.of_run else values,
        value_name=found.value,
        source=text.name,
        ranks=values if names.of_run else None,
        unit="entry",
        rank_name=found.value,
    )
