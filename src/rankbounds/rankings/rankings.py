"""Ranked lists joined with their judgments, as arrays whose last axis is rank, and their groups of tied documents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.by_rank import Places, running_sums
from rankbounds.rankings.topic_facts import Memory, TopicFacts

if TYPE_CHECKING:
    from rankbounds.rankings.subtopics import ListsBySubtopic

NOT_POOLED, BEYOND = -1, -2


@dataclass(frozen=True, eq=False)
class Rankings(Memory):
    """A batch of ranked lists. Row = list, last axis = rank; one list is a batch of one.

    ``grade`` is NaN for an unjudged document and 0 beyond a list's ``length``. ``tied`` marks documents with the score
    of the one before (None: no ties). ``chance`` is the value of an unjudged document: 0 is non-relevant, 1 has the
    largest gain, and between them it is the probability of relevance. It may be an array like ``grade``, read at the
    unjudged cells only. If kept by the join, ``row`` is the row of a cell in the run's table, -1 beyond a list's end,
    and ``judgment`` its row among the judgments, or ``NOT_POOLED``, or ``BEYOND`` the list's end.

    ``most_relevant`` is how many relevant documents bounds allow a topic in the whole collection: 0 for only those
    judged or retrieved, infinity for any number. ``elsewhere`` is how many relevant documents, of the largest gain, are
    assumed for each list that it lacks and nobody judged.
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

    @property
    def width(self) -> int:
        return self.grade.shape[-1]

    @property
    def holes(self) -> Flags:
        return self.remembered("holes", lambda: np.isnan(self.grade))

    @property
    def num_holes(self) -> Ints:
        return self.remembered("num_holes", lambda: self.holes.sum(axis=-1))

    @property
    def places_of_holes(self) -> Places:
        return self.remembered("places of holes", lambda: Places.of(self.holes))

    @property
    def groups(self) -> TiedGroups | None:
        tied = self.tied
        if tied is None:
            return None
        return self.remembered("groups", lambda: TiedGroups.of(tied) if tied.any() else None)

    @property
    def pooled_holes(self) -> Flags:
        return np.zeros(self.grade.shape, dtype=bool) if self.judgment is None else self.holes & (self.judgment >= 0)

    @property
    def present(self) -> Flags:
        return np.arange(self.width) < self.length[:, None]

    @property
    def certain(self) -> bool:
        if isinstance(self.chance, float):
            return self.chance in (0.0, 1.0)
        return self.remembered("certain", lambda: bool(np.isin(self.chance, (0.0, 1.0)).all()))

    @property
    def _all_nonrelevant(self) -> bool:
        return isinstance(self.chance, float) and self.chance == 0.0

    @property
    def judged_alone(self) -> bool:
        """Return whether only judged documents count: no unjudged ones, nor any that the lists lack."""
        return self._all_nonrelevant and self.elsewhere is None and not self.facts.nonrelevant_gain > 0

    def _num_assumed(self) -> Floats:
        if isinstance(self.chance, float):
            return self.chance * self.num_holes
        return np.where(self.holes, self.chance, 0.0).sum(axis=-1)

    def relevant(self, rel: float = 1.0) -> Floats:
        """Return 1 for a document of at least this grade, 0 for others, ``chance`` for an unjudged one."""

        def compute() -> Floats:
            relevant = self._judged_relevant(rel).astype(np.float64)
            if not self._all_nonrelevant:
                np.copyto(relevant, self.chance, where=self.holes)
            return relevant

        return self.remembered(("relevant", rel), compute)

    def _judged_relevant(self, rel: float) -> Flags:
        return self.remembered(("judged relevant", rel), lambda: self.grade >= rel)

    def possibly_relevant(self, rel: float = 1.0) -> Flags:
        """Return which documents are relevant, those among them that are so with a probability."""
        return self._judged_relevant(rel) if self._all_nonrelevant else self.relevant(rel) > 0

    def places_of_relevant(self, rel: float = 1.0) -> Places:
        return self.remembered(("places", rel), lambda: Places.of(self.possibly_relevant(rel)))

    def relevant_so_far(self, rel: float = 1.0) -> Floats:
        return self.remembered(("so far", rel), lambda: running_sums(self.relevant(rel)))

    def gain(self) -> Floats:
        """Return every document's gain, 0 beyond a list's end; an unjudged one's is by ``chance`` the largest."""

        def compute() -> Floats:
            least, most = self.facts.nonrelevant_gain, self.facts.max_gain
            if self._all_nonrelevant and least == 0:
                return np.fmax(self.facts.rule(self.grade), 0.0)  # of a number and NaN it takes the number
            gain = np.where(self.holes, least + self.chance * (most - least), self.facts.rule(self.grade))
            return np.where(self.present, gain, 0.0) if least > 0 else gain

        return self.remembered("gain", compute)

    def num_relevant(self, rel: float = 1.0) -> Floats:
        """Return how many relevant documents the topic has, the retrieved unjudged ones counted by ``chance``."""
        known = self.facts.relevant(rel)[self.topic].astype(np.float64)
        if self.elsewhere is not None:
            known += self.elsewhere
        return known if self._all_nonrelevant else known + self._num_assumed()

    def ideal(self, width: int) -> Floats:
        known = self.facts.ideal(self.topic, width)
        least = self.facts.nonrelevant_gain
        if least > 0:  # unjudged documents gain something even where they count as non-relevant
            behind = np.arange(width) - self.facts.judged[self.topic][:, None]
            known = np.where((behind >= 0) & (behind < (self.num_holes - self._num_assumed())[:, None]), least, known)
        if self._all_nonrelevant and self.elsewhere is None:
            return known
        if not self.certain:
            raise ValueError("the ideal ranking is not defined for documents that are relevant with a probability")
        best = self._num_assumed() + (0.0 if self.elsewhere is None else np.minimum(self.elsewhere, width))
        ahead = np.arange(width) - best.astype(np.int64)[:, None]
        shifted = np.take_along_axis(known, np.maximum(ahead, 0), axis=-1)
        return np.where(ahead < 0, self.facts.max_gain, shifted)

    def assume(self, chance: float | Floats) -> Rankings:
        if isinstance(chance, float) and isinstance(self.chance, float) and chance == self.chance:
            return self
        if not self.num_holes.any():
            return self
        if not isinstance(chance, float):
            return self._with_chance(chance)
        return self.remembered(("assumed", chance), lambda: self._with_chance(chance))

    def _with_chance(self, chance: float | Floats) -> Rankings:
        return replace(
            self, chance=chance, _memory=self._memory_of("holes", "num_holes", "places of holes", "groups", "condensed")
        )

    def open_to(self, most_relevant: float) -> Rankings:
        """Return the same lists, with bounds that allow a topic so many relevant documents in the whole collection."""
        kept = ("holes", "num_holes", "places of holes", "groups")
        return self.remembered(
            ("open to", most_relevant),
            lambda: replace(self, most_relevant=most_relevant, _memory=self._memory_of(*kept)),
        )

    def room(self, known: Floats | Ints) -> Floats:
        """Return how many relevant documents nobody retrieved or judged each topic may have, beside the known ones."""
        return np.maximum(self.most_relevant - known, 0.0)

    def with_elsewhere(self, number: Floats) -> Rankings:
        """Return the same lists, if so many relevant documents existed that each lacks and nobody judged."""
        return replace(self, elsewhere=number, _memory=self._memory_of("holes", "num_holes", "groups"))

    def _memory_of(self, *keys: str) -> dict[Any, Any]:
        return {key: self._memory[key] for key in keys if key in self._memory}

    def with_tied_from(self, source: Ints) -> Rankings:
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
        assert self.judgment is not None
        padded = np.concatenate((facts.grade, [0.0, np.nan]))  # what BEYOND and NOT_POOLED stand for
        return replace(self, grade=padded[self.judgment], facts=facts, _memory=self._memory_of("groups"))

    def by_subtopic(self, *, given: bool = False) -> ListsBySubtopic:
        """Return each list once for every subtopic of its topic; ``given``: with what is judged for it alone."""
        from rankbounds.rankings.subtopics import lists_by_subtopic

        return self.remembered(("by subtopic", given), lambda: lists_by_subtopic(self, given=given))

    def condensed(self) -> Rankings:
        return self.remembered("condensed", self._without_unjudged)

    def _without_unjudged(self) -> Rankings:
        keep = self.present & ~self.holes
        length = np.count_nonzero(keep, axis=-1)
        width = max(1, int(length.max(initial=0)))
        row, column = np.nonzero(keep)
        rank = np.arange(row.size) - np.repeat(np.cumsum(length) - length, length)

        def kept(cells: NDArray[Any], beyond: float) -> NDArray[Any]:
            filled = np.full((length.size, width), beyond, dtype=cells.dtype)
            filled[row, rank] = cells[row, column]
            return filled

        tied = None
        if self.tied is not None:
            # A document stays tied to the one now before it when no group begins between the two.
            group = kept(np.cumsum(~self.tied, axis=-1), -1)
            tied = np.zeros(group.shape, dtype=bool)
            tied[:, 1:] = (group[:, 1:] == group[:, :-1]) & (group[:, 1:] >= 0)
        return replace(
            self,
            grade=kept(self.grade, 0.0),
            length=length,
            tied=tied,
            chance=0.0,
            row=None if self.row is None else kept(self.row, -1),
            judgment=None if self.judgment is None else kept(self.judgment, BEYOND),
            _memory={},
        )


