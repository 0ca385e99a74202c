"""(query, document) pairs: what runs and judgments have in common, and the join between them."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Flags, Floats, Ints, Words
from rankbounds.columns.hash_tables import HashTable, repeated_keys
from rankbounds.columns.ids import PADDING, Ids, mix, padded
from rankbounds.columns.native.keys import Table, none_repeated, topic_ends
from rankbounds.errors import DataError, Place
from rankbounds.threads import in_threads

SLICE_ROWS = 1 << 17


@dataclass(frozen=True)
class Source:
    """The source of pairs in messages: a file's name, and the word for one pair in it."""

    name: str
    unit: str = "entry"
    before: int = 0
    """How many lines or rows of the file come before these."""

    def where(self, pairs: Pairs, row: int) -> Place:
        if self.unit == "line":
            text = pairs.docs.text[: int(pairs.docs.start[row])]
            return Place(self.name, self.before + int(np.count_nonzero(text == 10)) + 1)
        return self.place(row)

    def place(self, row: int) -> Place:
        return Place(self.name, row=self.before + row + 1 if self.unit == "row" else None)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Columns ``query_id`` (as a number into ``topics``) and ``doc_id``, in the order they were given."""

    topics: tuple[str, ...]
    topic: Ints
    docs: Ids
    keys: Words
    """By which pairs are looked up: a hash of the document and its topic."""
    source: Source

    @classmethod
    def numbered(cls, topics: Sequence[str], topic: Ints, docs: Ids, source: Source) -> Pairs:
        return cls(tuple(topics), topic, docs, mix(docs.hashes(), Ids.of(topics).hashes()[topic]), source)

    def __len__(self) -> int:
        return self.topic.size

    def take(self, rows: slice | Ints | Flags) -> Pairs:
        return Pairs(self.topics, self.topic[rows], self.docs.take(rows), self.keys[rows], self.source)

    def where(self, row: int) -> Place:
        return self.source.where(self, row)

    def describe(self, row: int) -> str:
        return f'document "{self.docs[row]}" of topic "{self.topics[int(self.topic[row])]}"'

    def raw(self, row: int) -> tuple[int, bytes]:
        return int(self.topic[row]), self.docs.raw(row)

    def without_unused_topics(self) -> Pairs:
        return self._with_topics(np.bincount(self.topic, minlength=len(self.topics)) > 0)

    def of_topics(self, names: Container[str]) -> tuple[Pairs, Ints]:
        kept = np.array([name in names for name in self.topics], dtype=bool)
        rows = np.flatnonzero(kept[self.topic])
        return self.take(rows)._with_topics(kept), rows

    def _with_topics(self, kept: Flags) -> Pairs:
        if kept.all():
            return self
        names = tuple(name for name, used in zip(self.topics, kept.tolist(), strict=True) if used)
        return Pairs(names, (np.cumsum(kept) - 1)[self.topic], self.docs, self.keys, self.source)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("index", "ends")}
        if self.source.unit == "line":  # the text goes, and with it the lines
            state["source"] = Source(self.source.name)
        return state

    @cached_property
    def ends(self) -> Ints | None:
        """Return where each topic's rows end, if the kernel sees that they are contiguous and ascending."""
        return topic_ends(self.topic)

    def topic_slices(self) -> list[slice | Ints]:
        end = self.ends
        in_order = end is not None
        if in_order and len(self) <= SLICE_ROWS:
            return [slice(0, len(self))]
        if end is None:
            end = np.cumsum(np.bincount(self.topic, minlength=len(self.topics)))
            in_order = bool((self.topic[1:] >= self.topic[:-1]).all())
        targets = np.arange(SLICE_ROWS, len(self), SLICE_ROWS)
        cuts = end[np.searchsorted(end, targets)] if targets.size else targets
        edges = [0, *dict.fromkeys((*cuts.tolist(), len(self)))]
        slices = [slice(first, last) for first, last in itertools.pairwise(edges)]
        if in_order:
            return list(slices)
        together = self.rows_by_topic()
        return [together[rows] for rows in slices]

    def rows_by_topic(self) -> Ints:
        return np.argsort(self.topic, kind="stable")

    def repeats(self, threads: int = 1, further: Ids | None = None) -> Ints:
        """Return the rows whose pair, with the ``further`` id if there is one, is on an earlier row."""
        if further is not None:
            _, code = further.numbered()
            number = number_pairs([self])[0] * (int(code.max(initial=0)) + 1) + code
            again = np.ones(len(self), dtype=bool)
            again[np.unique(number, return_index=True)[1]] = False
            return np.flatnonzero(again)

        return np.sort(np.concatenate([*in_threads(self._repeats_in, self.topic_slices(), threads)]))

    def _repeats_in(self, rows: slice | Ints) -> Ints:
        keys = self.keys[rows]
        if none_repeated(keys, self.topic[rows]) or not repeated_keys(keys).size:
            return np.empty(0, dtype=np.int64)
        by_key = np.argsort(keys, kind="stable")
        keys, order = keys[by_key], row_numbers(rows)[by_key]
        again = np.flatnonzero(keys[1:] == keys[:-1]) + 1
        earlier, later = order[again - 1], order[again]
        same = self.docs.take(earlier).equals(self.docs.take(later)) & (self.topic[earlier] == self.topic[later])
        if same.all():
            return later
        shared = np.isin(keys, keys[again[~same]], kind="sort")  # kind="table" overflows in NumPy 2.0.0
        seen: dict[tuple[int, bytes], int] = {}
        among = [row for row in order[shared].tolist() if seen.setdefault(self.raw(row), row) != row]
        return np.concatenate([later[~shared[again]], np.array(among, dtype=np.int64)])

    def reject_repeats(self, remedy: str, threads: int = 1, further: Ids | None = None) -> None:
        again = self.repeats(threads, further)
        if again.size:
            row = int(again[0])
            with_further = "" if further is None else f' for the subtopic "{further[row]}"'
            problem = f"{self.describe(row)} is listed twice{with_further}."
            raise DataError(self.where(row), problem, remedy)

    def best_rows(self, value: Floats) -> Ints:
        """Return for each pair the row with the highest value, of equal ones the first; rows in their order."""
        (number,) = number_pairs([self])
        best_first = np.lexsort((np.arange(len(self)), -value, number))
        first = np.ones(len(self), dtype=bool)
        first[1:] = np.diff(number[best_first]) != 0
        return np.sort(best_first[first])

    def rows(self, value: Floats) -> Iterator[tuple[str, str, float]]:
        numbers, docs, values = self.topic.tolist(), self.docs.to_list(), value.tolist()
        return ((self.topics[number], doc, entry) for number, doc, entry in zip(numbers, docs, values, strict=True))

    def nested(self, value: Floats) -> dict[str, dict[str, float]]:
        tables: dict[str, dict[str, float]] = {topic: {} for topic in self.topics}
        for query, doc, entry in self.rows(value):
            tables[query][doc] = entry
        return tables

    @cached_property
    def index(self) -> PairIndex:
        return PairIndex(self)


