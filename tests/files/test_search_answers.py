"""Answers of Elasticsearch and OpenSearch to _search and _msearch as runs, in files and in Python."""

from __future__ import annotations

import json

import pytest

import rankbounds as rb

QRELS = {"shoes": {"a": 1, "b": 0}, "hats": {"c": 1}, "none": {"d": 1}}


def answer(*hits):
    found = [{"_index": "i", "_id": doc, "_score": score, "_source": {"title": doc}} for doc, score in hits]
    counted = {"value": len(found), "relation": "eq"}
    return {"took": 3, "timed_out": False, "_shards": {"failed": 0}, "hits": {"total": counted, "hits": found}}


SHOES, HATS, NONE = answer(("b", 2.5), ("a", 1.5)), answer(("c", 7)), answer()
EXPECTED = {"shoes": {"b": 2.5, "a": 1.5}, "hats": {"c": 7.0}, "none": {}}
NUMBERED = dict(zip("123", EXPECTED.values(), strict=True))
ALL = {"shoes": SHOES, "hats": HATS, "none": NONE}
SEVERAL = {"took": 9, "responses": [SHOES, HATS, NONE]}


class ObjectApiResponse:
    """As Elasticsearch's client returns an answer."""

    def __init__(self, body):
        self.body = body


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (json.dumps(ALL), EXPECTED),
        (json.dumps(ALL, indent=1), EXPECTED),
        (json.dumps(SEVERAL), NUMBERED),
        (json.dumps([SHOES, HATS, NONE], indent=2), NUMBERED),
        ("".join(json.dumps(one) + "\n" for one in (SHOES, HATS, NONE)), NUMBERED),
        (json.dumps(SHOES), {"1": EXPECTED["shoes"]}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*numbered from 1")
def test_files(tmp_path, content, expected):
    lines = "\n" in content and not content.startswith(("{\n", "["))
    for name in ("run", "run.json", *(["run.jsonl"] if lines else [])):
        (tmp_path / name).write_text(content)
        assert rb.read_run(tmp_path / name).to_dict() == expected
    for kind in ("elasticsearch", "opensearch"):
        if not content.count("}\n{"):
            assert rb.read_run(tmp_path / "run", formats=kind).to_dict() == expected


def test_numbers_are_said(tmp_path, command):
    (tmp_path / "run.json").write_text(json.dumps(SEVERAL))
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 c 1\n3 0 d 1\n")
    code, out, err = command("evaluate", tmp_path / "qrels", tmp_path / "run.json", "-m", "RR", "--format", "csv")
    assert code == 0
    assert "run,all,RR,0.5," in out
    assert "run.json: answers to searches do not name their queries, so these are numbered from 1" in err


@pytest.mark.parametrize(
    ("given", "more"),
    [
        (ALL, {}),
        ({query: ObjectApiResponse(one) for query, one in ALL.items()}, {}),
        (SEVERAL, {"query_ids": list(ALL)}),
        (ObjectApiResponse(SEVERAL), {"query_ids": list(ALL)}),
        ([SHOES, HATS, NONE], {"query_ids": list(ALL)}),
        ([ObjectApiResponse(one) for one in ALL.values()], {"query_ids": list(ALL)}),
    ],
)
def test_objects(given, more):
    assert rb.Run(given, **more).to_dict() == EXPECTED
    assert rb.evaluate(QRELS, given, "RR", **more).value.ravel().tolist() == [0.5, 1.0, 0.0]
    named = rb.evaluate(QRELS, {"before": given, "after": given}, "RR", **more)
    assert list(named.runs) == ["before", "after"]
    assert named.value.ravel().tolist() == [0.5, 1.0, 0.0] * 2


def test_hits_without_scores_keep_their_order():
    assert rb.Run({"q": answer(("b", None), ("a", None))}).to_dict() == {"q": {"b": 2.0, "a": 1.0}}


FAILED = {"error": {"type": "index_not_found_exception", "reason": "no such index [x]"}, "status": 404}
TWICE = answer(("a", 2), ("a", 1))
TWICE["hits"]["hits"][1]["_index"] = "j"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"q": SHOES, "r": FAILED}, 'answer to query "r" holds no hits: .no such index'),
        ({"responses": [SHOES, FAILED]}, 'answer to query "2" holds no hits'),
        (FAILED, 'answer to query "1" holds no hits'),
        ({"responses": [SHOES, None]}, 'answer to query "2" holds no hits'),
        ({"responses": [SHOES, {"hits": {"hits": [{"_score": 1}]}}]}, 'a document has no "_id"'),
        ({"responses": [SHOES, {"hits": {"hits": [7]}}]}, 'a document has no "_id"'),
        ({"q": TWICE}, "comes from two indices"),
        ({"q": answer(("a", 2), ("b", 1), ("a", 0))}, 'document "a" of topic "q" is listed twice'),
        ({"q": {"hits": {"hits": [{"_id": ["a"], "_score": 1}]}}}, "no id|document id"),
        ({"q": answer(("a", 2), ("b", None))}, "some entries state a score and others do not"),
        ({"q": answer(("a", "much"))}, "not a finite number"),
        ({"q": answer(("", 2))}, "document id"),
        ({"": SHOES}, "query id"),
        ({"responses": []}, "no rows|empty|No run"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*numbered from 1")
def test_what_is_no_run(tmp_path, given, told):
    (tmp_path / "run.json").write_text(json.dumps(given))
    with pytest.raises(rb.DataError, match=told) as refused:
        rb.read_run(tmp_path / "run.json")
    assert str(refused.value).startswith(str(tmp_path / "run.json"))
    with pytest.raises(rb.DataError, match=told):
        rb.Run(given)


@pytest.mark.parametrize("queries", [["q"], ["q", "q"], [1, "1"], list("qrs")])
def test_as_many_query_ids_as_answers(queries):
    with pytest.raises(rb.UsageError, match="There are 2 answers to searches, which need as many different query_ids"):
        rb.Run([SHOES, HATS], query_ids=queries)


def test_answers_are_no_judgments(tmp_path):
    (tmp_path / "file.json").write_text(json.dumps(ALL))
    with pytest.raises(rb.DataError, match=r"answers to searches, which hold a run"):
        rb.read_qrels(tmp_path / "file.json")
