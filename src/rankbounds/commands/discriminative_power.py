"""Say how many pairs of runs each measure separates, and how large a difference that takes.

The bootstrap sensitivity method of Sakai (the default), or the share of pairs that another test finds different.
"""

from __future__ import annotations

from rankbounds.commands.options import Option, Options
from rankbounds.commands.output import OUTPUT, write_rows
from rankbounds.commands.progress import progress_on_terminal
from rankbounds.commands.reading import INPUTS, SCORE_TABLES
from rankbounds.commands.scoring import ASSUMING_NO_BOUNDS, MEASURES, TESTS, evaluate_from, resampling, resampling_from
from rankbounds.results import Column

QUESTION = "Which measure, and which persistence?", 3
OPTIONS = (
    *INPUTS,
    *SCORE_TABLES,
    MEASURES,
    Option("--alpha ALPHA", "significance level; may be repeated (0.05, 0.01)", type=float, repeated=True),
    Option("--test TEST", "bootstrap (default), t, wilcoxon, sign or randomization", "bootstrap", words=TESTS[0].words),
    *resampling(1000),
    *ASSUMING_NO_BOUNDS,
    *OUTPUT,
)
COLUMNS = (
    Column("measure"),
    Column("test"),
    Column("alpha", cell=lambda row: f"{row['alpha']:g}"),
    Column("discriminated", "pairs separated", lambda row: f"{row['discriminated']}/{row['pairs']}"),
    Column("pairs", None),
    Column("power", cell=lambda row: f"{row['power']:.1%}"),
    Column("required_difference", "difference required"),
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
    write_rows(options, found.rows, COLUMNS)
