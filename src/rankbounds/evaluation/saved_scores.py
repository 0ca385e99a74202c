"""Scores in a file, to be read back as they were: JSON with everything that scores know, every number exact.

A file of the second format holds all fields of ``Scores``. Files of the first lacked the notes, the parts of residuals,
topics without relevant documents, and which bounds are exact; they are still read, and every bound that may be wider
than what can happen counts as such.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.run_notes import RunNotes
from rankbounds.evaluation.scores import PARTS, Scores
from rankbounds.files import json_text
from rankbounds.files.opening import read_text
from rankbounds.files.writing import writing
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.reported import Reported, ReportedEffort
from rankbounds.tables import json_of

FORMAT = "rankbounds scores 2"
FIRST_FORMAT = "rankbounds scores 1"


def save(scores: Scores, path: str | os.PathLike[str]) -> None:
    """Write everything that ``load`` needs, as JSON."""
    content = {
        "format": FORMAT,
        "runs": scores.runs,
        "query_ids": scores.query_ids,
        "measures": [_saved_measure(measure) for measure in scores.measures],
        "bounds": scores.bounds,
        "topics": scores.topics,
        "open": scores.open,
        "most_relevant": scores.most_relevant,
        "mean_over": scores.mean_over,
        "outer": [_saved_measure(measure) for measure in scores.outer],
        "without_relevant": scores.without_relevant,
        "notes": [{note.name: getattr(noted, note.name) for note in fields(noted)} for noted in scores.notes],
        **{name: getattr(scores, name).tolist() for name in ("value", "low", "high", "judged")},
        "parts": None if scores.parts is None else scores.parts.tolist(),
    }
    with writing(path) as out:
        out.write(json_of(content))


def load(path: str | os.PathLike[str]) -> Scores:
    """Read what ``save`` wrote."""
    name = os.fspath(path)
    return of_content(json_text.parse(read_text(name).tobytes().decode("utf-8", "surrogateescape"), name), name)


def of_content(content: Any, name: str) -> Scores:
    """The scores in what a file of this name holds."""
    try:
        if content["format"] not in (FORMAT, FIRST_FORMAT):
            raise KeyError
        measures = [_loaded_measure(saved, name) for saved in content["measures"]]
        runs, query_ids = _names(content["runs"]), _names(content["query_ids"])
        shape = len(runs), len(query_ids), len(measures)
        loaded = Scores(
            runs,
            query_ids,
            measures,
            value=_array(content["value"], shape),
            low=_array(content["low"], shape),
            high=_array(content["high"], shape),
            judged=_array(content["judged"], shape[:2]),
            notes=[RunNotes() for _ in runs],
            bounds=str(content["bounds"]),
            topics=str(content["topics"]),
            open=str(content.get("open", "retrieved")),
            most_relevant=None if content.get("most_relevant") is None else int(content["most_relevant"]),
            mean_over=int(content.get("mean_over", 0)),
        )
        if content["format"] == FIRST_FORMAT:
            return replace(loaded, outer=[measure for measure in measures if _may_be_outer(measure, loaded.bounds)])
        return replace(
            loaded,
            notes=[_loaded_notes(saved) for saved in content["notes"]],
            outer=[_loaded_measure(saved, name) for saved in content["outer"]],
            without_relevant=_names(content["without_relevant"]),
            parts=None if content["parts"] is None else _array(content["parts"], (len(PARTS), *shape)),
        )
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise DataError(f"{name}: these are not scores that rankbounds saved.") from None


def _may_be_outer(measure: Measure, bounds: str) -> bool:
    """Can bounds of this kind be wider than what can happen, under some rule for ties and some judgments?"""
    if bounds not in ("unjudged", "both") or measure.as_retrieved:
        return False
    return bounds == "both" or measure.exactness == "outer" or not measure.monotone


def _array(content: Any, shape: tuple[int, ...]) -> Floats:
    return np.array(content, dtype=np.float64).reshape(shape)


def _names(content: Any) -> list[str]:
    if not isinstance(content, list) or not all(isinstance(name, str) for name in content):
        raise TypeError
    return content


def _loaded_notes(saved: Mapping[str, Any]) -> RunNotes:
    tie_range = saved["tie_range"]
    return RunNotes(
        missing=_names(saved["missing"]),
        unknown=_names(saved["unknown"]),
        tied_topics=int(saved["tied_topics"]),
        tie_range=None if tie_range is None else float(tie_range),
        prepared=str(saved.get("prepared", "")),
        strange_documents=str(saved.get("strange_documents", "")),
    )


def _saved_measure(measure: Measure) -> dict[str, Any]:
    """The label, and in full the numbers that labels round; of a name in somebody's table, which way is better."""
    if isinstance(measure, Reported):
        return {"label": str(measure), "exactly": {}, "lower_is_better": measure.lower_is_better}
    saved = {"label": str(measure), "exactly": {name: getattr(_plain(measure), name) for name in _rounded(measure)}}
    try:
        if _loaded_measure(saved, "") == measure:
            return saved
    except (TypeError, ValueError):
        pass
    raise UsageError(f"The scores of {measure} cannot be saved: its label does not say which measure it is.")


def _loaded_measure(saved: str | Mapping[str, Any], file: str) -> Measure:
    label = saved if isinstance(saved, str) else saved["label"]
    exactly = {} if isinstance(saved, str) else {name: float(value) for name, value in saved["exactly"].items()}
    if not isinstance(saved, str) and "lower_is_better" in saved:
        return ReportedEffort(label) if saved["lower_is_better"] else Reported(label)
    try:
        measure = parse_measure(label)
    except UsageError as error:
        raise DataError(f"{file}: {error} Import the module that declares it, if it is one of yours.") from None
    plain = replace(_plain(measure), **exactly)
    return Condensed(plain) if isinstance(measure, Condensed) else plain


def _plain(measure: Measure) -> Measure:
    return measure.measure if isinstance(measure, Condensed) else measure


def _rounded(measure: Measure) -> Sequence[str]:
    """The parameters that are numbers with a fraction, which labels show with twelve digits."""
    plain = _plain(measure)
    return [parameter.name for parameter in fields(plain) if isinstance(getattr(plain, parameter.name), float)]
