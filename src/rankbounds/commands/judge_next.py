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

import argparse

from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, progress_on_terminal, seed, write_text
from rankbounds.commands.progress import doing
from rankbounds.commands.reading import add_calibrate, add_inputs, add_reading, collection_from, read_runs, trusted_from
from rankbounds.commands.scoring import add_order, order
from rankbounds.commands.uncertainty import add_probability, probability_from
from rankbounds.errors import UsageError
from rankbounds.judging.candidates import ALL
from rankbounds.judging.next.judge_next import judge_next
from rankbounds.judging.next.plan import JudgingPlan, SettlingPlan
from rankbounds.judging.next.residuals import STRATEGIES
from rankbounds.measures import parse_measure

FORMATS = ("table", "json", "jsonl", "csv", "tsv", "trec", "markdown", "latex", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    parser.add_argument("--budget", type=int, default=20, metavar="N", help="how many documents (default 20)")
    parser.add_argument(
        "-m", "--measure", "--for", dest="measure", default="RBP(p=0.8)", metavar="MEASURE",
        help="RBP(p=0.8) (the default), nDCG@10, AP, P@10, any",
    )  # fmt: skip
    parser.add_argument(
        "--strategy", default="A", metavar="S",
        help=f"{', '.join(STRATEGIES)} (default A), for RBP, P and DCG without --compare",
    )  # fmt: skip
    parser.add_argument(
        "--compare", nargs="+", metavar="NAME",
        help="settle which of two runs is better (--compare ONE OTHER), or who is better than the leader (--compare "
        "all)",
    )  # fmt: skip
    parser.add_argument(
        "--until", metavar="WHEN",
        help="simulate how many judgments it takes until the comparison is settled whatever else is unjudged "
        "(settled), or decided with a probability (0.95)",
    )  # fmt: skip
    add_probability(parser)
    parser.add_argument("--seed", type=seed, default=0, help="where draws start (default 0)")
    add_order(parser)
    add_reading(parser)
    add_calibrate(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Plan and print."""
    trusted = trusted_from(options, [parse_measure(options.measure)], drawn=True)
    if trusted is None:
        judgments, runs = collection_from(options)
    else:
        judgments, runs = trusted.qrels, read_runs(options)
    doing("estimating what unjudged documents are")
    plan = judge_next(
        judgments,
        runs,
        budget=options.budget,
        measure=options.measure,
        strategy=options.strategy.upper(),
        compare=compared_from(options.compare),
        until=options.until,
        q=probability_from(options.q) if trusted is None else trusted.model(options.otherwise),
        otherwise=options.otherwise,
        ties=order(options),
        seed=options.seed,
        progress=progress_on_terminal("steps of the plan"),
    )
    write_text(options, rendered(plan, options.format, raw=options.raw))
    for sentence in (
        *([] if trusted is None else [trusted.words()]),
        *plan.sentences(),
    ):
        say(sentence)
    return 0


def compared_from(names: list[str] | None) -> tuple[str, str] | str | None:
    """The two runs that the option names, or all of them."""
    if names is None:
        return None
    if names == [ALL]:
        return ALL
    if len(names) != 2:
        raise UsageError(f"--compare takes the names of two runs, or {ALL}, not {' '.join(names)}.")
    return names[0], names[1]


def rendered(plan: JudgingPlan | SettlingPlan, kind: str, *, raw: bool = False) -> str:
    """The plan in any format of the command."""
    if kind in ("table", "trec") and not len(plan):
        return ""
    if kind == "trec":
        return plan.pool().text()
    return plan.render(kind, raw=raw)
