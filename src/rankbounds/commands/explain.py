"""Say why an output of trec_eval differs from what rankbounds computes on the same files.

OUTPUT is what trec_eval printed (with -q or without). For each of its measures the numbers are compared as printed;
where they differ, the choices that can make a difference are tried one by one, and by two: missing topics (-c), the
order of ties, the precision of scores, the relevance level (-l), unjudged documents (-J), depth (-M), gains,
interpolation.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from rankbounds.commands.output import add_output, check_format, write_rows, write_text
from rankbounds.commands.reading import add_reading, judgments_from, run_from
from rankbounds.tables import Table, number

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")
FIELDS = ("name", "measure", "lines", "equal", "largest_difference", "example", "why")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("trec_output", metavar="OUTPUT", help="what trec_eval printed for one run")
    parser.add_argument("qrels", metavar="QRELS", help="the judgments that trec_eval was given")
    parser.add_argument("run_file", metavar="RUN", help="the run that trec_eval was given")
    parser.add_argument("--all", action="store_true", help="show measures that agree too")
    add_reading(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Compare and print."""
    from rankbounds.checking.explanation import explain

    check_format(options)
    explanations = explain(
        judgments_from(options),
        run_from(options, options.run_file),
        options.trec_output,
    )
    if options.format in ("json", "jsonl", "csv", "tsv"):
        write_rows(options, [asdict(explanation) for explanation in explanations], FIELDS)
        return 0
    known = [explanation for explanation in explanations if explanation.measure is not None]
    shown = [explanation for explanation in known if options.all or explanation.lines != explanation.equal]
    rows = [
        [
            explanation.name,
            str(explanation.measure),
            f"{explanation.equal} of {explanation.lines}",
            number(explanation.largest_difference),
            explanation.why,
            explanation.example,
        ]
        for explanation in shown
    ]
    header = ["trec_eval", "rankbounds", "equal", "largest", "why", "example"]
    text = Table(header, rows, frozenset({0, 1, 4, 5})).render(options.format) if rows else ""
    if options.format == "table":
        agreeing = sum(explanation.lines == explanation.equal for explanation in known)
        text += f"{agreeing} of {len(known)} measures agree on every line.\n"
        unknown = [explanation.name for explanation in explanations if explanation.measure is None]
        if unknown:
            text += f"Not in rankbounds: {', '.join(unknown)}.\n"
    write_text(options, text)
    return 0
