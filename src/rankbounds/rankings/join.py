"""Join a run with judgments into rankings: documents looked up, topics ranked, lists of like length batched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.order import Order, Precision, TieKey, compared_scores, ranking
from rankbounds.collection.run import Run
from rankbounds.columns.native import in_use
from rankbounds.columns.native.ranking import ORDERS, RankedLists, RunRows, block_of
from rankbounds.columns.pairs import row_numbers
from rankbounds.errors import DataError
from rankbounds.rankings.rankings import BEYOND, NOT_POOLED, Rankings
from rankbounds.rankings.topic_facts import TopicFacts

BATCH_CELLS = 1 << 17
"""So few that several arrays of a batch stay in the processor's cache, and enough to make an array call worth it."""


@dataclass(frozen=True)
class Joined:
    """A run joined with judgments: its rankings in independent slices of whole topics, and what the join noticed."""

    slices: list[Callable[[], list[Rankings]]]
    missing: list[str]
    unknown: list[str]

    @property
    def batches(self) -> Iterator[Rankings]:
        return (rankings for compute in self.slices for rankings in compute())


def no_topic_judged(run: str, topic: str, judgments: str, judged_topic: str) -> DataError:
    return DataError(
        run,
        f'no topic of this run is judged. The run has topics such as "{topic}", {judgments} like "{judged_topic}".',
    )


def join(
    run: Run,
    facts: TopicFacts,
    *,
    order: Order = "trec",
    precision: Precision = "double",
    topics: Literal["judged", "shared"] = "judged",
    tie_key: TieKey | None = None,
    keep_rows: bool = False,
    keep_judgments: bool = False,
) -> Joined:
    """Look up every document of the run in the judgments and rank it; ``order="key"`` needs the ``tie_key``."""
    pairs = run.pairs
    topic_in_qrels = facts.qrels.pairs.index.topics_of(pairs)
    known, absent = _topics_in_common(pairs.topics, topic_in_qrels, facts)
    if not facts.query_ids:
        raise DataError(facts.qrels.pairs.source.name, "no topic is judged.")
    if not known.any():
        judgments = f"the judgments ({facts.qrels.pairs.source.name})"
        raise no_topic_judged(pairs.source.name, pairs.topics[0], judgments, facts.query_ids[0])
    slices = slices_of(run, facts, topic_in_qrels, order, precision, tie_key, keep_rows, keep_judgments)
    # A list that the run has and that holds nothing is a list; one that it lacks counts as such if that is wanted.
    empty = absent if topics == "judged" else absent[:0]
    if pairs.ends is None or pairs.ends.size < known.size:
        holds_nothing = np.ones(known.size, dtype=bool)
        holds_nothing[pairs.topic] = False
        empty = np.concatenate((topic_in_qrels[known & holds_nothing], empty))
    if empty.size:
        last = slices.pop() if slices else list  # together, since an empty list is not worth a thread
        slices.append(lambda: [*last(), empty_rankings(empty, facts, keep_rows, keep_judgments)])
    return Joined(slices, _named(facts.query_ids, absent), _named(pairs.topics, np.flatnonzero(~known)))


def _named(names: Sequence[str], numbers: Ints) -> list[str]:
    return [names[number] for number in numbers.tolist()]


def join_dict(
    given: Any,
    facts: TopicFacts,
    *,
    order: Order = "trec",
    precision: Precision = "double",
    topics: Literal["judged", "shared"] = "judged",
    keep_judgments: bool = False,
) -> Joined | None:
    if not in_use() or type(given) is not dict:
        return None
    given = given.copy()  # another thread may change it
    if set(map(type, given)) != {str}:
        return None
    topic = np.array([facts.topic_number.get(query, -1) for query in given])
    known, absent = _topics_in_common(list(given), topic, facts)
    unknown = _named(list(given), np.flatnonzero(~known))
    if not known.any() or not all(query and query.isascii() for query in unknown):
        return None
    single, keep_judgments = precision == "single", keep_judgments or facts.some_only_pooled
    lists = facts.held.ranked(list(given.values()), topic, order, single=single, keep_judgments=keep_judgments)
    if lists is None:
        return None
    batches = in_batches(lists, facts)
    if topics == "judged" and absent.size:
        batches.append(empty_rankings(absent, facts, keep_judgments=keep_judgments))
    slices = [batches] if lists.grade.size <= BATCH_CELLS else [[batch] for batch in batches]
    return Joined([partial(list, batches) for batches in slices], _named(facts.query_ids, absent), unknown)


def _topics_in_common(names: Sequence[str], topic_in_qrels: Ints, facts: TopicFacts) -> tuple[Flags, Ints]:
    known = topic_in_qrels >= 0
    if names == facts.query_ids:
        return known, topic_in_qrels[:0]
    lacking = np.ones(len(facts.query_ids), dtype=bool)
    lacking[topic_in_qrels[known]] = False
    return known, lacking.nonzero()[0]


