"""Spark: frames and files, skewed and mixed topics, sums that are merged, and bad rows in one sentence each.

That its scores are those of the plain definitions is in ``test_engines``.
"""

from __future__ import annotations

import gzip
import random
import warnings
from pathlib import Path

import numpy as np
import polars
import pytest

pytest.importorskip("pyspark", reason='PySpark is not installed: pip install "rankbounds[spark]"')
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import rankbounds as rb
from rankbounds.errors import OutOfMemoryError, Place
from rankbounds.evaluation.engines import spark
from rankbounds.evaluation.engines.spark import files as files_on_spark
from rankbounds.evaluation.engines.spark import local_files, task_errors
from same_outcome import assert_same_outcome

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own warnings are not ours to turn into errors


def parquet_of(folder, runs):
    """Many runs as Parquet, a file for each, with a column that names the run."""
    folder.mkdir()
    for number, run in enumerate(runs):
        topics = [run.query_ids[at] for at in run.pairs.topic.tolist()]
        columns = {"run": [run.name] * len(run), "qid": topics, "docno": run.pairs.docs.to_list(), "score": run.score}
        polars.DataFrame(columns).write_parquet(folder / f"{number}.parquet")
    return str(folder)


def collection(seed, topics=30, runs=("a", "b", "c")):
    draw = random.Random(seed)
    qrels, rows = [], []
    for topic in range(topics):
        docs = [f"d{number}" for number in draw.sample(range(100), 40)]
        qrels += [(f"q{topic}", doc, float(draw.choice([-1, 0, 0, 1, 2]))) for doc in draw.sample(docs, 20)]
        for run in runs:
            if draw.random() < 0.9:
                rows += [(f"q{topic}", doc, round(draw.random(), 1), run) for doc in docs]
    rows += [("nobody judged", "d1", 1.0, runs[0])]
    draw.shuffle(rows)
    return qrels, rows


def nested(rows, run):
    found = {}
    for query, doc, score, name in rows:
        if name == run:
            found.setdefault(query, {})[doc] = score
    return found


MEASURES = ["Q", "RBP(p=0.8)", "AP", "nDCG@10", "P@5", "NumRel"]


@pytest.fixture(scope="module")
def both(spark_session):
    """Scores of three runs from Spark and from memory."""
    qrels, rows = collection(1)
    table = spark_session.createDataFrame(rows, "query_id string, doc_id string, score double, run string").repartition(
        5
    )
    judgments = spark_session.createDataFrame(qrels, "query_id string, doc_id string, relevance double").repartition(3)
    local = rb.evaluate(qrels, {run: nested(rows, run) for run in "abc"}, MEASURES)
    return spark.evaluate(judgments, table, MEASURES), local


def aligned(scores, local):
    order = [scores.query_ids.index(query) for query in local.query_ids]
    return {name: getattr(scores, name)[:, order] for name in ("value", "low", "high", "judged")}


