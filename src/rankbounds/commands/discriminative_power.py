"""Say how many pairs of runs each measure separates, and how large a difference that takes.

The bootstrap sensitivity method of Sakai (the default), or the share of pairs that another test finds different.
"""

from __future__ import annotations

from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import OUTPUT, write_result
from rankbounds.commands.progress import progress_on_terminal
from rankbounds.commands.reading import INPUTS, SCORE_TABLES
from rankbounds.commands.scoring import (
    ASSUMING_NO_BOUNDS,
    MEASURES,
    TESTS,
    evaluate_from,
    resampling,
    resampling_from,
    tests_named,
)

QUESTION = "Which measure, and which persistence?", 3
OPTIONS = (
    *INPUTS,
    *SCORE_TABLES,
    MEASURES,
    Option("--alpha ALPHA", "significance level; may be repeated (0.05, 0.01)", type=float, repeated=True),
    Option("--test TEST", tests_named("bootstrap"), "bootstrap", words=TESTS[0].words),
    *resampling(1000),
    *ASSUMING_NO_BOUNDS,
    *OUTPUT,
)


def run(options: Options) -> None:
    """Evaluate, resample and print."""
    from rankbounds.stats.discriminative_power import discriminative_power

    found = discriminative_power(
        evaluate_from(options),
        options.alpha or (0.05, 0.01),
        options.test,
        resampling_from(options),
        progress=progress_on_terminal("measures resampled"),
    )
    write_result(options, found)
