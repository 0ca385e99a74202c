"""The arguments that measures name, for the lists of several runs.

An argument answers, for a topic (by its place among those of the lists) and a number of documents that neither list
holds and that may turn out relevant as well, how large the difference of two lists can be.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import first_relevant, ideal_ratios
from rankbounds.evaluation.differences.apart import (
    documents_that_gain,
    greatest_apart,
    greatest_apart_in_collection,
    greatest_of_shrunk,
    greatest_of_sums,
    has_room,
)
from rankbounds.evaluation.differences.averaged_precisions import greatest_average, greatest_preference
from rankbounds.evaluation.differences.completions import greatest_of_all, greatest_when_monotone
from rankbounds.evaluation.differences.shared_lists import Choice, Documents, Found, Greatest, SharedLists
from rankbounds.evaluation.differences.shares import greatest_at_r, greatest_share
from rankbounds.evaluation.differences.weighted_sums import documents_of_weight, greatest_of_linear, greatest_sum
from rankbounds.measures import Measure, RankWeighted
from rankbounds.measures.formulas import BestRelevant, Normalised, ShareOfRelevant
from rankbounds.measures.gain.ideal_ratio import IdealRatio
from rankbounds.measures.precision.average_precision import AveragedPrecisions
from rankbounds.measures.precision.precision_and_recall import RPrec
from rankbounds.measures.preferences import LimitedPenalty
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS

Answer: TypeAlias = Callable[[int, int], Greatest]
OfLists: TypeAlias = Callable[[Rankings, Documents, int], Greatest | None]


class RetrievedArguments:
    """Over all judgments that the unjudged documents of either list can get."""

    def __init__(self, lists: SharedLists, assumptions: Assumptions) -> None:
        self.lists, self.assumptions = lists, assumptions

    def _documents(self, choice: Choice | None = None, *key: object) -> list[Documents]:
        """The unjudged documents that are told apart: all, or those chosen, which are kept under the key."""
        if choice is None:
            return self.lists.documents(lambda rankings: rankings.holes, "all")
        return self.lists.documents(choice, (*key, self.assumptions.ties, self.assumptions.bounds))

    def _order_is_settled(self) -> bool:
        """Do all lists stand in one order?"""
        fixed = self.assumptions.ties in ORDERS and self.assumptions.bounds != "both"
        return fixed or all(rankings.tied is None for rankings in self.lists.by_topic)

    def settled(self, measure: Measure) -> Answer:
        """What no judgment changes."""

        def answer(place: int, _: int) -> Greatest:
            rankings = self.lists.by_topic[place]
            ends = self.assumptions.low_high(measure, rankings) if measure.as_retrieved else None
            low, high = ends or (np.zeros(rankings.length.size),) * 2
            return lambda a, b: (high[a] - low[b], np.ones(a.size, dtype=bool))

        return answer

    def unknown(self, measure: Measure) -> Answer:  # noqa: ARG002
        """Nothing is known."""
        return lambda *_: lambda a, _: (np.full(a.size, np.nan), np.zeros(a.size, dtype=bool))

    def any_measure(self, measure: Measure) -> Answer:
        """All judgments where these are few, else whatever the facts of the measure allow."""
        return self._several(measure)

    def _several(self, measure: Measure, special: OfLists | None = None, *, enumerated: bool = True) -> Answer:
        """All judgments where these are few (unless ``special`` tries them itself), else the smallest of the others."""
        held, alone = self._documents(), special is None and measure.monotone and measure.list_only

        def answer(place: int, more: int) -> Greatest:
            rankings, documents = self.lists.by_topic[place], held[place]
            if alone:
                return greatest_when_monotone(measure, rankings, documents, self.assumptions)
            arguments = [greatest_apart(measure, rankings, documents, self.assumptions, more)]
            if special is not None and (found := special(rankings, documents, more)) is not None:
                arguments.insert(0, found)
            if enumerated or more:
                arguments.insert(0, greatest_of_all(measure, rankings, documents, self.assumptions, more))
            return _least_of(*arguments)

        return self._with_others(measure, answer)

    def _with_others(self, measure: Measure, retrieved: Answer) -> Answer:  # noqa: ARG002
        """From the answer about retrieved documents, the one about all that are to be covered."""
        return retrieved

    def _with_others_of_sums(self, measure: Normalised, retrieved: Answer) -> Answer:  # noqa: ARG002
        return retrieved

    def _opened(self, place: int) -> Rankings:
        return self.lists.by_topic[place]

    def weighted_sum(self, measure: RankWeighted) -> Answer:
        """Net weights."""
        held = self._documents(documents_of_weight(measure, self.assumptions), measure, "weight")
        return lambda place, _: greatest_sum(measure, self.lists.by_topic[place], held[place], self.assumptions)

    def linear_count(self, counted: RankWeighted, for_each: float, for_length: float) -> Answer:
        """Counts of documents, and lengths."""
        count = self.weighted_sum(counted)
        return lambda place, more: greatest_of_linear(
            count(place, more), self.lists.by_topic[place], for_each, for_length
        )

    def ideal_ratio(self, measure: IdealRatio) -> Answer:
        """Net weights over what the ideal ranking has."""
        held = self._documents(ideal_ratios.documents_that_matter(measure, self.assumptions), measure)

        def answer(place: int, more: int) -> Greatest:
            return ideal_ratios.greatest_ratio(measure, self.lists.by_topic[place], held[place], self.assumptions, more)

        return self._with_others_of_sums(measure, answer)

    def share(self, measure: ShareOfRelevant) -> Answer:
        """Numbers of documents."""
        held = self._documents()

        def answer(place: int, more: int) -> Greatest:
            return greatest_share(measure, self.lists.by_topic[place], held[place], self.assumptions, more)

        return self._with_others_of_sums(measure, answer)

    def best_relevant(self, measure: BestRelevant) -> Answer:
        """One document."""
        if not self._order_is_settled():
            return self.any_measure(measure)
        held = self._documents(first_relevant.documents_that_matter(measure), measure, "best")
        return lambda place, _: first_relevant.greatest_of_best(measure, self.lists.by_topic[place], held[place])

    def precision_at_r(self, measure: RPrec) -> Answer:
        """Every R."""
        if not self._order_is_settled():
            return self.any_measure(measure)
        held = self._documents()
        return lambda place, more: greatest_at_r(measure, self._opened(place), held[place], more)

    def averaged_precisions(self, measure: AveragedPrecisions) -> Answer:
        """Quadratic forms; grades, which these do not settle, are tried."""
        if not self._order_is_settled():
            return self.any_measure(measure)
        return self._several(measure, partial(greatest_average, measure), enumerated=measure.graded)

    def limited_penalties(self, measure: LimitedPenalty) -> Answer:
        """Terms of relevant documents."""
        return self._several(measure, partial(greatest_preference, measure) if self._order_is_settled() else None)


class CollectionArguments(RetrievedArguments):
    """The same where relevant documents may exist that neither list holds."""

    def __init__(self, lists: SharedLists, assumptions: Assumptions, most_relevant: float) -> None:
        super().__init__(lists, assumptions)
        self.most_relevant = most_relevant

    def _opened(self, place: int) -> Rankings:
        return self.lists.by_topic[place].open_to(self.most_relevant)

    def _with_others(self, measure: Measure, retrieved: Answer) -> Answer:
        def answer(place: int, more: int) -> Greatest:
            opened = self._opened(place)
            if not has_room(measure, opened):
                return retrieved(place, more)
            shrunk = greatest_of_shrunk(measure, opened, retrieved(place, more))
            return shrunk or greatest_apart_in_collection(measure, opened, self.assumptions)

        return answer

    def _with_others_of_sums(self, measure: Normalised, retrieved: Answer) -> Answer:
        gaining = self._documents(documents_that_gain(measure, self.assumptions), measure, "gain")

        def answer(place: int, more: int) -> Greatest:
            opened = self._opened(place)
            sums = greatest_of_sums(measure, opened, gaining[place], self.assumptions, retrieved(place, more))
            return sums or greatest_apart_in_collection(measure, opened, self.assumptions)

        return answer


def _least_of(*arguments: Greatest) -> Greatest:
    """The smallest of several bounds; those that come first are asked first, and an exact one settles it."""

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = arguments[0](a, b)
        for argument in arguments[1:]:
            if (left := np.flatnonzero(~exact)).size:
                found, attained = argument(a[left], b[left])
                result[left], exact[left] = np.fmin(result[left], found), attained
        return result, exact

    return greatest
