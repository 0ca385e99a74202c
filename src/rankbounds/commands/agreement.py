"""Say how alike different measures order the runs, or the same measures under other judgments.

Kendall's tau, tau_AP, Spearman and RBO of the means; how many pairs of runs change places, and how many of those both
sides find significantly different.
"""

from __future__ import annotations

import argparse

from rankbounds.commands.output import add_output, write_text
from rankbounds.commands.reading import add_inputs, add_score_tables, read_runs
from rankbounds.commands.scoring import add_assumptions, add_measures, evaluate_from
from rankbounds.errors import UsageError

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "latex", "markdown", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    add_score_tables(parser)
    add_measures(parser)
    parser.add_argument("--p", type=float, default=0.9, help="persistence of RBO (default 0.9)")
    parser.add_argument(
        "--against", metavar="QRELS", help="other judgments of the same topics, say of a shallower pool"
    )
    add_assumptions(parser)
    add_output(parser, FORMATS)
    parser.set_defaults(bounds="none")


def run(options: argparse.Namespace) -> int:
    """Evaluate, correlate and print."""
    from rankbounds.choices import check_share
    from rankbounds.stats.measure_agreement import agreement

    check_share("RBO's persistence p", options.p)
    if options.measures and len(set(options.measures)) < 2 and not options.against:
        raise UsageError("Agreement needs at least two measures, or other judgments (--against).")
    runs = read_runs(options) if options.against and not options.scores else None
    scores = evaluate_from(options, runs=runs)
    against = evaluate_from(options, qrels=options.against, runs=runs) if options.against else None
    write_text(options, agreement(scores, options.p, against).render(options.format, raw=options.raw))
    return 0
