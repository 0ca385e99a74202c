"""A published RBP score at another persistence: between which values it must lie, and who wins.

A score S at p, printed with d digits, stands for every score that rounds to it. The lists that have such a score give
a range of scores at another persistence p'. Three ways to it:

``relaxed``
    lets every rank hold any gain from 0 to 1. The weight of a rank at p' over that at p rises or falls with rank, so
    the greatest score fills the list from one end and the least from the other: a closed form. It always holds. It is
    the tightest for gains of any size, and what means over more and more topics tend to.
``exact``
    solves the integer program over lists of whole documents, binary or with gain levels, one list or a mean over n.
``greedy``
    is the paper's. It can be violated, and is here to be compared with.

Source: Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008; see ``docs/errata.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankbounds.arrays import Flags, Floats
from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.integer_program import Problem, even_steps, solve
from rankbounds.relevance_vectors import (
    GreedyVectors,
    cannot_occur,
    check_persistence,
    count_vectors,
    enumerate_vectors,
    first_relevance,
    greedy_vectors,
    significant_ranks,
)

__all__ = [
    "METHODS",
    "GreedyVectors",
    "Meeting",
    "Published",
    "PublishedComparison",
    "Transferred",
    "Verdict",
    "compare_published",
    "count_vectors",
    "enumerate_vectors",
    "first_relevance",
    "greedy_vectors",
    "relaxed_range",
    "significant_ranks",
    "transfer",
]

Method: TypeAlias = Literal["tightest", "exact", "relaxed", "greedy"]
METHODS = ("tightest", "exact", "relaxed", "greedy")
BINARY = (0.0, 1.0)
INEXACT = 4e-16
"""How far a score in floating point may lie from what was printed. At high digits and small p it matters: the unseen
ranks below weigh nothing at p and much at another persistence."""
ARITHMETIC = 1e-12
"""Given away at either end of the closed form for floating point."""


@dataclass(frozen=True, eq=False)
class Published:
    """A score as a paper prints it, with all that is known about it.

    ``score`` and ``residual`` are numbers or, to keep trailing zeros, text such as ``"0.4320"``. Without ``digits``
    each is known to the digits it is written with; ``score`` may also be an array, known to the most digits any of
    its numbers has. Without ``residual``, unjudged documents count as non-relevant, at p as at any other persistence.
    ``topics``: the score is a mean over so many. ``gains``: what one document can be worth, (0, 1) if binary, such as
    (0, 0.5, 1), or ``"any"``. ``depth``: nothing below this rank was scored, as in RBP@10.
    """

    score: Any
    p: float
    residual: Any = None
    digits: int | None = None
    topics: int = 1
    gains: Any = BINARY
    depth: int | None = None

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
        too_much = self.score_range[0] + (0.0 if self.residual_range is None else self.residual_range[0]) > 1
        if too_much.any():
            raise DataError(
                f"The score {self._named(too_much)} and its residual add up to more than 1, which cannot be."
            )
        if self.depth is not None and (self.score_range[0] > 1 - self.p**self.depth).any():
            at = self.score_range[0] > 1 - self.p**self.depth
            raise DataError(
                f"{self._named(at)} is more than {self.depth} relevant documents score at p={self.p:g} "
                f"({1 - self.p**self.depth:.4f}): is the depth right?"
            )
        impossible = ~self._occurs()
        if impossible.any():
            raise DataError(cannot_occur(self._named(impossible), self.p))

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
        total = tuple(np.minimum(1.0, s + r) for s, r in zip(self.score_range, self.residual_range, strict=True))
        return total[0], total[1]

    @property
    def single(self) -> bool:
        """Whether this is one score and not an array of them."""
        return self.values.ndim == 0 and (self.open_values is None or self.open_values.ndim == 0)

    def each(self) -> list[Published]:
        """An array's scores one by one, known to the same digits."""
        shape = np.broadcast_shapes(self.values.shape, () if self.open_values is None else self.open_values.shape)
        scores = np.broadcast_to(self.values, shape).ravel().tolist()
        if self.open_values is None:
            return [replace(self, score=one, digits=self.known_digits) for one in scores]
        digits = min(self.known_digits, self.known_digits_of_residual)
        residuals = np.broadcast_to(self.open_values, shape).ravel().tolist()
        pairs = zip(scores, residuals, strict=True)
        return [replace(self, score=one, residual=open_, digits=digits) for one, open_ in pairs]

    def _named(self, where: Flags) -> str:
        """The first score for which the condition holds, as it was written."""
        if self.values.ndim == 0:
            return str(self.score)
        return f"{np.broadcast_to(self.values, where.shape)[where].flat[0]:g}"

    def _occurs(self) -> Flags:
        """Whether any list has such a score: below p = 0.5 (with steps, below 1 / (steps + 1)) there are gaps.

        In the gaps' range the greatest score up to a limit is the greedy one, because a step at one rank outweighs
        everything below it.
        """
        low, high = self.score_range
        steps = None if self.gains == "any" else even_steps(self.gains)
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


