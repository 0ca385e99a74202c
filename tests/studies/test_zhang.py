"""The study of how often scores published at different persistences decide."""

from __future__ import annotations

import numpy as np
import pytest

import rankbounds as rb
from rankbounds.studies import deciding_by_persistence


@pytest.fixture(scope="module")
def collection():
    rng = np.random.default_rng(3)
    qrels = {f"t{topic}": {f"d{at}": int(rng.random() < 0.3) for at in range(60)} for topic in range(6)}
    runs = {
        f"run{run}": {
            topic: {doc: grade * run * 0.4 + rng.random() for doc, grade in judged.items()}
            for topic, judged in qrels.items()
        }
        for run in range(5)
    }
    return qrels, runs


@pytest.fixture(scope="module")
def result(collection):
    return deciding_by_persistence(*collection, persistences=(0.5, 0.9), digits=(2, 4), pairs=40, seed=7)


def test_every_combination_has_a_row(result):
    assert [(row["topics"], row["from"], row["to"], row["digits"]) for row in result.rows()] == [
        (topics, p, to, digits) for topics in (1, 6) for p, to in ((0.5, 0.9), (0.9, 0.5)) for digits in (2, 4)
    ]
    assert {row["pairs"] for row in result.rows() if row["topics"] == 1} == {40}
    assert {row["pairs"] for row in result.rows() if row["topics"] == 6} == {20}
    assert result.settings["seed"] == 7


def test_bounds_that_hold_never_decide_wrongly(result):
    assert any(row["exact"] > 0 for row in result.rows())
    for row in result.rows():
        assert row["relaxed_wrong"] == row["exact_wrong"] == 0
        assert row["relaxed"] <= row["exact"] <= 1
        assert row["greedy_wrong"] <= row["greedy"]


def test_greedy_decides_wrongly_now_and_then(result):
    assert any(row["greedy_wrong"] > 0 for row in result.rows())
    assert "(0.0% wrongly)" in result.answer


def test_decisions_are_those_of_single_comparisons(collection):
    """Every pair of runs on the mean over topics, decided one by one."""
    qrels, runs = collection
    found = deciding_by_persistence(qrels, runs, persistences=(0.5, 0.9), digits=(4,), pairs=40)
    at_half, at_nine = rb.evaluate(qrels, runs, ["RBP(p=0.5)", "RBP(p=0.9)"]).mean().value[:, 0].T
    decided = [
        rb.rbp.compare_published(
            rb.rbp.Published(f"{at_nine[a]:.4f}", 0.9, topics=6),
            rb.rbp.Published(f"{at_half[b]:.4f}", 0.5, topics=6),
            0.5,
        ).verdict
        != "undecided"
        for a in range(5)
        for b in range(5)
        if a != b
    ]
    (row,) = (row for row in found.rows() if row["topics"] == 6 and row["to"] == 0.5)
    assert row["exact"] == pytest.approx(np.mean(decided))


def test_needs_two_of_each(collection):
    qrels, runs = collection
    with pytest.raises(rb.UsageError, match="two persistences"):
        deciding_by_persistence(qrels, runs, persistences=(0.5,))
    with pytest.raises(rb.UsageError, match="two runs"):
        deciding_by_persistence(qrels, {"run1": runs["run1"]})
