"""Ranked lists joined with their judgments, as arrays whose last axis is rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.errors import DataError, UsageError
from rankbounds.gains import GainRule
from rankbounds.judgments import POOLED_NOT_JUDGED, Qrels
from rankbounds.pairs import row_numbers
from rankbounds.runs import Run
from rankbounds.tie_key import TieKey
from rankbounds.tied_groups import TiedGroups

Order = Literal["trec", "run", "line", "rank", "docid", "key"]
Precision = Literal["double", "single"]

BATCH_CELLS = 1 << 17
"""How many cells a batch may have: few enough for the processor's cache, enough to make each array call worth it."""
NOT_POOLED, BEYOND = -1, -2


class TopicFacts:
    """What the judgments alone say of each topic, for one gain rule.

    With ``kept``, a flag for every judgment, the others count as pooled and not judged, on the same scale of gains.
    ``grades`` are those of the whole collection, where ``qrels`` are only a part of it.
    """

    def __init__(
        self, qrels: Qrels, rule: GainRule | None = None, kept: Flags | None = None, grades: Floats | None = None
    ) -> None:
        self.qrels = qrels
        self.rule = rule or GainRule()
        self._grades = grades
        self.query_ids = qrels.query_ids
        judged = qrels.grade != POOLED_NOT_JUDGED
        in_table = [gain for _, gain in self.rule.table]
        seen = self.rule(np.maximum(qrels.grade[judged], 0.0) if grades is None else grades)
        self.max_gain = float(max(1.0, *in_table, seen.max(initial=0.0)))
        """The largest gain an unjudged document may have: the largest of the collection or the gain table, and at
        least 1, whether gains come from a table or are the grades themselves."""
        self.nonrelevant_gain = float(self.rule(np.zeros(1))[0])
        """What a document of grade 0 gains: nothing, unless the gain table says so."""
        least = float(min(self.nonrelevant_gain, *in_table, seen.min(initial=np.inf)))
        if least < self.nonrelevant_gain:
            raise UsageError(
                f"The gain rule gives grade 0, which stands for non-relevant, {self.nonrelevant_gain:g}, and another "
                f"grade less: {least:g}. Give every grade at least as much."
            )
        if kept is not None:
            judged &= kept
        self.grade = np.where(judged, np.maximum(qrels.grade, 0.0), np.nan)
        """The grade of every judgment; NaN where the document was only pooled."""
        self._topic = qrels.pairs.topic[judged]
        self._grade = self.grade[judged]
        self._gain = self.rule(self._grade)
        self._collection = self._gain if grades is None else self.rule(grades)
        self._relevant: dict[float, Ints] = {}

    def restricted(self, kept: Flags) -> TopicFacts:
        """The facts if these judgments alone had been made."""
        return TopicFacts(self.qrels, self.rule, kept, self._grades)

    @cached_property
    def some_only_pooled(self) -> bool:
        """Is any document pooled and not judged?"""
        return bool(np.isnan(self.grade).any())

    @property
    def without_relevant(self) -> list[str]:
        """Topics that have no relevant document."""
        return [self.query_ids[number] for number in np.flatnonzero(self.relevant(1.0) == 0).tolist()]

    def relevant(self, rel: float) -> Ints:
        """How many documents of each topic have at least this grade."""
        if rel not in self._relevant:
            self._relevant[rel] = np.bincount(self._topic[self._grade >= rel], minlength=len(self.query_ids))
        return self._relevant[rel]

    @cached_property
    def judged(self) -> Ints:
        """How many documents of each topic are judged."""
        return np.bincount(self._topic, minlength=len(self.query_ids))

    @cached_property
    def positive(self) -> Ints:
        """How many documents of each topic have a positive gain."""
        return np.bincount(self._topic[self._gain > 0], minlength=len(self.query_ids))

    @cached_property
    def total_gain(self) -> Floats:
        """The gains of each topic's documents, summed."""
        total: Floats = np.zeros(len(self.query_ids))
        np.add.at(total, self._topic, self._gain)
        return total

    @cached_property
    def top_gain(self) -> Floats:
        """The largest gain of each topic's documents, and at least 1."""
        top: Floats = np.ones(len(self.query_ids))
        np.maximum.at(top, self._topic, self._gain)
        return top

    @cached_property
    def levels(self) -> Floats:
        """The distinct positive gains that documents may have, ascending; the last is ``max_gain``."""
        found = np.unique(np.append(self._collection, (self.nonrelevant_gain, self.max_gain)))
        return found[found > 0]

    @cached_property
    def count_from_level(self) -> Ints:
        """Row by row for ``levels``: how many documents of each topic have at least that gain."""
        return np.stack(
            [np.bincount(self._topic[self._gain >= level], minlength=len(self.query_ids)) for level in self.levels]
        )

    @cached_property
    def _ideal(self) -> tuple[Ints, Floats]:
        positive = self._gain > 0
        topic, gain = self._topic[positive], self._gain[positive]
        order = np.lexsort((-gain, topic))
        counts = np.bincount(topic, minlength=len(self.query_ids))
        return np.append(0, np.cumsum(counts)), gain[order]

    def ideal(self, topic: Ints, width: int) -> Floats:
        """For each of these topics its largest gains, descending, zeros behind them."""
        starts, gains = self._ideal
        position = starts[topic][:, None] + np.arange(width)
        inside = position < starts[topic + 1][:, None]
        ideal = np.zeros(position.shape)
        ideal[inside] = gains[position[inside]]
        return ideal


