"""Spark: what tasks and the driver do, tried without it where possible, and a few jobs that give local numbers.

That its scores are those of evaluation in memory under every assumption is in ``test_engines``.
"""

from __future__ import annotations

import bz2
import gzip
import itertools
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
from rankbounds.errors import OutOfMemoryError, Place
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.spark import evaluation, file_parts, sources, task_errors, whole_lists
from rankbounds.evaluation.engines.spark.lists import Edges, Lists, Sums, some_lists
from rankbounds.evaluation.engines.spark.packed_rows import by_run, by_topic, pairs_of
from rankbounds.evaluation.engines.spark.row_pieces import pieces_of_rows
from rankbounds.evaluation.engines.spark.scoring import Scorer, SharedJudgments
from rankbounds.files.named_columns import NAME_THE_RUN
from rankbounds.measures import parse_measures
from rankbounds.rankings.preparation import Preparation
from same_outcome import assert_same_outcome

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own warnings are not ours to turn into errors

MEASURES = ["Q", "RBP(p=0.8)", "AP", "nDCG@10", "P@5", "NumRel"]
NUMBERS = ("difference", "ci_low", "ci_high", "effect")
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
    assert scores.runs == local.runs
    order = [scores.query_ids.index(query) for query in local.query_ids]
    for name in ("value", "low", "high", "judged"):
        np.testing.assert_allclose(getattr(scores, name)[:, order], getattr(local, name), rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(scores.notes, local.notes, strict=True):
        assert (set(ours.missing), set(ours.unknown)) == (set(theirs.missing), set(theirs.unknown))
        assert (ours.tied_topics, ours.prepared) == (theirs.tied_topics, theirs.prepared)
        assert ours.tie_range == pytest.approx(theirs.tie_range)
    assert scores.outer == local.outer


def table(rows, names=("query_id", "doc_id", "value", "run")):
    return pyarrow.table({name: [row[place] for row in rows] for place, name in enumerate(names[: len(rows[0])])})


# ---- without Spark ----


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("q1", None, 0.1)], r'the runs: a document id is null \(column "docno"\)\. The row has qid=.q1., docno=None'),
        ([(None, "c", 0.1)], r'the runs: a query id is null \(column "qid"\)'),
        ([("q1", "c", float("nan"))], r'the runs: a value is not a finite number \(column "s"\).*docno=.c., s=nan'),
        ([("q1", "c", None)], r"a value is not a finite number .*s=None"),
        ([("q1", "", 0.1)], "a document id is empty"),
        ([("q1", "a", 0.1, None)], r'no run \(column "run"\)\. The row has .* Name its run, leave such rows out'),
        ([("q1", "a", 0.1, "")], r'a row has no run \(column "run"\)'),
        ([("q1", "a", 0.1, "x")], r'a row is of the run "x", which "names" does not name .*"run"\).* Name it too'),
    ],
)
def test_a_bad_row_is_one_sentence_with_the_names_of_the_users_columns(rows, told):
    columns = {"query_id": "qid", "doc_id": "docno", "value": "s", "run": "run"}
    key = None if len(rows[0]) > 3 else 0
    good = [("q1", "a", 1.0, "mine")[: len(rows[0])]]
    batch = pyarrow.table(
        {
            name: pyarrow.array([row[place] for row in good + rows], kind)
            for place, (name, kind) in enumerate(
                zip(columns, (pyarrow.string(), pyarrow.string(), pyarrow.float64(), pyarrow.string()), strict=True)
            )
            if place < len(rows[0])
        }
    )
    with pytest.raises(rb.DataError, match=told) as raised:
        list(pieces_of_rows("the runs", columns, key, ("mine",))(iter(batch.to_batches())))
    assert "\n" not in str(raised.value)


def scorer_of(qrels, measures):
    judgments = SharedJudgments(rb.Qrels.from_columns(*zip(*qrels, strict=True)), Assumptions().gain)
    return Scorer(judgments, parse_measures(measures), Assumptions(), Preparation())


