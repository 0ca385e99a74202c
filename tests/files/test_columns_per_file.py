"""Odd headings on one side or both: columns named per file, and advice that can be pasted."""

from __future__ import annotations

import ast
import re
import shlex

import polars
import pytest

import rankbounds as rb

EXPECTED = {"red shoes": {"A1": 3.0, "B2": 0.0}}


def write(folder, judgments="Search Term,SKU,Stars", run="query_id;sku;points"):
    (folder / "labels.csv").write_text(f"{judgments}\nred shoes,A1,3\nred shoes,B2,0\n")
    (folder / "run.csv").write_text(f"{run}\nred shoes;B2;2\nred shoes;A1;1\n")
    return folder / "labels.csv", folder / "run.csv"


def test_each_side_has_names_of_its_own(tmp_path, command):
    files = write(tmp_path)
    named = "qrels.query_id=Search Term,doc_id=sku,relevance=stars,score=points"
    code, out, err = command("evaluate", *files, "-m", "RR", "--columns", named, "--format", "csv")
    assert (code, err) == (0, "")
    assert "0.5" in out
    columns = {"qrels.query_id": "Search Term", "run.doc_id": "sku", "qrels.doc_id": "SKU", "doc_id": "nowhere"}
    columns |= {"relevance": "Stars", "score": "points"}
    assert rb.evaluate(*files, "RR", columns=columns).value.tolist() == [[[0.5]]]
    frames = [polars.read_csv(path, separator=mark) for path, mark in zip(files, ",;", strict=True)]
    assert rb.evaluate(*frames, "RR", columns=columns).value.tolist() == [[[0.5]]]
    assert rb.read_qrels(files[0], columns=columns).to_dict() == EXPECTED
    assert rb.Qrels(frames[0], columns=columns).to_dict() == EXPECTED
    assert rb.Run(files[1], columns=columns) == rb.read_run(files[1], columns=columns)


@pytest.mark.parametrize(
    ("judgments", "run"),
    [
        ("Search Term,SKU,Stars", "query_id;sku;points"),
        ("Search Term,SKU,Stars", "Search Term;sku;it's"),
        ('"a, b",c=d,"e$HOME"', "query_id;doc_id;score"),
        ("query_id,doc_id,grade", "star(s);`x`;a'b"),
    ],
)
def test_advice_can_be_pasted(tmp_path, command, judgments, run):
    """Each error adds what it advises to what was said before, for a shell and for Python, until all is read."""
    files = write(tmp_path, judgments, run)
    words, columns = [], None
    for _ in range(9):
        code, _, err = command("evaluate", *files, "-m", "RR", *words)
        if code == 0:
            break
        with pytest.raises(rb.DataError) as told:
            rb.evaluate(*files, "RR", columns=columns)
        assert err == f"rankbounds: {told.value}\n"
        assert "this table has" in err
        words = shlex.split(re.search(r"(--columns .*) \(in Python", err)[1])
        columns = ast.literal_eval(re.search(r"\(in Python columns=(.*)\)\.$", err.strip())[1])
    assert code == 0
    assert rb.evaluate(*files, "RR", columns=columns).value.tolist() == [[[0.5]]]


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ("qrels.star=Stars", 'There is no column "qrels.star" to be named'),
        ("labels.query_id=q", 'There is no column "labels.query_id"'),
        ("qrels.run.query_id=q", 'There is no column "qrels.run.query_id"'),
        ("run.=q", 'There is no column "run."'),
        ("", "columns are named like"),
        ("query_id", "columns are named like"),
        ('"query_id=a', "columns are named like|no column for the query id"),
    ],
)
def test_names_that_are_none(tmp_path, command, columns, told):
    code, out, err = command("evaluate", *write(tmp_path), "--columns", columns)
    assert (code, out) in ((2, ""), (3, ""))
    assert re.search(told, err)
