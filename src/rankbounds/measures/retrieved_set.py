"""Measures whose depth is set by the list or by the topic: of the whole retrieved set, and R-precision."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures.arguments import DifferenceArguments
from rankbounds.measures.measure import A, Bounds, Measure, Share, ShareOfRelevant, count_to_depth, quotient
from rankbounds.measures.precision_and_recall import F
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count


class SetP(Share):
    """The share of the documents retrieved that are relevant, however many there are and in whatever order.

    For systems that return a set. P@k divides by k even where the list is shorter.

    Source: as in trec_eval (set_P).

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.SetP).value.item(), 4)
    0.6667
    """

    rel: float = 1.0

    name = "SetP"
    value_range = (0.0, 1.0)
    examples = ("SetP", "SetP(rel=2)")
    trec_names = ("set_P",)
    monotone = True
    multilinear = True
    list_only = True

    def divisor(self, rankings: Rankings) -> Floats:
        return rankings.length.astype(np.float64)

    def difference_argument(self, arguments: DifferenceArguments[A]) -> A:
        return arguments.share(F(beta=0.0, rel=self.rel))  # which counts recall for nothing


class RelP(ShareOfRelevant):
    """Precision among the first k documents divided by the highest that any list could have (without a depth: among
    those retrieved).

    Precision where the topic has at least k relevant documents, recall where it has fewer: 1 can always be reached.

    Source: as in trec_eval (relative_P, set_relative_P); BEIR calls it capped recall (R_cap).

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.RelP @ 2).value.item(), 4)
    0.5
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "RelP"
    value_range = (0.0, 1.0)
    examples = ("RelP", "RelP@2", "RelP@10", "RelP(rel=2)@3")
    trec_names = ("relative_P_{cutoff}", "set_relative_P")

    def growth(self, rankings: Rankings) -> tuple[float, Floats, Floats]:
        most = rankings.length if self.cutoff is None else np.full(rankings.length.size, self.cutoff)
        return 1.0, np.zeros(most.size), most.astype(np.float64)


class SetAP(Measure):
    """Set precision times recall: average precision for a list without an order.

    Every relevant document retrieved counts with the precision of the whole list, every other with 0.

    Source: as in trec_eval (set_map).

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.SetAP).value.item(), 4)
    0.4444
    """

    rel: float = 1.0

    name = "SetAP"
    value_range = (0.0, 1.0)
    examples = ("SetAP", "SetAP(rel=2)")
    trec_names = ("set_map",)
    monotone = True
    collection_exactness = "exact"
    outside = "lowers"
    vanishes = True

    def emptiest(self, rankings: Rankings) -> Rankings:
        """Without relevant documents among the unjudged ones, and with as many that nobody retrieved as may exist."""
        judged = rankings.assume(0.0)
        return judged.with_elsewhere(judged.room(judged.num_relevant(self.rel))) if rankings.most_relevant else judged

    def value(self, rankings: Rankings) -> Floats:
        count = count_to_depth(self, rankings)
        length = np.maximum(rankings.length, 1)  # of an empty list nothing is found, however many are relevant
        return quotient(count * count, length * rankings.num_relevant(self.rel))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return self.value(rankings)


