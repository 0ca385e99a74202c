"""Tests of significance, corrections, letters and power, against SciPy and against slow loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankbounds as rb
from array_scores import scores_of
from rankbounds.comparison import compare
from rankbounds.errors import DataError, UsageError
from rankbounds.stats.corrections import CORRECTIONS, correct_p_values, group_letters, over_all_pairs
from rankbounds.stats.power import minimum_detectable_effect, power_of_t_test, topics_for_effects, topics_needed
from rankbounds.stats.significance import (
    ALTERNATIVES,
    TESTS,
    Resampling,
    mean_interval,
    p_values,
    pairs_of,
    topic_counts,
)

DIFFERENCES = np.random.default_rng(1).normal(0.2, 1, (6, 20))
DIFFERENCES[1, :4] = 0
DIFFERENCES[2] = np.round(DIFFERENCES[2], 1)
DIFFERENCES[3] = 0


def flipped_ranks(row, alternative):
    """Wilcoxon's test over all sign flips of at most 20 ranks, which equal sizes share."""
    rank = stats.rankdata(np.abs(row))
    picked = (np.arange(1 << row.size)[:, None] >> np.arange(row.size)) & 1
    sums, observed = picked @ rank, rank[row > 0].sum()
    tails = {"greater": np.mean(sums >= observed - 1e-9), "less": np.mean(sums <= observed + 1e-9)}
    return tails.get(alternative, min(1.0, 2 * min(tails.values())))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
class TestAgainstScipy:
    def test_t(self, alternative):
        found = p_values(DIFFERENCES, "t", alternative)
        for row, p in zip(DIFFERENCES, found, strict=True):
            if row.any():
                assert p == pytest.approx(stats.ttest_1samp(row, 0, alternative=alternative).pvalue)
            else:
                assert p in (0.5, 1)

    @pytest.mark.filterwarnings("ignore")
    def test_wilcoxon(self, alternative):
        found = p_values(DIFFERENCES, "wilcoxon", alternative)
        for row, p in zip(DIFFERENCES, found, strict=True):
            left = row[row != 0]  # without zeros SciPy's test is exact, too
            if np.unique(np.abs(left)).size < left.size:
                expected = flipped_ranks(left, alternative)
            else:
                expected = stats.wilcoxon(left, alternative=alternative).pvalue if left.size else 1
            assert p == pytest.approx(expected)

    def test_sign(self, alternative):
        found = p_values(DIFFERENCES, "sign", alternative)
        for row, p in zip(DIFFERENCES, found, strict=True):
            games = int(np.count_nonzero(row))
            wins = int(np.count_nonzero(row > 0))
            expected = stats.binomtest(wins, games, alternative=alternative).pvalue if games else 1
            assert p == pytest.approx(expected)

    def test_randomization_is_exact_for_few_topics(self, alternative):
        few = DIFFERENCES[:, :9]
        found = p_values(few, "randomization", alternative)
        for row, p in zip(few, found, strict=True):
            sums = np.array([np.dot(flips, row) for flips in itertools.product((1, -1), repeat=9)])
            observed = row.sum()
            extreme = {
                "two-sided": np.abs(sums) >= abs(observed) - 1e-9,
                "greater": sums >= observed - 1e-9,
                "less": sums <= observed + 1e-9,
            }
            assert p == pytest.approx(np.mean(extreme[alternative]))


def test_sampled_randomization_is_near_the_exact_one_and_never_zero():
    row = DIFFERENCES[:1, :16]
    exact = p_values(row, "randomization")[0]
    padded = np.concatenate([row, np.zeros((1, 1))], axis=1)  # one topic more, no difference: now it samples
    sampled = p_values(padded, "randomization", resampling=Resampling(20_000))[0]
    assert sampled == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    certain = np.ones((1, 40))
    assert p_values(certain, "randomization", resampling=Resampling(99))[0] == pytest.approx(1 / 100)


