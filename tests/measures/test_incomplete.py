"""Incomplete judgments: identities of the papers, edge cases, and the measures' own laws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from plain import Topic, inferred_average_precision
from test_laws import examples, scored

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
LAW = settings(max_examples=40, deadline=None)
JUDGED_ONLY = [
    "Bpref", "Bpref(k=10)", "Bpref_R", "Bpref_N", "Bpref_old", "Bpref_relative", "Bpref_relative2",
    "Rpref_N", "Rpref_relative", "Rpref_relative2", "AP'", "Q'", "Q'(beta=10)", "nDCG'", "RBP'(p=0.8)",
    "nDCG'(base=2)@3",
]  # fmt: skip


def value(qrels, run, measure, **options):
    return rb.evaluate({"q": qrels}, {"q": run}, measure, bounds="none", **options).value[0, 0, 0]


def ranked(*docs):
    return {doc: -at for at, doc in enumerate(docs)}


@LAW
@given(examples())
def test_identities(example):
    measures = ["AP'", "Bpref", "Bpref_R", "Bpref_N", "Bpref_relative2", "AP", "Q(beta=0)"]
    found = {str(measure): one[0] for measure, one in scored(example, measures, bounds="none").items()}
    assert found["AP'"] == pytest.approx(found["Bpref_relative2"])
    assert found["Q(beta=0)"] == pytest.approx(found["AP"])
    relevant = sum(grade >= 1 for grade in example.grades)
    expected = found["Bpref_R" if relevant <= len(example.grades) - relevant else "Bpref_N"]
    assert found["Bpref"] == pytest.approx(expected)


@LAW
@given(examples())
def test_rpref_with_binary_gains_is_its_bpref_counterpart(example):
    gain = {grade: float(grade >= 1) for grade in range(4)}
    names = ["Bpref_N", "Rpref_N", "Bpref_relative", "Rpref_relative", "Bpref_relative2", "Rpref_relative2"]
    for ties in ("trec", "expected"):
        found = [one[0] for one in scored(example, names, gain=gain, ties=ties, bounds="none").values()]
        assert found[::2] == pytest.approx(found[1::2])


@given(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=8).filter(any))
def test_an_ideal_list_scores_one(grades):
    grades = sorted(grades, reverse=True)
    qrels = {f"d{at}": grade for at, grade in enumerate(grades)}
    run = ranked(*qrels)
    ideal = ["Rpref_relative2", "Rpref_N", "Bpref", "Bpref_R", "Bpref_N", "Q", "Q(beta=10)", "nDCG(base=2)@1000"]
    found = rb.evaluate({"q": qrels}, {"q": run}, [*ideal, "Bpref_relative", "Rpref_relative"], bounds="none")
    relevant = sum(grade > 0 for grade in grades)
    expected = [*[1] * len(ideal), (relevant - 1) / relevant, (sum(grades) - grades[0]) / sum(grades)]
    assert found.value[0, 0] == pytest.approx(expected)


@LAW
@given(examples(), st.lists(st.integers(0, 6), max_size=4))
def test_unjudged_documents_never_change_a_condensed_measure(example, places):
    run = list(example.run["t"].items())
    for number, place in enumerate(places):
        score = run[min(place, len(run) - 1)][1]  # tied with a document that is there
        run.append((f"new{number}", score))
    before = rb.evaluate(example.qrels, example.run, JUDGED_ONLY, bounds="none")
    after = rb.evaluate(example.qrels, {"t": dict(run)}, JUDGED_ONLY, bounds="none")
    assert after.value == pytest.approx(before.value)


class TestEdges:
    def test_without_judged_nonrelevant_documents_bpref_is_recall(self):
        qrels = {"a": 1, "b": 1, "c": 1, "d": 1}
        for measure in ("Bpref", "Bpref_R", "Bpref_N", "Bpref_old", "Rpref_N"):
            assert value(qrels, ranked("x", "a", "y", "b", "z", "c"), measure) == pytest.approx(0.75), measure

    @pytest.mark.parametrize("measure", [*JUDGED_ONLY, "Q", "infAP", "Rpref_N"])
    def test_no_relevant_documents_or_nothing_judged_retrieved_scores_0(self, measure):
        assert value({"a": 0, "b": 0}, ranked("a", "b", "x"), measure) == 0
        assert value({"a": 2, "b": 0, "c": 1}, ranked("x", "y"), measure) == 0

    def test_only_pooled_documents_are_unjudged(self):
        qrels, run = {"a": 1, "b": 0, "c": -1, "d": 1}, ranked("c", "b", "a", "d")
        assert value(qrels, run, "Bpref") == value({"a": 1, "b": 0, "d": 1}, run, "Bpref")

    def test_old_bpref_rises_with_a_nonrelevant_document_found_late(self):
        qrels = {"a": 1, "b": 1, "n": 0, "m": 0}
        assert value(qrels, ranked("n", "a", "b"), "Bpref_old") == 0
        assert value(qrels, ranked("n", "a", "b", "m"), "Bpref_old") == 0.5
        assert value(qrels, ranked("n", "a", "b"), "Bpref") == 0.5

    def test_bpref_with_k_counts_further_nonrelevant_documents(self):
        qrels = {"a": 1, **{f"n{at}": 0 for at in range(20)}}
        run = ranked("n0", "n1", "n2", "a")
        assert value(qrels, run, "Bpref") == 0
        assert value(qrels, run, "Bpref(k=10)") == pytest.approx(1 - 3 / 11)


def test_the_worked_example_of_rpref():
    """Gains 1, 3, 0, 2 (largest 3), one further document of gain 3: penalties by hand, equations 15-19."""
    qrels = {"a": 1, "b": 3, "c": 0, "d": 2, "e": 3}
    run = ranked("a", "x", "b", "c", "d")
    short = (0.0, 2.0, None, (2 - 1) + (2 - 0))  # gain times penalty of a, b, -, d
    total, distance = 9, 5 - 9 / 3
    assert value(qrels, run, "Rpref_N") == pytest.approx((6 - (short[1] + short[3]) / distance) / total)
    assert value(qrels, run, "Rpref_relative") == pytest.approx((5 - short[1] / 1 - short[3] / 3) / total)
    assert value(qrels, run, "Rpref_relative2") == pytest.approx((6 - short[1] / 2 - short[3] / 4) / total)
    assert value(qrels, run, "Q'") == pytest.approx((2 / 4 + 6 / 8 + 9 / 13) / 4)


MARKS = st.lists(st.sampled_from(["relevant", "not", "pooled", "outside"]), min_size=1, max_size=6)


@LAW
@given(MARKS)
def test_inferred_average_precision_with_a_pool(marks):
    grades = {"relevant": 1, "not": 0, "pooled": -1}
    qrels = {f"d{9 - at}": grades[mark] for at, mark in enumerate(marks) if mark in grades} | {"u": 1}

    def plain(order):
        ranking = [{"relevant": 1, "not": 0}.get(marks[at]) for at in order]
        pooled = tuple(place for place, at in enumerate(order) if marks[at] == "pooled")
        judged = [grade for grade in ranking if grade is not None] + [1]
        return inferred_average_precision(Topic(ranking, judged, 1), rb.measures.infAP(), pooled)

    run = {f"d{9 - at}": -float(at) for at in range(len(marks))}
    assert value(qrels, run, "infAP") == pytest.approx(plain(range(len(marks))))


@pytest.mark.parametrize("measure", ["Bpref", "Bpref(k=10)", "Bpref_R", "Bpref_N", "Bpref_old", "Bpref_relative", "Q"])
def test_bounds_hold_on_long_lists(measure):
    """Random completions of lists too long to enumerate stay within the bounds."""
    rng = np.random.default_rng(7)
    docs = [f"d{at:03d}" for at in range(120)]
    for _ in range(6):
        grades = rng.choice([0, 1, -1], size=len(docs), p=[0.4, 0.15, 0.45])
        qrels = {doc: int(grade) for doc, grade in zip(docs, grades, strict=True) if grade >= 0}
        run = ranked(*rng.permutation(docs)[:100])
        scores = rb.evaluate({"q": qrels}, {"q": run}, measure)
        low, high = scores.low[0, 0, 0], scores.high[0, 0, 0]
        for chance in (0.0, 0.1, 0.5, 0.9, 1.0):
            full = qrels | {doc: int(rng.random() < chance) for doc in run if doc not in qrels}
            assert low - 1e-9 <= value(full, run, measure) <= high + 1e-9


class TestWordsForGrades:
    lines = "1 0 a S\n1 0 b A\n1 0 c B\n1 0 d C\n1 0 e -1\n"
    run = {"1": {"d": 5, "c": 4, "x": 3, "a": 2, "e": 1}}  # noqa: RUF012

    def test_from_a_file(self, tmp_path):
        (tmp_path / "qrels").write_text(self.lines)
        with pytest.warns(rb.RankboundsWarning, match=r"C \(1 times\)"):
            found = rb.evaluate(tmp_path / "qrels", self.run, ["Q", "AP", "AP(rel=3)"], gain="S=10,A=5,B=0.5")
        expected = (1.5 / (10 + 5 + 2) + (0.5 + 10 + 2) / (15.5 + 4)) / 3
        assert found.value[0, 0] == pytest.approx([expected, (1 / 2 + 2 / 4) / 3, 1 / 4])

    def test_from_tables_and_dicts(self, tmp_path):
        (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\n1,a,S\n1,b,A\n1,c,B\n1,d,0\n")
        qrels = {"1": {"a": "S", "b": "A", "c": "B", "d": 0}}
        for given_as in (tmp_path / "qrels.csv", qrels):
            found = rb.evaluate(given_as, self.run, "Q", gain={"S": 3, "A": 2, "B": 1}).value[0, 0, 0]
            assert found == pytest.approx((2 / 7 + 6 / 10) / 3)

    def test_refused_without_a_rule_or_with_a_mixed_one(self, tmp_path):
        (tmp_path / "qrels").write_text(self.lines)
        with pytest.raises(
            rb.DataError, match=r'qrels:1: the grade "S" is not a finite number\. Words for grades need'
        ):
            rb.read_qrels(tmp_path / "qrels")
        with pytest.raises(rb.UsageError, match="use one of the two"):
            rb.evaluate(tmp_path / "qrels", self.run, "Q", gain="S=3,1=1")


@pytest.mark.parametrize("measure", ["Rpref_N", "Rpref_relative", "Rpref_relative2"])
def test_bounds_of_rpref_are_all_but_attained_on_longer_lists(measure):
    """Six unjudged documents of 20, with every combination of grades from 0 to 3."""
    rng = np.random.default_rng(5)
    qrels = {f"d{at}": int(rng.choice([0, 0, 1, 3])) for at in range(24)}
    listed = [f"d{at}" for at in rng.permutation(24)[:20]]
    holes = listed[2::3][:6]
    known = {document: grade for document, grade in qrels.items() if document not in holes}
    found = rb.evaluate({"q": known}, {"q": listed}, measure, gain="1=1,2=2,3=3")
    completed = [known | dict(zip(holes, grades, strict=True)) for grades in itertools.product([0, 1, 2, 3], repeat=6)]
    queries = {str(number): judged for number, judged in enumerate(completed)}
    runs = dict.fromkeys(queries, listed)
    values = rb.evaluate(queries, runs, measure, bounds="none").value
    low, high = found.low.item(), found.high.item()
    slack = 0.02 if measure == "Rpref_N" else 1e-9
    assert values.min() - slack <= low <= values.min() + 1e-9
    assert values.max() - 1e-9 <= high <= values.max() + slack


@pytest.mark.parametrize("measure", ["DCG@3", "nDCG@3", "ERR@3", "RBP(graded=true)", "RBP(graded=true,by_topic=true)"])
@pytest.mark.parametrize("gain", ["1=0.25,2=0.5", "1=0.25,2=4", "2=0.5"])
def test_an_unjudged_document_has_at_most_the_largest_gain_of_the_table(measure, gain):
    """Of tables that stay below 1 too; a grade that the table lacks keeps its value, and a grade of 1 can occur."""
    qrels, run = {"a": 2, "b": 1, "c": 0}, ranked("x", "a", "y", "c")
    best = 1 if gain == "2=0.5" else 2
    as_best = value(qrels | {"x": best, "y": best}, run, measure, gain=gain)
    assert value(qrels, run, measure, gain=gain, unjudged="relevant") == pytest.approx(as_best)
    if not measure.startswith(("RBP", "nDCG")):
        found = rb.evaluate({"q": qrels}, {"q": run}, measure, gain=gain)
        assert found.high[0, 0, 0] == pytest.approx(as_best)
