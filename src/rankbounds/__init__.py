"""rankbounds scores ranked retrieval and says how sure you can be."""

from __future__ import annotations

from typing import Any

from rankbounds.errors import DataError, RankboundsError, RankboundsWarning, UsageError
from rankbounds.evaluate import evaluate
from rankbounds.judgments import Qrels, read_qrels
from rankbounds.measures import REGISTRY, Measure, RankWeighted, parse_measure
from rankbounds.runs import Run, read_run, read_runs
from rankbounds.scores import Scores

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Every measure's class under its own name, whatever files there are."""
    for kind in REGISTRY.values():
        if kind.__name__ == name:
            return kind
    raise AttributeError(f"module 'rankbounds' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "DataError",
    "Measure",
    "Qrels",
    "RankWeighted",
    "RankboundsError",
    "RankboundsWarning",
    "Run",
    "Scores",
    "UsageError",
    "evaluate",
    "parse_measure",
    "read_qrels",
    "read_run",
    "read_runs",
    *(kind.__name__ for kind in REGISTRY.values()),
]
