"""A verdict is no surer than topics, judgments and the measure allow, and says what would settle it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy import stats

import rankbounds as rb
from rankbounds.commands.demo import DATA
from rankbounds.comparison import Evidence, compare_scores
from rankbounds.comparison.evidence import CHANCES
from rankbounds.comparison.printed import pair_table
from rankbounds.evaluation.score_differences import limits_of, limits_of_differences
from rankbounds.evaluation.scores import RunNotes, Scores
from rankbounds.measures import REGISTRY, parse_measure
from rankbounds.stats.power import topics_for_equivalence
from rankbounds.stats.significance import (
    EXACT_SIZES,
    TESTS,
    mean_interval,
    p_values,
)
from rankbounds.stats.standardisation import standardise

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
QRELS = DATA / "qrels.txt"
BM25, EXPANDED, DENSE = (DATA / "runs" / f"{name}.txt" for name in ("bm25", "bm25-expanded", "dense"))
ALL_RUNS = sorted((DATA / "runs").glob("*.txt"))


def scores_of(*values, measure="RR"):
    """Scores from a list of topics' values for each run, named a, b, ..."""
    value = np.array(values, dtype=float)[:, :, None]
    return Scores(
        [*"abcdef"][: len(values)], [str(at) for at in range(value.shape[1])], [parse_measure(measure)],
        value, value, value, np.ones(value.shape[:2]), [RunNotes()] * len(values),
    )  # fmt: skip


def collection(*runs, topics=8, judged="rnm"):
    """Judgments of r as relevant, and the runs as letters in the order of their documents."""
    qrels = {str(topic): {doc: int(doc == "r") for doc in judged} for topic in range(topics)}
    return qrels, {name: {query: list(docs) for query in qrels} for name, docs in zip("abc", runs, strict=False)}


def question(words, begin):
    """The sentences that answer a question; nothing where it is not asked."""
    return next((line for line in words.splitlines() if line.startswith(begin)), "")


SETTLE = "What would settle it?"


class TestEqualDifferences:
    """On few topics, all alike: nothing is known of how differences vary."""

    @pytest.mark.parametrize("test", TESTS)
    @pytest.mark.parametrize("topics", [2, 3])
    def test_no_test_is_surer_than_all_outcomes_with_other_signs(self, test, topics):
        compared = rb.compare(scores_of([1.0] * topics, [0.5] * topics), test=test)
        (row,) = compared.pairs.rows()
        assert (row["ci_low"], row["ci_high"]) == (None, None)
        assert row["verdict"] == "no difference shown"
        if test != "wilcoxon":  # by a normal approximation, where sizes are equal
            assert row["p_value"] == 2 * 0.5**topics
        unseen = 1 - 0.025 ** (1 / topics)  # of the mean itself, what so few topics may not have shown
        ends = [(system["mean"], system["ci_low"], system["ci_high"]) for system in compared.systems.rows()]
        assert sorted(ends) == [
            pytest.approx((0.5, 0.5 - unseen / 2, 0.5 + unseen / 2)),
            (1.0, pytest.approx(1 - unseen), 1.0),
        ]
        assert "interval +" not in compared.words()
        assert "More topics: the difference is the same on all of these" in question(compared.words(), SETTLE)

    @pytest.mark.parametrize("topics", [2, 3])
    @pytest.mark.parametrize("other", [0.5, 1.0])
    def test_they_are_not_called_equivalent(self, topics, other):
        scores = scores_of([1.0] * topics, [other] * topics)
        for options in ({"test": "tost"}, {"test": "t"}, {}):
            compared = rb.compare(scores, margin=0.6, **options)
            assert compared.pairs.rows()[0]["p_equivalent"] == 1
            assert "Are they equivalent? Not shown" in compared.words()
            assert f"since {topics * (other < 1)} of {topics} topics differ" in compared.words()
            assert "p = 0.0000" not in compared.words()

    def test_enough_of_them_tell(self):
        compared = rb.compare(scores_of([0.5] * 20, [1.0] * 20), test="t")
        assert compared.pairs.rows()[0]["p_value"] == 2 * 0.5**20
        assert compared.pairs.rows()[0]["verdict"] == "better"
        assert "no interval, since the difference is the same on every topic" in compared.words()

    @pytest.mark.parametrize("topics", [2, 3, 12])
    def test_places_are_no_surer_than_the_pairs(self, topics):
        compared = rb.compare(scores_of(*([value] * topics for value in (1.0, 0.5, 0.25))))
        told = [(row["rank_low"], row["rank_high"]) for row in compared.systems.rows()]
        assert told == ([(1, 3)] * 3 if topics < 12 else [(1, 1), (2, 2), (3, 3)])

    def test_rounding_makes_no_interval(self):
        low, high = mean_interval(np.array([[0.1 + 0.2, 0.3, 0.3]]))
        assert np.isnan([low, high]).all()

    def test_the_gate_does_not_fail(self, command, tmp_path):
        qrels, runs = collection("rnm", "nrm", topics=2)
        (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q in qrels for d, g in qrels[q].items()))
        for name, lists in runs.items():
            lines = [f"{q} Q0 {d} 0 {9 - at} {name}\n" for q in lists for at, d in enumerate(lists[q])]
            (tmp_path / name).write_text("".join(lines))
        files = [tmp_path / name for name in ("qrels", "a", "b")]
        code, out, _ = command("compare", *files, "-m", "RR", "--test", "t", "--fail-if", "RR worse")
        assert (code, "0.0000" in out) == (4, False)


