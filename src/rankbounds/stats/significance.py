"""Paired tests of significance over topics, for any number of pairs at once.

A test is one ``PairedTest`` in ``TESTS``: its function, and the facts that tables, sentences, help and the gate need.
Functions take ``differences`` with a row per pair of systems and a column per topic, as ``score_differences`` makes
them: equal scores differ by exactly 0, and equal sizes are the same number. Tests that resample share one set of sign
flips or topic counts among all pairs, so that they are a few matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_choice, check_count
from rankbounds.errors import DataError
from rankbounds.evaluation.score_differences import TOLERANCE, drop_rounding, merge_equal
from rankbounds.evaluation.score_differences import differences as differences_between
from rankbounds.threads import in_threads, processors

DEFAULT_TEST = "t"
"""The test where none is named: in ``compare``, slices, the gate, reports and on the command line."""
ALTERNATIVES = ("two-sided", "greater", "less")
EXACT_TOPICS = 16
"""Up to this number of topics, the randomisation test enumerates all sign flips (2^16); beyond it, it samples them."""
EXACT_SIZES, EXACT_EQUAL_SIZES = 50, 25
"""Up to so many differences, no two of one size, or some of them, Wilcoxon's test counts all sign flips."""
RESAMPLES = 10_000
MOST_RESAMPLES = 10_000_000
_CELLS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Resampling:
    """How tests that resample do it."""

    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("The number of resamples", self.resamples, most=MOST_RESAMPLES)
        check_count("The seed", self.seed, least=0)

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)


def check_differences(differences: Floats) -> Floats:
    """Reject fewer than two topics, and a topic that one side lacks."""
    differences = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    if differences.shape[-1] < 2:
        raise DataError("A paired test needs at least two topics with scores of both systems.")
    if np.isnan(differences).any():
        raise DataError('A topic has a score for only one run of a pair. Score both runs with topics="judged".')
    return differences


@dataclass(frozen=True)
class PairedTest:
    """A paired test: p-values from rows of differences, alternative and resampling, and what others need to know."""

    name: str
    p_values: Callable[[Floats, str, Resampling], Floats]
    one_sided_least: Callable[[Floats, int], Floats] | None = None
    """The smallest one-sided p-value, given the numbers of topics that differ and of all; None if unknown."""
    resamples: bool = False
    exact_topics: int = 0
    """Up to this number of topics, a resampling test enumerates all sign flips instead."""
    of_mean: bool = True
    """Does it test the mean difference? Other tests use signs and ranks, which infinite differences have too."""
    of_difference: bool = True
    """Does a small p-value show a difference, and not that there is none of the margin or more?"""
    of_interval: bool = False
    """Does its two-sided p-value reject what lies outside of the t interval, and nothing else?"""
    words: str = "{test} test"
    """What p-values come from, given the settings of a comparison."""
    correction: str = "holm"
    """The correction used with it when several pairs are tested."""
    level: str = ""
    """How often it finds a difference between equal means at the level 5%, by ``benchmarks/levels.py`` (one pair)."""
    source: str | None = None
    """What to cite, by its key in ``measures/naming/sources.bib``."""
    called: tuple[str, ...] = ()
    """Other names of the test, for "did you mean"."""

    def draws(self, settings: Mapping[str, Any]) -> list[str]:
        if self.exact_topics >= (settings["clusters"] or settings["topics"]):
            return ["all sign flips"]
        return [drawn_words(settings)] if self.resamples else []

    def smallest_p(self, differing: Floats, topics: int, alternative: str, resamples: int) -> Floats | None:
        """Return the smallest possible p-value where only some topics differ; None where it is not known."""
        if self.one_sided_least is None:
            return None
        p = self.one_sided_least(differing, topics)
        p = np.maximum(_tail(p, p, alternative), least_of_signs(differing, alternative))
        # Among resamples the outcome at hand counts as one.
        return np.maximum(p, 1 / (resamples + 1)) if self.resamples and topics > self.exact_topics else p


