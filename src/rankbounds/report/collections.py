"""What a page shows of the same systems on several collections."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from typing import Any

from rankbounds.comparison.collections.result import CollectionsComparison
from rankbounds.evaluation.score_differences import equal
from rankbounds.phrases import some
from rankbounds.report.content import place_words
from rankbounds.tables import as_json
from rankbounds.version import __version__

MANY_PAIRS = 600
"""At most this many pairs are described in words: those of the leading runs."""
SYSTEM_KEYS = (
    "run", "mean", "ci_low", "ci_high", "rank", "rank_low", "rank_high", "collections", "collections_led",
    "lacks",
)  # fmt: skip
CELL_KEYS = ("collection", "run", "mean", "ci_low", "ci_high", "judged_at_10")
PART_KEYS = ("collection", "topics", "difference", "ci_low", "ci_high")
PAIR_KEYS = ("difference", "ci_low", "ci_high", "summary", "summary_low", "summary_high")


def gather_collections(compared: CollectionsComparison) -> dict[str, Any]:
    """Pack the leaderboard, every cell, and the pairs with their words."""
    measures = [
        {
            "label": str(measure),
            "lower_is_better": measure.lower_is_better,
            "systems": [
                {key: row[key] for key in SYSTEM_KEYS} | {"place": place_words(row)}
                for row in compared.leaderboard(measure)
            ],
            "cells": [{key: row[key] for key in CELL_KEYS} for row in compared.cells if row["measure"] == str(measure)],
            "pairs": _pairs(compared, str(measure)),
        }
        for measure in compared.measures
    ]
    content: dict[str, Any] = as_json(
        {
            "version": __version__,
            "title": f"{len(compared.runs)} runs on {len(compared.collections)} collections",
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


def _pairs(compared: CollectionsComparison, measure: str) -> list[dict[str, Any]]:
    """The pairs, each as a run and the one it is held against; of many runs those of the leading ones."""
    parts: dict[frozenset[str], list[dict[str, Any]]] = {}
    for row in compared.differences:
        if row["measure"] == measure:
            parts.setdefault(frozenset((row["run"], row["against"])), []).append(row)
    leading = [row["run"] for row in compared.leaderboard(measure)]
    while len(leading) * (len(leading) - 1) // 2 > MANY_PAIRS:
        leading = leading[: len(leading) * 3 // 4]
    pairs = []
    for pair in map(frozenset, combinations(leading, 2)):
        if held := parts.get(pair):
            a, b = held[0]["run"], held[0]["against"]
            alone = replace(compared, differences=held)
            row = alone.pair(a, b, measure)
            words = {"words": alone.words(a, b, measure), "turned_words": alone.words(b, a, measure)}
            of_parts = [{key: part[key] for key in PART_KEYS} for part in alone.differences_of(a, b, measure)]
            pairs.append({"a": a, "b": b, **{key: row[key] for key in PAIR_KEYS}, **words, "parts": of_parts})
    return pairs


def _summary(compared: CollectionsComparison) -> list[str]:
    """Who leads by each measure, between which places, and what is known of the first two."""
    sentences = []
    leaders = []
    for measure in compared.measures:
        placed = [row for row in compared.leaderboard(measure) if row["mean"] is not None]
        best = [row for row in placed if equal(row["mean"], placed[0]["mean"])]
        if best:
            leaders.append({row["run"] for row in best})
            over = f"by {measure} with {best[0]['mean']:.4f} over {len(compared.collections)} collections"
            place = f" and ranks {words}" if (words := place_words(best[0])) else ""
            alone = f"{best[0]['run']} leads {over}{place}."
            sentences.append(alone if len(best) == 1 else f"{some([row['run'] for row in best])} lead together {over}.")
    if leaders and not set.intersection(*leaders):
        sentences.append("The measures disagree about the leader.")
    sentences += re.split(r"(?<=[.]) (?=[A-Z])", compared.words())
    if missing := compared.missing:
        named = ", ".join(f"{cell['run']} on {cell['collection']}" for cell in missing[:12])
        sentences.append(f"Missing, and not filled in: {named}{', ...' if len(missing) > 12 else ''}.")
    return sentences
