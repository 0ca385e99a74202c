"""Average precision on a scale without ends."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Measure
from rankbounds.measures.sum_of_precisions import sum_of_precisions
from rankbounds.rankings.rankings import Rankings


class YAAP(Measure):
    """The logarithm of (1 + SP) / (1 + R - SP), where SP is the sum of precisions and R counts relevant documents.

    It orders a topic's lists as AP does, but spreads out those near 0 and near 1, so that its mean over topics is not
    settled by the topics in between. It may be negative.

    Source: Robertson, On Smoothing Average Precision, ECIR 2012; as in trec_eval (yaap).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.YAAP).value.item(), 4)
    0.1335
    """

    rel: float = 1.0

    name = "YAAP"
    examples = ("YAAP", "YAAP(rel=2)")
    sources = ("robertson2012smoothing",)
    collection_exactness = "exact"
    trec_names = ("yaap",)

    def value(self, rankings: Rankings) -> Floats:
        total = sum_of_precisions(rankings, self.rel, rankings.width)
        with np.errstate(divide="ignore"):  # of nothing, where any number of relevant documents may exist
            logarithm: Floats = np.log((1 + total) / (1 + rankings.num_relevant(self.rel) - total))
        return logarithm