def scored_in_pieces(draw, rows, qrels, measures):
    """What the tasks find in rows that are cut at random into partitions and these into pieces, put together."""
    scorer = scorer_of(qrels, measures)
    columns = {"query_id": "q", "doc_id": "d", "value": "s", "run": "run"}
    read = pieces_of_rows("the runs", columns, None)
    cuts = sorted(draw.sample(range(1, len(rows)), draw.randint(0, 4)))
    found = []
    for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        part = rows[begin:end]
        inner = sorted({0, len(part), *draw.sample(range(len(part) + 1), min(len(part), draw.randint(0, 4)))})
        pieces = (
            piece
            for first, last in itertools.pairwise(inner)
            for piece in read(iter(table(part[first:last]).to_batches()))
        )
        found += list(scorer.scored(pieces, whole=False))
    edges = [part for part in found if isinstance(part, Edges)]
    if any(part.mixed for part in edges):
        return None
    lists = [part for part in found if isinstance(part, Lists)]
    return lists + list(scorer.scored_edges([rows for part in edges for rows in part.rows], {}))


@pytest.mark.parametrize("order", ["by topic", "by run", "any"])
def test_lists_that_are_not_met_twice_are_whole(order):
    draw = random.Random(order)
    for seed in range(12):
        qrels, rows = collection(seed, topics=5)
        rows = rows[:-1]
        if order == "by run":
            rows.sort(key=lambda row: row[3])
        if order == "any":
            draw.shuffle(rows)
        lists = scored_in_pieces(draw, rows, qrels, ["AP", "RR"])
        met = [] if lists is None else [(part.run, query) for part in lists for query in part.query_ids]
        torn = lists is None or len(set(met)) < len(met)
        assert torn == (order == "any")
        if torn:
            continue
        local = rb.evaluate(qrels, by_name(rows), ["AP", "RR"])
        for part in lists:
            for query, value, high in zip(part.query_ids, part.value, part.high, strict=True):
                place = local.runs.index(part.run), local.query_ids.index(query)
                np.testing.assert_allclose([value, high], [local.value[place], local.high[place]], rtol=1e-12)
        expected = {(row[3], row[0]) for row in rows}
        assert set(met) == expected


def test_sums_of_parts_add_up_and_pairs_have_the_t_test_of_scipy():
    from scipy import stats

    qrels, rows = collection(4, topics=20)
    local = rb.evaluate(qrels, by_name(rows), MEASURES)
    scores = held_scores(qrels, rows)
    for lists in scores.held:
        half = len(lists) // 3
        parts = [Sums.of(some_lists(lists, rows)) for rows in (np.arange(half), np.arange(half, len(lists)))]
        for name in ("count", "value", "low", "high", "squares"):
            np.testing.assert_allclose(getattr(parts[0] + parts[1], name), getattr(Sums.of(lists), name), rtol=1e-12)
    for row in scores.summary():
        value = local.value[local.runs.index(row["run"]), :, MEASURES.index(row["measure"])]
        assert (row["topics"], row["variance"]) == (20, pytest.approx(np.var(value, ddof=1)))
    np.testing.assert_allclose(scores.mean().value, local.mean().value, rtol=1e-12)
    np.testing.assert_allclose(scores.mean().parts, local.mean().parts, rtol=1e-12)
    compared = rb.compare(scores, test="t")
    expected = rb.compare(local, test="t", correction="holm")
    assert len(compared.pairs) == len(expected.pairs) == 18
    for ours, theirs in zip(compared.pairs, expected.pairs, strict=True):
        assert (ours["a"], ours["b"], ours["measure"]) == (theirs["a"], theirs["b"], theirs["measure"])
        for name in (*NUMBERS, "p_value", "p_adjusted", "won", "lost"):
            if theirs[name] is None:  # the interval of scores that differ by the same number everywhere
                assert ours[name] is None, name
            else:
                assert ours[name] == pytest.approx(theirs[name], rel=1e-9, abs=1e-12), name
        assert (ours["certain"], ours["verdict"]) == (theirs["certain"], theirs["verdict"])
        for name in ("certain_low", "certain_high"):
            assert (ours[name] is None) == (theirs[name] is None) == (ours["certain"] is None)
            assert ours[name] == (None if ours[name] is None else pytest.approx(theirs[name], rel=1e-9, abs=1e-12))
        a, b = (local.value[local.runs.index(ours[side]), :, MEASURES.index(ours["measure"])] for side in "ab")
        if (a - b).any():
            assert ours["p_value"] == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)


def held_scores(qrels, rows):
    """Scores as of Spark, made by hand: each list for itself, those that runs lack too."""
    scorer = Scorer(
        SharedJudgments(rb.Qrels.from_columns(*zip(*qrels, strict=True)), Assumptions().gain),
        parse_measures(MEASURES),
        Assumptions(),
        Preparation(),
    )
    result = evaluation._Result(None)
    for key, run in by_name(rows).items():
        queries = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        result.take([scorer.lists(key, rb.Run.from_columns(*zip(*queries, strict=True), name=key))])
    frame_of_runs = sources.Source(None, "the runs", None)
    job = evaluation._Job(None, [frame_of_runs], scorer.measures, scorer.assumptions, Preparation(), False, None)
    result.take(job._lacked(scorer, result.sums))
    return job._scores(result, scorer.facts.grade, list(scorer.facts.query_ids), distinct=False)


