"""Runs larger than memory: the same scores as in memory, whatever the pieces, and errors with the right places."""

from __future__ import annotations

import gzip
import importlib
import itertools
import json
import random
import re
import subprocess
import sys
from functools import partial

import numpy as np
import polars
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import machine
import rankbounds as rb
from rankbounds.cli import main
from rankbounds.collection.inputs import run_in
from rankbounds.errors import DataError
from rankbounds.evaluation.engines import streaming
from rankbounds.files.named_columns import RUN_COLUMNS
from rankbounds.files.topic_batches import LargeFile
from same_outcome import assert_same_outcome, streamed

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")

evaluate_stream = partial(rb.evaluate, engine="stream")
MEASURES = ["RBP(p=0.8)", "RBP(p=0.5,graded=true)", "AP", "nDCG", "nDCG@10", "RR", "Q"]


def lines(seed, topics=60, order="grouped"):
    """Lines of judgments and of a run in which topics are together, mixed, or partly missing."""
    draw = random.Random(seed)
    qrels, run = [], []
    for topic in draw.sample(range(100, 100 + topics), topics):
        docs = draw.sample(range(300), 40)
        if draw.random() < 0.9:
            scores = sorted((round(draw.random() * 9, 1) for _ in docs), reverse=True)
            run += [f"{topic} Q0 doc-number-{doc} {at} {scores[at]} tag" for at, doc in enumerate(docs)]
        if draw.random() < 0.9:
            judged = draw.sample(docs, 15) + draw.sample(range(300, 400), 5)
            qrels += [f"{topic} 0 doc-number-{doc} {draw.choice([-1, 0, 0, 1, 2, 3])}" for doc in judged]
    if order == "mixed":
        draw.shuffle(qrels)
        draw.shuffle(run)
    return qrels, run


def written(folder, qrels, run, kind):
    if kind == "parquet":
        rows = [line.split() for line in run]
        polars.DataFrame(
            {
                "query_id": [row[0] for row in rows],
                "doc_id": [row[2] for row in rows],
                "rank": [int(row[3]) for row in rows],
                "score": [float(row[4]) for row in rows],
                "text": ["unused" for _ in rows],
            }
        ).write_parquet(folder / "run")
        rows = [line.split() for line in qrels]
        columns = {"query_id": [row[0] for row in rows], "doc_id": [row[2] for row in rows]}
        polars.DataFrame(columns | {"relevance": [float(row[3]) for row in rows]}).write_parquet(folder / "qrels")
    else:
        opened = gzip.open if kind == "gzip" else open
        for name, content in (("qrels", qrels), ("run", run)):
            with opened(folder / name, "wt") as file:
                file.write("\n".join(content) + ("" if kind == "no newline" else "\n"))
    return folder / "qrels", folder / "run"


def assert_same(found, expected):
    assert found.query_ids == expected.query_ids
    assert found.runs == expected.runs
    for name in ("value", "low", "high", "judged"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.parts, expected.parts, rtol=1e-12, atol=1e-12)
    assert found.outer == expected.outer
    assert found.without_relevant == expected.without_relevant
    for ours, theirs in zip(found.run_notes, expected.run_notes, strict=True):
        assert list(ours.missing) == list(theirs.missing)
        assert sorted(ours.unknown) == sorted(theirs.unknown)
        assert ours.tied_topics == theirs.tied_topics
        assert ours.tie_range == pytest.approx(theirs.tie_range)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *((kind, {}) for kind in ("plain", "no newline", "gzip", "parquet")),
        ("plain", {"topics": "shared", "ties": "best", "bounds": "both"}),
        ("plain", {"ties": "rank"}),
        ("plain", {"ties": "stated"}),
    ],
)
def test_scores_are_those_of_memory(tmp_path, kind, options):
    files = written(tmp_path, *lines(1, topics=30), kind)
    expected = rb.evaluate(*files, MEASURES, **options)
    for memory in (1 << 16, 1 << 19):
        assert_same(evaluate_stream(*files, MEASURES, memory=memory, **options), expected)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["qrels", "run"]


