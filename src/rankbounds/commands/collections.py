"""Compare the same systems on several collections: over all of them, where they differ, and what a new one would show.

Each COLLECTION is a folder with judgments (qrels.txt, or BEIR's qrels/test.tsv) and a folder "runs"; NAME=FOLDER gives
it a name, and a folder of such folders stands for all of them. A manifest (.csv, .tsv, .json with collection, qrels,
runs) names files that lie elsewhere. Runs are matched by name. A run that lacks a collection is told and not placed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import (
    OUTPUT,
    PROSE,
    figure,
    files_given,
    name_and_path,
    write_figure,
    write_rows,
    write_text,
    wrote,
)
from rankbounds.commands.progress import progress_on_terminal
from rankbounds.commands.reading import prepared, reading_from
from rankbounds.commands.scoring import ASSUMING, alpha, confidence, evaluation_from, measures, resampling
from rankbounds.tables import json_of

if TYPE_CHECKING:
    from rankbounds.comparison.collections.result import CollectionsComparison

QUESTION = "Is A better than B, or is it noise?", 2
ROWS = ("systems", "pairs", "cells", "differences", "missing")
OPTIONS = (
    Option(
        "COLLECTION ...",
        "a folder with judgments and runs, NAME=FOLDER, a folder of such folders, or a manifest",
        dest="collections",
        file="read",
    ),
    Option(
        "--runs FOLDER",
        "where runs do not lie beside the judgments: a folder with a folder of runs for each collection",
        dest="run_folder",
        file="folder",
    ),
    Option(
        "--names WHICH",
        "match runs across collections by the tag inside the files (tag; default) or by the files' names (file)",
        "tag",
        words=("tag", "file"),
        closed=True,
    ),
    measures(("nDCG@10",)),
    Option(
        "--mean OVER",
        "collections (mean of collections' means; default) or queries (over all queries: large collections count for "
        "more)",
        "collections",
        words=("collections", "queries"),
    ),
    Option(
        "--missing WHAT",
        "where a run lacks a collection: do not place the run (runs; default), or leave out the collection "
        "(collections)",
        "runs",
        words=("runs", "collections"),
    ),
    Option("--pair RUN_A RUN_B", "describe these two runs (default: the best two)"),
    Option("--against NAME", "only pairs of this run with each other one", dest="reference"),
    Option(
        "--estimator WHICH",
        "of the variance between collections: reml (default) or dl (DerSimonian and Laird)",
        "reml",
        words=("reml", "dl"),
    ),
    alpha("level of verdicts and ranks"),
    confidence("intervals"),
    *resampling(),
    *ASSUMING,
    figure("draw the pair as a forest plot"),
    Option("--page FILE", "also write a page like that of rankbounds report (.html)", file="written", group="output"),
    *OUTPUT,
)


def run(options: Options) -> None:
    """Find the files, compare, and print."""
    from rankbounds.collection.folders import collections_at
    from rankbounds.comparison.collections.comparison import compare_collections
    from rankbounds.files.writing import reject_inputs

    found = collections_at([name_and_path(given) for given in options.collections], options.run_folder)
    reject_inputs(files_given(options, "written"), [path for files in found for path in files.files()])
    reading = replace(reading_from(options), threads=1)
    compared = compare_collections(
        {files.name: (files.qrels, prepared(options, files.runs_to_read(reading, options.names))) for files in found},
        options.measures,
        baseline=options.reference,
        progress=progress_on_terminal("collections scored"),
        **pick(options, "mean", "missing", "estimator", "alpha", "confidence", "resamples", "seed"),
        **evaluation_from(options),
    )
    a, b = options.pair or compared.leading_pair()
    compared.pair(a, b)  # (names that are none are told before anything is written)
    write_figure(options, "collections_forest", compared, a, b)
    if options.page:
        from rankbounds.files.writing import writing
        from rankbounds.report import collections_page, gather_collections

        with writing(options.page) as out:
            out.write(collections_page(gather_collections(compared)))
        wrote(options.page)
    if options.format in ("jsonl", "csv", "tsv"):
        rows = [row | {"lacks": " ".join(row["lacks"])} for row in compared.systems]
        write_rows(options, rows if options.format != "jsonl" else compared.systems, list(rows[0]))
    else:
        write_text(options, render(options, compared))


def render(options: Options, compared: CollectionsComparison) -> str:
    """Everything in the format asked for."""
    if options.format == "json":
        names = ("collections", "topics", "runs", *ROWS, "settings")
        a, b = options.pair or (None, None)
        words = {"words": [compared.words(a, b, measure) for measure in compared.measures]}
        return json_of({name: getattr(compared, name) for name in names} | words, indent=1) + "\n"
    prose = PROSE[options.format]
    parts = [compared.table(measure).render(options.format) for measure in compared.measures]
    parts.append(prose(compared.method()))
    for measure in compared.measures:
        a, b = options.pair or compared.leading_pair(measure)
        parts += [compared.pair_table(a, b, measure).render(options.format), prose(compared.words(a, b, measure))]
    return "\n".join(parts)
