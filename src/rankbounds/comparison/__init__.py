"""What two or more systems' scores say of each other: differences, tests, agreement, one verdict."""

from __future__ import annotations

from rankbounds.comparison.comparison import compare, compare_scores
from rankbounds.comparison.evidence import Evidence
from rankbounds.comparison.result import Comparison

__all__ = ["Comparison", "Evidence", "compare", "compare_scores"]