def test_a_run_without_judged_documents_is_told_as_in_memory(tmp_path):
    qrels, run = lines(1, topics=20)
    alike = [re.sub("doc-number", "number", line) for line in run]
    files = written(tmp_path, qrels, alike, "plain")
    (sentence,) = (told for told in rb.evaluate(*files, "AP").notes() if "documents is judged" in told)
    found = evaluate_stream(*files, "AP", memory=1 << 16)
    expected = sentence.partition("documents such as")[0]
    assert [told.partition("documents such as")[0] for told in found.notes() if "is judged" in told] == [expected]
    judged = {tuple(line.split()[:3:2]) for line in qrels}
    known = [line for line in run if tuple(line.split()[:3:2]) in judged][-1:]
    mended = [one if one in known else other for one, other in zip(run, alike, strict=True)]
    files = written(tmp_path, qrels, mended, "plain")
    assert not any("is judged" in told for told in evaluate_stream(*files, "AP", memory=1 << 16).notes())


def test_lenient_reading_is_that_of_memory(tmp_path):
    """Broken lines come first in many pieces, and some topics have no other line."""
    qrels, run = lines(8)
    broken = random.Random(9)
    for content, spoilt in (
        (qrels, "bad-{} 0 d"),
        (run, "{} broken 3.0"),
        (qrels, "only-{}"),
        (run, "none-{} Q0 x 1 nan t"),
    ):
        for topic in range(100, 160):
            content.insert(broken.randrange(1, len(content)), spoilt.format(topic))
        first = content[0]
        begins = first.split()[0]
        content.sort(
            key=lambda line: (line.split()[0] != begins, line is not first, line.split()[0], len(line.split()))
        )
    files = written(tmp_path, qrels, run, "plain")
    with pytest.warns(rb.RankboundsWarning) as told:
        found = evaluate_stream(*files, MEASURES, memory=1 << 16, lenient=True)
    with pytest.warns(rb.RankboundsWarning) as expected:
        assert_same(found, rb.evaluate(*files, MEASURES, lenient=True))
    assert counted(told) == counted(expected)


def counted(met):
    """What was left out of each file, in one warning for each."""
    told = [str(one.message) for one in met if " left out" in str(one.message)]
    return sorted((one.partition(":")[0], *sorted(re.findall(r"[a-z ]+: \d+ \(first: .*?\)", one))) for one in told)


@pytest.mark.parametrize("spoilt", ["qrels", "run"])
def test_a_file_of_broken_lines_is_told(tmp_path, spoilt):
    files = dict(zip(("qrels", "run"), written(tmp_path, *lines(10), "plain"), strict=True))
    bad = {"qrels": "1 0 d grade\n", "run": "1 Q0 d 1 score t\n"}[spoilt]
    files[spoilt].write_text(bad * 3)
    with pytest.raises(rb.DataError, match="no line of this file could be used"):
        evaluate_stream(*files.values(), MEASURES, memory=1 << 16, lenient=True)


def test_ties_by_a_key_of_ones_own(tmp_path):
    files = written(tmp_path, *lines(6, topics=20), "plain")
    key = {f"doc-number-{number}": (number * 37) % 101 for number in range(300)}
    found = evaluate_stream(*files, MEASURES, memory=1 << 16, ties_key=key)
    assert_same(found, rb.evaluate(*files, MEASURES, ties_key=key))
    assert not np.allclose(found.value, rb.evaluate(*files, MEASURES).value)


def test_words_for_grades(tmp_path):
    qrels, run = lines(7)
    rows = [line.split() for line in qrels]
    qrels = [" ".join([*row[:3], "CCBAS"[int(row[3]) + 1]]) for row in rows]
    files = written(tmp_path, qrels, run, "plain")
    rule = "S=9,A=4,B=1"
    assert_same(evaluate_stream(*files, MEASURES, memory=1 << 20, gain=rule), rb.evaluate(*files, MEASURES, gain=rule))


def test_pieces_are_small_and_hold_whole_topics(tmp_path):
    _, run = written(tmp_path, *lines(2), "plain")
    file = LargeFile(str(run), streaming.RUN_COLUMNS, 4096)
    pieces = list(file.grouped())
    assert len(pieces) > 10
    assert sum(len(piece.pairs) for piece in pieces) == len(run.read_text().splitlines())
    topics = [topic for piece in pieces for topic in piece.pairs.topics]
    assert len(topics) == len(set(topics))