TESTS: dict[str, PairedTest] = {}
"""All paired tests, by name. A test registered here works everywhere."""


def register(test: PairedTest) -> PairedTest:
    """Register a test for ``compare``, the gate, slices, reports and the command line."""
    TESTS[test.name] = test
    return test


def drawn_words(settings: Mapping[str, Any]) -> str:
    return f"{settings['resamples']:,} resamples, seed {settings['seed']}"


def _tail(at_least: Floats, at_most: Floats, alternative: str) -> Floats:
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * np.minimum(at_least, at_most))
    return at_least if alternative == "greater" else at_most


def least_of_signs(differing: Floats | Ints | int, alternative: str = "two-sided") -> Floats:
    """The smallest p-value of the signs of so many topics that differ; no test of a mean is surer than that."""
    p = 0.5 ** np.asarray(differing, dtype=np.float64)
    return _tail(p, p, alternative)


def too_few(differing: Floats | Ints | int, confidence: float) -> Flags:
    """Mark where so few topics differ that no p can be below 1 - confidence, and there is no such interval either."""
    return least_of_signs(differing) >= 1 - confidence


# ---- the t test ----


def t_test(differences: Floats, alternative: str, _: Resampling) -> Floats:
    """Student's paired t test: assumes that the mean difference is about normal."""
    from scipy.special import stdtr

    t, topics = t_statistic(differences), differences.shape[-1]
    return _tail(stdtr(topics - 1, -t), stdtr(topics - 1, t), alternative)


def _least_of_t(differing: Floats, topics: int) -> Floats:
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(differing > 0, np.sqrt(differing * (topics - 1) / np.maximum(topics - differing, 0.0)), 0.0)
    return np.asarray(stdtr(topics - 1, -t))


register(
    PairedTest(
        "t", t_test, _least_of_t, of_interval=True,
        level="2 to 6% of samples with 10 topics or more, less with many ties",
        called=("ttest", "t-test", "t_test", "student", "paired-t"),
    )
)  # fmt: skip


def t_statistic(differences: Floats) -> Floats:
    """Divide the mean by its error; 0 if all differences are 0, infinite if all are the same other number."""
    return over_error(differences.mean(axis=-1), deviation_of(differences) / np.sqrt(differences.shape[-1]))


def deviation_of(differences: Floats) -> Floats:
    """Compute the standard deviation over topics, 0 where all differences are the same; NaN where one is infinite."""
    same = (differences == differences[..., :1]).all(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.where(same, 0.0, differences.std(axis=-1, ddof=1))


def over_error(mean: Floats, error: Floats) -> Floats:
    """Divide the mean by its error: 0 if both are 0, infinite if only the error is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / error
    return np.where(np.isnan(t), 0.0, t)


# ---- tests of signs and ranks ----


def wilcoxon_test(differences: Floats, alternative: str, _: Resampling) -> Floats:
    """Wilcoxon's signed-rank test without zeros, exact for few or distinct sizes; an infinite one ranks above all."""
    from scipy import stats

    size = np.abs(differences)
    dropped = np.count_nonzero(size == 0, axis=-1)
    number = differences.shape[-1] - dropped
    rank = stats.rankdata(size, axis=-1) - dropped[:, None]
    above, below = (np.where(side, rank, 0.0).sum(axis=-1) for side in (differences > 0, differences < 0))
    ordered = np.sort(size, axis=-1)
    repeated = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > 0)).any(axis=-1)
    exact = ~repeated & (number <= EXACT_SIZES)
    at_least, at_most = np.ones(number.size), np.ones(number.size)
    chances = _chances_of_rank_sums()
    at_most[exact] = chances[number[exact], above[exact].astype(np.int64)]
    at_least[exact] = chances[number[exact], below[exact].astype(np.int64)]
    few = np.flatnonzero(~exact & (number <= EXACT_EQUAL_SIZES))
    if few.size:
        doubled = np.rint(2 * np.maximum(rank[few], 0.0)).astype(np.int64)
        sums = np.rint(2 * np.stack([above[few], below[few]], axis=-1)).astype(np.int64)
        at_most[few], at_least[few] = _chances_of_equal_ranks(doubled, sums).T
        exact[few] = True
    if not exact.all():  # equal sizes share a rank, which lowers the variance
        rank, number = rank[~exact], number[~exact]
        squares = np.where(rank > 0, rank**2, 0.0).sum(axis=-1)
        z = (above[~exact] - number * (number + 1) / 4) / np.sqrt(squares / 4)
        at_least[~exact], at_most[~exact] = stats.norm.sf(z), stats.norm.cdf(z)
    return _tail(at_least, at_most, alternative)


