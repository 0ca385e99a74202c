"""Recall."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.measures.measure import Bounds, Measure, Share, quotient, share_of_known
from rankbounds.rankings.rankings import Rankings


class Recall(Share):
    """The share of the topic's known relevant documents that are among the first k (without a depth: retrieved).

    Relevant documents that nobody has found do not count, so that recall is an over-estimate wherever judging is
    incomplete. ``low`` and ``high`` say what the retrieved unjudged documents could change: relevant ones within the
    depth raise it, relevant ones below the depth lower it. With ``open="collection"``, ``low`` also covers relevant
    documents that nobody retrieved, up to ``most_relevant`` in all; without that limit it is 0.

    Source: as in trec_eval (recall, set_recall).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
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
    collection_exactness = "exact"
    vanishes = True
    trec_names = ("recall_{cutoff}", "set_recall")

    def divisor(self, rankings: Rankings) -> Floats:
        return rankings.num_relevant(self.rel)

    def shrinkage(self, rankings: Rankings) -> Floats:
        return share_of_known(rankings, self.rel)

    def bounds(self, rankings: Rankings) -> Bounds:
        found, known, within, below = found_and_open(self, rankings)
        return quotient(found, known + np.maximum(below, rankings.room(known))), quotient(
            found + within, known + within
        )


def found_and_open(measure: Measure, rankings: Rankings) -> tuple[Floats, Floats, Ints, Ints]:
    """Relevant documents found, relevant ones known, and unjudged ones above and below the depth."""
    judged, depth = rankings.assume(0.0), measure.depth(rankings)
    found = judged.relevant(measure.rel)[..., :depth].sum(axis=-1)
    within = np.count_nonzero(rankings.holes[..., :depth], axis=-1)
    return found, judged.num_relevant(measure.rel), within, rankings.num_holes - within
