"""A published RBP score: what its printed digits, residual, depth and grades imply about the lists behind it.

The greedy vectors are those of Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008, built
from rank 1 down. A rank must be 0 if a relevant document would exceed the score, and 1 if the ranks below could no
longer reach it; every other rank is a choice. Always choosing 1 gives R_G, always choosing 0 R_L. These need *not* be
the extremes at another persistence (see ``docs/errata.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankbounds.arrays import Flags, Floats
from rankbounds.choices import check_persistence
from rankbounds.errors import DataError, UsageError

EQUAL = 1e-6
"""Sums that differ by less than this share of the precision are equal: 0.8 + 0.2 is not quite 1 in floating point."""


def significant_ranks(p: float, precision: float = 1e-4) -> int:
    """Count the ranks that matter to RBP at this precision: all below them add less than half of it together.

    Parameters
    ----------
    p : float
        The persistence.
    precision : float, default 1e-4
        The precision of the score.

    Returns
    -------
    int

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.rbp.significant_ranks(0.8), rb.rbp.significant_ranks(0.95)
    (45, 194)
    """
    if p == 0:
        return 1
    rank = max(1, int(np.log(precision / 2) / np.log(p)) - 1)
    while not p**rank < precision / 2:
        rank += 1
    return rank


def accumulate(vector: ArrayLike, p: float) -> Floats:
    """RBP of vectors whose last axis is rank."""
    relevance = np.asarray(vector, dtype=np.float64)
    weighted: Floats = relevance @ ((1 - p) * p ** np.arange(relevance.shape[-1]))
    return weighted


def cannot_occur(score: float | str, p: float) -> str:
    """The sentence for a score in one of the gaps that p < 0.5 leaves."""
    return (
        f"No ranking has the score {score} at p={p:g}: with p below 0.5 one document weighs more than all below it, "
        f"so that scores between {p:g} and {1 - p:g}, and in smaller gaps elsewhere, cannot occur. "
        "Is it a mean over topics, or are the judgments graded?"
    )


@dataclass(frozen=True)
class GreedyVectors:
    """R_G and R_L, with the unjudged ranks (NA) of R'_G and R'_L shifted to early and late; rank is the last axis."""

    p: float
    precision: float
    greatest: Floats
    least: Floats
    choices_greatest: Flags
    """Where R_G had a choice."""
    unjudged_greatest: Flags
    unjudged_least: Flags

    def scores(self, to: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Return RBP at persistence ``to`` of R_G, R_L, and of R'_G and R'_L with their unjudged documents relevant.

        For ``to`` above p the vectors are too short: R_G continues with ones and R_L with zeros to the significant
        ranks, as printed.
        """
        n = self.greatest.shape[-1]
        ones = to**n - to ** max(n, significant_ranks(to, self.precision)) if to > self.p else 0.0
        return (
            accumulate(self.greatest, to) + ones,
            accumulate(self.least, to),
            accumulate(self.greatest + self.unjudged_greatest, to) + ones,
            accumulate(self.least + self.unjudged_least, to),
        )

    def named(self) -> dict[str, str]:
        """Return R_G and R_L of one score, and R'_G and R'_L if ranks are unjudged, as text: 1, 0, ? for unjudged."""
        none = np.zeros(self.greatest.shape, dtype=bool)
        vectors = {"R_G": (self.greatest, none), "R_L": (self.least, none)}
        if self.unjudged_greatest.any() or self.unjudged_least.any():
            vectors |= {"R'_G": (self.greatest, self.unjudged_greatest), "R'_L": (self.least, self.unjudged_least)}
        return {name: "".join(np.where(open_, "?", np.where(one, "1", "0"))) for name, (one, open_) in vectors.items()}

    def range(self, to: float) -> tuple[Floats, Floats]:
        """Return the paper's range at ``to``: R_L to R'_G below p, R_G to R'_L above. It can be violated."""
        greatest, least, greatest_open, least_open = self.scores(to)
        ends = (least, greatest_open) if to <= self.p else (greatest, least_open)
        return np.minimum(*ends), np.maximum(*ends)


