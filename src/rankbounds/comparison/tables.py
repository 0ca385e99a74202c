"""The tables of a comparison: a leaderboard for each measure, and its pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.comparison import wording
from rankbounds.stats.equivalence import TOST
from rankbounds.tables import Table, number, signed

if TYPE_CHECKING:
    from rankbounds.comparison.result import Comparison

LONGEST_GROUP = 6
"""Letters of groups are shown where no run has more of them."""
FEW_RUNS = 6
"""Of so many runs all pairs are printed."""


def leaderboard_table(comparison: Comparison, at: int, top: int | None = None) -> Table:
    """The leaderboard by one measure, best first, or its ``top``; of three runs or more with p-values."""
    chosen = comparison.measures[at]
    rows = comparison.leaderboard(chosen)[:top]
    against = comparison.settings.get("baseline") or comparison.leader(chosen)
    tested = _p_against(comparison, at, against) if len(comparison.runs) > 2 else {}
    with_bounds, lettered = has_bounds(comparison), has_letters(comparison)
    header = [
        "run",
        wording.compared_words(chosen),
        f"{comparison.settings['confidence']:.0%} interval",
        *["bounds"] * with_bounds,
        *(["group"] if lettered else []),
        *(["rank", "first in"] if lettered and tested else []),
        *([f"p against {against}", "p corrected"] if tested else []),
        *["judged@10"] * comparison.scores.has_judged,
        "topics led",
    ]
    cells = [
        [
            row["run"],
            number(row["mean"]),
            _range(row["ci_low"], row["ci_high"]),
            *[_range(row["low"], row["high"])] * with_bounds,
            *([row["group"]] if lettered else []),
            *(_standing(row) if lettered and tested else []),
            *([number(p, 4) for p in tested.get(row["run"], (None, None))] if tested else []),
            *([f"{row['judged_at_10']:.0%}"] if comparison.scores.has_judged else []),
            f"{row['topics_led']:.3g}",
        ]
        for row in rows
    ]
    letters = max((len(row["group"]) for row in rows), default=0) if lettered else 0
    shown = ["bounds", "rank", *["group"] * (letters <= LONGEST_GROUP), "first in", "p corrected", "judged@10"]
    return Table(
        header,
        cells,
        frozenset({0, header.index("group")}) if lettered else frozenset({0}),
        importance=[2, *(header.index(name) for name in shown if name in header)],
    )


def _p_against(comparison: Comparison, at: int, run: str) -> dict[str, tuple[float, float]]:
    """For every other run, the p-values of its pair with this one."""
    wanted = comparison.runs.index(run)
    held = np.flatnonzero((comparison.first == wanted) | (comparison.second == wanted))
    others = comparison.first[held] + comparison.second[held] - wanted
    raw, corrected = (comparison.columns[name][at, held].tolist() for name in ("p_value", "p_adjusted"))
    return {comparison.runs[other]: p for other, *p in zip(others.tolist(), raw, corrected, strict=True)}  # type: ignore[misc]


def pair_table(comparison: Comparison, at: int, at_most: int | None = None, top: int | None = None) -> Table:
    """The pairs by one measure, the least likely to be chance first, or those among the ``top`` runs."""
    label = str(comparison.measures[at])
    shown = {row["run"] for row in comparison.leaderboard(label)[:top]} | {comparison.settings.get("baseline")}
    rows = [row for row in comparison.pairs if row["measure"] == label and {row["a"], row["b"]} <= shown]
    rows.sort(key=lambda row: (row["p_adjusted"], -abs(row["difference"] or 0.0)))
    corrected, with_bounds = comparison.settings["correction"] != "none", has_bounds(comparison)
    header = [
        "run",
        "against",
        f"{label}, difference",
        f"{comparison.settings['confidence']:.0%} interval",
        "won",
        "lost",
        "p",
        *(["p corrected"] if corrected else []),
        *["whatever is judged"] * with_bounds,
        "verdict",
    ]
    cells = [
        [
            row["a"],
            row["b"],
            signed(row["difference"]),
            _range(row["ci_low"], row["ci_high"]),
            str(row["won"]),
            str(row["lost"]),
            f"{row['p_value']:.4f}",
            *([f"{row['p_adjusted']:.4f}"] if corrected else []),
            *[_range(row["certain_low"], row["certain_high"])] * with_bounds,
            wording.verdict_words(row["verdict"], row["a"], row["b"]),
        ]
        for row in rows[:at_most]
    ]
    verdict = len(header) - 1
    decisive = header.index("p corrected" if corrected else "p")  # the one that the verdict rests on
    return Table(header, cells, frozenset({0, 1, verdict}), importance=[1, 2, decisive, verdict, 3])


def has_bounds(comparison: Comparison) -> bool:
    """Can anything be told of bounds over judgments? Not of tables without judgments that have none."""
    return comparison.scores.has_judged or comparison.scores.bounds != "none"


def has_letters(comparison: Comparison) -> bool:
    """Do letters tell which runs no test separates?"""
    return comparison.settings["baseline"] is None and comparison.settings["test"] != TOST


def _standing(row: dict[str, Any]) -> list[str]:
    """The place with its interval, and how often a run is first over resampled topics."""
    low, high, best = row["rank_low"], row["rank_high"], row["probability_best"]
    place = f"{row['rank']}" if low == high else f"{row['rank']} [{low}, {high}]"
    return [place, "-" if best is None else f"{best:.0%}"]


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"[{number(low)}, {number(high)}]"
