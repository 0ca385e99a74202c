"""Which runs were pooled, as far as the judgments show: to which depth are (nearly) all of a run's documents judged?

A pool holds the first documents of the runs that contributed to it, so that all of these are judged. A run that did not
contribute has unjudged documents at every depth. Documents that the judgments list as pooled and not judged (-1) count
as pooled here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Flags, Ints
from rankbounds.probability.documents import POOLED_SHARE
from rankbounds.rankings.rankings import Rankings

NEARLY = 0.9
"""A run that is judged to this share of the pool's depth was pooled: a few may be missing for other reasons."""


@dataclass(frozen=True, eq=False)
class PoolDepth:
    """By run, the depth to which nearly all of its documents are judged; and the depth of the pool."""

    judged_to: Ints
    """The deepest rank such that 95% of the documents down to it, and of those at it, are in the pool; 0 for none."""
    pool: int
    """The depth that most runs are judged to; the deeper one of two that are as frequent; 0 where no run is."""

    @classmethod
    def of(cls, batches: Sequence[Sequence[Rankings]]) -> PoolDepth:
        """From the lists of each run, joined with their judgments."""
        judged_to = np.array([_judged_to(parts) for parts in batches])
        depth, count = np.unique(judged_to[judged_to > 0], return_counts=True)
        pool = int(depth[count == count.max()].max()) if depth.size else 0
        return cls(judged_to, pool)

    @property
    def pooled(self) -> Flags:
        """Which runs contributed to the pool, as far as the judgments show."""
        return (self.judged_to > 0) & (self.judged_to >= NEARLY * self.pool)


def _judged_to(parts: Sequence[Rankings]) -> int:
    width = max((rankings.width for rankings in parts), default=0)
    present, known = np.zeros((2, width))
    for rankings in parts:
        present[: rankings.width] += rankings.present.sum(axis=0)
        known[: rankings.width] += (rankings.present & (~rankings.holes | rankings.pooled_holes)).sum(axis=0)
    nearly_all = (known >= POOLED_SHARE * present) & (np.cumsum(known) >= POOLED_SHARE * np.cumsum(present))
    return int(np.flatnonzero(nearly_all & (present > 0)).max(initial=-1)) + 1