class TestLimits:
    def test_every_measure_keeps_within_its_own(self):
        rng = np.random.default_rng(0)
        measures = [parse_measure(example) for kind in REGISTRY.values() for example in kind.examples]
        for _ in range(6):
            qrels, run = {}, {}
            for query in map(str, range(12)):
                docs = [f"d{at}" for at in range(rng.integers(1, 14))]
                qrels[query] = {doc: int(rng.choice([0, 0, 1, 2, 4])) for doc in docs if rng.random() < 0.8} or {
                    "d0": 1
                }
                run[query] = {doc: float(rng.integers(0, 30)) for doc in docs if rng.random() < 0.8} or {"d0": 1.0}
            scores = rb.evaluate(qrels, {"run": run}, measures)
            for at, measure in enumerate(measures):
                least, most = measure.value_range
                for ends in (scores.value, scores.low, scores.high):
                    known = ends[..., at][~np.isnan(ends[..., at])]
                    assert (known >= least - 1e-9).all(), measure
                    assert (known <= most + 1e-9).all(), measure
                assert limits_of(measure, scores.value[..., at]) == measure.value_range, measure

    @pytest.mark.parametrize(
        "values",
        [([1, 0] * 3, [0, 1] * 3), ([1, 1, 0.5] * 3, [0, 0.5, 0] * 3), ([1, 0.5, 1] * 2, [0.2, 0.1, 0.25] * 2)],
    )
    def test_intervals_and_what_can_be_found_are_differences_of_the_measure(self, values):
        compared = rb.compare(scores_of(*values))
        (row,) = compared.pairs.rows()
        assert -1 <= row["ci_low"] <= row["difference"] <= row["ci_high"] <= 1
        for system in compared.systems.rows():
            assert 0 <= system["ci_low"] <= system["mean"] <= system["ci_high"] <= 1
        found = re.search(r"a true difference of ([\d.]+) is found", compared.words())
        assert found is None or float(found[1]) <= 1

    def test_what_cannot_be_found_is_not_told_as_a_number(self):
        words = rb.compare(scores_of([1, 0], [0, 1])).words()
        assert "With 2 topics no difference of any size is found 80% of the time" in question(words, SETTLE)

    def test_scores_on_another_scale_have_other_limits(self):
        """Percentages, and z-scores: the limits of the measure are not theirs."""
        percent = scores_of([55, 20, 31, 7, 9, 80, 12], [35, 28, 31, 2, 8, 70, 10], measure="AP")
        assert limits_of(percent.measures[0], percent.value) == (-np.inf, np.inf)
        compared = rb.compare(percent)
        expected = stats.t.interval(
            0.95, 6, *(f(np.array([-20, 8, 0, -5.0, -1, -10, -2])) for f in (np.mean, stats.sem))
        )
        assert (compared.pairs.rows()[0]["ci_low"], compared.pairs.rows()[0]["ci_high"]) == pytest.approx(expected)
        z = standardise(scores_of([0.9, 0.1, 0.4], [0.2, 0.3, 0.5], [0.1, 0.2, 0.2], measure="AP"), cdf=False)
        assert limits_of_differences(z.measures[0], z.value) == (-np.inf, np.inf)

    def test_a_measure_without_limit_has_none(self):
        compared = rb.compare(scores_of([3.0, 40.0, 2.0] * 2, [9.0, 2.0, 8.0] * 2, measure="DCG"))
        assert compared.pairs.rows()[0]["ci_low"] < -1
        assert min(system["ci_low"] for system in compared.systems.rows()) == 0  # a mean of gains is not negative


