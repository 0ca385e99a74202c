"""Is the difference too small to matter? Non-inferiority and equivalence within a margin.

A run is *not inferior* if a one-sided test rules out a loss of the margin or more, and two runs are *equivalent* if
that holds in both directions (TOST, Schuirmann 1987). A t test only knows the changes that were seen; *betting* assumes
only their range: a gambler bets a share of the capital on every topic, at odds that are fair if the loss is the margin,
and the capital, averaged over shares, grows by 1 / p with probability p at most (Waudby-Smith and Ramdas, Estimating
Means of Bounded Random Variables by Betting, JRSS B 86, 2024). ``benchmarks/margins.py`` measures levels.
"""

from __future__ import annotations

import math
from itertools import count
from numbers import Real

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import differences as subtract
from rankbounds.stats.corrections import CORRECTIONS
from rankbounds.stats.significance import TESTS, PairedTest, Resampling, least_of_signs, p_values

TOST = "tost"
LEAST_DIFFERING = 5
"""With fewer topics that differ no margin is ruled out: they do not show how large a change on another topic can be.

With this rule, runs whose true loss is the margin pass in 0 to 7% of samples, by all measures and numbers of topics
tried; without it in up to 37% (``benchmarks/margins.py``).
"""
EQUIVALENCE = PairedTest(
    TOST, lambda differences, *_: np.ones(len(differences)), of_difference=False, source="schuirmann1987comparison",
    words="two one-sided t tests, margin {margin:g}",
)  # fmt: skip
"""As a test of pairs: ``p_of_margin`` gives its p-values, and without a margin nothing is ruled out."""
BETTING = "betting"


def find_test(name: str) -> PairedTest:
    return EQUIVALENCE if name == TOST else TESTS[name]


def check_margin(margin: float) -> None:
    if not (isinstance(margin, Real) and 0 <= margin < math.inf):
        raise UsageError(f"A margin is the largest difference that does not matter, 0 or more, not {margin}.")


def check_equivalence(margin: float | None, alternative: str, correction: str) -> None:
    if not margin:
        raise UsageError(
            "The test tost needs a margin above 0, the largest difference that does not matter: --margin 0.01, or "
            "margin=0.01 in Python's compare."
        )
    if alternative != "two-sided":
        raise UsageError("An equivalence test is two-sided; for one side use the gate (--fail-if).")
    if CORRECTIONS[correction].resamples:
        raise UsageError(f"The correction {correction} is for differences; with the test tost use holm.")


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
    clusters lose by chance as the spread of all. Where fewer than ``LEAST_DIFFERING`` topics differ, p is 1.
    """
    differences = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    sides = [(-margin, "greater")] if losses_only else [(-margin, "greater"), (margin, "less")]
    held, how = np.ones(1) if weights is None else weights, (resampling, measure)
    found = [
        p_values(subtract(differences, np.broadcast_to(moved * held, differences.shape)), test, side, *how)
        for moved, side in sides
    ]
    differing = np.count_nonzero(differences, axis=-1)
    floor = np.where(differing < LEAST_DIFFERING, 1.0, least_of_signs(differing, "greater"))
    return np.maximum.reduce([*found, floor])


def topics_for_margin(alpha: float) -> int:
    """Count the topics that must differ to rule out a margin at this level."""
    return max(LEAST_DIFFERING, math.floor(-math.log2(alpha)) + 1)


SHARES = 400
"""How many shares of the capital are tried; more change nothing that is shown."""


def betting_p_values(shares: Floats, limit: float) -> Floats:
    """Test for each row of numbers between 0 and 1 that their mean is at most ``limit``; small where it is above."""
    bets = (np.arange(SHARES) + 0.5) / SHARES / limit
    growth = np.zeros((*shares.shape[:-1], SHARES))
    for topic in range(shares.shape[-1]):  # (runs x topics x shares would be large)
        growth += np.log1p(bets * (shares[..., topic, None] - limit))
    most = growth.max(axis=-1, keepdims=True)
    capital = np.log(np.exp(growth - most).mean(axis=-1)) + most[..., 0]
    return np.exp(-np.maximum(capital, 0.0))


def least_topics(margin: float, limits: tuple[float, float], alpha: float) -> int:
    """Count the topics without change with which betting rules out the margin."""
    growth = 1 / (1 - min(margin / -limits[0], 1 - 1e-12))
    capitals = ((growth**topics - 1) / (topics * (growth - 1)) for topics in count(2))  # after one topic fewer
    return 1 + next(fewer for fewer, capital in enumerate(capitals) if capital * alpha > 1)


def p_of_bounded_margin(
    differences: Floats, margin: float, limits: tuple[float, float], *, losses_only: bool = False
) -> Floats:
    """Test by betting, as ``p_of_margin`` does, for differences between ``limits``."""
    least, most = limits
    if not np.isfinite([least, most]).all():
        raise UsageError(f"The {BETTING} test of a margin needs a measure with a known range.")
    differences = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    span = most - least
    found = []
    for values, low in [(differences, least)] if losses_only else [(differences, least), (-differences, -most)]:
        limit = (-margin - low) / span
        shares = np.clip((values - low) / span, 0.0, 1.0)
        found.append(betting_p_values(shares, limit) if limit > 0 else np.zeros(len(values)))
    return np.maximum.reduce(found)
