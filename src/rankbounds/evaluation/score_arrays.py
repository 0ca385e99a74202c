"""What scores are: arrays with the axes run, topic and measure, what is known of them, and their means."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np

from rankbounds.arrays import Floats, read_only
from rankbounds.evaluation.origins import Origin
from rankbounds.evaluation.run_notes import RunNotes
from rankbounds.evaluation.score_table import ALL
from rankbounds.measures import Measure

Self = TypeVar("Self", bound="ScoreArrays")

PARTS = ("residual_unjudged", "residual_tail", "residual_ties")
"""What a residual is made of: unjudged documents retrieved, what lies beyond the list, the range over orders of ties.

The first two make up ``high - low`` when bounds cover unjudged documents, the last when they cover ties, and all three
when they cover both.
"""
_ARRAYS = ("value", "low", "high", "judged", "parts")


@dataclass(frozen=True, eq=False)
class ScoreArrays:
    """The fields of ``Scores``, which says what they hold. Arrays are read-only; equal is what has equal fields."""

    runs: list[str]
    query_ids: list[str]
    measures: list[Measure]
    value: Floats
    low: Floats
    high: Floats
    judged: Floats
    notes: list[RunNotes] = field(default_factory=list)
    bounds: str = "unjudged"
    without_relevant: list[str] = field(default_factory=list)
    outer: list[Measure] = field(default_factory=list)
    topics: str = "judged"
    parts: Floats | None = None
    open: str = "retrieved"
    most_relevant: int | None = None
    origin: Origin | None = None
    mean_over: int = 0

    def __post_init__(self) -> None:
        for name in ("runs", "query_ids", "measures", "notes", "without_relevant", "outer"):
            object.__setattr__(self, name, list(getattr(self, name)))
        for name in _ARRAYS:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.float64)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    def __eq__(self, other: object) -> bool:
        """The same scores of the same runs, topics and measures, and the same notes, to the last bit?"""
        if not isinstance(other, ScoreArrays):
            return NotImplemented
        return all(_same(getattr(self, one.name), getattr(other, one.name)) for one in fields(self))

    __hash__ = None  # type: ignore[assignment]  # two that are equal may be large: nothing short stands for them

    @property
    def has_judged(self) -> bool:
        """Is it known how much is judged? Tables that other tools wrote do not tell."""
        return not bool(np.isnan(self.judged).all())

    def all_runs_have(self, place: int) -> bool:
        """Has every run a score by the measure at this place?"""
        return bool((~np.isnan(self.value[:, :, place])).any(axis=1).all())

    def mean(self: Self) -> Self:
        """The mean over topics (the sum for counts, the geometric mean for GMAP and the like).

        Returns
        -------
        Scores
            With one topic, called ``"all"``. Bounds of the mean are the means of the bounds.

        Examples
        --------
        >>> import rankbounds as rb
        >>> qrels, run = {"301": {"a": 1}, "302": {"b": 1}}, {"301": {"a": 1}, "302": {"c": 1}}
        >>> rb.evaluate(qrels, {"bm25": run}, "P@1").mean().to_dict()
        {'bm25': {'P@1': {'all': 0.5}}}
        """
        if self.query_ids == [ALL]:
            return self
        counted = ~np.isnan(self.value)
        number_of_topics = counted.sum(axis=1, keepdims=True)
        sums = np.array([measure.total == "sum" for measure in self.measures], dtype=bool)
        divisor = np.where(sums, 1, np.maximum(number_of_topics, 1))
        logarithms = np.array([measure.total == "geometric" for measure in self.measures], dtype=bool)

        def total(array: Floats) -> Floats:
            summed: Floats = np.where(counted, array, 0.0).sum(axis=-2, keepdims=True)
            mean: Floats = np.where(number_of_topics > 0, summed / divisor, np.nan)
            return np.where(logarithms, np.exp(np.where(logarithms, mean, 0.0)), mean) if logarithms.any() else mean

        seen = ~np.isnan(self.judged)
        judged = np.where(seen, self.judged, 0.0).sum(axis=1, keepdims=True) / np.maximum(
            seen.sum(axis=1, keepdims=True), 1
        )
        return replace(
            self,
            query_ids=[ALL],
            value=total(self.value),
            low=total(self.low),
            high=total(self.high),
            judged=judged if self.has_judged else np.full(judged.shape, np.nan),
            parts=None if self.parts is None else total(self.parts),
            mean_over=len(self.query_ids),
        )

    def _at(
        self: Self, runs: list[int] | None = None, topics: list[int] | None = None, measures: list[int] | None = None
    ) -> Self:
        """What stands at these places of the three axes; None stands for all."""
        run_places = list(range(len(self.runs))) if runs is None else runs
        topic_places = list(range(len(self.query_ids))) if topics is None else topics
        measure_places = list(range(len(self.measures))) if measures is None else measures
        query_ids = [self.query_ids[place] for place in topic_places]
        chosen = [self.measures[place] for place in measure_places]
        cells = np.ix_(run_places, topic_places, measure_places)
        parts = None if self.parts is None or not any(measure.has_residual for measure in chosen) else self.parts
        notes = [self.notes[place] for place in run_places] if self.notes else []
        if topics is not None and set(query_ids) != set(self.query_ids):
            there = set(query_ids)
            notes = [
                replace(noted, missing=[name for name in noted.missing if name in there], unknown=[], tie_range=None)
                for noted in notes
            ]
        if chosen[:1] != self.measures[:1]:
            notes = [replace(noted, tie_range=None) for noted in notes]
        return replace(
            self,
            runs=[self.runs[place] for place in run_places],
            query_ids=query_ids,
            measures=chosen,
            value=self.value[cells],
            low=self.low[cells],
            high=self.high[cells],
            judged=self.judged[np.ix_(run_places, topic_places)],
            notes=notes,
            without_relevant=[name for name in self.without_relevant if topics is None or name in query_ids],
            outer=[measure for measure in self.outer if measure in chosen],
            parts=None if parts is None else parts[:, cells[0], cells[1], cells[2]],
        )


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return np.array_equal(ours, theirs, equal_nan=True)
    return type(ours) is type(theirs) and ours == theirs
