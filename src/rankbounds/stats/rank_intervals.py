"""Rank intervals of systems: "between 3rd and 9th".

A system ranks behind every system shown to be better, and before every one shown to be worse, by the corrected p-values
of the comparison. If the correction bounds the probability of *any* wrong statement over all pairs by alpha, the
intervals of all systems hold together with 1 - alpha (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks").
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints


def observed_places(merits: Floats) -> Ints:
    with np.errstate(invalid="ignore"):
        place: Ints = 1 + np.count_nonzero(merits[None, :] > merits[:, None], axis=1)
    return place


def places(systems: int, first: Ints, second: Ints, lead: Floats, separated: Flags) -> tuple[Ints, Ints]:
    """The least and greatest place of each system that separated pairs leave; ``lead`` > 0: the first is better."""
    first_better, second_better = (lead > 0) & separated, (lead < 0) & separated
    worse, better = (
        np.bincount(first[one], minlength=systems) + np.bincount(second[other], minlength=systems)
        for one, other in ((first_better, second_better), (second_better, first_better))
    )
    return 1 + better, systems - worse


def ordinal(place: int) -> str:
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def words(low: int, high: int) -> str:
    return ordinal(low) if low == high else f"between {ordinal(low)} and {ordinal(high)}"
