"""The command that scores runs."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from rankbounds.choices import check_share
from rankbounds.collection.inputs import RunToRead
from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, progress_on_terminal, say, say_all
from rankbounds.commands.console.options import Option, Options, call, group_under
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.scores import Scores
from rankbounds.files.opening import expand
from rankbounds.measures.naming.sources import bibtex

LARGE_SHARE = 6
"""Run files larger than this share of the machine's memory are streamed."""


@command(
    "evaluate",
    *reading.INPUTS,
    scoring.MEASURES,
    *scoring.SORTING,
    scoring.PER_TOPIC,
    Option(
        "--interval",
        "show the confidence interval of each mean over topics in tables (other formats always have ci_low and "
        "ci_high)",
        everyday=True,
    ),
    scoring.CONFIDENCE,
    scoring.CLUSTERS,
    *scoring.ASSUMING,
    *group_under(
        "input",
        Option(
            "--engine auto|local|stream|spark",
            "score in memory (local), topic by topic (stream) or by Spark; auto streams files too large for memory",
        ),
        Option("--memory SIZE", "with --engine stream: how much memory to use (default 512M)"),
        Option("--master URL", "the Spark cluster, such as spark://host:7077 (default: this machine)"),
    ),
    output.BIBTEX,
    *output.FIGURES,
    *output.options_for((*output.FORMATS[:5], "parquet", *output.FORMATS[5:], "trec")),
)
def run_evaluate(options: Options) -> None:
    """Score runs against judgments, with bounds for unjudged documents.

      rankbounds evaluate qrels.txt runs
      rankbounds evaluate qrels.txt runs -m nDCG@10,AP -q -o scores.csv

    The table shows the mean over topics of each measure. Measures that can only rise when more is judged, such as RBP,
    show what unjudged documents could add (0.3280 +0.5120); the others show how low and how high they could be ([0.28,
    0.35]). judged@10 is the share of the top ten documents that were judged. --interval adds what other topics like
    these could change: a 95% confidence interval of each mean.
    """
    check_share("confidence", options.confidence)
    scores = scoring.sort_runs(options, evaluate_by_engine(options, _engine(options)))
    if scores.outer:
        named = ", ".join(map(str, scores.outer))
        say(f"the bounds of {named} are valid, but may be wider than necessary.")
    output.write_bibtex(options, bibtex(scores.measures))
    clusters = call(options, Question).clusters_of(scores)
    asked = replace(scores, confidence=options.confidence)
    if clusters is not None:
        say(f"intervals are by cluster: {len(scores.query_ids)} topics in {len(clusters)} clusters.")
        asked = replace(asked, clusters=clusters.of_queries(scores.query_ids))
    how = {} if options.format == "parquet" else {"interval": options.interval}
    output.write_result(options, asked, per_topic=options.per_topic, **how)
    if options.figure and len(scores.measures) > 1:
        say(f"the figure shows {scores.measures[0]} alone, the first of {len(scores.measures)} measures.")


def evaluate_by_engine(options: Options, engine: str) -> Scores:
    if engine == "local":
        return scoring.evaluate_from(options)
    reader, measures = reading.reading_from(options), options.measures or DEFAULT_MEASURES
    named = [output.name_and_path(argument) for argument in options.runs]
    runs = [RunToRead(path, partial(reader.run, path), path, name) for name, path in named]
    how = scoring.evaluation_from(options) | {"preparation": reading.preparation_from(options)}
    doing("scoring by Spark" if engine == "spark" else "sorting files by topic")
    of_stream = {"memory": options.memory, "progress": progress_on_terminal("parts scored")}
    scores = evaluate(
        options.qrels,
        runs,
        measures,
        engine=engine,  # type: ignore[arg-type]  # (a word that the command checked)
        **how,
        **({"master": options.master} if engine == "spark" else of_stream),
    )
    notes = zip(scores.runs, scores.run_notes, strict=True)
    say_all(f"{name}: {note.prepared}." for name, note in notes if note.prepared)
    return scores


def _engine(options: Options) -> str:
    engine: str = options.engine
    if options.memory and engine not in ("auto", "stream"):
        raise UsageError("--memory goes with --engine stream only.")
    if options.master and (engine not in ("auto", "spark") or options.memory):
        raise UsageError("--master goes with --engine spark only.")
    if engine != "auto":
        return engine
    if options.master or options.memory:
        return "spark" if options.master else "stream"
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return "local"
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    files = expand(output.name_and_path(argument)[1] for argument in options.runs)
    large = any(os.path.isfile(name) and Path(name).stat().st_size > memory // LARGE_SHARE for name in files)
    return "stream" if large else "local"
