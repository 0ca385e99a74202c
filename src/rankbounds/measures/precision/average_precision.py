"""Average precision, and the sum of precisions that it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.columns.by_rank import running_sums
from rankbounds.measures.formulas import OfFound, quotient, share_of_known
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import (
    chance_of_number,
    expected_with_earlier,
    group_means,
    groups_at_cut,
    reorder,
    sums_before,
)

OfSums: TypeAlias = Callable[[Floats, Floats], Floats]
"""A value that follows from a sum of precisions and a number of relevant documents: their quotient, if not told."""


@dataclass(frozen=True, eq=False)
class PrecisionTerms:
    """The terms of a topic's lists: at a relevant rank, a factor times the credit of the relevant documents to it.

    ``most`` and ``least`` are the factors by rank; ``credit`` is that of judged documents; a relevant unjudged one has
    between ``low_credit`` and ``high_credit``. ``known`` documents are relevant. ``itself`` is how much of a document's
    own credit counts, ``averaged`` whether the sum is divided by the number of relevant documents.
    """

    most: Floats
    least: Floats
    credit: Floats
    low_credit: float
    high_credit: float
    known: int
    itself: float = 1.0
    averaged: bool = True

    @property
    def settled(self) -> bool:
        """Do numbers of relevant documents alone decide?"""
        return self.low_credit == self.high_credit and self.most is self.least


class AveragedPrecisions(Measure):
    """A sum of terms, one per relevant document: a factor of its rank times the relevant documents to it.

    A subclass that is no plain sum of precisions over R has ``precision_terms``.
    """

    def precision_terms(self, rankings: Rankings, unjudged: int) -> PrecisionTerms | None:  # noqa: ARG002
        """Return a topic's terms for so many unjudged documents; None if every document counts as relevant."""
        rank = np.arange(1, rankings.width + 1)
        return self._binary_terms(rankings, np.where(rank <= self.depth(rankings), 1.0 / rank, 0.0))

    difference_argument = "averaged_precisions"

    def _binary_terms(self, rankings: Rankings, factor: Floats, itself: float = 1.0) -> PrecisionTerms:
        relevant = rankings.assume(0.0).relevant(self.rel)
        known = int(rankings.facts.relevant(self.rel)[rankings.topic[0]])
        return PrecisionTerms(factor, factor, relevant, 1.0, 1.0, known, itself)


class AP(AveragedPrecisions):
    """The mean of the precisions at the ranks of the relevant documents, over all R relevant documents known.

    A relevant document that is not retrieved (within the depth) contributes 0. The mean over topics is known as MAP.
    Judging more documents can raise or lower it, because R grows too: ``low`` and ``high`` are the exact extremes over
    all judgments of the retrieved unjudged documents. With ``open="collection"``, ``low`` also covers relevant
    documents that nobody retrieved, up to R = ``most_relevant``; without that limit it is 0.

    AP = (1/R) * sum over relevant ranks i of (relevant documents down to i) / i.

    Source: as in trec_eval (map); Buckley and Voorhees, Evaluating Evaluation Measure Stability, SIGIR 2000.
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    aliases = ("MAP",)
    example = ("AP", 0.5556)
    examples = ("AP", "AP@3", "AP(rel=2)")
    sources = ("buckley2000evaluating",)
    collection_exactness = "exact"
    vanishes = True
    trec_names = ("map", "map_cut_{cutoff}")
    sums_precisions = True
    averaged = "precisions"
    outside = "lowers"

    def value(self, rankings: Rankings) -> Floats:
        total = sum_of_precisions(rankings, self.rel, self.depth(rankings))
        return quotient(total, rankings.num_relevant(self.rel))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        total = expected_sum_of_precisions(rankings, self.rel, self.depth(rankings))
        return quotient(total, rankings.num_relevant(self.rel))

    def shrinkage(self, rankings: Rankings) -> Floats:
        return share_of_known(rankings, self.rel)

    def bounds(self, rankings: Rankings) -> Bounds:
        return Turns.of(rankings, self.rel, self.depth(rankings)).bounds()

    def joint_bounds(self, rankings: Rankings) -> Bounds:
        """A group's relevant unjudged documents can be adjacent to its other relevant ones."""
        worth, depth = rankings.assume(0.5).relevant(self.rel), self.depth(rankings)
        worst, best = (reorder(rankings, worth, best=best) for best in (False, True))
        return Turns.of(worst, self.rel, depth).least(), Turns.of(best, self.rel, depth).greatest()


