"""Ranks by counting: the numbers of the full matrix, however it is cut, and nothing half-counted."""

from __future__ import annotations

import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.evaluation import rank_counter

MEASURES = ["nDCG@10", "AP", "RBP(p=0.8)", "P@10", "RR", "Recall@5", "Bpref", "Q", "ERR", "IPrecMean"]
pytestmark = pytest.mark.filterwarnings("ignore::rankbounds.RankboundsWarning")


def drawn(seed, tied):
    """A matrix of scores, judgments of some of its documents and of others, and ids."""
    rng = np.random.default_rng(seed)
    queries, documents = int(rng.integers(1, 7)), int(rng.integers(2, 50))
    if tied:
        scores = rng.integers(0, 8, (queries, documents)).astype(rng.choice([np.float32, np.float64, np.float16]))
    else:
        scores = rng.permuted(np.tile(np.arange(documents), (queries, 1)), axis=1).astype(np.float32)
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    scores[0, 0] = 3.0
    qrels = {
        f"q{query}": {f"d{doc}": int(rng.integers(-1, 3)) for doc in rng.integers(0, documents + 3, rng.integers(1, 8))}
        for query in range(queries + 1)
    }
    qrels["q0"]["d0"] = 1
    ids = {"query_ids": [f"q{query}" for query in range(queries)], "doc_ids": [f"d{doc}" for doc in range(documents)]}
    cuts = sorted({0, documents, *rng.integers(0, documents + 1, 2).tolist()})
    return qrels, scores, ids, [slice(*cut) for cut in pairwise(cuts)]


def counted(qrels, scores, ids, cuts):
    counter = rb.RankCounter(qrels, **ids)
    for cut in cuts:
        counter.collect(scores[:, cut], cut.start)
    for cut in reversed(cuts):
        counter.count(scores[:, cut], cut.start)
    return counter


def same(ours, theirs, tolerance):
    """Values are the same; where only unjudged documents tie, counting knows bounds that ``evaluate`` does not."""
    np.testing.assert_allclose(ours.value, theirs.value, rtol=0, atol=tolerance)
    for name in ("low", "high"):
        one, other = getattr(ours, name), getattr(theirs, name)
        known = ~np.isnan(other)
        np.testing.assert_allclose(one[known], other[known], rtol=0, atol=tolerance)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from(["expected", "best", "worst"]))
