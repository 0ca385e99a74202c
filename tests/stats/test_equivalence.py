"""Equivalence within a margin, held against statsmodels; and when a test cannot succeed, against all outcomes."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import rankbounds as rb
from rankbounds.commands.demo import DATA
from rankbounds.comparison import Evidence
from rankbounds.comparison.printed import measure_table
from rankbounds.stats.equivalence import p_of_margin, topics_for_margin
from rankbounds.stats.power import topics_that_must_differ
from rankbounds.stats.significance import TESTS, Resampling, mean_interval, p_values

FILES = [DATA / "qrels.txt", DATA / "runs" / "bm25-expanded.txt", DATA / "runs" / "dense.txt"]


@pytest.fixture(scope="module")
def scores():
    return rb.evaluate(FILES[0], FILES[1:], ["nDCG@10", "AP"])


class TestTwoOneSidedTests:
    def test_p_values_are_those_of_statsmodels(self):
        weightstats = pytest.importorskip("statsmodels.stats.weightstats", reason="pip install statsmodels")
        rng = np.random.default_rng(3)
        for topics in (5, 6, 10, 50):
            one = rng.uniform(size=(20, topics))
            other = one + rng.normal(0.02, 0.1, size=one.shape)
            for margin in (0.001, 0.05, 0.3):
                expected = [weightstats.ttost_paired(a, b, -margin, margin)[0] for a, b in zip(one, other, strict=True)]
                expected = np.maximum(expected, 0.5**topics)
                assert p_of_margin(one - other, margin) == pytest.approx(expected, abs=1e-12)

    def test_compare_tells_what_statsmodels_does(self, scores):
        weightstats = pytest.importorskip("statsmodels.stats.weightstats", reason="pip install statsmodels")
        for margin in (0.05, 0.15):
            found = rb.compare(scores, test="tost", margin=margin)
            for at, row in enumerate(found.pairs.rows()):
                expected = weightstats.ttost_paired(*scores.value[:, :, at], -margin, margin)[0]
                assert row["p_value"] == row["p_adjusted"] == row["p_equivalent"] == pytest.approx(expected)
                assert row["verdict"] == ("equivalent as judged" if expected < 0.05 else "equivalence not shown")

    def test_equivalent_where_the_interval_lies_within_the_margin(self):
        """At the level alpha, that of 1 - 2 alpha."""
        rng = np.random.default_rng(8)
        differences = rng.normal(0.01, 0.05, size=(200, 12))
        margin, mean, error = 0.04, differences.mean(axis=-1), stats.sem(differences, axis=-1)
        half = stats.t.ppf(0.95, 11) * error
        inside = (mean - half > -margin) & (mean + half < margin)
        assert ((p_of_margin(differences, margin) < 0.05) == inside).all()
        assert 0 < inside.sum() < inside.size

    @pytest.mark.parametrize("test", TESTS)
    def test_swapped_runs_are_as_equivalent(self, test):
        differences = np.random.default_rng(1).normal(0.02, 0.1, size=(30, 11))
        there, back = (p_of_margin(sign * differences, 0.05, test, Resampling(999)) for sign in (1, -1))
        tolerance = 0.05 if test == "bootstrap" else 1e-12  # other topics are drawn to the other side
        assert there == pytest.approx(back, abs=tolerance)

    @pytest.mark.parametrize("test", TESTS)
    def test_a_wider_margin_is_never_harder_to_show(self, test):
        differences = np.random.default_rng(2).normal(0.0, 0.1, size=(30, 9))
        margins = (0.0, 0.02, 0.05, 0.2)
        found = np.stack([p_of_margin(differences, margin, test, losses_only=True) for margin in margins])
        if test in ("t", "sign", "bootstrap"):
            slack = 0.02 if test == "bootstrap" else 1e-12
            assert (np.diff(found, axis=0) <= slack).all()
        assert (found[-1] <= found[0]).all()

    def test_a_difference_of_the_margin_but_for_rounding_is_the_margin(self):
        differences = np.array([[0.6 - 0.4, 0.4 - 0.2, 0.2 - 0.0] * 2])
        assert p_of_margin(-differences, 0.2, "sign", losses_only=True).tolist() == [1.0]
        assert p_of_margin(differences, 0.2, "t").tolist() == [1.0]  # nothing is left to test

    @pytest.mark.parametrize("test", ["t", "randomization", "wilcoxon", "sign"])
    def test_wrong_answers_are_as_rare_as_promised(self, test):
        """Of runs whose true loss is the margin, or difference, no more than alpha pass."""
        changes = np.random.default_rng(6).normal(-0.05, 0.1, size=(3000, 12))
        rare = 0.05 + 3 * (0.05 * 0.95 / 3000) ** 0.5
        assert 0.01 < (p_of_margin(changes, 0.05, test, losses_only=True) < 0.05).mean() < rare
        assert (p_of_margin(changes, 0.05, test) < 0.05).mean() < rare
        no_worse = changes + 0.05
        assert 0.01 < (p_values(no_worse, test, "less") < 0.05).mean() < rare

    def test_any_margin_can_be_computed_with(self):
        differences = np.random.default_rng(6).normal(size=(3, 8))
        for test in TESTS:
            for margin in (1e-300, 1e100):
                assert np.isfinite(p_of_margin(differences, margin, test)).all()

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"test": "tost"}, "needs a margin"),
            ({"test": "tost", "margin": 0}, "needs a margin"),
            ({"test": "tost", "margin": -0.1}, "A margin is the largest difference"),
            ({"test": "tost", "margin": float("nan")}, "A margin is the largest difference"),
            ({"test": "tost", "margin": 0.1, "alternative": "less"}, "two-sided"),
            ({"test": "tost", "margin": 0.1, "correction": "tukey"}, "use holm"),
        ],
    )
    def test_what_does_not_go_together(self, scores, options, told):
        with pytest.raises(rb.UsageError, match=told):
            rb.compare(scores, **options)

    def test_words_and_tables(self, scores, command):
        with_margin = rb.compare(scores, margin=0.15)
        plain = rb.compare(scores)
        for measure in ("nDCG@10", "AP"):
            added = [
                sentence for sentence in with_margin.sentences(measure) if sentence not in plain.sentences(measure)
            ]
            assert [sentence.partition("?")[0] for sentence in added] == ["Are they equivalent"]
        assert [row["p_equivalent"] for row in plain.pairs.rows()] == [None, None]
        assert [row["p_value"] for row in plain.pairs.rows()] == [row["p_value"] for row in with_margin.pairs.rows()]
        code, out, _ = command(
            "compare", *FILES, DATA / "runs" / "bm25.txt", "-m", "AP", "--test", "tost", "--margin", 0.2, "--explain"
        )
        assert code == 0
        assert "group" not in out  # letters say which runs no test tells apart
        assert "p: two one-sided t tests, margin 0.2 of each pair alone; p corrected:" in out


class TestFewTopicsThatDiffer:
    @pytest.mark.parametrize(("differing", "topics"), [(0, 5), (1, 50), (4, 4), (4, 50)])
    def test_a_margin_is_not_ruled_out_and_all_answers_say_why(self, differing, topics):
        qrels, runs = lists(differing, topics)
        because = (
            f"not ruled out, since {differing} of {topics} topics differ, and ruling out a margin takes at least 5"
        )
        for test in ("t", "tost"):
            compared = rb.compare(qrels, runs, "P@1", test=test, margin=0.9)
            (row,) = compared.pairs.rows()
            assert row["p_equivalent"] == 1
            assert f"Are they equivalent? Not shown: differences of 0.9 or more are {because}." in compared.words()
            assert row["verdict"] in ("no difference shown", "equivalence not shown")
            for condition in ("P@1 worse", "P@1 different"):
                (outcome,) = compared.gate(condition, margin=0.9).outcomes
                assert because in outcome.why
                assert (outcome.answer, outcome.p_pass) == ("undecided" if differing else "pass", 1)

    def test_five_that_differ_can_rule_it_out(self):
        qrels, runs = lists(5, 50)
        for test in ("t", "tost"):
            compared = rb.compare(qrels, runs, "P@1", test=test, margin=0.9)
            assert compared.pairs.rows()[0]["p_equivalent"] == 0.5**5  # one side
            assert "Are they equivalent? Yes: differences of 0.9 or more are ruled out" in compared.words()
            assert "a loss of 0.9 or more is ruled out (" in compared.gate("P@1 worse", margin=0.9).outcomes[0].why

    def test_a_stricter_level_takes_more(self):
        assert [topics_for_margin(alpha) for alpha in (0.2, 0.1, 0.05, 0.03125, 0.01)] == [5, 5, 5, 6, 7]

    @pytest.mark.parametrize("measure_of_few", ["success", "graded"])
    def test_the_level_holds(self, measure_of_few):
        """The true loss is the margin: with few that differ, a t test alone passes in a third of all samples."""
        generator = np.random.default_rng(3)
        changes = generator.choice([-1.0, 1.0, 0.0], (4000, 5), p=[0.06, 0.05, 0.89])
        if measure_of_few == "graded":
            changes *= generator.uniform(0.5, 1.5, changes.shape)
        assert (p_of_margin(changes, 0.01, losses_only=True) < 0.05).mean() <= 0.05
        assert (p_values(changes + 0.01, "t", "greater") < 0.05).mean() > 0.3


class TestClusters:
    """The interval holds what the margin's test does not reject, whatever the sizes of clusters."""

    SIZES = ([2] * 10, [1, 2, 3, 5] * 3, [20] + [1] * 19, [30] + [1] * 11)

    @pytest.mark.parametrize("sizes", SIZES)
    def test_the_margin_is_ruled_out_where_the_interval_lies_within_it(self, sizes):
        generator, number = np.random.default_rng(1), np.repeat(np.arange(len(sizes)), sizes)
        weights = np.array(sizes) * len(sizes) / sum(sizes)
        apart = 0.02 + generator.normal(0, 0.1, (400, number.size)) + generator.normal(0, 0.1, (400, 1))
        sums = np.stack([apart[:, number == at].sum(axis=-1) for at in range(len(sizes))], -1) * weights[-1] / sizes[-1]
        low, high = mean_interval(sums, 0.9, (-1, 1), weights)
        seen = set()
        for margin in (0.02, 0.05, 0.1, 0.2, 0.4):
            found = p_of_margin(sums, margin, weights=weights) < 0.05
            assert (found == ((low > -margin) & (high < margin))).all()
            seen |= set(found.tolist())
        assert seen == ({False} if sizes[0] == 30 else {False, True})
        assert (((low > 0) | (high < 0)) == (p_values(sums) < 0.1)).all()
        mirrored = mean_interval(-sums, 0.9, (-1, 1), weights)
        assert np.array_equal(mirrored, (-high, -low))

    @pytest.mark.parametrize("sizes", SIZES)
    @pytest.mark.parametrize("alike", [0.0, 0.7, 1.0])
    def test_it_covers(self, sizes, alike):
        """One large cluster too, where the spread of sums alone covers 80 to 90%."""
        generator, number = np.random.default_rng(2), np.repeat(np.arange(len(sizes)), sizes)
        weights = np.array(sizes) * len(sizes) / sum(sizes)
        of_cluster = generator.normal(0, alike**0.5, (2000, len(sizes)))[:, number]
        apart = 0.5 + 0.1 * (of_cluster + generator.normal(0, (1 - alike) ** 0.5, (2000, number.size)))
        sums = np.stack([apart[:, number == at].sum(axis=-1) for at in range(len(sizes))], -1) * weights[-1] / sizes[-1]
        low, high = mean_interval(sums, 0.95, (-1, 1), weights)
        assert ((low <= 0.5) & (high >= 0.5)).mean() >= 0.95 - 3 * (0.05 * 0.95 / 2000) ** 0.5


