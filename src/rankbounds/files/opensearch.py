"""Judgments of OpenSearch's Search Relevance Workbench, as they are imported or as the plugin gives them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankbounds.errors import DataError
from rankbounds.files.named_columns import Columns

WHAT = "judgment lists of the Search Relevance Workbench"
_MADE_BY = {"UBI_JUDGMENT": "click", "LLM_JUDGMENT": "llm", "IMPORT_JUDGMENT": "imported"}


def recognises(content: Any) -> bool:
    """Is there a list of ratings by query, alone or in the answer to a search?"""
    return next(_lists(content), None) is not None


def judgments(content: Any, name: str) -> Columns:
    """All ratings, with what made them as their source: ``click``, ``llm`` or ``imported``."""
    rows = []
    for listed in _lists(content):
        made_by = _MADE_BY.get(str(listed.get("type")), str(listed.get("type") or "imported").lower())
        if listed.get("status", "COMPLETED") != "COMPLETED":
            raise DataError(name, f'the judgment list "{listed.get("name")}" is not complete: {listed["status"]}.')
        for query in listed["judgmentRatings"]:
            for rated in query.get("ratings", []):
                rows.append((query.get("query"), rated.get("docId"), rated.get("rating"), made_by))
    return Columns.of_rows(rows, "rating", name, "these judgment lists hold no rating.", "label_sources")


def _lists(content: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(content, dict):
        return
    if isinstance(content.get("judgmentRatings"), list):
        yield content
    for inner in ("_source", "hits"):
        value = content.get(inner)
        for entry in value if isinstance(value, list) else [value]:
            yield from _lists(entry)