def test_bootstrap_against_a_plain_loop():
    counts = topic_counts(20, Resampling(300, seed=4))
    assert (counts.sum(axis=1) == 20).all()
    for row, p in zip(
        DIFFERENCES[:3], p_values(DIFFERENCES[:3], "bootstrap", resampling=Resampling(300, seed=4)), strict=True
    ):
        observed = abs(stats.ttest_1samp(row, 0).statistic)
        larger = 0
        for count in counts:
            sample = np.repeat(row - row.mean(), count.astype(int))
            larger += abs(sample.mean() / (sample.std(ddof=1) / np.sqrt(20))) >= observed
        assert p == pytest.approx((larger + 1) / 301)


@pytest.mark.parametrize("test", TESTS)
def test_under_a_true_null_one_in_twenty_is_rejected(test):
    rng = np.random.default_rng(7)
    sizes = np.abs(rng.normal(size=(1, 25)))
    flipped = sizes * rng.choice([-1, 1], (3000, 25))
    rate = np.mean(p_values(flipped, test, resampling=Resampling(1000)) < 0.05)
    if test == "sign":  # its steps are coarse: below the level
        assert rate <= 0.05 + 0.012
    else:
        assert rate == pytest.approx(0.05, abs=0.016 if test == "bootstrap" else 0.012)


def test_intervals():
    low, high = mean_interval(DIFFERENCES)
    expected = stats.ttest_1samp(DIFFERENCES[0], 0).confidence_interval()
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high))
    # Of three topics won and one lost by the same, t is 1: the interval of 1 - p ends at 0, whatever the rounding.
    for size in (0.1, 0.5, 1 / 3, 1.0):
        assert mean_interval(np.array([[size, size, size, -size]]), 1 - 2 * stats.t.sf(1, 3))[0] == 0


def test_topic_set_size_design():
    # A standardised effect of 0.25 at alpha 0.05 and power 0.8 takes 128 topics (128 by G*Power and Sakai's sheets).
    assert topics_needed(0.05, 0.2) == 128
    assert power_of_t_test(0.25, 128) >= 0.8 > power_of_t_test(0.25, 127)
    assert minimum_detectable_effect(0.2, 128) == pytest.approx(0.05, abs=2e-4)
    assert minimum_detectable_effect(0.0, 10) == 0
    assert minimum_detectable_effect(0.2, 2, alpha=1e-12) == np.inf
    assert minimum_detectable_effect(0.2, 50, alpha=1e-320) == np.inf
    assert topics_needed(1.0, 0.0) == 6  # of five the signs show nothing at .05
    with pytest.raises(UsageError, match="0"):
        topics_needed(0.0, 0.2)


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.9), (0.2, 0.5), (0.9, 0.8)])
def test_topics_for_many_effects_are_just_enough(alpha, power):
    effects = np.concatenate([np.geomspace(0.004, 3, 1600), -np.geomspace(0.02, 1, 30)])
    needed = topics_for_effects(effects, alpha, power)
    assert (power_of_t_test(np.abs(effects), needed, alpha) >= power - 1e-9).all()
    more = needed > 2
    assert (power_of_t_test(np.abs(effects[more]), needed[more] - 1, alpha) < power + 1e-9).all()
    fewest = next(topics for topics in range(2, 20) if 2.0 ** (1 - topics) < alpha)
    assert needed.min() == fewest
    assert needed[::160].tolist() == [topics_needed(effect, 1.0, alpha, power) for effect in effects[::160]]
    assert topics_for_effects(np.array([0.0, 1e-9, np.nan, 50.0]), alpha, power).tolist() == [0, 0, 0, fewest]


def test_a_difference_too_small_for_any_topics_is_told_of():
    values = np.array([[0.2, 0.4, 0.6], [0.3, 0.4, 0.5 - 1e-9]])[:, :, None]
    scores = rb.Scores(["a", "b"], ["1", "2", "3"], [rb.RBP()], values, values, values, values[..., 0])
    assert "no realistic number of topics would find one as small" in compare(scores, test="t").words()


