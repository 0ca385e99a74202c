"""Logarithms of average precision and bpref, so that topics that fail count."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.measures.bpref import Bpref
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.precision.average_precision import AP, Turns, sum_of_precisions
from rankbounds.rankings.rankings import Rankings

LEAST = 0.00001
"""What a topic counts at least, as in trec_eval: one topic at 0 would make the mean 0."""


class Logarithm(Measure):
    """The logarithm of another measure, which is at least ``LEAST``."""

    total = "geometric"

    def inner(self) -> Measure:
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        return _logarithm(self.inner().value(rankings))

    def bounds(self, rankings: Rankings) -> Bounds | None:
        return _logarithms(self.inner().bounds(rankings))

    def joint_bounds(self, rankings: Rankings) -> Bounds | None:
        return _logarithms(self.inner().joint_bounds(rankings))


def _logarithm(value: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(value, LEAST)))


def _logarithms(bounds: Bounds | None) -> Bounds | None:
    return None if bounds is None else (_logarithm(bounds[0]), _logarithm(bounds[1]))


class GMAP(Logarithm):
    """Average precision with a geometric mean over topics: it rewards systems that fail on no topic.

    For one topic the value is the natural logarithm of AP, which counts as at least 0.00001; over all topics, e to the
    mean of the logarithms: doubling AP on a hard topic weighs as much as on an easy one. Runs are compared by
    differences of plain means, not by this.

    Source: Robertson, On GMAP, CIKM 2006; as in trec_eval (gm_map), which prints the mean alone.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 3}, "r": {"c": 2, "b": 1}}
    >>> round(rb.evaluate(qrels, run, rb.measures.GMAP).mean().value.item(), 4)
    0.7071
    """

    takes = ("rel",)
    examples = ("GMAP", "GMAP(rel=2)")
    sources = ("robertson2006gmap",)
    collection_exactness = "exact"
    trec_names = ("gm_map",)

    def inner(self) -> Measure:
        return AP(rel=self.rel)


class GMBpref(Logarithm):
    """bpref with a geometric mean over topics; for one topic the natural logarithm of bpref, as GMAP is of AP.

    Source: as in trec_eval (gm_bpref), which prints the mean alone.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 3, "b": 2}}
    >>> round(rb.evaluate(qrels, run, rb.measures.GMBpref).mean().value.item(), 4)
    1.0
    """

    takes = ("rel",)
    examples = ("GMBpref", "GMBpref(rel=2)")
    collection_exactness = "outer"
    trec_names = ("gm_bpref",)
    judged_only = True

    def inner(self) -> Measure:
        return Bpref(rel=self.rel)


class YAAP(Measure):
    """The logarithm of (1 + SP) / (1 + R - SP), where SP is the sum of precisions and R counts relevant documents.

    It orders a topic's lists as AP does, but spreads out those near 0 and near 1, so that its mean over topics is not
    settled by the topics in between. It may be negative.

    Source: Robertson, On Smoothing Average Precision, ECIR 2012; as in trec_eval (yaap).
    """

    takes = ("rel",)
    example = ("YAAP", 0.1335)
    examples = ("YAAP", "YAAP(rel=2)")
    sources = ("robertson2012smoothing",)
    outside = "lowers"
    collection_exactness = "exact"
    trec_names = ("yaap",)

    def value(self, rankings: Rankings) -> Floats:
        total = sum_of_precisions(rankings, self.rel, rankings.width)
        return _log_odds(total, rankings.num_relevant(self.rel))

    def bounds(self, rankings: Rankings) -> Bounds:
        turns = Turns.of(rankings, self.rel, rankings.width)
        return turns.least(_log_odds), turns.greatest(_log_odds)

    def least_among(self, rankings: Rankings, lines: Ints, relevant: Floats) -> Floats:
        """It rises with the sum of precisions, least if nothing unjudged in the list is relevant, and falls with R."""
        total = sum_of_precisions(rankings.assume(0.0), self.rel, rankings.width)[lines]
        return _log_odds(total, relevant)


def _log_odds(total: Floats, relevant: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # of nothing, where any number of relevant documents may exist
        logarithm: Floats = np.log((1 + total) / (1 + relevant - total))
    return logarithm
