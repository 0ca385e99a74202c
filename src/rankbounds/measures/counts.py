"""Counts: how many documents were retrieved, are relevant, or both."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.facts import Exactness, Total
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.rankings.rankings import Rankings


class Count(Measure):
    """A number of documents, whatever their order."""

    total: ClassVar[Total] = "sum"
    monotone: ClassVar[bool] = True
    multilinear: ClassVar[bool] = True
    value_range: ClassVar[tuple[float, float]] = (0.0, np.inf)

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

    name: ClassVar[str] = "NumRet"
    examples: ClassVar[tuple[str, ...]] = ("NumRet",)
    trec_names: ClassVar[tuple[str, ...]] = ("num_ret",)
    list_only: ClassVar[bool] = True
    as_retrieved: ClassVar[bool] = True

    def value(self, rankings: Rankings) -> Floats:
        return rankings.length.astype(np.float64)


class NumRel(Count):
    """How many relevant documents are known for the topic; over all topics, the sum.

    Parameters
    ----------
    rel : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.NumRel).value.item(), 4)
    3.0
    """

    rel: float = 1.0

    name: ClassVar[str] = "NumRel"
    examples: ClassVar[tuple[str, ...]] = ("NumRel", "NumRel(rel=2)")
    collection_exactness: ClassVar[Exactness] = "exact"
    trec_names: ClassVar[tuple[str, ...]] = ("num_rel",)

    def value(self, rankings: Rankings) -> Floats:
        return rankings.num_relevant(self.rel)

    def fullest(self, rankings: Rankings) -> Rankings:
        most = rankings.assume(1.0)
        return most.with_elsewhere(most.room(most.num_relevant(self.rel)))


class NumRelRet(Count):
    """How many relevant documents were retrieved; over all topics, the sum.

    Parameters
    ----------
    rel : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.NumRelRet).value.item(), 4)
    2.0
    """

    rel: float = 1.0

    name: ClassVar[str] = "NumRelRet"
    examples: ClassVar[tuple[str, ...]] = ("NumRelRet", "NumRelRet(rel=2)")
    trec_names: ClassVar[tuple[str, ...]] = ("num_rel_ret",)
    list_only: ClassVar[bool] = True

    def value(self, rankings: Rankings) -> Floats:
        return rankings.relevant(self.rel).sum(axis=-1)


class NumNonRelRet(Count):
    """How many documents that were judged and are not relevant were retrieved; over all topics, the sum.

    Parameters
    ----------
    rel : float, default 1
        The lowest grade that counts as relevant.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 3, "b": 2, "x": 1}}
    >>> round(rb.evaluate(qrels, run, rb.NumNonRelRet).value.item(), 4)
    1.0
    """

    rel: float = 1.0

    name: ClassVar[str] = "NumNonRelRet"
    examples: ClassVar[tuple[str, ...]] = ("NumNonRelRet", "NumNonRelRet(rel=2)")
    trec_names: ClassVar[tuple[str, ...]] = ("num_nonrel_judged_ret",)
    monotone: ClassVar[bool] = False
    multilinear: ClassVar[bool] = False
    list_only: ClassVar[bool] = True

    def value(self, rankings: Rankings) -> Floats:
        return (rankings.present & (rankings.grade < self.rel)).sum(axis=-1).astype(np.float64)

    def bounds(self, rankings: Rankings) -> Bounds:
        return (value := self.value(rankings)), value + rankings.num_holes
