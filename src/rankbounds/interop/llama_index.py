"""llama-index: any measure as a retrieval metric, registered under its label."""

from __future__ import annotations

from typing import Any

import rankbounds as rb
from rankbounds.interop.paired_lists import score_lists


def llama_index_metric(measure: rb.measures.MeasureLike) -> Any:
    """Return a metric class for llama-index' ``RetrieverEvaluator``, and register it under the measure's label.

    Parameters
    ----------
    measure : str or Measure
        Such as ``"nDCG@5"``. A repeated id counts once, at its first place.

    Returns
    -------
    type
        A ``BaseRetrievalMetric``; ``RetrieverEvaluator.from_metric_names(["nDCG@5"], ...)`` then finds it.

    Examples
    --------
    >>> from rankbounds.interop import llama_index_metric
    >>> llama_index_metric("nDCG@5")().compute(expected_ids=["a"], retrieved_ids=["a"]).score  # doctest: +SKIP
    1.0
    """
    from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
    from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult

    chosen = rb.parse_measure(measure)

    def compute(
        self: Any,  # noqa: ARG001
        query: str | None = None,  # noqa: ARG001
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,  # noqa: ARG001
        retrieved_texts: list[str] | None = None,  # noqa: ARG001
        **_: Any,
    ) -> Any:
        if not expected_ids or retrieved_ids is None:
            raise ValueError("Retrieved ids and expected ids must be provided")
        summary = score_lists([expected_ids], [retrieved_ids], chosen)[1]
        return RetrievalMetricResult(score=summary.pop("mean"), metadata=summary)

    metric: Any = type(
        "RankboundsMetric",
        (BaseRetrievalMetric,),
        {"metric_name": str(chosen), "compute": compute, "__module__": __name__},
    )
    METRIC_REGISTRY[str(chosen)] = metric
    return metric
