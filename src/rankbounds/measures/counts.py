"""Counts: how many documents were retrieved, are relevant, or both."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.rankings.rankings import Rankings


class Count(Measure):
    """A number of documents, whatever their order."""

    total = "sum"
    monotone = True
    multilinear = True
    value_range = (0.0, np.inf)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return self.value(rankings)


class NumRet(Count):
    """How many documents were retrieved; over all topics, the sum.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.NumRet).value.item(), 4)
    3.0
    """

    name = "NumRet"
    examples = ("NumRet",)
    trec_names = ("num_ret",)
    list_only = True
    as_retrieved = True

    def value(self, rankings: Rankings) -> Floats:
        return rankings.length.astype(np.float64)


class NumRel(Count):
    """How many relevant documents are known for the topic; over all topics, the sum.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.NumRel).value.item(), 4)
    3.0
    """

    rel: float = 1.0

    name = "NumRel"
    examples = ("NumRel", "NumRel(rel=2)")
    collection_exactness = "exact"
    trec_names = ("num_rel",)

    def value(self, rankings: Rankings) -> Floats:
        return rankings.num_relevant(self.rel)

    def fullest(self, rankings: Rankings) -> Rankings:
        most = rankings.assume(1.0)
        return most.with_elsewhere(most.room(most.num_relevant(self.rel)))


class NumRelRet(Count):
    """How many relevant documents were retrieved; over all topics, the sum.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.NumRelRet).value.item(), 4)
    2.0
    """

    rel: float = 1.0

    name = "NumRelRet"
    examples = ("NumRelRet", "NumRelRet(rel=2)")
    trec_names = ("num_rel_ret",)
    list_only = True

    def value(self, rankings: Rankings) -> Floats:
        return rankings.relevant(self.rel).sum(axis=-1)


class NumNonRelRet(Count):
    """How many documents that were judged and are not relevant were retrieved; over all topics, the sum.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 3, "b": 2, "x": 1}}
    >>> round(rb.evaluate(qrels, run, rb.NumNonRelRet).value.item(), 4)
    1.0
    """

    rel: float = 1.0

    name = "NumNonRelRet"
    examples = ("NumNonRelRet", "NumNonRelRet(rel=2)")
    trec_names = ("num_nonrel_judged_ret",)
    monotone = False
    multilinear = False
    list_only = True

    def value(self, rankings: Rankings) -> Floats:
        return (rankings.present & (rankings.grade < self.rel)).sum(axis=-1).astype(np.float64)

    def bounds(self, rankings: Rankings) -> Bounds:
        return (value := self.value(rankings)), value + rankings.num_holes
