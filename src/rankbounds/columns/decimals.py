"""Decimal text to floating point, a column at a time and to the last bit.

A plain decimal of up to 16 characters is read as an integer over a power of ten. Both are exact in double precision
(below 2**53 and up to 10**15), and one division of exact numbers rounds correctly, so the result is what ``float``
gives. Every other token goes to ``float`` itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankbounds.arrays import Bytes, Flags, Floats, Ints, Words
from rankbounds.columns.ids import Ids, word_view


def _repeated(byte: int) -> np.uint64:
    return np.uint64(int.from_bytes(bytes([byte]) * 8, "little"))


_KEEP_LAST = np.array([((1 << 64) - 1) ^ ((1 << (8 * (8 - n))) - 1) for n in range(9)], dtype=np.uint64)
_ZEROS, _DOTS, _ONES, _HIGH_BITS, _TO_HIGH_BIT = map(_repeated, (0x30, 0x2E, 0x01, 0x80, 0x76))
_ONE, _SEVEN, _EIGHT, _FIFTY_SIX = map(np.uint64, (1, 7, 8, 56))
_POWERS = 10.0 ** np.arange(17)
_LARGEST_EXACT = np.uint64(1 << 53)


LARGEST_WHOLE = 2**53
"""Whole numbers up to here are exact."""


def finite_numbers(values: Any) -> tuple[Floats, Ints]:
    """The numbers in a column of numbers or of text, and the rows that are not finite numbers (their value is NaN)."""
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
    """The same for whole numbers, and the rows that are none or too large to be exact (their value is 0)."""
    numbers, _ = finite_numbers(values)
    whole = (np.abs(numbers) <= LARGEST_WHOLE) & (numbers == np.floor(numbers))
    return np.where(whole, numbers, 0).astype(np.int64), np.flatnonzero(~whole)


def _number_or_nan(value: Any) -> float:
    try:
        if isinstance(value, str):
            return np.nan if "_" in value or not value.isascii() else float(value)
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def parse_decimals(text: Bytes, start: Ints, end: Ints) -> tuple[Floats, Ints]:
    """The numbers at ``text[start:end]``, and the rows that are not finite numbers (their value is NaN)."""
    values, odd = _plain_decimals(text, start, end)
    if not odd.size:
        return values, odd
    begin = int(start[odd].min())
    around = text[begin : int(end[odd].max())].tobytes()
    places = zip((start[odd] - begin).tolist(), (end[odd] - begin).tolist(), strict=True)
    tokens = [around[first:last] for first, last in places]
    try:
        read = np.array(list(map(float, tokens)))
    except ValueError:
        read = np.array(list(map(_float_or_nan, tokens)))
    read[[not np.isfinite(value) or b"_" in token for value, token in zip(read.tolist(), tokens, strict=True)]] = np.nan
    values[odd] = read
    return values, odd[np.isnan(read)]


def _float_or_nan(token: bytes) -> float:
    try:
        return float(token)
    except ValueError:
        return np.nan


def _plain_decimals(text: Bytes, start: Ints, end: Ints) -> tuple[Floats, Ints]:
    """Values, and the rows whose token is not a short plain decimal."""
    first = text[start]
    negative = first == ord("-")
    length = end - start - (negative | (first == ord("+")))
    words = word_view(text)
    # The last byte of a token is the highest byte of its word, so that digits line up at their decimal end.
    low = words[end - 8] & _KEEP_LAST.take(length, mode="clip")
    low_dotless, decimals, dotted = _without_dot(low)
    if int(length.max(initial=0)) <= 8:
        digits = length - dotted
        mantissa, plain = _eight_digits(low_dotless, digits)
    else:
        high = words[end - 16] & _KEEP_LAST.take(length - 8, mode="clip")
        # A dot taken out of the low word makes room there for the last byte of the high one.
        if dotted.all():
            low_dotless |= high >> _FIFTY_SIX
            high_dotless = high << _EIGHT
            digits = length - 1
        else:
            high_dotless, high_decimals, high_dotted = _without_dot(high)
            low_dotless |= np.where(dotted, high >> _FIFTY_SIX, np.uint64(0))
            high_dotless = np.where(dotted, high << _EIGHT, high_dotless)
            decimals = np.where(dotted, decimals, np.where(high_dotted, high_decimals + 8, 0))
            digits = length - (dotted | high_dotted)
        mantissa, plain = _eight_digits(low_dotless, digits)
        thousands, high_plain = _eight_digits(high_dotless, digits - 8)
        mantissa += thousands * np.uint64(100_000_000)
        plain &= high_plain & (mantissa <= _LARGEST_EXACT) & (length <= 16)
    plain &= digits > 0
    values = mantissa.astype(np.float64)
    values /= _POWERS.take(decimals)
    np.negative(values, out=values, where=negative)
    return values, np.flatnonzero(~plain)


def _without_dot(word: Words) -> tuple[Words, Ints, Flags]:
    """The word with its first dot taken out, how many bytes followed the dot, and whether there was one."""
    matches = word ^ _DOTS
    dot = (matches - _ONES) & ~matches & _HIGH_BITS
    dot &= -dot
    dotted = dot != 0
    after = ~((dot << _ONE) - _ONE)
    moved = (word & after) | ((word & ((dot >> _SEVEN) - _ONE)) << _EIGHT)
    decimals = np.bitwise_count(after) >> 3
    if not dotted.all():
        moved = np.where(dotted, moved, word)
    return moved, decimals, dotted


def _eight_digits(word: Words, digits: Ints) -> tuple[Words, Flags]:
    """The number written in the last ``digits`` bytes of each word, and whether those bytes are digits."""
    word = word | (_ZEROS & ~_KEEP_LAST.take(digits, mode="clip"))
    word -= _ZEROS
    plain = (((word + _TO_HIGH_BIT) | word) & _HIGH_BITS) == 0
    # Neighbouring digits, then pairs, then fours are joined by one multiplication each.
    word = (word * np.uint64(2561)) >> _EIGHT
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    word = ((word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> np.uint64(32)
    return word, plain
