"""Commands about RBP: what documents add to a score, where two runs cross, depth, persistence, published scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.options import Option, Options, call, everyday, options_given
from rankbounds.errors import DataError, UsageError
from rankbounds.rbp.curves import PERSISTENCES
from rankbounds.results import Column, Row, build_table, interval
from rankbounds.tables import Table, number

if TYPE_CHECKING:
    from rankbounds.rbp.other_persistence import PublishedComparison, Transferred
    from rankbounds.rbp.published_score import Published

CONTRIBUTED = ("AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")
ORDERED_BY = ("AP", "nDCG", "P@10")


@command(
    "rbp contributions",
    reading.QRELS,
    reading.RUN,
    *everyday(
        Option("--topic ID", "the topic to look at (required)", required=True),
        scoring.measures(CONTRIBUTED),
        Option("--depth D", "only the first D documents", type=int),
    ),
    scoring.GAIN,
    *scoring.TIES,
    *reading.READING,
    *output.OUTPUT,
)
def run_contributions(options: Options) -> None:
    """Show how much each document of one topic adds to a score.

      rankbounds rbp contributions qrels.txt runs/dense.txt --topic 1
      rankbounds rbp contributions qrels.txt runs/bm25.txt --topic 1 -m AP,P@10

    One row per document from the top of the list: what it adds to each measure, and its share of the score. Unjudged
    documents show what they could add (+0.0512). For weighted measures (RBP, P, DCG, ...) and AP.
    """
    from rankbounds.rbp.contributions import FIELDS, list_contributions

    judgments, run = reading.judgments_from(options), reading.run_from(options, options.run_file)
    rows = call(options, list_contributions, judgments, run, options.topic, options.measures or CONTRIBUTED)
    read = (row for row in rows if options.depth is None or row["rank"] <= options.depth)
    shown = [row for row in read if row["relevance"] is None or row["relevance"] > 0]

    def table() -> Table:
        labels = list(dict.fromkeys(row["measure"] for row in rows))
        totals = {name: sum(row["contribution"] for row in rows if row["measure"] == name) for name in labels}
        documents = [
            shown[at]
            | {"grade": "?" if shown[at]["relevance"] is None else f"{shown[at]['relevance']:g}"}
            | {row["measure"]: _contribution(row) for row in shown[at : at + len(labels)]}
            for at in range(0, len(shown), len(labels))
        ]
        totals_shown = {name: f"{total:.4f}" for name, total in totals.items()}
        columns = (Column(label, label, left=False) for label in ("grade", *labels))
        return build_table(
            [*documents, {"rank": "", "doc_id": "whole list", "grade": "", **totals_shown}],
            [Column("rank", left=False), Column("doc_id", "document"), *columns],
        )

    output.write_rows(options, shown, FIELDS, table=table)


def _contribution(row: Row) -> str:
    if row["relevance"] is None:
        return "?" if row["could_add"] is None else f"+{row['could_add']:.4f}"
    return f"{row['contribution']:.4f} {row['share']:4.0%}"


@command(
    "rbp crossings",
    reading.QRELS,
    Option("A", "one run", file="read"),
    Option("B", "the other run", file="read"),
    *everyday(
        Option("-m, --measure RBP", "a variant of RBP: RBP(graded=true), RBP(rel=2), RBP@20 (default RBP)", "RBP"),
        scoring.PER_TOPIC,
    ),
    scoring.GAIN,
    *scoring.TIES,
    *reading.READING,
    *output.OUTPUT,
)
def run_crossings(options: Options) -> None:
    """Find the persistences p at which the lead in RBP changes between two runs, and where it is certain.

      rankbounds rbp crossings qrels.txt runs/bm25-expanded.txt runs/dense.txt
      rankbounds rbp crossings qrels.txt runs/bm25.txt runs/dense.txt -q

    The table divides p from 0 to 1 into the ranges where one run is ahead. "certain" means that neither judgments of
    unjudged documents nor what lies beyond the ends of the lists could change it. Changes are found between points of
    p that are 0.001 apart, and refined to about 15 digits; two within one step may be missed. JSON and the other row
    formats list the values of p where that changes (p, from, to, change).
    """
    from rankbounds.measures import parse_measure
    from rankbounds.measures.rank_biased_precision import RBP
    from rankbounds.rbp.crossings import STEP, find_crossings

    measure = parse_measure(options.measure)
    if not isinstance(measure, RBP):
        raise UsageError(f"Crossings are found for RBP, not for {measure}.")
    runs = [reading.run_from(options, options.a), reading.run_from(options, options.b)]
    crossings = call(options, find_crossings, reading.judgments_from(options), runs, measure=measure)
    below = f"\nFound between points of p that are {STEP:g} apart; two changes within one step may be missed.\n"
    output.write_rows(options, crossings.rows(), crossings.columns, table=crossings.table, below=lambda: below)


@command(
    "rbp depth",
    *everyday(
        Option(
            "--p P[,P...]",
            f"persistences, separated by commas (default {', '.join(map(str, PERSISTENCES))})",
            type=output.numbers,
            repeated=True,
        ),
        Option("--digits DIGITS", "decimal digits that must be certain (default 4)", 4),
        Option(
            "--depth D",
            "with --p: what judging to this depth leaves open; alone: the largest p that it supports",
            type=int,
        ),
    ),
    Option("--relevant R", "with --p and --depth: the highest score of a topic with R relevant documents", type=int),
    Option("--rank K", "with --p and --depth: the probability that the user reads rank K", type=int),
    *output.options_for(digits=False),
)
def run_depth(options: Options) -> None:
    """Plan how deep to judge for RBP, or find the persistence p that a depth supports.

      rankbounds rbp depth --p 0.8,0.95 --digits 3
      rankbounds rbp depth --depth 100 --digits 4

    --p 0.95 --digits 4 says how deep to judge so that what lies below adds less than 0.0001. --depth 100 --digits 4
    says up to which p judging to that depth is enough. --p 0.8 --depth 20 says what that leaves open, and how many
    decimals may be printed.

    The depth follows Moffat and Zobel: what lies below adds less than 10^-digits. The significant ranks follow Zhang,
    Park and Moffat (Table 1): what lies below adds less than half of that, so that it rounds to nothing. The rules
    differ by a factor of two, the numbers by log(2) / -log(p) ranks.
    """
    from rankbounds.rbp.planning import plan

    for flag in options_given(options, "relevant", "rank"):
        if options.depth is None or not options.p:
            raise UsageError(f"{flag} goes with --p and --depth.")
    if options.depth is not None and options.p and options_given(options, "digits"):
        raise UsageError("--p and --depth say how many digits are certain: give no --digits with them.")
    persistences = [p for several in options.p or [list(PERSISTENCES)] for p in several]
    if options.depth is not None and options.p:
        chosen = {"depth": options.depth, "relevant": options.relevant, "rank": options.rank}
        rows = [plan(p, **chosen) for p in persistences]
    elif options.depth is not None:
        rows = [plan(digits=options.digits, depth=options.depth)]
    else:
        rows = [plan(p, options.digits) for p in persistences]
    columns = (
        _column("p", 6 if options.depth is not None and not options.p else None),
        _column("digits", None, "digits certain" if "residual" in rows[0] else ""),
        _column("depth"),
        _column("significant_ranks"),
        Column("residual", cell=lambda row: f"{row['residual']:.3g}"),
        _column("print_at_most", None, "digits to print"),
        _column("ceiling", 4, f"highest score, {options.relevant} relevant"),
        _column("reaches", 4, f"reads rank {options.rank}"),
        _column("expected_examined", 1, "examined on average"),
    )
    _write_columns(options, rows, columns)


def _column(name: str, decimals: int | None = None, heading: str | None = "") -> Column:
    def cell(row: Row) -> str:
        value = row[name]
        if value is None:
            return "any"
        if decimals is not None and not isinstance(value, str):
            return number(value, decimals)
        return f"{value:g}" if isinstance(value, float) else str(value)

    return Column(name, heading, cell)


def _write_columns(options: Options, rows: list[dict[str, Any]], columns: tuple[Column, ...]) -> None:
    output.write_rows(options, rows, [column for column in columns if column.name in rows[0]])


@command(
    "rbp persistence",
    *reading.INPUTS_IF_ANY,
    *everyday(
        Option("--depths FILE", "CSV of sessions that ended at each rank: rank,count"),
        scoring.measures(ORDERED_BY),
    ),
    scoring.CONFIDENCE,
    *scoring.TIES,
    *reading.READING,
    *output.OUTPUT,
)
def run_persistence(options: Options) -> None:
    """Choose RBP's persistence p: from click logs, or as the p that agrees best with other measures.

      rankbounds rbp persistence qrels.txt runs
      rankbounds rbp persistence qrels.txt runs -m nDCG@10

    --depths FILE: how many sessions ended at each rank (CSV: rank,count; a rank such as 10+ for sessions that may have
    continued), which gives the most likely p with an interval. QRELS and runs: the p whose order of the runs agrees
    best (Kendall's tau) with AP, nDCG, P@10 or the measures of -m.
    """
    from rankbounds.rbp.planning import best_agreement, fit_persistence, persistence_agreement

    if bool(options.depths) == bool(options.qrels):
        raise UsageError("Give one kind of evidence: --depths FILE, or QRELS and runs.")
    if options.qrels:
        rows = call(options, persistence_agreement, *reading.collection_from(options), options.measures or ORDERED_BY)
        rows = best_agreement(rows)
    else:
        rows = [fit_persistence(_read_counts(options.depths), confidence=options.confidence)]
    columns = (
        _column("measure"),
        _column("p", 4),
        interval("ci_low", "ci_high", f"{options.confidence:.0%} interval"),
        Column("ci_low", None),
        Column("ci_high", None),
        _column("confidence", None, None),
        _column("sessions"),
        _column("expected_examined", 2, "examined on average"),
        _column("tau", 4, "Kendall's tau"),
        interval("p_from", "p_to", "equally good p", lambda p: number(p, 2)),
        Column("p_from", None),
        Column("p_to", None),
    )
    _write_columns(options, rows, columns)


def _read_counts(file: str) -> list[tuple[str, str]]:
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


# ---- published scores ----


@command(
    "rbp transfer",
    Option("SCORE", "the published score of system A, as printed"),
    *everyday(
        Option("--p P", "the persistence at which it was published (or --measure)", type=float),
        Option("--to P", "the persistence, or with --measure the measure, to convert it to (required)", required=True),
        Option("--residual R", "its published residual (default: unjudged documents count as non-relevant)"),
        Option("--topics N", "the score is a mean over N topics (default 1)", 1),
        Option("--against SCORE", "the published score of a system B to compare with"),
        Option("--against-p P", "the persistence of B's score (default: that of --to)", type=float),
    ),
    Option("--against-residual R", "the residual of B's score"),
    Option("--digits N", "decimals to which every number is known (default: as printed)", type=int),
    Option("--depth K", "only the first K ranks were scored, as in RBP@10", type=int),
    Option(
        "--method exact|relaxed|greedy",
        "exact, or as close as the time limit allows; greedy: the paper's method, which can be wrong",
    ),
    Option("--measure MEASURE", "the measure of SCORE, if not RBP: P@10, DCG@10, SDCG(base=2)@20 (converted by --to)"),
    Option("--vectors", "print the relevance vectors R_G, R_L of the paper, and with --residual R'_G, R'_L"),
    *output.FIGURES,
    *output.options_for(digits=False),
)
def run_transfer(options: Options) -> None:
    """Convert a published RBP score to another persistence p, and say which of two published systems is better.

      rankbounds rbp transfer 0.4321 --p 0.95 --to 0.8 --residual 0.0200
      rankbounds rbp transfer 0.83 --p 0.95 --to 0.8 --topics 50 --against 0.41

    A score printed as 0.4321 at p=0.95 may come from many rankings, which score differently at p=0.8. The output is the
    range of their scores there. With --against, a second system's score is converted too, and the verdict says which of
    the two is certainly better, or what would decide.

    Numbers are known to the digits they are written with (0.4320 to four), unless --digits says otherwise. A mean over
    topics needs --topics: its range is wider than that of one ranking.
    """
    if options.measure is not None:
        transfer_measure(options)
        return
    if options.p is None:
        raise UsageError("Name the persistence (--p) or the measure (--measure) of the score.")
    options.to = _persistence(options.to)
    from rankbounds.rbp.integer_program import mute_solver
    from rankbounds.rbp.other_persistence import compare_published, outward_interval, transfer_published
    from rankbounds.rbp.published_score import Published

    for flag in options_given(options, "against_p", "against_residual"):
        if options.against is None:
            raise UsageError(f"{flag} goes with --against.")

    def published(score: str, p: float, residual: str | None) -> Published:
        return Published(score, p, residual, options.digits, options.topics, options.depth)

    a = published(options.score, options.p, options.residual)
    with mute_solver():
        if options.against is None:
            comparison, transferred = None, transfer_published(a, options.to, options.method)
        else:
            at = options.to if options.against_p is None else options.against_p
            b = published(options.against, at, options.against_residual)
            comparison = compare_published(a, b, options.to, method=options.method)
            transferred = comparison.meetings[0].a

    if options.vectors:
        write_vectors(options, a)
        return
    columns = (
        *(Column(name, left=True) for name in ("system", "published", "over")),
        Column("at", cell=lambda row: f"p={row['at']:g}", left=True),
        Column("low", "lies in", lambda row: outward_interval(row["low"], row["high"]), left=True),
        *(Column(name, None) for name in ("high", "p", "residual", "digits", "method", "proven", "verdict")),
        Column("how", left=True),
    )
    below = "\n" + "\n".join(_sentences(transferred, comparison)).rstrip("\n") + "\n"
    output.write_rows(options, published_rows(transferred, comparison), columns, below=lambda: below)
    with mute_solver():
        output.write_figure(options, a, marks=(options.to,))


def _persistence(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f'--to is a persistence such as 0.8, not "{text}"; measures go with --measure.') from None


def transfer_measure(options: Options) -> None:
    from rankbounds.rbp.other_persistence import transfer_weights

    own = ("p", "against", "digits", "depth", "method", "vectors", "figure")
    for flag in options_given(options, *own):
        raise UsageError(f"{flag} is for RBP; with --measure give --to alone, a measure with a depth.")
    transferred = transfer_weights(options.score, options.measure, options.to, residual=options.residual)
    row = {"score": float(transferred.score), "measure": str(transferred.measure), "to": str(transferred.to)}
    row |= {"low": transferred.low, "high": transferred.high}
    columns = [Column("score", cell=lambda _: transferred.score), Column("measure"), Column("to")]
    columns += [Column("low", "lies in", lambda _: transferred.within), Column("high", None)]
    unjudged = "may gain as much" if options.residual else "count as non-relevant"
    below = f"\nFor every ranking whose documents gain from 0 to 1; unjudged documents {unjudged}.\n"
    output.write_rows(options, [row], columns, below=lambda: below)


def write_vectors(options: Options, published: Published) -> None:
    vectors = published.vectors
    here, there = vectors.scores(published.p), vectors.scores(options.to)
    shown = zip(vectors.named().items(), here, there, strict=False)  # the last two are for residuals
    rows = [
        {"vector": name, "score": float(one), "to": options.to, "score_there": float(other), "ranks": marks}
        for (name, marks), one, other in shown
    ]
    columns = [Column("vector"), Column("score", f"RBP(p={published.p:g})"), Column("to", None)]
    columns += [Column("score_there", f"RBP(p={options.to:g})"), Column("ranks", "relevance by rank (? unjudged)")]
    output.write_rows(options, rows, columns)


def _sentences(transferred: Transferred, comparison: PublishedComparison | None) -> list[str]:
    sentences = []
    if comparison is not None:
        for meeting in comparison.meetings:
            if meeting.verdict == "undecided":
                sentences.append(f"At p={meeting.p:g} neither can be said to be better: the ranges overlap.")
            else:
                sure = "by the greedy range, which can err" if meeting.a.method == "greedy" else "whatever the rankings"
                sentences.append(f"At p={meeting.p:g} system {meeting.verdict} is better, {sure}.")
        sentences.extend(comparison.advice)
    if transferred.published.topics == 1:
        sentences.append("Taken as the score of one ranked list; for a mean over topics add --topics.")
    if transferred.published.residual is None:
        sentences.append("No residual was given: unjudged documents count as non-relevant at every p.")
    return sentences


def published_rows(transferred: Transferred, comparison: PublishedComparison | None) -> list[dict[str, Any]]:
    ranges: list[tuple[str, Transferred, str | None]] = [("A", transferred, None)]
    if comparison is not None:
        ranges = [(name, one, met.verdict) for met in comparison.meetings for name, one in (("A", met.a), ("B", met.b))]
    return [
        {
            "system": name,
            "published": str(one.published),
            "over": "one list" if one.published.topics == 1 else f"{one.published.topics} topics",
            "at": one.to,
            "low": one.low,
            "high": one.high,
            "p": one.published.p,
            "residual": one.published.printed_residual and one.published.printed_residual.value,
            "digits": one.published.printed.digits,
            "method": one.method,
            "proven": one.proven,
            "verdict": verdict,
            "how": one.how,
        }
        for name, one, verdict in ranges
    ]
