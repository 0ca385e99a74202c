"""Matrices of scores, queries x documents: the same numbers as dicts, whole tied groups, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankbounds as rb
from rankbounds.collection import score_matrix
from rankbounds.collection.score_matrix import run_of_matrix

RNG = np.random.default_rng(5)
QUERIES, DOCS = [f"q{number}" for number in range(6)], [f"d{number}" for number in range(40)]
SCORES = RNG.integers(0, 12, (6, 40)).astype(np.float32)  # with many ties
QRELS = {query: {doc: int(RNG.integers(0, 3)) for doc in RNG.choice(DOCS, 15, replace=False)} for query in QUERIES}
MEASURES = ["nDCG@10", "AP", "Recall@20", "RBP(p=0.8)"]
DICTS = {query: dict(zip(DOCS, row.tolist(), strict=True)) for query, row in zip(QUERIES, SCORES, strict=True)}
IDS = {"query_ids": QUERIES, "doc_ids": DOCS}


def same(one, other):
    assert one.value.tolist() == other.value.tolist()
    assert one.low.tolist() == other.low.tolist()
    assert one.high.tolist() == other.high.tolist()


@pytest.mark.parametrize("ties", ["trec", "expected", "best"])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16, np.int64])
def test_a_matrix_scores_as_its_dicts_do(ties, kind):
    ours = rb.evaluate(QRELS, SCORES.astype(kind), MEASURES, ties=ties, **IDS)
    same(ours, rb.evaluate(QRELS, DICTS, MEASURES, ties=ties))


@pytest.mark.parametrize("block", [1, 100, 1 << 22])
@pytest.mark.parametrize("depth", [1, 7, 39, 40, 100])
def test_the_best_are_kept_with_all_that_are_tied_with_the_last(monkeypatch, block, depth):
    monkeypatch.setattr(score_matrix, "BLOCK_SCORES", {"numpy": block, "device": block})
    kept = run_of_matrix(SCORES, QUERIES, DOCS, depth=depth).to_dict()
    for query, docs in DICTS.items():
        least = sorted(docs.values(), reverse=True)[min(depth, 40) - 1]
        assert kept[query] == {doc: score for doc, score in docs.items() if score >= least}


def test_a_constant_scorer_gets_what_chance_gets():
    constant = rb.evaluate(QRELS, np.zeros((6, 40)), "P@10", ties="expected", **IDS)
    relevant = [sum(grade > 0 for grade in QRELS[query].values()) for query in QUERIES]
    assert constant.value.ravel().tolist() == pytest.approx([count / 40 for count in relevant])


def test_several_matrices_and_other_functions():
    two = {"a": SCORES, "b": SCORES[:, ::-1].copy()}
    assert list(rb.evaluate(QRELS, two, "AP", **IDS).runs) == ["a", "b"]
    assert list(rb.evaluate(QRELS, [*two.values()], "AP", **IDS).runs) == ["run1", "run2"]
    compared = rb.compare(QRELS, two, "AP", **IDS)
    by_dicts = {
        name: {q: dict(zip(DOCS, r.tolist(), strict=True)) for q, r in zip(QUERIES, m, strict=True)}
        for name, m in two.items()
    }
    assert compared.pairs.rows() == rb.compare(QRELS, by_dicts, "AP").pairs.rows()


def test_minus_infinity_is_not_retrieved():
    masked = SCORES.copy()
    masked[:, 3] = -np.inf
    without = {query: {doc: score for doc, score in docs.items() if doc != "d3"} for query, docs in DICTS.items()}
    same(rb.evaluate(QRELS, masked, MEASURES, **IDS), rb.evaluate(QRELS, without, MEASURES))


class Shared:
    """An array that is shared by DLPack alone."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_of_other_packages():
    expected = rb.evaluate(QRELS, SCORES, MEASURES, **IDS)
    same(rb.evaluate(QRELS, Shared(SCORES), MEASURES, **IDS), expected)
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for tensor in (torch.tensor(SCORES), torch.tensor(SCORES, requires_grad=True), torch.tensor(SCORES).bfloat16()):
        same(rb.evaluate(QRELS, tensor, MEASURES, **IDS), expected)
        same(rb.evaluate(QRELS, {"run": tensor}, MEASURES, **IDS), expected)


def test_lists_of_hits_by_query_ids():
    hits = [
        [{"corpus_id": doc, "score": score} for doc, score in sorted(docs.items(), key=lambda item: -item[1])]
        for docs in DICTS.values()
    ]
    same(rb.evaluate(QRELS, hits, MEASURES, query_ids=QUERIES), rb.evaluate(QRELS, DICTS, MEASURES))
    with pytest.raises(rb.UsageError, match="needs query_ids="):
        rb.evaluate(QRELS, hits, MEASURES)
    with pytest.raises(rb.UsageError, match="There are 6 lists of documents, but 2 query_ids"):
        rb.evaluate(QRELS, hits, MEASURES, query_ids=["q0", "q1"])


