"""How uncertain is the mean? Unjudged documents as probabilities.

Every unjudged document is taken to be relevant with a probability (--q). The table shows the score of the judged
documents alone, the mean with the unjudged ones, its standard deviation and an interval; the certain bounds hold
whatever the unjudged documents turn out to be, those beyond the ends of the lists included. "normal off by" is the
largest error of the probabilities that the normal interval rests on (--interval distribution avoids it).

With --difference, runs are compared in pairs, a document having one value in both. RBP, P and DCG are computed exactly;
nDCG, AP, recall and the others are drawn (--samples, --seed), and the standard error is told.
"""

from __future__ import annotations

import argparse
import os

from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, progress_on_terminal, seed, write_text
from rankbounds.commands.progress import doing
from rankbounds.commands.reading import add_calibrate, add_inputs, add_reading, collection_from, read_runs, trusted_from
from rankbounds.commands.scoring import add_ranking, add_sorting, order_of_runs
from rankbounds.errors import UsageError
from rankbounds.measures import parse_measures
from rankbounds.probability.differences import differences
from rankbounds.probability.drawn_scores import SAMPLES
from rankbounds.probability.mean import INTERVALS, SOURCES, uncertainty
from rankbounds.probability.models.estimates import KINDS

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "latex", "markdown", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    parser.add_argument(
        "-m", "--measure", dest="measures", metavar="MEASURE", action="append",
        help="RBP(p=0.8) (the default), P@10, DCG@20: exact; AP, nDCG@10 and others: by draws; may be repeated",
    )  # fmt: skip
    add_probability(parser)
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of the interval (default 0.95)")
    parser.add_argument("--tail", action="store_true", help="count what lies beyond the lists' ends in mean and sd too")
    parser.add_argument(
        "--sources", default="documents", metavar="WHICH",
        help=f"what the interval covers: {', '.join(SOURCES)} (unjudged documents, topics being a sample, both; "
        "default documents)",
    )  # fmt: skip
    parser.add_argument(
        "--interval", default="normal", metavar="KIND", help=f"{' or '.join(INTERVALS)} (default {INTERVALS[0]})"
    )
    add_sorting(parser)
    parser.add_argument("--difference", action="store_true", help="compare the runs in pairs")
    parser.add_argument("-q", "--per-topic", action="store_true", help="one row for each topic too")
    parser.add_argument(
        "--samples", type=int, default=SAMPLES, help=f"draws for AP, nDCG and the like (default {SAMPLES})"
    )
    parser.add_argument("--seed", type=seed, default=0, help="where the draws start (default 0)")
    add_ranking(parser)
    add_reading(parser)
    add_calibrate(parser)
    add_output(parser, FORMATS)


def add_probability(parser: argparse.ArgumentParser) -> None:
    """Declare how probable it is that unjudged documents are relevant."""
    parser.add_argument(
        "--q", default="logistic", metavar="WHAT",
        help="the probability that an unjudged document is relevant: a number; a file of probabilities (its columns "
        "say by what: rank, run, query_id, or query_id and doc_id); or estimated from the judgments: logistic "
        "(default), isotonic, urn",
    )  # fmt: skip
    parser.add_argument("--otherwise", type=float, metavar="Q", help="the probability for whatever the file lacks")


def run(options: argparse.Namespace) -> int:
    """Compute and print."""
    q = probability_from(options.q)
    names = ("otherwise", "ties", "gain", "topics", "score_precision")
    assumed = {"q": q} | {name: getattr(options, name) for name in names}
    if options.difference:
        _reject_with_difference(options)
    measures = parse_measures(options.measures or ["RBP(p=0.8)"])
    trusted = trusted_from(options, measures, drawn=True)
    if trusted is not None and options.q != "logistic":
        raise UsageError("Probabilities come from --q or from --calibrate, not from both.")
    # The same file twice is a run against itself.
    if trusted is None:
        judgments, runs = collection_from(options, repeated=True)
    else:
        judgments, runs = trusted.qrels, read_runs(options, repeated=True)
        assumed["q"] = trusted.model(options.otherwise)
        _tell([trusted.words()])
    doing("estimating what unjudged documents are")
    if options.difference:
        compared = differences(
            judgments,
            runs,
            measures,
            confidence=options.confidence,
            samples=options.samples,
            seed=options.seed,
            **assumed,
        )
        _tell(compared.notes())
        write_text(options, compared.render(options.format, raw=options.raw))
        return 0
    result = uncertainty(
        judgments,
        runs,
        measures,
        confidence=options.confidence,
        tail=options.tail,
        sources=options.sources,
        interval=options.interval,
        samples=options.samples,
        seed=options.seed,
        per_topic=options.per_topic,
        progress=progress_on_terminal("runs scored"),
        **assumed,
    )
    _tell(result.notes())
    by = order_of_runs(options)
    result = result if by == "given" else result.sort(by)
    result = result if options.top is None else result.first(options.top)
    write_text(options, result.render(options.format, raw=options.raw))
    return 0


def probability_from(given: str) -> float | str:
    """A number, or the name of a way to estimate, or that of a file."""
    try:
        return float(given)
    except ValueError:
        if given not in KINDS and not os.path.exists(given):
            raise UsageError(
                f'--q "{given}" is neither a number, nor a file that exists, nor one of {", ".join(KINDS)}.'
            ) from None
        return given


def _reject_with_difference(options: argparse.Namespace) -> None:
    if options.sort or options.top:
        raise UsageError("--sort and --top are for runs; --difference shows every pair of them.")
    for name, changed in (
        ("--tail", options.tail),
        ("--per-topic", options.per_topic),
        ("--sources", options.sources != "documents"),
        ("--interval", options.interval != "normal"),
    ):
        if changed:
            raise UsageError(
                f"{name} does not go with --difference: mean and sd of a difference are those of the retrieved "
                "documents over all topics."
            )


def _tell(notes: list[str]) -> None:
    for note in notes:
        say(note)