@dataclass(frozen=True, eq=False)
class Transferred:
    """Between which values a published score lies at another persistence; arrays where the scores are."""

    published: Published
    to: float
    low: Any
    high: Any
    method: str
    """Which way the range was found: ``exact``, ``relaxed`` or ``greedy``."""
    proven: bool
    """Whether both ends are known to be as tight as what is known of the score allows. The range holds either way,
    unless it is ``greedy``."""

    @property
    def width(self) -> Any:
        """How much is left open."""
        return self.high - self.low

    def __str__(self) -> str:
        return f"{self.published} lies in {interval(self.low, self.high)} at p={self.to:g} ({self.how})"

    @property
    def how(self) -> str:
        """The method in words, with what it is worth."""
        if self.to == self.published.p:
            return "as published"
        if self.method == "greedy":
            return "greedy: can be violated"
        return f"{self.method}: {'no tighter range exists' if self.proven else 'holds, a tighter range may exist'}"


def interval(low: float, high: float, digits: int = 4) -> str:
    """``[0.1234, 0.5678]``, rounded outwards."""
    unit, noise = Decimal(1).scaleb(-digits), 2e-7  # less than this at an end is arithmetic, no information
    least = max(Decimal(low + noise).quantize(unit, ROUND_FLOOR), Decimal(0))
    most = min(Decimal(high - noise).quantize(unit, ROUND_CEILING), Decimal(1))
    return f"[{least:.{digits}f}, {max(most, least):.{digits}f}]"


def transfer(
    score: Any,
    p: float,
    to: float,
    *,
    residual: Any = None,
    digits: int | None = None,
    topics: int = 1,
    gains: Any = BINARY,
    depth: int | None = None,
    method: Method | None = None,
    time_limit: float = 1.0,
) -> Transferred:
    """The range at persistence ``to`` of a score that was published at ``p``.

    It spans from the score with unjudged documents non-relevant to that with all of them relevant. What the arguments
    mean is told by ``Published``. ``method`` is ``tightest`` for one score: the exact range, or as close to it as
    ``time_limit`` seconds for either end allow. For an array it is ``relaxed``, microseconds for each score.
    """
    published = Published(score, p, residual, digits, topics, gains, depth)
    return transferred(published, to, method, time_limit)


def transferred(published: Published, to: float, method: Method | None = None, time_limit: float = 1.0) -> Transferred:
    """As ``transfer``, of a ``Published`` score."""
    check_persistence(to)
    chosen = ("tightest" if published.single else "relaxed") if method is None else method
    if chosen not in METHODS:
        hint = did_you_mean(str(chosen), list(METHODS))
        raise UsageError(f'There is no method "{chosen}".{hint} Known: {", ".join(METHODS)}.')
    if not published.single and chosen in ("tightest", "exact"):
        every = [transferred(one, to, chosen, time_limit) for one in published.each()]
        return Transferred(
            published,
            to,
            np.array([one.low for one in every]),
            np.array([one.high for one in every]),
            min((one.method for one in every), default=chosen),
            all(one.proven for one in every),
        )
    if chosen == "greedy":
        return _greedy(published, to)
    relaxed = _relaxed(published, to)
    if relaxed.proven:
        return replace(relaxed, method="exact") if chosen == "exact" else relaxed
    # Gains of any size leave no whole numbers to search: with a residual, the closed form is all there is.
    return relaxed if chosen == "relaxed" or published.gains == "any" else _exact(relaxed, time_limit)


def _greedy(published: Published, to: float) -> Transferred:
    if published.gains != BINARY or published.depth is not None:
        raise UsageError("The greedy method is for binary relevance and lists without a known end.")
    residual = 0.0 if published.open_values is None else published.open_values
    if to == published.p:
        low, high = published.values, published.values + residual
    else:
        vectors = greedy_vectors(published.values, published.p, 10.0**-published.known_digits, residual)
        low, high = vectors.range(to)
    return Transferred(published, to, *_plain(low, high), "greedy", proven=False)


