"""Counts: how many documents were retrieved, are relevant, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Measure
from rankbounds.rankings.rankings import Rankings


@dataclass(frozen=True)
class Count(Measure):
    """A number of documents, whatever their order."""

    total: ClassVar[Literal["mean", "sum"]] = "sum"
    monotone: ClassVar[bool] = True
    multilinear: ClassVar[bool] = True

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        return self.value(rankings)


@dataclass(frozen=True)
class NumRet(Count):
    """How many documents were retrieved; over all topics, the sum."""

    name: ClassVar[str] = "NumRet"
    examples: ClassVar[tuple[str, ...]] = ("NumRet",)
    trec_names: ClassVar[tuple[str, ...]] = ("num_ret",)
    list_only: ClassVar[bool] = True
    as_retrieved: ClassVar[bool] = True

    def value(self, rankings: Rankings) -> Floats:
        return rankings.length.astype(np.float64)


@dataclass(frozen=True)
class NumRel(Count):
    """How many relevant documents are known for the topic; over all topics, the sum."""

    rel: float = 1.0

    name: ClassVar[str] = "NumRel"
    examples: ClassVar[tuple[str, ...]] = ("NumRel", "NumRel(rel=2)")
    trec_names: ClassVar[tuple[str, ...]] = ("num_rel",)

    def value(self, rankings: Rankings) -> Floats:
        return rankings.num_relevant(self.rel)


@dataclass(frozen=True)
class NumRelRet(Count):
    """How many relevant documents were retrieved; over all topics, the sum."""

    rel: float = 1.0

    name: ClassVar[str] = "NumRelRet"
    examples: ClassVar[tuple[str, ...]] = ("NumRelRet", "NumRelRet(rel=2)")
    trec_names: ClassVar[tuple[str, ...]] = ("num_rel_ret",)
    list_only: ClassVar[bool] = True

    def value(self, rankings: Rankings) -> Floats:
        return rankings.relevant(self.rel).sum(axis=-1)
