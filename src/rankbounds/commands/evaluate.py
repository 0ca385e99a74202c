"""Score runs against judgments, with bounds for what is unjudged or tied.

The table shows the mean over topics of each measure. Behind RBP and other measures that can only rise stands what
the unjudged documents could still add (0.3280 +0.5120); behind measures that can rise and fall, how far ([low, high]).
judged@10 is the share of the first ten documents that somebody judged.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rankbounds.collection.inputs import RunToRead
from rankbounds.commands.citing import add_citing, write_bibtex
from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, progress_on_terminal, write_text, wrote
from rankbounds.commands.progress import doing
from rankbounds.commands.reading import add_inputs, preparation_from, reading_from
from rankbounds.commands.run_names import name_and_path
from rankbounds.commands.scoring import (
    add_assumptions,
    add_measures,
    add_sorting,
    arranged,
    assumptions_from,
    evaluate_from,
)
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.evaluation.scores import Scores
from rankbounds.files.opening import expand
from rankbounds.measures.naming.sources import bibtex

if TYPE_CHECKING:
    from rankbounds.evaluation.engines.spark import SparkScores

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "parquet", "latex", "markdown", "html", "trec")
ENGINES = ("auto", "local", "stream", "spark")
LISTS_COLLECTED = 200_000
"""So many lists come from Spark to be shown; of more, means alone, unless the scores of topics are asked for."""
LARGE_SHARE = 6
"""A run that takes more than this share of the machine's memory as a file would not fit well while it is scored."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    add_measures(parser)
    add_sorting(parser)
    parser.add_argument("-q", "--per-topic", action="store_true", help="one row for each topic too")
    add_assumptions(parser)
    parser.add_argument(
        "--engine",
        default="auto",
        metavar="WHERE",
        help="local (in memory), stream (files larger than memory, topic by topic), spark (files that Spark reads); "
        "auto (default) streams files that are too large for memory",
    )
    parser.add_argument("--memory", metavar="SIZE", help="with --engine stream: how much to hold (default 512M)")
    parser.add_argument(
        "--master",
        metavar="URL",
        help="with --engine spark, or meaning it: the cluster, such as spark://host:7077 (default: this machine)",
    )
    add_citing(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Evaluate and print."""
    engine = _engine(options)
    found = evaluate_from(options) if engine == "local" else _by_engine(options, engine)
    if not isinstance(found, Scores):
        if options.format == "parquet" and options.per_topic:
            write_bibtex(options, bibtex(found.measures))
            found.write_parquet(options.output)
            wrote(options.output)
            return 0
        lists = len(found.runs) * found.number_of_topics
        found = found.collect() if options.per_topic or lists <= LISTS_COLLECTED else found.mean()
    scores = arranged(options, found)
    if scores.outer:
        named = ", ".join(map(str, scores.outer))
        say(f"the bounds of {named} hold, but may be wider than what can happen.")
    write_bibtex(options, bibtex(scores.measures))
    if options.format == "parquet":
        scores.write_parquet(options.output, per_topic=options.per_topic)
        wrote(options.output)
    else:
        write_text(options, scores.render(options.format, per_topic=options.per_topic, raw=options.raw))
    return 0


def _engine(options: argparse.Namespace) -> str:
    """The engine that was asked for, or that fits."""
    engine: str = options.engine
    if engine not in ENGINES:
        hint = did_you_mean(engine, list(ENGINES))
        raise UsageError(f'There is no engine "{engine}".{hint} Known: {", ".join(ENGINES)}.')
    if options.memory and engine not in ("auto", "stream"):
        raise UsageError("--memory goes with --engine stream only.")
    if options.master and (engine not in ("auto", "spark") or options.memory):
        raise UsageError("--master goes with --engine spark only.")
    if engine != "auto":
        return engine
    if options.master:
        return "spark"
    runs = (file for argument in options.runs for file in expand([name_and_path(argument)[1]]))
    return "stream" if options.memory or _too_large(runs) else "local"


def _named_paths(options: argparse.Namespace) -> list[RunToRead]:
    """The paths of the runs with the names that the user gave them, if any; engines expand and open them."""
    reading = reading_from(options)
    named = [name_and_path(argument) for argument in options.runs]
    return [RunToRead(path, partial(reading.run, path), path, name) for name, path in named]


def _by_engine(options: argparse.Namespace, engine: str) -> Scores | SparkScores:
    """The scores by an engine for large data."""
    doing("scoring by Spark" if engine == "spark" else "sorting files by topic")
    of_stream = {"memory": options.memory, "progress": progress_on_terminal("parts scored")}
    scores: Scores | SparkScores = evaluate(
        options.qrels,
        _named_paths(options),
        options.measures or DEFAULT_MEASURES,
        engine=engine,  # type: ignore[call-overload]  # (which one is known when the command runs)
        preparation=preparation_from(options),
        labels=options.labels,
        formats=options.read_as,
        columns=options.columns,
        lenient=options.lenient,
        **assumptions_from(options),
        **({"master": options.master} if engine == "spark" else of_stream),
    )
    _say_prepared(scores if isinstance(scores, Scores) else scores.mean())
    return scores


def _say_prepared(scores: Scores) -> None:
    for name, noted in zip(scores.runs, scores.notes, strict=True):
        if noted.prepared:
            say(f"{name}: {noted.prepared}.")


def _too_large(runs: Iterable[str]) -> bool:
    """Is a run larger than this machine's memory can well hold?"""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return False
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return any(os.path.isfile(name) and Path(name).stat().st_size > memory // LARGE_SHARE for name in runs)
