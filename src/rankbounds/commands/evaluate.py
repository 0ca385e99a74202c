"""Score runs against judgments, with bounds for what is unjudged or tied.

The table shows the mean over topics of each measure. Behind RBP and other measures that can only rise stands what
the unjudged documents could still add (0.3280 +0.5120); behind measures that can rise and fall, how far ([low, high]).
judged@10 is the share of the first ten documents that somebody judged.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, progress_on_terminal, write_text, wrote
from rankbounds.commands.reading import add_inputs
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
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.scores import Scores
from rankbounds.files.opening import expand

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "parquet", "latex", "markdown", "html", "trec")
ENGINES = ("auto", "local", "stream", "spark")
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
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Evaluate and print."""
    scores = arranged(options, _scores(options))
    if scores.outer:
        named = ", ".join(map(str, scores.outer))
        say(f"the bounds of {named} hold, but may be wider than what can happen.")
    if options.format == "parquet":
        scores.write_parquet(options.output, per_topic=options.per_topic)
        wrote(options.output)
    else:
        write_text(options, scores.render(options.format, per_topic=options.per_topic, raw=options.raw))
    return 0


def _scores(options: argparse.Namespace) -> Scores:
    engine = options.engine
    if engine not in ENGINES:
        hint = did_you_mean(engine, list(ENGINES))
        raise UsageError(f'There is no engine "{engine}".{hint} Known: {", ".join(ENGINES)}.')
    if options.memory and engine not in ("auto", "stream"):
        raise UsageError("--memory goes with --engine stream only.")
    if engine == "auto":
        engine = "stream" if options.memory or _too_large(list(named_files(options))) else "local"
    if engine == "local":
        return evaluate_from(options)
    if options.read_as or options.labels or options.columns:
        raise UsageError(
            f"--from, --labels and --columns do not go with --engine {engine}: it reads TREC files and Parquet."
        )
    if options.drop_self or options.documents_of or options.depth:
        raise UsageError(f"--drop-self, --documents-of and --depth do not go with --engine {engine}.")
    measures = options.measures or DEFAULT_MEASURES
    if engine == "spark":
        try:
            from rankbounds.evaluation.engines import spark
        except ImportError:
            raise UsageError("This installation has no engine for Spark.") from None

        assumptions = assumptions_from(options)
        return spark.evaluate_files(options.qrels, options.runs, measures, lenient=options.lenient, **assumptions)
    from rankbounds.evaluation.engines import streaming

    files = named_files(options)
    scores = streaming.evaluate(
        options.qrels,
        list(files),
        measures,
        memory=options.memory,
        lenient=options.lenient,
        progress=progress_on_terminal("parts scored"),
        **assumptions_from(options),
    )
    return replace(scores, runs=[name or own for name, own in zip(files.values(), scores.runs, strict=True)])


def named_files(options: argparse.Namespace) -> dict[str, str | None]:
    """The files of the runs with the names that the user gave them, if any."""
    return {
        file: name for argument in options.runs for name, path in [name_and_path(argument)] for file in expand([path])
    }


def _too_large(runs: list[str]) -> bool:
    """Is a run larger than this machine's memory can well hold?"""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return False
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return any(os.path.isfile(name) and Path(name).stat().st_size > memory // LARGE_SHARE for name in runs)
