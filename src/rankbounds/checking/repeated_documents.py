"""Runs with documents that stand in a list twice: as they are scored here, each once, and as they stand in the file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankbounds.collection.inputs import Reading
from rankbounds.collection.run import Run
from rankbounds.errors import DataError, RankboundsWarning
from rankbounds.files.named_columns import Columns
from rankbounds.files.opening import STANDARD_INPUT, read_text


def run_with_repeats(given: Any, reading: Reading) -> tuple[Run, Run | None]:
    """The run with every document once and, where a TREC file has some twice in a list, the run as it stands there."""
    path = next(iter(given.values())) if isinstance(given, Mapping) and len(given) == 1 else given
    is_file = isinstance(path, str | os.PathLike) and os.fspath(path) != STANDARD_INPUT and os.path.isfile(path)
    try:
        run = reading.run(given)
        return run, _as_it_stands(path, run.name) if is_file and reading.lenient else None
    except DataError:
        repeated = _as_it_stands(path, os.path.basename(path)) if is_file else None
        if repeated is None:
            raise
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankboundsWarning)
        run = replace(reading, lenient=True).run(given)
    if len(run) + repeated.pairs.repeats().size != len(repeated):
        return reading.run(given), None  # other lines are bad too: the error tells of them
    return run, repeated


def _as_it_stands(path: str | os.PathLike[str], name: str) -> Run | None:
    """All lines of a TREC run; None where it is no such file, or holds no document twice."""
    text = read_text(os.fspath(path))
    fields = [line.split() for line in text.tobytes().decode("utf-8", "surrogateescape").splitlines() if line.strip()]
    if not fields or any(len(row) != 6 for row in fields):
        return None
    queries, _, docs, _, scores, _ = zip(*fields, strict=True)
    try:
        table = Columns.of(queries, docs, [float(score) for score in scores], value_name="score", source=text.name)
        pairs, score = table.checked()
    except ValueError:
        return None
    return Run(name, pairs, score) if pairs.repeats().size else None