def test_stretches_of_a_file_hold_whole_topics(tmp_path):
    """All lines or rows in their order, whichever bytes a stretch would begin at."""
    for kind in ("plain", "parquet"):
        _, run = written(tmp_path, *lines(2), kind)
        if kind == "parquet":
            polars.read_parquet(run).write_parquet(run, row_group_size=90)
        file = LargeFile(str(run), RUN_COLUMNS, 4096)
        for size in (1000, 5000, 12_345, 1 << 20):
            stretches = file.stretches(size)
            assert (len(stretches) == 1) == (size == 1 << 20)
            assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(stretches))
            pieces = [piece for begin, end in stretches for piece in file.grouped(begin, end)]
            runs = [run_in(piece, "run") for piece in pieces]
            assert [row for part in runs for row in part] == list(rb.read_run(run))
            topics = [topic for part in runs for topic in part.query_ids]
            assert len(topics) == len(set(topics))


def test_a_table_of_several_runs_is_refused_as_in_memory(tmp_path):
    columns = {"query_id": list("1122"), "doc_id": list("abab"), "score": [2.0, 1.0] * 2, "run": list("xxyy")}
    polars.DataFrame(columns).write_parquet(tmp_path / "run")
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    for engine in ("local", "stream"):
        with pytest.raises(rb.DataError, match=r'run: this table holds .* runs \("x", "y", \.\.\.\)'):
            rb.evaluate(tmp_path / "qrels", tmp_path / "run", engine=engine)


def test_a_topic_larger_than_a_piece_is_held_whole(tmp_path):
    run = [f"1 Q0 d{at} {at} {1000 - at} t" for at in range(5000)] + ["2 Q0 a 1 1 t"]
    files = written(tmp_path, ["1 0 d4000 1", "2 0 a 1"], run, "plain")
    assert_same(evaluate_stream(*files, MEASURES, memory=1 << 16), rb.evaluate(*files, MEASURES))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("150 Q0 doc-x 1 nan t", "is not a finite number"),
        ("150 Q0 doc-x 1", "expected 6 fields"),
        ("{twice}", "is listed twice"),
    ],
)
def test_errors_name_the_line_of_the_file(tmp_path, line, told):
    qrels, run = lines(3)
    at = len(run) * 3 // 4
    while run[at].split()[0] == run[at - 1].split()[0] == run[at + 1].split()[0]:
        at += 1
    run.insert(at, run[at - 1] if line == "{twice}" else line)
    files = written(tmp_path, qrels, run, "plain")
    with pytest.raises(rb.DataError, match=rf"run:{at + 1}: .*{told}"):
        evaluate_stream(*files, MEASURES, memory=1 << 16)


def test_what_cannot_be_read_in_pieces(tmp_path):
    qrels, run = written(tmp_path, *lines(4), "plain")
    (tmp_path / "table.csv").write_text("query_id,doc_id,score\n1,a,1\n")
    with pytest.raises(rb.UsageError, match="only TREC files and Parquet"):
        evaluate_stream(qrels, tmp_path / "table.csv")
    with pytest.raises(rb.UsageError, match="Standard input"):
        evaluate_stream(qrels, "-")
    with pytest.raises(rb.UsageError, match="is not a size such as"):
        evaluate_stream(qrels, run, memory="lots")
    with pytest.raises(rb.DataError, match="there is no such file"):
        evaluate_stream(qrels, tmp_path / "absent")
    (tmp_path / "other").write_text("x Q0 a 1 1 t\n")
    with pytest.raises(rb.DataError, match=r'no topic of this run is judged.*"x"'):
        evaluate_stream(qrels, tmp_path / "other")
    polars.DataFrame({"query_id": ["1"], "score": [1.0]}).write_parquet(tmp_path / "p")
    with pytest.raises(rb.DataError, match="no column for the document id"):
        evaluate_stream(qrels, tmp_path / "p")


