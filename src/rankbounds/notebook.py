"""Results in notebooks: compact tables, small bars for what is open, sentences, pages in a frame.

Styles are inline, because some front ends drop style sheets; colours are those of the surrounding text, more or less
translucent, for light and dark themes. Contents of cells cannot become markup.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankbounds.errors import escape_acting

SHOWN_ROWS = 20
"""A notebook shows this many rows of a longer table, and says how many more there are."""
LONGEST_LINE = 24
"""Longer text in a cell may take several lines."""
BAR_WIDTH, BAR_HEIGHT = 84, 11
BAND = "#56B4E9"
"""The colour of bounds, as in figures; readable on light and on dark."""
_TABLE = "border-collapse:collapse;table-layout:auto;margin:.4em 0;font-variant-numeric:tabular-nums;color:inherit"
_CELL = "padding:.12em .7em"
_RULE = "border-bottom:1px solid rgba(128,128,128,.35)"
_NOTE = "margin:.3em 0;max-width:60em;opacity:.85"


def escape_html(text: str) -> str:
    """Text that cannot become markup, nor hold what a page cannot."""
    from html import escape  # late: it brings along the names of all characters

    return escape(escape_acting(text))


class Markup(str):
    """Text that is HTML already."""


@dataclass(frozen=True)
class Bar:
    """A value on a scale from ``least`` to ``most``: bounds as a band, interval as a line; NaN: unknown."""

    value: float
    low: float = math.nan
    high: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    least: float = 0.0
    most: float = 1.0

    def svg(self) -> str:
        """The drawing, with its numbers for those who point at it."""
        span = self.most - self.least
        if not (span > 0 and math.isfinite(span)):
            return ""

        def across(number: float) -> float:
            return round(1 + (BAR_WIDTH - 2) * min(max((number - self.least) / span, 0.0), 1.0), 1)

        def block(start: float, end: float, height: float, opacity: float, colour: str = "currentColor") -> str:
            return (
                f'<rect x="{start:.1f}" y="{(BAR_HEIGHT - height) / 2:g}" width="{max(end - start, 1.0):.1f}" '
                f'height="{height:g}" fill="{colour}" opacity="{opacity:g}"/>'
            )

        parts = [block(0, BAR_WIDTH, 2, 0.12)]
        told = [f"{self.value:.4f}"]
        if self.least < 0 < self.most:
            parts.append(block(across(0) - 0.5, across(0) + 0.5, BAR_HEIGHT, 0.35))
        if self.low == self.low and self.high == self.high:
            parts.append(block(across(self.low), across(self.high), BAR_HEIGHT - 2, 0.55, BAND))
            told.append(f"bounds [{self.low:.4f}, {self.high:.4f}]")
        if self.ci_low == self.ci_low and self.ci_high == self.ci_high:
            parts.append(block(across(self.ci_low), across(self.ci_high), 1.5, 0.7))
            told.append(f"interval [{self.ci_low:.4f}, {self.ci_high:.4f}]")
        parts.append(block(across(self.value) - 1, across(self.value) + 1, BAR_HEIGHT, 1))
        title = escape_html(", ".join(told))
        return (
            f'<svg width="{BAR_WIDTH}" height="{BAR_HEIGHT}" viewBox="0 0 {BAR_WIDTH} {BAR_HEIGHT}" role="img" '
            f'style="vertical-align:middle;max-width:none"><title>{title}</title>{"".join(parts)}</svg>'
        )


def html_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: frozenset[int] = frozenset({0}),
    bars: Mapping[int, Sequence[Bar | None]] | None = None,
    at_most: int | None = None,
    strong: frozenset[tuple[int, int]] = frozenset(),
) -> str:
    """Build a table element. ``bars`` are drawn on the right of their columns' cells; ``strong`` cells are bold."""
    drawn = {column: column_bars for column, column_bars in (bars or {}).items() if any(column_bars)}

    def line(cells: Sequence[str], tag: str, style: str, place: int | None = None) -> str:
        inner = []
        for column, cell in enumerate(cells):
            has_bar = column in drawn and place is not None
            text = cell if isinstance(cell, Markup) else _cell(cell, (place, column) in strong, has_bar)
            is_long = len(cell) > LONGEST_LINE and not isinstance(cell, Markup)
            wrap = "white-space:normal;min-width:14em;" if is_long else "white-space:nowrap;"
            styled = f'style="{_CELL};{wrap}{style}text-align:{"left" if column in left else "right"}"'
            spanning = ' colspan="2"' if column in drawn and place is None else ""
            inner.append(f"<{tag}{spanning} {styled}>{text}</{tag}>")
            if place is not None and column in drawn:  # in a cell of its own: bars of a column begin at one place
                bar = drawn[column][place]
                inner.append(f'<{tag} style="min-width:{BAR_WIDTH}px">{bar.svg() if bar else ""}</{tag}>')
        return f'<tr style="background:transparent">{"".join(inner)}</tr>'

    shown = rows if at_most is None else rows[:at_most]
    body = [line(cells, "td", "", place) for place, cells in enumerate(shown)]
    if len(shown) < len(rows):
        words = f"and {len(rows) - len(shown):,} more"
        width, style = len(header) + len(drawn), f"{_CELL};text-align:left;opacity:.75"
        body.append(f'<tr style="background:transparent"><td colspan="{width}" style="{style}">{words}</td></tr>')
    inside = "\n".join(body)
    head = line(header, "th", f"{_RULE};")
    table = f'<table style="{_TABLE}">\n<thead>{head}</thead>\n<tbody>\n{inside}\n</tbody>\n</table>'
    return f'<div style="overflow-x:auto">{table}</div>\n'


def _cell(cell: str, is_strong: bool, has_bar: bool) -> str:
    """Return the text of a cell; what follows a number is small if a bar shows it."""
    value, _, rest = escape_html(cell).partition(" ") if has_bar else (escape_html(cell), "", "")
    value = f"<b>{value}</b>" if is_strong else value
    return f'{value} <small style="opacity:.75">{rest}</small>' if rest else value


def note(text: str) -> str:
    """Return a paragraph per part of the text, with its lines."""
    parts = [part for part in text.strip().split("\n\n") if part.strip()]
    return "".join(f'<p style="{_NOTE}">{escape_html(part).replace(chr(10), "<br>")}</p>\n' for part in parts)


def folded(heading: str, *parts: Any, is_open: bool = False) -> Markup:
    """Something that opens, or closes, when its heading is pressed."""
    start = f'<details style="margin:.3em 0"{" open" if is_open else ""}><summary>{escape_html(heading)}</summary>'
    return Markup(f"{start}\n{_content(parts)}</details>\n")


def shown(*parts: Any) -> str:
    """Return tables, long ones shortened, and sentences as one piece of HTML."""
    return f'<div style="color:inherit">\n{_content(parts)}</div>\n'


def _content(parts: Sequence[Any]) -> str:
    return "".join(
        part if isinstance(part, Markup) else note(part) if isinstance(part, str) else part.html(SHOWN_ROWS)
        for part in parts
        if part is not None
    )


def frame_page(page: str, height: int = 600) -> str:
    """Show a whole page in its own frame: its scripts and styles do not touch the notebook."""
    return (
        f'<iframe srcdoc="{escape_html(page)}" style="width:100%;height:{height}px;border:1px solid '
        f'rgba(128,128,128,.35);background:white" sandbox="allow-scripts allow-downloads"></iframe>'
    )
