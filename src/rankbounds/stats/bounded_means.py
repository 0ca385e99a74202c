"""Is the mean loss below a margin, whatever the distribution of changes? Tests that need their range alone.

A t test of a margin goes by the changes that were seen. If a few topics in a hundred lose much and none of them was
drawn, it knows nothing of them: where 2% of topics lose .5, the mean loss is .01, and at 24 topics a t test rules out
exactly that loss in 62% of samples, those without such a topic. Changes of a bounded measure have a range, and a test
can allow for the worst that the range leaves open. That costs topics: a loss of .01 takes 299 of them at least, for 299
topics miss in one sample of twenty that 1% of all topics lose everything.

- *betting*: a gambler bets a share of the capital on every topic, at odds that are fair if the loss is exactly the
  margin. The capital then grows by a factor of 1 / p with probability p at most, proved for every distribution. The
  capital here is the mean over all shares, so that the order of topics does not matter. (Waudby-Smith and Ramdas,
  Estimating Means of Bounded Random Variables by Betting, JRSS B 86, 2024; Cover's universal portfolio)
- *gaffke*: how likely is a weighted mean of the changes and the worst possible one below the margin, when weights are
  drawn evenly from all weights that add up to 1? For yes and no this is the exact binomial test. It needs fewer topics
  than betting; that it holds for every distribution is conjectured, proved in special cases, and no counterexample is
  known. (Gaffke, Three Test Statistics for a Nonparametric One-Sided Hypothesis on the Mean of a Nonnegative Variable,
  Mathematical Methods of Statistics 14, 2005; Learned-Miller and Thomas, A New Confidence Interval for the Mean of a
  Bounded Random Variable, 2019)

``benchmarks/margins.py`` shows levels, and what they cost in topics.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_choice
from rankbounds.errors import UsageError

SHARES = 400
"""How many shares of the capital are tried; more change nothing that is shown."""
NODES = 2000
"""Of the integral over the characteristic function."""


def betting_p_values(shares: Floats, limit: float) -> Floats:
    """Test for each row of numbers between 0 and 1 that their mean is at most ``limit``; small where it is above."""
    bets = (np.arange(SHARES) + 0.5) / SHARES / limit
    growth = np.zeros((*shares.shape[:-1], SHARES))
    for topic in range(shares.shape[-1]):  # (runs x topics x shares would be large)
        growth += np.log1p(bets * (shares[..., topic, None] - limit))
    most = growth.max(axis=-1, keepdims=True)
    capital = np.log(np.exp(growth - most).mean(axis=-1)) + most[..., 0]
    return np.exp(-np.maximum(capital, 0.0))


def gaffke_p_values(shares: Floats, limit: float) -> Floats:
    """Test for each row of numbers between 0 and 1 that their mean is at most ``limit``; small where it is above.

    Even weights are exponential variables over their sum, so that the question is whether a sum of exponentials, each
    times a number's distance from the limit, is below 0: by the inversion of its characteristic function.
    """
    apart = np.concatenate([shares - limit, np.full((*shares.shape[:-1], 1), -limit)], axis=-1)
    scale = np.sqrt((apart**2).sum(axis=-1, keepdims=True))
    # t = tan(angle) / scale: the whole half-line in a finite range.
    angle = (np.arange(NODES) + 0.5) / NODES * (np.pi / 2)
    t = np.tan(angle)
    size, turn = np.zeros((*shares.shape[:-1], NODES)), np.zeros((*shares.shape[:-1], NODES))
    for topic in range(apart.shape[-1]):
        at = t * (apart[..., topic, None] / scale)
        size -= 0.5 * np.log1p(at * at)
        turn += np.arctan(at)
    integrand = np.exp(size) * np.sin(turn) / t / np.cos(angle) ** 2
    return np.clip(0.5 - integrand.sum(axis=-1) / NODES / 2, 0.0, 1.0)


BOUNDED: dict[str, Callable[[Floats, float], Floats]] = {"betting": betting_p_values, "gaffke": gaffke_p_values}
"""The tests of a bounded mean, by name."""


def least_topics(margin: float, limits: tuple[float, float], alpha: float) -> int:
    """Count the topics without any change with which Gaffke's test rules out the margin; betting takes a few more."""
    return math.ceil(math.log(alpha) / math.log1p(-min(margin / -limits[0], 1 - 1e-12)))


def p_of_bounded_margin(
    differences: Floats, margin: float, limits: tuple[float, float], test: str = "betting", *, losses_only: bool = False
) -> Floats:
    """Test each row of differences for one of ``margin`` or more; where the p-value is small, it is ruled out.

    Differences lie between ``limits``. With ``losses_only`` a loss is tested (of differences where more is better),
    else both directions, of which the larger p-value counts.
    """
    check_choice("test of a margin", test, list(BOUNDED))
    least, most = limits
    if not np.isfinite([least, most]).all():
        raise UsageError(f"The {test} test of a margin needs a measure with a known range.")
    differences = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    span = most - least
    found = []
    for values, low in [(differences, least)] if losses_only else [(differences, least), (-differences, -most)]:
        limit = (-margin - low) / span
        shares = np.clip((values - low) / span, 0.0, 1.0)
        found.append(BOUNDED[test](shares, limit) if limit > 0 else np.zeros(len(values)))
    return np.maximum.reduce(found)
