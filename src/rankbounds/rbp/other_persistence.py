"""A published RBP score at another persistence (or by other fixed weights): its range, and comparisons of ranges.

The ``relaxed`` range lets every rank hold any gain from 0 to 1. The weight of a rank at one p over that at another is
monotone in rank, so the greatest score fills the list from one end and the least from the other: a closed form, the
tightest for gains of any size and in the limit of many topics. ``exact`` solves the integer program over lists of whole
documents, one list or a mean over n. ``greedy`` is the paper's, which can be violated.

Source: Zhang, Park and Moffat, Parameter Sensitivity in Rank-Biased Precision, ADCS 2008; see ``docs/errata.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal, TypeAlias

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_choice, check_persistence
from rankbounds.errors import DataError, UsageError
from rankbounds.measures import RankWeighted, parse_measure
from rankbounds.measures.naming.parser import MeasureLike
from rankbounds.rbp.integer_program import solve
from rankbounds.rbp.published_score import Printed, Published

Method: TypeAlias = Literal["exact", "relaxed", "greedy"]
METHODS = ("exact", "relaxed", "greedy")
ARITHMETIC = 1e-12
"""Given away at either end of the closed form for floating point."""
Verdict: TypeAlias = Literal["A", "B", "undecided"]


@dataclass(frozen=True, eq=False)
class Transferred:
    """The range of a published score at another persistence."""

    published: Published
    to: float
    low: float
    high: float
    method: Method
    proven: bool
    """Whether no tighter range exists; it holds either way, unless it is ``greedy``."""

    def __str__(self) -> str:
        return f"{self.published} lies in {outward_interval(self.low, self.high)} at p={self.to:g} ({self.how})"

    @property
    def how(self) -> str:
        """The method in words, with what it is worth."""
        if self.to == self.published.p:
            return "as published"
        if self.method == "greedy":
            return "greedy: can be violated"
        return f"{self.method}: {'no tighter range exists' if self.proven else 'holds, a tighter range may exist'}"


def outward_interval(low: float, high: float, digits: int = 4, limit: float = 1.0) -> str:
    """``[0.1234, 0.5678]``, rounded outwards, within 0 and the limit."""
    unit, noise = Decimal(1).scaleb(-digits), 2e-7  # less than this at an end is arithmetic, no information
    least = max(Decimal(low + noise).quantize(unit, ROUND_FLOOR), Decimal(0))
    most = min(Decimal(high - noise).quantize(unit, ROUND_CEILING), Decimal(limit).quantize(unit, ROUND_CEILING))
    return f"[{least:.{digits}f}, {max(most, least):.{digits}f}]"


def transfer(
    score: float | str, p: float, to: float, *, method: Method = "exact", time_limit: float = 1.0, **known: Any
) -> Transferred:
    """Bound a published RBP score at another persistence, over all lists that could have had it.

    Parameters
    ----------
    score, p, **known
        What is known of the score, as in ``Published``: ``residual``, ``digits``, ``topics``, ``depth``.
    to
        The wanted persistence.
    method
        ``"exact"``: an integer program, or the best range within ``time_limit``. ``"relaxed"``: a closed form.
        ``"greedy"``: the paper's, which can be violated.
    time_limit
        The time limit for each end of the range, in seconds.

    Returns
    -------
    Transferred
        ``low`` and ``high``: from the score with unjudged documents non-relevant to that with all relevant; the
        ``method`` used, and whether they are ``proven`` to be the tightest.

    Examples
    --------
    >>> import rankbounds as rb
    >>> print(rb.rbp.transfer("0.4320", 0.8, 0.5, method="relaxed"))
    0.4320 at p=0.8 lies in [0.0761, 0.8204] at p=0.5 (relaxed: holds, a tighter range may exist)
    """
    return transfer_published(Published(score, p, **known), to, method, time_limit)


def transfer_published(
    published: Published, to: float, method: Method = "exact", time_limit: float = 1.0
) -> Transferred:
    """As ``transfer``, of a ``Published`` score."""
    check_persistence(to)
    check_choice("method", method, METHODS)
    if method == "greedy":
        return _greedy(published, to)
    beyond = published.depth if published.residual is None else None
    low = relaxed_range(published.score_range[0], published.p, to, published.depth)[0]
    high = relaxed_range(published.total_range[1], published.p, to, beyond)[1]
    relaxed = Transferred(published, to, low, high, "relaxed", proven=to == published.p)
    return relaxed if relaxed.proven or method == "relaxed" else _exact(relaxed, time_limit)


def _greedy(published: Published, to: float) -> Transferred:
    if published.depth is not None:
        raise UsageError("The greedy method is for lists without a known end.")
    value, open_ = published.printed.value, published.printed_residual
    own = value, value + (0.0 if open_ is None else open_.value)
    low, high = own if to == published.p else map(float, published.vectors.range(to))
    return Transferred(published, to, low, high, "greedy", proven=False)


def relaxed_range(score: float, p: float, to: float, depth: int | None = None) -> tuple[float, float]:
    """Return the least and the greatest RBP at persistence ``to`` of lists with gains in [0, 1] that score this at p.

    For ``to`` below p, the greatest has its gain at the top of the list and the least at the bottom; above p it is the
    reverse. The list is infinite, or ends at ``depth``.
    """
    if to == p:
        return score, score
    cut, cut_there = (0.0, 0.0) if depth is None else (p**depth, to**depth)
    at_top = 1 - _all_below(1 - score, p, to)
    at_bottom = _all_below(score + cut, p, to) - cut_there
    low, high = (at_bottom, at_top) if to < p else (at_top, at_bottom)
    return max(low - ARITHMETIC, 0.0), min(high + ARITHMETIC, 1.0)


def _all_below(score: float, p: float, to: float) -> float:
    score = min(score, 1.0)
    if score <= 0:
        return 0.0
    if p == 0:
        return to + score * (1 - to)
    above = max(math.floor(math.log(score) / math.log(p)), 0)
    weight = (1 - p) * p**above
    missing = min(max((p**above - score) / weight, 0.0), 1.0) if weight else 0.0
    return to**above * (1 - missing * (1 - to))


def _exact(relaxed: Transferred, time_limit: float) -> Transferred:
    published, to = relaxed.published, relaxed.to
    low, high = (solve(published, to, highest=highest, time_limit=time_limit) for highest in (False, True))
    if not (low.feasible and high.feasible):
        # Where clearly wider intervals hold no list either, it is not the solver's arithmetic that finds none.
        if not solve(published, to, highest=True, time_limit=time_limit, wider=0.01).feasible:
            over = f" over {published.topics} topics" if published.topics > 1 else ""
            raise DataError(
                f"No list has the score {published}{over}: its documents' weights do not add up to it in any way. "
                "Are the digits, p and topics right?"
            )
        return relaxed
    if not (low.reached or high.reached or low.bound > relaxed.low or high.bound < relaxed.high):
        return relaxed
    ends = max(relaxed.low, low.bound), min(relaxed.high, high.bound)
    return Transferred(published, to, *ends, "exact", low.reached and high.reached)


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
    """The comparison of two published scores, first at the wanted persistence, then at either's own."""

    meetings: tuple[Meeting, ...]
    advice: tuple[str, ...] = ()
    """What further information would decide, where nothing is decided yet."""

    @property
    def verdict(self) -> Verdict:
        """The verdict at the persistence asked for."""
        return self.meetings[0].verdict


