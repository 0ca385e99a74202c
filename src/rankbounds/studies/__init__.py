"""The papers' experiments on anybody's runs: one module for each, named observed-by-varied.

A study's module opens with the question it answers, and has a ``run`` that returns a ``Result``. Its figure is drawn by
the module's ``figure``, or by the function of the module's name in ``rankbounds.plots``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankbounds.arrays import Floats
from rankbounds.plots.style import COLOURS
from rankbounds.tables import plain

BESIDE: dict[str, Any] = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
"""A legend to the right of the axes, which lines and bands may cover."""


@dataclass(frozen=True)
class Result:
    """What a study found: rows for a table, and the answer in words."""

    rows: list[dict[str, Any]]
    answer: str
    settings: dict[str, Any] = field(default_factory=dict)
    """What would repeat it: seed, sample sizes, measures."""

    def by(self, name: str) -> Iterator[tuple[Any, list[dict[str, Any]], str]]:
        """The rows of each value of a column, and a colour for them."""
        for number, value in enumerate(dict.fromkeys(row[name] for row in self.rows)):
            yield value, [row for row in self.rows if row[name] == value], COLOURS[number % len(COLOURS)]


def rows_by(axes: Mapping[str, Sequence[Any]], values: Mapping[str, Floats]) -> list[dict[str, Any]]:
    """A row for each combination of what is varied, with what arrays of these axes hold there; None for NaN."""
    columns = {name: array.ravel().tolist() for name, array in values.items()}
    return [
        dict(zip(axes, varied, strict=True)) | {name: plain(column[row]) for name, column in columns.items()}
        for row, varied in enumerate(itertools.product(*axes.values()))
    ]
