"""Formulas that measures share: weighted sums over ranks, the best relevant document, shares of what a topic has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns.by_rank import weighted_sums
from rankbounds.measures.facts import DifferenceArguments
from rankbounds.measures.measure import A, Bounds, Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count, expected_products, group_means, reordered_worth
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from typing_extensions import TypeIs


class RankWeighted(Measure):
    """A sum over ranks of a fixed weight times the document's worth, whatever the other documents are.

    A subclass has ``weights``, and ``tail`` if it leaves open what lies beyond the end of the list. Whatever holds for
    weighted sums alone (exact distributions, what a judgment settles) asks ``is_weighted_sum``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.RBP(p=0.5).weights(3).tolist()
    [0.5, 0.25, 0.125]
    >>> [isinstance(measure, rb.RankWeighted) for measure in (rb.P @ 10, rb.DCG(), rb.nDCG(), rb.AP())]
    [True, True, False, False]
    """

    monotone = True
    multilinear = True
    list_only = True

    def weights(self, n: int) -> Floats:
        """The weights of ranks 1 to n."""
        raise NotImplementedError

    def tail(self, depth: Ints) -> Floats:
        """The weight of everything below this depth, where the list's end leaves it open; else 0."""
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
        worst, best = (weighted_sum(weights, reordered_worth(rankings, worth, best=best)) for best in (False, True))
        return self._least_first(worst, best)

    def open_tail(self, rankings: Rankings) -> Floats:
        return self.tail(rankings.length if self.cutoff is None else np.minimum(rankings.length, self.cutoff))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        return weighted_sum(self.weights(self.depth(rankings)), group_means(rankings, self.worth(rankings)))

    def difference_argument(self, arguments: DifferenceArguments[A]) -> A:
        return arguments.weighted_sum(self)


def is_weighted_sum(measure: Measure) -> TypeIs[RankWeighted]:
    """Is the value a sum over ranks of fixed weights times worth?"""
    return isinstance(measure, RankWeighted)