def _relaxed(published: Published, to: float) -> Transferred:
    total = published.total_range[1]
    beyond = published.depth if published.residual is None else None
    low = relaxed_range(published.score_range[0], published.p, to, published.depth)[0]
    high = relaxed_range(total, published.p, to, beyond)[1]
    same = to == published.p
    tight = same or (published.gains == "any" and published.residual is None)
    return Transferred(published, to, *_plain(low, high), "relaxed", proven=tight)


def relaxed_range(score: ArrayLike, p: float, to: float, depth: int | None = None) -> tuple[Floats, Floats]:
    """The least and the greatest RBP at persistence ``to`` of lists with gains in [0, 1] that score this at p.

    For ``to`` below p, the greatest has its gain at the top and the least at the bottom of the list; above p it is
    the other way about. The list has no end, or ends at ``depth``.
    """
    exact = np.asarray(score, dtype=np.float64)
    if to == p:
        return exact, exact
    cut, cut_there = (0.0, 0.0) if depth is None else (p**depth, to**depth)
    at_top = 1 - _all_below(1 - exact, p, to)
    at_bottom = _all_below(np.where(exact > 0, exact + cut, cut), p, to) - cut_there
    low, high = (at_bottom, at_top) if to < p else (at_top, at_bottom)
    return np.clip(low - ARITHMETIC, 0.0, 1.0), np.clip(high + ARITHMETIC, 0.0, 1.0)