class TestAsJudged:
    def compared(self, judged, **how):
        """Runs that win by turns, with two documents each that are perhaps unjudged."""
        grades = {"r": 1, "n": 0, "m": 0} | dict.fromkeys(("u1", "u2", "u3", "u4") if judged else (), 0)
        qrels = {str(topic): grades for topic in range(20)}
        sides = ["r", "n", "u1", "u2"], ["n", "m", "u3", "u4"]
        runs = {name: {q: sides[int(q) % 2 == turn] for q in qrels} for turn, name in enumerate(("one", "two"))}
        return rb.compare(qrels, runs, "P@4", margin=0.2, **how)

    @pytest.mark.parametrize("judged", [True, False])
    def test_equivalence_that_judgments_could_end_is_called_so(self, judged):
        verdict, said = ("equivalent", "Yes: ") if judged else ("equivalent as judged", "Yes, as judged: ")
        for test in ("t", "tost"):
            compared = self.compared(judged, test=test)
            assert f"Are they equivalent? {said}differences of 0.2 or more are ruled out" in compared.words()
            (outcome,) = compared.gate("P@4 different", margin=0.2).outcomes
            ruled_out = "is ruled out (" if judged else "is ruled out as judged ("
            assert (outcome.answer, ruled_out in outcome.why) == ("pass", True)
        assert compared.pairs.rows()[0]["verdict"] == verdict
        assert verdict in measure_table(compared).text()
        assert json.loads(compared.render("json"))[0]["verdict"] == verdict

    def test_runs_of_which_nothing_is_judged(self):
        qrels = {str(topic): {"r": 1} for topic in range(7)}
        runs = {name: {query: [name] for query in qrels} for name in ("one", "two")}
        compared = rb.compare(qrels, runs, "P@1", test="tost", margin=0.01)
        assert compared.pairs.rows()[0]["verdict"] == "equivalence not shown"
        (outcome,) = compared.gate("P@1 worse", margin=0.01).outcomes
        assert "score the same by P@1 on all 7 topics as judged; a loss of 0.01 or more on others is not" in outcome.why


