"""Is the difference too small to matter? Non-inferiority and equivalence within a margin.

A test that finds no difference has not shown that there is none. To show that, name the margin: the largest difference
that does not matter. A run is *not inferior* if a one-sided test rules out a loss of the margin or more, and two runs
are *equivalent* if that holds in both directions (two one-sided tests, TOST; the larger p-value counts). Any paired
test can test the margin, on differences shifted by it.

Source: Schuirmann, A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the
Equivalence of Average Bioavailability, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.
"""

from __future__ import annotations

import math
from numbers import Real

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import differences as subtract
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.significance import Resampling, p_values

TOST = "tost"
"""The name of the two one-sided t tests where a test is asked for."""
SOURCE = "schuirmann1987comparison"


def check_margin(margin: float) -> None:
    """Reject a margin that is none."""
    if not (isinstance(margin, Real) and 0 <= margin < math.inf):
        raise UsageError(f"A margin is a number from 0 on: the largest difference that does not matter, not {margin}.")


def check_equivalence(margin: float | None, alternative: str, correction: str) -> None:
    """Reject what does not go together with the test of equivalence."""
    if not margin:
        raise UsageError(
            "The test tost needs a margin above 0, the largest difference that does not matter: --margin 0.01, or "
            "margin=0.01 in Python's compare."
        )
    if alternative != "two-sided":
        raise UsageError("Equivalence has two sides; one side of it is what the gate tests.")
    if CORRECTIONS[correction].resamples:
        raise UsageError(f"The correction {correction} is for differences; with the test tost take holm.")


def p_of_margin(
    differences: Floats,
    margin: float,
    test: str = "t",
    resampling: Resampling | None = None,
    measure: object = "A score",
    *,
    losses_only: bool = False,
    weights: Floats | None = None,
) -> Floats:
    """Test each row for a difference of ``margin`` or more; a small p-value rules it out.

    With ``losses_only`` losses are tested (larger is better), else both directions. For sums over clusters of unequal
    size, ``weights`` (of mean 1) are the number of margins in each: one margin per cluster would count what large
    clusters lose by chance as the spread of all.
    """
    differences = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    sides = [(-margin, "greater")] if losses_only else [(-margin, "greater"), (margin, "less")]
    held, how = np.ones(1) if weights is None else weights, (resampling, measure)
    return np.maximum.reduce(
        [
            p_values(subtract(differences, np.broadcast_to(moved * held, differences.shape)), test, side, *how)
            for moved, side in sides
        ]
    )
