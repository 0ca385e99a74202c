"""Commands about scores that are uncertain: unjudged documents as probabilities, and sampled judgments."""

from __future__ import annotations

from typing import Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, progress_on_terminal, say
from rankbounds.commands.console.options import Option, Options, call, options_given
from rankbounds.errors import UsageError
from rankbounds.measures import parse_measures
from rankbounds.probability.drawn_scores import SAMPLES
from rankbounds.probability.mean import uncertainty


@command(
    "uncertainty",
    "How good are my runs?",
    2,
    *reading.INPUTS,
    scoring.measures((), "RBP(p=0.8) (the default), P@10, DCG@20: exact; AP, nDCG@10 and others: by draws"),
    *scoring.PROBABILITY,
    scoring.confidence("the interval"),
    Option("--tail", "count what lies beyond the lists' ends in mean and sd too"),
    Option("--sources documents|topics|both", "what the interval covers: unjudged documents, topics as a sample, both"),
    Option("--interval normal|distribution", "from the mean and sd, or from the distribution itself"),
    *scoring.SORTING,
    Option("--difference", "compare the runs in pairs"),
    scoring.PER_TOPIC,
    Option("--samples SAMPLES", f"draws for AP, nDCG and the like (default {SAMPLES})", SAMPLES, type=int),
    scoring.SEED,
    *scoring.RANKING,
    *reading.READING,
    reading.CALIBRATE,
    *output.OUTPUT,
)
def run_uncertainty(options: Options) -> Any:
    """How uncertain is the mean? Unjudged documents as probabilities.

    Every unjudged document is taken to be relevant with a probability (--q). The table shows the score of the judged
    documents alone, the mean with the unjudged ones, its standard deviation and an interval; certain bounds hold
    whatever the unjudged documents are. "normal off by" is the largest error of the probabilities that the normal
    interval rests on (--interval distribution avoids it). RBP, P and DCG are computed exactly; nDCG, AP, recall and the
    others are drawn (--samples, --seed), and the standard error is told.
    """
    q: Any = scoring.probability_from(options.q)
    for flag in options_given(options, "sort", "top", "tail", "per_topic", "sources", "interval"):
        if options.difference:
            raise UsageError(
                f"{flag} does not go with --difference, which shows all pairs of runs: mean and sd of a difference are "
                "those of the retrieved documents over all topics."
            )
    asked = parse_measures(options.measures or ["RBP(p=0.8)"])
    trusted = reading.trusted_from(options, asked, drawn=True)
    if trusted is not None and options.q != "logistic":
        raise UsageError("Probabilities come from --q or from --calibrate, not from both.")
    judgments, runs = reading.collection_from(options, trusted, repeated=True)  # the same file twice: against itself
    if trusted is not None:
        q = trusted.model(options.otherwise)
        say(trusted.words())
    doing("estimating what unjudged documents are")
    if options.difference:
        from rankbounds.probability.differences import differences

        return call(options, differences, judgments, runs, asked, q=q)
    progress = progress_on_terminal("runs scored")
    result = call(options, uncertainty, judgments, runs, asked, q=q, progress=progress)
    by = scoring.order_of_runs(options)
    result = result if by == "given" else result.sort(by)
    return result if options.top is None else result.first(options.top)


@command(
    "sampling-errors",
    "What would fewer judgments have said?",
    2,
    *reading.INPUTS,
    scoring.measures((), "xinfAP, infNDCG (the default: both), infP@10, infNumRelRet, infNumRel"),
    scoring.confidence("the interval"),
    scoring.PER_TOPIC,
    *scoring.RANKING,
    *reading.READING,
    *output.OUTPUT,
)
def run_sampling_errors(options: Options) -> Any:
    """How far may estimates from sampled judgments be off? Standard errors over what could have been drawn.

    For judgments of a sample with strata (five fields: topic 0 document stratum grade; -1 for documents of the pool
    that were not drawn). The table shows xinfAP, infNDCG or inferred counts, the standard error of each (the jackknife
    within strata, corrected for the share of each that was judged), and a normal interval. It covers the drawing of
    documents, not that of topics.
    """
    from rankbounds.probability.sampling_errors import estimate_sampling_errors

    return call(options, estimate_sampling_errors, *reading.collection_from(options))
