"""The compiled kernel gives the arrays that NumPy gives, takes nothing that it cannot hold, and can be done without."""

from __future__ import annotations

import functools
import itertools
import operator
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.collection.inputs import as_run
from rankbounds.collection.qrels import as_qrels
from rankbounds.columns import native
from rankbounds.columns.by_rank import Places, running_sums, weighted_sums
from rankbounds.columns.ids import Ids
from rankbounds.columns.native.keys import Table, address_of, fill_table, none_repeated, text_address, topic_ends
from rankbounds.columns.native.ranking import HeldDocuments, block_of, order_in_groups
from rankbounds.columns.native.reading import Lines, count_lines, dict_of_rows, ids_and_numbers, renumber
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.files.opening import text_of
from rankbounds.rankings.join import in_batches, join
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.stats.corrections import over_all_pairs
from rankbounds.stats.significance import Resampling, pairs_of

needs_kernel = pytest.mark.skipif(native.built is None, reason="no compiler built the kernel")


@pytest.fixture(autouse=True, scope="module")
def kernel():
    with native.switched("kernel" if native.built is not None else "NumPy"):
        yield


def parsed(content: bytes) -> Lines | None:
    """Lines of three fields as the kernel reads them; None where it hands them back."""
    text = text_of("text", content)
    lines = Lines.empty(count_lines(text.buffer, text.begin, text.end))
    read = lines.parse(text.buffer, (text.begin, text.end), 3, 0, 1, 2)
    return None if read is None else lines[: read[0]]


decimals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(1e-5, 1e15).map(lambda value: f"{value:.17f}"),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.from_regex(r"-?0{0,9}[0-9]{1,9}\.[0-9]{0,12}0{5,30}([eE]-?[0-9])?", fullmatch=True),
    st.from_regex(r"[+-]?[0-9]{0,25}\.?[0-9]{0,30}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)


@needs_kernel
@given(st.lists(decimals.filter(bool), min_size=1, max_size=20))
def test_a_decimal_is_what_python_reads_or_is_handed_back(tokens):
    for token in tokens:
        lines = parsed(b"q d " + token.encode() + b"\n")
        if lines is not None:
            assert lines.value.tobytes() == np.array([float(token)]).tobytes(), token


@needs_kernel
def test_scores_as_programs_write_them_are_read_by_the_kernel():
    rng = np.random.default_rng(1)
    formats = (repr, "{:.6f}".format, "{:.17g}".format, "{:.15f}".format, "{:.4e}".format, "{:.9g}".format)
    formats += (lambda value: f"{value:.13f}{'0' * 18}",)
    for values in (rng.random(2000) + 1e-4, rng.normal(size=2000) * 20, rng.random(2000) * 1e3):
        for write in formats:
            tokens = [write(value) for value in values.tolist()]
            lines = parsed("".join(f"q d{row} {token}\n" for row, token in enumerate(tokens)).encode())
            assert lines is not None, f"handed back: {tokens[:3]}"
            assert lines.value.tolist() == [float(token) for token in tokens]


@needs_kernel
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", " ", "\t "]),
            st.sampled_from([" ", "\t", "  ", " \x01"]),
            st.integers(1, 70),
            decimals.filter(bool),
            st.sampled_from(["\n", "\r\n", " \n", " \t\n", "\n\n", "\n#\n", "\n# a b c\n"]),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_fields_are_those_that_python_splits_whatever_stands_between_them(rows):
    content = "".join(f"{front}q{blank}{'d' * size} {token}{end}" for front, blank, size, token, end in rows)
    lines = parsed(content.encode())
    if lines is not None:
        assert lines.length.tolist() == [size for _, _, size, _, _ in rows]
        assert lines.value.tobytes() == np.array([float(token) for *_, token, _ in rows]).tobytes()
    plain = parsed("".join(f"{front}q{blank}{'d' * size} 1{end}" for front, blank, size, _, end in rows).encode())
    assert plain is not None


@needs_kernel
@pytest.mark.parametrize(
    "content",
    [b"q d\n", b"q d 1 2\n", b"q d x\n", b"q d 1_0\n", b"q d nan\n", b"q d 1e999\n", b"q %s 1\n" % (b"d" * 257)],
    ids=["too few fields", "too many", "a word", "underscore", "not a number", "infinite", "a long id"],
)
def test_what_is_odd_is_handed_back(content):
    assert parsed(b"q a 1\n" + content) is None
    assert parsed(b"q a 1\n# q d\n\n  \t\r\n q\tb  2 \r\n").value.tolist() == [1, 2]


@needs_kernel
def test_a_text_that_ends_at_the_end_of_its_buffer_is_not_read_beyond():
    text = text_of("text", b"q d 1")  # without a newline
    with pytest.raises(TypeError, match="another kind or size"):
        text_address(text.buffer[: text.end], text.end)


@needs_kernel
def test_arrays_of_another_kind_or_size_are_refused():
    fits = np.zeros((3, 2), np.int32)
    assert address_of(fits, np.int32, 6) == fits.ctypes.data
    for array in (np.zeros(6), np.zeros(12, np.int32)[::2], np.zeros(5, np.int32), np.zeros(6, ">i4"), fits.T):
        with pytest.raises(TypeError, match="another kind or size"):
            address_of(array, np.int32, 6)
    with pytest.raises(AttributeError):
        address_of([1] * 6, np.int32, 6)


@needs_kernel
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40)), max_size=60), st.booleans())
def test_repeats_are_those_of_a_set(rows, crowded):
    rows = sorted(rows, key=lambda row: row[0])
    topic = np.array([row[0] for row in rows], dtype=np.int32)
    keys = np.array([row[1] << 40 if crowded else row[1] * 0x9E3779B97F4A7C15 % 2**64 for row in rows], dtype=np.uint64)
    distinct = len(set(rows)) == len(rows)
    # Crowded keys may be handed to NumPy; what is said to be without repeats is.
    assert none_repeated(keys, topic) == distinct or (crowded and distinct)
    present = np.flatnonzero(np.bincount(topic, minlength=4))
    assert topic_ends(topic).tolist() == np.searchsorted(topic, present, side="right").tolist()
    assert (topic_ends(topic[::-1].copy()) is None) == (present.size > 1)


