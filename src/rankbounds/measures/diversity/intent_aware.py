"""Measures of lists that should serve several subtopics: a binary measure of each subtopic, averaged.

Each subtopic sees its own list, in which the documents relevant to it are relevant. The value is the mean over the
subtopics that have a relevant document; others are left out of it, as ndeval does. Subtopics count alike.

Bounds: an unjudged document may be relevant to any of its topic's subtopics, also to those that had no relevant
document before, which then count. What it is to one subtopic says nothing of another. So the least and the greatest
sum are sums of extremes, and as a mean moves one way only while subtopics alike are added, the extremes over how many
are added are none and all. The bounds are attained.

Source: Agrawal, Gollapudi, Halverson and Ieong, Diversifying Search Results, WSDM 2009.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.measure import Bounds, Measure, quotient
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.subtopics import ListsBySubtopic


class IntentAware(Measure):
    """The mean over a topic's subtopics of what a binary measure says of each.

    A subclass has ``of_subtopic``, a measure that is 0 where nothing is relevant, and least for the one relevant
    document that stands lowest. The order of ties that is best for one subtopic may be bad for another: no best or
    worst order is known.
    """

    promotable = False
    reads_judgments = True

    def of_subtopic(self) -> Measure:
        """The measure of the list that one subtopic sees."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        lists = rankings.by_subtopic()
        return self._mean(lists, self.of_subtopic().value(lists.rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        lists = rankings.by_subtopic()
        expected = self.of_subtopic().expected_over_ties(lists.rankings)
        return None if expected is None else self._mean(lists, expected)

    def _mean(self, lists: ListsBySubtopic, values: Floats) -> Floats:
        counts = lists.rankings.num_relevant(self.rel) > 0
        return quotient(lists.total(np.where(counts, values, 0.0)), lists.total(counts))

    def bounds(self, rankings: Rankings) -> Bounds | None:
        lists = rankings.assume(0.0).by_subtopic()
        measure, seen = self.of_subtopic(), lists.rankings
        found = measure.bounds(seen)
        if found is None:
            return None
        counts = seen.num_relevant(self.rel) > 0
        may_count = ~counts & (seen.num_holes > 0)
        lowest = seen.holes & (np.cumsum(seen.holes[:, ::-1], axis=-1)[:, ::-1] == 1)
        least_new = measure.value(seen.assume(lowest.astype(np.float64))) if may_count.any() else found[0]
        number, further = lists.total(counts), lists.total(may_count)
        low, high = (lists.total(np.where(counts, bound, 0.0)) for bound in found)
        new_low, new_high = (lists.total(np.where(may_count, bound, 0.0)) for bound in (least_new, found[1]))
        return (
            np.minimum(quotient(low, number), quotient(low + new_low, number + further)),
            np.maximum(quotient(high, number), quotient(high + new_high, number + further)),
        )


def check_share(measure: Measure, name: str, value: float) -> None:
    """Raise unless a parameter lies between 0 and 1."""
    if not 0 <= value <= 1:
        raise UsageError(f"{measure.name}: {name} must lie between 0 and 1, not {value}.")
