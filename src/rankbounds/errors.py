"""Errors and warnings about the input, each one sentence for the person who gave it.

Errors and warnings about data consist of parts (where, what, what to do) that programs can read.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

LONGEST_WORD, LONGEST_SENTENCE = 300, 900
"""In characters: what a file holds may be far longer than anybody reads."""
_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD},}}")
_WORDS = re.compile(r"[-_ ]+")
_ACTING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal or turns the order of what is shown; newlines and tabs do neither."""


def readable(message: object) -> str:
    """Put a message on one line, shortened, without control characters from ids and tokens."""
    text = _LONG_WORD.sub(lambda word: _shortened(word[0], LONGEST_WORD), str(message))
    # Shortened again, since codes are longer than the characters that they stand for.
    return _shortened(coded(_shortened(text, LONGEST_SENTENCE)), LONGEST_SENTENCE)


def coded(text: str) -> str:
    """Return the text on one line, with Python's escapes for unprintable characters."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def escape_acting(text: str) -> str:
    """Escape characters that act on a terminal or a page."""
    return _ACTING.sub(lambda found: _escaped(found[0]), text)


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


@dataclass(frozen=True)
class Place:
    """A place: a file or table, and its line or row, from 1, if known."""

    file: str
    line: int | None = None
    row: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.file}:{self.line}"
        return self.file if self.row is None else f"{self.file}, row {self.row}"


class RankboundsError(ValueError):
    """A user's mistake; the command line prints it without a traceback.

    Every error that rankbounds raises for a user's mistake is one, and a ``ValueError`` too.

    Parameters
    ----------
    message : object
        What is wrong, where, and what to do, in one sentence. Characters that would steer a terminal are escaped.

    Examples
    --------
    >>> import rankbounds as rb
    >>> try:
    ...     rb.parse_measure("nDGC@10")
    ... except rb.RankboundsError as error:
    ...     print(type(error).__name__, error.exit_code)
    UsageError 2
    """

    exit_code = 2

    def __init__(self, message: object = "") -> None:
        super().__init__(readable(message))


class UsageError(RankboundsError):
    """An option, measure or parameter that does not exist or cannot be combined.

    Parameters
    ----------
    message : object
        What is wrong and what to do, in one sentence.

    Examples
    --------
    >>> import rankbounds as rb
    >>> rb.RBP(p=1.5)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    rankbounds.errors.UsageError: ...
    """

    exit_code = 2


class DataError(RankboundsError):
    """A file or table whose contents cannot be used.

    Parameters
    ----------
    place
        Where: a ``Place``, or the name of a file or table. Alone, it is the whole sentence.
    problem
        What is wrong there, as a sentence that follows the place.
    remedy
        What to do about it, if anything.

    Examples
    --------
    >>> from rankbounds.errors import DataError, Place
    >>> error = DataError(Place("run.txt", line=3), 'the score "x" is not a finite number.', "Correct the line.")
    >>> print(error)
    run.txt:3: the score "x" is not a finite number. Correct the line.
    >>> error.place.line
    3
    """

    exit_code = 3

    def __init__(self, place: object = "", problem: object = None, remedy: str = "") -> None:
        self.place: Place | None = None
        if problem is None:
            problem = place
        else:
            self.place = place if isinstance(place, Place) else Place(str(place))
        self.problem, self.remedy = str(problem), remedy
        sentence = f"{self.problem} {remedy}" if remedy else self.problem
        self.advice = readable(sentence)
        """The problem and what to do about it, without the place."""
        super().__init__(sentence if self.place is None else f"{self.place}: {sentence}")

    def moved_to(self, place: Place | str) -> DataError:
        """The same error at another place, for whoever knows better where it stands."""
        return type(self)(place, self.problem, self.remedy)


class OutOfMemoryError(DataError, MemoryError):
    """The data are valid, but too many for this machine."""


class UnknownNameError(UsageError, KeyError):
    """A name was asked for, as in ``scores["AP"]``, that is not there."""

    def __str__(self) -> str:
        return str(self.args[0])  # a plain KeyError shows quotes around it


class UnknownOptionError(UsageError, TypeError):
    """A keyword that ``of`` does not take; ``known`` are its keywords."""

    def __init__(self, option: str, known: Iterable[str], of: str = "") -> None:
        self.option, self.known, self.of = option, list(known), of
        sentence = f"{of} takes no {option}=" if of else f"There is no option {option}="
        meant = next((name for name in SYNONYMS.get(option, ()) if name in self.known), None)
        if meant is not None:
            sentence += f": the keyword is {meant}=."
        elif option in DEPTHS and "cutoff" in self.known:
            sentence += f': write the depth as rb.{of} @ 10 or "{of}@10".'
        elif option in DEPTHS and {"measure", "measures"} & set(self.known):
            sentence += ': a depth belongs to the measure, as in "nDCG@10" or rb.nDCG @ 10.'
        else:
            sentence += "." + did_you_mean(option, sorted(self.known)).replace('"?', '="?')
        super().__init__(sentence)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.option, self.known, self.of)


SYNONYMS = {
    "metric": ("measures", "measure"),
    "metrics": ("measures", "measure"),
    "measure": ("measures",),
    "measures": ("measure",),
    "run": ("runs",),
    "runs": ("run",),
    "qrel": ("qrels",),
    "level": ("confidence", "alpha"),
    "format": ("formats",),
    "kind": ("formats",),
    "axes": ("ax",),
    "random_state": ("seed",),
    "n_jobs": ("threads",),
}
DEPTHS = frozenset({"k", "cutoff", "cut_off", "depth", "at", "top_k"})


class RankboundsWarning(UserWarning):
    """Something was repaired or left out, and counted.

    Parameters
    ----------
    message : object
        What was done, how often, and what follows from it, in one sentence.

    Examples
    --------
    To stop at the first warning, make warnings errors:

    >>> import warnings
    >>> import rankbounds as rb
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", rb.RankboundsWarning)
    ...     try:
    ...         scores = rb.evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}}, "AP")
    ...     except rb.RankboundsWarning:
    ...         print("a topic is missing")
    a topic is missing
    """

    def __init__(self, message: object = "") -> None:
        super().__init__(readable(message))


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_BETWEEN = ("contextlib", "functools", "threading", "concurrent.futures")
"""Modules of Python's own that may stand between a caller and us."""


