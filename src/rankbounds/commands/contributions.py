"""Show what each document of one topic adds to a score.

One row for each document from the top of the list: what it adds to each measure, and which share of the score that
is. Unjudged documents show what they could add (+0.0512). Works for weighted measures (RBP, P, DCG, ...) and AP.
"""

from __future__ import annotations

import argparse

from rankbounds.commands.output import add_output, write_rows, write_text
from rankbounds.commands.reading import add_reading, judgments_from, run_from
from rankbounds.commands.scoring import add_gain, add_measures, add_ties
from rankbounds.rbp.contributions import FIELDS, contributions
from rankbounds.tables import Table

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "latex", "markdown", "html")
DEFAULT_MEASURES = ("AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("qrels", metavar="QRELS", help="judgments")
    parser.add_argument("run_file", metavar="RUN", help="the run")
    parser.add_argument("--topic", required=True, metavar="ID", help="the topic to look at")
    add_measures(parser, DEFAULT_MEASURES)
    parser.add_argument("--depth", type=int, metavar="D", help="only the first D documents")
    parser.add_argument("--all", action="store_true", help="judged non-relevant documents too")
    add_gain(parser)
    add_ties(parser)
    add_reading(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Attribute the score and print."""
    rows = contributions(
        judgments_from(options),
        run_from(options, options.run_file),
        options.topic,
        options.measures or DEFAULT_MEASURES,
        ties=options.ties,
        gain=options.gain,
        score_precision=options.score_precision,
    )
    labels = list(dict.fromkeys(row["measure"] for row in rows))
    totals = {name: sum(row["contribution"] for row in rows if row["measure"] == name) for name in labels}
    shown = [
        row
        for row in rows
        if (options.depth is None or row["rank"] <= options.depth)
        and (options.all or row["relevance"] is None or row["relevance"] > 0)
    ]
    if options.format in ("json", "jsonl", "csv", "tsv"):
        write_rows(options, shown, FIELDS)
        return 0
    lines = []
    for at in range(0, len(shown), len(labels)):
        first, cells = shown[at], [_cell(row) for row in shown[at : at + len(labels)]]
        grade = "?" if first["relevance"] is None else f"{first['relevance']:g}"
        lines.append([str(first["rank"]), first["doc_id"], grade, *cells])
    lines.append(["", "whole list", "", *(f"{totals[name]:.4f}" for name in labels)])
    table = Table(["rank", "document", "grade", *labels], lines, frozenset({1}))
    write_text(options, table.render(options.format))
    return 0


def _cell(row: dict[str, float | None]) -> str:
    if row["relevance"] is None:
        return "?" if row["could_add"] is None else f"+{row['could_add']:.4f}"
    return f"{row['contribution']:.4f} {row['share']:4.0%}"
