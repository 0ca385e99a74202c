"""rankbounds scores ranked retrieval and says how sure you can be."""

from __future__ import annotations

import importlib
from typing import Any

from rankbounds.commands.messages import expect_interruption

expect_interruption()  # before anything that takes time to load

from rankbounds.collection.qrels import Qrels, read_qrels  # noqa: E402
from rankbounds.collection.run import Run, read_run, read_runs  # noqa: E402
from rankbounds.errors import DataError, RankboundsError, RankboundsWarning, UsageError  # noqa: E402
from rankbounds.evaluation.evaluate import evaluate  # noqa: E402
from rankbounds.evaluation.scores import Scores  # noqa: E402
from rankbounds.measures import REGISTRY, Measure, RankWeighted, parse_measure  # noqa: E402
from rankbounds.moved import keep_old_paths  # noqa: E402
from rankbounds.version import __version__  # noqa: E402

keep_old_paths()


LATER = {
    "banded": "rankbounds.checking.bands",
    "bounds_by_depth": "rankbounds.persistence.curves",
    "bounds_by_persistence": "rankbounds.persistence.curves",
    "compare": "rankbounds.comparison.verdict",
    "compare_published": "rankbounds.published.comparison",
    "Comparison": "rankbounds.comparison.verdict",
    "Continuing": "rankbounds.measures.continuation",
    "ContinuingByRelevance": "rankbounds.measures.continuation",
    "contributions": "rankbounds.persistence.contributions",
    "count_vectors": "rankbounds.published.vectors",
    "crossings": "rankbounds.persistence.crossings",
    "crossings_of_gains": "rankbounds.persistence.crossings",
    "diagnose": "rankbounds.checking.diagnosis",
    "differences": "rankbounds.comparison.unjudged_differences",
    "enumerate_vectors": "rankbounds.published.vectors",
    "explain": "rankbounds.checking.explanation",
    "fit_persistence": "rankbounds.persistence.choosing",
    "fit_urn": "rankbounds.probability.urn",
    "greedy_vectors": "rankbounds.published.vectors",
    "judge_next": "rankbounds.judging.next_judgments",
    "judgments_needed": "rankbounds.persistence.planning",
    "label_probabilities": "rankbounds.probability.calibration",
    "persistence_agreement": "rankbounds.persistence.choosing",
    "planned_depth": "rankbounds.persistence.planning",
    "planned_persistence": "rankbounds.persistence.planning",
    "plots": "rankbounds.plots",
    "pools": "rankbounds.judging.pools",
    "Published": "rankbounds.published.score",
    "rank_safe_depth": "rankbounds.checking.bands",
    "read_predictions": "rankbounds.collection.run",
    "read_qrels_by_source": "rankbounds.collection.qrels",
    "RelevanceEvaluator": "rankbounds.interop.pytrec_eval",
    "rounded": "rankbounds.checking.bands",
    "sample_rankings": "rankbounds.probability.urn",
    "significant_ranks": "rankbounds.published.vectors",
    "simulate": "rankbounds.probability.simulated_collections",
    "transfer": "rankbounds.published.transfer",
    "uncertainty": "rankbounds.probability.mean",
    "urn_moments": "rankbounds.probability.urn",
    "worst_difference": "rankbounds.checking.bands",
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
    "__version__",
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