class SP(AveragedPrecisions):
    """The sum of the precisions at the ranks of relevant documents: average precision before division by R.

    It does not depend on documents that were not retrieved, and never falls when another document turns out relevant;
    but it grows with the number of relevant documents, so topics cannot be compared.

    Source: Moffat and Zobel 2008, section 3.1.
    """

    takes = ("rel", "cutoff")
    sums_precisions = True
    example = ("SP", 1.6667)
    examples = ("SP", "SP@3")
    sources = ("moffat2008rank",)
    monotone = True
    multilinear = True
    list_only = True
    value_range = (0.0, np.inf)

    def precision_terms(self, rankings: Rankings, unjudged: int) -> PrecisionTerms | None:
        averaged = super().precision_terms(rankings, unjudged)
        return averaged and replace(averaged, averaged=False)

    def value(self, rankings: Rankings) -> Floats:
        return sum_of_precisions(rankings, self.rel, self.depth(rankings))

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return expected_sum_of_precisions(rankings, self.rel, self.depth(rankings))


def sum_of_precisions(rankings: Rankings, rel: float, depth: int) -> Floats:
    """Sum, for each list, (relevant documents down to i) / i over relevant ranks i."""
    # Added one after the other, as trec_eval does: values half way between two printed ones then round alike.
    if rankings.certain:  # few documents are relevant, and of those of a list the k-th has k down to it
        row, rank, number = rankings.places_of_relevant(rel)
        precision = (number + 1) / (rank + 1)
        if depth < rankings.width:
            precision[rank >= depth] = 0.0
        return np.asarray(np.bincount(row, precision, minlength=rankings.length.size), dtype=np.float64)
    relevant = rankings.relevant(rel)[..., :depth]
    so_far = 1 + rankings.relevant_so_far(rel)[..., :depth] - relevant  # where it counts at all, it is relevant
    return running_sums(relevant * so_far / np.arange(1, depth + 1))[..., -1]


def expected_sum_of_precisions(rankings: Rankings, rel: float, depth: int) -> Floats:
    """Return the mean of that sum over all orders of ties (McSherry and Najork, ECIR 2008)."""
    total: Floats = expected_precisions(rankings, rel)[..., :depth].sum(axis=-1)
    return total


def expected_precisions(rankings: Rankings, rel: float) -> Floats:
    """Return at every rank the mean, over all orders of ties, of the precision there if relevant."""
    relevant = rankings.relevant(rel)
    counted = group_means(rankings, relevant) + expected_with_earlier(rankings, relevant)
    return counted / np.arange(1, rankings.width + 1)


