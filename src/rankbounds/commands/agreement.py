"""Say how alike different measures order the runs, or the same measures under other judgments.

Kendall's tau, tau_AP, Spearman and RBO of the means; how many pairs of runs change places, and how many of those both
sides find significantly different.
"""

from __future__ import annotations

from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import OUTPUT, write_result
from rankbounds.commands.reading import INPUTS, SCORE_TABLES, read_runs
from rankbounds.commands.scoring import ASSUMING_NO_BOUNDS, MEASURES, evaluate_from
from rankbounds.errors import UsageError

QUESTION = "Which measure, and which persistence?", 2
OPTIONS = (
    *INPUTS,
    *SCORE_TABLES,
    MEASURES,
    Option("--p P", "persistence of RBO (default 0.9)", 0.9, type=float),
    Option(
        "--against QRELS", "other judgments of the same topics, say of a shallower pool", file="read", without_runs=()
    ),
    *ASSUMING_NO_BOUNDS,
    *OUTPUT,
)


def run(options: Options) -> None:
    """Evaluate, correlate and print."""
    from rankbounds.choices import check_share
    from rankbounds.stats.measure_agreement import agreement

    check_share("RBO's persistence p", options.p)
    if options.measures and len(set(options.measures)) < 2 and not options.against:
        raise UsageError("Agreement needs at least two measures, or other judgments (--against).")
    runs = read_runs(options) if options.against and not options.scores else None
    scores = evaluate_from(options, runs=runs)
    against = evaluate_from(options, qrels=options.against, runs=runs) if options.against else None
    write_result(options, agreement(scores, options.p, against))
