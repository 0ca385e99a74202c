"""Compare the same systems on several collections: over all of them, where they differ, and what a new one would show.

Each COLLECTION is a folder with judgments (qrels.txt, or BEIR's qrels/test.tsv) and a folder "runs"; NAME=FOLDER gives
it a name, and a folder of such folders stands for all of them. A manifest (.csv, .tsv, .json with collection, qrels,
runs) names files that lie elsewhere. Runs are matched by name. A run that lacks a collection is told and not placed.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from rankbounds.commands.judges import PROSE
from rankbounds.commands.output import (
    add_output,
    progress_on_terminal,
    write_figure,
    write_rows,
    write_text,
    wrote,
)
from rankbounds.commands.reading import prepared, reading_from
from rankbounds.commands.run_names import name_and_path
from rankbounds.commands.scoring import add_assumptions, add_measures, add_resampling, assumptions_from
from rankbounds.tables import json_of

if TYPE_CHECKING:
    from rankbounds.comparison.collections.result import CollectionsComparison

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "html")
ROWS = ("systems", "pairs", "cells", "differences", "missing")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "collections",
        metavar="COLLECTION",
        nargs="+",
        help="a folder with judgments and runs, NAME=FOLDER, a folder of such folders, or a manifest",
    )
    parser.add_argument(
        "--runs",
        dest="run_folder",
        metavar="FOLDER",
        help="where runs do not lie beside the judgments: a folder with a folder of runs for each collection",
    )
    parser.add_argument(
        "--names",
        default="tag",
        metavar="WHICH",
        help="match runs across collections by the tag inside the files (tag; default) or by the files' names (file)",
    )
    add_measures(parser, ("nDCG@10",))
    parser.add_argument(
        "--mean",
        default="collections",
        metavar="OVER",
        help="collections (mean of collections' means; default) or queries (over all queries: large collections count "
        "for more)",
    )
    parser.add_argument(
        "--missing",
        default="runs",
        metavar="WHAT",
        help="where a run lacks a collection: do not place the run (runs; default), or leave out the collection "
        "(collections)",
    )
    parser.add_argument("--pair", nargs=2, metavar=("RUN_A", "RUN_B"), help="tell of these two (default: the best two)")
    parser.add_argument(
        "--against", dest="reference", metavar="NAME", help="only pairs of this run with each other one"
    )
    parser.add_argument(
        "--estimator",
        default="reml",
        metavar="WHICH",
        help="of the variance between collections: reml (default) or dl (DerSimonian and Laird)",
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="level of verdicts and ranks (default 0.05)")
    parser.add_argument("--confidence", type=float, default=0.95, help="of intervals (default 0.95)")
    add_resampling(parser, resamples=10_000)
    parser.add_argument("--figure", metavar="FILE", help="draw the pair as a forest plot (.svg, .png, .pdf)")
    parser.add_argument("--page", metavar="FILE", help="also write a page like that of rankbounds report (.html)")
    add_assumptions(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Find the files, compare, and print."""
    from rankbounds.choices import check_choice
    from rankbounds.collection.folders import NAMES, collections_at
    from rankbounds.comparison.collections.comparison import compare_collections
    from rankbounds.files.writing import reject_inputs

    check_choice("names", options.names, NAMES)
    found = collections_at([name_and_path(given) for given in options.collections], options.run_folder)
    outputs = [path for path in (options.output, options.figure, options.page) if path]
    reject_inputs(outputs, [path for files in found for path in files.files()])
    reading = replace(reading_from(options), threads=1)
    compared = compare_collections(
        {files.name: (files.qrels, prepared(options, files.runs_to_read(reading, options.names))) for files in found},
        options.measures,
        mean=options.mean,
        missing=options.missing,
        baseline=options.reference,
        estimator=options.estimator,
        alpha=options.alpha,
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
        progress=progress_on_terminal("collections scored"),
        **assumptions_from(options),
        labels=options.labels,
        formats=options.read_as,
        columns=options.columns,
        lenient=options.lenient,
    )
    a, b = options.pair or compared.leading_pair()
    compared.pair(a, b)  # (names that are none are told before anything is written)
    if options.figure:
        from rankbounds.plots.comparison import collections_forest

        write_figure(options.figure, lambda: collections_forest(compared, a, b))
    if options.page:
        from rankbounds.files.writing import writing
        from rankbounds.report import collections_page, gather_collections

        with writing(options.page) as out:
            out.write(collections_page(gather_collections(compared)))
        wrote(options.page)
    if options.format in ("jsonl", "csv", "tsv"):
        rows = [row | {"lacks": " ".join(row["lacks"])} for row in compared.systems]
        write_rows(options, rows if options.format != "jsonl" else compared.systems, list(rows[0]))
        return 0
    write_text(options, rendered(options, compared))
    return 0


def rendered(options: argparse.Namespace, compared: CollectionsComparison) -> str:
    """Everything in the format asked for."""
    if options.format == "json":
        content = {name: getattr(compared, name) for name in ROWS}
        names = {"collections": compared.collections, "topics": compared.topics, "runs": compared.runs}
        a, b = options.pair or (None, None)
        words = {"words": [compared.words(a, b, measure) for measure in compared.measures]}
        return json_of(names | content | {"settings": compared.settings} | words, indent=1) + "\n"
    prose = PROSE[options.format]
    parts = [compared.table(measure).render(options.format) for measure in compared.measures]
    parts.append(prose(compared.method()))
    for measure in compared.measures:
        a, b = options.pair or compared.leading_pair(measure)
        parts += [compared.pair_table(a, b, measure).render(options.format), prose(compared.words(a, b, measure))]
    return "\n".join(parts)