@needs_kernel
def test_keys_that_crowd_are_left_to_numpy():
    topic, begin, last = np.zeros(40, dtype=np.int64), np.zeros(2, dtype=np.int64), np.array([255, 0])
    table = np.full(257, -1, dtype=np.int32)
    assert not fill_table(np.arange(40, dtype=np.uint64) << np.uint64(32), topic, begin, last, table)
    assert (table == -1).all()
    assert fill_table(np.arange(40, dtype=np.uint64), topic, begin, last, table)
    assert table[:40].tolist() == list(range(40))


@needs_kernel
def test_lists_beyond_the_end_of_a_column_are_refused():
    column = np.arange(5.0)
    assert block_of(column, -1.0, np.array([3, 0]), np.array([2, 3]), 3).tolist() == [[3, 4, -1], [0, 1, 2]]
    for start, length in (([4], [2]), ([-1], [2]), ([0], [4])):
        with pytest.raises(IndexError):
            block_of(column, 0.0, np.array(start), np.array(length), 3)


@needs_kernel
@given(
    st.lists(st.lists(st.sampled_from([0.0, -0.0, 1.0, 0.5, 2.0]), min_size=1, max_size=6), min_size=1), st.booleans()
)
def test_the_order_within_groups_is_that_of_a_stable_sort(groups, falling):
    value = np.concatenate(groups)
    size = np.array([len(group) for group in groups])
    number = np.repeat(np.arange(size.size), size)
    expected = np.lexsort((-value if falling else value, number))
    assert order_in_groups(value, np.cumsum(size) - size, falling).tolist() == expected.tolist()


