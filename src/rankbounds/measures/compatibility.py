"""Compatibility: similarity to an ideal ranking."""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.measures.formulas import quotient
from rankbounds.measures.measure import Bounds, Measure
from rankbounds.measures.parameters import Allowed, parameter
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import before_and_within, chance_drawn, group_place, reorder

DEEPEST = 1000
"""How far rankings are compared."""


class Compatibility(Measure):
    """How similar the list is to the most similar ideal ranking: documents of higher grade before those of lower, and
    within a grade in the list's own order. 1: no document is ranked below a worse one, none is missing.

    Similarity is rank-biased overlap, the share of documents that the first d of both rankings have in common, averaged
    over depths d = 1 to 1000 with weights p^(d-1), and divided by the ideal ranking's overlap with itself. Grades say
    which document is better, not how much, so levels from preferences suffice. A document at rank r in the list and i
    in the ideal is in common from depth max(r, i) on; the overlap sums the weights there, each over its depth.

    ``low`` and ``high`` are safe for all grades of unjudged documents, but may be wider than necessary: for ``low`` all
    push relevant documents down in the ideal and add nothing, for ``high`` relevant ones push nothing.

    Source: Clarke, Vtyurina and Smucker, Assessing Top-k Preferences, TOIS 39(3), 2021, as in the authors' program
    (whose order of tied documents is --ties docid).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {"best": 3, "good": 2, "fair": 1}}
    >>> runs = {"right": {"q": ["best", "good", "fair"]}, "wrong": {"q": ["fair", "good", "best"]}}
    >>> [round(value, 4) for value in rb.evaluate(qrels, runs, rb.measures.Compatibility(p=0.8)).value.ravel().tolist()]
    [1.0, 0.6149]
    """

    p: float = parameter(
        "The persistence: how much deeper ranks weigh.",
        Allowed("must lie between 0 and 1", lambda p: 0 < p < 1),
        default=0.95,
    )

    value_range = (0.0, 1.0)
    examples = ("Compatibility(p=0.95)", "Compatibility(p=0.6)")
    sources = ("clarke2021assessing",)
    always_shown = ("p",)
    exactness = "outer"
    graded = True

    def worth(self, rankings: Rankings) -> Floats:
        return rankings.gain()

    def value(self, rankings: Rankings) -> Floats:
        return quotient(self._common(rankings), self._ideal(known_relevant(rankings) + turned_relevant(rankings)))

    def _common(self, rankings: Rankings, pushed: Ints | int = 0) -> Floats:
        depth = np.maximum(np.arange(1, rankings.width + 1), ideal_places(rankings) + pushed)
        return np.where(relevant(rankings), self._in_common(depth), 0.0).sum(axis=-1)

    def _in_common(self, depth: Ints | Floats) -> Floats:
        weights = self.p ** np.arange(DEEPEST) / np.arange(1, DEEPEST + 1)
        from_depth = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        added: Floats = from_depth[np.clip(np.asarray(depth, dtype=np.int64) - 1, 0, DEEPEST)]
        return added

    def _ideal(self, documents: Ints | Floats) -> Floats:
        sums = np.append(0.0, np.cumsum(self._in_common(np.arange(1, DEEPEST + 1))))
        return sums[np.minimum(np.asarray(documents, dtype=np.int64), DEEPEST)]

    def bounds(self, rankings: Rankings) -> Bounds:
        judged = rankings.assume(0.0)
        return self._low(judged), self._high(judged, judged)

    def joint_bounds(self, rankings: Rankings) -> Bounds:
        judged = rankings.assume(0.0)
        worst, best = (reorder(judged, judged.gain(), best=best) for best in (False, True))
        # Behind judged documents of the largest gain, whose ranks they cannot have as well, before all others.
        unjudged = np.where(rankings.holes, rankings.facts.max_gain * (1 - 1e-9), judged.gain())
        return self._low(worst), self._high(best, reorder(judged, unjudged, best=True))

    def _low(self, judged: Rankings) -> Floats:
        common = self._common(judged, pushed=judged.num_holes[:, None])
        return quotient(common, self._ideal(known_relevant(judged) + judged.num_holes))

    def _high(self, judged: Rankings, of_unjudged: Rankings) -> Floats:
        common, known = self._common(judged), known_relevant(judged)
        added = self._in_common(np.arange(1, judged.width + 1))
        further = np.cumsum(np.where(of_unjudged.holes, added, 0.0), axis=-1)
        number = np.cumsum(of_unjudged.holes, axis=-1)
        with_further = quotient(common[:, None] + further, self._ideal(known[:, None] + number))
        return np.minimum(np.maximum(quotient(common, self._ideal(known)), with_further.max(axis=-1, initial=0.0)), 1.0)

    def expected_over_ties(self, rankings: Rankings) -> Floats:
        first, size = group_place(rankings)
        marks, places = relevant(rankings), ideal_places(rankings)
        total = np.zeros(rankings.length.size)
        for level in rankings.facts.levels:
            here = marks & (rankings.gain() == level)
            before, inside = before_and_within(rankings, here.astype(np.float64))
            begins = here & (np.cumsum(here, axis=-1) - before == 1)
            for row, column in zip(*np.nonzero(begins), strict=True):  # a tied group that holds documents of this grade
                start, members, count = int(first[row, column]), int(size[row, column]), int(inside[row, column])
                position, earlier = np.arange(members)[:, None], np.arange(count)
                chance = chance_drawn(members - 1, count - 1, position, earlier) * (count / members)
                depth = np.maximum(start + 1 + position, places[row, column] + earlier)
                total[row] += (chance * self._in_common(depth)).sum()
        return quotient(total, self._ideal(known_relevant(rankings) + turned_relevant(rankings)))


def relevant(rankings: Rankings) -> Flags:
    marks: Flags = (rankings.gain() > rankings.facts.nonrelevant_gain) & rankings.present
    return marks


def known_relevant(rankings: Rankings) -> Ints:
    above = int(np.count_nonzero(rankings.facts.levels <= rankings.facts.nonrelevant_gain))
    return rankings.facts.count_from_level[above][rankings.topic]


def turned_relevant(rankings: Rankings) -> Ints:
    return np.count_nonzero(rankings.holes & relevant(rankings), axis=-1)


def ideal_places(rankings: Rankings) -> Ints:
    facts, gain, marks = rankings.facts, rankings.gain(), relevant(rankings)
    places = np.zeros(gain.shape, dtype=np.int64)
    better = np.zeros(gain.shape[0], dtype=np.int64)
    for number in range(facts.levels.size - 1, -1, -1):
        here = marks & (gain == facts.levels[number])
        places += np.where(here, better[:, None] + np.cumsum(here, axis=-1), 0)
        better = facts.count_from_level[number][rankings.topic] + turned_relevant(rankings)
    return places
