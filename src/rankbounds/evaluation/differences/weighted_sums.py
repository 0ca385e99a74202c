"""Weighted sums over ranks (RBP, P, DCG, SDCG, counts), and what a document counts where it stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.shared_lists import Choice, Documents, Found, Greatest
from rankbounds.measures.formulas import Normalised, RankWeighted
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS, group_means, reordered

WEIGHTLESS = 1e-17
"""Lighter documents are not matched one by one: a thousand of them are less than the rounding error of a score."""


def documents_of_weight(measure: RankWeighted, assumptions: Assumptions) -> Choice:
    """Those that count where they stand."""

    def choice(rankings: Rankings) -> Flags:
        return TiedWeights.of(measure, rankings, assumptions).most > WEIGHTLESS

    return choice


def greatest_sum(measure: RankWeighted, rankings: Rankings, documents: Documents, assumptions: Assumptions) -> Greatest:
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

    weights = TiedWeights.of(measure, rankings, assumptions)
    spread = np.where(rankings.holes, measure.worth(rankings.assume(1.0)) - measure.worth(rankings.assume(0.0)), 0.0)
    cells = documents.line, documents.rank
    most, least = (documents.by_run((side * spread)[cells]) for side in (weights.most, weights.least))
    open_order = lines_with_open_order(rankings, assumptions)
    light = np.where(rankings.holes & (weights.most <= WEIGHTLESS), weights.most * spread, 0.0).sum(axis=-1)
    tail = measure.open_tail(rankings) + light
    # By topic's own scale (RBP, by_topic) an unjudged document of a higher grade than any lowers what the others count.
    shrunk = 1.0
    if getattr(measure, "by_topic", False) and rankings.topic.size:
        shrunk = float(rankings.facts.top_gain[rankings.topic[0]] / rankings.facts.max_gain)
    apart = cdist(most, least, "cityblock")
    opened_most, opened_least = most.sum(axis=-1), least.sum(axis=-1)

    def greatest(a: Ints, b: Ints) -> Found:
        base = weights.base_most[a] - weights.base_least[b]
        base = np.maximum(base, base * shrunk)
        ahead = (opened_most[a] - opened_least[b] + apart[a, b]) / 2
        return base + ahead + tail[a], ~(open_order[a] | open_order[b]) & (shrunk == 1.0)

    return greatest


def greatest_of_linear(counted: Greatest, rankings: Rankings, for_each: float, for_length: float) -> Greatest:
    """So much for each document that A counts more than B, and for each that it retrieves more."""

    def greatest(a: Ints, b: Ints) -> Found:
        most, exact = counted(a, b) if for_each >= 0 else counted(b, a)
        return for_length * rankings.length[a] - for_length * rankings.length[b] + abs(for_each) * most, exact

    return greatest


def orders_are_open(assumptions: Assumptions) -> bool:
    """Does the order of tied documents differ from judgment to judgment, or is it asked about too?"""
    return assumptions.bounds == "both" or assumptions.ties not in (*ORDERS, "expected")


def lines_with_open_order(rankings: Rankings, assumptions: Assumptions) -> Flags:
    """The lists whose order is not settled."""
    if rankings.tied is None or not orders_are_open(assumptions):
        return np.zeros(rankings.length.size, dtype=bool)
    return np.asarray(rankings.tied.any(axis=-1))


@dataclass(frozen=True, eq=False)
class TiedWeights:
    """What a unit of worth counts in each cell of a list, and what the judged documents add up to, under a rule for
    ties.

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

    @classmethod
    def of(cls, measure: RankWeighted | Normalised, rankings: Rankings, assumptions: Assumptions) -> TiedWeights:
        """Of a weighted sum over ranks."""
        depth = measure.depth(rankings)
        weight: Floats = np.zeros(rankings.grade.shape)
        weight[:, :depth] = measure.weights(depth)
        judged = rankings.assume(0.0)
        worth = measure.worth(judged)
        groups = rankings.groups
        if groups is not None and not orders_are_open(assumptions) and assumptions.ties == "expected":
            weight = group_means(rankings, weight)
        base = np.einsum("lr,lr->l", worth, weight)
        if groups is None or not orders_are_open(assumptions):
            return cls(weight, weight, base, base)
        ends = []
        for reduced in (np.maximum, np.minimum):
            at_end = weight.copy()
            at_end.reshape(-1)[groups.cell] = groups.spread(reduced.reduceat(groups.values(weight), groups.start))
            ends.append(at_end)
        worst, best = (
            np.einsum("lr,lr->l", measure.worth(reordered(judged, worth, best=best)), weight) for best in (False, True)
        )
        return cls(ends[0], ends[1], best, worst)