@needs_kernel
def test_values_without_an_order_and_long_groups_are_left_to_numpy():
    assert order_in_groups(np.array([1.0, np.nan]), np.array([0]), True) is None
    assert order_in_groups(np.arange(100.0), np.array([0]), True) is None
    with pytest.raises(IndexError):
        order_in_groups(np.arange(3.0), np.array([0, 4]), True)


ids = st.text("ab\0é", min_size=1, max_size=12)


@needs_kernel
@given(
    st.dictionaries(ids, st.dictionaries(ids, st.sampled_from([0.0, 0.5, 0.1, 1e300]), max_size=30), min_size=1),
    st.dictionaries(ids, st.dictionaries(ids, st.integers(-1, 3), min_size=1, max_size=30), min_size=1),
    st.sampled_from(["trec", "docid", "line", "run"]),
    st.sampled_from(["double", "single"]),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_rankings_of_any_table_are_those_of_numpy(scores, grades, order, precision, keep, shuffled):
    rows = [(query, doc, score) for query, docs in scores.items() for doc, score in docs.items()]
    if not rows or not {row[0] for row in rows} & set(grades):
        return
    shuffled.shuffle(rows)
    run, qrels = rb.Run.from_columns(*zip(*rows, strict=True)), as_qrels(grades)
    batches = []
    for way in ("kernel", "NumPy"):
        with native.switched(way):
            joined = join(run, TopicFacts(qrels), order=order, precision=precision, keep_rows=keep, keep_judgments=keep)
            batches.append(list(joined.batches))
    for ours, theirs in zip(*batches, strict=True):
        for name in ("grade", "length", "topic", "tied", "row", "judgment"):
            own, other = getattr(ours, name), getattr(theirs, name)
            assert (own is None) == (other is None), name
            if own is not None:
                assert own.dtype == other.dtype, name
                np.testing.assert_array_equal(own, other, err_msg=name)


@pytest.mark.parametrize("which", ["NumPy", pytest.param("kernel", marks=needs_kernel)])
@given(st.integers(0, 4), st.integers(1, 40), st.sampled_from([0.0, 0.05, 0.5, 1.0]), st.integers(0, 2**32 - 1))
def test_marked_cells_are_found_list_by_list(which, lists, width, share, seed):
    marked = np.random.default_rng(seed).random((lists, width)) < share
    expected = []
    for row in range(lists):
        ranks = [rank for rank in range(width) if marked[row, rank]]
        expected += [(row, rank, number) for number, rank in enumerate(ranks)]
    with native.switched(which):
        for flags in (marked, np.asfortranarray(marked)):
            assert list(zip(*(column.tolist() for column in Places.of(flags)), strict=True)) == expected


@pytest.mark.parametrize("which", ["NumPy", pytest.param("kernel", marks=needs_kernel)])
def test_topics_get_other_numbers(which):
    with native.switched(which):
        topic = np.array([0, 2, 1, 2, 0], dtype=np.int32)
        renumber(topic, np.array([7, 8, 9], dtype=np.int32))
        assert topic.tolist() == [7, 9, 8, 9, 7]
        with pytest.raises(IndexError):
            renumber(topic, np.array([1], dtype=np.int32))
        renumber(topic[:0], np.array([1], dtype=np.int32))


@needs_kernel
def test_a_table_of_other_rows_is_refused():
    ids = Ids.of(["a", "b"])
    for row in ([0, 1, 2, -1], [0, 0, 1, -1], [0, -1, -1, -1]):
        stretch = np.zeros(1, dtype=np.int64), np.array([3]), np.array(row, dtype=np.int32)
        with pytest.raises(IndexError, match="other rows"):
            Table(ids.text, ids.start, ids.length, *stretch)


@needs_kernel
def test_a_judgment_whose_key_another_has_is_found():
    docs = Ids.of(["a", "b"])
    pairs = Pairs.numbered(["q"], np.zeros(2, dtype=np.int64), docs, Source("judgments"))
    same_key = Pairs(pairs.topics, pairs.topic, docs, np.full(2, 7, dtype=np.uint64), pairs.source)
    assert same_key.index.native is None
    rows, here = same_key.index.find(same_key, np.zeros(1, dtype=np.int64))
    assert rows.tolist() == here.tolist() == [0, 1]


def test_what_is_read_again_leaves_nothing_behind(tmp_path):
    """No module keeps a note of every call: who reads files for weeks would see its memory grow."""

    def held():
        modules = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "rankbounds"}
        return {
            f"{name}.{key}": len(value)
            for name, module in modules.items()
            for key, value in vars(module).items()
            if isinstance(value, list | dict | set) and not key.startswith("__")
        }

    path = tmp_path / "run"
    path.write_text("".join(f"q Q0 d{row} 1 {row} t\n" for row in range(100)))
    rb.evaluate({"q": {"d1": 1}}, path)
    before = held()
    for _ in range(3):
        rb.evaluate({"q": {"d1": 1}}, path)
    assert held() == before


