"""``Run(...)`` and ``Qrels(...)`` take what ``evaluate`` takes, and what belongs to them is their method."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankbounds as rb

SCORES = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d3": 1.0}}
GRADES = {"q1": {"d1": 1.0, "d2": 0.0}, "q2": {"d3": 2.0}}
ROWS = [(query, doc, score) for query, of_query in SCORES.items() for doc, score in of_query.items()]
JUDGED = [(query, doc, grade) for query, of_query in GRADES.items() for doc, grade in of_query.items()]


def columns(rows, value):
    query, doc, number = map(list, zip(*rows, strict=True))
    return {"query_id": query, "doc_id": doc, value: number}


@pytest.mark.parametrize("form", ["dict", "rows", "columns", "pandas", "polars", "run", "file", "one by name"])
def test_a_run_is_made_of_every_form(form, tmp_path):
    run = rb.Run(SCORES, name="bm25")
    if form in ("pandas", "polars"):
        pytest.importorskip(form)
    run.write(tmp_path / "run.txt")
    given = {
        "dict": lambda: SCORES, "rows": lambda: ROWS, "columns": lambda: columns(ROWS, "score"),
        "pandas": run.to_pandas, "polars": run.to_polars, "run": lambda: run, "file": lambda: tmp_path / "run.txt",
        "one by name": lambda: {"bm25": SCORES},
    }[form]()  # fmt: skip
    made = rb.Run(given, name="bm25")
    assert type(made) is rb.Run
    assert (made.name, made.to_dict()) == ("bm25", SCORES)
    assert rb.evaluate(GRADES, made, "AP").to_dict() == rb.evaluate(GRADES, run, "AP").to_dict()


@pytest.mark.parametrize("form", ["dict", "rows", "columns", "pandas", "polars", "qrels", "file"])
def test_judgments_are_made_of_every_form(form, tmp_path):
    qrels = rb.Qrels(GRADES)
    if form in ("pandas", "polars"):
        pytest.importorskip(form)
    qrels.write(tmp_path / "qrels.txt")
    given = {
        "dict": lambda: GRADES, "rows": lambda: JUDGED, "columns": lambda: columns(JUDGED, "relevance"),
        "pandas": qrels.to_pandas, "polars": qrels.to_polars, "qrels": lambda: qrels,
        "file": lambda: tmp_path / "qrels.txt",
    }[form]()  # fmt: skip
    made = rb.Qrels(given)
    assert type(made) is rb.Qrels
    assert made.to_dict() == GRADES


def test_dicts_go_there_and_back():
    assert rb.Run(rb.Run(SCORES, name="x").to_dict(), name="x") == rb.Run(SCORES, name="x")
    assert rb.Qrels(rb.Qrels(GRADES).to_dict()) == rb.Qrels(GRADES)
    assert [doc for doc, _ in rb.Run({"q": ["b", "a"]})["q"]] == ["b", "a"]


def test_a_run_keeps_the_name_of_its_file(tmp_path):
    rb.Run(SCORES, name="tag").write(tmp_path / "run.txt")
    assert rb.Run(tmp_path / "run.txt").name == "tag"
    assert rb.Run(SCORES).name == "run"
    assert rb.Run({"mine": SCORES}).name == "mine"


def test_what_reading_takes_can_be_said(tmp_path):
    (tmp_path / "table.csv").write_text("topic,d,s,source\nq,a,1,human\nq,a,0,llm\n")
    named = {"query_id": "topic", "doc_id": "d", "relevance": "s"}
    assert rb.Qrels(tmp_path / "table.csv", source="llm", columns=named).to_dict() == {"q": {"a": 0.0}}
    by_source = rb.Qrels.by_source(tmp_path / "table.csv", columns=named)
    assert {name: qrels.to_dict() for name, qrels in by_source.items()} == {
        "human": {"q": {"a": 1.0}}, "llm": {"q": {"a": 0.0}},
    }  # fmt: skip
    (tmp_path / "run.csv").write_text("topic,d,score\nq,a,1\n")
    run = rb.Run(tmp_path / "run.csv", formats="csv", columns={"query_id": "topic", "doc_id": "d"})
    assert run.to_dict() == {"q": {"a": 1.0}}


def test_several_runs_are_not_one():
    with pytest.raises(rb.UsageError, match="2 were given"):
        rb.Run({"a": SCORES, "b": SCORES})
    with pytest.raises(rb.UsageError, match="A run was expected, not judgments"):
        rb.Run(rb.Qrels(GRADES))


def test_they_are_pickled_whole():
    run = rb.Run(SCORES, name="x").prepare(depth=1)
    again = pickle.loads(pickle.dumps(run))
    assert (again, again.prepared) == (run, run.prepared)
    assert again.prepared
    assert pickle.loads(pickle.dumps(rb.Qrels(GRADES))) == rb.Qrels(GRADES)


def test_bands_know_keys_for_ties():
    run = rb.Run({"q": {"a": 1, "b": 1, "c": 1}})
    key = {"a": 3, "b": 2, "c": 1}
    assert run.banded(1, ties_key=key).to_dict() == {"q": {"c": 1.0, "b": 0.5, "a": pytest.approx(1 / 3)}}
    assert run.banded(2, ties="docid").to_dict() == {"q": {"a": 1.0, "b": 0.5, "c": 0.5}}
    for wrong in ({"ties": "key"}, {"ties": "docid", "ties_key": key}):
        with pytest.raises(rb.UsageError, match="goes with a key"):
            run.banded(2, **wrong)


def test_arrays_of_what_was_made_are_read_only():
    run = rb.Run(SCORES)
    with pytest.raises(ValueError, match="read-only"):
        run.score[0] = 3
    assert run.score.dtype == np.float64
