"""What evaluation frameworks hand over, lists of expected and of retrieved ids, scored question by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.measures.naming.parser import MeasureLike, parse_measure


@dataclass(frozen=True)
class ScoredLists:
    """One measure of a list of questions: a value for each, and the mean's uncertainty."""

    values: list[float]
    """NaN for a question that expects nothing, which is not scored."""
    mean: float
    low: float
    """The least that the mean can be, whatever documents that are not expected turn out to be."""
    high: float
    ci_low: float
    """The confidence interval over questions; NaN where there is none, as of a single question."""
    ci_high: float

    @property
    def summary(self) -> dict[str, float]:
        """Return the mean, its bounds and its interval by name, if they exist."""
        named = {name: getattr(self, name) for name in ("mean", "low", "high", "ci_low", "ci_high")}
        return {name: value for name, value in named.items() if np.isfinite(value)}


def score_lists(
    expected: Sequence[Any], retrieved: Sequence[Any], measure: MeasureLike, confidence: float = 0.95, **options: Any
) -> ScoredLists:
    """Score retrieved against expected ids: ids, ``(id, score)`` or objects with an id."""
    if len(expected) != len(retrieved):
        raise UsageError(
            f"There are {len(expected):,} lists of expected ids, but {len(retrieved):,} of retrieved ones."
        )
    names = list(map(str, range(1, len(expected) + 1)))
    judged = {name: list(ids) for name, ids in zip(names, expected, strict=True) if len(ids)}
    if not judged:
        raise UsageError("No question expects a document: nothing can be scored.")
    chosen = parse_measure(measure)
    run = {name: list(ids) for name, ids in zip(names, retrieved, strict=True) if name in judged}
    scores = evaluate(judged, run, chosen, **options)
    values = dict(zip(scores.query_ids, scores.value[0, :, 0].tolist(), strict=True))
    mean = scores.mean(confidence)
    numbers = (mean.value, mean.low, mean.high, mean.ci_low, mean.ci_high)
    value, low, high, ci_low, ci_high = (float(end[0, 0, 0]) for end in numbers)
    return ScoredLists([values.get(name, np.nan) for name in names], value, low, high, ci_low, ci_high)