@cache
def _chances_of_rank_sums() -> Floats:
    most = EXACT_SIZES * (EXACT_SIZES + 1) // 2
    ways = np.zeros((EXACT_SIZES + 1, most + 1))
    ways[:, 0] = 1
    for n in range(1, EXACT_SIZES + 1):
        ways[n] = ways[n - 1]
        ways[n, n:] += ways[n - 1, :-n]
    return np.cumsum(ways, axis=-1) / 2.0 ** np.arange(EXACT_SIZES + 1)[:, None]


def _chances_of_equal_ranks(doubled: Ints, sums: Ints) -> Floats:
    rows, width = len(doubled), int(doubled.sum(axis=-1).max()) + 1
    likely = np.zeros((rows, width))
    likely[:, 0] = 1
    place, row = np.arange(width), np.arange(rows)[:, None]
    for rank in np.sort(doubled, axis=-1).T:
        before = place - rank[:, None]
        likely = (likely + np.where(before >= 0, likely[row, np.maximum(before, 0)], 0.0)) / 2
    return np.take_along_axis(np.minimum(np.cumsum(likely, axis=-1), 1.0), sums, axis=-1)


def _least_of_ranks(differing: Floats, _: int) -> Floats:
    from scipy.special import ndtr

    of_equal_sizes = np.where(differing > EXACT_EQUAL_SIZES, ndtr(-np.sqrt(differing)), 1.0)
    return np.minimum(np.where(differing <= EXACT_SIZES, 0.5**differing, 1.0), of_equal_sizes)


register(
    PairedTest(
        "wilcoxon", wilcoxon_test, _least_of_ranks, of_mean=False, source="wilcoxon1945individual",
        level="0 to 12% of samples: it does not test means, and errs where differences are skewed (AP, 50 topics)",
    )
)  # fmt: skip


def sign_test(differences: Floats, alternative: str, _: Resampling) -> Floats:
    from scipy import stats

    wins = np.count_nonzero(differences > 0, axis=-1)
    games = np.count_nonzero(differences != 0, axis=-1)
    # The chance of at least so many wins is that of at most so many losses: swapped systems get the same p-value.
    at_least, at_most = stats.binom.cdf(games - wins, games, 0.5), stats.binom.cdf(wins, games, 0.5)
    return _tail(at_least, at_most, alternative)


register(
    PairedTest(
        "sign", sign_test, lambda differing, _: 0.5**differing, of_mean=False,
        level="0 to 17% of samples: it does not test means, and errs where differences are skewed (AP, 50 topics)",
    )
)  # fmt: skip


# ---- tests that resample ----


def randomization_test(differences: Floats, alternative: str, resampling: Resampling) -> Floats:
    """Fisher's randomisation test: all sign flips of up to 16 topics, else a sample, where the observed counts (+1)."""
    topics = differences.shape[-1]
    exact = topics <= EXACT_TOPICS
    if exact:
        flips = 1.0 - 2.0 * ((np.arange(1 << topics)[:, None] >> np.arange(topics)) & 1)
    else:
        heads = resampling.generator().integers(0, 2, (resampling.resamples, topics)).astype(bool)
        flips = np.where(heads, 1.0, -1.0)
    observed = differences.sum(axis=-1)
    counts = np.zeros(differences.shape[0])
    slack = TOLERANCE * np.abs(differences).sum(axis=-1)  # (sums in another order differ in their last bits)

    def count(rows: slice) -> None:
        extreme = _as_extreme(differences[rows] @ flips.T, observed[rows, None], slack[rows, None], alternative)
        counts[rows] = np.count_nonzero(extreme, axis=-1)

    for _ in in_threads(count, chunks(differences.shape[0], flips.shape[0]), processors()):
        pass
    return counts / flips.shape[0] if exact else (counts + 1) / (flips.shape[0] + 1)


