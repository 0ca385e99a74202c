"""What fits a terminal: how wide characters are, which columns of a table are shown, names cut, sentences wrapped.

Numbers are never cut nor split over lines. Where a table is too wide, headings take several lines, names lose their
middle, sentences are wrapped in their column, and columns that still find no room are left out and named below.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

from rankbounds.errors import without_acting

GAP = "  "
"""What stands between columns."""
ELLIPSIS = "…"
LEAST_NAME, MOST_DISTINCT = 12, 40
"""Names keep at least this many cells, and take up to this many where that keeps them distinct."""
LEAST_SENTENCE, WORDS_OF_SENTENCE = 24, 3
"""Cells that a column of sentences needs at least (a third of the line, or half of it where it matters most, if that
is more), and how many words make one."""
SCANT_SENTENCE = 16
"""Cells that a column of sentences can do with where that is all that is left."""
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


def harmless(text: str) -> str:
    """The text with codes for whatever would steer a terminal, but for our own styles where tables are styled."""
    parts = _OWN_STYLES.split(text) if look().styled else [text]
    return "".join(part if number % 2 else without_acting(part) for number, part in enumerate(parts))


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
    head = beginning(name, round((width - 1) * share))
    tail = _fitting(reversed(_parts(name)), width - 1 - cells(head))
    return head + ELLIPSIS + "".join(reversed(tail))


def beginning(text: str, width: int) -> str:
    """As much of the text's beginning as fits."""
    return "".join(_fitting(_parts(text), width))


def _fitting(parts: Iterable[str], width: int) -> list[str]:
    """The first parts, as many as fit."""
    taken = itertools.accumulate(map(cells, parts := list(parts)))
    return [part for part, end in zip(parts, taken, strict=True) if end <= width]


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
    """Columns lined up, as the present look wants them; ``left`` ones hold words, the others numbers.

    ``importance`` is the order in which a narrow terminal makes room for columns, and ``strong`` has the row and column
    of cells that stand out.
    """
    columns = _Columns(header, rows, left, importance)
    widths = columns.widths(look().width)

    def line(parts: Sequence[str], emphasised: Collection[int] = ()) -> str:
        placed = [padded(part, widths[column], left=column in left) for part, column in zip(parts, widths, strict=True)]
        placed[-1] = placed[-1].rstrip()
        if emphasised:
            placed = [bold(part) if at in emphasised else part for part, at in zip(placed, widths, strict=True)]
        return GAP.join(placed).rstrip()

    headings = [columns.heading(column, width) for column, width in widths.items()]
    depth = max(map(len, headings))
    lined_up = zip(*([""] * (depth - len(heading)) + heading for heading in headings), strict=True)
    lines = [bold(line(parts)) for parts in lined_up]
    shown = (columns.cut_to(column, width) for column, width in widths.items())
    for number, row in enumerate(zip(*shown, strict=True)):
        cell_lines = (
            [cell] if cells(cell) <= width else wrapped(cell, width)
            for cell, width in zip(row, widths.values(), strict=True)
        )
        emphasised = {column for column in widths if (number, column) in strong} if strong else ()
        lines += [line(parts, emphasised) for parts in itertools.zip_longest(*cell_lines, fillvalue="")]
    notes = columns.left_out(widths)
    if notes:
        lines += map(faint, wrapped(f"({'; '.join(notes)}; --wide shows everything)", look().width or 1))
    return "\n".join(lines) + "\n"