@dataclass(frozen=True, eq=False)
class Rankings:
    """A batch of ranked lists. Row = list, last axis = rank; one list is a batch of one.

    ``grade`` is NaN for an unjudged document and 0 beyond a list's ``length``. ``tied`` marks documents that have the
    score of the one before (None: no ties). ``chance`` is what an unjudged document counts for: 0 as a non-relevant
    one, 1 as one with the largest gain, between them the probability of being relevant. It may differ by cell (an array
    like ``grade``, read at the unjudged cells only). ``row`` says which row of the run's table a cell came from, -1
    beyond a list's end; ``judgment`` is the row of each document among the judgments, or ``NOT_POOLED``, or ``BEYOND``
    the list's end. Each is there when the join was asked to keep it.
    """

    grade: Floats
    length: Ints
    topic: Ints
    facts: TopicFacts
    tied: Flags | None = None
    chance: float | Floats = 0.0
    row: Ints | None = None
    judgment: Ints | None = None
    _memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    def remembered(self, key: Any, compute: Any) -> Any:
        """Several measures read the same derived array; it is computed once."""
        if key not in self._memory:
            self._memory[key] = compute()
        return self._memory[key]

    @property
    def width(self) -> int:
        """The number of ranks in the arrays."""
        return self.grade.shape[-1]

    @property
    def holes(self) -> Flags:
        """Which documents are unjudged."""
        holes: Flags = self.remembered("holes", lambda: np.isnan(self.grade))
        return holes

    @property
    def num_holes(self) -> Ints:
        """How many documents of each list are unjudged."""
        count: Ints = self.remembered("num_holes", lambda: np.count_nonzero(self.holes, axis=-1))
        return count

    @property
    def groups(self) -> TiedGroups | None:
        """The groups of tied documents; None where there are none."""
        tied = self.tied
        if tied is None:
            return None
        groups: TiedGroups | None = self.remembered("groups", lambda: TiedGroups.of(tied) if tied.any() else None)
        return groups

    @property
    def pooled_holes(self) -> Flags:
        """Which unjudged documents were pooled for judging all the same."""
        return np.zeros(self.grade.shape, dtype=bool) if self.judgment is None else self.holes & (self.judgment >= 0)

    @property
    def present(self) -> Flags:
        """Which cells hold a document."""
        return np.arange(self.width) < self.length[:, None]

    @property
    def certain(self) -> bool:
        """Is every document either relevant or not, none of them so with a probability?"""
        if isinstance(self.chance, float):
            return self.chance in (0.0, 1.0)
        certain: bool = self.remembered("certain", lambda: bool(np.isin(self.chance, (0.0, 1.0)).all()))
        return certain

    @property
    def _all_nonrelevant(self) -> bool:
        return isinstance(self.chance, float) and self.chance == 0.0

    def _turned(self) -> Floats:
        """How many unjudged documents of each list count as relevant."""
        if isinstance(self.chance, float):
            return self.chance * self.num_holes
        return np.where(self.holes, self.chance, 0.0).sum(axis=-1)

    def relevant(self, rel: float = 1.0) -> Floats:
        """1 for a document of at least this grade, 0 for others, ``chance`` for an unjudged one."""

        def compute() -> Floats:
            relevant = (self.grade >= rel).astype(np.float64)
            return relevant if self._all_nonrelevant else np.where(self.holes, self.chance, relevant)

        array: Floats = self.remembered(("relevant", rel), compute)
        return array

    def relevant_so_far(self, rel: float = 1.0) -> Floats:
        """At every rank, how many documents down to it are relevant."""
        array: Floats = self.remembered(("so far", rel), lambda: np.cumsum(self.relevant(rel), axis=-1))
        return array

    def gain(self) -> Floats:
        """The gain of every document, 0 beyond a list's end.

        For an unjudged one that of grade 0, by ``chance`` the largest.
        """

        def compute() -> Floats:
            least, most = self.facts.nonrelevant_gain, self.facts.max_gain
            gain = np.where(self.holes, least + self.chance * (most - least), self.facts.rule(self.grade))
            return np.where(self.present, gain, 0.0) if least > 0 else gain

        array: Floats = self.remembered("gain", compute)
        return array

    def num_relevant(self, rel: float = 1.0) -> Floats:
        """How many relevant documents the topic has, the retrieved unjudged ones counted by ``chance``."""
        known = self.facts.relevant(rel)[self.topic].astype(np.float64)
        return known if self._all_nonrelevant else known + self._turned()

    def ideal(self, width: int) -> Floats:
        """The topic's largest gains in descending order."""
        known = self.facts.ideal(self.topic, width)
        least = self.facts.nonrelevant_gain
        if least > 0:  # unjudged documents gain something even where they count as non-relevant
            behind = np.arange(width) - self.facts.judged[self.topic][:, None]
            known = np.where((behind >= 0) & (behind < (self.num_holes - self._turned())[:, None]), least, known)
        if self._all_nonrelevant:
            return known
        if not self.certain:
            raise ValueError("the ideal ranking is not defined for documents that are relevant with a probability")
        ahead = np.arange(width) - self._turned().astype(np.int64)[:, None]
        shifted = np.take_along_axis(known, np.maximum(ahead, 0), axis=-1)
        return np.where(ahead < 0, self.facts.max_gain, shifted)

    def assume(self, chance: float | Floats) -> Rankings:
        """The same lists with unjudged documents counted differently."""
        if isinstance(chance, float) and isinstance(self.chance, float) and chance == self.chance:
            return self
        if not self.num_holes.any():
            return self
        return replace(self, chance=chance, _memory=self._memory_of("holes", "num_holes", "groups", "condensed"))

    def _memory_of(self, *keys: str) -> dict[Any, Any]:
        """What is remembered of these, for lists of which they are the same."""
        return {key: self._memory[key] for key in keys if key in self._memory}

    def with_tied_from(self, source: Ints) -> Rankings:
        """The same lists with other documents of its group in the place of each tied one (see ``order_by_worth``)."""
        groups = self.groups
        if groups is None:
            return self
        chance = self.chance
        if not isinstance(chance, float):
            chance = groups.filled_from(np.broadcast_to(chance, self.grade.shape), source)
        grade = groups.filled_from(self.grade, source)
        row, judgment = (
            None if cells is None else groups.filled_from(cells, source) for cells in (self.row, self.judgment)
        )
        kept = self._memory_of("num_holes", "groups")
        return replace(self, grade=grade, chance=chance, row=row, judgment=judgment, _memory=kept)

    def rejudged(self, facts: TopicFacts) -> Rankings:
        """The same lists with other grades for the same judgments: the join is not repeated."""
        assert self.judgment is not None
        padded = np.concatenate((facts.grade, [0.0, np.nan]))  # what BEYOND and NOT_POOLED stand for
        return replace(self, grade=padded[self.judgment], facts=facts, _memory=self._memory_of("groups"))

    def condensed(self) -> Rankings:
        """The lists without their unjudged documents."""
        lists: Rankings = self.remembered("condensed", self._condensed)
        return lists

    def _condensed(self) -> Rankings:
        keep = self.present & ~self.holes
        length = np.count_nonzero(keep, axis=-1)
        width = max(1, int(length.max(initial=0)))
        row, column = np.nonzero(keep)
        rank = np.arange(row.size) - np.repeat(np.cumsum(length) - length, length)
        grade = np.zeros((length.size, width))
        grade[row, rank] = self.grade[row, column]
        source = None
        if self.row is not None:
            source = np.full(grade.shape, -1)
            source[row, rank] = self.row[row, column]
        tied = None
        if self.tied is not None:
            # A document stays tied to the one now before it when no group begins between the two.
            group = np.cumsum(~self.tied, axis=-1)
            groups = np.full(grade.shape, -1)
            groups[row, rank] = group[row, column]
            tied = np.zeros(grade.shape, dtype=bool)
            tied[:, 1:] = (groups[:, 1:] == groups[:, :-1]) & (groups[:, 1:] >= 0)
        judgment = None
        if self.judgment is not None:
            judgment = np.full(grade.shape, BEYOND, dtype=self.judgment.dtype)
            judgment[row, rank] = self.judgment[row, column]
        return replace(
            self, grade=grade, length=length, tied=tied, chance=0.0, row=source, judgment=judgment, _memory={}
        )


