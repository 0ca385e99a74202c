"""Say why an output of trec_eval differs from what rankbounds computes on the same files.

OUTPUT is what trec_eval printed (with -q or without). For each of its measures the numbers are compared as printed;
where they differ, the choices that can make a difference are tried one by one, and by two: missing topics (-c), the
order of ties, the precision of scores, the relevance level (-l), unjudged documents (-J), depth (-M), gains,
interpolation.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from rankbounds.commands import options as shared
from rankbounds.tables import Table, number

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")
FIELDS = ("name", "measure", "lines", "equal", "largest_difference", "example", "why")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("trec_output", metavar="OUTPUT", help="what trec_eval printed for one run")
    parser.add_argument("qrels", metavar="QRELS", help="the judgments that trec_eval was given")
    parser.add_argument("run_file", metavar="RUN", help="the run that trec_eval was given")
    parser.add_argument("--all", action="store_true", help="show measures that agree too")
    parser.add_argument("--lenient", action="store_true", help="leave out lines that cannot be read, and count them")
    shared.add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Compare and print."""
    from rankbounds.checking.explanation import explain
    from rankbounds.collection.qrels import read_qrels
    from rankbounds.collection.run import read_run

    shared.check_format(options)
    found = explain(
        read_qrels(options.qrels, lenient=options.lenient),
        read_run(options.run_file, lenient=options.lenient),
        options.trec_output,
    )
    if options.format in ("json", "jsonl", "csv", "tsv"):
        shared.write_rows(options, [asdict(one) for one in found], FIELDS)
        return 0
    known = [one for one in found if one.measure is not None]
    shown = [one for one in known if options.all or one.lines != one.equal]
    rows = [
        [
            one.name,
            str(one.measure),
            f"{one.equal} of {one.lines}",
            number(one.largest_difference),
            one.why,
            one.example,
        ]
        for one in shown
    ]
    header = ["trec_eval", "rankbounds", "equal", "largest", "why", "example"]
    text = Table(header, rows, frozenset({0, 1, 4, 5})).render(options.format) if rows else ""
    if options.format == "table":
        agreeing = sum(one.lines == one.equal for one in known)
        text += f"{agreeing} of {len(known)} measures agree on every line.\n"
        unknown = [one.name for one in found if one.measure is None]
        if unknown:
            text += f"Not in rankbounds: {', '.join(unknown)}.\n"
    shared.write_text(options, text)
    return 0
