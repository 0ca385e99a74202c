"""One way in: everything that a user may hand us gives the same numbers, to every function alike."""

from __future__ import annotations

import copy
import gzip
import inspect
import io
import json
import warnings
from collections import namedtuple
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankbounds as rb
from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.columns.ids import Ids
from rankbounds.evaluation.assumptions import ASSUMPTIONS, Assumptions
from rankbounds.evaluation.options import ReadingOptions
from rankbounds.files.objects import id_column
from rankbounds.probability.probable_differences import differences

JUDGED = {"1": {"10": 2, "11": 0, "12": 1}, "2": {"10": 1, "13": 1}, "3": {"14": 0, "15": 1}}
RETRIEVED = {
    "1": {"12": 9.0, "99": 8.0, "10": 7.5, "11": 1.0},
    "2": {"98": 3.0, "13": 2.0, "10": 1.5},
    "3": {"15": 0.75, "14": 0.5},
}
OTHER = {"1": {"11": 5.0, "10": 4.0}, "2": {"10": 2.0, "97": 1.0}, "3": {"14": 1.0, "96": 0.5, "15": 0.25}}


def rows_of(nested):
    return [(query, doc, value) for query, inner in nested.items() for doc, value in inner.items()]


def columns_of(nested, value):
    queries, docs, values = zip(*rows_of(nested), strict=True)
    return {"query_id": list(queries), "doc_id": list(docs), value: list(values)}


def arrow(nested, value):
    return pa.table(columns_of(nested, value))


def whole_ids(nested):
    return {int(query): {int(doc): value for doc, value in inner.items()} for query, inner in nested.items()}


def nullable(nested, value):
    return pd.DataFrame(columns_of(nested, value)).convert_dtypes()


def categorical(nested, value):
    return pd.DataFrame(columns_of(nested, value)).astype({"query_id": "category", "doc_id": "category"})


def dictionary(nested, value):
    table = arrow(nested, value)
    encoded = [table[name].dictionary_encode() if name != value else table[name] for name in table.column_names]
    return pa.table(encoded, names=table.column_names)


def chunked(nested, value):
    table = arrow(nested, value)
    return pa.concat_tables([table[:2], table[2:3], table[3:]])


def named_tuples(nested, value):
    row = namedtuple("Row", ["query_id", "doc_id", value])
    return [row(*fields) for fields in rows_of(nested)]


def records(nested, value):
    return [dict(zip(("qid", "docno", value), fields, strict=True)) for fields in rows_of(nested)]


HANDED_IN = {
    "dict of dicts": lambda nested, _: nested,
    "dict with whole numbers as ids": lambda nested, _: whole_ids(nested),
    "rows": lambda nested, _: rows_of(nested),
    "rows that are lists": lambda nested, _: [list(row) for row in rows_of(nested)],
    "generator of rows": lambda nested, _: (row for row in rows_of(nested)),
    "another package's named tuples": named_tuples,
    "generator of named tuples": lambda nested, value: iter(named_tuples(nested, value)),
    "dicts of columns' values": records,
    "dict of columns": columns_of,
    "pandas": lambda nested, value: pd.DataFrame(columns_of(nested, value)),
    "pandas with PyTerrier's names": lambda nested, value: pd.DataFrame(records(nested, value)),
    "pandas, nullable": nullable,
    "pandas, categorical": categorical,
    "pandas, whole numbers": lambda nested, value: pd.DataFrame(columns_of(whole_ids(nested), value)),
    "polars": lambda nested, value: pl.DataFrame(columns_of(nested, value)),
    "polars, lazy": lambda nested, value: pl.LazyFrame(columns_of(nested, value)),
    "polars, categorical": lambda nested, value: pl.DataFrame(columns_of(nested, value)).cast(
        {"doc_id": pl.Categorical}
    ),
    "polars, whole numbers": lambda nested, value: pl.DataFrame(columns_of(whole_ids(nested), value)),
    "pyarrow": arrow,
    "pyarrow, dictionary": dictionary,
    "pyarrow, chunked": chunked,
    "pyarrow, record batch": lambda nested, value: arrow(nested, value).to_batches()[0],
    "pyarrow, reader of batches": lambda nested, value: arrow(nested, value).to_reader(max_chunksize=2),
}