def row_numbers(rows: slice | Ints) -> Ints:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


class PairIndex:
    """For finding pairs of other tables among these."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.table = HashTable(pairs.keys, pairs.topic, len(pairs.topics))
        self.topic_number = {name: number for number, name in enumerate(pairs.topics)}
        self.same_key = {pairs.raw(row): row for row in self.table.refused[::-1].tolist()}
        """Rows that the table did not take: another pair has their key, by a rare chance or by somebody's choice."""

    @cached_property
    def words(self) -> list[Words]:
        """Return whole columns of words, which compare faster than scattered ones; long ids are excluded."""
        docs = self.pairs.docs
        return [docs.word(number) for number in range(docs.word_count())[:4]]

    @cached_property
    def native(self) -> Table | None:
        table, docs = self.table, self.pairs.docs
        if table.crowded or self.same_key or table.row.dtype != np.int32:
            return None
        return Table(docs.text, docs.start, docs.length, table.begin, table.last, table.row)

    def topics_of(self, other: Pairs) -> Ints:
        if other.topics == self.pairs.topics:
            return np.arange(len(other.topics))
        return np.array([self.topic_number.get(name, -1) for name in other.topics], dtype=np.int64)

    def find(self, other: Pairs, topic_here: Ints | None = None) -> tuple[Ints, Ints]:
        topic_here = self.topics_of(other) if topic_here is None else topic_here
        row_here = self.table.find(other.keys, topic_here[other.topic])
        rows: Ints = np.flatnonzero(row_here >= 0)
        here: Ints = row_here[rows]
        matches = self._same(other, rows, here)
        if not matches.all():
            for number in np.flatnonzero(~matches).tolist():  # the row with the same key holds another document
                row = self.same_key.get((int(self.pairs.topic[here[number]]), other.docs.raw(int(rows[number]))))
                if row is not None:
                    matches[number], here[number] = True, row
            rows, here = rows[matches], here[matches]
        return rows, here

    def _same(self, other: Pairs, rows: Ints, here: Ints) -> Flags:
        docs = other.docs.take(rows)
        if docs.word_count() > len(self.words):
            return docs.equals(self.pairs.docs.take(here))
        alike = docs.length == self.pairs.docs.length[here]
        for number in range(docs.word_count()):
            alike &= docs.word(number) == self.words[number][here]
        return alike


