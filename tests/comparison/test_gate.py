"""A gate with three answers: held against all sign flips, mirrored, in pipelines' formats, and on real runs."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from xml.etree import ElementTree

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.commands.demo import DATA
from rankbounds.comparison import Evidence
from rankbounds.comparison.gate.gate import EXAMPLES, hold, parse_condition
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.stats.significance import TESTS

QRELS, BM25, EXPANDED, DENSE, RERANKED = (
    DATA / name
    for name in ("qrels.txt", *(f"runs/{run}.txt" for run in ("bm25", "bm25-expanded", "dense", "reranked")))
)
RANKS = 4


def held(compared, conditions, *, scores=None, **how):
    """The gate of a comparison, or of scores that are compared by the defaults."""
    if isinstance(compared, rb.Scores):
        scores = scores or compared
        compared = rb.compare(scores) if len(scores.runs) > 1 else None
    numbers = None if compared is None else compared.numbers
    return hold(numbers, conditions, scores=scores, **how)


def scores_of(**grades):
    """Scores by RR of runs that have their relevant document at these ranks, topic by topic; 0: not at all."""
    topics = len(next(iter(grades.values())))
    qrels = {str(topic): {"r": 1, **{f"n{at}": 0 for at in range(RANKS)}} for topic in range(topics)}

    def ranking(rank):
        listed = [f"n{at}" for at in range(RANKS)]
        return listed if not rank else [*listed[: rank - 1], "r", *listed[rank - 1 :]]

    runs = {name: {str(topic): ranking(rank) for topic, rank in enumerate(ranks)} for name, ranks in grades.items()}
    return rb.evaluate(qrels, runs, "RR")


def reciprocal(ranks):
    return [Fraction(1, rank) if rank else Fraction(0) for rank in ranks]


def share_of_flips(changes, at_least):
    """How many of all sign flips sum to at least this; plain, in fractions."""
    sums = [sum(flips) for flips in itertools.product(*((change, -change) for change in changes))]
    return Fraction(sum(total >= at_least for total in sums), len(sums))


def plain_answer(old, new, margin, alpha=Fraction(1, 20)):
    """The gate on "RR worse" by the definition: pass, else fail, else undecided."""
    changes = [one - other for one, other in zip(reciprocal(new), reciprocal(old), strict=True)]
    if not any(changes):
        return "pass"
    moved, total = [change + margin for change in changes], sum(changes)
    shown = (
        total and share_of_flips(changes, abs(total)) + share_of_flips([-each for each in changes], abs(total)) < alpha
    )
    can = margin and sum(map(bool, changes)) >= 5
    if (can and sum(moved) > 0 and share_of_flips(moved, sum(moved)) < alpha) or (shown and total > 0):
        return "pass"
    return "fail" if shown else "undecided"


pairs_of_ranks = st.integers(2, 7).flatmap(
    lambda topics: st.tuples(*[st.lists(st.integers(0, RANKS), min_size=topics, max_size=topics)] * 2)
)


class TestAnswers:
    @given(pairs_of_ranks, st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2)]))
    def test_all_sign_flips_decide(self, ranks, margin):
        old, new = ranks
        compared = rb.compare(scores_of(old=old, new=new), test="randomization")
        gate = held(compared, "RR worse", margin=float(margin))
        assert gate.answer == plain_answer(old, new, margin)

    @given(pairs_of_ranks)
    def test_swapped_runs_are_mirrored(self, ranks):
        """Without a margin one run passes where the other fails, unless they are the same."""
        old, new = ranks
        there, back = (
            held(scores_of(**dict(zip(("old", "new"), both, strict=True))), ["RR worse", "RR different"])
            for both in (ranks, ranks[::-1])
        )
        mirrored = {"pass": "fail", "fail": "pass", "undecided": "undecided"}
        same = reciprocal(old) == reciprocal(new)
        assert back.outcomes[0].answer == ("pass" if same else mirrored[there.outcomes[0].answer])
        assert back.outcomes[1].answer == there.outcomes[1].answer
        assert back.outcomes[0].difference == -there.outcomes[0].difference
        assert back.outcomes[1].p_fail == there.outcomes[1].p_fail

    @given(pairs_of_ranks)
    def test_not_better_passes_only_what_is_shown_to_be_better(self, ranks):
        """It fails where the swapped runs pass, and where no topic differs."""
        both = dict(zip(("old", "new"), ranks, strict=True))
        scores, swapped = scores_of(**both), scores_of(old=ranks[1], new=ranks[0])
        answer, back = (held(each, "RR not better", margin=0.5).answer for each in (scores, swapped))
        if reciprocal(ranks[0]) == reciprocal(ranks[1]):
            assert (answer, back) == ("fail", "fail")
        else:
            assert answer == held(scores, "RR worse").answer
            assert back == {"pass": "fail", "fail": "pass", "undecided": "undecided"}[answer]

    @pytest.mark.parametrize("condition", ["RR not better by 0.1", "RR not better on any slice"])
    def test_not_better_takes_nothing_more(self, condition):
        with pytest.raises(rb.UsageError, match="takes no margin and no slices"):
            parse_condition(condition)

    @given(pairs_of_ranks)
    def test_a_wider_margin_only_helps(self, ranks):
        """By the t test: a pass stays one, and a failure turns into a pass or stays."""
        scores = scores_of(old=ranks[0], new=ranks[1])
        comparison = rb.compare(scores, test="t")
        answers = [held(comparison, "RR worse", margin=margin).answer for margin in (0.0, 0.1, 0.3, 0.6, 1.0)]
        passed = [answer == "pass" for answer in answers]
        assert passed == sorted(passed)
        assert len({answer for answer in answers if answer != "pass"}) < 2

    def test_effort_is_worse_when_it_grows(self):
        qrels = {str(topic): {"r": 1, "n": 0} for topic in range(8)}
        runs = {"short": {topic: ["r", "n"] for topic in qrels}, "long": {topic: ["n", "r"] for topic in qrels}}
        scores = rb.evaluate(qrels, runs, "ESL(n=1)")
        assert held(scores, "ESL(n=1) worse").answer == "fail"
        assert held(scores.run("long", "short"), "ESL(n=1) worse").answer == "pass"
        assert held(scores, "ESL(n=1) worse", margin=1.5).answer == "pass"
        assert held(scores, "ESL(n=1) > 0.5").answer == "fail"
        assert held(scores, "ESL(n=1) < 0.5").answer == "pass"

    def test_infinite_scores_are_decided_by_signs(self):
        qrels = {str(topic): {"r": 1, "n": 0} for topic in range(8)}
        runs = {"finds": {topic: ["r"] for topic in qrels}, "fails": {topic: ["n"] for topic in qrels}}
        comparison = rb.compare(rb.evaluate(qrels, runs, "ESL(n=1)"), test="sign")
        outcome = held(comparison, "ESL(n=1) worse", margin=5).outcomes[0]
        assert (outcome.answer, outcome.difference) == ("fail", float("inf"))

    @pytest.mark.parametrize("test", ["wilcoxon", "sign"])
    def test_tests_of_ranks_are_not_offered_for_a_margin_of_the_mean(self, test):
        comparison = Evidence.read(QRELS, [RERANKED, DENSE]).compare("RR", test=test)
        with pytest.raises(rb.UsageError, match=f"about the mean, but the {test} test compares"):
            held(comparison, "RR worse", margin=0.1)
        assert held(comparison, "RR worse").outcomes[0].p_fail > 0

    def test_it_is_told_where_few_topics_carry_the_mean(self):
        def told(changes):
            topics = [str(topic) for topic in range(len(changes))]
            frame = polars.DataFrame(
                {"topic": topics, "old": [0.5] * len(topics), "new": [0.5 + one for one in changes]}
            )
            return held(rb.read_scores(frame), "score worse", margin=0.3).outcomes[0].why

        level = "the test says little about rare, large changes on other topics, so its level may not hold."
        assert f"Only 2 of 24 topics changed: {level}" in told([0.0] * 22 + [0.1, -0.1])
        assert f"1 of 20 topics accounts for half of the total change: {level}" in told(
            [0.01, -0.01] * 9 + [0.01, -0.4]
        )
        assert f"2 of 24 topics account for half of the total change: {level}" in told([0.01, -0.01] * 11 + [0.4, -0.4])
        assert "may not hold" not in told([0.1, -0.1, 0.2, -0.2] * 6)

    @pytest.mark.parametrize("test", TESTS)
    def test_p_values_are_those_of_compare(self, test):
        evidence = Evidence.read(QRELS, [RERANKED, DENSE])
        for side, sided in (("two-sided", ""), ("less", "one-sided "), ("greater", "one-sided ")):
            compared = evidence.compare("RR", test=test, alternative=side)
            p = compared.pairs.rows()[0]["p_value"]
            for outcome in held(compared, ["RR worse", "RR different"]).outcomes:
                assert (outcome.p_fail, outcome.p_pass) == (p, None)
                assert f"in RR ({sided}{test} test, p = {p:.4f}): " in outcome.why

    def test_one_sided_comparisons_show_one_direction(self):
        scores = scores_of(old=[1] * 8, new=[2] * 7 + [3])
        for side, there, back in (
            ("two-sided", "fail", "pass"),
            ("less", "fail", "undecided"),
            ("greater", "undecided", "pass"),
        ):
            (lost,) = held(rb.compare(scores, alternative=side), "RR worse").outcomes
            (gained,) = held(rb.compare(scores.run("new", "old"), alternative=side), "RR worse").outcomes
            assert (lost.answer, gained.answer) == (there, back)
            other = f'The alternative "{side}" does not ask for a change in this direction'
            assert [other in outcome.decide for outcome in (lost, gained)] == [
                there == "undecided",
                back == "undecided",
            ]

    def test_equivalence_in_the_table_and_differences_by_its_t_test(self):
        scores = scores_of(a=[1, 2, 3] * 8, b=[1, 2, 4] * 8, c=[3, 2, 4] * 8)
        how = {"baseline": "a", "margin": 0.1}
        tost, t = rb.compare(scores, test="tost", **how), rb.compare(scores, test="t", **how)
        conditions = ["RR worse", "RR different by 0.1"]
        assert tost.gate(conditions).rows() == t.gate(conditions).rows()
        p_equivalent = [row["p_adjusted"] for row in tost.pairs.rows()]
        assert [one.p_pass for one in tost.gate("RR different by 0.1").outcomes] == pytest.approx(p_equivalent)

    def test_any_failure_wins_over_undecided(self):
        scores = scores_of(old=[1, 1, 2], new=[1, 2, 1])
        assert held(scores, "RR worse").exit_code == 4
        assert held(scores, ["RR worse", "RR > 0.1"]).exit_code == 1
        assert held(scores, ["RR worse", "RR < 0.1"]).exit_code == 4
        assert held(scores, "RR < 0.1").exit_code == 0
        assert held(scores, "RR worse", undecided="pass").exit_code == 0
        assert held(scores, "RR worse", undecided="fail").exit_code == 1
        assert held(scores, ["RR worse", "RR > 0.1"], undecided="pass").exit_code == 1

    def test_what_would_decide_it(self):
        scores = rb.evaluate(QRELS, [RERANKED, DENSE], "nDCG@10")
        undecided = held(scores, "nDCG@10 worse", margin=0.1).outcomes[0]
        change = scores.value[1, :, 0] - scores.value[0, :, 0]
        room = 0.1 + change.mean()
        assert f"about {rb.stats.topics_needed(room, change.std(ddof=1), 0.1):,} topics" in undecided.decide
        compared = rb.compare(scores_of(old=[1] * 30, new=[2, 2, *[1] * 28]), test="randomization")
        few = held(compared, "RR worse").outcomes[0]
        assert "2 of 30 can differ, and at least 6 must for p < 0.05, however large" in few.decide
        change = scores.value[0, :, 0] - scores.value[1, :, 0]
        (few,) = held(scores, "nDCG@10 worse").outcomes
        needed = rb.stats.topics_needed(change.mean(), change.std(ddof=1))
        assert f"about {needed:,} topics like these would show a loss 80% of the time (t test)" in few.decide

    def test_more_than_two_runs_need_a_baseline(self):
        scores = scores_of(a=[1] * 8, b=[2] * 8, c=[3] * 8)
        with pytest.raises(rb.UsageError, match="name the baseline"):
            held(scores, "RR worse")
        gate = held(rb.compare(scores, baseline="b"), ["RR worse", "RR < 0.4"])
        answers = [(outcome.run, outcome.baseline, outcome.answer) for outcome in gate.outcomes]
        assert answers == [("a", "b", "pass"), ("c", "b", "fail"), ("a", None, "pass"), ("c", None, "fail")]
        assert [outcome.run for outcome in held(scores, "RR < 0.4").outcomes] == ["a", "b", "c"]
        with pytest.raises(rb.UsageError, match="two runs, the baseline first"):
            held(scores.run("a"), "RR worse")


@pytest.fixture(scope="module")
def comparison():
    """The second run has relevant documents where the first has some that nobody judged."""
    qrels = {str(topic): {"r": 1, "n": 0} for topic in range(8)}
    runs = {"old": {topic: ["?", "n"] for topic in qrels}, "new": {topic: ["r", "n"] for topic in qrels}}
    return Evidence.read(qrels, runs).compare(["P@1", "P@2"])


class TestJudgments:
    """Answers are as judged, and say what judgments could do."""

    def test_could_turn(self, comparison):
        outcome = held(comparison, "P@1 worse").outcomes[0]
        assert (outcome.answer, outcome.could_turn) == ("pass", False)  # as good as the new run at the best
        assert (outcome.certain_low, outcome.certain_high) == (0, 1)
        back = held(
            Evidence(comparison.numbers.evidence.qrels, comparison.numbers.evidence.runs[::-1]).compare("P@1"),
            "P@1 worse",
        )
        assert (back.outcomes[0].answer, back.outcomes[0].could_turn) == ("fail", True)
        assert "More judgments could change this" in back.outcomes[0].why

    def test_a_difference_that_every_judgment_leaves_cannot_turn(self):
        qrels = {str(topic): {"r": 1, "n": 0} for topic in range(8)}
        runs = {"old": {topic: ["n", "?"] for topic in qrels}, "new": {topic: ["r", "?"] for topic in qrels}}
        (outcome,) = held(rb.compare(qrels, runs, "P@1"), "P@1 different").outcomes
        assert (outcome.answer, outcome.could_turn) == ("fail", False)

    def test_a_loss_of_the_margin_itself_is_accepted_also_when_rounded(self):
        margin, topics = 0.1, 3
        assert sum([margin] * topics) / topics > margin  # a mean of losses that are the margin is not quite it
        qrels = {str(topic): {"r": 1, "n": 0} for topic in range(topics)}
        runs = {"old": {topic: ["?", "n"] for topic in qrels}, "new": {topic: ["n"] for topic in qrels}}
        (outcome,) = held(rb.compare(qrels, runs, "P@10"), "P@10 worse", margin=margin).outcomes
        assert outcome.certain_low == pytest.approx(-margin)
        assert (outcome.answer, outcome.could_turn) == ("pass", False)

    def test_answers_say_whether_judgments_could_turn_them(self, comparison):
        back = Evidence(comparison.numbers.evidence.qrels, comparison.numbers.evidence.runs[::-1]).compare("P@1")
        outcomes = [held(compared, "P@1 worse").outcomes[0] for compared in (comparison, back)]
        assert [(outcome.answer, outcome.could_turn) for outcome in outcomes] == [("pass", False), ("fail", True)]

    def test_values_with_open_bounds(self, comparison):
        scores = comparison.scores.run("old")
        (outcome,) = held(scores, "P@1 < 0.5").outcomes
        assert (outcome.answer, outcome.value, outcome.low, outcome.high) == ("fail", 0, 0, 1)
        assert outcome.could_turn is True
        assert [held(scores, f"P@1 {limit}").outcomes[0].could_turn for limit in ("> 1", ">= 1")] == [False, True]

    @pytest.mark.parametrize(
        ("condition", "answer"),
        [
            ("P@2 < 0.5", "pass"),
            ("P@2 <= 0.5", "fail"),
            ("P@2 > 0.5", "pass"),
            ("P@2>=50%", "fail"),
            ("P@2 < .6", "fail"),
        ],
    )
    def test_at_the_limit(self, comparison, condition, answer):
        assert held(comparison.scores.run("new"), condition).answer == answer

    def test_coverage_says_how_many_judgments_lack(self):
        qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
        run = {"1": ["a", "b", "c", "d"], "2": ["a", "b", "c", "d"]}
        scores = rb.evaluate(qrels, {"run": run}, "Judged@4")
        (outcome,) = held(scores, "judged@4 < 0.8").outcomes
        assert (outcome.answer, outcome.value) == ("fail", 0.375)
        assert "About 4 more judgments among its first 4" in outcome.decide
        qrels["2"] |= {"b": 0, "c": 0, "d": 0}
        qrels["1"] |= {"c": 0}
        assert held(rb.evaluate(qrels, {"run": run}, "Judged@4"), "judged@4 < 0.8").answer == "pass"


class TestConditions:
    @pytest.mark.parametrize(
        ("text", "read"),
        [
            ("nDCG@10 worse", "nDCG@10 worse"),
            ("  ndcg_cut_10   worse ", "nDCG@10 worse"),
            ("RBP(p=0.8) worse by 0.01", "RBP(p=0.8) worse by more than 0.01"),
            ("AP different by more than 1e-3", "AP different by more than 0.001"),
            ("nDCG@10<0.5", "nDCG@10 < 0.5"),
            ("judged@10 >= 80%", "Judged@10 >= 0.8"),
            ("AP <= .3", "AP <= 0.3"),
            ("AP > -1", "AP > -1"),
        ],
    )
    def test_read_and_written(self, text, read):
        assert str(parse_condition(text)) == read
        assert parse_condition(read) == parse_condition(text)

    @pytest.mark.parametrize(
        "text",
        ["", "worse", "AP", "AP better", "AP == 1", "< 3", "AP <", "AP < x", "AP < nan", "AP < inf", "AP worse by",
         "AP worse by x", "AP worse than AP", "AP worst", "AP < 1 < 2"],
    )  # fmt: skip
    def test_refused_with_examples(self, text):
        with pytest.raises(rb.UsageError) as told:
            parse_condition(text)
        assert EXAMPLES in str(told.value) or "measure" in str(told.value)

    @pytest.mark.parametrize(
        ("condition", "told"),
        [
            ("RR < 80", "RR is never above 1. Did you mean 80%?"),
            ("P@2 >= 1.5", "P@2 is never above 1. Did you mean 1.5%?"),
            ("NumRet < -1", "NumRet is never below 0."),
            ("RR worse by 5", "differences by RR are never above 1. Did you mean 5%?"),
            ("RR different by more than 200", "differences by RR are never above 1."),
        ],
    )
    def test_numbers_beyond_the_range_of_the_measure_are_refused(self, condition, told):
        qrels = {"1": {"r": 1, "n": 0}, "2": {"r": 1, "n": 0}}
        compared = rb.compare(qrels, {"a": {"1": ["r"], "2": ["r"]}, "b": {"1": ["r"], "2": ["n"]}}, "RR")
        with pytest.raises(rb.UsageError) as refused:
            compared.gate(condition)
        assert str(refused.value).endswith(told)
        assert compared.gate(["RR >= 1", "RR < 0", "NumRet < 80", "RR worse by 1"]).outcomes

    def test_other_mistakes(self):
        scores = scores_of(old=[1, 2], new=[2, 1])
        for conditions, options, told in (
            ("AP worse", {}, "not compared by AP"),
            ("AP < 1", {}, "AP is not among these scores"),
            ("RR worse by -1", {}, "A margin"),
            ("RR worse", {"margin": -1}, "A margin"),
            ("RR worse", {"undecided": "maybe"}, "for undecided"),
            ([], {}, "needs a condition"),
            (["RR worse", " \n"], {}, "needs a condition, and this one is empty"),
        ):
            with pytest.raises(rb.RankboundsError, match=told):
                held(scores, conditions, **options)


class TestCommand:
    def test_exit_codes(self, command):
        files = ["compare", QRELS, RERANKED, DENSE]
        for options, expected in (
            (["--fail-if", "nDCG@10 worse"], 4),
            (["--fail-if", "nDCG@10 worse", "--undecided", "pass"], 0),
            (["--fail-if", "nDCG@10 worse", "--undecided", "fail"], 1),
            (["--fail-if", "nDCG@10 worse", "--margin", "0.3"], 0),
            (["--fail-if", "nDCG@10 worse by 0.3"], 0),
            (["--fail-if", "RBP(p=0.8) worse"], 1),
            (["--fail-if", "nDCG@10 worse", "--fail-if", "judged@10 < 80%"], 1),
            (["--fail-if", "nDCG@10 < 0.5"], 0),
        ):
            code, out, err = command(*files, *options)
            assert code == expected, options
            answers = [line for line in out.splitlines() if line.startswith(("PASS: ", "FAIL: ", "UNDECIDED: "))]
            count = options.count("--fail-if")
            assert answers[0] == out.splitlines()[0]
            assert len(answers) == count + (count > 1)
            assert ("Undecided counts as " in out) == ("--undecided" in options)
            assert err == ""
            assert "value or change" in command(*files, *options, "--explain")[1]

    def test_only_what_was_asked_for_is_compared(self, command):
        def compared(*options):
            out = command("compare", QRELS, RERANKED, DENSE, "--format", "json", *options)[1]
            return [row["measure"] for row in json.loads(out)["pairs"]]

        assert compared("--fail-if", "judged@10 < 80%", "-m", "AP") == ["AP"]
        assert compared("--fail-if", "judged@10 < 80%", "--fail-if", "nDCG@10 worse") == ["nDCG@10"]
        assert compared("--fail-if", "judged@10 < 80%", "--fail-if", "AP < 0.3") == ["AP"]
        assert compared("--fail-if", "judged@10 < 80%") == list(DEFAULT_MEASURES)

    def test_json_is_what_python_says(self, command):
        conditions = ["nDCG@10 worse", "judged@10 < 80%", "AP < 0.3"]
        asked = [word for condition in conditions for word in ("--fail-if", condition)]
        code, out, _ = command("compare", QRELS, RERANKED, DENSE, *asked, "--margin", 0.05, "--format", "json")
        told = json.loads(out)["gate"]
        evidence = Evidence.read(QRELS, [RERANKED, DENSE])
        scores = evidence.scores(["nDCG@10", "Judged@10", "AP"])
        comparison = evidence.compare("nDCG@10", margin=0.05)
        python = held(comparison, conditions, margin=0.05, scores=scores)
        assert python.rows() == comparison.gate(conditions, margin=0.05).rows()  # which scores what it lacks
        assert told == {"answer": python.answer, "exit_code": code, "conditions": json.loads(json.dumps(python.rows()))}

    def test_markdown_has_the_answer_first_and_the_reasons(self, command):
        code, out, err = command(
            "compare", QRELS, RERANKED, DENSE, "--fail-if", "nDCG@10 worse", "--format", "markdown"
        )
        assert code == 4
        assert out.startswith("### Gate: undecided\n\n| condition | run | against | gate |")
        rows = [line.count(" | ") for line in out.splitlines() if line.startswith("| ")]
        assert rows[:6] == [7, 7, 7, 2, 2, 2]  # of the gate, then of the reasons
        assert "what would decide it" in out
        assert "about " in err

    def test_latex_and_html_have_the_table(self, command):
        for kind, mark, tables in (("latex", r"\begin{tabular}", 2), ("html", "<table ", 3)):
            out = command("compare", QRELS, RERANKED, DENSE, "--fail-if", "AP < 0.3", "--format", kind)[1]
            assert out.count(mark) == tables

    def test_options_of_a_gate_without_one(self, command):
        for options in (["--format", "junit"], ["--undecided", "pass"]):
            code, out, err = command("compare", QRELS, BM25, DENSE, *options)
            assert (code, out) == (2, "")
            assert "is for a gate: add --fail-if" in err


class TestSavedScores:
    def test_one_run_is_saved_and_shown(self, command, tmp_path):
        saved = tmp_path / "baseline.json"
        code, out, _ = command("compare", QRELS, RERANKED, "-m", "nDCG@10", "--save", saved)
        assert (code, out.splitlines()[0].split()[:2]) == (0, ["run", "nDCG@10"])
        code, out, _ = command("compare", QRELS, RERANKED, "-m", "nDCG@10", "--save", saved, "--format", "json")
        assert (code, [row["run"] for row in json.loads(out)["systems"]]) == (0, ["reranked"])
        options = ["--fail-if", "nDCG@10 worse", "--fail-if", "nDCG@10 < 0.5", "--margin", 0.1, "--format", "json"]
        from_saved = json.loads(command("compare", QRELS, DENSE, "--baseline", saved, *options)[1])
        from_files = json.loads(command("compare", QRELS, RERANKED, DENSE, *options)[1])
        for row, other in zip(from_saved["gate"]["conditions"], from_files["gate"]["conditions"], strict=True):
            for name in ("condition", "run", "baseline", "answer", "value", "difference", "p_fail", "p_pass"):
                assert row[name] == other[name]

    def test_many_runs_are_saved_and_one_of_them_is_the_baseline(self, command, tmp_path):
        saved = tmp_path / "baselines.json"
        assert command("compare", QRELS, BM25, RERANKED, "-m", "AP", "--save", saved)[0] == 0
        asked = ["compare", QRELS, DENSE, "--baseline", saved, "--fail-if", "AP worse", "--fail-if", "AP < 0.1"]
        code, out, err = command(*asked)
        assert (code, out, "name the baseline: baseline= (--baseline-run)" in err) == (2, "", True)
        told = json.loads(command(*asked, "--baseline-run", "bm25", "--format", "json")[1])["gate"]["conditions"]
        assert [(row["run"], row["baseline"], row["answer"]) for row in told] == [
            ("dense", "bm25", "pass"),
            ("dense", None, "pass"),
        ]

    def test_a_single_run_without_a_question_is_no_comparison(self, command):
        code, out, err = command("compare", QRELS, BM25)
        assert (code, out, "at least two runs" in err) == (2, "", True)


class TestJUnit:
    def test_counts_and_kinds(self, command):
        asked = ["--fail-if", "nDCG@10 worse", "--fail-if", "judged@10 < 80%", "--fail-if", "AP < 0.3"]
        for how, kind in (([], "error"), (["--undecided", "pass"], "skipped"), (["--undecided", "fail"], "failure")):
            code, out, _ = command("compare", QRELS, RERANKED, DENSE, *asked, *how, "--format", "junit")
            assert code == 1
            suite = ElementTree.fromstring(out).find("testsuite")
            cases = suite.findall("testcase")
            assert [case.get("name") for case in cases] == ["nDCG@10 worse", "Judged@10 < 0.8", "AP < 0.3"]
            assert [[element.tag for element in case] for case in cases] == [
                [kind, "system-out"], ["failure", "system-out"], ["system-out"],
            ]  # fmt: skip
            counts = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
            found = [element.tag for case in cases for element in case]
            assert counts == {
                "tests": 3,
                "failures": found.count("failure"),
                "errors": found.count("error"),
                "skipped": found.count("skipped"),
            }

    def test_names_that_xml_cannot_hold(self):
        scores = scores_of(old=[1] * 8, new=[2] * 8)
        hostile = held(rb.Scores(**{**fields_of(scores), "runs": ["a<&\x00\udce9", 'b"\x1b]\ufffe']}), "RR worse")
        case = ElementTree.fromstring(hostile.junit()).find("testsuite/testcase")
        assert case.get("classname").startswith('b"')
        assert "a<&" in case.get("classname")


def fields_of(scores):
    return {name: getattr(scores, name) for name in ("runs", "query_ids", "measures", "value", "low", "high", "judged")}


@pytest.fixture(scope="module")
def trec8(unpacked):
    folder = unpacked("trec8-adhoc.tar.xz") / "trec8-adhoc"
    return folder / "qrels.txt", sorted((folder / "runs").iterdir())


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_gates_on_trec8_by_confidence_bounds(trec8):
    """By the t test, a loss of the margin is ruled out where the one-sided bound of the change lies above it."""
    from scipy import stats

    qrels, runs = trec8
    scores = rb.evaluate(qrels, runs[::8], ["nDCG@10", "AP"])
    answers = set()
    baseline, *others = scores.sort(by="AP").runs[8:] + scores.sort(by="AP").runs[:8]
    for name in others:
        two = scores.run(baseline, name)
        gate = held(rb.compare(two, test="t"), ["nDCG@10 worse", "AP worse"], margin=0.02)
        for at, outcome in enumerate(gate.outcomes):
            change = two.value[1, :, at] - two.value[0, :, at]
            half = stats.t.ppf(0.95, change.size - 1) * stats.sem(change)
            expected = "undecided"
            if change.mean() - half > -0.02:
                expected = "pass"
            elif change.mean() + half < 0:
                expected = "fail"
            assert outcome.answer == expected
            assert outcome.difference == pytest.approx(float(change.mean()))
            answers.add(expected)
    swapped = [
        held(rb.compare(scores.run(*pair), test="t"), "AP worse").answer
        for pair in itertools.permutations(scores.runs[3:6], 2)
    ]
    assert swapped.count("pass") == swapped.count("fail") > 0
    assert answers == {"pass", "fail", "undecided"}