def _as_extreme(statistic: Floats, observed: Floats, slack: Floats, alternative: str) -> Flags:
    if alternative == "two-sided":
        return np.abs(statistic, out=statistic) >= np.abs(observed) - slack
    return statistic >= observed - slack if alternative == "greater" else statistic <= observed + slack


register(
    PairedTest(
        "randomization", randomization_test, lambda differing, _: 0.5**differing, resamples=True,
        exact_topics=EXACT_TOPICS, source="smucker2007comparison",
        level="0 to 7% of samples; nothing can be found with 5 topics",
        called=("fisher", "permutation", "perm", "random"),
    )
)  # fmt: skip


def bootstrap_test(differences: Floats, alternative: str, resampling: Resampling) -> Floats:
    """The shift method (Sakai): resamples of differences of mean 0 that reach the t; the observed counts (+1)."""
    counts = topic_counts(differences.shape[-1], resampling)
    observed = t_statistic(differences)
    as_extreme = np.zeros(differences.shape[0])
    for rows in chunks(differences.shape[0], counts.shape[0]):
        t, _ = resampled_t(differences[rows], counts)
        slack = rounding(observed[rows, None])
        as_extreme[rows] = _as_extreme(t, observed[rows, None], slack, alternative).sum(axis=-1)
    return (as_extreme + 1) / (counts.shape[0] + 1)


def rounding(statistic: Floats) -> Floats:
    """Return by how much equal statistics may differ when summed in another order; an infinite one by nothing."""
    return 1e-9 * (1 + np.where(np.isfinite(statistic), np.abs(statistic), 0.0))


def topic_counts(topics: int, resampling: Resampling) -> Floats:
    """How often each topic is drawn in each resample: resamples x topics."""
    return resampling.generator().multinomial(topics, np.full(topics, 1 / topics), resampling.resamples).astype(float)


