"""Preferences in judgments, and how many of them ranked lists satisfy.

Judgments are made in groups: one person's for one topic. A group with one subgroup orders its documents by level, and
prefers each document to all of lower levels. With several, each orders its documents, and preferences are transitive: a
to c, if a is preferred to b in one and b to c in another. Groups may contradict each other, but not themselves.
Ordinary judgments are one group per topic, or one per name in their second field.

A preference is satisfied if the better document ranks above the worse one, or is retrieved alone.

Source: trec_eval 10, ``-R prefs`` and ``-R qrels_prefs``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.errors import DataError, UsageError

if TYPE_CHECKING:
    from rankbounds.rankings.rankings import Rankings
    from rankbounds.rankings.topic_facts import TopicFacts

ABSENT = -1
"""The level of a document that a group says nothing of."""


@dataclass(frozen=True)
class CountedPreferences:
    """Of each list and each group of its topic: how many preferences are possible, and how many are satisfied.

    ``possible`` and ``fulfilled`` have a column for preferences with 0, 1 or both documents retrieved; ``relevant`` and
    ``nonrelevant`` (of level 0) documents one for those not retrieved and one for those retrieved.
    """

    number: Ints
    lists: int
    possible: Floats
    fulfilled: Floats
    relevant: Floats
    nonrelevant: Floats
    partial: Flags
    """Which groups have several subgroups."""

    def total(self, values: Floats) -> Floats:
        """A number for each list and group, summed for each list."""
        return np.bincount(self.number, weights=values, minlength=self.lists).astype(np.float64, copy=False)


@dataclass(frozen=True)
class _Pairs:
    """Preferences one by one: of which group, and the rows of the two documents among the judgments."""

    group: Ints
    better: Ints
    worse: Ints


class PreferenceFacts:
    """What each group of judgments prefers; groups are numbered as subtopics are (``SubtopicFacts``)."""

    def __init__(self, facts: TopicFacts) -> None:
        self.facts = facts
        self.groups = facts.subtopics
        row, place, grade = self.groups.judgments()
        kept = ~np.isnan(grade)
        self.row, self.place, self.level = row[kept], place[kept], grade[kept]
        self.group: Ints = self.groups.first[facts.qrels.pairs.topic[self.row]] + self.place
        known = facts.qrels.subtopics
        subgroup = None if known is None or known.subgroup is None else known.subgroup[kept]
        self.subgroup: Ints = np.zeros(self.row.size, dtype=np.int64) if subgroup is None else subgroup
        number = int(self.groups.first[-1])
        distinct = np.unique(np.column_stack((self.group, self.subgroup)), axis=0)
        self.partial: Flags = np.bincount(distinct[:, 0], minlength=number) > 1
        """Which groups have several subgroups."""
        self._check_repeats()

    def _check_repeats(self) -> None:
        entry = np.column_stack((self.group, self.subgroup, self.row))
        _, first, code = np.unique(entry, axis=0, return_index=True, return_inverse=True)
        again = np.flatnonzero(first[code.reshape(-1)] != np.arange(self.row.size))
        if again.size:
            pairs = self.facts.qrels.pairs
            problem = f"{pairs.describe(int(self.row[again[0]]))} is listed twice in one subgroup."
            raise DataError(pairs.source.name, problem, "Keep one of the two lines.")

    @cached_property
    def dense(self) -> Ints:
        """The place of each entry's level among those of its group, from 0."""
        order = np.lexsort((self.level, self.group))
        group, level = self.group[order], self.level[order]
        begins = np.diff(group, prepend=-1) != 0
        steps = np.cumsum(~begins & (np.diff(level, prepend=0.0) > 0))
        dense = np.empty(order.size, dtype=np.int64)
        dense[order] = steps - np.maximum.accumulate(np.where(begins, steps, 0))
        return dense

    @cached_property
    def by_level(self) -> tuple[Ints, Ints, Flags]:
        """For groups of one subgroup: levels by judgment and place of the group, the number of documents of each level
        by group, and whether the lowest level of a group is 0.
        """
        whole = ~self.partial[self.group]
        table = np.full((len(self.facts.qrels) + 2, max(1, int(self.groups.count.max(initial=1)))), ABSENT)
        table[self.row[whole], self.place[whole]] = self.dense[whole]
        sizes = np.zeros((self.partial.size, int(self.dense.max(initial=0)) + 1), dtype=np.int64)
        np.add.at(sizes, (self.group[whole], self.dense[whole]), 1)
        with_zero = np.zeros(self.partial.size, dtype=bool)
        with_zero[self.group[whole & (self.level == 0)]] = True
        return table, sizes, with_zero

    @cached_property
    def _id_order(self) -> Ints:
        place = np.empty(len(self.facts.qrels), dtype=np.int64)
        place[np.lexsort(self.facts.qrels.pairs.docs.sort_keys()[::-1])] = np.arange(place.size)
        return place

    @cached_property
    def in_partial(self) -> tuple[_Pairs, Ints, Ints, Flags]:
        """The preferences of groups of several subgroups, and their documents: group, row, whether of level 0."""
        found = [_Pairs(*(np.empty(0, dtype=np.int64) for _ in range(3)))]
        documents = [np.empty((0, 3), dtype=np.int64)]
        for group in np.flatnonzero(self.partial).tolist():
            entries = np.flatnonzero(self.group == group)
            rows, at = np.unique(self.row[entries], return_inverse=True)
            level, subgroup = self.level[entries], self.subgroup[entries]
            zero = np.zeros(rows.size, dtype=bool)
            zero[at[level == 0]] = True
            mixed = np.flatnonzero(zero[at] != (level == 0))
            if mixed.size:
                self._raise_contradiction(int(rows[at[mixed[0]]]), "has level 0 and another level")
            stated = (subgroup[:, None] == subgroup) & (level[:, None] > level)
            preferred = np.zeros((rows.size, rows.size), dtype=bool)
            first, second = np.nonzero(stated)
            preferred[at[first], at[second]] = True
            known = 0
            while known < (number := int(np.count_nonzero(preferred))):
                known = number
                preferred |= (preferred.astype(np.float32) @ preferred.astype(np.float32)) > 0
            if preferred.diagonal().any():
                row = int(rows[np.flatnonzero(preferred.diagonal())[0]])
                self._raise_contradiction(row, "is preferred to another document, and that one to it")
            better, worse = np.nonzero(preferred)
            found.append(_Pairs(np.full(better.size, group), rows[better], rows[worse]))
            documents.append(np.column_stack((np.full(rows.size, group), rows, zero)))
        listed = np.concatenate(documents)
        return _join_parts(found), listed[:, 0], listed[:, 1], listed[:, 2].astype(bool)

    def _raise_contradiction(self, row: int, what: str) -> None:
        pairs = self.facts.qrels.pairs
        remedy = "Preferences that contradict each other belong to different groups."
        raise DataError(pairs.source.name, f"within one group, {pairs.describe(row)} {what}.", remedy)

    @cached_property
    def of_several_groups(self) -> tuple[Ints, Ints, Ints, Floats]:
        """Return every two documents that a group compared, for topics with several groups: topic, rows, share for the
        first.

        The share is that of the groups that prefer the first, among those that prefer either.
        """
        several = self.groups.count > 1
        topic_of = np.repeat(np.arange(self.groups.count.size), self.groups.count)
        found = [self.in_partial[0]]
        for group in np.flatnonzero(several[topic_of] & ~self.partial).tolist():
            entries = np.flatnonzero(self.group == group)
            first, second = np.nonzero(self.level[entries][:, None] > self.level[entries])
            found.append(_Pairs(np.full(first.size, group), self.row[entries[first]], self.row[entries[second]]))
        pairs = _join_parts(found)
        topic = topic_of[pairs.group]
        kept = several[topic]
        low, high = np.minimum(pairs.better, pairs.worse)[kept], np.maximum(pairs.better, pairs.worse)[kept]
        both, code = np.unique(np.column_stack((topic[kept], low, high)), axis=0, return_inverse=True)
        code = code.reshape(-1)
        for_low = np.bincount(code, pairs.better[kept] == low, minlength=len(both))
        return both[:, 0], both[:, 1], both[:, 2], for_low / np.bincount(code, minlength=len(both))

    def counted(self, rankings: Rankings, limited: str = "") -> CountedPreferences:
        """Count the preferences that the lists fulfil.

        ``limited``: a group of R relevant documents has at most R of level 0, the first in the list. R counts those of
        the ``"group"``, or its ``"retrieved"`` ones.
        """
        return rankings.remembered(("preferences", limited), lambda: self._count(rankings, limited))

    def _count(self, rankings: Rankings, limited: str) -> CountedPreferences:
        judgment = self._judgments_in(rankings)
        lists = rankings.length.size
        count = self.groups.count[rankings.topic]
        number = np.repeat(np.arange(lists), count)
        place = np.arange(number.size) - np.repeat(np.cumsum(count) - count, count)
        group = self.groups.first[rankings.topic][number] + place
        table, sizes, with_zero = self.by_level
        level, size, zero = table[judgment[number], place[:, None]], sizes[group], with_zero[group]
        retrieved = np.stack([(level == one).sum(axis=-1) for one in range(size.shape[1])], axis=-1)
        nonrelevant = np.where(zero[:, None], np.stack((size - retrieved, retrieved), axis=-1)[:, 0], 0)
        relevant = np.stack(((size - retrieved).sum(axis=-1), retrieved.sum(axis=-1)), axis=-1) - nonrelevant
        if limited:
            most = relevant[:, 1] if limited == "retrieved" else relevant.sum(axis=-1)
            lowest = (level == 0) & zero[:, None]
            level = np.where(lowest & (np.cumsum(lowest, axis=-1) > most[:, None]), ABSENT, level)
            kept = np.minimum(retrieved[:, 0], most)
            size, retrieved = size.copy(), retrieved.copy()
            size[:, 0] = np.where(zero, np.minimum(size[:, 0], most), size[:, 0])
            retrieved[:, 0] = np.where(zero, kept, retrieved[:, 0])
        possible, fulfilled = _of_levels(level, retrieved.astype(np.float64), (size - retrieved).astype(np.float64))
        documents = relevant.astype(np.float64), nonrelevant.astype(np.float64)
        counted = CountedPreferences(number, lists, possible, fulfilled, *documents, self.partial[group])
        if counted.partial.any():
            self._add_partial(counted, judgment, group, limited)
        return counted

    def _judgments_in(self, rankings: Rankings) -> Ints:
        if rankings.judgment is None:
            raise UsageError("Measures of preferences cannot be computed here; use evaluate.")
        return rankings.judgment

    def _positions(self, judgment: Ints, line: Ints, row: Ints) -> Floats:
        """The rank at which a list has a judged document, infinity where it lacks it."""
        at, column = np.nonzero(judgment >= 0)
        keys = at * len(self.facts.qrels) + judgment[at, column]
        order = np.argsort(keys)
        wanted = line * len(self.facts.qrels) + row
        found = np.minimum(np.searchsorted(keys, wanted, sorter=order), max(keys.size - 1, 0))
        if not keys.size:
            return np.full(wanted.shape, np.inf)
        return np.where(keys[order[found]] == wanted, column[order[found]].astype(np.float64), np.inf)

    def _add_partial(self, counted: CountedPreferences, judgment: Ints, group: Ints, limited: str) -> None:
        """Count the preferences of groups of several subgroups, one by one."""
        pairs, of_group, row, zero = self.in_partial
        lines = np.flatnonzero(self.partial[group])
        line, document = _entries_of(of_group, group[lines])
        line = lines[line]
        position = self._positions(judgment, counted.number[line], row[document])
        there = np.isfinite(position).astype(np.int64)
        np.add.at(counted.relevant, (line, there), ~zero[document])
        np.add.at(counted.nonrelevant, (line, there), zero[document])
        at, pair = _entries_of(pairs.group, group[lines])
        at = lines[at]
        better, worse = (
            self._positions(judgment, counted.number[at], rows[pair]) for rows in (pairs.better, pairs.worse)
        )
        keep = np.ones(at.size, dtype=bool)
        if limited:
            most = counted.relevant[:, 1] if limited == "retrieved" else counted.relevant.sum(axis=-1)
            order = np.lexsort((self._id_order[row[document]], position, line))
            order = order[zero[document][order]]
            rank = np.arange(order.size) - np.searchsorted(line[order], line[order])
            left_out = order[rank >= most[line[order]]]
            key = line[left_out] * len(self.facts.qrels) + row[document[left_out]]
            for rows in (pairs.better, pairs.worse):
                keep &= ~np.isin(at * len(self.facts.qrels) + rows[pair], key)
        met = np.isfinite(better).astype(np.int64) + np.isfinite(worse)
        np.add.at(counted.possible, (at[keep], met[keep]), 1)
        above = keep & (better < worse)
        np.add.at(counted.fulfilled, (at[above], met[above]), 1)

    def shares_of_pairs(self, rankings: Rankings) -> tuple[Floats, Floats]:
        """For lists whose topic has several groups: the number of pairs, and their summed shares for the order that
        the list has them in, by whether 0, 1 or both documents were retrieved.
        """
        topic, first, second, share = self.of_several_groups
        judgment = self._judgments_in(rankings)
        line, pair = _entries_of(topic, rankings.topic)
        one, other = (self._positions(judgment, line, rows[pair]) for rows in (first, second))
        met = np.isfinite(one).astype(np.int64) + np.isfinite(other)
        number, summed = np.zeros((rankings.topic.size, 3)), np.zeros((rankings.topic.size, 3))
        np.add.at(number, (line, met), 1)
        np.add.at(summed, (line, met), np.where(one < other, share[pair], np.where(other < one, 1 - share[pair], 0.0)))
        return number, summed


