"""A published RBP score: what its printed digits, residual, depth and grades imply about the lists behind it.

The greedy vectors are the method of Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008,
as printed. A vector is built from rank 1 down. A rank must be 0 if a relevant document would exceed the score, and 1 if
the ranks below could no longer reach it; every other rank is a choice. Always choosing 1 gives the lexicographically
greatest vector, R_G, always choosing 0 the least, R_L. These need *not* be the extremes at another persistence (see
``docs/errata.md``): for bounds that hold, use ``transfer``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

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
    """RBP of vectors whose last axis is rank: acc(i) for a prefix, the score for a whole vector."""
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
    """Return R_G and R_L of scores, with the unjudged ranks of R'_G and R'_L; rank is the last axis."""

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

    def named(self) -> list[tuple[str, str]]:
        """Return R_G and R_L of one score, and R'_G and R'_L if ranks are unjudged, as text: 1, 0, ? for unjudged."""
        pairs = {"R_G": self.greatest, "R_L": self.least}
        found = [(name, "".join("1" if one else "0" for one in vector)) for name, vector in pairs.items()]
        for (name, marks), unjudged in zip(list(found), (self.unjudged_greatest, self.unjudged_least), strict=True):
            if self.unjudged_greatest.any() or self.unjudged_least.any():
                marked = "".join("?" if flag else one for one, flag in zip(marks, unjudged, strict=True))
                found.append((f"R'_{name[-1]}", marked))
        return found

    def range(self, to: float) -> tuple[Floats, Floats]:
        """Return the paper's range at ``to``: R_L to R'_G below p, R_G to R'_L above. It can be violated."""
        greatest, least, greatest_open, least_open = self.scores(to)
        ends = (least, greatest_open) if to <= self.p else (greatest, least_open)
        return np.minimum(*ends), np.maximum(*ends)


def greedy_vectors(score: ArrayLike, p: float, precision: float = 1e-4, residual: ArrayLike = 0.0) -> GreedyVectors:
    """Build the vectors R_G and R_L of published RBP scores, down to the last significant rank.

    Parameters
    ----------
    score : float or array
        One score or many.
    p : float
        The persistence of the scores.
    precision : float, default 1e-4
        The precision of the scores.
    residual : float or array, default 0
        The residuals: what unjudged documents leave open.

    Returns
    -------
    GreedyVectors
        ``greatest`` and ``least``: relevance by rank, the last axis, chosen greedily so that the score at another
        persistence is about greatest or least; ``range(to)`` is the range of scores there, which can be violated
        (``transfer`` has bounds that cannot).

    Examples
    --------
    >>> import rankbounds as rb
    >>> vectors = rb.rbp.greedy_vectors(0.5, 0.5)
    >>> vectors.greatest[:4].tolist(), vectors.least[:4].tolist()
    ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0])
    """
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
    """Which zeros of the vector are unjudged (NA), as early or as late as the residual allows."""
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


BINARY = (0.0, 1.0)
INEXACT = 4e-16
"""How far a score in floating point may lie from what was printed. At high digits and small p it matters: the unseen
ranks below weigh nothing at p and much at another persistence."""
ARITHMETIC = 1e-12
"""Given away at either end of the closed form for floating point."""


