"""What fits a terminal: how wide characters are, which columns of a table are shown, names cut, sentences wrapped.

Numbers are never cut nor split over lines. Where a table is too wide, headings take several lines, names lose their
middle, sentences are wrapped in their column, and columns that still find no room are left out and named below.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

GAP = "  "
"""What stands between columns."""
ELLIPSIS = "…"
LEAST_NAME, MOST_DISTINCT = 12, 40
"""Names are not cut below so many cells; up to so many are spent on telling them apart."""
LEAST_SENTENCE, WORDS_OF_SENTENCE = 24, 3
"""Cells that a column of sentences needs at least (a third of the line, or half of it where it matters most, if that
is more), and how many words make one."""
SCANT_SENTENCE = 16
"""Cells that a column of sentences can do with where that is all that is left."""
FULL = 110
"""Characters behind which a line of an explanation ends only because the next word found no room."""
_STYLES = re.compile(r"\x1b\[[0-9;]*m")
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
    """May headings and the best be bold?"""


_LOOK: ContextVar[Look] = ContextVar("look", default=Look())  # noqa: B039 (it is frozen)


def look() -> Look:
    """How tables look now."""
    return _LOOK.get()


@contextlib.contextmanager
def looking(chosen: Look) -> Iterator[None]:
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


def cells(text: str) -> int:
    """How many cells of a terminal the text takes: wide characters two, marks on the one before none."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me") or "\u1160" <= character <= "\u11ff":
        return 0  # (vowels and finals of Hangul are drawn into the syllable)
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, width: int, *, left: bool) -> str:
    """The text with blanks behind it, or before it where it is not to stand on the left."""
    blanks = " " * (width - cells(text))
    return text + blanks if left else blanks + text


# ---- names ----


def shortened(names: Sequence[str], width: int) -> list[str]:
    """The names, the long ones without their middle (or beginning, or end: where that keeps more of them apart)."""
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
    """The name in ``width`` cells, this share of them for its beginning."""
    if cells(name) <= width:
        return name
    room = width - 1
    head = beginning(name, round(room * share))
    parts = _parts(name)
    tail: list[str] = []
    left = room - cells(head)
    for part in reversed(parts):
        if cells(part) > left:
            break
        tail.append(part)
        left -= cells(part)
    return head + ELLIPSIS + "".join(reversed(tail))


def beginning(text: str, width: int) -> str:
    """As much of the text's beginning as fits."""
    found = ""
    for part in _parts(text):
        if cells(part) > width:
            break
        found += part
        width -= cells(part)
    return found


def _parts(text: str) -> list[str]:
    """The characters, each with the marks that belong to it."""
    parts: list[str] = []
    for character in text:
        if parts and not _cells(character):
            parts[-1] += character
        else:
            parts.append(character)
    return parts


def _least_width(names: Sequence[str]) -> int:
    """The fewest cells in which the names can still be told apart, within reason."""
    distinct = list(dict.fromkeys(names))
    longest = max(map(cells, distinct), default=0)
    for width in range(min(LEAST_NAME, longest), min(MOST_DISTINCT, longest) + 1):
        if len(set(shortened(distinct, width))) == len(distinct):
            return width
    return min(LEAST_NAME, longest)


# ---- sentences ----


def wrapped(text: str, width: int) -> list[str]:
    """The words in lines of at most ``width`` cells; neither numbers nor intervals in brackets are split."""
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


def lines_that_fit(text: str, width: int) -> str:
    """The text, lines that are too long wrapped at blanks, and indented as they or the explanations in them were."""
    found = []
    for line in text.split("\n"):
        if cells(_STYLES.sub("", line)) <= width:
            found.append(line)
            continue
        explained = _EXPLAINED.match(line)
        lead = explained[0] if explained and width - cells(explained[0]) >= LEAST_SENTENCE else ""
        lead = lead or line[: len(line) - len(line.lstrip(" "))]
        first, *more = wrapped(line[len(lead) :], max(1, width - cells(lead)))
        found += [lead + first, *(" " * cells(lead) + part for part in more)]
    return "\n".join(found)


def reflowed(text: str, width: int) -> str:
    """Text whose lines were broken where they were full, in lines of another width; other lines stay lines."""
    lines = text.split("\n")
    joined = lines[:1]
    for above, line in itertools.pairwise(lines):
        is_full = bool(line) and len(above) + len(line.split(" ", 1)[0]) >= FULL
        if is_full and not (line.startswith(" ") or above.startswith(" ") or _LABEL.match(line)):
            joined[-1] += f" {line}"
        else:
            joined.append(line)
    return lines_that_fit("\n".join(joined), width)


# ---- tables ----


