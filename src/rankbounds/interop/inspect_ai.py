"""Inspect: the mean of a score with an interval over samples, whose epochs and seeds count as one observation."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankbounds as rb


def inspect_metric(confidence: float = 0.95) -> Any:
    """Return a metric for Inspect: ``mean``, ``ci_low`` and ``ci_high`` over samples.

    Parameters
    ----------
    confidence : float, default 0.95
        The level of the t interval over samples.

    Returns
    -------
    Metric
        For ``@scorer(metrics=[inspect_metric()])``. Scores of one sample, such as those of its epochs, are averaged
        first. There is no interval of a single sample, or where all samples have the same score.

    Examples
    --------
    >>> from rankbounds.interop import inspect_metric
    >>> inspect_metric()  # doctest: +SKIP
    """
    from inspect_ai.scorer import SampleScore, metric, value_to_float

    to_float = value_to_float()

    def made() -> Any:
        def compute(scores: list[SampleScore]) -> dict[str, float]:
            of_sample: dict[Any, list[float]] = {}
            for number, one in enumerate(scores):
                of_sample.setdefault(number if one.sample_id is None else one.sample_id, []).append(
                    float(to_float(one.score.value))
                )
            values = np.array([np.mean(several) for several in of_sample.values()])
            summary = {"mean": float(values.mean()) if values.size else 0.0}
            if values.size > 1:
                ends = rb.stats.intervals_of_means(values[None], -np.inf, np.inf, confidence)
                named = zip(("ci_low", "ci_high"), (float(end[0]) for end in ends), strict=True)
                summary |= {name: end for name, end in named if np.isfinite(end)}
            return summary

        compute.__annotations__["scores"] = list[SampleScore]  # Inspect looks at the type itself
        return compute

    return metric(name="mean_with_interval")(made)()
