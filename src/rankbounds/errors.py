"""What goes wrong because of the input, told in one sentence to the person who gave it."""

from __future__ import annotations


class RankboundsError(ValueError):
    """A mistake in what was asked or given; the command line prints it without a traceback."""

    exit_code = 2


class UsageError(RankboundsError):
    """An option, measure or parameter that does not exist or cannot be combined."""

    exit_code = 2


class DataError(RankboundsError):
    """A file or table whose contents cannot be used as they stand."""

    exit_code = 3


class RankboundsWarning(UserWarning):
    """Something was repaired or left out, and counted."""


def did_you_mean(word: str, known: list[str]) -> str:
    """``' Did you mean "AP"?'`` when something known is close, else an empty string."""
    import difflib

    folded = {name.lower(): name for name in reversed(known)}  # of names that differ in case, the first is meant
    close = difflib.get_close_matches(word.lower(), list(folded), n=1, cutoff=0.5)
    return f' Did you mean "{folded[close[0]]}"?' if close else ""
