"""Bounds of differences for every measure: topic by topic, and of the mean.

An argument computes, for one topic, how large the difference of two lists can be. A measure names its argument
(``difference_argument``), which is applied here to the lists of several runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import any_measure, averages, sums
from rankbounds.evaluation.differences.shared_lists import Choice, Found, Greatest, OpenTopic, SharedLists
from rankbounds.evaluation.score_differences import TOLERANCE, drop_rounding
from rankbounds.measures import Measure, RankWeighted
from rankbounds.measures.bpref import LimitedPenalty
from rankbounds.measures.counts import Hits, Utility
from rankbounds.measures.formulas import BestRelevant, IdealRatio, Normalised, ShareOfRelevant
from rankbounds.measures.precision.average_precision import AveragedPrecisions
from rankbounds.measures.precision.precision_and_recall import RPrec
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.threads import in_threads, processors

Answer: TypeAlias = Callable[[int], Greatest]
OfTopic: TypeAlias = Callable[[OpenTopic], Greatest | None]
PAIRS_FOR_THREADS = 1000


@dataclass(frozen=True, eq=False)
class DifferenceBounds:
    """The least and the greatest mean difference of pairs, A minus B; NaN where nothing is known."""

    low: Floats
    high: Floats
    exact: Flags

    @property
    def known(self) -> Flags:
        return ~(np.isnan(self.low) | np.isnan(self.high))

    @property
    def words(self) -> list[str | None]:
        of_pairs = zip(self.exact.tolist(), self.known.tolist(), strict=True)
        return [("exact" if exact else "outer") if known else None for exact, known in of_pairs]


def difference_bounds(
    lists: SharedLists, measure: Measure, assumptions: Assumptions, pairs: tuple[Ints, Ints] | None = None
) -> DifferenceBounds:
    """Bound mean differences, of all pairs or of those numbered, over all judgments of the documents of either list."""
    first, second = np.triu_indices(len(lists.runs), 1) if pairs is None else pairs
    settled = SettledLists.of(lists, measure, assumptions)
    low, high, scale = settled.sums(first, second)
    same, exact = lists.same[first, second], np.ones(first.size, dtype=bool)
    low[same], high[same] = 0.0, 0.0
    for of_topic in topic_bounds(lists, measure, assumptions, (first, second), settled):
        with np.errstate(invalid="ignore"):  # topics whose differences are infinite to either side have no mean
            low, high = low + of_topic.low, high + of_topic.high
        scale += np.where(np.isfinite(of_topic.size), of_topic.size, 0.0)
        exact &= of_topic.exact
    topics = max(len(lists.topics), 1)
    return DifferenceBounds(drop_rounding(low, scale) / topics, drop_rounding(high, scale) / topics, exact)


@dataclass(frozen=True, eq=False)
class SettledLists:
    """By run and topic: can neither judgments nor orders of ties change a list? Its value, and what lies beyond it."""

    settled: Flags
    value: Floats
    tail: Floats
    """The weights of what lies beyond the ends of lists."""

    @classmethod
    def of(cls, lists: SharedLists, measure: Measure, assumptions: Assumptions) -> SettledLists:
        value, tail = np.zeros((2, *lists.has_list.shape))
        settled = np.zeros(lists.has_list.shape, dtype=bool)
        is_sum = measure.difference_argument == "weighted_sum" and not getattr(measure, "by_topic", False)
        known = not (measure.reads_judgments or measure.estimates or (measure.has_residual and not is_sum))
        known |= lists.facts.complete and not (measure.reads_judgments or measure.estimates)
        known &= measure.list_only or assumptions.open != "collection"
        orders_are_open = assumptions.bounds == "both" or assumptions.ties not in ORDERS
        for number, batches in enumerate(lists.batches if known else ()):
            for rankings in batches:
                depth = measure.depth(rankings) if measure.list_only and not measure.judged_only else rankings.width
                is_open = rankings.holes[:, :depth].any(axis=-1)
                if rankings.tied is not None and orders_are_open:
                    is_open |= rankings.tied.any(axis=-1)
                values = assumptions.value(measure, rankings)
                settled[number, rankings.topic] = ~is_open & np.isfinite(values)
                value[number, rankings.topic] = values
                tail[number, rankings.topic] = measure.open_tail(rankings) if is_sum else 0.0
        return cls(settled[:, lists.topics], value[:, lists.topics], tail[:, lists.topics])

    @cached_property
    def topics(self) -> Flags:
        return np.asarray(self.settled.all(axis=0))

    def sums(self, first: Ints, second: Ints) -> tuple[Floats, Floats, Floats]:
        value, tail = self.value[:, self.topics], self.tail[:, self.topics].sum(axis=-1)
        total, size = value.sum(axis=-1), np.abs(value).sum(axis=-1)
        difference = total[first] - total[second]
        return difference - tail[second], difference + tail[first], size[first] + size[second]


@dataclass(frozen=True, eq=False)
class TopicBounds(DifferenceBounds):
    """The bounds on one topic; ``size`` is that of its scores."""

    size: Floats


def topic_bounds(
    lists: SharedLists,
    measure: Measure,
    assumptions: Assumptions,
    pairs: tuple[Ints, Ints],
    settled: SettledLists | None = None,
) -> Iterator[TopicBounds]:
    several = range(len(lists.topics)) if settled is None else np.flatnonzero(~settled.topics).tolist()
    if not several:
        return iter(())
    of_lists = settled or SettledLists.of(lists, measure, assumptions)
    (first, second), by_topic = pairs, lists.by_topic
    same = lists.same[first, second]
    covered = "both" if assumptions.bounds == "both" else "unjudged"
    covering = replace(assumptions, bounds=covered, open="retrieved", most_relevant=None)
    most_relevant = 0.0 if measure.list_only else assumptions.allowed_relevant
    basis = measure.difference_basis
    answer: Answer = getattr(Arguments(lists, covering, most_relevant), basis.difference_argument)(basis)
    unjudged = [] if assumptions.most_relevant is None else lists.documents(lambda rankings: rankings.holes, "all")

    def of_topic(place: int) -> TopicBounds:
        rankings = by_topic[place]
        # These lists lack what such measures read; nothing is known of how they differ.
        values = np.zeros(rankings.length.size) if measure.reads_judgments else assumptions.value(measure, rankings)
        observed = any_measure.subtracted(values[first], values[second])
        size = np.abs(values[first]) + np.abs(values[second])
        alone = of_lists.settled[first, place] & of_lists.settled[second, place]
        if alone.all():
            low, high = observed - of_lists.tail[second, place], observed + of_lists.tail[first, place]
            return TopicBounds(np.where(same, 0.0, low), np.where(same, 0.0, high), alone, size)
        greatest = answer(place)
        high, high_exact = greatest(first, second)
        turned, low_exact = greatest(second, first)
        low = 0.0 - turned
        slack = TOLERANCE * (1 + np.where(np.isfinite(size), size, 0.0))
        exact = high_exact & low_exact & (low - slack <= observed) & (observed <= high + slack)
        if unjudged:
            of_either = unjudged[place].held[first] + unjudged[place].held[second]
            of_either -= unjudged[place].overlap[first, second].astype(np.int64)
            exact &= ~assumptions.limit_binds(measure, rankings.facts, rankings.topic[first], of_either, lists=2)
        low = np.where(np.isnan(low), np.nan, np.fmin(low, observed))
        high = np.where(np.isnan(high), np.nan, np.fmax(high, observed))
        low = np.where(alone, observed - of_lists.tail[second, place], low)
        high = np.where(alone, observed + of_lists.tail[first, place], high)
        return TopicBounds(np.where(same, 0.0, low), np.where(same, 0.0, high), exact | same | alone, size)

    # Short array calls of a few pairs would only wait for each other in threads.
    threads = processors() if first.size >= PAIRS_FOR_THREADS else 1
    return in_threads(of_topic, several, threads)


class Arguments:
    """Compute how large differences can be where a topic has at most ``most_relevant`` relevant documents."""

    def __init__(self, lists: SharedLists, assumptions: Assumptions, most_relevant: float) -> None:
        self.lists, self.assumptions, self.most_relevant = lists, assumptions, most_relevant

    def _topics(self, choice: Choice | None = None, *key: object) -> Callable[[int], OpenTopic]:
        if choice is None:
            held = self.lists.documents(lambda rankings: rankings.holes, "all")
        else:
            held = self.lists.documents(choice, (*key, self.assumptions.ties, self.assumptions.bounds))
        # A copy of the documents: the tables made of them are large, and go with the topic.
        return lambda place: OpenTopic(self.lists.by_topic[place], replace(held[place]), self.assumptions)

    def _order_is_settled(self) -> bool:
        fixed = self.assumptions.ties in ORDERS and self.assumptions.bounds != "both"
        return fixed or all(rankings.tied is None for rankings in self.lists.by_topic)

    def _settled(self, measure: Measure) -> Answer:
        def answer(place: int) -> Greatest:
            rankings = self.lists.by_topic[place]
            ends = self.assumptions.low_high(measure, rankings) if measure.as_retrieved else None
            low, high = ends or (np.zeros(rankings.length.size),) * 2
            return lambda a, b: (high[a] - low[b], np.ones(a.size, dtype=bool))

        return answer

    def any_measure(self, measure: Measure) -> Answer:
        if measure.as_retrieved or measure.topic_only:
            return self._settled(measure)
        if measure.estimates or measure.reads_judgments:
            return lambda _: lambda a, _: (np.full(a.size, np.nan), np.zeros(a.size, dtype=bool))
        if not (measure.monotone and measure.list_only):
            return self._several(measure)
        topic = self._topics()
        return self._with_others(measure, lambda place: any_measure.greatest_when_monotone(measure, topic(place)))

    def _several(self, measure: Measure, special: OfTopic | None = None, *, enumerated: bool = True) -> Answer:
        of_place = self._topics()

        def answer(place: int) -> Greatest:
            topic = of_place(place)
            tried = any_measure.greatest_of_all(measure, topic) if enumerated else None
            found = special(topic) if special is not None else None
            return _least_of(*filter(None, (tried, found)), any_measure.greatest_of_ends(measure, topic))

        return self._with_others(measure, answer)

    def _open_tail(self, place: int) -> Rankings:
        rankings = self.lists.by_topic[place]
        return rankings.open_to(self.most_relevant) if self.most_relevant else rankings

    def _with_others(self, measure: Measure, retrieved: Answer) -> Answer:
        if not self.most_relevant:
            return retrieved

        def answer(place: int) -> Greatest:
            opened = self._open_tail(place)
            if not any_measure.has_room(measure, opened):
                return retrieved(place)
            shrunk = any_measure.greatest_of_shrunk(measure, opened, retrieved(place))
            return shrunk or any_measure.greatest_in_collection(measure, opened, self.assumptions)

        return answer

    def _with_others_of_sums(self, measure: Normalised, retrieved: Answer) -> Answer:
        if not self.most_relevant:
            return retrieved
        topic = self._topics(sums.documents_of_weight(measure, self.assumptions, 0.0), measure, "gain")

        def answer(place: int) -> Greatest:
            opened = replace(topic(place), rankings=self._open_tail(place))
            found = any_measure.greatest_of_sums(measure, opened, retrieved(place))
            return found or any_measure.greatest_in_collection(measure, opened.rankings, self.assumptions)

        return answer

    def weighted_sum(self, measure: RankWeighted) -> Answer:
        topic = self._topics(sums.documents_of_weight(measure, self.assumptions), measure, "weight")
        return lambda place: sums.greatest_sum(measure, topic(place))

    def linear_count(self, measure: Utility) -> Answer:
        count, (for_each, for_length) = self.weighted_sum(Hits(rel=measure.rel)), measure.worth_of_hit_and_length()
        return lambda place: sums.greatest_of_linear(count(place), self.lists.by_topic[place], for_each, for_length)

    def ideal_ratio(self, measure: IdealRatio) -> Answer:
        topic = self._topics(sums.documents_of_ratio(measure, self.assumptions), measure)
        return self._with_others_of_sums(measure, lambda place: sums.greatest_ratio(measure, topic(place)))

    def share(self, measure: ShareOfRelevant) -> Answer:
        topic = self._topics()
        return self._with_others_of_sums(measure, lambda place: sums.greatest_share(measure, topic(place)))

    def best_relevant(self, measure: BestRelevant) -> Answer:
        if not self._order_is_settled():
            return self.any_measure(measure)
        topic = self._topics(sums.documents_of_best(measure), measure, "best")
        return lambda place: sums.greatest_of_best(measure, topic(place))

    def precision_at_r(self, measure: RPrec) -> Answer:
        if not self._order_is_settled():
            return self.any_measure(measure)
        topic = self._topics()
        return lambda place: sums.greatest_at_r(measure, replace(topic(place), rankings=self._open_tail(place)))

    def averaged_precisions(self, measure: AveragedPrecisions) -> Answer:
        if not self._order_is_settled():
            return self.any_measure(measure)
        return self._several(
            measure, lambda topic: averages.greatest_average(measure, topic), enumerated=measure.graded
        )

    def limited_penalties(self, measure: LimitedPenalty) -> Answer:
        settled = self._order_is_settled()
        return self._several(measure, (lambda topic: averages.greatest_preference(measure, topic)) if settled else None)


def _least_of(*arguments: Greatest) -> Greatest:

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = arguments[0](a, b)
        for argument in arguments[1:]:
            if (left := np.flatnonzero(~exact)).size:
                found, attained = argument(a[left], b[left])
                result[left], exact[left] = np.fmin(result[left], found), attained
        return result, exact

    return greatest
