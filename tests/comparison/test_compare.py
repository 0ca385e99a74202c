"""Tests, corrections, discriminative power and agreement, against SciPy and against slow loops."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.comparison import compare
from rankbounds.comparison.comparable_scores import standardise
from rankbounds.comparison.pairs import VERDICTS, verdicts
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.scores import RunNotes, Scores
from rankbounds.stats.corrections import correct_p_values, group_letters, over_all_pairs
from rankbounds.stats.discriminative_power import discriminative_power
from rankbounds.stats.power import minimum_detectable_effect, power_of_t_test, topics_for_effects, topics_needed
from rankbounds.stats.rank_correlation import (
    agreement,
    kendall_tau,
    kendall_tau_a,
    rank_biased_overlap,
    spearman,
    tau_ap,
)
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


def scores_of(value, low=None, high=None, measures=("AP",)):
    """Scores from an array of run, topic, measure."""
    value = np.asarray(value, dtype=float)
    unknown = np.full(value.shape, np.nan)
    return Scores(
        runs=[f"run{at}" for at in range(value.shape[0])],
        query_ids=[str(at) for at in range(value.shape[1])],
        measures=[rb.parse_measure(measure) for measure in measures],
        value=value,
        low=unknown if low is None else low,
        high=unknown if high is None else high,
        judged=np.ones(value.shape[:2]),
        notes=[RunNotes()] * value.shape[0],
    )


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


def test_topic_set_size_design():
    # A standardised effect of 0.25 at alpha 0.05 and power 0.8 takes 128 topics (128 by G*Power and Sakai's sheets).
    assert topics_needed(0.05, 0.2) == 128
    assert power_of_t_test(0.25, 128) >= 0.8 > power_of_t_test(0.25, 127)
    assert minimum_detectable_effect(0.2, 128) == pytest.approx(0.05, abs=2e-4)
    assert minimum_detectable_effect(0.0, 10) == 0
    assert minimum_detectable_effect(0.2, 2, alpha=1e-12) == np.inf
    assert minimum_detectable_effect(0.2, 50, alpha=1e-320) == np.inf
    assert topics_needed(1.0, 0.0) == 2
    with pytest.raises(UsageError, match="0"):
        topics_needed(0.0, 0.2)


def test_a_level_that_no_test_reaches_is_refused(tmp_path, command):
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n3 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1 x\n2 Q0 b 1 1 x\n3 Q0 b 1 1 x\n")
    (tmp_path / "other").write_text("1 Q0 b 1 1 y\n2 Q0 a 1 1 y\n3 Q0 a 1 1 y\n")
    files = [tmp_path / name for name in ("qrels", "run", "other")]
    for question in ("compare", "report"):
        code, _, err = command(question, *files, "--alpha", "1e-320", "-o", tmp_path / "out")
        assert (code, "alpha must be at least 1e-12" in err) == (2, True)
        assert command(question, *files, "--alpha", "1e-12", "-o", tmp_path / "out")[0] == 0
    with pytest.raises(UsageError, match="at least 1e-12"):
        topics_needed(0.05, 0.2, alpha=1e-320)


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.9), (0.2, 0.5), (0.9, 0.8)])
def test_topics_for_many_effects_are_just_enough(alpha, power):
    effects = np.concatenate([np.geomspace(0.004, 3, 1600), -np.geomspace(0.02, 1, 30)])
    needed = topics_for_effects(effects, alpha, power)
    assert (power_of_t_test(np.abs(effects), needed, alpha) >= power - 1e-9).all()
    more = needed > 2
    assert (power_of_t_test(np.abs(effects[more]), needed[more] - 1, alpha) < power + 1e-9).all()
    assert needed[::160].tolist() == [topics_needed(effect, 1.0, alpha, power) for effect in effects[::160]]
    assert topics_for_effects(np.array([0.0, 1e-9, np.nan, 50.0]), alpha, power).tolist() == [0, 0, 0, 2]


def test_a_difference_too_small_for_any_topics_is_told_of():
    values = np.array([[0.2, 0.4, 0.6], [0.3, 0.4, 0.5 - 1e-9]])[:, :, None]
    scores = rb.Scores(["a", "b"], ["1", "2", "3"], [rb.RBP()], values, values, values, values[..., 0])
    assert "cannot be found with any realistic number of topics" in compare(scores, test="t").words()


def test_a_topic_missing_on_one_side_is_never_dropped():
    value = np.ones((2, 5, 1))
    value[1, 2, 0] = np.nan
    with pytest.raises(DataError, match="no score on one side"):
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


class TestDiscriminativePower:
    value = np.random.default_rng(5).random((5, 12, 2)) + np.linspace(0, 0.5, 5)[:, None, None]

    def test_against_a_plain_loop(self):
        found = discriminative_power(
            scores_of(self.value, measures=("AP", "RR")), 0.05, resampling=Resampling(200, seed=2)
        )
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


orders = st.lists(st.integers(0, 4), min_size=3, max_size=6)


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
        pairs = list(itertools.combinations(range(len(a)), 2))
        signs = [np.sign((a[i] - a[j]) * (b[i] - b[j])) for i, j in pairs]
        assert kendall_tau_a(one, other) == pytest.approx(sum(signs) / len(pairs))

    @settings(max_examples=60, deadline=None)
    @given(orders, st.randoms())
    def test_tau_ap_is_the_mean_over_broken_ties(self, observed, random):
        reference = random.sample(range(10), len(observed))
        values = []
        for order in broken_ties(observed):
            total = 0.0
            for rank in range(2, len(order) + 1):
                above = sum(reference[other] > reference[order[rank - 1]] for other in order[: rank - 1])
                total += above / (rank - 1)
            values.append(2 * total / (len(order) - 1) - 1)
        found = tau_ap(np.array(observed, dtype=float), np.array(reference, dtype=float))
        assert found == pytest.approx(np.mean(values))

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


class TestComparison:
    def test_rows(self):
        rng = np.random.default_rng(8)
        value = np.clip(rng.normal(0.5, 0.1, (3, 30, 1)) + np.array([0.0, 0.2, 0.21])[:, None, None], 0, 1)
        scores = scores_of(value, low=value, high=value + 0.05, measures=("RBP(p=0.8)",))
        found = compare(scores, test="t")
        assert [row["group"] for row in found.systems] == ["b", "a", "a"]
        first = found.pairs[0]
        assert (first["a"], first["b"]) == ("run0", "run1")
        differences = value[0, :, 0] - value[1, :, 0]
        assert first["difference"] == pytest.approx(differences.mean())
        assert first["p_value"] == pytest.approx(stats.ttest_rel(value[0, :, 0], value[1, :, 0]).pvalue)
        assert (first["certain_low"], first["certain_high"]) == (
            pytest.approx(differences.mean() - 0.05), pytest.approx(differences.mean() + 0.05),
        )  # fmt: skip
        assert first["verdict"] == "b better"
        assert found.pairs[2]["verdict"] == "no difference shown"
        json.dumps(found.pairs)
        assert "run1" in repr(found)
        assert "<table " in found._repr_html_()

    def test_three_runs_or_more_are_corrected_by_tukey_and_two_by_nothing(self):
        value = np.random.default_rng(2).random((12, 20, 2)) * 0.1 + np.linspace(0, 0.5, 12)[:, None, None]
        found = compare(scores_of(value, measures=("AP", "RR")), resamples=1000)
        assert found.settings["correction"] == "tukey"
        assert found.systems[0]["group"] != found.systems[-1]["group"]
        for at, measure in enumerate(("AP", "RR")):  # the measures share shuffles, and each has its own test's numbers
            alone = over_all_pairs(value[None, ..., at], *pairs_of(12), Resampling(1000))[0]
            assert [row["p_adjusted"] for row in found[measure].pairs] == alone.tolist()
        assert compare(scores_of(value[:3, :, :1]), resamples=1000).settings["correction"] == "tukey"
        two = compare(scores_of(value[:2, :, :1]), resamples=1000)
        assert two.settings["correction"] == "none"
        assert two.pairs[0]["p_adjusted"] == two.pairs[0]["p_value"]
        assert compare(scores_of(value[..., :1]), test="t").settings["correction"] == "holm"

    def test_judging_other_runs_documents_moves_ap(self):
        value = np.random.default_rng(2).random((2, 10, 1))
        found = compare(scores_of(value, low=value, high=value, measures=("AP",)))
        assert found.pairs[0]["certain_low"] is None

    def test_order_of_runs_does_not_matter(self):
        value = np.random.default_rng(2).random((3, 20, 1))
        one, other = compare(scores_of(value)), compare(scores_of(value[::-1]))
        assert [row["p_value"] for row in one.pairs] == [row["p_value"] for row in other.pairs[::-1]]
        assert [row["p_adjusted"] for row in one.pairs] == pytest.approx(
            [row["p_adjusted"] for row in other.pairs[::-1]]
        )

    @pytest.mark.parametrize(
        ("numbers", "expected"),
        [
            ((0.1, 0.01, 0.05, 0.2), "a better"),
            ((0.1, 0.01, -0.05, 0.2), "a better as judged"),
            ((0.1, 0.01, np.nan, np.nan), "a better as judged"),
            ((-0.1, 0.01, -0.2, -0.05), "b better"),
            ((0.1, 0.2, 0.05, 0.2), "no difference shown"),
        ],
    )
    def test_verdicts(self, numbers, expected):
        assert VERDICTS[verdicts(*map(np.float64, numbers), 0.05)] == expected

    def test_wrong_words(self):
        scores = scores_of(np.random.default_rng(1).random((2, 5, 1)))
        for options in (
            {"test": "tt"},
            {"correction": "homl"},
            {"alternative": "more"},
            {"alpha": 2},
            {"resamples": 0},
        ):
            with pytest.raises(UsageError):
                compare(scores, **options)


def test_standardised_scores_have_mean_zero_and_deviation_one_on_every_topic():
    scores = scores_of(np.random.default_rng(9).random((6, 4, 1)))
    z = standardise(scores, cdf=False)
    assert z.value.mean(axis=0) == pytest.approx(0)
    assert z.value.std(axis=0, ddof=1) == pytest.approx(1)
    assert standardise(scores).value == pytest.approx(stats.norm.cdf(z.value))
    flat = scores_of(np.full((3, 2, 1), 0.4))
    assert (standardise(flat).value == 0.5).all()
    assert (standardise(scores_of(np.full((1, 4, 1), 0.9)), reference=scores).value > 0.5).any()


class TestCommands:
    """On a tiny collection: ``good`` beats ``bad`` on every one of eight topics."""

    @pytest.fixture
    def files(self, tmp_path):
        topics = range(8)
        (tmp_path / "qrels").write_text("".join(f"{t} 0 r 1\n{t} 0 n 0\n{t} 0 m 0\n" for t in topics))
        for name, docs in (("good", "rnm"), ("bad", "nmr")):
            lines = [f"{t} Q0 {doc} {at} {9 - at} {name}\n" for t in topics for at, doc in enumerate(docs, 1)]
            (tmp_path / name).write_text("".join(lines))
        return [str(tmp_path / name) for name in ("qrels", "good", "bad")]

    def call(self, capsys, *arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    def test_json(self, files, capsys):
        code, out, _ = self.call(capsys, "compare", *files, "-m", "RBP(p=0.5)", "--format", "json", "--per-topic")
        found = json.loads(out)
        assert code == 0
        assert set(found["systems"][0]) >= {"run", "measure", "mean", "ci_low", "ci_high", "low", "high", "group"}
        pair = found["pairs"][0]
        assert set(pair) >= {
            "a", "b", "measure", "difference", "ci_low", "ci_high", "p_value", "p_adjusted", "certain_low",
            "certain_high", "verdict",
        }  # fmt: skip
        assert pair["difference"] == pytest.approx(0.5 - 0.125)
        assert pair["p_value"] == pytest.approx(2 / 2**8)
        assert pair["verdict"] == "a better"
        assert len(found["topics"]) == 8

    def test_words(self, files, capsys):
        _, out, _ = self.call(capsys, "compare", *files, "-m", "RBP(p=0.5)")
        assert "good scores 0.5000 and bad 0.1250, a difference of +0.3750 over 8 topics (8 won, 0 lost)" in out
        assert "Is it noise? Probably not" in out
        assert "Could unjudged documents overturn it? No" in out
        assert "Could ties? No: no tied scores matter." in out
        assert "Does it hold for other p? Yes" in out
        _, out, _ = self.call(capsys, "compare", *files, "-m", "AP")
        assert "Could unjudged documents overturn it? No" in out

    def test_shared_unjudged_documents_cannot_overturn(self, files, capsys, tmp_path):
        """Both runs show the same unjudged document first: whatever it is, it moves both alike."""
        qrels = tmp_path / "qrels"
        for name, docs in (("one", "?rn"), ("two", "?nr")):
            lines = [f"{t} Q0 {doc} {at} {9 - at} {name}\n" for t in range(8) for at, doc in enumerate(docs, 1)]
            (tmp_path / name).write_text("".join(lines))
        arguments = ["compare", qrels, tmp_path / "one", tmp_path / "two", "-m", "P@2", "--format", "json"]
        pair = json.loads(self.call(capsys, *arguments)[1])["pairs"][0]
        assert (pair["certain_low"], pair["certain_high"]) == (pytest.approx(0.5), pytest.approx(0.5))
        assert pair["verdict"] == "a better"

    def test_holes_that_decide_are_named(self, files, capsys, tmp_path):
        qrels = tmp_path / "qrels"
        for name, docs in (("one", "rnm"), ("two", "xry")):
            lines = [f"{t} Q0 {doc} {at} {9 - at} {name}\n" for t in range(8) for at, doc in enumerate(docs, 1)]
            (tmp_path / name).write_text("".join(lines))
        _, out, _ = self.call(capsys, "compare", qrels, tmp_path / "one", tmp_path / "two", "-m", "RBP(p=0.5)")
        assert "Could unjudged documents overturn it? Yes" in out
        assert "How likely that is cannot be estimated from these judgments" in out  # two of three are unjudged
        assert "Which judgments would help most? First of all topic/document 0/x" in out

    def test_gate(self, files, capsys):
        qrels, good, bad = files
        code, _, err = self.call(capsys, "compare", qrels, good, bad, "--fail-if", "nDCG@10 worse")
        assert code == 1
        assert "gate failed: nDCG@10 worse by" in err
        assert "Topics that fell most: 0, 1, 2, 3, 4" in err
        assert self.call(capsys, "compare", qrels, bad, good, "--fail-if", "nDCG@10 worse")[0] == 0
        assert self.call(capsys, "compare", qrels, bad, good, "--fail-if", "RR different")[0] == 1
        # Surely worse on these topics, which are too few to say so of others at such a level.
        code, _, err = self.call(capsys, "compare", qrels, good, bad, "--fail-if", "P@1 worse", "--alpha", "0.0001")
        assert code == 4
        assert "there are 8, and the test takes at least 14" in err
        options = ["--fail-if", "AP worse", "--margin", "0.9"]
        assert self.call(capsys, "compare", qrels, good, bad, *options)[0] == 0

    def test_saved_baseline(self, files, capsys, tmp_path):
        qrels, good, bad = files
        saved = tmp_path / "baseline.json"
        arguments = ["-m", "AP", "--format", "json"]
        expected = json.loads(self.call(capsys, "compare", qrels, good, bad, *arguments, "--save", saved)[1])
        with_good = json.loads(self.call(capsys, "compare", qrels, bad, "--baseline", saved, *arguments)[1])
        assert with_good["systems"][0]["mean"] == expected["systems"][0]["mean"]
        assert len(with_good["systems"]) == 3
        (tmp_path / "junk.json").write_text('{"a": 1}')
        code, _, err = self.call(capsys, "compare", qrels, bad, "--baseline", tmp_path / "junk.json")
        assert code == 3
        assert "not scores that rankbounds saved" in err
        code, _, err = self.call(capsys, "compare", qrels, bad, "--baseline", saved, "-m", "RR")
        assert code == 3
        assert "lack RR" in err

    def test_a_baseline_of_other_judgments_or_options_is_refused_with_what_changed(self, files, capsys, tmp_path):
        qrels, good, bad = files
        saved = tmp_path / "baseline.json"
        assert self.call(capsys, "compare", qrels, good, "-m", "nDCG@5", "--save", saved)[0] == 0
        lines = Path(qrels).read_text().splitlines()
        asked = ["--baseline", saved, "-m", "nDCG@5"]
        (tmp_path / "turned").write_text("\n".join(reversed(lines)) + "\n")
        assert self.call(capsys, "compare", tmp_path / "turned", bad, *asked)[0] == 0, "the order does not matter"
        query, _, document, grade = lines[0].split()
        lines[0] = f"{query} 0 {document} {int(grade) + 1}"
        (tmp_path / "more").write_text("\n".join(lines) + "\n")
        code, out, err = self.call(capsys, "compare", tmp_path / "more", bad, *asked)
        assert (code, out) == (3, "")
        assert f"the judgments of 1 of 8 topics changed ({query})" in err
        code, _, err = self.call(capsys, "compare", qrels, bad, *asked, "--ties", "best", "--gain", "1=3", "--depth", 5)
        assert code == 3
        for told in ("--ties was trec and is best", "--gain was linear and is 1=3", "--depth was not given and is 5"):
            assert told in err
        rb.evaluate(qrels, good, "nDCG@5").save(saved)
        code, _, err = self.call(capsys, "compare", qrels, bad, *asked)
        assert code == 0
        assert "whether the saved scores were made with the same judgments and options is not known" in err

    def test_other_commands(self, files, capsys):
        code, out, _ = self.call(capsys, "discriminative-power", *files, "-m", "AP", "--format", "json")
        assert code == 0
        assert list(json.loads(out)[0]) == [
            "measure", "test", "alpha", "discriminated", "pairs", "power", "required_difference",
        ]  # fmt: skip
        code, out, _ = self.call(capsys, "agreement", *files, "-m", "AP", "-m", "RR", "--format", "json")
        assert code == 0
        assert {"measure_a", "measure_b", "tau", "tau_ap"} <= set(json.loads(out)[0])

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["--test", "tee"], "for test"),
            (["--correction", "hom"], 'Did you mean "holm"?'),
            (["--alpha", "0"], "alpha"),
            (["--fail-if", "better"], "should name a measure"),
            (["--fail-if", "nDGC worse"], "no measure"),
            (["--resamples", "0"], "at least 1"),
        ],
    )
    def test_wrong_usage(self, files, capsys, arguments, told):
        code, out, err = self.call(capsys, "compare", *files, *arguments)
        assert (code, out) == (2, "")
        assert told in err
        assert len(err.splitlines()) == 1

    def test_one_run_is_not_a_comparison(self, files, capsys):
        code, _, err = self.call(capsys, "compare", *files[:2])
        assert code == 3
        assert "at least two runs" in err


class TestFigures:
    """What is drawn is what was computed."""

    value = np.random.default_rng(4).random((3, 9, 1))

    def test_topic_differences(self):
        axes = rb.plots.topic_differences(scores_of(self.value), "run0", "run2")
        drawn = [bar.get_height() for bar in axes.patches]
        assert drawn == pytest.approx(sorted(self.value[0, :, 0] - self.value[2, :, 0], reverse=True))
        assert "AP" in axes.get_ylabel()

    def test_significance_curve(self):
        power = discriminative_power(scores_of(self.value))
        axes = rb.plots.significance_curve(power)
        assert axes.lines[0].get_ydata() == pytest.approx(power.significance["AP"])
        assert axes.get_legend().get_texts()[0].get_text() == "AP"

    def test_leaderboard(self, tmp_path):
        found = compare(scores_of(self.value, low=self.value - 0.1, high=self.value + 0.1))
        axes = rb.plots.leaderboard(found)
        assert sorted(axes.lines[-1].get_xdata()) == pytest.approx(sorted(self.value.mean(axis=1)[:, 0]))
        assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.2] * 3)
        axes.figure.savefig(tmp_path / "leaderboard.png")
        assert (tmp_path / "leaderboard.png").stat().st_size > 5000


def test_where_no_difference_can_be_found_the_words_say_so():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}
    runs = {"x": {"1": ["a", "b"], "2": ["b", "a"]}, "y": {"1": ["b", "a"], "2": ["b", "a"]}}
    words = rb.compare(rb.evaluate(qrels, runs, "RR"), alpha=1e-12).words()
    assert "With 2 topics no difference of any size is found 80% of the time" in words
    assert "inf" not in words


@pytest.mark.parametrize("resamples", [0, -1, 10**8, 10**400], ids=["none", "negative", "many", "endless"])
def test_numbers_of_resamples_that_no_machine_draws_are_refused(resamples):
    with pytest.raises(UsageError, match="number of resamples"):
        Resampling(resamples)


@pytest.mark.parametrize("correction", ["tukey", "holm", "none"])
def test_pairs_among_some_runs_are_as_they_are_among_all(correction):
    rng = np.random.default_rng(8)
    value = rng.random((6, 1, 1)) + 0.3 * rng.random((6, 20, 2))
    measures = [rb.parse_measure(name) for name in ("RBP(p=0.8)", "P@10")]
    scores = Scores(list("abcdef"), [str(topic) for topic in range(20)], measures, value, value, value, value[..., 0])
    whole = compare(scores, correction=correction, resamples=500)
    some = compare(scores, correction=correction, resamples=500, among=["e", "b", "d"])
    kept = [row for row in whole.pairs if {row["a"], row["b"]} <= set("bde")]
    assert some.pairs == kept
    assert some.systems == whole.systems
    np.testing.assert_array_equal(some.p_adjusted, whole.tested.numbers["p_adjusted"])
    assert some.words("P@10", ("e", "b")) == whole.words("P@10", ("e", "b"))
    with pytest.raises(UsageError, match="There is no run"):
        compare(scores, among=["a", "x"])


def test_runs_of_all_tables_in_the_order_asked_for(command, tmp_path):
    """By a measure, by name or as given; who leads, and whom p-values are against, does not depend on it."""
    topics = [str(topic) for topic in range(6)]
    (tmp_path / "qrels").write_text(
        "".join(f"{topic} 0 {doc} {int(doc == 'r')}\n" for topic in topics for doc in "rns")
    )
    orders = {"middle": "nrs", "behind": "nsr", "leader": "rns"}
    for name, docs in orders.items():
        lines = (f"{t} Q0 {doc} {place} {-place} {name}\n" for t in topics for place, doc in enumerate(docs))
        (tmp_path / name).write_text("".join(lines))
    files = [tmp_path / "qrels", *(tmp_path / name for name in orders)]

    def told(*more):
        code, out, _ = command("compare", *files, "-m", "RR", "-m", "P@2", "--resamples", "50", *more)
        assert code == 0
        return out

    def rows(table):
        return [line.split()[0] for line in table.splitlines() if line.split()[:1] and line.split()[0] in orders]

    by_name = sorted(orders)
    assert rows(told())[:3] == ["leader", "middle", "behind"]
    assert rows(told("--sort", "given"))[:3] == list(orders)
    assert rows(told("--sort", "run"))[:3] == by_name
    assert "p against leader" in told("--sort", "given")
    assert [row["run"] for row in json.loads(told("--sort", "run", "--format", "json"))["systems"]] == by_name * 2
    assert [row["run"] for row in json.loads(told("--format", "json"))["systems"]] == list(orders) * 2
    assert rows(told("--sort", "given", "--top", "1"))[0] == "middle"
    code, _, err = command("compare", *files, "-m", "RR", "--sort", "AP")
    assert (code, err.count("\n")) == (2, 1)


@pytest.mark.parametrize("test", ["randomization", "sign"])
def test_no_fewer_topics_are_called_enough_than_the_test_takes(test):
    """The t test finds a large difference with three topics; of six that must differ, three are not enough."""
    qrels = {query: {"r": 1, "n": 0, "m": 0} for query in "12"}
    good, bad = {"1": ["r", "n", "m"], "2": ["r", "n", "m"]}, {"1": ["n", "r", "m"], "2": ["n", "m", "r"]}
    compared = rb.compare(rb.evaluate(qrels, {"good": good, "bad": bad}, "RR"), test=test)
    assert "at least 6 must for p < 0.05" in compared.words()
    assert "about 6 topics are needed" in compared.words()
