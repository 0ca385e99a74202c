"""Commands about scores that are uncertain: unjudged documents as probabilities, and sampled judgments."""

from __future__ import annotations

from typing import Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import doing, progress_on_terminal, say
from rankbounds.commands.console.options import Option, Options, call, options_given
from rankbounds.errors import UsageError
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.measures import parse_measures
from rankbounds.probability.mean import uncertainty
from rankbounds.probability.models.chosen import SAMPLES


@command(
    "uncertainty",
    *reading.INPUTS,
    scoring.measures(DEFAULT_MEASURES[:1], "RBP(p=0.8), P@10, DCG@20: exact; AP, nDCG@10 and others: by random draws"),
    *scoring.probability(
        "groups (default: learned by leaving groups of runs out of the pool), logistic (estimated, not calibrated)",
        "groups",
    ),
    Option(
        "--groups WHAT",
        'the group of each run, such as its team: a file with lines of "run group" (runs not listed form groups by '
        'themselves); or where the group ends in a run\'s name: the first of these marks ("_-"), or a number of '
        "characters",
        file="read",
        group="unjudged and ties",
        everyday=True,
    ),
    scoring.CONFIDENCE,
    Option("--tail", "include ranks beyond the ends of the lists in mean and sd"),
    Option(
        "--sources documents|topics|both",
        "what the interval covers: unjudged documents, the sampling of topics, or both",
        everyday=True,
    ),
    *scoring.SORTING,
    Option("--difference", "compare the runs in pairs", everyday=True),
    scoring.PER_TOPIC,
    Option("--samples SAMPLES", f"draws for AP, nDCG and others (default {SAMPLES})", SAMPLES, type=int),
    scoring.SEED,
    *scoring.RANKING,
    *reading.READING,
    reading.CALIBRATE,
    *output.FIGURES,
    output.EXPLAIN,
    *output.OUTPUT,
)
def run_uncertainty(options: Options) -> Any:
    """Estimate each run's score, with an interval, from the probability that unjudged documents are relevant.

      rankbounds uncertainty qrels.txt runs
      rankbounds uncertainty qrels.txt runs/bm25.txt runs/dense.txt --difference

    "pooled to" says whether a run was pooled, as far as the judgments show: to which depth its documents are judged, or
    no. How often unjudged documents are relevant is learned by leaving other groups of runs out of the pool, and the
    interval is as wide as their errors require; 95% takes 19 groups. With fewer, the interval is the certain bounds,
    which hold whatever the unjudged documents are. RBP, P and DCG are computed exactly; nDCG, AP, recall and others
    from random draws (--samples, --seed), with their standard error.
    """
    q: Any = scoring.probability_from(options.q)
    for flag in options_given(options, "sort", "top", "tail", "per_topic", "sources"):
        if options.difference:
            raise UsageError(
                f"{flag} does not go with --difference, which shows all pairs of runs: mean and sd of a difference are "
                "those of the retrieved documents over all topics."
            )
    asked = parse_measures(options.measures or DEFAULT_MEASURES[0])
    trusted = reading.trusted_from(options, asked, drawn=True)
    if trusted is not None and options.q != "groups":
        raise UsageError("Probabilities come from --q or from --calibrate, not from both.")
    judgments, runs = reading.collection_from(options, trusted, repeated=True)  # the same file twice: against itself
    if trusted is not None:
        q = trusted.model(options.otherwise)
        say(trusted.words())
    doing("estimating what unjudged documents are")
    if options.difference:
        from rankbounds.probability.probable_differences import differences

        return call(options, differences, judgments, runs, asked, q=q)
    progress = progress_on_terminal("runs scored")
    result = call(options, uncertainty, judgments, runs, asked, q=q, progress=progress)
    by = scoring.order_of_runs(options)
    result = result if by == "given" else result.sort(by)
    return result if options.top is None else result.first(options.top)