@dataclass(frozen=True)
class Joined:
    """A run joined with judgments: its rankings in slices to be computed, and what the join noticed.

    Each slice holds whole topics and few enough rows to stay in the processor's cache; slices are independent of each
    other, so that threads may share them.
    """

    slices: list[Callable[[], list[Rankings]]]
    missing: list[str]
    unknown: list[str]

    @property
    def batches(self) -> Iterator[Rankings]:
        """All rankings, one batch after the other."""
        return (rankings for compute in self.slices for rankings in compute())


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
    """Look up every document of the run in the judgments and rank it.

    ``topics="judged"`` gives a topic that the run lacks an empty list; ``"shared"`` leaves it out. ``order="key"``
    needs the ``tie_key``. ``keep_rows`` fills ``Rankings.row``, for callers who must know which document stands in a
    cell, and ``keep_judgments`` fills ``Rankings.judgment``, as it is anyway where some documents are only pooled.
    """
    pairs = run.pairs
    topic_in_qrels = facts.qrels.pairs.index.topics_of(pairs)
    known = topic_in_qrels >= 0
    unknown = [name for name, judged in zip(pairs.topics, known.tolist(), strict=True) if not judged]
    if not known.any():
        raise DataError(
            f"{pairs.source.name}: no topic of this run is among the judged ones. The run has topics like "
            f'"{pairs.topics[0]}", the judgments ({facts.qrels.pairs.source.name}) like "{facts.query_ids[0]}".'
        )
    absent = np.setdiff1d(np.arange(len(facts.query_ids)), topic_in_qrels[known])
    missing = [facts.query_ids[number] for number in absent.tolist()]
    slices = slices_of(run, facts, topic_in_qrels, order, precision, tie_key, keep_rows, keep_judgments)
    # A list that the run has and that holds nothing is a list; one that it lacks counts as such if that is wanted.
    empty = topic_in_qrels[known & (np.bincount(pairs.topic, minlength=known.size) == 0)]
    if topics == "judged":
        empty = np.concatenate((empty, absent))
    if empty.size:
        slices.append(lambda: [empty_rankings(empty, facts, keep_rows, keep_judgments)])
    return Joined(slices, missing, unknown)


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
    """The rankings of the run's judged topics, to be computed slice by slice."""
    keep_judgments |= facts.some_only_pooled
    return [
        partial(
            _rankings_of_slice, run, rows, facts, topic_in_qrels, order, precision, tie_key, keep_rows, keep_judgments
        )
        for rows in run.pairs.topic_slices()
    ]


