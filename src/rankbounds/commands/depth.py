"""Plan an evaluation with RBP: the depth a persistence needs, or the persistence a depth supports.

--p 0.95 --digits 4 says how deep to judge so that what lies below adds less than 0.0001.
--depth 100 --digits 4 says up to which p judging to that depth is enough.
With QRELS and runs, how many more documents must be judged for each p until every residual is that small.
"""

from __future__ import annotations

from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import numbers, output, write_rows
from rankbounds.commands.reading import INPUTS_IF_ANY, READING, judgments_from, runs_from
from rankbounds.commands.scoring import TIES
from rankbounds.errors import UsageError
from rankbounds.rbp.curves import PERSISTENCES
from rankbounds.rbp.planning import expected_examined, judgments_needed, planned_depth, planned_persistence
from rankbounds.results import Column, Row
from rankbounds.tables import number

QUESTION = "Which measure, and which persistence?", 5
OPTIONS = (
    *INPUTS_IF_ANY,
    Option(
        "--p P[,P...]",
        f"persistence; several with commas (default {', '.join(map(str, PERSISTENCES))})",
        type=numbers,
        repeated=True,
    ),
    Option("--digits DIGITS", "decimal digits that the residual leaves (default 4)", 4, type=int),
    Option("--depth D", "the largest p that judging to this depth supports", type=int),
    *TIES,
    *READING,
    *output(digits=False),
)
HEADINGS = {"expected_examined": "examined on average", "judgments": "judgments needed", "most": "most for a topic",
            "too_short": "lists too short"}  # fmt: skip


def run(options: Options) -> None:
    """Plan and print."""
    if options.depth is not None and (options.p or options.qrels):
        raise UsageError("--depth asks for p: give neither --p nor files with it.")
    if options.qrels and not options.runs:
        raise UsageError("Judgments alone do not say what is missing: name runs too.")
    persistences = [p for several in options.p or [list(PERSISTENCES)] for p in several]
    if options.qrels:
        ranking = pick(options, "ties", "score_precision")
        rows = judgments_needed(judgments_from(options), runs_from(options), persistences, options.digits, **ranking)
    elif options.depth is not None:
        rows = [_row(planned_persistence(options.depth, options.digits), options.digits, options.depth)]
    else:
        rows = [_row(p, options.digits, planned_depth(p, options.digits)) for p in persistences]
    decimals = {"p": 6 if options.depth is not None else None, "expected_examined": 1, "per_topic": 1}

    def column(name: str) -> Column:
        def cell(row: Row) -> str:
            return f"{row[name]:g}" if decimals.get(name) is None else number(row[name], decimals[name])

        return Column(name, HEADINGS.get(name, ""), cell)

    write_rows(options, rows, [column(name) for name in rows[0]])


def _row(p: float, digits: int, depth: int) -> dict[str, float]:
    return {"p": p, "digits": digits, "depth": depth, "expected_examined": expected_examined(p)}
