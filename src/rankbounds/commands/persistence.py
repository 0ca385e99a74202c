"""Choose RBP's persistence p from evidence.

--depths FILE: how many sessions ended at each rank (CSV: rank,count; a rank such as 10+ for sessions that may have
gone on unseen). --examined FILE: how many looked at each rank. Both give the most likely p with an interval.
QRELS and runs: the p whose order of the runs agrees best (Kendall's tau) with AP, nDCG, P@10 or what -m says.
"""

from __future__ import annotations

from typing import Any

from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import OUTPUT, write_rows
from rankbounds.commands.reading import INPUTS_IF_ANY, READING, collection_from
from rankbounds.commands.scoring import TIES, measures
from rankbounds.errors import DataError, UsageError
from rankbounds.files.records import read_decoded, table_rows
from rankbounds.rbp.choosing import best_agreement, fit_persistence, persistence_agreement
from rankbounds.results import Column, Row
from rankbounds.tables import number

QUESTION = "Which measure, and which persistence?", 4
DEFAULT_MEASURES = ("AP", "nDCG", "P@10")
OPTIONS = (
    *INPUTS_IF_ANY,
    Option("--depths FILE", "sessions that ended at each rank, as CSV: rank,count", file="read"),
    Option("--examined FILE", "sessions that looked at each rank, as CSV: rank,count", file="read"),
    Option("--level LEVEL", "of the confidence interval (default 0.95)", 0.95, type=float),
    measures(DEFAULT_MEASURES),
    Option("--all", "every p of the grid, not the best alone"),
    *TIES,
    *READING,
    *OUTPUT,
)
FOUR_DIGITS = ("p", "tau", "misfit", "ci_low", "ci_high")


def run(options: Options) -> None:
    """Fit and print."""
    given = [name for name in ("depths", "examined", "qrels") if getattr(options, name)]
    if len(given) != 1:
        raise UsageError("Give one kind of evidence: --depths FILE, --examined FILE, or QRELS and runs.")
    if options.qrels:
        rows = _agreement(options)
    else:
        (kind,) = given
        rows = [fit_persistence(_read_counts(getattr(options, kind)), kind=kind, level=options.level)]
    headings = {"expected_examined": "examined on average", "tau": "Kendall's tau", "p_from": "as good from",
                "p_to": "to", "ci_low": f"{options.level:.0%} from", "ci_high": "to", "misfit": "p-value of fit",
                "level": None}  # fmt: skip
    write_rows(options, rows, [_column(name, headings.get(name, name)) for name in rows[0]])


def _agreement(options: Options) -> list[dict[str, Any]]:
    evidence, ranking = collection_from(options), pick(options, "ties", "score_precision")
    rows = persistence_agreement(*evidence, options.measures or DEFAULT_MEASURES, **ranking)
    return rows if options.all else best_agreement(rows)


def _column(name: str, heading: str | None) -> Column:
    def cell(row: Row) -> str:
        value = row[name]
        if isinstance(value, str):
            return value
        return f"{value:g}" if name == "sessions" else number(value, 4 if name in FOUR_DIGITS else 2)

    return Column(name, heading, cell)


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
