"""Ties on purpose: ranks in bands, and scores rounded to fewer digits or bits.

Bands ask how exact a ranking must be, rounding how exact scores must be. Both make ties; score them with
``ties="expected"``. Source of the bands: Yang, Moffat and Turpin, How Precise Does Document Scoring Need to Be?, 2016.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import DataError, UsageError, did_you_mean

Rho: TypeAlias = str | float | Fraction | Decimal
FLOATS = ("float32", "float16", "bfloat16")
LARGEST_RHO = 10**9


def exact_rho(rho: Rho) -> Fraction:
    """Return the factor as written: 1.1 is eleven tenths, not the nearest binary number."""
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
    """Return the ranks from 1 to ``depth`` at which a band begins: 1, and after b comes ceil(rho * b)."""
    factor = exact_rho(rho)
    starts = [1]
    while (after := next_start(factor, starts[-1])) <= depth:
        starts.append(after)
    return np.array(starts, dtype=np.int64)


def next_start(factor: Fraction, start: int) -> int:
    """Return where the band after the one that begins at ``start`` begins."""
    return max(start + 1, math.ceil(factor * start))


def rounded(score: Floats, bits: str | int | None, digits: int | None, decimals: int | None) -> Floats:
    """Return the scores rounded by bits, digits or decimals."""
    if (bits is not None) + (digits is not None) + (decimals is not None) != 1:
        raise UsageError("Choose how to round: one of bits, digits or decimals.")
    if bits is not None:
        return _in_bits(score, str(bits))
    places = digits if digits is not None else decimals
    if places is None or places < (digits is not None) or places > 300:
        raise UsageError(f"Scores cannot be rounded to {places} {'digits' if digits is not None else 'decimals'}.")
    form = f".{places - 1}e" if digits is not None else f".{places}f"
    return np.array([float(format(exact, form)) for exact in score.tolist()])


def _in_bits(score: Floats, name: str) -> Floats:
    if name in FLOATS:
        largest = {"float32": np.finfo(np.float32).max, "float16": np.finfo(np.float16).max}.get(name, 3.3895e38)
        if np.abs(score).max() > largest:
            raise DataError(
                f"A score of {score[np.argmax(np.abs(score))]:g} does not fit {name}, which ends at {largest:g}. Scale "
                "the scores first."
            )
        if name == "bfloat16":
            return _bfloat16(score.astype(np.float32)).astype(np.float64)
        return score.astype(name).astype(np.float64)
    if not name.isdigit() or not 1 <= int(name) <= 32:
        hint = did_you_mean(name, list(FLOATS))
        raise UsageError(f'Bits must be {", ".join(FLOATS)} or a whole number from 1 to 32, not "{name}".{hint}')
    least, greatest = float(score.min()), float(score.max())
    if least == greatest:
        return score
    steps = 2 ** int(name) - 1
    level = np.rint((score - least) / (greatest - least) * steps)
    return least + level * ((greatest - least) / steps)


def _bfloat16(score: Floats) -> Floats:
    """Round to the nearest number with an 8-bit significand, ties to even: the upper half of single precision."""
    word = score.view(np.uint32)
    half = np.uint32(0x7FFF) + ((word >> np.uint32(16)) & np.uint32(1))
    return ((word + half) & np.uint32(0xFFFF0000)).view(np.float32)