def own_objects(kind, nested):
    return (
        rb.Qrels.from_columns(*zip(*rows_of(nested), strict=True))
        if kind == "qrels"
        else rb.Run.from_columns(*zip(*rows_of(nested), strict=True))
    )


JUDGMENT_FORMS = HANDED_IN | {"Qrels": lambda nested, _: own_objects("qrels", nested)}
RUN_FORMS = HANDED_IN | {
    "Run": lambda nested, _: own_objects("run", nested),
    "documents in their order": lambda nested, _: {query: list(inner) for query, inner in nested.items()},
    "tuples of documents": lambda nested, _: {query: tuple(inner) for query, inner in nested.items()},
    "arrays of documents": lambda nested, _: {query: np.array(list(inner)) for query, inner in nested.items()},
    "whole numbers in their order": lambda nested, _: {q: [int(d) for d in inner] for q, inner in nested.items()},
    "dict of one run": lambda nested, _: {"run": nested},
    "list of one run": lambda nested, _: [nested],
}


def numbers(scores):
    return [scores.value.tolist(), scores.low.tolist(), scores.high.tolist(), scores.judged.tolist()]


def plain(text):
    return [{key: value for key, value in row.items() if not key.startswith("run")} for row in json.loads(text)]


ONE_RUN = {
    "evaluate": lambda qrels, run: numbers(rb.evaluate(qrels, run, ["RBP(p=0.8)", "AP", "nDCG@10"])),
    "judge_next": lambda qrels, run: list(rb.judge_next(qrels, run, budget=5).rows()),
    "uncertainty": lambda qrels, run: plain(rb.uncertainty(qrels, run, "P@3", q=0.3, sources="both").render("json")),
    "bounds_by_depth": lambda qrels, run: numbers(rb.rbp.bounds_by_depth(qrels, run, [1, 3], [0.5, 0.8])),
    "check": lambda qrels, run: [check.effects for check in rb.check(run, qrels=qrels)],
    "contributions": lambda qrels, run: [
        (row["doc_id"], row["contribution"]) for row in rb.rbp.list_contributions(qrels, run, "1", "AP")
    ],
}


@pytest.mark.parametrize("form", RUN_FORMS)
def test_a_run_in_any_form_gives_the_same_numbers_to_every_function(form):
    for name, function in ONE_RUN.items():
        given = RUN_FORMS[form](RETRIEVED, "score")
        assert function(JUDGED, given) == function(JUDGED, RETRIEVED), name


@pytest.mark.parametrize("form", JUDGMENT_FORMS)
def test_judgments_in_any_form_give_the_same_numbers_to_every_function(form):
    for name, function in ONE_RUN.items():
        given = JUDGMENT_FORMS[form](JUDGED, "relevance")
        assert function(given, RETRIEVED) == function(JUDGED, RETRIEVED), name