def test_rows_cut_by_topic_keep_topics_together_and_come_back_as_they_were():
    _, rows = collection(5)
    random.Random(5).shuffle(rows)
    run = rb.Run.from_columns(*zip(*((q, f"{r}-{d}", s) for q, d, s, r in rows), strict=True))
    parts = list(by_topic(run.pairs, run.score, None, "mine", 5))
    topics = [set(part.topics) for _, part in parts]
    assert sum(map(len, topics)) == len(set().union(*topics)) == len(run.query_ids)
    pairs, value, ranks = pairs_of([part for _, part in parts], "anywhere")
    assert ranks is None
    assert sorted(pairs.rows(value)) == sorted(run)
    assert list(by_run(part for _, part in parts)) == ["mine"]


@pytest.mark.parametrize(
    "error",
    [
        rb.DataError(Place("a: b\n", line=3), 'the score "]\udc80" is wrong.', "Do this."),
        rb.DataError("a sentence of no place."),
        rb.UsageError("no such option."),
        OutOfMemoryError("big", "too large."),
    ],
)
def test_what_java_hands_on_of_an_error_is_enough_to_make_it_again(error):
    def task(batches):
        raise error
        yield

    def handed_on_by_java():
        try:
            list(task_errors.telling(task)([]))
        except Exception as failed:
            raise RuntimeError(f"Job aborted.\njava: Traceback\n  {failed}\n\tat org.apache.spark") from None

    with pytest.raises(type(error)) as raised, task_errors.plain_errors():
        handed_on_by_java()
    assert (type(raised.value), raised.value.args, vars(raised.value)) == (type(error), error.args, vars(error))


