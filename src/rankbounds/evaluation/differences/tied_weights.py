"""What a unit of worth counts in each cell of a list, and what the judged documents add up to, under a rule for ties.

Where the order of ties is settled (or the mean over all orders is taken) both are single numbers. Where all orders are
open (``bounds="both"``), or which of them is taken depends on the judgments (``ties="best"``, ``"worst"``), a document
counts at most as much as the best rank of its tied group does and at least as much as the worst, and the judged ones
add up to at most what their best order gives. Nothing can exceed such sums, but tied documents cannot all have the
best rank at once: the bounds are outer ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.measures.measure import Normalised, RankWeighted
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS, group_means, reordered


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
    """For each cell the most and the least that a unit of worth can count, and by list the sums of judged documents."""

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
