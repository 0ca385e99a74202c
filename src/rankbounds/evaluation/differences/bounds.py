"""Bounds of differences for every measure: which argument answers, and the mean over topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import first_relevant, ideal_ratios
from rankbounds.evaluation.differences.apart import greatest_apart
from rankbounds.evaluation.differences.averaged_precisions import greatest_average
from rankbounds.evaluation.differences.collection import (
    documents_that_gain,
    greatest_apart_in_collection,
    greatest_of_shrunk,
    greatest_of_sums,
    has_room,
    is_concerned,
)
from rankbounds.evaluation.differences.enumeration import greatest_of_all
from rankbounds.evaluation.differences.first_relevant import greatest_of_best
from rankbounds.evaluation.differences.greatest import Found, Greatest
from rankbounds.evaluation.differences.ideal_ratios import greatest_ratio
from rankbounds.evaluation.differences.monotone import greatest_when_monotone
from rankbounds.evaluation.differences.penalties import greatest_preference
from rankbounds.evaluation.differences.precision_at_r import greatest_at_r
from rankbounds.evaluation.differences.shared_lists import Choice, Documents, SharedLists
from rankbounds.evaluation.differences.shares import greatest_share
from rankbounds.evaluation.differences.weighted_sums import (
    RelevantRetrieved,
    documents_of_weight,
    greatest_sum,
    greatest_utility,
)
from rankbounds.evaluation.score_differences import TOLERANCE, zeroed
from rankbounds.measures import Measure, RankWeighted
from rankbounds.measures.average_precision import AP, SP
from rankbounds.measures.binary_preference import LimitedPenalty
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.counts import NumRel, NumRelRet, Utility
from rankbounds.measures.discounted_gain import nDCG
from rankbounds.measures.experimental_gain import IdealDCG
from rankbounds.measures.measure import Normalised
from rankbounds.measures.precision_and_recall import F, Recall, Success
from rankbounds.measures.q_measure import Q
from rankbounds.measures.reciprocal_rank import RR
from rankbounds.measures.relative_preference import Bpref_relative, Bpref_relative2
from rankbounds.measures.retrieved_set import RelP, RPrec, SetP
from rankbounds.measures.samples.inferred_average_precision import infAP
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.threads import in_threads, processors

AVERAGES = (AP, SP, Bpref_relative, Bpref_relative2, Q)
"""Averages of precisions."""
PAIRS_FOR_THREADS = 1000
"""From so many pairs on, topics are worked on in threads."""
ESTIMATES = (infAP,)
"""These guess what judgments would say; there is nothing that they could be bounded by."""


@dataclass(frozen=True, eq=False)
class DifferenceBounds:
    """The least and the greatest mean difference of each pair, A less B; NaN where nothing is known.

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
    plain = measure.measure if isinstance(measure, Condensed) else measure
    if isinstance(plain, NumRelRet):
        plain = RelevantRetrieved(plain.rel)
    if isinstance(plain, SetP):  # the share of the list that is relevant is what F becomes where recall counts nothing
        plain = F(beta=0.0, rel=plain.rel)
    covering = replace(
        assumptions,
        bounds="both" if assumptions.bounds == "both" else "unjudged",
        open="retrieved",
        most_relevant=None,
    )
    same = lists.same[first, second]
    answer = _argument(plain, lists, covering)
    if assumptions.open == "collection" and is_concerned(plain):
        answer = _argument_in_collection(plain, lists, covering, answer, assumptions.allowed_relevant)

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


