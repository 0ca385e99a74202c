"""Preparation of runs: merge chunks and equal ids into documents, drop self-matches, cut at a depth or budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.choices import check_count
from rankbounds.collection.order import Costs, Order, Precision, TieKey, check_tie_key, ranked_rows, ranks
from rankbounds.collection.run import Run
from rankbounds.collection.same_documents import same_documents, under_other_ids
from rankbounds.columns.ids import Ids
from rankbounds.errors import UsageError

COUNTS = 5
"""What preparation counts, in ``words``."""


@dataclass(frozen=True)
class Preparation:
    """Changes to every run, in this order: chunks to documents, equal ids, self-matches, depth, budget."""

    drop_self: bool = False
    documents_of: str | None = None
    depth: int | None = None
    order: Order = "trec"
    precision: Precision = "double"
    tie_key: TieKey | None = None
    same_as: Any = None
    budget: float | None = None
    costs: Any = None
    """What documents cost: a mapping, or a file."""

    def __post_init__(self) -> None:
        if self.same_as is not None:
            object.__setattr__(self, "same_as", same_documents(self.same_as))
        if self.documents_of == "":
            raise UsageError(
                "The separator between a document's id and its chunk's cannot be empty; it is a character such as #."
            )
        if self.depth is not None:
            check_count("The depth of lists", self.depth)
        if (self.budget is None) != (self.costs is None):
            raise UsageError("A budget goes with the costs of documents: --budget with --costs (budget=, costs=).")
        if self.costs is not None and not isinstance(self.costs, Costs):
            object.__setattr__(self, "costs", Costs(self.costs))
        if self.budget is not None and not (self.budget > 0 and np.isfinite(self.budget)):
            raise UsageError(f"A budget is a number above 0, not {self.budget:g}.")
        if self.depth is not None or self.budget is not None:
            check_tie_key(self.order, self.tie_key)

    def __bool__(self) -> bool:
        given = [self.documents_of, self.same_as, self.depth, self.budget]
        return self.drop_self or given != [None] * len(given)

    def __call__(self, run: Run) -> Run:
        if not self:
            return run
        run, counts = self.counted(run)
        return run.changed(prepared=self.words(counts))

    def counted(self, run: Run) -> tuple[Run, Ints]:
        counts: Ints = np.zeros(COUNTS, dtype=np.int64)
        if self.documents_of is not None:
            counts[0] = len(run)
            docs = run.pairs.docs
            before = _length_before(docs, self.documents_of.encode())
            run = under_other_ids(run, Ids(docs.text, docs.start, before))
            counts[1] = len(run)
        if self.same_as is not None:
            run = self.same_as.run(run)
        if self.drop_self:
            itself = run.pairs.docs.equals(Ids.of(list(run.pairs.topics)).take(run.pairs.topic))
            run = run.take(np.flatnonzero(~itself))
            counts[2] = np.count_nonzero(itself)
        if self.depth is not None:
            kept = np.flatnonzero(ranks(run, self.order, self.precision, self.tie_key) <= self.depth)
            counts[3] = len(run) - kept.size
            run = run.take(kept)
        if self.budget is not None and len(run):
            rows, _ = ranked_rows(run, order=self.order, precision=self.precision, tie_key=self.tie_key)
            kept = np.sort(self.costs.within(self.budget, run.pairs, rows))
            counts[4] = len(run) - kept.size
            run = run.take(kept)
        return run, counts

    def words(self, counts: Ints) -> str:
        chunks, documents, itself, left_out, unpaid = counts.tolist()
        done = []
        if self.documents_of is not None:
            done.append(f"{chunks:,} chunks of {documents:,} documents")
        if self.same_as is not None:
            done.append("equal ids joined")
        if self.drop_self:
            done.append(f"{itself:,} self-matches dropped")
        if self.depth is not None:
            done.append(f"depth {self.depth:,} ({left_out:,} documents left out)")
        if self.budget is not None:
            done.append(f"budget {self.budget:,g} ({unpaid:,} documents left out)")
        return ", ".join(done)


def _length_before(ids: Ids, separator: bytes) -> Ints:
    text = ids.text
    at = np.flatnonzero(text[: text.size - len(separator) + 1] == separator[0])
    for offset, byte in enumerate(separator[1:], 1):
        at = at[text[at + offset] == byte]
    if not at.size:
        return ids.length
    last = np.searchsorted(at, ids.start + ids.length - len(separator), side="right") - 1
    before = at[np.maximum(last, 0)] - ids.start
    return np.where((last >= 0) & (before > 0), before, ids.length)
