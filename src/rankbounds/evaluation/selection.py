"""Which runs, topics and measures of scores are wanted, by names and otherwise, and the scores of these alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rankbounds.errors import UnknownNameError, UsageError, did_you_mean
from rankbounds.measures import Measure, parse_measure
from rankbounds.phrases import some

if TYPE_CHECKING:
    from rankbounds.evaluation.scores import Scores

Names: TypeAlias = str | Iterable[str] | Callable[[str], bool]
"""A name, several names, or a function that returns whether to keep a name."""
MeasureName: TypeAlias = str | Measure | type[Measure]
"""A measure, its label or any name it has elsewhere, or a class for all measures of the class."""
Measures: TypeAlias = MeasureName | Iterable[MeasureName] | Callable[[Measure], bool]


def take(
    scores: Scores, runs: list[int] | None = None, topics: list[int] | None = None, measures: list[int] | None = None
) -> Scores:
    given = zip((runs, topics, measures), scores.value.shape, strict=True)
    places = [list(range(size)) if chosen is None else chosen for chosen, size in given]
    query_ids = [scores.query_ids[place] for place in places[1]]
    chosen = [scores.measures[place] for place in places[2]]
    cells = np.ix_(*places)
    notes = [scores.run_notes[place] for place in places[0]] if scores.run_notes else []
    there = set(query_ids)
    if there != set(scores.query_ids):
        missing = [[name for name in noted.missing if name in there] for noted in notes]
        notes = [replace(noted, missing=lacking, unknown=[]) for noted, lacking in zip(notes, missing, strict=True)]
    if there != set(scores.query_ids) or chosen[:1] != scores.measures[:1]:
        notes = [replace(noted, tie_range=None) for noted in notes]
    parts = scores.parts if any(measure.has_residual for measure in chosen) else None
    return replace(
        scores,
        runs=[scores.runs[place] for place in places[0]],
        query_ids=query_ids,
        measures=chosen,
        value=scores.value[cells],
        low=scores.low[cells],
        high=scores.high[cells],
        judged=scores.judged[np.ix_(*places[:2])],
        run_notes=notes,
        without_relevant=[name for name in scores.without_relevant if topics is None or name in there],
        outer=[measure for measure in scores.outer if measure in chosen],
        parts=None if parts is None else parts[:, cells[0], cells[1], cells[2]],
        interval=None if scores.interval is None else scores.interval[:, cells[0], cells[1], cells[2]],
    )


def places_of_names(wanted: Names, known: Sequence[str], kind: str) -> list[int]:
    if callable(wanted):
        return [place for place, name in enumerate(known) if wanted(name)]
    place_of = {name: place for place, name in enumerate(known)}
    places = []
    for name in [wanted] if isinstance(wanted, str | int) else wanted:
        text = str(name) if isinstance(name, int | np.integer) else name  # ids may be whole numbers in tables
        if text not in place_of:
            hint = did_you_mean(str(text), list(known))
            raise UnknownNameError(f'There is no {kind} "{text}" among these scores.{hint} There are: {some(known)}.')
        places.append(place_of[text])
    return list(dict.fromkeys(places))


def places_of_measures(wanted: Measures, known: Sequence[Measure], runs: Sequence[str]) -> list[int]:
    if isinstance(wanted, str | Measure | type):
        return _places_of_measure(wanted, known, runs)
    if callable(wanted):
        return [place for place, measure in enumerate(known) if wanted(measure)]
    if not isinstance(wanted, Iterable):
        raise UsageError(
            f"Index scores by measure, as in scores[{str(known[0])!r}], not by {wanted!r}; for runs use "
            "scores.run(name), for topics scores.topic(id)."
        )
    return list(dict.fromkeys(place for measure in wanted for place in _places_of_measure(measure, known, runs)))


def _places_of_measure(wanted: MeasureName, known: Sequence[Measure], runs: Sequence[str]) -> list[int]:
    labels = [str(measure) for measure in known]
    if isinstance(wanted, type):
        places = [place for place, measure in enumerate(known) if isinstance(measure, wanted)]
    else:
        if isinstance(wanted, str) and wanted in labels:
            return [labels.index(wanted)]
        try:
            meant = parse_measure(wanted)
        except UsageError as error:
            hint = f" There is a run of this name: scores.run({wanted!r})." if wanted in runs else ""
            raise UnknownNameError(f"{error}{hint}") from None
        places = [place for place, measure in enumerate(known) if measure == meant]
    if not places:
        name = wanted.__name__ if isinstance(wanted, type) else str(wanted)
        raise UnknownNameError(f"{name} is not among these scores. There are: {some(labels)}.")
    return places
