"""Precision and recall at a depth in one number: F and Shaw's combination."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import UsageError
from rankbounds.measures.measure import Bounds, Measure, Share, quotient
from rankbounds.measures.recall import found_and_open
from rankbounds.measures.tied_draws import chance_of_number, groups_at_cut
from rankbounds.rankings.rankings import Rankings


def _read(cutoff: int | None, rankings: Rankings) -> Ints:
    """How many documents precision is taken over: the depth, or without one the whole list."""
    return rankings.length if cutoff is None else np.full(rankings.length.size, cutoff)


class F(Share):
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
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
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
    collection_exactness = "exact"
    vanishes = True

    def check(self) -> None:
        if not 0 <= self.beta < np.inf:
            raise UsageError(f"F: beta must not be negative, and finite, not {self.beta}.")

    def divisor(self, rankings: Rankings) -> Floats:
        return self._over(rankings.num_relevant(self.rel), rankings)

    def _over(self, relevant: Floats, rankings: Rankings) -> Floats:
        counted = self.beta**2 * relevant if self.beta else np.zeros(relevant.shape)  # there may be infinitely many
        return (counted + _read(self.cutoff, rankings)) / (1 + self.beta**2)

    def shrinkage(self, rankings: Rankings) -> Floats | None:
        if self.cutoff is None:  # lists of different lengths have different divisors
            return None
        known = rankings.facts.relevant(self.rel)[rankings.topic].astype(np.float64)
        return quotient(self._over(known, rankings), self._over(known + rankings.room(known), rankings))

    def bounds(self, rankings: Rankings) -> Bounds:
        found, known, within, below = found_and_open(self, rankings)
        low = quotient(found, self._over(known + np.maximum(below, rankings.room(known)), rankings))
        return low, quotient(found + within, self._over(known + within, rankings))


class Shaw(Measure):
    """1 / (1/precision + 1/recall - 1) among the first k documents: of the documents that are among them or relevant
    or both, the share that are both.

    Source: Shaw, On the Foundation of Evaluation, JASIS 37(5), 1986; reviewed by Moffat and Zobel 2008, section 3.3.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
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
