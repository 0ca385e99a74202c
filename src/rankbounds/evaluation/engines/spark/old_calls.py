"""Calls of this engine as they were made before: understood for one release, with a warning."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from rankbounds.deprecation import Call, warn_of_old_call
from rankbounds.evaluation.engines.spark.evaluation import evaluate
from rankbounds.evaluation.engines.spark.sources import is_frame
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.scores import Scores
from rankbounds.files.named_columns import QRELS_COLUMNS, RUN_COLUMNS, find_column
from rankbounds.measures import Measure


def in_the_new_order(given: tuple[Any, ...], options: dict[str, Any]) -> Call | None:
    """The call with judgments first and runs' names as ``names``, where it was not made so."""
    ordered, named = list(given), dict(options)
    if len(ordered) > 1 and "runs" in named:
        named["names"] = named.pop("runs")
    if len(ordered) > 1 and _looks_like_runs(ordered[0]) and _looks_like_judgments(ordered[1]):
        ordered[:2] = ordered[1::-1]
    changed = named.keys() != options.keys() or any(new is not old for new, old in zip(ordered, given, strict=True))
    return (tuple(ordered), named) if changed else None


def _looks_like_judgments(given: Any) -> bool:
    """Is it a frame with a column that only judgments have?"""
    only_of_judgments = tuple(name for name in QRELS_COLUMNS.value if name not in RUN_COLUMNS.value)
    return is_frame(given) and find_column(given.columns, only_of_judgments) is not None


def _looks_like_runs(given: Any) -> bool:
    """Is it a frame with scores and without grades? Judgments may call their grades scores too."""
    has_scores = is_frame(given) and find_column(given.columns, RUN_COLUMNS.value) is not None
    return has_scores and not _looks_like_judgments(given)


def evaluate_files(
    qrels: str | os.PathLike[str],
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    **options: Any,
) -> Scores:
    """As ``rb.evaluate(qrels, runs, measures, engine="spark").collect()``, which is how to write it now."""
    warn_of_old_call('spark.evaluate_files is now rb.evaluate(qrels, runs, measures, engine="spark").collect().')
    return evaluate(qrels, runs, measures, **options).collect()