def forms_of_several(folder):
    """Two runs, called bm25 and dense, in every form that holds several."""
    runs = {"bm25": RETRIEVED, "dense": OTHER}
    for name, nested in runs.items():
        text = rb.Run.from_columns(*zip(*rows_of(nested), strict=True), name=name).text()
        (folder / f"{name}.run.gz").write_bytes(gzip.compress(text.encode()))
    read = rb.read_runs(folder)
    long = [(name, *row) for name, nested in runs.items() for row in rows_of(nested)]
    frame = pd.DataFrame(long, columns=["run", "query_id", "doc_id", "score"])
    forms = {
        "dict by name": runs,
        "dict of frames by name": {name: pd.DataFrame(columns_of(nested, "score")) for name, nested in runs.items()},
        "dict of lists of documents by name": {
            name: {query: list(inner) for query, inner in nested.items()} for name, nested in runs.items()
        },
        "dict of rows by name": {name: rows_of(nested) for name, nested in runs.items()},
        "dict of paths by name": {name: folder / f"{name}.run.gz" for name in runs},
        "dict of runs by name": dict(zip(runs, read, strict=True)),
        "folder": folder,
        "pattern": str(folder / "*.run.gz"),
        "list of paths": sorted(folder.iterdir()),
        "list of runs": read,
        "generator of runs": iter(read),
        "runs to be read": Reading().runs_to_read(folder),
        "long polars": pl.DataFrame(frame.to_dict("list")),
        "long pyarrow, dictionary": pa.table(
            {
                name: pa.array(frame[name]).dictionary_encode() if name == "run" else pa.array(frame[name])
                for name in frame
            }
        ),
        "long dict of columns": frame.to_dict("list"),
        "long, runs mixed": frame.iloc[np.argsort(np.arange(len(frame)) % 3, kind="stable")],
    }
    forms |= {
        f"long pandas, {alias}": frame.rename(columns={"run": alias}) for alias in ("run", "run_id", "system", "tag")
    }
    return forms


def test_several_runs_in_any_form_have_their_names_and_numbers(tmp_path):
    expected = rb.evaluate(JUDGED, {"bm25": RETRIEVED, "dense": OTHER}, ["AP", "RBP"]).to_dict()
    forms = forms_of_several(tmp_path)
    for form in list(forms):
        given = forms[form]
        assert rb.evaluate(JUDGED, given, ["AP", "RBP"]).to_dict() == expected, form


@pytest.mark.parametrize(
    "function",
    [
        lambda qrels, runs: differences(qrels, runs, q=0.3).render("json"),
        lambda qrels, runs: rb.uncertainty(qrels, runs, "RBP(p=0.8)", q=0.3, sources="both").render("json"),
        lambda qrels, runs: rb.rbp.bounds_by_persistence(qrels, runs, [0.5, 0.9]).to_dict(),
        lambda qrels, runs: list(rb.judge_next(qrels, runs, budget=4, compare=("bm25", "dense")).rows()),
        lambda qrels, runs: [check.run for check in rb.check(runs)],
    ],
    ids=["differences", "uncertainty", "bounds_by_persistence", "judge_next", "check"],
)
def test_other_functions_take_several_runs_in_the_same_forms(function, tmp_path):
    forms = forms_of_several(tmp_path)
    expected = function(JUDGED, forms["dict by name"])
    for form in ("folder", "long polars", "long pandas, system", "dict of rows by name", "runs to be read"):
        assert function(JUDGED, forms[form]) == expected, form


@pytest.mark.parametrize("kind", [set, frozenset, list, tuple, lambda docs: np.array(list(docs))])
def test_documents_listed_as_judgments_are_relevant(kind):
    listed = {query: kind(sorted(inner)) for query, inner in JUDGED.items()}
    assert Reading().judgments(listed).to_dict() == {
        query: dict.fromkeys(sorted(inner), 1.0) for query, inner in JUDGED.items()
    }
    assert Reading().judgments({"1": kind([])} | listed).query_ids == ("1", "2", "3")


def test_the_order_of_listed_documents_is_their_rank_under_every_rule_for_ties():
    listed = {query: list(inner) for query, inner in RETRIEVED.items()}
    for rule in ("trec", "run", "line", "docid", "best", "worst", "expected"):
        assert numbers(rb.evaluate(JUDGED, listed, "AP", ties=rule)) == numbers(rb.evaluate(JUDGED, RETRIEVED, "AP"))


