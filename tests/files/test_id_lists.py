"""Rows with one list per question: every key name and shape, in files and in Python, read as judgments and as a run."""

from __future__ import annotations

import json
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.files.named_columns import LISTS

EXPECTED = {"q1": ["d1", "d9"], "q2": ["d4"]}
RETRIEVED = {"q1": ["d1", "d2", "d9"], "q2": ["d7", "d4"]}
MEASURES = ["nDCG@10", "Recall@2", "RR", "AP"]
TRUTH = rb.evaluate(
    {query: dict.fromkeys(docs, 1) for query, docs in EXPECTED.items()},
    {query: {doc: -rank for rank, doc in enumerate(docs)} for query, docs in RETRIEVED.items()},
    MEASURES,
)


def numbers(scores):
    return scores.value[0].tolist()


def rows(question="query_id", retrieved="retrieved_ids", expected="expected_ids", entry=lambda doc, rank: doc):
    return [
        {
            question: query,
            retrieved: [entry(doc, rank) for rank, doc in enumerate(RETRIEVED[query])],
            expected: EXPECTED[query],
        }
        for query in EXPECTED
    ]


ENTRIES = {
    "ids": lambda doc, rank: doc,
    "docid and score": lambda doc, rank: {"docid": doc, "score": 9.0 - rank, "doc": {"text": "..."}},
    "corpus_id and score": lambda doc, rank: {"corpus_id": doc, "score": 9.0 - rank},
    "id": lambda doc, rank: {"id": doc},
    "Elasticsearch's hits": lambda doc, rank: {"_id": doc, "_score": 9.0 - rank},
    "pairs": lambda doc, rank: [doc, 9.0 - rank],
}


@pytest.mark.parametrize(
    "question", ["query", "question", "user_input", "input", "query_id", "id", "qid", "question_id"]
)
def test_names_of_the_question(question):
    assert numbers(rb.evaluate(rows(question=question), measures=MEASURES)) == numbers(TRUTH)


@pytest.mark.parametrize("retrieved", LISTS["run"])
def test_names_of_the_retrieved_list(retrieved):
    assert numbers(rb.evaluate(rows(retrieved=retrieved), measures=MEASURES)) == numbers(TRUTH)


@pytest.mark.parametrize("expected", LISTS["judgments"])
def test_names_of_the_expected_list(expected):
    assert numbers(rb.evaluate(rows(expected=expected), measures=MEASURES)) == numbers(TRUTH)


@pytest.mark.parametrize("entry", ENTRIES)
def test_entries_are_ids_pairs_or_objects(entry):
    assert numbers(rb.evaluate(rows(entry=ENTRIES[entry]), measures=MEASURES)) == numbers(TRUTH)


def write_json(path, made):
    path.write_text(json.dumps(made, indent=1))


def write_lines(path, made):
    path.write_text("".join(json.dumps(row) + "\n" for row in made))


def write_csv(path, made):
    pd.DataFrame(
        {key: [json.dumps(r[key]) if key.endswith("ids") else r[key] for r in made] for key in made[0]}
    ).to_csv(path, index=False)