def every_outcome(differing, topics):
    """All differences with so many topics that differ, of three sizes and both signs; and some that all but agree."""
    yield [*(1 + 1e-12 * at for at in range(differing)), *[0.0] * (topics - differing)]
    for signed in itertools.product((-3.0, -2.0, -1.0, 1.0, 2.0, 3.0), repeat=differing):
        yield [*signed, *[0.0] * (topics - differing)]


class TestSmallestPValue:
    @pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "sign"])
    @pytest.mark.parametrize("alternative", ["two-sided", "greater"])
    @pytest.mark.parametrize("topics", [2, 3, 5, 9])
    def test_no_outcome_has_a_smaller_one_and_one_has_it(self, test, alternative, topics):
        for differing in range(min(topics, 4) + 1):
            outcomes = np.array(list(every_outcome(differing, topics)))
            least = p_values(outcomes, test, alternative).min()
            assert rb.stats.smallest_p_value(differing, topics, test, alternative=alternative) == pytest.approx(
                least, abs=1e-12
            )

    @pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
    def test_random_outcomes_do_not_go_below(self, test):
        rng = np.random.default_rng(4)
        for topics, differing in ((60, 7), (60, 55), (30, 29), (12, 12)):
            outcomes = np.zeros((2000, topics))
            outcomes[:, :differing] = np.abs(rng.normal(1, 0.2, size=(2000, differing)).round(1))
            outcomes[:, :differing] += 0.1
            found = p_values(outcomes, test)
            assert (found >= rb.stats.smallest_p_value(differing, topics, test) - 1e-12).all()

    def test_sampled_tests_know_how_many_resamples_they_have(self):
        assert rb.stats.smallest_p_value(20, 20, "randomization", resamples=99) == pytest.approx(0.01)
        assert rb.stats.smallest_p_value(20, 20, "bootstrap", resamples=99) == pytest.approx(0.01)
        assert topics_that_must_differ(20, "randomization", 0.01, resamples=99) == 0
        differences = np.ones((1, 20))
        assert p_values(differences, "bootstrap", resampling=Resampling(99)) == pytest.approx(0.01)
        assert p_values(differences, "randomization", resampling=Resampling(99)) == pytest.approx(0.01)

    @pytest.mark.parametrize("topics", [5, 16, 50])
    @pytest.mark.parametrize("alpha", [0.05, 0.01, 0.001])
    def test_as_many_as_must_differ_are_just_enough(self, topics, alpha):
        for test in ("randomization", "t", "wilcoxon", "sign"):
            must = topics_that_must_differ(topics, test, alpha)
            enough, short = (float(rb.stats.smallest_p_value(count, topics, test)) for count in (must, must - 1))
            assert enough < alpha <= short
        exact = next(n for n in itertools.count(1) if Fraction(2, 2**n) < Fraction(str(alpha)))
        assert topics_that_must_differ(topics, "sign", alpha) == exact

    def test_names_that_do_not_exist(self):
        with pytest.raises(rb.UsageError, match="for test"):
            rb.stats.smallest_p_value(3, 5, "tee")
        with pytest.raises(rb.UsageError, match="negative"):
            rb.stats.smallest_p_value(-1, 5)