def _entries_of(owner: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Return the entries of each wanted owner, sorted by owner: its number among the wanted, the entry."""
    begin, end = (np.searchsorted(owner, wanted, side) for side in ("left", "right"))
    number = np.repeat(np.arange(wanted.size), end - begin)
    return number, np.arange(number.size) + np.repeat(end - np.cumsum(end - begin), end - begin)


def _join_parts(parts: list[_Pairs]) -> _Pairs:
    group, better, worse = (np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0]))
    return _Pairs(group, better, worse)


def _of_levels(level: Ints, retrieved: Floats, missing: Floats) -> tuple[Floats, Floats]:
    """Return how many preferences there are and are satisfied, if each document is preferred to lower levels.

    ``level`` by rank, and how many documents of each level were ``retrieved`` and are ``missing``.
    """
    possible, fulfilled = np.zeros((level.shape[0], 3)), np.zeros((level.shape[0], 3))
    for one in range(1, retrieved.shape[1]):
        lower = (level >= 0) & (level < one)
        below = np.cumsum(lower[:, ::-1], axis=-1)[:, ::-1]
        fulfilled[:, 2] += np.where(level == one, below, 0).sum(axis=-1)
        lower_retrieved, lower_missing = retrieved[:, :one].sum(axis=-1), missing[:, :one].sum(axis=-1)
        fulfilled[:, 1] += retrieved[:, one] * lower_missing
        possible[:, 2] += retrieved[:, one] * lower_retrieved
        possible[:, 1] += retrieved[:, one] * lower_missing + missing[:, one] * lower_retrieved
        possible[:, 0] += missing[:, one] * lower_missing
    return possible, fulfilled
