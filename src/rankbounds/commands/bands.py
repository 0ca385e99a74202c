"""Write a run with ties on purpose: its ranks in bands, or its scores rounded.

  rankbounds bands RUN --rho 1.4 -o FILE     documents in bands: ranks 1, 2, 3-4, 5-6, 7-9, ...
  rankbounds bands RUN --bits float16        scores as half-precision numbers (float32, bfloat16, or 8 for 8 bits)
  rankbounds bands RUN --digits 3            scores with three significant digits
  rankbounds bands --table --rho 1.1,1.4     the most that bands can take from a score

A band begins at rank 1, and after one that begins at b the next begins at ceil(rho * b). Score the result with
"rankbounds evaluate --ties expected" and compare: that is what the lost exactness costs.
"""

from __future__ import annotations

import argparse
from typing import cast

import numpy as np

from rankbounds.checking.bands import banded, exact_rho, rank_safe_depth, rounded, worst_difference
from rankbounds.collection.run import Run
from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, check_format, write_rows, write_text, wrote
from rankbounds.commands.reading import add_reading, run_from
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.measures import parse_measures
from rankbounds.rankings.order import ranked_rows
from rankbounds.tables import Table, number

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")
FIELDS = ("rho", "measure", "difference", "rank_safe_depth")
RHOS = "1.1,1.2,1.4,1.7,2.0"
MEASURES = ("RR", "RBP(p=0.5)", "RBP(p=0.85)")
ORDERS = ("trec", "run", "rank", "docid")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("run_file", metavar="RUN", nargs="?", help="the run; - is stdin")
    parser.add_argument("--rho", help="the factor from the start of a band to that of the next; with --table several")
    parser.add_argument("--bits", help="round scores: float32, float16, bfloat16, or a number of bits such as 8")
    parser.add_argument("--digits", type=int, help="round scores to so many significant digits")
    parser.add_argument("--decimals", type=int, help="round scores to so many digits behind the point")
    parser.add_argument(
        "--order", default="trec", metavar="RULE", help=f"how to rank before banding: {', '.join(ORDERS)}"
    )
    add_reading(parser, judgments=False)
    parser.add_argument("--table", action="store_true", help="print the worst differences for each rho instead")
    parser.add_argument(
        "-m", "--measure", dest="measures", metavar="MEASURE", action="append",
        help=f"with --table: RR, RBP, P@k or DCG@k; may be repeated (default: {', '.join(MEASURES)})",
    )  # fmt: skip
    add_output(parser, FORMATS)
    parser.set_defaults(formats=None)  # of the table alone: a run is written as the file's name ends


def run(options: argparse.Namespace) -> int:
    """Write the run, or print the table."""
    if options.table:
        return _print_table(options)
    if options.run_file is None:
        raise UsageError("Name a run, or ask for the table of worst differences with --table.")
    if options.measures or options.format is not None:
        raise UsageError("--measure and --format go with --table; a run is written as a TREC file.")
    if options.order not in ORDERS:
        hint = did_you_mean(options.order, list(ORDERS))
        raise UsageError(f'There is no order "{options.order}".{hint} Known: {", ".join(ORDERS)}.')
    given = [name for name in ("rho", "bits", "digits", "decimals") if getattr(options, name) is not None]
    if len(given) != 1:
        raise UsageError("Say what to do with the run: one of --rho, --bits, --digits, --decimals.")
    if given == ["rho"]:
        exact_rho(options.rho)
    original = run_from(options, options.run_file)
    if given == ["rho"]:
        changed = banded(original, options.rho, ties=options.order)
    else:
        changed = rounded(original, bits=options.bits, digits=options.digits, decimals=options.decimals)
    if options.output:
        changed.write(options.output)
        wrote(options.output)
    else:
        write_text(options, changed.text())
    before, after = (np.count_nonzero(ranked_rows(one)[1]) for one in (original, changed))
    say(_told(changed, int(before), int(after)))
    return 0


def _told(run: Run, before: int, after: int) -> str:
    return (
        f"{run.name}: {after:,} of {len(run):,} documents now have the score of the one before them "
        f'({before:,} had it already). Score the run with "--ties expected".'
    )


def _print_table(options: argparse.Namespace) -> int:
    if options.run_file is not None:
        raise UsageError("--table needs no run.")
    options.formats = FORMATS
    check_format(options)
    measures = parse_measures(options.measures or MEASURES)
    rhos = [part.strip() for part in (options.rho or RHOS).split(",")]
    rows = [
        {
            "rho": float(exact_rho(rho)),
            "measure": str(measure),
            "difference": worst_difference(measure, rho),
            "rank_safe_depth": rank_safe_depth(rho),
        }
        for rho in rhos
        for measure in measures
    ]
    if options.format in ("json", "jsonl", "csv", "tsv"):
        write_rows(options, rows, FIELDS)
        return 0
    found = {(row["rho"], row["measure"]): row["difference"] for row in rows}
    lines = []
    for rho in rhos:
        exact, depth = float(exact_rho(rho)), rank_safe_depth(rho)
        numbers = [number(cast(float, found[exact, str(measure)])) for measure in measures]
        lines.append([rho, *numbers, "all" if depth is None else str(depth)])
    header = ["rho", *(f"{measure} loses at most" for measure in measures), "rank-safe to depth"]
    write_text(options, Table(header, lines, frozenset()).render(options.format))
    return 0