class RPrec(Measure):
    """Precision at depth R, where R is the number of the topic's known relevant documents.

    A perfect ranking reaches 1 on every topic with relevant documents. ``low`` and ``high`` are exact over the
    retrieved unjudged documents, each of which, if relevant, also raises R. With ``open="collection"`` they also cover
    relevant documents that nobody retrieved, up to R = ``most_relevant``: these lower it, or raise it where the list
    has relevant documents just below rank R. Without that limit ``low`` is 0. With ``times``, the depth is so many
    times R, a part of 0.1 or more counting as one more document.

    Source: as in trec_eval (Rprec, Rprec_mult).

    Parameters
    ----------
    times : float, default 1
        How many times R the depth is.

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.RPrec).value.item(), 4)
    0.6667
    """

    times: float = 1.0
    rel: float = 1.0

    name = "RPrec"
    value_range = (0.0, 1.0)
    examples = ("RPrec", "RPrec(rel=2)", "RPrec(times=0.4)", "RPrec(times=2)")
    sources = ("buckley2005retrieval",)
    trec_names = ("Rprec", "Rprec_mult_{times:.2f}")
    collection_exactness = "exact"
    vanishes = True

    def check(self) -> None:
        if not 0 < self.times < np.inf:
            raise UsageError(f"RPrec: times must be positive and finite, not {self.times}.")

    def documents_read(self, number: Floats) -> Floats:
        """How many documents are read where this many are relevant."""
        return number if self.times == 1 else np.floor(self.times * number + 0.9)

    def value(self, rankings: Rankings) -> Floats:
        read = self.documents_read(rankings.num_relevant(self.rel))
        return quotient(_at(rankings.relevant_so_far(self.rel), read[:, None])[:, 0], read)

    def difference_argument(self, arguments: DifferenceArguments[A]) -> A:
        return arguments.precision_at_r(self)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """A group that R cuts through counts by the share of it that stands above the cut."""
        read = self.documents_read(rankings.num_relevant(self.rel))
        return quotient(expected_count(rankings, rankings.relevant(self.rel), read.astype(np.int64)), read)

    def bounds(self, rankings: Rankings) -> Bounds:
        judged = rankings.assume(0.0)
        turned = np.minimum(np.arange(int(rankings.num_holes.max(initial=0)) + 1), rankings.num_holes[:, None])
        read = self.documents_read(judged.num_relevant(self.rel)[:, None] + turned)
        found = _at(judged.relevant_so_far(self.rel), read)
        holes = _at(np.cumsum(rankings.holes, axis=-1), read)
        # Of k relevant among the unjudged, the best case has the k highest and the worst the k lowest.
        best = quotient(found + np.minimum(turned, holes), read)
        worst = quotient(found + np.maximum(0, holes - (rankings.num_holes[:, None] - turned)), read)
        low, high = worst.min(axis=-1), best.max(axis=-1)
        return (low, high) if not rankings.most_relevant else self._in_collection(judged, low, high)

    def _in_collection(self, judged: Rankings, low: Floats, high: Floats) -> Bounds:
        """The bounds widened by relevant documents that nobody retrieved.

        For a given R the worst case is that nothing unjudged is relevant among the retrieved, and the best that all of
        it is. Beyond the list's end both only fall as R grows.
        """
        found, holes = judged.relevant_so_far(self.rel), np.cumsum(judged.holes, axis=-1)
        known = judged.num_relevant(self.rel)[:, None]
        most = known + judged.room(known)
        read, last = self._depths(known, most, judged.width), self.documents_read(most)
        worst = np.minimum(quotient(_at(found, read), read).min(axis=-1), quotient(_at(found, last), last)[:, 0])
        everything = known + judged.num_holes[:, None]
        read = self._depths(everything, np.maximum(most, everything), judged.width)
        best = quotient(_at(found + holes, read), read).max(axis=-1)
        return np.minimum(low, worst), np.maximum(high, best)

    def _depths(self, least: Floats, most: Floats, width: int) -> Floats:
        """The depths within the list that are read for so many relevant documents at least, and so many at most."""
        number = np.arange(width + 1.0)
        if self.times <= 1:  # no depth is left out
            return np.clip(number, self.documents_read(least), self.documents_read(most))
        return self.documents_read(np.clip(number, least, most))


def _at(so_far: Floats, depth: Floats) -> Floats:
    """What a cumulative sum holds at these depths; 0 at depth 0, the last value beyond the end."""
    rank = np.minimum(depth, so_far.shape[-1]).astype(np.int64)
    return np.where(rank > 0, np.take_along_axis(so_far, np.maximum(rank - 1, 0), axis=-1), 0)
