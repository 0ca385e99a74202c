"""The tables of docs/evidence.md: benchmarks that are run with ``--write`` put their rows there.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``. A row takes the place of the one with the same
first cells; a new one goes to the end, so that a benchmark may measure some of its rows again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "evidence.md"


def cells_of(line: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def write_rows(table: str, rows: Iterable[Sequence[str]], keys: int = 2, page: Path = PAGE) -> None:
    """Put rows into a table of the page; the first ``keys`` cells say which row it is."""
    before, mark, rest = page.read_text("utf-8").partition(f"<!-- table: {table} -->\n")
    inside, end, after = rest.partition("<!-- end -->")
    if not (mark and end):
        raise SystemExit(f'{page.name} has no table "{table}".')
    head, rule, *lines = inside.strip().splitlines()
    kept = {tuple(cells_of(line)[:keys]): line for line in lines}
    for row in rows:
        if len(row) != len(cells_of(head)):
            raise SystemExit(f'The table "{table}" has {len(cells_of(head))} columns, not {len(row)}: {row}')
        kept[tuple(row[:keys])] = f"| {' | '.join(row)} |"
    written = "\n".join([head, rule, *kept.values()])
    page.write_text(f"{before}{mark}\n{written}\n\n{end}{after}", "utf-8")