class TestStandardised:
    def test_no_bounds_hold_since_the_reference_moves_with_the_judgments(self):
        compared = rb.compare(standardise(rb.evaluate(QRELS, [EXPANDED, DENSE], "RBP(p=0.8)")))
        assert "overturn it? Not known: these scores come without bounds." in compared.words()
        rows = compared.pairs.rows()
        assert [(row["certain_low"], row["certain_high"], row["certain"]) for row in rows] == [(None,) * 3]
        assert {(row["low"], row["high"]) for row in compared.systems.rows()} == {(None, None)}

    def test_judging_leaves_what_bounds_through_the_same_map_would_be(self):
        """The case that was told wrongly: with all of dense's documents relevant, more than the map of its bounds."""
        plain = rb.evaluate(QRELS, [EXPANDED, DENSE], "RBP(p=0.8)")
        assert np.isnan(standardise(plain).low).all()
        assert np.isnan(standardise(plain).high).all()
        assert standardise(plain).bounds == "none"


class TestProbability:
    def test_none_where_the_words_say_that_it_cannot_be_estimated(self, command):
        files = [QRELS, EXPANDED, DENSE, "-m", "RBP(p=0.8)"]
        assert "cannot be estimated" in command("compare", *files)[1]
        (row,) = json.loads(command("compare", *files, "--format", "json")[1])["pairs"]
        assert (row["probability_better_if_judged"], row["probability_worse_if_judged"]) == (None, None)
        (row,) = Evidence.read(QRELS, [DENSE, EXPANDED]).compare("AP").pairs.rows()
        assert (row["probability_better_if_judged"], row["probability_worse_if_judged"]) == (None, None)

    @pytest.mark.parametrize("measure", ["AP", "RBP(p=0.9)"])
    def test_draws_that_all_agree_are_no_certainty(self, measure):
        """All completions that are drawn have one winner, and bounds leave it open."""
        judged = {f"d{at:02}": int(at == 0) for at in range(30)}
        qrels = {str(topic): judged for topic in range(40)}
        ahead, behind = [*judged], [*[*judged][1:5], "d00", *[*judged][5:10], *(f"x{at}" for at in range(12))]
        compared = Evidence.read(qrels, {"a": dict.fromkeys(qrels, ahead), "b": dict.fromkeys(qrels, behind)}).compare(
            measure
        )
        (row,) = compared.pairs.rows()
        assert row["certain_low"] < 0 < row["certain_high"]
        told = sorted((row["probability_better_if_judged"], row["probability_worse_if_judged"]))
        assert told == [0.01, 0.99]
        assert (
            f"is better on these topics with probability {row['probability_better_if_judged']:.2f}" in compared.words()
        )

    @pytest.mark.parametrize("measure", ["AP", "nDCG", "RBP(p=0.8)"])
    def test_a_pair_has_the_same_alone_and_among_others(self, measure):
        simulated = rb.studies.simulate(5, 4, 100, 40, pool_depth=5, seed=2)
        among = Evidence(simulated.pooled, simulated.runs).compare([measure])
        found = [row[CHANCES[0]] for row in among.pairs.rows()]
        assert any(0.01 < value < 0.99 for value in found)
        assert all(value in (0, None, 1) or 0.01 <= value <= 0.99 for value in found)
        for row in among.pairs.rows():
            pair = [run for run in simulated.runs if run.name in (row["run"], row["against"])]
            alone = Evidence(simulated.pooled, pair).compare([measure])
            (own,) = alone.pairs.rows()
            assert row[CHANCES[0]] == own[CHANCES[own["run"] != row["run"]]]
            sides = row["run"], row["against"]
            there, here = (set(one.sentences(measure, sides)) for one in (alone, among))
            assert {text for text in here ^ there if "judgments" in text} == set()

    def test_what_is_certain_is(self):
        qrels, runs = collection("rnm", "nmr?")
        (row,) = Evidence.read(qrels, runs).compare("P@1").pairs.rows()
        assert {row["probability_better_if_judged"], row["probability_worse_if_judged"]} <= {None, 0.0, 1.0}

    def test_no_movement_is_foreseen_without_data(self):
        qrels = {str(topic): {"r": 1, "n": 0} for topic in range(8)}
        runs = {name: {topic: ["r", f"{name}1", f"{name}2"] for topic in qrels} for name in ("one", "other")}
        told = Evidence.read(qrels, runs).compare("P@3").words()
        assert "every judged document that the runs retrieved is relevant" in told
        assert "Which judgments would help most?" in told
        assert "expected" not in told
        runs = {name: {topic: ["r", "n", name] for topic in qrels} for name in ("one", "other")}
        assert "are expected to move" in Evidence.read(qrels, runs).compare("P@3").words()


