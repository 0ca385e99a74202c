"""RankPower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.tied_draws import chance_of_number, groups_at_cut
from rankbounds.rankings import Rankings
from rankbounds.ties import group_means


@dataclass(frozen=True)
class RankPower(Measure):
    """The average rank of the relevant documents found, divided by their number: the lower, the better.

    At best it is a little above one half; without a relevant document it is infinite, and so is a mean over topics
    that holds such a one. Finding one more relevant document far down the list can make it worse.

    Source: Meng and Chen, Performance Evaluation of Web Search Engines, 2004; see Moffat and Zobel 2008, section 3.3.
    """

    rel: float = 1.0
    cutoff: int | None = None

    name: ClassVar[str] = "RankPower"
    examples: ClassVar[tuple[str, ...]] = ("RankPower", "RankPower@3")
    lower_is_better: ClassVar[bool] = True

    def value(self, rankings: Rankings) -> Floats:
        relevant = rankings.relevant(self.rel)[..., : self.depth(rankings)]
        return _power(relevant @ np.arange(1.0, relevant.shape[-1] + 1), relevant.sum(axis=-1))

    def bounds(self, rankings: Rankings) -> Bounds:
        # With k of the unjudged documents relevant, the best case has the k highest and the worst the k lowest.
        depth = self.depth(rankings)
        relevant = rankings.assume(0.0).relevant(self.rel)[..., :depth]
        holes = rankings.holes[..., :depth]
        rank = np.arange(1.0, depth + 1)
        ranks, number = relevant @ rank, relevant.sum(axis=-1)
        none = _power(ranks, number)
        extremes = []
        for ordered, places in ((holes, rank), (holes[..., ::-1], rank[::-1])):
            added = np.cumsum(np.where(ordered, places, 0.0), axis=-1)
            extremes.append(_power(ranks[:, None] + added, number[:, None] + np.cumsum(ordered, axis=-1)))
        return np.minimum(none, extremes[0].min(axis=-1)), np.maximum(none, extremes[1].max(axis=-1))

    def expected_over_ties(self, rankings: Rankings) -> Floats | None:
        if not rankings.certain:
            return None
        depth = self.depth(rankings)
        relevant = rankings.relevant(self.rel)
        at_cut = groups_at_cut(rankings, relevant, depth)
        rank = np.arange(rankings.width)
        above = rank < at_cut.first[:, None]
        ranks = np.where(above, group_means(rankings, relevant) * (rank + 1), 0.0).sum(axis=-1)
        number = np.arange(int(at_cut.relevant.max(initial=0)) + 1).astype(np.float64)
        middle = (at_cut.first + 1 + depth) / 2  # the mean rank of the group's places above the cut
        powers = _power(ranks[:, None] + middle[:, None] * number, at_cut.above[:, None] + number)
        chances = chance_of_number(at_cut, number.size - 1)
        expected: Floats = (chances * np.where(chances > 0, powers, 0.0)).sum(axis=-1)
        return expected


def _power(ranks: Floats, number: Floats) -> Floats:
    """The sum of ranks over the square of their number, infinite where there are none."""
    result = np.full(np.broadcast(ranks, number).shape, np.inf)
    return np.divide(ranks, number**2, out=result, where=number > 0)