def empty_rankings(topics: Ints, facts: TopicFacts, keep_rows: bool = False, keep_judgments: bool = False) -> Rankings:
    """A list without documents for each of these topics."""
    keep_judgments |= facts.some_only_pooled
    return Rankings(
        np.zeros((topics.size, 1)),
        np.zeros(topics.size, dtype=np.int64),
        topics,
        facts,
        row=np.full((topics.size, 1), -1) if keep_rows else None,
        judgment=np.full((topics.size, 1), BEYOND) if keep_judgments else None,
    )


def _rankings_of_slice(
    whole: Run,
    rows: slice | Ints,
    facts: TopicFacts,
    topic_in_qrels: Ints,
    order: Order,
    precision: Precision,
    tie_key: TieKey | None,
    keep_rows: bool,
    keep_judgments: bool,
) -> list[Rankings]:
    """The rankings of the topics in these rows, which stand together topic by topic."""
    run = whole.take(rows)
    pairs = run.pairs
    found, judgments = facts.qrels.pairs.index.find(pairs, topic_in_qrels)
    grade = np.full(len(pairs), np.nan)
    grade[found] = facts.grade[judgments]
    judgment = None
    if keep_judgments:
        judgment = np.full(len(pairs), NOT_POOLED, dtype=np.int32)
        judgment[found] = judgments
    permutation, tied = _ranked(run, order, precision, tie_key)
    source = row_numbers(rows) if keep_rows else None
    if permutation is not None:
        grade = grade[permutation]
        source = None if source is None else source[permutation]
        judgment = None if judgment is None else judgment[permutation]
    start = np.flatnonzero(np.diff(pairs.topic, prepend=-1))
    length = np.diff(start, append=len(pairs))
    topic = topic_in_qrels[pairs.topic[start]]
    known = topic >= 0
    return list(_batches(grade, tied, source, judgment, start[known], length[known], topic[known], facts))


