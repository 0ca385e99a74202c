"""What evaluation frameworks hand over, lists of expected and of retrieved ids, scored question by question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import rankbounds as rb


def score_lists(
    expected: Sequence[Any], retrieved: Sequence[Any], measure: rb.Measure, confidence: float = 0.95
) -> tuple[list[float], dict[str, float]]:
    """Score retrieved against expected ids; return each question's value, and the mean with what there is around it.

    The value of a question that expects nothing is NaN: it is not scored. The mean's ``low`` and ``high`` are what
    documents that are not expected leave open, ``ci_low`` and ``ci_high`` its interval over questions.
    """
    if len(expected) != len(retrieved):
        raise rb.UsageError(
            f"There are {len(expected):,} lists of expected ids, but {len(retrieved):,} of retrieved ones."
        )
    names = list(map(str, range(1, len(expected) + 1)))
    judged = {name: list(ids) for name, ids in zip(names, expected, strict=True) if len(ids)}
    if not judged:
        raise rb.UsageError("No question expects a document: nothing can be scored.")
    run = {name: list(ids) for name, ids in zip(names, retrieved, strict=True) if name in judged}
    scores = rb.evaluate(judged, run, measure)
    values = dict(zip(scores.query_ids, scores.value[0, :, 0].tolist(), strict=True))
    (mean,) = scores.mean(confidence).rows()
    around = {name: mean[name] for name in ("low", "high", "ci_low", "ci_high")}
    known = {name: end for name, end in around.items() if end is not None and math.isfinite(end)}
    return [values.get(name, math.nan) for name in names], {"mean": mean["value"]} | known
