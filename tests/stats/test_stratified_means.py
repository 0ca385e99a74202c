"""Random effects over collections, and means over stratified topics, against plain loops and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rankbounds.stats import stratified
from rankbounds.stats.corrections import correct_p_values
from rankbounds.stats.significance import pairs_of
from rankbounds.stats.stratified import random_effects


def plain_dersimonian_laird(values, variances):
    """Q, tau^2, mean and its Hartung-Knapp error (factor not below 1), by the textbook."""
    weight = [1 / variance for variance in variances]
    total = sum(weight)
    fixed = sum(w * y for w, y in zip(weight, values, strict=True)) / total
    q = sum(w * (y - fixed) ** 2 for w, y in zip(weight, values, strict=True))
    degrees = len(values) - 1
    tau_squared = max(0.0, (q - degrees) / (total - sum(w * w for w in weight) / total))
    return q, tau_squared, *plain_summary(values, variances, tau_squared)


def plain_summary(values, variances, tau_squared):
    weight = [1 / (variance + tau_squared) for variance in variances]
    mean = sum(w * y for w, y in zip(weight, values, strict=True)) / sum(weight)
    spread = sum(w * (y - mean) ** 2 for w, y in zip(weight, values, strict=True)) / (len(values) - 1)
    return mean, math.sqrt(max(1.0, spread) / sum(weight))


def drawn(rows, columns, seed=0):
    generator = np.random.default_rng(seed)
    variances = generator.uniform(0.0005, 0.01, (rows, columns))
    return generator.normal(0.02, np.sqrt(variances + generator.choice([0, 0.004, 0.05], (rows, 1)))), variances


class TestRandomEffects:
    def test_moments_are_those_of_a_plain_loop(self):
        values, variances = drawn(40, 6)
        summary = random_effects(values, variances, 0.9)
        for row in range(40):
            q, tau_squared, mean, error = plain_dersimonian_laird(values[row], variances[row])
            got = [float(part[row]) for part in (summary.q, summary.tau_squared, summary.mean, summary.error)]
            assert got == pytest.approx([q, tau_squared, mean, error], abs=1e-12)
            half = stats.t.ppf(0.95, 5) * error
            assert (summary.low[row], summary.high[row]) == pytest.approx((mean - half, mean + half))

    def test_moments_are_those_of_statsmodels(self):
        meta = pytest.importorskip("statsmodels.stats.meta_analysis", reason="statsmodels is not installed")
        values, variances = drawn(20, 7, seed=1)
        summary = random_effects(values, variances)
        for row in range(20):
            with np.errstate(invalid="ignore"):  # (their tau^2 may be negative, ours is 0 then)
                theirs = meta.combine_effects(values[row], variances[row], method_re="chi2")
            mean = theirs.mean_effect_re if theirs.tau2 > 0 else theirs.mean_effect_fe
            assert summary.mean[row] == pytest.approx(mean, abs=1e-12)
            assert summary.tau_squared[row] == pytest.approx(max(0.0, theirs.tau2), abs=1e-12)
            assert summary.q[row] == pytest.approx(theirs.q)
            assert summary.i_squared[row] == pytest.approx(max(0.0, theirs.i2))

    def test_equal_variances_have_a_closed_form(self):
        values = np.array([[0.1, 0.3, 0.5, 0.9]])
        summary = random_effects(values, np.full((1, 4), 0.01))
        assert summary.tau_squared[0] == pytest.approx(values.var(ddof=1) - 0.01)
        assert summary.mean[0] == pytest.approx(values.mean())

    def test_a_collection_that_is_lacking_counts_for_nothing(self):
        values, variances = drawn(8, 5, seed=3)
        lacking = [np.concatenate([table, np.full((8, 1), np.nan)], axis=1) for table in (values, variances)]
        for whole, part in zip(
            vars(random_effects(values, variances)).values(),
            vars(random_effects(*lacking)).values(),
            strict=True,
        ):
            assert part == pytest.approx(whole)

    def test_shifts_and_scales(self):
        values, variances = drawn(20, 6, seed=4)
        one, other = (random_effects(*given) for given in ((values, variances), (5 - 3 * values, 9 * variances)))
        assert other.mean == pytest.approx(5 - 3 * one.mean)
        assert other.tau_squared == pytest.approx(9 * one.tau_squared, abs=1e-9)
        assert other.high == pytest.approx(5 - 3 * one.low)

    def test_what_cannot_be_known_is_not_told(self):
        summary = random_effects(np.array([[0.1, np.nan, np.nan], [0.1, 0.2, 0.3], [0.1, 0.2, np.nan]]),
                                 np.array([[0.1, np.nan, np.nan], [0.1, 0.0, 0.1], [0.1, 0.1, np.nan]]))  # fmt: skip
        assert np.isnan(summary.mean).tolist() == [True, True, False]

    def test_intervals_cover_the_mean(self):
        generator = np.random.default_rng(7)
        variances = generator.uniform(0.001, 0.004, (2000, 8))
        values = generator.normal(generator.normal(0.05, 0.06, (2000, 8)), np.sqrt(variances))
        summary = random_effects(values, variances)
        assert np.mean((summary.low <= 0.05) & (summary.high >= 0.05)) > 0.94


class TestStratified:
    @pytest.mark.parametrize("mean", ["collections", "queries"])
    def test_means_and_intervals_are_those_of_a_plain_loop(self, mean):
        generator = np.random.default_rng(0)
        parts = [generator.normal(size=(3, size)) for size in (4, 9, 20)]
        parts[1][2] = np.nan
        topics = np.array([4, 9, 20])
        share = stratified.shares(stratified.held(parts), topics, mean)
        means = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
        got = stratified.interval(means, stratified.variances_of_means(parts), share, topics, 0.95)
        for row in range(3):
            own = [part[row] for part in parts if not np.isnan(part[row]).any()]
            weights = [1 / len(own) if mean == "collections" else len(part) / sum(map(len, own)) for part in own]
            expected = sum(w * np.mean(part) for w, part in zip(weights, own, strict=True))
            if mean == "queries":
                assert expected == pytest.approx(np.concatenate(own).mean())
            squared = [w**2 * np.var(part, ddof=1) / len(part) for w, part in zip(weights, own, strict=True)]
            degrees = sum(squared) ** 2 / sum(v**2 / (len(part) - 1) for v, part in zip(squared, own, strict=True))
            half = stats.t.ppf(0.975, degrees) * math.sqrt(sum(squared))
            assert [float(column[row]) for column in got] == pytest.approx([expected, expected - half, expected + half])

    def test_p_is_that_of_the_interval(self):
        """The level at which the interval just reaches 0, whatever the collections' own differences are."""
        generator = np.random.default_rng(5)
        parts = [generator.normal(shift, 0.3, (200, size)) for shift, size in ((0.4, 5), (-0.3, 30), (0.0, 12))]
        topics, share = np.array([5, 30, 12]), np.full((200, 3), 1 / 3)
        means, variances = (
            np.stack([part.mean(axis=-1) for part in parts], axis=-1),
            stratified.variances_of_means(parts),
        )
        p = stratified.t_p_values(means, variances, share, topics)
        assert 0.05 < np.mean(p < 0.05) < 0.95
        for level in (0.5, 0.9, 0.95, 0.999):
            _, low, high = stratified.interval(means, variances, share, topics, level)
            assert ((p < 1 - level) == ((low > 0) | (high < 0))).all()
        for row in range(5):
            _, low, high = stratified.interval(means, variances, share, topics, 1 - p[row])
            assert min(abs(low[row]), abs(high[row])) == pytest.approx(0, abs=1e-9)

    def test_topics_that_all_differ_by_the_same_show_no_error(self):
        topics, share = np.array([3, 8]), np.full((4, 2), 0.5)
        means = np.array([[0.5, 0.5], [0.0, 0.5], [0.5, -0.5], [0.0, 0.0]])
        _, low, high = stratified.interval(means, np.zeros((4, 2)), share, topics, 0.95)
        assert np.isnan([low, high]).all()
        assert stratified.t_p_values(means, np.zeros((4, 2)), share, topics).tolist() == [0.25, 0.5**7, 1.0, 1.0]

    def test_few_false_alarms_over_all_pairs(self):
        """Six systems that do not differ, on collections of unequal size and spread."""
        generator = np.random.default_rng(11)
        first, second = pairs_of(6)
        alarms, topics, share = 0, np.array([6, 10, 16]), np.full((15, 3), 1 / 3)
        for _ in range(400):
            values = [generator.normal(size=(6, size)) * np.linspace(0.5, 1.5, 6)[:, None] for size in topics]
            parts = [value[first] - value[second] for value in values]
            means = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
            p = stratified.t_p_values(means, stratified.variances_of_means(parts), share, topics)
            alarms += bool((correct_p_values(p, "holm") < 0.05).any())
        assert alarms <= 34  # 20 expected; more than 34 have a chance of 1 in 700
