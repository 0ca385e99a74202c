"""The formats people hold: each read from an example as its makers write it, and told from the others by content."""

from __future__ import annotations

import csv
import json
from types import SimpleNamespace

import numpy as np
import polars
import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.files.formats import OURS

RUN = {"q1": {"a": 3.0, "b": 2.0, "x": 1.0}, "q2": {"c": 1.5}}
pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")

QRELS = {"q1": {"a": 1.0, "b": 0.0}, "q2": {"c": 2.0, "d": 1.0}}


def written(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_beir_results_and_judgments(tmp_path):
    run = written(tmp_path / "results", RUN)
    rows = "".join(f"{query}\t{doc}\t{grade:g}\n" for query, docs in QRELS.items() for doc, grade in docs.items())
    qrels = written(tmp_path / "test.tsv", "query-id\tcorpus-id\tscore\n" + rows)
    assert rb.read_run(run).to_dict() == RUN
    assert rb.read_qrels(qrels).to_dict() == QRELS
    assert rb.evaluate(qrels, run, "RR").mean().value == pytest.approx(1.0)


def test_hugging_face_parquet_flat_and_in_parts(tmp_path):
    flat = [(query, doc, grade) for query, docs in QRELS.items() for doc, grade in docs.items()]
    frame = polars.DataFrame(flat, schema=["query-id", "corpus-id", "score"], orient="row")
    frame.write_parquet(tmp_path / "no_ending")
    (tmp_path / "parts").mkdir()
    frame[:3].write_parquet(tmp_path / "parts" / "test-00000-of-00002.parquet")
    frame[3:].write_parquet(tmp_path / "parts" / "test-00001-of-00002.parquet")
    for name in ("no_ending", "parts"):
        assert rb.read_qrels(tmp_path / name).to_dict() == QRELS, name


@pytest.mark.parametrize("column", ["query-id", "corpus-id"])
def test_null_ids_in_parquet_name_column_and_row(tmp_path, column):
    columns = {"query-id": ["q1", "q1"], "corpus-id": ["a", "b"], "score": [1, 0]} | {column: ["q1", None]}
    polars.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(rb.DataError, match=rf'row 2: the .* id \(column "{column}"\) is empty.*None'):
        rb.read_qrels(tmp_path / "t.parquet")


def test_mteb_predictions_of_one_split_and_of_several(tmp_path):
    meta = {"model_name": "m", "revision": "1"}
    one = written(tmp_path / "one.json", {"mteb_model_meta": meta, "default": {"test": RUN}})
    assert rb.read_run(one).to_dict() == RUN
    several = written(tmp_path / "several.json", {"en": {"test": RUN}, "de": {"test": {"q1": {"a": 1.0}}}})
    assert set(rb.read_run(several).query_ids) == {"en/test/q1", "en/test/q2", "de/test/q1"}
    scores = {"task_name": "NFCorpus", "mteb_version": "2", "scores": {"test": [{"ndcg_at_10": 0.3}]}}
    with pytest.raises(rb.DataError, match="not rankings"):
        rb.read_run(written(tmp_path / "scores.json", scores))


REQUEST = {
    "requests": [
        {
            "id": "amsterdam_query",
            "request": {"query": {"match": {"text": "amsterdam"}}},
            "ratings": [
                {"_index": "my-index", "_id": "doc1", "rating": 0},
                {"_index": "my-index", "_id": "doc2", "rating": 3},
            ],
        },
        {"id": "berlin_query", "request": {}, "ratings": [{"_index": "my-index", "_id": "doc1", "rating": 1}]},
    ],
    "metric": {"precision": {"k": 20}},
}
RESPONSE = {
    "metric_score": 0.4,
    "details": {
        "amsterdam_query": {
            "metric_score": 0.5,
            "unrated_docs": [{"_index": "my-index", "_id": "doc9"}],
            "hits": [
                {"hit": {"_index": "my-index", "_id": "doc9", "_score": 1.2}, "rating": None},
                {"hit": {"_index": "my-index", "_id": "doc2", "_score": 1.1}, "rating": 3},
            ],
        },
        "berlin_query": {"hits": [{"hit": {"_index": "my-index", "_id": "doc1", "_score": 1.0}, "rating": 1}]},
    },
    "failures": {},
}


def test_elasticsearch_requests_and_responses(tmp_path):
    request, response = written(tmp_path / "request", REQUEST), written(tmp_path / "response", RESPONSE)
    assert rb.read_qrels(request).to_dict() == {
        "amsterdam_query": {"doc1": 0.0, "doc2": 3.0},
        "berlin_query": {"doc1": 1.0},
    }
    run = rb.read_run(response)
    assert run.to_dict()["amsterdam_query"] == {"doc9": 1.2, "doc2": 1.1}
    assert run.stated_rank.tolist() == [1, 2, 1]
    assert rb.read_qrels(response).to_dict() == {"amsterdam_query": {"doc2": 3.0}, "berlin_query": {"doc1": 1.0}}
    assert rb.evaluate(request, response, "RR").mean().value == pytest.approx(0.75)
    assert rb.read_run(written(tmp_path / "wrapped", {"rank_eval": RESPONSE})).to_dict() == run.to_dict()
    with pytest.raises(rb.DataError, match="this holds judgments; a run is in a response to _rank_eval"):
        rb.read_run(request)


def test_elasticsearch_ids_of_two_indices_and_hits_without_scores(tmp_path):
    ratings = [{"_index": "a", "_id": "1", "rating": 1}, {"_index": "b", "_id": "1", "rating": 0}]
    with pytest.raises(rb.DataError, match="two indices"):
        rb.read_qrels(written(tmp_path / "r", {"requests": [{"id": "q", "ratings": ratings}]}))
    hits = [{"hit": {"_id": one, "_score": None}, "rating": None} for one in "ba"]
    run = rb.read_run(written(tmp_path / "s", {"details": {"q": {"hits": hits}}}))
    assert run.to_dict() == {"q": {"b": 2.0, "a": 1.0}}


def opensearch(kind, rating, **more):
    ratings = [{"query": "red dress", "ratings": [{"docId": "B077ZJXCTS", "rating": rating}]}]
    return {"name": "list", "type": kind, "judgmentRatings": ratings, **more}


def test_opensearch_judgments_imported_and_given_out(tmp_path):
    imported = written(tmp_path / "put", opensearch("IMPORT_JUDGMENT", "3.000"))
    assert rb.read_qrels(imported).to_dict() == {"red dress": {"B077ZJXCTS": 3.0}}
    found = [{"_source": opensearch("LLM_JUDGMENT", 0.5)}, {"_source": opensearch("UBI_JUDGMENT", 0.5)}]
    answer = written(tmp_path / "get", {"took": 1, "hits": {"total": {}, "hits": found}})
    assert set(rb.Qrels.by_source(answer)) == {"llm", "click"}
    assert rb.read_qrels(answer).to_dict() == {"red dress": {"B077ZJXCTS": 0.5}}
    with pytest.raises(rb.DataError, match="not complete: PROCESSING"):
        rb.read_qrels(written(tmp_path / "early", opensearch("LLM_JUDGMENT", 1, status="PROCESSING")))


def test_quepid_ratings_and_snapshots(tmp_path):
    ratings = written(
        tmp_path / "ratings.csv", 'query,docid,rating\n"star, wars",i_1,3\ncat,i_2,\nparrot,,\ncat,i_3,0\n'
    )
    assert rb.read_qrels(ratings).to_dict() == {"star, wars": {"i_1": 3.0}, "cat": {"i_3": 0.0}}
    rows = '"s",1,"star, wars",i_9,1,\n"s",1,"star, wars",i_1,2,3\n"s",1,cat,i_3,1,0\n'
    snapshot = written(tmp_path / "s.csv", "Snapshot Name,Case ID,Query Text,Doc ID,Doc Position,Rating\n" + rows)
    run = rb.read_run(snapshot)
    assert run.stated_rank.tolist() == [1, 2, 1]
    assert rb.read_qrels(snapshot).to_dict() == rb.read_qrels(ratings).to_dict()
    assert rb.evaluate(ratings, snapshot, "RR").to_dict()["s"]["RR"] == {"star, wars": 0.5, "cat": 0.0}
    with pytest.raises(rb.DataError, match="no column for the score"):
        rb.read_run(ratings)


def test_ir_datasets_ids(monkeypatch):
    judgment = SimpleNamespace(query_id="q1", doc_id="a", relevance=2)
    dataset = SimpleNamespace(has_qrels=lambda: True, qrels_iter=lambda: iter([judgment]))
    known = {"beir/scifact/test": dataset, "docs-only": SimpleNamespace(has_qrels=lambda: False)}
    monkeypatch.setitem(__import__("sys").modules, "ir_datasets", SimpleNamespace(load=lambda name: known[name]))
    assert rb.read_qrels("ir_datasets:beir/scifact/test").to_dict() == {"q1": {"a": 2.0}}
    with pytest.raises(rb.DataError, match="no judgments"):
        rb.read_qrels("ir_datasets:docs-only")
    with pytest.raises(rb.DataError, match='knows no data set "nonsense"'):
        rb.read_qrels("ir_datasets:nonsense")
    with pytest.raises(rb.DataError, match="a run was expected"):
        rb.read_run("ir_datasets:beir/scifact/test")
    monkeypatch.setitem(__import__("sys").modules, "ir_datasets", None)
    with pytest.raises(rb.UsageError, match="pip install ir_datasets"):
        rb.read_qrels("ir_datasets:beir/scifact/test")


def test_ir_datasets_itself(tmp_path):
    package = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
    from ir_datasets.formats import TrecQrels
    from ir_datasets.util import LocalDownload

    qrels = TrecQrels(LocalDownload(written(tmp_path / "qrels", "q1 0 a 2\nq1 0 b 0\n")), {0: "no", 2: "yes"})
    if "rankbounds-test" not in package.registry._registered:
        package.registry.register("rankbounds-test", package.Dataset(qrels))
    assert rb.read_qrels("ir_datasets:rankbounds-test").to_dict() == {"q1": {"a": 2.0, "b": 0.0}}


def test_pyterrier_frames():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    results = pandas.DataFrame(
        {
            "qid": ["1", "1"],
            "docid": [7, 8],
            "docno": ["a", "b"],
            "rank": [0, 1],
            "score": [2.0, 1.0],
            "query": ["x"] * 2,
        }
    )
    qrels = pandas.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [0, 1]})
    assert rb.evaluate(qrels, results, "RR", ties="rank").value.item() == 0.5