class TestJudgedThreshold:
    def test_it_is_said_and_of_the_run_that_lies_below(self):
        few = "fewer than 95% of the first 5 documents of {} are judged"
        evidence = Evidence.read(QRELS, [EXPANDED, DENSE])
        there, back = (evidence.compare("AP").words("AP", pair) for pair in (("bm25-expanded", "dense"),) * 2)
        assert few.format("dense") in there
        assert few.format("dense") in evidence.compare("AP").words("AP", ("dense", "bm25-expanded"))
        assert few.format("dense") in Evidence.read(QRELS, [DENSE, EXPANDED]).compare("AP").words()
        assert there == back

    def test_of_both_where_both_do(self):
        qrels, runs = collection("xrn", "yrm")
        assert "the first 5 documents of b and a are judged" in Evidence.read(qrels, runs).compare("RBP(p=0.5)").words()


class TestMissingTopics:
    @pytest.fixture
    def runs(self):
        short = rb.read_run(DENSE)
        kept = {"1", "2", "3"}
        lists = {query: {} for query in kept}
        for query, doc, score in zip(
            *(short.to_polars()[name] for name in ("query_id", "doc_id", "score")), strict=True
        ):
            if query in kept:
                lists[query][doc] = score
        return {"bm25": rb.read_run(BM25), "short": lists}

    def test_the_verdict_itself_says_so(self, runs):
        compared = Evidence.read(QRELS, runs).compare("AP")
        noise = question(compared.words(), "Is it noise?")
        assert "But short lacks 21 of these 24 topics, which count as empty lists" in noise
        assert compared.pairs.rows()[0]["verdict"].endswith("; short lacks 21 of 24 topics")
        assert pair_table(compared).rows[0][-3].endswith("; short lacks 21 of 24 topics")
        assert (
            rb.compare(rb.evaluate(QRELS, runs, "AP"))
            .pairs.rows()[0]["verdict"]
            .endswith("; short lacks 21 of 24 topics")
        )
        assert "short lacks 21" in Evidence.read(QRELS, runs).compare("AP", test="tost", margin=0.1).words()

    def test_not_where_others_are_left_out(self, runs):
        assert "lacks" not in rb.compare(rb.evaluate(QRELS, runs, "AP", topics="shared")).words()

    def test_swapped_runs_say_the_same(self, runs):
        there = Evidence.read(QRELS, runs).compare("AP")
        back = Evidence.read(QRELS, dict(reversed(runs.items()))).compare("AP")
        for pair in (("bm25", "short"), ("short", "bm25")):
            assert there.words("AP", pair) == back.words("AP", pair)
        verdict = back.pairs.rows()[0]["verdict"]
        assert (there.pairs.rows()[0]["verdict"], verdict) == (
            "worse; short lacks 21 of 24 topics", "better; short lacks 21 of 24 topics",
        )  # fmt: skip


