"""Weighted sums over ranks (RBP, P, DCG, SDCG, counts), alone or over that of an ideal ranking (nDCG)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.shared_lists import Choice, Documents, Found, Greatest, OpenTopic, in_parts
from rankbounds.measures.formulas import IdealRatio, Normalised, RankWeighted, quotient
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS, group_means, reordered

WEIGHTLESS = 1e-17
"""Lighter documents are not matched one by one: a thousand of them are less than the rounding error of a score."""


def orders_are_open(assumptions: Assumptions) -> bool:
    """Does the order of tied documents differ from judgment to judgment, or is it asked about too?"""
    return assumptions.bounds == "both" or assumptions.ties not in (*ORDERS, "expected")


@dataclass(frozen=True, eq=False)
class TiedWeights:
    """What a unit of worth counts in each cell of a list, and what judged documents add up to, under a rule for ties.

    Where the order of ties is settled (or the mean over all orders is taken) both are single numbers. Where all orders
    are open (``bounds="both"``), or which of them is taken depends on the judgments (``ties="best"``, ``"worst"``), a
    document counts at most as much as the best rank of its tied group does and at least as much as the worst, and the
    judged ones add up to at most what their best order gives. Nothing can exceed such sums, but tied documents cannot
    all have the best rank at once: the bounds are outer ones.

    For each cell the most and the least that a unit of worth can count, and by list the sums of judged documents.
    """

    most: Floats
    least: Floats
    base_most: Floats
    base_least: Floats
    settled: Flags
    """By list, is its order settled?"""

    @classmethod
    def of(cls, measure: RankWeighted | Normalised, rankings: Rankings, assumptions: Assumptions) -> TiedWeights:
        """Of a weighted sum over ranks."""
        depth = measure.depth(rankings)
        weight: Floats = np.zeros(rankings.grade.shape)
        weight[:, :depth] = measure.weights(depth)
        judged = rankings.assume(0.0)
        worth = measure.worth(judged)
        groups, is_open = rankings.groups, orders_are_open(assumptions)
        if groups is not None and not is_open and assumptions.ties == "expected":
            weight = group_means(rankings, weight)
        if groups is None or rankings.tied is None or not is_open:
            base = np.einsum("lr,lr->l", worth, weight)
            return cls(weight, weight, base, base, np.ones(base.size, dtype=bool))
        ends = []
        for reduced in (np.maximum, np.minimum):
            at_end = weight.copy()
            at_end.reshape(-1)[groups.cell] = groups.spread(reduced.reduceat(groups.values(weight), groups.start))
            ends.append(at_end)
        worst, best = (
            np.einsum("lr,lr->l", measure.worth(reordered(judged, worth, best=best)), weight) for best in (False, True)
        )
        return cls(ends[0], ends[1], best, worst, np.asarray(~rankings.tied.any(axis=-1)))

    def base(self, a: Ints, b: Ints) -> Floats:
        """By pair, how far judged documents put A ahead of B at most."""
        return np.asarray(self.base_most[a] - self.base_least[b])

    def are_settled(self, a: Ints, b: Ints) -> Flags:
        """Of which pairs both lists' orders are settled."""
        return np.asarray(self.settled[a] & self.settled[b])

    @cached_property
    def _from_rank_0(self) -> tuple[Floats, Floats]:
        """The weights with one of 0 in front, for documents that a list lacks."""
        nothing = np.zeros((len(self.most), 1))
        return np.concatenate((nothing, self.most), axis=-1), np.concatenate((nothing, self.least), axis=-1)

    def net(self, documents: Documents, a: Ints, b: Ints) -> tuple[Floats, Flags, Flags]:
        """By pair and document of either list: its net weight for A, is there one, does it count in either list?"""
        rank_a, rank_b = documents.of_either(a, b)
        most, least = self._from_rank_0
        in_a = most[a[:, None], rank_a]
        net = in_a - least[b[:, None], rank_b]
        return net, (rank_a > 0) | (rank_b > 0), (in_a > 0) | (most[b[:, None], rank_b] > 0)


def documents_of_weight(
    measure: RankWeighted | Normalised, assumptions: Assumptions, weightless: float = WEIGHTLESS
) -> Choice:
    """Those that count where they stand."""
    return lambda rankings: TiedWeights.of(measure, rankings, assumptions).most > weightless