def _number_two(one: Pairs, other: Pairs) -> list[Ints]:
    found, rows = one.index.find(other)
    numbers = len(one) + np.arange(len(other))
    numbers[found] = rows
    new = numbers >= len(one)
    numbers[new] = len(one) + np.arange(np.count_nonzero(new))
    return [np.arange(len(one)), numbers]


def _group(keys: Words) -> tuple[Ints, Ints]:
    order = np.argsort(keys)
    in_order = keys[order]
    new = np.ones(keys.size, dtype=bool)
    np.not_equal(in_order[1:], in_order[:-1], out=new[1:])
    del in_order  # (keys of hundreds of runs are large)
    place = np.cumsum(new)
    place -= 1
    number = np.empty_like(place)
    number[order] = place
    return order[new], number


def number_pairs(tables: Sequence[Pairs]) -> list[Ints]:
    """Return for each table the numbers of its pairs: equal (query, document) pairs have equal numbers in all."""
    if len(tables) == 2 and len(tables[0]) and len(tables[1]):
        return _number_two(*tables)
    topics: dict[str, int] = {}
    topic = [np.array([topics.setdefault(name, len(topics)) for name in t.topics], dtype=np.int64) for t in tables]
    keys = np.concatenate([np.empty(0, dtype=np.uint64), *(table.keys for table in tables)])
    first, inverse = _group(keys)
    width = max((table.docs.word_count() for table in tables), default=0)

    def contents(at: int) -> list[NDArray[Any]]:
        table = tables[at]
        return [topic[at][table.topic], table.docs.length, *table.docs.telling_words(width)]

    ends = np.cumsum([len(table) for table in tables])
    starts = ends - [len(table) for table in tables]
    order = np.argsort(first)
    parts = np.split(order, np.searchsorted(first[order], ends[:-1]))
    leaders: list[NDArray[Any]] = []
    for at, (begin, inside) in enumerate(zip(starts, parts, strict=True)):
        for number, column in enumerate(contents(at)):
            if len(leaders) == number:
                leaders.append(np.empty(first.size, dtype=column.dtype))
            leaders[number][inside] = column[first[inside] - begin]
    numbers: list[Ints] = []
    strangers: dict[tuple[str, bytes], int] = {}
    for at, (begin, end) in enumerate(zip(starts, ends, strict=True)):
        mine = inverse[begin:end]
        differs = np.zeros(mine.size, dtype=bool)
        for leader, column in zip(leaders, contents(at), strict=True):
            differs |= leader[mine] != column
        for row in np.flatnonzero(differs).tolist():  # another pair has the same key
            pair = (tables[at].topics[int(tables[at].topic[row])], tables[at].docs.raw(row))
            mine[row] = first.size + strangers.setdefault(pair, len(strangers))
        numbers.append(mine)
    return numbers


_WORDS = 4
"""Ids of more words of 8 bytes than this take less memory as they are."""


class PackedPairs:
    """Pairs with ids as words of one width, without text, places and keys, which can be made again."""

    def __init__(self, pairs: Pairs, width: int) -> None:
        self.topics, self.source = pairs.topics, Source(pairs.source.name)  # the text goes, and with it the lines
        self._topic = pairs.topic.astype(np.min_scalar_type(len(pairs.topics)))
        self._length, self._width = pairs.docs.length.astype(np.uint8), 8 * width
        self._text = padded(len(pairs) * self._width)
        words = self._text[PADDING:-PADDING].view("<u8").reshape(-1, width)
        for number in range(width):
            words[:, number] = pairs.docs.word(number)
        self._made = ref(pairs)

    @classmethod
    def of(cls, pairs: Pairs) -> PackedPairs | None:
        width = pairs.docs.word_count()
        return cls(pairs, width) if 0 < width <= _WORDS else None

    def __len__(self) -> int:
        return self._topic.size

    def unpacked(self) -> Pairs:
        made = self._made()
        if made is None:
            made = self.take(np.arange(len(self)))
            self._made = ref(made)
        return made

    def take(self, rows: Ints) -> Pairs:
        if (made := self._made()) is not None:
            return made.take(rows)
        docs = Ids(self._text, PADDING + self._width * rows, self._length[rows].astype(np.int32))
        return Pairs.numbered(self.topics, self._topic[rows].astype(np.int32), docs, self.source)
