"""Judgments and runs as people use objects: by topic, iterated, filtered, as frames, copied, compared."""

from __future__ import annotations

import copy
import doctest
import importlib
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.collection.order import ranked

COPIES = [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))]
ROWS = [("302", "d", 2.0), ("301", "a", 1.0), ("301", "b", 0.0), ("302", "c", -1.0), ("301", "ä", 1.0)]
FRAMES = ["to_pandas", "to_polars", "to_arrow"]


def qrels_of(rows=ROWS):
    return rb.Qrels.from_columns(*zip(*rows, strict=True))


def run_of(rows=ROWS, ranks=None, name="bm25"):
    return rb.Run.from_columns(*zip(*rows, strict=True), ranks, name=name)


RANKS = [1, 2, 1, 2, 3]
BOTH = pytest.mark.parametrize("table", [qrels_of(), run_of(), run_of(ranks=RANKS)], ids=["qrels", "run", "ranks"])


@BOTH
class TestTables:
    def test_rows_length_and_membership(self, table):
        assert list(table) == ROWS
        assert len(table) == len(ROWS)
        assert table.query_ids == ("302", "301")
        for row in ROWS:
            assert row in table
            assert row[:2] in table
            assert row[0] in table
            assert (*row[:2], 99.0) not in table
        assert 301 in table
        for absent in ("999", ("301", "d"), ("999", "a"), ("301",), ("301", "a", 1.0, 2), None, 3.5):
            assert absent not in table

    def test_a_topic_that_is_not_there(self, table):
        with pytest.raises(rb.UsageError, match='Did you mean "301"') as caught:
            table["3011"]
        assert isinstance(caught.value, KeyError)

    def test_filter(self, table):
        kept = [row for row in ROWS if row[0] == "301"]
        for wanted in ("301", 301, ["301", "404"], {"301"}, lambda topic: topic == "301"):
            chosen = table.filter(wanted)
            assert list(chosen) == kept
            assert chosen.query_ids == ("301",)
        assert table.filter(table.query_ids) == table
        assert len(table.filter([])) == 0

    @pytest.mark.parametrize("frame", FRAMES)
    def test_frames_can_be_read_back(self, table, frame):
        made = getattr(table, frame)()
        if isinstance(table, rb.Qrels):
            assert rb.evaluate(made, run_of(), "P@3") == rb.evaluate(table, run_of(), "P@3")
        else:
            ties = "run" if table.stated_rank is None else "rank"
            measures = ["P@1", "AP"]
            expected = rb.evaluate(qrels_of(), table, measures, ties=ties)
            assert rb.evaluate(qrels_of(), {"bm25": made}, measures, ties=ties) == expected

    @pytest.mark.parametrize("copied", COPIES, ids=["copy", "deepcopy", "pickle"])
    def test_copies_are_equal_and_as_closed(self, table, copied):
        table["301"]  # what is kept for the next question is no part of the table
        other = copied(table)
        assert other == table
        assert list(other) == ROWS
        with pytest.raises(ValueError, match="read-only"):
            other._value[0] = 7

    def test_no_hash(self, table):
        with pytest.raises(TypeError):
            hash(table)

    def test_dict_of_dicts(self, table):
        assert [(query, doc) for query, docs in table.to_dict().items() for doc in docs] == [
            row[:2] for topic in table.query_ids for row in ROWS if row[0] == topic
        ]


def test_equality_knows_every_column():
    assert qrels_of() == qrels_of()
    assert qrels_of() != qrels_of(ROWS[::-1])
    assert qrels_of() != qrels_of(ROWS[:-1])
    assert qrels_of() != qrels_of([*ROWS[:-1], ("301", "z", 1.0)])
    assert qrels_of() != qrels_of([*ROWS[:-1], ("302", "ä", 1.0)])
    assert qrels_of() != qrels_of([*ROWS[:-1], ("301", "ä", 2.0)])
    assert qrels_of() != run_of()
    assert run_of() != run_of(name="dense")
    assert run_of() != run_of(ranks=RANKS)
    assert run_of(ranks=[1, 2, 1, 2, 4]) != run_of(ranks=RANKS)


def test_files_and_columns_give_equal_tables(tmp_path):
    run, qrels = run_of(ranks=RANKS), qrels_of()
    run.write(tmp_path / "run")
    qrels.write(tmp_path / "qrels")
    assert rb.read_run(tmp_path / "run") == run
    assert rb.read_qrels(tmp_path / "qrels") == qrels


def test_judgments_by_topic():
    assert qrels_of()["301"] == qrels_of()[301] == {"a": 1.0, "b": 0.0, "ä": 1.0}
    assert list(qrels_of()["301"]) == ["a", "b", "ä"]


RETRIEVED = st.dictionaries(st.text("abä\U0001f600", min_size=1), st.sampled_from([0.0, -0.0, 1.0, 1.5]), min_size=1)


@given(RETRIEVED)
def test_a_run_by_topic_is_ranked_as_scoring_ranks_it(found):
    run = rb.Run.from_columns(["1"] * len(found), list(found), list(found.values()))
    assert run["1"] == [(doc, score) for _, doc, score in ranked(run, "trec")]
    assert dict(run["1"]) == found


def test_what_was_handed_in_stays_as_it_is():
    scores = np.array([1.0, 2.0])
    run = rb.Run.from_columns(["1", "1"], ["a", "b"], scores)
    scores[0] = 9.0
    assert list(run) == [("1", "a", 1.0), ("1", "b", 2.0)]
    frame = run.to_pandas()
    frame.loc[:, "score"] = 7.0
    assert run["1"] == [("b", 2.0), ("a", 1.0)]


def test_filtered_runs_keep_their_ranks():
    run = run_of(ranks=RANKS).filter("301")
    assert run.stated_rank.tolist() == [2, 1, 3]
    assert run.to_polars()["rank"].to_list() == [2, 1, 3]


def test_notebooks_show_the_first_rows_as_text():
    rows = [("<i>1", f"<b>{number}", float(number)) for number in range(100)]
    shown = run_of(rows, name="<script>")._repr_html_()
    assert shown.count("<tr") == 6  # a header and five rows
    assert not any(markup in shown for markup in ("<b>", "<i>", "<script>"))
    assert "100 documents" in shown
    assert "and 95 more" in shown
    assert qrels_of(rows[:3])._repr_html_().count("<tr") == 4


@pytest.mark.parametrize(
    "module",
    [
        "collection.pair_table",
        "collection.qrels",
        "collection.run",
        "evaluation.scores",
    ],
)
def test_examples_in_docstrings(module):
    result = doctest.testmod(importlib.import_module(f"rankbounds.{module}"))
    assert result.attempted
    assert not result.failed
