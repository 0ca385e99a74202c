"""List the unjudged documents whose judgments would settle most, the most valuable first.

weight is what a document adds up to in the runs that hold it; residual_after is what all runs and topics together leave
open once it and all documents above it are judged. Strategy A (default) lowers the summed residual of all runs fastest;
B looks first at runs that are known less well, C at those and at good ones. --compare ONE OTHER asks which of two runs
is better: documents count by the difference of their weights in the two.

--format trec writes a pool file to be filled in; csv, jsonl and json are for rating tools.
"""

from __future__ import annotations

import argparse
import sys

from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, check_format, write_text
from rankbounds.commands.reading import (
    add_calibrate,
    add_inputs,
    add_reading,
    collection_from,
    reading_from,
    runs_from,
    trusted_from,
)
from rankbounds.commands.scoring import add_order, order
from rankbounds.judging.next_judgments import FIELDS, STRATEGIES, JudgingPlan, judge_next
from rankbounds.measures import parse_measure
from rankbounds.tables import Table, number, render_rows

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "trec", "markdown", "latex", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    parser.add_argument("--budget", type=int, default=20, metavar="N", help="how many documents (default 20)")
    parser.add_argument(
        "--for", dest="measure", default="RBP(p=0.8)", metavar="MEASURE", help="RBP, P or DCG (default RBP(p=0.8))"
    )
    parser.add_argument("--strategy", default="A", metavar="S", help=f"{', '.join(STRATEGIES)} (default A)")
    parser.add_argument("--compare", nargs=2, metavar=("ONE", "OTHER"), help="settle which of two runs is better")
    add_order(parser)
    add_reading(parser)
    add_calibrate(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Plan and print."""
    check_format(options)
    trusted = trusted_from(options, [parse_measure(options.measure)])
    if trusted is None:
        judgments, runs = collection_from(options)
    else:
        judgments, runs = trusted.qrels, reading_from(options).runs(runs_from(options))
    plan = judge_next(
        judgments,
        runs,
        probability=None if trusted is None else trusted.probabilities(),
        budget=options.budget,
        measure=options.measure,
        strategy=options.strategy.upper(),
        compare=tuple(options.compare) if options.compare else None,
        ties=order(options),
    )
    write_text(options, rendered(plan, options.format, raw=options.raw))
    if trusted is not None:
        say(trusted.words())
    print(summary(plan, options), file=sys.stderr)
    return 0


def rendered(plan: JudgingPlan, kind: str, *, raw: bool = False) -> str:
    """The plan in any format of the command."""
    if kind == "trec":
        return plan.pool().text() if len(plan) else ""
    if kind in ("json", "jsonl", "csv", "tsv"):
        return render_rows(plan.rows(), kind, FIELDS, raw=raw)
    rows = [
        [row["query_id"], row["doc_id"], number(row["weight"]), number(row["residual_after"])] for row in plan.rows()
    ]
    return Table(FIELDS, rows, frozenset({0, 1})).render(kind)


def summary(plan: JudgingPlan, options: argparse.Namespace) -> str:
    """What these judgments would do, in a sentence."""
    if not len(plan):
        return "Every document that counts is judged: no judgment would change anything."
    shares = plan.number_of_topics * (1 if options.compare else plan.number_of_runs)
    what = "the difference of the means is open by" if options.compare else "a run's mean is open by"
    before, after = plan.residual_before / shares, float(plan.residual_after[-1]) / shares
    return (
        f"{plan.number_unjudged:,} unjudged documents; {what} {before:.4f}{'' if options.compare else ' on average'}, "
        f"and by {after:.4f} after these {len(plan):,} judgments."
    )
