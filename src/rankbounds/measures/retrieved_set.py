"""What a list holds, in whatever order: set precision, relative precision, set precision times recall."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure, Share, count_to_depth, quotient
from rankbounds.measures.recall import found_and_open
from rankbounds.rankings.rankings import Rankings


class SetP(Share):
    """The share of the documents retrieved that are relevant, however many there are and in whatever order.

    For systems that return a set. P@k divides by k even where the list is shorter.

    Source: as in trec_eval (set_P).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
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


class RelP(Share):
    """Precision among the first k documents divided by the highest that any list could have (without a depth: among
    those retrieved).

    Precision where the topic has at least k relevant documents, recall where it has fewer: 1 can always be reached.

    Source: as in trec_eval (relative_P, set_relative_P); BEIR calls it capped recall (R_cap).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.RelP @ 2).value.item(), 4)
    0.5
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "RelP"
    value_range = (0.0, 1.0)
    examples = ("RelP", "RelP@2", "RelP@10", "RelP(rel=2)@3")
    collection_exactness = "exact"
    trec_names = ("relative_P_{cutoff}", "set_relative_P")

    def divisor(self, rankings: Rankings) -> Floats:
        return np.minimum(rankings.num_relevant(self.rel), self._most(rankings))

    def _most(self, rankings: Rankings) -> Floats:
        return (rankings.length if self.cutoff is None else np.full(rankings.length.size, self.cutoff)).astype(float)

    def bounds(self, rankings: Rankings) -> Bounds:
        found, known, within, below = found_and_open(self, rankings)
        most = self._most(rankings)
        low = quotient(found, np.minimum(known + np.maximum(below, rankings.room(known)), most))
        return low, quotient(found + within, np.minimum(known + within, most))


class SetAP(Measure):
    """Set precision times recall: average precision for a list without an order.

    Every relevant document retrieved counts with the precision of the whole list, every other with 0.

    Source: as in trec_eval (set_map).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
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
