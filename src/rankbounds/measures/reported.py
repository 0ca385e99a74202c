"""Scores that another tool computed, under a name that no measure here has."""

from __future__ import annotations

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.measure import Measure
from rankbounds.rankings.rankings import Rankings


class Reported(Measure):
    """A number that a table reports, known by its name alone: it can be compared, but not computed from a ranking.

    Nothing is promised of it. More is better; ``ReportedEffort`` is for what counts effort.
    """

    called: str = ""

    promotable = False

    def value(self, rankings: Rankings) -> Floats:  # noqa: ARG002
        raise UsageError(f"{self} is a name in a table of scores: it cannot be computed from rankings.")

    def __str__(self) -> str:
        return self.called


class ReportedEffort(Reported):
    """As ``Reported``, but less is better."""

    lower_is_better = True
