"""Results as text: tables to read or to paste into a paper, and rows for other programs."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, coded
from rankbounds.notebook import escape_html, html_table, shown
from rankbounds.terminal import (
    LEAST_NAME,
    LEAST_SENTENCE,
    bold,
    cells,
    faint,
    least_width,
    look,
    shorten,
    wrap,
)

ROW_FORMATS = ("json", "jsonl", "csv", "tsv", "parquet")
"""Formats of rows with full precision, one row for each number."""
TABLE_FORMATS = ("table", "markdown", "latex", "html")
"""Formats of a table for people, numbers rounded."""
ROUNDING = 1e-12
"""Numbers that people read are 0 where they are smaller than this."""
GAP = "  "
WORDS_OF_SENTENCE, SCANT_SENTENCE = 3, 16
"""How many words make a sentence, and how few cells a column of them can do with. Where there is room they get a third
of the line, or half of it where they matter most."""
TYPED = ("--", "-m ")

_LATEX_SPECIAL = str.maketrans(
    {character: rf"\{character}" for character in "{}_&%$#"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
)
_MARKDOWN_SPECIAL = re.compile(r"[\\|*`~$]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|(?<=\])\(")
"""Beside what HTML would read: whatever begins emphasis, code, mathematics, a link or a cell."""
_PLAIN = frozenset((str, int, bool, type(None)))
_ACTING_IN_JSON = re.compile(r"[\x7f-\x9f\u2028\u2029]")
"""JSON allows these as they are; it has codes of its own for what comes before the blank."""
_FORMULA_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Table:
    """Cells that are ready to print. ``left`` columns hold words, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: frozenset[int] = frozenset({0})
    importance: Sequence[int] = ()
    """Columns in the order in which a narrow terminal makes room for them; those not named follow from the left."""
    strong: frozenset[tuple[int, int]] = frozenset()
    belongs: Mapping[int, int] = field(default_factory=dict)
    """Columns such as intervals, and the number that each is about: a narrow terminal shows both or neither."""

    def render(self, kind: str, caption: str = "") -> str:
        """The table as ``table`` (plain text), ``markdown``, ``html``, or ``latex``, which alone has a caption."""
        if kind == "latex":
            return self.latex(caption)
        return {"table": self.text, "markdown": self.markdown, "html": self.html}[kind]()

    def text(self) -> str:
        """Columns lined up for a terminal, within its width where that is known."""
        layout = _Layout(self)
        widths = layout.widths(look().width)

        def line(parts: Sequence[str], emphasised: Collection[int] = ()) -> str:
            placed = []
            for part, (column, width) in zip(parts, widths.items(), strict=True):
                blanks = " " * (width - cells(part))
                text = part + blanks if column in self.left else blanks + part
                placed.append(bold(text) if column in emphasised else text)
            return GAP.join(placed).rstrip()

        headings = [layout.heading(column, width) for column, width in widths.items()]
        depth = max(map(len, headings))
        above = zip(*([""] * (depth - len(heading)) + heading for heading in headings), strict=True)
        lines = [bold(line(parts)) for parts in above]
        shown_columns = [layout.cut_to(column, width) for column, width in widths.items()]
        for place, row in enumerate(zip(*shown_columns, strict=True)):
            cell_lines = [
                [cell] if cells(cell) <= width else wrap(cell, width)
                for cell, width in zip(row, widths.values(), strict=True)
            ]
            emphasised = {column for column in widths if (place, column) in self.strong}
            lines += [line(parts, emphasised) for parts in itertools.zip_longest(*cell_lines, fillvalue="")]
        if left_out := layout.left_out(widths):
            lines += map(faint, wrap(f"({'; '.join(left_out)}; --wide shows everything)", look().width or 1))
        return "\n".join(lines) + "\n"

    def markdown(self) -> str:
        """A pipe table."""
        rule = [":---" if column in self.left else "---:" for column in range(len(self.header))]
        rows = self._cells(in_markdown, "**{}**".format)
        return "".join("| " + " | ".join(row) + " |\n" for row in (map(in_markdown, self.header), rule, *rows))

    def latex(self, caption: str = "") -> str:
        """A table for papers that fits one column of two, or both, with the package booktabs."""
        from rankbounds.paper import write_latex

        return write_latex(self, caption)

    def _cells(self, written: Callable[[str], str], bold: Callable[[str], str]) -> list[list[str]]:
        def cell(text: str, is_strong: bool) -> str:
            value, space, rest = text.partition(" ") if is_strong else (text, "", "")
            return (bold(written(value)) if is_strong else written(value)) + space + written(rest)

        return [
            [cell(text, (place, column) in self.strong) for column, text in enumerate(row)]
            for place, row in enumerate(self.rows)
        ]

    def html(self, at_most: int | None = None) -> str:
        """Return a table element without markup in cells, and at most ``at_most`` rows."""
        return html_table(self.header, self.rows, self.left, at_most, self.strong)

    def _repr_html_(self) -> str:
        return shown(self)


