"""Q-measure."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.columns.by_rank import running_sums
from rankbounds.measures.formulas import quotient
from rankbounds.measures.measure import Bounds
from rankbounds.measures.parameters import NOT_NEGATIVE, parameter
from rankbounds.measures.precision.average_precision import AveragedPrecisions, PrecisionTerms, Turns
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import before_and_within, group_means, reorder, share_above
from rankbounds.rankings.topic_facts import TopicFacts


class Q(AveragedPrecisions):
    """Average precision for grades: at each relevant document, the gain so far relative to an ideal ranking.

    Documents with a positive gain are relevant. ``beta`` is the weight of gains relative to ranks: 0 gives AP; with
    large values a document that comes late costs less.

    Q = (1/R) * sum over relevant ranks r of (beta * cg(r) + count(r)) / (beta * ideal cg(r) + r).

    ``low`` and ``high`` are safe for the retrieved unjudged documents, but may be wider than necessary; bounds over
    ties too are known for binary gains only. With ``open="collection"``, ``low`` also covers relevant documents that
    nobody retrieved, up to R = ``most_relevant``; without that limit it is 0.

    Source: Sakai, Alternatives to Bpref, SIGIR 2007, equation 21.
    """

    beta: float = parameter("The weight of gains relative to ranks.", NOT_NEGATIVE, default=1.0)

    value_range = (0.0, 1.0)
    aliases = ("QMeasure",)
    example = ("Q(beta=1)", 0.75)
    examples = ("Q", "Q(beta=10)", "Q(beta=0)")
    sources = ("sakai2007alternatives",)
    graded = True
    exactness = "outer"
    collection_exactness = "outer"
    outside = "lowers"
    vanishes = True

    def worth(self, rankings: Rankings) -> Floats:
        return rankings.gain()

    def value(self, rankings: Rankings) -> Floats:
        credit = self._credit(rankings)
        terms = np.cumsum(credit, axis=-1) * self._inverse(rankings)
        return quotient(np.where(credit > 0, terms, 0.0).sum(axis=-1), self._num_relevant(rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """A tied document is equally likely in every place; in each, all others of the group are above it alike."""
        credit = self._credit(rankings)
        before, within = before_and_within(rankings, credit)
        inverse = self._inverse(rankings)
        of_surely = group_means(rankings, inverse)
        of_tied = group_means(rankings, inverse * share_above(rankings))
        terms = (before + credit) * of_surely + (within - credit) * of_tied
        return quotient(np.where(credit > 0, terms, 0.0).sum(axis=-1), self._num_relevant(rankings))

    def precision_terms(self, rankings: Rankings, unjudged: int) -> PrecisionTerms | None:
        """Terms of one list take the ideal ranking of judged documents, those of the other all unjudged on top."""
        facts, topic = rankings.facts, rankings.topic[:1]
        if facts.nonrelevant_gain > 0:
            return None
        ideal = facts.ideal(topic, rankings.width)[0]
        ahead = np.full(min(unjudged, rankings.width), facts.max_gain)
        fullest = np.concatenate((ahead, ideal))[: rankings.width]
        rank = np.arange(1, rankings.width + 1)
        most, least = (1 / (self.beta * np.cumsum(gains) + rank) for gains in (ideal, fullest))
        low, high = (self.beta * gain + 1 for gain in (float(facts.levels[0]), facts.max_gain))
        credit, known = self._credit(rankings.assume(0.0)), int(facts.positive[topic[0]])
        return PrecisionTerms(most, least if self.beta else most, credit, low, high, known)

    def bounds(self, rankings: Rankings) -> Bounds:
        """Return outer bounds, for every number k of unjudged documents that may turn out relevant.

        Above, the k highest have the largest gain, but the ideal ranking has only the judged documents. Below, the k
        lowest have no gain, but the ideal ranking has all unjudged ones at the largest gain, and as many that nobody
        retrieved as there is room for.
        """
        judged = rankings.assume(0.0)
        if rankings.facts.nonrelevant_gain > 0:
            return self._bounds_where_all_gain(judged, rankings.assume(1.0))
        credit, known, holes = self._credit(judged), self._num_relevant(judged), rankings.holes
        so_far, room, largest = running_sums(credit), rankings.room(known), self.beta * rankings.facts.max_gain + 1

        def turns(inverse: Floats, above: Floats, room: Floats, turned: float) -> Turns:
            at_known = np.where(credit > 0, inverse, 0.0)
            below = (at_known.sum(axis=-1, keepdims=True) - running_sums(at_known)) * turned
            return Turns(inverse, holes, above, below, (at_known * so_far).sum(axis=-1), known, room, turned)

        ideal = rankings.assume(1.0)
        if rankings.most_relevant:
            ideal = ideal.with_elsewhere(np.maximum(room - rankings.num_holes, 0.0))
        # Below, an unjudged document counts the relevant ones above it and not their gains: then the lowest are worst.
        low = turns(self._inverse(ideal), running_sums((credit > 0).astype(np.float64)), room, 1.0).least()
        high = turns(self._inverse(judged), so_far, np.zeros(known.shape), largest).greatest()
        return low, np.minimum(high, 1.0)

    def _bounds_where_all_gain(self, least: Rankings, most: Rankings) -> Bounds:
        number = self._num_relevant(least)
        low, high = (
            quotient(
                (lists.present * np.cumsum(self._credit(lists), axis=-1) * self._inverse(ideal)).sum(axis=-1), number
            )
            for lists, ideal in ((least, most), (most, least))
        )
        return np.zeros(low.shape) if least.most_relevant else low, np.minimum(high, 1.0)

    def joint_bounds_are_outer(self, facts: TopicFacts) -> bool:  # noqa: ARG002
        return True

    def joint_bounds(self, rankings: Rankings) -> Bounds:
        if rankings.tied is not None and rankings.facts.levels.size > 1:
            unknown = rankings.tied.any(axis=-1)
            low, high = (np.where(unknown, np.nan, bound) for bound in self.bounds(rankings))
            return low, high
        # Unjudged documents stand between the others: those that turn out relevant can join the ones that are.
        between = rankings.assume(0.5).gain()
        worst, best = (self.bounds(reorder(rankings, between, best=best)) for best in (False, True))
        return worst[0], best[1]

    def _credit(self, rankings: Rankings) -> Floats:
        gain = rankings.gain()
        return np.where(gain > 0, self.beta * gain + 1, 0.0)

    def _inverse(self, rankings: Rankings) -> Floats:
        ideal = np.cumsum(rankings.ideal(rankings.width), axis=-1)
        return 1 / (self.beta * ideal + np.arange(1, rankings.width + 1))

    def _num_relevant(self, rankings: Rankings) -> Floats:
        turned = np.where(rankings.holes, rankings.gain() > 0, 0).sum(axis=-1)
        return rankings.facts.positive[rankings.topic] + turned
