"""Find the persistences where two runs change places in RBP, and where the lead is sure.

The table cuts p from 0 to 1 into the stretches where one run is ahead. "surely" means that no judgment of unjudged
documents, and nothing beyond the ends of the lists, could turn it: its low is above the other's high. JSON and the
other row formats list the places where that changes (p, from, to, change); --regions lists the stretches there too.
"""

from __future__ import annotations

from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import OUTPUT, write_rows
from rankbounds.commands.reading import QRELS, READING, judgments_from, run_from
from rankbounds.commands.scoring import GAIN, TIES
from rankbounds.errors import UsageError
from rankbounds.measures import parse_measure
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rbp.crossings import FIELDS, REGION_FIELDS, TIED, crossings_of, regions
from rankbounds.results import Column, Row, build_table

QUESTION = "What changed between two versions?", 2
OPTIONS = (
    QRELS,
    Option("A", "one run", file="read"),
    Option("B", "the other run", file="read"),
    Option("-m, --measure RBP", "RBP with everything but p: RBP(graded=true), RBP(rel=2), RBP@20 (default RBP)", "RBP"),
    Option("-q, --per-topic", "each topic too"),
    Option("--regions", "in row formats: stretches of p instead of crossings"),
    GAIN,
    *TIES,
    *READING,
    *OUTPUT,
)


def _certainty(row: Row) -> str:
    return "-" if row["ahead"] == TIED else "surely" if row["sure"] else "undecided"


COLUMNS = (
    Column("query_id", "topic", left=True),
    Column("p_from"),
    Column("p_to", "to"),
    Column("ahead", left=True),
    Column("sure", "given what is unjudged", _certainty, left=True),
)


def run(options: Options) -> None:
    """Cut and print."""
    measure = parse_measure(options.measure)
    if not isinstance(measure, RBP):
        raise UsageError(f"Crossings are found for RBP, not for {measure}.")
    stretches = regions(
        judgments_from(options),
        [run_from(options, options.a), run_from(options, options.b)],
        measure=measure,
        **pick(options, "per_topic", "ties", "gain", "score_precision"),
    )
    parts = [region.row() for region in stretches]
    rows, fields = (parts, REGION_FIELDS) if options.regions else (crossings_of(stretches), FIELDS)
    write_rows(options, rows, fields, table=lambda: build_table(parts, COLUMNS))