@pytest.mark.parametrize(
    ("engine", "options", "told"),
    [
        ("sparc", {}, 'There is no engine "sparc". Did you mean "spark"'),
        ("local", {"memory": "1G"}, 'memory= goes with engine="stream", not with engine="local"'),
        ("spark", {"threads": 2}, 'threads= goes with engine="local" or engine="stream"'),
        ("stream", {"names": ["a"]}, 'names= goes with engine="spark"'),
        ("spark", {"ties": "run"}, "Rows have no order on Spark"),
        ("stream", {}, "Judgments are read in pieces from files, and this is of the type dict"),
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


def test_frames_with_rows_in_any_order(frames, tmp_path):
    """Scores stay distributed, and means, tidy rows, files of them and comparisons come from where they are."""
    qrels, runs, local = frames
    scores = rb.evaluate(qrels, runs, MEASURES, engine="spark")
    assert scores.found is not None
    assert scores.runs == local.runs
    assert_same(scores.collect(), local)
    np.testing.assert_allclose(scores.mean().high, local.mean().high, rtol=1e-12)
    pair = scores.paired_sums("a", "b")
    apart = local.value[0] - local.value[1]
    np.testing.assert_allclose(pair.mean, apart.mean(axis=0), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(pair.squares, apart.var(axis=0) * 30, rtol=1e-9)
    scores.write_parquet(tmp_path / "scores.parquet")
    written = polars.read_parquet(tmp_path / "scores.parquet" / "*.parquet")
    assert written.columns == ["run", "query_id", "measure", "value", "low", "high"]
    expected = {(row["run"], row["query_id"], row["measure"]): row for row in [*local.rows(), *local.mean().rows()]}
    assert written.height == len(expected)
    for row in written.rows(named=True):
        known = expected[row["run"], row["query_id"], row["measure"]]
        assert [row[name] for name in ("value", "low", "high")] == pytest.approx(
            [known[n] for n in ("value", "low", "high")]
        )
    scores.unpersist()


def test_judgments_too_many_for_the_driver_meet_the_runs_topic_by_topic(frames, monkeypatch):
    qrels, runs, local = frames
    monkeypatch.setattr(evaluation, "DRIVER_ROWS", 10)
    scores = rb.evaluate(qrels, runs, MEASURES, engine="spark", partitions=2)
    assert_same(scores.collect(), local)


def forbidden(*_):
    raise AssertionError("there is no need to bring rows together")


def test_tables_that_keep_lists_together_are_not_shuffled(spark_session, tmp_path, monkeypatch):
    """Whoever reads them: tasks, a frame of a table as it is, and Spark a frame to which something was done."""
    qrels, rows = collection(2, topics=20)
    local = rb.evaluate(qrels, by_name(rows), MEASURES)
    polars.DataFrame(rows, schema=["query_id", "doc_id", "score", "run"], orient="row").write_parquet(
        tmp_path / "runs.parquet", row_group_size=170
    )
    monkeypatch.setattr(evaluation._Job, "_brought_together", forbidden)
    monkeypatch.setattr(file_parts, "PIECE_ROWS", 100)
    table = spark_session.read.parquet(str(tmp_path / "runs.parquet"))
    assert sources.files_of_plain_table(spark_session, table)
    changed = table.filter("score >= 0")
    assert not sources.files_of_plain_table(spark_session, changed)
    for frame in (table, changed):
        assert_same(rb.evaluate(qrels, frame, MEASURES, engine="spark").collect(), local)
    one = {"mine": table.filter("run = 'a'").drop("run")}
    expected = rb.evaluate(qrels, {"mine": by_name(rows)["a"]}, MEASURES)
    assert_same(rb.evaluate(qrels, one, MEASURES, engine="spark", topics="judged").collect(), expected)


def lines_of(rows, tag):
    return "".join(f"{query} Q0 {doc} 1 {score} {tag}\n" for query, doc, score, _ in rows).encode("latin-1")


def test_files_of_every_kind_in_a_folder(spark_session, tmp_path, monkeypatch):
    """Plain, gzip, bzip2, xz, Zstandard, csv, Parquet; large files are cut where topics end; ids of any encoding."""
    zstandard = pytest.importorskip("zstandard")
    monkeypatch.setattr(file_parts, "READ_BYTES", 200)
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
    scores = rb.evaluate(tmp_path / "qrels", f"{folder}/*", MEASURES, engine="spark", **options)
    assert scores.runs == ["tag (a)", "tag (b)", "tag (c)", "tag (d)", "e", "f", "tag (plain)"]
    assert_same(scores.collect(), local)
    assert scores.collect().query_ids == local.query_ids
    assert {row.run for row in scores.to_spark().select("run").distinct().collect()} == set(local.runs)

    # The same on a file system that only Spark knows, where it hands out rows, lines or whole files.
    monkeypatch.setattr(sources, "opened_by_tasks", lambda *_: None)
    several = {name: f"file:{folder}/{name}" for name in ("plain", "c.xz", "d.zst")}
    expected = rb.evaluate(tmp_path / "qrels", {name: folder / name for name in several}, MEASURES)
    assert_same(rb.evaluate(tmp_path / "qrels", several, MEASURES, engine="spark").collect(), expected)

    (folder / "c.xz").write_bytes((folder / "c.xz").read_bytes()[:-12])
    monkeypatch.undo()
    with pytest.raises(rb.DataError, match=r"c\.xz: the compressed data are damaged") as raised:
        rb.evaluate(tmp_path / "qrels", folder / "c.xz", "RR", engine="spark")
    assert "\n" not in str(raised.value)


def test_files_that_mix_their_topics_are_shuffled_with_all_their_judgments(spark_session, tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "READ_BYTES", 200)
    qrels, rows = collection(3, topics=5, runs=("mine",))
    random.Random(3).shuffle(rows)
    (tmp_path / "run").write_bytes(lines_of(rows, "tag").rstrip())
    (tmp_path / "qrels").write_text("".join(f"{query} 0 {doc} {grade:g}\n" for query, doc, grade in qrels))
    files = tmp_path / "qrels", tmp_path / "run"
    local = rb.evaluate(*files, MEASURES)
    for most in (evaluation.DRIVER_BYTES, 10):
        monkeypatch.setattr(evaluation, "DRIVER_BYTES", most)
        assert_same(rb.evaluate(*files, MEASURES, engine="spark").collect(), local)
    with pytest.raises(rb.UsageError, match="keep the lines of each topic together"):
        rb.evaluate(*files, engine="spark", lenient=True)


def test_errors_come_from_tasks_with_all_their_parts(spark_session, tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "READ_BYTES", 32)
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n3 0 z 1\n")
    run, path = "1 Q0 a 1 2 t\n# so\n2 Q0 a 1 2 t\n2 Q0 b 1 1 t\n", tmp_path / "run"
    for more, told in (
        ("3 Q0 b 2 high t\n", 'the score "high" is not a finite number.'),
        ("2 Q0 a 2 1 t\n", 'document "a" of topic "2" stands here for the second time'),
    ):
        path.write_text(run + more)
        with pytest.raises(rb.DataError, match=told) as raised:
            rb.evaluate(tmp_path / "qrels", path, engine="spark")
        assert raised.value.place == Place(str(path), line=5)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "_SUCCESS").touch()
    (tmp_path / "parts" / "part-0").write_text(run + "3 Q0 b 2 high t\n")
    with pytest.raises(rb.DataError, match='The line is "3 Q0 b 2 high t"') as raised:  # of lines without numbers
        rb.evaluate(tmp_path / "qrels", tmp_path / "parts", engine="spark")
    assert raised.value.place == Place(str(tmp_path / "parts"))
    twice = [("1", "a", 1.0), ("1", "a", 0.1)]
    frame = spark_session.createDataFrame(twice, "query_id string, doc_id string, score double")
    with pytest.raises(rb.DataError, match=r'run "run": document "a" of topic "1" stands there twice .with 0.1 and 1.'):
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
        ({"names": ["a", "b"]}, r'2 runs are named, but the frame has no column.*Add one called "run"'),
        ({"qrels": "other"}, 'run "run": no topic of this run is among the judged ones'),
        ({"labels": "human"}, 'no column "source"'),
        ({"runs": {"q": {"a": 1}}}, "runs are frames of Spark's or paths"),
        ({"runs": "-"}, "which is no file"),
    ],
)
def test_what_is_wrong_with_frames_is_one_sentence(spark_session, given, told):
    kinds = {"query_id": "string", "doc_id": "string", "score": "double"}
    kinds |= {name: kind for name, kind in given.items() if name in kinds}
    values = {"string": "1", "double": 1.0}
    schema = ", ".join(f"{name} {kind}" for name, kind in kinds.items() if kind)
    frame = spark_session.createDataFrame([tuple(values[kind] for kind in kinds.values() if kind)], schema)
    options = {name: given[name] for name in ("ties", "names", "labels") if name in given}
    qrels = [(given.get("qrels", "1"), "1", 1)]
    if "labels" in given:
        qrels = polars.DataFrame(qrels, schema=["query_id", "doc_id", "relevance"], orient="row")
    with pytest.raises(rb.RankboundsError, match=told) as raised:
        rb.evaluate(qrels, given.get("runs", frame), "RR", engine="spark", **options)
    assert "\n" not in str(raised.value)
    assert "java" not in str(raised.value)


