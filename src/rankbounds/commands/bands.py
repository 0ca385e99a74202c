"""Write a run with ties on purpose: its ranks in bands, or its scores rounded.

  rankbounds bands RUN --rho 1.4 -o FILE     documents in bands: ranks 1, 2, 3-4, 5-6, 7-9, ...
  rankbounds bands RUN --bits float16        scores as half-precision numbers (float32, bfloat16, or 8 for 8 bits)
  rankbounds bands RUN --digits 3            scores with three significant digits
  rankbounds bands --table --rho 1.1,1.4     the most that bands can take from a score

A band begins at rank 1, and after one that begins at b the next begins at ceil(rho * b). Score the result with
"rankbounds evaluate --ties expected" and compare: that is what the lost exactness costs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankbounds.checking.bands import banded, exact_rho, rank_safe_depth, rounded, worst_difference
from rankbounds.commands.messages import say
from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import FORMATS, JUDGMENTS_FILE, chosen_format, output, write_pairs, write_rows
from rankbounds.commands.reading import READING_RUNS, run_from
from rankbounds.commands.scoring import measures
from rankbounds.errors import UsageError
from rankbounds.measures import parse_measures
from rankbounds.rankings.order import ranked_rows
from rankbounds.results import Column, build_table
from rankbounds.tables import Table

QUESTION = "How do I try things out?", 3
RHOS = "1.1,1.2,1.4,1.7,2.0"
MEASURES = ("RR", "RBP(p=0.5)", "RBP(p=0.85)")
ORDERS = ("trec", "run", "rank", "docid")
FORMAT, _, *LOOK = output(digits=False)
OPTIONS = (
    Option("[RUN]", "the run; - is stdin", dest="run_file", file="read"),
    Option("--rho RHO", "the factor from the start of a band to that of the next; with --table several"),
    Option("--bits BITS", "round scores: float32, float16, bfloat16, or a number of bits such as 8"),
    Option("--digits DIGITS", "round scores to this many significant digits", type=int),
    Option("--decimals DECIMALS", "round scores to this many decimal places", type=int),
    Option("--order RULE", f"how to rank before banding: {', '.join(ORDERS)}", "trec", words=ORDERS, closed=True),
    *READING_RUNS,
    Option("--table", "print the worst differences for each rho instead"),
    measures(MEASURES, "with --table: RR, RBP, P@k or DCG@k"),
    replace(FORMAT, dest="table_format"),
    JUDGMENTS_FILE,
    *LOOK,
)


def run(options: Options) -> int:
    """Write the run, or print the table."""
    if options.table:
        return _print_table(options)
    if options.run_file is None:
        raise UsageError("Name a run, or ask for the table of worst differences with --table.")
    if options.measures or options.table_format is not None:
        raise UsageError("--measure and --format go with --table; a run is written as a TREC file.")
    given = [name for name in ("rho", "bits", "digits", "decimals") if getattr(options, name) is not None]
    if len(given) != 1:
        raise UsageError("Say what to do with the run: one of --rho, --bits, --digits, --decimals.")
    if options.rho:
        exact_rho(options.rho)
    original = run_from(options, options.run_file)
    if options.rho:
        changed = banded(original, options.rho, ties=options.order)
    else:
        changed = rounded(original, **pick(options, "bits", "digits", "decimals"))
    write_pairs(options, changed)
    before, after = (np.count_nonzero(ranked_rows(one)[1]) for one in (original, changed))
    say(
        f"{changed.name}: {after:,} of {len(changed):,} documents now have the score of the one before them "
        f'({before:,} had it already). Score the run with "--ties expected".'
    )
    return 0


def _print_table(options: Options) -> int:
    if options.run_file is not None:
        raise UsageError("--table needs no run.")
    options.format = chosen_format(options.command, options.output, FORMATS, options.table_format)
    labels = {str(measure): measure for measure in parse_measures(options.measures or MEASURES)}
    rhos = [part.strip() for part in (options.rho or RHOS).split(",")]
    lost = {rho: {label: worst_difference(measure, rho) for label, measure in labels.items()} for rho in rhos}
    depths = {rho: rank_safe_depth(rho) for rho in rhos}
    rows = [
        {"rho": float(exact_rho(rho)), "measure": label, "difference": lost[rho][label], "rank_safe_depth": depths[rho]}
        for rho in rhos
        for label in labels
    ]

    def table() -> Table:
        shown = [{"rho": rho, "depth": "all" if depths[rho] is None else depths[rho], **lost[rho]} for rho in rhos]
        measured = [Column(label, f"{label} loses at most") for label in labels]
        return build_table(
            shown, [Column("rho", left=False), *measured, Column("depth", "rank-safe to depth", left=False)]
        )

    write_rows(options, rows, ("rho", "measure", "difference", "rank_safe_depth"), table=table)
    return 0