FILES = {
    "rows.json": write_json,
    "rows.jsonl": write_lines,
    "rows": write_lines,
    "rows.csv": write_csv,
    "printed lists.csv": lambda path, made: pd.DataFrame(made).to_csv(path, index=False),
    "rows.parquet": lambda path, made: pl.DataFrame(made).write_parquet(path),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("entry", ["ids", "docid and score"])
def test_files_are_judgments_and_run_at_once(name, entry, tmp_path, capsys):
    path = tmp_path / name
    made = rows(question="question", entry=ENTRIES[entry])
    FILES[name](path, made)
    assert numbers(rb.evaluate(path, measures=MEASURES)) == numbers(TRUTH)
    assert rb.Qrels(path).to_dict() == {query: dict.fromkeys(docs, 1.0) for query, docs in EXPECTED.items()}
    assert main(["evaluate", str(path), "-m", ",".join(MEASURES), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["value"] for row in told] == TRUTH.mean().value.ravel().tolist()
    assert main(["explain", f"RR={TRUTH.mean().value.ravel()[2]}", str(path)]) == 0
    assert "agrees" in capsys.readouterr().out


FRAMES = {
    "dict of columns": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_with_columns_of_lists(kind):
    frame = FRAMES[kind](
        {"question": list(EXPECTED), "predictions": [*RETRIEVED.values()], "targets": [*EXPECTED.values()]}
    )
    assert numbers(rb.evaluate(frame, measures=MEASURES)) == numbers(TRUTH)
    assert rb.evaluate(frame, frame, MEASURES).value.tolist() == TRUTH.value.tolist()


def test_rows_given_as_judgments_and_as_runs_are_one_run():
    both = rows()
    assert rb.evaluate(both, both, MEASURES).value.tolist() == TRUTH.value.tolist()
    assert rb.evaluate(both, rows(), MEASURES).runs == ["run #1", "run #2"]
    assert rb.evaluate(both, {"run": rows()}, MEASURES).runs == ["run (run)", "run"]


SHAPES = {
    "{q: [doc]}": RETRIEVED,
    "{q: [(doc, score)]}": {q: [(doc, 9.0 - rank) for rank, doc in enumerate(docs)] for q, docs in RETRIEVED.items()},
    "{q: [{corpus_id, score}]}": {
        q: [{"corpus_id": doc, "score": 9.0 - rank} for rank, doc in enumerate(docs)] for q, docs in RETRIEVED.items()
    },
    "{q: [hit]}": {
        q: [SimpleNamespace(docid=doc, score=9.0 - rank) for rank, doc in enumerate(docs)]
        for q, docs in RETRIEVED.items()
    },
    "sentence-transformers": [
        {"query_id": q, "query": "text", "results": [{"corpus_id": d, "score": 9.0 - r} for r, d in enumerate(docs)]}
        for q, docs in RETRIEVED.items()
    ],
    "RankLLM": [
        {
            "query": {"qid": q, "text": "text"},
            "candidates": [{"docid": d, "score": 9.0 - r, "doc": {"contents": "x"}} for r, d in enumerate(docs)],
        }
        for q, docs in RETRIEVED.items()
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_runs_of_other_tools(shape, tmp_path):
    run = SHAPES[shape]
    assert numbers(rb.evaluate(EXPECTED, run, MEASURES)) == numbers(TRUTH)
    assert numbers(rb.evaluate(EXPECTED, {"mine": run}, MEASURES)) == numbers(TRUTH)
    assert numbers(rb.evaluate(EXPECTED, [run], MEASURES)) == numbers(TRUTH)
    if shape == "{q: [hit]}":
        return
    if isinstance(run, list):
        write_lines(tmp_path / "run.jsonl", run)
        assert numbers(rb.evaluate(EXPECTED, tmp_path / "run.jsonl", MEASURES)) == numbers(TRUTH)
    write_json(tmp_path / "run.json", run)
    assert numbers(rb.evaluate(EXPECTED, tmp_path / "run.json", MEASURES)) == numbers(TRUTH)


def test_llama_index_data_sets(tmp_path):
    data = {
        "queries": {"q1": "who?", "q2": "when?"},
        "corpus": {"d1": "text"},
        "relevant_docs": EXPECTED,
        "mode": "text",
    }
    write_json(tmp_path / "set.json", data)
    for given in (data, SimpleNamespace(**data), tmp_path / "set.json"):
        assert numbers(rb.evaluate(given, RETRIEVED, MEASURES)) == numbers(TRUTH)


def test_a_document_returned_twice_counts_once_at_its_best_place():
    run = {"q1": ["d1", "d2", "d1", "d9"], "q2": ["d7", "d4"]}
    with pytest.warns(rb.RankboundsWarning, match='1 entry repeats a document .*document "d1" of topic "q1"'):
        scores = rb.evaluate(EXPECTED, run, "P@3")
    assert scores.value[0, 0, 0] == 2 / 3
    scored = {"q1": [("d2", 5.0), ("d1", 1.0), ("d1", 9.0)], "q2": [("d4", 1.0)]}
    with pytest.warns(rb.RankboundsWarning, match="1 entry repeats"):
        assert rb.Run(scored).to_dict()["q1"] == {"d2": 5.0, "d1": 9.0}


def test_a_question_that_expects_nothing_is_left_out_and_told():
    made = [*rows(), {"query_id": "q3", "retrieved_ids": ["d1"], "expected_ids": []}]
    with pytest.warns(rb.RankboundsWarning) as said:
        scores = rb.evaluate(made, measures="RR")
    assert list(scores.query_ids) == ["q1", "q2"]
    assert any("1 question expects no document" in str(one.message) for one in said)


def test_a_question_with_nothing_retrieved_scores_zero():
    made = [{**row, "retrieved_ids": row["retrieved_ids"] if row["query_id"] == "q1" else []} for row in rows()]
    assert rb.evaluate(made, measures="RR").value.ravel().tolist() == [1.0, 0.0]
    for lacking in ({**made[1], "retrieved_ids": None}, {key: made[1][key] for key in ("query_id", "expected_ids")}):
        with pytest.warns(rb.RankboundsWarning, match='1 question has no list of retrieved documents .*first: "q2"'):
            assert rb.evaluate([made[0], lacking], measures="RR").value.ravel().tolist() == [1.0, 0.0]


def test_scores_may_be_text():
    """As some exports have them: the scores rank, not the order of the list."""
    turned = [{"id": doc, "score": str(rank)} for rank, doc in enumerate(reversed(RETRIEVED["q1"]))]
    made = [{"query_id": "q1", "retrieved_ids": turned, "expected_ids": EXPECTED["q1"]}]
    assert numbers(rb.evaluate(made, measures=MEASURES)) == TRUTH.value[0, :1].tolist()
    made[0]["retrieved_ids"][0]["score"] = "high"
    with pytest.raises(rb.DataError, match="is 'high', not a finite number"):
        rb.evaluate(made, measures="RR")


def test_runs_by_name_may_be_rows_with_ids():
    """A row with an id and a list is the row of a question, not a hit."""
    systems = {"a": rows(question="id"), "b": [{**row, "retrieved_ids": []} for row in rows(question="id")]}
    scores = rb.evaluate(EXPECTED, systems, "RR")
    assert list(scores.runs) == ["a", "b"]
    assert scores.value[:, :, 0].tolist() == [TRUTH.value[0, :, 2].tolist(), [0, 0]]


@pytest.mark.parametrize("printed", ["['d1' 'd2']", '["d1" "d2"]', "['d1'\n 'd2']"])
def test_lists_as_numpy_prints_them_are_refused(printed, tmp_path):
    """Python would read them as one id, d1d2."""
    pd.DataFrame({"id": ["q"], "retrieved_ids": [printed], "expected_ids": ['["d1"]']}).to_csv(tmp_path / "a.csv")
    with pytest.raises(rb.DataError, match=r"as NumPy prints it.*call \.tolist\(\) before"):
        rb.evaluate(tmp_path / "a.csv", measures="RR")


@pytest.mark.parametrize("entry", [None, {"text": "..."}, {"document": {"id": "d1"}}, ["d1"], 2.0])
def test_an_entry_without_an_id_is_refused_with_the_shapes_expected(entry):
    with pytest.raises(rb.DataError, match=r"which has no id. An entry is an id, \[id, score\], or an object"):
        rb.evaluate([{"id": 1, "retrieved_ids": ["d1", entry], "expected_ids": ["d1"]}], measures="RR")


def test_rows_that_lack_a_list_are_told_which_column_to_name(tmp_path, capsys):
    made = [{"id": "q", "retreived": ["a"], "expected_ids": ["a"]}]
    with pytest.raises(rb.UsageError, match=r"no column lists the retrieved documents.*\{'retrieved': 'retreived'\}"):
        rb.evaluate(made)
    write_lines(tmp_path / "rows.jsonl", made)
    assert main(["evaluate", str(tmp_path / "rows.jsonl")]) == 2
    assert "--columns retrieved=retreived" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "rows.jsonl"), "--columns", "retrieved=retreived", "-m", "RR"]) == 0


def test_two_readings_are_told_with_the_option_that_decides(tmp_path, capsys):
    made = [{**row, "evidence": ["d2"]} for row in rows(expected="gold_docs")]
    write_lines(tmp_path / "two.jsonl", made)
    assert main(["evaluate", str(tmp_path / "two.jsonl")]) == 2
    told = capsys.readouterr().err
    assert "gold_docs and evidence may both list the expected documents" in told
    assert "--columns expected=gold_docs" in told
    chosen = rb.evaluate(tmp_path / "two.jsonl", measures=MEASURES, columns={"expected": "gold_docs"})
    assert numbers(chosen) == numbers(TRUTH)
    other = rb.evaluate(made, measures="P@2", columns={"expected": "evidence"})
    assert other.value.ravel().tolist() == [0.5, 0.0]


def test_a_table_without_columns_is_said_to_have_none():
    with pytest.raises(rb.DataError, match="this table has no columns\\."):
        rb.evaluate([{}], {"a": {"1": ["x"]}})


def test_a_column_of_texts_is_no_second_reading():
    made = [{**row, "ground_truth": "an answer in words"} for row in rows()]
    assert numbers(rb.evaluate(made, measures=MEASURES)) == numbers(TRUTH)


def test_any_column_can_be_named(tmp_path):
    made = [{"q": row["query_id"], "mine": row["retrieved_ids"], "gold": row["expected_ids"]} for row in rows()]
    named = {"query_id": "q", "retrieved": "mine", "expected": "gold"}
    assert numbers(rb.evaluate(made, made, MEASURES, columns=named)) == numbers(TRUTH)
    assert numbers(rb.evaluate(made, measures=MEASURES, columns=named)) == numbers(TRUTH)
    for name, write in FILES.items():
        if name != "rows.csv":
            write(tmp_path / name, made)
            assert numbers(rb.evaluate(tmp_path / name, measures=MEASURES, columns=named)) == numbers(TRUTH)


def test_scores_that_rise_in_every_list_are_told():
    made = rows(entry=lambda doc, rank: {"id": doc, "score": float(rank)})
    with pytest.warns(rb.RankboundsWarning, match="scores rise .* --ties run"):
        rb.evaluate(made, measures="RR")
    with pytest.warns(rb.RankboundsWarning, match="scores rise"):
        assert numbers(rb.evaluate(made, measures=MEASURES, ties="run")) == numbers(TRUTH)


def test_several_files_are_several_systems_against_the_same_lists(tmp_path, capsys):
    write_lines(tmp_path / "a.jsonl", rows())
    write_lines(tmp_path / "b.jsonl", [{**row, "retrieved_ids": row["expected_ids"]} for row in rows()])
    first, second = str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")
    scores = rb.evaluate(first, second, "AP")
    assert list(scores.runs) == ["a", "b"]
    assert scores.value[1].ravel().tolist() == [1.0, 1.0]
    assert list(rb.evaluate(first, [first, second], "AP").runs) == ["a", "b"]
    assert list(rb.evaluate(rows(), {"x": rows()}, "AP").runs) == ["run", "x"]
    for command in (["compare", "-m", "AP"], ["evaluate"], ["report", "-o", str(tmp_path / "r.html")], ["judge-next"]):
        assert main([command[0], first, second, *command[1:]]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert main(["check", first, "--qrels", second]) == 0
    assert main(["explain", "AP=1.0", first, second]) == 0
    assert rb.compare(first, second, "AP").pairs.rows()[0]["difference"] == pytest.approx(1 - TRUTH.mean()["AP"])
    write_lines(tmp_path / "b.jsonl", [{**row, "expected_ids": ["d2"]} for row in rows()])
    with pytest.raises(rb.DataError, match=r'b\.jsonl: the question "q1" expects different documents'):
        rb.evaluate(first, second, "AP")


def test_standard_input_holds_both(tmp_path, monkeypatch, capsys):
    import io
    import sys

    text = "".join(json.dumps(row) + "\n" for row in rows())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode()), closed=False))
    assert main(["evaluate", "-", "-m", "RR", "--format", "csv"]) == 0
    assert "stdin,all,RR,0.75" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ([{"question": "a", "retrieved_ids": ["x"]}], "no column lists the expected documents"),
        ([*rows(), rows()[0]], 'row 3: the question "q1" .* has a row already'),
        ([{"id": 1, "retrieved_ids": [{"text": "x"}], "expected_ids": ["x"]}], "which has no id"),
        ([{"id": 1, "retrieved_ids": ["x", ("y", 2)], "expected_ids": ["x"]}], "some entries state a score"),
        ([{"query_id": 1, "retrieved_ids": "x, y", "expected_ids": ["x"]}, *rows()], "not a list"),
    ],
)
def test_mistakes_are_one_sentence(made, message):
    with pytest.raises(rb.RankboundsError, match=message):
        rb.evaluate(made, made, "RR")


