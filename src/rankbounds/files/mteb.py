"""Predictions that MTEB saves: ``{subset: {split: {query: {document: score}}}}``, perhaps with a note on the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankbounds.errors import DataError
from rankbounds.files import beir, named_columns
from rankbounds.files.named_columns import RUN_COLUMNS, Columns

WHAT = "predictions or scores saved by MTEB"
_NOTES = ("mteb_model_meta", "mteb_version", "task_name", "dataset_revision")


def recognises(content: Any) -> bool:
    """Are there subsets with splits, or MTEB's own scores?"""
    if not isinstance(content, dict):
        return False
    return is_scores(content) or (
        bool(_subsets(content))
        and all(isinstance(one, dict) and one and all(map(beir.recognises, one.values())) for one in _subsets(content))
    )


def run(content: Any, name: str) -> Columns:
    """The rankings of every subset and split; with several, their names stand before the query's, with a slash."""
    if is_scores(content):
        raise DataError(
            name,
            "these are MTEB's scores, not rankings: nothing can be evaluated again from them. Let MTEB save "
            "its predictions (prediction_folder=...) and give that file.",
        )
    parts = {
        (subset, split): queries
        for subset, splits in content.items()
        if subset not in _NOTES
        for split, queries in splits.items()
    }
    if len(parts) == 1:
        return named_columns.of_object(next(iter(parts.values())), RUN_COLUMNS, source=name)
    merged = {
        f"{subset}/{split}/{query}": docs
        for (subset, split), queries in parts.items()
        for query, docs in queries.items()
    }
    return named_columns.of_object(merged, RUN_COLUMNS, source=name)


def _subsets(content: dict[str, Any]) -> list[Any]:
    return [value for key, value in content.items() if key not in _NOTES]


def is_scores(content: Mapping[str, Any]) -> bool:
    """Are these results rather than predictions?"""
    return "scores" in content and ("task_name" in content or "mteb_version" in content)