@pytest.mark.parametrize(
    ("scores", "ids", "message"),
    [
        (SCORES, {}, r"A matrix of scores \(6 x 40\) needs ids"),
        (
            SCORES,
            {"query_ids": QUERIES, "doc_ids": DOCS[:-1]},
            "6 rows and 40 columns, but there are 6 query ids and 39",
        ),
        (SCORES, {"query_ids": ["q0"] * 6, "doc_ids": DOCS}, "two query ids of the matrix have the same text"),
        (np.where(SCORES[2, 3] == SCORES, np.nan, SCORES), IDS, "is not a finite number"),
        (np.where(np.arange(40) == 5, np.inf, SCORES), IDS, "row 0 and column 5 is not a finite number"),
        (SCORES.T, IDS, r"Rows are queries: transpose it \(scores.T\)"),
        (np.ma.masked_array(SCORES, SCORES > 3), IDS, r"is masked. Fill it .* scores.filled\(-np.inf\)"),
        (SCORES.astype(complex), IDS, r"two axes, queries x documents; got one of complex128 with the shape \(6, 40\)"),
        (SCORES[0], IDS, r"got one of float32 with the shape \(40,\)"),
        (SCORES.tolist(), IDS, "got a list of numbers"),
    ],
)
def test_what_does_not_fit_is_refused(scores, ids, message):
    with pytest.raises(rb.RankboundsError, match=message):
        rb.evaluate(QRELS, scores, "AP", **ids)


def test_a_run_of_a_matrix_beside_other_runs():
    """A matrix may be made a Run, and be compared with what other functions hold."""
    run = rb.Run(SCORES, name="dense", **IDS)
    assert run == rb.Run(DICTS, name="dense")
    mixed = rb.evaluate(QRELS, {"dense": SCORES, "sparse": DICTS}, MEASURES, **IDS)
    assert mixed.value[0].tolist() == mixed.value[1].tolist()


def test_lists_of_ids_by_query_ids():
    """Of all queries, also where nothing was retrieved for the first or for any."""
    lists = [
        [],
        *([doc for doc, _ in sorted(DICTS[query].items(), key=lambda item: -item[1])] for query in QUERIES[1:]),
    ]
    found = rb.evaluate(QRELS, lists, "P@10", query_ids=QUERIES)
    same(found, rb.evaluate(QRELS, dict(zip(QUERIES, lists, strict=True)), "P@10"))
    assert not rb.evaluate(QRELS, [[]] * 6, "P@10", query_ids=QUERIES).value.any()


def test_ties_without_end_are_refused(monkeypatch):
    monkeypatch.setattr(score_matrix, "MOST_ROWS", 100)
    with pytest.raises(rb.DataError, match="their scores are at least that of rank 1,000"):
        rb.evaluate(QRELS, np.zeros((6, 40)), "AP", **IDS)


# What an index returns


def found(seed):
    """Positions and scores of the best documents, some of them missing, and ids."""
    rng = np.random.default_rng(seed)
    queries, documents, depth = (int(rng.integers(1, end)) for end in (5, 30, 12))
    depth = min(depth, documents)
    scores = rng.permuted(np.tile(np.arange(documents, dtype=float), (queries, 1)), axis=1)
    positions = np.argsort(-scores, axis=1)[:, :depth]
    best = np.take_along_axis(scores, positions, axis=1)
    positions[:, 1:][rng.random((queries, depth - 1)) < 0.2] = -1
    ids = {"query_ids": [f"q{query}" for query in range(queries)], "doc_ids": [f"d{doc}" for doc in range(documents)]}
    return positions, best, ids


@given(st.integers(0, 2**32 - 1))
def test_positions_are_the_run_that_they_name(seed):
    positions, best, ids = found(seed)
    rows = [
        (ids["query_ids"][query], ids["doc_ids"][at], score)
        for query in range(len(positions))
        for at, score in zip(positions[query].tolist(), best[query].tolist(), strict=True)
        if at >= 0
    ]
    assert list(rb.Run.from_positions(positions, best, **ids)) == rows
    assert list(rb.Run.from_positions(positions.tolist(), best.tolist(), **ids)) == rows
    nearest = rb.Run.from_positions(positions, -best, **ids, smaller_is_better=True)
    assert list(nearest) == rows
    ordered = rb.Run.from_positions(positions, **ids)
    assert [row[:2] for row in ordered] == [row[:2] for row in rows]
    assert (np.diff(ordered.score) < 0)[np.diff(ordered.pairs.topic) == 0].all()