def greedy_vectors(score: ArrayLike, p: float, precision: float = 1e-4, residual: ArrayLike = 0.0) -> GreedyVectors:
    """Build the vectors R_G and R_L of one published score or many, down to the last significant rank."""
    wanted, open_ = np.broadcast_arrays(np.asarray(score, dtype=np.float64), np.asarray(residual, dtype=np.float64))
    greatest, choices = _build(wanted, open_, p, precision, greatest=True)
    least, _ = _build(wanted, open_, p, precision, greatest=False)
    unjudged = (_unjudged(vector, open_, p, precision, early=vector is greatest) for vector in (greatest, least))
    return GreedyVectors(p, precision, greatest, least, choices, *unjudged)


def _build(score: Floats, residual: Floats, p: float, precision: float, *, greatest: bool) -> tuple[Floats, Flags]:
    slack, rounding = EQUAL * precision, precision / 2 + EQUAL * precision
    n = significant_ranks(p, precision)
    vector, choices = np.zeros((*score.shape, n)), np.zeros((*score.shape, n), dtype=bool)
    acc, acc_of_zeros = np.zeros(score.shape), np.zeros(score.shape)
    for rank in range(n):
        con, rem = (1 - p) * p**rank, p ** (rank + 1)
        must_be_0 = acc + con > score + slack
        must_be_1 = acc + rem < score - slack
        stuck = must_be_0 & must_be_1
        if stuck.any():
            # The printed score is rounded: what comes closest from below, or else from above, may round to it.
            below, above = acc + rem >= score - rounding, acc + con <= score + rounding
            if (stuck & ~below & ~above).any():
                raise DataError(cannot_occur(f"{score[stuck & ~below & ~above].flat[0]:.12g}", p))
            must_be_1 = np.where(stuck, ~below, must_be_1)
        choice = ~must_be_0 & ~must_be_1
        if greatest:
            chosen = ~(acc_of_zeros + rem < score - (con + acc) + residual - slack)
        else:
            chosen = acc + rem < score + residual - slack
        relevant = np.where(choice, chosen, must_be_1)
        vector[..., rank], choices[..., rank] = relevant, choice
        acc += relevant * con
        acc_of_zeros += ~relevant * con
    return vector, choices


def _unjudged(vector: Floats, residual: Floats, p: float, precision: float, *, early: bool) -> Flags:
    n, slack = vector.shape[-1], EQUAL * precision
    free = (1 - vector) * ((1 - p) * p ** np.arange(n))
    below = np.cumsum(free[..., ::-1], axis=-1)[..., ::-1] - free + p**n
    unjudged = np.zeros(vector.shape, dtype=bool)
    acc = np.zeros(residual.shape)
    for place in range(n):
        needed = acc + below[..., place] < residual - slack
        fits = acc + free[..., place] <= residual + slack
        marked = (vector[..., place] == 0) & (residual > slack) & (fits & (early | needed))
        unjudged[..., place] = marked
        acc += marked * free[..., place]
    return unjudged


INEXACT = 4e-16
"""How far a score in floating point may lie from what was printed: unseen ranks weigh nothing at a small p, and much at
another one."""
MOST_DIGITS = 15


