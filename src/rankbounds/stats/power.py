"""How large a difference a test finds, how many topics that takes, and when a test cannot succeed.

A two-sided sign test of five topics never gives p below .05, nor do fifty topics of which five differ. Saying so keeps
"not significant" from being read as "no difference".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.choices import check_share
from rankbounds.errors import UsageError
from rankbounds.stats.equivalence import topics_for_margin
from rankbounds.stats.significance import DEFAULT_TEST, RESAMPLES, TESTS, check_test, least_of_signs

MOST_TOPICS = 1 << 40
SMALLEST_LEVEL = 1e-12
"""A stricter level is lost in the rounding of 1 - alpha / 2."""
LARGE_EFFECT = 20.0
"""Larger standardised effects take no fewer topics."""
LARGEST_EFFECT = 1e4
"""Of standardised effects: of larger ones the t distribution cannot be computed any more."""
MANY_DIFFERENCES = 64
"""With this number of topics that differ, tests by signs reach every level that there is."""


def check_level(alpha: float) -> None:
    check_share("alpha", alpha)
    if alpha < SMALLEST_LEVEL:
        raise UsageError(f"No test reaches the level {alpha:g}: alpha must be at least {SMALLEST_LEVEL:g}.")


def power_of_t_test(effect: float | Floats, topics: int | Ints, alpha: float = 0.05) -> Any:
    """How often a two-sided paired t test finds a true standardised effect; never where signs show nothing."""
    from scipy.special import nctdtr, stdtrit  # (scipy.stats takes long to load)

    critical = stdtrit(topics - 1, 1 - alpha / 2)
    shift = effect * np.sqrt(topics)
    wrong_side = nctdtr(topics - 1, shift, -critical)
    # Far out the distribution's tail is too small to compute, and comes out as NaN.
    power = 1 - nctdtr(topics - 1, shift, critical) + np.nan_to_num(wrong_side)
    return np.where(least_of_signs(topics) < alpha, power, 0.0)


def minimum_detectable_effect(deviation: float, topics: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """Compute the mean difference that a two-sided paired t test finds with this power.

    Parameters
    ----------
    deviation, topics
        The standard deviation of the differences over topics, and the number of topics.
    alpha, power
        The level of the test, and the probability of finding the difference.

    Returns
    -------
    float
        Infinite if so few topics never find a difference with this power at this level.

    Examples
    --------
    >>> import rankbounds as rb
    >>> round(rb.stats.minimum_detectable_effect(deviation=0.2, topics=50), 4)
    0.0808
    """
    if deviation == 0 or power_of_t_test(1e-9, topics, alpha) >= power:  # chance alone is found so often
        return 0.0
    most = 1.0
    while not power_of_t_test(most, topics, alpha) >= power:
        if most > LARGEST_EFFECT:
            return np.inf
        most *= 2
    low = 1e-9
    for _ in range(100):  # (the power rises with the effect, and scipy.optimize takes long to load)
        middle = (low + most) / 2
        low, most = (middle, most) if power_of_t_test(middle, topics, alpha) < power else (low, middle)
    return most * deviation


def topics_needed(difference: float, deviation: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Count the topics that a two-sided paired t test needs to find a mean difference with this power (Sakai's design).

    Parameters
    ----------
    difference, deviation
        The true mean difference between two systems, and its standard deviation over topics.
    alpha, power
        The level of the test, and the probability of finding the difference.

    Returns
    -------
    int
        At least 2, by the noncentral t distribution: exact for normally distributed differences.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.stats.topics_needed(0.05, 0.2)
    128
    """
    if difference == 0:
        raise UsageError("No number of topics can show a difference of 0.")
    check_level(alpha)
    check_share("power", power)
    effect = abs(difference) / deviation if deviation else np.inf
    needed = int(topics_for_effects(np.array([effect]), alpha, power)[0])
    if not needed:
        raise UsageError(f"The difference {difference:g} is too small for any realistic number of topics.")
    return needed


def topics_for_effects(effects: Floats, alpha: float, power: float) -> Ints:
    """The topics that the t test needs per standardised effect; 0 if no realistic number suffices."""
    size = np.minimum(np.abs(np.ravel(effects)), LARGE_EFFECT)
    needed = _least_topics(lambda at, topics: power_of_t_test(size[at], topics, alpha), size, alpha, power)
    return needed.reshape(np.shape(effects))


