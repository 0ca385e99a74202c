"""How many topics a mean is over."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.counts import Count
from rankbounds.rankings.rankings import Rankings


class NumQ(Count):
    """How many topics were scored: 1 for each of them.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 3}, "r": {"c": 2}}
    >>> rb.evaluate(qrels, {"bm25": run}, rb.NumQ).mean().to_dict()
    {'bm25': {'NumQ': {'all': 2.0}}}
    """

    name = "NumQ"
    examples = ("NumQ",)
    trec_names = ("num_q",)
    list_only = True
    as_retrieved = True

    def value(self, rankings: Rankings) -> Floats:
        return np.ones(rankings.length.size)