def test_rows_without_a_question_are_numbered():
    made = [{"predictions": row["retrieved_ids"], "targets": row["expected_ids"]} for row in rows()]
    with pytest.warns(rb.RankboundsWarning, match="rows are numbered from 1"):
        scores = rb.evaluate(made, measures=MEASURES)
    assert list(scores.query_ids) == ["1", "2"]
    assert numbers(scores) == numbers(TRUTH)


def test_ids_come_before_texts():
    made = [{"query": "who is it?", **row} for row in rows(question="id")]
    assert rb.Run(made).query_ids == ("q1", "q2")
    texts = [{**row, "query": f"text of {row['id']}"} for row in made]
    assert rb.Run(texts, columns={"query_id": "query"}).query_ids == ("text of q1", "text of q2")


def test_arrays_and_whole_numbers():
    made = {"id": [1, 2], "retrieved": [np.array([3, 4]), np.array([5])], "expected": [[4], ["5"]]}
    assert rb.evaluate(pd.DataFrame(made), measures="RR").value.ravel().tolist() == [0.5, 1.0]


def test_a_run_may_have_the_name_of_a_list():
    rows_of_a_run = [(query, doc, -rank) for query, docs in RETRIEVED.items() for rank, doc in enumerate(docs)]
    for run in (rows_of_a_run, RETRIEVED, {query: [(doc, 9.0)] for query, (doc, *_) in RETRIEVED.items()}):
        assert rb.evaluate(EXPECTED, {"results": run}, "RR").runs == ["results"]


