"""What the options of commands say of scores: which measures, and what is decided before they are computed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from rankbounds.commands.messages import say
from rankbounds.commands.output import progress_on_terminal
from rankbounds.commands.reading import add_preparing, add_reading, runs_from, score_tables_from
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.assumptions import ASSUMPTIONS, BOUNDS, PRECISIONS, TOPICS
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.evaluation.run_notes import some
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure, parse_measures
from rankbounds.rankings.order import Order
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.unjudged import RULES as UNJUDGED_RULES
from rankbounds.tables import TABLE_FORMATS

if TYPE_CHECKING:
    from rankbounds.stats.significance import Resampling


def add_measures(parser: argparse.ArgumentParser, default: Sequence[str] = DEFAULT_MEASURES) -> None:
    """Which measures."""
    parser.add_argument(
        "-m",
        "--measure",
        dest="measures",
        metavar="MEASURE",
        action="append",
        help=f"RBP(p=0.8), nDCG@10, a trec_eval name, ...; may be repeated (default: {', '.join(default)})",
    )


def add_sorting(
    parser: argparse.ArgumentParser,
    order: str = "the order of runs: by a measure, best first (default in tables: by the first one), by name (run), or "
    "as given (given; default in other formats)",
    top: str = "the N best runs only",
) -> None:
    """In which order runs are shown, and how many of them."""
    parser.add_argument("--sort", metavar="BY", help=order)
    parser.add_argument("--top", type=_count, metavar="N", help=top)


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text[:20]):
        raise argparse.ArgumentTypeError(f'how many to show is a whole number from 1 on, not "{text}"')
    return int(text)


def order_of_runs(options: argparse.Namespace) -> str | None:
    """What runs are sorted by: ``given`` for not at all, None for the first measure."""
    return options.sort or ("given" if options.format not in TABLE_FORMATS and options.top is None else None)


def arranged(options: argparse.Namespace, scores: Scores) -> Scores:
    """The runs in the order that the options ask for, the best first in tables; the first of them alone, if asked."""
    by = order_of_runs(options)
    ordered = scores if by == "given" else scores.sort(by)
    return ordered if options.top is None else ordered.filter(run=ordered.runs[: options.top])


def add_ties(parser: argparse.ArgumentParser, more: str = "") -> None:
    """How to rank tied documents, and what is a tie."""
    parser.add_argument(
        "--ties",
        default="trec",
        metavar="RULE",
        help="tied documents: trec (docno down, as trec_eval; default), run (line order, scores ignored), line (line "
        f"order among equal scores), rank (stated rank), docid (docno up){more}",
    )
    parser.add_argument(
        "--score-precision",
        default="double",
        metavar="WHICH",
        help=f"compare scores in {' or '.join(PRECISIONS)} precision (trec_eval 9: single; default double)",
    )


def add_assumptions(parser: argparse.ArgumentParser) -> None:
    """How to treat ties, unjudged documents, grades and missing topics, and how to read the files."""
    parser.add_argument(
        "--unjudged",
        default="nonrelevant",
        metavar="RULE",
        help=f"unjudged documents: {', '.join(UNJUDGED_RULES)} (default nonrelevant; condensed leaves them out)",
    )
    parser.add_argument("--q", type=float, help="with --unjudged expected: the probability that one is relevant")
    parser.add_argument("--bounds", default="unjudged", metavar="WHAT", help=f"low and high cover: {', '.join(BOUNDS)}")
    parser.add_argument(
        "--open",
        default="retrieved",
        metavar="WHICH",
        help="unjudged documents that bounds cover: retrieved (default), or collection (also relevant ones that nobody "
        "retrieved, which lower nDCG, AP and recall)",
    )
    parser.add_argument(
        "--most-relevant",
        type=int,
        metavar="N",
        help="with --open collection: a topic has at most N relevant documents, known ones counted (default: any "
        "number; a topic that knows more has no others)",
    )
    add_ranking(parser)
    parser.add_argument(
        "--ties-key",
        metavar="FILE",
        help="rank tied documents by your own key: lines of a document and its value (a length, a date, a URL), "
        "smallest first",
    )
    add_preparing(parser)
    add_reading(parser)


def add_ranking(parser: argparse.ArgumentParser) -> None:
    """How runs become rankings: ties, gains, missing topics, the precision of scores."""
    add_ties(parser, ", best, worst, expected (mean over all orders)")
    add_gain(parser)
    parser.add_argument(
        "--topics",
        default="judged",
        metavar="WHICH",
        help=f"{' or '.join(TOPICS)}: score judged topics that a run lacks as empty lists (default), or leave them out",
    )


def add_gain(parser: argparse.ArgumentParser) -> None:
    """What grades are worth."""
    parser.add_argument(
        "--gain",
        metavar="RULE",
        help='gains of grades: linear (default), or a table like "1=3,2=9", or "S=3,A=2,B=1" where grades are words',
    )


def add_order(parser: argparse.ArgumentParser) -> None:
    """How documents of equal score are ordered, where one order is needed."""
    parser.add_argument(
        "--ties",
        default="trec",
        metavar="RULE",
        help="tied documents: trec (docno down; default), run (line order, scores ignored), line (line order among "
        "equal scores), rank (stated rank), docid (docno up)",
    )


def order(options: argparse.Namespace) -> Order:
    """The order that was asked for."""
    if options.ties not in ORDERS:
        hint = did_you_mean(options.ties, list(ORDERS))
        raise UsageError(f'There is no order "{options.ties}" of tied documents.{hint} Known: {", ".join(ORDERS)}.')
    return cast(Order, options.ties)


def add_resampling(parser: argparse.ArgumentParser, resamples: int) -> None:
    """How often and from which seed tests resample."""
    parser.add_argument("--resamples", type=int, default=resamples, help=f"how many resamples (default {resamples})")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random numbers (default 0)")


def add_tests(parser: argparse.ArgumentParser) -> None:
    """Which tests runs are compared by; the same everywhere, so that the same pair gets the same p-values."""
    from rankbounds.stats.significance import default_first

    parser.add_argument("--test", default="randomization", help=default_first("randomization"))
    parser.add_argument(
        "--correction",
        default="auto",
        help="for three runs or more: tukey (randomised, paired; what auto, the default, takes), holm (what auto takes "
        "for other tests), bonferroni, bh, none",
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="significance level (default 0.05)")
    parser.add_argument("--confidence", type=float, default=0.95, help="of the intervals (default 0.95)")
    add_resampling(parser, resamples=10_000)


def resampling_from(options: argparse.Namespace) -> Resampling:
    """The resampling that the options ask for."""
    from rankbounds.stats.significance import Resampling

    return Resampling(options.resamples, options.seed)


def assumptions_from(options: argparse.Namespace) -> dict[str, Any]:
    """What ``add_assumptions`` declared, by the names that ``evaluate`` has for it."""
    return {name: getattr(options, name) for name in ASSUMPTIONS}


def evaluate_from(options: argparse.Namespace, *, qrels: Any = None, runs: Any = None) -> Scores:
    """Run ``evaluate`` as the options say, on other judgments or runs if given; or read tables of scores."""
    if getattr(options, "scores", None):
        from rankbounds.comparison.verdict import over_shared_topics

        return over_shared_topics(tabled_from(options, score_tables_from(options)))
    return evaluate(
        options.qrels if qrels is None else qrels,
        runs_from(options) if runs is None else runs,
        options.measures or DEFAULT_MEASURES,
        **assumptions_from(options),
        labels=options.labels,
        formats=options.read_as,
        columns=options.columns,
        lenient=options.lenient,
        progress=progress_on_terminal("runs scored"),
    )


def tabled_from(options: argparse.Namespace, scores: Scores, asked: Sequence[Measure] = ()) -> Scores:
    """The scores of tables, by the measures that the options or a gate ask for.

    Where none is asked for: those of the usual measures that all runs have; where there are none, all that they have.
    """
    known = [str(measure) for measure in scores.measures]
    wanted: list[str | Measure] = list(asked)
    for text in options.measures or ():
        wanted += [text] if text in known else parse_measures(text)
    if wanted:
        return scores[wanted]
    whole = [measure for place, measure in enumerate(scores.measures) if scores.all_runs_have(place)]
    usual = [measure for measure in parse_measures(DEFAULT_MEASURES) if measure in whole] or whole
    if not usual or len(usual) == len(known):
        return scores
    others = [label for label in known if label not in map(str, usual)]
    shown = f"{', '.join(map(str, usual))} {'is' if len(usual) == 1 else 'are'} shown"
    say(f"{shown}; -m names others of the tables: {some(others)}.")
    return scores[usual]
