"""Finding rows by their keys: a hash table by topic, and keys that stand twice."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Ints, Words
from rankbounds.columns.native.keys import fill_table


def repeated_keys(keys: Words) -> Words:
    in_order = np.sort(keys)
    return in_order[1:][in_order[1:] == in_order[:-1]]


MOST_STEPS = 32
"""How far from its place a row is looked for. In a table a quarter full, ordinary keys need a fraction of that."""


class HashTable:
    """Rows found by their topics and 64-bit keys.

    Every topic has its own stretch, at most a quarter full, so lookups stay in the processor's cache however large the
    table. Rows that find no place within ``MOST_STEPS``, because somebody chose colliding keys, are in a dict.
    """

    def __init__(self, keys: Words, topic: Ints, topics: int) -> None:
        self.keys = keys if keys.size else np.zeros(1, dtype=np.uint64)  # one to compare with where nothing is found
        size = np.left_shift(1, np.frexp(4 * np.bincount(topic, minlength=topics) - 1)[1].astype(np.int64))
        size = np.append(size, 1)  # the last place stays empty: topic -1 finds nothing there
        self.begin = np.cumsum(size) - size
        self.last = size - 1
        self.row = np.full(size.sum(), -1, dtype=np.int32 if keys.size < 2**31 else np.int64)
        self.crowded: dict[tuple[int, int], int] = {}
        self.refused = self._take_in(topic)
        """Rows that are not here, because one of their topic with the same key is."""

    def _take_in(self, topic: Ints) -> Ints:
        if fill_table(self.keys[: topic.size], topic, self.begin, self.last, self.row):
            return np.empty(0, dtype=np.int64)
        rows, keys, refused = np.arange(topic.size), self.keys[: topic.size], []
        begin, last = self.begin[topic], self.last[topic]
        place = keys.view(np.int64) & last
        place += begin
        free: slice | Ints = slice(None)
        for _ in range(MOST_STEPS):
            if not rows.size:
                break
            self.row[place[free]] = rows[free]  # of several that want the same place, one gets it
            holder = self.row[place]
            lost = np.flatnonzero(holder != rows)
            known = self.keys[holder[lost]] == keys[lost]
            refused.append(rows[lost[known]])
            lost = lost[~known]
            rows, keys, begin, last = rows[lost], keys[lost], begin[lost], last[lost]
            place = begin + ((place[lost] - begin + 1) & last)
            free = np.flatnonzero(self.row[place] < 0)
        crowded = zip(rows.tolist(), zip(topic[rows].tolist(), keys.tolist(), strict=True), strict=True)
        again = [row for row, pair in crowded if self.crowded.setdefault(pair, row) != row]
        return np.concatenate([*refused, np.array(again, dtype=np.int64)])

    def find(self, keys: Words, topic: Ints) -> Ints:
        begin, last = self.begin[topic], self.last[topic]
        place = begin + (keys.view(np.int64) & last)
        found = self.row[place]
        other = np.flatnonzero((found >= 0) & (self.keys[found] != keys))
        for _ in range(MOST_STEPS - 1):
            if not other.size:
                return found
            start, end = begin[other], last[other]
            place[other] = start + ((place[other] - start + 1) & end)
            found[other] = holder = self.row[place[other]]
            other = other[(holder >= 0) & (self.keys[holder] != keys[other])]
        pairs = zip(topic[other].tolist(), keys[other].tolist(), strict=True)
        found[other] = [self.crowded.get(pair, -1) for pair in pairs]
        return found
