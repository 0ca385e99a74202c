"""Scores made comparable across topics and collections: by how much a run beats what others do on the topic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError
from rankbounds.evaluation.score_differences import levelled
from rankbounds.evaluation.scores import Scores


def standardised(scores: Scores, reference: Scores | None = None, *, cdf: bool = True) -> Scores:
    """Each topic's scores minus the mean of the reference runs on it, over their deviation.

    With ``cdf`` the result goes through the normal distribution, so that it lies between 0 and 1 and 0.5 is the
    average run. The reference is the scores themselves, or those of other runs on the same topics and measures. A topic
    on which all reference runs score the same tells nothing and gives every run 0 (0.5 with ``cdf``). Standardised
    scores have no bounds: what unjudged documents turn out to be moves the reference's mean and deviation, too.

    Source: Webber, Moffat and Zobel, Score Standardization for Inter-Collection Comparison of Retrieval Systems,
    SIGIR 2008.
    """
    reference = reference or scores
    if reference.query_ids != scores.query_ids or reference.measures != scores.measures:
        raise DataError("The reference scores must have the same topics and measures, in the same order.")
    if len(reference.runs) < 2:
        raise DataError("Standardisation needs at least two reference runs.")
    if np.isinf(reference.value).any() or np.isinf(scores.value).any():
        raise DataError("Infinite scores, such as those of ESL without collection=N, cannot be standardised.")
    levels = np.moveaxis(levelled(np.moveaxis(reference.value, 0, -1)), -1, 0)
    mean = levels.mean(axis=0)
    deviation = levels.std(axis=0, ddof=1)
    told_apart = np.ptp(levels, axis=0) > 0  # the deviation of equal numbers may round to a little above 0

    def mapped(values: Floats) -> Floats:
        z = np.divide(values - mean, deviation, out=np.zeros(values.shape), where=told_apart)
        z[np.isnan(values)] = np.nan
        if not cdf:
            return z
        from scipy import stats

        return np.asarray(stats.norm.cdf(z))

    unknown = np.full(scores.value.shape, np.nan)
    return replace(scores, value=mapped(scores.value), low=unknown, high=unknown, bounds="none", parts=None, outer=[])
