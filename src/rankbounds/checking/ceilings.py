"""Do these queries still tell systems apart? Best possible means, queries answered perfectly, differences shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.score_differences import TOLERANCE, equal
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure
from rankbounds.stats.power import minimum_detectable_effect


def ceilings(qrels: Qrels, scores: Sequence[Scores]) -> Iterator[dict[str, Any]]:
    """Return a row per measure that has a best list of judged documents, from the scores of each run alone."""
    for place, measure in enumerate(scores[0].measures):
        best = best_lists(qrels, measure)
        if best is None:
            continue
        ideal = evaluate(qrels, best, measure, bounds="none", threads=1)
        values = np.stack([of_run.value[0, :, place] for of_run in scores])
        answerable: Flags = np.isin(ideal.query_ids, best.query_ids)
        perfect = equal(values, ideal.value[0, :, 0]).all(axis=0) & answerable
        yield {
            "measure": str(measure),
            "ceiling": float(ideal.mean().value[0, 0, 0]),
            "queries": int(np.count_nonzero(answerable)),
            "perfect": int(np.count_nonzero(perfect)),
            "shows": smallest_difference(values),
        }


def best_lists(qrels: Qrels, measure: Measure) -> Run | None:
    """Rank the relevant documents of each query by grade; None if that need not be the best list."""
    by_other_facts = measure.as_retrieved or measure.reads_judgments or measure.reads_preferences or measure.estimates
    ranged = measure.total == "mean" and np.isfinite(measure.value_range).all()
    if by_other_facts or not measure.promotable or not ranged:
        return None
    kept = np.flatnonzero(qrels.grade > 0 if measure.graded else qrels.grade >= measure.rel)
    relevant = qrels.take(kept)
    return Run._of_pairs("best", relevant.pairs, relevant.grade, None) if kept.size else None


def smallest_difference(values: Floats) -> float | None:
    """Return the smallest true difference that so many queries show 80% of the time, pooled over pairs of runs."""
    runs, queries = values.shape
    if runs < 2 or queries < 2 or not np.isfinite(values).all():
        return None
    apart = values - values.mean(axis=0)
    deviation = float(np.sqrt(2 * apart.var(axis=1, ddof=1).sum() / (runs - 1)))
    return minimum_detectable_effect(deviation, queries) if deviation > TOLERANCE else None
