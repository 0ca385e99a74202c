"""MLflow: metrics for ``mlflow.models.evaluate`` with intervals and bounds."""

from __future__ import annotations

from typing import Any

import rankbounds as rb
from rankbounds.interop.paired_lists import score_lists


def mlflow_metric(measure: rb.measures.MeasureLike, *, confidence: float = 0.95) -> Any:
    """Return a metric of MLflow that scores lists of retrieved ids against lists of expected ones.

    Parameters
    ----------
    measure : str or Measure
        Such as ``"nDCG@5"``; MLflow's own name ``ndcg_at_5`` is read too. The ideal ranking has all that is expected.
    confidence : float, default 0.95
        The level of the interval over questions.

    Returns
    -------
    EvaluationMetric
        For ``extra_metrics=``: a score for each row, and ``mean``, ``ci_low``, ``ci_high``, ``low`` and ``high``.

    Examples
    --------
    >>> from rankbounds.interop import mlflow_metric
    >>> metric = mlflow_metric("nDCG@5")  # doctest: +SKIP
    >>> mlflow.models.evaluate(data=frame, predictions="retrieved", targets="expected",
    ...     model_type="retriever", extra_metrics=[metric])  # doctest: +SKIP
    """
    from mlflow.metrics import MetricValue, make_metric

    chosen = rb.parse_measure(measure)

    def eval_fn(predictions: Any, targets: Any) -> Any:
        values, summary = score_lists(list(targets), list(predictions), chosen, confidence)
        return MetricValue(scores=values, aggregate_results=summary)

    name = "".join(letter if letter.isalnum() else "_" for letter in str(chosen)).strip("_")
    return make_metric(eval_fn=eval_fn, greater_is_better=not chosen.lower_is_better, name=name)
