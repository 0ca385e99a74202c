"""Tables for papers: LaTeX that fits a column of a two-column paper, the text of a one-column paper, or a page.

The widths of a table's columns are estimated from its letters. Of several forms, from the one that shows most to the
narrowest, the first that fits is taken: with small print beside numbers, below them or left out, with three digits, in
smaller letters, without what is judged, with names cut, without the least important columns. Only the package booktabs
is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from rankbounds.errors import coded
from rankbounds.tables import WORDS_OF_SENTENCE, Table, in_latex
from rankbounds.terminal import Look, look, shorten, use_look, wrap

INCHES = {"column": 3.33, "text": 4.77, "page": 7.0}
"""How wide a column of two is, the text of papers of one column (article, llncs), and the page of two."""
POINTS = 72.27
SPARE = 0.95
"""The share of that width that is used: columns of LaTeX's own classes are narrower."""
LETTERS = {"small": 9.3, "footnotesize": 8.5, "scriptsize": 8.0}
"""Sizes of letters, and how many points an em of them takes: small letters are cut wider than their size."""
SMALL_PRINT, OF_CAPTION = LETTERS["scriptsize"], 10.5
NEEDS = r"needs \usepackage{booktabs}"
FEW_DIGITS, LEAST_NAME, LEAST_HEAD, LEAST_SENTENCE = 3, 10, 9, 16
EM = {"mwMW%@": 0.85, "ijlIt.,:;'()[]|-/f": 0.36, "0123456789": 0.5, "+<>": 0.78}
"""How wide letters of Computer Modern are, in ems; others: capitals and small letters."""
LEFT_OUT = "The bounds for unjudged documents are left out; --width page shows them."
MARKS = re.compile(r"; (superscripts: systems|systems that share a letter).*?\)(?=[;.])")
"""The words of a caption on what is raised beside means."""
TOO_MANY_MARKS = "Which systems differ significantly is left out: a column has no room for so many marks."
LATEX_MEANS = {"inf": r"$\infty$", "-inf": r"$-\infty$", "-": "--"}
_BESIDE = re.compile(r"([^\s\[]+) ([\[(+].*|[a-zA-Z^])")
"""A number, and what may stand small beside it: an interval, a share, a mark."""
_MINUS = re.compile(r"(?<![\w.)}-])-(?=\.?\d)")
_SENTENCE_END = re.compile(r"(?<=[\w)%][.?])\s+(?=\w)")
Build = Callable[[bool], "PaperTable"]
"""Makes the table, with small print where there is room for it or not, with the digits that tables have at the time."""


@dataclass(frozen=True)
class Cell:
    """A text as it is shown, and what is raised and small beside it."""

    mean: str
    best: bool = False
    raised: str = ""
    small: str = ""

    def latex(self, phantom: str = "", *, with_small: bool = True) -> str:
        """Write the cell; ``phantom`` takes the room of digits that others have before the point."""
        mean = LATEX_MEANS.get(self.mean) or _words(self.mean)
        small = rf" {{\scriptsize {_words(self.small)}}}" if self.small and with_small else ""
        raised = self.raised.replace("-", "--")
        return "".join(
            [
                phantom,
                rf"\textbf{{{mean}}}" if self.best else mean,
                rf"\textsuperscript{{{raised}}}" if raised else "",
                small,
            ]
        )

    @property
    def whole_digits(self) -> int:
        """How many digits the mean has before its point; 0 where it is not a number."""
        return len(self.mean.partition(".")[0]) if self.mean[:1].isdigit() else 0


