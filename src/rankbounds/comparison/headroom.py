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
from rankbounds.stats.significance import EXACT_SIZES, EXACT_TOPICS, RESAMPLES, check_test

MANY_DIFFERENCES = 64
"""With so many topics that differ, tests by signs reach every level that there is."""


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
    test : {"randomization", "t", "wilcoxon", "sign", "bootstrap"}
        The test.
    alternative : {"two-sided", "greater", "less"}
        Two sides, or one.
    resamples : int
        For tests that resample: p is never below 1 / (resamples + 1).

    Returns
    -------
    array
        A p-value for each number of differing topics. Where it is not below alpha, the test cannot succeed.

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
    from scipy import stats

    check_test(test, alternative)
    count = np.asarray(differing, dtype=np.float64)
    if (count < 0).any():
        raise UsageError("The number of topics that differ must not be negative.")
    signs_alone = 0.5**count
    if test == "t":
        alike = np.maximum(topics - count, 0.0)  # topics without a difference
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(count > 0, np.sqrt(count * (topics - 1) / alike), 0.0)
        one_sided = stats.t.sf(t, topics - 1)
    elif test == "wilcoxon":
        of_equal_sizes = np.where(count > 1, stats.norm.sf(np.sqrt(count)), 1.0)
        one_sided = np.where(count <= EXACT_SIZES, np.minimum(signs_alone, of_equal_sizes), of_equal_sizes)
    elif test == "bootstrap":
        least = 1 / (resamples + 1)
        return np.where(count > 0, least, 1.0)
    else:
        one_sided = signs_alone
    p = np.minimum(1.0, 2 * one_sided) if alternative == "two-sided" else one_sided
    sampled = test == "randomization" and topics > EXACT_TOPICS
    return np.maximum(p, 1 / (resamples + 1)) if sampled else p


def topics_that_must_differ(
    topics: int, test: str, alpha: float, *, alternative: str = "two-sided", resamples: int = RESAMPLES
) -> int:
    """On how many topics two systems must differ at the least for p < alpha; 0 where that is never enough.

    More than there are topics means that so few topics show nothing, whatever happens on them.
    """
    counts = np.arange(1, max(topics, MANY_DIFFERENCES) + 1)
    enough = smallest_p_value(counts, topics, test, alternative=alternative, resamples=resamples) < alpha
    return int(counts[enough.argmax()]) if enough.any() else 0


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
