"""Precision at a depth."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import RankWeighted, count_to_depth
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count


class P(RankWeighted):
    """The share of the first k documents that are relevant.

    A list shorter than k is scored as if non-relevant documents followed it, so that P@10 of five relevant documents
    is 0.5. It does not matter where among the k they stand, and where a topic has fewer than k relevant documents no
    system can reach 1.

    Source: as in trec_eval (P).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
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
