"""Precision, recall, what combines the two, and success: relevant documents counted down to a depth.

The depth is k, or it is set by the list (measures of the whole retrieved set) or by the topic (R-precision).
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.measures.formulas import (
    BestRelevant,
    Counted,
    Share,
    ShareOfRelevant,
    count_to_depth,
    found_and_open,
    mean_over_found,
    quotient,
    share_of_known,
)
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import NOT_NEGATIVE, POSITIVE, parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count


class P(Counted):
    """The share of the first k documents that are relevant.

    A list shorter than k is scored as if non-relevant documents followed it, so P@10 of five relevant documents is 0.5.
    The order of the k does not matter, and if a topic has fewer than k relevant documents no system can reach 1.

    Source: as in trec_eval (P).
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    aliases = ("Precision",)
    example = ("P @ 2", 0.5)
    examples = ("P@1", "P@3", "P(rel=2)@3", "P@10")
    sources = ("buckley2005retrieval",)
    trec_names = ("P_{cutoff}",)
    needs_cutoff = True

    @property
    def over(self) -> int:
        return self.cutoff or 1


class Recall(ShareOfRelevant):
    """The share of the topic's known relevant documents that are among the first k (without a depth: retrieved).

    Relevant documents that nobody has found do not count, so recall is overestimated if judging is incomplete. ``low``
    and ``high`` say what the retrieved unjudged documents could change: relevant ones within the depth raise it,
    relevant ones below the depth lower it. With ``open="collection"``, ``low`` also covers relevant documents that
    nobody retrieved, up to ``most_relevant`` in all; without that limit it is 0.

    Source: as in trec_eval (recall, set_recall).
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    aliases = ("R",)
    example = ("Recall @ 3", 0.6667)
    examples = ("Recall", "Recall@3", "Recall(rel=2)@2")
    sources = ("buckley2005retrieval",)
    averaged = "documents"
    vanishes = True
    trec_names = ("recall_{cutoff}", "set_recall")

    def growth(self, rankings: Rankings) -> tuple[float, Floats, Floats]:
        return 1.0, np.zeros(rankings.length.size), np.full(rankings.length.size, np.inf)

    def shrinkage(self, rankings: Rankings) -> Floats:
        return share_of_known(rankings, self.rel)


def _read(cutoff: int | None, rankings: Rankings) -> Ints:
    return rankings.length if cutoff is None else np.full(rankings.length.size, cutoff)


class F(ShareOfRelevant):
    """The weighted harmonic mean of precision and recall among the first k documents (without a depth: of the list).

    ``beta`` is how many times as much recall matters as precision. As with recall, relevant documents that nobody has
    found do not count: relevant unjudged documents raise it above the depth and lower it below.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7 (F = 1 - E).
    """

    beta: float = parameter("How many times as much recall matters as precision.", NOT_NEGATIVE, default=1.0)

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    example = ("F(beta=2, cutoff=3)", 0.6667)
    examples = ("F@3", "F(beta=2)@2", "F", "F@10")
    sources = ("vanrijsbergen1979information",)
    trec_names = ("set_F",)
    vanishes = True

    def growth(self, rankings: Rankings) -> tuple[float, Floats, Floats]:
        read, weight = _read(self.cutoff, rankings), 1 + self.beta**2
        return self.beta**2 / weight, read / weight, np.full(read.size, np.inf)

    def divisor_for(self, relevant: Floats, rankings: Rankings) -> Floats:
        counted = self.beta**2 * relevant if self.beta else np.zeros(relevant.shape)  # there may be infinitely many
        return (counted + _read(self.cutoff, rankings)) / (1 + self.beta**2)

    def shrinkage(self, rankings: Rankings) -> Floats | None:
        if self.cutoff is None:  # lists of different lengths have different divisors
            return None
        known = rankings.facts.relevant(self.rel)[rankings.topic].astype(np.float64)
        return quotient(self.divisor_for(known, rankings), self.divisor_for(known + rankings.room(known), rankings))


class Shaw(Measure):
    """1 / (1/precision + 1/recall - 1) among the first k documents: the size of the intersection of these and the
    relevant documents, over that of their union.

    Source: Shaw, On the Foundation of Evaluation, JASIS 37(5), 1986; reviewed by Moffat and Zobel 2008, section 3.3.
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    example = ("Shaw @ 3", 0.5)
    examples = ("Shaw@3", "Shaw@10", "Shaw")
    sources = ("shaw1986foundation",)
    collection_exactness = "exact"
    outside = "lowers"
    vanishes = True

    def value(self, rankings: Rankings) -> Floats:
        found = rankings.relevant(self.rel)[..., : self.depth(rankings)].sum(axis=-1)
        return quotient(found, _read(self.cutoff, rankings) + rankings.num_relevant(self.rel) - found)

    def bounds(self, rankings: Rankings) -> Bounds:
        found, known, within, below = found_and_open(self, rankings)
        read = _read(self.cutoff, rankings)
        more = np.maximum(below, rankings.room(known))
        return quotient(found, read + known + more - found), quotient(found + within, read + known - found)

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        both = (_read(self.cutoff, rankings) + rankings.num_relevant(self.rel))[:, None]
        return mean_over_found(self, rankings, lambda found: quotient(found, np.maximum(both - found, 0.0)))


