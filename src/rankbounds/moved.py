"""Where modules stood before they moved into rooms: the old paths work for one release, with a warning."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "rankbounds.banding": "rankbounds.checking.bands",
    "rankbounds.calibration": "rankbounds.probability.calibration",
    "rankbounds.contribution": "rankbounds.persistence.contributions",
    "rankbounds.crossing": "rankbounds.persistence.crossings",
    "rankbounds.diagnosis": "rankbounds.checking.diagnosis",
    "rankbounds.discrepancies": "rankbounds.checking.explanation",
    "rankbounds.files.columns": "rankbounds.files.named_columns",
    "rankbounds.files.pieces": "rankbounds.files.topic_batches",
    "rankbounds.gains": "rankbounds.collection.gains",
    "rankbounds.holes": "rankbounds.probability.unjudged_documents",
    "rankbounds.ids": "rankbounds.columns.ids",
    "rankbounds.integer_program": "rankbounds.published.integer_program",
    "rankbounds.ir_measures": "rankbounds.interop.ir_measures",
    "rankbounds.judged_runs": "rankbounds.evaluation.judged_runs",
    "rankbounds.judgments": "rankbounds.collection.qrels",
    "rankbounds.mean_uncertainty": "rankbounds.probability.mean",
    "rankbounds.numbers": "rankbounds.columns.decimals",
    "rankbounds.pairs": "rankbounds.columns.pairs",
    "rankbounds.persistence_fit": "rankbounds.persistence.choosing",
    "rankbounds.planning": "rankbounds.persistence.planning",
    "rankbounds.polynomials": "rankbounds.persistence.polynomials",
    "rankbounds.pools": "rankbounds.judging.pools",
    "rankbounds.relevance_estimates": "rankbounds.probability.estimates",
    "rankbounds.relevance_evaluator": "rankbounds.interop.pytrec_eval",
    "rankbounds.relevance_probability": "rankbounds.probability.models",
    "rankbounds.relevance_vectors": "rankbounds.published.vectors",
    "rankbounds.residuals": "rankbounds.persistence.curves",
    "rankbounds.run_differences": "rankbounds.comparison.unjudged_differences",
    "rankbounds.runs": "rankbounds.collection.run",
    "rankbounds.score_distribution": "rankbounds.probability.distribution",
    "rankbounds.scores": "rankbounds.evaluation.scores",
    "rankbounds.simulated_collections": "rankbounds.probability.simulated_collections",
    "rankbounds.spark": "rankbounds.evaluation.engines.spark",
    "rankbounds.spark_tasks": "rankbounds.evaluation.engines.spark.segments",
    "rankbounds.streaming": "rankbounds.evaluation.engines.stream",
    "rankbounds.tie_key": "rankbounds.collection.tie_key",
    "rankbounds.tied_groups": "rankbounds.rankings.tied_groups",
    "rankbounds.ties": "rankbounds.rankings.ties",
    "rankbounds.unjudged": "rankbounds.rankings.unjudged",
    "rankbounds.urn": "rankbounds.probability.urn",
}
"""Old paths and the modules that took their place. A module that was divided has the part with its main name."""


class _Moved(MetaPathFinder, Loader):
    """Asked only for modules that nobody else finds."""

    def __init__(self) -> None:
        self._own: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        warnings.warn(
            f"{spec.name} has moved to {MOVED[spec.name]}; the old path goes away with the next release.",
            DeprecationWarning,
            stacklevel=2,
        )
        module = importlib.import_module(MOVED[spec.name])
        self._own[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module was loaded under its own name, and keeps it."""
        assert module.__spec__ is not None
        module.__spec__ = self._own.pop(module.__spec__.name)


def keep_old_paths() -> None:
    """Let ``import rankbounds.spark`` and the like find what has moved."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.append(_Moved())
