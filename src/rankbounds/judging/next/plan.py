"""Which documents to judge so that a comparison is settled, best first, and how many judgments that takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.notebook import shown
from rankbounds.tables import table_of

FIELDS = ("query_id", "doc_id", "value", "probability", "effect")
ALL = "all"
SETTLED = "settled"


@dataclass(frozen=True)
class Needed:
    """How many judgments it takes, from simulated rounds of judging; None where a round never got there."""

    until: str
    simulations: int
    settled: float
    """The share of simulated rounds that got there at all."""
    median: int | None
    low: int | None
    high: int | None
    unjudged: int
    """How many documents could be judged."""

    def row(self) -> dict[str, Any]:
        """The fields as a dict."""
        return dict(vars(self))


@dataclass(frozen=True)
class SettlingPlan:
    """Documents in the order in which their judgments are expected to settle most.

    ``value`` is in units of the measure; ``effect`` is what the document adds if it is as relevant as can be, to the
    difference or, without a comparison, to all runs' means together.
    """

    query_ids: list[str]
    doc_ids: list[str]
    value: Floats
    probability: Floats
    effect: Floats
    pairs: tuple[tuple[str, str], ...]
    """Whom it is about; nothing where documents are valued for all runs' scores."""
    better: tuple[float, ...]
    """For each pair, how likely the first run is the better one, taken as normal."""
    settled: tuple[bool, ...]
    """For each pair, is it settled whatever the unjudged documents turn out to be?"""
    number_unjudged: int
    needed: Needed | None = None
    remarks: tuple[str, ...] = ()
    bounds: tuple[tuple[float, float], ...] = ()
    """For each pair, the least and the greatest difference that are left, turned so that more is better."""
    likely: tuple[float, float] | None = None
    """Of one pair that is open, how likely each run is the better one, as ``compare`` tells it."""
    unpooled: frozenset[str] = frozenset()
    """Runs of whose first documents too few are judged to estimate how likely anything is."""

    def __len__(self) -> int:
        return len(self.doc_ids)

    @property
    def is_settled(self) -> bool:
        """Is the question settled, so that nothing is left to judge for it?"""
        return bool(self.pairs) and all(self.settled)

    def without_documents(self) -> SettlingPlan:
        """The plan where nothing is left to judge."""
        nothing: Floats = np.empty(0)
        return replace(self, query_ids=[], doc_ids=[], value=nothing, probability=nothing, effect=nothing)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each document: ``query_id, doc_id, value, probability, effect``."""
        columns = (self.query_ids, self.doc_ids, self.value.tolist(), self.probability.tolist(), self.effect.tolist())
        return [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]

    def _repr_html_(self) -> str:
        words = f"{len(self):,} of {self.number_unjudged:,} unjudged documents, those first that settle most."
        return shown(table_of(self.rows(), FIELDS), words, *self.remarks)

    def pool(self) -> Qrels:
        """The documents as a pool: judgments of grade -1, to be filled in."""
        return Qrels.from_columns(self.query_ids, self.doc_ids, [POOLED_NOT_JUDGED] * len(self), source="plan")