def ranks(run: Run, order: Order = "trec", precision: Precision = "double") -> Ints:
    """The rank of every row of a run within its topic, 1 at the top."""
    rows, _ = ranked_rows(run, order=order, precision=precision)
    length = np.bincount(run.pairs.topic, minlength=len(run.pairs.topics))
    found = np.empty(len(run), dtype=np.int64)
    found[rows] = np.arange(len(run)) - np.repeat(np.cumsum(length) - length, length) + 1
    return found


def ranked_rows(
    run: Run, *, order: Order = "trec", precision: Precision = "double", tie_key: TieKey | None = None
) -> tuple[Ints, Flags]:
    """The run's rows with each topic's together in rank order, and which of them are tied to the one before."""
    together = run.pairs.rows_by_topic()
    permutation, tied = _ranked(run.take(together), order, precision, tie_key)
    return (together if permutation is None else together[permutation]), tied


def _ranked(run: Run, order: Order, precision: Precision, tie_key: TieKey | None = None) -> tuple[Ints | None, Flags]:
    """The permutation that ranks the rows within their topics (None: they are ranked), and which are then tied."""
    topic = run.pairs.topic
    line_score: Floats = run.score.astype(np.float32 if precision == "single" else np.float64, copy=False)
    score: Floats = line_score
    permutation: Ints | None = None
    same_topic = topic[1:] == topic[:-1]
    if order != "run":
        rising = same_topic & (score[1:] > score[:-1])
        if rising.any():
            rows = np.flatnonzero(np.isin(topic, topic[1:][rising]))
            permutation = _reordered(permutation, len(run), rows, np.lexsort((-score[rows], topic[rows])))
            score = line_score[permutation]
    tied = np.zeros(len(run), dtype=bool)
    tied[1:] = same_topic & (score[1:] == score[:-1])
    if order not in ("run", "line") and tied.any():
        in_group = tied.copy()
        in_group[:-1] |= tied[1:]
        rows = np.flatnonzero(in_group)
        source_rows = rows if permutation is None else permutation[rows]
        within = _order_within_groups(tied[rows], _tie_break(run, source_rows, order, tie_key))
        if within is not None:
            permutation = _reordered(permutation, len(run), rows, within)
    return permutation, tied