def test_several_runs_ties_across_partitions_and_missing_topics(both):
    distributed, local = both
    scores = distributed.collect()
    assert scores.runs == local.runs == ["a", "b", "c"]
    for name, array in aligned(scores, local).items():
        np.testing.assert_allclose(array, getattr(local, name), rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(scores.notes, local.notes, strict=True):
        assert set(ours.missing) == set(theirs.missing)
        assert ours.tied_topics == theirs.tied_topics
        assert ours.tie_range == pytest.approx(theirs.tie_range)
        assert list(ours.unknown) == list(theirs.unknown)
    assert scores.notes[0].unknown == ["nobody judged"]


def test_means_and_variances_come_from_merged_sums(both):
    distributed, local = both
    mean = local.mean()
    found = distributed.mean()
    assert found.outer == local.outer != []
    np.testing.assert_allclose(found.value, mean.value, rtol=1e-12)
    np.testing.assert_allclose(found.high, mean.high, rtol=1e-12)
    np.testing.assert_allclose(found.judged, mean.judged, rtol=1e-12)
    for row in distributed.summary():
        place = local.runs.index(row["run"]), slice(None), MEASURES.index(row["measure"])
        assert row["variance"] == pytest.approx(np.var(local.value[place], ddof=1))
        assert row["topics"] == 30


def test_tidy_rows_stay_distributed(both):
    distributed, local = both
    rows = {(row["run"], row["query_id"], row["measure"]): row for row in distributed.to_spark().collect()}
    assert len(rows) == len(local)
    for one in local.rows():
        found = rows[one["run"], one["query_id"], one["measure"]]
        assert found["value"] == pytest.approx(one["value"])
        assert found["high"] == pytest.approx(one["high"])


def test_paired_tests_and_discriminative_power_from_distributed_scores(both):
    from rankbounds.comparison.discriminative_power import discriminative_power

    distributed, local = both
    scores = distributed.collect()
    for ours, theirs in zip(rb.compare(scores, test="t").pairs, rb.compare(local, test="t").pairs, strict=True):
        assert ours["p_value"] == pytest.approx(theirs["p_value"], abs=1e-9)
        assert ours["difference"] == pytest.approx(theirs["difference"])
    power = [discriminative_power(one, test="t") for one in (scores, local)]
    assert power[0].rows == power[1].rows


def test_a_topic_larger_than_a_piece(spark_session, monkeypatch):
    rows = [("big", f"d{number}", float(number), "run") for number in range(30_000)] + [("small", "a", 1.0, "run")]
    table = spark_session.createDataFrame(rows, "query_id string, doc_id string, score double, run string").repartition(
        4
    )
    qrels = spark_session.createDataFrame(
        [("big", "d7", 1.0), ("small", "a", 1.0)], "query_id string, doc_id string, rel double"
    )
    scores = spark.evaluate(qrels, table, "RR", names=["run"]).collect()
    assert scores.value.ravel().tolist() == pytest.approx([1 / (30_000 - 7), 1.0])


def test_ties_by_the_stated_rank(spark_session):
    rows = [("q1", "a", 1.0, 3), ("q1", "b", 1.0, 1), ("q1", "c", 1.0, 2)]
    table = spark_session.createDataFrame(rows, "query_id string, doc_id string, score double, rank int").repartition(2)
    qrels = spark_session.createDataFrame([("q1", "b", 1.0)], "query_id string, doc_id string, relevance double")
    assert spark.evaluate(qrels, table, "RR", ties="rank").collect().value.item() == 1.0
    assert spark.evaluate(qrels, table, "RR").collect().value.item() == 0.5


def test_files_text_and_parquet(spark_session, tmp_path):
    qrels, rows = collection(2, runs=("mine",))
    (tmp_path / "qrels").write_text("".join(f"{query} 0 {doc} {grade:g}\n" for query, doc, grade in qrels))
    lines = [f"{query.replace(' ', '-')} Q0 {doc} 1 {score} tag\n" for query, doc, score, _ in rows]
    (tmp_path / "run").write_text("# a comment\n\n" + "".join(lines))
    local = rb.evaluate(tmp_path / "qrels", tmp_path / "run", MEASURES)
    found = spark.evaluate_files(str(tmp_path / "qrels"), str(tmp_path / "run"), MEASURES, spark=spark_session)
    assert found.runs == ["tag"]
    np.testing.assert_allclose(aligned(found, local)["high"], local.high, rtol=1e-12)
    folder = parquet_of(tmp_path / "run.parquet", [rb.read_run(tmp_path / "run")])
    again = spark.evaluate_files(str(tmp_path / "qrels"), [folder], MEASURES, spark=spark_session)
    np.testing.assert_allclose(again.value, found.value, rtol=1e-12)


ROWS = [("q1", "a", 1.0), ("q1", "b", 0.5)]
RUN_SCHEMA = "query_id string, doc_id string, score double"


@pytest.mark.parametrize(
    ("runs", "schema", "options", "told"),
    [
        (
            [*ROWS, ("q1", None, 0.1)],
            RUN_SCHEMA,
            {},
            r'the runs: a document id is null \(column "doc_id"\).*query_id=.q1.',
        ),
        ([*ROWS, (None, "c", 0.1)], RUN_SCHEMA, {}, r'the runs: a query id is null \(column "query_id"\)'),
        (
            [*ROWS, ("q1", "c", float("nan"))],
            RUN_SCHEMA,
            {},
            r"the runs: a value is not a finite number \(column .score.\).*doc_id='c', score=nan",
        ),
        (
            [*ROWS, ("q1", "a", 0.1)],
            RUN_SCHEMA,
            {},
            'run "run": document "a" of topic "q1" stands there twice .with 0.1 and 1.',
        ),
        ([*ROWS, ("q1", "", 0.1)], RUN_SCHEMA, {}, "a document id is empty"),
        (
            [*ROWS, ("q1", "c", None)],
            "qid string, docno string, score double",
            {},
            "column .score.*docno='c', score=None",
        ),
        ([("q1", "a", "high")], "query_id string, doc_id string, score string", {}, '"score" is of type string'),
        ([(1.0, "a", 1.0)], "query_id double, doc_id string, score double", {}, '"query_id" is of type double'),
        ([("q1", 1.0)], "query_id string, score double", {}, "no column for the document id"),
        (ROWS, RUN_SCHEMA, {"ties": "rank"}, "there is no column rank"),
        (ROWS, RUN_SCHEMA, {"ties": "run"}, "no order"),
        (ROWS, RUN_SCHEMA, {"labels": "human"}, 'no column "source"'),
        ([("other", "a", 1.0)], RUN_SCHEMA, {}, 'run "run": no topic of this run is among the judged ones'),
    ],
)
def test_bad_rows_are_one_sentence(spark_session, runs, schema, options, told):
    table = spark_session.createDataFrame(runs, schema).repartition(2)
    qrels = spark_session.createDataFrame([("q1", "a", 1.0)], "query_id string, doc_id string, relevance double")
    with pytest.raises(rb.RankboundsError, match=told) as raised:
        spark.evaluate(qrels, table, "RR", **options).collect()
    assert "\n" not in str(raised.value)
    assert "java" not in str(raised.value)


def test_sources_that_disagree(spark_session):
    schema = "query_id string, doc_id string, relevance double, source string"
    agreeing = [("q1", "a", 1.0, "human"), ("q1", "a", 1.0, "llm"), ("q1", "b", 0.0, "llm")]
    table = spark_session.createDataFrame(ROWS, RUN_SCHEMA)
    assert spark.evaluate(spark_session.createDataFrame(agreeing, schema), table, "RR").mean().value.item() == 1.0
    apart = spark_session.createDataFrame([*agreeing, ("q1", "b", 1.0, "human")], schema)
    with pytest.raises(rb.DataError, match='sources disagree on document "b" of topic "q1"'):
        spark.evaluate(apart, table, "RR")
    with pytest.raises(rb.DataError, match=r'no row has the source "click".*there are "human", "llm"'):
        spark.evaluate(apart, table, "RR", labels="click")
    assert spark.evaluate(apart, table, "P@2", labels="human").mean().value.item() == 1.0
    assert spark.evaluate(apart, table, "P@2", labels="llm").mean().value.item() == 0.5


@pytest.mark.parametrize(
    ("names", "options", "told"),
    [
        ("ab", {"names": ["a"]}, r'a row is of the run "b", which "names" does not name: .*column "run"'),
        (["a", None], {"names": ["a"]}, "a row has no run: name it, or leave such rows out"),
        (["a", None], {}, "a row has no run: name it, or leave such rows out"),
    ],
)
def test_rows_of_another_run_are_not_taken_for_those_of_the_one_that_is_named(spark_session, names, options, told):
    rows = [(*row, name) for row, name in zip(ROWS, names, strict=True)]
    table = spark_session.createDataFrame(rows, RUN_SCHEMA + ", run string")
    qrels = spark_session.createDataFrame([("q1", "a", 1.0)], "query_id string, doc_id string, relevance double")
    with pytest.raises(rb.DataError, match=told):
        spark.evaluate(qrels, table, "RR", **options).collect()


def test_names_of_runs_without_a_column_for_them(spark_session):
    table = spark_session.createDataFrame(ROWS, RUN_SCHEMA)
    with pytest.raises(rb.UsageError, match=r'2 runs are named, but the frame has no column.*Add one called "run"'):
        spark.evaluate(table.withColumnRenamed("score", "relevance"), table, "RR", names=["a", "b"])


def test_the_old_order_of_runs_before_judgments_is_understood_with_a_warning(spark_session):
    runs = spark_session.createDataFrame([(*row, "mine") for row in ROWS], RUN_SCHEMA + ", system string")
    qrels = spark_session.createDataFrame([("q1", "b", 1.0)], "query_id string, doc_id string, rel double")
    with pytest.warns(DeprecationWarning, match="judgments first"):
        swapped = spark.evaluate(runs, qrels, "RR")
    with pytest.warns(DeprecationWarning, match='give them as "names"'):
        named = spark.evaluate(qrels, runs, "RR", runs=["mine"])
    assert swapped.summary() == named.summary() == spark.evaluate(qrels, runs, "RR").summary()
    assert swapped.runs == ["mine"]
    grades_called_scores = qrels.withColumnRenamed("rel", "score")
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        assert spark.evaluate(grades_called_scores, runs, "RR").mean().value.item() == 0.5
    assert not [one for one in met if "spark.evaluate" in str(one.message)]


@pytest.mark.parametrize("given", ["qrels.txt", Path("qrels.txt"), {"q1": {"a": 1}}])
def test_what_is_no_spark_frame_is_told(spark_session, given):
    table = spark_session.createDataFrame(ROWS, RUN_SCHEMA)
    for pair in ((given, table), (table.withColumnRenamed("score", "grade"), given)):
        with pytest.raises(rb.UsageError, match=r"takes Spark frames, and (qrels|runs) is .*(evaluate_files|create)"):
            spark.evaluate(*pair, "RR")


def test_an_error_comes_from_a_task_with_all_its_parts(spark_session, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    lines = [f"1 Q0 d{number} {number} 1 t\n" for number in range(5)]
    (tmp_path / "run").write_text("".join([*lines, "1 Q0 x 6 high t\n"]))
    with pytest.raises(rb.DataError) as raised:
        spark.evaluate_files(tmp_path / "qrels", tmp_path / "run", "RR", spark=spark_session)
    assert raised.value.place == Place(str(tmp_path / "run"), line=6)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "_SUCCESS").touch()
    (tmp_path / "run").rename(tmp_path / "parts" / "part-0")
    with pytest.raises(rb.DataError) as raised:  # Spark hands out lines of it without their numbers
        spark.evaluate_files(tmp_path / "qrels", tmp_path / "parts", "RR", spark=spark_session)
    assert raised.value.place == Place(str(tmp_path / "parts"))
    assert '"1 Q0 x 6 high t"' in raised.value.problem


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


def test_every_file_of_a_folder_or_a_pattern_is_a_run(spark_session, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "one").write_text("1 Q0 a 1 2 t\n2 Q0 b 1 2 t\n")
    (folder / "two.gz").write_bytes(gzip.compress(b"1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n"))
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 b 1\n")
    local = rb.evaluate(tmp_path / "qrels", folder, "RR")
    for given in (str(folder), f"{folder}/*", f"file:{folder}/one"):
        found = spark.evaluate_files(str(tmp_path / "qrels"), given, "RR", spark=spark_session)
        if given.endswith("/one"):
            assert (found.runs, found.value[0].tolist()) == (["t"], local.value[0].tolist())
            continue
        assert found.runs == local.runs == ["t (one)", "t (two)"]
        assert found.value.tolist() == local.value.tolist()


@pytest.mark.parametrize("kind", ["gzip", "bz2", "lzma", "zstandard"])
def test_compressed_text_and_ids_of_any_encoding(spark_session, tmp_path, kind):
    library = pytest.importorskip(kind)
    compress = library.ZstdCompressor().compress if kind == "zstandard" else library.compress
    content = "café Q0 dé 1 2 t\ncafè Q0 dé 1 2 t\ncafè Q0 dè 1 1 t\n".encode("latin-1")
    (tmp_path / "qrels").write_bytes("café 0 dé 1\ncafè 0 dè 1\n".encode("latin-1"))
    (tmp_path / "run").write_bytes(compress(content))
    files = str(tmp_path / "qrels"), str(tmp_path / "run")
    found, local = spark.evaluate_files(*files, "RR", spark=spark_session), rb.evaluate(*files, "RR")
    assert aligned(found, local)["value"].tolist() == local.value.tolist() == [[[1.0], [0.5]]]
    (tmp_path / "run").write_bytes(compress(content * 50)[:-12])
    with pytest.raises(rb.DataError, match=r"/run: the compressed data are damaged") as raised:
        spark.evaluate_files(*files, "RR", spark=spark_session)
    assert "\n" not in str(raised.value)


def test_damaged_parquet_is_one_sentence_that_names_the_file(spark_session, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 1\n")
    path = tmp_path / "run.parquet"
    polars.DataFrame(
        {"query_id": ["q1"] * 999, "doc_id": [f"d{at}" for at in range(999)], "score": [0.5] * 999}
    ).write_parquet(path)
    sound = path.read_bytes()
    for damaged in (sound[:-200], sound[:-40] + b"\xff" * 30 + sound[-10:], sound[:4] + b"\xff" * 600 + sound[604:]):
        path.write_bytes(damaged)
        with pytest.raises(rb.DataError, match=r"run\.parquet: ") as raised:
            spark.evaluate_files(str(tmp_path / "qrels"), str(path), "RR", spark=spark_session)
        assert "\n" not in str(raised.value)
        assert " calling o" not in str(raised.value)


def test_what_is_no_file_and_what_no_engine_but_memory_reads(spark_session, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\n1,a,1\n")
    for given, told in (("-", "which is no file"), (tmp_path / "run.csv", "only TREC files and Parquet.*this is csv")):
        with pytest.raises(rb.UsageError, match=told):
            spark.evaluate_files(str(tmp_path / "qrels"), str(given), "RR", spark=spark_session)


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (b"1 0 a 1\n2 0 a 1\n", b"\xef\xbb\xbf1 Q0 a 1 2 t\n\x012 Q0 a 1 2 t\n\x1f# so\n1 Q0 b 1 1 t\n"),
        (b"1 0 a 1\n1 0 a 1\n", b"1 Q0 a 1 2 t\n1 Q0 a 1\n"),
        (b"1 0 a 1\n2 0 a 1\n", b"1 Q0 a 1 2 t\n2 Q0 b 1 2 t\n1 Q0 a 1 2 t\n2 Q0 a 1 x t\n"),
        (b"1 0 a 1\n", b"2 Q0 a 1 2 t\n"),
        (b"1 0 a 1\n", b"1 Q0 a 1 2 t\n1 Q0 \x00 1 2 t\n"),
    ],
)
def test_the_same_bytes_have_the_same_outcome(spark_session, tmp_path, qrels, run):
    def on_spark(*arguments, **options):
        return spark.evaluate_files(*arguments, spark=spark_session, **options)

    assert_same_outcome([on_spark], qrels, run, tmp_path)


def trec_files(folder, run, qrels="1 0 a 1\n2 0 a 1\n3 0 z 1\n"):
    (folder / "qrels").write_text(qrels)
    (folder / "run").write_text(run)
    return str(folder / "qrels"), str(folder / "run")


def test_a_bad_line_of_a_file_here_has_its_number(spark_session, tmp_path, monkeypatch):
    monkeypatch.setattr(local_files, "READ_BYTES", 16)
    monkeypatch.setattr(local_files, "RANGE_BYTES", 32)
    files = trec_files(tmp_path, "1 Q0 a 1 2 t\n# so\n2 Q0 a 1 2 t\n2 Q0 b 1 1 t\n3 Q0 b 2 high t\n")
    with pytest.raises(rb.DataError, match=r'run:5: the score "high" is not a finite number.'):
        spark.evaluate_files(*files, spark=spark_session)
    files = trec_files(tmp_path, "1 Q0 a 1 2 t\n\n2 Q0 a 1 2 t\n2 Q0 b 1 1 t\n2 Q0 a 2 1 t\n")
    with pytest.raises(rb.DataError, match=r'run:5: document "a" of topic "2" stands here for the second time'):
        spark.evaluate_files(*files, spark=spark_session)


def test_a_bad_line_is_shown_where_its_number_is_not_known(spark_session, tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "0").write_text("1 Q0 a 1 2 t\n1 Q0 b 2 high t\n")
    qrels, _ = trec_files(tmp_path, "")
    with pytest.raises(
        rb.DataError, match=r'part/0: the score "high" is not a finite number. The line is "1 Q0 b 2 high t"'
    ):
        spark.evaluate_files(qrels, f"file:{tmp_path}/part", spark=spark_session)


def test_lenient_reading_counts_what_it_leaves_out(spark_session, tmp_path, monkeypatch):
    lines = [
        "1 Q0 a 1 9 t",
        "1 Q0 b 2 high t",
        "1 Q0 a 3 7 t",
        "2 Q0 a 1",
        "2 Q0 a 1 5 t",
        "2 Q0 b 1 low t",
        "3 Q0 z 1 1 t",
    ]
    files = trec_files(tmp_path, "\n".join(lines) + "\n")
    with pytest.warns(rb.RankboundsWarning) as told:
        local = rb.evaluate(*files, "RR", lenient=True)
    monkeypatch.setattr(local_files, "READ_BYTES", 16)
    monkeypatch.setattr(local_files, "RANGE_BYTES", 32)
    with pytest.warns(rb.RankboundsWarning) as said:
        found = spark.evaluate_files(*files, "RR", spark=spark_session, lenient=True)
    assert found.value.tolist() == local.value.tolist()
    (theirs,), (ours,) = (
        [str(one.message) for one in each if "leniently" in str(one.message)] for each in (told, said)
    )
    assert sorted(ours.partition(": read leniently: ")[2].rstrip(".").split("; ")) == sorted(
        theirs.partition(": read leniently: ")[2].rstrip(".").split("; ")
    )
    (tmp_path / "run").write_text("1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n" * 3)
    with pytest.raises(rb.UsageError, match="keep the lines of each topic together"):
        spark.evaluate_files(*files, spark=spark_session, lenient=True)


def test_files_that_mix_their_topics_are_shuffled(spark_session, tmp_path, monkeypatch):
    monkeypatch.setattr(local_files, "READ_BYTES", 64)
    monkeypatch.setattr(local_files, "RANGE_BYTES", 200)
    qrels, rows = collection(3, topics=5, runs=("mine",))
    lines = [f"{query.replace(' ', '-')} Q0 {doc} 1 {score} tag\n" for query, doc, score, _ in rows]
    judged = [f"{query} 0 {doc} {grade:g}\n" for query, doc, grade in qrels]
    files = trec_files(tmp_path, "".join(lines), "".join(judged))
    monkeypatch.setattr(files_on_spark, "_rows_of_files", one := Recorded(files_on_spark._rows_of_files))
    for order, together in ((lines, False), (sorted(lines), True)):
        (tmp_path / "run").write_text("".join(order).rstrip())
        found, local = spark.evaluate_files(*files, MEASURES, spark=spark_session), rb.evaluate(*files, MEASURES)
        assert (one.returned is not None) == together
        for name, array in aligned(found, local).items():
            np.testing.assert_allclose(array, getattr(local, name), rtol=1e-12, atol=1e-12)


class Recorded:
    """A function that keeps what it returned."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments):
        self.returned = self.function(*arguments)
        return self.returned
