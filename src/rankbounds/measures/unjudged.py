"""Missing judgments."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import expected_count


class Unjudged(Measure):
    """How many of the first k documents nobody judged, divided by k (trec_eval's unj).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.Unjudged @ 2).value.item(), 4)
    0.5
    """

    cutoff: int | None = None

    name = "Unjudged"
    value_range = (0.0, 1.0)
    examples = ("Unjudged@3", "Unjudged@10")
    trec_names = ("unj_{cutoff}",)
    needs_cutoff = True
    as_retrieved = True
    list_only = True

    def value(self, rankings: Rankings) -> Floats:
        assert self.cutoff is not None
        return np.count_nonzero(rankings.holes[..., : self.depth(rankings)], axis=-1) / self.cutoff

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        assert self.cutoff is not None
        return expected_count(rankings, self.worth(rankings), self.depth(rankings)) / self.cutoff

    def worth(self, rankings: Rankings) -> Floats:
        return rankings.holes.astype(np.float64)

    def bounds(self, rankings: Rankings) -> Bounds:
        return (value := self.value(rankings)), value
