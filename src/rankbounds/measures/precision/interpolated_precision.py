"""Interpolated precision at points of recall, and its averages."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.measures.measure import Bounds, Measure, smallest_over_numbers
from rankbounds.measures.parameters import SHARE, Allowed, parameter
from rankbounds.rankings.rankings import Rankings, TiedGroups

EXACT_STEPS = 50_000_000
"""Above so many steps for one list, the mean over orders of ties is taken from about ``LEVELS`` levels of precision."""
LEVELS = 512
EARLY = 32
"""And from those precisions that are reached within so many places of a group, each of which is likely."""
POINTS = {11: tuple(tenth / 10 for tenth in range(11)), 3: (0.2, 0.5, 0.8)}


class Interpolated(Measure):
    """Interpolated precision, averaged over some points of recall; a subclass has ``recalls``."""

    takes = ("rel",)
    value_range = (0.0, 1.0)
    sources = ("buckley2005retrieval",)
    collection_exactness = "exact"
    outside = "lowers"

    @property
    def recalls(self) -> tuple[float, ...]:
        raise NotImplementedError

    def value(self, rankings: Rankings) -> Floats:
        return self._mean(rankings.relevant_so_far(self.rel), rankings.num_relevant(self.rel)[:, None])

    def _mean(self, so_far: Floats, number: Floats) -> Floats:
        return np.mean(highest_precisions(so_far, number, self.recalls), axis=0)

    def bounds(self, rankings: Rankings) -> Bounds:
        """With k of the unjudged documents relevant, the best case has the k highest and the worst the k lowest.

        One more of them raises what is found by one from some rank on, and what recall needs by one at most. So for k
        between ``first`` and ``last``, a rank is reached by all of them if it is for the k whose last (or first)
        relevant unjudged document stands there, and by any of them likewise. With the found of ``first`` that is a
        lower bound for all, with those of ``last`` an upper one; for a single recall the upper one is attained.
        """
        judged = rankings.assume(0.0)
        found, number = judged.relevant_so_far(self.rel), judged.num_relevant(self.rel)[:, None]
        above, turned = np.cumsum(rankings.holes, axis=-1), rankings.num_holes
        below = turned[:, None] - above
        room = rankings.room(rankings.facts.relevant(self.rel)[rankings.topic])[:, None]

        def least(line: Ints, first: Ints, last: Ints) -> Floats:
            first, last = first[:, None], last[:, None]
            lowest = found[line] + np.maximum(first - below[line], 0)
            return self._mean(lowest, number[line] + np.maximum(np.clip(below[line], first, last), room[line]))

        def most(line: Ints, first: Ints, last: Ints) -> Floats:
            first, last = first[:, None], last[:, None]
            highest = found[line] + np.minimum(above[line], last)
            return self._mean(highest, number[line] + np.clip(above[line], first, last))

        low = smallest_over_numbers(least, turned, rankings.width)
        if len(self.recalls) == 1:
            return low, most(np.arange(turned.size), np.zeros_like(turned), turned)
        return low, -smallest_over_numbers(lambda *between: -most(*between), turned, rankings.width)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        """The highest precision is that of the untied documents, or of a group with relevant and other documents.

        These are independent. A dynamic program gives the probability that a group stays below a level of precision:
        exactly, but within 0.0002 for groups of several hundred documents.
        """
        precisions = interpolated(rankings, self.rel, self.recalls)
        groups = rankings.groups
        if groups is None:
            return np.mean(precisions, axis=0)
        so_far = rankings.relevant_so_far(self.rel)
        number = rankings.num_relevant(self.rel)
        marked = groups.sums(rankings.relevant(self.rel)).astype(np.int64)
        mixed = np.flatnonzero((marked > 0) & (marked < groups.size))
        before = (so_far[groups.row, groups.offset + groups.size - 1] - marked).astype(np.int64)
        settled = np.ones(so_far.shape, dtype=bool)
        settled.reshape(-1)[groups.cell[np.isin(groups.number, mixed)]] = False
        precision = np.where(settled, so_far / np.arange(1, rankings.width + 1), 0.0)
        reach = (before + marked) / np.maximum(groups.offset + marked, 1)
        for values, recall in zip(precisions, self.recalls, strict=True):
            needed = np.floor(recall * number + 0.5).astype(np.int64)
            surely = np.where(so_far >= needed[:, None], precision, 0.0).max(axis=-1)
            matters = (before + marked >= needed[groups.row]) & (reach > surely[groups.row])
            open_groups = mixed[matters[mixed]]
            for row in np.unique(groups.row[open_groups]).tolist():
                chosen = open_groups[groups.row[open_groups] == row]
                values[row] = _expected_highest(groups, chosen, marked, before, int(needed[row]), float(surely[row]))
        return np.mean(precisions, axis=0)


class IPrec(Interpolated):
    """The highest precision at any rank by which this share of the relevant documents, rounded to whole ones, is found.

    The points of a recall-precision curve; 0 where that recall is never reached. As in trec_eval, recall r of R
    documents is reached with floor(r * R + 0.5) of them (version 10; version 9 has 0.9 in place of 0.5).

    Source: as in trec_eval (iprec_at_recall).
    """

    recall: float = parameter(
        "The share of the relevant documents that must have been found, rounded to a whole number of them.",
        SHARE,
        default=0.0,
    )

    example = ("IPrec(recall=0.5)", 0.6667)
    examples = ("IPrec(recall=0)", "IPrec(recall=0.5)", "IPrec(recall=1)")
    always_shown = ("recall",)
    trec_names = ("iprec_at_recall_{recall:.2f}",)

    @property
    def vanishes(self) -> bool:  # type: ignore[override]
        """At recall 0 it is the highest precision at any rank, however many documents are relevant."""
        return self.recall > 0

    @property
    def recalls(self) -> tuple[float, ...]:
        return (self.recall,)


class IPrecMean(Interpolated):
    """Interpolated precision averaged over the 11 points of recall 0, 0.1, ..., 1, or over the 3 points 0.2, 0.5, 0.8.

    The standard measure before average precision took its place.

    Source: as in trec_eval (11pt_avg).
    """

    points: int = parameter(
        "How many points of recall: 11 or 3.", Allowed("must be 11 or 3", POINTS.__contains__), default=11
    )

    example = ("IPrecMean(points=3)", 0.7778)
    examples = ("IPrecMean(points=11)", "IPrecMean(points=3)")
    always_shown = ("points",)
    trec_names = ("11pt_avg",)

    @property
    def recalls(self) -> tuple[float, ...]:
        return POINTS[self.points]


def interpolated(rankings: Rankings, rel: float, recalls: tuple[float, ...], rounding: float = 0.5) -> list[Floats]:
    """Return each recall's highest precision at ranks that reach it (``rounding``: 0.5 as in trec_eval 10)."""
    return highest_precisions(rankings.relevant_so_far(rel), rankings.num_relevant(rel)[:, None], recalls, rounding)