def lists(differing, topics, *, unjudged=False):
    """Two runs that differ on the first topics; and on the last one, if a document that nobody judged is relevant."""
    good, bad = {"r": 3, "n": 2}, {"n": 3, "r": 2}
    one = {str(topic): dict(good) for topic in range(topics)}
    two = {str(topic): dict(bad if topic < differing else good) for topic in range(topics)}
    if unjudged:
        one[str(topics - 1)], two[str(topics - 1)] = dict(bad), {"?": 3, "r": 2}
    return {str(topic): {"r": 1, "n": 0} for topic in range(topics)}, {"one": one, "two": two}


def headroom(qrels, runs, measure="P@1", test="randomization", **options):
    found = rb.compare(rb.evaluate(qrels, runs, measure), test=test, **options).sentences()
    return [sentence for sentence in found if sentence.startswith("Can the test succeed?")]


class TestHeadroomInWords:
    def test_said_only_where_the_test_cannot_succeed(self):
        assert headroom(*lists(6, 50)) == []
        assert headroom(*lists(5, 50)) != []
        assert headroom(*lists(6, 50), test="t") == []
        assert headroom(*lists(5, 50), test="t") != []
        assert headroom(*lists(0, 50)) == []  # there is nothing to test
        assert headroom(*lists(5, 5), alpha=0.1) == []

    def test_what_can_still_differ_is_counted(self):
        (settled,) = headroom(*lists(3, 50))
        assert "at most 3 of 50 topics can differ, and at least 6 must differ for p < 0.05" in settled
        (as_judged,) = headroom(*lists(5, 50, unjudged=True))
        assert "Not with these judgments: 5 of 50 topics differ, and at least 6 must" in as_judged
        (settled,) = headroom(*lists(4, 50, unjudged=True))
        assert "at most 5 of 50 topics can differ, and at least 6 must" in settled

    def test_few_topics_and_few_resamples(self):
        (few,) = headroom(*lists(4, 4))
        assert "With 4 topics, no p can be below 0.05 by the randomization test, whatever the scores" in few
        (few,) = headroom(*lists(20, 20), resamples=9)
        assert "With 9 resamples, no p can be below 0.05: use more than 20 (--resamples), or the t test." in few

    def test_many_pairs_take_more_resamples(self):
        """The outcome at hand counts as one, so that p times the number of pairs may never be small enough."""
        qrels, runs = lists(20, 20)
        three = {**runs, "three": runs["two"]}
        (few,) = headroom(qrels, three, resamples=59)
        assert "With 59 resamples, no corrected p can be below 0.05: use more than 60" in few
        assert headroom(qrels, three, resamples=60) == []
        assert headroom(qrels, three, correction="none", resamples=59) == []
        assert "no corrected p can be below" in rb.compare(qrels, three, "P@1", test="sign", alpha=1e-6).method()

    def test_lists_at_hand_tell_what_can_differ_by_any_measure(self):
        """Shared unjudged documents at the same ranks make no difference; scores alone cannot know that."""
        qrels, runs = lists(3, 50)
        for run in runs.values():
            run["49"] = {"?": 3, "r": 2, "n": 1}
        for measure in ("nDCG@3", "AP", "P@1"):
            found = Evidence.read(qrels, runs).compare(measure, test="randomization")
            (sentence,) = [told for told in found.sentences() if told.startswith("Can the test succeed?")]
            assert "at most 3 of 50 topics can differ" in sentence
            (outcome,) = found.gate(f"{measure} worse").outcomes
            assert outcome.answer == "undecided"
            assert "3 of 50 can differ, and at least 6 must for p < 0.05, however large" in outcome.decide
        (alone,) = headroom(qrels, runs, "nDCG@3")
        assert "Not with these judgments: 3 of 50 topics differ" in alone
