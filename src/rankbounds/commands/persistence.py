"""Choose RBP's persistence p from evidence.

--depths FILE: how many sessions ended at each rank (CSV: rank,count; a rank such as 10+ for sessions that may have
gone on unseen). --examined FILE: how many looked at each rank. Both give the most likely p with an interval.
QRELS and runs: the p whose order of the runs agrees best (Kendall's tau) with AP, nDCG, P@10 or what -m says.
"""

from __future__ import annotations

import argparse
from typing import Any

from rankbounds.commands.output import add_output, write_rows, write_text
from rankbounds.commands.reading import add_inputs, add_reading, collection_from
from rankbounds.commands.scoring import add_measures, add_ties
from rankbounds.errors import DataError, UsageError
from rankbounds.files.records import read_decoded, table_rows
from rankbounds.rbp.choosing import best_agreement, fit_persistence, persistence_agreement
from rankbounds.tables import Table, number

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "latex", "markdown", "html")
DEFAULT_MEASURES = ("AP", "nDCG", "P@10")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser, needed=False)
    parser.add_argument("--depths", metavar="FILE", help="sessions that ended at each rank, as CSV: rank,count")
    parser.add_argument("--examined", metavar="FILE", help="sessions that looked at each rank, as CSV: rank,count")
    parser.add_argument("--level", type=float, default=0.95, help="of the confidence interval (default 0.95)")
    add_measures(parser, DEFAULT_MEASURES)
    parser.add_argument("--all", action="store_true", help="every p of the grid, not the best alone")
    add_ties(parser)
    add_reading(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Fit and print."""
    given = [name for name in ("depths", "examined", "qrels") if getattr(options, name)]
    if len(given) != 1:
        raise UsageError("Give one kind of evidence: --depths FILE, --examined FILE, or QRELS and runs.")
    if options.qrels:
        rows = _agreement(options)
    else:
        (kind,) = given
        rows = [fit_persistence(_read_counts(getattr(options, kind)), kind=kind, level=options.level)]
    if options.format in ("json", "jsonl", "csv", "tsv"):
        write_rows(options, rows, list(rows[0]))
        return 0
    words = {"expected_examined": "examined on average", "tau": "Kendall's tau", "p_from": "as good from",
             "p_to": "to", "ci_low": f"{options.level:.0%} from", "ci_high": "to",
             "misfit": "p-value of fit"}  # fmt: skip
    header = [name for name in rows[0] if name != "level"]
    cells = [[_cell(name, row[name]) for name in header] for row in rows]
    table = Table([words.get(name, name) for name in header], cells, frozenset({0} if options.qrels else ()))
    write_text(options, table.render(options.format))
    return 0


def _agreement(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = persistence_agreement(
        *collection_from(options),
        options.measures or DEFAULT_MEASURES,
        ties=options.ties,
        score_precision=options.score_precision,
    )
    return rows if options.all else best_agreement(rows)


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if name == "sessions":
        return f"{value:g}"
    return number(value, {"p": 4, "tau": 4, "misfit": 4, "ci_low": 4, "ci_high": 4}.get(name, 2))


def _read_counts(file: str) -> list[tuple[str, str]]:
    """The rows of a CSV of ranks and counts; a first row that holds words is a header."""
    rows = list(table_rows(*read_decoded(file), ","))
    if rows and not rows[0][1][0].rstrip("+").isdigit():
        rows = rows[1:]
    if not rows:
        raise DataError(file, "there are no counts.")
    for place, row in rows:
        if len(row) != 2:
            raise DataError(place, f'"{",".join(row)}" is not a rank and a count with a comma between.')
    return [(row[0], row[1]) for _, row in rows]
