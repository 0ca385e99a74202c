"""Lists that end where their documents' costs would pass a budget, against plain Python."""

from __future__ import annotations

import json
import random

import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.collection.preparation import Preparation

pytestmark = pytest.mark.usefixtures("both_ways")

DOCS = [f"d{number}" for number in range(9)]
MEASURES = ["nDCG@3", "AP", "Recall@2", "RR", "P@3"]


def paid_for(documents, costs, budget):
    """By score down, then by id down, as many as the budget pays for."""
    kept, spent = {}, 0
    for doc in sorted(sorted(documents, reverse=True), key=documents.__getitem__, reverse=True):
        spent += costs[doc]
        if spent > budget:
            break
        kept[doc] = documents[doc]
    return kept


@pytest.mark.parametrize("seed", range(30))
def test_a_list_ends_where_the_budget_does(seed):
    drawn = random.Random(seed)
    costs = {doc: drawn.choice([0, 1, 2, 5, 400]) for doc in DOCS}
    budget = drawn.choice([1, 3, 7, 402, 5000])
    rows = [(query, doc, drawn.choice([1.0, 2.0, 3.0])) for query in "ab" for doc in drawn.sample(DOCS, 6)]
    drawn.shuffle(rows)
    run = rb.Run.from_columns(*zip(*rows, strict=True))
    plain = {query: paid_for(dict(run[query]), costs, budget) for query in run.query_ids}
    prepared = run.prepare(budget=budget, costs=costs)
    assert prepared.to_dict() == plain
    qrels = {query: {doc: drawn.randint(0, 2) for doc in drawn.sample(DOCS, 5)} | {"d0": 1} for query in "ab"}
    found = rb.evaluate(qrels, run, MEASURES, preparation=Preparation(budget=budget, costs=costs))
    right = rb.evaluate(qrels, prepared, MEASURES)
    assert found.value.tolist() == right.value.tolist()
    assert (found.low.tolist(), found.high.tolist()) == (right.low.tolist(), right.high.tolist())
    deeper = run.prepare(budget=budget + drawn.randint(0, 9), costs=costs)
    assert set(deeper) >= set(prepared)


def test_the_budget_follows_the_order_of_ties_and_comes_last():
    run = rb.Run.from_columns(["q"] * 3, ["q", "a#1", "b#1"], [3.0, 1.0, 1.0])
    costs = {"a": 6, "b": 5, "q": 100}
    given = {"budget": 10, "costs": costs, "drop_self": True, "documents_of": "#"}
    assert run.prepare(**given).to_dict() == {"q": {"b": 1.0}}
    assert run.prepare(**given, ties="docid").to_dict() == {"q": {"a": 1.0}}
    assert run.prepare(**given).prepared.endswith("budget 10 (1 documents left out)")


def test_decimal_costs_add_up_as_written():
    run = rb.Run({"q": [f"d{number}" for number in range(10)]})
    assert len(run.prepare(budget=1, costs={f"d{number}": 0.1 for number in range(10)})) == 10


@pytest.mark.parametrize(
    "content",
    [
        "a\t3\nb\t4\nc\t5\n",
        "a 3\n\nb 4\nc 5\n",
        "doc_id,tokens\na,3\nb,4\nc,5\n",
        "query_id,Doc_ID,score,tokens\nq,a,9,3\nq,b,8,4\nr,a,7,3\nr,c,1,5\n",
        '{"query_id": "q", "doc_id": "a", "tokens": 3}\n{"doc_id": "b", "tokens": 4}\n{"doc_id": "c", "tokens": 5}\n',
        '[{"docno": "a", "cost": 3}, {"docno": "b", "cost": 4}, {"docno": "c", "cost": 5}]',
        '{"a": 3, "b": 4, "c": 5}',
    ],
)
@pytest.mark.parametrize("engine", ["local", "stream"])
def test_the_command_takes_a_budget(tmp_path, content, engine, capsys):
    (tmp_path / "costs").write_text(content)
    (tmp_path / "qrels").write_text("q 0 b 1\nq 0 c 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 9 A\nq Q0 b 2 8 A\nq Q0 c 3 7 A\n")
    out = tmp_path / "out.json"
    words = ["evaluate", *(str(tmp_path / name) for name in ("qrels", "run")), "-m", "Recall", "--budget", "7"]
    assert main([*words, "--costs", str(tmp_path / "costs"), "--engine", engine, "-o", str(out)]) == 0
    assert json.loads(out.read_text())[0]["value"] == 0.5
    assert "budget 7 (1 documents left out)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("budget", "costs", "told"),
    [
        (7, {"a": 1}, r'document "b" of topic "q" has no cost \(costs\). Give it one'),
        (7, {}, 'document "[ab]" of topic "q" has no cost'),
        (7, {"a": 1, "b": -2}, 'the cost of document "b" is -2, not a number from 0 on'),
        (7, {"a": "much", "b": 1}, "the cost of document \"a\" is 'much', not a number"),
        (7, {"a": float("nan"), "b": 1}, 'the cost of document "a" is nan'),
        (0, {"a": 1, "b": 1}, "A budget is a number above 0, not 0"),
        (float("inf"), {"a": 1, "b": 1}, "A budget is a number above 0, not inf"),
        (7, None, "A budget goes with the costs of documents"),
        (None, {"a": 1, "b": 1}, "A budget goes with the costs of documents"),
    ],
)
def test_what_is_no_budget(budget, costs, told):
    with pytest.raises(rb.RankboundsError, match=told):
        rb.Run({"q": ["a", "b"]}).prepare(budget=budget, costs=costs)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a 1\nb\n", "costs:2: expected a document and its value"),
        ("a 1\na 2\n", "twice"),
        ("a 1\n", "has no cost"),
        ("doc_id,tokens\na,1\na,2\n", 'costs:3: document "a" costs 2 here and 1 before'),
        ("id,tokens\na,1\n", "costs:2: a row names no document or no cost"),
        ("[1, 2]", "costs, row 1: a row names no document or no cost"),
        ('{"doc_id": "a", "tokens": 1}\n{"doc_id": "b"}\n', "costs:2: a row names no document or no cost"),
        ("doc_id,tokens\na,1\nb,\n", 'the cost of document "b" is .., not a number'),
    ],
)
def test_what_is_no_file_of_costs(tmp_path, content, told):
    (tmp_path / "costs").write_text(content)
    with pytest.raises(rb.DataError, match=told):
        rb.Run({"q": ["a", "b"]}).prepare(budget=7, costs=tmp_path / "costs")