def warn(message: str | Warning, category: type[Warning] = RankboundsWarning) -> None:
    """Warn, and point at the line that called this package, however deep and in whichever thread."""
    frame = next(_callers(), None)
    if frame is None:
        warnings.warn(message, category, stacklevel=2)
        return
    name, registry = frame.f_globals.get("__name__", "<string>"), frame.f_globals.setdefault("__warningregistry__", {})
    kind = category if isinstance(message, str) else type(message)
    warnings.warn_explicit(message, kind, frame.f_code.co_filename, frame.f_lineno, name, registry)


def _callers() -> Iterator[FrameType]:
    main, here = threading.main_thread().ident, threading.get_ident()
    frames = sys._current_frames()
    order = [here, *(thread for thread in (main, *frames) if thread is not None and thread != here)]
    for thread in order:
        frame, among_ours = frames.get(thread), False
        while frame is not None:
            is_ours = frame.f_code.co_filename.startswith(_PACKAGE)
            between = str(frame.f_globals.get("__name__")).startswith(_BETWEEN)
            if among_ours and not is_ours and not between:
                yield frame
                break
            among_ours |= is_ours
            frame = frame.f_back


def did_you_mean(word: str, known: list[str], meant: Mapping[str, str] | None = None) -> str:
    """Return ``' Did you mean "AP"?'`` if something known is close, else an empty string.

    ``meant`` maps further words to known ones. Of names of several words, the one that shares most words suffices.
    """
    import difflib

    folded = {name.lower(): name for name in reversed(known)}  # of names that differ in case, the first is meant
    folded = {**{name: own for name, own in (meant or {}).items() if own in known}, **folded}
    close = difflib.get_close_matches(word.lower(), list(folded), n=1, cutoff=0.5)
    if not close:
        shared = {name: _shared_words(word.lower(), name) for name in folded if len(_WORDS.split(name)) > 1}
        close = [name for name in shared if shared[name] >= 0.65 and shared[name] == max(shared.values())]
    return f' Did you mean "{folded[close[0]]}"?' if close else ""


def _shared_words(asked: str, name: str) -> float:
    from difflib import SequenceMatcher

    nearest = [
        max(SequenceMatcher(None, one, other).ratio() for other in _WORDS.split(name)) for one in _WORDS.split(asked)
    ]
    return sum(nearest) / len(nearest)
