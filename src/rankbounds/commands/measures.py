"""Commands about measures: the list of them, how alike they order runs, and how many pairs they separate."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from typing import Any

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import progress_on_terminal
from rankbounds.commands.console.options import Option, Options, group_under
from rankbounds.errors import UsageError
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import REGISTRY, Measure, parse_measures
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.measure import explanation, value_text
from rankbounds.measures.naming.elsewhere import DIFFERENT, NAMES
from rankbounds.measures.naming.registry import class_named, is_name, label_elsewhere
from rankbounds.results import Column
from rankbounds.terminal import look, reflow


@command(
    "measures",
    "Which measure should I use?",
    1,
    Option(
        "[MEASURE]",
        "a name, a label such as nDCG@10, or another tool's name",
        words=lambda: [name for name in REGISTRY if name.isidentifier()],
    ),
    *output.OUTPUT,
)
def run_measures(options: Options) -> None:
    """List the measures, or explain one of them.

      rankbounds measures
      rankbounds measures nDCG@10

    Names that trec_eval, ir_measures, ranx and other tools have for a measure are understood too.
    """
    if options.measure:
        if options.format != "table":
            raise UsageError(
                f"One measure is explained in text only: --format {options.format} is for the list of all measures."
            )
        text, width = "\n".join(map(explain, _kinds(options.measure))), look().width
        output.write_text(options, text if width is None else reflow(text, width))
        return
    rows = [describe(kind) for _, kind in sorted(REGISTRY.items(), key=lambda item: item[0].lower())]
    output.write_rows(
        options, rows, [Column(name, name, left=True, importance=int(name == "meaning")) for name in rows[0]]
    )


def _kinds(text: str) -> list[type[Measure]]:
    """Return the classes of a label or a name, even if the measure needs a depth."""
    name = text if is_name(text) else (label_elsewhere(text) or text).partition("(")[0]
    if is_name(name):
        return [class_named(name)]
    return list(dict.fromkeys(map(type, parse_measures(text))))


def describe(kind: type[Measure]) -> dict[str, str]:
    """One line of the list."""
    return {
        "measure": kind.name,
        "aliases": ", ".join(kind.aliases),
        "parameters": parameters(kind),
        "trec_eval": ", ".join(name.replace("{cutoff}", "k").split("{")[0] for name in kind.trec_names),
        "meaning": explanation(kind).split("\n\n")[0].replace("\n", " "),
    }


def parameters(kind: type[Measure]) -> str:
    """``p=0.8, rel=1 @k``."""
    shown = [
        parameter.name if parameter.default in (None, MISSING) else f"{parameter.name}={value_text(parameter.default)}"
        for parameter in fields(kind)
        if parameter.name != "cutoff"
    ]
    depth = ("@k" if kind.needs_cutoff else "[@k]") if kind.takes_cutoff() else ""
    return ", ".join(shown) + (" " if shown and depth else "") + depth


def explain(kind: type[Measure]) -> str:
    """The explanation for readers of results, and how the measure is written."""
    if kind is Condensed:
        return f"{explanation(kind)}\n\nexamples: {', '.join(kind.examples)}\n"
    called = (
        f"{name} ({tool})" if label == kind.name else f"{name} is {label} ({tool})"
        for tool, names in NAMES.items()
        for name, label in names.items()
        if label.partition("(")[0] == kind.name
    )
    facts = {
        "examples:": ", ".join(kind.examples),
        "aliases:": ", ".join(kind.aliases),
        "trec_eval:": describe(kind)["trec_eval"],
        "bounds:": _bounds(kind),
        "others:": ", ".join(called),
    }
    lines = [f"{kind.name} ({parameters(kind)})" if parameters(kind) else kind.name, "", explanation(kind), ""]
    lines += [f"{name:<10} {text}" for name, text in facts.items() if text]
    for ours, tool, label, why in DIFFERENT:
        if ours == kind.name:
            lines.append(f"other in:  {tool}: {why}" + (f" (here: {label})" if label not in ("", ours) else ""))
    return "\n".join(lines) + "\n"


def _bounds(kind: type[Measure]) -> str:
    if kind.exactness == "unknown":
        return "none are known, and none are given"
    if kind.exactness == "outer":
        return "hold over the retrieved unjudged documents, but may be wider than needed"
    if kind.monotone:
        return "exact: from counting unjudged documents as non-relevant and as relevant"
    if kind.bounds is Measure.bounds:
        return "exact: the extremes over how many unjudged documents are relevant"
    return "exact over the retrieved unjudged documents"


@command(
    "agreement",
    "Which measure should I use?",
    2,
    *reading.INPUTS,
    *reading.SCORE_TABLES,
    scoring.MEASURES,
    Option(
        "--against QRELS",
        "other judgments of the same topics, for example of a shallower pool",
        about_runs=True,
        everyday=True,
    ),
    Option(
        "--pool-depth N[,N...]",
        "compare with the judgments of a pool of this depth",
        type=output.whole_numbers,
        about_runs=True,
        everyday=True,
    ),
    replace(
        scoring.PER_TOPIC, help="show Kendall's tau with each topic left out, those that drive the disagreement first"
    ),
    *scoring.BEST,
    Option("--p P", "persistence of RBO (default 0.9)", 0.9),
    *scoring.ASSUMING_NO_BOUNDS,
    *output.OUTPUT,
)
def run_agreement(options: Options) -> Any:
    """Compare how measures, or different judgments, order the runs (Kendall's tau).

      rankbounds agreement qrels.txt runs -m nDCG@10,AP,RR
      rankbounds agreement qrels.txt runs -m nDCG@10 --against labels.txt

    The table shows Kendall's tau with its p-value, tau_AP, Spearman's correlation and RBO of the orders by mean, how
    many pairs of runs change places, and for how many of those both sides find a significant difference. --pool-depth
    10 compares all judgments with those of the first 10 documents of every run.
    """
    from rankbounds.choices import check_share
    from rankbounds.judging.candidates import ranks_of_judgments
    from rankbounds.judging.pools import subset
    from rankbounds.stats.rank_correlation import agreement

    check_share("RBO's persistence p", options.p)
    asked = options.measures and (options.measures if options.scores else parse_measures(options.measures))
    if options.against and options.pool_depth:
        raise UsageError("Compare with other judgments (--against) or with pools (--pool-depth), not with both.")
    others = bool(options.against or options.pool_depth)
    if asked and len(set(asked)) < 2 and not others:
        raise UsageError("Agreement needs at least two measures, or other judgments (--against, --pool-depth).")
    runs = reading.read_runs(options) if others and not options.scores else None
    scores = scoring.evaluate_from(options, runs=runs)
    options.best = options.best_by = None  # the same runs under the other judgments

    def under(qrels: Any) -> Scores:
        return scoring.evaluate_from(options, qrels=qrels, runs=runs).filter(run=scores.runs)

    against: Any = under(options.against) if options.against else None
    if options.pool_depth and runs is not None:
        judgments = reading.judgments_from(options)
        deepest = ranks_of_judgments(judgments, runs).min(axis=0)
        against = {depth: under(subset(judgments, deepest <= depth)) for depth in options.pool_depth}
    return agreement(scores, options.p, against, per_topic=options.per_topic)


@command(
    "discriminative-power",
    "Which measure should I use?",
    3,
    *reading.INPUTS,
    *reading.SCORE_TABLES,
    scoring.MEASURES,
    *group_under(
        "test",
        Option(
            "--alpha ALPHA", "significance level; may be repeated (default 0.05 and 0.01)", type=float, repeated=True
        ),
        Option("--test TEST", scoring.tests_named("bootstrap"), "bootstrap", words=scoring.TESTS[0].words),
        everyday=True,
    ),
    *scoring.clusters(),
    *scoring.BEST,
    *scoring.resampling(1000),
    *scoring.ASSUMING_NO_BOUNDS,
    *output.OUTPUT,
)
def run_discriminative_power(options: Options) -> Any:
    """Count the pairs of runs that each measure separates significantly, and the difference it needs.

      rankbounds discriminative-power qrels.txt runs
      rankbounds discriminative-power qrels.txt runs -m nDCG@10,RR --test t

    The bootstrap sensitivity method of Sakai (the default), or the share of pairs that another test finds different.
    """
    from rankbounds.stats.separation import discriminative_power

    scores = scoring.evaluate_from(options)
    return discriminative_power(
        scores,
        options.alpha or (0.05, 0.01),
        options.test,
        clusters=scoring.clusters_from(options, scores.query_ids),
        resamples=options.resamples,
        seed=options.seed,
        progress=progress_on_terminal("measures resampled"),
    )
