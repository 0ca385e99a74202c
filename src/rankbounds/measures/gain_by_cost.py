"""Gain divided by the logarithm of what was read in vain before it."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure, quotient
from rankbounds.rankings.rankings import Rankings


class BinG(Measure):
    """Over all R relevant documents known, the mean of 1 / log2(2 + non-relevant documents above it).

    Between AP and nDCG: only what was read in vain is discounted, so that a list whose relevant documents come first
    has 1, however many there are. A relevant document that is not retrieved adds 0.

    Source: as in trec_eval (binG), which calls it experimental.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.BinG).value.item(), 4)
    0.5436
    """

    rel: float = 1.0

    name = "BinG"
    examples = ("BinG", "BinG(rel=2)")
    trec_names = ("binG",)

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)
        in_vain = np.arange(1, rankings.width + 1) - rankings.relevant_so_far(self.rel)
        return quotient((relevant / np.log2(2 + in_vain)).sum(axis=-1), rankings.num_relevant(self.rel))


class G(Measure):
    """The gains of the documents, each divided by log2(2 + what reading so far cost - what it gained), over all gains
    that the topic has.

    Reading a document costs what the ideal ranking gains at that rank, and at least 1. With binary judgments it is
    BinG. No bounds are known.

    Source: as in trec_eval (G), which calls it experimental.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.G).value.item(), 4)
    0.6309
    """

    name = "G"
    examples = ("G",)
    trec_names = ("G",)
    graded = True
    promotable = False
    exactness = "unknown"

    def value(self, rankings: Rankings) -> Floats:
        gain = rankings.gain()
        most = int((rankings.facts.count_from_level[0][rankings.topic] + rankings.num_holes).max(initial=1))
        ideal = rankings.ideal(max(rankings.width, most))
        cost = np.cumsum(np.maximum(ideal[..., : rankings.width], 1.0), axis=-1)
        in_vain = cost - np.cumsum(gain, axis=-1)
        return quotient((gain / np.log2(2 + in_vain)).sum(axis=-1), ideal.sum(axis=-1))

    def bounds(self, rankings: Rankings) -> Bounds | None:  # noqa: ARG002
        return None
