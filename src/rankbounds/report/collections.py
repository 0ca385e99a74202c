"""What a page shows of the same systems on several collections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from rankbounds.comparison.collections.result import CollectionsComparison
from rankbounds.evaluation.run_notes import some
from rankbounds.evaluation.score_differences import equal
from rankbounds.measures import Measure
from rankbounds.stats.rank_intervals import words as rank_words
from rankbounds.tables import as_json
from rankbounds.version import __version__

MANY_PAIRS = 600
"""So many pairs are told in words; of more, those of the leading runs."""
SYSTEM_KEYS = (
    "run", "mean", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "probability_best", "collections",
    "collections_led", "lacks",
)  # fmt: skip
CELL_KEYS = ("collection", "run", "mean", "ci_low", "ci_high", "judged_at_10")
PAIR_KEYS = ("difference", "ci_low", "ci_high", "summary", "summary_low", "summary_high", "new_low", "new_high")


def gather_collections(compared: CollectionsComparison, title: str = "Many collections") -> dict[str, Any]:
    """Pack the leaderboard, every cell, and the pairs with their words."""
    measures = [
        {
            "label": str(measure),
            "lower_is_better": measure.lower_is_better,
            "systems": [_placed(row) for row in compared.leaderboard(measure)],
            "cells": [{key: row[key] for key in CELL_KEYS} for row in compared.cells if row["measure"] == str(measure)],
            "pairs": _pairs(compared, str(measure)),
        }
        for measure in compared.measures
    ]
    content: dict[str, Any] = as_json(
        {
            "version": __version__,
            "title": title,
            "summary": _summary(compared),
            "method": replace(compared, systems=[row | {"group": None} for row in compared.systems]).method(),
            "collections": compared.collections,
            "topics": compared.topics,
            "runs": compared.runs,
            "measures": measures,
            "settings": compared.settings,
        }
    )
    return content


def _placed(row: dict[str, Any]) -> dict[str, Any]:
    low, high = row["rank_low"], row["rank_high"]
    return {key: row[key] for key in SYSTEM_KEYS} | {"place": None if low is None else rank_words(low, high)}


def _pairs(compared: CollectionsComparison, measure: str) -> list[dict[str, Any]]:
    """The pairs as people look at them, the better of two first; of many runs those of the leading ones."""
    order = [row["run"] for row in compared.leaderboard(measure)]
    parts: dict[frozenset[str], list[dict[str, Any]]] = {}
    for row in compared.differences:
        if row["measure"] == measure:
            parts.setdefault(frozenset((row["a"], row["b"])), []).append(row)
    leading = order
    while len(leading) * (len(leading) - 1) // 2 > MANY_PAIRS:
        leading = leading[: len(leading) * 3 // 4]
    pairs = ((a, b, parts.get(frozenset((a, b)))) for a, b in combinations(leading, 2))
    return [_pair(replace(compared, differences=held), measure, a, b) for a, b, held in pairs if held]


def _pair(compared: CollectionsComparison, measure: str, a: str, b: str) -> dict[str, Any]:
    row = compared.pair(a, b, measure)
    parts = compared.differences_of(a, b, measure)
    return {
        "a": a,
        "b": b,
        **{key: row[key] for key in PAIR_KEYS},
        "words": compared.words(a, b, measure),
        "turned_words": compared.words(b, a, measure),
        "parts": [
            {key: part[key] for key in ("collection", "topics", "difference", "ci_low", "ci_high")} for part in parts
        ],
    }


def _summary(compared: CollectionsComparison) -> list[str]:
    """Who leads by each measure, between which places, and what is known of the first two."""
    leaders = {str(measure): _leaders(compared, measure) for measure in compared.measures}
    told = [_who_leads(compared, label, rows) for label, rows in leaders.items() if rows]
    names = [{row["run"] for row in rows} for rows in leaders.values() if rows]
    if names and not set.intersection(*names):
        told.append("The measures disagree on who leads.")
    return [*told, compared.words(), *_lacking(compared.missing)]


def _leaders(compared: CollectionsComparison, measure: Measure) -> list[dict[str, Any]]:
    """The runs of the best mean; several where they are level."""
    placed = [row for row in compared.leaderboard(measure) if row["mean"] is not None]
    return [row for row in placed if equal(row["mean"], placed[0]["mean"])]


def _who_leads(compared: CollectionsComparison, label: str, rows: Sequence[dict[str, Any]]) -> str:
    over = f"by {label}: {rows[0]['mean']:.4f} over {len(compared.collections)} collections"
    if len(rows) > 1:
        return f"{some([row['run'] for row in rows])} lead together {over}."
    place = rank_words(rows[0]["rank_low"], rows[0]["rank_high"]) if rows[0]["rank_low"] is not None else ""
    return f"{rows[0]['run']} leads {over}{'; its place is ' * bool(place)}{place}."


def _lacking(missing: Sequence[dict[str, str]]) -> list[str]:
    if not missing:
        return []
    named = ", ".join(f"{cell['run']} on {cell['collection']}" for cell in missing[:12])
    return [f"Not there, and not filled in: {named}{', ...' if len(missing) > 12 else ''}."]
