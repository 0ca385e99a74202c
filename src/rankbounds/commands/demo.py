"""Commands to try things out: the demo, synthetic collections, and runs with ties on purpose."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankbounds.checking.bands import rank_safe_depth, worst_difference
from rankbounds.collection.bands import exact_rho
from rankbounds.collection.order import ranked_rows
from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import say
from rankbounds.commands.console.options import Option, Options, call, everyday
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.scores import Scores
from rankbounds.files.writing import make_empty_folder, make_folder, writing
from rankbounds.measures import parse_measures
from rankbounds.probability.simulated_collections import simulate
from rankbounds.results import Column, build_table
from rankbounds.tables import TABLE_FORMATS, Table, percent

DATA = Path(__file__).parents[1] / "demo"
READING = """
How to read it
  0.4321 +0.0567           the value, and how much unjudged documents could add
  0.3100 [0.2800, 0.3500]  the value, and how low and how high judging could move it
  judged@10                the share of the top ten documents that were judged

What it shows
"""


@command(
    "demo",
    "How do I try things out?",
    1,
    Option("--write FOLDER", "copy the files to this folder, to try other commands on them", everyday=True),
    *output.OUTPUT,
)
def run_demo(options: Options) -> None:
    """Score a small collection that comes with rankbounds, and explain the table.

      rankbounds demo
      rankbounds demo --write demo

    Five systems, 24 topics. Two things are wrong on purpose: the documents of "dense" were not pooled for judging, and
    "reranked" has scores with two digits, so that many documents are tied. labels.txt holds labels as a model might
    give them, sample.csv a judged sample to audit them, classes.csv a class for each topic.
    """
    if options.write:
        make_empty_folder(Path(options.write))
        for source in (
            path for path in sorted(DATA.rglob("*.*")) if path.is_file() and "__pycache__" not in path.parts
        ):
            target = Path(options.write) / source.relative_to(DATA)
            make_folder(target.parent)
            with writing(target, "wb") as out:
                out.write(source.read_bytes())
        say(f"wrote the collection's files to {options.write}")
    scores = evaluate(DATA / "qrels.txt", DATA / "runs")
    shown = scores.sort() if options.format in TABLE_FORMATS else scores
    text = shown.render(options.format, raw=options.raw)
    if options.format == "table":
        text = "$ rankbounds evaluate qrels.txt runs\n\n" + text + READING + "\n".join(findings(scores)) + "\n"
    output.write_text(options, text)


def findings(scores: Scores) -> list[str]:
    """What a reader should notice, in sentences made from the numbers."""
    mean, label = scores.mean(), scores.measures[0]
    bounds = dict(zip(mean.runs, zip(mean.low[:, 0, 0], mean.high[:, 0, 0], strict=True), strict=True))
    judged = dict(zip(mean.runs, mean.judged[:, 0].tolist(), strict=True))
    widest = max(bounds, key=lambda run: bounds[run][1] - bounds[run][0])
    leader = max(bounds, key=lambda run: bounds[run][0])
    low, high = bounds[widest]
    told = [
        f'  "{leader}" leads: its {label} is at least {bounds[leader][0]:.4f}.',
        f'  But only {percent(judged[widest])} of the top ten documents of "{widest}" were judged: its {label} lies in '
        f"[{low:.4f}, {high:.4f}], so these judgments cannot tell which of the two is better.",
    ]
    moved = {run: note.tie_range for run, note in zip(scores.runs, scores.notes, strict=True) if note.tie_range}
    if moved:
        most = max(moved, key=lambda run: moved[run])
        told.append(f'  The order of tied documents alone can change the {label} of "{most}" by {moved[most]:.4f}.')
    return told


HELP = {
    "runs": "number of systems",
    "topics": "number of topics",
    "documents": "documents in the collection",
    "depth": "length of each ranked list",
    "relevant": "share of relevant documents",
    "variation": "how much this share differs between topics (sd of its log odds)",
    "best": "relevance ratio of the best system",
    "worst": "relevance ratio of the worst system",
    "difficulty": "how much topics differ in difficulty (sd of the log relevance ratio)",
    "agreement": "how much systems agree, from 0 to 1",
    "ties": "share of documents that are tied with the one before",
    "grades": "relevant documents have grades from 1 to this",
    "pool_depth": "the pool takes this many documents from each list",
    "pooled_runs": "how many runs, drawn at random, contribute to the pool (default: all)",
    "seed": "seed of the random numbers",
}


@command(
    "simulate",
    "How do I try things out?",
    2,
    Option("FOLDER", "the folder to write: new or empty"),
    *(
        Option(
            f"--{name.replace('_', '-')} N",
            HELP[name] + ("" if parameter.default is None else f" (default {parameter.default})"),
            parameter.default,
            type=int if parameter.default is None else None,
            everyday=name in ("runs", "topics", "documents", "depth", "pool_depth", "seed"),
        )
        for name, parameter in inspect.signature(simulate).parameters.items()
    ),
)
def run_simulate(options: Options) -> None:
    """Write a synthetic collection: runs, complete judgments, and the judgments of a pool.

      rankbounds simulate synthetic
      rankbounds simulate small --runs 4 --topics 20 --seed 7

    Each system draws its lists from an urn: at relevance ratio 1 its ranking is random, near 0 relevant documents come
    first. The folder gets runs/*.txt (the best system first), qrels-complete.txt (the truth), qrels-pooled.txt (what a
    pool of the first documents would know) and settings.json. The same seed gives the same files.
    """
    collection = call(options, simulate)
    collection.write(options.folder)
    say(
        f"wrote {options.folder}: {options.runs} runs, {options.topics} topics, {len(collection.pooled):,} of "
        f"{len(collection.complete):,} documents judged in qrels-pooled.txt (seed {options.seed})."
    )


RHOS = "1.1,1.2,1.4,1.7,2.0"
MEASURES = ("RR", "RBP(p=0.5)", "RBP(p=0.85)")
ORDERS = ("trec", "run", "rank", "docid")
FORMAT, _, *LOOK = output.options_for(digits=False)


@command(
    "bands",
    "How do I try things out?",
    3,
    Option("[RUN]", "the run; - reads stdin", dest="run_file"),
    *everyday(
        Option("--rho RHO", "group ranks into bands, each beginning RHO times as deep as the one before (1.4)"),
        Option("--bits BITS", "round scores: float32, float16, bfloat16, or a number of bits such as 8"),
        Option("--digits DIGITS", "round scores to this many significant digits", type=int),
        Option("--decimals DECIMALS", "round scores to this many decimal places", type=int),
        Option("--table", "print the worst difference for each RHO instead (separate several by commas)"),
    ),
    Option("--order RULE", f"how to rank before banding: {', '.join(ORDERS)}", "trec", words=ORDERS, closed=True),
    *reading.READING_RUNS,
    scoring.measures(MEASURES, "with --table: RR, RBP, P@k or DCG@k"),
    replace(FORMAT, dest="table_format"),
    output.JUDGMENTS_FILE,
    *LOOK,
)
def run_bands(options: Options) -> None:
    """Put ties into a run: group its ranks into bands, or round its scores.

      rankbounds bands runs/bm25.txt --rho 1.4 -o banded.txt
      rankbounds bands runs/bm25.txt --digits 3 -o rounded.txt

    --rho 1.4 makes bands of ranks 1, 2, 3-4, 5-6, 7-9, ...: a band that begins at b is followed by one that begins at
    ceil(rho * b). --bits float16 rounds scores to half precision. --table --rho 1.1,1.4 shows how much bands can change
    a score at most. Score the result with "rankbounds evaluate --ties expected" and compare: that is the cost of
    the lost precision.
    """
    if options.table:
        _print_table(options)
        return
    if options.run_file is None:
        raise UsageError("Name a run, or ask for the table of worst differences with --table.")
    if options.measures or options.table_format is not None:
        raise UsageError("--measure and --format go with --table; a run is written as a TREC file.")
    given = [name for name in ("rho", "bits", "digits", "decimals") if getattr(options, name) is not None]
    if len(given) != 1:
        raise UsageError("Say what to do with the run: one of --rho, --bits, --digits, --decimals.")
    if options.rho:
        exact_rho(options.rho)
    original = reading.run_from(options, options.run_file)
    changed = original.banded(options.rho, ties=options.order) if options.rho else call(options, original.rounded)
    output.write_pairs(options, changed)
    before, after = (np.count_nonzero(ranked_rows(one)[1]) for one in (original, changed))
    say(
        f"{changed.name}: {after:,} of {len(changed):,} documents now have the score of the one before them "
        f'({before:,} had it already). Score the run with "--ties expected".'
    )


def _print_table(options: Options) -> None:
    if options.run_file is not None:
        raise UsageError("--table needs no run.")
    options.format = output.choose_format(options.command, options.output, output.FORMATS, options.table_format)
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

    output.write_rows(options, rows, ("rho", "measure", "difference", "rank_safe_depth"), table=table)
