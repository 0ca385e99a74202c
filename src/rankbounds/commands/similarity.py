"""Say what changed between rankings, without judgments: how alike runs are, and how much a measure could differ.

For two runs: rank-biased overlap (RBO) with what the ends of the lists leave open, documents in common at the top, the
most that measures can differ whatever the judgments (MED), and the topics that changed most. For more runs: every two
of them, the most alike first; --figure draws the matrix with clusters.
"""

from __future__ import annotations

import argparse

from rankbounds.commands.output import (
    add_output,
    progress_on_terminal,
    write_figure,
    write_rows,
    write_text,
)
from rankbounds.commands.reading import add_reading, add_runs, read_runs
from rankbounds.commands.scoring import add_ties

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "latex", "markdown", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_runs(parser)
    parser.add_argument("--p", type=float, default=0.9, help="persistence of RBO (default 0.9)")
    parser.add_argument(
        "--depth",
        type=int,
        action="append",
        metavar="K",
        help="documents in common to this depth; repeatable (10)",
    )
    parser.add_argument(
        "-m",
        "--measure",
        dest="measures",
        action="append",
        metavar="MEASURE",
        help="a measure of which to say how much it can differ at most; may be repeated (for two runs nDCG@10, "
        "RBP(p=0.8), AP, RR and P@10; for more none)",
    )
    parser.add_argument("-q", "--per-topic", action="store_true", help="each topic too")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="in tables: so many pairs of runs (10)")
    parser.add_argument("--figure", metavar="FILE", help="draw all runs against all, with clusters (.svg, .png, .pdf)")
    add_ties(parser)
    add_reading(parser, judgments=False)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Compare and print."""
    from rankbounds.comparison.similarity import USUAL_MEASURES, similarity

    runs = read_runs(options, repeated=True)
    alike = similarity(
        runs,
        p=options.p,
        depths=options.depth or (10,),
        measures=options.measures or (USUAL_MEASURES if len(runs) == 2 else ()),
        ties=options.ties,
        score_precision=options.score_precision,
        progress=progress_on_terminal("pairs of runs compared"),
    )
    if options.figure:
        from rankbounds.plots.comparison import similarity_matrix

        write_figure(options.figure, lambda: similarity_matrix(alike))
    if options.format in ("json", "jsonl", "csv", "tsv"):
        write_rows(options, alike.rows(topics=options.per_topic), alike.fields)
        return 0
    text = alike.table(options.top, topics=options.per_topic).render(options.format)
    if options.format == "table":
        text += "\n" + alike.words() + "\n"
    write_text(options, text)
    return 0
