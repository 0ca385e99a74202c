"""Spark: what tasks and the driver do, tried without it where possible, and a few jobs that give local numbers.

That its scores are those of evaluation in memory under every assumption is in ``test_engines``.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

pytest.importorskip("pyspark", reason='PySpark is not installed: pip install "rankbounds[spark]"')
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pyarrow

import rankbounds as rb
from rankbounds.errors import Place
from rankbounds.evaluation.engines.spark import evaluation, sources, tasks
from rankbounds.files.named_columns import NAME_THE_RUN, RUN_COLUMNS
from rankbounds.files.topic_batches import LargeFile
from same_outcome import assert_same_outcome

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own warnings are not ours to turn into errors

MEASURES = ["Q", "RBP(p=0.8)", "AP", "nDCG@10", "P@5", "NumRel"]
RUN_SCHEMA = "query_id string, doc_id string, score double, run string"
QRELS_SCHEMA = "query_id string, doc_id string, relevance double"


def collection(seed, topics=12, runs=("a", "b", "c")):
    """Judgments, and rows of runs topic by topic; runs lack some topics, and one has a topic that nobody judged."""
    draw = random.Random(seed)
    qrels, rows = [], []
    for topic in range(topics):
        docs = [f"d{number}" for number in draw.sample(range(60), 25)]
        qrels += [(f"q{topic}", doc, float(draw.choice([-1, 0, 0, 1, 2]))) for doc in draw.sample(docs, 12)]
        for run in runs:
            if draw.random() < 0.9 or topic == 0:
                rows += [(f"q{topic}", doc, round(draw.random(), 1), run) for doc in docs]
    return qrels, [*rows, ("nobody-judged", "d1", 1.0, runs[0])]


def by_name(rows):
    runs = {}
    for query, doc, score, run in rows:
        runs.setdefault(run, {}).setdefault(query, {})[doc] = score
    return runs


def assert_same(scores, local):
    """The same values to the last bit, which bounds may differ in by the lists that share a batch, and notes."""
    assert scores.runs == local.runs
    order = [scores.query_ids.index(query) for query in local.query_ids]
    for name in ("value", "judged"):
        np.testing.assert_array_equal(getattr(scores, name)[:, order], getattr(local, name))
    for name in ("low", "high"):
        np.testing.assert_allclose(getattr(scores, name)[:, order], getattr(local, name), rtol=1e-15, atol=1e-16)
    np.testing.assert_allclose(scores.parts[:, :, order], local.parts, rtol=1e-15, atol=1e-16)
    for ours, theirs in zip(scores.run_notes, local.run_notes, strict=True):
        assert (set(ours.missing), set(ours.unknown)) == (set(theirs.missing), set(theirs.unknown))
        assert (ours.tied_topics, ours.prepared) == (theirs.tied_topics, theirs.prepared)
        assert ours.tie_range == pytest.approx(theirs.tie_range)
    assert scores.outer == local.outer


@pytest.mark.skipif(sys.version_info < (3, 11), reason="older Pythons refuse such a folder")
def test_workers_import_nothing_from_the_current_folder(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 t\n")
    for name in ("numpy", "pandas", "rankbounds"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    program = (
        "import sys; from rankbounds.cli import main; "
        "sys.exit(main(['evaluate', 'qrels', 'run', '-m', 'AP', '--engine', 'spark', '--format', 'csv']))"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert not (tmp_path / "ran").exists()
    assert ended.stdout.splitlines()[1].split(",")[:4] == ["t", "all", "AP", "1.0"], ended.stderr


def test_files_that_shadow_modules_are_refused_where_workers_would_import_them(tmp_path):
    tasks.reject_shadowing(tmp_path)
    for name in ("nothing_that_is_loaded", "__main__"):
        (tmp_path / f"{name}.py").touch()
    tasks.reject_shadowing(tmp_path)
    tasks.reject_shadowing(Path(rb.__file__).parents[1])  # the modules themselves
    for name, file in (("builtins", "builtins.py"), ("numpy", "numpy/__init__.py")):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
        with pytest.raises(rb.UsageError, match=f"{file}: Spark's workers would run this file as the module {name}"):
            tasks.reject_shadowing(tmp_path)
        (tmp_path / file).unlink()


def on_spark(*arguments, **options):
    return rb.evaluate(*arguments, engine="spark", **options)


# ---- without Spark ----


COLUMNS = {"query_id": "qid", "doc_id": "docno", "value": "score", "run": "run"}


def arrow(rows):
    kinds = pyarrow.string(), pyarrow.string(), pyarrow.float64(), pyarrow.string()
    columns = zip(COLUMNS, zip(*rows, strict=True), kinds, strict=False)
    return pyarrow.table({name: pyarrow.array(column, kind) for name, column, kind in columns})


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            ("q1", None, 0.1),
            r'the runs: the document id \(column "docno"\) is empty \(None\).* has qid=.q1., docno=None, score=0.1',
        ),
        ((None, "c", 0.1), r'the runs: the query id \(column "qid"\) is empty \(None\)'),
        (("q1", "c", float("nan")), 'the runs: the score of document "c" of topic "q1" is nan, not a finite number'),
        (("q1", "c", None), r"is None, not a finite number\. The row has .*score=None"),
        (("q1", "", 0.1), r'the document id \(column "docno"\) is empty'),
        (("q1", "a", 0.1, None), r'no run \(column "run"\)\. The row has .* Name its run, leave such rows out'),
        (("q1", "a", 0.1, ""), r'a row has no run \(column "run"\)'),
        (("q1", "a", 0.5), r'the runs: document "a" of topic "q1" is listed twice \(with 0.5 and 1\)'),
        (("q1", "a", 0.5, "mine"), 'run "mine": document "a" of topic "q1" is listed twice'),
    ],
)
def test_a_bad_row_is_one_sentence_with_the_names_of_the_users_columns(row, told):
    called = dict(list(COLUMNS.items())[: len(row)])
    table = arrow([("q1", "a", 1.0, "mine")[: len(row)], row])
    with pytest.raises(rb.DataError, match=told) as raised:
        list(tasks.FrameRows("the runs", called, None).runs(table))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("enough", [1, 30, 100, 10**6])
def test_rows_sorted_by_topic_are_cut_between_topics(monkeypatch, enough):
    monkeypatch.setattr(tasks, "PIECE_ROWS", enough)
    _, rows = collection(5)
    batches = arrow(sorted(rows)).to_batches(max_chunksize=7)
    pieces = list(tasks._whole_topics(iter(batches)))
    topics = [set(piece.column("query_id").to_pylist()) for piece in pieces]
    assert sum(map(len, topics)) == len(set().union(*topics)) == 13
    assert pyarrow.concat_tables(pieces).equals(arrow(sorted(rows)))
    assert (len(pieces) == 1) == (enough > len(rows))


@pytest.mark.parametrize(
    ("engine", "options", "told"),
    [
        ("sparc", {}, 'There is no engine "sparc". Did you mean "spark"'),
        ("local", {"memory": "1G"}, 'memory= goes with engine="stream", not with engine="local"'),
        ("spark", {"threads": 2}, 'threads= goes with engine="local" or engine="stream"'),
        ("stream", {"master": "local[1]"}, 'master= goes with engine="spark"'),
        ("spark", {"ties": "run"}, "Rows have no order on Spark"),
        ("stream", {}, "Runs are read in pieces from files, and this is of the type dict"),
    ],
)
def test_what_an_engine_cannot_do_is_told_before_any_work(engine, options, told):
    with pytest.raises(rb.UsageError, match=told):
        rb.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, "AP", engine=engine, **options)


# ---- with Spark ----


@pytest.fixture(scope="module")
def frames(spark_session):
    """Rows of three runs in any order in a frame, judgments in another, and what evaluation in memory says of them."""
    qrels, rows = collection(1, topics=30)
    local = rb.evaluate(qrels, by_name(rows), MEASURES)
    runs = spark_session.createDataFrame(rows, RUN_SCHEMA).repartition(3)
    return spark_session.createDataFrame(qrels, QRELS_SCHEMA), runs, local


def test_frames_with_rows_in_any_order(frames):
    qrels, runs, local = frames
    scores = on_spark(qrels, runs, MEASURES)
    assert isinstance(scores, rb.Scores)
    assert_same(scores, local)
    assert scores.query_ids == sorted(scores.query_ids)  # rows of a frame have no order
    of_one = rb.evaluate(qrels.toPandas(), {"mine": by_name(frames[1].collect())["a"]}, MEASURES)
    assert_same(on_spark(qrels, {"mine": runs.filter("run = 'a'")}, MEASURES), of_one)
    several = [runs.filter("run != 'b'"), runs.filter("run = 'b'").withColumnRenamed("doc_id", "docno").drop("run")]
    assert on_spark(qrels, several, MEASURES).runs == ["a", "c", "run"]


def test_parquet_is_cut_for_tasks_where_topics_end(spark_session, tmp_path, monkeypatch):
    """Groups of rows are shared out; a table that mixes its topics is read again as a whole."""
    monkeypatch.setattr(sources, "STRETCH_BYTES", (2000, 2000))
    qrels, rows = collection(7, topics=20, runs=("a",))
    local = rb.evaluate(qrels, {"run": by_name(rows)["a"]}, MEASURES)
    table = polars.DataFrame([row[:3] for row in rows], schema=["query_id", "doc_id", "score"], orient="row")
    path = tmp_path / "run.parquet"
    for mixed in (True, False):
        if not mixed:
            monkeypatch.setattr(evaluation, "together", forbidden)
        (table.sample(fraction=1, shuffle=True, seed=1) if mixed else table).write_parquet(path, row_group_size=40)
        assert len(LargeFile(str(path), RUN_COLUMNS, 2000).stretches(2000)) > 5
        assert_same(on_spark(qrels, path, MEASURES), local)


def forbidden(*_, **__):
    raise AssertionError("there is no need to read this again")


def test_tables_of_several_files_are_read_again_only_where_topics_are_spread(spark_session, tmp_path, monkeypatch):
    qrels, rows = collection(2, topics=20, runs=("a",))
    local = rb.evaluate(qrels, {"table": by_name(rows)["a"]}, MEASURES)
    table = polars.DataFrame([row[:3] for row in rows], schema=["query_id", "doc_id", "score"], orient="row")
    (tmp_path / "table.parquet").mkdir()
    for at in (260, 250):  # a topic has 25 rows
        table[:at].write_parquet(tmp_path / "table.parquet" / "part-0.parquet")
        table[at:].write_parquet(tmp_path / "table.parquet" / "part-1.parquet")
        if at == 250:
            monkeypatch.setattr(evaluation, "together", forbidden)
        assert_same(on_spark(qrels, tmp_path / "table.parquet", MEASURES), local)
    for number in range(2):
        tagged = table.with_columns(run=polars.lit(f"tag{number}"))
        tagged[number * 250 : number * 250 + 250].write_parquet(tmp_path / "table.parquet" / f"part-{number}.parquet")
    with pytest.raises(rb.DataError, match=r'table\.parquet: this table holds several runs \("tag0", "tag1"'):
        on_spark(qrels, tmp_path / "table.parquet", MEASURES)


def test_text_that_spark_wrote_is_one_run(spark_session, tmp_path):
    """A folder with a file for each task, which may cut topics apart."""
    qrels, rows = collection(2, topics=6, runs=("a",))
    local = rb.evaluate(qrels, {"tag": by_name(rows)["a"]}, MEASURES)
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for at in (60, 50):
        (folder / "part-0").write_bytes(lines_of(rows[:at], "tag"))
        (folder / "part-1.gz").write_bytes(gzip.compress(lines_of(rows[at:], "tag")))
        assert_same(on_spark(qrels, folder, MEASURES), local)


def lines_of(rows, tag):
    return "".join(f"{query} Q0 {doc} 1 {score} {tag}\n" for query, doc, score, _ in rows).encode("latin-1")


def test_files_of_every_kind_in_a_folder(spark_session, tmp_path, monkeypatch):
    """Plain, gzip, bzip2, xz, Zstandard, csv, Parquet; large files are cut where topics end; ids of any encoding."""
    zstandard = pytest.importorskip("zstandard")
    monkeypatch.setattr(sources, "STRETCH_BYTES", (200, 400))
    qrels, rows = collection(3, topics=6, runs=("a",))
    rows = [(query.replace("q1", "qé"), doc, score, run) for query, doc, score, run in rows]
    judged = "".join(f"{query.replace('q1', 'qé')} 0 {doc} {grade:g}\n" for query, doc, grade in qrels)
    (tmp_path / "qrels").write_bytes(judged.encode("latin-1"))
    folder = tmp_path / "runs"
    folder.mkdir()
    compress = {
        "plain": bytes, "a.gz": gzip.compress, "b.bz2": bz2.compress, "c.xz": lzma.compress,
        "d.zst": zstandard.ZstdCompressor().compress,
    }  # fmt: skip
    for number, (name, packed) in enumerate(compress.items()):
        (folder / name).write_bytes(packed(b"# a comment\n\n" + lines_of(rows[: len(rows) - number], "tag")))
    plain = polars.DataFrame([row[:3] for row in rows if "é" not in row[0]], schema=["q", "d", "s"], orient="row")
    plain.write_csv(folder / "e.csv")
    plain.write_parquet(folder / "f.parquet", row_group_size=40)
    options = {"columns": {"query_id": "q", "doc_id": "d", "score": "s"}}
    local = rb.evaluate(tmp_path / "qrels", folder, MEASURES, **options)
    scores = on_spark(tmp_path / "qrels", f"{folder}/*", MEASURES, **options)
    assert scores.runs == ["tag (a)", "tag (b)", "tag (c)", "tag (d)", "e", "f", "tag (plain)"]
    assert_same(scores, local)
    assert scores.query_ids == local.query_ids

    # The same on a file system that only Spark knows, where it hands out rows or whole files.
    for module in (sources, evaluation):
        monkeypatch.setattr(module, "opened_by_tasks", lambda *_: None)
    several = {name: f"file:{folder}/{name}" for name in ("plain", "c.xz", "d.zst", "f.parquet")}
    local = rb.evaluate(tmp_path / "qrels", {name: folder / name for name in several}, MEASURES, **options)
    assert_same(on_spark(f"file:{tmp_path}/qrels", several, MEASURES, **options), local)

    (folder / "c.xz").write_bytes((folder / "c.xz").read_bytes()[:-12])
    monkeypatch.undo()
    with pytest.raises(rb.DataError, match=r"c\.xz: the compressed data are damaged") as raised:
        rb.evaluate(tmp_path / "qrels", folder / "c.xz", "RR", engine="spark")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("order", ["by topic", "any"])
def test_files_that_are_cut_for_tasks(spark_session, tmp_path, monkeypatch, order):
    """A file that mixes its topics is read again as a whole; one that keeps them together is not."""
    monkeypatch.setattr(sources, "STRETCH_BYTES", (200, 400))
    qrels, rows = collection(3, topics=5, runs=("mine",))
    if order == "any":
        random.Random(3).shuffle(rows)
    else:
        monkeypatch.setattr(evaluation, "together", forbidden)
    (tmp_path / "run").write_bytes(lines_of(rows, "tag").rstrip())
    (tmp_path / "qrels").write_text("".join(f"{query} 0 {doc} {grade:g}\n" for query, doc, grade in qrels))
    files = tmp_path / "qrels", tmp_path / "run"
    assert_same(on_spark(*files, MEASURES), rb.evaluate(*files, MEASURES))


def test_errors_come_from_tasks_with_all_their_parts(spark_session, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "STRETCH_BYTES", (32, 64))
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n3 0 z 1\n")
    run, path = "1 Q0 a 1 2 t\n# so\n2 Q0 a 1 2 t\n2 Q0 b 1 1 t\n", tmp_path / "run"
    for more, told in (
        ("3 Q0 b 2 high t\n", 'the score "high" is not a finite number.'),
        ("2 Q0 a 2 1 t\n", 'document "a" of topic "2" is listed twice'),
    ):
        path.write_text(run + more)
        with pytest.raises(rb.DataError, match=told) as raised:
            rb.evaluate(tmp_path / "qrels", path, engine="spark")
        assert raised.value.place == Place(str(path), line=5)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "_SUCCESS").touch()
    (tmp_path / "parts" / "part-0").write_text(run + "3 Q0 b 2 high t\n")
    with pytest.raises(rb.DataError, match='the score "high" is not a finite number') as raised:
        rb.evaluate(tmp_path / "qrels", tmp_path / "parts", engine="spark")
    assert raised.value.place == Place(str(tmp_path / "parts" / "part-0"), line=5)
    twice = [("1", "a", 1.0), ("1", "a", 0.1)]
    frame = spark_session.createDataFrame(twice, "query_id string, doc_id string, score double")
    with pytest.raises(rb.DataError, match=r'run "run": document "a" of topic "1" is listed twice .with 0.1 and 1.'):
        rb.evaluate(tmp_path / "qrels", frame, engine="spark")
    path = tmp_path / "run.parquet"
    polars.DataFrame({"query_id": ["1"] * 999, "doc_id": [f"d{at}" for at in range(999)], "score": 0.5}).write_parquet(
        path
    )
    sound = path.read_bytes()
    for damaged in (sound[:-200], sound[:4] + b"\xff" * 600 + sound[604:]):
        path.write_bytes(damaged)
        with pytest.raises(rb.DataError, match=r"run\.parquet: ") as raised:
            rb.evaluate(tmp_path / "qrels", path, "RR", engine="spark")
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"query_id": "double"}, '"query_id" is of type double; ids are text'),
        ({"score": "string"}, '"score" is of type string, not a number'),
        ({"doc_id": None}, "no column for the document id"),
        ({"ties": "rank"}, "there is no column rank"),
        ({"qrels": "other"}, 'run "run": no topic of this run is judged'),
        ({"source": "human"}, 'no column "source"'),
        ({"runs": {"q": {"a": 1}}}, "runs are Spark frames or paths"),
        ({"runs": "-"}, "which is not a file"),
    ],
)
def test_what_is_wrong_with_frames_is_one_sentence(spark_session, given, told):
    kinds = {"query_id": "string", "doc_id": "string", "score": "double"}
    kinds |= {name: kind for name, kind in given.items() if name in kinds}
    values = {"string": "1", "double": 1.0}
    schema = ", ".join(f"{name} {kind}" for name, kind in kinds.items() if kind)
    frame = spark_session.createDataFrame([tuple(values[kind] for kind in kinds.values() if kind)], schema)
    options = {name: given[name] for name in ("ties", "source") if name in given}
    qrels = [(given.get("qrels", "1"), "1", 1)]
    if "source" in given:
        qrels = polars.DataFrame(qrels, schema=["query_id", "doc_id", "relevance"], orient="row")
    with pytest.raises(rb.RankboundsError, match=told) as raised:
        rb.evaluate(qrels, given.get("runs", frame), "RR", engine="spark", **options)
    assert "\n" not in str(raised.value)
    assert "java" not in str(raised.value)


def test_lenient_reading_counts_what_it_leaves_out(spark_session, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "STRETCH_BYTES", (32, 64))
    lines = [
        "1 Q0 a 1 9 t",
        "1 Q0 b 2 high t",
        "1 Q0 a 3 7 t",
        "2 Q0 a 1",
        "2 Q0 a 1 5 t",
        "2 Q0 b 1 low t",
        "3 Q0 z 1 1 t",
    ]
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n3 0 z 1\n")
    (tmp_path / "run").write_text("\n".join(lines) + "\n")
    files, told = (tmp_path / "qrels", tmp_path / "run"), {}
    for engine in ("local", "spark"):
        with pytest.warns(rb.RankboundsWarning) as met:
            scores = rb.evaluate(*files, "RR", lenient=True, engine=engine)
        assert scores.mean().value.tolist() == [[[1.0]]]
        (left_out,) = (str(one.message) for one in met if "left out" in str(one.message))
        told[engine] = sorted(left_out.partition(": ")[2].rstrip(".").split("; "))
    assert told["local"] == told["spark"]


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (b"1 0 a 1\n2 0 a 1\n", b"\xef\xbb\xbf1 Q0 a 1 2 t\n\x012 Q0 a 1 2 t\n\x1f# so\n1 Q0 b 1 1 t\n"),
        (b"1 0 a 1\n1 0 a 1\n", b"1 Q0 a 1 2 t\n1 Q0 a 1\n"),
        (b"1 0 a 1\n2 0 a 1\n", b"1 Q0 a 1 2 t\n2 Q0 b 1 2 t\n1 Q0 a 1 2 t\n2 Q0 a 1 x t\n"),
        (b"1 0 a 1\n", b"2 Q0 a 1 2 t\n"),
        (b"1 0 a 1\n", b"1 Q0 a 1 2 t\n1 Q0 \x00 1 2 t\n"),
        (b"1 0 a 1\n", gzip.compress(b"PAR1\x15\x04\x15\x00PAR1", mtime=0)),
    ],
)
def test_the_same_bytes_have_the_same_outcome(spark_session, tmp_path, qrels, run):
    assert_same_outcome([on_spark], qrels, run, tmp_path)


@pytest.mark.parametrize("missing", [None, ""])
def test_a_row_without_a_run_is_told_as_in_memory(spark_session, tmp_path, missing):
    """In a frame that Spark makes, and in one that is a Parquet table."""
    columns = {"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2.0, 1.0], "system": ["x", missing]}
    rows = list(zip(*columns.values(), strict=True))
    made = spark_session.createDataFrame(rows, "query_id string, doc_id string, score double, system string")
    polars.DataFrame(columns).write_parquet(tmp_path / "runs.parquet")
    told = []
    for runs, engine in (
        (polars.DataFrame(columns), "local"),
        (made, "spark"),
        (spark_session.read.parquet(str(tmp_path / "runs.parquet")), "spark"),
    ):
        with pytest.raises(rb.DataError) as raised:
            rb.evaluate({"1": {"a": 1}} if engine == "local" else [("1", "a", 1)], runs, "RR", engine=engine)
        told.append((re.sub(r" The row has .*", "", raised.value.problem), raised.value.remedy))
    assert told == [('a row has no run (column "system").', NAME_THE_RUN)] * 3


def told_by_us(err):
    """Java has something to say when it starts."""
    return [line for line in err.splitlines() if line.startswith("rankbounds:")]


@pytest.mark.parametrize("engine", ["stream", "spark"])
def test_the_command_prints_what_it_prints_in_memory(request, engine, tmp_path, command):
    """Chunks, self-matches and a depth; judgments of one source in a table; names of columns and of runs."""
    options = ["--engine", engine]
    if engine == "spark":
        options += ["--master", request.getfixturevalue("spark_session").sparkContext.master]
    draw = random.Random(8)
    rows = [
        (f"q{t}", f"{d}#{c}", draw.random())
        for t in range(6)
        for d in ["q1", *(f"d{n}" for n in range(9))]
        for c in "12"
    ]
    polars.DataFrame(rows, schema=["q", "d", "s"], orient="row").write_parquet(
        tmp_path / "run.parquet", row_group_size=30
    )
    labels = [(f"q{t}", f"d{n}", n % 3, who) for t in range(6) for n in range(9) for who in ("human", "llm")]
    polars.DataFrame(labels, schema=["q", "d", "grade", "source"], orient="row").write_csv(tmp_path / "labels.csv")
    call = [
        "evaluate", tmp_path / "labels.csv", f"mine={tmp_path}/run.parquet", "-q", "--format", "json", "--source",
        "human", "--columns", "query_id=q,doc_id=d,score=s,relevance=grade", "--drop-self", "--documents-of", "#",
        "--depth", "7",
    ]  # fmt: skip
    code, out, err = command(*call)
    assert code == 0
    assert "self-matches dropped" in err
    found = command(*call, *options)
    assert (found[0], told_by_us(found[2])) == (code, told_by_us(err))
    ours, theirs = json.loads(found[1]), json.loads(out)
    assert [list(row) for row in ours] == [list(row) for row in theirs]
    for row, known in zip(ours, theirs, strict=True):
        assert row == {name: pytest.approx(cell) if isinstance(cell, float) else cell for name, cell in known.items()}
    if engine == "spark":
        written = ["--format", "parquet", "-o", tmp_path / "scores.parquet"]
        assert command(*call[:4], *written, *call[6:], *options)[0] == 0
        assert polars.read_parquet(tmp_path / "scores.parquet").height == 7 * 5


@pytest.mark.skipif(
    not os.environ.get("RANKBOUNDS_CLUSTER"), reason="takes minutes: set RANKBOUNDS_CLUSTER=1 to run it"
)
def test_a_real_cluster_gives_the_same_numbers_also_when_a_worker_is_killed():
    script = Path(__file__).resolve().parents[2] / "benchmarks" / "spark_cluster.py"
    done = subprocess.run(
        [sys.executable, str(script), "--topics", "60", "--runs", "3", "--cores", "2"],
        stdout=subprocess.PIPE,
        check=False,
    )
    header, _, *told = done.stdout.decode().splitlines()
    assert done.returncode == 0, told
    assert sum("| 0 bits |" in line for line in told) == len(told) == 5, header


def test_a_frame_of_spark_says_which_engine_reads_it(spark_session):
    frame = spark_session.createDataFrame([("1", "a", 1)], "query_id string, doc_id string, relevance int")
    for call in (lambda: rb.evaluate(frame, {"1": ["a"]}), lambda: rb.evaluate({"1": {"a": 1}}, frame)):
        with pytest.raises(rb.UsageError, match='engine="spark"'):
            call()
