"""Where modules stood before they moved into rooms: the old paths work for one release, with a warning."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from warnings import warn

TYPE_CHECKING = False  # the module typing takes longer to load than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
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
    "rankbounds.score_differences": "rankbounds.evaluation.score_differences",
    "rankbounds.score_distribution": "rankbounds.probability.distribution",
    "rankbounds.scores": "rankbounds.evaluation.scores",
    "rankbounds.simulated_collections": "rankbounds.probability.simulated_collections",
    "rankbounds.spark": "rankbounds.evaluation.engines.spark",
    "rankbounds.spark_tasks": "rankbounds.evaluation.engines.spark.scoring",
    "rankbounds.streaming": "rankbounds.evaluation.engines.streaming",
    "rankbounds.tie_key": "rankbounds.collection.tie_key",
    "rankbounds.tied_groups": "rankbounds.rankings.tied_groups",
    "rankbounds.ties": "rankbounds.rankings.ties",
    "rankbounds.unjudged": "rankbounds.rankings.unjudged",
    "rankbounds.urn": "rankbounds.probability.urn",
}
"""Old paths and the modules that took their place. A module that was divided has the part with its main name."""

DIVIDED = {
    "rankbounds.comparison.significance": {
        "minimum_detectable_effect": "rankbounds.comparison.power",
        "power_of_t_test": "rankbounds.comparison.power",
        "topics_for_effects": "rankbounds.comparison.power",
        "topics_needed": "rankbounds.comparison.power",
    },
    "rankbounds.judging": {
        "FIELDS": "rankbounds.judging.next_judgments",
        "JudgingPlan": "rankbounds.judging.next_judgments",
        "STRATEGIES": "rankbounds.judging.next_judgments",
        "judge_next": "rankbounds.judging.next_judgments",
        "weights_by_rank": "rankbounds.measures.measure",
    },
    "rankbounds.persistence": {
        "BINARY": "rankbounds.published.score",
        "METHODS": "rankbounds.published.transfer",
        "Meeting": "rankbounds.published.comparison",
        "Published": "rankbounds.published.score",
        "PublishedComparison": "rankbounds.published.comparison",
        "Transferred": "rankbounds.published.transfer",
        "compare_published": "rankbounds.published.comparison",
        "interval": "rankbounds.published.transfer",
        "relaxed_range": "rankbounds.published.transfer",
        "transfer": "rankbounds.published.transfer",
        "transferred": "rankbounds.published.transfer",
    },
    "rankbounds.rankings": {
        "Joined": "rankbounds.rankings.join",
        "Rankings": "rankbounds.rankings.rankings",
        "TopicFacts": "rankbounds.rankings.topic_facts",
        "ranked": "rankbounds.rankings.order",
        "ranked_rows": "rankbounds.rankings.order",
        "ranks": "rankbounds.rankings.order",
    },
}
"""Modules that are rooms now, or are divided, and the modules that took their names."""


class _Moved:
    """Finds and loads old paths; asked only for modules that nobody else finds."""

    def __init__(self) -> None:
        self._own: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return ModuleSpec(fullname, self) if fullname in MOVED else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _tell(spec.name, MOVED[spec.name])
        module = import_module(MOVED[spec.name])
        self._own[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module was loaded under its own name, and keeps it."""
        assert module.__spec__ is not None
        module.__spec__ = self._own.pop(module.__spec__.name)


def keep_old_paths() -> None:
    """Let ``import rankbounds.scores`` and the like find what has moved."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.append(_Moved())


def old_names(room: str) -> Callable[[str], object]:
    """The ``__getattr__`` of a room that was a module: ``from rankbounds.rankings import TopicFacts`` works."""
    places = DIVIDED[room]

    def attribute(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        _tell(f"{room}.{name}", f"{places[name]}.{name}")
        return getattr(import_module(places[name]), name)

    return attribute


def _tell(old: str, new: str) -> None:
    """Warn of an old path at the line that imports it (the frames of the import system do not count)."""
    warn(f"{old} has moved to {new}; the old path goes away with the next release.", DeprecationWarning, stacklevel=3)
