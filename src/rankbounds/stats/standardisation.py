"""Scores relative to other runs' scores on a topic, so that easy and hard topics have equal weight.

Source: Webber, Moffat and Zobel, Score Standardization for Inter-Collection Comparison of Retrieval Systems, SIGIR
2008.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError
from rankbounds.evaluation.score_differences import merge_equal
from rankbounds.evaluation.scores import Scores


def standardise(scores: Scores, reference: Scores | None = None, *, cdf: bool = True) -> Scores:
    """Subtract from each topic's scores the mean of the reference runs on it, and divide by their deviation.

    Parameters
    ----------
    scores, reference : Scores
        From ``evaluate``; the reference has the same topics and measures, and is by default ``scores`` themselves.
    cdf : bool, default True
        Pass the result through the normal distribution, so that it lies between 0 and 1 and 0.5 is the average run.

    Returns
    -------
    Scores
        Without bounds, because unjudged documents also affect the reference's mean and deviation. A topic on which all
        reference runs score the same gives every run 0 (0.5 with ``cdf``).

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"a": {"q1": ["x"], "q2": ["y", "x"]}, "b": {"q1": ["y", "x"], "q2": ["y", "z", "x"]}}
    >>> scores = rb.evaluate({"q1": {"x": 1}, "q2": {"x": 1}}, runs, "RR", bounds="none")
    >>> rb.stats.standardise(scores).value[:, :, 0].round(2).tolist()
    [[0.76, 0.76], [0.24, 0.24]]
    """
    reference = reference or scores
    if reference.query_ids != scores.query_ids or reference.measures != scores.measures:
        raise DataError("The reference scores must have the same topics and measures, in the same order.")
    if len(reference.runs) < 2:
        raise DataError("Standardisation needs at least two reference runs.")
    if np.isinf(reference.value).any() or np.isinf(scores.value).any():
        raise DataError("Infinite scores, such as those of ESL without collection=N, cannot be standardised.")
    levels = np.moveaxis(merge_equal(np.moveaxis(reference.value, 0, -1)), -1, 0)
    mean = levels.mean(axis=0)
    deviation = levels.std(axis=0, ddof=1)
    varies = np.ptp(levels, axis=0) > 0  # the deviation of equal numbers may round to a little above 0

    def convert(values: Floats) -> Floats:
        z = np.divide(values - mean, deviation, out=np.zeros(values.shape), where=varies)
        z[np.isnan(values)] = np.nan
        if not cdf:
            return z
        from scipy import stats

        return np.asarray(stats.norm.cdf(z))

    unknown = np.full(scores.value.shape, np.nan)
    return replace(scores, value=convert(scores.value), low=unknown, high=unknown, bounds="none", parts=None, outer=[])