@dataclass(frozen=True, eq=False)
class Published:
    """An RBP score as printed in a paper, with all that is known about it.

    Parameters
    ----------
    score
        A number or, to keep trailing zeros, text such as ``"0.4320"``; or an array.
    p
        The persistence of the score.
    residual
        The printed residual. Without it, unjudged documents count as non-relevant at every persistence.
    digits
        The number of known decimals; by default those written (of an array: the most of any of its numbers).
    topics
        The number of topics in the mean.
    gains
        The possible gains: (0, 1) if binary, such as (0, 0.5, 1), or ``"any"``.
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
    >>> print(published, published.score_range[1].round(6), published.total_range[1].round(6))
    0.4320 +0.0500 at p=0.8 0.43205 0.4821
    """

    score: Any
    p: float
    residual: Any = None
    digits: int | None = None
    topics: int = 1
    gains: Any = BINARY
    depth: int | None = None
    figures = ("range_over_persistence",)

    def __post_init__(self) -> None:
        check_persistence(self.p)
        if self.topics != int(self.topics) or self.topics < 1:
            raise UsageError(f"The number of topics must be a whole number from 1 on, not {self.topics}.")
        if self.depth is not None and (self.depth != int(self.depth) or self.depth < 1):
            raise UsageError(f"The depth must be a whole number from 1 on, not {self.depth}.")
        if self.digits is not None and not 1 <= self.digits <= 15:
            raise UsageError(f"The number of printed digits must lie between 1 and 15, not {self.digits}.")
        object.__setattr__(self, "gains", _checked_gains(self.gains))
        for what, value in (("score", self.values), ("residual", self.open_values)):
            if value is not None and not ((value >= 0) & (value <= 1)).all():
                raise UsageError(
                    f"A {what} lies between 0 and 1; {value[~((value >= 0) & (value <= 1))].flat[0]} does not."
                )
        least, most = self.score_range[0], 1.0 if self.depth is None else 1 - self.p**self.depth
        self._reject(
            least + (0.0 if self.residual_range is None else self.residual_range[0]) > 1,
            "The score {} and its residual add up to more than 1, which cannot be.",
        )
        self._reject(
            least > most,
            f"{{}} is more than {self.depth} relevant documents score at p={self.p:g} ({most:.4f}): is the depth "
            "right?",
        )
        self._reject(~self._occurs(), cannot_occur("{}", self.p))

    @cached_property
    def values(self) -> Floats:
        """The printed scores as numbers."""
        return _numbers(self.score, "score")

    @cached_property
    def open_values(self) -> Floats | None:
        """The printed residuals as numbers."""
        return None if self.residual is None else _numbers(self.residual, "residual")

    @cached_property
    def known_digits(self) -> int:
        """To how many digits the score is known."""
        return _digits(self.score) if self.digits is None else self.digits

    @cached_property
    def known_digits_of_residual(self) -> int:
        """To how many digits the residual is known."""
        return _digits(self.residual) if self.digits is None else self.digits

    @cached_property
    def score_range(self) -> tuple[Floats, Floats]:
        """The least and the greatest score that would have been printed like this."""
        low, high = _rounds_to(self.values, self.known_digits)
        return low, high if self.depth is None else np.minimum(high, 1 - self.p**self.depth)

    @cached_property
    def residual_range(self) -> tuple[Floats, Floats] | None:
        """The same of the residual."""
        if self.open_values is None:
            return None
        low, high = _rounds_to(self.open_values, self.known_digits_of_residual)
        return low, np.minimum(high, 1 - self.score_range[0])

    @cached_property
    def total_range(self) -> tuple[Floats, Floats]:
        """Least and greatest score if every unjudged document is relevant."""
        if self.residual_range is None:
            return self.score_range
        (low, high), (least, most) = self.score_range, self.residual_range
        return np.minimum(1.0, low + least), np.minimum(1.0, high + most)

    @cached_property
    def even_steps(self) -> int | None:
        """Return the number of equal steps into which gains divide [0, 1]; None if uneven, or of any size."""
        if self.gains == "any":
            return None
        steps = len(self.gains) - 1
        return steps if np.allclose(self.gains, np.linspace(0, 1, steps + 1), atol=1e-9, rtol=0) else None

    @property
    def single(self) -> bool:
        """Whether this is one score and not an array of them."""
        return self.values.ndim == 0 and (self.open_values is None or self.open_values.ndim == 0)

    def each(self) -> list[Published]:
        """An array's scores one by one, known to the same digits."""
        shape = np.broadcast_shapes(self.values.shape, () if self.open_values is None else self.open_values.shape)
        scores = np.broadcast_to(self.values, shape).ravel().tolist()
        if self.open_values is None:
            return [replace(self, score=score, digits=self.known_digits) for score in scores]
        digits = min(self.known_digits, self.known_digits_of_residual)
        residuals = np.broadcast_to(self.open_values, shape).ravel().tolist()
        pairs = zip(scores, residuals, strict=True)
        return [replace(self, score=score, residual=residual, digits=digits) for score, residual in pairs]

    def _reject(self, wrong: Flags, problem: str) -> None:
        if wrong.any():
            single = self.values.ndim == 0
            name = str(self.score) if single else f"{np.broadcast_to(self.values, wrong.shape)[wrong].flat[0]:g}"
            raise DataError(problem.replace("{}", name))

    def _occurs(self) -> Flags:
        """Return whether any list has such a score: below p = 0.5 (with steps, below 1 / (steps + 1)) there are gaps.

        There the greatest score up to a limit is the greedy one, because a step at one rank outweighs everything below
        it.
        """
        low, high = self.score_range
        steps = self.even_steps
        if steps is None or self.p >= 1 / (self.topics * steps + 1):
            return np.ones(np.shape(low), dtype=bool)
        steps *= self.topics
        reached = np.zeros(np.shape(low))
        ranks = 1 if self.p == 0 else math.ceil(math.log(1e-16) / math.log(self.p))
        for rank in range(ranks if self.depth is None else min(ranks, self.depth)):
            step = (1 - self.p) * self.p**rank / steps
            reached += step * np.clip(np.floor((high - reached) / step + 1e-9), 0, steps)
        return reached >= low - 1e-12

    def __str__(self) -> str:
        if not self.single:
            return f"{self.values.size} scores at p={self.p:g}"
        open_ = "" if self.open_values is None else f" +{self.open_values:.{self.known_digits_of_residual}f}"
        return f"{self.values:.{self.known_digits}f}{open_} at p={self.p:g}"


def _checked_gains(gains: Any) -> Any:
    if isinstance(gains, str) and gains == "any":
        return "any"
    try:
        levels = tuple(sorted({float(gain) for gain in gains}))
    except (TypeError, ValueError):
        raise UsageError(f'Gains are numbers such as (0, 0.5, 1), or "any"; not {gains!r}.') from None
    if len(levels) < 2 or levels[0] != 0 or levels[-1] != 1:
        raise UsageError(
            f"Gains start at 0 and end at 1; {', '.join(f'{level:g}' for level in levels)} do not. "
            "Divide grades by the largest one."
        )
    return levels


def _numbers(values: Any, what: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"The {what} must be a number, not {values!r}.") from None


def _digits(values: Any) -> int:
    """How many decimals a number is written with; of an array, the most that any has."""
    if np.ndim(values):
        return max((_digits(value) for value in np.asarray(values).ravel().tolist()), default=1)
    try:
        exponent = Decimal(str(values)).as_tuple().exponent
    except InvalidOperation:
        raise UsageError(f"{values!r} is not a decimal number.") from None
    return min(max(-int(exponent), 1), 15) if isinstance(exponent, int) else 1


def _rounds_to(values: Floats, digits: int) -> tuple[Floats, Floats]:
    half = 0.5 * 10.0**-digits * (1 + 1e-9) + INEXACT
    return np.clip(values - half, 0.0, 1.0), np.clip(values + half, 0.0, 1.0)


def vectors_of(published: Published) -> GreedyVectors:
    """The greedy vectors of a published score, with its residual if it has one."""
    residual = 0.0 if published.open_values is None else published.open_values
    return greedy_vectors(published.values, published.p, 10.0**-published.known_digits, residual)
