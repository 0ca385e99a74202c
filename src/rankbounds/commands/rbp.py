"""Commands about RBP: what documents add to a score, where two runs cross, depth and persistence."""

from __future__ import annotations

from typing import Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.options import Option, Options, call
from rankbounds.errors import DataError, UsageError
from rankbounds.rbp.curves import PERSISTENCES
from rankbounds.results import Column, Row, build_table
from rankbounds.tables import Table, number

CONTRIBUTED = ("AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")
ORDERED_BY = ("AP", "nDCG", "P@10")


@command(
    "contributions",
    "How good are my runs?",
    3,
    reading.QRELS,
    reading.RUN,
    Option("--topic ID", "the topic to look at", required=True),
    scoring.measures(CONTRIBUTED),
    Option("--depth D", "only the first D documents", type=int),
    Option("--all", "judged non-relevant documents too"),
    scoring.GAIN,
    *scoring.TIES,
    *reading.READING,
    *output.OUTPUT,
)
def run_contributions(options: Options) -> None:
    """Show what each document of one topic adds to a score.

    One row for each document from the top of the list: what it adds to each measure, and which share of the score that
    is. Unjudged documents show what they could add (+0.0512). Works for weighted measures (RBP, P, DCG, ...) and AP.
    """
    from rankbounds.rbp.contributions import FIELDS, list_contributions

    judgments, run = reading.judgments_from(options), reading.run_from(options, options.run_file)
    rows = call(options, list_contributions, judgments, run, options.topic, options.measures or CONTRIBUTED)
    shown = [
        row
        for row in rows
        if (options.depth is None or row["rank"] <= options.depth)
        and (options.all or row["relevance"] is None or row["relevance"] > 0)
    ]

    def table() -> Table:
        labels = list(dict.fromkeys(row["measure"] for row in rows))
        totals = {name: sum(row["contribution"] for row in rows if row["measure"] == name) for name in labels}
        documents = [
            shown[at]
            | {"grade": "?" if shown[at]["relevance"] is None else f"{shown[at]['relevance']:g}"}
            | {row["measure"]: _contribution(row) for row in shown[at : at + len(labels)]}
            for at in range(0, len(shown), len(labels))
        ]
        whole = {name: f"{total:.4f}" for name, total in totals.items()}
        columns = (Column(label, label, left=False) for label in ("grade", *labels))
        return build_table(
            [*documents, {"rank": "", "doc_id": "whole list", "grade": "", **whole}],
            [Column("rank", left=False), Column("doc_id", "document"), *columns],
        )

    output.write_rows(options, shown, FIELDS, table=table)


def _contribution(row: Row) -> str:
    if row["relevance"] is None:
        return "?" if row["could_add"] is None else f"+{row['could_add']:.4f}"
    return f"{row['contribution']:.4f} {row['share']:4.0%}"


@command(
    "crossings",
    "What changed between two versions?",
    2,
    reading.QRELS,
    Option("A", "one run", file="read"),
    Option("B", "the other run", file="read"),
    Option("-m, --measure RBP", "RBP with everything but p: RBP(graded=true), RBP(rel=2), RBP@20 (default RBP)", "RBP"),
    Option("-q, --per-topic", "each topic too"),
    Option("--regions", "in row formats: stretches of p instead of crossings"),
    scoring.GAIN,
    *scoring.TIES,
    *reading.READING,
    *output.OUTPUT,
)
def run_crossings(options: Options) -> None:
    """Find the persistences where two runs change places in RBP, and where the lead is sure.

    The table cuts p from 0 to 1 into the stretches where one run is ahead. "surely" means that no judgment of unjudged
    documents, and nothing beyond the ends of the lists, could turn it: its low is above the other's high. JSON and the
    other row formats list the places where that changes (p, from, to, change); --regions lists the stretches there too.
    """
    from rankbounds.measures import parse_measure
    from rankbounds.measures.rank_biased_precision import RBP
    from rankbounds.rbp.crossings import REGION_COLUMNS, find_crossings

    measure = parse_measure(options.measure)
    if not isinstance(measure, RBP):
        raise UsageError(f"Crossings are found for RBP, not for {measure}.")
    runs = [reading.run_from(options, options.a), reading.run_from(options, options.b)]
    found = call(options, find_crossings, reading.judgments_from(options), runs, measure=measure)
    rows, columns = (found.regions, REGION_COLUMNS) if options.regions else (found.rows(), found.columns)
    output.write_rows(options, rows, columns, table=found.table)


