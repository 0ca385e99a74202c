"""The noise floor: what changes when nothing changed? Reruns of systems, and labels made again by a model.

Runs named name#1, name#2 are reruns of one system (--replicates REGEX for other names; name#1=FILE names a file).
--judged-again names further judgments of the same pool by the same judge. The spread of scores is split into topics,
systems, reruns and labels; the output says how far two runs of one system lie apart (the A/A floor), how often verdicts
flip, and how many topics and reruns a reliable order of systems needs.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankbounds.commands.judges import PROSE
from rankbounds.commands.output import add_output, numbers, write_rows, write_text
from rankbounds.commands.reading import add_inputs, reading_from, runs_from
from rankbounds.commands.scoring import add_assumptions, add_measures, add_resampling, assumptions_from
from rankbounds.files.opening import expand
from rankbounds.tables import json_of

if TYPE_CHECKING:
    from rankbounds.comparison.replicates.comparison import Replicates

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")
ROWS = ("components", "floors", "flips", "pairs", "reliability", "plan")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    parser.add_argument(
        "--judged-again",
        dest="again",
        metavar="QRELS",
        nargs="+",
        default=[],
        help="the same pool judged again by the same judge: further judgments, files or patterns",
    )
    parser.add_argument(
        "--replicates",
        dest="pattern",
        metavar="REGEX",
        default="#[^#]*$",
        help="what marks a rerun in a run's name; the rest of the name (or the first group) is the system (default: # "
        "and what follows)",
    )
    add_measures(parser, ("RBP(p=0.8)",))
    parser.add_argument(
        "--reliability",
        type=numbers,
        default=[0.8, 0.9, 0.95],
        metavar="R[,R...]",
        help="count topics for these reliabilities of the order of systems (default 0.8,0.9,0.95)",
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="significance level of verdicts (default 0.05)")
    parser.add_argument("--confidence", type=float, default=0.95, help="of intervals and of the floor (default 0.95)")
    add_resampling(parser, resamples=10_000)
    add_assumptions(parser)
    add_output(parser, FORMATS)
    parser.set_defaults(bounds="none")


def run(options: argparse.Namespace) -> int:
    """Read, analyse and print."""
    from rankbounds.comparison.replicates.comparison import replicates
    from rankbounds.judging.judges.comparison import DEFAULT_MEASURES

    reading = reading_from(options)
    judgments = {path: reading.judgments(path) for path in [options.qrels, *expand(options.again)]}
    found = replicates(
        judgments,
        reading.runs(runs_from(options)),
        options.measures or DEFAULT_MEASURES,
        pattern=options.pattern,
        reliability=options.reliability,
        alpha=options.alpha,
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
        **assumptions_from(options),
    )
    if options.format in ("jsonl", "csv", "tsv"):
        write_rows(options, found.rows(), found.fields)
        return 0
    write_text(options, rendered(options, found))
    return 0


def rendered(options: argparse.Namespace, found: Replicates) -> str:
    """Everything in the format asked for."""
    if options.format == "json":
        content = {name: getattr(found, name) for name in ROWS}
        return json_of(content | {"settings": found.settings, "words": found.words()}, indent=1) + "\n"
    prose = PROSE[options.format]
    parts = [prose(paragraph) for paragraph in found.words().strip("\n").split("\n\n")]
    parts += [prose(caption) + table.render(options.format) for caption, table in found.parts()]
    return "\n".join(parts)
