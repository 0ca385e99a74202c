"""Is A better than B? Tests over topics, bounds for unjudged documents and ties, one verdict.

For two runs, a paragraph in plain words and the numbers under it. For many, a leaderboard: systems that share a letter
are not separable. "interval" is about topics, a sample; "bounds" and "whatever is judged" about missing judgments.
"""

from __future__ import annotations

import argparse
import html
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.commands.messages import say
from rankbounds.commands.output import add_output, check_format, progress_on_terminal, write_text
from rankbounds.commands.reading import add_inputs, check_inputs, collection_from
from rankbounds.commands.scoring import add_assumptions, add_measures, add_tests, assumptions_from, resampling_from
from rankbounds.errors import UsageError
from rankbounds.evaluation.score_differences import differences, equal, mean_difference, merit, merit_of_range
from rankbounds.evaluation.scores import Scores, joined
from rankbounds.tables import Table, json_of, number, plain

if TYPE_CHECKING:
    from rankbounds.comparison import Comparison, Evidence

FORMATS = ("table", "json", "latex", "markdown", "html")
METHOD: dict[str, Callable[[str], str]] = {
    "table": "{}\n".format,
    "markdown": "{}\n".format,
    "latex": "% {}\n".format,
    "html": lambda sentence: f"<p>{html.escape(sentence)}</p>\n",
}
"""How each format tells which tests p-values come from."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_inputs(parser)
    add_measures(parser, ("RBP(p=0.8)",))
    add_tests(parser)
    parser.add_argument(
        "--ranks",
        default="auto",
        metavar="HOW",
        help="intervals for places on the leaderboard: bootstrap (over topics; of three runs or more the default) or "
        "test (the pairs that the test separates)",
    )
    parser.add_argument(
        "--baseline-run",
        metavar="NAME",
        help="compare this run with all others instead of all pairs, corrected for their number by Dunnett's test on "
        "the same resamples",
    )
    parser.add_argument("--per-topic", action="store_true", help="for two runs: the topics, largest difference first")
    parser.add_argument("--standardise", action="store_true", help="score topics against what these runs do on them")
    parser.add_argument(
        "--fail-if",
        metavar="CONDITION",
        action="append",
        help='a gate for two runs, the baseline first: "nDCG@10 worse" ends with exit code 1 when the second run is '
        "surely or significantly worse",
    )
    parser.add_argument("--min-effect", type=float, default=0.0, help="with --fail-if: smaller differences are fine")
    parser.add_argument("--save", metavar="FILE", help="save the runs' scores, to be a baseline later")
    parser.add_argument("--baseline", metavar="FILE", help="compare with scores saved before; they come first")
    add_assumptions(parser)
    add_output(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Read, compare, print, and judge the gate."""
    from rankbounds.comparison import compare
    from rankbounds.comparison.standardisation import standardised

    check_format(options)
    check_inputs(options)
    gates = [parse_gate(condition) for condition in options.fail_if or ()]
    measures = list(dict.fromkeys([*(options.measures or ()), *(measure for measure, _ in gates)])) or ["RBP(p=0.8)"]
    evidence = evidence_from(options)
    scores = evidence.scores(measures, progress=progress_on_terminal("runs scored"))
    if options.save:
        scores.save(options.save)
    if options.baseline:
        scores = joined(Scores.load(options.baseline), scores)
    if options.standardise:
        scores = standardised(scores)
    found = compare(
        scores,
        test=options.test,
        correction=options.correction,
        ranks=options.ranks,
        alpha=options.alpha,
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
        baseline=options.baseline_run,
        evidence=None if options.baseline or options.standardise else evidence,
    )
    if gates and len(scores.runs) != 2:
        raise UsageError("--fail-if compares two runs, the baseline and the candidate.")
    write_text(options, rendered(options, found))
    failed = [judge_gate(found, measure, word, options) for measure, word in gates]
    return int(any(failed))


def evidence_from(options: argparse.Namespace) -> Evidence:
    """The judgments and runs that the options name, each file read once."""
    from rankbounds.comparison import Evidence
    from rankbounds.evaluation.assumptions import Assumptions

    return Evidence(*collection_from(options), Assumptions(**assumptions_from(options)))