def test_lenient_reading_counts_what_it_leaves_out(spark_session, tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "READ_BYTES", 32)
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
        (left_out,) = (str(one.message) for one in met if "leniently" in str(one.message))
        told[engine] = sorted(left_out.partition(": read leniently: ")[2].rstrip(".").split("; "))
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
    def on_spark(*arguments, **options):
        return rb.evaluate(*arguments, engine="spark", **options).collect()

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
        "evaluate", tmp_path / "labels.csv", f"mine={tmp_path}/run.parquet", "-q", "--format", "json", "--labels",
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
        written = ["--format", "parquet", "-o", tmp_path / "scores"]
        assert command(*call[:4], *written, *call[6:], *options)[0] == 0
        assert polars.read_parquet(tmp_path / "scores" / "*.parquet").height == 7 * 5


def test_edges_too_large_for_the_driver_are_not_handed_to_it(monkeypatch):
    monkeypatch.setattr(whole_lists, "EDGE_ROWS", 3)
    lists = whole_lists.WholeLists()
    run = rb.Run.from_columns(["1"] * 4 + ["2"], list("abcde"), [5, 4, 3, 2, 1])
    with pytest.raises(whole_lists.MixedListsError):
        list(lists.of(0, run))


@pytest.mark.skipif(
    not os.environ.get("RANKBOUNDS_CLUSTER"), reason="takes minutes: set RANKBOUNDS_CLUSTER=1 to run it"
)
def test_a_real_cluster_gives_the_same_numbers_also_when_a_worker_is_killed():
    script = Path(__file__).resolve().parents[2] / "benchmarks" / "spark_cluster.py"
    done = subprocess.run(
        [sys.executable, str(script), "--topics", "60", "--runs", "3"], stdout=subprocess.PIPE, check=False
    )
    told = done.stdout.decode().splitlines()
    assert done.returncode == 0, told
    assert sum("the same numbers" in line for line in told) == len(told) == 4
