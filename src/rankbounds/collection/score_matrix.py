"""Arrays that embedding models and indexes return: matrices of scores, and the positions of the documents found.

The best documents of each query are selected where the scores live (NumPy, PyTorch, CuPy or JAX), block by block, and
only they are copied. A group of tied documents is never cut: all that share the last rank are kept, because the rule
for ties decides which comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.run import Run
from rankbounds.columns.ids import Ids, mix
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.threads import in_threads, processors

Kept: TypeAlias = tuple[Ints, Ints, Floats]
"""Row, column and score of entries, by row."""

DEPTH = 1000
"""How many documents of each query are kept, as in TREC's runs."""
BLOCK_SCORES = {"numpy": 1 << 22, "device": 1 << 28}
"""How many scores are selected from at a time."""
MOST_ROWS = 200_000_000
"""Tied groups may hold more documents than memory does: beyond this they are refused."""
ON_DEVICES = ("torch", "cupy", "jax", "jaxlib")
CALL = "Run.from_positions(positions, scores, query_ids=..., doc_ids=...)"


def is_matrix(given: Any) -> bool:
    """Return whether this is an array with two axes, of NumPy or a package that shares its arrays."""
    if isinstance(given, np.ndarray):
        return given.ndim == 2 and given.dtype.kind in "fiub"
    shared = hasattr(given, "__array__") or hasattr(given, "__dlpack__")
    return shared and not hasattr(given, "columns") and len(getattr(given, "shape", ())) == 2


def is_found(given: Any) -> bool:
    """Return whether this is what an index returns: a pair of matrices, whole-numbered positions and their scores."""
    return isinstance(given, tuple) and len(given) == 2 and all(map(is_matrix, given)) and any(map(_is_whole, given))


def run_of_matrix(
    scores: Any,
    query_ids: Sequence[Any] | None,
    doc_ids: Sequence[Any] | None,
    *,
    name: str = "run",
    depth: int = DEPTH,
) -> Run:
    """Return the best documents of each query, and all tied with the last of them; -inf means not retrieved."""
    matrix, (count, width) = _array(scores), scores.shape
    _check_given(query_ids, doc_ids, f"A matrix of scores ({count:,} x {width:,})")
    queries, docs = _listed(query_ids), _listed(doc_ids)
    if (count, width) != (len(queries), len(docs)):
        advice = "Rows are queries: transpose it (scores.T)." if (count, width) == (len(docs), len(queries)) else ""
        if count == len(queries) and _is_whole(matrix):
            advice = f"If they are positions of documents, as an index returns them: {CALL}."
        raise DataError(
            name,
            f"the matrix has {count:,} rows and {width:,} columns, but there are {len(queries):,} query ids and "
            f"{len(docs):,} document ids.",
            advice,
        )
    if _is_whole(matrix) and _like_positions(as_numpy(matrix[:100]), len(docs)):
        problem = "the matrix holds positions of documents, not scores: whole numbers, none twice in a row."
        raise DataError(name, problem, f"For what an index returns: {CALL}. For scores: scores.astype(float).")
    rows, columns, best = best_of(matrix, depth, name)
    run = _run_of(name, queries, docs, rows, columns, best)
    return run.changed(prepared=f"the best {depth:,} of {len(docs):,} documents") if depth < len(docs) else run


def run_of_positions(
    positions: Any,
    scores: Any | None,
    query_ids: Sequence[Any] | None,
    doc_ids: Sequence[Any] | None,
    *,
    name: str = "run",
    smaller_is_better: bool = False,
) -> Run:
    """Return the run of what an index found (see ``Run.from_positions``)."""
    _check_given(query_ids, doc_ids, "What an index found")
    queries, docs = _listed(query_ids), _listed(doc_ids)
    at = as_numpy(positions)
    if at.ndim != 2 or at.dtype.kind not in "iu":
        kind = f"of {at.dtype} with the shape {at.shape}"
        swapped = scores is not None and as_numpy(scores).dtype.kind in "iu"
        advice = "Are the two swapped? Positions come first, then scores." if swapped else ""
        raise DataError(name, f"positions are whole numbers, queries x ranks, but these are {kind}.", advice)
    given = np.broadcast_to(-np.arange(at.shape[1], dtype=float), at.shape) if scores is None else as_numpy(scores)
    if len(at) != len(queries) or given.shape != at.shape:
        shapes = f"positions have the shape {at.shape}, scores {given.shape}"
        raise DataError(name, f"{shapes}, and there are {len(queries):,} query ids.")
    if given.dtype.kind not in "fiub":
        raise DataError(name, f"scores of positions are numbers, not {given.dtype}.")
    at, value = at.astype(np.int64), given.astype(np.float64)
    some = at != -1
    _refuse(name, (at < -1) | (at >= len(docs)), lambda row, column: (
        f"position {at[row, column]:,}, but there are {len(docs):,} documents (-1 is none)"
    ))  # fmt: skip
    order = np.argsort(at, axis=1, kind="stable")
    ordered = np.take_along_axis(at, order, axis=1)
    twice = np.zeros(at.shape, dtype=bool)
    repeated = (np.diff(ordered, axis=1) == 0) & (ordered[:, 1:] >= 0)
    np.put_along_axis(twice, order[:, 1:], repeated, axis=1)
    _refuse(name, twice, lambda row, column: f"position {at[row, column]:,}, which stands in this row already")
    _refuse(name, some & ~np.isfinite(value), lambda *_: "a score that is not a finite number")
    if smaller_is_better:
        value = -value
    elif _rise(value, some):
        advice = "If they are: Run.from_positions(..., smaller_is_better=True)."
        warn(f"{name}: the scores rise along every row, as distances do. {advice}")
    rows, ranks = np.nonzero(some)
    if not rows.size:
        raise DataError(name, "the run is empty.")
    return _run_of(name, queries, docs, rows.astype(np.int32), at[rows, ranks], value[rows, ranks])