def _all_below(score: Floats, p: float, to: float) -> Floats:
    """RBP at ``to`` of the list that scores this at p and is relevant from some rank on, there perhaps in part."""
    if p == 0:
        return np.where(score > 0, to + score * (1 - to), 0.0)
    score = np.clip(score, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        above = np.maximum(np.floor(np.log(score) / math.log(p)), 0.0)
    above = np.where(score > 0, above, 0.0)
    missing = np.clip((p**above - score) / ((1 - p) * p**above), 0.0, 1.0)
    return np.where(score > 0, to**above * (1 - missing * (1 - to)), 0.0)


def _exact(relaxed: Transferred, time_limit: float) -> Transferred:
    published, to = relaxed.published, relaxed.to
    problem = _problem(published)
    low, high = (solve(problem, to, highest=highest, time_limit=time_limit) for highest in (False, True))
    if not (low.feasible and high.feasible):
        if _impossible(problem, to, time_limit):
            raise DataError(
                f"No list has the score {published}"
                + (f" over {published.topics} topics" if published.topics > 1 else "")
                + ": its documents' weights do not add up to it in any way. Are the digits, p, gains and topics right?"
            )
        return relaxed
    if not (low.reached or high.reached or low.bound > relaxed.low or high.bound < relaxed.high):
        return relaxed
    return Transferred(
        published,
        to,
        max(relaxed.low, low.bound),
        min(relaxed.high, high.bound),
        "exact",
        low.reached and high.reached,
    )


def _problem(published: Published) -> Problem:
    residual = published.residual_range
    return Problem(
        published.p,
        (float(published.score_range[0]), float(published.score_range[1])),
        None if residual is None else (float(residual[0]), float(residual[1])),
        int(published.topics),
        published.gains,
        published.depth,
    )


def _impossible(problem: Problem, to: float, time_limit: float) -> bool:
    """Whether even clearly wider intervals hold no list: then it is not the solver's arithmetic that finds none."""

    def wider(known: tuple[float, float]) -> tuple[float, float]:
        extra = (known[1] - known[0]) / 100
        return known[0] - extra, known[1] + extra

    residual = None if problem.residual is None else wider(problem.residual)
    wide = replace(problem, score=wider(problem.score), residual=residual)
    return not solve(wide, to, highest=True, time_limit=time_limit).feasible


BY_CLOSED_FORM = " by the closed-form range."
Verdict: TypeAlias = Literal["A", "B", "undecided"]


@dataclass(frozen=True, eq=False)
class Meeting:
    """Two published scores at one persistence."""

    a: Transferred
    b: Transferred

    @property
    def p(self) -> float:
        """Where they meet."""
        return self.a.to

    @property
    def verdict(self) -> Verdict:
        """Which has the higher score whatever the lists were."""
        if self.a.low > self.b.high:
            return "A"
        return "B" if self.b.low > self.a.high else "undecided"


@dataclass(frozen=True, eq=False)
class PublishedComparison:
    """What two published scores say of each other, at the persistence asked for and at the others' own."""

    meetings: tuple[Meeting, ...]
    """The first is the one that was asked for."""
    advice: tuple[str, ...]
    """What further information would decide, where nothing is decided yet."""

    @property
    def verdict(self) -> Verdict:
        """The verdict at the persistence asked for."""
        return self.meetings[0].verdict

    def __str__(self) -> str:
        lines = []
        for meeting in self.meetings:
            ranges = ", ".join(
                f"{name} {interval(one.low, one.high)}" for name, one in (("A", meeting.a), ("B", meeting.b))
            )
            decided = "undecided" if meeting.verdict == "undecided" else f"{meeting.verdict} is surely better"
            lines.append(f"at p={meeting.p:g}: {decided} ({ranges})")
        return "\n".join([*lines, *self.advice])


def compare_published(
    a: Published, b: Published, to: float | None = None, *, method: Method | None = None, time_limit: float = 1.0
) -> PublishedComparison:
    """Which of two systems is surely better, at persistence ``to`` and at either system's own.

    Without ``to`` it is the lower of the two, where ranges are narrower. With ``method="greedy"`` this is the paper's
    comparison in six steps, whose verdict can be wrong.
    """
    if not (a.single and b.single):
        raise UsageError("compare_published takes one score for each system.")
    asked = min(a.p, b.p) if to is None else check_persistence(to)
    places = dict.fromkeys([asked, *sorted({a.p, b.p})])
    meetings = tuple(
        Meeting(transferred(a, place, method, time_limit), transferred(b, place, method, time_limit))
        for place in places
    )
    decided = meetings[0].verdict != "undecided" or method == "greedy"
    return PublishedComparison(meetings, () if decided else tuple(_advice(a, b, asked)))


def _advice(a: Published, b: Published, to: float) -> list[str]:
    """What would settle an undecided comparison, judged by the closed form."""
    told = []
    if a.residual is not None or b.residual is not None:
        judged = Meeting(*(_relaxed(replace(one, residual=None), to) for one in (a, b)))
        could = judged.verdict != "undecided"
        told.append(
            "Judging the documents behind the residuals "
            + (f"could decide it (for {judged.verdict} if none is relevant)." if could else "would not be enough")
            + ("" if could else BY_CLOSED_FORM)
        )
    if _finer(a, b, to) or _finer(b, a, to):
        told.append("More printed digits could decide it.")
    else:
        told.append(f"More printed digits would not be enough{BY_CLOSED_FORM}")
    if max(a.topics, b.topics) > 1:
        told.append("The scores of the single topics would narrow the range of a mean.")
    for name, one in (("A", a), ("B", b)):
        if one.p != to:
            told.append(f"Best: the score of {name} at p={to:g} itself, or its run.")
    return told


def _finer(better: Published, worse: Published, to: float) -> bool:
    """Whether one wins for some scores within the printed digits, were they known exactly."""
    low = relaxed_range(better.score_range[1], better.p, to, better.depth)[0]
    high = relaxed_range(worse.total_range[0], worse.p, to, worse.depth if worse.residual is None else None)[1]
    return bool(low > high)


def _checked_gains(gains: Any) -> Any:
    if isinstance(gains, str) and gains == "any":
        return "any"
    try:
        levels = tuple(sorted({float(gain) for gain in gains}))
    except (TypeError, ValueError):
        raise UsageError(f'Gains are numbers such as (0, 0.5, 1), or "any"; not {gains!r}.') from None
    if len(levels) < 2 or levels[0] != 0 or levels[-1] != 1:
        raise UsageError(
            f"Gains start at 0 and end at 1; {', '.join(f'{one:g}' for one in levels)} do not. "
            "Divide grades by the largest one."
        )
    return levels


def _numbers(values: Any, what: str) -> Floats:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"The {what} must be a number, not {values!r}.") from None
    return found


def _digits(values: Any) -> int:
    """How many decimals a number is written with; of an array, the most that any has."""
    if np.ndim(values):
        return max((_digits(one) for one in np.asarray(values).ravel().tolist()), default=1)
    try:
        exponent = Decimal(str(values)).as_tuple().exponent
    except InvalidOperation:
        raise UsageError(f"{values!r} is not a decimal number.") from None
    return min(max(-int(exponent), 1), 15) if isinstance(exponent, int) else 1


def _rounds_to(values: Floats, digits: int) -> tuple[Floats, Floats]:
    half = 0.5 * 10.0**-digits * (1 + 1e-9) + INEXACT
    return np.clip(values - half, 0.0, 1.0), np.clip(values + half, 0.0, 1.0)


def _plain(low: Floats, high: Floats) -> tuple[Any, Any]:
    return (float(low), float(high)) if np.ndim(low) == np.ndim(high) == 0 else (low, high)
