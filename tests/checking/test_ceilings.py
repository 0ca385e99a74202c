"""What ``check`` says of queries that no longer tell systems apart."""

from __future__ import annotations

import itertools
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.checking.ceilings import best_lists
from rankbounds.cli import main
from rankbounds.measures import REGISTRY, parse_measure

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "d": 2}, "q3": {"e": 1}, "q4": {"f": 0}}
RUNS = {
    "one": {"q1": ["a"], "q2": ["c", "d"], "q3": ["x", "e"], "q4": ["f"]},
    "two": {"q1": ["a", "b"], "q2": ["d", "c"], "q3": ["e"], "q4": ["f"]},
}
MEASURES = [parse_measure(example) for kind in REGISTRY.values() for example in kind.examples]


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2), min_size=1, max_size=4))
def test_no_list_of_judged_documents_is_better_than_the_best(grades):
    """Plain definition: every order of every choice of the judged documents, for every measure that has a ceiling."""
    qrels = rb.Qrels({"q": grades})
    lists = [order for size in range(len(grades) + 1) for order in itertools.permutations(grades, size)]
    runs = {str(number): {"q": list(order)} for number, order in enumerate(lists)}
    measures = [measure for measure in MEASURES if best_lists(qrels, measure) is not None]
    values = rb.evaluate(qrels, runs, measures, bounds="none").value[:, 0] if measures else []
    for place, measure in enumerate(measures):
        best = rb.evaluate(qrels, best_lists(qrels, measure), measure, bounds="none").value.item()
        found = [row[place] for row in values.tolist()]
        reached = min(found) if measure.lower_is_better else max(found)
        assert best == pytest.approx(reached, abs=1e-12), str(measure)


def test_ceilings_and_perfect_queries():
    found = rb.check(RUNS, QRELS, measures=["P@2", "RR", "NumRel", "Judged@10"])
    assert [(row["measure"], row["ceiling"], row["perfect"], row["queries"]) for row in found.telling] == [
        ("P@2", 0.5, 3, 3),
        ("RR", 0.75, 2, 3),
    ]


def test_the_smallest_difference_is_that_of_a_plan():
    values = rb.evaluate(QRELS, RUNS, "RR").value[:, :, 0]
    (row,) = rb.check(RUNS, QRELS, measures="RR").telling
    deviation = statistics.stdev((values[0] - values[1]).tolist())
    assert row["shows"] == pytest.approx(rb.stats.minimum_detectable_effect(deviation, 4))


@pytest.mark.parametrize(
    ("runs", "qrels", "measures"),
    [(RUNS, None, "RR"), (RUNS, {"other": {"a": 1}}, "RR"), (RUNS, {"q1": {"a": 0}}, "RR"), (RUNS, QRELS, "NumRet")],
    ids=["no judgments", "no topic judged", "nothing relevant", "no measure with a ceiling"],
)
def test_without_a_ceiling_nothing_is_said(runs, qrels, measures):
    found = rb.check(runs, qrels, measures=measures)
    assert found.telling == []
    assert "ceiling" not in found.render("table")


@pytest.mark.parametrize("runs", [{"one": RUNS["one"]}, {"one": RUNS["one"], "same": RUNS["one"]}])
def test_runs_that_do_not_vary_show_no_difference(runs):
    assert [row["shows"] for row in rb.check(runs, QRELS, measures="RR").telling] == [None]


def test_of_many_runs_one_sentence_says_it():
    runs = {f"{name}{number}": run for name, run in RUNS.items() for number in range(6)}
    text = rb.check(runs, QRELS, measures="RR").render("table")
    assert "By RR, the best possible mean is 0.7500; 2 of 3 queries are answered perfectly by all runs" in text


def test_the_command_says_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rb.Qrels(QRELS).write("qrels.txt")
    for name, run in RUNS.items():
        rb.Run(run, name=name).write(f"{name}.run")
    assert main(["check", "one.run", "two.run", "--qrels", "qrels.txt", "-m", "RR"]) == 0
    said = capsys.readouterr().out
    assert ["RR", "0.7500", "2", "of", "3"] in [line.split()[:5] for line in said.splitlines()]
