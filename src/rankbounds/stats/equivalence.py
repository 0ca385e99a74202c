"""Is the difference too small to matter? Not worse by more than a margin, and equivalent within one.

A test that finds no difference has not shown that there is none. To show that, name the margin: the largest difference
that does not matter. A run is *not inferior* when a loss of the margin or more is ruled out by a one-sided test, and
two runs are *equivalent* when that holds in both directions (two one-sided tests, TOST; the larger p-value counts). The
test of a margin is any paired test of the differences moved by it. With the t test, equivalence at the level alpha is
the same as a 1 - 2 alpha interval that lies within the margin on both sides.

Source: Schuirmann, A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the
Equivalence of Average Bioavailability, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.
"""

from __future__ import annotations

import math

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import differences as differences_between
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.significance import Resampling, p_values

TOST = "tost"
"""The name of the two one-sided t tests where a test is asked for."""
SOURCE = "schuirmann1987comparison"


def check_margin(margin: float) -> None:
    """Reject a margin that is none."""
    if not 0 <= margin < math.inf:
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
    if CORRECTIONS[correction].by_shuffles:
        raise UsageError(f"The correction {correction} is for differences; with the test tost take holm.")


def not_inferior(
    gains: Floats,
    margin: float,
    test: str = "t",
    resampling: Resampling | None = None,
    measure: object = "A score",
) -> Floats:
    """For each row of differences, where more is better: the p-value of a loss of ``margin`` or more.

    Where it is small, such a loss is ruled out.
    """
    return p_values(_moved(gains, margin), test, "greater", resampling, measure)


def equivalent(
    differences: Floats,
    margin: float,
    test: str = "t",
    resampling: Resampling | None = None,
    measure: object = "A score",
) -> Floats:
    """For each row of differences, the p-value of a difference of ``margin`` or more, in whichever direction.

    Where it is small, such differences are ruled out.
    """
    above = not_inferior(differences, margin, test, resampling, measure)
    below = p_values(_moved(differences, -margin), test, "less", resampling, measure)
    return np.maximum(above, below)


def _moved(differences: Floats, margin: float) -> Floats:
    """The differences plus the margin, 0 where they are equal to it but for rounding."""
    differences = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    return differences_between(differences, np.full(differences.shape, -margin))
