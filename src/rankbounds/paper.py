"""Tables for papers: LaTeX that fits one column of a two-column paper, or its page.

The widths of a table's columns are estimated from its letters. Of several forms, from the one that shows most to the
narrowest, the first that fits is taken: with what is open of each mean, without, with three digits, in smaller letters,
without what is judged, with names cut. Only the package booktabs is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rankbounds.tables import in_latex
from rankbounds.terminal import Look, look, shorten, use_look

INCHES = {"column": 3.33, "page": 7.0}
"""How wide a column and a page are."""
POINTS = 72.27
SPARE = 0.95
"""The share of that width that is used: columns of LaTeX's own classes are narrower."""
LETTERS = {"small": 9.3, "footnotesize": 8.5, "scriptsize": 8.0}
"""Sizes of letters, and how many points an em of them takes: small letters are cut wider than their size."""
SMALL_PRINT = LETTERS["scriptsize"]
NEEDS = r"needs \usepackage{booktabs}"
FEW_DIGITS, LEAST_NAME = 3, 10
EM = {"mwMW%@": 0.85, "ijlIt.,:;'()[]|-/f": 0.36, "0123456789": 0.5}
"""How wide letters of Computer Modern are, in ems; others: capitals and small letters."""
LEFT_OUT = "What unjudged documents leave open of the means is left out: --width page has room for it."
MARKS = re.compile(r"; (superscripts: systems|systems that share a letter).*?\)(?=[;.])")
"""The words of a caption on what is raised beside means."""
TOO_MANY_MARKS = "Which systems differ significantly is left out: a column has no room for so many marks."
LATEX_MEANS = {"inf": r"$\infty$", "-inf": r"$-\infty$", "-": "--"}
Build = Callable[[bool], "PaperTable"]
"""Makes the table, with or without small print, with the digits that tables have at the time."""


@dataclass(frozen=True)
class Cell:
    """A mean as it is shown, and what is raised and small beside it."""

    mean: str
    best: bool = False
    raised: str = ""
    small: str = ""

    def latex(self, phantom: str = "", *, with_small: bool = True) -> str:
        """Write the cell; ``phantom`` takes the room of digits that others have before the point."""
        mean = LATEX_MEANS.get(self.mean, in_latex(self.mean))
        small = rf" {{\scriptsize {in_latex(self.small)}}}" if self.small and with_small else ""
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
class PaperTable:
    """A table of means, a row for each system and a column for each measure."""

    heads: Sequence[str]
    runs: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    judged: Sequence[str]
    caption: str
    """As LaTeX, in two lines."""
    comments: Sequence[str] = ()
    """All that a reader may ask, which the caption has no room for."""
    numbered: bool = True
    letters: str = "small"
    gap: float = 4.0
    """Points on either side of a column."""

    @property
    def has_small(self) -> bool:
        """Is there any small print?"""
        return any(cell.small for row in self.cells for cell in row)

    @property
    def _stacked(self) -> bool:
        """Does small print stand below the means, because it is long?"""
        return any(len(cell.small) > 12 for row in self.cells for cell in row)

    def width(self) -> float:
        """Estimate the width in points."""
        size = LETTERS[self.letters]
        columns = [[width_of(name, size) for name in (*self.runs, "System")]]
        columns += [[width_of(str(len(self.runs)), size)]] if self.numbered else []
        for head, cells in zip(self.heads, zip(*self.cells, strict=True), strict=True):
            upper, lower = split_head(head)
            widths = [width_of(upper, size), width_of(lower, SMALL_PRINT)]
            for cell in cells:
                mean = width_of(cell.mean, size * (1.16 if cell.best else 1)) + width_of(cell.raised, SMALL_PRINT)
                small = width_of(cell.small, SMALL_PRINT)
                widths.append(max(mean, small) if self._stacked else mean + small + bool(small) * 0.35 * size)
            columns.append(widths)
        columns += [[width_of("judged", size)]] if self.judged else []
        return sum(map(max, columns)) + 2 * self.gap * (len(columns) - 1)

    def latex(self, label: str, *, caption: bool = True, across: bool = False) -> str:
        """Write the table; without ``caption`` the tabular alone, ``across`` both columns of a page."""
        columns = "r" * self.numbered + "l" * (1 + len(self.heads)) + "r" * bool(self.judged)
        upper, lower = zip(*map(split_head, [*self.heads, *["judged@10"] * bool(self.judged)]), strict=True)
        before = [""] * self.numbered
        lines = [rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"\toprule"]
        lines.append(" & ".join([*before, "System", *map(_words, upper)]) + r" \\")
        if any(lower):
            below = (rf"{{\scriptsize {_words(text)}}}" if text else "" for text in lower)
            lines[-1] += "[-.4ex]"
            lines.append(" & ".join([*before, "", *below]) + r" \\")
        lines.append(r"\midrule")
        widths = [max(cell.whole_digits for cell in column) for column in zip(*self.cells, strict=True)]
        for place, (run, row) in enumerate(zip(self.runs, self.cells, strict=True)):
            means = []
            for cell, width in zip(row, widths, strict=True):
                missing = width - cell.whole_digits if cell.whole_digits else 0
                phantom = rf"\phantom{{{'0' * missing}}}" if missing else ""
                means.append(cell.latex(phantom, with_small=not self._stacked))
            judged = list(map(in_latex, self.judged[place : place + 1]))
            stacked = self._stacked and any(cell.small for cell in row)
            name = in_latex(run).replace("…", r"\ldots{}")
            name = f"{{{name[0]}}}{name[1:]}" if name.startswith(("[", "*")) and not self.numbered else name
            number = [str(place + 1)] if self.numbered else []
            lines.append(" & ".join([*number, name, *means, *judged]) + (r" \\[-.5ex]" if stacked else r" \\"))
            if stacked:
                gap = "" if place == len(self.runs) - 1 else r" \addlinespace[.4ex]"
                small = [rf"{{\scriptsize {in_latex(cell.small)}}}" if cell.small else "" for cell in row]
                lines.append(" & ".join([*before, "", *small, *[""] * len(judged)]) + r" \\" + gap)
        lines += [r"\bottomrule", r"\end{tabular}"]
        if not caption:
            return "\n".join(lines) + "\n"
        kind = "table*" if across else "table"
        head = [f"% {line}" for text in (NEEDS, *self.comments) for line in text.splitlines()]
        head += [
            rf"\begin{{{kind}}}",
            rf"\caption{{{self.caption}}}",
            rf"\label{{{label}}}",
            r"\smallskip",
            r"\centering",
            rf"\{self.letters}",
        ]
        setting = rf"\setlength{{\tabcolsep}}{{{self.gap:g}pt}}"
        return "\n".join([*head, setting, *lines, rf"\end{{{kind}}}"]) + "\n"


