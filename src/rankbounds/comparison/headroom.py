"""When a test cannot succeed: two systems that differ on too few topics, whatever happens on these.

A sign test of five topics gives no p below .05 with two sides, and fifty topics of which five differ are no better. To
say so before a test saves the test; to say so behind one keeps "not significant" from being read as "no difference".
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.comparison.evidence import Evidence
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import equal
from rankbounds.evaluation.scores import Scores
from rankbounds.stats.significance import RESAMPLES, TESTS, check_test

MANY_DIFFERENCES = 64
"""With this number of topics that differ, tests by signs reach every level that there is."""


def smallest_p_value(
    differing: int | Ints,
    topics: int,
    test: str = "randomization",
    *,
    alternative: str = "two-sided",
    resamples: int = RESAMPLES,
) -> Floats:
    """The smallest p-value that a paired test can give when only so many topics differ, whatever happens on them.

    Parameters
    ----------
    differing : int or array of int
        On how many topics the two systems differ, or can differ.
    topics : int
        How many topics there are.
    test : str, default "randomization"
        The test, by its name in ``rankbounds.stats.significance.TESTS``.
    alternative : {"two-sided", "greater", "less"}
        Two sides, or one.
    resamples : int
        For tests that resample: p is never below 1 / (resamples + 1).

    Returns
    -------
    array
        A p-value for each number of differing topics. Where it is not below alpha, the test cannot succeed. NaN where
        a test does not say what its smallest p-value is.

    Notes
    -----
    All differences have one sign then. The sign and randomisation tests give 2 ** (1 - differing) with two sides; where
    flips are sampled, that is the p-value that they estimate. Wilcoxon's test gives the same where no sizes are equal;
    where all are, its normal approximation is that of z = sqrt(differing), and the smaller of both is told. The t test
    is most extreme where all differences are the same. Of the bootstrap no more is known than 1 / (resamples + 1).

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.smallest_p_value([4, 5, 6], topics=50, test="sign").tolist()
    [0.125, 0.0625, 0.03125]
    >>> rb.smallest_p_value(9, topics=50, test="t").round(4).item()
    0.0019
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
    """On how many topics two systems must differ at the least for p < alpha; 0 where that is never enough.

    More than there are topics means that so few topics show nothing, whatever happens on them. None where the test does
    not say what its smallest p-value is.
    """
    counts = np.arange(1, max(topics, MANY_DIFFERENCES) + 1)
    smallest = smallest_p_value(counts, topics, test, alternative=alternative, resamples=resamples)
    enough = smallest < alpha
    return None if np.isnan(smallest).all() else int(counts[enough.argmax()]) if enough.any() else 0


def can_differ(scores: Scores, place: int, first: Ints, second: Ints, evidence: Evidence | None) -> Ints:
    """On how many topics each pair can differ by one measure at the most, whatever unjudged documents turn out to be.

    With the lists as evidence by the bounds of each topic's difference; else a topic on which two scores are equal and
    nothing of either is open has none. All topics where nothing is known.
    """
    measure, topics = scores.measures[place], scores.value.shape[1]
    if evidence is not None:
        return evidence.topics_that_can_differ(measure, first, second)
    if scores.bounds not in ("unjudged", "both") or not measure.list_only:
        return np.full(first.size, topics)
    value, low, high = (part[:, :, place] for part in (scores.value, scores.low, scores.high))
    settled = np.asarray(equal(low, high))
    alike = equal(value[first], value[second]) & settled[first] & settled[second]
    return topics - np.count_nonzero(alike, axis=-1)
