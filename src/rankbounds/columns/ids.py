"""Columns of ids.

Ids stay bytes in the buffer they were read from, each with a start and a length, and are hashed, compared and ordered
as 8-byte words, without a Python string per row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, overload

import numpy as np

from rankbounds.arrays import Bytes, Flags, Ints, Words
from rankbounds.columns.native.keys import hashes_of
from rankbounds.errors import DataError, Place

PADDING = 64
"""Zero bytes kept before and after a text, so that a word read across either end stays inside the buffer."""

_KEEP_FIRST = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_COMMON_WORDS = 4
"""Words of every id are worked on together up to here, further ones only of ids that have them."""
LONG = 256
"""Ids of more bytes than this, which are rare, are worked on one by one: cost follows the bytes, not the longest id."""

BLANKS = "".join(map(chr, range(33)))
"""What may stand around an id in a file and is no part of it: blanks and control characters."""
_WALKED = 64
"""Characters that ``past`` walks one by one, all places at a time."""


@cache
def _freed_memory_is_kept() -> None:
    """Ask for a large block and give it back, once.

    Reading many files allocates the same few megabytes repeatedly. The C library of Linux returns them to the system
    each time, which clears every page again, until a larger block has been freed: from then on it keeps smaller ones.
    Elsewhere nothing happens.
    """
    np.empty((1 << 25) - (1 << 16), dtype=np.uint8)


def padded(size: int) -> Bytes:
    _freed_memory_is_kept()
    buffer = np.empty(size + 2 * PADDING, dtype=np.uint8)
    buffer[:PADDING] = 0
    buffer[size + PADDING :] = 0
    return buffer


def pad(content: bytes | memoryview) -> Bytes:
    text = padded(len(content))
    text[PADDING : PADDING + len(content)] = np.frombuffer(content, dtype=np.uint8)
    return text


def mix(hashes: Words, words: Words | np.uint64) -> Words:
    mixed = (hashes ^ words) * _MULTIPLIER
    mixed ^= mixed >> _HALF
    return mixed


def past(positions: Ints, text: Bytes, step: int, *, blanks: bool) -> Ints:
    """Move each position forwards (``step`` 1) or backwards (-1) past the blanks there, or past non-blanks.

    Backwards something else is known to come before; forwards a position may end after the text.
    """
    moved, rows = positions.copy(), np.arange(positions.size)
    ahead = min(step, 0)
    for _ in range(_WALKED):
        rows = rows[(text.take(moved[rows] + ahead, mode="clip") <= 32) == blanks]
        if not rows.size:
            return moved
        moved[rows] += step
    # The few that are still inside would take a step for each character: where they end is looked up instead.
    stops = np.append(np.flatnonzero((text <= 32) != blanks), text.size)
    moved[rows] = stops.take(np.searchsorted(stops, moved[rows]) + ahead, mode="clip") - ahead
    return moved


def _text_of_id(value: Any, what: str, place: Callable[[int], Place], row: int) -> str:
    try:
        if isinstance(value, str):
            value.encode("utf-8", "surrogateescape")
            return value
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return str(int(value))
        if isinstance(value, bytes | bytearray):
            return bytes(value).decode("utf-8")
    except UnicodeEncodeError:
        problem = "holds half of a character"
    except UnicodeDecodeError:
        problem = "is not UTF-8"
    except ValueError:  # thousands of digits
        value, problem = "...", "is a number with too many digits for an id"
    else:
        is_float = isinstance(value, float | np.floating)
        kind = "a floating-point number" if is_float else f"of the type {type(value).__name__}"
        problem = "is empty" if is_missing(value) else f"is {kind}"
    raise _no_id(value, problem, what, place(row))


def is_missing(value: Any) -> bool:
    is_nan = isinstance(value, float | np.floating) and value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(is_nan)


def _no_id(value: Any, problem: str, what: str, place: Place) -> DataError:
    return DataError(place, f"{what} {problem} ({value!r}); ids are text.", "Convert or fill the column first.")


class Ids(Sequence[str]):
    """An immutable column of ids, kept as UTF-8 bytes.

    ``string_hashes`` are Python's ``hash`` of ids that were strings in dicts.
    """

    __slots__ = ("length", "start", "string_hashes", "text")

    def __init__(self, text: Bytes, start: Ints, length: Ints, string_hashes: Ints | None = None) -> None:
        self.text, self.start, self.length, self.string_hashes = text, start, length, string_hashes

    @classmethod
    def of(cls, values: Sequence[str]) -> Ids:
        # One newline between ids tells their lengths faster than asking each; an id that holds one is asked.
        text = pad("\n".join(values).encode("utf-8", "surrogateescape") + b"\n")
        ends = np.flatnonzero(text == 10)
        if ends.size == len(values):
            start = np.concatenate(([PADDING], ends[:-1] + 1))
            return cls(text, start, ends - start)
        each = [value.encode("utf-8", "surrogateescape") for value in values]
        return cls.of_bytes(b"".join(each), np.fromiter(map(len, each), dtype=np.int64, count=len(each)))

    @classmethod
    def checked(cls, values: Sequence[Any], what: str, place: Callable[[int], Place]) -> Ids:
        try:
            ids = values if isinstance(values, Ids) else cls.of(values)
        except (TypeError, AttributeError, UnicodeEncodeError):
            ids = cls.of([_text_of_id(value, what, place, row) for row, value in enumerate(values)])
        if not ids.length.all():
            row = int(ids.length.argmin())
            raise _no_id(values[row], "is empty", what, place(row))
        return ids

    @classmethod
    def of_bytes(cls, joined: bytes | memoryview, length: Ints) -> Ids:
        return cls(pad(joined), PADDING + np.cumsum(length) - length, length)

    def __len__(self) -> int:
        return self.start.size

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Ids: ...
    def __getitem__(self, row: int | slice) -> str | Ids:
        if isinstance(row, slice):
            return self.take(row)
        return self.raw(row).decode("utf-8", "surrogateescape")

    def raw(self, row: int) -> bytes:
        start = int(self.start[row])
        return self.text[start : start + int(self.length[row])].tobytes()

    def take(self, rows: Any) -> Ids:
        return Ids(self.text, self.start[rows], self.length[rows])

    def raw_list(self) -> list[bytes]:
        if not len(self):
            return []
        begin = int(self.start.min())
        text = self.text[begin : int((self.start + self.length).max())].tobytes()
        start = self.start - begin
        return [text[a:b] for a, b in zip(start.tolist(), (start + self.length).tolist(), strict=True)]

    def __reduce__(self) -> tuple[Any, ...]:
        text, offsets = self.packed()
        return Ids.of_bytes, (text.tobytes(), np.diff(offsets))

    def __copy__(self) -> Ids:
        return self

    def __deepcopy__(self, memo: Any) -> Ids:
        return self  # it never changes

    def to_list(self) -> list[str]:
        return [one.decode("utf-8", "surrogateescape") for one in self.raw_list()]

    def packed(self) -> tuple[Bytes, Ints]:
        offsets = np.concatenate(([0], np.cumsum(self.length)))
        places = np.arange(offsets[-1]) + np.repeat(self.start - offsets[:-1], self.length)
        return self.text[places], offsets

    def word_count(self) -> int:
        return (int(self.length.max(initial=0)) + 7) // 8

    def word(self, number: int) -> Words:
        """Return bytes ``8 * number`` to ``8 * number + 8`` of every id, the first lowest, zeros past its end."""
        at = self.start + 8 * number if number else self.start
        if 8 * number > PADDING - 8:
            at = np.minimum(at, self.text.size - 8)
        at_every_byte: Words = np.ndarray((self.text.size - 7,), dtype="<u8", buffer=self.text, strides=(1,))
        words = at_every_byte[at]
        left = self.length - 8 * number if number else self.length
        if int(left.min(initial=8)) < 8:
            words &= _KEEP_FIRST.take(left, mode="clip")
        return words

    def hashes(self) -> Words:
        by_kernel = hashes_of(self.text, self.start, self.length)
        if by_kernel is not None:
            return by_kernel
        hashed = self.length.astype(np.uint64)
        for number in range(min(self.word_count(), _COMMON_WORDS)):
            # An id's hash is made of its own words alone: it must not depend on how long other ids of the column are.
            mixed = mix(hashed, self.word(number))
            inside = self.length > 8 * number
            hashed = mixed if inside.all() else np.where(inside, mixed, hashed)
        for number, rows in self._further_words():
            hashed[rows] = mix(hashed[rows], self.take(rows).word(number))
        for row in self._long_rows().tolist():
            hashed[row] = self._digest(row)[0]
        return hashed

    def equals(self, other: Ids) -> Flags:
        same = self.length == other.length
        for number in range(min(self.word_count(), _COMMON_WORDS)):
            same &= self.word(number) == other.word(number)
        for number, rows in self._further_words():
            same[rows] &= self.take(rows).word(number) == other.take(rows).word(number)
        for row in self._long_rows().tolist():
            same[row] = same[row] and self.raw(row) == other.raw(row)
        return same

    def _further_words(self) -> Iterator[tuple[int, Ints]]:
        if self.word_count() <= _COMMON_WORDS:
            return
        rows = np.flatnonzero((self.length > 8 * _COMMON_WORDS) & (self.length <= LONG))
        for number in range(_COMMON_WORDS, LONG // 8):
            rows = rows[self.length[rows] > 8 * number]
            if not rows.size:
                return
            yield number, rows

    def _long_rows(self) -> Ints:
        return np.flatnonzero(self.length > LONG) if 8 * self.word_count() > LONG else np.empty(0, dtype=np.int64)

    def _digest(self, row: int) -> Words:
        import hashlib

        return np.frombuffer(hashlib.blake2b(self.raw(row), digest_size=16).digest(), dtype="<u8")

    def telling_words(self, width: int) -> list[Words]:
        """Return columns that agree for two ids of one length exactly if the ids do; ``width`` is the longest id's."""
        words = [self.word(number) for number in range(min(width, LONG // 8))]
        if 8 * width > LONG:
            digests = np.zeros((2, len(self)), dtype=np.uint64)
            for row in self._long_rows().tolist():
                digests[:, row] = self._digest(row)
            words += list(digests)
        return words

    def sort_keys(self) -> list[Words]:
        if 8 * self.word_count() <= LONG:
            words = [self.word(number).byteswap() for number in range(self.word_count())]
            # Words are filled up with zeros: an id that ends in such is told from a shorter one by its length.
            filled = self.length > 0
            ends_in_zero = self.text[self.start[filled] + self.length[filled] - 1] == 0
            return [*words, self.length.astype(np.uint64)] if ends_in_zero.any() else words
        each = self.raw_list()
        place = {value: number for number, value in enumerate(sorted(set(each)))}
        return [np.array([place[value] for value in each], dtype=np.uint64)]

    def numbered(self) -> tuple[list[str], Ints]:
        """Return the distinct ids in order of first appearance, and the number of every row's id."""
        first, codes = self.first_and_codes(self.hashes())
        return first.to_list(), codes

    def first_and_codes(self, hashed: Words) -> tuple[Ids, Ints]:
        if not len(self):
            return self, np.empty(0, dtype=np.int64)
        changes = np.flatnonzero(np.concatenate(([True], hashed[1:] != hashed[:-1])))
        _, first, inverse = np.unique(hashed[changes], return_index=True, return_inverse=True)
        appearance = np.argsort(first)
        number = np.empty_like(appearance)
        number[appearance] = np.arange(appearance.size)
        representatives = changes[first[appearance]]
        per_change = number[inverse]
        codes = np.repeat(per_change, np.diff(np.append(changes, len(self))))
        # Of ids of one length up to eight bytes the hash is one to one; that of longer ones is verified. (Ids of
        # different lengths can share it where one ends in NUL.)
        alike = representatives[codes]
        if self.word_count() == 1:
            same = bool((self.length == self.length[alike]).all())
        else:
            same = bool(self.equals(self.take(alike)).all())
        if not same:  # two different ids share a hash
            seen: dict[bytes, int] = {}
            codes = np.array([seen.setdefault(raw, len(seen)) for raw in self.raw_list()], dtype=np.int64)
            representatives = np.unique(codes, return_index=True)[1]
        return self.take(representatives), codes