@pytest.mark.parametrize("kind", ["plain", "gzip", "parquet"])
def test_topics_that_do_not_stand_together_are_refused_with_what_to_do(tmp_path, command, kind):
    qrels, run = lines(1, topics=30, order="mixed")
    files = written(tmp_path, qrels, run, kind)
    assert_same(evaluate_stream(*files, MEASURES), rb.evaluate(*files, MEASURES))  # the whole fits into one piece
    code, out, err = command("evaluate", *files, "--engine", "stream", "--memory", "64K")
    assert (code, out) == (3, "")
    told = r'rankbounds: .*run: the rows of topic "\d+" do not stand together, as reading in pieces needs\. '
    todo = r"Sort the file by topic once \(TREC files: sort -s -k1,1 FILE\), or evaluate in memory \(--engine local\)"
    assert re.match(told + todo, err)
    if kind == "plain":
        (tmp_path / "run").write_text("".join(sorted(f"{line}\n" for line in run)))
        assert_same(evaluate_stream(*files, MEASURES, memory=1 << 16), rb.evaluate(*files, MEASURES))


def test_command(tmp_path, capsys):
    files = [str(path) for path in written(tmp_path, *lines(5), "plain")]
    main(["evaluate", *files, "--format", "json", "-q", "--engine", "local"])
    expected = json.loads(capsys.readouterr().out)
    assert main(["evaluate", *files, "--format", "json", "-q", "--engine", "stream", "--memory", "128K"]) == 0
    for ours, theirs in zip(json.loads(capsys.readouterr().out), expected, strict=True):
        numbers = {name: one for name, one in theirs.items() if isinstance(one, float)}
        assert {**ours, **numbers} == theirs
        assert [ours[name] for name in numbers] == pytest.approx(list(numbers.values()), rel=1e-12, abs=1e-12)
    assert main(["evaluate", *files, "--engine", "streem"]) == 2
    assert 'Did you mean "stream"?' in capsys.readouterr().err


def test_lines_that_begin_with_control_characters_are_scored(tmp_path):
    """To the reader whatever is no greater than a blank is one; so it is where pieces begin."""
    qrels, run = lines(11)
    spoilt = [f"{chr(code)}{line}" for line, code in zip(run, range(1, 32), strict=False) if chr(code) not in "\n\r"]
    files = written(tmp_path, qrels, spoilt, "plain")
    assert_same(evaluate_stream(*files, MEASURES, memory=1 << 16), rb.evaluate(*files, MEASURES))


MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "line", "again", "cut", "drop"]),
        st.integers(0, 1 << 14),
        st.sampled_from(
            [
                b"\x01",
                b"\x00",
                b"\xef\xbb\xbf",
                b"#",
                b"\r",
                b"\n",
                b"\t",
                b" ",
                b"\x1f",
                b"\x0b",
                b"\xe9",
                b"nan",
                b"\n# so\n",
            ]
        ),
    ),
    max_size=4,
)


def mutated(content, mutations):
    """Bytes put in anywhere or where a line begins, lines that stand twice, bytes that are lost."""
    for kind, number, token in mutations:
        at = number % (len(content) + 1)
        if kind in ("line", "again"):
            at = content.rfind(b"\n", 0, at) + 1
        if kind == "again":
            token = content[at:].partition(b"\n")[0] + b"\n"
            at = content.find(b"\n", number % len(content)) + 1 if content else 0
        lost = number % 5 + 1 if kind == "drop" else 0
        content = content[:at] if kind == "cut" else content[:at] + (b"" if lost else token) + content[at + lost :]
    return content


@given(
    seed=st.integers(0, 99),
    qrels=MUTATIONS,
    run=MUTATIONS,
    lenient=st.booleans(),
)
@example(seed=0, qrels=[], run=[("cut", 0, b"")], lenient=False)
@example(seed=0, qrels=[], run=[("cut", 0, b""), ("insert", 0, b"\x01")], lenient=False)
@example(seed=0, qrels=[("cut", 0, b""), ("insert", 0, b"\n")], run=[], lenient=True)
@example(seed=0, qrels=[("line", 900, b"\x01")], run=[("line", 900, b"\xef\xbb\xbf")], lenient=False)
@example(seed=0, qrels=[("insert", 0, b"\x00")], run=[("insert", 0, b"\x00")], lenient=False)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_same_bytes_have_the_same_outcome(tmp_path, seed, qrels, run, lenient):
    contents = [("\n".join(part) + "\n").encode() for part in lines(seed, topics=12)]
    spoilt = [mutated(content, each) for content, each in zip(contents, (qrels, run), strict=True)]
    assert_same_outcome([streamed], *spoilt, tmp_path, lenient=lenient)


