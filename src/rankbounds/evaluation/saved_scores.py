"""Scores in a file, to be read back as they were: JSON with all fields of ``Scores``, every number exact."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.origins import Origin
from rankbounds.evaluation.run_notes import RunNotes
from rankbounds.evaluation.scores import PARTS, Scores
from rankbounds.files.records import parse_json, read_decoded
from rankbounds.files.writing import writing
from rankbounds.measures import Measure, parse_measure
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.reported import Reported, ReportedEffort
from rankbounds.tables import json_of

FORMAT = "rankbounds scores 1"


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
        "origin": scores.origin,
    }
    with writing(path) as out:
        out.write(json_of(content))


def load(path: str | os.PathLike[str]) -> Scores:
    """Read what ``save`` wrote."""
    name = os.fspath(path)
    return of_content(parse_json(read_decoded(name)[0], name), name)


def of_content(content: Any, name: str) -> Scores:
    """The scores in what a file of this name holds."""
    try:
        if content["format"] != FORMAT:
            raise KeyError
        measures = [_loaded_measure(saved, name) for saved in content["measures"]]
        runs, query_ids = _names(content["runs"]), _names(content["query_ids"])
        shape = len(runs), len(query_ids), len(measures)
        return Scores(
            runs,
            query_ids,
            measures,
            value=_array(content["value"], shape),
            low=_array(content["low"], shape),
            high=_array(content["high"], shape),
            judged=_array(content["judged"], shape[:2]),
            bounds=str(content["bounds"]),
            topics=str(content["topics"]),
            open=str(content["open"]),
            most_relevant=None if content["most_relevant"] is None else int(content["most_relevant"]),
            mean_over=int(content["mean_over"]),
            notes=[_loaded_notes(saved) for saved in content["notes"]],
            outer=[_loaded_measure(saved, name) for saved in content["outer"]],
            without_relevant=_names(content["without_relevant"]),
            parts=None if content["parts"] is None else _array(content["parts"], (len(PARTS), *shape)),
            origin=_loaded_origin(content["origin"]),
        )
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise DataError(f"{name}: these are not scores that rankbounds saved.") from None


def _loaded_origin(saved: Any) -> Origin | None:
    if saved is not None and not all(isinstance(saved[part], dict) for part in ("judgments", "settings")):
        raise TypeError
    return None if saved is None else {part: saved[part] for part in ("judgments", "settings")}


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
        prepared=str(saved["prepared"]),
        strange_documents=str(saved["strange_documents"]),
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


def _loaded_measure(saved: Mapping[str, Any], file: str) -> Measure:
    label = saved["label"]
    exactly = {name: float(value) for name, value in saved["exactly"].items()}
    if "lower_is_better" in saved:
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