@dataclass(frozen=True, eq=False)
class TiedGroups:
    """All groups of tied documents: their cells in the flattened batch, and where in ``cell`` each group begins."""

    cell: Ints
    start: Ints
    size: Ints
    width: int

    @classmethod
    def of(cls, tied: Flags) -> TiedGroups:
        flat = tied.ravel()
        inside = flat.copy()
        inside[:-1] |= flat[1:]
        cell = np.flatnonzero(inside)
        start = np.flatnonzero(~flat[cell])
        return cls(cell, start, np.diff(start, append=cell.size), tied.shape[-1])

    @cached_property
    def number(self) -> Ints:
        return np.repeat(np.arange(self.size.size), self.size)

    @cached_property
    def position(self) -> Ints:
        return np.arange(self.cell.size) - np.repeat(self.start, self.size)

    @property
    def row(self) -> Ints:
        return self.cell[self.start] // self.width

    @property
    def offset(self) -> Ints:
        return self.cell[self.start] % self.width

    def cut_by(self, depth: int) -> Ints:
        return np.flatnonzero((self.offset < depth) & (self.offset + self.size > depth))

    def values(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.reshape(-1)[self.cell]

    def sums(self, array: NDArray[Any]) -> Floats:
        return np.add.reduceat(self.values(array).astype(np.float64, copy=False), self.start)

    def spread(self, by_group: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(by_group, self.size)

    def filled_from(self, array: NDArray[Any], source: Ints) -> NDArray[Any]:
        filled = np.array(array, order="C")
        filled.reshape(-1)[self.cell] = array.reshape(-1)[source]
        return filled
