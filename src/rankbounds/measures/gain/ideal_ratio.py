"""A weighted sum over ranks as a share of what the ideal ranking has, and its exact bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.by_rank import Places, running_sums
from rankbounds.measures.facts import DifferenceArguments
from rankbounds.measures.formulas import Normalised, quotient, weighted_sum
from rankbounds.measures.measure import A, Bounds, Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import order_by_worth
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from typing_extensions import TypeIs

IDEAL_CELLS = 1 << 18
"""So many gains of ideal rankings are laid out at a time."""


class IdealRatio(Normalised):
    """A sum over ranks of a weight times the document's worth, over that of the ideal ranking of the topic's documents.

    A subclass has ``weights``, positive and never rising with rank; relevance counts, from grade ``rel`` on. Where
    gains count, it is ``graded`` and has ``worth`` too, and ``worth_of_gain`` unless a gain is worth itself. Bounds
    over judgments and ties, and of differences, follow.
    """

    value_range = (0.0, 1.0)
    collection_exactness = "exact"

    @property
    def vanishes(self) -> bool:  # type: ignore[override]
        """To a depth, no more than so many documents belong to the ideal ranking."""
        return self.cutoff is None

    def worth_of_gain(self, gain: Floats) -> Floats:
        """What documents of these gains are worth; it rises with gain."""
        return gain

    def levels(self, facts: TopicFacts) -> tuple[Floats, Ints]:
        """What a document may be worth above 0, rising; and by level and topic, how many documents reach it."""
        if self.graded:
            return self.worth_of_gain(facts.levels), facts.count_from_level
        return np.ones(1), facts.relevant(self.rel)[None]

    def every_document_counts(self, facts: TopicFacts) -> bool:
        """Is a document that is not relevant worth something too, and so reaches the first level?"""
        return self.graded and facts.nonrelevant_gain > 0

    def _reached(self, judged: Rankings) -> list[Flags]:
        """By level, the judged documents that reach it."""
        if not self.graded:
            return [judged.relevant(self.rel) > 0]
        return [judged.gain() >= level for level in judged.facts.levels]

    def difference_argument(self, arguments: DifferenceArguments[A]) -> A:
        return arguments.ideal_ratio(self)

    def divisor(self, rankings: Rankings) -> Floats:
        if not self.graded:
            return self._sum_of_first(rankings.num_relevant(self.rel))
        if rankings.judged_alone:  # then it is the same for all lists of a topic
            facts = rankings.facts
            of_topics: Floats = facts.remembered(("ideal", self), lambda: self._ideal_of(facts))
            return of_topics[rankings.topic]
        most = int((rankings.facts.count_from_level[0][rankings.topic] + rankings.num_holes).max(initial=1))
        width = most if self.cutoff is None else min(most, self.cutoff)
        return weighted_sum(self.weights(width), self.worth_of_gain(rankings.ideal(width)))

    def _ideal_of(self, facts: TopicFacts) -> Floats:
        """What the judged documents of each topic come to in their ideal order."""
        most = int(facts.positive.max(initial=1))
        width = most if self.cutoff is None else min(most, self.cutoff)
        topics = np.arange(len(facts.query_ids))
        ideal = np.zeros(topics.size)
        for some in np.array_split(topics, 1 + topics.size * width // IDEAL_CELLS):
            ideal[some] = weighted_sum(self.weights(width), self.worth_of_gain(facts.ideal(some, width)))
        return ideal

    def _sum_of_first(self, number: Floats) -> Floats:
        """The weights of the first ranks, so many of them; infinite where there is no end to them."""
        read = number if self.cutoff is None else np.minimum(number, self.cutoff)
        most = int(np.max(read, initial=0.0, where=np.isfinite(read)))
        sums = np.append(0.0, np.cumsum(self.weights(most)))
        return np.where(np.isfinite(read), np.interp(read, np.arange(most + 1), sums), np.inf)

    def shrinkage(self, rankings: Rankings) -> Floats:
        nothing_turned = np.zeros((rankings.length.size, 1), dtype=np.int64)
        return quotient(self.divisor(rankings.assume(0.0)), self._fullest_ideal(rankings, nothing_turned)[:, 0])

    def bounds(self, rankings: Rankings) -> Bounds:
        return self._extremes(rankings, over_ties=False)

    def joint_bounds(self, rankings: Rankings) -> Bounds:
        """Exact below; above exact for binary gains, and for graded ones an outer bound that may not be attained."""
        return self._extremes(rankings, over_ties=True)

    def joint_bounds_are_outer(self, facts: TopicFacts) -> bool:
        return self.graded and facts.levels.size > 1

    def _extremes(self, rankings: Rankings, *, over_ties: bool) -> Bounds:
        """Write gains as sums over levels: a document counts once for each level that its gain reaches.

        At one level all that counts is how many unjudged documents reach it, and that they are the highest (best) or
        the lowest (worst) ones. The least value has every unjudged document at 0 or at the top level, because a linear
        sum over a convex one has its minimum at a corner. The greatest value t is the one where the best sum minus t
        times the ideal sum is 0, and that difference splits into one small maximisation for each level.

        Relevant documents that nobody retrieved stand in the ideal ranking alone: there are none in the best case, and
        in the worst they are of the largest gain, as many as the unjudged documents turned relevant leave room for.
        """
        judged = rankings.assume(0.0)
        levels, known = self.levels(rankings.facts)
        step, known = np.diff(levels, prepend=0.0), known[:, rankings.topic]
        turned = np.minimum(np.arange(int(rankings.num_holes.max(initial=0)) + 1), rankings.num_holes[:, None])
        ideal_sums = np.append(0.0, np.cumsum(self._weights_to_depth(int(known.max(initial=0)) + turned.shape[1])))
        ideal = [ideal_sums[known[level][:, None] + turned] for level in range(levels.size)]

        reached = self._reached(judged)
        falling = [self._sums(rankings, flags, turned, best=False, over_ties=over_ties) for flags in reached]
        rising = [self._sums(rankings, flags, turned, best=True, over_ties=over_ties) for flags in reached]
        if self.every_document_counts(rankings.facts):  # and reaches the first level, whatever its judgment
            everything = ideal_sums[known[0] + rankings.num_holes]
            ideal[0] = np.broadcast_to(everything[:, None], turned.shape)
            all_present = rankings.present @ self._weights_to_depth(rankings.width)
            falling[0] = rising[0] = np.broadcast_to(all_present[:, None], turned.shape)
        least = self._fullest_ideal(rankings, turned) if rankings.most_relevant else _weighted(step, ideal)
        low = quotient(_weighted(step, falling), least).min(axis=-1)
        return low, _greatest_ratio(step, rising, ideal)

    def _fullest_ideal(self, rankings: Rankings, turned: Ints) -> Floats:
        """The ideal sums with 0, 1, 2, ... unjudged documents turned relevant, and the most that nobody retrieved."""
        levels, known = self.levels(rankings.facts)
        step, known = np.diff(levels, prepend=0.0), known[:, rankings.topic]
        all_gain = self.every_document_counts(rankings.facts)  # and there is no limit to those that are not relevant
        relevant = known[min(int(all_gain), levels.size - 1)]
        more = np.maximum(turned, rankings.room(relevant)[:, None])
        deepest = np.inf if self.cutoff is None else self.cutoff
        reaching = [np.minimum(count[:, None] + more, deepest) for count in known]
        if all_gain:
            reaching[0] = np.full(turned.shape, deepest)
        finite = [np.where(np.isfinite(count), count, 0).astype(np.int64) for count in reaching]
        sums = np.append(0.0, np.cumsum(self.weights(max(int(count.max(initial=0)) for count in finite))))
        ideal = [np.where(np.isinf(count), np.inf, sums[at]) for count, at in zip(reaching, finite, strict=True)]
        return _weighted(step, ideal)

    def _weights_to_depth(self, n: int) -> Floats:
        weights = self.weights(n)
        return weights if self.cutoff is None else np.where(np.arange(n) < self.cutoff, weights, 0.0)

    def _sums(self, rankings: Rankings, reached: Flags, turned: Ints, *, best: bool, over_ties: bool) -> Floats:
        """The weights of the documents that reach a level, when 0, 1, 2, ... of the unjudged ones do so too."""
        holes = rankings.holes
        if over_ties and (groups := rankings.groups) is not None:
            # Documents that reach the level stand at the good (or bad) end of their group, unjudged ones next to them.
            source = order_by_worth(rankings, reached + 0.5 * holes, best=best)
            holes, reached = (groups.filled_from(flags, source) for flags in (holes, reached))
            places = Places.of(holes)
        else:
            places = rankings.places_of_holes
        weights = self._weights_to_depth(rankings.width)
        at_holes = np.zeros(turned.shape)
        # Unjudged documents from the top, in each list one behind the other; from the bottom in the opposite order.
        number = places.number + 1 if best else rankings.num_holes[places.row] - places.number
        at_holes[places.row, number] = weights[places.rank]
        sums = running_sums(at_holes)
        sums += (reached @ weights)[:, None]
        return sums


def is_ideal_ratio(measure: Measure) -> TypeIs[IdealRatio]:
    """Is the value a weighted sum over that of the ideal ranking?"""
    return isinstance(measure, IdealRatio)


def _weighted(step: Floats, parts: list[Floats]) -> Floats:
    return sum((height * part for height, part in zip(step, parts, strict=True)), start=np.zeros(1))


def _greatest_ratio(step: Floats, sums: list[Floats], ideal: list[Floats]) -> Floats:
    """The greatest (sum of steps * sums) / (sum of steps * ideal), each level choosing its own column (Dinkelbach)."""
    base_sum, base_ideal = (_weighted(step, [part[:, 0] for part in parts]) for parts in (sums, ideal))
    ratio = quotient(base_sum, base_ideal)
    for _ in range(100):
        best = [
            np.argmax(part - ratio[:, None] * below, axis=-1)[:, None] for part, below in zip(sums, ideal, strict=True)
        ]
        top = _weighted(step, [np.take_along_axis(p, b, axis=-1)[:, 0] for p, b in zip(sums, best, strict=True)])
        bottom = _weighted(step, [np.take_along_axis(p, b, axis=-1)[:, 0] for p, b in zip(ideal, best, strict=True)])
        better = quotient(top, bottom)
        if not (better > ratio).any():
            break
        ratio = np.maximum(ratio, better)
    return ratio
