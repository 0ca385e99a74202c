"""Scores from arrays, for tests of what is computed from them."""

from __future__ import annotations

import numpy as np

import rankbounds as rb
from rankbounds.evaluation.scores import RunNotes, Scores


def scores_of(value, low=None, high=None, measures=("AP",)):
    """Scores from an array of run, topic, measure."""
    value = np.asarray(value, dtype=float)
    unknown = np.full(value.shape, np.nan)
    return Scores(
        runs=[f"run{at}" for at in range(value.shape[0])],
        query_ids=[str(at) for at in range(value.shape[1])],
        measures=[rb.parse_measure(measure) for measure in measures],
        value=value,
        low=unknown if low is None else low,
        high=unknown if high is None else high,
        judged=np.ones(value.shape[:2]),
        run_notes=[RunNotes()] * value.shape[0],
    )
