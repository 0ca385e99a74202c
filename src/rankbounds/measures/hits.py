"""Relevant documents counted to a depth."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import RankWeighted, count_to_depth
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count


class Hits(RankWeighted):
    """How many of the first k documents (without a depth: of those retrieved) are relevant; over topics, the mean.

    Source: as in ranx (hits).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.Hits @ 2).value.item(), 4)
    1.0
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "Hits"
    examples = ("Hits", "Hits@2", "Hits(rel=2)")
    value_range = (0.0, np.inf)

    def weights(self, n: int) -> Floats:
        return np.ones(n)

    def value(self, rankings: Rankings) -> Floats:
        return count_to_depth(self, rankings)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return expected_count(rankings, self.worth(rankings), self.depth(rankings))
