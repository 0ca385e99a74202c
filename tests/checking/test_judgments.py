"""Judgments described, against plain counts of small collections."""

from __future__ import annotations

import json
from statistics import mean, median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.commands.demo import DATA

TOPICS = st.dictionaries(
    st.sampled_from("pqr"),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(-1, 3), min_size=1),
    min_size=1,
)


@settings(max_examples=60, deadline=None)
@given(TOPICS)
def test_counts_are_those_of_a_plain_loop(qrels):
    found = rb.checking.describe(qrels)
    rows = {row["documents"]: row for row in found.rows()}
    kinds = {
        "judged": lambda grade: grade != -1,
        "relevant": lambda grade: grade >= 1,
        "non-relevant": lambda grade: grade == 0,
        "pooled, not judged": lambda grade: grade == -1,
        **{f"grade {each}": lambda grade, each=each: grade == each for each in (1, 2, 3)},
    }
    for name, row in rows.items():
        counts = [sum(map(kinds[name], grades.values())) for grades in qrels.values()]
        assert (row["least"], row["most"], row["total"]) == (min(counts), max(counts), sum(counts))
        assert (row["mean"], row["median"]) == pytest.approx((mean(counts), median(counts)))
        assert row["topics"] == sum(count > 0 for count in counts)
    assert ("pooled, not judged" in rows) == any(-1 in grades.values() for grades in qrels.values())
    without = {query for query, grades in qrels.items() if max(grades.values()) < 1}
    assert set(found.without_relevant) == without


def test_the_lowest_relevant_grade():
    qrels = {"1": {"a": 1, "b": 0, "c": -1}, "2": {"a": 0, "b": 0}}
    assert rb.checking.describe(qrels).without_relevant == ["2"]
    strict = {row["documents"]: row["total"] for row in rb.checking.describe(qrels, rel=2).rows()}
    assert strict["relevant"] == 0


def test_command(capsys):
    qrels = str(DATA / "qrels.txt")
    assert main(["check", qrels, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows == rb.checking.describe(qrels).rows()
    for asked in ([qrels], ["--qrels", qrels]):
        assert main(["check", *asked]) == 0
        out = capsys.readouterr().out
        assert out.startswith("documents ")
        assert "24 topics have 809 judgments, 276 of them (34.1%) relevant." in out
    assert main(["check"]) == 2
    assert "Name runs, or judgments." in capsys.readouterr().err


def test_a_broken_run_is_not_described_as_judgments(tmp_path, capsys):
    (tmp_path / "run").write_text("no run\n")
    assert main(["check", str(tmp_path / "run")]) == 1
    assert "1 file that cannot be read as a run" in capsys.readouterr().out