@dataclass(frozen=True)
class PaperColumn:
    """A column: its heading, its cells, and what may happen to it where there is no room."""

    heading: str
    cells: Sequence[Cell]
    left: bool = True
    kind: Literal["numbers", "names", "sentences", "judged"] = "numbers"
    importance: float = float("inf")
    """Columns with the lowest importance are left out first."""

    def head(self) -> list[Cell]:
        """The lines of the heading: a measure's depth and parameters small below its name, words as wide as cells."""
        upper, lower = split_head(self.heading)
        if lower:
            return [Cell(upper), Cell("", small=lower)]
        widest = max((len(cell.mean) for cell in self.cells), default=0)
        return list(map(Cell, wrap(upper, max(widest, LEAST_HEAD, *map(len, upper.split(" "))))))

    def width(self, size: float, stacked: bool) -> float:
        """Estimate the width in points."""
        widths = []
        for cell in (*self.head(), *self.cells):
            mean = width_of(cell.mean, size * (1.16 if cell.best else 1)) + width_of(cell.raised, SMALL_PRINT)
            small = width_of(cell.small, SMALL_PRINT)
            beside = 0.35 * size if cell.small and cell.mean else 0.0
            widths.append(max(mean, small) if stacked else mean + small + beside)
        return max(widths)

    def written(self, stacked: bool) -> list[list[str]]:
        """The lines of each cell: wrapped sentences, and numbers with small print beside or below them."""
        if self.kind == "sentences":
            return [list(map(in_latex, cell.mean.split("\n"))) for cell in self.cells]
        whole = max((cell.whole_digits for cell in self.cells), default=0) if self.left and self.kind != "names" else 0
        found = []
        for cell in self.cells:
            missing = whole - cell.whole_digits if cell.whole_digits else 0
            phantom = rf"\phantom{{{'0' * missing}}}" if missing > 0 else ""
            below = [rf"{{\scriptsize {_words(cell.small)}}}"] if stacked and cell.small else []
            found.append([cell.latex(phantom, with_small=not stacked), *below])
        return found


@dataclass(frozen=True)
class PaperTable:
    """A table as a paper shows it."""

    columns: Sequence[PaperColumn]
    caption: str = ""
    """As LaTeX, in two lines."""
    comments: Sequence[str] = ()
    """All that a reader may ask, which the caption has no room for."""
    stacked: bool = False
    """Does small print stand below the numbers? It also does where it is long."""
    letters: str = "small"
    gap: float = 4.0
    """Points on either side of a column."""

    @property
    def has_small(self) -> bool:
        """Is there any small print?"""
        return any(cell.small for column in self.columns for cell in column.cells)

    @property
    def _stacked(self) -> bool:
        return self.stacked or any(len(cell.small) > 12 for column in self.columns for cell in column.cells)

    def width(self) -> float:
        """Estimate the width in points."""
        widths = [column.width(LETTERS[self.letters], self._stacked) for column in self.columns]
        return sum(widths) + 2 * self.gap * (len(widths) - 1)

    def change(self, kind: str, change: Callable[[PaperColumn], PaperColumn | None], *comments: str) -> PaperTable:
        """The table with the columns of a kind changed, or without those that become None."""
        changed = [change(column) if column.kind == kind else column for column in self.columns]
        kept = [column for column in changed if column is not None]
        return replace(self, columns=kept, comments=[*self.comments, *comments])

    def wrapped(self, room: float) -> PaperTable:
        """The table with sentences in lines, which share what other columns leave of the room."""
        sentences = [column for column in self.columns if column.kind == "sentences"]
        if not sentences or self.width() <= room:
            return self
        size = LETTERS[self.letters]
        others = self.change("sentences", lambda _: None).width() + 2 * self.gap * len(sentences)
        each = max(LEAST_SENTENCE, int((room - others) / len(sentences) / size / 0.5))

        def cut(column: PaperColumn) -> PaperColumn:
            return replace(column, cells=[Cell("\n".join(wrap(cell.mean, each))) for cell in column.cells])

        return self.change("sentences", cut)

    def latex(self, label: str = "", *, caption: bool = True, across: bool = False) -> str:
        """Write the table; without ``caption`` the tabular alone, ``across`` both columns of a page."""
        align = "".join("l" if column.left else "r" for column in self.columns)
        heads = [column.head() for column in self.columns]
        lines = [rf"\begin{{tabular}}{{@{{}}{align}@{{}}}}", r"\toprule"]
        head_lines = [
            " & ".join(cell.latex().strip() for cell in line) for line in zip_longest(*heads, fillvalue=Cell(""))
        ]
        lines += [f"{line} \\\\[-.4ex]" for line in head_lines[:-1]]
        lines += [rf"{head_lines[-1]} \\", r"\midrule"]
        rows = list(zip(*(column.written(self._stacked) for column in self.columns), strict=True))
        for place, row in enumerate(rows):
            *above, last = [" & ".join(line) for line in zip_longest(*row, fillvalue="")]
            gap = r" \addlinespace[.4ex]" if above and place < len(rows) - 1 else ""
            # A row that begins so would be an argument of the end of the row above.
            parts = [*(rf"{line} \\[-.5ex]" for line in above), rf"{last} \\{gap}"]
            lines += [f"{{{part[0]}}}{part[1:]}" if part.startswith(("[", "*")) else part for part in parts]
        lines += [r"\bottomrule", r"\end{tabular}"]
        if not caption:
            return "\n".join(lines) + "\n"
        kind = "table*" if across else "table"
        head = [f"% {coded(line)}" for text in (NEEDS, *self.comments) for line in text.splitlines()]
        head += [rf"\begin{{{kind}}}"]
        head += [rf"\caption{{{self.caption}}}"] * bool(self.caption)
        head += [rf"\label{{{label}}}"] * bool(label and self.caption)
        head += [r"\smallskip", r"\centering", rf"\{self.letters}", rf"\setlength{{\tabcolsep}}{{{self.gap:g}pt}}"]
        return "\n".join([*head, *lines, rf"\end{{{kind}}}"]) + "\n"


