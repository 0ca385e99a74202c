"""What two or more systems' scores say of each other: differences, tests, agreement, one verdict."""

from __future__ import annotations

from rankbounds.comparison.comparison import Comparison
from rankbounds.comparison.evidence import Evidence
from rankbounds.comparison.verdict import compare, compare_scores

__all__ = ["Comparison", "Evidence", "compare", "compare_scores"]
