"""Averages of precisions (AP, its relatives, Q): a document counts for itself and for all relevant ones around it.

What it means: how far A can be ahead of B. A relevant document's precision counts the relevant documents above it. So
an unjudged one that turns out relevant adds its own precision, raises that of every relevant one below it, and makes R
larger by one.

The sum of precisions is a quadratic form in what turns out relevant: terms of single documents, known exactly, and for
each two of them one over the lower one's rank. It is bounded in three ways:

* Lists with up to ``MANY`` unjudged documents: ``ChoicesFromTheTop``, which often finds judgments that attain it.
* Where it does not, and both lists together have few (``FEW``), these are judged in all possible ways, exactly.
* The term of a document j in A counts all unjudged documents above it, that in B none but those that surely stand above
  it in A too; what two lists share at like ranks cancels. This is ``LinearTerms``, for any number of documents.

In Q, precisions are divided by what an ideal ranking has gained too. That is not settled by numbers alone: terms in A
take the ideal ranking of what is judged, terms in B one with all unjudged documents on top.
"""

from __future__ import annotations

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.evaluation.differences.chosen_from_the_top import ChoicesFromTheTop
from rankbounds.evaluation.differences.completions import holes_of
from rankbounds.evaluation.differences.greatest import CELLS, Found, Greatest
from rankbounds.evaluation.differences.linear_terms import LinearTerms
from rankbounds.evaluation.differences.shared_lists import Documents
from rankbounds.measures.average_precision import AveragedPrecisions
from rankbounds.measures.measure import quotient
from rankbounds.rankings.rankings import Rankings

FEW = 10
"""Of so many unjudged documents all judgments are tried."""


def greatest_average(
    measure: AveragedPrecisions, rankings: Rankings, documents: Documents, elsewhere: int = 0
) -> Greatest | None:
    """How large the difference of any two of the lists can be, at most; None where this argument does not hold."""
    terms = measure.precision_terms(rankings, 2 * int(documents.held.max(initial=0)) + elsewhere)
    if terms is None:
        return None
    relevant = terms.credit > 0
    so_far = np.cumsum(terms.credit, axis=-1)
    cells = documents.line, documents.rank
    above: Ints = (np.cumsum(rankings.holes, axis=-1) - rankings.holes)[cells]
    own, more, base, factor = [], [], [], []
    for by_rank in (terms.most, terms.least):
        at_known = np.where(relevant, by_rank, 0.0)
        below = at_known.sum(axis=-1, keepdims=True) - np.cumsum(at_known, axis=-1)
        own.append((by_rank * so_far)[cells])  # what is judged above a document
        more.append((by_rank * terms.itself + below)[cells])  # for each unit of its credit
        factor.append(by_rank[documents.rank])
        base.append((at_known * (so_far - (1 - terms.itself) * terms.credit)).sum(axis=-1))
    low, high = terms.low_credit, terms.high_credit
    plus = own[0] + high * (more[0] + above * factor[0])
    minus = own[1] + low * more[1]

    def shared(cell_a: Ints, cell_b: Ints, common: Ints) -> Floats:
        unit = more[0][cell_a] - more[1][cell_b]
        mine, other = factor[0][cell_a], factor[1][cell_b]
        together = above[cell_a] * mine - common * np.minimum(mine, other)
        net: Floats = own[0][cell_a] - own[1][cell_b] + np.maximum(low * unit, high * unit) + high * together
        return net

    linear = LinearTerms(documents, base[0], base[1], plus, minus, shared, terms.known, terms.averaged, elsewhere)
    if not terms.settled:
        return linear.greatest
    single = np.zeros((rankings.length.size, rankings.width + 1))
    single[documents.line, documents.rank + 1] = own[0] + more[0]
    factor_at = np.append(0.0, terms.most)
    choices = ChoicesFromTheTop(
        documents, base[0], single, factor_at, measure.depth(rankings), terms.known, terms.averaged, elsewhere
    )

    def greatest(a: Ints, b: Ints) -> Found:
        result, exact = np.empty(a.size), np.zeros(a.size, dtype=bool)
        short = choices.answers(a, b)
        result[~short], _ = linear.greatest(a[~short], b[~short])
        result[short], exact[short] = choices.greatest(a[short], b[short])
        few = np.flatnonzero(~exact & (np.maximum(documents.held[a], documents.held[b]) + elsewhere <= FEW))
        for start in range(0, 0 if elsewhere else few.size, size := max(1, CELLS // (1 + 2 * FEW) ** 2)):
            pairs = few[start : start + size]
            ways, counted = in_all_ways(a[pairs], b[pairs])
            result[pairs[counted]], exact[pairs[counted]] = ways[counted], True
        return result, exact

    def in_all_ways(a: Ints, b: Ints) -> Found:
        """The greatest over all judgments, of those pairs that have few documents together."""
        rank_a, rank_b = documents.of_either(a, b)
        there = (rank_a > 0) | (rank_b > 0)
        count = np.count_nonzero(there, axis=-1)
        best, counted = np.empty(a.size), count <= FEW
        for number in np.unique(count[counted]).tolist():
            alike = np.flatnonzero(count == number)
            in_a, in_b = holes_of(there[alike], rank_a[alike], rank_b[alike])
            best[alike] = _all_ways(
                base[0][a[alike]] - base[0][b[alike]],
                single[a[alike][:, None], in_a] - single[b[alike][:, None], in_b],
                _together(in_a, factor_at) - _together(in_b, factor_at),
                terms.known,
                terms.averaged,
            )
        return best, counted

    return greatest


def _together(rank: Ints, factor: Floats) -> Floats:
    """By pair and two documents, what they add together in a list: the factor at the lower one's rank."""
    lower = np.maximum(rank[:, :, None], rank[:, None, :])
    held = rank > 0
    both = held[:, :, None] & held[:, None, :] & ~np.eye(rank.shape[1], dtype=bool)
    return np.where(both, factor[lower], 0.0)


def _all_ways(start: Floats, alone: Floats, both: Floats, known: int, averaged: bool) -> Floats:
    """The greatest average over all choices of relevant documents, for pairs with equally many unjudged ones."""
    number = alone.shape[1]
    ways = (np.arange(1 << number)[:, None] >> np.arange(number) & 1).astype(np.float64)
    over = known + ways.sum(axis=-1) if averaged else np.ones(len(ways))
    result = np.empty(start.size)
    for first in range(0, start.size, size := max(1, CELLS // (len(ways) * max(number, 1)))):
        part = slice(first, first + size)
        together = np.einsum("wi,pij,wj->pw", ways, both[part], ways, optimize=True) / 2 if number else 0.0
        total = start[part, None] + alone[part] @ ways.T + together
        result[part] = quotient(total, np.broadcast_to(over, total.shape)).max(axis=-1)
    return result