class _Layout:
    """The columns of a table that a terminal shows, and their widths.

    Numbers are never cut or split. If a table is too wide, headings take several lines, names lose their middle,
    sentences are wrapped in their column, and columns without room are left out and named below.
    """

    def __init__(self, table: Table) -> None:
        self.left, self.importance, self.belongs = table.left, table.importance, table.belongs
        self.header = [coded(heading) for heading in table.header]
        self.columns = range(len(self.header))
        self.cells = [[coded(row[column]) for row in table.rows] for column in self.columns]
        self.body = [max(map(cells, column), default=0) for column in self.cells]
        self.natural = [max(body, cells(heading)) for body, heading in zip(self.body, self.header, strict=True)]
        self.sentences = {
            column
            for column in self.left
            if any(cell.count(" ") >= WORDS_OF_SENTENCE - 1 or cell.startswith(TYPED) for cell in self.cells[column])
        }
        """Columns that are wrapped: sentences, and options, which nobody could type if they were cut."""
        self.names = {
            column
            for column in self.left - self.sentences
            if column == 0 or any(any(map(str.isalpha, cell)) for cell in self.cells[column])
        }
        """Columns that are cut: the first one, and others in which something is no number."""
        words = dict.fromkeys(word for heading in self.header for word in heading.split())
        long = [word for word in words if cells(word) > LEAST_NAME]
        cut = dict(zip(long, shorten(long, least_width(long)), strict=True))
        self.brief = [[cut.get(word, word) for word in heading.split()] for heading in self.header]
        """The words of headings, long ones (such as names of runs) as they are cut where there is no room for them."""

    def widths(self, width: int | None) -> dict[int, int]:
        if width is None or sum(self.natural) + len(GAP) * (len(self.header) - 1) <= width:
            return dict(enumerate(self.natural))
        widths = self._chosen(width)
        spare = max(0, width + len(GAP) - _total_width(widths))
        for column in sorted(widths, key=lambda column: column not in self.left):  # words first, then whole headings
            more = self.natural[column] - widths[column]
            more = min(more, spare) if column in self.left else more if more <= spare else 0
            widths[column] += more
            spare -= more
        return widths

    def _chosen(self, width: int) -> dict[int, int]:
        least = [self._least(column, width) for column in self.columns]
        first_number = next((column for column in self.columns if column not in self.left), 0)
        if first_number:
            least[0] = max(min(least[0], width - len(GAP) - least[first_number]), min(least[0], LEAST_NAME))
        chosen: dict[int, int] = {}
        for column in dict.fromkeys([0, first_number, *self.importance, *self.columns]):
            together = {column} if column in (0, first_number) else self._together(column) - chosen.keys()
            more = {each: least[each] for each in sorted(together)}
            if column in (0, first_number) or _total_width(chosen | more) <= width + len(GAP):
                chosen |= more
        for column in sorted(self.sentences - chosen.keys()):  # which may do with less than they should have
            scant = max(SCANT_SENTENCE, self._longest_word(column))
            if _total_width(chosen) + scant <= width:
                chosen[column] = scant
        return dict(sorted(chosen.items()))

    def _together(self, column: int) -> set[int]:
        owner = self.belongs.get(column, column)
        return {owner, *(each for each, about in self.belongs.items() if about == owner)}

    def _least(self, column: int, width: int) -> int:
        body = self.body[column]
        if column in self.sentences:
            matters_most = [column] == list(self.importance[:1])
            body = min(body, max(LEAST_SENTENCE, width // (2 if matters_most else 3)))
        elif column in self.names:
            body = min(body, least_width(self.cells[column]))
        return max(body, self._longest_word(column))

    def cut_to(self, column: int, width: int) -> Sequence[str]:
        fits = self.body[column] <= width or column not in self.names
        return self.cells[column] if fits else shorten(self.cells[column], width)

    def heading(self, column: int, width: int) -> list[str]:
        heading = self.header[column]
        return [heading] if cells(heading) <= width else wrap(" ".join(self.brief[column]), width)

    def _longest_word(self, column: int) -> int:
        return max(map(cells, self.brief[column]), default=0)

    def left_out(self, widths: Mapping[int, int]) -> list[str]:
        hidden = [
            heading
            for column, heading in enumerate(self.header)
            if column not in widths and self.belongs.get(column, column) in widths.keys() | {column}
        ]
        is_cut = any(
            (column in self.names and width < self.body[column])
            or any(cells(word) > width for word in self.header[column].split())
            for column, width in widths.items()
        )
        return [f"not shown: {', '.join(dict.fromkeys(hidden))}"] * bool(hidden) + ["names are cut"] * is_cut


def _total_width(widths: Mapping[int, int]) -> int:
    return sum(widths.values()) + len(GAP) * len(widths)


def in_markdown(cell: str) -> str:
    """The text such that Markdown shows it as it stands."""
    from html import escape

    return _MARKDOWN_SPECIAL.sub(r"\\\g<0>", escape(coded(cell), quote=False))


def in_latex(cell: str) -> str:
    """Escape the text for LaTeX; hyphens stay hyphens."""
    return coded(cell).translate(_LATEX_SPECIAL).replace("--", "-{}-").replace("--", "-{}-")


def in_prose(text: str, kind: str) -> str:
    """Return a paragraph in a format for people: in LaTeX a comment."""
    if kind == "latex":
        return "".join(f"% {coded(line)}\n" for line in text.splitlines())
    return f"<p>{escape_html(text)}</p>\n" if kind == "html" else f"{text}\n"


def number(value: float | None, digits: int | None = None) -> str:
    """Format a number for people, with the digits used everywhere by default; a dash for None."""
    if value is None or math.isnan(value):
        return "-"
    return f"{_rounded_off(value):.{look().digits if digits is None else digits}f}"


def percent(share: float | None) -> str:
    """Write a share in whole percent, free of what adding up left of rounding; a dash for None."""
    return "-" if share is None or math.isnan(share) else f"{round(share, 12):.0%}"


def p_number(value: float | None) -> str:
    """Format a p-value for people with four digits, never 0; a dash for None."""
    if value is None or math.isnan(value):
        return "-"
    return "<0.0001" if value < 0.00005 else f"{value:.4f}"


def p_words(value: float | None) -> str:
    """Format a p-value in a sentence: "p = 0.0123", "p < 0.0001"; empty for None."""
    text = p_number(value)
    return "" if text == "-" else f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def signed(value: float | None) -> str:
    """A difference for people, with its sign; a dash where there is none."""
    return "-" if value is None or math.isnan(value) else f"{_rounded_off(value):+.{look().digits}f}"


def _rounded_off(value: float) -> float:
    return 0.0 if abs(value) < ROUNDING else value


def plain(value: Any) -> Any:
    """Return the value in plain Python: None for NaN, which means unknown, and no NumPy numbers."""
    if type(value) is str:
        return value
    if type(value) is not float and hasattr(value, "item"):
        value = value.item()
    return None if value != value else value


def without_apostrophe(text: str) -> str:
    """The text that ``render_rows`` marked for spreadsheets as it was before."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA_BEGINNINGS) else text


def plain_rows(fields: Sequence[str], *columns: Sequence[Any] | Floats) -> list[dict[str, Any]]:
    """Return a dict per row of columns, None for unknown."""
    cleaned = [
        [None if unknown else value for value, unknown in zip(column.tolist(), np.isnan(column).tolist(), strict=True)]
        if isinstance(column, np.ndarray)
        else column
        for column in columns
    ]
    return [dict(zip(fields, row, strict=True)) for row in zip(*cleaned, strict=True)]


def as_json(content: Any) -> Any:
    """Return the content for JSON: null for unknown, "Infinity" or "-Infinity" for infinite."""
    if type(content) in _PLAIN or (type(content) is float and math.isfinite(content)):
        return content
    if isinstance(content, Mapping):
        return {key: as_json(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [as_json(value) for value in content]
    content = plain(content)
    if isinstance(content, float) and math.isinf(content):
        return "Infinity" if content > 0 else "-Infinity"
    return content


def json_of(content: Any, indent: int | None = None) -> str:
    """Return the content as JSON that every program reads, without control characters."""
    content = as_json(content)
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent)
    return _ACTING_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def render_rows(rows: Iterable[Mapping[str, Any]], kind: str, fields: Sequence[str], *, raw: bool = False) -> str:
    """Format rows as ``json``, ``jsonl``, ``csv`` or ``tsv``; missing fields are empty, in JSON left out.

    Unknown values are null or empty; infinite ones are ``"Infinity"`` in JSON, ``inf`` in the others. In ``csv`` and
    ``tsv``, an apostrophe precedes text that begins with ``=``, ``+``, ``-`` or ``@``, which a spreadsheet would
    evaluate, unless ``raw`` asks for the text alone.
    """
    if kind in ("csv", "tsv"):
        given = list(rows)
        return render_columns([{field: [row.get(field) for row in given] for field in fields}], kind, fields, raw=raw)
    written = [json_of({field: row[field] for field in fields if field in row}) for row in rows]
    if kind == "jsonl":
        return "".join(row + "\n" for row in written)
    inner = ",\n".join("  " + row for row in written)
    return f"[\n{inner}\n]\n" if written else "[]\n"


def render_columns(tables: Iterable[Mapping[str, Any]], kind: str, fields: Sequence[str], *, raw: bool = False) -> str:
    """Format tables one below the other as ``csv`` or ``tsv``; columns are lists or arrays."""
    separator = "\t" if kind == "tsv" else ","
    special = re.compile(f'[{separator}"\r\n\0]').search
    known: dict[str, str] = {}  # names of runs, topics and measures come again and again

    def cell(value: Any) -> str:
        if type(value) is not str:
            value = plain(value)
            return "" if value is None else _cell(str(value), special)
        text = known.get(value)
        if text is None:
            is_formula = not raw and value.startswith(_FORMULA_BEGINNINGS)  # or so a spreadsheet would take it
            text = known[value] = _cell(f"'{value}" if is_formula else value, special)
        return text

    def cells(column: Sequence[Any] | Floats) -> Iterable[str]:
        if not isinstance(column, np.ndarray):
            return map(cell, column)
        if np.isnan(column).all():
            return itertools.repeat("", column.size)
        return ["" if text == "nan" else text for text in map(repr, column.tolist())]

    lines = [separator.join([_cell(field, special) for field in fields])]
    for columns in tables:
        lines += map(separator.join, zip(*(cells(columns[field]) for field in fields), strict=True))
    return "\n".join([*(line or '""' for line in lines), ""])


def _cell(text: str, special: Callable[[str], Any]) -> str:
    if not special(text):
        return text
    if "\0" in text:  # which is no text to those who read it
        raise DataError(f'"{text}" holds a NUL character, and CSV and TSV cannot hold it. Write JSON.')
    return f'"{text.replace(chr(34), chr(34) * 2)}"'