def test_columns_may_have_other_names(tmp_path):
    names = {"query_id": "Frage", "doc_id": "Fund", "score": "Wert", "relevance": "Note", "run": "System"}
    judged = pd.DataFrame(columns_of(JUDGED, "relevance")).rename(columns=names)
    retrieved = pd.DataFrame(columns_of(RETRIEVED, "score")).rename(columns=names).assign(System="mine")
    expected = rb.evaluate(JUDGED, {"mine": RETRIEVED}, ["AP", "RBP"]).to_dict()
    assert rb.evaluate(judged, retrieved, ["AP", "RBP"], columns=names).to_dict() == expected
    for ending, write in (("csv", "to_csv"), ("tsv", "to_csv"), ("parquet", "to_parquet")):
        options = {"index": False} | ({"sep": "\t"} if ending == "tsv" else {})
        for name, frame in (("qrels", judged), ("run", retrieved)):
            getattr(frame, write)(tmp_path / f"{name}.{ending}", **options)
        paths = tmp_path / f"qrels.{ending}", tmp_path / f"run.{ending}"
        assert rb.evaluate(*paths, ["AP", "RBP"], columns=names).to_dict() == expected, ending
    with pytest.raises(rb.DataError, match=r"no column for the query id.*this table has Frage"):
        rb.evaluate(judged, RETRIEVED)
    with pytest.raises(rb.UsageError, match='no column "qid" to be named'):
        rb.evaluate(judged, RETRIEVED, columns={"qid": "Frage"})


def test_a_run_is_called_by_the_name_given_then_its_tag_then_its_file(tmp_path):
    lines = "1 Q0 a 1 1.0 tagged\n"
    (tmp_path / "file.run").write_text(lines)
    (tmp_path / "table.v2.csv").write_text("query_id,doc_id,score\n1,a,1\n")
    (tmp_path / "system.csv").write_text("query_id,doc_id,score,system\n1,a,1,mine\n")
    (tmp_path / "three.tsv.gz").write_bytes(b"query_id\tdoc_id\tscore\n1\ta\t1\n")
    assert rb.evaluate({"1": {"a": 1}}, {"given": tmp_path / "file.run"}, "AP").runs == ["given"]
    names = {path.name: rb.read_run(path).name for path in tmp_path.iterdir()}
    assert names == {"file.run": "tagged", "table.v2.csv": "table.v2", "system.csv": "mine", "three.tsv.gz": "three"}


