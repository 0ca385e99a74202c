"""rpref, which is bpref for grades, and the bprefs that divide the penalty by the rank.

As sums over levels, a document counts once for each level that its gain reaches, and the sums of a level are those of a
binary measure: sum over pairs of (g - g_i) = sum over levels of step * (pairs of which one reaches the level). Bounds
over judgments follow from how many unjudged documents reach each level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.columns.by_rank import Places, running_sums
from rankbounds.measures.facts import Exactness
from rankbounds.measures.formulas import greatest_ratio, quotient, share_of_known, sum_over_levels
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.precision.average_precision import AveragedPrecisions, PrecisionTerms
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import before_and_within, group_means, order_by_worth, share_above
from rankbounds.rankings.topic_facts import TopicFacts

PIECES = 8
"""Into how many pieces the way from one document to the next is cut."""


@dataclass(frozen=True)
class Levels:
    """The sums of lists at each level of gain, by how many of their unjudged documents reach it.

    For 0, 1, 2, ... of them, ``highest`` has the sums if they are the highest of the list and ``lowest`` if the lowest;
    ``reaching`` counts the topic's documents at the level. A document that reaches it adds ``alone`` at its rank, and
    ``pair`` for each one above it that does. ``step`` is the height of the levels.
    """

    step: Floats
    highest: list[Floats]
    lowest: list[Floats]
    reaching: list[Floats]
    turned: Floats
    room: Floats

    @classmethod
    def of(cls, measure: Preference, rankings: Rankings, alone: Floats, pair: Floats, *, over_ties: bool) -> Levels:
        """Build it from rankings; ``over_ties`` takes the best or the worst order of ties at each level."""
        facts, judged = rankings.facts, rankings.assume(0.0)
        gain, _, levels = measure.gains(judged)
        known = facts.count_from_level if measure.graded else facts.relevant(measure.rel)[None]
        most = int(rankings.num_holes.max(initial=0))
        turned = np.minimum(np.arange(most + 1.0), rankings.num_holes[:, None])
        everyone = measure.graded and facts.nonrelevant_gain > 0
        sums: dict[bool, list[Floats]] = {True: [], False: []}
        reaching = []
        for level, count in zip(levels.tolist(), known[:, rankings.topic], strict=True):
            reached = gain >= level
            settled = everyone and level <= facts.nonrelevant_gain
            holes = np.zeros_like(reached) if settled else rankings.holes
            reaching.append(
                count[:, None] + (np.full_like(turned, 1) * rankings.num_holes[:, None] if settled else turned)
            )
            for best, of_levels in sums.items():
                marks = [reached, holes]
                if over_ties and rankings.groups is not None:
                    source = order_by_worth(rankings, reached + 0.5 * holes, best=best)
                    marks = [rankings.groups.filled_from(flags, source) for flags in marks]
                of_levels.append(_sums_by_number(marks[0], marks[1], alone, pair, most, best=best))
        relevant = known[min(int(everyone), len(levels) - 1)][rankings.topic]
        room = np.where(everyone & (rankings.most_relevant > 0), np.inf, rankings.room(relevant))
        step = np.diff(levels, prepend=0.0)
        return cls(step, sums[True], sums[False], reaching, turned, room[:, None])

    def elsewhere(self, turned: Floats) -> Floats:
        """Return the gain of relevant documents that the list lacks, at most."""
        return float(self.step.sum()) * np.maximum(self.room - turned, 0.0)

    def least_by_gain(self) -> tuple[Floats, Floats]:
        """Return gains that unjudged documents add, in small steps, with the least sum for each."""
        parts = list(zip(self.step, self.highest, self.reaching, strict=True))
        more = np.concatenate([np.diff(part, axis=-1) for _, part, _ in parts], axis=-1)
        gain = np.concatenate([height * np.diff(count, axis=-1) for height, _, count in parts], axis=-1)
        order = np.argsort(np.where(gain > 0, more, np.inf), axis=-1, kind="stable")
        more, gain = (np.take_along_axis(part, order, axis=-1) for part in (more, gain))
        start = sum_over_levels(self.step, self.highest)[:, :1]
        added, least = (
            _cut(np.cumsum(np.concatenate((first, one), axis=-1), axis=-1))
            for first, one in ((np.zeros_like(start), gain), (start, gain * more))
        )
        return added, least


def _sums_by_number(reached: Flags, holes: Flags, alone: Floats, pair: Floats, most: int, *, best: bool) -> Floats:
    counts = reached.astype(np.float64)
    so_far = running_sums(counts)
    pairs = counts * pair
    below = pairs.sum(axis=-1, keepdims=True) - running_sums(pairs)
    added = alone + pair * so_far + below
    places = Places.of(holes)
    row, rank, number = places
    open_ = np.bincount(row, minlength=len(reached))
    at_holes = np.zeros((len(reached), most + 1))
    at_holes[:, 0] = (counts * (alone + pair * (so_far - 1))).sum(axis=-1)
    factor = np.broadcast_to(pair, reached.shape[-1:])
    if best:  # those that count already are above
        at_holes[row, number + 1] = added[row, rank] + factor[rank] * number
    else:  # they are below
        upward = running_sums(holes * factor, upward=True)
        at_holes[row, open_[row] - number] = added[row, rank] + upward[row, rank] - factor[rank]
    return running_sums(at_holes)


def _cut(points: Floats) -> Floats:
    share = np.arange(PIECES) / PIECES
    between = points[:, :-1, None] + np.diff(points, axis=-1)[..., None] * share
    return np.concatenate((points[:, :1], between.reshape(len(points), -1), points[:, -1:]), axis=-1)


class Preference(Measure):
    """Sum over relevant documents of gain * (1 - penalty / divisor), over the gain of all relevant documents.

    A document's penalty is the sum over judged documents above it with less gain of (g - g_i) / g. The shortfall in the
    code is g times the penalty.
    """

    judged_only = True
    graded = True
    exactness: ClassVar[Exactness] = "exact"
    collection_exactness: ClassVar[Exactness] = "exact"
    vanishes = True
    value_range = (0.0, 1.0)
    sources: ClassVar[tuple[str, ...]] = ("debeer2006rpref", "sakai2007alternatives")

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        raise NotImplementedError

    def gains(self, condensed: Rankings) -> tuple[Floats, Floats, Floats]:
        facts = condensed.facts
        return condensed.gain(), facts.total_gain[condensed.topic], facts.levels

    def worth(self, rankings: Rankings) -> Floats:
        return rankings.gain()

    def bounds(self, rankings: Rankings) -> Bounds:
        return self.extremes(rankings, over_ties=False)

    def joint_bounds(self, rankings: Rankings) -> Bounds:
        """Exact as ``bounds`` with one level of gain; with several, each level takes its own order: outer bounds."""
        return self.extremes(rankings, over_ties=True)

    def joint_bounds_are_outer(self, facts: TopicFacts) -> bool:
        return self.graded and facts.levels.size > 1

    def extremes(self, rankings: Rankings, *, over_ties: bool) -> Bounds:
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        condensed = rankings.condensed()
        gain, total, levels = self.gains(condensed)
        counts, inverse = self.scale(condensed)
        shortfall = np.zeros(gain.shape)
        for level in levels:
            less = gain < level
            above = level * np.cumsum(less, axis=-1) - np.cumsum(np.where(less, gain, 0.0), axis=-1)
            shortfall = np.where(gain == level, above, shortfall)
        return quotient((gain * counts - shortfall * inverse).sum(axis=-1), total)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """A tied document is equally likely in every place; in each, all others of the group are above it alike."""
        condensed = rankings.condensed()
        gain, total, levels = self.gains(condensed)
        counts, inverse = (np.broadcast_to(factor, gain.shape) for factor in self.scale(condensed))
        surely, tied = np.zeros(gain.shape), np.zeros(gain.shape)
        for level in levels:
            number = before_and_within(condensed, (gain < level).astype(np.float64))
            worth = before_and_within(condensed, np.where(gain < level, gain, 0.0))
            surely, tied = (
                np.where(gain == level, level * n - w, old)
                for n, w, old in zip(number, worth, (surely, tied), strict=True)
            )
        mean = (group_means(condensed, factor) for factor in (counts, inverse, inverse * share_above(condensed)))
        counted, penalised, penalised_by_tied = mean
        terms = gain * counted - surely * penalised - tied * penalised_by_tied
        return quotient(terms.sum(axis=-1), total)


class RelativePreference(Preference):
    """A penalty divided by a number that follows from the rank; a subclass has ``divisor_at``."""

    def divisor_at(self, rank: Floats) -> Floats:
        """Return what penalties at ranks among judged documents are divided by: those above, or the rank itself."""
        raise NotImplementedError

    @property
    def itself(self) -> float:
        return float(self.divisor_at(np.ones(1))[0])

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        divisor = self.divisor_at(np.arange(1.0, condensed.width + 1))
        return (divisor > 0).astype(np.float64), quotient(np.ones(1), divisor)

    def extremes(self, rankings: Rankings, *, over_ties: bool) -> Bounds:
        """Per level a document's term is the share of documents above it, and of itself, that reach the level too.

        The greatest value has the best number at each level, which nest by themselves; the least has every unjudged
        document at 0 or at the top level. Relevant documents that the list lacks only enlarge the divisor.
        """
        _, inverse = self.scale(rankings)
        parts = Levels.of(self, rankings, self.itself * inverse, inverse, over_ties=over_ties)
        total = sum_over_levels(parts.step, parts.reaching) + parts.elsewhere(parts.turned)
        low = quotient(sum_over_levels(parts.step, parts.lowest), total).min(axis=-1)
        return low, greatest_ratio(parts.step, parts.highest, parts.reaching)


class BinaryPreference(AveragedPrecisions, RelativePreference):
    """Preferences of relevant documents over others."""

    takes = ("rel",)
    graded = False

    def shrinkage(self, rankings: Rankings) -> Floats:
        return share_of_known(rankings, self.rel)

    def gains(self, condensed: Rankings) -> tuple[Floats, Floats, Floats]:
        return condensed.relevant(self.rel), condensed.num_relevant(self.rel), np.ones(1)

    def worth(self, rankings: Rankings) -> Floats:
        return rankings.relevant(self.rel)

    def precision_terms(self, rankings: Rankings, unjudged: int) -> PrecisionTerms:  # noqa: ARG002
        return self._binary_terms(rankings, self.scale(rankings)[1], itself=self.itself)


class Bpref_relative(BinaryPreference):  # noqa: N801 (the paper's name)
    """Bpref that divides the non-relevant documents above by the number of judged documents above.

    Flawed, and given for comparison: a relevant document at the first rank counts for nothing, so a perfect ranking
    scores (R - 1) / R.

    Source: De Beer and Moens, SIGIR 2006; Sakai 2007, equation 18.
    """

    example = ("Bpref_relative", 0.1667)
    examples = ("Bpref_relative", "Bpref_relative(rel=2)")

    def divisor_at(self, rank: Floats) -> Floats:
        return rank - 1


class Bpref_relative2(BinaryPreference):  # noqa: N801 (the paper's name)
    """Bpref divided by the rank among judged documents, which is average precision on the condensed list: AP'.

    Source: Sakai 2007, equation 20 (also called induced AP; Yilmaz and Aslam, CIKM 2006).
    """

    example = ("Bpref_relative2", 0.5556)
    examples = ("Bpref_relative2",)
    sources = ("sakai2007alternatives", "yilmaz2006estimating")

    def divisor_at(self, rank: Floats) -> Floats:
        return rank


class Rpref_N(Preference):  # noqa: N801 (the paper's name)
    """Bpref for grades: how rarely documents of less gain rank above those of more, among judged documents.

    The penalty (equation 15) is divided by N' (equation 14), the sum of the judged documents' distances from the
    largest gain: N for binary gains, which give Bpref_N. ``low`` and ``high`` may be a little wider than necessary.

    Source: De Beer and Moens, SIGIR 2006; Sakai 2007, equation 16: over the relevant documents that were retrieved
    (equation 2 also credits those that were not).
    """

    example = ("Rpref_N", 0.3333)
    examples = ("Rpref_N",)

    exactness = "outer"
    collection_exactness = "outer"

    def scale(self, condensed: Rankings) -> tuple[Floats, Floats]:
        facts, topic = condensed.facts, condensed.topic
        distance = facts.judged[topic] - facts.total_gain[topic] / facts.max_gain
        # Rounding may leave a trace where every judged document has the largest gain, and nothing is penalised.
        distance = np.where(distance > 1e-9, distance, 0.0)
        return np.ones(1), quotient(np.ones(1), distance)[:, None]

    def extremes(self, rankings: Rankings, *, over_ties: bool) -> Bounds:
        """Bound the penalty for each amount of gain that unjudged documents ``add``; all else follows from that amount.

        The least penalty is convex in the gain added: documents and levels are taken in order of cost. The greatest is
        concave, with every unjudged document at 0 or at the top level. Between documents both are straight lines, cut
        into pieces; in each, every term takes its better (or worse) end.
        """
        parts = Levels.of(self, rankings, np.arange(float(rankings.width)), np.full(1, -1.0), over_ties=over_ties)
        facts, step = rankings.facts, parts.step
        top = float(step.sum())
        known = sum_over_levels(step, parts.reaching)[:, :1]
        retrieved = rankings.assume(0.0).gain().sum(axis=-1, keepdims=True)
        judged = (facts.judged[rankings.topic] + rankings.num_holes)[:, None]

        def distance(added: Floats) -> Floats:
            left = judged - (known + added) / top
            return np.where(left > 1e-9, left, 0.0)

        added, penalty = parts.least_by_gain()
        share = quotient(retrieved + added, known + added)
        least = np.minimum(penalty[:, :-1], penalty[:, 1:])
        if rankings.most_relevant:
            least[:] = 0.0  # any number of further documents may be non-relevant
        high = share[:, 1:] - quotient(quotient(least, distance(added[:, :-1])), known + added[:, 1:])

        added, penalty = _cut(sum_over_levels(step, parts.reaching) - known), _cut(sum_over_levels(step, parts.lowest))
        total = known + added + parts.elsewhere(added / top)
        most = np.maximum(penalty[:, :-1], penalty[:, 1:])
        low = quotient(retrieved + added, total)[:, :-1] - quotient(
            quotient(most, distance(added[:, 1:])), total[:, :-1]
        )
        return np.clip(low.min(axis=-1), 0.0, 1.0), np.clip(high.max(axis=-1), 0.0, 1.0)


class Rpref_relative(RelativePreference):  # noqa: N801 (the paper's name)
    """Rpref divided by the number of judged documents above. A document at the first rank counts for nothing.

    Source: De Beer and Moens, SIGIR 2006; Sakai 2007, equation 17 (not 7, which divides by 0 below unjudged documents).
    """

    example = ("Rpref_relative", 0.1667)
    examples = ("Rpref_relative",)

    def divisor_at(self, rank: Floats) -> Floats:
        return rank - 1


class Rpref_relative2(RelativePreference):  # noqa: N801 (the paper's name)
    """Rpref divided by the rank among judged documents: 1 for an ideal ranking, AP' where gains are binary.

    Source: Sakai 2007, equation 19.
    """

    example = ("Rpref_relative2", 0.6667)
    examples = ("Rpref_relative2",)
    sources = ("sakai2007alternatives",)

    def divisor_at(self, rank: Floats) -> Floats:
        return rank
