"""Where blanks end and begin, for many places of one text at a time."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Bytes, Ints

LONG = 64
"""Characters that are walked one by one, all places at a time."""


def past(positions: Ints, text: Bytes, step: int, *, blanks: bool) -> Ints:
    """Each position moved forwards (``step`` 1) or backwards (-1) past the blanks there, or past what is not blank.

    Backwards something else is known to stand before; forwards a position may come to stand behind the end of the text.
    """
    moved, rows = positions.copy(), np.arange(positions.size)
    ahead = min(step, 0)
    for _ in range(LONG):
        rows = rows[(text.take(moved[rows] + ahead, mode="clip") <= 32) == blanks]
        if not rows.size:
            return moved
        moved[rows] += step
    # The few that are still inside would take a step for each character: where they end is looked up instead.
    stops = np.append(np.flatnonzero((text <= 32) != blanks), text.size)
    moved[rows] = stops.take(np.searchsorted(stops, moved[rows]) + ahead, mode="clip") - ahead
    return moved
