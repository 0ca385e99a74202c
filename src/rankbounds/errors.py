"""What goes wrong because of the input, told in one sentence to the person who gave it."""

from __future__ import annotations

import re

LONGEST_WORD, LONGEST_SENTENCE = 300, 900
"""In characters: what a file holds may be far longer than anybody reads."""
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD},}}")


def readable(message: object) -> str:
    """A message on one line, whatever ids and tokens stand in it: shortened, and without characters that act."""
    text = _LONG_WORD.sub(lambda word: _shortened(word[0], LONGEST_WORD), str(message))
    text = _shortened(text, LONGEST_SENTENCE)
    if text.isprintable():
        return text
    # Codes are longer than the characters that they stand for.
    return _shortened("".join(map(_escaped, text)), LONGEST_SENTENCE)


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    kept = longest // 2 - 20
    return f"{text[:kept]}[{len(text) - 2 * kept:,} more characters]{text[-kept:]}"


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
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
