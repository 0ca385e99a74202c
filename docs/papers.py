"""Writes the tables of ``docs/papers.md`` from the rows that the package has (``studies/papers.json``).

python docs/papers.py
"""

from __future__ import annotations

import re
from pathlib import Path

from rankbounds.studies.papers import PAPERS, Paper

PAGE = Path(__file__).with_name("papers.md")
HEAD = "| item | command, and in Python | what comes out |\n|---|---|---|\n"


def table_of(paper: Paper) -> str:
    """A row for each item; "Section" is left out."""
    rows = []
    for row in paper.rows:
        code = "<br>".join(f"`{line}`" for line in (row.command, row.python) if line)
        rows.append(f"| {re.sub('Sections? ', '', row.item)} | {code} | {row.shows} |\n")
    return HEAD + "".join(rows)


def page(text: str) -> str:
    """The page with each paper's table below its heading."""
    for paper in PAPERS.values():
        before, heading, after = text.partition(next(line for line in text.splitlines() if paper.title in line))
        opening, table, rest = re.split(r"((?:^\|.*\n)+)", after, maxsplit=1, flags=re.MULTILINE)
        assert table
        text = before + heading + opening + table_of(paper) + rest
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