def slices_of(
    run: Run,
    facts: TopicFacts,
    topic_in_qrels: Ints,
    order: Order,
    precision: Precision,
    tie_key: TieKey | None = None,
    keep_rows: bool = False,
    keep_judgments: bool = False,
) -> list[Callable[[], list[Rankings]]]:
    keep_judgments |= facts.some_only_pooled
    kernel = None
    table = facts.qrels.pairs.index.native if in_use() and order in ORDERS else None
    if table is not None:
        score = compared_scores(run, precision)
        kernel = RunRows(run.pairs, score, topic_in_qrels, table, facts.grade, ORDERS[order])

    def compute(rows: slice | Ints) -> list[Rankings]:
        lists = None if kernel is None else kernel.ranked(rows, keep_rows, keep_judgments)  # None: left to NumPy
        if lists is not None:
            return in_batches(lists, facts)
        found = LookedUp.of(run, rows, facts, topic_in_qrels, keep_rows, keep_judgments)
        return found.ranked(run.score[rows], order, precision, tie_key)

    return [partial(compute, rows) for rows in run.pairs.topic_slices()]


def in_batches(lists: RankedLists, facts: TopicFacts) -> list[Rankings]:
    columns = lists.grade, lists.tied, lists.row, lists.judgment
    start = lists.length.cumsum() - lists.length
    return list(_batches(*columns, start, lists.length, lists.topic, facts))


def empty_rankings(topics: Ints, facts: TopicFacts, keep_rows: bool = False, keep_judgments: bool = False) -> Rankings:
    keep_judgments |= facts.some_only_pooled
    return Rankings(
        np.zeros((topics.size, 1)),
        np.zeros(topics.size, dtype=np.int64),
        topics,
        facts,
        row=np.full((topics.size, 1), -1) if keep_rows else None,
        judgment=np.full((topics.size, 1), BEYOND) if keep_judgments else None,
    )


@dataclass(frozen=True)
class LookedUp:
    """Documents of some topics, topic by topic, with their grades; not yet ranked, since scores may come later."""

    run: Run
    grade: Floats
    source: Ints | None
    judgment: Ints | None
    topic_in_qrels: Ints
    facts: TopicFacts

    @classmethod
    def of(
        cls,
        whole: Run,
        rows: slice | Ints,
        facts: TopicFacts,
        topic_in_qrels: Ints,
        keep_rows: bool = False,
        keep_judgments: bool = False,
    ) -> LookedUp:
        run = whole.take(rows)
        is_judged, judgments = facts.qrels.pairs.index.find(run.pairs, topic_in_qrels)
        grade = np.full(len(run), np.nan)
        grade[is_judged] = facts.grade[judgments]
        judgment = None
        if keep_judgments:
            judgment = np.full(len(run), NOT_POOLED, dtype=np.int32)
            judgment[is_judged] = judgments
        return cls(run, grade, row_numbers(rows) if keep_rows else None, judgment, topic_in_qrels, facts)

    def ranked(self, score: Floats, order: Order, precision: Precision, tie_key: TieKey | None) -> list[Rankings]:
        grade, source, judgment = self.grade, self.source, self.judgment
        permutation, tied = ranking(self.run.changed(score=score), order, precision, tie_key)
        if permutation is not None:
            grade = grade[permutation]
            source = None if source is None else source[permutation]
            judgment = None if judgment is None else judgment[permutation]
        pairs = self.run.pairs
        start = np.flatnonzero(np.diff(pairs.topic, prepend=-1))
        length = np.diff(start, append=len(pairs))
        topic = self.topic_in_qrels[pairs.topic[start]]
        known = topic >= 0
        return list(_batches(grade, tied, source, judgment, start[known], length[known], topic[known], self.facts))


def _batches(
    grade: Floats,
    tied: Flags,
    row: Ints | None,
    judgment: Ints | None,
    start: Ints,
    length: Ints,
    topic: Ints,
    facts: TopicFacts,
) -> Iterator[Rankings]:
    if facts.complete:
        grade = np.nan_to_num(grade)
    for lists in _of_like_length(length):
        block = _blocks(start[lists], length[lists])
        marks = block(tied, False)
        yield Rankings(
            block(grade, 0.0),
            length[lists],
            topic[lists],
            facts,
            marks if marks.any() else None,
            row=None if row is None else block(row, -1),
            judgment=None if judgment is None else block(judgment, BEYOND),
        )


def _of_like_length(length: Ints) -> Iterator[Ints]:
    if not length.size:
        return
    shortest, longest = ((max(int(end), 1) - 1).bit_length() for end in (length.min(), length.max()))
    size_class = np.ceil(np.log2(np.maximum(length, 1))) if shortest < longest else length
    for power in range(shortest, longest + 1):
        lists = (size_class == power).nonzero()[0] if shortest < longest else np.arange(length.size)
        batches = min(lists.size, round((lists.size << power) / BATCH_CELLS))  # a list longer than a batch is one alone
        if lists.size:
            yield from np.array_split(lists, batches) if batches > 1 else (lists,)


def _blocks(start: Ints, length: Ints) -> Callable[[NDArray[Any], float], NDArray[Any]]:
    first, width = int(start[0]), int(length.max())
    cells = width * length.size
    gapless = int(start[-1]) + width - first == cells == int(length.sum())

    def block(column: NDArray[Any], beyond: float) -> NDArray[Any]:
        if gapless:
            return column[first : first + cells].reshape(-1, width)
        filled = block_of(column, beyond, start, length, width)
        if filled is None:
            rank = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
            filled = np.full((length.size, width), beyond, dtype=column.dtype)
            filled[np.repeat(np.arange(length.size), length), rank] = column[np.repeat(start, length) + rank]
        return filled

    return block
