"""The sum of the precisions at relevant documents: SP, on which average precision rests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure, quotient
from rankbounds.rankings import Rankings


@dataclass(frozen=True)
class SP(Measure):
    """The precisions at the ranks of relevant documents, summed: average precision before it is divided by R.

    It needs no knowledge of documents that were not retrieved, and never falls when another document turns out
    relevant; but it grows with the number of relevant documents, so that topics cannot be compared.

    Source: Moffat and Zobel 2008, section 3.1.
    """

    rel: float = 1.0
    cutoff: int | None = None

    name: ClassVar[str] = "SP"
    examples: ClassVar[tuple[str, ...]] = ("SP", "SP@3")
    monotone: ClassVar[bool] = True
    multilinear: ClassVar[bool] = True

    def value(self, rankings: Rankings) -> Floats:
        return sum_of_precisions(rankings, self.rel, self.depth(rankings))


def sum_of_precisions(rankings: Rankings, rel: float, depth: int) -> Floats:
    """For each list the sum over relevant ranks i of (relevant documents down to i) / i."""
    relevant = rankings.relevant(rel)[..., :depth]
    so_far = rankings.relevant_so_far(rel)[..., :depth]
    if not rankings.certain:
        so_far = 1 + so_far - relevant  # a document's own relevance is certain where it counts at all
    total: Floats = np.einsum("...i,...i,i->...", relevant, so_far, 1 / np.arange(1, depth + 1))
    return total


def average_bounds(
    rankings: Rankings,
    rel: float,
    depth: int,
    *,
    of_retrieved: bool = False,
    weights: Floats | None = None,
    itself: float = 1.0,
) -> Bounds:
    """Exact bounds of the sum of precisions divided by the number of relevant documents.

    That number counts each unjudged document turned relevant: all of the topic's, or (``of_retrieved``) those within
    the depth. With k of the unjudged documents relevant, the sum is greatest when they are the k highest and least
    when they are the k lowest. Both sums grow by one term a step, so that all k cost as much as one. ``weights`` may
    stand in for 1 / rank, and ``itself`` says for how much a relevant document counts in its own precision.
    """
    rank = np.arange(1, rankings.width + 1)
    inverse = np.where(rank <= depth, 1 / rank if weights is None else weights, 0.0)
    holes = rankings.holes & (rank <= depth) if of_retrieved else rankings.holes
    judged = rankings.assume(0.0)
    relevant = judged.relevant(rel)
    so_far = judged.relevant_so_far(rel)
    known = so_far[..., depth - 1] if of_retrieved else judged.num_relevant(rel)
    at_relevant = relevant * inverse
    none: Floats = (at_relevant * (so_far - 1 + itself)).sum(axis=-1)

    # What turning a document relevant adds: its own precision, and a term for each relevant document below it.
    from_below = at_relevant.sum(axis=-1, keepdims=True) - np.cumsum(at_relevant, axis=-1)
    number_down = np.cumsum(holes, axis=-1)
    downward = np.where(holes, inverse * (so_far + number_down - 1 + itself) + from_below, 0.0)
    best = quotient(none[:, None] + np.cumsum(downward, axis=-1), known[:, None] + number_down)

    at_holes = np.where(holes, inverse, 0.0)
    holes_below = at_holes.sum(axis=-1, keepdims=True) - np.cumsum(at_holes, axis=-1)
    upward = np.where(holes, inverse * (so_far + itself) + from_below + holes_below, 0.0)
    number_up = np.cumsum(holes[..., ::-1], axis=-1)[..., ::-1]
    worst = quotient(none[:, None] + np.cumsum(upward[..., ::-1], axis=-1)[..., ::-1], known[:, None] + number_up)

    unchanged = quotient(none, known)
    return np.minimum(unchanged, worst.min(axis=-1)), np.maximum(unchanged, best.max(axis=-1))
