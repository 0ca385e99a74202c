"""From grades to gains: what a document of each grade is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.columns.decimals import finite_numbers
from rankbounds.errors import UsageError


@dataclass(frozen=True)
class GainRule:
    """A grade's gain: the grade itself, or the entry of a table. Grades outside the table keep their value.

    If the table gives grade 0 a gain, every document retrieved has it, including unjudged ones that count as
    non-relevant; no grade may gain less.

    If judgments use words for grades (S, A, B, C or L0 to L3, as at NTCIR), the table names them, and they become the
    grades 1, 2, 3, ... in the order of their gains; a word of gain 0 becomes grade 0.
    """

    table: tuple[tuple[float, float], ...] = ()
    words: tuple[tuple[str, float], ...] = ()

    @cached_property
    def grade_of(self) -> dict[str, float]:
        return dict(self.words)

    def __call__(self, grade: Floats) -> Floats:
        if not self.table:
            return grade
        gain = grade.copy()
        for level, worth in self.table:
            gain[grade == level] = worth
        return gain

    def __str__(self) -> str:
        return ",".join(f"{grade:g}={gain:g}" for grade, gain in self.table) or "linear"


def gain_rule(given: str | Mapping[Any, float] | GainRule | None) -> GainRule:
    """Read ``"linear"``, or a table like ``"1=3,2=9"``, ``{1: 3, 2: 9}`` or ``"S=3,A=2,B=1"``."""
    if given is None or given == "linear":
        return GainRule()
    if isinstance(given, GainRule):
        return given
    try:
        pairs = [entry.split("=") for entry in given.split(",")] if isinstance(given, str) else given.items()
        gains = {str(grade).strip(): float(gain) for grade, gain in pairs}
    except (ValueError, AttributeError):
        raise UsageError(
            f'The gain rule "{given}" is neither "linear" nor a table like "1=3,2=9" or "S=3,A=2,B=1".'
        ) from None
    if any(not np.isfinite(gain) or gain < 0 for gain in gains.values()):
        raise UsageError(f'The gain rule "{given}" holds a gain that is negative or not finite.')
    words = finite_numbers(list(gains))[1].size
    if 0 < words < len(gains):
        raise UsageError(f'The gain rule "{given}" names some grades by numbers and some by words; use one of the two.')
    if not words:
        return GainRule(tuple(sorted((float(name), gain) for name, gain in gains.items())))
    levels = sorted({gain for gain in gains.values() if gain > 0})
    grades = {name: float(levels.index(gain) + 1 if gain > 0 else 0) for name, gain in gains.items()}
    table = {grades[name]: gain for name, gain in gains.items()}
    return GainRule(tuple(sorted(table.items())), tuple(sorted(grades.items())))