def compare_published(
    a: Published, b: Published, to: float | None = None, *, method: Method = "exact", time_limit: float = 1.0
) -> PublishedComparison:
    """Compare two systems by scores that were published at different persistences.

    Parameters
    ----------
    a, b
        One published score each.
    to
        The persistence to compare at; by default the lower of the two, where ranges are narrower.
    method, time_limit
        As in ``transfer``. ``"greedy"`` is the paper's comparison in six steps, whose verdict can be wrong.

    Returns
    -------
    PublishedComparison
        Its ``verdict`` at ``to`` (``"A"``, ``"B"`` or ``"undecided"``) holds for all lists that could have the printed
        scores; ``meetings`` are the comparisons there and at either's own p; ``advice`` says what would decide.

    Examples
    --------
    >>> import rankbounds as rb
    >>> a, b = rb.rbp.Published("0.900", 0.8), rb.rbp.Published("0.200", 0.5)
    >>> found = rb.rbp.compare_published(a, b)
    >>> found.verdict, found.meetings[0].p
    ('A', 0.5)
    """
    asked = min(a.p, b.p) if to is None else check_persistence(to)
    places = dict.fromkeys([asked, *sorted({a.p, b.p})])
    meetings = tuple(
        Meeting(*(transfer_published(side, place, method, time_limit) for side in (a, b))) for place in places
    )
    if meetings[0].verdict != "undecided" or method == "greedy":
        return PublishedComparison(meetings)
    moved = [name for name, published in (("A", a), ("B", b)) if published.p != asked]
    advice = [f"What would decide: the score of {name} at p={asked:g} itself, or its run." for name in moved]
    if max(a.topics, b.topics) > 1:
        advice.append("The scores of the single topics would narrow the range of a mean.")
    return PublishedComparison(meetings, tuple(advice))


