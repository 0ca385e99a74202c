"""From grades to gains: what a document of each grade is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError


@dataclass(frozen=True)
class GainRule:
    """A grade's gain: the grade itself, or what a table says. Grades the table leaves out keep their value."""

    table: tuple[tuple[float, float], ...] = ()

    def __call__(self, grade: Floats) -> Floats:
        """Gains of the same shape; NaN (unjudged) stays NaN."""
        if not self.table:
            return grade
        gain = grade.copy()
        for one, worth in self.table:
            gain[grade == one] = worth
        return gain

    def __str__(self) -> str:
        return ",".join(f"{grade:g}={gain:g}" for grade, gain in self.table) or "linear"


def gain_rule(given: str | dict[float, float] | GainRule | None) -> GainRule:
    """Read ``"linear"`` or a table like ``"1=3,2=9"`` or ``{1: 3, 2: 9}``."""
    if given is None or given == "linear":
        return GainRule()
    if isinstance(given, GainRule):
        return given
    try:
        if isinstance(given, str):
            entries = [entry.split("=") for entry in given.split(",")]
            table = {float(grade): float(gain) for grade, gain in entries}
        else:
            table = {float(grade): float(gain) for grade, gain in given.items()}
    except (ValueError, AttributeError):
        raise UsageError(f'The gain rule "{given}" is neither "linear" nor a table like "1=3,2=9".') from None
    if any(not np.isfinite(gain) or gain < 0 for gain in table.values()):
        raise UsageError(f'The gain rule "{given}" holds a gain that is negative or not finite.')
    return GainRule(tuple(sorted(table.items())))