class TestWhatWouldSettle:
    def test_nothing_where_it_is_settled(self):
        qrels, runs = collection("nrm", "rnm")
        compared = Evidence.read(qrels, runs).compare("RR")
        assert compared.pairs.rows()[0]["verdict"] == "better"
        assert SETTLE not in compared.words()

    def test_judgments_where_they_could_overturn_what_topics_show(self):
        qrels, runs = collection("xrm", "rnm")
        compared = Evidence.read(qrels, runs).compare("RR")
        assert compared.pairs.rows()[0]["verdict"] == "better as judged"
        qrels, runs = collection("rnm", "xry", topics=8)
        words = Evidence.read(qrels, runs).compare("RBP(p=0.5)").words()
        assert question(words, SETTLE) == f"{SETTLE} Judging the unjudged documents. More topics would not help."

    def test_topics_alone_do_not_where_judgments_decide_too(self):
        words = Evidence.read(QRELS, [EXPANDED, DENSE]).compare("RBP(p=0.8)").words()
        assert question(words, SETTLE).endswith(
            "More topics would not settle what the unjudged documents could change."
        )
        plain = rb.compare(scores_of([1, 0.5, 0.2, 0.1], [0.3, 0.5, 0.4, 0])).words()
        assert "More topics would not settle" not in plain

    @pytest.mark.parametrize("first", ["bm25", "prefixed"])
    def test_ids_that_agree_where_no_document_of_a_run_is_judged(self, first):
        """Both commands warn in the same words, and nobody is sent to judge documents of another name."""
        dense = rb.read_run(DENSE)
        prefixed = {query: {f"x-{doc}": score for doc, score in dense[query]} for query in dense.query_ids}
        runs = {"bm25": BM25, "prefixed": prefixed}
        runs = runs if first == "bm25" else dict(reversed(runs.items()))
        said = "prefixed: not one of its 960 documents is judged, for any topic: do the ids differ by a prefix?"
        with pytest.warns(rb.RankboundsWarning, match=re.escape(said)) as evaluated:
            rb.evaluate(QRELS, runs, "nDCG@10")
        with pytest.warns(rb.RankboundsWarning, match=re.escape(said)) as compared:
            words = rb.compare(QRELS, runs, "nDCG@10").words()
        assert [str(one.message) for one in compared] == [str(one.message) for one in evaluated]
        assert question(words, SETTLE) == f"{SETTLE} Ids that agree: no document of one run is judged, for any topic."
        assert "Which judgments would help" not in words
        known = rb.compare(QRELS, [EXPANDED, DENSE], "nDCG@10").words()
        assert "Which judgments would help" in known

    def test_equivalence_asks_for_the_topics_of_equivalence(self):
        rng = np.random.default_rng(3)
        one = rng.uniform(0.3, 0.6, 20)
        scores = scores_of(one, one + 0.02 + rng.normal(0, 0.12, 20), measure="AP")
        compared = rb.compare(scores, test="tost", margin=0.06)
        (row,) = compared.pairs.rows()
        assert row["verdict"] == "equivalence not shown"
        deviation = np.subtract(*scores.value[..., 0]).std(ddof=1)
        needed = topics_for_equivalence(np.array(row["difference"]), deviation, 0.06, 0.05, 0.8)
        assert f"about {needed:,} topics rule out differences of 0.06 or more 80% of the time" in compared.words()
        assert SETTLE not in rb.compare(scores, test="tost", margin=0.5).words()
        narrow = rb.compare(scores, test="tost", margin=1e-6).words()
        assert "no realistic number of topics rules out differences of 1e-06 or more" in narrow

    @pytest.mark.parametrize(("difference", "margin"), [(0.0, 0.5), (0.1, 0.5), (-0.3, 0.6), (0.0, 2.0)])
    def test_so_many_topics_show_equivalence_so_often(self, difference, margin):
        topics = int(topics_for_equivalence(np.array(difference), np.array(1.0), margin, 0.05, 0.8))
        rng = np.random.default_rng(1)

        def shown(count):
            drawn = rng.normal(difference, 1.0, (40_000, count))
            error = drawn.std(axis=-1, ddof=1) / count**0.5
            critical = stats.t.ppf(0.95, count - 1)
            mean = drawn.mean(axis=-1)
            return (((mean + margin) / error > critical) & ((mean - margin) / error < -critical)).mean()

        assert shown(topics) >= 0.8 - 0.01
        assert topics == 5 or shown(topics - 1) < 0.8 + 0.01  # with fewer no margin is ruled out

    @pytest.mark.parametrize("options", [{}, {"test": "tost", "margin": 0.2}, {"test": "t", "margin": 0.1}])
    def test_swapped_runs_get_the_same_words(self, options):
        runs = [EXPANDED, DENSE]
        there, back = (
            Evidence.read(QRELS, order).compare(["AP", "RBP(p=0.8)"], **options) for order in (runs, runs[::-1])
        )
        for measure in ("AP", "RBP(p=0.8)"):
            for pair in (("bm25-expanded", "dense"), ("dense", "bm25-expanded")):
                assert there.words(measure, pair) == back.words(measure, pair)


