"""Decimal text to floating point, a column at a time, bit for bit as Python's ``float``."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankbounds.arrays import Bytes, Floats, Ints
from rankbounds.columns.ids import Ids

LARGEST_WHOLE = 2**53
"""Whole numbers up to here are exact."""
_LONGEST = 32
"""Tokens of up to so many bytes are read together; the padding of a text is longer."""


def finite_numbers(values: Any) -> tuple[Floats, Ints]:
    """Return the numbers in a column, and the rows that are not finite numbers (their value is NaN)."""
    if not isinstance(values, Ids | np.ndarray):
        kinds = set(map(type, values))
        if kinds == {str}:
            try:
                values = Ids.of(values)
            except UnicodeEncodeError:
                values = [_number_or_nan(value) for value in values]
        elif not kinds <= {int, float}:
            values = [_number_or_nan(value) for value in values]
    if isinstance(values, Ids):
        return parse_decimals(values.text, values.start, values.start + values.length)
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([_number_or_nan(value) for value in values])
    bad = np.flatnonzero(~np.isfinite(numbers))
    numbers[bad] = np.nan
    return numbers, bad


def whole_numbers(values: Any) -> tuple[Ints, Ints]:
    """Return whole numbers, and the rows that are none or too large to be exact (their value is 0)."""
    numbers, _ = finite_numbers(values)
    whole = (np.abs(numbers) <= LARGEST_WHOLE) & (numbers == np.floor(numbers))
    return np.where(whole, numbers, 0).astype(np.int64), np.flatnonzero(~whole)


def _number_or_nan(value: Any) -> float:
    try:
        text = value.decode("ascii") if isinstance(value, bytes) else value
        if isinstance(text, str) and ("_" in text or not text.isascii()):
            return np.nan
        return float(text)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def parse_decimals(text: Bytes, start: Ints, end: Ints) -> tuple[Floats, Ints]:
    """Return the numbers at ``text[start:end]``, and the rows that are not finite numbers (NaN)."""
    length = end - start
    width = min(int(length.max(initial=1)), _LONGEST)
    window = np.lib.stride_tricks.sliding_window_view(text, width)[np.minimum(start, text.size - width)]
    window *= np.arange(width) < length[:, None]
    # NumPy reads what ``float`` reads, but takes NULs at the end for no part of a token.
    odd = (length > width) | (length == 0)
    if np.count_nonzero(window) != int(length.sum()):
        odd |= np.count_nonzero(window, axis=1) != length
    if (underscores := window == ord("_")).any():
        odd |= underscores.any(axis=1)
    window[odd] = ord("0")
    tokens = window.view(f"S{width}").ravel()
    try:
        values = tokens.astype(np.float64)
    except ValueError:
        values = np.array([_number_or_nan(token) for token in tokens.tolist()])
    for row in np.flatnonzero(odd).tolist():
        values[row] = _number_or_nan(text[start[row] : end[row]].tobytes())
    bad = np.flatnonzero(~np.isfinite(values))
    values[bad] = np.nan
    return values, bad
