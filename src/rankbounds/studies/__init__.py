"""The papers' experiments on anybody's runs: one module for each, named observed-by-varied.

A study's module opens with the question it answers, and has a ``run`` that returns a ``Result``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Result:
    """What a study found: rows for a table, and the answer in words."""

    rows: list[dict[str, Any]]
    answer: str
    settings: dict[str, Any] = field(default_factory=dict)
    """What would repeat it: seed, sample sizes, measures."""