class BestRelevant(Measure):
    """The largest weight of any relevant document down to the depth, 0 where there is none.

    A subclass has ``weights``, which do not rise with rank.
    """

    monotone = True
    multilinear = True
    list_only = True

    def weights(self, n: int) -> Floats:
        """What the best relevant document counts at ranks 1 to n."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)[..., : self.depth(rankings)]
        found = 1 - np.cumprod(1 - relevant, axis=-1)
        return weighted_sum(self.weights(relevant.shape[-1]), np.diff(found, prepend=0.0, axis=-1))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        found = 1 - expected_products(rankings, 1 - rankings.relevant(self.rel))[..., : self.depth(rankings)]
        return weighted_sum(self.weights(found.shape[-1]), np.diff(found, prepend=0.0, axis=-1))

    def difference_argument(self, arguments: DifferenceArguments[A]) -> A:
        return arguments.best_relevant(self)


class Normalised(Measure):
    """A weighted sum over ranks divided by something of the topic, such as the sum that an ideal ranking has.

    A subclass has ``weights`` and ``divisor``. Unlike a ``RankWeighted`` it may fall when a document turns relevant,
    because that document belongs to the topic too; no facts are stated here but those that hold for every measure.
    """

    def weights(self, n: int) -> Floats:
        """The weights of ranks 1 to n."""
        raise NotImplementedError

    def divisor(self, rankings: Rankings) -> Floats:
        """What each list's sum is divided by; where it is 0, the value is 0."""
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        total = weighted_sum(self.weights(self.depth(rankings)), self.worth(rankings))
        return quotient(total, self.divisor(rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        total = weighted_sum(self.weights(self.depth(rankings)), group_means(rankings, self.worth(rankings)))
        return quotient(total, self.divisor(rankings))


class Share(Normalised):
    """Documents counted down to a depth, over something of the topic.

    They are counted first and divided once: lists with equally many have the same value to the last bit, wherever
    the documents stand and whatever lists share the batch.
    """

    def weights(self, n: int) -> Floats:
        return np.ones(n)

    def value(self, rankings: Rankings) -> Floats:
        return quotient(count_to_depth(self, rankings), self.divisor(rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        count = expected_count(rankings, self.worth(rankings), self.depth(rankings))
        return quotient(count, self.divisor(rankings))


class ShareOfRelevant(Share):
    """Relevant documents down to a depth, over something that grows with the number R of the topic's relevant ones."""

    collection_exactness = "exact"

    def growth(self, rankings: Rankings) -> tuple[float, Floats, Floats]:
        """What the divisor grows by for each relevant document; by list, what it is without any, and at most."""
        raise NotImplementedError

    def divisor_for(self, relevant: Floats, rankings: Rankings) -> Floats:
        """What each list's count is divided by, if so many documents of its topic are relevant."""
        slope, offset, most = self.growth(rankings)
        return np.minimum(slope * relevant + offset, most)

    def divisor(self, rankings: Rankings) -> Floats:
        return self.divisor_for(rankings.num_relevant(self.rel), rankings)

    def bounds(self, rankings: Rankings) -> Bounds:
        """Unjudged documents above the depth raise it when they are relevant, those below and elsewhere lower it."""
        found, known, within, below = found_and_open(self, rankings)
        most = self.divisor_for(known + np.maximum(below, rankings.room(known)), rankings)
        return quotient(found, most), quotient(found + within, self.divisor_for(known + within, rankings))

    def difference_argument(self, arguments: DifferenceArguments[A]) -> A:
        return arguments.share(self)


def weights_by_rank(measure: RankWeighted, rank: Ints) -> Floats:
    """The weight of each of these ranks; 0 beyond the measure's depth, and at rank 0."""
    deepest = int(rank.max(initial=1))
    weights = np.zeros(deepest + 1)
    depth = min(deepest, measure.cutoff or deepest)
    weights[1 : depth + 1] = measure.weights(depth)
    return weights[rank]


def worth_of_one(measure: Measure, facts: TopicFacts) -> float:
    """What a document of the largest gain is worth more than one of grade 0, at weight 1."""
    unjudged = Rankings(np.full((1, 1), np.nan), np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64), facts)
    return float(measure.worth(unjudged.assume(1.0))[0, 0] - measure.worth(unjudged.assume(0.0))[0, 0])


def weighted_sum(weights: Floats, worth: Floats) -> Floats:
    """The worth of the first ranks, as many as there are weights, each times its weight."""
    return weighted_sums(worth, weights)


def count_to_depth(measure: Measure, rankings: Rankings) -> Floats:
    """How many documents down to the measure's depth are worth something, or their worth together."""
    return measure.worth(rankings)[..., : measure.depth(rankings)].sum(axis=-1)


def found_and_open(measure: Measure, rankings: Rankings) -> tuple[Floats, Floats, Ints, Ints]:
    """Relevant documents found, relevant ones known, and unjudged ones above and below the depth."""
    judged, depth = rankings.assume(0.0), measure.depth(rankings)
    found = judged.relevant(measure.rel)[..., :depth].sum(axis=-1)
    within = np.count_nonzero(rankings.holes[..., :depth], axis=-1)
    return found, judged.num_relevant(measure.rel), within, rankings.num_holes - within


def quotient(numerator: Floats | Ints, denominator: Floats | Ints) -> Floats:
    """Division that gives 0 where the denominator is 0, trec_eval's rule for topics without relevant documents."""
    defined = denominator != 0
    if defined.all():
        return np.divide(numerator, denominator)
    result = np.zeros(np.broadcast(numerator, denominator).shape)
    return np.divide(numerator, denominator, out=result, where=defined)


def share_of_known(rankings: Rankings, rel: float) -> Floats:
    """The known relevant documents over as many as there may be: how far a divisor R shrinks a value."""
    known = rankings.facts.relevant(rel)[rankings.topic].astype(np.float64)
    return quotient(known, known + rankings.room(known))
