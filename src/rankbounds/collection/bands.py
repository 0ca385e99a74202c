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
    while (after := max(starts[-1] + 1, math.ceil(factor * starts[-1]))) <= depth:
        starts.append(after)
    return np.array(starts, dtype=np.int64)


def rounded(score: Floats, bits: str | None, digits: int | None) -> Floats:
    if (bits is None) == (digits is None):
        raise UsageError("Choose how to round: either bits or digits.")
    if digits is not None:
        if not 1 <= digits <= 300:
            raise UsageError(f"Scores cannot be rounded to {digits} digits.")
        return np.array([float(f"{exact:.{digits - 1}e}") for exact in score.tolist()])
    if bits not in FLOATS:
        raise UsageError(f'Bits must be {", ".join(FLOATS)}, not "{bits}".{did_you_mean(str(bits), list(FLOATS))}')
    largest = {"float32": np.finfo(np.float32).max, "float16": np.finfo(np.float16).max}.get(bits, 3.3895e38)
    if np.abs(score).max() > largest:
        raise DataError(
            f"A score of {score[np.argmax(np.abs(score))]:g} does not fit {bits}, which ends at {largest:g}. Scale the "
            "scores first."
        )
    rough = _bfloat16(score.astype(np.float32)) if bits == "bfloat16" else score.astype(bits)
    return rough.astype(np.float64)


def _bfloat16(score: Floats) -> Floats:
    word = score.view(np.uint32)
    half = np.uint32(0x7FFF) + ((word >> np.uint32(16)) & np.uint32(1))
    return ((word + half) & np.uint32(0xFFFF0000)).view(np.float32)
