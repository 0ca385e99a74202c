"""Which relevance vectors may stand behind a published RBP score: the greatest, the least, all of them.

The method of Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008, as printed. A vector
is built from rank 1 down. A rank must be 0 where a relevant document would exceed the score, and 1 where all that
follows could no longer reach it; every other rank is a choice point. Always choosing 1 gives the lexicographically
greatest vector R_G, always choosing 0 the least, R_L.

These two need *not* be the extremes at another persistence (see ``docs/errata.md``): for bounds that hold, use
``rankbounds.transfer``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankbounds.arrays import Flags, Floats
from rankbounds.choices import check_persistence
from rankbounds.errors import DataError, UsageError

EQUAL = 1e-6
"""Sums that differ by less than this share of the precision are equal: 0.8 + 0.2 is not quite 1 in floating point."""
ENUMERABLE = 1_000_000
"""How many vectors ``enumerate_vectors`` hands out without being asked twice, and ``count_vectors`` counts exactly."""
GRID = 2.0**-22
"""Cell width of the counting table."""


def significant_ranks(p: float, precision: float = 1e-4) -> int:
    """How many ranks matter at this precision.

    Parameters
    ----------
    p
        The persistence.
    precision
        Of the printed score: 1e-4 for four digits.

    Returns
    -------
    int
        The fewest ranks that leave less than half of the precision to all ranks below.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.significant_ranks(0.5), rb.significant_ranks(0.95)
    (15, 194)

    """
    check_persistence(p)
    if not 0 < precision <= 1:
        raise UsageError(f"The precision must lie above 0 and at most at 1, not {precision}.")
    if p == 0:
        return 1
    rank = max(1, int(np.log(precision / 2) / np.log(p)) - 1)
    while not p**rank < precision / 2:
        rank += 1
    return rank


def contribution(rank: int, p: float) -> float:
    """What a relevant document at this rank adds: con(i)."""
    return (1 - p) * p ** (rank - 1)


def remaining(rank: int, p: float, length: int | None = None) -> float:
    """What all ranks below this one could add at most: rem(i), to the end of the list or without end."""
    return p**rank - (0.0 if length is None else p ** max(length, rank))


def accumulated(vector: ArrayLike, p: float) -> Floats:
    """RBP of vectors whose last axis is rank: acc(i) for a prefix, the score for a whole vector."""
    relevance = np.asarray(vector, dtype=np.float64)
    weighted: Floats = relevance @ ((1 - p) * p ** np.arange(relevance.shape[-1]))
    return weighted


def cannot_occur(score: float | str, p: float, length: int | None = None) -> str:
    """The sentence for a score in one of the gaps that p < 0.5 leaves, or that the greedy rules run into."""
    if p >= 0.5:
        return f"The greedy rules find no vector of {length} ranks with the score {score} at p={p:g}."
    return (
        f"No ranking has the score {score} at p={p:g}: with p below 0.5 one document weighs more than all below it, "
        f"so that scores between {p:g} and {1 - p:g}, and in smaller gaps elsewhere, cannot occur. "
        "Is it a mean over topics, or are the judgments graded?"
    )


@dataclass(frozen=True)
class GreedyVectors:
    """R_G and R_L of one or many scores, with the ranks that R'_G and R'_L hold for unjudged; rank is the last axis."""

    p: float
    precision: float
    greatest: Floats
    least: Floats
    choices_greatest: Flags
    """Where R_G had a choice."""
    unjudged_greatest: Flags
    """The NA positions of R'_G, shifted to early ranks."""
    unjudged_least: Flags
    """The NA positions of R'_L, shifted to late ranks."""

    def scores(
        self, to: float, tails: Literal["printed", "extreme"] = "printed"
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """RBP at persistence ``to`` of R_G, R_L, and of R'_G and R'_L with their unjudged documents relevant.

        For ``to`` above p the vectors are too short. As printed, R_G goes on with ones and R_L with zeros to the ranks
        that are significant there. With ``extreme`` tails it is the other way about and without end, which is what
        the extremes of the range need.
        """
        n = self.greatest.shape[-1]
        ones = zeros = 0.0
        if to > self.p:
            ones = to**n - to ** max(n, significant_ranks(to, self.precision)) if tails == "printed" else to**n
        tail_greatest, tail_least = (ones, zeros) if tails == "printed" else (zeros, ones)
        return (
            accumulated(self.greatest, to) + tail_greatest,
            accumulated(self.least, to) + tail_least,
            accumulated(self.greatest + self.unjudged_greatest, to) + tail_greatest,
            accumulated(self.least + self.unjudged_least, to) + tail_least,
        )

    def range(self, to: float, tails: Literal["printed", "extreme"] = "printed") -> tuple[Floats, Floats]:
        """The paper's range at persistence ``to``: R_L to R'_G below p, R_G to R'_L above it. It can be violated."""
        greatest, least, greatest_open, least_open = self.scores(to, tails)
        ends = (least, greatest_open) if to <= self.p else (greatest, least_open)
        return np.minimum(*ends), np.maximum(*ends)


def greedy_vectors(
    score: ArrayLike, p: float, precision: float = 1e-4, residual: ArrayLike = 0.0, length: int | None = None
) -> GreedyVectors:
    """The lexicographically greatest and least relevance vectors behind each score, by the paper's rules.

    Parameters
    ----------
    score
        One published RBP score or an array of them.
    p
        The persistence they were computed at.
    precision
        Of the printed score: 1e-4 for four digits.
    residual
        What unjudged documents left open.
    length
        The list's, where it is known to end there. Otherwise the vectors have as many ranks as are significant at
        ``precision``, and what lies below may still contribute.

    Returns
    -------
    GreedyVectors
        ``greatest`` and ``least``, and their ``range`` at another persistence.

    Notes
    -----
    The method of Zhang, Park and Moffat (ADCS 2008), as printed. At another persistence these two vectors need not be
    the extremes: for a range that holds, use ``transfer``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> vectors = rb.greedy_vectors(0.5, 0.5, precision=0.1)
    >>> vectors.greatest.astype(int).tolist(), vectors.least.astype(int).tolist()
    ([1, 0, 0, 0, 0], [0, 1, 1, 1, 1])

    """
    check_persistence(p)
    wanted, open_ = np.broadcast_arrays(np.asarray(score, dtype=np.float64), np.asarray(residual, dtype=np.float64))
    n = significant_ranks(p, precision) if length is None else length
    slack = EQUAL * precision
    built = [_build(wanted, open_, p, n, length, precision, greatest=greatest) for greatest in (True, False)]
    (greatest, choices), (least, _) = built
    unjudged = [_unjudged(vector, open_, p, length, slack, early=vector is greatest) for vector in (greatest, least)]
    return GreedyVectors(p, precision, greatest, least, choices, *unjudged)


def _build(
    score: Floats, residual: Floats, p: float, n: int, length: int | None, precision: float, *, greatest: bool
) -> tuple[Floats, Flags]:
    slack, rounding = EQUAL * precision, precision / 2 + EQUAL * precision
    vector, choices = np.zeros((*score.shape, n)), np.zeros((*score.shape, n), dtype=bool)
    acc, acc_of_zeros = np.zeros(score.shape), np.zeros(score.shape)
    for rank in range(1, n + 1):
        con, rem = contribution(rank, p), remaining(rank, p, length)
        must_be_0 = acc + con > score + slack
        must_be_1 = acc + rem < score - slack
        stuck = must_be_0 & must_be_1
        if stuck.any():
            # The printed score is rounded: what comes closest from below, or else from above, may round to it.
            below, above = acc + rem >= score - rounding, acc + con <= score + rounding
            if (stuck & ~below & ~above).any():
                raise DataError(cannot_occur(f"{score[stuck & ~below & ~above].flat[0]:.12g}", p, length))
            must_be_1 = np.where(stuck, ~below, must_be_1)
        choice = ~must_be_0 & ~must_be_1
        if greatest:
            chosen = ~(acc_of_zeros + rem < score - (con + acc) + residual - slack)
        else:
            chosen = acc + rem < score + residual - slack
        relevant = np.where(choice, chosen, must_be_1)
        vector[..., rank - 1], choices[..., rank - 1] = relevant, choice
        acc += relevant * con
        acc_of_zeros += ~relevant * con
    return vector, choices


def _unjudged(vector: Floats, residual: Floats, p: float, length: int | None, slack: float, *, early: bool) -> Flags:
    """Which zeros of the vector are unjudged (NA), as early or as late as the residual allows."""
    n = vector.shape[-1]
    free = (1 - vector) * ((1 - p) * p ** np.arange(n))
    below = np.cumsum(free[..., ::-1], axis=-1)[..., ::-1] - free + (p**n if length is None else 0.0)
    unjudged = np.zeros(vector.shape, dtype=bool)
    acc = np.zeros(residual.shape)
    for place in range(n):
        needed = acc + below[..., place] < residual - slack
        fits = acc + free[..., place] <= residual + slack
        marked = (vector[..., place] == 0) & (residual > slack) & (fits & (early | needed))
        unjudged[..., place] = marked
        acc += marked * free[..., place]
    return unjudged


class Count(NamedTuple):
    """How many vectors: exact, or from a table whose cells merge sums that are nearly equal."""

    number: float
    exact: bool


def count_vectors(score: float, p: float, precision: float = 1e-4, length: int | None = None) -> Count:
    """How many relevance vectors stand behind a published score, without building them.

    Parameters
    ----------
    score, p, precision, length
        As in ``greedy_vectors``.

    Returns
    -------
    Count
        ``number``, and whether it is ``exact``.

    Notes
    -----
    Up to a million vectors are counted exactly, one rank after the other. Beyond, a table counts sums by dynamic
    programming, deepest rank first, with weights rounded to whole cells, which is approximate.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.count_vectors(0.5, 0.8, precision=0.01)
    Count(number=178220, exact=True)

    """
    if p < 0.5 and length is None:
        greedy_vectors(score, p, precision)  # raises where the score cannot occur
        return Count(1, exact=True)
    n, low, high = _limits(score, p, precision, length)
    sums = np.zeros(1)
    for rank in range(1, n + 1):
        sums = np.concatenate([sums, sums + contribution(rank, p)])
        sums = sums[(sums <= high) & (sums + remaining(rank, p, n) >= low)]
        if len(sums) > ENUMERABLE:
            return Count(_estimated_count(p, n, low, high), exact=False)
    return Count(len(sums), exact=True)


def enumerate_vectors(
    score: float, p: float, precision: float = 1e-4, length: int | None = None, at_most: float = ENUMERABLE
) -> Iterator[Floats]:
    """All relevance vectors behind a published score, from the greatest (R_G) to the least (R_L), one at a time.

    Parameters
    ----------
    score, p, precision, length
        As in ``greedy_vectors``. Below p = 0.5 there is one vector at most.
    at_most
        More vectors than this are refused before the first is built.

    Returns
    -------
    iterator of array
        Without ``length`` the beginnings, down to the last significant rank, of all endless vectors that score exactly
        this; with it, the vectors of that length whose score is this to half the precision.

    Examples
    --------
    >>> import rankbounds as rb
    >>> [vector.astype(int).tolist() for vector in rb.enumerate_vectors(0.5, 0.5, precision=0.1, length=3)]
    [[1, 0, 0]]

    """
    count = count_vectors(score, p, precision, length)
    if count.number > at_most:
        about = f"{count.number:,.0f}" if count.exact else f"about {count.number:.1g}"
        raise UsageError(
            f"There are {about} vectors behind {score} at p={p:g}, more than {at_most:g}. Ask for a coarser precision, "
            "or raise at_most if you want to wait; the bounds of rankbounds.transfer need none of them."
        )
    if p < 0.5 and length is None:
        return iter([greedy_vectors(score, p, precision).greatest])
    return _vectors_between(p, *_limits(score, p, precision, length))


def _limits(score: float, p: float, precision: float, length: int | None) -> tuple[int, float, float]:
    """How many ranks the vectors have, and between which scores they lie."""
    check_persistence(p)
    slack = EQUAL * precision
    if length is None:
        n = significant_ranks(p, precision)
        return n, score - p**n - slack, score + slack  # below the last rank lies anything from nothing to p^n
    return length, score - precision / 2 - slack, score + precision / 2 + slack


def _estimated_count(p: float, n: int, low: float, high: float) -> float:
    """How many vectors have a score between low and high, by a table of sums, deepest rank first."""
    cells = np.ones(1)
    for rank in range(n, 0, -1):
        shift = round(contribution(rank, p) / GRID)
        longer = np.zeros(len(cells) + shift)
        longer[: len(cells)] = cells
        longer[shift:] += cells
        cells = longer
    first, last = (round(min(max(end, 0.0), 1.0) / GRID) for end in (low, high))
    return float(cells[first : last + 1].sum())


def _vectors_between(p: float, n: int, low: float, high: float) -> Iterator[Floats]:
    """The vectors of n ranks with a score between low and high, the greatest first."""
    vector = np.zeros(n)
    waiting = [(0, 0.0, 0.0)]
    while waiting:
        rank, value, acc = waiting.pop()
        if rank:
            vector[rank - 1] = value
            vector[rank:] = 0.0
        if rank == n:
            yield vector.copy()
            continue
        con, rem = contribution(rank + 1, p), remaining(rank + 1, p, n)
        if acc + rem >= low:
            waiting.append((rank + 1, 0.0, acc))
        if acc + con <= high and acc + con + rem >= low:
            waiting.append((rank + 1, 1.0, acc + con))
