"""One table of a comparison for a paper; raised numbers name the systems that a system beats significantly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from rankbounds.choices import check_count
from rankbounds.comparison import testing
from rankbounds.comparison.result import Comparison
from rankbounds.evaluation.score_differences import merge_equal, merit
from rankbounds.evaluation.score_table import numbers_and_bounds, open_words
from rankbounds.notebook import Markup, html_table, note
from rankbounds.paper import Cell, PaperColumn, PaperTable
from rankbounds.results import Column, Result
from rankbounds.tables import Table, in_latex, in_markdown, percent
from rankbounds.version import __version__

SMALL_PRINT_MARKS = {"+": "+: at most this much more", "[": "[low, high]: bounds"}
"""How small print that begins so is to be read."""
FORMATS: dict[str, tuple[Callable[[str], str], str, str, str]] = {
    "table": (str, "{}*", " {}", ""),
    "markdown": (in_markdown, "**{}**", "<sup>{}</sup>", " <small>{}</small>"),
    "html": (str, "<b>{}</b>", '<sup style="line-height:0">{}</sup>', ' <small style="opacity:.75">{}</small>'),
}
"""By format how text is written, the best mean, and what is raised and small beside a mean."""


@dataclass(frozen=True)
class SummaryCell(Cell):
    """A mean as shown, with what is raised or small beside it."""

    def write(self, kind: str) -> str:
        text, best, raised, small = FORMATS[kind]
        mark = f">{self.raised}" if kind == "table" and self.raised[:1].isdigit() else self.raised
        mean = best.format(text(self.mean)) if self.best else text(self.mean)
        return f"{mean}{mark and raised.format(mark)}{self.small and small.format(text(self.small))}"


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Result):
    """A table for a paper, ready to be written.

    Attributes
    ----------
    runs : list of str
        The systems' names, the best by the first measure first, which is number 1.
    cells : list of list of SummaryCell
        The means of each system.
    judged : list of str
        For each system the share of its first ten documents that is judged; empty if unknown.
    """

    comparison: Comparison
    runs: list[str]
    cells: list[list[SummaryCell]]
    judged: list[str]

    @property
    def measures(self) -> list[str]:
        return [str(measure) + (" ↓" if measure.lower_is_better else "") for measure in self.comparison.measures]

    @property
    def caption(self) -> str:
        return " ".join(_sentences(self))

    def for_paper(self, *, cite: bool = False) -> list[PaperTable]:
        forms = []
        for shown in (self, replace(self, cells=[[replace(cell, small="") for cell in row] for row in self.cells])):
            places = [Cell(str(place)) for place in range(1, len(self.runs) + 1)]
            columns = [PaperColumn("", places, left=False)]
            columns.append(PaperColumn("System", list(map(Cell, self.runs)), is_name=True))
            for place, (heading, cells) in enumerate(zip(self.measures, zip(*shown.cells, strict=True), strict=True)):
                columns.append(PaperColumn(heading, cells, importance=len(self.measures) - place))
            judged = PaperColumn("judged@10", list(map(Cell, self.judged)), False, importance=0)
            forms.append(PaperTable(columns + [judged] * bool(self.judged), _brief(shown, cite), [shown.caption]))
        return forms

    def markdown(self) -> str:
        rule = ["---:", ":---", *[":---"] * len(self.measures), *["---:"] * bool(self.judged)]
        rows = [map(in_markdown, self._header), rule, *self._lines(lambda cell: cell.write("markdown"), in_markdown)]
        table = "".join("| " + " | ".join(row) + " |\n" for row in rows)
        return f"{table}\n{in_markdown(self.caption)}\n"

    def table(self) -> Table:
        left = frozenset(range(1, 2 + len(self.measures)))
        judged = [len(self._header) - 1] if self.judged else []
        return Table(self._header, self._lines(lambda cell: cell.write("table")), left, [1, 2, *judged])

    def html(self, at_most: int | None = None) -> str:
        left = frozenset(range(1, 2 + len(self.measures)))
        lines = self._lines(lambda cell: Markup(cell.write("html")))
        return html_table(self._header, lines, left, at_most) + note(self.caption)

    @property
    def _header(self) -> list[str]:
        return ["", "system", *self.measures, *(["judged@10"] if self.judged else [])]

    def _lines(self, write: Callable[[SummaryCell], str], name: Callable[[str], str] = str) -> list[list[str]]:
        return [
            [str(place), name(run), *map(write, cells), *self.judged[place - 1 : place]]
            for place, (run, cells) in enumerate(zip(self.runs, self.cells, strict=True), 1)
        ]

    @property
    def columns(self) -> tuple[Column, ...]:  # type: ignore[override]
        return tuple(Column(name or "number") for name in self._header)

    def rows(self) -> list[dict[str, Any]]:
        return [dict(zip(self.fields, line, strict=True)) for line in self.table().rows]

    def words(self) -> str:
        return self.caption

    def _repr_html_(self) -> str:
        return self.html()


def summary(comparison: Comparison, top: int | None = None) -> Summary:
    if top is not None:
        check_count("top, the number of systems shown,", top)
    order = [comparison.runs.index(row["run"]) for row in comparison.leaderboard(comparison.measures[0])]
    place_of = {run: place for place, run in enumerate(order[:top], 1)}
    count, columns = len(comparison.runs), []
    for at, measure in enumerate(comparison.measures):
        rows = comparison.numbers.system_rows[at * count : (at + 1) * count]
        mean, low, high = np.array([[row[name] for row in rows] for name in ("mean", "low", "high")], dtype=np.float64)
        level = merge_equal(merit(mean, measure))
        best = level == np.nanmax(level) if not np.isnan(level).all() else np.zeros(level.size, dtype=bool)
        numbers, bounds = zip(*numbers_and_bounds(mean, low, high), strict=True)
        cells = list(map(SummaryCell, numbers, best.tolist(), _beaten(comparison, at, place_of), bounds))
        columns.append([cells[run] for run in place_of])
    judged = (
        [row["judged_at_10"] for row in comparison.numbers.system_rows[:count]] if comparison.scores.has_judged else []
    )
    return Summary(
        comparison,
        [comparison.runs[run] for run in place_of],
        [list(row) for row in zip(*columns, strict=True)],
        [percent(judged[run]) for run in place_of] if judged else [],
        settings=comparison.settings,
    )


def _brief(made: Summary, cite: bool) -> str:
    comparison, settings, count = made.comparison, made.settings, len(made.comparison.runs)
    some = "" if len(made.runs) == count else f" ({len(made.runs)} of {count} systems)"
    does = "shown to be equivalent" if comparison.numbers.of_equivalence else "beaten significantly"
    tested = f"{testing.test_names(settings)[0]}, level~{settings['alpha']:g}"
    said = ["bold: best", f"superscripts: systems {does} ({tested})"]
    if any(cell.small for row in made.cells for cell in row):
        said.append("small: bounds" + " for unjudged documents" * (comparison.scores.bounds == "unjudged"))
    said += ["↓: lower is better"] if "↓" in "".join(made.measures) else []
    cited = [
        in_latex(str(measure)) + rf"~\cite{{{','.join(keys)}}}"
        for measure in comparison.measures
        if cite and (keys := measure.cited())
    ]
    sources = f" Sources: {', '.join(cited)}." if cited else ""
    words = f"Means over {settings['topics']} topics{some}; {'; '.join(said)}."
    return in_latex(words).replace("↓", r"$\downarrow$").replace(r"\textasciitilde{}", "~") + sources


def _beaten(comparison: Comparison, at: int, place_of: dict[int, int]) -> list[str]:
    beaten: list[list[int]] = [[] for _ in comparison.runs]
    pairs, equivalent = comparison.numbers.tested, comparison.numbers.of_equivalence
    shown, leads = np.flatnonzero(comparison.numbers.shown[at]), comparison.numbers.leads[at]
    for first, second, lead in zip(pairs.first[shown], pairs.second[shown], leads[shown], strict=True):
        for one, other, better in ((int(first), int(second), lead > 0), (int(second), int(first), lead < 0)):
            if other in place_of and (better or equivalent):
                beaten[one].append(place_of[other])
    return [ranges(sorted(places)) for places in beaten]


def ranges(numbers: Sequence[int]) -> str:
    # In a row, numbers minus their places are the same.
    numbered = groupby(enumerate(numbers), key=lambda placed: placed[1] - placed[0])
    rows = [[number for _, number in row] for _, row in numbered]
    return ",".join(f"{row[0]}-{row[-1]}" if len(row) > 2 else ",".join(map(str, row)) for row in rows)


def _sentences(made: Summary) -> Iterator[str]:
    comparison, settings = made.comparison, made.settings
    count = len(comparison.runs)
    which = "" if comparison.order else "the best "
    shown = f"{count} systems" if len(made.runs) == count else f"{which}{len(made.runs)} of {count} systems"
    by = f", best first by {comparison.measures[0]}" if len(made.runs) > 1 and not comparison.order else ""
    yield f"Means over {settings['topics']} topics of {shown}{by}."
    yield "Bold: the best by each measure" + ("; ↓: lower is better." if "↓" in "".join(made.measures) else ".")
    tested = testing.tested_words(settings, count) + (", each measure separately" if len(made.measures) > 1 else "")
    here = "" if len(made.runs) == count else " shown here"
    does = "it is shown to be equivalent to" if comparison.numbers.of_equivalence else "it beats significantly"
    yield f"Raised: the numbers of the systems{here} that {does} ({tested})."
    cells = [cell for row in made.cells for cell in row]
    if any(cell.small for cell in cells):
        begun = {cell.small[:1] for cell in cells}
        how = [words for mark, words in SMALL_PRINT_MARKS.items() if mark in begun]
        yield f"Small: {open_words(comparison.scores)} ({'; '.join(how)})."
    if made.judged:
        yield "judged@10: the share of the first 10 documents that is judged."
    yield f"Computed with rankbounds {__version__}."
