"""What the options of commands say of scores: which measures, and what is decided before they are computed."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from rankbounds.commands.console.messages import progress_on_terminal, say
from rankbounds.commands.console.options import Option, Options, group_under, pick, whole, words_in
from rankbounds.commands.console.reading import PREPARING, READING, runs_from, score_tables_from
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import ASSUMPTIONS, CHOICES
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.naming.registry import import_all
from rankbounds.phrases import some
from rankbounds.tables import TABLE_FORMATS

# ---- options ----


def words_for(assumption: str) -> str:
    return "|".join(CHOICES[assumption])


def measure_names() -> list[str]:
    names = dict.fromkeys([*DEFAULT_MEASURES, *import_all()])
    return [name for name in names if name.replace("@", "_").isidentifier()]


def measures(
    default: Sequence[str] = DEFAULT_MEASURES, text: str = "measures, separated by commas: nDCG@10,AP"
) -> Option:
    shown = f" (default: {', '.join(default)})" if default else ""
    return Option(
        "-m, --measure MEASURE",
        f"{text}; may be repeated{shown}",
        dest="measures",
        repeated=True,
        words=measure_names,
        everyday=True,
    )


MEASURES = measures()
PER_TOPIC = Option("-q", "show every topic too", dest="per_topic", everyday=True)
TOP = Option("--top N", "show the N best runs only", type=whole("how many to show is", 1), everyday=True)
SORTING = (
    Option(
        "--sort BY",
        "order of the runs: a measure (best first; default in tables: the first measure), run (by name) or given (as "
        "given; default in other formats)",
    ),
    TOP,
)


ORDER = Option(
    "--ties RULE",
    "how to order documents with equal scores: trec (as trec_eval; default), docid, rank (stated), line, best, worst, "
    "expected (mean of all orders); run (line order) and stated (rank) ignore scores",
    "trec",
    words=CHOICES["ties"],
    everyday=True,
)
TIES = group_under(
    "unjudged and ties",
    ORDER,
    Option(
        f"--score-precision {words_for('score_precision')}",
        "precision in which scores are compared (trec_eval 9: single)",
    ),
    about_runs=True,
    explained_by="evaluate",
)
GAIN = Option(
    "--gain RULE",
    'gain of each grade: linear (default), or a table such as "1=3,2=9", or "S=3,A=2,B=1" where grades are words',
    group="unjudged and ties",
    about_runs=True,
    explained_by="evaluate",
)
RANKING = group_under(
    "unjudged and ties",
    *TIES,
    GAIN,
    Option(
        f"--topics {words_for('topics')}",
        "count judged topics that a run lacks as 0 (judged), or leave them out (shared)",
    ),
    about_runs=True,
    explained_by="evaluate",
)
ASSUMING = (
    *group_under(
        "unjudged and ties",
        Option(
            "--unjudged nonrelevant|relevant|condensed|expected",
            "how to count an unjudged document; condensed leaves it out",
            everyday=True,
        ),
        Option("--q Q", "with --unjudged expected: the probability that an unjudged document is relevant", type=float),
        Option(f"--bounds {words_for('bounds')}", "what the bounds cover"),
        Option(
            f"--open {words_for('open')}",
            "which unjudged documents the bounds cover: retrieved ones, or all of the collection (relevant documents "
            "that no run retrieved lower nDCG, AP and recall)",
        ),
        Option(
            "--most-relevant N",
            "with --open collection: a topic has at most N relevant documents, with the known ones (default: no limit)",
            type=int,
        ),
        *RANKING,
        Option(
            "--ties-key FILE", "order tied documents by your own values: lines of document and value, smallest first"
        ),
        about_runs=True,
        explained_by="evaluate",
    ),
    *PREPARING,
    *READING,
)
ASSUMING_NO_BOUNDS = tuple(each for each in ASSUMING if each.dest not in ("bounds", "open", "most_relevant"))


def share(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f'a number such as 0.01 or 1% is expected, not "{text}"') from None


SEED = Option(
    "--seed SEED", f"seed of the random numbers (default {Question.seed})", Question.seed, type=whole("a seed is", 0)
)
CONFIDENCE = Option(
    "--confidence C", f"confidence level of intervals (default {Question.confidence})", Question.confidence
)
ALPHA = Option("--alpha ALPHA", f"significance level (default {Question.alpha})", Question.alpha)


def resampling(resamples: int = Question.resamples) -> tuple[Option, Option]:
    return (Option("--resamples RESAMPLES", f"number of resamples (default {resamples})", resamples, type=int), SEED)


def named_tests() -> str:
    from rankbounds.stats.significance import DEFAULT_TEST, TESTS

    others = [name for name in TESTS if name != DEFAULT_TEST]
    return f"test of significance: {', '.join([f'{DEFAULT_TEST} (default)', *others])}"


CLUSTERS = Option(
    "--clusters WHAT",
    "queries that belong together (paraphrases, turns of a conversation): a file with query and cluster, or the mark "
    "that ends the cluster in an id (_ of 31_1); tests and intervals then treat clusters as independent",
    file="read",
    group="test",
)
BY = Option(
    "--by WHAT",
    "also compare per class of topics (slices): a file of query and class, or the mark that ends it in ids (/)",
    file="read",
    everyday=True,
)
TESTS = group_under(
    "test",
    Option("--test TEST", named_tests, Question.test, words=words_in("stats.significance", "TESTS"), everyday=True),
    Option(
        "--correction CORRECTION",
        "correction for the number of pairs: auto (default: holm; max-t for the bootstrap test), holm, "
        "bonferroni, bh, tukey, max-t, none",
        Question.correction,
        words=words_in("stats.corrections", "CORRECTIONS", "auto"),
    ),
    CLUSTERS,
    ALPHA,
    CONFIDENCE,
    *resampling(),
    explained_by="compare",
)
"""Which tests runs are compared by; the same everywhere, so that the same pair gets the same p-values."""

OTHERWISE = Option(
    "--otherwise Q", "the probability of documents that the file lacks", type=float, group="unjudged and ties"
)


def probability(estimated: str, default: str) -> tuple[Option, ...]:
    what = (
        f"probability that an unjudged document is relevant: {estimated}, a number, or a file (columns query_id, "
        "doc_id and probability)"
    )
    return Option("--q WHAT", what, default, file="read", group="unjudged and ties", everyday=True), OTHERWISE


# ---- what they say ----


def probability_from(given: str) -> float | str:
    try:
        return float(given)
    except ValueError:
        from rankbounds.probability.models.chosen import KINDS

        if given not in KINDS and not os.path.exists(given):
            raise UsageError(
                f'--q "{given}" is neither a number, nor a file that exists, nor one of {", ".join(KINDS)}.'
            ) from None
        return given


def order_of_runs(options: Options) -> str | None:
    return options.sort or ("given" if options.format not in TABLE_FORMATS and options.top is None else None)


def sort_runs(options: Options, scores: Scores) -> Scores:
    by = order_of_runs(options)
    ordered = scores if by == "given" else scores.sort(by)
    return ordered if options.top is None else ordered.filter(run=ordered.runs[: options.top])


def evaluation_from(options: Options) -> dict[str, Any]:
    return pick(options, *ASSUMPTIONS, *(option.dest for option in READING))


def evaluate_from(options: Options) -> Scores:
    if getattr(options, "scores", None):
        from rankbounds.comparison.evidence import keep_shared_topics

        tables = score_tables_from(options)
        return keep_shared_topics(tabled_from(options, tables))
    return evaluate(
        options.qrels,
        runs_from(options),
        parse_measures(options.measures or DEFAULT_MEASURES),
        **{"bounds": "none", **evaluation_from(options)},
        progress=progress_on_terminal("runs scored"),
    )


def tabled_from(options: Options, scores: Scores, asked: Sequence[Measure] = ()) -> Scores:
    """Return the scores of tables, by the measures asked for, else the usual ones, else all that all runs have."""
    known = [str(measure) for measure in scores.measures]
    wanted: list[str | Measure] = list(asked)
    for text in options.measures or ():
        wanted += [text] if text in known else parse_measures(text)
    if wanted:
        return scores[wanted]
    scored = (scores.value == scores.value).any(axis=1).all(axis=0)
    scored_by_all = [measure for measure, by_all in zip(scores.measures, scored.tolist(), strict=True) if by_all]
    usual = [measure for measure in parse_measures(DEFAULT_MEASURES) if measure in scored_by_all] or scored_by_all
    if not usual or len(usual) == len(known):
        return scores
    others = [label for label in known if label not in map(str, usual)]
    shown = f"{', '.join(map(str, usual))} {'is' if len(usual) == 1 else 'are'} shown"
    say(f"{shown}; -m names others of the tables: {some(others)}.")
    return scores[usual]