def highest_precisions(
    so_far: Floats, number: Floats, recalls: tuple[float, ...], rounding: float = 0.5
) -> list[Floats]:
    precision, more = so_far / np.arange(1, so_far.shape[-1] + 1), so_far + 1
    reached = (recall == 0 or recall * number + rounding < more for recall in recalls)
    return [np.where(enough, precision, 0.0).max(axis=-1) for enough in reached]


def _expected_highest(
    groups: TiedGroups, chosen: Ints, marked: Ints, before: Ints, needed: int, surely: float
) -> float:
    reached, early = [], []
    for group in chosen.tolist():
        count = np.arange(max(1, needed - int(before[group])), int(marked[group]) + 1)[:, None]
        place = count + np.arange(int(groups.size[group] - marked[group]) + 1)
        precision = (before[group] + count) / (groups.offset[group] + place)
        reached.append(precision.ravel())
        early.append(precision[place <= EARLY])
    levels = np.unique(np.concatenate(reached))
    levels = np.append(surely, levels[levels > surely])
    picked = np.arange(levels.size)
    if levels.size * int((groups.size[chosen] * marked[chosen]).sum()) > EXACT_STEPS:
        even = np.searchsorted(levels, np.linspace(levels[0], levels[-1], LEVELS))
        likely = np.searchsorted(levels, np.concatenate(early))
        picked = np.unique(np.concatenate([even, likely, likely - 1]).clip(0, levels.size - 1))
        levels = levels[picked]
    stays = np.ones(levels.size)
    for group in chosen.tolist():
        stays *= _chance_to_stay(
            levels,
            size=int(groups.size[group]),
            marked=int(marked[group]),
            offset=int(groups.offset[group]),
            before=int(before[group]),
            needed=needed,
        )
    # The mean is the highest level minus the area under the probability of staying at or below a level, which is a
    # stair with a step at each level. Where steps were left out, it is taken to rise evenly over them.
    steps = np.diff(picked)
    below = stays[:-1] + np.diff(stays) * (steps - 1) / (2 * steps)
    return float(levels[-1] - np.diff(levels) @ below)


def _chance_to_stay(levels: Floats, *, size: int, marked: int, offset: int, before: int, needed: int) -> Floats:
    """Return, for each level, the probability that precision at this group's relevant documents never exceeds it."""
    count = np.arange(marked + 1)
    counts = (count > 0) & (before + count >= needed)
    chance = np.zeros((levels.size, marked + 1))
    chance[:, 0] = 1.0
    for place in range(size):
        relevant_next = np.clip((marked - count) / (size - place), 0.0, 1.0)
        moved = chance[:, :-1] * relevant_next[:-1]
        chance *= 1 - relevant_next
        chance[:, 1:] += moved
        precision = np.where(counts, (before + count) / (offset + place + 1), 0.0)
        exceeded = int(np.searchsorted(levels, precision[-1]))  # no count exceeds the levels from here on
        chance[:exceeded] *= precision <= levels[:exceeded, None]
    return chance.sum(axis=-1)
