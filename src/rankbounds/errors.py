"""What goes wrong because of the input, told in one sentence to the person who gave it."""

from __future__ import annotations

import re

LONGEST_WORD, LONGEST_SENTENCE = 1000, 4000
_NOT_SHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD},}}")


def readable(message: object) -> str:
    """A message on one line, whatever ids and tokens stand in it: shortened, and without characters that act."""
    text = _LONG_WORD.sub(lambda word: _shortened(word[0], 60), str(message))
    if len(text) > LONGEST_SENTENCE:
        text = _shortened(text, LONGEST_SENTENCE // 2)
    return _NOT_SHOWN.sub(lambda character: _escaped(character[0]), text)


def _shortened(text: str, kept: int) -> str:
    return f"{text[:kept]}[{len(text) - 2 * kept:,} more characters]{text[-kept:]}"


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


class RankboundsError(ValueError):
    """A mistake in what was asked or given; the command line prints it without a traceback."""

    exit_code = 2

    def __init__(self, message: object = "") -> None:
        super().__init__(readable(message))


class UsageError(RankboundsError):
    """An option, measure or parameter that does not exist or cannot be combined."""

    exit_code = 2


class DataError(RankboundsError):
    """A file or table whose contents cannot be used as they stand."""

    exit_code = 3


class OutOfMemoryError(DataError, MemoryError):
    """There is nothing wrong with the data but that there are too many of them for this machine."""


class UnknownNameError(UsageError, KeyError):
    """A name was asked for, as in ``scores["AP"]``, that is not there."""

    def __str__(self) -> str:
        return str(self.args[0])  # a plain KeyError shows quotes around it


class RankboundsWarning(UserWarning):
    """Something was repaired or left out, and counted."""

    def __init__(self, message: object = "") -> None:
        super().__init__(readable(message))


def did_you_mean(word: str, known: list[str]) -> str:
    """``' Did you mean "AP"?'`` when something known is close, else an empty string."""
    import difflib

    folded = {name.lower(): name for name in reversed(known)}  # of names that differ in case, the first is meant
    close = difflib.get_close_matches(word.lower(), list(folded), n=1, cutoff=0.5)
    return f' Did you mean "{folded[close[0]]}"?' if close else ""
