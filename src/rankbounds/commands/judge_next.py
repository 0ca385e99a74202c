"""List the unjudged documents whose judgments would settle most, the most valuable first.

Without a comparison: documents that narrow the bounds of all runs' means most. For RBP, P and DCG, weight is what a
document adds up to in the runs that hold it, and residual_after what all runs and topics together leave open once it
and all documents above it are judged. Strategy A (default) lowers the summed residual of all runs fastest; B looks
first at runs that are known less well, C at those and at good ones. For nDCG, AP and all other measures value is the
sum of a document's effects on the runs' means.

--compare ONE OTHER asks which of two runs is better, --compare all who is better than the run that leads: value is what
a judgment is expected to move the bound by that will settle the question; for other measures than RBP, P and DCG it
makes a good order, and values do not add up. --until settled (or 0.95) simulates how many judgments that takes, in this
order and with the probabilities of --q, before anybody judges.

--format trec writes a pool file to be filled in; csv, jsonl and json are for rating tools.
"""

from __future__ import annotations

from dataclasses import replace

from rankbounds.commands.messages import say_all
from rankbounds.commands.options import Option, Options, pick
from rankbounds.commands.output import FORMATS, output, write_result, write_text
from rankbounds.commands.progress import doing, progress_on_terminal
from rankbounds.commands.reading import CALIBRATE, INPUTS, READING, collection_from, trusted_from
from rankbounds.commands.sample import COMPARE, compared_from
from rankbounds.commands.scoring import ORDER, SEED, measure_names
from rankbounds.commands.uncertainty import PROBABILITY, probability_from
from rankbounds.judging.next.judge_next import judge_next
from rankbounds.judging.next.residuals import STRATEGIES
from rankbounds.measures import parse_measure

QUESTION = "What should be judged next?", 1
OPTIONS = (
    *INPUTS,
    Option("--budget N", "how many documents (default 20)", 20, type=int),
    Option(
        "-m, --measure, --for MEASURE",
        "RBP(p=0.8) (the default), nDCG@10, AP, P@10, any",
        "RBP(p=0.8)",
        words=measure_names,
    ),
    Option(
        "--strategy S",
        f"{', '.join(STRATEGIES)} (default A), for RBP, P and DCG without --compare",
        "A",
        words=STRATEGIES,
    ),
    replace(
        COMPARE,
        help="settle which of two runs is better (--compare ONE OTHER), or who is better than the leader (--compare "
        "all)",
    ),
    Option(
        "--until WHEN",
        "simulate how many judgments it takes until the comparison is settled whatever else is unjudged (settled), or "
        "decided with a probability (0.95)",
    ),
    *PROBABILITY,
    SEED,
    ORDER,
    *READING,
    CALIBRATE,
    *output((*FORMATS[:5], "trec", *FORMATS[5:])),
)


def run(options: Options) -> None:
    """Plan and print."""
    trusted = trusted_from(options, [parse_measure(options.measure)], drawn=True)
    judgments, runs = collection_from(options, trusted)
    doing("estimating what unjudged documents are")
    plan = judge_next(
        judgments,
        runs,
        strategy=options.strategy.upper(),
        compare=compared_from(options.compare),
        q=probability_from(options.q) if trusted is None else trusted.model(options.otherwise),
        **pick(options, "budget", "measure", "until", "otherwise", "ties", "seed"),
        progress=progress_on_terminal("steps of the plan"),
    )
    if options.format in ("table", "trec") and not len(plan):
        write_text(options, "")
    elif options.format == "trec":
        write_text(options, plan.pool().text())
    else:
        write_result(options, plan)
    if trusted is not None:
        say_all([trusted.words()])
    say_all(plan.sentences())