@pytest.mark.parametrize(
    "column",
    [
        ["x", None],
        ["x", ""],
        ["x", float("nan")],
        [None, None],
        pd.array(["x", pd.NA], "string"),
        pd.array([1, pd.NA], "Int64"),
        pd.Categorical(["x", None]),
    ],
    ids=["None", "empty", "nan", "all None", "string", "Int64", "category"],
)
def test_a_row_of_no_run_is_told(column):
    """It was of a run that was called "nan", "<NA>" or "run"."""
    rest = {"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2.0, 1.0]}
    frames = [pd.DataFrame({**rest, "tag": column}), {**rest, "tag": list(column)}]
    if isinstance(column, list) and column[1] is None:
        frames += [pl.DataFrame({**rest, "tag": column}), pa.table({**rest, "tag": column})]
    for frame in frames:
        with pytest.raises(rb.DataError, match=r'row \d: a row has no run \(column "tag"\)\. Name its run, ') as raised:
            rb.evaluate(JUDGED, frame, "AP")
        assert raised.value.place.row == (1 if column[0] is None else 2)


def test_a_file_of_one_run_need_not_name_it(tmp_path):
    (tmp_path / "mine.csv").write_text("query_id,doc_id,score,run\n1,a,1,\n1,b,2,\n")
    assert rb.read_run(tmp_path / "mine.csv").name == "mine"
    (tmp_path / "mine.csv").write_text("query_id,doc_id,score,run\n1,a,1,x\n1,b,2,\n")
    with pytest.raises(rb.DataError, match=r'mine.csv, row 2: a row has no run \(column "run"\)'):
        rb.read_run(tmp_path / "mine.csv")


MISSING = {
    "object": lambda value: pd.Series([value, pd.NA], dtype=object),
    "string": lambda value: pd.array([str(value), pd.NA], "string"),
    "Int64": lambda value: pd.array([value, pd.NA], "Int64"),
    "category": lambda value: pd.Categorical([value, None]),
    "arrow": lambda value: pd.array([str(value), None], pd.ArrowDtype(pa.large_string())),
    "time": lambda value: pd.Series([value, pd.NaT], dtype=object),
}


@pytest.mark.parametrize("kind", MISSING)
@pytest.mark.parametrize("column", ["query_id", "doc_id", "value"])
def test_what_pandas_lacks_is_told_with_its_row(column, kind):
    columns = {"query_id": [1, 1], "doc_id": [2, 3], "value": [2, 1]}
    frame = pd.DataFrame({**columns, column: MISSING[kind](columns[column][0])})
    for value, evaluate in (
        ("score", lambda given: rb.evaluate({"1": {"2": 1}}, given, "AP")),
        ("relevance", lambda given: rb.evaluate(given, {"1": {"2": 1.0}}, "AP")),
    ):
        with pytest.raises(rb.DataError) as raised:
            evaluate(frame.rename(columns={"value": value}))
        message = str(raised.value)
        assert raised.value.place.row == 2
        assert "\n" not in message
        expected = f"the {value} of" if column == "value" else f'(column "{column}") is empty'
        assert expected in message


def test_a_file_with_several_runs_says_so(tmp_path):
    (tmp_path / "long.csv").write_text("query_id,doc_id,score,run\n1,a,1,x\n1,a,1,y\n")
    with pytest.raises(rb.DataError, match=r'long.csv: this table holds 2 runs \("x", "y"'):
        rb.read_run(tmp_path / "long.csv")


@pytest.mark.parametrize("odd", [None, 3, 2.5, object(), lambda: None, True, [1], [None], {"q": 3}, {"q": object()}])
def test_what_is_none_of_these_is_refused_in_one_sentence_that_lists_what_is_taken(odd):
    for call in (
        lambda: rb.evaluate(odd, RETRIEVED),
        lambda: rb.evaluate(JUDGED, odd),
        lambda: rb.judge_next(JUDGED, odd, budget=1),
        lambda: rb.uncertainty(odd, RETRIEVED, "RBP(p=0.8)", q=0.1),
        lambda: rb.rbp.list_contributions(JUDGED, odd, "1"),
    ):
        with pytest.raises(rb.RankboundsError) as told:
            call()
        message = str(told.value)
        assert "\n" not in message
        for form in ("a path", "{query: {document: ", "frame", "rows (query, document, "):
            assert form in message


def test_sets_have_no_order_and_are_no_run():
    with pytest.raises(rb.DataError, match='the entry of "1" is a set'):
        rb.evaluate(JUDGED, {"mine": {"1": {"a", "b"}}})


def test_judgments_and_runs_in_each_others_place_are_told():
    qrels, run = own_objects("qrels", JUDGED), own_objects("run", RETRIEVED)
    for given in ((run, qrels), (run, RETRIEVED), (JUDGED, qrels)):
        with pytest.raises(rb.UsageError, match="judgments come first, then the runs"):
            rb.evaluate(*given)


def test_one_run_is_wanted_where_one_is_asked_for():
    with pytest.raises(rb.UsageError, match="One run was expected, but 2 were given"):
        Reading().run({"a": RETRIEVED, "b": OTHER})
    with pytest.raises(rb.UsageError, match='"mine" is for one run'):
        rb.evaluate(JUDGED, {"mine": Path(__file__).parent}, "AP")


@pytest.mark.parametrize("form", [name for name in HANDED_IN if "generator" not in name and "reader" not in name])
def test_nothing_that_is_handed_in_is_changed(form):
    judged, retrieved = HANDED_IN[form](JUDGED, "relevance"), HANDED_IN[form](RETRIEVED, "score")
    before = (
        [repr(judged), repr(retrieved)] if not isinstance(judged, dict | list) else copy.deepcopy([judged, retrieved])
    )
    rb.evaluate(judged, retrieved, "AP", ties="worst", unjudged="condensed", gain="1=3,2=9")
    after = [repr(judged), repr(retrieved)] if not isinstance(judged, dict | list) else [judged, retrieved]
    assert before == after


def test_how_to_read_is_said_once(tmp_path):
    (tmp_path / "labels").write_text("query_id,doc_id,rating,source\n1,a,1,human\n1,a,0,llm\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 x\nthis is no line\n")
    reading = Reading(formats=("csv", "trec"), source="llm", columns={"relevance": "rating"}, lenient=True)
    assert reading.judgments(tmp_path / "labels").to_dict() == {"1": {"a": 0.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.RankboundsWarning)
        assert [run.name for run in reading.runs(tmp_path / "run")] == ["x"]
    with pytest.raises(rb.UsageError, match='no format "cvs"'):
        Reading(formats="cvs")


def test_a_run_that_is_read_later_is_read_once():
    reads = []

    def read():
        reads.append(1)
        return rb.Run.from_columns(*zip(*rows_of(RETRIEVED), strict=True), name="later")

    assert [run.name for run in Reading().runs([RunToRead("somewhere", read)])] == ["later"]
    assert rb.evaluate(JUDGED, {"mine": RunToRead("somewhere", read)}, "AP").runs == ["mine"]
    assert len(reads) == 2


def test_ranx_objects_are_read():
    class Run:
        """As ranx has it."""

        name = "theirs"

        def to_dict(self):
            return RETRIEVED

    Run.__module__ = "ranx.data_structures.run"
    assert rb.evaluate(JUDGED, Run(), "AP").to_dict() == rb.evaluate(JUDGED, {"theirs": RETRIEVED}, "AP").to_dict()


# Assumptions are built in one way.


def test_assumptions_take_the_words_of_evaluate(tmp_path):
    (tmp_path / "key").write_text("a 2\nb 1\n")
    words = {
        "ties": "trec", "ties_key": tmp_path / "key", "unjudged": "expected", "q": 0.25, "bounds": "both",
        "gain": "S=3,A=1", "topics": "shared", "score_precision": "single", "open": "collection", "most_relevant": 9,
    }  # fmt: skip
    assert set(words) == set(ASSUMPTIONS)
    chosen = Assumptions(**words)
    assert (chosen.ties, chosen.order) == ("key", "key")
    assert (chosen.unjudged.name, chosen.unjudged.q) == ("expected", 0.25)
    assert chosen.gain.grade_of == {"S": 2.0, "A": 1.0}
    assert (chosen.bounds, chosen.topics, chosen.score_precision) == ("both", "shared", "single")
    assert (chosen.open, chosen.most_relevant) == ("collection", 9)
    assert Assumptions() == Assumptions(gain="linear", unjudged="nonrelevant")
    with pytest.raises(AttributeError):
        chosen.ties = "run"


@pytest.mark.parametrize("function", [rb.evaluate, rb.Evaluator])
def test_options_are_shown_by_name_with_the_defaults_that_hold(function):
    shown = inspect.signature(function).parameters
    assert {*ASSUMPTIONS, *ReadingOptions.__annotations__} <= set(shown)
    assert inspect.Parameter.VAR_KEYWORD not in {parameter.kind for parameter in shown.values()}
    stated = Assumptions(**{name: shown[name].default for name in ASSUMPTIONS})
    assert stated == Assumptions()
    with pytest.raises(TypeError, match=r'takes no tie=\. Did you mean "ties="'):
        function(JUDGED, "AP", tie="docid")


@pytest.mark.parametrize(
    "words",
    [{"ties": "tec"}, {"bounds": "all"}, {"topics": "some"}, {"score_precision": "half"}, {"ties": "key"}, {"q": 0.5}],
)
def test_assumptions_that_do_not_exist_are_refused(words):
    with pytest.raises(rb.UsageError):
        Assumptions(**words)


def test_a_report_keeps_its_key_for_ties(tmp_path):
    from rankbounds.report.content import Choices

    (tmp_path / "key").write_text("a 2\nb 1\n")
    chosen = Choices.of(ties_key=str(tmp_path / "key")).question.assumptions
    assert chosen.ties == "key"
    assert chosen.ties_key is not None


def test_standard_input_is_a_file(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"1 0 10 1\n")))
    assert Reading().judgments("-").to_dict() == {"1": {"10": 1.0}}


