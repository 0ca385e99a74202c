"""R-precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.measure import Bounds, Measure, quotient
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count


@dataclass(frozen=True)
class RPrec(Measure):
    """Precision at depth R, where R is the number of the topic's known relevant documents.

    A perfect ranking reaches 1 on every topic with relevant documents. ``low`` and ``high`` are exact over the
    retrieved unjudged documents, each of which, if relevant, also raises R. With ``times``, the depth is so many times
    R, a part of 0.1 or more counting as one more document.

    Source: as in trec_eval (Rprec, Rprec_mult).

    Parameters
    ----------
    times : float, default 1
        How many times R the depth is.
    rel : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.RPrec).value.item(), 4)
    0.6667
    """

    times: float = 1.0
    rel: float = 1.0

    name: ClassVar[str] = "RPrec"
    examples: ClassVar[tuple[str, ...]] = ("RPrec", "RPrec(rel=2)", "RPrec(times=0.4)", "RPrec(times=2)")
    trec_names: ClassVar[tuple[str, ...]] = ("Rprec", "Rprec_mult_{times:.2f}")

    def check(self) -> None:
        if not 0 < self.times < np.inf:
            raise UsageError(f"RPrec: times must be positive and finite, not {self.times}.")

    def _read(self, number: Floats) -> Floats:
        """How many documents are read where this many are relevant."""
        return number if self.times == 1 else np.floor(self.times * number + 0.9)

    def value(self, rankings: Rankings) -> Floats:
        read = self._read(rankings.num_relevant(self.rel))
        return quotient(_at(rankings.relevant_so_far(self.rel), read[:, None])[:, 0], read)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """A group that R cuts through counts by the share of it that stands above the cut."""
        read = self._read(rankings.num_relevant(self.rel))
        return quotient(expected_count(rankings, rankings.relevant(self.rel), read.astype(np.int64)), read)

    def bounds(self, rankings: Rankings) -> Bounds:
        judged = rankings.assume(0.0)
        turned = np.minimum(np.arange(int(rankings.num_holes.max(initial=0)) + 1), rankings.num_holes[:, None])
        read = self._read(judged.num_relevant(self.rel)[:, None] + turned)
        found = _at(judged.relevant_so_far(self.rel), read)
        holes = _at(np.cumsum(rankings.holes, axis=-1), read)
        # Of k relevant among the unjudged, the best case has the k highest and the worst the k lowest.
        best = quotient(found + np.minimum(turned, holes), read)
        worst = quotient(found + np.maximum(0, holes - (rankings.num_holes[:, None] - turned)), read)
        return worst.min(axis=-1), best.max(axis=-1)


def _at(so_far: Floats, depth: Floats) -> Floats:
    """What a cumulative sum holds at these depths; 0 at depth 0, the last value beyond the end."""
    rank = np.minimum(depth.astype(np.int64), so_far.shape[-1])
    return np.where(rank > 0, np.take_along_axis(so_far, np.maximum(rank - 1, 0), axis=-1), 0)