@dataclass(frozen=True)
class Turns:
    """What relevant unjudged documents add to the sum of precisions (``total``, of ``known`` documents).

    The sum is divided by the number of relevant documents, including unjudged documents turned relevant: all of the
    topic's, or (``of_retrieved``) those within the depth. With k of the unjudged documents relevant, the sum is
    greatest for the k highest and least for the k lowest. Both sums grow by one term a step, so all k cost as much as
    one. ``room`` is how many relevant documents nobody may have retrieved beside the known ones, if no unjudged
    document is relevant: they enter the divisor alone, so the least average has as many as the k leave room for, and
    the greatest none. An unjudged document adds its ``credit`` to the sums at and below it, where they are greatest.
    """

    inverse: Floats
    holes: Flags
    so_far: Floats
    from_below: Floats
    total: Floats
    known: Floats
    room: Floats
    credit: float = 1.0

    @classmethod
    def of(cls, rankings: Rankings, rel: float, depth: int, *, of_retrieved: bool = False) -> Turns:
        rank = np.arange(1, rankings.width + 1)
        inverse = np.where(rank <= depth, 1 / rank, 0.0)
        judged = rankings.assume(0.0)
        so_far = judged.relevant_so_far(rel)
        # Turning a document relevant adds its own precision, and a term for each relevant document below it.
        at_relevant = judged.relevant(rel) * inverse
        known = so_far[..., depth - 1] if of_retrieved else judged.num_relevant(rel)
        return cls(
            inverse,
            rankings.holes & (rank <= depth) if of_retrieved else rankings.holes,
            so_far,
            at_relevant.sum(axis=-1, keepdims=True) - running_sums(at_relevant),
            (at_relevant * so_far).sum(axis=-1),
            known,
            np.zeros(known.shape) if of_retrieved else rankings.room(known),
        )

    def bounds(self) -> Bounds:
        return self.least(), self.greatest()

    def greatest(self, value: OfSums = quotient) -> Floats:
        holes, number = self._unjudged_counts
        added = self.so_far + number * self.credit
        added *= self.inverse
        added += self.from_below
        added *= holes
        sums = running_sums(added)
        sums += self.total[:, None]
        values = value(sums, self.known[:, None] + number)
        return np.maximum(value(self.total, self.known), values.max(axis=-1))

    def least(self, value: OfSums = quotient) -> Floats:
        holes, number = self._unjudged_counts
        at_holes = holes * self.inverse
        added = self.so_far + 1
        added *= self.inverse
        added += self.from_below
        added += at_holes.sum(axis=-1, keepdims=True)
        added -= running_sums(at_holes)  # what is left: unjudged documents below
        added *= holes
        sums = running_sums(added, upward=True)
        sums += self.total[:, None]
        beside_known = number[..., -1:] - number
        beside_known += holes
        if self.room.any():
            beside_known = np.maximum(beside_known, self.room[:, None])
        beside_known += self.known[:, None]
        values = value(sums, beside_known)
        return np.minimum(value(self.total, self.known + self.room), values.min(axis=-1))

    @cached_property
    def _unjudged_counts(self) -> tuple[Floats, Floats]:
        holes = self.holes.astype(np.float64)
        return holes, running_sums(holes)


class APRetrieved(OfFound):
    """The mean of the precisions at the ranks of the relevant documents retrieved (written AP*).

    A tempting but misleading variant of average precision that ignores what was not retrieved: finding more relevant
    documents far down lowers it. Given for comparison.

    Source: Moffat and Zobel 2008, section 3.1.
    """

    takes = ("rel", "cutoff")
    name = "AP*"
    sums_precisions = True
    aliases = ("APRetrieved",)
    value_range = (0.0, 1.0)
    example = ("APRetrieved", 0.8333)
    examples = ("AP*", "AP*@3")
    sources = ("moffat2008rank",)

    def value(self, rankings: Rankings) -> Floats:
        depth = self.depth(rankings)
        total = sum_of_precisions(rankings, self.rel, depth)
        return quotient(total, rankings.relevant_so_far(self.rel)[..., depth - 1])

    def bounds(self, rankings: Rankings) -> Bounds:
        return Turns.of(rankings, self.rel, self.depth(rankings), of_retrieved=True).bounds()

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        """However many relevant documents of a group are above the depth, all positions there are equally likely."""
        if not rankings.certain:
            return None
        at_cut = groups_at_cut(rankings, rankings.relevant(self.rel), self.depth(rankings))
        first, _, _, above, drawn = at_cut.columns
        before = np.take_along_axis(sums_before(expected_precisions(rankings, self.rel)), first, axis=-1)
        place = np.arange(int(drawn.max(initial=1)))
        inverse = np.where(place < drawn, 1 / (first + place + 1), 0.0)
        alone = inverse.sum(axis=-1, keepdims=True) / drawn
        with_earlier = (inverse * place).sum(axis=-1, keepdims=True) / np.maximum(drawn * (drawn - 1), 1)
        number = np.arange(int(at_cut.relevant.max(initial=0)) + 1)
        inside = number * ((above + 1) * alone + (number - 1) * with_earlier)
        average = quotient(before + inside, above + number)
        return np.einsum("ln,ln->l", chance_of_number(at_cut, number.size - 1), average)
