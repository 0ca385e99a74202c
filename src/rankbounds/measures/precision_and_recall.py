"""Precision, recall, what combines the two, and success: relevant documents counted down to a depth."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import UsageError
from rankbounds.measures.measure import (
    BestRelevant,
    Bounds,
    Measure,
    RankWeighted,
    ShareOfRelevant,
    count_to_depth,
    found_and_open,
    quotient,
    share_of_known,
)
from rankbounds.measures.tied_draws import chance_of_number, groups_at_cut
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count, expected_products


class P(RankWeighted):
    """The share of the first k documents that are relevant.

    A list shorter than k is scored as if non-relevant documents followed it, so that P@10 of five relevant documents
    is 0.5. It does not matter where among the k they stand, and where a topic has fewer than k relevant documents no
    system can reach 1.

    Source: as in trec_eval (P).

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.P @ 2).value.item(), 4)
    0.5
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "P"
    value_range = (0.0, 1.0)
    aliases = ("Precision",)
    examples = ("P@1", "P@3", "P(rel=2)@3", "P@10")
    sources = ("buckley2005retrieval",)
    trec_names = ("P_{cutoff}",)
    needs_cutoff = True

    def weights(self, n: int) -> Floats:
        assert self.cutoff is not None
        return np.full(n, 1 / self.cutoff)

    def value(self, rankings: Rankings) -> Floats:
        """Counted first and divided once: equally many documents give the same value to the last bit."""
        assert self.cutoff is not None
        return count_to_depth(self, rankings) / self.cutoff

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        assert self.cutoff is not None
        return expected_count(rankings, self.worth(rankings), self.depth(rankings)) / self.cutoff


class Recall(ShareOfRelevant):
    """The share of the topic's known relevant documents that are among the first k (without a depth: retrieved).

    Relevant documents that nobody has found do not count, so that recall is an over-estimate wherever judging is
    incomplete. ``low`` and ``high`` say what the retrieved unjudged documents could change: relevant ones within the
    depth raise it, relevant ones below the depth lower it. With ``open="collection"``, ``low`` also covers relevant
    documents that nobody retrieved, up to ``most_relevant`` in all; without that limit it is 0.

    Source: as in trec_eval (recall, set_recall).

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.Recall @ 3).value.item(), 4)
    0.6667
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "Recall"
    value_range = (0.0, 1.0)
    aliases = ("R",)
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
    """How many documents precision is taken over: the depth, or without one the whole list."""
    return rankings.length if cutoff is None else np.full(rankings.length.size, cutoff)


class F(ShareOfRelevant):
    """The weighted harmonic mean of precision and recall among the first k documents (without a depth: of the list).

    ``beta`` is how many times as much recall matters as precision. As with recall, relevant documents that nobody has
    found do not count. ``low`` and ``high``: unjudged documents above the depth raise it when relevant, those below
    lower it.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7 (F = 1 - E).

    Parameters
    ----------
    beta : float, default 1
        How many times as much recall matters as precision.

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.F(beta=2, cutoff=3)).value.item(), 4)
    0.6667
    """

    beta: float = 1.0
    rel: float = 1.0
    cutoff: int | None = None

    name = "F"
    value_range = (0.0, 1.0)
    examples = ("F@3", "F(beta=2)@2", "F", "F@10")
    sources = ("vanrijsbergen1979information",)
    trec_names = ("set_F",)
    vanishes = True

    def check(self) -> None:
        if not 0 <= self.beta < np.inf:
            raise UsageError(f"F: beta must not be negative, and finite, not {self.beta}.")

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
    """1 / (1/precision + 1/recall - 1) among the first k documents: of the documents that are among them or relevant
    or both, the share that are both.

    Source: Shaw, On the Foundation of Evaluation, JASIS 37(5), 1986; reviewed by Moffat and Zobel 2008, section 3.3.

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.Shaw @ 3).value.item(), 4)
    0.5
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "Shaw"
    value_range = (0.0, 1.0)
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
        if rankings.tied is None:
            return self.value(rankings)
        if not rankings.certain:
            return None
        at_cut = groups_at_cut(rankings, rankings.relevant(self.rel), self.depth(rankings))
        number = np.arange(int(at_cut.relevant.max(initial=0)) + 1).astype(np.float64)
        found: Floats = at_cut.above[:, None] + number
        either = (_read(self.cutoff, rankings) + rankings.num_relevant(self.rel))[:, None] - found
        chances = chance_of_number(at_cut, number.size - 1)
        values: Floats = quotient(found, np.maximum(either, 0.0))
        return np.einsum("ln,ln->l", chances, values)


class Success(BestRelevant):
    """1 if at least one of the first k documents is relevant, else 0. Its mean is the share of topics served at all.

    Source: as in trec_eval (success).

    Examples
    --------
    >>> round(rb.evaluate(qrels, run, rb.Success @ 2).value.item(), 4)
    1.0
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "Success"
    value_range = (0.0, 1.0)
    aliases = ("HitRate",)
    examples = ("Success@1", "Success@3", "Success(rel=2)@2")
    trec_names = ("success_{cutoff}",)
    needs_cutoff = True

    def weights(self, n: int) -> Floats:
        return np.ones(n)

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)[..., : self.depth(rankings)]
        return 1 - (1 - relevant).prod(axis=-1)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return 1 - expected_products(rankings, 1 - rankings.relevant(self.rel))[..., self.depth(rankings) - 1]
