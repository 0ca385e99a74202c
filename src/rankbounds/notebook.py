"""Results in notebooks: compact tables, sentences, pages in a frame.

Styles are inline, because some front ends drop style sheets; colours are those of the surrounding text, more or less
translucent, for light and dark themes. Contents of cells cannot become markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankbounds.errors import escape_acting

SHOWN_ROWS = 20
LONGEST_LINE = 24
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


def html_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: frozenset[int] = frozenset({0}),
    at_most: int | None = None,
    strong: frozenset[tuple[int, int]] = frozenset(),
) -> str:
    """Build a table element; ``strong`` cells are bold."""

    def line(cells: Sequence[str], tag: str, style: str = "", place: int | None = None) -> str:
        inner = []
        for column, cell in enumerate(cells):
            text = cell if isinstance(cell, Markup) else escape_html(cell)
            if (place, column) in strong:  # the number is bold, not its bounds
                value, blank, rest = text.partition(" ")
                text = f"<b>{value}</b>{blank}{rest}"
            is_long = len(cell) > LONGEST_LINE and not isinstance(cell, Markup)
            wrap = "white-space:normal;min-width:14em;" if is_long else "white-space:nowrap;"
            align = "left" if column in left else "right"
            inner.append(f'<{tag} style="{_CELL};{wrap}{style}text-align:{align}">{text}</{tag}>')
        return f'<tr style="background:transparent">{"".join(inner)}</tr>'

    body = [line(cells, "td", place=place) for place, cells in enumerate(rows[:at_most])]
    if at_most is not None and at_most < len(rows):
        words, style = f"and {len(rows) - at_most:,} more", f"{_CELL};text-align:left;opacity:.75"
        body.append(f'<tr style="background:transparent"><td colspan="{len(header)}" style="{style}">{words}</td></tr>')
    inside = "\n".join(body)
    head = line(header, "th", f"{_RULE};")
    table = f'<table style="{_TABLE}">\n<thead>{head}</thead>\n<tbody>\n{inside}\n</tbody>\n</table>'
    return f'<div style="overflow-x:auto">{table}</div>\n'


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
