"""Find the persistences where two runs change places in RBP, and where the lead is sure.

The table cuts p from 0 to 1 into the stretches where one run is ahead. "surely" means that no judgment of unjudged
documents, and nothing beyond the ends of the lists, could turn it: its low is above the other's high. JSON and the
other row formats list the places where that changes (p, from, to, change); --regions lists the stretches there too.
"""

from __future__ import annotations

import argparse

from rankbounds.commands.output import add_output, write_rows, write_text
from rankbounds.commands.reading import add_reading, judgments_from, run_from
from rankbounds.commands.scoring import add_gain, add_ties
from rankbounds.errors import UsageError
from rankbounds.measures import parse_measure
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rbp.crossings import FIELDS, REGION_FIELDS, TIED, crossings_of, regions
from rankbounds.tables import Table, number

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "latex", "markdown", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("qrels", metavar="QRELS", help="judgments")
    parser.add_argument("a", metavar="A", help="one run")
    parser.add_argument("b", metavar="B", help="the other run")
    parser.add_argument(
        "-m",
        "--measure",
        default="RBP",
        metavar="RBP",
        help="RBP with everything but p: RBP(graded=true), RBP(rel=2), RBP@20 (default RBP)",
    )
    parser.add_argument("-q", "--per-topic", action="store_true", help="each topic too")
    parser.add_argument("--regions", action="store_true", help="in row formats: stretches of p instead of crossings")
    add_gain(parser)
    add_ties(parser)
    add_reading(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Cut and print."""
    measure = parse_measure(options.measure)
    if not isinstance(measure, RBP):
        raise UsageError(f"Crossings are found for RBP, not for {measure}.")
    stretches = regions(
        judgments_from(options),
        [run_from(options, options.a), run_from(options, options.b)],
        measure=measure,
        per_topic=options.per_topic,
        ties=options.ties,
        gain=options.gain,
        score_precision=options.score_precision,
    )
    if options.format in ("json", "jsonl", "csv", "tsv"):
        rows = [region.row() for region in stretches] if options.regions else crossings_of(stretches)
        write_rows(options, rows, REGION_FIELDS if options.regions else FIELDS)
        return 0
    cells = [
        [
            region.query_id,
            number(region.p_from),
            number(region.p_to),
            region.ahead,
            "-" if region.ahead == TIED else "surely" if region.sure else "undecided",
        ]
        for region in stretches
    ]
    table = Table(["topic", "p from", "to", "ahead", "given what is unjudged"], cells, frozenset({0, 3, 4}))
    write_text(options, table.render(options.format))
    return 0