def fit(build: Build, width: str | None = None, *, keep_small: bool = False) -> tuple[PaperTable, bool]:
    """The table in the form that shows most and fits, and whether it goes across the page.

    Without a ``width`` it goes into a column, or across where no form but one with names cut fits there. With
    ``keep_small`` small print is never left out.
    """
    tried: list[PaperTable] = []
    for kind in [width] if width else INCHES:
        room = POINTS * INCHES[kind] * SPARE
        for small, digits, letters, gap, with_judged in _forms(keep_small):
            with use_look(Look(digits=digits)):
                table = replace(build(small), letters=letters, gap=gap)
            if not with_judged and table.judged:
                shares = ", ".join(map(" ".join, zip(table.runs, table.judged, strict=True)))
                table = replace(table, judged=[], comments=[*table.comments, f"judged@10 (left out): {shares}"])
            if tried and tried[0].has_small and not small:
                table = replace(table, comments=[*table.comments, LEFT_OUT])
            tried.append(table)
            if table.width() <= room:
                return table, kind == "page"
    narrow = tried[-1]
    over = narrow.width() - room
    longest = max(map(len, narrow.runs))
    kept = max(LEAST_NAME, longest - round(over / (0.36 * LETTERS[narrow.letters])))
    whole = [f"{place}: {run}" for place, run in enumerate(narrow.runs, 1)]
    narrow = replace(narrow, runs=shorten(narrow.runs, kept), comments=[*narrow.comments, *whole])
    if narrow.width() > room:  # letters or numbers of dozens of systems, which nobody could read
        plain = [[replace(cell, raised="") for cell in row] for row in narrow.cells]
        caption = MARKS.sub("", narrow.caption)
        narrow = replace(narrow, cells=plain, caption=caption, comments=[*narrow.comments, TOO_MANY_MARKS])
    return narrow, kind == "page"


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
    name = re.split("[(@]", label)[0]
    return name + space + mark, label[len(name) :]


def width_of(text: str, size: float) -> float:
    """Estimate the width of a text in points."""

    def ems(letter: str) -> float:
        known = next((width for letters, width in EM.items() if letter in letters), None)
        return known or (0.76 if letter.isupper() or not letter.isascii() else 0.53)

    return size * sum(map(ems, text))


def _words(text: str) -> str:
    return in_latex(text).replace("↓", r"$\downarrow$")
