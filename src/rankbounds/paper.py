"""Tables for papers: LaTeX that fits a column of a two-column paper, the text of a one-column paper, or a page.

Widths are estimated in characters. A table has bounds and the like in small print beside its numbers if there is room.
A page shows every column; elsewhere the least important ones are left out where they do not fit. Only the package
booktabs is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rankbounds.errors import coded
from rankbounds.tables import WORDS_OF_SENTENCE, Table, in_latex
from rankbounds.terminal import look, shorten

INCHES = {"column": 3.33, "text": 4.77, "page": 7.0}
"""How wide a column of two is, the text of papers of one column (article, llncs), and the page of two."""
ROOM = {"column": 53, "text": 70, "page": 104}
"""How many characters a line of a table holds there."""
GAP, SMALL, CAPITAL, THIN = 1.2, 0.85, 1.4, 0.6
"""The room between columns, and that of small, capital and thin characters, in characters."""
LEAST_NAME, LEAST_SENTENCE, CAPTION = 10, 16, 160
LATEX_MEANS = {"inf": r"$\infty$", "-inf": r"$-\infty$", "-": "--"}
_BESIDE = re.compile(r"([^\s\[]+) ([\[(+].*|[a-zA-Z^])")
"""A number, and what may stand small beside it: an interval, a share, a mark."""
_MINUS = re.compile(r"(?<![\w.)}-])-(?=\.?\d)")
_SENTENCE_END = re.compile(r"(?<=[\w)%][.?])\s+(?=\w)")
_MEASURE = re.compile(r"([^\s(@]+)([(@]\S*)( ↓)?")


@dataclass(frozen=True)
class Cell:
    """A text as it is shown, and what is raised and small beside it."""

    mean: str
    best: bool = False
    raised: str = ""
    small: str = ""

    def latex(self) -> str:
        """Write the cell."""
        mean = LATEX_MEANS.get(self.mean) or _escape(self.mean)
        raised = rf"\textsuperscript{{{self.raised.replace('-', '--')}}}" if self.raised else ""
        small = rf" {{\scriptsize {_escape(self.small)}}}" if self.small else ""
        return (rf"\textbf{{{mean}}}" if self.best else mean) + raised + small

    def width(self) -> float:
        """Estimate the width in characters."""
        return _characters(self.mean) + SMALL * _characters(self.raised + " " * bool(self.small) + self.small)


@dataclass(frozen=True)
class PaperColumn:
    """A column; those with the lowest importance are left out first."""

    heading: str
    cells: Sequence[Cell]
    left: bool = True
    importance: float = float("inf")
    is_name: bool = False
    is_sentence: bool = False

    def head(self) -> list[str]:
        """Return the lines of the heading; a measure's depth and parameters stand below its name."""
        if measure := _MEASURE.fullmatch(self.heading):
            return [measure[1] + (measure[3] or ""), measure[2]]
        return self.heading.split() or [""]

    def cut(self, most: int) -> PaperColumn:
        """Return the column with names of at most so many characters, though no fewer than ``LEAST_NAME``."""
        names = [cell.mean for cell in self.cells]
        if not self.is_name or max(map(len, names), default=0) <= max(most, LEAST_NAME):
            return self
        return replace(self, cells=list(map(Cell, shorten(names, max(most, LEAST_NAME)))))

    def width(self) -> float:
        """Estimate the width in characters; that of sentences can be anything."""
        cells = () if self.is_sentence else self.cells
        return max(LEAST_SENTENCE * self.is_sentence, *map(_characters, self.head()), *(one.width() for one in cells))