def greatest_sum(measure: RankWeighted, topic: OpenTopic) -> Greatest:
    """Weighted sums over ranks (RBP, P, DCG, SDCG, counts): every document counts once, with its net weight.

    What it means: how far A can be ahead of B, if every unjudged document turns out as it suits A. A document's net
    weight is its weight at its rank in A minus that at its rank in B (0 where a list does not hold it). The difference
    is a sum of net weights times worth, and each document's worth is free: those of positive net weight take the
    largest, the others the least. So the bounds are attained.

    What lies beyond the end of a list is unknown, for measures that say so: in the best case for A, everything that
    follows A's list is relevant and nothing that follows B's is. A document that follows A's list may well stand in
    B's; but relevant documents that neither list holds can follow A's as well, so that the two choices do not get in
    each other's way. A run against itself (the same lists from the same place) differs by 0 for certain.
    """
    from scipy.spatial.distance import cdist

    rankings, documents = topic.rankings, topic.documents
    weights = TiedWeights.of(measure, rankings, topic.assumptions)
    spread = np.where(rankings.holes, measure.worth(rankings.assume(1.0)) - measure.worth(rankings.assume(0.0)), 0.0)
    cells = documents.line, documents.rank
    most, least = (documents.by_run((side * spread)[cells]) for side in (weights.most, weights.least))
    light = np.where(rankings.holes & (weights.most <= WEIGHTLESS), weights.most * spread, 0.0).sum(axis=-1)
    tail = measure.open_tail(rankings) + light
    # By topic's own scale (RBP, by_topic) an unjudged document of a higher grade than any lowers what the others count.
    shrunk = 1.0
    if getattr(measure, "by_topic", False) and rankings.topic.size:
        shrunk = float(rankings.facts.top_gain[rankings.topic[0]] / rankings.facts.max_gain)
    distance = cdist(most, least, "cityblock")
    opened_most, opened_least = most.sum(axis=-1), least.sum(axis=-1)

    def greatest(a: Ints, b: Ints) -> Found:
        base = weights.base(a, b)
        base = np.maximum(base, base * shrunk)
        ahead = (opened_most[a] - opened_least[b] + distance[a, b]) / 2
        return base + ahead + tail[a], weights.are_settled(a, b) & (shrunk == 1.0)

    return greatest


def greatest_of_linear(counted: Greatest, rankings: Rankings, for_each: float, for_length: float) -> Greatest:
    """So much for each document that A counts more than B, and for each that it retrieves more."""

    def greatest(a: Ints, b: Ints) -> Found:
        most, exact = counted(a, b) if for_each >= 0 else counted(b, a)
        return for_length * rankings.length[a] - for_length * rankings.length[b] + abs(for_each) * most, exact

    return greatest


def documents_of_ratio(measure: IdealRatio, assumptions: Assumptions) -> Choice:
    """Those that gain something where they stand; and all of a list that has so few others that it must be known which.

    Where a list is crowded with others, more of them than the ideal ranking has ranks surely gain nothing in either
    list, whichever they are.
    """

    def choice(rankings: Rankings) -> Flags:
        gaining, crowded = _gaining_and_crowded(measure, rankings, TiedWeights.of(measure, rankings, assumptions))
        return gaining | ~crowded[:, None]

    return choice


def _gaining_and_crowded(measure: IdealRatio, rankings: Rankings, weights: TiedWeights) -> tuple[Flags, Flags]:
    """The unjudged documents that gain where they stand, and the lists that have many others."""
    gaining = rankings.holes & (weights.most > 0)
    number = np.count_nonzero(gaining, axis=-1)
    if measure.cutoff is None:
        return gaining, np.zeros(number.shape, dtype=bool)
    return gaining, rankings.num_holes - number >= measure.cutoff + number.max(initial=0)