def test_a_pair_of_arrays_is_a_run_of_a_dict_in_either_order():
    positions, best, ids = found(3)
    qrels = {"q0": {"d1": 1, "d2": 0}}
    runs = {
        "one": (positions, best),
        "other": (best, positions),
        "third": rb.Run.from_positions(positions, best, **ids),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.RankboundsWarning)
        scores = rb.evaluate(qrels, runs, ["RR", "AP"], **ids)
    assert (scores.value == scores.value[:1]).all()


POSITIONS, NEAR = np.array([[2, 0], [1, -1]]), np.array([[0.9, 0.4], [0.7, -1.0]])
TWO = {"query_ids": ["q1", "q2"], "doc_ids": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("positions", "scores", "words"),
    [
        (POSITIONS + 1, NEAR, "row 0 and column 0 hold position 3, but there are 3 documents"),
        (POSITIONS - 1, NEAR, "row 1 and column 1 hold position -2"),
        ([[1, 1], [0, 2]], NEAR, "row 0 and column 1 hold position 1, which stands in this row already"),
        (POSITIONS, [[0.9, np.nan], [0.7, 0.1]], "row 0 and column 1 hold a score that is not a finite number"),
        (POSITIONS, NEAR[:1], r"positions have the shape \(2, 2\), scores \(1, 2\), and there are 2 query ids"),
        (POSITIONS[:1], NEAR[:1], "there are 2 query ids"),
        (POSITIONS.astype(float), NEAR, "positions are whole numbers"),
        (POSITIONS[0], NEAR[0], "queries x ranks"),
        (np.full((2, 2), -1), NEAR, "the run is empty"),
        (POSITIONS, [["x", "y"], ["z", "w"]], "scores of positions are numbers"),
    ],
)
def test_positions_that_cannot_be(positions, scores, words):
    with pytest.raises(rb.DataError, match=words):
        rb.Run.from_positions(positions, scores, **TWO)


def test_distances_taken_for_scores_are_warned_of():
    with pytest.warns(rb.RankboundsWarning, match="rise along every row.*smaller_is_better=True"):
        rb.Run.from_positions([[2, 0], [1, 0]], [[0.1, 0.4], [0.2, 0.3]], **TWO)


def test_positions_given_as_scores_are_refused():
    for positions in ([[0, 2, 1], [1, 0, -1]], [[2, 0, 1], [0, 1, 2]]):
        with pytest.raises(rb.DataError, match=r"positions of documents, not scores.*from_positions"):
            rb.evaluate({"q1": {"a": 1}}, np.array(positions), "AP", **TWO)
    with pytest.raises(rb.DataError, match=r"If they are positions of documents.*from_positions"):
        rb.evaluate({"q1": {"a": 1}}, POSITIONS, "AP", **TWO)
    counts = np.array([[3, 3, 1], [0, 0, 5]])  # scores may be whole numbers
    assert len(rb.Run(counts, **TWO)) == 6


@pytest.mark.parametrize("depth", [1, 5, 50])
def test_long_rows_are_selected_as_short_ones_are(depth):
    rng = np.random.default_rng(0)
    scores = np.round(rng.standard_normal((6, 4000)), 2).astype(np.float32)  # many ties
    scores[2] = -np.inf
    scores[3, 5:] = -np.inf
    rows, columns, best = score_matrix.best_of(scores, depth, "run")
    for row in range(6):
        mine = columns[rows == row]
        ordered = np.sort(scores[row][scores[row] > -np.inf])[::-1]
        least = ordered[min(depth, ordered.size) - 1] if ordered.size else np.inf
        assert mine.tolist() == np.flatnonzero((scores[row] >= least) & (scores[row] > -np.inf)).tolist()
    assert (best == scores[rows, columns]).all()


@pytest.mark.parametrize("package", ["torch", "jax.numpy"])
def test_selection_where_the_scores_live(package):
    xp = pytest.importorskip(package)
    rng = np.random.default_rng(1)
    scores = np.round(rng.standard_normal((7, 300)), 1).astype(np.float32)
    scores[2, 10:] = -np.inf
    for depth in (3, 300, 1000):
        for one, other in zip(
            score_matrix.best_of(scores, depth, "a"), score_matrix.best_of(xp.asarray(scores), depth, "a"), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    scores[4, 7] = np.nan
    with pytest.raises(rb.DataError, match="row 4 and column 7"):
        score_matrix.best_of(xp.asarray(scores), 3, "a")
