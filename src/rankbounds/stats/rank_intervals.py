"""Rank intervals of systems: "between 3rd and 9th".

A system ranks behind every system shown to be better, and before every one shown to be worse: its rank lies between 1 +
the number of the former and the number of systems - that of the latter. The corrected p-values of the comparison decide
what is shown, so that ranks, letters and verdicts cannot contradict each other. If the correction bounds the
probability of *any* wrong statement over all pairs by alpha, the intervals of all systems hold together with
probability 1 - alpha (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks").
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints


def observed_places(merits: Floats) -> Ints:
    """Rank systems by score, where more is better; ties share the better rank."""
    with np.errstate(invalid="ignore"):
        place: Ints = 1 + np.count_nonzero(merits[None, :] > merits[:, None], axis=1)
    return place


def places(systems: int, first: Ints, second: Ints, lead: Floats, separated: Flags) -> tuple[Ints, Ints]:
    """Find the least and the greatest place of each system that the separated pairs leave.

    ``lead`` is above 0 where the first system of a pair is the better one.
    """
    first_better, second_better = (lead > 0) & separated, (lead < 0) & separated
    worse, better = (
        np.bincount(first[one], minlength=systems) + np.bincount(second[other], minlength=systems)
        for one, other in ((first_better, second_better), (second_better, first_better))
    )
    return 1 + better, systems - worse


def ordinal(place: int) -> str:
    """Write a place: 1st, 2nd, 3rd, 4th."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def words(low: int, high: int) -> str:
    """Say an interval for a place: "between 3rd and 9th", "3rd"."""
    return ordinal(low) if low == high else f"between {ordinal(low)} and {ordinal(high)}"
