"""Formulas that measures share: weighted sums over ranks, where a user stops, shares of what a topic has to offer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.columns.by_rank import Places, running_sums, weighted_sums
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import (
    chance_of_number,
    expected_count,
    expected_products,
    group_means,
    groups_at_cut,
    order_by_worth,
    reorder_worth,
)
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from typing_extensions import TypeIs

IDEAL_CELLS = 1 << 18
"""So many gains of ideal rankings are laid out at a time."""


class RankWeighted(Measure):
    """A sum over ranks of a fixed weight times the document's worth, whatever the other documents are.

    A subclass has ``weights``, and ``tail`` if what lies beyond the end of the list is unknown. Code for weighted sums
    alone (exact distributions, the effect of a judgment) checks ``is_weighted_sum``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.RBP(p=0.5).weights(3).tolist()
    [0.5, 0.25, 0.125]
    >>> [isinstance(measure, rb.measures.RankWeighted) for measure in (rb.P @ 10, rb.DCG(), rb.nDCG(), rb.AP())]
    [True, True, False, False]
    """

    monotone = True
    multilinear = True
    list_only = True
    difference_argument = "weighted_sum"

    def weights(self, n: int) -> Floats:
        raise NotImplementedError

    def tail(self, depth: Ints) -> Floats:
        """Return the weight of everything below this depth, if unknown; else 0."""
        return np.zeros(depth.shape)

    def value(self, rankings: Rankings) -> Floats:
        return weighted_sum(self.weights(self.depth(rankings)), self.worth(rankings))

    def bounds(self, rankings: Rankings) -> Bounds | None:
        within_list = super().bounds(rankings)
        if within_list is None:
            return None
        low, high = within_list
        return low, high + self.open_tail(rankings)

    def tie_bounds(self, rankings: Rankings) -> Bounds | None:
        if type(self).value is not RankWeighted.value:
            return super().tie_bounds(rankings)
        worth, weights = self.worth(rankings), self.weights(self.depth(rankings))
        worst, best = (weighted_sum(weights, reorder_worth(rankings, worth, best=best)) for best in (False, True))
        return self._least_first(worst, best)

    def open_tail(self, rankings: Rankings) -> Floats:
        if rankings.facts.complete:
            return np.zeros(rankings.length.shape)
        return self.tail(rankings.length if self.cutoff is None else np.minimum(rankings.length, self.cutoff))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        return weighted_sum(self.weights(self.depth(rankings)), group_means(rankings, self.worth(rankings)))


def is_weighted_sum(measure: Measure) -> TypeIs[RankWeighted]:
    return isinstance(measure, RankWeighted)


class Stopping(Measure):
    """The weight of the rank where a user stops, who stops at each document with a probability equal to its worth.

    0 if nobody stops to the depth. A subclass has ``weights``, which do not rise with rank.
    """

    monotone = True
    multilinear = True
    list_only = True

    def weights(self, n: int) -> Floats:
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        stops = self.worth(rankings)[..., : self.depth(rankings)]
        went_on = np.ones(stops.shape)
        np.cumprod(1 - stops[..., :-1], axis=-1, out=went_on[..., 1:])
        return weighted_sum(self.weights(stops.shape[-1]), stops * went_on)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """Who stops at a rank got past the one before, not past it."""
        got_past = expected_products(rankings, 1 - self.worth(rankings))[..., : self.depth(rankings)]
        return weighted_sum(self.weights(got_past.shape[-1]), -np.diff(got_past, prepend=1.0, axis=-1))


class Counted(RankWeighted):
    """A count of documents to a depth, divided by a number once, so that equal counts give exactly equal values."""

    @property
    def over(self) -> int:
        raise NotImplementedError

    def weights(self, n: int) -> Floats:
        return np.full(n, 1 / self.over)

    def value(self, rankings: Rankings) -> Floats:
        return count_to_depth(self, rankings) / self.over

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return expected_count(rankings, self.worth(rankings), self.depth(rankings)) / self.over


class BestRelevant(Stopping):
    """The largest weight of any relevant document down to the depth, 0 where there is none."""

    difference_argument = "best_relevant"

    def value(self, rankings: Rankings) -> Floats:
        if not rankings.certain:
            return super().value(rankings)
        relevant = rankings.possibly_relevant(self.rel)[..., : self.depth(rankings)]
        first = relevant.argmax(axis=-1)
        return relevant[np.arange(first.size), first] * self.weights(relevant.shape[-1])[first]


class Normalised(Measure):
    """A weighted sum over ranks divided by a number of the topic, such as the sum of an ideal ranking.

    A subclass has ``weights`` and ``divisor``. Unlike a ``RankWeighted`` it may fall when a document turns relevant,
    because that document belongs to the topic too; so it declares only facts that hold for every measure.

    Examples
    --------
    >>> import rankbounds as rb
    >>> [isinstance(measure, rb.measures.Normalised) for measure in (rb.nDCG(), rb.DCG())]
    [True, False]
    """

    def weights(self, n: int) -> Floats:
        raise NotImplementedError

    def divisor(self, rankings: Rankings) -> Floats:
        """Return what each list's sum is divided by; where it is 0, the value is 0."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        total = weighted_sum(self.weights(self.depth(rankings)), self.worth(rankings))
        return quotient(total, self.divisor(rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        total = weighted_sum(self.weights(self.depth(rankings)), group_means(rankings, self.worth(rankings)))
        return quotient(total, self.divisor(rankings))


class Share(Normalised):
    """A count of documents to a depth, divided once by a number of the topic, so equal counts give equal values."""

    def weights(self, n: int) -> Floats:
        return np.ones(n)

    def value(self, rankings: Rankings) -> Floats:
        return quotient(count_to_depth(self, rankings), self.divisor(rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        count = expected_count(rankings, self.worth(rankings), self.depth(rankings))
        return quotient(count, self.divisor(rankings))


class ShareOfRelevant(Share):
    """Relevant documents to a depth, over something that grows with the topic's number R of relevant ones."""

    collection_exactness = "exact"
    difference_argument = "share"

    def growth(self, rankings: Rankings) -> tuple[float, Floats, Floats]:
        """Return the divisor's growth per relevant document; and by list its least and greatest value."""
        raise NotImplementedError

    def divisor_for(self, relevant: Floats, rankings: Rankings) -> Floats:
        slope, offset, most = self.growth(rankings)
        return np.minimum(slope * relevant + offset, most)

    def divisor(self, rankings: Rankings) -> Floats:
        return self.divisor_for(rankings.num_relevant(self.rel), rankings)

    def bounds(self, rankings: Rankings) -> Bounds:
        """Relevant unjudged documents above the depth raise it, those below and elsewhere lower it."""
        found, known, within, below = found_and_open(self, rankings)
        most = self.divisor_for(known + np.maximum(below, rankings.room(known)), rankings)
        return quotient(found, most), quotient(found + within, self.divisor_for(known + within, rankings))


class IdealRatio(Normalised):
    """A sum over ranks of a weight times the document's worth, over that of the ideal ranking of the topic's documents.

    A subclass has ``weights``, positive and never rising with rank; grades from ``rel`` on are relevant. If gains
    count, it is ``graded`` and has ``worth``, and ``worth_of_gain`` unless a gain is its own worth. Bounds over
    judgments and ties, and of differences, follow.
    """

    value_range = (0.0, 1.0)
    collection_exactness = "exact"
    difference_argument = "ideal_ratio"

    @property
    def vanishes(self) -> bool:  # type: ignore[override]
        """To a depth, the ideal ranking holds a limited number of documents."""
        return self.cutoff is None

    def worth_of_gain(self, gain: Floats) -> Floats:
        return gain

    def levels(self, facts: TopicFacts) -> tuple[Floats, Ints]:
        """Return the positive values of a document, rising; and by level and topic, how many documents reach it."""
        if self.graded:
            return self.worth_of_gain(facts.levels), facts.count_from_level
        return np.ones(1), facts.relevant(self.rel)[None]

    def every_document_counts(self, facts: TopicFacts) -> bool:
        return self.graded and facts.nonrelevant_gain > 0

    def _reached(self, judged: Rankings) -> list[Flags]:
        if not self.graded:
            return [judged.relevant(self.rel) > 0]
        return [judged.gain() >= level for level in judged.facts.levels]

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
        most = int(facts.positive.max(initial=1))
        width = most if self.cutoff is None else min(most, self.cutoff)
        topics = np.arange(len(facts.query_ids))
        ideal = np.zeros(topics.size)
        for some in np.array_split(topics, 1 + topics.size * width // IDEAL_CELLS):
            ideal[some] = weighted_sum(self.weights(width), self.worth_of_gain(facts.ideal(some, width)))
        return ideal

    def _sum_of_first(self, number: Floats) -> Floats:
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
        """``low`` is exact; ``high`` is exact for binary gains, for graded ones an outer bound."""
        return self._extremes(rankings, over_ties=True)

    def joint_bounds_are_outer(self, facts: TopicFacts) -> bool:
        return self.graded and facts.levels.size > 1

    def _extremes(self, rankings: Rankings, *, over_ties: bool) -> Bounds:
        """Write gains as sums over levels: a document counts once for each level that its gain reaches.

        At one level, only how many unjudged documents reach it matters, the highest (best) or lowest (worst). The least
        value has all of them at 0 or the top level, as a linear sum over a convex one has its minimum at a corner. The
        greatest value t makes the best sum minus t times the ideal sum 0, which splits into a maximisation per level.
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
        least = self._fullest_ideal(rankings, turned) if rankings.most_relevant else sum_over_levels(step, ideal)
        low = quotient(sum_over_levels(step, falling), least).min(axis=-1)
        return low, greatest_ratio(step, rising, ideal)

    def _fullest_ideal(self, rankings: Rankings, turned: Ints) -> Floats:
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
        return sum_over_levels(step, ideal)

    def _weights_to_depth(self, n: int) -> Floats:
        weights = self.weights(n)
        return weights if self.cutoff is None else np.where(np.arange(n) < self.cutoff, weights, 0.0)

    def _sums(self, rankings: Rankings, reached: Flags, turned: Ints, *, best: bool, over_ties: bool) -> Floats:
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


def sum_over_levels(step: Floats, parts: list[Floats]) -> Floats:
    return sum((height * part for height, part in zip(step, parts, strict=True)), start=np.zeros(1))


def greatest_ratio(step: Floats, sums: list[Floats], ideal: list[Floats]) -> Floats:
    """Maximise (sum of steps * sums) / (sum of steps * ideal), with a column per level (Dinkelbach)."""
    base_sum, base_ideal = (sum_over_levels(step, [part[:, 0] for part in parts]) for parts in (sums, ideal))
    ratio = quotient(base_sum, base_ideal)
    for _ in range(100):
        best = [
            np.argmax(part - ratio[:, None] * below, axis=-1)[:, None] for part, below in zip(sums, ideal, strict=True)
        ]
        top = sum_over_levels(step, [np.take_along_axis(p, b, axis=-1)[:, 0] for p, b in zip(sums, best, strict=True)])
        bottom = sum_over_levels(
            step, [np.take_along_axis(p, b, axis=-1)[:, 0] for p, b in zip(ideal, best, strict=True)]
        )
        better = quotient(top, bottom)
        if not (better > ratio).any():
            break
        ratio = np.maximum(ratio, better)
    return ratio


class OfFound(Measure):
    """A number about the relevant documents found to a depth.

    A relevant document that moves up across the depth joins the average and may make it worse: in a tied group that the
    depth cuts through, the number of relevant documents above it is open.
    """

    list_only = True

    @property
    def promotable(self) -> bool:  # type: ignore[override]
        """Without a depth, a relevant document that moves up never makes it worse."""
        return self.cutoff is None

    def tie_bounds(self, rankings: Rankings) -> Bounds | None:
        relevant = rankings.relevant(self.rel) > 0
        return self._over_orders(rankings, relevant, np.zeros(relevant.shape, dtype=bool))

    def joint_bounds(self, rankings: Rankings) -> Bounds | None:
        return self._over_orders(rankings, rankings.assume(0.0).relevant(self.rel) > 0, rankings.holes)

    def _over_orders(self, rankings: Rankings, relevant: Flags, unjudged: Flags) -> Bounds | None:
        worst, best = (self.bounds(self._reorder(rankings, relevant, unjudged, best=best)) for best in (False, True))
        if worst is None or best is None:
            return None
        low, high = self._least_first(worst, best)
        return low[0], high[1]

    def _reorder(self, rankings: Rankings, relevant: Flags, unjudged: Flags, *, best: bool) -> Rankings:
        """Return the lists to the depth in the best (or worst) order, unjudged where a document may be relevant or not.

        Unjudged documents of a group come between the others. In a group that the depth cuts through, the fewest
        relevant documents that leave no room for others are certainly above it, and more may be.
        """
        depth, groups = self.depth(rankings), rankings.groups
        surely, perhaps = relevant[..., :depth], unjudged[..., :depth]
        if groups is not None:
            source = order_by_worth(rankings, relevant + 0.5 * unjudged, best=best)
            surely, perhaps = (groups.filled_from(flags, source)[..., :depth] for flags in (relevant, unjudged))
            cut = groups.cut_by(depth)
            row, above = groups.row[cut], (depth - groups.offset[cut])[:, None]
            known, open_ = (groups.sums(flags)[cut].astype(np.int64)[:, None] for flags in (relevant, unjudged))
            fewest = np.maximum(0, above - (groups.size[cut][:, None] - known))
            most = np.minimum(above, known + open_)
            place = np.arange(depth) - groups.offset[cut][:, None]  # counted from the group's good (or bad) end
            inside, place = place >= 0, place if best else above - 1 - place
            surely[row] = np.where(inside, place < fewest, surely[row])
            perhaps[row] = np.where(inside, (place >= fewest) & (place < most), perhaps[row])
        grade = np.where(perhaps, np.nan, np.where(surely, self.rel, 0.0))
        return Rankings(grade, np.minimum(rankings.length, depth), rankings.topic, rankings.facts)


def weights_by_rank(measure: RankWeighted, rank: Ints) -> Floats:
    """Return the weights of these ranks; 0 beyond the measure's depth, and at rank 0."""
    deepest = int(rank.max(initial=1))
    weights = np.zeros(deepest + 1)
    depth = min(deepest, measure.cutoff or deepest)
    weights[1 : depth + 1] = measure.weights(depth)
    return weights[rank]


def worth_of_one(measure: Measure, facts: TopicFacts) -> float:
    """Return the worth of a document of the largest gain minus that of grade 0, at weight 1."""
    unjudged = Rankings(np.full((1, 1), np.nan), np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64), facts)
    return float(measure.worth(unjudged.assume(1.0))[0, 0] - measure.worth(unjudged.assume(0.0))[0, 0])


def weighted_sum(weights: Floats, worth: Floats) -> Floats:
    return weighted_sums(worth, weights)


def count_to_depth(measure: Measure, rankings: Rankings) -> Floats:
    return measure.worth(rankings)[..., : measure.depth(rankings)].sum(axis=-1)


def found_and_open(measure: Measure, rankings: Rankings) -> tuple[Floats, Floats, Ints, Ints]:
    judged, depth = rankings.assume(0.0), measure.depth(rankings)
    found = judged.relevant(measure.rel)[..., :depth].sum(axis=-1)
    within = np.count_nonzero(rankings.holes[..., :depth], axis=-1)
    return found, judged.num_relevant(measure.rel), within, rankings.num_holes - within


def mean_over_found(measure: Measure, rankings: Rankings, value: Callable[[Floats], Floats]) -> Floats | None:
    """Return the mean over orders of ties of a ``value`` of the number of relevant documents found to the depth."""
    if not rankings.certain:
        return None
    at_cut = groups_at_cut(rankings, rankings.relevant(measure.rel), measure.depth(rankings))
    number = np.arange(int(at_cut.relevant.max(initial=0)) + 1.0)
    chances = chance_of_number(at_cut, number.size - 1)
    return np.einsum("ln,ln->l", chances, value(at_cut.above[:, None] + number))


def quotient(numerator: Floats | Ints, denominator: Floats | Ints) -> Floats:
    """Divide, with 0 where the denominator is 0: trec_eval's rule for topics without relevant documents."""
    defined = denominator != 0
    if defined.all():
        return np.divide(numerator, denominator)
    result = np.zeros(np.broadcast(numerator, denominator).shape)
    return np.divide(numerator, denominator, out=result, where=defined)


def share_of_known(rankings: Rankings, rel: float) -> Floats:
    """Divide the known relevant documents by their greatest number: the factor by which a divisor R shrinks a value."""
    known = rankings.facts.relevant(rel)[rankings.topic].astype(np.float64)
    return quotient(known, known + rankings.room(known))
