"""Facts of topics from judgments alone: how many documents are relevant, ideal gains, levels of gain."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.gains import GainRule
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.columns.native.ranking import HeldDocuments
from rankbounds.errors import UsageError

if TYPE_CHECKING:
    from rankbounds.rankings.stated_preferences import PreferenceFacts
    from rankbounds.rankings.strata import StrataFacts
    from rankbounds.rankings.subtopics import SubtopicFacts

Value = TypeVar("Value")
COLLECTION = 10_000_000
"""So many documents are judged non-relevant by complete judgments: more than any limit on their number."""
MOST_GRADES = 20
"""On a scale of more whole grades, those that nobody has given are left out of what a document may get."""


class Memory:
    """What follows from an object that never changes is computed once."""

    _memory: dict[Any, Any]

    def remembered(self, key: Any, compute: Callable[[], Value]) -> Value:
        try:
            known: Value = self._memory[key]
            return known
        except KeyError:
            value = self._memory[key] = compute()
            return value


class TopicFacts(Memory):
    """What the judgments alone say of each topic; ``kept`` flags those to use, others count as pooled."""

    def __init__(
        self, qrels: Qrels, rule: GainRule | None = None, kept: Flags | None = None, grades: Floats | None = None
    ) -> None:
        self.qrels = qrels
        self.rule = rule or GainRule()
        self._grades = grades
        self.query_ids = qrels.query_ids
        self.complete = qrels.complete and kept is None
        """Are documents that the judgments do not list judged non-relevant?"""
        judged = qrels.grade != POOLED_NOT_JUDGED
        in_table = [gain for _, gain in self.rule.table]
        seen = self.rule(np.maximum(qrels.grade[judged], 0.0) if grades is None else grades)
        self.max_gain = float(max(*self.rule(np.ones(1)), *in_table, seen.max(initial=0.0))) or 1.0
        """The largest gain an unjudged document may have: the largest of the collection or the gain table, and at
        least that of grade 1, which may occur whether it was judged or not."""
        self.nonrelevant_gain = float(self.rule(np.zeros(1))[0])
        least = float(min(self.nonrelevant_gain, *in_table, seen.min(initial=np.inf)))
        if least < self.nonrelevant_gain:
            raise UsageError(
                f"The gain rule gives grade 0, which means non-relevant, a gain of {self.nonrelevant_gain:g}, and "
                f"another grade less: {least:g}. Give every other grade at least as much."
            )
        if self.complete and self.nonrelevant_gain > 0:
            raise UsageError(
                "Complete judgments do not say how many documents are non-relevant, so grade 0 cannot have a gain. "
                "Leave out its gain, or --judgments complete (complete=True)."
            )
        if kept is not None:
            judged &= kept
        self.grade = np.where(judged, np.maximum(qrels.grade, 0.0), np.nan)
        """The grade of every judgment; NaN where the document was only pooled."""
        self._topic = qrels.pairs.topic[judged]
        self._grade = self.grade[judged]
        self._gain = self.rule(self._grade)
        self._collection = self._gain if grades is None else self.rule(grades)
        self._memory: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "held"}  # it knows where arrays lie

    def restricted(self, kept: Flags) -> TopicFacts:
        return TopicFacts(self.qrels, self.rule, kept, self._grades)

    @property
    def scale(self) -> float:
        """Return what gains are divided by to be at most 1: the largest, unless all lie between 0 and 1."""
        return max(1.0, self.max_gain)

    @cached_property
    def subtopics(self) -> SubtopicFacts:
        from rankbounds.rankings.subtopics import SubtopicFacts

        return SubtopicFacts(self)

    @cached_property
    def preferences(self) -> PreferenceFacts:
        from rankbounds.rankings.stated_preferences import PreferenceFacts

        return PreferenceFacts(self)

    @cached_property
    def strata(self) -> StrataFacts:
        from rankbounds.rankings.strata import StrataFacts

        return StrataFacts(self)

    @cached_property
    def topic_number(self) -> dict[str, int]:
        return {query: number for number, query in enumerate(self.query_ids)}

    @property
    def holds_strings(self) -> bool:
        return self.qrels.pairs.docs.string_hashes is not None or "held" in self.__dict__

    @cached_property
    def held(self) -> HeldDocuments:
        pairs = self.qrels.pairs
        return HeldDocuments(pairs.docs, pairs.topic, len(pairs.topics), self.grade)

    @cached_property
    def some_only_pooled(self) -> bool:
        return bool(np.isnan(self.grade).any())

    @property
    def without_relevant(self) -> list[str]:
        return [self.query_ids[number] for number in np.flatnonzero(self.relevant(1.0) == 0).tolist()]

    def _count(self, chosen: Flags) -> Ints:
        return np.bincount(self._topic[chosen], minlength=len(self.query_ids))

    def _known(self, fact: Callable[[TopicFacts], Any]) -> Any:  # noqa: ARG002
        return 0

    @property
    def _unlisted(self) -> Ints | int:
        return 0

    def relevant(self, rel: float) -> Ints:
        return self.remembered(
            rel, lambda: self._count(self._grade >= rel) + self._known(lambda known: known.relevant(rel))
        )

    @cached_property
    def judged(self) -> Ints:
        listed: Ints = np.bincount(self._topic, minlength=len(self.query_ids)) + COLLECTION * self.complete
        return listed + self._unlisted + self._known(lambda known: known.judged)

    @cached_property
    def positive(self) -> Ints:
        unlisted = self._unlisted if self.nonrelevant_gain > 0 else 0
        return self._count(self._gain > 0) + unlisted + self._known(lambda known: known.positive)

    @cached_property
    def total_gain(self) -> Floats:
        listed = np.bincount(self._topic, self._gain, len(self.query_ids)).astype(np.float64, copy=False)
        return listed + self._known(lambda known: known.total_gain) + self.nonrelevant_gain * self._unlisted

    @cached_property
    def top_gain(self) -> Floats:
        top: Floats = np.ones(len(self.query_ids))
        np.maximum.at(top, self._topic, self._gain)
        return np.maximum(top, self._known(lambda known: known.top_gain))

    @cached_property
    def levels(self) -> Floats:
        """Return the distinct positive gains that documents have or may get, ascending; the last is ``max_gain``."""
        seen = self._grade if self._grades is None else self._grades
        top = max(seen.max(initial=0.0), *(grade for grade, _ in self.rule.table), 0.0)
        whole = self.rule(np.arange(1.0, top + 1 if top <= MOST_GRADES else 1.0))
        gains = np.concatenate((self._collection, whole, (self.nonrelevant_gain, self.max_gain)))
        rising = np.sort(gains[gains > 0])
        return rising[np.diff(rising, prepend=0.0) > 0]

    def _count_from(self, level: float) -> Ints:
        unlisted = self._unlisted if level <= self.nonrelevant_gain else 0
        # Documents known at a level that was not seen before are those of the next level up.
        known = self._known(lambda known: known.count_from_level[np.searchsorted(known.levels, level)])
        return self._count(self._gain >= level) + unlisted + known

    @cached_property
    def count_from_level(self) -> Ints:
        return np.stack([self._count_from(level) for level in self.levels.tolist()])

    @cached_property
    def _ideal(self) -> tuple[Ints, Floats]:
        positive = self._gain > 0
        topic, gain = self._topic[positive], self._gain[positive]
        order = np.lexsort((-gain, topic))
        counts = np.bincount(topic, minlength=len(self.query_ids))
        return np.append(0, np.cumsum(counts)), gain[order]

    def ideal(self, topic: Ints, width: int) -> Floats:
        starts, gains = self._ideal
        position = starts[topic][:, None] + np.arange(width)
        inside = position < starts[topic + 1][:, None]
        ideal = np.zeros(position.shape)
        ideal[inside] = gains[position[inside]]
        return ideal


class CompletedFacts(TopicFacts):
    """Facts after more judgments: each completion of a topic is a topic here, with ``more`` documents judged in it."""

    def __init__(
        self,
        known: TopicFacts,
        completes: Ints,
        more: Ints,
        completion: Ints,
        grade: Floats,
        gain: Floats | None = None,
        rule: GainRule | None = None,
    ) -> None:
        self.qrels, self.query_ids = known.qrels, range(completes.size)  # type: ignore[assignment]
        self.complete = False
        self.rule, self.max_gain, self.nonrelevant_gain = rule or known.rule, known.max_gain, known.nonrelevant_gain
        self.grade = np.empty(0)  # that of every judgment is not known: no list is joined with these facts
        self._completed, self._completes, self._more = known, completes, more
        self._topic, self._grade = completion, grade
        self._gain = self.rule(grade) if gain is None else gain
        self._memory = {}

    def _known(self, fact: Callable[[TopicFacts], Any]) -> Any:
        return fact(self._completed)[self._completes]

    @cached_property
    def _unlisted(self) -> Ints:
        return self._more - np.bincount(self._topic, minlength=len(self.query_ids))

    @cached_property
    def top_gain(self) -> Floats:
        return np.maximum(super().top_gain, np.where(self._more > 0, self.nonrelevant_gain, 0.0))

    @cached_property
    def levels(self) -> Floats:
        return np.union1d(self._completed.levels, self._gain[self._gain > 0])

    def ideal(self, topic: Ints, width: int) -> Floats:
        rank = np.arange(width)
        reached = np.zeros((len(self.query_ids), width), dtype=np.int64)
        for count in self.count_from_level:
            reached += rank < count[:, None]
        return np.append(0.0, self.levels)[reached][topic]