def run_of_found(given: Any, query_ids: Sequence[Any] | None, doc_ids: Sequence[Any] | None, name: str) -> Run:
    """Return the run of a pair of positions and scores, in either order: positions are the whole numbers."""
    positions, scores = given if _is_whole(given[0]) else given[::-1]
    return run_of_positions(positions, scores, query_ids, doc_ids, name=name)


def _check_given(query_ids: Any, doc_ids: Any, what: str) -> None:
    if query_ids is None or doc_ids is None:
        raise UsageError(f"{what} needs ids: query_ids=[...] for its rows and doc_ids=[...] for the documents.")


def _listed(ids: Any) -> Sequence[Any]:
    return ids if isinstance(ids, list | tuple | range) else ids.tolist() if hasattr(ids, "tolist") else list(ids)


def texts_of(ids: Sequence[Any], what: str, name: str) -> Sequence[str]:
    """Return the ids of all rows or columns as text; none comes twice."""
    kinds = set(map(type, ids))
    if kinds == {int}:
        ids = list(map(str, ids))
    elif kinds != {str}:
        ids = Ids.checked(list(ids), f"a {what} id", Source(name).place).to_list()
    if len(set(ids)) < len(ids):
        raise DataError(name, f"two {what} ids of the matrix have the same text.")
    return ids


def _run_of(
    name: str, query_ids: Sequence[Any], doc_ids: Sequence[Any], rows: Ints, columns: Ints, best: Floats
) -> Run:
    where = Source(name)
    topics, texts = texts_of(query_ids, "query", name), texts_of(doc_ids, "document", name)
    used = np.zeros(len(texts), dtype=bool)
    used[columns] = True
    docs = Ids.checked([texts[column] for column in np.flatnonzero(used).tolist()], "a document id", where.place)
    columns = (np.cumsum(used) - 1)[columns]
    keys = mix(docs.hashes()[columns], Ids.checked(topics, "a query id", where.place).hashes()[rows])
    return Run._of_pairs(name, Pairs(tuple(topics), rows, docs.take(columns), keys, where), best)


def package_of(array: Any) -> str:
    """Return the package that holds the array, among those that compute where their arrays live; else ``numpy``."""
    package = type(array).__module__.partition(".")[0]
    return package if package in ON_DEVICES else "numpy"


def _array(given: Any) -> Any:
    if np.ma.is_masked(given):
        problem = "the matrix of scores is masked."
        raise DataError("run", problem, "Fill it first: scores.filled(-np.inf) if masked documents are not retrieved.")
    if package_of(given) == "torch":
        return given.detach()
    if package_of(given) != "numpy":
        return given
    array = np.asarray(given) if hasattr(given, "__array__") else np.from_dlpack(given)
    if array.dtype.kind not in "fiub":
        raise DataError("run", f"a matrix of scores holds numbers, not {array.dtype}.")
    return array


def as_numpy(given: Any) -> NDArray[Any]:
    """Copy an array of any package to the host."""
    if package_of(given) == "torch":
        given = given.detach()
        return np.asarray((given.float() if "bfloat16" in str(given.dtype) else given).cpu())
    if hasattr(given, "get") and package_of(given) == "cupy":
        return np.asarray(given.get())
    array = np.asarray(given)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _is_whole(array: Any) -> bool:
    return "int" in str(getattr(array, "dtype", ""))


def _like_positions(rows: NDArray[Any], docs: int) -> bool:
    if rows.size < 2 or rows.shape[1] < 2 or rows.min() < -1 or rows.max() >= docs:
        return False
    ordered = np.sort(rows, axis=1)
    return bool(((np.diff(ordered, axis=1) > 0) | (ordered[:, 1:] == -1)).all())


