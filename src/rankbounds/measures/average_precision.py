"""Average precision."""

from __future__ import annotations

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure, quotient, share_of_known
from rankbounds.measures.sum_of_precisions import (
    Turns,
    expected_sum_of_precisions,
    joint_average_bounds,
    sum_of_precisions,
)
from rankbounds.rankings.rankings import Rankings


class AP(Measure):
    """The precisions at the ranks of the relevant documents, averaged over all R relevant documents known.

    A relevant document that is not retrieved (within the depth) contributes 0. The mean over topics is known as MAP.
    Judging more documents can raise or lower it, because R grows too: ``low`` and ``high`` are the exact extremes over
    all judgments the retrieved unjudged documents could get. With ``open="collection"``, ``low`` also covers relevant
    documents that nobody retrieved, up to R = ``most_relevant``; without that limit it is 0.

    AP = (1/R) * sum over relevant ranks i of (relevant documents down to i) / i.

    Source: as in trec_eval (map); Buckley and Voorhees, Evaluating Evaluation Measure Stability, SIGIR 2000.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.AP).value.item(), 4)
    0.5556
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "AP"
    value_range = (0.0, 1.0)
    aliases = ("MAP",)
    examples = ("AP", "AP@3", "AP(rel=2)")
    sources = ("buckley2000evaluating",)
    collection_exactness = "exact"
    vanishes = True
    trec_names = ("map", "map_cut_{cutoff}")

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
        return joint_average_bounds(rankings, self.rel, self.depth(rankings))