class TestNotebook:
    def test_means_know_how_many_topics_they_are_over(self, tmp_path):
        scores = rb.evaluate(QRELS, [BM25, DENSE], "AP")
        assert "Means over 24 topics." in scores._repr_html_()
        assert ">95% (topics)<" in scores.mean()._repr_html_()  # with one measure there is room for it
        scores.mean().save(tmp_path / "means.json")
        assert Scores.load(tmp_path / "means.json") == scores.mean()

    def test_notes_on_runs_stand_below_where_no_wide_table_hides_them(self):
        qrels, runs = collection("rnm", "nrm")
        del runs["b"]["3"]
        scores = rb.evaluate(qrels, runs, ["AP", "RR", "P@3"])
        page = scores._repr_html_()
        assert "<th" in page
        assert ">notes</th>" not in page
        assert page.index("</table>") < page.index("b: 1 topic missing.")
        assert "notes" in repr(scores)


class TestOrderOfRuns:
    def test_shuffles_do_not_depend_on_it(self):
        """They start from an order of their own."""
        files = [*ALL_RUNS]
        found = []
        for order in (files, files[::-1], files[2:] + files[:2]):
            rows = rb.compare(rb.evaluate(QRELS, order, ["AP", "RR"]), correction="tukey", resamples=999).pairs.rows()
            found.append({(frozenset((row["run"], row["against"])), row["measure"]): row["p_adjusted"] for row in rows})
        assert found[0] == found[1] == found[2]
        assert len(set(found[0].values())) > 2


class TestHeadroomOfWilcoxon:
    @pytest.mark.parametrize("differing", [EXACT_SIZES - 1, EXACT_SIZES, EXACT_SIZES + 1, EXACT_SIZES + 10])
    @pytest.mark.parametrize("alternative", ["two-sided", "greater"])
    def test_the_smallest_p_is_one_that_an_outcome_has(self, differing, alternative):
        """Beyond so many sizes the test is a normal approximation, whose p-values are larger than those of signs."""
        different, equal = np.arange(1.0, differing + 1), np.ones(differing)
        least = p_values(np.stack([different, equal]), "wilcoxon", alternative).min()
        found = float(rb.stats.smallest_p_value(differing, differing, "wilcoxon", alternative=alternative))
        assert found == pytest.approx(least, rel=1e-6, abs=0)


def test_some_runs_of_the_evidence_have_the_bounds_that_they_have_among_all():
    """Bounds of differences belong to the runs by name, also where others of the evidence are left out."""
    evidence = Evidence.read(DATA / "qrels.txt", DATA / "runs")
    measures = ["AP", "RBP(p=0.8)"]
    whole, scores = evidence.compare(measures), evidence.scores(measures)
    some = compare_scores(scores.filter(run=scores.runs[1:]), evidence=evidence)
    for row in some.pairs.rows():
        expected = whole.numbers.row(row["measure"], (row["run"], row["against"]))
        for name in ("difference", "certain_low", "certain_high"):
            assert row[name] == pytest.approx(expected[name], abs=1e-12)
    a, b = some.runs[:2]
    assert some.words("AP", (a, b)).count("Could ties?") == 1
    changes = [
        [line for line in compared.sentences("RBP(p=0.8)", (a, b)) if "other p" in line] for compared in (whole, some)
    ]
    assert changes[0] == changes[1]