@command(
    "depth",
    "Which measure, and which persistence?",
    5,
    *reading.INPUTS_IF_ANY,
    Option(
        "--p P[,P...]",
        f"persistence; several with commas (default {', '.join(map(str, PERSISTENCES))})",
        type=output.numbers,
        repeated=True,
    ),
    Option("--digits DIGITS", "decimal digits that the residual leaves (default 4)", 4),
    Option("--depth D", "the largest p that judging to this depth supports", type=int),
    *scoring.TIES,
    *reading.READING,
    *output.options_for(digits=False),
)
def run_depth(options: Options) -> None:
    """Plan an evaluation with RBP: the depth a persistence needs, or the persistence a depth supports.

    --p 0.95 --digits 4 says how deep to judge so that what lies below adds less than 0.0001.
    --depth 100 --digits 4 says up to which p judging to that depth is enough.
    With QRELS and runs, how many more documents must be judged for each p until every residual is that small.
    """
    from rankbounds.rbp.planning import expected_examined, judgments_needed, plan_depth, plan_persistence

    if options.depth is not None and (options.p or options.qrels):
        raise UsageError("--depth asks for p: give neither --p nor files with it.")
    if options.qrels and not options.runs:
        raise UsageError("Judgments alone do not say what is missing: name runs too.")
    persistences = [p for several in options.p or [list(PERSISTENCES)] for p in several]
    digits = options.digits
    if options.qrels:
        rows = call(
            options, judgments_needed, reading.judgments_from(options), reading.runs_from(options), persistences
        )
    else:
        pairs = (
            [(p, plan_depth(p, digits)) for p in persistences]
            if options.depth is None
            else [(plan_persistence(options.depth, digits), options.depth)]
        )
        rows = [
            {"p": p, "digits": digits, "depth": depth, "expected_examined": expected_examined(p)} for p, depth in pairs
        ]
    columns = (
        _column("p", 6 if options.depth is not None else None),
        _column("digits"),
        _column("depth"),
        _column("expected_examined", 1, "examined on average"),
        _column("judgments", None, "judgments needed"),
        _column("per_topic", 1),
        _column("most", None, "most for a topic"),
        _column("too_short", None, "lists too short"),
    )
    _write_columns(options, rows, columns)


def _column(name: str, decimals: int | None = None, heading: str | None = "") -> Column:
    """A column of words, or of numbers with so many decimals."""

    def cell(row: Row) -> str:
        value = row[name]
        return value if isinstance(value, str) else f"{value:g}" if decimals is None else number(value, decimals)

    return Column(name, heading, cell)


def _write_columns(options: Options, rows: list[dict[str, Any]], columns: tuple[Column, ...]) -> None:
    """Write the rows with those of the columns that they have, in their order."""
    known = {column.name: column for column in columns}
    output.write_rows(options, rows, [known[name] for name in rows[0]])


@command(
    "persistence",
    "Which measure, and which persistence?",
    4,
    *reading.INPUTS_IF_ANY,
    Option("--depths FILE", "sessions that ended at each rank, as CSV: rank,count"),
    Option("--examined FILE", "sessions that looked at each rank, as CSV: rank,count"),
    scoring.confidence("the interval"),
    scoring.measures(ORDERED_BY),
    Option("--all", "every p of the grid, not the best alone"),
    *scoring.TIES,
    *reading.READING,
    *output.OUTPUT,
)
def run_persistence(options: Options) -> None:
    """Choose RBP's persistence p from evidence.

    --depths FILE: how many sessions ended at each rank (CSV: rank,count; a rank such as 10+ for sessions that may have
    gone on unseen). --examined FILE: how many looked at each rank. Both give the most likely p with an interval. QRELS
    and runs: the p whose order of the runs agrees best (Kendall's tau) with AP, nDCG, P@10 or what -m says.
    """
    from rankbounds.rbp.planning import best_agreement, fit_persistence, persistence_agreement

    given = [name for name in ("depths", "examined", "qrels") if getattr(options, name)]
    if len(given) != 1:
        raise UsageError("Give one kind of evidence: --depths FILE, --examined FILE, or QRELS and runs.")
    (kind,) = given
    if kind == "qrels":
        rows = call(options, persistence_agreement, *reading.collection_from(options), options.measures or ORDERED_BY)
        rows = rows if options.all else best_agreement(rows)
    else:
        rows = [fit_persistence(_read_counts(getattr(options, kind)), kind=kind, confidence=options.confidence)]
    columns = (
        _column("p", 4),
        _column("ci_low", 4, f"{options.confidence:.0%} from"),
        _column("ci_high", 4, "to"),
        _column("confidence", None, None),
        _column("sessions"),
        _column("expected_examined", 2, "examined on average"),
        _column("misfit", 4, "p-value of fit"),
        _column("measure"),
        _column("tau", 4, "Kendall's tau"),
        _column("p_from", 2, "as good from"),
        _column("p_to", 2, "to"),
    )
    _write_columns(options, rows, columns)


def _read_counts(file: str) -> list[tuple[str, str]]:
    """The rows of a CSV of ranks and counts; a first row that holds words is a header."""
    from rankbounds.files.records import read_decoded, table_rows

    rows = list(table_rows(*read_decoded(file), ","))
    if rows and not rows[0][1][0].rstrip("+").isdigit():
        rows = rows[1:]
    if not rows:
        raise DataError(file, "there are no counts.")
    for place, row in rows:
        if len(row) != 2:
            raise DataError(place, f'"{",".join(row)}" is not a rank and a count with a comma between.')
    return [(row[0], row[1]) for _, row in rows]