class _Columns:
    """The columns of a table: how much room each needs, and which of them get it."""

    def __init__(
        self, header: Sequence[str], rows: Sequence[Sequence[str]], left: frozenset[int], importance: Sequence[int]
    ) -> None:
        self.header, self.left, self.importance = header, left, importance
        self.cells = [[row[column] for row in rows] for column in range(len(header))]
        self.body = [max(map(cells, column), default=0) for column in self.cells]
        self.natural = [max(body, cells(heading)) for body, heading in zip(self.body, header, strict=True)]

    def widths(self, width: int | None) -> dict[int, int]:
        """The columns that are shown, and how wide each is."""
        if width is None or sum(self.natural) + len(GAP) * (len(self.header) - 1) <= width:
            return dict(enumerate(self.natural))
        return self._grown(self._chosen(width), width)

    def _chosen(self, width: int) -> dict[int, int]:
        """The columns for which there is room, the most important first, each in as few cells as it can do with."""
        columns = range(len(self.header))
        least = [self._least(column, width) for column in columns]
        first_number = next((column for column in columns if column not in self.left), 0)
        if first_number:
            least[0] = max(min(least[0], width - len(GAP) - least[first_number]), min(least[0], LEAST_NAME))
        chosen: dict[int, int] = {}
        for column in dict.fromkeys([0, first_number, *self.importance, *columns]):
            if column in (0, first_number) or _taken(chosen) + least[column] <= width:
                chosen[column] = least[column]
        for column in sorted(self.sentences - chosen.keys()):  # which may do with less than they should have
            scant = max(SCANT_SENTENCE, self._longest_word(column))
            if _taken(chosen) + scant <= width:
                chosen[column] = scant
        return dict(sorted(chosen.items()))

    def _grown(self, chosen: dict[int, int], width: int) -> dict[int, int]:
        """The columns with what room is left: for words as far as it goes, then for headings on one line."""
        spare = max(0, width + len(GAP) - _taken(chosen))
        widths = dict(chosen)
        for column in sorted(chosen, key=lambda column: column not in self.left):
            more = self.natural[column] - widths[column]
            more = min(more, spare) if column in self.left else more if more <= spare else 0
            widths[column] += more
            spare -= more
        return widths

    def _least(self, column: int, width: int) -> int:
        body = self.body[column]
        if column in self.sentences:
            matters_most = [column] == list(self.importance[:1])
            body = min(body, max(LEAST_SENTENCE, width // (2 if matters_most else 3)))
        elif column in self.names:
            body = min(body, _least_width(self.cells[column]))
        return max(body, self._longest_word(column))

    @cached_property
    def sentences(self) -> frozenset[int]:
        """Columns that are wrapped."""
        return frozenset(
            column
            for column in self.left
            if any(cell.count(" ") >= WORDS_OF_SENTENCE - 1 for cell in self.cells[column])
        )

    @cached_property
    def names(self) -> frozenset[int]:
        """Columns that are cut: the first one, and others in which something is no number."""
        return frozenset(
            column
            for column in self.left - self.sentences
            if column == 0 or any(any(map(str.isalpha, cell)) for cell in self.cells[column])
        )

    def cut_to(self, column: int, width: int) -> Sequence[str]:
        """The cells of a column, names among them without their middle."""
        fits = self.body[column] <= width or column not in self.names
        return self.cells[column] if fits else shortened(self.cells[column], width)

    def heading(self, column: int, width: int) -> list[str]:
        """The lines of a column's heading."""
        heading = self.header[column]
        return [heading] if cells(heading) <= width else wrapped(" ".join(self._brief(heading)), width)

    def _brief(self, heading: str) -> list[str]:
        return [self._cut_words.get(word, word) for word in heading.split()]

    def _longest_word(self, column: int) -> int:
        return max(map(cells, self._brief(self.header[column])), default=0)

    @cached_property
    def _cut_words(self) -> dict[str, str]:
        """Long words of headings, such as names of runs, as they are cut where there is no room for them."""
        words = (word for heading in self.header for word in heading.split())
        long = list(dict.fromkeys(word for word in words if cells(word) > LEAST_NAME))
        return dict(zip(long, shortened(long, _least_width(long)), strict=True))

    def left_out(self, widths: Mapping[int, int]) -> list[str]:
        """What is not shown, in words."""
        hidden = [heading for column, heading in enumerate(self.header) if column not in widths]
        cut = any(width < self.body[column] for column, width in widths.items() if column in self.names)
        cut = cut or any(
            cells(word) > width for column, width in widths.items() for word in self.header[column].split()
        )
        return [f"not shown: {', '.join(hidden)}"] * bool(hidden) + ["names are cut"] * cut


def _taken(widths: Mapping[int, int]) -> int:
    """How many cells the columns take, and the gap before another one."""
    return sum(widths.values()) + len(GAP) * len(widths)
