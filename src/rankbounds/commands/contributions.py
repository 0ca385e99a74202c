"""Show what each document of one topic adds to a score.

One row for each document from the top of the list: what it adds to each measure, and which share of the score that
is. Unjudged documents show what they could add (+0.0512). Works for weighted measures (RBP, P, DCG, ...) and AP.
"""

from __future__ import annotations

from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import OUTPUT, write_rows
from rankbounds.commands.reading import QRELS, READING, RUN, judgments_from, run_from
from rankbounds.commands.scoring import GAIN, TIES, measures
from rankbounds.rbp.contributions import FIELDS, contributions
from rankbounds.results import Column, Row, build_table
from rankbounds.tables import Table

QUESTION = "How good are my runs?", 3
DEFAULT_MEASURES = ("AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")
OPTIONS = (
    QRELS,
    RUN,
    Option("--topic ID", "the topic to look at", required=True),
    measures(DEFAULT_MEASURES),
    Option("--depth D", "only the first D documents", type=int),
    Option("--all", "judged non-relevant documents too"),
    GAIN,
    *TIES,
    *READING,
    *OUTPUT,
)


def run(options: Options) -> None:
    """Attribute the score and print."""
    rows = contributions(
        judgments_from(options),
        run_from(options, options.run_file),
        options.topic,
        options.measures or DEFAULT_MEASURES,
        **pick(options, "ties", "gain", "score_precision"),
    )
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
            | {"grade": _grade(shown[at])}
            | {row["measure"]: _cell(row) for row in shown[at : at + len(labels)]}
            for at in range(0, len(shown), len(labels))
        ]
        whole = {name: f"{total:.4f}" for name, total in totals.items()}
        numbers = (Column(label, label, left=False) for label in ("grade", *labels))
        columns = [Column("rank", left=False), Column("doc_id", "document"), *numbers]
        return build_table([*documents, {"rank": "", "doc_id": "whole list", "grade": "", **whole}], columns)

    write_rows(options, shown, FIELDS, table=table)


def _grade(row: Row) -> str:
    return "?" if row["relevance"] is None else f"{row['relevance']:g}"


def _cell(row: Row) -> str:
    if row["relevance"] is None:
        return "?" if row["could_add"] is None else f"+{row['could_add']:.4f}"
    return f"{row['contribution']:.4f} {row['share']:4.0%}"
