"""Score matrices, with a row per query and a column per document, as from embedding models and rerankers.

The best documents of each query are selected block by block to limit copies. A group of tied documents is never cut:
all that share the last rank are kept, because the rule for ties decides which comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankbounds.collection.run import Run
from rankbounds.columns.ids import Ids, mix
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, UsageError

DEPTH = 1000
"""How many documents of each query are kept, as in TREC's runs."""
BLOCK_SCORES = 1 << 22
MOST_ROWS = 200_000_000
"""Tied groups may hold more documents than memory does: beyond this they are refused."""


def is_matrix(given: Any) -> bool:
    """Return whether this is an array with two axes, of NumPy or a package that shares its arrays."""
    if isinstance(given, np.ndarray):
        return given.ndim == 2 and given.dtype.kind in "fiub"
    shared = hasattr(given, "__array__") or hasattr(given, "__dlpack__")
    return shared and not hasattr(given, "columns") and len(getattr(given, "shape", ())) == 2


def run_of_matrix(
    scores: Any,
    query_ids: Sequence[Any] | None,
    doc_ids: Sequence[Any] | None,
    *,
    name: str = "run",
    depth: int = DEPTH,
) -> Run:
    """Return the best documents of each query, and all tied with the last of them; -inf means not retrieved."""
    matrix = _array(scores)
    if query_ids is None or doc_ids is None:
        raise UsageError(
            f"A matrix of scores ({matrix.shape[0]:,} x {matrix.shape[1]:,}) needs ids: query_ids=[...] for its rows "
            "and doc_ids=[...] for its columns."
        )
    where = Source(name)
    queries = Ids.checked(list(query_ids), "a query id", where.place)
    docs = Ids.checked(list(doc_ids), "a document id", where.place)
    if matrix.shape != (len(queries), len(docs)):
        turned = matrix.shape == (len(docs), len(queries))
        raise DataError(
            name,
            f"the matrix has {matrix.shape[0]:,} rows and {matrix.shape[1]:,} columns, but there are {len(queries):,} "
            f"query ids and {len(docs):,} document ids.",
            "Rows are queries: transpose it (scores.T)." if turned else "",
        )
    topics = queries.to_list()
    for what, ids in (("query", topics), ("document", docs.to_list())):
        if len(set(ids)) < len(ids):
            raise DataError(name, f"two {what} ids of the matrix have the same text.")
    rows, columns, best = _best(matrix, depth, name)
    keys = mix(docs.hashes()[columns], queries.hashes()[rows])
    run = Run._of_pairs(name, Pairs(tuple(topics), rows, docs.take(columns), keys, where), best)
    return run.changed(prepared=f"the best {depth:,} of {len(docs):,} documents") if depth < len(docs) else run


def _array(scores: Any) -> NDArray[Any]:
    if hasattr(scores, "detach"):  # a tensor of torch: one that is trained, or on another device, has to be freed first
        scores = scores.detach().cpu()
        scores = scores.float() if "bfloat16" in str(scores.dtype) else scores
    if np.ma.is_masked(scores):
        problem = "the matrix of scores is masked."
        raise DataError("run", problem, "Fill it first: scores.filled(-np.inf) if masked documents are not retrieved.")
    array = np.asarray(scores) if hasattr(scores, "__array__") else np.from_dlpack(scores)
    if array.dtype.kind not in "fiub":
        raise DataError("run", f"a matrix of scores holds numbers, not {array.dtype}.")
    return array


def _best(matrix: NDArray[Any], depth: int, name: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return row, column and score of the kept entries, by query and column."""
    count, width = matrix.shape
    found: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
    kept = 0
    precise = np.float64 if matrix.dtype.kind in "iu" or matrix.dtype.itemsize > 4 else np.float32
    for begin in range(0, count, step := max(1, BLOCK_SCORES // max(1, width))):
        block = np.asarray(matrix[begin : begin + step], dtype=precise)
        if np.isnan(block).any():
            raise _not_finite(name, begin, np.argwhere(np.isnan(block))[0])
        least = np.full((len(block), 1), -np.inf)
        if depth < width:
            least = np.partition(block, width - depth, axis=1)[:, width - depth, None]
        chosen = block >= np.maximum(least, np.finfo(precise).min)  # -inf is not retrieved
        row, column = np.divmod(np.flatnonzero(chosen), width)
        best = block[row, column].astype(np.float64)
        if np.isinf(best).any():
            first = int(np.isinf(best).argmax())
            raise _not_finite(name, begin, (row[first], column[first]))
        kept += row.size
        if kept > MOST_ROWS:
            raise DataError(
                name,
                f"{kept:,} documents would be kept, because their scores are at least that of rank {depth:,}.",
                "Keep more digits of the scores: ties this large do not rank anything.",
            )
        found.append(((row + begin).astype(np.int32), column, best))
    if not found:
        raise DataError(name, "the run is empty.")
    rows, columns, scores = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, columns, scores


def _not_finite(name: str, begin: int, place: Any) -> DataError:
    problem = f"the score in row {begin + int(place[0])} and column {int(place[1])} is not a finite number."
    return DataError(name, problem, "Use -inf, and only -inf, for a document that is not retrieved.")