# ---- other measures with fixed weights ----


@dataclass(frozen=True)
class WeightedRange:
    """The range of a score by another measure."""

    score: str
    measure: RankWeighted
    to: RankWeighted
    low: float
    high: float

    @property
    def within(self) -> str:
        """The range as text, rounded outwards."""
        return outward_interval(self.low, self.high, limit=float(_weights(self.to, self.to.cutoff or 0).sum()))

    def __str__(self) -> str:
        return f"{self.measure} of {self.score} lies in {self.within} by {self.to}"


def transfer_weights(
    score: str | float, measure: MeasureLike, to: MeasureLike, *, residual: str | float | None = None
) -> WeightedRange:
    """Bound a published score by another sum of fixed weights over ranks: DCG at another depth, SDCG of another base.

    Parameters
    ----------
    score
        The score as printed: ``"0.4320"`` is known to four decimals.
    measure, to
        The measure it was published in, and the one wanted: P, RBP, DCG, SDCG with a depth, such as
        ``"SDCG(base=2)@10"``.
    residual
        The most that unjudged documents could add to the score, as printed. The range then holds for the score with all
        documents judged; without it, unjudged documents count as non-relevant in both.

    Returns
    -------
    WeightedRange
        ``low`` and ``high`` hold for all lists with gains between 0 and 1, and for means over topics. Lists with binary
        relevance may have a narrower range.

    Examples
    --------
    >>> import rankbounds as rb
    >>> print(rb.rbp.transfer_weights("0.5000", "P@2", "P@4"))
    P@2 of 0.5000 lies in [0.2499, 0.7501] by P@4
    """
    source, target = (_parse_weighted(one) for one in (measure, to))
    depth = max(source.cutoff or 0, target.cutoff or 0)
    from_weights, to_weights = (_weights(one, depth) for one in (source, target))
    most = float(from_weights.sum())
    printed, open_ = Printed.read("score", score), Printed.read("residual", residual or 0)
    least, greatest = printed.range
    if printed.value < 0 or least > most:
        raise DataError(f"{source} lies between 0 and {most:.4f}, and {score} does not.")
    if open_.value < 0:
        raise DataError(f"A residual is at least 0, not {residual}.")
    low = _extreme(least, from_weights, to_weights, highest=False)
    most = min(most, greatest + (open_.range[1] if residual else 0.0))
    high = _extreme(most, from_weights, to_weights, highest=True)
    return WeightedRange(str(score), source, target, max(0.0, low - ARITHMETIC), high + ARITHMETIC)


def _parse_weighted(given: MeasureLike) -> RankWeighted:
    measure: Any = parse_measure(given)
    if not isinstance(measure, RankWeighted) or measure.cutoff is None:
        raise UsageError(f"{measure} has no fixed weights down to a depth. Use P@10, DCG@10, SDCG@10 or RBP@10.")
    return measure


def _weights(measure: RankWeighted, depth: int) -> Floats:
    weights = np.zeros(depth)
    weights[: measure.cutoff] = measure.weights(measure.cutoff or 0)
    return weights


def _extreme(score: float, weights: Floats, wanted: Floats, *, highest: bool) -> float:
    """Return the greatest (or least) sum of wanted weights of gains from 0 to 1 that score this.

    The ranks are filled by falling (or rising) wanted weight over weight, one of them in part.
    """
    free = float(wanted[weights == 0].sum()) if highest else 0.0  # ranks that the score says nothing about
    bound = weights > 0
    ratio = wanted[bound] / weights[bound]
    order = np.argsort(-ratio if highest else ratio, kind="stable")
    before = np.cumsum(weights[bound][order]) - weights[bound][order]
    gain = np.clip((score - before) / weights[bound][order], 0.0, 1.0)
    return free + float(gain @ wanted[bound][order])
