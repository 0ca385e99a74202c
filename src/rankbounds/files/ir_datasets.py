"""Judgments of any data set that the package ``ir_datasets`` knows: ``ir_datasets:beir/scifact/test``."""

from __future__ import annotations

import importlib
from typing import Any

from rankbounds.errors import DataError, UsageError
from rankbounds.files.named_columns import Columns

WHAT = "judgments that the package ir_datasets downloads"
PREFIX = "ir_datasets:"


def judgments(identifier: str) -> Columns:
    """Every judgment of the data set."""
    try:
        ir_datasets: Any = importlib.import_module("ir_datasets")
    except ImportError:
        raise UsageError(f'"{PREFIX}{identifier}" needs the package ir_datasets: pip install ir_datasets.') from None
    try:
        dataset = ir_datasets.load(identifier)
    except KeyError:
        raise DataError(f"{PREFIX}{identifier}", f'ir_datasets knows no data set "{identifier}".') from None
    judged = dataset.qrels_iter() if dataset.has_qrels() else ()
    rows = [(judgment.query_id, judgment.doc_id, judgment.relevance) for judgment in judged]
    return Columns.of_rows(rows, "relevance", f"{PREFIX}{identifier}", "this data set has no judgments.")
