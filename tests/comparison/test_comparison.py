"""Comparisons of runs: verdicts, tables, commands and figures."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import rankbounds as rb
from array_scores import scores_of
from rankbounds.cli import main
from rankbounds.collection.preparation import Preparation
from rankbounds.commands.demo import DATA
from rankbounds.comparison import Evidence, compare
from rankbounds.comparison.pairs import VERDICTS, verdicts
from rankbounds.errors import UsageError
from rankbounds.evaluation.scores import Scores
from rankbounds.stats.corrections import over_all_pairs
from rankbounds.stats.power import topics_needed
from rankbounds.stats.significance import TESTS, Resampling, pairs_of
from rankbounds.stats.standardisation import standardise


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


class TestComparison:
    def test_rows(self):
        rng = np.random.default_rng(8)
        value = np.clip(rng.normal(0.5, 0.1, (3, 30, 1)) + np.array([0.0, 0.2, 0.21])[:, None, None], 0, 1)
        scores = scores_of(value, low=value, high=value + 0.05, measures=("RBP(p=0.8)",))
        found = compare(scores, test="t")
        assert [row["group"] for row in found.systems.rows()] == ["b", "a", "a"]
        first = found.pairs.rows()[0]
        assert (first["run"], first["against"]) == ("run1", "run0")  # the better against the worse
        differences = value[1, :, 0] - value[0, :, 0]
        assert first["difference"] == pytest.approx(differences.mean())
        assert first["p_value"] == pytest.approx(stats.ttest_rel(value[0, :, 0], value[1, :, 0]).pvalue)
        assert (first["certain_low"], first["certain_high"]) == (
            pytest.approx(differences.mean() - 0.05), pytest.approx(differences.mean() + 0.05),
        )  # fmt: skip
        assert first["verdict"] == "better"
        assert found.pairs.rows()[2]["verdict"] == "no difference shown"
        json.dumps(found.pairs.rows())
        assert "run1" in repr(found)
        assert "<table " in found._repr_html_()

    def test_three_runs_or_more_are_corrected_by_holm_and_two_by_nothing(self):
        value = np.random.default_rng(2).random((12, 20, 2)) * 0.1 + np.linspace(0, 0.5, 12)[:, None, None]
        found = compare(scores_of(value, measures=("AP", "RR")))
        assert found.settings["correction"] == "holm"
        assert found.systems.rows()[0]["group"] != found.systems.rows()[-1]["group"]
        for measure in ("AP", "RR"):
            rows = sorted(found[measure].pairs.rows(), key=lambda row: row["p_value"])
            steps = itertools.accumulate((row["p_value"] * (66 - at) for at, row in enumerate(rows)), max)
            assert [row["p_adjusted"] for row in rows] == pytest.approx([min(1.0, p) for p in steps])
        assert compare(scores_of(value[:3, :, :1])).settings["correction"] == "holm"
        two = compare(scores_of(value[:2, :, :1]))
        assert two.settings["correction"] == "none"
        assert two.pairs.rows()[0]["p_adjusted"] == two.pairs.rows()[0]["p_value"]
        tests = {test: compare(scores_of(value[..., :1]), test=test, resamples=50) for test in TESTS}
        assert {test: one.settings["correction"] for test, one in tests.items()} == {
            "t": "holm", "wilcoxon": "holm", "sign": "holm", "randomization": "holm", "bootstrap": "max-t",
        }  # fmt: skip

    def test_measures_share_shuffles(self):
        value = np.random.default_rng(2).random((12, 20, 2)) * 0.1 + np.linspace(0, 0.5, 12)[:, None, None]
        found = compare(scores_of(value, measures=("AP", "RR")), correction="tukey", resamples=1000)
        for at, measure in enumerate(("AP", "RR")):
            shuffled = over_all_pairs(value[None, ..., at], *pairs_of(12), Resampling(1000))[0]
            rows = found[measure].pairs.rows()
            assert [row["p_adjusted"] for row in rows] == np.maximum(
                shuffled, [row["p_value"] for row in rows]
            ).tolist()

    def test_judging_other_runs_documents_moves_ap(self):
        value = np.random.default_rng(2).random((2, 10, 1))
        found = compare(scores_of(value, low=value, high=value, measures=("AP",)))
        assert found.pairs.rows()[0]["certain_low"] is None

    def test_order_of_runs_does_not_matter(self):
        value = np.random.default_rng(2).random((3, 20, 1))
        one, other = compare(scores_of(value)), compare(scores_of(value[::-1]))
        assert [row["p_value"] for row in one.pairs.rows()] == [row["p_value"] for row in other.pairs.rows()[::-1]]
        assert [row["p_adjusted"] for row in one.pairs.rows()] == pytest.approx(
            [row["p_adjusted"] for row in other.pairs.rows()[::-1]]
        )

    @pytest.mark.parametrize(
        ("numbers", "expected"),
        [
            ((0.1, 0.01, 0.05, 0.2), "better"),
            ((0.1, 0.01, -0.05, 0.2), "better as judged"),
            ((0.1, 0.01, np.nan, np.nan), "better as judged"),
            ((-0.1, 0.01, -0.2, -0.05), "worse"),
            ((0.1, 0.2, 0.05, 0.2), "no difference shown"),
        ],
    )
    def test_verdicts(self, numbers, expected):
        lead, p, low, high = map(np.float64, numbers)
        assert VERDICTS[verdicts(lead, p < 0.05, low, high)] == expected

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
        return [str(tmp_path / name) for name in ("qrels", "bad", "good")]

    def call(self, capsys, *arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    def test_json(self, files, capsys):
        code, out, _ = self.call(capsys, "compare", *files, "-m", "RBP(p=0.5)", "--format", "json")
        found = json.loads(out)
        assert code == 0
        assert set(found["systems"][0]) >= {"run", "measure", "mean", "ci_low", "ci_high", "low", "high", "group"}
        pair = found["pairs"][0]
        assert set(pair) >= {
            "run", "against", "measure", "difference", "ci_low", "ci_high", "p_value", "p_adjusted", "certain_low",
            "certain_high", "verdict",
        }  # fmt: skip
        assert pair["difference"] == pytest.approx(0.5 - 0.125)
        assert pair["p_value"] == pytest.approx(2 / 2**8)
        assert pair["verdict"] == "better"

    def test_words(self, files, capsys):
        _, out, _ = self.call(capsys, "compare", *files, "-m", "RBP(p=0.5)", "--explain")
        assert "good scores 0.5000 and bad 0.1250, a difference of +0.3750 over 8 topics (8 won, 0 lost)" in out
        assert "Is it noise? Probably not" in out
        assert "Could unjudged documents overturn it? No" in out
        assert "Could ties? No: no tied scores matter." in out
        assert "Does it hold for other p? Yes" in out
        _, out, _ = self.call(capsys, "compare", *files, "-m", "AP", "--explain")
        assert "Could unjudged documents overturn it? No" in out
        _, out, _ = self.call(capsys, "compare", *files, "-m", "AP")
        assert out.startswith(
            "good is better than bad by AP: 1.0000 against 0.3333 over 8 topics (t test, p = 0.0078)."
        )
        assert "?" not in out  # nothing is open

    def test_shared_unjudged_documents_cannot_overturn(self, files, capsys, tmp_path):
        """Both runs show the same unjudged document first: whatever it is, it moves both alike."""
        qrels = tmp_path / "qrels"
        for name, docs in (("one", "?rn"), ("two", "?nr")):
            lines = [f"{t} Q0 {doc} {at} {9 - at} {name}\n" for t in range(8) for at, doc in enumerate(docs, 1)]
            (tmp_path / name).write_text("".join(lines))
        arguments = ["compare", qrels, tmp_path / "two", tmp_path / "one", "-m", "P@2", "--format", "json"]
        pair = json.loads(self.call(capsys, *arguments)[1])["pairs"][0]
        assert (pair["certain_low"], pair["certain_high"]) == (pytest.approx(0.5), pytest.approx(0.5))
        assert pair["verdict"] == "better"

    def test_holes_that_decide_are_named(self, files, capsys, tmp_path):
        qrels = tmp_path / "qrels"
        for name, docs in (("one", "rnm"), ("two", "xry")):
            lines = [f"{t} Q0 {doc} {at} {9 - at} {name}\n" for t in range(8) for at, doc in enumerate(docs, 1)]
            (tmp_path / name).write_text("".join(lines))
        asked = ["compare", qrels, tmp_path / "one", tmp_path / "two", "-m", "RBP(p=0.5)"]
        _, out, _ = self.call(capsys, *asked)
        assert "Could unjudged documents overturn it? Yes" in out
        assert "How likely that is cannot be estimated: " in out  # two of three are unjudged
        assert "Judge first 0/x (topic/document)" in out
        _, out, _ = self.call(capsys, *asked, "--explain")
        assert "Which judgments would help most? Start with topic/document 0/x" in out

    def test_gate(self, files, capsys):
        qrels, bad, good = files
        code, out, err = self.call(capsys, "compare", qrels, good, bad, "--fail-if", "nDCG@10 worse", "--quiet")
        assert (code, err) == (1, "")
        assert out.startswith("FAIL: bad is worse than good by nDCG@10: -")
        assert "Topics that" not in out
        code, out, _ = self.call(capsys, "compare", qrels, good, bad, "--fail-if", "nDCG@10 worse", "--explain")
        assert "\ngate failed: bad is worse than good by" in out
        assert "Topics that fell most: 0, 1, 2, 3, 4" in out
        asked = ["--fail-if", "nDCG@10 worse", "--format", "json", "--quiet"]
        assert self.call(capsys, "compare", qrels, good, bad, *asked)[2].startswith("rankbounds: FAIL: bad is worse")
        assert self.call(capsys, "compare", qrels, bad, good, "--fail-if", "nDCG@10 worse")[0] == 0
        assert self.call(capsys, "compare", qrels, bad, good, "--fail-if", "RR different")[0] == 1
        # Surely worse on these topics, which are too few to say so of others at such a level.
        code, out, _ = self.call(capsys, "compare", qrels, good, bad, "--fail-if", "P@1 worse", "--alpha", "0.0001")
        assert code == 4
        assert out.startswith("UNDECIDED: bad may be worse than good by P@1: ")
        few = ("--alpha", "0.0001", "--test", "randomization")
        code, out, _ = self.call(capsys, "compare", qrels, good, bad, "--fail-if", "P@1 worse", *few)
        assert code == 4
        assert "there are 8, and the test needs at least 15" in out
        options = ["--fail-if", "AP worse", "--margin", "0.9"]
        assert self.call(capsys, "compare", qrels, good, bad, *options)[0] == 0

    def test_saved_baseline(self, files, capsys, tmp_path):
        qrels, bad, good = files
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
        qrels, bad, good = files
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
        assert f"grades changed on 1 of 8 topics ({query})" in err
        (tmp_path / "more").write_text("\n".join([*lines[1:], f"{query} 0 new 1", f"{query} 0 newer 0"]) + "\n")
        assert (
            f"judged documents were added on 1 of 8 topics ({query})"
            in self.call(capsys, "compare", tmp_path / "more", bad, *asked)[2]
        )
        (tmp_path / "more").write_text("\n".join([*lines[1:], f"{query} 0 new 1"]) + "\n")
        assert "judged documents were replaced" in self.call(capsys, "compare", tmp_path / "more", bad, *asked)[2]
        (tmp_path / "more").write_text("\n".join(lines[1:]) + "\n")
        assert "judged documents were removed" in self.call(capsys, "compare", tmp_path / "more", bad, *asked)[2]
        (tmp_path / "more").write_text("\n".join([*lines, "unheard-of 0 new 1"]) + "\n")
        assert "topics differ (new: unheard-of)" in self.call(capsys, "compare", tmp_path / "more", bad, *asked)[2]
        code, _, err = self.call(capsys, "compare", qrels, bad, *asked, "--ties", "best", "--gain", "1=3", "--depth", 5)
        assert code == 3
        for told in ("--ties was trec and is best", "--gain was linear and is 1=3", "--depth was not given and is 5"):
            assert told in err
        replace(rb.evaluate(qrels, good, "nDCG@5"), make_origin=None).save(saved)
        code, _, err = self.call(capsys, "compare", qrels, bad, *asked)
        assert code == 0
        assert "it is not known whether the saved scores were made with the same judgments and options" in err

    def test_results_carry_a_fingerprint_of_judgments_runs_and_settings(self, files, capsys, tmp_path):
        qrels, bad, good = files

        def made(*arguments):
            return json.loads(self.call(capsys, "compare", *arguments, "-m", "AP", "--format", "json")[1])[
                "fingerprint"
            ]

        first = made(qrels, bad, good)
        turned = tmp_path / Path(bad).name
        turned.write_text("\n".join(reversed(Path(bad).read_text().splitlines())) + "\n")
        assert made(qrels, turned, good) == first, "the order of lines does not matter"
        gated = made(qrels, bad, good, "--fail-if", "AP worse")
        assert gated == first
        assert made(qrels, bad, good, "--ties", "best")["settings"] != first["settings"]
        lines = Path(good).read_text().splitlines()
        (tmp_path / "other").write_text("\n".join(lines[1:]) + "\n")
        other = made(qrels, bad, tmp_path / "other")
        assert other["judgments"] == first["judgments"]
        assert other["runs"] != first["runs"]
        (tmp_path / "fewer").write_text("\n".join(Path(qrels).read_text().splitlines()[1:]) + "\n")
        assert made(tmp_path / "fewer", bad, good)["judgments"] != first["judgments"]

    def test_python_and_the_command_line_leave_the_same_fingerprint(self, files, capsys, tmp_path):
        qrels, bad, good = map(str, files)
        saved, other = tmp_path / "saved.json", tmp_path / "other.json"
        out = self.call(capsys, "compare", *files, "-m", "AP", "--format", "json", "--save", saved, "--depth", "7")[1]
        held = {"judgments": rb.read_qrels(qrels), "runs": [rb.read_run(bad), rb.read_run(good)]}
        for given in ([bad, good], held["runs"]):
            depth = Preparation(depth=7)
            rb.evaluate(held["judgments"], given, "AP", preparation=depth).save(other)
            of_runs, of_scores = (rb.Scores.load(path).origin for path in (saved, other))
            assert of_scores == of_runs | {"runs": {}}, "evaluate keeps no runs"
            gate = rb.compare(qrels, given, "AP", preparation=depth).gate("AP worse")
            assert gate.fingerprint == json.loads(out)["fingerprint"]
        out = self.call(capsys, "compare", *files, "-m", "AP", "--format", "json")[1]
        assert rb.compare(qrels, [bad, good], "AP").gate("AP worse").fingerprint == json.loads(out)["fingerprint"]

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["--test", "tee"], "for test"),
            (["--correction", "hom"], 'Did you mean "holm"?'),
            (["--alpha", "0"], "alpha"),
            (["--fail-if", "better"], "must name a measure"),
            (["--fail-if", "nDGC worse"], "no measure"),
            (["--resamples", "0"], "whole number from 1"),
        ],
    )
    def test_wrong_usage(self, files, capsys, arguments, told):
        code, out, err = self.call(capsys, "compare", *files, *arguments)
        assert (code, out) == (2, "")
        assert told in err
        assert len(err.splitlines()) == 1

    def test_one_run_is_not_a_comparison(self, files, capsys):
        code, _, err = self.call(capsys, "compare", *files[:2])
        assert code == 2
        assert "at least two runs" in err


class TestFigures:
    """What is drawn is what was computed."""

    value = np.random.default_rng(4).random((3, 9, 1))

    def test_topic_differences(self):
        axes = rb.plots.topic_differences(scores_of(self.value), "run0", "run2")
        drawn = [bar.get_height() for bar in axes.patches]
        assert drawn == pytest.approx(sorted(self.value[0, :, 0] - self.value[2, :, 0], reverse=True))
        assert "AP" in axes.get_ylabel()

    def test_leaderboard(self, tmp_path):
        found = compare(scores_of(self.value, low=self.value - 0.1, high=self.value + 0.1))
        axes = rb.plots.leaderboard(found)
        means = [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "o"]
        assert means == pytest.approx(sorted(self.value.mean(axis=1)[:, 0], reverse=True))
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
    kept = [row for row in whole.pairs.rows() if {row["run"], row["against"]} <= set("bde")]
    assert some.pairs.rows() == kept
    assert some.systems.rows() == whole.systems.rows()
    np.testing.assert_array_equal(some.numbers.p_adjusted, whole.numbers.tested.numbers["p_adjusted"])
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
    assert "RR: leader, the best of 3, " in told("--sort", "given")
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
    assert f"With 2 topics, no p can be below 0.05 by the {test} test" in compared.words()
    assert "about 6 topics are needed" in compared.words()


def test_the_lists_of_two_runs_are_taken_once_for_all_measures(monkeypatch):
    """Probabilities by every measure rest on the same lists, bounds and models of two runs."""
    taken = []
    kept = Evidence.filter
    monkeypatch.setattr(Evidence, "filter", lambda self, names: taken.append(tuple(names)) or kept(self, names))
    runs = [DATA / "runs" / f"{name}.txt" for name in ("bm25", "learned", "reranked")]
    compared = Evidence.read(DATA / "qrels.txt", runs).compare(["nDCG@10", "AP", "P@10"])
    assert not np.isnan(compared.numbers.chances).all()
    assert sorted(pair for pair in taken if len(pair) == 2) == sorted(
        itertools.combinations(("bm25", "learned", "reranked"), 2)
    )


def test_rows_that_are_judgments_and_run_are_compared_alone(tmp_path):
    """In memory by name or in order, and from files as on the command line."""
    rows = [{"question": q, "retrieved": ["a", "b"], "expected": ["b"]} for q in "12345"]
    better = [{**row, "retrieved": ["b", "a"]} for row in rows]
    paths = [tmp_path / "old.jsonl", tmp_path / "new.jsonl"]
    for path, written in zip(paths, (rows, better), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in written))
    for given in ({"old": rows, "new": better}, [rows, better], paths, [*map(str, paths)]):
        assert rb.compare(given, measures="RR").pairs.rows()[0]["difference"] == 0.5


def test_a_baseline_that_is_no_run_is_told_before_anything_is_scored(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Evidence, "scores", lambda *_, **__: pytest.fail("scored"))
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    files = [tmp_path / f"input.{number}" for number in range(14)]
    for number, file in enumerate(files):
        file.write_text(f"q Q0 a 1 1 tag{number}\n")
    asked = ["compare", str(tmp_path / "qrels.txt"), *map(str, files)]
    told = {
        ("--baseline", "bm25"): "bm25: there is no such file. It takes scores saved by --save; a run of this",
        ("--baseline-run", "input.1"): '"input.1" is a file, and its run is named by the tag in it',
        ("--baseline-run", "else"): "tag11 and 2 more.",
    }
    for options, sentence in told.items():
        assert main([*asked, *options]) == (3 if options[0] == "--baseline" else 2)
        assert sentence in " ".join(capsys.readouterr().err.split())


def test_judgments_given_as_topics_are_told(tmp_path, capsys):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b 0\n")
    (tmp_path / "run.txt").write_text("q Q0 a 1 1 tag\n")
    assert main(["check", str(tmp_path / "run.txt"), "--topics-file", str(tmp_path / "qrels.txt")]) == 3
    told = "this looks like judgments, but queries were expected. Judgments are given as such (check: --qrels FILE)."
    assert told in capsys.readouterr().err
