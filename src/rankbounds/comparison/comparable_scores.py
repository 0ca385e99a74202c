"""Scores made comparable: over the topics that all runs have."""

from __future__ import annotations

import numpy as np

from rankbounds.comparison.evidence import left_out_words
from rankbounds.errors import DataError, warn
from rankbounds.evaluation.scores import Scores


def keep_shared_topics(scores: Scores) -> Scores:
    """Keep the topics of all runs, if means leave out topics that a run lacks."""
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
