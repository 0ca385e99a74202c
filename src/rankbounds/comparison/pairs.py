"""Pairs of runs: what is told of each, where it stands among all pairs, and its verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import UsageError, did_you_mean

PAIR_NUMBERS = (
    "difference",
    "ci_low",
    "ci_high",
    "effect",
    "p_value",
    "p_adjusted",
    "certain_low",
    "certain_high",
    "probability_a_better",
    "probability_b_better",
    "p_equivalent",
    "won",
    "lost",
)
PAIR_FIELDS = ("a", "b", "measure", *PAIR_NUMBERS, "certain", "verdict")
VERDICTS = (
    "no difference shown",
    "a better",
    "a better as judged",
    "b better",
    "b better as judged",
    "equivalent",
    "equivalence not shown",
)
CERTAIN = {1.0: "exact", 0.0: "outer"}
"""What is said of certain bounds: some judgments attain them, or they hold but may be wider than needed."""


def run_number(runs: Sequence[str], name: str) -> int:
    """The place of a run among the others."""
    if name not in runs:
        raise UsageError(
            f'There is no run "{name}".{did_you_mean(name, list(runs))} There are: {", ".join(runs[:12])}.'
        )
    return list(runs).index(name)


def pair_places(runs: int, first: Ints, second: Ints) -> Ints:
    """Where pairs stand among all pairs of the runs, whichever of the two comes first."""
    one, two = np.minimum(first, second), np.maximum(first, second)
    return one * runs - one * (one + 1) // 2 + two - one - 1


def pairs_among(column: Floats, runs: int, first: Ints, second: Ints, *, other: Floats | None = None) -> Floats:
    """A column of all pairs of runs for these pairs; one that stands the other way round is turned.

    A bound becomes the negative of the ``other`` one.
    """
    place = pair_places(runs, first, second)
    return np.where(first < second, column[place], 0.0 - (column if other is None else other)[place])


def verdicts(lead: Floats, p_adjusted: Floats, low: Floats, high: Floats, alpha: float) -> Ints:
    """Every pair's verdict, by its place in ``VERDICTS``, where more is better."""
    shown = (p_adjusted < alpha) & (lead != 0)
    settled = np.where(lead > 0, low > 0, high < 0)
    return np.where(shown, np.where(lead > 0, 1, 3) + ~settled, 0)