def test_judgments_alone_need_a_run(tmp_path, capsys):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    assert main(["evaluate", str(tmp_path / "qrels.txt")]) == 2
    assert "No run was given" in capsys.readouterr().err
    with pytest.raises(rb.UsageError, match="No run was given"):
        rb.evaluate({"q": {"d": 1}})


LOG = [
    {"question": "q1", "turn": 1, "retrieved_ids": ["a", "b"]},
    {"question": "q2", "turn": 1, "retrieved_ids": [["z", 0.1], ["y", 0.9]]},
    {"question": "q1", "turn": 10, "retrieved_ids": ["c"]},
    {"question": "q1", "turn": 2, "retrieved_ids": ["b", "d"]},
]
EVIDENCE = {"q1": ["c", "d"], "q2": ["z"]}
SEEN = {
    "after 1": {"q1": ["a", "b"], "q2": ["y", "z"]},
    "after 2": {"q1": ["a", "b", "d"], "q2": ["y", "z"]},
    "after 10": {"q1": ["a", "b", "d", "c"], "q2": ["y", "z"]},
}


@pytest.mark.parametrize("kind", [list, pd.DataFrame, "file", "file with both lists"])
def test_searches_by_turn_are_a_run_for_each_turn(kind, tmp_path, capsys):
    """What was seen until then, each document at its first place; turns are numbers, and not in the order of text."""
    expected = rb.evaluate(EVIDENCE, SEEN, ["Recall", "RR"])
    if isinstance(kind, str):
        path = tmp_path / "log.jsonl"
        both = [{**row, "expected_ids": EVIDENCE[row["question"]]} for row in LOG]
        write_lines(path, both if "both" in kind else LOG)
        found = (
            rb.evaluate(path, None, ["Recall", "RR"]) if "both" in kind else rb.evaluate(EVIDENCE, path, "Recall,RR")
        )
        assert found.runs == [f"log {name}" for name in SEEN]
        if "both" in kind:
            assert main(["compare", str(path), "-m", "Recall"]) == 0
            assert "log after 10" in capsys.readouterr().out
    else:
        found = rb.evaluate(EVIDENCE, kind(LOG), ["Recall", "RR"])
        assert found.runs == [*SEEN]
    assert found.value.tolist() == expected.value.tolist()


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"turn": 2}, 'row 5: the question "q1" has a row of turn 2 already'),
        ({"turn": "last"}, "row 5: the column \"turn\" holds 'last', which is not a whole number. Number the searches"),
        ({"turn": 3, "retrieved_ids": [None]}, "row 5: the list cannot be read: an entry is None"),
        ({"turn": 3, "retrieved_ids": [["a", "high"]]}, "row 5: the score of"),
    ],
)
def test_turns_that_cannot_be_read(row, problem):
    with pytest.raises(rb.DataError, match=problem):
        rb.evaluate(EVIDENCE, [*LOG, LOG[0] | row], "Recall")


