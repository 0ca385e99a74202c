"""Haystack: a component that evaluates retrieved documents by any measure, with an interval."""

from __future__ import annotations

from typing import Any

import rankbounds as rb
from rankbounds.interop.paired_lists import score_lists


def haystack_evaluator(measure: rb.measures.MeasureLike, *, confidence: float = 0.95, field: str = "id") -> Any:
    """Return a component that takes ground-truth and retrieved documents, as Haystack's own evaluators do.

    Parameters
    ----------
    measure : str or Measure
        Such as ``"nDCG@5"``.
    confidence : float, default 0.95
        The level of the interval over questions.
    field : {"id", "content"}, default "id"
        What identifies a document.

    Returns
    -------
    component
        Its outputs are ``score``, ``individual_scores`` and ``summary`` (mean, low, high, ci_low, ci_high).

    Examples
    --------
    >>> from rankbounds.interop import haystack_evaluator
    >>> pipeline.add_component("nDCG@5", haystack_evaluator("nDCG@5"))  # doctest: +SKIP
    """
    from haystack import Document, component

    chosen = rb.parse_measure(measure)

    def ids(several: list[list[Any]]) -> list[list[str]]:
        return [[str(getattr(document, field)) for document in documents] for documents in several]

    def run(self: Any, ground_truth_documents: Any, retrieved_documents: Any) -> dict[str, Any]:  # noqa: ARG001
        values, summary = score_lists(ids(ground_truth_documents), ids(retrieved_documents), chosen, confidence)
        return {"score": summary["mean"], "individual_scores": values, "summary": summary}

    run.__annotations__ = {
        "ground_truth_documents": list[list[Document]],
        "retrieved_documents": list[list[Document]],
        "return": dict[str, Any],
    }
    outputs = component.output_types(score=float, individual_scores=list[float], summary=dict[str, float])
    evaluator = component(type("RankboundsEvaluator", (), {"run": outputs(run), "__module__": __name__}))
    return evaluator()
