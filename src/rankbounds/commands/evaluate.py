"""Score runs against judgments, with bounds for what is unjudged or tied.

The table shows the mean over topics of each measure. Behind RBP and other measures that can only rise stands what
the unjudged documents could still add (0.3280 +0.5120); behind measures that can rise and fall, how far ([low, high]).
judged@10 is the share of the first ten documents that somebody judged.
"""

from __future__ import annotations

import argparse
import sys

from rankbounds.commands import options as shared

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "parquet", "latex", "markdown", "html", "trec")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_inputs(parser)
    shared.add_measures(parser)
    parser.add_argument("-q", "--per-topic", action="store_true", help="one row for each topic too")
    shared.add_assumptions(parser)
    shared.add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Evaluate and print."""
    shared.check_format(options)
    scores = shared.evaluate_from(options)
    if scores.outer:
        named = ", ".join(map(str, scores.outer))
        print(
            f"rankbounds: the bounds of {named} hold, but with these ties they may be wider than what can happen.",
            file=sys.stderr,
        )
    if options.format == "parquet":
        scores.write_parquet(options.output, per_topic=options.per_topic)
    else:
        shared.write_text(options, scores.render(options.format, per_topic=options.per_topic))
    return 0
