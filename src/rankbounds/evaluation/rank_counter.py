"""Exact evaluation without ranking: the rank of a judged document is a count of the scores above its own.

Scores come block by block, as many documents at a time as a device holds. Two passes over them suffice, and counts of
different documents add up, over devices and machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_count
from rankbounds.collection.inputs import Reading
from rankbounds.collection.score_matrix import DEPTH, as_numpy, is_matrix, package_of, texts_of
from rankbounds.collection.shapes import QrelsLike
from rankbounds.columns.native.ranking import RankedLists
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.options import Options, chosen_options
from rankbounds.evaluation.scores import Scores
from rankbounds.evaluation.scoring import JudgedTopics, ScoreSheet, Scoring
from rankbounds.measures import parse_measures
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.rankings.join import in_batches
from rankbounds.rankings.rankings import NOT_POOLED, Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from typing_extensions import Unpack

STEP_SCORES = 1 << 27
"""How many scores of a block are compared at a time on a device."""
WORTH_SORTING = 64
"""With more judged documents of a query than this, one sort costs less than comparing."""
BATCH_DOCUMENTS = 1 << 19
"""How many documents of rankings are scored at a time."""


class RankCounter:
    """Evaluate a model from blocks of scores, without ranking and without ids of what it retrieves.

    First every block is collected (the scores of judged documents), then every block is counted (how many scores are
    greater than those, how many equal). Blocks hold all queries and some documents, on any device, in any order. Both
    passes must come from the same computation: the same scores rounded otherwise make other ties.

    Parameters
    ----------
    qrels : path, Qrels, dict, frame or rows
        The judgments, as in ``evaluate``.
    query_ids, doc_ids : sequence of str
        The ids of all rows and of all columns of the matrix that the blocks are cut from.
    name : str, default "run"
        The name in results.
    depth : int, optional
        How many documents of each query count; by default 1,000, as of a matrix. All that tie with the last count, too,
        if one of them is judged.

    Examples
    --------
    >>> import numpy as np, rankbounds as rb
    >>> scores = np.random.default_rng(0).random((2, 6))
    >>> qrels = {"q1": {"d3": 1}, "q2": {"d0": 1, "d5": 1}}
    >>> counter = rb.RankCounter(qrels, ["q1", "q2"], [f"d{number}" for number in range(6)])
    >>> for first in (0, 3):
    ...     counter.collect(scores[:, first : first + 3], first)
    >>> for first in (0, 3):
    ...     counter.count(scores[:, first : first + 3], first)
    >>> counter.evaluate("RR").value.ravel().tolist()
    [0.16666666666666666, 0.25]
    """

    def __init__(
        self,
        qrels: QrelsLike,
        query_ids: Sequence[Any],
        doc_ids: Sequence[Any],
        *,
        name: str = "run",
        depth: int = DEPTH,
    ) -> None:
        check_count("depth", depth)
        self.name, self.depth = name, depth
        self.qrels = Reading().judgments(qrels)
        self.query_ids = list(texts_of(list(query_ids), "query", name))
        docs = texts_of(list(doc_ids), "document", name)
        judged = self.qrels.pairs
        wanted = set(judged.docs.to_list())
        column_of = {doc: column for column, doc in enumerate(docs) if doc in wanted}
        row_of = {query: row for row, query in enumerate(self.query_ids)}
        row = np.array([row_of.get(query, -1) for query in judged.topics])[judged.topic]
        column = np.array([column_of.get(doc, -1) for doc in judged.docs.to_list()])
        here = (row >= 0) & (column >= 0)
        order = np.lexsort((column[here], row[here]))
        self._row, self._column, self._judgment = row[here][order], column[here][order], here.nonzero()[0][order]
        self._score = np.full(order.size, np.nan)
        self._greater, self._equal = np.zeros((2, order.size), dtype=np.int64)
        self._retrieved = np.zeros(len(self.query_ids), dtype=np.int64)
        self._collected, self._counted = np.zeros((2, len(docs)), dtype=bool)
        self._kind: str | None = None

    def collect(self, block: Any, first: int = 0) -> None:
        """Keep the scores of the judged documents of a block, whose columns begin at number ``first``."""
        columns = self._columns(block, first, self._collected, "collected")
        if self._counted.any():
            raise UsageError("Blocks are collected before any is counted: counting has begun.")
        mine = np.flatnonzero((self._column >= columns.start) & (self._column < columns.stop))
        score = as_numpy(block[self._row[mine], self._column[mine] - first]).astype(np.float64)
        wrong = np.isnan(score) | (score == np.inf)
        if wrong.any():
            raise self._not_finite(self._row[mine][wrong][0], self._column[mine][wrong][0])
        self._score[mine] = score
        self._collected[columns] = True
        self._kind = _kind(block)

    def count(self, block: Any, first: int = 0) -> None:
        """Count how many scores of a block are greater than each judged document's, and how many equal it."""
        columns = self._columns(block, first, self._counted, "counted")
        if not self._collected.all():
            raise UsageError(f"Every block is collected before any is counted: {_gap(self._collected)} not collected.")
        wanted, within = self._wanted()
        greater, equal = (_counts_here if package_of(block) == "numpy" else _counts_on_device)(block, wanted)
        more_than_nothing, nothing, infinite = greater[:, 0], equal[:, 0], equal[:, 1]
        wrong = (more_than_nothing + nothing < block.shape[1]) | (infinite > 0)
        if wrong.any():
            row = int(wrong.argmax())
            cells = as_numpy(block[row])
            raise self._not_finite(row, first + int((np.isnan(cells) | (cells == np.inf)).argmax()))
        self._greater += greater[self._row, within]
        self._equal += equal[self._row, within]
        self._retrieved += more_than_nothing
        self._counted[columns] = True

    def merge(self, other: RankCounter) -> None:
        """Take over what another counter of the same queries and documents has collected and counted.

        Where machines share the documents, each collects its own, they exchange their counters and merge, each counts
        its own, and one merges the counts.
        """
        same = self.query_ids == other.query_ids and self._collected.size == other._collected.size
        if not same or self.depth != other.depth or not np.array_equal(self._column, other._column):
            raise UsageError("Counters are merged that have the same queries, documents and depth; these differ.")
        if self.qrels != other.qrels:
            raise UsageError("Counters are merged that have the same judgments; these differ.")
        both = ~np.isnan(self._score) & ~np.isnan(other._score)
        if len({self._kind, other._kind} - {None}) > 1 or (self._score[both] != other._score[both]).any():
            raise UsageError("Both counters have collected a document, with different scores.")
        if (self._counted & other._counted).any():
            raise UsageError(f"Both counters have counted {_span(self._counted & other._counted)}.")
        self._score = np.where(np.isnan(self._score), other._score, self._score)
        self._kind = self._kind or other._kind
        self._collected |= other._collected
        self._greater += other._greater
        self._equal += other._equal
        self._retrieved += other._retrieved
        self._counted |= other._counted

    def evaluate(self, measures: MeasuresLike = DEFAULT_MEASURES, **options: Unpack[Options]) -> Scores:
        """Score the ranks that were counted.

        Parameters
        ----------
        measures : str, Measure, or iterable of them
            As in ``rb.evaluate``.
        **options
            As in ``rb.evaluate``: ``unjudged``, ``bounds``, ``gain``, ``topics`` and others. ``ties`` is "expected",
            "best" or "worst": other rules need the ids of all tied documents.

        Returns
        -------
        Scores
        """
        assumptions, reading = chosen_options(options, ties="expected", threads=None)
        if assumptions.ties in ORDERS:
            known = '"expected", "best" or "worst"'
            raise UsageError(f'ties="{assumptions.ties}" needs the ids of all tied documents; counts allow {known}.')
        if not self._counted.all():
            raise UsageError(f"Every block is counted before it is scored: {_gap(self._counted)} not counted.")
        scoring = Scoring(parse_measures(measures), assumptions, reading.threads)
        assumptions.check(scoring.measures, in_memory=True)
        facts = TopicFacts(self.qrels, assumptions.gain)
        sheet = ScoreSheet(scoring, len(facts.query_ids))
        topic = np.array([facts.topic_number.get(query, -1) for query in self.query_ids])
        listed = np.flatnonzero((topic >= 0) & (self._retrieved > 0))
        step = max(1, BATCH_DOCUMENTS // self.depth)
        keep = facts.some_only_pooled or any(measure.reads_judgments for measure in scoring.measures)
        cuts = [listed[begin : begin + step] for begin in range(0, listed.size, step)]
        sheet.fill([partial(self._ranked, cut, topic[cut], facts, keep) for cut in cuts], reading.threads)
        absent = np.setdiff1d(np.arange(len(facts.query_ids)), topic)
        nothing = topic[(topic >= 0) & (self._retrieved == 0)]
        empty = np.concatenate((nothing, absent)) if assumptions.topics == "judged" else nothing
        if empty.size:
            sheet.fill_empty(empty, facts)
        names = [facts.query_ids[number] for number in absent.tolist()]
        unknown = [query for query, number in zip(self.query_ids, topic.tolist(), strict=True) if number < 0]
        sheet.finish(self.name, names, unknown, f"the best {self.depth:,} of {self._counted.size:,} documents")
        return JudgedTopics.of(facts, assumptions).stack([sheet], [self.name])

    def _wanted(self) -> tuple[Floats, Ints]:
        within = np.arange(self._row.size) - np.searchsorted(self._row, self._row) + 2
        wanted = np.full((len(self.query_ids), int(within.max(initial=1)) + 1), np.inf)
        wanted[:, 0] = -np.inf
        wanted[self._row, within] = self._score
        return wanted, within

    def _columns(self, block: Any, first: int, seen: Flags, done: str) -> slice:
        if not is_matrix(block) or block.shape[0] != len(self.query_ids):
            shape = getattr(block, "shape", None)
            raise UsageError(
                f"A block is an array with a row for each of the {len(self.query_ids):,} queries and a column for each "
                f"document; got {type(block).__name__}{'' if shape is None else f' of the shape {tuple(shape)}'}."
            )
        columns = slice(first, first + block.shape[1])
        if first < 0 or columns.stop > seen.size:
            raise UsageError(f"The block has columns {first:,} to {columns.stop - 1:,} of {seen.size:,} documents.")
        if seen[columns].any():
            twice = np.zeros(seen.size, dtype=bool)
            twice[columns] = seen[columns]
            raise UsageError(f"{_span(twice).capitalize()} were {done} before.")
        if self._kind not in (None, _kind(block)):
            raise UsageError(
                f"The blocks before held {self._kind}, and this one {_kind(block)}: their ties would differ."
            )
        return columns

    def _not_finite(self, row: int, column: int) -> DataError:
        problem = f'the score of column {column:,} for query "{self.query_ids[row]}" is not a finite number.'
        return DataError(self.name, problem, "Use -inf, and only -inf, for a document that is not retrieved.")

    def _ranked(self, queries: Ints, topic: Ints, facts: TopicFacts, keep_judgments: bool) -> list[Rankings]:
        """Return rankings of these queries: judged documents at the first ranks that they may have.

        All documents of a tied group are marked as such, so that the group stands for all its orders.
        """
        place = np.full(len(self.query_ids), -1)
        place[queries] = np.arange(queries.size)
        here = (place[self._row] >= 0) & (self._score > -np.inf) & (self._greater < self.depth)
        mine = np.flatnonzero(here)[np.lexsort((self._greater[here], place[self._row[here]]))]
        row, greater, equal = place[self._row[mine]], self._greater[mine], self._equal[mine]
        length: Ints = np.minimum(self._retrieved[queries], self.depth)
        np.maximum.at(length, row, greater + equal)
        cell = np.cumsum(length)[row] - length[row] + greater
        groups, first, size = np.unique(cell, return_index=True, return_counts=True)
        lists = RankedLists(int(length.sum()), keep_rows=False, keep_judgments=keep_judgments)
        lists.length, lists.topic = length, topic  # type: ignore[assignment]
        lists.tied[:] = False
        lists.tied[_runs(groups + 1, equal[first] - 1)] = True
        at = _runs(groups, size)
        lists.grade[:] = np.nan
        lists.grade[at] = facts.grade[self._judgment[mine]]
        if lists.judgment is not None:
            lists.judgment[:] = NOT_POOLED
            lists.judgment[at] = self._judgment[mine]
        return in_batches(lists, facts)


def _runs(begin: Ints, length: Ints) -> Ints:
    return np.repeat(begin - (np.cumsum(length) - length), length) + np.arange(length.sum())


def _kind(block: Any) -> str:
    return str(block.dtype).rpartition(".")[2]  # as torch.float32


def _gap(seen: Flags) -> str:
    return f"{_span(~seen)} {'was' if np.count_nonzero(~seen) == 1 else 'were'}"


def _span(flags: Flags) -> str:
    first = int(flags.argmax())
    rest = flags[first:]
    end = first + (rest.size if rest.all() else int((~rest).argmax()))
    return f"column {first:,}" if end == first + 1 else f"columns {first:,} to {end - 1:,}"


def _counts_here(block: Any, wanted: Floats) -> tuple[Ints, Ints]:
    block = np.asarray(block)
    greater, equal = np.zeros((2, *wanted.shape), dtype=np.int64)
    for number, scores in enumerate(block):
        if wanted.shape[1] > WORTH_SORTING:
            known = np.sort(scores[~np.isnan(scores)] if scores.dtype.kind == "f" else scores)
            right = np.searchsorted(known, wanted[number], "right")
            greater[number] = known.size - right
            equal[number] = right - np.searchsorted(known, wanted[number], "left")
            continue
        for place, score in enumerate(wanted[number].tolist()):
            greater[number, place] = np.count_nonzero(scores > score)
            equal[number, place] = np.count_nonzero(scores == score)
    return greater, equal


def _counts_on_device(block: Any, wanted: Floats) -> tuple[Ints, Ints]:
    """Count where the scores live: by one kernel on CUDA, else all rows against the first of each, the second, ..."""
    greater, equal = np.zeros((2, *wanted.shape), dtype=np.int64)
    if package_of(block) == "torch" and not block.is_floating_point():
        block = block.double()
    by_kernel = _kernel() if getattr(block, "is_cuda", False) and block.dtype.itemsize <= 4 else None
    step = max(1, STEP_SCORES // max(1, block.shape[1]) if by_kernel is None else len(block))
    for begin in range(0, block.shape[0], step):
        part, rows = block[begin : begin + step], slice(begin, begin + step)
        if package_of(part) == "torch":
            near = part.new_tensor(wanted[rows])
            if by_kernel is not None:
                greater[rows], equal[rows] = map(as_numpy, by_kernel(part, near))
                continue
        else:
            xp = import_module("cupy" if package_of(part) == "cupy" else "jax.numpy")
            near = xp.asarray(wanted[rows], dtype=part.dtype if part.dtype.kind == "f" else float)
        for at in range(wanted.shape[1]):
            one = near[:, at : at + 1]
            greater[rows, at], equal[rows, at] = as_numpy((part > one).sum(1)), as_numpy((part == one).sum(1))
    return greater, equal


@cache
def _kernel() -> Callable[[Any, Any], tuple[Any, Any]] | None:
    try:
        from rankbounds.evaluation.counting_kernel import count
    except ImportError:
        return None
    return count