def laid_out(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: frozenset[int],
    importance: Sequence[int] = (),
    strong: frozenset[tuple[int, int]] = frozenset(),
) -> str:
    """Columns lined up, as the present look wants them."""
    shown, widths, hidden, cut = _columns(header, rows, left, importance)
    columns = [[row[column] for row in rows] for column in shown]
    for place, column in enumerate(shown):
        if column in left and not _is_prose(columns[place]):
            columns[place] = shortened(columns[place], widths[place])
    brief = _brief_words(header)
    headings = [
        [header[column]] if cells(header[column]) <= width else wrapped(_in_brief(header[column], brief), width)
        for column, width in zip(shown, widths, strict=True)
    ]
    depth = max(map(len, headings))
    lined_up = zip(*([""] * (depth - len(heading)) + heading for heading in headings), strict=True)
    lines = [bold(_line(parts, shown, widths, left)) for parts in lined_up]
    for number, row in enumerate(zip(*columns, strict=True)):
        cell_lines = [_in_column(cell, width) for cell, width in zip(row, widths, strict=True)]
        emphasised = frozenset(place for place, column in enumerate(shown) if (number, column) in strong)
        lines += [
            _line(parts, shown, widths, left, emphasised) for parts in itertools.zip_longest(*cell_lines, fillvalue="")
        ]
    text = "\n".join(lines) + "\n"
    if hidden or cut:
        text += "".join(f"{faint(line)}\n" for line in wrapped(_rest(hidden, cut), look().width or 1))
    return text


def _brief_words(header: Sequence[str]) -> dict[str, str]:
    """Long words of headings, such as names of runs, as they are cut where there is no room for them."""
    long = list(dict.fromkeys(word for heading in header for word in heading.split() if cells(word) > LEAST_NAME))
    return dict(zip(long, shortened(long, _least_width(long)), strict=True))


def _in_brief(heading: str, brief: Mapping[str, str]) -> str:
    return " ".join(brief.get(word, word) for word in heading.split())


def _in_column(text: str, width: int) -> list[str]:
    return [text] if cells(text) <= width else wrapped(text, width)


def _line(
    parts: Sequence[str],
    shown: Sequence[int],
    widths: Sequence[int],
    left: frozenset[int],
    emphasised: frozenset[int] = frozenset(),
) -> str:
    placed = [
        padded(part, width, left=column in left) for part, column, width in zip(parts, shown, widths, strict=True)
    ]
    placed[-1] = placed[-1].rstrip()
    styled = [bold(part) if place in emphasised else part for place, part in enumerate(placed)]
    return GAP.join(styled).rstrip()


def _rest(hidden: Sequence[str], cut: bool) -> str:
    """What is not shown, and how to see it."""
    told = [f"not shown: {', '.join(hidden)}"] * bool(hidden) + ["names are cut"] * cut
    return f"({'; '.join(told)}; --wide shows everything)"


def _is_prose(column: Sequence[str]) -> bool:
    return any(cell.count(" ") >= WORDS_OF_SENTENCE - 1 for cell in column)


def _columns(
    header: Sequence[str], rows: Sequence[Sequence[str]], left: frozenset[int], importance: Sequence[int]
) -> tuple[list[int], list[int], list[str], bool]:
    """Which columns are shown and how wide, the headings of those that are not, and whether names are cut."""
    count = len(header)
    columns = [[row[column] for row in rows] for column in range(count)]
    bodies = [max(map(cells, column), default=0) for column in columns]
    natural = [max(body, cells(heading)) for body, heading in zip(bodies, header, strict=True)]
    width = look().width
    if width is None or sum(natural) + len(GAP) * (count - 1) <= width:
        return list(range(count)), natural, [], False
    brief = _brief_words(header)
    words = [max(map(cells, _in_brief(heading, brief).split()), default=0) for heading in header]
    least = []
    for column in range(count):
        if column not in left:
            body = bodies[column]
        elif _is_prose(columns[column]):
            share = width // 2 if [column] == list(importance[:1]) else width // 3
            body = min(bodies[column], max(LEAST_SENTENCE, share))
        else:
            body = min(bodies[column], _least_width(columns[column]))
        least.append(max(body, words[column]))
    first_number = next((column for column in range(count) if column not in left), 0)
    if first_number:
        least[0] = max(min(least[0], width - len(GAP) - least[first_number]), min(least[0], LEAST_NAME))
    chosen: list[int] = []
    taken = -len(GAP)
    for column in dict.fromkeys([0, first_number, *importance, *range(count)]):
        needed = len(GAP) + least[column]
        if column in (0, first_number) or taken + needed <= width:
            chosen.append(column)
            taken += needed
    spare = max(0, width - taken)
    for column in range(count):  # a sentence may do with less than it should have
        if column not in chosen and column in left and _is_prose(columns[column]):
            needed = max(SCANT_SENTENCE, words[column])
            if needed + len(GAP) <= spare:
                chosen.append(column)
                least[column] = needed
                spare -= needed + len(GAP)
    shown = sorted(chosen)
    widths = {column: least[column] for column in shown}
    for column in sorted(shown, key=lambda column: column not in left):
        more = natural[column] - widths[column]
        if column in left:
            more = min(more, spare)
        if more <= spare:  # (half of what a heading lacks would be of no use)
            widths[column] += more
            spare -= more
    names = [column for column in shown if column in left and not _is_prose(columns[column])]
    cut = any(widths[column] < bodies[column] for column in names)
    cut = cut or any(widths[column] < max(map(cells, header[column].split()), default=0) for column in shown)
    hidden = [header[column] for column in range(count) if column not in widths]
    return shown, [widths[column] for column in shown], hidden, cut
