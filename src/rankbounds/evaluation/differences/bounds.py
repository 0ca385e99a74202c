"""Bounds of differences for every measure: topic by topic, and of the mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.arguments import CollectionArguments, RetrievedArguments
from rankbounds.evaluation.differences.shared_lists import SharedLists
from rankbounds.evaluation.score_differences import TOLERANCE, zeroed
from rankbounds.measures import Measure
from rankbounds.threads import in_threads, processors

PAIRS_FOR_THREADS = 1000
"""From so many pairs on, topics are worked on in threads."""


@dataclass(frozen=True, eq=False)
class DifferenceBounds:
    """The least and the greatest mean difference of each pair, A minus B; NaN where nothing is known.

    ``exact`` says for which pairs some judgments attain both: every topic's bounds are exact then.
    """

    low: Floats
    high: Floats
    exact: Flags

    @property
    def known(self) -> Flags:
        """Of which pairs anything is known."""
        return ~(np.isnan(self.low) | np.isnan(self.high))

    @property
    def words(self) -> list[str | None]:
        """For each pair ``"exact"``, ``"outer"``, or None where nothing is known."""
        told = zip(self.exact.tolist(), self.known.tolist(), strict=True)
        return [("exact" if exact else "outer") if known else None for exact, known in told]


def difference_bounds(
    lists: SharedLists,
    measure: Measure,
    assumptions: Assumptions,
    pairs: tuple[Ints, Ints] | None = None,
    *,
    elsewhere: Ints | None = None,
) -> DifferenceBounds:
    """Bounds of mean differences over all judgments that the unjudged documents of either list can get.

    Parameters
    ----------
    lists : SharedLists
        The runs' lists.
    measure : Measure
        Any measure.
    assumptions : Assumptions
        How ties are treated; with ``bounds="both"`` all orders of tied documents are covered too, with
        ``open="collection"`` relevant documents that neither list holds.
    pairs : tuple of two arrays, optional
        The runs A and the runs B, by number; all pairs in the order of the runs where none are named.
    elsewhere : array of int, optional
        By topic (of the judgments), how many documents that neither list holds may turn out relevant as well.

    Returns
    -------
    DifferenceBounds
        By pair.

    Notes
    -----
    Memory is bounded by the lists and by a few numbers for each pair, whatever the number of topics.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.evaluation.assumptions import Assumptions
    >>> from rankbounds.evaluation.differences import SharedLists, difference_bounds
    >>> from rankbounds.comparison import Evidence
    >>> evidence = Evidence.read({"q": {"a": 1}}, {"A": {"q": ["a", "x"]}, "B": {"q": ["x", "a"]}})
    >>> found = difference_bounds(evidence.shared_lists(), rb.nDCG(), Assumptions())
    >>> found.low.round(3).tolist(), found.high.round(3).tolist(), found.words
    ([0.0], [0.369], ['exact'])
    """
    first, second = np.triu_indices(len(lists.runs), 1) if pairs is None else pairs
    low, high, scale = np.zeros(first.size), np.zeros(first.size), np.zeros(first.size)
    exact = np.ones(first.size, dtype=bool)
    for of_topic in topic_bounds(lists, measure, assumptions, (first, second), elsewhere=elsewhere):
        with np.errstate(invalid="ignore"):  # topics whose differences are infinite to either side have no mean
            low, high = low + of_topic.low, high + of_topic.high
        scale += np.where(np.isfinite(of_topic.size), of_topic.size, 0.0)
        exact &= of_topic.exact
    topics = max(len(lists.topics), 1)
    return DifferenceBounds(zeroed(low, scale) / topics, zeroed(high, scale) / topics, exact)


@dataclass(frozen=True, eq=False)
class TopicBounds(DifferenceBounds):
    """The bounds on one topic; ``size`` is that of the scores they come from."""

    size: Floats


def topic_bounds(
    lists: SharedLists,
    measure: Measure,
    assumptions: Assumptions,
    pairs: tuple[Ints, Ints],
    *,
    elsewhere: Ints | None = None,
) -> Iterator[TopicBounds]:
    """The bounds of every pair, topic after topic of the lists."""
    first, second = pairs
    covering = replace(
        assumptions,
        bounds="both" if assumptions.bounds == "both" else "unjudged",
        open="retrieved",
        most_relevant=None,
    )
    same = lists.same[first, second]
    arguments: RetrievedArguments = RetrievedArguments(lists, covering)
    if assumptions.open == "collection" and not measure.list_only:
        arguments = CollectionArguments(lists, covering, assumptions.allowed_relevant)
    answer = measure.difference_argument(arguments)

    def of_topic(place: int) -> TopicBounds:
        rankings = lists.by_topic[place]
        more = 0 if elsewhere is None else int(elsewhere[lists.topics[place]])
        values = assumptions.value(measure, rankings)
        with np.errstate(invalid="ignore"):
            observed = np.where(values[first] == values[second], 0.0, values[first] - values[second])
        size = np.abs(values[first]) + np.abs(values[second])
        greatest = answer(place, more)
        high, high_exact = greatest(first, second)
        turned, low_exact = greatest(second, first)
        low = 0.0 - turned
        slack = TOLERANCE * (1 + np.where(np.isfinite(size), size, 0.0))
        exact = high_exact & low_exact & (low - slack <= observed) & (observed <= high + slack)
        low = np.where(np.isnan(low), np.nan, np.fmin(low, observed))
        high = np.where(np.isnan(high), np.nan, np.fmax(high, observed))
        low, high = np.where(same, 0.0, low), np.where(same, 0.0, high)
        return TopicBounds(low, high, exact | same, size)

    # Short array calls of a few pairs would only wait for each other in threads.
    threads = processors() if first.size >= PAIRS_FOR_THREADS else 1
    return in_threads(of_topic, range(len(lists.topics)), threads)
