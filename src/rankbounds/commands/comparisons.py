"""Commands that compare without one pair in mind: several collections, reruns of systems, rankings alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import progress_on_terminal
from rankbounds.commands.console.options import Option, Options, call, everyday, whole
from rankbounds.errors import UsageError
from rankbounds.tables import in_prose, json_of


@command(
    "collections",
    Option(
        "COLLECTION ...",
        "a folder with judgments and runs, NAME=FOLDER, a folder of such folders, or a manifest",
        dest="collections",
        file="read",
    ),
    Option(
        "--runs FOLDER",
        "where the runs are, if elsewhere: a folder with one folder per collection",
        dest="run_folder",
        group="input",
        everyday=True,
    ),
    Option("--names tag|file", "match runs across collections by the tag in the files, or by the files' names"),
    scoring.measures(("nDCG@10",)),
    *everyday(
        Option("--mean collections|queries", "mean of the collections' means, or over all queries"),
        Option("--pair RUN AGAINST", "describe this pair, the first run minus the second (default: the best two)"),
        Option("--baseline-run NAME", "compare all other runs with this one, instead of all pairs", dest="reference"),
    ),
    Option("--missing runs|collections", "when a run lacks a collection: leave out the run, or the collection"),
    scoring.ALPHA,
    scoring.CONFIDENCE,
    *scoring.ASSUMING,
    *output.FIGURES,
    *output.OUTPUT,
)
def run_collections(options: Options) -> None:
    """Compare systems on several collections (BEIR, MTEB): on average, and per collection.

      rankbounds collections first=. second=.
      rankbounds collections first=. second=. --pair reranked dense

    Each COLLECTION is a folder with judgments (qrels.txt, or BEIR's qrels/test.tsv) and a folder "runs"; NAME=FOLDER
    gives it a name, and a folder of such folders stands for all of them. A manifest (.csv, .tsv, .json with collection,
    qrels, runs) names files in other places. Runs are matched by name. A run that lacks a collection is reported and
    gets no rank.
    """
    from rankbounds.collection.folders import collections_at
    from rankbounds.comparison.collections.comparison import compare_collections
    from rankbounds.files.writing import reject_inputs

    folders = collections_at([output.name_and_path(given) for given in options.collections], options.run_folder)
    reject_inputs(output.files_given(options, "written"), [path for files in folders for path in files.files()])
    reader = replace(reading.reading_from(options), threads=1)
    compared = call(
        options,
        compare_collections,
        {
            files.name: (files.qrels, reading.prepare_runs(options, files.runs_to_read(reader, options.names)))
            for files in folders
        },
        baseline=options.reference,
        progress=progress_on_terminal("collections scored"),
        **scoring.evaluation_from(options),
    )
    a, b = options.pair or compared.leading_pair()
    compared.pair(a, b)  # (names that are none are reported before anything is written)
    output.write_figure(options, compared, pair=(a, b))
    kind = options.format
    if kind in ("jsonl", "csv", "tsv"):
        rows = [row | {"lacks": " ".join(row["lacks"])} for row in compared.systems]
        output.write_rows(options, rows if kind != "jsonl" else compared.systems, list(rows[0]))
    elif kind == "json":
        names = ("collections", "topics", "runs", "systems", "pairs", "cells", "differences", "missing", "settings")
        first, second = options.pair or (None, None)
        words = {"words": [compared.words(first, second, measure) for measure in compared.measures]}
        content = {name: getattr(compared, name) for name in names} | words
        output.write_text(options, json_of(content, indent=1) + "\n")
    else:
        parts = [compared.table(measure).render(kind, compared.method()) for measure in compared.measures]
        parts.append(in_prose(compared.method(), kind))
        for measure in compared.measures:
            a, b = options.pair or compared.leading_pair(measure)
            said = compared.words(a, b, measure)
            parts += [compared.pair_table(a, b, measure).render(kind, said), in_prose(said, kind)]
        output.write_text(options, "\n".join(parts))


@command(
    "replicates",
    *reading.INPUTS,
    Option(
        "--replicates REGEX",
        "the part of a run's name that marks a rerun; the rest (or the first group) names the system (default: # and "
        "what follows)",
        "#[^#]*$",
        dest="pattern",
        everyday=True,
    ),
    scoring.measures(("nDCG@10",)),
    Option(
        "--reliability R[,R...]",
        "how many topics do these reliabilities of the order of systems need? (default 0.8,0.9,0.95)",
        [0.8, 0.9, 0.95],
        type=output.numbers,
    ),
    scoring.CONFIDENCE,
    *scoring.resampling(),
    *scoring.ASSUMING_NO_BOUNDS,
    *output.OUTPUT,
)
def run_replicates(options: Options) -> Any:
    """Measure the noise floor (A/A test): how much scores of the same system differ between reruns.

      rankbounds replicates qrels.txt "a#1=runs/bm25.txt" "a#2=runs/learned.txt"
      rankbounds replicates qrels.txt runs --replicates="-[a-z]+$"

    Runs named name#1, name#2 are reruns of one system (--replicates REGEX for other names; name#1=FILE names a file).
    The spread of scores is split into topics, systems and reruns; the output says how much two runs of one system
    differ (the A/A floor), and how many topics and reruns a reliable order of systems needs.
    """
    from rankbounds.comparison.replicates import compare_replicates

    return call(options, compare_replicates, *reading.collection_from(options))


@command(
    "similarity",
    reading.RUNS,
    Option("--p P", "persistence of RBO (default 0.9)", 0.9),
    Option(
        "--depth K",
        "count the documents in common to this depth; may be repeated (default 10)",
        type=int,
        repeated=True,
        everyday=True,
    ),
    scoring.measures(
        (),
        "say how much this measure can differ at most (default for two runs: nDCG@10, RBP(p=0.8), AP, RR, P@10)",
    ),
    scoring.PER_TOPIC,
    Option("--top N", "show N pairs of runs in tables (default 10)", 10, everyday=True),
    *scoring.TIES,
    *reading.READING_RUNS,
    *output.FIGURES,
    *output.OUTPUT,
)
def run_similarity(options: Options) -> None:
    """Compare rankings without judgments: overlap (RBO), and how much a measure can differ at most.

      rankbounds similarity runs/bm25.txt runs/bm25-expanded.txt
      rankbounds similarity runs --depth 20

    For two runs: rank-biased overlap (RBO) with its bounds, documents in common at the top, the most that measures can
    differ whatever the judgments (MED), and the topics that changed most. For more runs: all pairs, the most similar
    first; --figure draws the matrix of three runs or more with clusters.
    """
    from rankbounds.comparison.similarity import USUAL_MEASURES, similarity

    runs = reading.read_runs(options, repeated=True)
    alike = call(
        options,
        similarity,
        runs,
        depths=options.depth or (10,),
        measures=options.measures or (USUAL_MEASURES if len(runs) == 2 else ()),
        progress=progress_on_terminal("pairs of runs compared"),
    )
    output.write_figure(options, alike)
    output.write_rows(
        options,
        alike.rows(topics=options.per_topic),
        alike.fields,
        table=lambda: alike.table(options.top, topics=options.per_topic),
        above=lambda: f"{alike.words()}\n\n",
    )


@command(
    "topics",
    *reading.INPUTS_IF_ANY,
    *reading.SCORE_TABLES,
    *everyday(
        Option("--difference D", "how many topics it takes to find a true difference of D", type=scoring.share),
        Option(
            "--margin M",
            "how many topics it takes to rule out a difference of M between equally good systems",
            type=scoring.share,
        ),
        Option(
            "--systems N",
            "how many systems will be compared with each other (default 2)",
            2,
            type=whole("systems are", 2),
        ),
        Option(
            "--deviation S",
            "without a pilot: the standard deviation, over topics, of the difference between two systems",
            type=float,
        ),
    ),
    replace(scoring.BY, help="plan a gate on every slice: a file of query and class, or the mark in ids (/)"),
    scoring.measures(("nDCG@10",)),
    scoring.ALPHA,
    scoring.CLUSTERS,
    *scoring.ASSUMING_NO_BOUNDS,
    *output.OUTPUT,
)
def run_topics(options: Options) -> Any:
    """Plan how many topics (queries) an evaluation needs: sample size for a difference or a margin.

      rankbounds topics qrels.txt runs --difference 0.05
      rankbounds topics --deviation 0.2 --difference 0.05 --systems 10

    The runs are a pilot: what is needed depends on how much differences vary from topic to topic, which they show.
    Without a pilot give that deviation (for nDCG@10 of unlike systems 0.2 to 0.3 is usual, for variants of one system
    0.05 to 0.15). With --systems the answer is also for the whole family, its pairs corrected for their number.
    "topics safe" allows for a pilot that is small.
    """
    from rankbounds.stats.planning import plan_topics

    pilot = None
    if options.qrels is not None or options.scores:
        options.measures = options.measures or ["nDCG@10"]
        pilot = scoring.evaluate_from(options)
    if options.by:
        if options.difference is not None or options.deviation is not None or options.clusters:
            raise UsageError("--by plans a gate on slices from --margin and a pilot, without other options of a plan.")
        from rankbounds.comparison.gate.sliced import plan_slices

        return call(options, plan_slices, pilot)
    return call(options, plan_topics, pilot)
