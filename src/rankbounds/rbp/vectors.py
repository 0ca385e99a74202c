"""Relevance vectors behind a published RBP score: the lexicographically greatest, R_G, and the least, R_L.

The method of Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008, as printed. A vector
is built from rank 1 down. A rank must be 0 where a relevant document would exceed the score, and 1 where all that
follows could no longer reach it; every other rank is a choice point. Always choosing 1 gives R_G, always choosing 0
gives R_L.

These two need *not* be the extremes at another persistence (see ``docs/errata.md``): for bounds that hold, use
``rankbounds.transfer``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankbounds.arrays import Flags, Floats
from rankbounds.errors import DataError

EQUAL = 1e-6
"""Sums that differ by less than this share of the precision are equal: 0.8 + 0.2 is not quite 1 in floating point."""


def significant_ranks(p: float, precision: float = 1e-4) -> int:
    """Count the ranks that matter at this precision: all below them add less than half of it."""
    if p == 0:
        return 1
    rank = max(1, int(np.log(precision / 2) / np.log(p)) - 1)
    while not p**rank < precision / 2:
        rank += 1
    return rank


def accumulated(vector: ArrayLike, p: float) -> Floats:
    """RBP of vectors whose last axis is rank: acc(i) for a prefix, the score for a whole vector."""
    relevance = np.asarray(vector, dtype=np.float64)
    weighted: Floats = relevance @ ((1 - p) * p ** np.arange(relevance.shape[-1]))
    return weighted


def cannot_occur(score: float | str, p: float) -> str:
    """The sentence for a score in one of the gaps that p < 0.5 leaves."""
    return (
        f"No ranking has the score {score} at p={p:g}: with p below 0.5 one document weighs more than all below it, "
        f"so that scores between {p:g} and {1 - p:g}, and in smaller gaps elsewhere, cannot occur. "
        "Is it a mean over topics, or are the judgments graded?"
    )


@dataclass(frozen=True)
class GreedyVectors:
    """R_G and R_L of one or many scores, with the ranks that R'_G and R'_L hold for unjudged; rank is the last axis."""

    p: float
    precision: float
    greatest: Floats
    least: Floats
    choices_greatest: Flags
    """Where R_G had a choice."""
    unjudged_greatest: Flags
    """The NA positions of R'_G, shifted to early ranks."""
    unjudged_least: Flags
    """The NA positions of R'_L, shifted to late ranks."""

    def scores(self, to: float) -> tuple[Floats, Floats, Floats, Floats]:
        """RBP at persistence ``to`` of R_G, R_L, and of R'_G and R'_L with their unjudged documents relevant.

        For ``to`` above p the vectors are too short: R_G goes on with ones and R_L with zeros to the ranks that are
        significant there, as printed.
        """
        n = self.greatest.shape[-1]
        ones = to**n - to ** max(n, significant_ranks(to, self.precision)) if to > self.p else 0.0
        return (
            accumulated(self.greatest, to) + ones,
            accumulated(self.least, to),
            accumulated(self.greatest + self.unjudged_greatest, to) + ones,
            accumulated(self.least + self.unjudged_least, to),
        )

    def range(self, to: float) -> tuple[Floats, Floats]:
        """The paper's range at persistence ``to``: R_L to R'_G below p, R_G to R'_L above it. It can be violated."""
        greatest, least, greatest_open, least_open = self.scores(to)
        ends = (least, greatest_open) if to <= self.p else (greatest, least_open)
        return np.minimum(*ends), np.maximum(*ends)


def greedy_vectors(score: ArrayLike, p: float, precision: float = 1e-4, residual: ArrayLike = 0.0) -> GreedyVectors:
    """Build R_G and R_L of each score, which is known to ``precision``, down to the last significant rank."""
    wanted, open_ = np.broadcast_arrays(np.asarray(score, dtype=np.float64), np.asarray(residual, dtype=np.float64))
    greatest, choices = _build(wanted, open_, p, precision, greatest=True)
    least, _ = _build(wanted, open_, p, precision, greatest=False)
    unjudged = (_unjudged(vector, open_, p, precision, early=vector is greatest) for vector in (greatest, least))
    return GreedyVectors(p, precision, greatest, least, choices, *unjudged)


def _build(score: Floats, residual: Floats, p: float, precision: float, *, greatest: bool) -> tuple[Floats, Flags]:
    slack, rounding = EQUAL * precision, precision / 2 + EQUAL * precision
    n = significant_ranks(p, precision)
    vector, choices = np.zeros((*score.shape, n)), np.zeros((*score.shape, n), dtype=bool)
    acc, acc_of_zeros = np.zeros(score.shape), np.zeros(score.shape)
    for rank in range(n):
        con, rem = (1 - p) * p**rank, p ** (rank + 1)
        must_be_0 = acc + con > score + slack
        must_be_1 = acc + rem < score - slack
        stuck = must_be_0 & must_be_1
        if stuck.any():
            # The printed score is rounded: what comes closest from below, or else from above, may round to it.
            below, above = acc + rem >= score - rounding, acc + con <= score + rounding
            if (stuck & ~below & ~above).any():
                raise DataError(cannot_occur(f"{score[stuck & ~below & ~above].flat[0]:.12g}", p))
            must_be_1 = np.where(stuck, ~below, must_be_1)
        choice = ~must_be_0 & ~must_be_1
        if greatest:
            chosen = ~(acc_of_zeros + rem < score - (con + acc) + residual - slack)
        else:
            chosen = acc + rem < score + residual - slack
        relevant = np.where(choice, chosen, must_be_1)
        vector[..., rank], choices[..., rank] = relevant, choice
        acc += relevant * con
        acc_of_zeros += ~relevant * con
    return vector, choices


def _unjudged(vector: Floats, residual: Floats, p: float, precision: float, *, early: bool) -> Flags:
    """Which zeros of the vector are unjudged (NA), as early or as late as the residual allows."""
    n, slack = vector.shape[-1], EQUAL * precision
    free = (1 - vector) * ((1 - p) * p ** np.arange(n))
    below = np.cumsum(free[..., ::-1], axis=-1)[..., ::-1] - free + p**n
    unjudged = np.zeros(vector.shape, dtype=bool)
    acc = np.zeros(residual.shape)
    for place in range(n):
        needed = acc + below[..., place] < residual - slack
        fits = acc + free[..., place] <= residual + slack
        marked = (vector[..., place] == 0) & (residual > slack) & (fits & (early | needed))
        unjudged[..., place] = marked
        acc += marked * free[..., place]
    return unjudged
