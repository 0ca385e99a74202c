"""Documents under several ids, against plain Python."""

from __future__ import annotations

import json
import random

import pytest

import rankbounds as rb
from rankbounds.cli import main

pytestmark = pytest.mark.usefixtures("both_ways")

GROUPS = [["d1", "d4", "d2"], ["d7", "d3"]]
STANDS_FOR = {doc: group[0] for group in GROUPS for doc in group}
DOCS = [f"d{number}" for number in range(1, 9)]
MEASURES = ["nDCG@3", "AP", "Recall@2", "RR", "P@3"]


def joined(documents):
    """The highest number of each document, in the order of the first of its ids."""
    kept = {}
    for doc, number in documents.items():
        name = STANDS_FOR.get(doc, doc)
        kept[name] = max(number, kept.get(name, number))
    return kept


def drawn_collection(seed):
    drawn = random.Random(seed)
    qrels = {
        query: {doc: drawn.choice([-1, 0, 1, 2]) for doc in drawn.sample(DOCS, drawn.randint(1, 8))} for query in "ab"
    }
    run = {
        query: {doc: drawn.choice([1.0, 2.0, 2.5, 4.0]) for doc in drawn.sample(DOCS, drawn.randint(1, 8))}
        for query in "ab"
    }
    qrels["a"]["d5"] = 1
    return qrels, run


@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
@pytest.mark.parametrize("seed", range(30))
def test_one_id_stands_for_all(seed):
    qrels, run = drawn_collection(seed)
    plain = {query: joined(documents) for query, documents in run.items()}
    assert rb.Run(run).prepare(same_as=GROUPS).to_dict() == plain
    joined_qrels = {query: joined(grades) for query, grades in qrels.items()}
    for ties in ("trec", "run", "line", "expected"):
        found = rb.evaluate(qrels, run, MEASURES, same_as=GROUPS, ties=ties)
        right = rb.evaluate(joined_qrels, rb.Run(plain), MEASURES, ties=ties)
        assert found.value.tolist() == right.value.tolist()
        assert found.low.tolist() == right.low.tolist()
    compared = rb.compare(qrels, {"A": run, "B": plain}, "AP", same_as=GROUPS).scores
    assert compared.value[0].tolist() == compared.value[1].tolist()


def test_the_first_rank_counts_in_every_order():
    run = rb.Run.from_columns(["q"] * 4, ["d4", "x", "d1", "y"], [1, 2, 3, 0], [4, 3, 2, 1])
    assert run.prepare(same_as=GROUPS).stated_rank.tolist() == [2, 3, 1]
    for ties, place in (("trec", 1), ("run", 1), ("stated", 1 / 2)):
        assert rb.evaluate({"q": {"d2": 1}}, run, "RR", same_as=GROUPS, ties=ties).value.item() == place


def test_chunks_become_documents_before_ids_are_joined():
    run = rb.Run({"q": {"x#1": 4, "d1#1": 1, "d2#7": 2}})
    assert run.prepare(documents_of="#", same_as=GROUPS, depth=2).to_dict() == {"q": {"x": 4, "d1": 2}}


@pytest.mark.parametrize(
    "content", ["d1 d4 d2\n\nd7 d3\n", "d1,d4, d2\nd7,d3\n", "d1\td4\td2\nd7\td3", json.dumps(GROUPS)]
)
@pytest.mark.parametrize("engine", ["local", "stream"])
def test_the_command_reads_groups(tmp_path, content, engine, capsys):
    (tmp_path / "same").write_text(content)
    (tmp_path / "qrels").write_text("q 0 d2 1\nq 0 d3 1\nq 0 x 0\n")
    (tmp_path / "run").write_text("q Q0 x 1 9 A\nq Q0 d4 2 8 A\nq Q0 d1 3 7 A\nq Q0 d7 4 6 A\n")
    out = tmp_path / "out.json"
    words = ["evaluate", *(str(tmp_path / name) for name in ("qrels", "run")), "-m", "Recall@3", "-m", "P@3"]
    assert main([*words, "--same-as", str(tmp_path / "same"), "--engine", engine, "-o", str(out)]) == 0
    assert [row["value"] for row in json.loads(out.read_text())] == [1.0, pytest.approx(2 / 3)]
    assert "equal ids joined" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([["a"]], "same_as, row 1: a group of equal ids has two or more; this one has 1"),
        ([["a", "b"], ["c", "a"]], r'same_as, row 2: the id "a" is in a group already \(same_as, row 1\)'),
        ([["a", "a"]], 'the id "a" is in a group already'),
        (["ab"], "row 1: a group of equal ids is a list, not 'ab'"),
        ([["a", ""]], "document id"),
        ({"a": "b"}, "a file or lists of ids, not dict"),
        (7, "a file or lists of ids, not int"),
    ],
)
def test_what_is_no_group(given, told):
    with pytest.raises(rb.RankboundsError, match=told):
        rb.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR", same_as=given)


@pytest.mark.parametrize(
    ("content", "told"),
    [("a b\nc\n", "same:2: a group"), ("a b\nc b\n", "same:2: the id"), ("[1, 2]", "row 1: a group"), ("[[1", "JSON")],
)
def test_what_is_no_file_of_groups(tmp_path, content, told):
    (tmp_path / "same").write_text(content)
    with pytest.raises(rb.DataError, match=told):
        rb.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR", same_as=tmp_path / "same")


def test_grades_that_differ_are_told_and_subtopics_are_not_joined():
    with pytest.warns(
        rb.RankboundsWarning, match='different grades, of which the highest counts .first: document "d1"'
    ):
        rb.evaluate({"q": {"d1": 0, "d4": 2}}, {"q": ["d4"]}, "RR", same_as=GROUPS)
    columns = {"query_id": ["q", "q"], "doc_id": ["d1", "d4"], "subtopic": ["1", "2"], "relevance": [1, 1]}
    with pytest.raises(rb.DataError, match="cannot be joined"):
        rb.evaluate(columns, {"q": ["d4"]}, "RR", same_as=GROUPS)