def topics_for_equivalence(difference: Floats, deviation: Floats, margin: float, alpha: float, power: float) -> Ints:
    """The topics with which both one-sided t tests rule out ``margin``; 0 if no realistic number suffices."""
    from scipy.special import nctdtr, stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        effects = [np.ravel((margin + sign * np.abs(difference)) / deviation) for sign in (-1, 1)]
        near, far = np.minimum(effects, LARGE_EFFECT)

    def found(at: Ints, topics: Ints) -> Floats:
        # Both fail together at most as often as either: a lower bound, and all but equal where the power is high.
        # Far out what is missed is too small to compute, and comes out as NaN.
        critical, root = stdtrit(topics - 1, 1 - alpha), np.sqrt(topics)
        missed = [np.nan_to_num(nctdtr(topics - 1, effect[at] * root, critical)) for effect in (near, far)]
        return np.where(topics >= topics_for_margin(alpha), 1 - missed[0] - missed[1], 0.0)

    return _least_topics(found, near, 2 * alpha, power).reshape(np.shape(difference))


def _least_topics(power_of: Callable[[Ints, Ints], Floats], effects: Floats, alpha: float, power: float) -> Ints:
    from scipy.special import ndtri

    needed = np.zeros(effects.shape, dtype=np.int64)
    left = np.flatnonzero(effects > MOST_TOPICS**-0.5)
    # The normal distribution's answer is off by a topic or two, unless the power asked for is a low one.
    guess = ((ndtri(1 - alpha / 2) + ndtri(power)) / effects[left]) ** 2 + ndtri(1 - alpha / 2) ** 2 / 2
    many = np.clip(guess, 2, MOST_TOPICS).astype(np.int64) + 1
    few = np.ones(many.shape, dtype=np.int64)  # so many are not enough
    while (short := np.flatnonzero(power_of(left, many) < power)).size:
        few[short], many[short] = many[short], 2 * many[short]
    below = np.maximum(many - 2, 2)
    enough = power_of(left, below) >= power
    few, many = np.where(enough, few, np.maximum(few, below)), np.where(enough, below, many)
    while (wide := np.flatnonzero(many - few > 1)).size:
        middle = (few[wide] + many[wide]) // 2
        enough = power_of(left[wide], middle) >= power
        few[wide], many[wide] = np.where(enough, few[wide], middle), np.where(enough, middle, many[wide])
    needed[left] = np.where(many <= MOST_TOPICS, many, 0)
    return needed


def smallest_p_value(
    differing: int | Ints,
    topics: int,
    test: str = DEFAULT_TEST,
    *,
    alternative: str = "two-sided",
    resamples: int = RESAMPLES,
) -> Floats:
    """Return the smallest p-value that a paired test can give when only so many topics differ.

    Parameters
    ----------
    differing, topics
        On how many topics the two systems differ, or can differ (may be an array), and how many topics there are.
    test, alternative, resamples
        As in ``compare``; with resamples p is never below 1 / (resamples + 1).

    Returns
    -------
    array
        A p-value for each number of differing topics, 2 ** (1 - differing) at least for tests of a mean and for signs.
        Where it is not below alpha, the test cannot succeed. NaN where a test does not say it.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.stats.smallest_p_value([4, 5, 6], topics=50, test="sign").tolist()
    [0.125, 0.0625, 0.03125]
    >>> rb.stats.smallest_p_value(9, topics=50, test="t").round(4).item()
    0.0039
    """
    check_test(test, alternative)
    count = np.asarray(differing, dtype=np.float64)
    if (count < 0).any():
        raise UsageError("The number of topics that differ must not be negative.")
    found = TESTS[test].smallest_p(count, topics, alternative, resamples)
    return np.full(count.shape, np.nan) if found is None else found


def topics_that_must_differ(
    topics: int, test: str, alpha: float, *, alternative: str = "two-sided", resamples: int = RESAMPLES
) -> int | None:
    """On how many topics systems must differ for p < alpha; 0 if no number suffices, None if unknown."""
    counts = np.arange(1, max(topics, MANY_DIFFERENCES) + 1)
    smallest = smallest_p_value(counts, topics, test, alternative=alternative, resamples=resamples)
    enough = smallest < alpha
    return None if np.isnan(smallest).all() else int(counts[enough.argmax()]) if enough.any() else 0