def test_a_name_that_was_given_stays(tmp_path, command):
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    for name in ("x", "y", "z"):
        (tmp_path / name).write_text("1 Q0 a 1 1.0 bm25\n2 Q0 a 1 1.0 bm25\n")
    files = {name: tmp_path / name for name in "xyz"}
    expected = ["bm25", "bm25 (y)", "bm25 (z)"]
    named = {"bm25": files["x"]}
    runs = [*rb.read_runs([files["y"], files["z"]])]
    assert [run.name for run in runs] == ["bm25 (y)", "bm25 (z)"]
    arguments = [tmp_path / "qrels", f"bm25={files['x']}", files["y"], files["z"]]
    code, out, _ = command("evaluate", *arguments, "-m", "AP", "--format", "json")
    assert (code, [row["run"] for row in json.loads(out)]) == (0, expected)
    code, out, _ = command("compare", *arguments, "-m", "AP", "--baseline-run", "bm25", "--format", "json")
    assert (code, [row["run"] for row in json.loads(out)["systems"]]) == (0, expected)
    assert rb.evaluate(tmp_path / "qrels", named, "AP").runs == ["bm25"]


TEXT_COLUMNS = {
    "pandas": lambda ids: pd.Series(ids, dtype="string[pyarrow]"),
    "pandas, part of it": lambda ids: pd.Series(["x", *ids, "y"], dtype="string[pyarrow]")[1:-1],
    "pandas, Arrow's type": lambda ids: pd.Series(ids, dtype=pd.ArrowDtype(pa.large_string())),
    "pandas, categorical": lambda ids: pd.Series(ids, dtype="category"),
    "pandas, whole numbers": lambda ids: pd.Series([number for number, _ in enumerate(ids)]),
    "polars": pl.Series,
    "polars, categorical": lambda ids: pl.Series(ids, dtype=pl.Categorical),
    "polars, part of it": lambda ids: pl.Series(["x", *ids, "y"])[1:-1],
    "pyarrow": pa.array,
    "pyarrow, dictionary": lambda ids: pa.array(ids).dictionary_encode(),
    "pyarrow, chunked": lambda ids: pa.chunked_array([ids[:2], ids[2:]]),
}


@pytest.mark.parametrize("kind", TEXT_COLUMNS)
def test_columns_of_text_do_not_become_a_python_string_a_row(kind):
    ids = ["a", "日本", "a", "d" * 40, "e"]
    column = id_column(TEXT_COLUMNS[kind](ids))
    assert isinstance(column, Ids)
    assert column.to_list() == ([str(number) for number, _ in enumerate(ids)] if "whole" in kind else ids)


@pytest.mark.parametrize("column", [pd.Series([0.5, np.nan]), pd.Series([0.5, np.inf]), pl.Series([0.5, np.nan])])
def test_a_number_that_is_none_is_shown_as_python_has_it(column):
    frame = type(column.to_frame())({"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": column})
    shown = repr(float(column[1]))
    with pytest.raises(rb.DataError, match=f'score of document "b" of topic "1" is {shown}, not a finite number'):
        rb.evaluate(JUDGED, frame, "RR")