def rendered(options: argparse.Namespace, found: Comparison) -> str:
    """The comparison in the format asked for."""
    two = len(found.runs) == 2
    if options.format == "json":
        systems = [row | {"topics_won": row["topics_led"]} for row in found.systems]  # its old name, for one release
        content: dict[str, Any] = {"systems": systems, "pairs": found.pairs, "settings": found.settings}
        if two:
            content["words"] = [found.words(measure) for measure in found.measures]
        if options.per_topic:
            content["topics"] = topic_rows(found.scores)
        return json_of(content, indent=1) + "\n"
    parts = []
    for at, measure in enumerate(found.measures):
        if two and options.format == "table":
            parts.append(found.words(measure))
        parts += [table.render(options.format) for table in found.tables(measure)]
        if options.per_topic:
            parts.append(topic_table(found.scores, at).render(options.format))
    parts.append(METHOD[options.format](found.method()))
    return "\n".join(parts)


def topic_rows(scores: Scores) -> list[dict[str, Any]]:
    """For two runs, each topic's scores and their difference, the largest first."""
    if len(scores.runs) != 2:
        raise UsageError("--per-topic shows two runs.")
    rows = []
    for at, measure in enumerate(map(str, scores.measures)):
        a, b = scores.value[0, :, at], scores.value[1, :, at]
        difference = differences(a, b)
        for topic in (-difference).argsort(kind="stable").tolist():
            values = {"a": a[topic], "b": b[topic], "difference": difference[topic]}
            rows.append(
                {"measure": measure, "query_id": scores.query_ids[topic]}
                | {key: plain(value) for key, value in values.items()}
            )
    return rows


def topic_table(scores: Scores, at: int) -> Table:
    """The topics of one measure as a table."""
    from rankbounds.comparison.result import signed

    measure = str(scores.measures[at])
    cells = [
        [row["query_id"], number(row["a"]), number(row["b"]), signed(row["difference"])]
        for row in topic_rows(scores)
        if row["measure"] == measure
    ]
    return Table(["topic", scores.runs[0], scores.runs[1], "difference"], cells)


def parse_gate(condition: str) -> tuple[str, str]:
    """A measure and "worse" or "different"."""
    measure, _, word = condition.strip().rpartition(" ")
    if not measure or word not in ("worse", "different"):
        raise UsageError(f'The gate "{condition}" should name a measure and "worse" or "different": "nDCG@10 worse".')
    from rankbounds.measures import parse_measure

    return str(parse_measure(measure)), word


def judge_gate(found: Comparison, measure: str, word: str, options: argparse.Namespace) -> bool:
    """Say on standard error whether the gate holds; True if it fails."""
    from rankbounds.comparison.significance import p_values
    from rankbounds.comparison.wording import measure_words

    labels = [str(one) for one in found.scores.measures]
    chosen = found.scores.measures[labels.index(measure)]
    before, after = found.scores.value[..., labels.index(measure)]
    change = merit(differences(after, before), chosen)
    row = next(row for row in found.pairs if row["measure"] == measure)
    alternative = "less" if word == "worse" else "two-sided"
    p = float(p_values(change, options.test, alternative, resampling_from(options), measure)[0])
    mean = float(mean_difference(after, before))
    loss = -float(merit(np.array(mean), chosen))
    size = loss if word == "worse" else abs(mean)
    large_enough = size > 0 and (size >= options.min_effect or bool(equal(size, options.min_effect)))
    surely = False
    if row["certain_low"] is not None and row["certain_high"] is not None:
        least, most = merit_of_range(row["certain_low"], row["certain_high"], chosen)  # of what was lost
        surely = least > options.min_effect or (word == "different" and most < -options.min_effect)
    fails = surely or (large_enough and p < options.alpha)
    sides = "one-sided " if word == "worse" else ""
    tested = f"{sides}{options.test} test, p = {p:.4f}"
    why = "whatever unjudged documents turn out to be" if surely else tested
    name = measure_words(measure, lower_is_better=chosen.lower_is_better)
    if fails:
        falls = [
            found.scores.query_ids[topic] for topic in change.argsort(kind="stable")[:5].tolist() if change[topic] < 0
        ]
        moved = "rose" if chosen.lower_is_better else "fell"
        topics = f" Topics that {moved} most: {', '.join(falls)}." if falls else ""
        say(f"gate failed: {name} {word} by {abs(mean):.4f} ({why}).{topics}")
    else:
        say(f"gate passed: {name} changed by {mean:+.4f} ({tested}).")
    return fails