def test_counts_give_the_numbers_of_the_matrix(seed, tied, ties):
    qrels, scores, ids, cuts = drawn(seed, tied)
    counter = counted(qrels, scores, ids, cuts)
    for more in ({}, {"bounds": "both"}, {"topics": "shared"}, {"unjudged": "condensed"}):
        whole = rb.evaluate(qrels, scores, MEASURES, ties=ties, **ids, **more)
        same(counter.evaluate(MEASURES, ties=ties, **more), whole, 1e-12 if tied else 0.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_sorting_and_comparing_count_the_same(seed):
    qrels, scores, ids, cuts = drawn(seed, tied=True)
    one = counted(qrels, scores, ids, cuts)
    before = rank_counter.WORTH_SORTING
    rank_counter.WORTH_SORTING = 0
    try:
        other = counted(qrels, scores, ids, cuts)
    finally:
        rank_counter.WORTH_SORTING = before
    np.testing.assert_array_equal(one._greater, other._greater)
    np.testing.assert_array_equal(one._equal, other._equal)


@pytest.mark.parametrize("package", ["torch", "jax.numpy"])
def test_counting_on_a_device(package):
    xp = pytest.importorskip(package)
    for seed in range(20):
        qrels, scores, ids, cuts = drawn(seed, tied=seed % 2 == 1)
        scores = scores.astype(np.float32)
        on_device = counted(qrels, xp.asarray(scores), ids, cuts).evaluate(MEASURES)
        same(on_device, counted(qrels, scores, ids, cuts).evaluate(MEASURES), 0.0)


def test_two_hosts_share_the_documents():
    """Each collects and counts its half; after the first pass and after the second they merge."""
    qrels, scores, ids, _ = drawn(5, tied=True)
    half = scores.shape[1] // 2
    hosts = [(rb.RankCounter(qrels, **ids), slice(0, half)), (rb.RankCounter(qrels, **ids), slice(half, None))]
    for counter, mine in hosts:
        counter.collect(scores[:, mine], mine.start)
    (one, _), (other, _) = hosts
    sent = pickle.loads(pickle.dumps(one))
    one.merge(pickle.loads(pickle.dumps(other)))
    other.merge(sent)
    for counter, mine in hosts:
        counter.count(scores[:, mine], mine.start)
    one.merge(pickle.loads(pickle.dumps(other)))
    same(one.evaluate(MEASURES), rb.evaluate(qrels, scores, MEASURES, ties="expected", **ids), 1e-12)


def two_blocks(counter, scores):
    for first in (0, 2):
        counter.collect(scores[:, first : first + 2], first)


def after_both(counter, *steps):
    two_blocks(counter, SCORES)
    for step in steps:
        step(counter)


def count_all(counter):
    counter.count(SCORES)


QRELS, IDS = {"q": {"a": 1, "d": 0}}, {"query_ids": ["q"], "doc_ids": list("abcd")}
SCORES = np.array([[0.1, 0.2, 0.3, 0.4]])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda c: c.collect(SCORES.T), r"a row for each of the 1 queries .* got ndarray of the shape \(4, 1\)"),
        (lambda c: c.collect([[1.0]]), "got list"),
        (lambda c: c.collect(SCORES, 1), "columns 1 to 4 of 4 documents"),
        (lambda c: c.collect(SCORES, -1), "columns -1 to 2 of 4"),
        (lambda c: c.collect(SCORES[:, :3]) or c.collect(SCORES[:, 2:], 2), "Column 2 were collected before"),
        (lambda c: c.collect(np.array([[np.nan, 0, 0, 0]])), 'column 0 for query "q" is not a finite number'),
        (lambda c: c.count(SCORES), "columns 0 to 3 were not collected"),
        (lambda c: after_both(c, count_all, lambda c: c.collect(SCORES)), "were collected before"),
        (lambda c: after_both(c, count_all, count_all), "Columns 0 to 3 were counted before"),
        (lambda c: after_both(c, lambda c: c.count(SCORES[:, :2]), lambda c: c.evaluate("AP")), "columns 2 to 3 were"),
        (lambda c: after_both(c, lambda c: c.count(SCORES.astype(np.float32))), "held float64, and this one float32"),
        (lambda c: after_both(c, count_all, lambda c: c.evaluate("AP", ties="trec")), "needs the ids of all tied"),
        (lambda c: after_both(c, lambda c: c.count(np.array([[0, np.inf, 0, 0]]))), "column 1 for query"),
        (lambda c: c.merge(rb.RankCounter(QRELS, ["p"], list("abcd"))), "same queries, documents and depth"),
        (lambda c: c.merge(rb.RankCounter({"q": {"a": 2, "d": 0}}, **IDS)), "same judgments"),
        (lambda c: rb.RankCounter(QRELS, ["q", "q"], list("abcd")), "two query ids .* have the same text"),
        (lambda c: rb.RankCounter(QRELS, ["q"], ["1", 1]), "two document ids .* have the same text"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence_and_counts_nothing(wrong, words):
    counter = rb.RankCounter(QRELS, **IDS)
    with pytest.raises(rb.RankboundsError, match=words):
        wrong(counter)


def test_what_was_refused_was_not_counted():
    counter = rb.RankCounter(QRELS, **IDS)
    two_blocks(counter, SCORES)
    with pytest.raises(rb.DataError):
        counter.count(np.array([[0, np.nan, 0, 0]]))
    counter.count(SCORES)
    assert counter.evaluate("RR").value.item() == 0.25


def test_merging_refuses_other_scores_and_the_same_columns():
    one, other = rb.RankCounter(QRELS, **IDS), rb.RankCounter(QRELS, **IDS)
    one.collect(SCORES)
    other.collect(SCORES + 1)
    with pytest.raises(rb.UsageError, match="with different scores"):
        one.merge(other)
    again = pickle.loads(pickle.dumps(one))
    one.count(SCORES)
    again.count(SCORES)
    with pytest.raises(rb.UsageError, match="Both counters have counted columns 0 to 3"):
        one.merge(again)


def test_counting_loads_no_package_for_arrays():
    code = (
        "import sys, rankbounds as rb; rb.RankCounter; print([m for m in ('torch', 'jax', 'cupy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
