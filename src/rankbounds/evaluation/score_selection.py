"""Which runs, topics and measures of scores are meant: names and what else people call them by, as places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from rankbounds.errors import UnknownNameError, UsageError, did_you_mean
from rankbounds.evaluation.run_notes import some
from rankbounds.measures import Measure, parse_measure

Names: TypeAlias = str | Iterable[str] | Callable[[str], bool]
"""A name, several, or a function that says yes or no of a name."""
MeasureName: TypeAlias = str | Measure | type[Measure]
"""A measure, its label or any name it has elsewhere, or a class for all measures of the class."""
Measures: TypeAlias = MeasureName | Iterable[MeasureName] | Callable[[Measure], bool]


def places_of_names(wanted: Names, known: Sequence[str], kind: str) -> list[int]:
    """Where the names stand among those known, in the order asked for, each once."""
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
    """Where the measures stand among those known, in the order asked for, each once."""
    if isinstance(wanted, str | Measure | type):
        return _places_of_measure(wanted, known, runs)
    if callable(wanted):
        return [place for place, measure in enumerate(known) if wanted(measure)]
    if not isinstance(wanted, Iterable):
        raise UsageError(
            f"Scores are asked for by measure, as in scores[{str(known[0])!r}], not by {wanted!r}; runs by "
            "scores.run(name), topics by scores.topic(id)."
        )
    several = [place for measure in wanted for place in _places_of_measure(measure, known, runs)]
    return list(dict.fromkeys(several))


def _places_of_measure(wanted: MeasureName, known: Sequence[Measure], runs: Sequence[str]) -> list[int]:
    if isinstance(wanted, type):
        places = [place for place, measure in enumerate(known) if isinstance(measure, wanted)]
    else:
        labels = [str(measure) for measure in known]
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
        raise UnknownNameError(f"{name} is not among these scores. There are: {some([str(one) for one in known])}.")
    return places
