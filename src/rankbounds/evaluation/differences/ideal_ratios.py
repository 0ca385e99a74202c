"""A weighted sum over that of the ideal ranking (nDCG): judgments move what both lists gain, and what both could.

What it means: how far A can be ahead of B when unjudged documents get any grades. A document that turns out good gains
its net weight (its weight in A minus that in B), and makes the ideal ranking better, which both lists are divided by.
Documents that stand below the depth, or that neither list holds (``elsewhere``), gain nothing and do the latter.

Why it is right: write gains as sums of steps, a document counting once for each level that its gain reaches. With m
unjudged documents at a level, the ideal sum depends on m alone, and the numerator is greatest when they are those m
of the largest net weights. Let t be the ratio sought. A choice is the best one when it makes (numerator - t * ideal)
greatest, which splits into one small maximisation over m for each level (Dinkelbach).

* Where t is at least 0: higher levels have fewer judged documents, so that there one more unjudged document adds a
  larger weight to the ideal sum. So the best m falls from level to level, and the choices fit into each other: those
  that reach a level have reached the ones below it.
* Where t is negative, the best m would rise from level to level. Both parts are concave in m then, so that the best
  choice which does fit has the same m at all levels: every document has no gain or the largest.

The second kind is tried first, for every m; where its best ratio is negative no choice reaches 0, since the greatest
numerator is one of them, and it is the answer. Else the ratio starts from there and rises to the answer.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences.shared_lists import CELLS, Choice, Documents, Found, Greatest
from rankbounds.evaluation.differences.weighted_sums import TiedWeights, lines_with_open_order
from rankbounds.measures.formulas import quotient
from rankbounds.measures.gain.ideal_ratio import IdealRatio
from rankbounds.rankings.rankings import Rankings


def documents_that_matter(measure: IdealRatio, assumptions: Assumptions) -> Choice:
    """Those that gain something where they stand; and all of a list that has so few others that it must be known which.

    Where a list is crowded with others, more of them than the ideal ranking has ranks surely gain nothing in either
    list, whichever they are.
    """

    def choice(rankings: Rankings) -> Flags:
        gaining, crowded = _gaining_and_crowded(measure, rankings, TiedWeights.of(measure, rankings, assumptions))
        return gaining | ~crowded[:, None]

    return choice


def _gaining_and_crowded(measure: IdealRatio, rankings: Rankings, weights: TiedWeights) -> tuple[Flags, Flags]:
    """The unjudged documents that gain where they stand, and the lists that have many others."""
    gaining = rankings.holes & (weights.most > 0)
    number = np.count_nonzero(gaining, axis=-1)
    if measure.cutoff is None:
        return gaining, np.zeros(number.shape, dtype=bool)
    return gaining, rankings.num_holes - number >= measure.cutoff + number.max(initial=0)


def greatest_ratio(
    measure: IdealRatio, rankings: Rankings, documents: Documents, assumptions: Assumptions, elsewhere: int = 0
) -> Greatest:
    """How large the difference of any two of the lists can be."""
    weights = TiedWeights.of(measure, rankings, assumptions)
    base_most, base_least = weights.base_most, weights.base_least
    open_order = lines_with_open_order(rankings, assumptions)
    # One unit of gain at each rank within the depth; 0 for "not there", and below.
    most, least = (
        np.concatenate((np.zeros((side.shape[0], 1)), side), axis=-1) for side in (weights.most, weights.least)
    )
    _, crowded = _gaining_and_crowded(measure, rankings, weights)
    levels, known = measure.levels(rankings.facts)
    step, known = np.diff(levels, prepend=0.0), known[:, int(rankings.topic[0])]
    every_gains = measure.every_document_counts(rankings.facts)  # and reaches the first level, whatever its judgment
    rising = slice(1, None) if every_gains else slice(0, None)
    at_most = int(known.max(initial=0)) + 2 * int(rankings.num_holes.max(initial=0)) + elsewhere + 1
    reach = at_most if measure.cutoff is None else min(at_most, measure.cutoff)
    ideal_sums = np.append(0.0, np.cumsum(measure.weights(reach)))
    top = float(step[rising].sum())

    def ideal(level: int, number: Ints) -> Floats:
        return ideal_sums[np.minimum(known[level] + number, reach)]

    def greatest(a: Ints, b: Ints) -> Found:
        result = np.empty(a.size)
        width = 2 * int(documents.held.max(initial=0)) + min(reach, 1000) + 1
        for start in range(0, a.size, size := max(1, CELLS // width)):
            part = slice(start, start + size)
            result[part] = of_some(a[part], b[part])
        return result, ~(open_order[a] | open_order[b])

    def of_some(a: Ints, b: Ints) -> Floats:
        rank_a, rank_b = documents.of_either(a, b)
        there = (rank_a > 0) | (rank_b > 0)
        matters = (most[a[:, None], rank_a] > 0) | (most[b[:, None], rank_b] > 0)
        net = most[a[:, None], rank_a] - least[b[:, None], rank_b]
        idle = np.where(crowded[a] | crowded[b], reach, np.count_nonzero(there & ~matters, axis=-1)) + elsewhere
        fixed = np.zeros(a.size)
        if every_gains:
            fixed = step[0] * ideal(0, np.count_nonzero(matters, axis=-1) + idle)
        idle = np.minimum(idle, reach)
        base = base_most[a] - base_least[b]
        net = np.where(matters, net, -np.inf)
        net = net[:, matters.any(axis=0)]
        net = np.concatenate((net, np.where(np.arange(idle.max(initial=0)) < idle[:, None], 0.0, -np.inf)), axis=-1)
        net[:, ::-1].sort(axis=-1)
        sums = np.concatenate((np.zeros((a.size, 1)), np.cumsum(net, axis=-1)), axis=-1)
        number = np.arange(sums.shape[-1])
        ideals = [ideal(level, number) for level in range(levels.size)][rising]
        steps = step[rising]
        divisor = fixed[:, None] + sum(height * part for height, part in zip(steps, ideals, strict=True))
        above = base[:, None] + (top * sums if top > 0 else np.zeros(sums.shape))
        ratio = quotient(above, np.broadcast_to(divisor, sums.shape)).max(axis=-1)
        if steps.size > 1 and (ratio >= 0).any():
            chosen = np.flatnonzero(ratio >= 0)
            ratio[chosen] = _raised(ratio[chosen], base[chosen], fixed[chosen], sums[chosen], steps, ideals)
        return ratio

    return greatest


def _raised(ratio: Floats, base: Floats, fixed: Floats, sums: Floats, steps: Floats, ideals: list[Floats]) -> Floats:
    """The greatest ratio when every level may choose its own number of documents, from a ratio of at least 0 on."""
    for _ in range(100):
        above, below = base.copy(), fixed.copy()
        for height, ideal in zip(steps, ideals, strict=True):
            best = np.argmax(sums - ratio[:, None] * ideal, axis=-1)
            above += height * np.take_along_axis(sums, best[:, None], axis=-1)[:, 0]
            below += height * ideal[best]
        better = quotient(above, below)
        if not (better > ratio).any():
            break
        ratio = np.maximum(ratio, better)
    return ratio
