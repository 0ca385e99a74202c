"""Discriminative power and agreement of orders, against their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from array_scores import scores_of
from rankbounds.stats.rank_correlation import (
    agreement,
    critical_tau,
    kendall_tau,
    rank_biased_overlap,
    spearman,
    tau_ap,
    tau_p_value,
)
from rankbounds.stats.separation import discriminative_power
from rankbounds.stats.significance import (
    Resampling,
    topic_counts,
)

orders = st.lists(st.integers(0, 4), min_size=3, max_size=6)


class TestDiscriminativePower:
    value = np.random.default_rng(5).random((5, 12, 2)) + np.linspace(0, 0.5, 5)[:, None, None]

    def test_against_a_plain_loop(self):
        found = discriminative_power(scores_of(self.value, measures=("AP", "RR")), 0.05, resamples=200, seed=2)
        counts = topic_counts(12, Resampling(200, seed=2))
        for at, row in enumerate(found.rows()):
            discriminated, required = 0, 0.0
            for one, other in itertools.combinations(range(5), 2):
                z = self.value[one, :, at] - self.value[other, :, at]
                observed = abs(z.mean() / (z.std(ddof=1) / np.sqrt(12)))
                tried = []
                for count in counts:
                    sample = np.repeat(z - z.mean(), count.astype(int))
                    tried.append((abs(sample.mean() / (sample.std(ddof=1) / np.sqrt(12))), abs(sample.mean())))
                discriminated += np.mean([t >= observed for t, _ in tried]) < 0.05
                required = max(required, sorted(tried, reverse=True)[9][1])
            assert (row["discriminated"], row["pairs"]) == (discriminated, 10)
            assert row["required_difference"] == pytest.approx(required)
            assert row["power"] == discriminated / 10

    def test_by_other_tests(self):
        rows = discriminative_power(scores_of(self.value, measures=("AP", "RR")), (0.05, 0.01), test="t").rows()
        assert [(row["measure"], row["alpha"]) for row in rows] == [
            ("AP", 0.05),
            ("AP", 0.01),
            ("RR", 0.05),
            ("RR", 0.01),
        ]
        assert rows[0]["discriminated"] >= rows[1]["discriminated"]
        assert rows[0]["required_difference"] is None

    def test_the_order_of_runs_does_not_matter_and_a_seed_repeats_everything(self):
        one = discriminative_power(scores_of(self.value, measures=("AP", "RR"))).rows()
        reversed_runs = discriminative_power(scores_of(self.value[::-1], measures=("AP", "RR"))).rows()
        assert one == discriminative_power(scores_of(self.value, measures=("AP", "RR"))).rows()
        for row, other in zip(one, reversed_runs, strict=True):
            assert row["discriminated"] == other["discriminated"]
            assert row["required_difference"] == pytest.approx(other["required_difference"])


def broken_ties(values):
    """All strict orders, best first, that agree with the values."""
    ranked = sorted(range(len(values)), key=lambda at: -values[at])
    groups = [list(group) for _, group in itertools.groupby(ranked, key=lambda at: values[at])]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [at for group in choice for at in group]


class TestAgreement:
    @settings(max_examples=60, deadline=None)
    @given(orders, st.randoms())
    def test_tau_and_spearman_against_scipy(self, a, random):
        b = random.sample(a, len(a))
        one, other = np.array(a, dtype=float), np.array(b, dtype=float)
        if np.ptp(one) == 0:
            assert np.isnan(kendall_tau(one, other))
            return
        assert kendall_tau(one, other) == pytest.approx(stats.kendalltau(one, other).statistic)
        assert spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)

    @settings(max_examples=60, deadline=None)
    @given(orders, st.randoms())
    def test_tau_ap_counts_the_pairs_that_are_not_tied(self, observed, random):
        reference = [random.randrange(4) for _ in observed]
        shares = []
        for own, other in zip(observed, reference, strict=True):
            above = [score for better, score in zip(observed, reference, strict=True) if better > own]
            if above:
                shares.append(sum((score > other) + (score == other) / 2 for score in above) / len(above))
        found = tau_ap(np.array(observed, dtype=float), np.array(reference, dtype=float))
        assert found == pytest.approx(2 * np.mean(shares) - 1 if shares else np.nan, nan_ok=True)
        itself = tau_ap(np.array(observed, dtype=float), np.array(observed, dtype=float))
        assert itself == 1 or len(set(observed)) == 1

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.integers(0, 3), min_size=2, max_size=5), st.randoms())
    def test_overlap_is_the_mean_over_broken_ties(self, a, random):
        b = [random.randrange(4) for _ in a]
        p = 0.8
        values = []
        for one, other in itertools.product(broken_ties(a), broken_ties(b)):
            agreements = [len(set(one[:d]) & set(other[:d])) / d for d in range(1, len(a) + 1)]
            values.append((1 - p) * sum(p**at * x for at, x in enumerate(agreements)) + p ** len(a) * agreements[-1])
        found = rank_biased_overlap(np.array(a, dtype=float), np.array(b, dtype=float), p)
        assert found == pytest.approx(np.mean(values))

    def test_rows(self):
        value = np.array([[[0.9, 0.1]] * 6, [[0.5, 0.5]] * 6, [[0.1, 0.2]] * 6])
        scores = scores_of(value, measures=("AP", "RR"))
        row = agreement(scores).rows()[0]
        assert (row["measure_a"], row["measure_b"], row["tau"]) == ("AP", "RR", pytest.approx(-1 / 3))
        assert (row["swapped"], row["swapped_significantly"]) == (2, 2)
        few = agreement(scores_of(value[:, :2], measures=("AP", "RR"))).rows()[0]  # equal differences on two topics
        assert (few["swapped"], few["swapped_significantly"]) == (2, 0)
        same = agreement(scores, against=scores).rows()
        assert [(one["measure_a"], one["measure_b"], one["tau"]) for one in same] == [("AP", "AP", 1), ("RR", "RR", 1)]


class TestAgreementOfOrders:
    """Significance, pools and topics, against SciPy, enumeration and a plain loop."""

    def test_critical_values_are_those_of_all_permutations(self):
        for runs in (3, 4, 5, 6, 7):
            ours = list(range(runs))
            taus = [kendall_tau(ours, list(theirs)) for theirs in itertools.permutations(ours)]
            for alpha in (0.2, 0.05, 0.01):
                enough = [tau for tau in set(taus) if np.mean([abs(other) >= tau - 1e-9 for other in taus]) < alpha]
                expected = min(one for one in [*enough, 2.0] if one > 0)
                found = critical_tau(runs, alpha)
                assert found == pytest.approx(expected) if expected <= 1 else np.isnan(found)
        assert critical_tau(30, 0.01) == pytest.approx(0.34, abs=0.01)  # as Sakai (2007) states it
        assert critical_tau(34) == pytest.approx(critical_tau(33), abs=0.01)

    def test_p_values_are_those_of_scipy(self):
        rng = np.random.default_rng(3)
        value = rng.random((9, 6, 2))
        row = agreement(scores_of(value, measures=("AP", "RR"))).rows()[0]
        tau = stats.kendalltau(*value.mean(axis=1).T)
        assert (row["tau"], row["p_value"]) == pytest.approx((tau.statistic, tau.pvalue))
        for runs in [2, 3, *range(4, 50, 3)]:
            apart = rng.normal(size=runs)
            near = apart + rng.normal(size=runs) * rng.choice([0, 0.01, 1])
            tied, constant = rng.integers(0, 4, runs), np.ones(runs)
            for one, other in ((apart, near), (apart, -near), (apart, tied), (tied, rng.permutation(tied))):
                expected = stats.kendalltau(one, other).pvalue
                assert tau_p_value(one, other) == pytest.approx(expected, rel=1e-9, nan_ok=True)
            assert np.isnan(tau_p_value(apart, constant))
