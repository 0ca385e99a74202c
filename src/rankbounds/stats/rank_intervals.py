"""Between which places a system stands: "between 3rd and 9th", how often it is first, its expected place.

A system stands behind every system that is surely better, and before every one that is surely worse. A test that bounds
the chance of *any* wrong statement by alpha gives intervals that hold for all systems together with probability
1 - alpha (Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks"). Statements come

- from resampled topics (``bootstrap``): the largest studentised difference of any two systems in each resample says how
  large a t has to be. It assumes no more than that topics are a sample; or
- from the test and correction of the comparison (``test``). Tukey's test shuffles the systems' scores, which takes them
  to vary alike over topics; where they do not, its intervals hold somewhat less often than they say (90% instead of 95%
  in a simulation with deviations from 0.5 to 2), and they are wider where systems differ much.

For two systems the test decides alone. How often a system is first, and its mean place, are over resampled topics: they
describe how much the order depends on the choice of topics, and are no probabilities of being truly best.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.score_differences import levelled, zeroed
from rankbounds.stats import significance
from rankbounds.stats.corrections import CORRECTIONS, correct_p_values, largest_t, p_of_largest

METHODS = ("auto", "test", "bootstrap")
CELLS = 20_000_000
"""So many t of pairs are resampled; of many pairs fewer times than asked for, but a thousand times."""
DRAWS = 2_000_000
"""So many topics are drawn for places; of many topics fewer sets than asked for, but a thousand."""
_RESAMPLES_AT_ONCE = 1 << 17


def places(means: Floats, first: Ints, second: Ints, separated: Flags) -> tuple[Ints, Ints, Ints]:
    """Place each system by its mean; return also the least and the greatest place that the separated pairs leave.

    Means are the greater the better. Systems of equal means share the place of the first of them.
    """
    level = levelled(means)
    rank = 1 + np.count_nonzero(level[None, :] > level[:, None], axis=1)
    lead = np.sign(level[first] - level[second]) * separated
    ahead, behind = np.where(lead >= 0, first, second), np.where(lead >= 0, second, first)
    sure = lead != 0
    worse = np.bincount(ahead[sure], minlength=means.size)
    better = np.bincount(behind[sure], minlength=means.size)
    return rank, 1 + better, means.size - worse


def separated_pairs(p_values: Floats, p_adjusted: Floats, correction: str, alpha: float) -> Flags:
    """Find the pairs that a test separates, such that the chance of any wrong statement is at most alpha.

    Where the correction does not say that, Holm's takes its place.
    """
    if p_values.size > 1 and not CORRECTIONS[correction].family_wise:
        p_adjusted = correct_p_values(p_values, "holm")
    return p_adjusted < alpha


def separated_by_bootstrap(
    scores: Floats, alpha: float, resampling: significance.Resampling, drawn: Floats | None = None
) -> Flags:
    """Find the pairs whose t is beyond the largest of any pair in all but a share alpha of resamples of topics.

    ``scores`` has a row for each system and a column for each topic. ``drawn`` are ``topic_counts`` that are at hand.
    """
    first, second = significance.pairs_of(scores.shape[0])
    resampling = resampling.at_most(CELLS // max(1, first.size))
    if drawn is None or len(drawn) < resampling.resamples:
        drawn = significance.topic_counts(scores.shape[1], resampling)
    counts = drawn[: resampling.resamples]
    level = levelled(scores.T).T
    apart = significance.check_differences(level[first] - level[second])
    largest_score = np.abs(level).max(axis=-1)
    scale, topics = np.maximum(largest_score[first], largest_score[second]), apart.shape[-1]
    centre, deviation = zeroed(apart.mean(axis=-1), scale), zeroed(apart.std(axis=-1, ddof=1), scale)
    error = deviation / np.sqrt(topics)
    observed = significance.over_error(np.abs(centre), error)
    p = p_of_largest(observed, largest_t([(apart - centre[:, None]) / topics], error, [counts]))
    # What is the same on every topic does not vary in resamples either: only its signs count, one of so many pairs.
    return significance.no_surer_than_signs(p, observed, topics, "two-sided", first.size) < alpha


def counts_for_places(topics: int, resampling: significance.Resampling) -> Floats:
    """Draw topics for places; a share over a thousand resamples is known to two digits."""
    return significance.topic_counts(topics, resampling.at_most(DRAWS // max(1, topics)))


def resampled_places(scores: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Compute how often each system has the best mean over resampled topics, and its mean place there.

    ``scores`` has a row for each system and a column for each topic, the greater the better; ``counts`` a row for each
    resample. Systems of equal means share a place. Infinite scores have no means to resample (NaN).
    """
    systems = scores.shape[0]
    if not np.isfinite(scores).all():
        return np.full(systems, np.nan), np.full(systems, np.nan)
    best, place = np.zeros(systems), np.zeros(systems)
    step = max(1, _RESAMPLES_AT_ONCE // systems)
    for start in range(0, len(counts), step):
        means = counts[start : start + step] @ scores.T
        # Means that differ by rounding alone share a place.
        level = np.rint(means / np.maximum(np.abs(means).max(axis=1, keepdims=True), 1e-300) * 1e12).astype(np.int64)
        first = level == level.max(axis=1, keepdims=True)
        best += (first / first.sum(axis=1, keepdims=True)).sum(axis=0)
        place += _summed_places(level)
    return best / len(counts), place / len(counts)


def _summed_places(level: Ints) -> Floats:
    """By system, the sum of its places over resamples; systems that are level share the mean of their places.

    Each resample is sorted with level systems in their order and in the reverse of it: the mean of the two places of a
    system is that which it shares.
    """
    systems = level.shape[1]
    bits = systems.bit_length()
    number, place = np.arange(systems), np.tile(np.arange(systems, 0, -1.0), len(level))
    summed = np.zeros(systems)
    for tags in (number, number[::-1]):
        tagged = np.sort(level << bits | tags, axis=1) & (1 << bits) - 1
        summed += np.bincount(tagged.ravel(), weights=place, minlength=systems)[tags] / 2
    return summed


def ordinal(place: int) -> str:
    """Write a place: 1st, 2nd, 3rd, 4th."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def words(low: int, high: int) -> str:
    """Say an interval for a place: "between 3rd and 9th", "3rd"."""
    return ordinal(low) if low == high else f"between {ordinal(low)} and {ordinal(high)}"
