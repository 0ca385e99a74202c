"""Ties on purpose: ranks in bands, and scores rounded to fewer digits or bits.

Bands ask how exact a ranking must be, rounding how exact scores must be. Both make ties, to be scored with
``ties="expected"``. Source of the bands: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, 2016.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.inputs import Reading
from rankbounds.collection.run import Run
from rankbounds.columns.native import worth_starting
from rankbounds.errors import DataError, UsageError, did_you_mean
from rankbounds.evaluation.options import RankingOptions, chosen_options
from rankbounds.measures import Measure, RankWeighted, parse_measure
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.reciprocal_rank import RR
from rankbounds.rankings.order import ranked

if TYPE_CHECKING:
    from typing_extensions import Unpack

Rho: TypeAlias = str | float | Fraction | Decimal
FLOATS = ("float32", "float16", "bfloat16")
NEGLIGIBLE = 1e-12
MOST_RANKS = 1 << 22
LARGEST_RHO = 10**9


def exact_rho(rho: Rho) -> Fraction:
    """The factor as it is written: 1.1 is eleven tenths, not the binary number next to it."""
    text = str(rho)
    try:
        # A Decimal, unlike a Fraction, does not write out 1e999999999.
        exact = Fraction(text) if "/" in text else Decimal(text)
        within = 1 <= exact <= LARGEST_RHO
    except (ValueError, ArithmeticError):
        raise UsageError(f'rho must be a number such as 1.4, not "{rho}".') from None
    if not within:
        raise UsageError(f"rho must be at least 1 and at most {LARGEST_RHO:,}, not {rho}.")
    return Fraction(exact)


def band_starts(rho: Rho, depth: int) -> Ints:
    """The ranks from 1 to ``depth`` at which a band begins: 1, and after b comes ceil(rho * b)."""
    factor = exact_rho(rho)
    starts = [1]
    while (after := _next_start(factor, starts[-1])) <= depth:
        starts.append(after)
    return np.array(starts, dtype=np.int64)


def _next_start(factor: Fraction, start: int) -> int:
    return max(start + 1, math.ceil(factor * start))


def rank_safe_depth(rho: Rho) -> int | None:
    """Down to which rank every document stands in a band of its own.

    Parameters
    ----------
    rho
        By which factor bands grow, 1 or more. It is taken as it is written: 1.1 is eleven tenths.

    Returns
    -------
    int or None
        None where that holds everywhere (rho = 1).

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.checking.rank_safe_depth(1.1), rb.checking.rank_safe_depth(2), rb.checking.rank_safe_depth(1)
    (10, 1, None)

    """
    factor = exact_rho(rho)
    return None if factor == 1 else math.floor(1 / (factor - 1))


def banded(run: Any, rho: Rho, **options: Unpack[RankingOptions]) -> Run:
    """The run with its documents in bands that grow with rank: tied on purpose, inside each band.

    Parameters
    ----------
    run
        One run, in any form that ``evaluate`` takes.
    rho
        By which factor bands grow: after the one that begins at rank b, the next begins at ceil(rho * b).
    **options
        Ties (one fixed order) and reading options of ``evaluate``, for the order in which documents stand before.

    Returns
    -------
    Run
        With the score 1/g for every document in the g-th band of its topic. Score it with ``ties="expected"``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> run = {"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}}
    >>> rb.banded(run, 2).to_dict()["q"] == {"a": 1.0, "b": 1 / 2, "c": 1 / 2, "d": 1 / 3, "e": 1 / 3}
    True

    """
    refused = dict.fromkeys(("gain", "topics", "source"), "bands are made without judgments.")
    assumptions, reading = chosen_options(options, RankingOptions, refused=refused, one_order="Bands need")
    original = reading.run(run)
    in_order = ranked(original, assumptions.order, assumptions.score_precision, assumptions.ties_key)
    first = np.flatnonzero(np.diff(in_order.pairs.topic, prepend=-1))
    length = np.diff(first, append=len(in_order))
    rank = np.arange(len(in_order)) - np.repeat(first, length) + 1
    band = np.searchsorted(band_starts(rho, int(length.max())), rank, side="right")
    return Run(original.name, in_order.pairs, 1 / band, lambda: rank)


def rounded(run: Any, *, bits: str | int | None = None, digits: int | None = None, decimals: int | None = None) -> Run:
    """The run with less exact scores, in the order given.

    Parameters
    ----------
    run
        One run, in any form that ``evaluate`` takes.
    bits
        ``"float32"``, ``"float16"``, ``"bfloat16"``, or a whole number b for 2^b evenly spaced levels between the run's
        least and greatest score.
    digits
        To how many significant decimal digits.
    decimals
        To how many digits behind the point.

    Returns
    -------
    Run
        The same documents; those whose scores have become equal are tied.

    Examples
    --------
    >>> import rankbounds as rb
    >>> run = {"q": {"a": 0.734, "b": 0.7301, "c": 0.2}}
    >>> rb.rounded(run, digits=2).to_dict()
    {'q': {'a': 0.73, 'b': 0.73, 'c': 0.2}}

    """
    if (bits is not None) + (digits is not None) + (decimals is not None) != 1:
        raise UsageError("Say how to round: by bits, digits or decimals, and only one of them.")
    original = Reading(threads=worth_starting()).run(run)
    score: Floats = original.score.astype(np.float64)
    if bits is not None:
        score = _in_bits(original, score, bits)
    else:
        places = digits if digits is not None else decimals
        if places is None or places < (digits is not None) or places > 300:
            raise UsageError(f"Scores cannot be rounded to {places} {'digits' if digits is not None else 'decimals'}.")
        form = f".{places - 1}e" if digits is not None else f".{places}f"
        score = np.array([float(format(exact, form)) for exact in score.tolist()])
    return Run(original.name, original.pairs, score, lambda: original.stated_rank)


def _in_bits(run: Run, score: Floats, bits: str | int) -> Floats:
    name = str(bits)
    if name in FLOATS:
        largest = {"float32": np.finfo(np.float32).max, "float16": np.finfo(np.float16).max}.get(name, 3.3895e38)
        if np.abs(score).max() > largest:
            raise DataError(
                f"{run.pairs.source.name}: a score of {score[np.argmax(np.abs(score))]:g} does not fit {name}, which "
                f"ends at {largest:g}. Scale the scores first."
            )
        if name == "bfloat16":
            return _bfloat16(score.astype(np.float32)).astype(np.float64)
        return score.astype(name).astype(np.float64)
    if not name.isdigit() or not 1 <= int(name) <= 32:
        hint = did_you_mean(name, list(FLOATS))
        raise UsageError(f'Bits must be {", ".join(FLOATS)} or a whole number from 1 to 32, not "{bits}".{hint}')
    least, greatest = float(score.min()), float(score.max())
    if least == greatest:
        return score
    steps = 2 ** int(name) - 1
    level = np.rint((score - least) / (greatest - least) * steps)
    return least + level * ((greatest - least) / steps)


def _bfloat16(score: Floats) -> Floats:
    """To the nearest number with an 8-bit significand, a tie to the even one: the upper half of single precision."""
    word = score.view(np.uint32)
    half = np.uint32(0x7FFF) + ((word >> np.uint32(16)) & np.uint32(1))
    return ((word + half) & np.uint32(0xFFFF0000)).view(np.float32)


def worst_difference(measure: str | Measure, rho: Rho) -> float:
    """The most that a score can lose when the ranking is replaced by its bands, taking the mean over all orders.

    Parameters
    ----------
    measure
        RR, RBP, P@k, DCG@k or another sum over ranks with falling weights.
    rho
        By which factor bands grow, 1 or more.

    Returns
    -------
    float
        The difference for the list that loses most.

    Notes
    -----
    Exact for reciprocal rank and for sums over ranks with falling weights and gains from 0 to 1. For average precision
    and other measures that are divided by the number of relevant documents no such limit is known, and they are
    refused.

    Examples
    --------
    >>> import rankbounds as rb
    >>> round(rb.checking.worst_difference("RBP(p=0.8)", 1.4), 4), round(rb.checking.worst_difference("RR", 2), 4)
    (0.0493, 0.0833)

    """
    measure = parse_measure(measure)
    if isinstance(measure, RR):
        return _worst_reciprocal_rank(measure, rho)
    if not is_weighted_sum(measure):
        raise UsageError(
            f"{measure} has no known worst difference: it is no sum over ranks of fixed weights. Use RR, RBP, P@k or "
            "DCG@k."
        )
    weights = measure.weights(_depth(measure))
    if (np.diff(weights) > NEGLIGIBLE).any():
        raise UsageError(f"{measure} has no known worst difference: its weights do not fall with rank.")
    starts = band_starts(rho, weights.size)
    # The last band may go on below the depth, where nothing counts.
    last_size = min(_next_start(exact_rho(rho), int(starts[-1])) - int(starts[-1]), 2**60)
    size = np.append(np.diff(starts), last_size)
    inside = np.diff(starts, append=weights.size + 1)
    first = np.repeat(starts - 1, inside)
    mean = np.repeat(np.add.reduceat(weights, starts - 1) / size, inside)
    number = np.arange(weights.size) - first + 1
    above = np.append(0.0, np.cumsum(weights))
    # With so many relevant documents at the top of a band: their weights minus as many times the band's mean weight.
    lost = above[first + number] - above[first] - number * mean
    return float(np.maximum(np.maximum.reduceat(lost, starts - 1), 0.0).sum())


def _depth(measure: RankWeighted) -> int:
    """The depth of the measure, or one below which nothing counts that could be seen."""
    if measure.cutoff is not None:
        return measure.cutoff
    depth = 16
    while measure.tail(np.array([depth]))[0] > NEGLIGIBLE or measure.weights(depth + 1)[-1] > NEGLIGIBLE:
        depth *= 2
        if depth > MOST_RANKS:
            raise UsageError(f"{measure} counts ranks without end here: give it a depth, as in {measure.name}@1000.")
    return depth


def _worst_reciprocal_rank(measure: RR, rho: Rho) -> float:
    """The only relevant document is the first of a band; the first band of several documents need not be the worst."""
    from scipy.special import digamma

    factor, safe = exact_rho(rho), rank_safe_depth(rho)
    if safe is None:
        return 0.0
    worst, start = 0.0, safe + 1
    deepest = measure.cutoff if measure.cutoff is not None else math.inf
    while start <= deepest and 1 / start > worst:
        after = _next_start(factor, start)
        summed = float(digamma(min(after, deepest + 1)) - digamma(start))
        worst = max(worst, 1 / start - summed / (after - start))
        start = after
    return worst