def greatest_ratio(measure: IdealRatio, topic: OpenTopic) -> Greatest:
    """A weighted sum over that of the ideal ranking (nDCG): judgments move what both lists gain, and what both could.

    What it means: how far A can be ahead of B when unjudged documents get any grades. A document that turns out good
    gains its net weight (its weight in A minus that in B), and makes the ideal ranking better, which both lists are
    divided by. Documents that stand below the depth gain nothing and do the latter.

    Why it is right: write gains as sums of steps, a document counting once for each level that its gain reaches. With m
    unjudged documents at a level, the ideal sum depends on m alone, and the numerator is greatest when they are those m
    of the largest net weights. Let t be the ratio sought. A choice is the best one when it makes (numerator - t *
    ideal) greatest, which splits into one small maximisation over m for each level (Dinkelbach).

    * Where t is at least 0: higher levels have fewer judged documents, so that there one more unjudged document adds a
      larger weight to the ideal sum. So the best m falls from level to level, and the choices fit into each other:
      those that reach a level have reached the ones below it.
    * Where t is negative, the best m would rise from level to level. Both parts are concave in m then, so that the best
      choice which does fit has the same m at all levels: every document has no gain or the largest.

    The second kind is tried first, for every m; where its best ratio is negative no choice reaches 0, since the
    greatest numerator is one of them, and it is the answer. Else the ratio starts from there and rises to the answer.
    """
    rankings, documents = topic.rankings, topic.documents
    weights = TiedWeights.of(measure, rankings, topic.assumptions)
    _, crowded = _gaining_and_crowded(measure, rankings, weights)
    levels, known = measure.levels(rankings.facts)
    step, known = np.diff(levels, prepend=0.0), known[:, int(rankings.topic[0])]
    every_gains = measure.every_document_counts(rankings.facts)  # and reaches the first level, whatever its judgment
    rising = slice(1, None) if every_gains else slice(0, None)
    steps = step[rising]
    top = float(steps.sum())
    at_most = int(known.max(initial=0)) + 2 * int(rankings.num_holes.max(initial=0)) + 1
    reach = at_most if measure.cutoff is None else min(at_most, measure.cutoff)
    ideal_sums = np.append(0.0, np.cumsum(measure.weights(reach)))

    def ideal(level: int, number: Ints) -> Floats:
        return ideal_sums[np.minimum(known[level] + number, reach)]

    def greatest(a: Ints, b: Ints) -> Found:
        net, there, matters = weights.net(documents, a, b)
        idle = np.where(crowded[a] | crowded[b], reach, np.count_nonzero(there & ~matters, axis=-1))
        fixed = np.zeros(a.size)
        if every_gains:
            fixed = step[0] * ideal(0, np.count_nonzero(matters, axis=-1) + idle)
        idle = np.minimum(idle, reach)
        base = weights.base(a, b)
        net = np.where(matters, net, -np.inf)
        net = net[:, matters.any(axis=0)]
        net = np.concatenate((net, np.where(np.arange(idle.max(initial=0)) < idle[:, None], 0.0, -np.inf)), axis=-1)
        net[:, ::-1].sort(axis=-1)
        sums = np.concatenate((np.zeros((a.size, 1)), np.cumsum(net, axis=-1)), axis=-1)
        number = np.arange(sums.shape[-1])
        ideals = [ideal(level, number) for level in range(levels.size)][rising]
        divisor = fixed[:, None] + sum(height * part for height, part in zip(steps, ideals, strict=True))
        above = base[:, None] + (top * sums if top > 0 else np.zeros(sums.shape))
        ratio = quotient(above, np.broadcast_to(divisor, sums.shape)).max(axis=-1)
        chosen = np.flatnonzero(ratio >= 0)
        if steps.size > 1 and chosen.size:
            ratio[chosen] = _raise_ratio(ratio[chosen], base[chosen], fixed[chosen], sums[chosen], steps, ideals)
        return ratio, weights.are_settled(a, b)

    return lambda a, b: in_parts(greatest, a, b, documents.most_of_two + min(reach, 1000) + 1)


def _raise_ratio(
    ratio: Floats, base: Floats, fixed: Floats, sums: Floats, steps: Floats, ideals: list[Floats]
) -> Floats:
    """The greatest ratio when every level may choose its own number of documents, from a ratio of at least 0 on."""
    for _ in range(100):
        above, below = base.copy(), fixed.copy()
        for height, ideal in zip(steps, ideals, strict=True):
            best = np.argmax(sums - ratio[:, None] * ideal, axis=-1)
            above += height * np.take_along_axis(sums, best[:, None], axis=-1)[:, 0]
            below += height * ideal[best]
        better = quotient(above, below)
        if not (better > ratio).any():
            break
        ratio = np.maximum(ratio, better)
    return ratio