class Printed(NamedTuple):
    """A number as it was printed, and its decimals."""

    value: float
    digits: int

    @classmethod
    def read(cls, what: str, number: float | str) -> Printed:
        """Read a number, such as the text ``0.4320``, whose trailing zeros say how well it is known."""
        try:
            written = Decimal(str(number))
        except InvalidOperation:
            written = Decimal("NaN")
        if not written.is_finite():
            raise UsageError(f"The {what} must be a number, not {number!r}.")
        return cls(float(written), min(max(-int(written.as_tuple().exponent), 0), MOST_DIGITS))

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest number from 0 on that is printed like this."""
        half = 0.5 * 10.0**-self.digits * (1 + 1e-9) + INEXACT
        return max(self.value - half, 0.0), self.value + half


@dataclass(frozen=True, eq=False)
class Published:
    """An RBP score as printed in a paper, with all that is known about it.

    Parameters
    ----------
    score
        A number or, to keep trailing zeros, text such as ``"0.4320"``.
    p
        The persistence of the score.
    residual
        The printed residual. Without it, unjudged documents count as non-relevant at every persistence.
    digits
        The number of known decimals; by default those written.
    topics
        The number of topics in the mean. A list with gains in n equal steps is a mean of n binary ones.
    depth
        The depth of scoring, as in RBP@10.

    Raises
    ------
    DataError
        For a score that no list can have: below p = 0.5 one document weighs more than all that follow it, which leaves
        gaps.

    Examples
    --------
    >>> import rankbounds as rb
    >>> published = rb.rbp.Published("0.4320", 0.8, residual="0.0500")
    >>> print(published, round(published.score_range[1], 6), round(published.total_range[1], 6))
    0.4320 +0.0500 at p=0.8 0.43205 0.4821
    """

    score: float | str
    p: float
    residual: float | str | None = None
    digits: int | None = None
    topics: int = 1
    depth: int | None = None
    figures = ("range_over_persistence",)

    def __post_init__(self) -> None:
        check_persistence(self.p)
        for what, number in (("number of topics", self.topics), ("depth", self.depth)):
            if number is not None and (number != int(number) or number < 1):
                raise UsageError(f"The {what} must be a whole number from 1 on, not {number}.")
        if self.digits is not None and not 1 <= self.digits <= MOST_DIGITS:
            raise UsageError(f"The number of printed digits must lie between 1 and {MOST_DIGITS}, not {self.digits}.")
        for what, printed in (("score", self.printed), ("residual", self.printed_residual)):
            if printed is not None and not 0 <= printed.value <= 1:
                raise UsageError(f"A {what} lies between 0 and 1; {printed.value} does not.")
        least, most = self.score_range[0], 1.0 if self.depth is None else 1 - self.p**self.depth
        if self.residual_range is not None and least + self.residual_range[0] > 1:
            raise DataError(f"The score {self.score} and its residual add up to more than 1, which cannot be.")
        if least > most:
            raise DataError(
                f"{self.score} is more than {self.depth} relevant documents score at p={self.p:g} ({most:.4f}): is the "
                "depth right?"
            )
        if not self._occurs():
            raise DataError(cannot_occur(self.score, self.p))

    @cached_property
    def printed(self) -> Printed:
        """The score, known to so many digits."""
        return self._read("score", self.score)

    @cached_property
    def printed_residual(self) -> Printed | None:
        """The residual, known to so many digits."""
        return None if self.residual is None else self._read("residual", self.residual)

    def _read(self, what: str, number: float | str) -> Printed:
        value, digits = Printed.read(what, number)
        return Printed(value, max(digits, 1) if self.digits is None else self.digits)

    @cached_property
    def score_range(self) -> tuple[float, float]:
        """The least and the greatest score that would have been printed like this."""
        low, high = self.printed.range
        return low, min(high, 1.0 if self.depth is None else 1 - self.p**self.depth)

    @cached_property
    def residual_range(self) -> tuple[float, float] | None:
        """The same of the residual."""
        if self.printed_residual is None:
            return None
        low, high = self.printed_residual.range
        return low, min(high, 1 - self.score_range[0])

    @cached_property
    def total_range(self) -> tuple[float, float]:
        """Least and greatest score if every unjudged document is relevant."""
        (low, high), (least, most) = self.score_range, self.residual_range or (0.0, 0.0)
        return min(1.0, low + least), min(1.0, high + most)

    @property
    def vectors(self) -> GreedyVectors:
        """The paper's vectors of this score, with its residual if it has one."""
        residual = 0.0 if self.printed_residual is None else self.printed_residual.value
        return greedy_vectors(self.printed.value, self.p, 10.0**-self.printed.digits, residual)

    def _occurs(self) -> bool:
        """Return whether any list has such a score: below p = 1 / (topics + 1) there are gaps.

        There the greedy score is the greatest up to a limit: a document at one rank outweighs everything below it.
        """
        low, high = self.score_range
        if self.p >= 1 / (self.topics + 1):
            return True
        reached = 0.0
        ranks = 1 if self.p == 0 else math.ceil(math.log(1e-16) / math.log(self.p))
        for rank in range(ranks if self.depth is None else min(ranks, self.depth)):
            step = (1 - self.p) * self.p**rank / self.topics
            reached += step * min(max(math.floor((high - reached) / step + 1e-9), 0), self.topics)
        return reached >= low - 1e-12

    def __str__(self) -> str:
        open_ = "" if self.printed_residual is None else " +{:.{}f}".format(*self.printed_residual)
        return f"{self.printed.value:.{self.printed.digits}f}{open_} at p={self.p:g}"