def test_turns_of_a_question_expect_the_same():
    rows = [{**row, "expected_ids": EVIDENCE[row["question"]]} for row in LOG]
    rows[2]["expected_ids"] = ["d"]
    with pytest.raises(
        rb.DataError, match='row 3: the question "q1" expects different documents than in its first row'
    ):
        rb.evaluate(rows, measures="Recall")


def told(rows, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rb.evaluate(rows, measures=["RR"], **more)
    return [str(one.message) for one in caught]


def test_lists_that_are_not_read_are_named(tmp_path):
    given = [
        {"qid": f"q{number}", "retrieved_ids": ["a", "b"], "expected_ids": ["b"],
         "forbidden_ids": ["a"], "Better": ["b", "c"], "texts": ["what one reads", "and reads"],
         "answer": "a text", "length": 3}
        for number in range(3)
    ]  # fmt: skip
    said = "these columns hold lists of ids too, and are not read: forbidden_ids, Better."
    (message,) = told(given)
    assert message.endswith(said)
    pd.DataFrame(given).to_csv(tmp_path / "rows.csv", index=False)
    (message,) = told(str(tmp_path / "rows.csv"))
    assert message == f"{tmp_path / 'rows.csv'}: {said}"
    assert not told([{name: row[name] for name in ("qid", "retrieved_ids", "expected_ids", "texts")} for row in given])
    assert not told(given, columns={"retrieved": "Better", "expected": "forbidden_ids"})
    (message,) = told(given, columns={"expected": "Better"})
    assert message.endswith("not read: forbidden_ids.")


def test_parts_of_documents_that_count_as_the_whole_are_told():
    """The part that was retrieved is another one than the expected part, and counts as found."""
    given = [{"qid": "q", "retrieved_ids": [{"id": "d", "start": 90, "end": 95}],
              "expected_ids": [{"id": "d", "start": 0, "end": 9}]}]  # fmt: skip
    said = told(given)
    assert [f"the {what} entries are parts of documents (start, end)" in message
            for what, message in zip(("expected", "retrieved"), said, strict=True)] == [True, True]  # fmt: skip
    assert not told([{"qid": "q", "retrieved_ids": [{"id": "d", "text": "t"}], "expected_ids": ["d"]}])


def test_rows_whose_columns_are_not_known_are_told_with_their_columns(tmp_path, capsys):
    path = tmp_path / "odd.jsonl"
    path.write_text('{"q": "1", "got": ["a", "b"], "want": ["b"]}\n')
    assert main(["evaluate", str(path), "-m", "recall@5"]) == 2
    told = capsys.readouterr().err
    assert "this table has q, got, want" in told
    assert "--columns query_id=NAME,retrieved=NAME,expected=NAME" in told
    assert main(["evaluate", str(path), "-m", "recall@5", "--columns", "query_id=q,retrieved=got,expected=want"]) == 0