def test_a_topic_missing_on_one_side_is_never_dropped():
    value = np.ones((2, 5, 1))
    value[1, 2, 0] = np.nan
    with pytest.raises(DataError, match="a score for only one run"):
        compare(scores_of(value))
    with pytest.raises(DataError, match="at least two topics"):
        compare(scores_of(np.ones((2, 1, 1))))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_against_their_definitions(values):
    p = np.array(values)
    count = p.size
    order = np.argsort(p, kind="stable")
    holm, smallest = np.empty(count), 0.0
    for place, at in enumerate(order):
        smallest = max(smallest, min(1.0, (count - place) * p[at]))
        holm[at] = smallest
    assert correct_p_values(p, "holm") == pytest.approx(holm)
    assert correct_p_values(p, "bonferroni") == pytest.approx(np.minimum(1, count * p))
    assert correct_p_values(p, "bh") == pytest.approx(stats.false_discovery_control(p))
    assert (correct_p_values(p, "none") == p).all()


def test_randomized_tukey_against_a_plain_loop_and_scipys_limit():
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(4, 30)) + np.array([[0.0], [0.1], [0.5], [0.9]]) + rng.normal(size=(1, 30))
    found = over_all_pairs(matrix[None], *pairs_of(4), Resampling(4000))[0]
    generator = np.random.default_rng(11)
    ranges = []
    for _ in range(2000):
        shuffled = np.stack([generator.permutation(matrix[:, topic]) for topic in range(30)], axis=1)
        ranges.append(np.ptp(shuffled.mean(axis=1)))
    means = matrix.mean(axis=1)
    for (one, other), p in zip(itertools.combinations(range(4), 2), found, strict=True):
        expected = np.mean(np.array(ranges) >= abs(means[one] - means[other]))
        assert p == pytest.approx(expected, abs=0.04)
    # Without an effect of topics the test nears Tukey's own, which knows no pairing.
    unpaired = rng.normal(size=(3, 200)) + np.array([[0.0], [0.1], [0.2]])
    expected = stats.tukey_hsd(*unpaired).pvalue[np.triu_indices(3, 1)]
    found = over_all_pairs(unpaired[None], *pairs_of(3), Resampling(4000))[0]
    assert found == pytest.approx(expected, abs=0.05)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 7), st.data())
def test_systems_share_a_letter_unless_a_test_separates_them(count, data):
    means = np.array(data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
    separable = np.zeros((count, count), dtype=bool)
    for one, other in itertools.combinations(range(count), 2):
        separable[one, other] = separable[other, one] = data.draw(st.booleans())
    letters = group_letters(means, *pairs_of(len(means)), separable[pairs_of(len(means))])
    for one, other in itertools.combinations(range(count), 2):
        assert bool(set(letters[one]) & set(letters[other])) != separable[one, other]
    assert "a" in letters[int(np.argmax(means))]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=7), st.integers(0, 9), st.sets(st.integers(0, 48), max_size=2))
def test_a_letter_stands_for_a_largest_set_that_no_test_separates(means, distance, odd):
    separable = np.abs(np.subtract.outer(means, means)) > distance  # by distance alone, but for a few pairs
    for one, other in itertools.combinations(range(len(means)), 2):
        if 7 * one + other in odd:
            separable[one, other] = separable[other, one] = not separable[one, other]
    sets = [set(chosen) for size in range(len(means) + 1) for chosen in itertools.combinations(range(len(means)), size)]
    together = [chosen for chosen in sets if not any(separable[pair] for pair in itertools.combinations(chosen, 2))]
    largest = [chosen for chosen in together if not any(chosen < other for other in together)]
    letters = group_letters(np.array(means, dtype=float), *pairs_of(len(means)), separable[pairs_of(len(means))])
    found = [
        {run for run, of_run in enumerate(letters) if letter in of_run} for letter in sorted(set("".join(letters)))
    ]
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))


def test_tests_and_corrections_state_the_level_that_was_measured():
    assert all(test.level for test in TESTS.values())
    assert all(CORRECTIONS[test.correction].level for test in TESTS.values())
    scores = scores_of(np.random.default_rng(0).random((3, 20, 1)))
    for test, told in (("sign", "0 to 17%"), ("wilcoxon", "0 to 12%"), ("t", None)):
        assert ("Measured at 5%" in compare(scores, test=test).method()) == (told is not None)
        assert told is None or told in compare(scores, test=test).method()
    assert "0 to 14%" in compare(scores, correction="tukey", resamples=100).method()
