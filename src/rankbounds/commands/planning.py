"""The command that plans an evaluation."""

from __future__ import annotations

from rankbounds.commands import command
from rankbounds.commands.console import output, reading, scoring
from rankbounds.commands.console.messages import say_all
from rankbounds.commands.console.options import Option, Options, call, everyday, whole


@command(
    "topics",
    "Is A better than B, or is it noise?",
    5,
    *reading.INPUTS_IF_ANY,
    *reading.SCORE_TABLES,
    *everyday(
        Option("--difference D", "how many topics find a true difference of D", type=scoring.share),
        Option(
            "--margin M",
            "how many topics rule out a difference of M between systems that are alike",
            type=scoring.share,
        ),
        Option("--width W", "how many topics make a confidence interval no wider than W", type=scoring.share),
        Option(
            "--systems N",
            "how many systems will be compared with each other (default 2)",
            2,
            type=whole("systems are", 2),
        ),
        Option(
            "--deviation S",
            "without a pilot: the standard deviation over topics of the difference between two systems (for --width, "
            "of whatever the interval is for)",
            type=float,
        ),
        Option("--power P", "how often a true difference should be found (default 0.8)", 0.8),
    ),
    scoring.measures(("nDCG@10",)),
    scoring.alpha(),
    scoring.confidence("the interval"),
    *scoring.clusters(what="numbers"),
    *scoring.ASSUMING_NO_BOUNDS,
    *output.OUTPUT,
)
def run_topics(options: Options) -> None:
    """Plan how many topics (queries) an evaluation needs: sample size for a difference, a margin or an interval.

      rankbounds topics qrels.txt runs --difference 0.05
      rankbounds topics --deviation 0.2 --difference 0.05 --systems 10 --width 0.1

    The runs are a pilot: what is needed depends on how much differences vary from topic to topic, which they show.
    Without a pilot give that deviation (for nDCG@10 of unlike systems 0.2 to 0.3 is usual, for variants of one system
    0.05 to 0.15). With --systems the answer is also for the whole family: pairs corrected for their number, and the
    analysis of variance. "topics safe" allows for a pilot that is small.
    """
    from rankbounds.stats.planning import plan_topics

    pilot = None
    if options.qrels is not None or options.scores:
        options.measures = options.measures or ["nDCG@10"]
        pilot = scoring.evaluate_from(options)
    clusters = scoring.clusters_from(options, [] if pilot is None else pilot.query_ids)
    plan = call(options, plan_topics, pilot, clusters=clusters)
    output.write_rows(options, plan.rows(), plan.columns, below=lambda: f"\n{plan.words()}\n")
    say_all(plan.notes())
