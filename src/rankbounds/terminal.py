"""Text for terminals: width of characters, names cut to a width, wrapped sentences, and the look of tables."""

from __future__ import annotations

import contextlib
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from rankbounds.errors import escape_acting

ELLIPSIS = "…"
LEAST_NAME, MOST_DISTINCT = 12, 40
"""Names keep at least this many cells, and take up to this many where that keeps them distinct."""
LEAST_SENTENCE = 24
FULL = 110
"""Characters behind which a line of an explanation ends only because the next word found no room."""
_STYLES = re.compile(r"\x1b\[[0-9;]*m")
_OWN_STYLES = re.compile(r"(\x1b\[[012]m)")
_TOKEN = re.compile(r"\[[^\[\]]{,60}\]\S*|\S+")
"""What is not split where a line is wrapped: a word, or an interval in brackets."""
_EXPLAINED = re.compile(r" *\S+(?: \S+)* {2,}(?=\S)")
"""What stands before an explanation, in a list of such."""
_LABEL = re.compile(r"[\w ]{1,12}: ")
"""With which a line begins that does not go on with the one above."""


@dataclass(frozen=True)
class Look:
    """How tables for people look, wherever they are printed."""

    width: int | None = None
    """How many cells a line has; None: as many as it takes."""
    digits: int = 4
    """Of scores, behind the point."""
    styled: bool = False
    paper: str | None = None
    """What LaTeX fits: ``"column"``, ``"text"`` or ``"page"``; None: a column."""


_LOOK: ContextVar[Look] = ContextVar("look", default=Look())  # noqa: B039 (it is frozen)


def look() -> Look:
    """How tables look now."""
    return _LOOK.get()


@contextlib.contextmanager
def use_look(chosen: Look) -> Iterator[None]:
    """Tables look so until the end of the block."""
    token = _LOOK.set(chosen)
    try:
        yield
    finally:
        _LOOK.reset(token)


def bold(text: str) -> str:
    """The text in bold, where tables are styled."""
    return f"\x1b[1m{text}\x1b[0m" if look().styled else text


def faint(text: str) -> str:
    """The text in the background, where tables are styled."""
    return f"\x1b[2m{text}\x1b[0m" if look().styled else text


def escape_controls(text: str) -> str:
    """Escape control characters of the terminal, except for our own styles in styled tables."""
    parts = _OWN_STYLES.split(text) if look().styled else [text]
    return "".join(part if number % 2 else escape_acting(part) for number, part in enumerate(parts))


def cells(text: str) -> int:
    """Return how many cells the text takes: wide characters two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    if "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7ff":
        return 0  # vowels and finals of Hangul are drawn into the syllable
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


# ---- names ----


def shorten(names: Sequence[str], width: int) -> list[str]:
    """Shorten long names in the middle (or at the beginning or end, if that keeps more of them distinct)."""
    distinct = list(dict.fromkeys(names))
    best: dict[str, str] = {}
    for share in (0.5, 0.3, 0.7, 0.0, 1.0):
        tried = {name: _cut(name, width, share) for name in distinct}
        if len(set(tried.values())) > len(set(best.values())):
            best = tried
        if len(set(best.values())) == len(distinct):
            break
    return [best[name] for name in names]


def _cut(name: str, width: int, share: float) -> str:
    if cells(name) <= width:
        return name
    head = beginning(name, round((width - 1) * share))
    tail = _fitting(reversed(_parts(name)), width - 1 - cells(head))
    return head + ELLIPSIS + "".join(reversed(tail))


def beginning(text: str, width: int) -> str:
    """As much of the text's beginning as fits."""
    return "".join(_fitting(_parts(text), width))


def _fitting(parts: Iterable[str], width: int) -> list[str]:
    taken = itertools.accumulate(map(cells, parts := list(parts)))
    return [part for part, end in zip(parts, taken, strict=True) if end <= width]


def _parts(text: str) -> list[str]:
    parts: list[str] = []
    for character in text:
        if parts and not _cells(character):
            parts[-1] += character
        else:
            parts.append(character)
    return parts


def least_width(names: Sequence[str]) -> int:
    """Return the fewest cells in which the names are still distinct, within reason."""
    distinct = list(dict.fromkeys(names))
    longest = max(map(cells, distinct), default=0)
    for width in range(min(LEAST_NAME, longest), min(MOST_DISTINCT, longest) + 1):
        if len(set(shorten(distinct, width))) == len(distinct):
            return width
    return min(LEAST_NAME, longest)


# ---- sentences ----


def wrap(text: str, width: int) -> list[str]:
    """Wrap words to ``width`` cells without splitting numbers or bracketed intervals."""
    lines, line = [], ""
    for token in _TOKEN.findall(text):
        if line and cells(line) + 1 + cells(token) <= width:
            line += f" {token}"
            continue
        if line:
            lines.append(line)
        line = token
        while cells(line) > width and any(map(str.isalpha, line)) and (first := beginning(line, width)):
            lines.append(first)
            line = line[len(first) :]
    return [*lines, line] if line or not lines else lines


def fit_lines(text: str, width: int) -> str:
    """Wrap lines that are too long at blanks, with their own or their explanation's indentation."""
    found = []
    for line in text.split("\n"):
        if cells(_STYLES.sub("", line)) <= width:
            found.append(line)
            continue
        explained = _EXPLAINED.match(line)
        lead = explained[0] if explained and width - cells(explained[0]) >= LEAST_SENTENCE else ""
        lead = lead or line[: len(line) - len(line.lstrip(" "))]
        first, *more = wrap(line[len(lead) :], max(1, width - cells(lead)))
        found += [lead + first, *(" " * cells(lead) + part for part in more)]
    return "\n".join(found)


def reflow(text: str, width: int) -> str:
    """Rewrap text whose lines were broken at full width; other lines stay lines."""
    lines = text.split("\n")
    joined = lines[:1]
    for above, line in itertools.pairwise(lines):
        is_full = bool(line) and len(above) + len(line.split(" ", 1)[0]) >= FULL
        if is_full and not (line.startswith(" ") or above.startswith(" ") or _LABEL.match(line)):
            joined[-1] += f" {line}"
        else:
            joined.append(line)
    return fit_lines("\n".join(joined), width)