def ranked(run: Run, order: Order = "trec", precision: Precision = "double") -> Run:
    """The run's rows topic by topic, each topic's in the order of rank."""
    return run.take(ranked_rows(run, order=order, precision=precision)[0])


def _order_within_groups(tied: Flags, keys: list[NDArray[Any]]) -> Ints | None:
    """The order by keys, the most important last, within groups of tied documents; None if they stand so already.

    ``tied`` marks those that are in the group of the one before. Most groups have two documents, or are in order: only
    the others are sorted.
    """
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


def _reordered(permutation: Ints | None, size: int, rows: Ints, within: Ints) -> Ints:
    """Put the given rows into the order ``within``, leaving the others where they are."""
    permutation = np.arange(size) if permutation is None else permutation.copy()
    permutation[rows] = permutation[rows[within]]
    return permutation


def _tie_break(run: Run, rows: Ints, order: Order, tie_key: TieKey | None) -> list[NDArray[Any]]:
    """Sort keys for documents of equal score, the most important last."""
    if order == "rank":
        ranks = run.stated_rank
        if ranks is None:
            raise DataError(
                f"{run.pairs.source.name}: ties cannot be ordered by rank, because this run states none. Use another "
                'order, such as "trec" or "run".'
            )
        return [ranks[rows]]
    docs = run.pairs.docs.take(rows)
    words = docs.sort_keys()[::-1]
    if order == "docid":
        return list(words)
    falling: list[NDArray[Any]] = [~word for word in words]
    return [*falling, tie_key.places(run.pairs, rows)] if order == "key" and tie_key is not None else falling


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
    """Cut flat rows into batches of lists of like length, so that padding at most doubles the cells."""
    size_class = np.ceil(np.log2(np.maximum(length, 1))).astype(np.int64)
    for one_class in np.unique(size_class).tolist():
        lists = np.flatnonzero(size_class == one_class)
        step = max(1, BATCH_CELLS >> one_class)
        for at in range(0, lists.size, step):
            chosen = lists[at : at + step]
            block = partial(_block, start=start[chosen], length=length[chosen])
            marks = block(tied, False)
            yield Rankings(
                block(grade, 0.0),
                length[chosen],
                topic[chosen],
                facts,
                marks if marks.any() else None,
                row=None if row is None else block(row, -1),
                judgment=None if judgment is None else block(judgment, BEYOND),
            )


def _block(column: NDArray[Any], beyond: float, start: Ints, length: Ints) -> NDArray[Any]:
    """Rows of a flat column as lists, filled up where a list has ended."""
    width = int(length.max())
    total = int(length.sum())
    if total == width * length.size and start[-1] + length[-1] - start[0] == total:
        return column[int(start[0]) : int(start[0]) + total].reshape(-1, width)
    rank = np.arange(total) - np.repeat(np.cumsum(length) - length, length)
    row = np.repeat(np.arange(length.size), length)
    block = np.full((length.size, width), beyond, dtype=column.dtype)
    block[row, rank] = column[np.repeat(start, length) + rank]
    return block