def _rise(value: Floats, some: NDArray[np.bool_]) -> bool:
    both = some[:, 1:] & some[:, :-1]
    steps = np.where(both, np.diff(value, axis=1), 0.0)
    return bool((steps >= 0).all() and 2 * np.count_nonzero((steps > 0).any(axis=1)) > max(1, len(value)))


def _refuse(name: str, wrong: NDArray[np.bool_], words: Callable[[int, int], str]) -> None:
    if wrong.any():
        row, column = divmod(int(wrong.argmax()), wrong.shape[1])
        raise DataError(name, f"row {row} and column {column} hold {words(row, column)}.")


def best_of(matrix: Any, depth: int, name: str) -> Kept:
    """Return the entries of each row that are at least as good as its entry of rank ``depth``."""
    package, (count, width) = package_of(matrix), matrix.shape
    if not count or not width:
        raise DataError(name, "the run is empty.")
    select, threads = (_on_host, processors()) if package == "numpy" else (_on_device, 1)
    step = max(1, BLOCK_SCORES["numpy" if package == "numpy" else "device"] // max(1, width))
    blocks: list[Kept] = []
    kept = 0
    for rows, columns, best in in_threads(
        partial(_selected, select, matrix, step, depth, name), range(0, count, step), threads
    ):
        kept += rows.size
        if kept > MOST_ROWS:
            raise DataError(
                name,
                f"{kept:,} documents would be kept, because their scores are at least that of rank {depth:,}.",
                "Keep more digits of the scores: ties this large do not rank anything.",
            )
        blocks.append((rows, columns, best))
    rows, columns, scores = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return rows, columns, scores


def _selected(
    select: Callable[[Any, int], tuple[Any, Any, Any, Any]], matrix: Any, step: int, depth: int, name: str, begin: int
) -> Kept:
    block = matrix[begin : begin + step]
    greatest, row, column, best = select(block, depth)
    wrong = np.isnan(greatest) | (greatest == np.inf)
    if wrong.any():
        at = int(wrong.argmax())
        cells = as_numpy(block[at])
        column = int((np.isnan(cells) | (cells == np.inf)).argmax())
        problem = f"the score in row {begin + at} and column {column} is not a finite number."
        raise DataError(name, problem, "Use -inf, and only -inf, for a document that is not retrieved.")
    return (row + begin).astype(np.int32), column, best.astype(np.float64)


def _on_host(block: NDArray[Any], depth: int) -> tuple[Any, Any, Any, Any]:
    """Select by NumPy: the greatest score of each row, then row, column and score of the best.

    Of long rows, an even sample of columns gives a bound that the score of rank ``depth`` cannot be below. Only what
    reaches it is partitioned.
    """
    whole = block.dtype.kind in "iu" or block.dtype.itemsize > 4
    block = np.ascontiguousarray(block, dtype=np.float64 if whole else np.float32)
    width, least = block.shape[1], np.finfo(block.dtype).min  # -inf is not retrieved
    stride = int((width / depth) ** 0.5)
    if depth < width:
        sampled = block[:, ::stride] if stride > 3 else block
        last = sampled.shape[1] - depth
        least = np.maximum(np.partition(sampled, last, axis=1)[:, last, None], least)
    kept = np.flatnonzero(block >= least)
    if stride > 3:
        ends = np.searchsorted(kept, np.arange(len(block) + 1) * width).tolist()
        of_row = [kept[begin:end] for begin, end in pairwise(ends)]
        score = block.ravel()
        kept = np.concatenate([cells[score[cells] >= _ranked(score[cells], depth)] for cells in of_row])
    row, column = np.divmod(kept, width)
    return block.max(axis=1), row, column, block[row, column]


def _ranked(scores: NDArray[Any], depth: int) -> Any:
    last = max(0, scores.size - depth)
    return np.partition(scores, last)[last] if scores.size else 0.0


def _on_device(block: Any, depth: int) -> tuple[Any, Any, Any, Any]:
    last = block.shape[1] - min(depth, block.shape[1])
    if package_of(block) == "torch":
        block = block.byte() if str(block.dtype) == "torch.bool" else block
        best = block.topk(depth, dim=1, sorted=False).values if last else block
        kept = block >= best.amin(1, keepdim=True)
        row, column = (kept & (block > -np.inf) if block.is_floating_point() else kept).nonzero(as_tuple=True)
        greatest = block.amax(1)
    else:
        xp = import_module("cupy" if package_of(block) == "cupy" else "jax.numpy")
        least = xp.partition(block, last, axis=1)[:, last, None]
        row, column = xp.nonzero((block >= least) & (block > -np.inf))
        greatest = block.max(axis=1)
    greatest, row, column, best = map(as_numpy, (greatest, row, column, block[row, column]))
    return greatest, row, column, best
