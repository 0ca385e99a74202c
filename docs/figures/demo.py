"""Make demo.svg: what ``rankbounds demo`` prints, as a terminal shows it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from html import escape
from pathlib import Path

SIZE, LINE, MARGIN = 12, 17, 14
COLUMNS = 128
"""How wide the picture is, in characters; longer sentences are wrapped."""


def lines_of_demo() -> list[str]:
    """What the command prints, with long sentences wrapped."""
    run = [sys.executable, "-m", "rankbounds", "demo"]
    lines = subprocess.run(run, capture_output=True, text=True, check=True).stdout.rstrip("\n").splitlines()
    table_ends = next(place for place, line in enumerate(lines) if line.startswith("How to read"))
    wrapped = (textwrap.wrap(line, COLUMNS, subsequent_indent="  ") or [""] for line in lines[table_ends:])
    prose = [part for parts in wrapped for part in parts]
    return lines[:table_ends] + prose


def picture(lines: list[str]) -> str:
    """The lines as an SVG image of a dark terminal."""
    width = 2 * MARGIN + round(SIZE * 0.602 * max(map(len, lines)))
    texts = [
        f'<text x="{MARGIN}" y="{2 * MARGIN + LINE * number}" xml:space="preserve">{escape(line)}</text>'
        for number, line in enumerate(lines)
    ]
    fonts = "DejaVu Sans Mono, Menlo, Consolas, monospace"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{3 * MARGIN + LINE * len(lines)}" '
            'role="img" aria-label="What rankbounds demo prints">',
            '<rect width="100%" height="100%" rx="8" fill="#14181f"/>',
            f'<g font-family="{fonts}" font-size="{SIZE}" fill="#e6e9ef">',
            *texts,
            "</g>",
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture(lines_of_demo()))
