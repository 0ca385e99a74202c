"""AP*: average precision over the relevant documents that were retrieved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure, quotient
from rankbounds.measures.sum_of_precisions import average_bounds, sum_of_precisions
from rankbounds.rankings import Rankings


@dataclass(frozen=True)
class APRetrieved(Measure):
    """The precisions at the ranks of the relevant documents retrieved, averaged over those (written AP*).

    A tempting variant of average precision that asks nothing of what was not retrieved, and for that reason
    misleading: finding more relevant documents far down lowers it. Given for comparison.

    Source: Moffat and Zobel 2008, section 3.1.
    """

    rel: float = 1.0
    cutoff: int | None = None

    name: ClassVar[str] = "AP*"
    examples: ClassVar[tuple[str, ...]] = ("AP*", "AP*@3")
    list_only: ClassVar[bool] = True

    @property
    def promotable(self) -> bool:  # type: ignore[override]
        """With a depth, a document that moves up across it enters the average and may lower it."""
        return self.cutoff is None

    def value(self, rankings: Rankings) -> Floats:
        depth = self.depth(rankings)
        total = sum_of_precisions(rankings, self.rel, depth)
        return quotient(total, rankings.relevant_so_far(self.rel)[..., depth - 1])

    def bounds(self, rankings: Rankings) -> Bounds:
        return average_bounds(rankings, self.rel, self.depth(rankings), of_retrieved=True)