def test_ranx_objects():
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    run = ranx.Run(RUN, name="mine")
    qrels = ranx.Qrels({query: {doc: int(grade) for doc, grade in docs.items()} for query, docs in QRELS.items()})
    ours = rb.evaluate(qrels, run, ["RR", "P@2"])
    assert ours.runs == ["mine"]
    np.testing.assert_array_equal(ours.value, rb.evaluate(QRELS, RUN, ["RR", "P@2"]).value)
    assert rb.evaluate(qrels, [run, ranx.Run(RUN, name="again")], "RR").runs == ["mine", "again"]


def test_json_rows(tmp_path):
    rows = [
        {"query_id": query, "doc_id": doc, "score": one} for query, docs in RUN.items() for doc, one in docs.items()
    ]
    assert rb.read_run(written(tmp_path / "rows.json", rows)).to_dict() == RUN
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    assert rb.read_run(written(tmp_path / "lines_without_ending", lines)).to_dict() == RUN


class TestCommandLine:
    def call(self, capsys, *arguments):
        code = main([str(one) for one in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    def test_formats_are_forced(self, tmp_path, capsys):
        table = written(tmp_path / "qrels", "query,docid,rating,source\nq1,a,1,human\n")
        run = written(tmp_path / "run", RUN)
        assert self.call(capsys, "evaluate", table, run, "-m", "RR", "--formats", "csv,beir")[0] == 0
        code, _, err = self.call(capsys, "evaluate", table, run, "--formats", "trec")
        assert code == 3
        assert "fields" in err
        code, _, err = self.call(capsys, "evaluate", table, run, "--formats", "biir")
        assert code == 2
        assert 'Did you mean "beir"?' in err

    @pytest.mark.parametrize("kind", sorted(set(OURS) - {"ir_datasets"}))
    def test_the_wrong_format_is_one_message_never_a_traceback(self, tmp_path, capsys, kind):
        for content in ("1 0 a 1\n", "{}", "[1, 2", '{"a": {"b": []}}', '{"requests": [1]}', "a,b\n1,2\n"):
            qrels = written(tmp_path / "qrels", content)
            code, out, err = self.call(
                capsys, "evaluate", qrels, written(tmp_path / "run", RUN), "--formats", kind + ",beir"
            )
            if (kind, content) == ("trec", "1 0 a 1\n"):
                assert "no topic of this run" in err
            assert code == 3, (kind, content)
            assert out == ""
            assert err.startswith("rankbounds: ")
            assert err.count("\n") == 1


class TestLabelSources:
    @pytest.fixture
    def labelled(self, tmp_path):
        def write(*rows):
            path = tmp_path / "labels.csv"
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([("query_id", "doc_id", "relevance", "source"), *rows])
            return path

        return write

    def test_are_kept_apart(self, labelled):
        path = labelled(("q1", "a", 1, "human"), ("q1", "a", 1, "llm"), ("q2", "b", 2, "llm"), ("q1", "c", 0, "llm"))
        assert {name: one.to_dict() for name, one in rb.Qrels.by_source(path).items()} == {
            "human": {"q1": {"a": 1.0}},
            "llm": {"q1": {"a": 1.0, "c": 0.0}, "q2": {"b": 2.0}},
        }
        assert rb.read_qrels(path).to_dict() == {"q1": {"a": 1.0, "c": 0.0}, "q2": {"b": 2.0}}
        assert rb.read_qrels(path, source="human").to_dict() == {"q1": {"a": 1.0}}

    def test_that_disagree_are_an_error_that_says_what_to_do(self, labelled):
        path = labelled(("q1", "b", 1, "human"), ("q1", "a", 1, "human"), ("q1", "a", 0, "llm"))
        with pytest.raises(rb.DataError, match=r'row 3: sources disagree on document "a" of topic "q1": 1 by "human"'):
            rb.read_qrels(path)
        assert rb.read_qrels(path, source="human,llm").to_dict() == {"q1": {"b": 1.0, "a": 1.0}}
        assert rb.read_qrels(path, source=["llm", "human"]).to_dict() == {"q1": {"b": 1.0, "a": 0.0}}

    def test_repeats_within_one_and_unknown_ones(self, labelled, tmp_path):
        path = labelled(("q1", "a", 1, "llm"), ("q1", "a", 1, "llm"))
        for labels in (None, "llm"):
            with pytest.raises(rb.DataError, match="row 2"):
                rb.read_qrels(path, source=labels)
        with pytest.raises(rb.UsageError, match='Did you mean "llm"'):
            rb.read_qrels(path, source="lm")
        with pytest.raises(rb.DataError, match='no column "source"'):
            rb.read_qrels(written(tmp_path / "qrels", "1 0 a 1\n"), source="llm")

    def test_as_probabilities(self):
        human = {"q": {"a": 1, "b": 0, "c": 2, "d": 0}}
        llm = {"q": {"a": 2, "b": 2, "c": 2, "d": 0, "e": 2, "f": 0, "g": -1}, "r": {"a": 0}}
        found = rb.probability.label_probabilities(llm, human)
        assert found.by_pair == {"q": {"e": 2.5 / 4, "f": 0.5 / 2}, "r": {"a": 0.5 / 2}}
        assert [(one.grade, one.both, one.relevant) for one in found.by_grade] == [(0, 1, 0), (2, 3, 2)]
        assert rb.probability.label_probabilities(llm, human, rel=2).by_pair["q"]["e"] == pytest.approx(1.5 / 4)
        with pytest.raises(rb.DataError, match="labelled 3"):
            rb.probability.label_probabilities({"q": {"a": 1, "z": 3}}, human)


@pytest.mark.parametrize("separator", ",;\t")
def test_a_rank_is_enough(tmp_path, separator):
    """In tables and frames: the first comes first, and ranks stay what they are."""
    rows = ["query,docid,Position,note", "q,a,1,x", "q,b,2,", "r,b,10,", "r,a,9,"]
    run = rb.read_run(written(tmp_path / "run", "\n".join(rows).replace(",", separator) + "\n"))
    assert run.stated_rank.tolist() == [1, 2, 10, 9]
    assert list(run.to_dict()["r"].values()) == [-10.0, -9.0]
    columns = {"query": ["q", "q"], "docid": ["a", "b"], "rank": [1, 2]}
    assert rb.Run(polars.DataFrame(columns)).to_dict() == rb.Run(columns).to_dict() == {"q": {"a": -1.0, "b": -2.0}}
    polars.DataFrame(columns).write_parquet(tmp_path / "run.parquet")
    assert rb.read_run(tmp_path / "run.parquet").to_dict() == rb.Run(columns).to_dict()
    with pytest.raises(rb.DataError, match=r'"Position" holds .x., which is not a whole number'):
        rb.read_run(written(tmp_path / "odd", "query,docid,Position\nq,a,x\n"))
    with pytest.raises(rb.DataError, match="no column for the score"):  # another one was named
        rb.read_run(tmp_path / "run", columns={"score": "points"})


def test_an_empty_grade_is_a_document_that_nobody_judged(tmp_path):
    rows = ["query_id;doc_id;relevance;source", "q;a;1;human", "q;b;;human", "q;a;0;llm"]
    path = written(tmp_path / "labels.csv", "\n".join(rows) + "\n")
    assert rb.Qrels.by_source(path)["human"].to_dict() == {"q": {"a": 1.0}}
    with pytest.raises(rb.DataError, match="no document has a relevance"):
        rb.read_qrels(written(tmp_path / "none.csv", "query_id,doc_id,relevance\nq,a,\n"))
    with pytest.raises(rb.DataError, match="not a finite number"):
        rb.read_run(written(tmp_path / "run.csv", "query_id,doc_id,score\nq,a,\n"))
