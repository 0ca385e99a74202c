"""Judging coverage."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure, quotient
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count


class Judged(Measure):
    """The share of the first k documents retrieved that somebody judged. Read it beside every other number.

    Where it is low, a score says more about what was judged than about the system. A list shorter than k is measured
    on the documents it has; an empty one counts as 0.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.Judged @ 2).value.item(), 4)
    0.5
    """

    cutoff: int | None = None

    name = "Judged"
    value_range = (0.0, 1.0)
    examples = ("Judged@3", "Judged@10")
    needs_cutoff = True
    as_retrieved = True
    list_only = True

    def value(self, rankings: Rankings) -> Floats:
        depth = self.depth(rankings)
        shown = np.minimum(rankings.length, depth)
        return quotient(shown - np.isnan(rankings.grade[..., :depth]).sum(axis=-1), shown)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        shown = np.minimum(rankings.length, self.depth(rankings))
        return quotient(expected_count(rankings, self.worth(rankings), shown), shown.astype(np.float64))

    def worth(self, rankings: Rankings) -> Floats:
        return (~rankings.holes).astype(np.float64)

    def bounds(self, rankings: Rankings) -> Bounds:
        return (value := self.value(rankings)), value