@dataclass(frozen=True)
class PaperTable:
    """A table as a paper shows it: the caption in LaTeX, and comments for which the caption has no room."""

    columns: Sequence[PaperColumn]
    caption: str = ""
    comments: Sequence[str] = ()
    kind: str = "page"

    @property
    def has_small(self) -> bool:
        """Is there any small print?"""
        return any(cell.small for column in self.columns for cell in column.cells)

    def room(self) -> float:
        """Estimate how many characters are left of a line."""
        return ROOM[self.kind] + GAP - sum(column.width() + GAP for column in self.columns)

    def narrowed(self) -> PaperTable:
        """Leave out the least important columns that do not fit beside short names; cut names to what is left."""
        table = self
        for least in sorted(self.columns, key=lambda column: column.importance):
            brief = replace(table, columns=[column.cut(LEAST_NAME) for column in table.columns])
            if self.kind != "page" and least.importance < float("inf") and brief.room() < 0:
                table = replace(table, columns=[column for column in table.columns if column is not least])
        for place, column in enumerate(table.columns):
            longest = max((len(cell.mean) for cell in column.cells), default=0)
            columns = list(table.columns)
            columns[place] = column.cut(int(longest + min(table.room(), 0)))
            full = ", ".join(dict.fromkeys(cell.mean for cell in column.cells))
            comments = [*table.comments, *[f"In full: {full}"] * (columns[place] != column)]
            table = replace(table, columns=columns, comments=comments)
        return table

    def latex(self, label: str = "", *, caption: bool = True) -> str:
        """Write the table; without ``caption`` the tabular alone."""
        each = LEAST_SENTENCE + max(0.0, self.room()) / max(1, sum(column.is_sentence for column in self.columns))
        box = rf"\parbox[t]{{{each / 2:.1f}em}}{{\raggedright %s}}"
        body = [[box % cell.latex() if one.is_sentence else cell.latex() for cell in one.cells] for one in self.columns]
        align = "".join("l" if column.left else "r" for column in self.columns)
        *above, last = zip_longest(
            *([_escape(line) for line in column.head()] for column in self.columns), fillvalue=""
        )
        tabular = [rf"\begin{{tabular}}{{@{{}}{align}@{{}}}}", r"\toprule"]
        tabular += [*(_row(line, r" \\[-.5ex]") for line in above), _row(last), r"\midrule"]
        tabular += [*map(_row, zip(*body, strict=True)), r"\bottomrule", r"\end{tabular}"]
        if not caption:
            return "\n".join(tabular) + "\n"
        kind, letters = "table" + "*" * (self.kind == "page"), "footnotesize" if self.kind == "column" else "small"
        texts = (r"needs \usepackage{booktabs}", *self.comments)
        head = [f"% {coded(line)}" for text in texts for line in text.splitlines()] + [rf"\begin{{{kind}}}"]
        head += [rf"\caption{{{self.caption}}}"] * bool(self.caption)
        head += [rf"\label{{{label}}}"] * bool(label and self.caption)
        head += [r"\smallskip", r"\centering", rf"\{letters}", r"\setlength{\tabcolsep}{2.5pt}"]
        return "\n".join([*head, *tabular, rf"\end{{{kind}}}"]) + "\n"


def _row(cells: Sequence[str], end: str = r" \\") -> str:
    line = " & ".join(cells) + end
    # A line that begins so would be an argument of the end of the line above.
    return f"{{{line[0]}}}{line[1:]}" if line.startswith(("[", "*")) else line


def table_for_paper(table: Table) -> PaperTable:
    """Turn any table into one for a paper; a column of words that are the same in each row goes into the caption."""
    columns, alike = [], []
    for place, heading in enumerate(table.header):
        texts, left = [row[place].strip(" ") for row in table.rows], place in table.left
        if place and left and len(texts) > 1 and len(set(texts)) == 1:
            alike.append(f"{heading}: {texts[0]}")
            continue
        parts = [None if left else _BESIDE.fullmatch(text) for text in texts]
        cells = [
            Cell(part[1] if part else text, (row, place) in table.strong, small=part[2] if part else "")
            for row, (text, part) in enumerate(zip(texts, parts, strict=True))
        ]
        is_sentence = left and any(text.count(" ") >= WORDS_OF_SENTENCE for text in texts)
        rank = len(table.header) - place + 99 * (place in table.importance) if place else float("inf")
        is_left = left or any(cell.small for cell in cells)
        columns.append(PaperColumn(heading, cells, is_left, rank, left and not is_sentence, is_sentence))
    return PaperTable(columns, "; ".join(alike))


def write_latex(table: Table, words: str, width: str | None = None, *, caption: bool = True, label: str = "") -> str:
    """Write any table for a paper; as many sentences as two lines hold become its caption, the others comments."""
    fitted = fit([table_for_paper(table)], width)
    first, *more = _SENTENCE_END.split(" ".join(words.split()))
    while more and len(f"{first} {more[0]} {fitted.caption}") < CAPTION:
        first = f"{first} {more.pop(0)}"
    said = "; ".join(filter(None, (first.rstrip(".:"), fitted.caption)))
    comments = [*filter(None, [" ".join(more)]), *fitted.comments]
    return replace(fitted, caption=_escape(said + "." * bool(said)), comments=comments).latex(label, caption=caption)


def fit(forms: Sequence[PaperTable], width: str | None = None) -> PaperTable:
    """Return the first form of a table that fits the width, by default a column, or as much of the last as fits."""
    forms = [replace(form, kind=width or look().paper or "column") for form in forms]
    table = next((form for form in forms if form.room() >= 0), forms[-1]).narrowed()
    shown = {column.heading for column in table.columns}
    left_out = ["bounds for unjudged documents"] * (forms[0].has_small and not table.has_small)
    left_out += [column.heading for column in forms[0].columns if column.heading not in shown]
    wider = "" if table.kind == "page" else "; --width page shows more"
    return replace(table, comments=[*table.comments, *[f"Left out: {', '.join(left_out)}{wider}."] * bool(left_out)])


def _characters(text: str) -> float:
    return sum(CAPITAL if letter.isupper() else THIN if letter in ".,:;()[]" else 1 for letter in text)


def _escape(text: str) -> str:
    return _MINUS.sub("$-$", in_latex(text)).replace("↓", r"$\downarrow$").replace("…", r"\ldots{}")