@pytest.mark.parametrize("spoilt", ["qrels", "run"])
@pytest.mark.parametrize("kind", ["gzip", "bz2", "lzma", "zstandard", "parquet"])
def test_damaged_files_are_one_sentence(tmp_path, command, kind, spoilt):
    files = dict(
        zip(("qrels", "run"), written(tmp_path, *lines(12), "parquet" if kind == "parquet" else "plain"), strict=True)
    )
    content = files[spoilt].read_bytes()
    if kind != "parquet":
        library = pytest.importorskip(kind)
        content = (library.ZstdCompressor().compress if kind == "zstandard" else library.compress)(content)
    middle = len(content) // 2
    for damaged in (content[:-20], content[:middle], content[:middle] + b"\xff" * 40 + content[middle + 40 :]):
        files[spoilt].write_bytes(damaged)
        code, out, err = command("evaluate", *files.values(), "--engine", "stream", "--memory", "128K")
        assert (code, out) == (3, "")
        assert err.startswith(f"rankbounds: {files[spoilt]}")
        assert err.count("\n") == 1


def test_a_value_that_is_none_in_parquet_names_the_file_of_the_user(tmp_path):
    qrels, run = written(tmp_path, *lines(13), "parquet")
    frame = polars.read_parquet(run)
    frame.with_columns(score=polars.when(polars.col("rank") == 7).then(None).otherwise("score")).write_parquet(run)
    with pytest.raises(rb.DataError, match="not a finite number") as raised:
        evaluate_stream(qrels, run, MEASURES, memory=1 << 16)
    assert str(raised.value).startswith(str(run))


