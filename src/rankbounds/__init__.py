"""rankbounds scores ranked retrieval and says how sure you can be."""

from __future__ import annotations

import importlib
from typing import Any

from rankbounds.commands.messages import expect_interruption

expect_interruption()  # before anything that takes time to load

from rankbounds.errors import DataError, RankboundsError, RankboundsWarning, UsageError  # noqa: E402
from rankbounds.evaluate import evaluate  # noqa: E402
from rankbounds.judgments import Qrels, read_qrels  # noqa: E402
from rankbounds.measures import REGISTRY, Measure, RankWeighted, parse_measure  # noqa: E402
from rankbounds.runs import Run, read_run, read_runs  # noqa: E402
from rankbounds.scores import Scores  # noqa: E402

__version__ = "0.1.0"


LATER = {
    "banded": "rankbounds.banding",
    "bounds_by_depth": "rankbounds.residuals",
    "bounds_by_persistence": "rankbounds.residuals",
    "compare": "rankbounds.comparison",
    "compare_published": "rankbounds.persistence",
    "Comparison": "rankbounds.comparison",
    "Continuing": "rankbounds.measures.continuation",
    "ContinuingByRelevance": "rankbounds.measures.continuation",
    "contributions": "rankbounds.contribution",
    "count_vectors": "rankbounds.persistence",
    "crossings": "rankbounds.crossing",
    "diagnose": "rankbounds.diagnosis",
    "differences": "rankbounds.run_differences",
    "enumerate_vectors": "rankbounds.persistence",
    "explain": "rankbounds.discrepancies",
    "fit_persistence": "rankbounds.persistence_fit",
    "fit_urn": "rankbounds.urn",
    "greedy_vectors": "rankbounds.persistence",
    "judge_next": "rankbounds.judging",
    "judgments_needed": "rankbounds.planning",
    "label_probabilities": "rankbounds.calibration",
    "persistence_agreement": "rankbounds.persistence_fit",
    "planned_depth": "rankbounds.planning",
    "planned_persistence": "rankbounds.planning",
    "plots": "rankbounds.plots",
    "pools": "rankbounds.pools",
    "Published": "rankbounds.persistence",
    "rank_safe_depth": "rankbounds.banding",
    "read_predictions": "rankbounds.runs",
    "read_qrels_by_source": "rankbounds.judgments",
    "RelevanceEvaluator": "rankbounds.relevance_evaluator",
    "rounded": "rankbounds.banding",
    "sample_rankings": "rankbounds.urn",
    "significant_ranks": "rankbounds.persistence",
    "simulate": "rankbounds.simulated_collections",
    "transfer": "rankbounds.persistence",
    "uncertainty": "rankbounds.mean_uncertainty",
    "urn_moments": "rankbounds.urn",
    "worst_difference": "rankbounds.banding",
}
"""Names that are loaded when first used, by the module they stand in; a module may stand for itself."""


def __getattr__(name: str) -> Any:
    """What is loaded when first used, and every measure's class under its own name."""
    if name in LATER:
        module = importlib.import_module(LATER[name])
        return module if LATER[name].endswith(f".{name}") and not hasattr(module, name) else getattr(module, name)
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
    *LATER,
    *(kind.__name__ for kind in REGISTRY.values()),
]
