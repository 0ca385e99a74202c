"""Numbers of single measures that were wrong once, each with the smallest example that shows it."""

from __future__ import annotations

import csv
import itertools

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.errors import DataError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


def cells(scores: rb.Scores):
    """Value, low and high of the only list."""
    return tuple(float(part[0, 0, 0]) for part in (scores.value, scores.low, scores.high))


@pytest.mark.parametrize("measure", ["P@10", "Recall@10", "F(beta=0.3)@10", "RPrec", "Judged@10", "Unjudged@10"])
@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_equal_counts_have_equal_bits(measure, ties):
    for count in range(1, 10):
        qrels, run = {}, {}
        for chosen in itertools.islice(itertools.combinations(range(10), count), 0, None, 3):
            relevant = {f"d{at}": int(at in chosen) for at in range(10)}
            if "judged" in measure.lower():
                relevant = {doc: 1 for doc, one in relevant.items() if one}
            if measure == "RPrec":
                relevant |= {f"x{at}": 1 for at in range(10 - count)}
            qrels[str(chosen)] = relevant
            run[str(chosen)] = {f"d{at}": (11 - at) // (2 if ties == "expected" else 1) for at in range(10)}
        assert np.unique(rb.evaluate(qrels, run, measure, ties=ties).value).size == 1, count


def test_condensed_search_length_is_best_where_effort_is_least():
    qrels, run = {"t": {"a": 1, "b": 0}}, {"t": {"a": 1, "b": 1}}
    for measure, best, worst in (("ESL'(n=1)", 0.0, 1.0), ("RankPower'", 1.0, 2.0)):
        assert cells(rb.evaluate(qrels, run, measure, ties="best"))[0] == best
        assert cells(rb.evaluate(qrels, run, measure, ties="worst"))[0] == worst


def test_rank_power_at_a_depth_that_cuts_through_ties():
    qrels = {"t": {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0, "f": 0}}
    run = {"t": {"a": 9, "c": 8, "d": 7, "e": 6, "b": 5, "f": 5}}
    assert cells(rb.evaluate(qrels, run, "RankPower@5", bounds="ties"))[1:] == (1.0, 1.5)
    assert cells(rb.evaluate(qrels, run, "RankPower@5", ties="best"))[0] == 1.0
    assert cells(rb.evaluate(qrels, run, "RankPower@5", ties="worst"))[0] == 1.5


def test_a_gain_for_grade_0_ends_with_the_list():
    qrels = {"t": {"a": 1}, "lacking": {"a": 1}}
    scores = rb.evaluate(qrels, {"t": {"a": 1}}, ["DCG", "RBP(p=0.5,graded=true)"], gain="0=0.5,1=1")
    lacking, there = (scores.query_ids.index(query) for query in ("lacking", "t"))
    assert scores.value[0, lacking].tolist() == [0.0, 0.0]
    assert scores.high[0, lacking].tolist() == [0.0, 1.0]
    assert scores.value[0, there].tolist() == [1.0, 0.5]


def test_an_unjudged_document_gains_at_least_what_grade_0_does():
    assert cells(rb.evaluate({"t": {"a": 1}}, {"t": {"b": 1}}, "DCG", gain="0=0.5,1=1")) == (0.5, 0.5, 1.0)


def test_no_grade_gains_less_than_grade_0():
    with pytest.raises(UsageError, match=r"grade 0.*0\.5.*another grade less: 0\.2"):
        rb.evaluate({"t": {"a": 1}}, {"t": {"a": 1}}, "DCG", gain="0=0.5,1=0.2")


def test_outer_bounds_are_said_to_be_outer(tmp_path, capsys):
    (tmp_path / "qrels").write_text("t 0 a 1\n")
    (tmp_path / "run").write_text("t Q0 a 1 1 x\nt Q0 b 2 1 x\n")
    for bounds in ("unjudged", "both"):
        files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
        assert main(["evaluate", *files, "-m", "Q", "-m", "Q'", "-m", "P@1", "--bounds", bounds]) == 0
        assert "the bounds of Q, Q' are valid, but may be wider" in capsys.readouterr().err
        scores = rb.evaluate(*files, ["Q", "Q'", "P@1"], bounds=bounds)
        assert [str(measure) for measure in scores.outer] == ["Q", "Q'"]


@pytest.mark.parametrize("measure", ["INST(T=1)", "RBP2(p_relevant=0.5,p_nonrelevant=0.8)"])
def test_residuals_of_adaptive_measures_add_up_under_treated_ties(measure):
    qrels, run = {"t": {"a": 1, "b": 0}}, {"t": {"a": 3, "b": 3, "c": 3, "d": 2}}
    low = {}
    for ties in ("best", "worst"):
        scores = rb.evaluate(qrels, run, measure, ties=ties)
        value, low[ties], high = cells(scores)
        assert low[ties] == pytest.approx(value)
        assert not scores.outer
        assert scores.parts[:2, 0, 0, 0].sum() == pytest.approx(high - value)
    assert low["worst"] < low["best"]


@pytest.mark.parametrize(("ties", "judged"), [("best", 1.0), ("worst", 0.0), ("expected", 0.5)])
def test_judged_has_no_open_judgments_under_ties(ties, judged):
    qrels, run = {"t": {"a": 1}}, {"t": {"a": 1, "b": 1}}
    assert cells(rb.evaluate(qrels, run, "Judged@1", ties=ties)) == (judged, judged, judged)


def test_transfer_does_not_count_ranks_beyond_the_depth():
    p, to, depth = 0.3, 0.99, 10
    lists = np.array(list(itertools.product((0, 1), repeat=depth)))
    there, here = (lists @ ((1 - q) * q ** np.arange(depth)) for q in (to, p))
    reached = there[np.abs(here - 0.2) <= 0.05]
    found = rb.rbp.transfer("0.2", p, to, depth=depth)
    assert found.proven
    assert (found.low, found.high) == pytest.approx((reached.min(), reached.max()), abs=1e-6)


def test_large_grades():
    qrels, run = {"t": {"a": 2000, "b": 1024}}, {"t": {"a": 2, "b": 1, "c": 0}}
    assert cells(rb.evaluate(qrels, run, "ERR")) == (1.0, 1.0, 1.0)
    for measure in ("DCG(gain=exp)", "nDCG(gain=exp)"):
        with pytest.raises(DataError, match="gain 2000"):
            rb.evaluate(qrels, run, measure)


def test_gains_between_0_and_1_stand_as_they_are_wherever_they_come_from():
    run = {"t": {"a": 2, "b": 1, "c": 0}}
    from_table = rb.evaluate({"t": {"a": 1, "b": 2}}, run, "RBP(p=0.5,graded=true)", gain="1=0.25,2=0.5")
    as_grades = rb.evaluate({"t": {"a": 0.25, "b": 0.5}}, run, "RBP(p=0.5,graded=true)")
    assert cells(from_table) == (0.25, 0.25, 0.375)  # what is open gains half at most: the table has no larger gain
    assert cells(as_grades) == (0.25, 0.25, 0.5)


def test_a_level_of_relevance_that_is_asked_for_can_occur():
    assert cells(rb.evaluate({"t": {"a": 1}}, {"t": {"b": 2, "a": 1}}, "AP(rel=2)")) == (0.0, 0.0, 1.0)


def test_trec_evals_rbp_is_graded_by_the_topic():
    qrels = {"low": {"a": 1, "b": 2}, "top": {"a": 4, "b": 1}, "none": {"a": 0}}
    run = {query: {"a": 2, "b": 1} for query in qrels}
    scores = rb.evaluate(qrels, run, ["rbp_0.50", "RBP(p=0.5,graded=true)"])
    found = dict(zip(scores.query_ids, scores.value[0].tolist(), strict=True))
    assert found == {"low": [0.5, 0.25], "top": [0.5625, 0.5625], "none": [0.0, 0.0]}


@pytest.mark.filterwarnings("default::rankbounds.RankboundsWarning")
def test_fractions_that_a_condensed_binary_measure_does_not_count_are_told():
    for measure in ("AP", "AP'"):
        with pytest.warns(rb.RankboundsWarning, match=f"which {measure} counts as non-relevant. Set rel, as in AP"):
            rb.evaluate({"t": {"a": 0.5, "b": 1}}, {"t": {"a": 1, "b": 0.5}}, measure)


def test_commas_between_measures_on_the_command_line(tmp_path, capsys):
    (tmp_path / "qrels").write_text("t 0 a 1\n")
    (tmp_path / "run").write_text("t Q0 a 1 1 x\n")
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert main(["evaluate", *files, "-m", "nDCG@10,RBP(p=0.5,rel=2)", "-m", "MAP", "--format", "csv"]) == 0
    rows = csv.DictReader(capsys.readouterr().out.splitlines())
    assert [row["measure"] for row in rows] == ["nDCG@10", "RBP(p=0.5,rel=2)", "AP"]


def test_what_a_measure_cannot_take_names_the_judgments(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 2000\n")
    with pytest.raises(rb.DataError, match=r"qrels: gain=exp takes 2\^g - 1") as caught:
        rb.evaluate(tmp_path / "qrels", {"1": ["a"]}, "nDCG(gain=exp)")
    assert caught.value.place.file == str(tmp_path / "qrels")
