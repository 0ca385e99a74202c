"""How uncertain is the mean? Unjudged documents as probabilities.

Every unjudged document is taken to be relevant with a probability (--q). The table shows the score of the judged
documents alone, the mean with the unjudged ones, its standard deviation and an interval; the certain bounds hold
whatever the unjudged documents turn out to be, those beyond the ends of the lists included. "normal off by" is the
largest error of the probabilities that the normal interval rests on (--interval distribution avoids it).

With --difference, runs are compared in pairs, a document having one value in both. RBP, P and DCG are computed exactly;
nDCG, AP, recall and the others are drawn (--samples, --seed), and the standard error is told.
"""

from __future__ import annotations

import os

from rankbounds.commands.messages import say_all
from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import OUTPUT, write_result
from rankbounds.commands.progress import doing, progress_on_terminal
from rankbounds.commands.reading import CALIBRATE, INPUTS, READING, collection_from, trusted_from
from rankbounds.commands.scoring import PER_TOPIC, RANKING, SEED, SORTING, confidence, measures, order_of_runs
from rankbounds.errors import UsageError
from rankbounds.measures import parse_measures
from rankbounds.probability.differences import differences
from rankbounds.probability.drawn_scores import SAMPLES
from rankbounds.probability.mean import INTERVALS, SOURCES, uncertainty
from rankbounds.probability.models.estimates import KINDS

QUESTION = "How good are my runs?", 2
PROBABILITY = (
    Option(
        "--q WHAT",
        "the probability that an unjudged document is relevant: a number; a file of probabilities (its columns say by "
        "what: rank, run, query_id, or query_id and doc_id); or estimated from the judgments: logistic (default) "
        "or isotonic",
        "logistic",
        file="read",
    ),
    Option("--otherwise Q", "the probability for whatever the file lacks", type=float),
)
"""How probable it is that unjudged documents are relevant."""
OPTIONS = (
    *INPUTS,
    measures((), "RBP(p=0.8) (the default), P@10, DCG@20: exact; AP, nDCG@10 and others: by draws"),
    *PROBABILITY,
    confidence("the interval"),
    Option("--tail", "count what lies beyond the lists' ends in mean and sd too"),
    Option(
        "--sources WHICH",
        f"what the interval covers: {', '.join(SOURCES)} (unjudged documents, topics being a sample, both; default "
        "documents)",
        "documents",
        words=SOURCES,
    ),
    Option("--interval KIND", f"{' or '.join(INTERVALS)} (default {INTERVALS[0]})", "normal", words=INTERVALS),
    *SORTING,
    Option("--difference", "compare the runs in pairs"),
    PER_TOPIC,
    Option("--samples SAMPLES", f"draws for AP, nDCG and the like (default {SAMPLES})", SAMPLES, type=int),
    SEED,
    *RANKING,
    *READING,
    CALIBRATE,
    *OUTPUT,
)


def run(options: Options) -> None:
    """Compute and print."""
    names = ("confidence", "samples", "seed", "otherwise", "ties", "gain", "topics", "score_precision")
    how = pick(options, *names) | {"q": probability_from(options.q)}
    if options.difference:
        _reject_with_difference(options)
    measures = parse_measures(options.measures or ["RBP(p=0.8)"])
    trusted = trusted_from(options, measures, drawn=True)
    if trusted is not None and options.q != "logistic":
        raise UsageError("Probabilities come from --q or from --calibrate, not from both.")
    judgments, runs = collection_from(options, trusted, repeated=True)  # the same file twice: against itself
    if trusted is not None:
        how["q"] = trusted.model(options.otherwise)
        say_all([trusted.words()])
    doing("estimating what unjudged documents are")
    if options.difference:
        compared = differences(judgments, runs, measures, **how)
        say_all(compared.notes())
        write_result(options, compared)
        return
    result = uncertainty(
        judgments,
        runs,
        measures,
        per_topic=options.per_topic,
        progress=progress_on_terminal("runs scored"),
        **pick(options, "tail", "sources", "interval"),
        **how,
    )
    say_all(result.notes())
    by = order_of_runs(options)
    result = result if by == "given" else result.sort(by)
    result = result if options.top is None else result.first(options.top)
    write_result(options, result)


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


def _reject_with_difference(options: Options) -> None:
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
