"""Tables for papers: LaTeX that fits a column of a two-column paper, the text of a one-column paper, or a page.

Widths are estimated in characters. A table has small print beside its numbers where there is room for it, three digits
where there is none for four, and shortened names. A page shows every column; elsewhere the least important ones are
left out where they do not fit. Only the package booktabs is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rankbounds.errors import coded
from rankbounds.tables import WORDS_OF_SENTENCE, Table, in_latex
from rankbounds.terminal import Look, look, shorten, use_look

INCHES = {"column": 3.33, "text": 4.77, "page": 7.0}
"""How wide a column of two is, the text of papers of one column (article, llncs), and the page of two."""
ROOM = {"column": 53, "text": 70, "page": 104}
"""How many characters a line of a table holds there."""
GAP, SMALL, CAPITAL, THIN, BOLD = 1.2, 0.85, 1.4, 0.6, 1.16
"""The room between columns, and that of small, capital, thin and bold characters, in characters."""
FEW_DIGITS, LEAST_NAME, LEAST_SENTENCE = 3, 10, 16
CAPTION, BESIDE = 160, 12
"""How many characters two lines of a caption hold, and how many of small print may stand beside a number."""
LATEX_MEANS = {"inf": r"$\infty$", "-inf": r"$-\infty$", "-": "--"}
_BESIDE = re.compile(r"([^\s\[]+) ([\[(+].*|[a-zA-Z^])")
"""A number, and what may stand small beside it: an interval, a share, a mark."""
_MINUS = re.compile(r"(?<![\w.)}-])-(?=\.?\d)")
_SENTENCE_END = re.compile(r"(?<=[\w)%][.?])\s+(?=\w)")
_MEASURE = re.compile(r"([^\s(@]+)([(@]\S*)( ↓)?")
"""The name of a measure, and its depth and parameters."""


@dataclass(frozen=True)
class Cell:
    """A text as it is shown, and what is raised and small beside it."""

    mean: str
    best: bool = False
    raised: str = ""
    small: str = ""

    def lines(self) -> list[str]:
        """Write the cell; small print that is long stands below the mean."""
        mean = LATEX_MEANS.get(self.mean) or _words(self.mean)
        raised = rf"\textsuperscript{{{self.raised.replace('-', '--')}}}" if self.raised else ""
        line, small = (rf"\textbf{{{mean}}}" if self.best else mean) + raised, rf"{{\scriptsize {_words(self.small)}}}"
        if not self.small:
            return [line]
        return [line, small] if self._is_stacked else [f"{line} {small}".strip()]

    def width(self) -> float:
        """Estimate the width in characters."""
        mean = _characters(self.mean) * (BOLD if self.best else 1) + SMALL * _characters(self.raised)
        small = SMALL * _characters(self.small)
        return max(mean, small) if self._is_stacked else mean + small + SMALL * bool(self.small and self.mean)

    @property
    def _is_stacked(self) -> bool:
        return len(self.small) > BESIDE


@dataclass(frozen=True)
class PaperColumn:
    """A column; those with the lowest importance are left out first."""

    heading: str
    cells: Sequence[Cell]
    left: bool = True
    importance: float = float("inf")
    is_name: bool = False
    is_sentence: bool = False

    def head(self) -> list[Cell]:
        """Return the lines of the heading: a measure's depth and parameters are small and below its name."""
        if measure := _MEASURE.fullmatch(self.heading):
            return [Cell(measure[1] + (measure[3] or "")), Cell("", small=measure[2])]
        return [Cell(word) for word in self.heading.split()] or [Cell("")]

    def width(self) -> float:
        """Estimate the width in characters; that of sentences can be anything."""
        cells = () if self.is_sentence else self.cells
        return max(LEAST_SENTENCE * self.is_sentence, *(cell.width() for cell in (*self.head(), *cells)))


