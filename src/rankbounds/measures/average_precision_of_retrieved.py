"""AP*: average precision over the relevant documents that were retrieved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.measures.measure import Bounds, Measure, quotient
from rankbounds.measures.sum_of_precisions import Turns, expected_precisions, sum_of_precisions
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import chance_drawn, reordered


class APRetrieved(Measure):
    """The precisions at the ranks of the relevant documents retrieved, averaged over those (written AP*).

    A tempting variant of average precision that asks nothing of what was not retrieved, and for that reason
    misleading: finding more relevant documents far down lowers it. Given for comparison.

    Source: Moffat and Zobel 2008, section 3.1.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1, "b": 0, "c": 1, "d": 1}}, {"q": {"a": 3, "b": 2, "c": 1}}
    >>> round(rb.evaluate(qrels, run, rb.APRetrieved).value.item(), 4)
    0.8333
    """

    rel: float = 1.0
    cutoff: int | None = None

    name = "AP*"
    aliases = ("APRetrieved",)
    value_range = (0.0, 1.0)
    examples = ("AP*", "AP*@3")
    sources = ("moffat2008rank",)
    list_only = True

    @property
    def promotable(self) -> bool:  # type: ignore[override]
        """With a depth, a document that moves up across it enters the average and may lower it."""
        return self.cutoff is None

    def value(self, rankings: Rankings) -> Floats:
        depth = self.depth(rankings)
        total = sum_of_precisions(rankings, self.rel, depth)
        return quotient(total, rankings.relevant_so_far(self.rel)[..., depth - 1])

    def bounds(self, rankings: Rankings) -> Bounds:
        return Turns.of(rankings, self.rel, self.depth(rankings), of_retrieved=True).bounds()

    def tie_bounds(self, rankings: Rankings) -> Bounds:
        worst, best = (reordered(rankings, self.worth(rankings), best=best) for best in (False, True))
        low, high = self.value(worst), self.value(best)
        cut = _CutGroups.of(rankings, self.rel, self.depth(rankings))
        if cut is not None:
            low[cut.row] = np.nanmin(cut.averages(worst, self.rel, best=False), axis=-1)
            high[cut.row] = np.nanmax(cut.averages(best, self.rel, best=True), axis=-1)
        return low, high

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        depth = self.depth(rankings)
        precisions = expected_precisions(rankings, self.rel)
        mean = quotient(precisions[..., :depth].sum(axis=-1), rankings.relevant_so_far(self.rel)[..., depth - 1])
        cut = _CutGroups.of(rankings, self.rel, depth)
        if cut is not None:
            mean[cut.row] = cut.expected_average(precisions)
        return mean


@dataclass(frozen=True)
class _CutGroups:
    """Tied groups that the depth cuts through, so that it is open how many relevant documents stand above it.

    Of a group's ``size`` documents, ``marked`` relevant ones among them, ``drawn`` stand above the depth; ``count``
    runs over the number of relevant ones that may be among those.
    """

    row: Ints
    offset: Ints
    size: Ints
    drawn: Ints
    marked: Ints
    before: Ints
    count: Ints

    @classmethod
    def of(cls, rankings: Rankings, rel: float, depth: int) -> _CutGroups | None:
        groups = rankings.groups
        chosen = np.empty(0, dtype=np.int64) if groups is None else groups.cut_by(depth)
        if groups is None or not chosen.size:
            return None
        row, offset, size = groups.row[chosen], groups.offset[chosen], groups.size[chosen]
        so_far = np.concatenate([np.zeros((rankings.length.size, 1)), rankings.relevant_so_far(rel)], axis=-1)
        before, through = (so_far[row, rank].astype(np.int64) for rank in (offset, offset + size))
        drawn = depth - offset
        return cls(row, offset, size, drawn, through - before, before, np.arange(int(drawn.max()) + 1))

    def _columns(self, *columns: Ints) -> list[Ints]:
        return [column[:, None] for column in columns]

    def _before_group(self, precisions: Floats) -> Floats:
        """The sum of the precisions above the group."""
        sums = np.concatenate([np.zeros((precisions.shape[0], 1)), np.cumsum(precisions, axis=-1)], axis=-1)
        return sums[self.row, self.offset][:, None]

    def averages(self, ordered: Rankings, rel: float, *, best: bool) -> Floats:
        """For every possible count the greatest (or least) average; NaN where the group leaves no such count."""
        offset, size, drawn, marked, before = self._columns(
            self.offset, self.size, self.drawn, self.marked, self.before
        )
        number = self.count[1:]
        if best:  # the relevant documents of the group come first
            inside = np.cumsum((before + number) / (offset + number), axis=-1)
        else:  # they stand just above the depth, counted here from there
            up = number - 1
            inverse = 1 / np.maximum(offset + drawn - up, 1)
            inside = (before + number) * np.cumsum(inverse, axis=-1) - np.cumsum(up * inverse, axis=-1)
        inside = np.concatenate([np.zeros((offset.shape[0], 1)), inside], axis=-1)
        precisions = ordered.relevant(rel) * ordered.relevant_so_far(rel) / np.arange(1, ordered.width + 1)
        average = quotient(self._before_group(precisions) + inside, (before + self.count).astype(np.float64))
        possible = (self.count <= np.minimum(marked, drawn)) & (drawn - self.count <= size - marked)
        return np.where(possible, average, np.nan)

    def expected_average(self, precisions: Floats) -> Floats:
        """The mean over all orders: whatever the count, the relevant documents above the depth stand anywhere there."""
        offset, size, drawn, marked, before = self._columns(
            self.offset, self.size, self.drawn, self.marked, self.before
        )
        place = np.arange(int(self.drawn.max()))
        inverse = np.where(place < drawn, 1 / (offset + place + 1), 0.0)
        alone = inverse.sum(axis=-1, keepdims=True) / drawn
        with_earlier = (inverse * place).sum(axis=-1, keepdims=True) / np.maximum(drawn * (drawn - 1), 1)
        inside = self.count * ((before + 1) * alone + (self.count - 1) * with_earlier)
        average = quotient(self._before_group(precisions) + inside, (before + self.count).astype(np.float64))
        mean: Floats = (chance_drawn(size, marked, drawn, self.count) * average).sum(axis=-1)
        return mean
