"""R-precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.facts import Exactness
from rankbounds.measures.measure import Bounds, Measure, quotient
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count


@dataclass(frozen=True)
class RPrec(Measure):
    """Precision at depth R, where R is the number of the topic's known relevant documents.

    A perfect ranking reaches 1 on every topic with relevant documents. ``low`` and ``high`` are exact over the
    retrieved unjudged documents, each of which, if relevant, also raises R. With ``open="collection"`` they also cover
    relevant documents that nobody retrieved, up to R = ``most_relevant``: these lower it, or raise it where the list
    has relevant documents just below rank R. Without that limit ``low`` is 0.

    Source: as in trec_eval (Rprec).

    Parameters
    ----------
    rel : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.RPrec).value.item(), 4)
    0.6667
    """

    rel: float = 1.0

    name: ClassVar[str] = "RPrec"
    examples: ClassVar[tuple[str, ...]] = ("RPrec", "RPrec(rel=2)")
    trec_names: ClassVar[tuple[str, ...]] = ("Rprec",)
    collection_exactness: ClassVar[Exactness] = "exact"
    vanishes: ClassVar[bool] = True

    def value(self, rankings: Rankings) -> Floats:
        number = rankings.num_relevant(self.rel)
        return quotient(_at(rankings.relevant_so_far(self.rel), number[:, None])[:, 0], number)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """A group that R cuts through counts by the share of it that stands above the cut."""
        number = rankings.num_relevant(self.rel)
        return quotient(expected_count(rankings, rankings.relevant(self.rel), number.astype(np.int64)), number)

    def bounds(self, rankings: Rankings) -> Bounds:
        judged = rankings.assume(0.0)
        turned = np.minimum(np.arange(int(rankings.num_holes.max(initial=0)) + 1), rankings.num_holes[:, None])
        number = judged.num_relevant(self.rel)[:, None] + turned
        found = _at(judged.relevant_so_far(self.rel), number)
        holes = _at(np.cumsum(rankings.holes, axis=-1), number)
        # Of k relevant among the unjudged, the best case has the k highest and the worst the k lowest.
        best = quotient(found + np.minimum(turned, holes), number)
        worst = quotient(found + np.maximum(0, holes - (rankings.num_holes[:, None] - turned)), number)
        low, high = worst.min(axis=-1), best.max(axis=-1)
        return (low, high) if not rankings.most_relevant else self._in_collection(judged, low, high)

    def _in_collection(self, judged: Rankings, low: Floats, high: Floats) -> Bounds:
        """The bounds widened by relevant documents that nobody retrieved.

        For a given R the worst case is that nothing unjudged is relevant among the retrieved, and the best that all of
        it is. Beyond the list's end both only fall as R grows.
        """
        known = judged.num_relevant(self.rel)[:, None]
        most = known + judged.room(known)
        number = np.clip(np.arange(judged.width + 1.0), known, most)
        worst = quotient(_at(judged.relevant_so_far(self.rel), number), number).min(axis=-1)
        last = quotient(judged.relevant_so_far(self.rel)[..., -1], most[:, 0])
        worst = np.where(most[:, 0] > judged.width, np.minimum(worst, last), worst)
        retrieved = judged.num_holes[:, None]
        number = np.clip(np.arange(judged.width + 1.0), known + retrieved, np.maximum(most, known + retrieved))
        found = _at(judged.relevant_so_far(self.rel) + np.cumsum(judged.holes, axis=-1), number)
        best = quotient(found, number).max(axis=-1)
        return np.minimum(low, worst), np.maximum(high, best)


def _at(so_far: Floats, depth: Floats) -> Floats:
    """What a cumulative sum holds at these depths; 0 at depth 0, the last value beyond the end."""
    rank = np.minimum(depth.astype(np.int64), so_far.shape[-1])
    return np.where(rank > 0, np.take_along_axis(so_far, np.maximum(rank - 1, 0), axis=-1), 0)
