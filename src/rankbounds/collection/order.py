"""The order of a run's documents: by score, with a rule for ties or a user's own key; or by line or stated rank."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.decimals import finite_numbers
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, Place, UsageError
from rankbounds.files.named_columns import DOC_NAMES
from rankbounds.files.records import filled_lines, first_line_of, named_records, read_decoded, separator_in

if TYPE_CHECKING:
    from rankbounds.collection.run import Run


COST_NAMES = ("tokens", "cost", "costs")


class OfDocuments:
    """A value for each document, whatever the topic."""

    def __init__(self, docs: list[Any], source: Source) -> None:
        self._pairs = _of_any_topic(Ids.checked(docs, "a document id", lambda _: Place(source.name)), source)
        self._pairs.reject_repeats("Give one value for each document.")

    def find(self, asked: Pairs, lacking: str) -> Ints:
        """Return the place of each document; ``lacking`` is what is wrong with one that has none."""
        found, here = self._pairs.index.find(_of_any_topic(asked.docs, asked.source), np.zeros(1, dtype=np.int64))
        if found.size < len(asked):
            row = int(np.setdiff1d(np.arange(len(asked)), found)[0])
            problem = f"{asked.describe(row)} {lacking} ({self._pairs.source.name})."
            raise DataError(asked.where(row), problem, "Give it one.")
        return here


class Costs(OfDocuments):
    """What each document costs, such as its number of tokens."""

    def __init__(self, given: Any) -> None:
        docs, values, source = _costs_in(given)
        super().__init__(docs, source)
        self._costs, bad = finite_numbers(values)
        wrong = [*bad[:1].tolist(), *np.flatnonzero(self._costs < 0)[:1].tolist()]
        if wrong:
            problem = f'the cost of document "{docs[wrong[0]]}" is {values[wrong[0]]!r}'
            raise DataError(source.name, f"{problem}, not a number from 0 on.")

    def within(self, budget: float, pairs: Pairs, rows: Ints) -> Ints:
        cost = self._costs[self.find(pairs, "has no cost")][rows]
        lists = np.split(cost, np.flatnonzero(np.diff(pairs.topic[rows])) + 1)
        return rows[np.concatenate([np.cumsum(one) for one in lists]) <= budget * (1 + 1e-12)]


class TieKey(OfDocuments):
    """Rank documents of equal score by rising value, and those of equal value by document id down, as in trec_eval."""

    def __init__(self, docs: list[Any], values: list[Any], source: Source) -> None:
        super().__init__(docs, source)
        numbers, bad = finite_numbers(values)
        comparable: list[Any] = [str(value) for value in values] if bad.size else numbers.tolist()
        order = {value: place for place, value in enumerate(sorted(set(comparable)))}
        self._place = np.array([order[value] for value in comparable], dtype=np.int64)

    def places(self, pairs: Pairs, rows: Ints) -> Ints:
        return self._place[self.find(pairs.take(rows), "is tied, but has no value in the key for ties")]


def _of_any_topic(docs: Ids, source: Source) -> Pairs:
    return Pairs.numbered([""], np.zeros(len(docs), dtype=np.int64), docs, source)


def as_tie_key(given: Any) -> TieKey:
    return given if isinstance(given, TieKey) else TieKey(*_values_in(given, "ties_key"))


def _costs_in(given: Any) -> tuple[list[Any], list[Any], Source]:
    if isinstance(given, Mapping):
        return _values_in(given, "costs")
    content, name = read_decoded(given)
    first = first_line_of(content).lower()
    if not first.startswith(("{", "[")) and not set(re.split(r"[\s,]+", first)).intersection(COST_NAMES):
        return _values_in(given, name)
    costs: dict[str, Any] = {}
    for place, row in named_records(content, name, "doc_id", "tokens"):
        named = {str(key).lower(): value for key, value in row.items()} if isinstance(row, Mapping) else {}
        doc, cost = (next((named[key] for key in keys if key in named), None) for keys in (DOC_NAMES, COST_NAMES))
        if doc is None or cost is None:
            raise DataError(place, "a row names no document or no cost (columns doc_id and tokens).")
        if costs.setdefault(str(doc), cost) != cost:
            raise DataError(place, f'document "{doc}" costs {cost} here and {costs[str(doc)]} before.', "Give it one.")
    return list(costs), list(costs.values()), Source(name)


def _values_in(given: Any, name: str) -> tuple[list[Any], list[Any], Source]:
    if isinstance(given, Mapping):
        return list(given), list(given.values()), Source(name)
    content, name = read_decoded(given)
    docs: list[Any] = []
    values: list[Any] = []
    for place, line in filled_lines(content, name):
        doc, _, value = line.partition(separator_in(line, "\t ,") or ",")
        if not doc or not value.strip():
            raise DataError(place, 'expected a document and its value, as in "doc1 217".')
        docs.append(doc.strip())
        values.append(value.strip())
    return docs, values, Source(name)


Order = Literal["trec", "run", "line", "rank", "stated", "docid", "key"]
ORDERS: tuple[str, ...] = get_args(Order)
Precision = Literal["double", "single"]


def check_tie_key(order: str, key: object) -> None:
    if (order == "key") != (key is not None):
        raise UsageError('ties="key" goes with a key for ties: a file or a dict of documents and their values.')


def ranks(run: Run, order: Order = "trec", precision: Precision = "double", tie_key: TieKey | None = None) -> Ints:
    rows, _ = ranked_rows(run, order=order, precision=precision, tie_key=tie_key)
    length = np.bincount(run.pairs.topic, minlength=len(run.pairs.topics))
    rank = np.empty(len(run), dtype=np.int64)
    rank[rows] = np.arange(len(run)) - np.repeat(np.cumsum(length) - length, length) + 1
    return rank


def ranked_rows(
    run: Run, *, order: Order = "trec", precision: Precision = "double", tie_key: TieKey | None = None
) -> tuple[Ints, Flags]:
    together = run.pairs.rows_by_topic()
    permutation, tied = ranking(run.take(together), order, precision, tie_key)
    return (together if permutation is None else together[permutation]), tied


def compared_scores(run: Run, precision: Precision) -> Floats:
    if precision == "double":
        return run.score
    with np.errstate(over="ignore"):
        return run.score.astype(np.float32)


def ranking(run: Run, order: Order, precision: Precision, tie_key: TieKey | None = None) -> tuple[Ints | None, Flags]:
    """Return the permutation that ranks the rows within their topics (None: none needed), and which are then tied."""
    topic, score = run.pairs.topic, compared_scores(run, precision)
    if order == "stated":  # ties are then equal ranks, in the order of lines
        score, order = -_stated_ranks(run).astype(np.float64), "line"
    permutation: Ints | None = None
    same_topic = topic[1:] == topic[:-1]
    if order != "run" and (same_topic & (score[1:] > score[:-1])).any():
        # Where a tie-break tells all documents of a group apart, their order before it does not matter.
        permutation = _sorted_lists(score, topic, stable=order in ("line", "rank"))
        score = score[permutation]
    tied = np.zeros(len(run), dtype=bool)
    tied[1:] = same_topic & (score[1:] == score[:-1])
    if order not in ("run", "line") and tied.any():
        in_group = tied.copy()
        in_group[:-1] |= tied[1:]
        rows = np.flatnonzero(in_group)
        source_rows = rows if permutation is None else permutation[rows]
        within = _order_within_groups(tied[rows], _tie_break(run, source_rows, order, tie_key))
        if within is not None:
            permutation = np.arange(len(run)) if permutation is None else permutation
            permutation[rows] = source_rows[within]
    return permutation, tied


def _sorted_lists(score: Floats, topic: Ints, *, stable: bool) -> Ints:
    start = np.flatnonzero(np.diff(topic, prepend=-1))
    length = np.diff(start, append=topic.size)
    width = int(length.max())
    if width * length.size > 2 * topic.size or np.isinf(score).any():  # in single precision large ones are infinite
        return np.lexsort((-score, topic))
    kind: Literal["stable"] | None = "stable" if stable else None
    if width * length.size == topic.size:
        return (np.argsort(-score.reshape(-1, width), axis=-1, kind=kind) + start[:, None]).ravel()
    inside = np.arange(width) < length[:, None]
    lists = np.full(inside.shape, np.inf, dtype=score.dtype)
    lists[inside] = -score
    return (np.argsort(lists, axis=-1, kind=kind) + start[:, None])[inside]


def ranked(run: Run, order: Order = "trec", precision: Precision = "double", tie_key: TieKey | None = None) -> Run:
    return run.take(ranked_rows(run, order=order, precision=precision, tie_key=tie_key)[0])


def _order_within_groups(tied: Flags, keys: list[NDArray[Any]]) -> Ints | None:
    falls, level = np.zeros(tied.size - 1, dtype=bool), tied[1:]
    for key in reversed(keys):
        falls |= level & (key[1:] < key[:-1])
        level = level & (key[1:] == key[:-1])
    second = np.flatnonzero(falls) + 1
    if not second.size:
        return None
    group = np.cumsum(~tied)
    of_two = np.bincount(group)[group[second]] == 2
    within = np.arange(tied.size)
    swapped = second[of_two]
    within[swapped], within[swapped - 1] = swapped - 1, swapped
    larger = np.zeros(int(group[-1]) + 1, dtype=bool)
    larger[group[second[~of_two]]] = True
    rows = np.flatnonzero(larger[group])
    within[rows] = rows[np.lexsort((*(key[rows] for key in keys), group[rows]))]
    return within


def _stated_ranks(run: Run) -> Ints:
    if run.stated_rank is None:
        raise DataError(
            f"{run.pairs.source.name}: documents cannot be ordered by rank, because this run has no ranks. "
            'Use another order, such as "trec" or "run".'
        )
    return run.stated_rank


def _tie_break(run: Run, rows: Ints, order: Order, tie_key: TieKey | None) -> list[NDArray[Any]]:
    if order == "rank":
        return [_stated_ranks(run)[rows]]
    docs = run.pairs.docs.take(rows)
    words = docs.sort_keys()[::-1]
    if order == "docid":
        return list(words)
    falling: list[NDArray[Any]] = [~word for word in words]
    return [*falling, tie_key.places(run.pairs, rows)] if order == "key" and tie_key is not None else falling
