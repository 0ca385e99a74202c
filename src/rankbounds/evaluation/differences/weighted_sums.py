"""Weighted sums over ranks (RBP, P, DCG, SDCG, counts): every document counts once, with its net weight.

What it means: how far A can be ahead of B, if every unjudged document turns out as it suits A. A document's net weight
is its weight at its rank in A less that at its rank in B (0 where a list does not hold it). The difference is a sum of
net weights times worth, and each document's worth is free: those of positive net weight take the largest, the others
the least. So the bounds are attained.

What lies beyond the end of a list is unknown, for measures that say so: in the best case for A, everything that follows
A's list is relevant and nothing that follows B's is. A document that follows A's list may well stand in B's; but
relevant documents that neither list holds can follow A's as well, so that the two choices do not get in each other's
way. A run against itself (the same lists from the same place) differs by 0 for certain.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.greatest import Found, Greatest
from rankbounds.evaluation.differences.shared_lists import Choice, Documents
from rankbounds.evaluation.differences.tied_weights import TiedWeights, lines_with_open_order
from rankbounds.measures.measure import RankWeighted
from rankbounds.rankings.rankings import Rankings

WEIGHTLESS = 1e-17
"""Lighter documents are not matched one by one: a thousand of them are less than the rounding error of a score."""


def documents_of_weight(measure: RankWeighted, assumptions: Assumptions) -> Choice:
    """Those that count where they stand."""

    def choice(rankings: Rankings) -> Flags:
        return TiedWeights.of(measure, rankings, assumptions).most > WEIGHTLESS

    return choice


def greatest_sum(measure: RankWeighted, rankings: Rankings, documents: Documents, assumptions: Assumptions) -> Greatest:
    """How large the difference of any two of the lists can be."""
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