@dataclass(frozen=True)
class PaperTable:
    """A table as a paper shows it."""

    columns: Sequence[PaperColumn]
    caption: str = ""
    """As LaTeX, in two lines."""
    comments: Sequence[str] = ()
    """All that a reader may ask, which the caption has no room for."""
    kind: str = "page"
    """What it must fit: ``"column"``, ``"text"`` or ``"page"``."""
    across: bool = False
    """Does it go across both columns of a page?"""

    @property
    def has_small(self) -> bool:
        """Is there any small print?"""
        return any(cell.small for column in self.columns for cell in column.cells)

    def room(self) -> float:
        """Estimate how many characters are left of a line."""
        return ROOM[self.kind] + GAP - sum(column.width() + GAP for column in self.columns)

    def narrowed(self) -> PaperTable:
        """Cut names to what the room leaves, then leave out the least important columns; a page shows all."""
        table = self
        for place, column in enumerate(self.columns):
            names, over = [cell.mean for cell in column.cells], -table.room()
            longest = max(map(len, names), default=0)
            if column.is_name and over > 0 and longest > LEAST_NAME:
                cut = list(map(Cell, shorten(names, max(LEAST_NAME, int(longest - over)))))
                columns = [*table.columns[:place], replace(column, cells=cut), *table.columns[place + 1 :]]
                table = replace(table, columns=columns, comments=[*table.comments, f"In full: {', '.join(names)}"])
        for least in sorted(self.columns, key=lambda column: column.importance):
            if table.room() < 0 and least.importance < float("inf") and self.kind != "page":
                table = replace(table, columns=[column for column in table.columns if column.heading != least.heading])
        return table

    def without_small(self, *headings: str) -> list[PaperColumn]:
        """Return the columns without small print, and without those of these headings."""
        kept = [column for column in self.columns if column.heading not in headings]
        return [replace(column, cells=[replace(cell, small="") for cell in column.cells]) for column in kept]

    def with_comment(self, whole: PaperTable) -> PaperTable:
        """Say in a comment what of the whole table is left out."""
        shown = {column.heading for column in self.columns}
        lost = ["bounds for unjudged documents"] * (whole.has_small and not self.has_small)
        lost += [column.heading for column in whole.columns if column.heading not in shown]
        wider = "" if self.kind == "page" else "; --width page shows more"
        comments = [f"Left out: {', '.join(lost)}{wider}."] * bool(lost)
        return replace(self, comments=[*self.comments, *comments])

    def latex(self, label: str = "", *, caption: bool = True) -> str:
        """Write the table; without ``caption`` the tabular alone."""
        each = LEAST_SENTENCE + max(0.0, self.room()) / max(1, sum(column.is_sentence for column in self.columns))
        box = rf"\parbox[t]{{{each / 2:.1f}em}}{{\raggedright "

        def row(cells: Iterable[list[str]]) -> list[str]:
            *above, last = [" & ".join(line) for line in zip_longest(*cells, fillvalue="")]
            lines = [*(rf"{line} \\[-.5ex]" for line in above), rf"{last} \\"]
            # A line that begins so would be an argument of the end of the line above.
            return [f"{{{line[0]}}}{line[1:]}" if line.startswith(("[", "*")) else line for line in lines]

        heads, body = [], []
        for column in self.columns:
            heads.append([line for cell in column.head() for line in cell.lines()])
            cells = [cell.lines() for cell in column.cells]
            body.append([[f"{box}{line}}}" for line in lines] for lines in cells] if column.is_sentence else cells)
        align = "".join("l" if column.left else "r" for column in self.columns)
        lines = [rf"\begin{{tabular}}{{@{{}}{align}@{{}}}}", r"\toprule", *row(heads), r"\midrule"]
        lines += [line for cells in zip(*body, strict=True) for line in row(cells)]
        lines += [r"\bottomrule", r"\end{tabular}"]
        if not caption:
            return "\n".join(lines) + "\n"
        kind, letters = "table" + "*" * self.across, "footnotesize" if self.kind == "column" else "small"
        texts = (r"needs \usepackage{booktabs}", *self.comments)
        head = [f"% {coded(line)}" for text in texts for line in text.splitlines()] + [rf"\begin{{{kind}}}"]
        head += [rf"\caption{{{self.caption}}}"] * bool(self.caption)
        head += [rf"\label{{{label}}}"] * bool(label and self.caption)
        head += [r"\smallskip", r"\centering", rf"\{letters}", r"\setlength{\tabcolsep}{2.5pt}"]
        return "\n".join([*head, *lines, rf"\end{{{kind}}}"]) + "\n"


def means_table(
    measures: Mapping[str, Sequence[Cell]], runs: Sequence[str], judged: Sequence[str], *, numbered: bool = True
) -> list[PaperColumn]:
    """Return the columns of a table of means, a row for each system and a column for each measure."""
    columns = [PaperColumn("", [Cell(str(place)) for place in range(1, len(runs) + 1)], left=False)] * numbered
    columns.append(PaperColumn("System", list(map(Cell, runs)), is_name=True))
    for place, (heading, cells) in enumerate(measures.items()):
        columns.append(PaperColumn(heading, cells, importance=len(measures) - place))
    return [*columns, *[PaperColumn("judged@10", list(map(Cell, judged)), False, importance=0)] * bool(judged)]


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
        rank = len(table.header) - place + 99 * (place in table.importance)
        is_left, is_name = left or any(cell.small for cell in cells), left and not is_sentence
        columns.append(PaperColumn(heading, cells, is_left, rank if place else float("inf"), is_name, is_sentence))
    return PaperTable(columns, "; ".join(alike))


def write_latex(
    build: Callable[[], Table], words: str, width: str | None = None, *, caption: bool = True, label: str = ""
) -> str:
    """Write any table for a paper; as many sentences as two lines hold become its caption, the others comments."""
    made = fit(lambda _: table_for_paper(build()), width)
    first, *more = _SENTENCE_END.split(" ".join(words.split()))
    while more and len(f"{first} {more[0]} {made.caption}") < CAPTION:
        first = f"{first} {more.pop(0)}"
    said = "; ".join(filter(None, (first.rstrip(".:"), made.caption)))
    comments = [*filter(None, [" ".join(more)]), *made.comments]
    made = replace(made, caption=_words(said + "." * bool(said)), comments=comments)
    return made.latex(label, caption=caption)


def fit(build: Callable[[bool], PaperTable], width: str | None = None) -> PaperTable:
    """Return the table in the form that shows most and fits.

    Without a ``width``, and where the command line asked for none, it fits a column; where no form but one with names
    cut does, it goes across, as wide as the text of a one-column paper. ``build`` makes the table with small print or
    without it.
    """
    width, digits = width or look().paper, look().digits
    few = min(digits, FEW_DIGITS) if digits == Look().digits else digits
    tried: list[PaperTable] = []
    for kind in [width] if width else ("column", "text"):
        for with_small, shown in ((True, digits), (False, digits), (False, few)):
            with use_look(Look(digits=shown)):
                table = replace(build(with_small), kind=kind, across=kind == "page" or (kind == "text" and not width))
            tried.append(table)
            if table.room() >= 0:
                return table.with_comment(tried[0])
    return tried[-1].narrowed().with_comment(tried[0])


def _characters(text: str) -> float:
    return sum(CAPITAL if letter.isupper() else THIN if letter in ".,:;()[]" else 1 for letter in text)


def _words(text: str) -> str:
    return _MINUS.sub("$-$", in_latex(text)).replace("↓", r"$\downarrow$").replace("…", r"\ldots{}")