class RecallAll(Measure):
    """1 if all of the topic's known relevant documents are among the first k (without a depth: retrieved), else 0.

    Its mean is the share of questions with complete evidence, for answers that need all of it; Success@k asks for any
    of it. A topic without relevant documents scores 0. ``low`` and ``high``: an unjudged document above the depth can
    only be the first relevant one; one below, or outside of the list, can make a complete list incomplete.

    Source: recall_all@k of LongMemEval (Wu et al., ICLR 2025), which calls Success@k recall_any@k.
    """

    takes = ("rel", "cutoff")
    sources = ("wu2025longmemeval",)
    value_range = (0.0, 1.0)
    aliases = ("recall_all",)
    example = ("RecallAll @ 3", 0.0)
    examples = ("RecallAll@3", "RecallAll@5", "RecallAll")
    collection_exactness = "exact"
    outside = "lowers"
    vanishes = True

    def value(self, rankings: Rankings) -> Floats:
        found = rankings.relevant(self.rel)[..., : self.depth(rankings)].sum(axis=-1)
        known = rankings.num_relevant(self.rel)
        return ((found == known) & (known > 0)).astype(np.float64)

    def bounds(self, rankings: Rankings) -> Bounds:
        found, known, within, below = found_and_open(self, rankings)
        more, complete = np.maximum(below, rankings.room(known)), found == known
        low, high = complete & (known > 0) & (more == 0), complete & ((known > 0) | (within > 0))
        return low.astype(np.float64), high.astype(np.float64)

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        known = rankings.num_relevant(self.rel)[:, None]
        return mean_over_found(self, rankings, lambda found: ((found == known) & (known > 0)).astype(np.float64))


