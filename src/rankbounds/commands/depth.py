"""Plan an evaluation with RBP: the depth a persistence needs, or the persistence a depth supports.

--p 0.95 --digits 4 says how deep to judge so that what lies below adds less than 0.0001.
--depth 100 --digits 4 says up to which p judging to that depth is enough.
With QRELS and runs, how many more documents must be judged for each p until every residual is that small.
"""

from __future__ import annotations

import argparse

from rankbounds.commands.output import add_output, numbers, write_rows, write_text
from rankbounds.commands.reading import add_inputs, add_reading, judgments_from, runs_from
from rankbounds.commands.scoring import add_ties
from rankbounds.errors import UsageError
from rankbounds.rbp.curves import PERSISTENCES
from rankbounds.rbp.planning import expected_examined, judgments_needed, planned_depth, planned_persistence
from rankbounds.tables import Table, number

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "latex", "markdown", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser, needed=False)
    parser.add_argument(
        "--p",
        metavar="P[,P...]",
        action="append",
        type=numbers,
        help=f"persistence; several with commas (default {', '.join(map(str, PERSISTENCES))})",
    )
    parser.add_argument("--digits", type=int, default=4, help="decimal digits that the residual leaves (default 4)")
    parser.add_argument("--depth", type=int, metavar="D", help="the largest p that judging to this depth supports")
    add_ties(parser)
    add_reading(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Plan and print."""
    if options.depth is not None and (options.p or options.qrels):
        raise UsageError("--depth asks for p: give neither --p nor files with it.")
    if options.qrels and not options.runs:
        raise UsageError("Judgments alone do not say what is missing: name runs too.")
    persistences = [p for several in options.p or [list(PERSISTENCES)] for p in several]
    if options.qrels:
        rows = judgments_needed(
            judgments_from(options),
            runs_from(options),
            persistences,
            options.digits,
            ties=options.ties,
            score_precision=options.score_precision,
        )
    elif options.depth is not None:
        rows = [_row(planned_persistence(options.depth, options.digits), options.digits, options.depth)]
    else:
        rows = [_row(p, options.digits, planned_depth(p, options.digits)) for p in persistences]
    if options.format in ("json", "jsonl", "csv", "tsv"):
        write_rows(options, rows, list(rows[0]))
        return 0
    words = {"expected_examined": "examined on average", "judgments": "judgments needed", "per_topic": "per topic",
             "most": "most for a topic", "too_short": "lists too short"}  # fmt: skip
    decimals = {"p": 6 if options.depth is not None else None, "expected_examined": 1, "per_topic": 1}
    cells = [
        [number(value, places) if (places := decimals.get(name)) else f"{value:g}" for name, value in row.items()]
        for row in rows
    ]
    table = Table([words.get(name, name) for name in rows[0]], cells, frozenset())
    write_text(options, table.render(options.format))
    return 0


def _row(p: float, digits: int, depth: int) -> dict[str, float]:
    return {"p": p, "digits": digits, "depth": depth, "expected_examined": expected_examined(p)}