def _argument(measure: Measure, lists: SharedLists, assumptions: Assumptions) -> Callable[[int, int], Greatest]:
    """For a topic and a number of documents elsewhere, the argument that says how large a difference can be."""
    if measure.as_retrieved or isinstance(measure, NumRel | IdealDCG):
        return lambda place, _: _settled(measure, lists.by_topic[place], assumptions)
    if isinstance(measure, ESTIMATES) or measure.reads_judgments:
        return lambda *_: _unknown

    def documents(choice: Choice = _all, key: object = "all") -> list[Documents]:
        return lists.documents(choice, key)

    if isinstance(measure, RankWeighted):
        held = documents(
            documents_of_weight(measure, assumptions), (measure, assumptions.ties, assumptions.bounds, "weight")
        )
        return lambda place, _: greatest_sum(measure, lists.by_topic[place], held[place], assumptions)
    if isinstance(measure, nDCG):
        held = documents(
            ideal_ratios.documents_that_matter(measure, assumptions), (measure, assumptions.ties, assumptions.bounds)
        )
        return lambda place, more: greatest_ratio(measure, lists.by_topic[place], held[place], assumptions, more)
    if isinstance(measure, Utility):
        counted = _argument(RelevantRetrieved(measure.rel), lists, assumptions)
        return lambda place, more: greatest_utility(measure, lists.by_topic[place], counted(place, more))
    if isinstance(measure, Recall | F | RelP):
        held = documents()
        return lambda place, more: greatest_share(measure, lists.by_topic[place], held[place], assumptions, more)
    if isinstance(measure, RR | Success) and _order_is_settled(lists, assumptions):
        held = documents(first_relevant.documents_that_matter(measure), measure)
        return lambda place, _: greatest_of_best(measure, lists.by_topic[place], held[place])
    held = documents()
    if isinstance(measure, RPrec) and _order_is_settled(lists, assumptions):
        return lambda place, more: greatest_at_r(measure, lists.by_topic[place], held[place], more)

    settled = _order_is_settled(lists, assumptions)
    averaged = settled and isinstance(measure, AVERAGES)

    def several(place: int, more: int) -> Greatest:
        """All judgments where these are few, else whatever arguments there are."""
        rankings, of_topic = lists.by_topic[place], held[place]
        if measure.monotone and measure.list_only and not averaged:
            return greatest_when_monotone(measure, rankings, of_topic, assumptions)
        arguments = [greatest_apart(measure, rankings, of_topic, assumptions, more)]
        if averaged and (average := greatest_average(measure, rankings, of_topic, more)) is not None:
            arguments.insert(0, average)
        if settled and isinstance(measure, LimitedPenalty):
            arguments.insert(0, greatest_preference(measure, rankings, of_topic, more))
        if not averaged or more or isinstance(measure, Q):
            arguments.insert(0, greatest_of_all(measure, rankings, of_topic, assumptions, more))
        return _least_of(*arguments)

    return several


def _argument_in_collection(
    measure: Measure,
    lists: SharedLists,
    assumptions: Assumptions,
    retrieved: Callable[[int, int], Greatest],
    most_relevant: float,
) -> Callable[[int, int], Greatest]:
    """The same where relevant documents may exist that neither list holds."""
    if isinstance(measure, ESTIMATES):
        return retrieved
    if isinstance(measure, RPrec) and _order_is_settled(lists, assumptions):
        held = lists.documents(_all, "all")
        return lambda place, _: greatest_at_r(measure, lists.by_topic[place].open_to(most_relevant), held[place])

    def opened(place: int) -> Rankings:
        return lists.by_topic[place].open_to(most_relevant)

    if isinstance(measure, Normalised):
        key = (measure, assumptions.ties, assumptions.bounds, "gain")
        gaining = lists.documents(documents_that_gain(measure, assumptions), key)
        return lambda place, more: (
            greatest_of_sums(measure, opened(place), gaining[place], assumptions, retrieved(place, more))
            or greatest_apart_in_collection(measure, opened(place), assumptions)
        )
    return lambda place, more: (
        (retrieved(place, more) if not has_room(measure, opened(place)) else None)
        or greatest_of_shrunk(measure, opened(place), retrieved(place, more))
        or greatest_apart_in_collection(measure, opened(place), assumptions)
    )


def _all(rankings: Rankings) -> Flags:
    return rankings.holes


def _order_is_settled(lists: SharedLists, assumptions: Assumptions) -> bool:
    """Do all lists stand in one order?"""
    fixed = assumptions.ties in ORDERS and assumptions.bounds != "both"
    return fixed or all(rankings.tied is None for rankings in lists.by_topic)


def _settled(measure: Measure, rankings: Rankings, assumptions: Assumptions) -> Greatest:
    """What no judgment changes."""
    ends = assumptions.low_high(measure, rankings) if measure.as_retrieved else None
    low, high = ends or (np.zeros(rankings.length.size),) * 2

    def greatest(a: Ints, b: Ints) -> Found:
        return high[a] - low[b], np.ones(a.size, dtype=bool)

    return greatest


def _unknown(a: Ints, b: Ints) -> Found:  # noqa: ARG001
    return np.full(a.size, np.nan), np.zeros(a.size, dtype=bool)


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
