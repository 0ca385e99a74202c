"""sentence-transformers: its retrieval evaluator with fair values under ties, and intervals over queries."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankbounds as rb

_MEASURES = {
    "accuracy@k": ("Success", "accuracy_at_k"),
    "precision@k": ("P", "precision_recall_at_k"),
    "recall@k": ("Recall", "precision_recall_at_k"),
    "ndcg@k": ("nDCG", "ndcg_at_k"),
    "mrr@k": ("RR", "mrr_at_k"),
    "map@k": ("AP", "map_at_k"),
}
"""Its names of metrics: our measure, and the attribute that holds the depths."""


def sentence_transformers_evaluator(
    *given: Any, ties: str = "expected", confidence: float = 0.95, **options: Any
) -> Any:
    """Return an ``InformationRetrievalEvaluator`` whose values do not depend on the order of tied documents.

    Parameters
    ----------
    *given, **options
        What ``InformationRetrievalEvaluator`` takes.
    ties : str, default "expected"
        The rule for ties: the mean over all orders, so that a model that scores every document the same gets a random
        order's value. ``"docid"`` is what sentence-transformers does.
    confidence : float, default 0.95
        The level of the intervals.

    Returns
    -------
    InformationRetrievalEvaluator
        Beside ``ndcg@10`` and the others it reports ``ndcg@10_ci_low`` and ``ndcg@10_ci_high``.

    Examples
    --------
    >>> from rankbounds.interop import sentence_transformers_evaluator
    >>> evaluator = sentence_transformers_evaluator(queries, corpus, relevant_docs)  # doctest: +SKIP
    >>> evaluator(model)["cosine_ndcg@10_ci_low"]  # doctest: +SKIP
    """
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    def compute_metrics(self: Any, queries_result_list: list[list[dict[str, Any]]]) -> dict[str, dict[int, float]]:
        metrics: dict[str, dict[int, float]] = {}
        labels = {
            (theirs, depth): f"{ours}@{depth}"
            for theirs, (ours, depths) in _MEASURES.items()
            for depth in getattr(self, depths)
        }
        judged = {query: self.relevant_docs[query] for query in self.queries_ids}
        scores = rb.evaluate(
            judged, queries_result_list, [*labels.values()], query_ids=self.queries_ids, ties=ties, bounds="none"
        )
        mean = scores.mean(confidence)
        for (theirs, depth), label in labels.items():
            of_label = mean[label]
            metrics.setdefault(theirs, {})[depth] = float(of_label)
            for end in ("ci_low", "ci_high"):
                if np.isfinite(limit := getattr(of_label, end)):
                    metrics.setdefault(f"{theirs}_{end}", {})[depth] = limit
        return metrics

    own = {"compute_metrics": compute_metrics, "__module__": __name__}
    return type("FairEvaluator", (InformationRetrievalEvaluator,), own)(*given, **options)
