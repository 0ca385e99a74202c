"""Confidence intervals of means over topics.

For a measure with a known range it is Wilson's interval for a proportion, with the variance of the topics' scores and
a t quantile. Where scores pile up at one end it is widened by what so few topics may not have shown: if all of n topics
have the highest score, a share 1 - (alpha / 2) ** (1 / n) of all topics could have the lowest (Clopper and Pearson); if
only some have, by less in proportion. A measure without a known range has the t interval, and none where all scores are
the same. ``benchmarks/intervals.py`` compares the methods. Sources: Wilson, JASA 22, 1927; Korn and Graubard, Survey
Methodology 24, 1998 (another variance); Clopper and Pearson, Biometrika 26, 1934.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.choices import check_share
from rankbounds.evaluation.score_differences import TOLERANCE, limits_of

if TYPE_CHECKING:
    from rankbounds.evaluation.clusters import Clusters, ClustersLike
    from rankbounds.evaluation.scores import Scores

MANY = 10_000
"""With more degrees of freedom than that, two terms of the expansion of the t quantile are exact to ten digits."""


class MeanScore(float):
    """The mean of one run by one measure: a number that knows its bounds and its confidence interval.

    Attributes
    ----------
    low, high : float
        Bounds: what missing judgments (or ties) leave open.
    ci_low, ci_high : float
        The confidence interval over topics as a sample; NaN where there is none.
    """

    low: float
    high: float
    ci_low: float
    ci_high: float


def numbers_of(means: Scores) -> MeanScore | dict[str, MeanScore]:
    """Return the mean by the one measure of scores, or of several runs a dict of them."""
    ends = {name: getattr(means, name)[:, 0, 0].tolist() for name in ("low", "high", "ci_low", "ci_high")}
    numbers = [MeanScore(value) for value in means.value[:, 0, 0].tolist()]
    for place, number in enumerate(numbers):
        vars(number).update({name: end[place] for name, end in ends.items()})
    return numbers[0] if len(numbers) == 1 else dict(zip(means.runs, numbers, strict=True))


def mean_of(
    scores: Scores, name: str, confidence: float | None = None, clusters: ClustersLike | Clusters | None = None
) -> Scores:
    """Return the means of scores with their intervals as the topic of this name, as ``Scores.mean`` describes."""
    confidence = scores.confidence if confidence is None else confidence
    counted = ~np.isnan(scores.value)
    number_of_topics = counted.sum(axis=1, keepdims=True)
    sums, logarithms = (
        np.array([measure.total == kind for measure in scores.measures], dtype=bool) for kind in ("sum", "geometric")
    )
    divisor = np.where(sums, 1, np.maximum(number_of_topics, 1))

    def total(array: Floats) -> Floats:
        summed: Floats = np.where(counted, array, 0.0).sum(axis=-2, keepdims=True)
        mean: Floats = np.where(number_of_topics > 0, summed / divisor, np.nan)
        return of_total(mean)

    def of_total(mean: Floats) -> Floats:
        return np.where(logarithms, np.exp(np.where(logarithms, mean, 0.0)), mean) if logarithms.any() else mean

    limits = [limits_of(measure, scores.value[:, :, place]) for place, measure in enumerate(scores.measures)]
    least, most = np.array(limits, dtype=np.float64).reshape(-1, 2).T
    by_topic, degrees = np.moveaxis(scores.value, 1, -1), None
    if clusters is not None or scores.clusters:
        from rankbounds.evaluation.clusters import find_clusters  # (which reads files: few need it)

        grouped = find_clusters(scores.clusters if clusters is None else clusters, scores.query_ids)
        by_topic, degrees = grouped.spread_means(by_topic)
    of_means = intervals_of_means(by_topic, least, most, confidence, degrees)
    interval = (of_total(end[:, None] * np.where(sums, number_of_topics, 1)) for end in of_means)
    seen = (~np.isnan(scores.judged)).sum(axis=1, keepdims=True)
    judged = np.nansum(scores.judged, axis=1, keepdims=True) / np.maximum(seen, 1)
    return replace(
        scores,
        query_ids=[name],
        value=total(scores.value),
        low=total(scores.low),
        high=total(scores.high),
        judged=judged if scores.has_judged else np.full(judged.shape, np.nan),
        parts=None if scores.parts is None else total(scores.parts),
        mean_over=len(scores.query_ids),
        interval=np.stack(list(interval)),
        confidence=confidence,
        clusters={},
    )


def intervals_of_means(
    values: Floats,
    least: Floats | float,
    most: Floats | float,
    confidence: float = 0.95,
    degrees: Ints | None = None,
) -> tuple[Floats, Floats]:
    """Compute the confidence interval of the mean along the last axis of scores.

    Parameters
    ----------
    values : array
        Scores; the last axis is topics. NaN marks a topic that does not count.
    least, most : float or array
        The range of the scores; infinite where it is unknown.
    confidence : float, default 0.95
        How sure the interval is.
    degrees : array, optional
        Degrees of freedom; by default one less than the number of values that count.

    Returns
    -------
    tuple of arrays
        The lower and the upper end. NaN for fewer than two topics, for infinite scores, and where all are the same and
        one end of the range is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> import rankbounds as rb
    >>> low, high = rb.stats.intervals_of_means(np.array([[0.2, 0.4, 0.9, 0.5]]), 0.0, 1.0)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.158], [0.842])
    """
    check_share("confidence", confidence)
    counted = ~np.isnan(values)
    number = counted.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.where(counted, values, 0.0).sum(axis=-1) / np.where(number > 1, number, np.nan)
        apart = np.where(counted, values - mean[..., None], 0.0)
        squares = (apart**2).sum(axis=-1)
        same = np.abs(apart).max(axis=-1, initial=0.0) <= TOLERANCE * np.abs(mean)
        error = np.where(same, 0.0, np.sqrt(squares / (number * (number - 1.0))))
        bounded = np.isfinite(least) & np.isfinite(most)
        span = np.where(bounded, np.subtract(most, least), 1.0)
        at_least, at_most = (
            np.where(
                same,
                1.0,
                (counted & (np.abs(values - _column(end)) <= TOLERANCE * _column(span))).sum(axis=-1) / number,
            )
            for end in (least, most)
        )
        degrees = number - 1 if degrees is None else degrees
        distinct, place = np.unique(degrees, return_inverse=True)
        quantiles = [student_quantile((1 + confidence) / 2, each) if each > 0 else np.nan for each in distinct.tolist()]
        reach = np.array(quantiles)[place].reshape(degrees.shape) * error
        share = np.clip((mean - least) / span, 0.0, 1.0)
        # Wilson: (share - m)^2 = k m (1 - m), with k the square of the reach, as a multiple of what a proportion has.
        chance = share * (1 - share)
        k = np.where(chance > 0, (reach / span) ** 2 / np.where(chance > 0, chance, 1.0), 0.0)
        half = np.sqrt(k * chance + (k / 2) ** 2)
        # What n topics may not have shown, by the share of them at the other end of the range.
        unseen = 1 - ((1 - confidence) / 2) ** (1 / np.maximum(number, 1))
        low = np.minimum((share + k / 2 - half) / (1 + k), share * (1 - at_most * unseen))
        high = np.maximum((share + k / 2 + half) / (1 + k), share + (1 - share) * at_least * unseen)
        known = np.where(np.isfinite(mean) & np.isfinite(error), mean, np.nan)
        plain = np.where(same, np.nan, known)
        return (
            np.where(
                bounded, np.minimum(known, least + span * low), np.minimum(plain, np.maximum(plain - reach, least))
            ),
            np.where(
                bounded, np.maximum(known, least + span * high), np.maximum(plain, np.minimum(plain + reach, most))
            ),
        )


def widen(mean: Floats, interval: tuple[Floats, Floats], below: Floats, above: Floats) -> tuple[Floats, Floats]:
    """Widen the interval of a mean by how far errors of another kind, independent of topics, reach on either side."""
    low, high = interval
    return mean - np.hypot(mean - low, below), mean + np.hypot(high - mean, above)


def _column(end: Floats | float) -> Floats:
    return np.asarray(end, dtype=np.float64)[..., None]


@lru_cache(maxsize=256)
def student_quantile(probability: float, degrees: int) -> float:
    """Compute the quantile of Student's t distribution at a probability above one half (SciPy takes long to load).

    Source: the finite series of the distribution for whole degrees of freedom, Abramowitz and Stegun 26.7.3 and 26.7.4.
    """
    t = z = NormalDist().inv_cdf(probability)
    if degrees > MANY:
        return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    odd = degrees % 2
    step = np.arange(1 + odd, degrees - 1, 2)  # of the ratios of consecutive terms
    factors = np.concatenate([np.ones(min(degrees - odd, 1)), step / (step + 1)])
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    # The distribution is concave above 0: Newton's steps from below rise towards the quantile and never pass it.
    for _ in range(200):
        angle = math.atan2(t, math.sqrt(degrees))
        cosine = math.cos(angle)
        ratios = factors * np.concatenate([[cosine if odd else 1.0], np.full(step.size, cosine**2)])[: factors.size]
        total = math.sin(angle) * float(np.cumprod(ratios).sum())
        between = 2 / math.pi * (angle + total) if odd else total
        rise = (probability - (1 + between) / 2) / (scale * (1 + t * t / degrees) ** (-(degrees + 1) / 2))
        t += rise
        if rise <= 1e-14 * t:
            break
    return t
