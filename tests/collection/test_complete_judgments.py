"""Judgments that lack nothing: what they do not list is judged non-relevant."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.columns import native

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
DOCS = [f"d{number}" for number in range(9)]
ELSEWHERE = [f"e{number}" for number in range(40)]
MEASURES = ["nDCG@3", "nDCG", "AP", "RBP(p=0.8)", "P@3", "RR", "Recall@3", "ERR@3", "SetF", "bpref", "AP'"]
JUDGED = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 2), min_size=1, max_size=6)
SCORED = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 3), max_size=9)
TOPICS = ["q1", "q2"]


@settings(max_examples=30, deadline=None)
@given(
    st.tuples(JUDGED, JUDGED), st.tuples(SCORED, SCORED), st.sampled_from(["trec", "expected", "best"]), st.booleans()
)
def test_it_is_what_judging_every_other_document_non_relevant_gives(judged, scored, ties, compiled):
    """Plain definition: every document of a small collection has a line, with grade 0 where nothing was said."""
    if not any(scored):
        return
    qrels, run = (dict(zip(TOPICS, given, strict=True)) for given in (judged, scored))
    whole = {query: dict.fromkeys([*DOCS, *ELSEWHERE], 0) | own for query, own in qrels.items()}
    with native.switched("kernel" if compiled and native.built is not None else "NumPy"):
        found = rb.evaluate(qrels, {"run": run}, MEASURES, ties=ties, complete=True)
        wanted = rb.evaluate(whole, {"run": run}, MEASURES, ties=ties)
    assert found.value == pytest.approx(wanted.value, abs=1e-12, nan_ok=True)
    assert np.array_equal(found.low, found.value, equal_nan=True)
    assert np.array_equal(found.high, found.value, equal_nan=True)


def test_what_is_not_listed_counts_as_judged():
    scores = rb.evaluate({"q1": {"d1": 1}}, {"q1": ["d0", "d1"]}, ["Judged@2", "Unjudged@2", "bpref"], complete=True)
    assert scores.value[0, 0].tolist() == [1.0, 0.0, 0.0]


def test_open_bounds_and_ties_cover_no_missing_judgment():
    qrels, run = {"q1": {"d1": 1}}, {"q1": {"d0": 1, "d1": 1}}
    wide = rb.evaluate(qrels, run, ["RR", "AP"], open="collection", complete=True, ties="docid")
    assert wide.low.tolist() == wide.high.tolist() == wide.value.tolist()
    ties = rb.evaluate(qrels, run, ["RR", "RBP"], bounds="both", complete=True)
    assert (ties.low[0, 0, 0], ties.high[0, 0, 0]) == (0.5, 1.0)
    assert ties.high[0, 0, 1] - ties.low[0, 0, 1] == pytest.approx(0.2 - 0.16)


def test_subtopics_are_complete_too(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 1 d1 1\nq1 2 d2 1\nq2 1 d1 1\n")
    runs = {"a": {"q1": ["x", "d1"], "q2": ["x"]}, "b": {"q1": ["d2", "y", "z"], "q2": ["d1"]}}
    scores = rb.evaluate(str(tmp_path / "qrels.txt"), runs, ["alpha_nDCG@3", "P_IA@2"], complete=True)
    assert scores.value[:, 0, 1].tolist() == [0.25, 0.25]
    assert scores.low.tolist() == scores.high.tolist() == scores.value.tolist()


def test_differences_are_settled():
    runs = {"a": {"q1": ["d0", "d1"], "q2": ["d5"]}, "b": {"q1": ["d1"], "q2": ["d6", "d7"]}}
    compared = rb.compare({"q1": {"d1": 1}, "q2": {"d7": 1}}, runs, ["nDCG@3", "RBP", "AP"], complete=True)
    for row in compared.rows():
        assert row["certain_low"] == pytest.approx(row["difference"]) == row["certain_high"]
    assert "unjudged" not in compared.words() + str(compared)


def test_judgments_that_are_complete_stay_so():
    qrels = rb.Qrels({"q1": {"d1": 1}, "q2": {"d2": 1}}, complete=True)
    for same in (qrels, qrels.filter("q1"), pickle.loads(pickle.dumps(qrels))):
        assert rb.evaluate(same, {"q1": ["x", "d1"]}, "Judged@2", topics="shared").mean().value.item() == 1.0


def test_saved_scores_remember_it():
    kept = [rb.evaluate({"q1": {"d1": 1}}, {"q1": ["d1"]}, "AP", complete=complete) for complete in (False, True)]
    assert [scores.make_origin()["settings"].get("judgments") for scores in kept] == [None, "complete"]


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_every_engine_knows(engine, tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 d0 1 2 r\nq1 Q0 d1 2 1 r\n")
    scores = rb.evaluate(
        str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt"), ["AP", "Judged@2"], engine=engine, complete=True
    )
    assert [scores.value.tolist(), scores.high.tolist()] == [[[[0.5, 1.0]]]] * 2


@pytest.mark.parametrize(
    ("qrels", "more", "message"),
    [
        ({"q1": {"d1": 1, "d2": -1}}, {}, "has relevance -1 .pooled, not judged., so the judgments are not complete"),
        ({"q1": {"d1": 1}}, {"gain": "0=1,1=2"}, "grade 0 cannot have a gain"),
    ],
)
def test_what_contradicts_it_is_an_error(qrels, more, message):
    with pytest.raises(rb.RankboundsError, match=message):
        rb.evaluate(qrels, {"q1": ["d1"]}, "AP", complete=True, **more)


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    row = '{"question": "who?", "retrieved_ids": ["d1", "d2"], "expected_ids": ["d2"]}\n'
    for name, text in (("a.jsonl", row), ("b.jsonl", row.replace('"d1", "d2"', '"d2", "d3"'))):
        (tmp_path / name).write_text(text + row.replace("who", "when"))
    main(["evaluate", "a.jsonl", "-m", "nDCG@10,RBP"])
    assert "add --judgments complete" in capsys.readouterr().err
    main(["evaluate", "a.jsonl", "-m", "nDCG@10,RBP", "--judgments", "complete"])
    said = capsys.readouterr()
    assert not said.err
    assert said.out.split() == ["run", "nDCG@10", "RBP(p=0.8)", "a", "0.6309", "0.1600"]
    for bounds in ("unjudged", "both"):
        how = ["--judgments", "complete", "--bounds", bounds, "--explain"]
        main(["compare", "a.jsonl", "b.jsonl", "-m", "nDCG@10", *how])
        said = capsys.readouterr()
        assert "nDCG@10" in said.out
        assert "unjudged" not in said.out + said.err
    assert main(["evaluate", "a.jsonl", "--judgments", "full"]) == 2
    assert 'judgments are "complete", or the option is left out, not "full"' in capsys.readouterr().err
