"""Bounds over grids of persistence and depth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_residuals import collection

import rankbounds as rb

pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


@pytest.mark.parametrize("ties", ["trec", "docid", "expected"])
@pytest.mark.parametrize("measure", [rb.RBP(), rb.RBP(graded=True), rb.RBP(rel=2, cutoff=5)])
def test_a_grid_of_persistences_is_what_evaluate_says_of_each(ties, measure):
    qrels, runs = collection(1)
    grid = (0.0, 0.3, 0.5, 0.8, 0.95, 0.99)
    found = rb.rbp.bounds_by_persistence(qrels, runs, grid, measure=measure, ties=ties)
    expected = rb.evaluate(qrels, runs, [replace(measure, p=p) for p in grid], ties=ties)
    for name in ("value", "low", "high"):
        assert np.allclose(getattr(found, name), getattr(expected, name), atol=1e-13, rtol=0)
    assert np.allclose(found.parts, expected.parts, atol=1e-13, rtol=0)
    assert [row["measure"] for row in found.mean().rows()] == [row["measure"] for row in expected.mean().rows()]


def test_bounds_close_as_lists_are_read_deeper():
    qrels, runs = collection(2)
    found = rb.rbp.bounds_by_depth(qrels, runs, 40, (0.5, 0.9))
    assert [str(found.measures[at]) for at in (0, 39, 40)] == ["RBP(p=0.5)@1", "RBP(p=0.5)@40", "RBP(p=0.9)@1"]
    for at in (slice(0, 40), slice(40, 80)):
        assert (np.diff(found.low[..., at]) >= -1e-15).all()
        assert (np.diff(found.high[..., at]) <= 1e-15).all()
    whole = rb.evaluate(qrels, runs, "RBP(p=0.9)")
    assert np.allclose(found.high[..., 79], whole.high[..., 0])


def test_zero_persistence_is_precision_at_one():
    qrels, runs = collection(3)
    found, first = rb.rbp.bounds_by_persistence(qrels, runs, [0]), rb.evaluate(qrels, runs, "P@1")
    there = first.judged > 0  # an empty list leaves RBP open, and P@1 counts it as 0
    assert np.allclose(found.value, first.value)
    assert np.allclose(found.high[..., 0][there], first.high[..., 0][there])


def test_grids_need_a_persistence():
    qrels, runs = collection(4)
    with pytest.raises(rb.UsageError, match="No persistence"):
        rb.rbp.bounds_by_persistence(qrels, runs, [])
