"""Say how many pairs of runs each measure separates, and how large a difference that takes.

The bootstrap sensitivity method of Sakai (the default), or the share of pairs that another test finds different.
"""

from __future__ import annotations

import argparse

from rankbounds.commands.output import add_output, progress_on_terminal, write_text
from rankbounds.commands.reading import add_inputs, add_score_tables
from rankbounds.commands.scoring import (
    add_assumptions,
    add_measures,
    add_resampling,
    evaluate_from,
    resampling_from,
)

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "latex", "markdown", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    add_score_tables(parser)
    add_measures(parser)
    parser.add_argument("--alpha", type=float, action="append", help="significance level; may be repeated (0.05, 0.01)")
    from rankbounds.stats.significance import default_first

    parser.add_argument("--test", default="bootstrap", help=default_first("bootstrap"))
    add_resampling(parser, resamples=1000)
    add_assumptions(parser)
    add_output(parser, FORMATS)
    parser.set_defaults(bounds="none")


def run(options: argparse.Namespace) -> int:
    """Evaluate, resample and print."""
    from rankbounds.stats.discriminative_power import discriminative_power

    resampling = resampling_from(options)
    scores = evaluate_from(options)
    found = discriminative_power(
        scores,
        options.alpha or (0.05, 0.01),
        options.test,
        resampling,
        progress=progress_on_terminal("measures resampled"),
    )
    write_text(options, found.render(options.format, raw=options.raw))
    return 0
