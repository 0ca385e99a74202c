"""Results as BEIR, ranx and others save them: ``{query: {document: score}}`` in JSON.

BEIR's judgments (``query-id``, ``corpus-id``, ``score`` with tabs between them) are a table with named columns and are
read as such.
"""

from __future__ import annotations

from typing import Any

from rankbounds.files import named_columns
from rankbounds.files.named_columns import QRELS_COLUMNS, RUN_COLUMNS, Columns

WHAT = "{query: {document: value}} in JSON"


def recognises(content: Any) -> bool:
    """Does every query have an object of numbers? (The first few are looked at.)"""
    if not isinstance(content, dict) or not content:
        return False
    few = list(content.values())[:20]
    return all(isinstance(one, dict) and not any(isinstance(v, dict | list) for v in one.values()) for one in few)


def judgments(content: Any, name: str) -> Columns:
    """Judgments as a dict of dicts."""
    return named_columns.of_object(content, QRELS_COLUMNS, source=name)


def run(content: Any, name: str) -> Columns:
    """A run as a dict of dicts."""
    return named_columns.of_object(content, RUN_COLUMNS, source=name)