def means_table(
    headings: Sequence[str],
    runs: Sequence[str],
    cells: Sequence[Sequence[Cell]],
    judged: Sequence[str],
    caption: str,
    comments: Sequence[str] = (),
    *,
    numbered: bool = True,
) -> PaperTable:
    """A table of means, a row for each system and a column for each measure."""
    numbers = [PaperColumn("", [Cell(str(place)) for place in range(1, len(runs) + 1)], left=False)] * numbered
    names = PaperColumn("System", list(map(Cell, runs)), kind="names")
    means = [PaperColumn(head, column) for head, column in zip(headings, zip(*cells, strict=True), strict=True)]
    shares = [PaperColumn("judged@10", list(map(Cell, judged)), left=False, kind="judged")] * bool(judged)
    return PaperTable([*numbers, names, *means, *shares], caption, comments)


def table_for_paper(table: Table, *, inline: bool = True) -> PaperTable:
    """Any table for a paper; its small print below the numbers, or ``inline`` beside them.

    A column of words that are the same in each row becomes part of the caption.
    """
    columns, alike = [], []
    for place, heading in enumerate(table.header):
        texts = [row[place].strip(" ") for row in table.rows]
        left = place in table.left
        if place and left and len(texts) > 1 and len(set(texts)) == 1:
            alike.append(f"{heading}: {texts[0]}")
            continue
        beside = None if left else [_BESIDE.fullmatch(text) for text in texts]
        cells = [
            Cell(part[1], small=part[2]) if part else Cell(text)
            for text, part in zip(texts, beside or [None] * len(texts), strict=True)
        ]
        cells = [replace(cell, best=(row, place) in table.strong) for row, cell in enumerate(cells)]
        has_small = any(cell.small for cell in cells)
        is_sentence = left and any(text.count(" ") >= WORDS_OF_SENTENCE for text in texts)
        importance = len(table.header) - place - (0 if place in table.importance or not place else 99)
        columns.append(
            PaperColumn(
                heading,
                cells,
                left or has_small,
                "sentences" if is_sentence else "names" if left else "numbers",
                importance if place else float("inf"),
            )
        )
    return PaperTable(columns, "; ".join(alike), stacked=not inline)


def write_latex(
    build: Callable[[], Table], words: str, width: str | None = None, *, caption: bool = True, label: str = ""
) -> str:
    """Write any table for a paper; as many sentences as two lines hold become its caption, the others comments."""
    made, across = fit(lambda inline: table_for_paper(build(), inline=inline), width)
    room = 2 * POINTS * SPARE * INCHES["text" if across else "column"]
    first, *more = _SENTENCE_END.split(" ".join(words.split()))
    while more and width_of(f"{first} {more[0]} {made.caption}", OF_CAPTION) < room:
        first = f"{first} {more.pop(0)}"
    said = "; ".join(filter(None, (first.rstrip(".:"), made.caption)))
    made = replace(
        made, caption=_words(said + "." * bool(said)), comments=[*filter(None, (" ".join(more),)), *made.comments]
    )
    return made.latex(label, caption=caption, across=across)