class Success(BestRelevant):
    """1 if at least one of the first k documents is relevant, else 0. Its mean is the share of topics served at all.

    Source: as in trec_eval (success).
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    aliases = ("HitRate",)
    example = ("Success @ 2", 1.0)
    examples = ("Success@1", "Success@3", "Success(rel=2)@2")
    trec_names = ("success_{cutoff}",)
    needs_cutoff = True

    def weights(self, n: int) -> Floats:
        return np.ones(n)


class SetP(Share):
    """The share of the documents retrieved that are relevant, whatever their number and order.

    For systems that return a set. P@k divides by k even if the list is shorter.

    Source: as in trec_eval (set_P).
    """

    takes = ("rel",)
    value_range = (0.0, 1.0)
    example = ("SetP", 0.6667)
    examples = ("SetP", "SetP(rel=2)")
    trec_names = ("set_P",)
    monotone = True
    multilinear = True
    list_only = True

    def divisor(self, rankings: Rankings) -> Floats:
        return rankings.length.astype(np.float64)

    @property
    def difference_basis(self) -> Measure:
        return F(beta=0.0, rel=self.rel)  # which counts recall for nothing


class RelP(ShareOfRelevant):
    """Precision among the first k documents over the highest possible (without a depth: among those retrieved).

    Precision if the topic has at least k relevant documents, recall if it has fewer: 1 can always be reached.

    Source: as in trec_eval (relative_P, set_relative_P); BEIR calls it capped recall (R_cap).
    """

    takes = ("rel", "cutoff")
    value_range = (0.0, 1.0)
    example = ("RelP @ 2", 0.5)
    examples = ("RelP", "RelP@2", "RelP@10", "RelP(rel=2)@3")
    trec_names = ("relative_P_{cutoff}", "set_relative_P")

    def growth(self, rankings: Rankings) -> tuple[float, Floats, Floats]:
        most = _read(self.cutoff, rankings)
        return 1.0, np.zeros(most.size), most.astype(np.float64)


class SetAP(Measure):
    """Set precision times recall: average precision for a list without an order.

    Every relevant document retrieved counts with the precision of the whole list, every other with 0.

    Source: as in trec_eval (set_map).
    """

    takes = ("rel",)
    value_range = (0.0, 1.0)
    example = ("SetAP", 0.4444)
    examples = ("SetAP", "SetAP(rel=2)")
    trec_names = ("set_map",)
    order_free = True
    monotone = True
    collection_exactness = "exact"
    outside = "lowers"
    vanishes = True

    def emptiest(self, rankings: Rankings) -> Rankings:
        """No unjudged document is relevant, and as many unretrieved ones as possible are."""
        judged = rankings.assume(0.0)
        return judged.with_elsewhere(judged.room(judged.num_relevant(self.rel))) if rankings.most_relevant else judged

    def value(self, rankings: Rankings) -> Floats:
        count = count_to_depth(self, rankings)
        length = np.maximum(rankings.length, 1)  # of an empty list nothing is found, however many are relevant
        return quotient(count * count, length * rankings.num_relevant(self.rel))


class RPrec(Measure):
    """Precision at depth R, where R is the number of the topic's known relevant documents.

    A perfect ranking reaches 1 on every topic with relevant documents. ``low`` and ``high`` are exact over the
    retrieved unjudged documents, each of which, if relevant, also raises R. With ``open="collection"`` they also cover
    relevant documents that nobody retrieved, up to R = ``most_relevant``: these lower it, or raise it if the list has
    relevant documents just below rank R. Without that limit ``low`` is 0. With ``times``, the depth is ``times`` R, and
    a remainder of 0.1 or more counts as one more document.

    Source: as in trec_eval (Rprec, Rprec_mult).
    """

    times: float = parameter("The depth as a multiple of R.", POSITIVE, default=1.0)

    takes = ("rel",)
    value_range = (0.0, 1.0)
    example = ("RPrec", 0.6667)
    examples = ("RPrec", "RPrec(rel=2)", "RPrec(times=0.4)", "RPrec(times=2)")
    sources = ("buckley2005retrieval",)
    trec_names = ("Rprec", "Rprec_mult_{times:.2f}")
    collection_exactness = "exact"
    vanishes = True
    difference_argument = "precision_at_r"

    def documents_read(self, number: Floats) -> Floats:
        return number if self.times == 1 else np.floor(self.times * number + 0.9)

    def value(self, rankings: Rankings) -> Floats:
        read = self.documents_read(rankings.num_relevant(self.rel))
        return quotient(_at(rankings.relevant_so_far(self.rel), read[:, None])[:, 0], read)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """A group cut by R counts by the share of it above the cut."""
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
        number = np.arange(width + 1.0)
        if self.times <= 1:  # no depth is left out
            return np.clip(number, self.documents_read(least), self.documents_read(most))
        return self.documents_read(np.clip(number, least, most))


def _at(so_far: Floats, depth: Floats) -> Floats:
    rank = np.minimum(depth, so_far.shape[-1]).astype(np.int64)
    return np.where(rank > 0, np.take_along_axis(so_far, np.maximum(rank - 1, 0), axis=-1), 0)