def resampled_t(differences: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Compute t and the mean of every resample of differences shifted to mean 0: pairs x resamples."""
    shifted = differences_between(differences, differences.mean(axis=-1, keepdims=True))
    topics = differences.shape[-1]
    mean = shifted @ counts.T
    mean /= topics
    square = (shifted**2) @ counts.T
    square /= topics
    variance = square - mean**2
    # What is left of cancelled numbers is not a deviation.
    variance[variance < 1e-14 * square] = 0.0
    variance *= 1 / (topics - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / np.sqrt(variance, out=variance)
    t[np.isnan(t)] = 0.0
    return t, mean


def chunks(pairs: int, resamples: int) -> list[slice]:
    step = max(1, _CELLS_AT_ONCE // resamples)
    return [slice(start, start + step) for start in range(0, pairs, step)]


register(
    PairedTest(
        "bootstrap", bootstrap_test, lambda differing, _: np.where(differing > 0, 0.0, 1.0), resamples=True,
        correction="max-t", level="0 to 5% of samples",
        source="sakai2006evaluating",
    )
)  # fmt: skip


# ---- any test ----


def check_finite(differences: Floats, what: str, measure: object) -> None:
    if np.isinf(differences).any():
        usable = " or the ".join(sorted(test.name for test in TESTS.values() if not test.of_mean))
        raise DataError(
            f"{measure} is infinite on a topic for one of two runs, which {what} cannot use. Use the {usable} test, or "
            "a measure that stays finite, such as ESL(collection=N)."
        )


def check_test(test: str, alternative: str = "two-sided", more: Sequence[str] = ()) -> None:
    meant = {name: known.name for known in TESTS.values() for name in known.called}
    check_choice("test", test, [*TESTS, *more], meant)
    check_choice("alternative", alternative, ALTERNATIVES)


def p_values(
    differences: Floats,
    test: str = DEFAULT_TEST,
    alternative: str = "two-sided",
    resampling: Resampling | None = None,
    measure: object = "A score",
) -> Floats:
    """Compute the p-value of each row of differences by a paired test.

    Parameters
    ----------
    differences
        Of two runs, topic by topic; the last axis is topics.
    test, alternative
        As in ``compare``: ``"greater"`` tests whether the differences are above 0.
    resampling, measure
        How tests that resample do it, and what error messages call the numbers.

    Returns
    -------
    array
        Without the axis of topics.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.stats.p_values([[0.1, 0.2, 0.3, 0.2, 0.1, 0.3], [0.1, -0.1, 0.2, -0.2, 0.1, -0.1]], "t").round(4).tolist()
    [0.0312, 1.0]
    """
    check_test(test, alternative)
    differences = check_differences(differences)
    if TESTS[test].of_mean:
        check_finite(differences, f"the {test} test", measure)
    sizes = merge_equal(np.abs(differences))  # where the differences were not made by score_differences
    p = TESTS[test].p_values(np.copysign(sizes, differences), alternative, resampling or Resampling())
    floor = least_of_signs(np.count_nonzero(differences, axis=-1), alternative)
    return np.maximum(p, floor) if TESTS[test].of_mean else p


def mean_interval(
    differences: Floats,
    confidence: float = 0.95,
    limits: tuple[float, float] = (-np.inf, np.inf),
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Compute the t interval of each row's mean difference, cut at its limits (``limits_of_differences``).

    It holds the differences that the t test does not reject. For sums over clusters of unequal size, ``weights`` (of
    mean 1) say how much of a difference each cluster has, as in ``p_of_margin``. NaN if too few numbers are not 0, if
    one is infinite, or if all are equal and their variation is unknown.
    """
    from scipy.special import stdtrit

    differences = check_differences(differences)
    topics = differences.shape[-1]
    reach = stdtrit(topics - 1, (1 + confidence) / 2) / np.sqrt(topics)
    with np.errstate(invalid="ignore"):  # (of infinities)
        half, mean = reach * deviation_of(differences), differences.mean(axis=-1)
        low, high = mean - half, mean + half
        if weights is not None and np.ptp(weights) > TOLERANCE:
            low, high = _not_rejected(differences, weights, reach**2)
            half = np.where(np.isfinite(high - low), high - low, np.abs(mean))
        low, high = drop_rounding(low, half), drop_rounding(high, half)
        low, high = np.minimum(mean, np.maximum(low, limits[0])), np.maximum(mean, np.minimum(high, limits[1]))
        known = np.isfinite(low) & np.isfinite(high) & (half > TOLERANCE * np.abs(differences).max(axis=-1))
    known &= ~too_few(np.count_nonzero(differences, axis=-1), confidence)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _not_rejected(sums: Floats, weights: Floats, reach: float) -> tuple[Floats, Floats]:
    mean, degrees = sums.mean(axis=-1), weights.size - 1
    square, half = 1 - reach * np.var(weights, ddof=1), mean - reach * (sums @ (weights - 1)) / degrees
    rest = mean**2 - reach * sums.var(axis=-1, ddof=1)
    root = np.sqrt(np.maximum(half**2 - square * rest, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = np.sort([(half - root) / square, (half + root) / square], axis=0)
    if square > 0:
        return low, high
    return np.where((rest > 0) & (mean > 0), high, -np.inf), np.where((rest > 0) & (mean < 0), low, np.inf)


def pairs_of(systems: int) -> tuple[Ints, Ints]:
    return np.triu_indices(systems, 1)