def test_damage_in_what_parquet_says_beside_its_columns_changes_nothing(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    qrels, run = written(tmp_path, *lines(5), "parquet")
    parquet.write_table(parquet.read_table(run).replace_schema_metadata({b"k\xff": b"v"}), run)
    assert_same(evaluate_stream(qrels, run, MEASURES), rb.evaluate(qrels, run, MEASURES))


def test_ids_in_parquet_that_are_no_text_are_those_of_memory(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "qrels").write_bytes(b"1 0 d\xff 1\n1 0 e 0\n")
    doc = pyarrow.array([b"e", b"d\xff"]).cast(pyarrow.string(), safe=False)
    table = pyarrow.table({"query_id": ["1", "1"], "doc_id": doc, "score": [2.0, 1.0]})
    parquet.write_table(table, tmp_path / "run.parquet")
    scores = [
        evaluate(tmp_path / "qrels", tmp_path / "run.parquet", ["RR"]) for evaluate in (rb.evaluate, evaluate_stream)
    ]
    assert [score.value.tolist() for score in scores] == [[[[0.5]]], [[[0.5]]]]


def test_a_long_line_costs_what_its_bytes_cost(tmp_path):
    (tmp_path / "qrels").write_text("1 0 d 1\n")
    (tmp_path / "run").write_text(
        f"1 Q0 {'x' * 30_000_000} 1 2.0 t\n1 Q0 d 2 1.0 t\n{' ' * 3_000_000}{'t' * 3_000_000} Q0 d 1 1.0 t\n"
        "2 Q0 d 1 1.0 t\n"
    )
    with machine.within(100), pytest.warns(rb.RankboundsWarning, match="topics without judgments"):
        scores = evaluate_stream(tmp_path / "qrels", tmp_path / "run", ["RR"], memory=1 << 16)
    assert scores.value.tolist() == [[[0.5]]]


MEASURED = """
import re, sys
import rankbounds
rankbounds.evaluate(sys.argv[1], sys.argv[2], ["AP", "RBP(p=0.8)"], engine="stream", memory="16M", threads=1)
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the greatest memory is read from /proc")
def test_many_topics_take_the_memory_that_is_promised(tmp_path):
    """For each topic some 100 bytes, for each measure 24, or 48 with residuals, and for each judgment 200."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    taken = []
    for topics in (230_000, 330_000):
        qrels.write_text("".join(f"{topic} 0 d 1\n" for topic in range(topics)))
        run.write_text("".join(f"{topic} Q0 d 1 1 t\n" for topic in range(topics)))
        ended = subprocess.run(
            [sys.executable, "-c", MEASURED, str(qrels), str(run)], check=True, capture_output=True, text=True
        )
        taken.append(int(ended.stdout) * 1024)
    assert taken[1] - taken[0] < 100_000 * (2 * (100 + 24 + 48) + 200)


TWICE = MEASURED.replace("rankbounds.evaluate", "try: rankbounds.evaluate")
TWICE = TWICE.replace("print(", "except rankbounds.DataError as error: print(error)\nprint(")


@pytest.mark.skipif(sys.platform != "linux", reason="the greatest memory is read from /proc")
def test_a_run_written_twice_takes_the_memory_that_is_promised(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1 0 d 1\n")
    lines_of = ["".join(f"{topic} Q0 document-{doc} 1 1 t\n" for doc in range(1000)) for topic in range(300)]
    taken = []
    for times in (1, 2):
        run.write_text("".join(one + (one if times > 1 else one.replace("document-", "document")) for one in lines_of))
        command = [sys.executable, "-c", TWICE, str(qrels), str(run)]
        *told, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        assert [one.partition(": ")[0] for one in told] == [f"{run}:1001"] * (times - 1)
        taken.append(int(peak) * 1024)
    assert taken[1] - taken[0] < 16 << 20


@pytest.mark.parametrize("kind", ["gzip", "bz2", "lzma"])
@pytest.mark.parametrize("packed", ["qrels", "run"])
def test_parquet_in_a_compressed_file_is_refused_with_what_to_do(tmp_path, kind, packed):
    """By every engine in the same words; as it is, every engine reads it."""
    qrels, run = written(tmp_path, *lines(5), "parquet")
    path = tmp_path / packed
    engines = rb.evaluate, evaluate_stream
    assert len({evaluate(qrels, run, "AP").mean().value.item() for evaluate in engines}) == 1
    path.write_bytes(importlib.import_module(kind).compress(path.read_bytes()))
    for evaluate in engines:
        with pytest.raises(DataError) as raised:
            evaluate(qrels, run, "AP")
        assert str(raised.value) == (
            f"{path}: this is Parquet where text is expected. Decompress it if it is compressed, and check --formats."
        )


@pytest.mark.parametrize("kind", ["gzip", "bz2", "lzma"])
def test_damage_has_the_same_words_in_pieces(tmp_path, kind):
    packed = importlib.import_module(kind).compress(b"".join(b"1 Q0 d%d 1 %d t\n" % (row, row) for row in range(2000)))
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    flipped = packed[:200] + bytes([packed[200] ^ 255]) + packed[201:]
    for content in (packed[:-20], packed[:12], packed + packed[:40], flipped, packed[:-3] + b"abc"):
        (tmp_path / "run").write_bytes(content)
        told = []
        for engine in (rb.evaluate, evaluate_stream):
            with pytest.raises(DataError, match="the compressed data are damaged") as error:
                engine(tmp_path / "qrels", tmp_path / "run", "AP")
            told.append(str(error.value))
        assert told[0] == told[1]


BLANK = {"empty": b"\n", "blanks": b" \t\n", "comments": b"#\n", "one line": b" "}


@pytest.mark.skipif(sys.platform != "linux", reason="the greatest memory is read from /proc")
@pytest.mark.parametrize("kind", BLANK)
def test_what_holds_no_data_takes_no_memory(tmp_path, kind):
    """40 MB of blank lines in a few kilobytes: as much memory as without them."""
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    texts = {"qrels": "1 0 d 1\n2 0 e 1\n", "run": "1 Q0 d 1 1 t\n2 Q0 e 1 1 t\n"}
    blank = BLANK[kind] * (40_000_000 // len(BLANK[kind]) // (4 if kind == "comments" else 1))
    taken = []
    for added in (b"", blank):
        for name, text in texts.items():
            half = len(text) // 2
            content = text[:half].encode() + (added + b"\n" if name == "run" else b"") + text[half:].encode()
            (tmp_path / name).write_bytes(zstandard.ZstdCompressor().compress(content))
        ended = subprocess.run(
            [sys.executable, "-c", MEASURED, str(tmp_path / "qrels"), str(tmp_path / "run")],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        taken.append(int(ended.stdout) * 1024)
    assert taken[1] - taken[0] < 16 << 20
