"""Preferences in judgments, and how many of them ranked lists satisfy.

A group, one person's judgments of one topic, with one subgroup prefers each document to all of lower levels. With
several, each orders its documents, and preferences are transitive. Groups may contradict each other, but not
themselves. A preference is satisfied if the better document ranks above the worse one, or is retrieved alone.

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


@dataclass(frozen=True)
class CountedPreferences:
    """Preferences by whether 0, 1 or both documents are retrieved, and documents by whether they are."""

    number: Ints
    lists: int
    possible: Floats
    fulfilled: Floats
    relevant: Floats
    nonrelevant: Floats
    partial: Flags

    def total(self, values: Floats) -> Floats:
        return np.bincount(self.number, weights=values, minlength=self.lists).astype(np.float64, copy=False)


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
        self._stated: dict[int, tuple[Ints, Flags, Ints, Flags]] = {}
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
    def _id_order(self) -> Ints:
        place = np.empty(len(self.facts.qrels), dtype=np.int64)
        place[np.lexsort(self.facts.qrels.pairs.docs.sort_keys()[::-1])] = np.arange(place.size)
        return place

    def stated_by(self, group: int) -> tuple[Ints, Flags, Ints, Flags]:
        """Return a group's documents, which have level 0, the kind of each, and which kind is preferred to which."""
        if group in self._stated:
            return self._stated[group]
        entries = np.flatnonzero(self.group == group)
        rows, at = np.unique(self.row[entries], return_inverse=True)
        level, subgroup = self.level[entries], self.subgroup[entries]
        zero = np.zeros(rows.size, dtype=bool)
        zero[at[level == 0]] = True
        mixed = np.flatnonzero(zero[at] != (level == 0))
        if mixed.size:
            self._raise_contradiction(int(rows[at[mixed[0]]]), "has level 0 and another level")
        if self.partial[group]:
            kind, preferred = np.arange(rows.size), np.zeros((rows.size, rows.size), dtype=bool)
            for number in np.unique(subgroup).tolist():
                mine = subgroup == number
                preferred[np.ix_(at[mine], at[mine])] |= np.greater.outer(level[mine], level[mine])
            known = 0
            while known < (count := int(np.count_nonzero(preferred))):
                known = count
                preferred |= (preferred.astype(np.float32) @ preferred.astype(np.float32)) > 0
            if preferred.diagonal().any():
                row = int(rows[np.flatnonzero(preferred.diagonal())[0]])
                self._raise_contradiction(row, "is preferred to another document, and that one to it")
        else:
            levels, kind = np.unique(level[np.argsort(at)], return_inverse=True)
            preferred = np.tri(levels.size, k=-1, dtype=bool)
        self._stated[group] = rows, zero, kind, preferred
        return self._stated[group]

    def _raise_contradiction(self, row: int, what: str) -> None:
        pairs = self.facts.qrels.pairs
        remedy = "Preferences that contradict each other belong to different groups."
        raise DataError(pairs.source.name, f"within one group, {pairs.describe(row)} {what}.", remedy)

    @cached_property
    def of_several_groups(self) -> dict[int, tuple[Ints, Ints, Ints, Floats]]:
        """Map topics to their groups' documents and compared pairs, with the share of groups that prefer the first."""
        return {topic: self._shares_in(topic) for topic in np.flatnonzero(self.groups.count > 1).tolist()}

    def _shares_in(self, topic: int) -> tuple[Ints, Ints, Ints, Floats]:
        begin, end = self.groups.first[topic : topic + 2].tolist()
        rows = np.unique(self.row[(self.group >= begin) & (self.group < end)])
        number = np.zeros((rows.size, rows.size))
        for group in range(begin, end):
            own, _, kind, preferred = self.stated_by(group)
            at = np.searchsorted(rows, own)
            number[np.ix_(at, at)] += preferred[np.ix_(kind, kind)]
        first, second = np.nonzero(np.triu(number + number.T))
        return rows, first, second, number[first, second] / (number + number.T)[first, second]

    def counted(self, rankings: Rankings, limited: str = "") -> CountedPreferences:
        """Count the preferences fulfilled; ``limited``: a group's R relevant documents allow R of level 0."""
        return rankings.remembered(("preferences", limited), lambda: self._count(rankings, limited))

    def _count(self, rankings: Rankings, limited: str) -> CountedPreferences:
        judgment = self._judgments_in(rankings)
        lists = rankings.length.size
        count = self.groups.count[rankings.topic]
        number = np.repeat(np.arange(lists), count)
        place = np.arange(number.size) - np.repeat(np.cumsum(count) - count, count)
        group = self.groups.first[rankings.topic][number] + place
        possible, fulfilled = np.zeros((2, number.size, 3))
        relevant, nonrelevant = np.zeros((2, number.size, 2))
        counted = CountedPreferences(number, lists, possible, fulfilled, relevant, nonrelevant, self.partial[group])
        for line, (of_line, of_list) in enumerate(zip(group.tolist(), number.tolist(), strict=True)):
            self._count_line(counted, line, of_line, judgment[of_list], limited)
        return counted

    def _judgments_in(self, rankings: Rankings) -> Ints:
        if rankings.judgment is None:
            raise UsageError("Measures of preferences cannot be computed here; use evaluate.")
        return rankings.judgment

    def _count_line(self, counted: CountedPreferences, line: int, group: int, judgment: Ints, limited: str) -> None:
        rows, zero, kind, preferred = self.stated_by(group)
        position, there = _positions(judgment, rows)
        for documents, marked in ((counted.relevant, ~zero), (counted.nonrelevant, zero)):
            documents[line] = np.bincount(there[marked], minlength=2)
        in_order = np.lexsort((self._id_order[rows], position)) if limited else np.argsort(position, kind="stable")
        if limited:
            most = counted.relevant[line, 1] if limited == "retrieved" else counted.relevant[line].sum()
            lowest = zero[in_order]
            in_order = in_order[~lowest | (np.cumsum(lowest) <= most)]
        held, missing = np.split(kind[in_order], [int(there[in_order].sum())])
        number_missing = np.bincount(missing, minlength=len(preferred)).astype(np.float64)
        better, worse = preferred @ number_missing, number_missing @ preferred
        both = preferred[np.ix_(held, held)]
        counted.possible[line] = number_missing @ better, better[held].sum() + worse[held].sum(), both.sum()
        counted.fulfilled[line] = 0, better[held].sum(), np.triu(both).sum()

    def shares_of_pairs(self, rankings: Rankings) -> tuple[Floats, Floats]:
        """Return, for topics of several groups, numbers of pairs and their shares, by documents retrieved."""
        judgments = self._judgments_in(rankings)
        number, summed = np.zeros((rankings.topic.size, 3)), np.zeros((rankings.topic.size, 3))
        for line, topic in enumerate(rankings.topic.tolist()):
            if topic in self.of_several_groups:
                rows, first, second, share = self.of_several_groups[topic]
                position, there = _positions(judgments[line], rows)
                met, one, other = there[first] + there[second], position[first], position[second]
                satisfied = np.where(one < other, share, np.where(other < one, 1 - share, 0.0))
                number[line] = np.bincount(met, minlength=3)
                summed[line] = np.bincount(met, satisfied, minlength=3)
        return number, summed


def _positions(judgment: Ints, rows: Ints) -> tuple[Floats, Ints]:
    order = np.argsort(judgment)
    at = order[np.minimum(np.searchsorted(judgment, rows, sorter=order), judgment.size - 1)]
    there = judgment[at] == rows
    return np.where(there, at, np.inf), there.astype(np.int64)
