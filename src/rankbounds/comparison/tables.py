"""The tables of a comparison: a leaderboard for each measure, and its pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankbounds.comparison import wording
from rankbounds.results import Column, Row, build_table, interval
from rankbounds.stats.equivalence import TOST
from rankbounds.tables import Table, number, signed

if TYPE_CHECKING:
    from rankbounds.comparison.result import Comparison

LONGEST_GROUP = 6
"""Letters of groups are shown where no run has more of them."""
FEW_RUNS = 6
"""Of this number of runs or fewer all pairs are printed."""


def p_column(name: str, heading: str, importance: int = 0) -> Column:
    """A column of p-values."""
    return Column(name, heading, lambda row: number(row.get(name), 4), importance)


def leaderboard_table(comparison: Comparison, at: int, top: int | None = None) -> Table:
    """The leaderboard by one measure, best first, or its ``top``; of three runs or more with p-values."""
    chosen = comparison.measures[at]
    against = comparison.settings.get("baseline") or comparison.leader(chosen)
    tested = _p_against(comparison, at, against) if len(comparison.runs) > 2 else {}
    rows = [row | tested.get(row["run"], {}) for row in comparison.leaderboard(chosen)[:top]]
    lettered = comparison.settings["baseline"] is None and comparison.settings["test"] != TOST
    letters = max((len(row["group"]) for row in rows), default=0) if lettered else 0
    columns = [
        Column("run"),
        Column("mean", wording.compared_words(chosen)),
        interval("ci_low", "ci_high", f"{comparison.settings['confidence']:.0%} interval", importance=7),
    ]
    columns += [interval("low", "high", "bounds", importance=6)] if has_bounds(comparison) else []
    columns += [Column("group", importance=4 if letters <= LONGEST_GROUP else 0)] if lettered else []
    if lettered and tested:
        columns += [
            Column("rank", cell=place_cell, importance=5),
            Column("probability_best", "first in", percent_cell("probability_best"), importance=3),
        ]
    if tested:
        columns += [p_column("p_value", f"p against {against}"), p_column("p_adjusted", "p corrected", 2)]
    if comparison.scores.has_judged:
        columns.append(Column("judged_at_10", "judged@10", percent_cell("judged_at_10"), importance=1))
    return build_table(rows, [*columns, Column("topics_led", cell=lambda row: f"{row['topics_led']:.3g}")])


def _p_against(comparison: Comparison, at: int, run: str) -> dict[str, dict[str, float]]:
    """For every other run, the p-values of its pair with this one."""
    wanted = comparison.runs.index(run)
    held = np.flatnonzero((comparison.first == wanted) | (comparison.second == wanted))
    others = (comparison.first[held] + comparison.second[held] - wanted).tolist()
    found = {name: comparison.numbers[name][at, held].tolist() for name in ("p_value", "p_adjusted")}
    return {comparison.runs[other]: {name: p[place] for name, p in found.items()} for place, other in enumerate(others)}


def pair_table(comparison: Comparison, at: int, at_most: int | None = None, top: int | None = None) -> Table:
    """The pairs by one measure, the least likely to be chance first, or those among the ``top`` runs."""
    label = str(comparison.measures[at])
    shown = {row["run"] for row in comparison.leaderboard(label)[:top]} | {comparison.settings.get("baseline")}
    rows = [row for row in comparison.pairs if row["measure"] == label and {row["a"], row["b"]} <= shown]
    rows.sort(key=lambda row: (row["p_adjusted"], -abs(row["difference"] or 0.0)))
    bounds = [interval("certain_low", "certain_high", "whatever is judged", importance=2)]
    corrected = comparison.settings["correction"] != "none"  # the verdict rests on the p-value that is corrected
    columns = [
        Column("a", "run"),
        Column("b", "against", importance=6),
        Column("difference", f"{label}, difference", lambda row: signed(row["difference"]), importance=5),
        interval("ci_low", "ci_high", f"{comparison.settings['confidence']:.0%} interval", importance=1),
        Column("won"),
        Column("lost"),
        p_column("p_value", "p", 0 if corrected else 4),
        *([p_column("p_adjusted", "p corrected", 4)] if corrected else []),
        *(bounds if has_bounds(comparison) else []),
        Column("verdict", cell=lambda row: wording.verdict_words(row["verdict"], row["a"], row["b"]), importance=3),
    ]
    return build_table(rows[:at_most], columns)


def has_bounds(comparison: Comparison) -> bool:
    """Is anything known of bounds over judgments? Not of tables without judgments that have none."""
    return comparison.scores.has_judged or comparison.scores.bounds != "none"


def place_cell(row: Row) -> str:
    """The place with its interval, a dash for a run that has none."""
    if row["rank"] is None:
        return "-"
    low, high = row["rank_low"], row["rank_high"]
    return f"{row['rank']}" if low == high else f"{row['rank']} [{low}, {high}]"


def percent_cell(name: str) -> Callable[[Row], str]:
    """How a column of shares is written."""
    return lambda row: "-" if row[name] is None else f"{row[name]:.0%}"
