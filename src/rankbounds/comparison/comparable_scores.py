"""Scores made comparable: over the topics that all runs have, and relative to what others score on a topic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.comparison.evidence import left_out_words
from rankbounds.errors import DataError, warn
from rankbounds.evaluation.score_differences import levelled
from rankbounds.evaluation.scores import Scores


def keep_shared_topics(scores: Scores) -> Scores:
    """Keep the topics that all runs have, where topics that a run lacks are left out of its means."""
    has = np.asarray(~np.isnan(scores.value).any(axis=(0, 2)))
    if scores.topics != "shared" or has.all():
        return scores
    if not has.any():
        for run, measure in np.argwhere(np.isnan(scores.value).all(axis=1)).tolist():
            lacking = f"{scores.runs[run]} has no score by {scores.measures[measure]}."
            raise DataError(f"{lacking} Compare by a measure that all runs have.")
        raise DataError("No topic has scores of all runs: they are on different topics, or these are called otherwise.")
    kept = [query for query, shared in zip(scores.query_ids, has.tolist(), strict=True) if shared]
    left_out = [query for query in scores.query_ids if query not in set(kept)]
    warn(left_out_words(left_out, has.size, judged=scores.has_judged))
    return scores.filter(topic=kept)


def standardise(scores: Scores, reference: Scores | None = None, *, cdf: bool = True) -> Scores:
    """Subtract from each topic's scores the mean of the reference runs on it, and divide by their deviation.

    With ``cdf`` the result goes through the normal distribution, so that it lies between 0 and 1 and 0.5 is the
    average run. The reference is the scores themselves, or those of other runs on the same topics and measures. A topic
    on which all reference runs score the same says nothing and gives every run 0 (0.5 with ``cdf``). Standardised
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