def fit(build: Build, width: str | None = None, *, keep_small: bool = False) -> tuple[PaperTable, bool]:
    """The table in the form that shows most and fits, and whether it goes across the page.

    Without a ``width``, and where the command line asked for none, it goes into a column; where no form but one with
    names cut fits there, across, as wide as the text of a one-column paper. With ``keep_small`` small print is never
    left out.
    """
    width = width or look().paper
    tried: list[PaperTable] = []
    for kind in [width] if width else ("column", "text"):
        room, across = POINTS * INCHES[kind] * SPARE, kind == "page" or (kind == "text" and not width)
        for small, digits, letters, gap, with_judged in _forms(keep_small):
            with use_look(Look(digits=digits)):
                table = replace(build(small), letters=letters, gap=gap)
            if not with_judged:
                table = _without_judged(table)
            if tried and tried[0].has_small and not table.has_small:
                table = replace(table, comments=[*table.comments, LEFT_OUT])
            tried.append(table)
            table = table.wrapped(room)
            if table.width() <= room:
                return table, across
    return _cut(tried[-1], room), across


def _without_judged(table: PaperTable) -> PaperTable:
    judged = next((column.cells for column in table.columns if column.kind == "judged"), None)
    if judged is None:
        return table
    names = next(column.cells for column in table.columns if column.kind == "names")
    shares = ", ".join(f"{name.mean} {share.mean}" for name, share in zip(names, judged, strict=True))
    return table.change("judged", lambda _: None, f"judged@10 (left out): {shares}")


def _cut(table: PaperTable, room: float) -> PaperTable:
    """The narrowest form with names cut, then without marks, then without the least important columns."""
    over = table.wrapped(room).width() - room
    named = [column for column in table.columns if column.kind == "names"]
    letters = over / max(1, len(named)) / (0.36 * LETTERS[table.letters])
    whole = [f"{place}: {', '.join(names)}" for place, names in enumerate(_texts(named), 1)]

    def shorter(column: PaperColumn) -> PaperColumn:
        names = [cell.mean for cell in column.cells]
        kept = max(LEAST_NAME, max(map(len, names), default=0) - round(letters))
        cells = zip(column.cells, shorten(names, kept), strict=True)
        return replace(column, cells=[replace(cell, mean=name) for cell, name in cells])

    table = table.change("names", shorter, *whole)
    if table.width() > room and any(cell.raised for column in table.columns for cell in column.cells):
        table = table.change(  # letters or numbers of dozens of systems, which nobody could read
            "numbers",
            lambda column: replace(column, cells=[replace(cell, raised="") for cell in column.cells]),
            TOO_MANY_MARKS,
        )
        table = replace(table, caption=MARKS.sub("", table.caption))
    hidden: list[str] = []
    while table.wrapped(room).width() > room and len(table.columns) > 2:
        least = min(table.columns, key=lambda column: column.importance)
        if least.importance == float("inf"):
            break
        hidden.append(least.heading)
        table = replace(table, columns=[column for column in table.columns if column is not least])
    comments = [
        *table.comments,
        *([f"Columns that do not fit: {', '.join(hidden)}; --width page has more room."] if hidden else []),
    ]
    return replace(table.wrapped(room), comments=comments)


def _texts(columns: Sequence[PaperColumn]) -> Iterable[tuple[str, ...]]:
    return zip(*([cell.mean for cell in column.cells] for column in columns), strict=True)


def _forms(small: bool) -> Sequence[tuple[bool, int, str, float, bool]]:
    """Small print, digits, letters, gaps, what is judged: from the form that shows most to the narrowest."""
    digits = look().digits
    few = min(digits, FEW_DIGITS) if digits == Look().digits else digits
    return [
        (True, digits, "small", 4.0, True),
        (small, digits, "small", 4.0, True),
        (small, few, "small", 3.0, True),
        (small, few, "footnotesize", 2.5, True),
        (small, few, "footnotesize", 2.5, False),
        (small, few, "scriptsize", 2.0, False),
    ]


def split_head(head: str) -> tuple[str, str]:
    """A measure's label in two lines: depth and parameters below its name."""
    label, space, mark = head.partition(" ")  # (an arrow, where lower is better)
    if space and mark != "↓":
        return head, ""
    name = re.split("[(@]", label)[0]
    return (name + space + mark, label[len(name) :]) if name else (head, "")


def width_of(text: str, size: float) -> float:
    """Estimate the width of a text in points, of several lines that of the widest."""

    def ems(letter: str) -> float:
        known = next((width for letters, width in EM.items() if letter in letters), None)
        return known or (0.76 if letter.isupper() or not letter.isascii() else 0.53)

    return size * max(sum(map(ems, line)) for line in text.split("\n"))


def _words(text: str) -> str:
    return _MINUS.sub("$-$", in_latex(text)).replace("↓", r"$\downarrow$").replace("…", r"\ldots{}")