@needs_kernel
def test_a_kernel_of_another_contract_is_none(monkeypatch):
    assert native._loaded() is native.built
    monkeypatch.setattr(native, "CONTRACT", native.CONTRACT + 1)
    assert native._loaded() is None


@pytest.mark.parametrize(("switch", "words"), [("0", "NumPy alone"), ("1", native.described())])
def test_the_version_says_what_is_in_use(switch, words):
    environment = {**os.environ, native.SWITCH: switch}
    told = subprocess.run(
        [sys.executable, "-m", "rankbounds", "--version"], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith(f"rankbounds {rb.__version__} ({words}")


def test_versions_are_shown(capsys):
    rb.show_versions()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(maxsplit=1) == ["rankbounds", f"{rb.__version__} ({native.described()})"]
    assert {line.split()[0] for line in lines} >= {"Python", "numpy", "scipy", "polars"}


reads_dicts = pytest.mark.skipif(not hasattr(native.built, "read_dicts"), reason="no kernel that reads dicts was built")
ids_in_dicts = st.text(min_size=1, max_size=300) | st.sampled_from(["a", "é", "\U0001f600", "\udcff", "\ud800", "a\nb"])
numbers_in_dicts = st.floats() | st.integers() | st.booleans() | st.none() | st.sampled_from(["1", 10**400])


@reads_dicts
@given(st.lists(st.dictionaries(ids_in_dicts, numbers_in_dicts, max_size=6), max_size=5))
def test_dicts_are_read_as_python_reads_them_or_handed_back(dicts):
    documents = [document for inner in dicts for document in inner]
    numbers = [number for inner in dicts for number in inner.values()]
    read = ids_and_numbers(dicts, np.array(list(map(len, dicts)), dtype=np.int64))
    plain = all(type(number) in (int, float) and abs(number) < 1e308 for number in numbers)
    if plain and not any("\n" in name or any("\ud800" <= mark <= "\udfff" for mark in name) for name in documents):
        assert read is not None
    if read is not None:
        assert read[0].to_list() == documents
        assert read[1].tolist() == list(map(float, numbers))
        assert read[0].hashes().tolist() == Ids.of(documents).hashes().tolist()


@reads_dicts
def test_dicts_that_are_odd_are_handed_back():
    class Text(str):
        pass

    class Dict(dict):
        pass

    odd = [
        {"a": "1"},
        {"a": None},
        {"": 1},
        {1: 1},
        {b"a": 1},
        {Text("a"): 1},
        {"a": float("nan")},
        {"a": float("inf")},
    ]
    odd += [{"a": 10**400}, {"a": True}, {"a": np.float32(1)}, {"\ud800": 1}, {"a\n": 1}, Dict(a=1), ["a"], None]
    assert all(ids_and_numbers([{"x": 1.0}, inner], np.array([1, 1])) is None for inner in odd)
    # As if another thread had changed them since somebody looked at their lengths.
    for lengths in ([2, 1], [1, 2], [1, 1], [3, 0], [0, 3], [-1, 4]):
        assert ids_and_numbers([{"a": 1, "b": 1}, {"a": 1}], np.array(lengths)) is None or lengths == [2, 1]
    with native.switched("NumPy"):
        assert ids_and_numbers([{"a": 1}], np.array([1])) is None


@needs_kernel
def test_what_the_kernel_is_not_given_is_an_error_of_type():
    calls = [name for name in dir(native.built) if callable(getattr(native.built, name)) and not name.startswith("_")]
    assert {"address", "shuffled_means", "rank_dicts"} <= set(calls)
    for name in calls:
        for arguments in ((), ([],)):
            with pytest.raises(TypeError, match=r"\d+ arguments expected, not \d"):
                getattr(native.built, name)(*arguments)
    for name, message, objects, numbers in (
        ("read_dicts", "a list of dicts", 1, 6),
        ("rank_dicts", "a list of dicts", 3, 18),
        ("dict_of_rows", "two lists of names", 2, 1),
    ):
        with pytest.raises(TypeError, match=message):
            getattr(native.built, name)(*[{}] * objects, *range(numbers))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no compiler is here")
def test_the_kernel_is_not_built_for_a_python_without_the_lock():
    sources = Path(native.__file__).parent
    command = ["gcc", "-E", "-I", sysconfig.get_paths()["include"], str(sources / "dicts.c"), "-o", os.devnull]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    refused = subprocess.run([*command, "-DPy_GIL_DISABLED"], capture_output=True, text=True, check=False)
    assert refused.returncode
    assert "under the interpreter's lock" in refused.stderr


@reads_dicts
def test_judgments_and_runs_in_dicts_are_the_same_tables_with_the_kernel_and_without():
    nested = {"1": {"日本": 1, "b": 0.5, "c" * 300: -1}, "2": {}, "é": {"b": 2}}
    tables = []
    for which in ("kernel", "NumPy"):
        with native.switched(which):
            tables.append((as_qrels(nested), as_run(nested)))
    assert tables[0] == tables[1]


@given(
    st.lists(st.lists(st.sampled_from([0.0, -0.0, 0.1, 1.0, 1e300, -0.3]), min_size=5, max_size=5), max_size=19),
    st.booleans(),
)
def test_running_sums_are_those_that_one_addition_after_the_other_gives(rows, upward):
    array = np.array(rows, dtype=np.float64).reshape(-1, 5)
    expected = []
    for row in rows:
        ordered = row[::-1] if upward else row
        sums = list(itertools.accumulate(ordered))
        expected.append(sums[::-1] if upward else sums)
    wanted = np.array(expected, dtype=np.float64).reshape(-1, 5).tobytes()
    for way in ("NumPy", "kernel") if native.built is not None else ("NumPy",):
        with native.switched(way):
            assert np.ascontiguousarray(running_sums(array, upward=upward)).tobytes() == wanted


@given(
    st.lists(st.lists(st.sampled_from([0.0, -0.0, 0.1, 1.0, 3.7, -0.3]), min_size=5, max_size=5), max_size=19),
    st.integers(1, 5),
)
def test_weighted_sums_are_those_that_one_addition_after_the_other_gives(rows, count):
    array, weights = np.array(rows, dtype=np.float64).reshape(-1, 5), np.array([1.0, 0.63, 0.5, 0.43, 0.3])[:count]
    wanted = [functools.reduce(operator.add, map(operator.mul, row, weights.tolist())) for row in rows]
    for way in ("NumPy", "kernel") if native.built is not None else ("NumPy",):
        with native.switched(way):
            assert weighted_sums(array, weights).tobytes() == np.array(wanted, dtype=np.float64).tobytes()


@needs_kernel
@pytest.mark.parametrize(("measures", "systems", "topics"), [(1, 2, 2), (2, 3, 7), (5, 17, 6), (3, 129, 4)])
@pytest.mark.parametrize("cells", [50, 1 << 19])
def test_scores_are_shuffled_as_numpy_shuffles_them(measures, systems, topics, cells, monkeypatch):
    monkeypatch.setattr("rankbounds.stats.corrections._CELLS_AT_ONCE", cells)  # how many resamples one call makes
    scores = np.random.default_rng(1).integers(0, 5, (measures, systems, topics)) / 7
    resampling = Resampling(200, 3)
    p_values = []
    for way in ("kernel", "NumPy"):
        with native.switched(way):
            p_values.append(over_all_pairs(scores, *pairs_of(systems), resampling))
    np.testing.assert_array_equal(*p_values)


@needs_kernel
@pytest.mark.parametrize("shape", [(3, 0, 2), (0, 2, 2), (3, 2, 0), (3, 1, 2), (0, 0, 0)])
def test_shuffles_of_nothing_end(shape):
    program = (
        "import sys, numpy as np; from rankbounds.columns.native.ranking import shuffled_means_by_kernel as means; "
        "shape = tuple(map(int, sys.argv[1:])); values = np.arange(np.prod(shape), dtype=float).reshape(shape); "
        "print([part.shape for part in means(values, np.random.default_rng(1), 5, 4)])"
    )
    ended = subprocess.run([sys.executable, "-c", program, *map(str, shape)], capture_output=True, text=True)
    _, systems, measures = shape
    assert ended.stdout == f"[(4, {measures}, {systems}), (1, {measures}, {systems})]\n", ended.stderr


def test_the_kernel_names_modules_that_exist():
    folder = Path(native.__file__).parent
    named = {name for file in folder.glob("*.[ch]") for name in re.findall(r"[a-z_]+/[a-z_/]+\.py", file.read_text())}
    assert "stats/corrections.py" in named
    assert [name for name in sorted(named) if not (folder.parents[1] / name).exists()] == []


names_of_documents = [
    "a",
    "b",
    "a\0",
    "a\0\0b",
    "é",
    "\U0001f600",
    "a\nb",
    *(f"d{number}" for number in range(20)),
    "z" * 300,
]
documents_held = st.dictionaries(st.sampled_from(names_of_documents), st.sampled_from([0, 1, 2, 0.5, -1]), min_size=1)
documents_found = st.dictionaries(
    st.sampled_from(names_of_documents), st.sampled_from([0.0, -0.0, 1, 2.5, 1e-9, 1.5, 1.5 + 1e-12]), min_size=1
)


def held_of(facts: TopicFacts) -> HeldDocuments:
    pairs = facts.qrels.pairs
    return HeldDocuments(pairs.docs, pairs.topic, len(pairs.topics), facts.grade)


@needs_kernel
@given(
    st.dictionaries(st.sampled_from("1234"), documents_held, min_size=1),
    st.dictionaries(st.sampled_from("12345"), documents_found, min_size=1),
    st.sampled_from(["run", "line", "trec", "docid"]),
    st.sampled_from(["single", "double"]),
    st.integers(0, 3),
)
def test_dicts_are_ranked_as_tables_are(qrels, run, order, precision, turns):
    facts = TopicFacts(as_qrels(qrels))
    topic = np.array([facts.query_ids.index(query) if query in qrels else -1 for query in run])
    held = held_of(facts)
    for turn in range(turns):  # new documents, documents that come again, documents that were looked up
        before = [{name: score - turn for name, score in inner.items()} for inner in run.values()]
        held.ranked(before, topic, "trec", single=False, keep_judgments=False)
    lists = held.ranked(list(run.values()), topic, order, single=precision == "single", keep_judgments=True)
    if not any(query in qrels for query in run):
        assert lists.length.size == 0
        return
    with native.switched("NumPy"):
        table = join(as_run(run), facts, order=order, precision=precision, topics="shared", keep_judgments=True)
    ranked = {}
    for which, batches in (("dicts", in_batches(lists, facts)), ("tables", table.batches)):
        ranked[which] = {
            int(rankings.topic[number]): (
                [] if rankings.tied is None else np.flatnonzero(rankings.tied[number, :length]).tolist(),
                rankings.grade[number, :length].tobytes(),
                rankings.judgment[number, :length].tobytes(),
            )
            for rankings in batches
            for number, length in enumerate(rankings.length.tolist())
        }
    assert ranked["dicts"] == ranked["tables"]


@needs_kernel
def test_dicts_that_cannot_be_ranked_are_handed_back():
    held = held_of(TopicFacts(as_qrels({"1": {"a": 1}, "2": {"b": 1}})))

    def ranked(*dicts, order="trec"):
        return held.ranked(list(dicts), np.arange(len(dicts)), order, single=False, keep_judgments=False)

    assert ranked({"x": 1.0}, {"b": 1}).length.tolist() == [1, 1]
    odd = [{"a": "1"}, {"a": None}, {"": 1}, {1: 1}, {"a": float("nan")}, {"a": float("inf")}, {"a": True}, {}]
    odd += [{"a": 10**400}, {"a": np.float32(1)}, {"\ud800": 1}, [], ["a"]]
    assert all(ranked({"x": 1.0}, inner) is None for inner in odd)
    assert ranked({"x": 1.0}, order="rank") is None
    with pytest.raises(IndexError, match="topics"):
        ranked({"a": 1}, {"a": 1}, {"a": 1})
    with native.switched("NumPy"):
        assert ranked({"x": 1.0}) is None
    longest = held_of(TopicFacts(as_qrels({"1": {str(number): number % 3 for number in range(5000)}})))
    scores = {str(number): float(number * 7919 % 1000) for number in range(20_000)}
    (rankings,) = in_batches(
        longest.ranked([scores], np.array([0]), "trec", single=False, keep_judgments=False),
        TopicFacts(as_qrels({"1": {"a": 1}})),
    )
    expected = sorted(scores, key=lambda name: (scores[name], name.encode()), reverse=True)
    grades = [int(name) % 3 if int(name) < 5000 else np.nan for name in expected]
    np.testing.assert_array_equal(rankings.grade[0], grades)


@pytest.mark.parametrize("which", ["NumPy", pytest.param("kernel", marks=needs_kernel)])
def test_rows_of_numbers_as_dicts(which):
    with native.switched(which):
        table = np.array([[0.5, np.nan], [1.0, -0.0], [2.0, 3.0]])
        made = dict_of_rows(["1", "é", "3"], ["AP", "RR"], table)
        assert list(made) == ["1", "é", "3"]
        assert [list(inner) for inner in made.values()] == [["AP", "RR"]] * 3
        assert np.array([list(inner.values()) for inner in made.values()]).tobytes() == table.tobytes()
        assert dict_of_rows(["3"], ["RR"], table[2:, ::2]) == {"3": {"RR": 2.0}}
        assert dict_of_rows([], ["RR"], np.empty((0, 1))) == {}
        with pytest.raises(IndexError, match="names"):
            dict_of_rows(["1"], ["AP", "RR"], table)


@needs_kernel
@given(st.lists(st.text(min_size=1, max_size=300) | st.sampled_from(["a", "a\0", "", "z" * 256]), max_size=20))
def test_hashes_are_those_of_numpy(names):
    ids = Ids.of([name.encode("utf-8", "ignore").decode() for name in names])
    with native.switched("NumPy"):
        expected = ids.hashes().tolist()
    assert ids.hashes().tolist() == expected
    assert ids.take(slice(None, None, 2)).hashes().tolist() == expected[::2]


def test_an_id_that_goes_on_with_zeros_comes_behind():
    for first, second in (("a", "a\0"), ("a\0", "a"), ("a\0", "a\0\0")):
        judged = min(first, second)
        qrels, run = {"q": {judged: 1}, "r": {"x": 1}}, {"q": {first: 1.0, second: 1.0}, "r": {"x" * 300: 1, "y": 1}}
        for which in ("NumPy", "kernel") if native.built is not None else ("NumPy",):
            with native.switched(which):
                assert rb.evaluate(qrels, run, "RR").value[0, 0, 0] == 0.5
                evaluator = rb.Evaluator(qrels, "RR")
                assert evaluator.score(run)["q"] == evaluator.score({"q": run["q"]})["q"] == {"RR": 0.5}
                assert rb.evaluate(qrels, run, "RR", ties="docid").value[0, 0, 0] == 1.0
