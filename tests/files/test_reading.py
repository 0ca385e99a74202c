"""Everything that is read means what it says, whatever its blanks, endings, order and compression."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import pickle
import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.collection.order import _order_within_groups
from rankbounds.columns.decimals import parse_decimals
from rankbounds.columns.hash_tables import HashTable, repeated_keys
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, OutOfMemoryError, Place
from rankbounds.files import trec
from rankbounds.files.leniency import REPEATED, LeftOut, LeftOutWarning, Problems, merge_warnings

pytestmark = pytest.mark.usefixtures("both_ways")

RUN = {"401": {"d1": 3.5, "d2": 2.0}, "402": {"d1": 1.0, "ü-3": -0.25}}
QRELS = {"401": {"d1": 1, "d2": 0}, "402": {"ü-3": 2}}
LINES = ["401 Q0 d1 1 3.5 tag", "401 Q0 d2 2 2.0 tag", "402 Q0 d1 1 1.0 tag", "402 Q0 ü-3 2 -0.25 tag"]


def write(path, text, encoding="utf-8"):
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def joined(lines, end="\n"):
    return end.join(lines) + end


@pytest.mark.parametrize(
    "text",
    [
        joined(LINES),
        joined(LINES)[:-1],
        joined(LINES, "\r\n"),
        joined([line.replace(" ", "\t") for line in LINES]),
        joined([line.replace(" ", "   ") for line in LINES]),
        joined([f"  {line} \t" for line in LINES]),
        joined(["# a comment", LINES[0], "", *LINES[1:3], "   ", "#another", LINES[3]]),
        "\ufeff" + joined(LINES),
        joined([LINES[0], LINES[2], LINES[1], LINES[3]]),
        joined([line.rsplit(" ", 1)[0] for line in LINES]),
        joined([" ".join((q, d, r, s, t)) for q, _, d, r, s, t in (line.split() for line in LINES)]),
        joined([" ".join((q, d, s)) for q, _, d, _, s, _ in (line.split() for line in LINES)]),
        joined(LINES).replace("3.5", "3.5e0").replace("-0.25", "-2.5E-1"),
    ],
    ids=[
        "plain", "no last newline", "CRLF", "tabs", "repeated blanks", "blanks around", "comments and empty lines",
        "byte-order mark", "interleaved topics", "no tag", "no Q0", "three columns", "exponents",
    ],
)  # fmt: skip
def test_a_run_however_it_is_written(tmp_path, text):
    assert rb.read_run(write(tmp_path / "a.txt", text)).to_dict() == RUN


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1 doc-7 2 9.5 tag", ("doc-7", 9.5)),
        ("1 doc-7 2 9.5 2024", ("doc-7", 9.5)),  # no rank is 9.5
        ("1 doc-7 2 9.5 1e3", ("doc-7", 9.5)),
        ("1 7 2.0 9.5 4", ("7", 9.5)),
        ("1 0 1 9.5 4", ("0", 9.5)),
        ("1 0 7 1 9", ("7", 9.0)),
        ("1 Q0 7 1 9", ("7", 9.0)),
        ("1 q0 7 1 9.5", ("7", 9.5)),
        ("1 Q0 doc-7 1 9", ("doc-7", 9.0)),
        ("1 any doc-7 1 9", ("doc-7", 9.0)),
        ("1 Q0 doc-7 1 high", 'the score "high" is not a finite number.'),
        ("1 any 7 1 9", "topic Q0 document rank score or topic document rank score tag. Write Q0 as"),
        ("1 7 1 9 4", "this line of five fields can be"),
    ],
)
def test_lines_of_five_fields(tmp_path, line, expected):
    """With a number as tag they look like lines without a tag: what can be no rank decides."""
    run, qrels = write(tmp_path / "run", f"{line}\n"), {"1": {"doc-7": 1, "7": 1, "0": 1}}
    (checked,) = rb.check(run)
    assert checked.ok == isinstance(expected, tuple)
    if checked.ok:
        assert rb.read_run(run).to_dict() == {"1": dict([expected])}
        assert rb.evaluate(qrels, run, "RR").value.item() == 1
    else:
        assert expected in checked.findings[0].examples[0]
        with pytest.raises(DataError, match=re.escape(expected)):
            rb.evaluate(qrels, run, "RR")


@pytest.mark.parametrize(
    ("ending", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), ("", lzma.compress)],
)
def test_compressed(tmp_path, ending, compress):
    path = write(tmp_path / f"a.txt{ending}", compress(joined(LINES).encode()))
    assert rb.read_run(path).to_dict() == RUN


def test_compressed_by_zstandard(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    data = zstandard.ZstdCompressor().compress(joined(LINES).encode())
    assert rb.read_run(write(tmp_path / "a.zst", data)).to_dict() == RUN


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(joined(LINES).encode())))
    assert rb.read_run("-").to_dict() == RUN


def test_line_order_and_stated_rank_are_kept(tmp_path):
    run = rb.read_run(write(tmp_path / "a", "1 Q0 b 7 1.0 t\n1 Q0 a 3 2.0 t\n1\tQ0\tc  12\t1.5 t\n"))
    assert [doc for _, doc, _ in run] == ["b", "a", "c"]
    assert run.stated_rank.tolist() == [7, 3, 12]
    assert rb.read_run(write(tmp_path / "b", "1 b 1.0\n")).stated_rank is None


def test_names_come_from_tags_and_are_made_unique_by_files(tmp_path):
    for name, tag in (("x", "same"), ("y", "same"), ("z", "other")):
        write(tmp_path / name, f"1 Q0 d 1 1.0 {tag}\n")
    names = [run.name for run in rb.read_runs([tmp_path / "x", tmp_path / "y", tmp_path / "z"])]
    assert names == ["same (x)", "same (y)", "other"]
    assert rb.evaluate({"1": {"d": 1}}, tmp_path, "P@1").runs == names
    write(tmp_path / "three.txt", "1 d 1.0\n")
    assert rb.read_run(tmp_path / "three.txt").name == "three"


def test_folders_and_patterns(tmp_path):
    for name in ("b.run", "a.run", "c.other"):
        write(tmp_path / name, f"1 Q0 d 1 1.0 {name}\n")
    assert [run.name for run in rb.read_runs(tmp_path)] == ["a.run", "b.run", "c.other"]
    assert [run.name for run in rb.read_runs(str(tmp_path / "*.run"))] == ["a.run", "b.run"]


def test_judgments(tmp_path):
    qrels = rb.read_qrels(write(tmp_path / "q", "1 0 a 1\n1 0 b 0.7\n1 0 c -1\n2 0 a -2\n"))
    assert qrels.to_dict() == {"1": {"a": 1, "b": 0.7, "c": -1}, "2": {"a": -2}}


def test_minus_one_is_unjudged_and_lower_is_not_relevant():
    qrels, run = {"1": {"a": -1, "b": -2, "c": 1}}, {"1": {"a": 3, "b": 2, "c": 1}}
    scores = rb.evaluate(qrels, run, ["RBP(p=0.5)", "Unjudged@3", "DCG"])
    assert scores.value[0, 0].tolist() == pytest.approx([0.125, 1 / 3, 0.5])
    assert scores.high[0, 0, 0] == pytest.approx(0.125 + 0.5 + 0.125)


def test_writing_and_reading_back(tmp_path):
    run = rb.read_run(write(tmp_path / "a", joined(LINES)))
    run.write(tmp_path / "b")
    again = rb.read_run(tmp_path / "b")
    assert again.to_dict() == RUN
    assert again.stated_rank.tolist() == [1, 2, 1, 2]
    qrels = rb.Qrels.from_columns(["1", "1"], ["a", "b"], [0.7, 2])
    qrels.write(tmp_path / "q")
    assert rb.read_qrels(tmp_path / "q").to_dict() == {"1": {"a": 0.7, "b": 2}}


@pytest.mark.parametrize(
    ("query", "doc", "score", "grade"),
    [
        ("query_id", "doc_id", "score", "relevance"),
        ("qid", "docno", "score", "label"),
        ("query-id", "corpus-id", "score", "score"),
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "csv", "tsv", "jsonl", "parquet"])
def test_tables_with_the_names_people_use(tmp_path, kind, query, doc, score, grade):
    def table(what, value_name, nested):
        rows = [(q, d, value) for q, docs in nested.items() for d, value in docs.items()]
        queries, docs, values = map(list, zip(*rows, strict=True))
        return held_as(kind, tmp_path / what, {query: queries, doc: docs, value_name: [float(v) for v in values]})

    expected = rb.evaluate(QRELS, RUN, ["AP", "nDCG"])
    found = rb.evaluate(table("qrels", grade, QRELS), table("run", score, RUN), ["AP", "nDCG"])
    np.testing.assert_array_equal(found.value, expected.value)


def held_as(kind, path, columns):
    """The columns as a frame of this kind, or as a file of this kind."""
    if kind in ("pandas", "pyarrow"):
        library = pytest.importorskip(kind)
        return library.DataFrame(columns) if kind == "pandas" else library.table(columns)
    import polars

    frame = polars.DataFrame(columns)
    if kind == "polars":
        return frame
    path = path.with_suffix(f".{kind}")
    if kind in ("csv", "tsv"):
        frame.write_csv(path, separator="\t" if kind == "tsv" else ",")
    elif kind == "jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_parquet(path)
    return path


def test_numeric_ids_become_text_and_rows_are_taken():
    scores = rb.evaluate([(1, 10, 1), (1, 11, 0)], [(1, 10, 0.5), (1, 11, 0.75)], "RR")
    assert scores.query_ids == ["1"]
    assert scores.value[0, 0, 0] == 0.5


def test_stated_ranks_of_a_frame_order_ties():
    polars = pytest.importorskip("polars")
    run = polars.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, 1.0], "rank": [1, 2]})
    values = {
        ties: rb.evaluate({"1": {"a": 1}}, run, "RR", ties=ties).value[0, 0, 0] for ties in ("rank", "trec", "docid")
    }
    assert values == {"rank": 1.0, "trec": 0.5, "docid": 1.0}


class TestTieOrders:
    lines = "1 Q0 b 2 1.0 t\n1 Q0 a 3 1.0 t\n1 Q0 ab 1 1.0 t\n1 Q0 z 4 2.0 t\n"

    @pytest.mark.parametrize(
        ("ties", "order"), [("trec", "z b ab a"), ("docid", "z a ab b"), ("rank", "z ab b a"), ("run", "b a ab z")]
    )
    def test_order(self, tmp_path, ties, order):
        run = rb.read_run(write(tmp_path / "a", self.lines))
        for rank, doc in enumerate(order.split(), 1):
            assert rb.evaluate({"1": {doc: 1}}, run, "RR", ties=ties).value[0, 0, 0] == pytest.approx(1 / rank)

    def test_long_ids_are_compared_to_their_ends(self, tmp_path):
        docs = ["x" * 70 + end for end in ("a", "c", "b", "")]
        run = write(tmp_path / "a", "".join(f"1 Q0 {doc} 1 0.5 t\n" for doc in docs))
        for rank, doc in enumerate(sorted(docs, reverse=True), 1):
            assert rb.evaluate({"1": {doc: 1}}, run, "RR").value[0, 0, 0] == pytest.approx(1 / rank)

    def test_single_precision_makes_more_ties(self):
        qrels, run = {"1": {"a": 1}}, {"1": {"a": 1.00000001, "b": 1.0}}
        assert rb.evaluate(qrels, run, "RR").value[0, 0, 0] == 1
        assert rb.evaluate(qrels, run, "RR", score_precision="single").value[0, 0, 0] == 0.5


decimal_tokens = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**6), max_value=10**6).map(str),
    st.from_regex(r"[+-]?[0-9]{0,9}\.?[0-9]{0,9}", fullmatch=True),
    st.text(alphabet="0123456789.+-eE", min_size=1, max_size=18),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(decimal_tokens.filter(len), min_size=1, max_size=30))
def test_decimals_are_read_to_the_last_bit(tokens):
    ids = Ids.of(tokens)
    values, bad = parse_decimals(ids.text, ids.start, ids.start + ids.length)
    for row, token in enumerate(tokens):
        try:
            expected = float(token)
        except ValueError:
            expected = float("nan")
        if np.isfinite(expected):
            assert values[row] == expected, token
        else:
            assert row in bad, token


words = st.text(
    alphabet=st.characters(min_codepoint=33, exclude_categories=("Cs", "Zs", "Zl", "Zp", "Cc")), min_size=1, max_size=20
)


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["1", "2", "topic-with-a-long-name"]),
        st.dictionaries(words, st.floats(-9, 9), max_size=8),
        min_size=1,
    ),
    st.randoms(),
)
def test_any_text_file_reads_as_split_would(tmp_path_factory, nested, random):
    lines = [f"{query} Q0 {doc} 1 {score!r} t" for query, docs in nested.items() for doc, score in docs.items()]
    if not lines:
        return
    random.shuffle(lines)
    if random.random() < 0.5:
        lines = [line.replace(" ", random.choice([" ", "  ", "\t"])) for line in lines]
    path = write(tmp_path_factory.mktemp("run") / "a", joined(lines))
    expected: dict[str, dict[str, float]] = {}
    for line in lines:
        query, _, doc, _, score, _ = line.split()
        expected.setdefault(query, {})[doc] = float(score)
    found = rb.read_run(path).to_dict()
    assert found == expected


def test_blocks_and_threads_do_not_matter(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    lines = [f"{query} Q0 doc{doc} 1 {rng.random():.6f} t" for query in range(20) for doc in rng.permutation(300)]
    path = write(tmp_path / "a", joined(lines))
    whole = rb.read_run(path).to_dict()
    monkeypatch.setattr(trec, "BLOCK_BYTES", 997)
    assert rb.read_run(path).to_dict() == whole
    assert rb.read_run(path, threads=3).to_dict() == whole
    rng.shuffle(lines)
    assert rb.read_run(write(tmp_path / "b", joined(lines)), threads=3).to_dict() == whole


def test_different_pairs_with_the_same_key_are_told_apart():
    docs, other = Ids.of(["a", "b", "c"]), Ids.of(["b", "x", "a", "c"])
    same_key = Pairs(("1",), np.zeros(3, dtype=np.int64), docs, np.full(3, 7, dtype=np.uint64), Source("left"))
    asked = Pairs(("1",), np.zeros(4, dtype=np.int64), other, np.full(4, 7, dtype=np.uint64), Source("right"))
    rows, places = same_key.index.find(asked, same_key.index.topics_of(asked))
    assert dict(zip(rows.tolist(), places.tolist(), strict=True)) == {0: 1, 2: 0, 3: 2}
    assert same_key.repeats().size == 0
    assert same_key.take(np.empty(0, dtype=np.int64)).repeats().size == 0


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40)), max_size=60),
    st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 40)), max_size=60),
)
def test_the_hash_table_finds_what_it_took_in(rows, asked):
    """Keys from a narrow range crowd the places, so that most rows have to go on to the next one."""
    topic, key = (np.array([row[at] for row in rows], dtype=kind) for at, kind in ((0, np.int64), (1, np.uint64)))
    table = HashTable(key, topic, 4)
    distinct = set(rows)
    assert table.refused.size == len(rows) - len(distinct)
    found = table.find(np.array([key for _, key in asked], dtype=np.uint64), np.array([t for t, _ in asked], dtype=int))
    for pair, row in zip(asked, found.tolist(), strict=True):
        assert (rows[row] == pair and row not in table.refused) if pair in distinct else row == -1


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40))
def test_tied_documents_are_ordered_by_all_keys(rows):
    tied = np.array([False, *(row[0] for row in rows[1:])])
    keys = [np.array([row[at] for row in rows]) for at in (1, 2)]
    group = np.cumsum(~tied).tolist()
    expected = sorted(range(len(rows)), key=lambda row: (group[row], rows[row][2], rows[row][1]))
    found = _order_within_groups(tied, keys)
    assert (list(range(len(rows))) if found is None else found.tolist()) == expected


def test_inputs_are_never_changed():
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"b": 2.0, "a": 1.0}}
    before = repr((qrels, run))
    for ties in ("trec", "best", "expected"):
        rb.evaluate(qrels, run, ["RBP(p=0.8)", "P@1"], ties=ties)
    assert repr((qrels, run)) == before


def test_a_document_is_found_whatever_the_length_of_other_ids(tmp_path):
    long = "an-id-of-more-than-forty-bytes-that-takes-six-words"
    assert rb.evaluate({"1": {"a": 1}}, {"1": {"a": 2.0, long: 1.0}}, "P@1").value[0, 0, 0] == 1
    with pytest.warns(rb.RankboundsWarning):
        found = rb.evaluate({"1": {"a": 1}, long: {"b": 1}}, {"1": {"a": 2.0}}, "P@1")
    assert found.value[0, :, 0].tolist() == [1, 0]
    (tmp_path / "qrels").write_text(f"1 0 a 1\n1 0 {long} 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 t\n")
    assert rb.evaluate(tmp_path / "qrels", tmp_path / "run", "P@1").value[0, 0, 0] == 1


ids = st.text(alphabet="ab-é", min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(ids, st.dictionaries(ids, st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=4),
    st.data(),
)
@pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")
def test_the_join_finds_what_a_dict_finds(judgments, data):
    queries = st.one_of(st.sampled_from(sorted(judgments)), ids)
    known = st.sampled_from(sorted({doc for docs in judgments.values() for doc in docs}))
    run = data.draw(st.dictionaries(queries, st.dictionaries(st.one_of(known, ids), st.floats(0, 1), min_size=1)))
    if not set(run) & set(judgments):
        return
    found = rb.evaluate(judgments, run, ["NumRelRet", "Unjudged@100"])
    for topic, query in enumerate(found.query_ids):
        grades = [judgments[query].get(doc) for doc in run.get(query, {})]
        assert found.value[0, topic, 0] == sum(grade is not None and grade > 0 for grade in grades)
        assert found.value[0, topic, 1] == pytest.approx(grades.count(None) / 100)


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9).map(lambda key: key << 60), max_size=60))
def test_repeated_keys_are_those_that_stand_twice(keys):
    found = repeated_keys(np.array(keys, dtype=np.uint64)).tolist()
    assert sorted(found) == sorted(key for key in set(keys) for _ in range(keys.count(key) - 1))


class TestErrorsCarryStructure:
    """Where, what, what to do: for whoever handles an error or a warning, and not only in its sentence."""

    ERRORS = (
        DataError(Place("run: one", line=3), 'the score "x" is not a finite number.', "Correct it."),
        DataError(Place("table", row=2), "a document id is empty."),
        DataError("qrels", "the file is empty."),
        DataError("a sentence of no place."),
        trec.NothingReadError("run", "the file has no line of data."),
        OutOfMemoryError("run", "there is not enough memory to read this."),
        rb.UsageError("no such measure."),
        rb.DataError("long " * 2000),
        LeftOutWarning("run", {"lines with too few fields left out": LeftOut(2, Place("run", 7))}),
    )

    @pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
    def test_they_pickle(self, error):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.args, vars(again)) == (type(error), error.args, vars(error))

    def test_the_sentence_is_made_of_the_parts(self):
        assert [str(error) for error in self.ERRORS[:4]] == [
            'run: one:3: the score "x" is not a finite number. Correct it.',
            "table, row 2: a document id is empty.",
            "qrels: the file is empty.",
            "a sentence of no place.",
        ]
        assert self.ERRORS[3].place is None
        assert self.ERRORS[0].moved_to("part").place == Place("part")

    @pytest.mark.parametrize(
        ("name", "text", "line", "row"),
        [
            ("run", "1 Q0 a 1 2 t\n1 Q0 b 2 x t\n", 2, None),
            ("run", "1 Q0 a 1 2 t\n\n1 Q0 b\n", 3, None),
            ("run", "1 Q0 a 1 2 t\n1 Q0 a 1 2 t\n", 2, None),
            ("run", "1 0 a 1\n", 1, None),
            ("run", "# no data\n", None, None),
            ("run.jsonl", '{"qid": 1, "docno": "a", "score": 1}\n{"qid": 1,}\n', 2, None),
            ("run.csv", "qid,docno,score\n1,a,1,5\n", 2, None),
            ("run.csv", "qid,docno,score\n1,a,1\n1,,1\n", None, 2),
            ("run.csv", "qid,docno,score\n1,a,1\n1,b,x\n", None, 2),
        ],
    )
    def test_a_file_has_the_place(self, tmp_path, name, text, line, row):
        path = write(tmp_path / name, text)
        with pytest.raises(DataError) as raised:
            rb.read_run(path)
        assert raised.value.place == Place(str(path), line, row)
        assert str(raised.value) == " ".join(
            filter(None, (f"{raised.value.place}: {raised.value.problem}", raised.value.remedy))
        )

    @pytest.mark.parametrize("size", [16, 1 << 20])
    def test_of_several_problems_the_first_line_is_told_first(self, tmp_path, monkeypatch, size):
        monkeypatch.setattr(trec, "BLOCK_BYTES", size)
        path = write(tmp_path / "run", joined([LINES[0], "401 Q0 d3 3 x t", *LINES[1:], "401 Q0", f"{LINES[0]}0 more"]))
        with pytest.raises(DataError, match='"x" is not a finite number') as raised:
            rb.read_run(path)
        assert raised.value.place == Place(str(path), 2)
        with pytest.warns(LeftOutWarning, match="scores .*: 1 .*:2.*; lines with .*: 1 .*; overlong lines cut: 1"):
            rb.read_run(path, lenient=True)

    def test_what_was_left_out_is_counted_by_kind(self, tmp_path, monkeypatch):
        monkeypatch.setattr(trec, "BLOCK_BYTES", 16)
        path = write(tmp_path / "run", joined([LINES[0], "401 Q0", "401 Q0 d3 3 x t", *LINES[1:], "402", LINES[0]]))
        with pytest.warns(LeftOutWarning) as met:
            rb.read_run(path, lenient=True)
        (warning,) = (one.message for one in met)
        assert warning.file == str(path)
        assert warning.left_out == {
            "lines with too few fields left out": LeftOut(2, Place(str(path), 2)),
            "scores that are not numbers left out": LeftOut(1, Place(str(path), 3)),
            REPEATED: LeftOut(1, Place(str(path), 8)),
        }
        assert merge_warnings([warning, warning])[0].left_out[REPEATED] == LeftOut(2, Place(str(path), 8))

    @pytest.mark.parametrize("order", list(itertools.permutations([40, 7, 300])))
    def test_the_first_of_several_parts_is_the_one_of_the_lowest_line(self, order):
        """Threads take parts in any order."""
        whole = Problems(lenient=True)
        for line in order:
            part = Problems(lenient=True)
            part.add("lines left out", 2, [DataError(Place("run", line + 1), "no line.")])
            part.add("lines left out", 1, [DataError(Place("run", line), "no line.")])
            whole.take(part)
        assert whole.left_out == {"lines left out": LeftOut(9, Place("run", 7))}
        with pytest.warns(LeftOutWarning, match=r"lines left out: 9 \(first: run:7\)"):
            whole.warn("run")
        strict = Problems(lenient=False)
        for line in order:
            strict.add("lines left out", 1, [DataError(Place("run", line), f"line {line}.")])
        with pytest.raises(DataError, match="line 7"):
            Problems(lenient=False).take(strict)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"relevance": "star"}, "--columns relevance=Stars "),
        ({"query_id": "qid_x", "doc_id": "doc_id"}, "--columns query_id=qid_x,doc_id=doc_id,qrels.query_id=query_id "),
        (
            {"relevance": "Stars", "source": "judge"},
            'there is no column "judge": this table has query_id, doc_id, Stars',
        ),
    ],
)
def test_advice_on_columns_names_ours_and_those_that_are_there(columns, told):
    rows = [{"query_id": "1", "doc_id": "a", "Stars": 1}, {"query_id": "1", "doc_id": "b", "Stars": 0}]
    with pytest.raises(rb.DataError) as refused:
        rb.evaluate(rows, {"1": ["a"]}, columns=columns)
    assert told in str(refused.value)
