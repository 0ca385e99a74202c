"""Ranked lists joined with their judgments, as arrays whose last axis is rank."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.places import Places
from rankbounds.columns.sums import running_sums
from rankbounds.rankings.tied_groups import TiedGroups
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from rankbounds.rankings.subtopics import ListsBySubtopic

NOT_POOLED, BEYOND = -1, -2


@dataclass(frozen=True, eq=False)
class Rankings:
    """A batch of ranked lists. Row = list, last axis = rank; one list is a batch of one.

    ``grade`` is NaN for an unjudged document and 0 beyond a list's ``length``. ``tied`` marks documents that have the
    score of the one before (None: no ties). ``chance`` is what an unjudged document counts for: 0 as a non-relevant
    one, 1 as one with the largest gain, between them the probability of being relevant. It may differ by cell (an array
    like ``grade``, read at the unjudged cells only). ``row`` says which row of the run's table a cell came from, -1
    beyond a list's end; ``judgment`` is the row of each document among the judgments, or ``NOT_POOLED``, or ``BEYOND``
    the list's end. Each is there when the join was asked to keep it.

    ``most_relevant`` is how many relevant documents bounds allow a topic to have in the whole collection: 0 for none
    but those that are judged or retrieved, infinity for any number. ``elsewhere`` is how many relevant documents, of
    the largest gain, are taken to exist that the list lacks and nobody judged, for each list.
    """

    grade: Floats
    length: Ints
    topic: Ints
    facts: TopicFacts
    tied: Flags | None = None
    chance: float | Floats = 0.0
    row: Ints | None = None
    judgment: Ints | None = None
    most_relevant: float = 0.0
    elsewhere: Floats | None = None
    _memory: dict[Any, Any] = field(default_factory=dict, repr=False)

    def remembered(self, key: Any, compute: Any) -> Any:
        """Several measures read the same derived array; it is computed once."""
        try:
            return self._memory[key]
        except KeyError:
            value = self._memory[key] = compute()
            return value

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
        count: Ints = self.remembered("num_holes", lambda: self.holes.sum(axis=-1))
        return count

    @property
    def places_of_holes(self) -> Places:
        """Where the unjudged documents stand."""
        places: Places = self.remembered("places of holes", lambda: Places.of(self.holes))
        return places

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

    @property
    def judged_alone(self) -> bool:
        """Does nothing count but what is judged: neither unjudged documents nor any that the lists lack?"""
        return self._all_nonrelevant and self.elsewhere is None and not self.facts.nonrelevant_gain > 0

    def _turned(self) -> Floats:
        """How many unjudged documents of each list count as relevant."""
        if isinstance(self.chance, float):
            return self.chance * self.num_holes
        return np.where(self.holes, self.chance, 0.0).sum(axis=-1)

    def relevant(self, rel: float = 1.0) -> Floats:
        """1 for a document of at least this grade, 0 for others, ``chance`` for an unjudged one."""

        def compute() -> Floats:
            relevant = self._judged_relevant(rel).astype(np.float64)
            if not self._all_nonrelevant:
                np.copyto(relevant, self.chance, where=self.holes)
            return relevant

        array: Floats = self.remembered(("relevant", rel), compute)
        return array

    def _judged_relevant(self, rel: float) -> Flags:
        flags: Flags = self.remembered(("judged relevant", rel), lambda: self.grade >= rel)
        return flags

    def possibly_relevant(self, rel: float = 1.0) -> Flags:
        """Which documents are relevant, those among them that are so with a probability."""
        return self._judged_relevant(rel) if self._all_nonrelevant else self.relevant(rel) > 0

    def places_of_relevant(self, rel: float = 1.0) -> Places:
        """Where relevant documents stand, if each is so for certain or not at all."""
        places: Places = self.remembered(("places", rel), lambda: Places.of(self.possibly_relevant(rel)))
        return places

    def relevant_so_far(self, rel: float = 1.0) -> Floats:
        """At every rank, how many documents down to it are relevant."""
        array: Floats = self.remembered(("so far", rel), lambda: running_sums(self.relevant(rel)))
        return array

    def gain(self) -> Floats:
        """The gain of every document, 0 beyond a list's end.

        For an unjudged one that of grade 0, by ``chance`` the largest.
        """

        def compute() -> Floats:
            least, most = self.facts.nonrelevant_gain, self.facts.max_gain
            if self._all_nonrelevant and least == 0:
                return np.fmax(self.facts.rule(self.grade), 0.0)  # of a number and NaN it takes the number
            gain = np.where(self.holes, least + self.chance * (most - least), self.facts.rule(self.grade))
            return np.where(self.present, gain, 0.0) if least > 0 else gain

        array: Floats = self.remembered("gain", compute)
        return array

    def num_relevant(self, rel: float = 1.0) -> Floats:
        """How many relevant documents the topic has, the retrieved unjudged ones counted by ``chance``."""
        known = self.facts.relevant(rel)[self.topic].astype(np.float64)
        if self.elsewhere is not None:
            known += self.elsewhere
        return known if self._all_nonrelevant else known + self._turned()

    def ideal(self, width: int) -> Floats:
        """The topic's largest gains in descending order."""
        known = self.facts.ideal(self.topic, width)
        least = self.facts.nonrelevant_gain
        if least > 0:  # unjudged documents gain something even where they count as non-relevant
            behind = np.arange(width) - self.facts.judged[self.topic][:, None]
            known = np.where((behind >= 0) & (behind < (self.num_holes - self._turned())[:, None]), least, known)
        if self._all_nonrelevant and self.elsewhere is None:
            return known
        if not self.certain:
            raise ValueError("the ideal ranking is not defined for documents that are relevant with a probability")
        best = self._turned() + (0.0 if self.elsewhere is None else np.minimum(self.elsewhere, width))
        ahead = np.arange(width) - best.astype(np.int64)[:, None]
        shifted = np.take_along_axis(known, np.maximum(ahead, 0), axis=-1)
        return np.where(ahead < 0, self.facts.max_gain, shifted)

    def assume(self, chance: float | Floats) -> Rankings:
        """The same lists with unjudged documents counted differently."""
        if isinstance(chance, float) and isinstance(self.chance, float) and chance == self.chance:
            return self
        if not self.num_holes.any():
            return self
        if not isinstance(chance, float):
            return self._with_chance(chance)
        lists: Rankings = self.remembered(("assumed", chance), lambda: self._with_chance(chance))
        return lists

    def _with_chance(self, chance: float | Floats) -> Rankings:
        return replace(
            self, chance=chance, _memory=self._memory_of("holes", "num_holes", "places of holes", "groups", "condensed")
        )

    def open_to(self, most_relevant: float) -> Rankings:
        """The same lists, for bounds that allow a topic so many relevant documents in the whole collection.

        They share no memory of lists derived from these, which allow for none.
        """
        kept = ("holes", "num_holes", "places of holes", "groups")
        lists: Rankings = self.remembered(
            ("open to", most_relevant),
            lambda: replace(self, most_relevant=most_relevant, _memory=self._memory_of(*kept)),
        )
        return lists

    def room(self, known: Floats | Ints) -> Floats:
        """How many relevant documents nobody retrieved or judged each topic may have, beside so many known ones."""
        return np.maximum(self.most_relevant - known, 0.0)

    def with_elsewhere(self, number: Floats) -> Rankings:
        """The same lists, if so many relevant documents existed that each lacks and nobody judged."""
        return replace(self, elsewhere=number, _memory=self._memory_of("holes", "num_holes", "groups"))

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

    def by_subtopic(self) -> ListsBySubtopic:
        """Each list once for every subtopic of its topic, as that subtopic sees it."""
        from rankbounds.rankings.subtopics import lists_by_subtopic

        lists: ListsBySubtopic = self.remembered("by subtopic", lambda: lists_by_subtopic(self))
        return lists

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
