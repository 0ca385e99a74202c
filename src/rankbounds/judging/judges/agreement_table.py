"""Rows on how far labels agree with trusted ones, document by document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.judging.judges.agreement import (
    RANGES,
    SIGNED,
    UNIT,
    LabelTables,
    TopicBootstrap,
)
from rankbounds.judging.judges.label_sets import LabelSet
from rankbounds.judging.judges.result import STATISTICS
from rankbounds.tables import plain

OTHER_SCALE = "another scale than the trusted labels: only relevant or not can be compared"


def agreement_row(
    judge: LabelSet, table: LabelTables, bootstrap: TopicBootstrap
) -> tuple[dict[str, Any], dict[str, Floats]]:
    """A set's row, and what each number is in every resample."""
    found: dict[str, tuple[float, float, float]] = {}
    drawn: dict[str, Floats] = {}
    for name, (by_topic, statistic) in table.statistics().items():
        drawn[name] = statistic(bootstrap.resampled(by_topic))
        value = float(statistic(by_topic.sum(axis=0)))
        found[name] = (value, *bootstrap.interval(value, drawn[name], *RANGES.get(name, SIGNED)))
    found["alpha"] = found["alpha_ordinal" if judge.same_scale else "alpha_binary"]
    unknown = (np.nan, np.nan, np.nan)
    row: dict[str, Any] = {
        "labels": judge.name,
        "scale": judge.scale,
        "rel": judge.rel,
        "pairs": int(table.total.sum()),
        "missing": table.missing,
        "extra": table.extra,
    }
    for name in STATISTICS:
        for field, value in zip((name, f"{name}_low", f"{name}_high"), found.get(name, unknown), strict=True):
            row[field] = plain(value)
    row["reason"] = None if judge.same_scale else OTHER_SCALE
    return row, drawn


def lead_in_kappa(
    agreed: Sequence[tuple[dict[str, Any], dict[str, Floats]]],
    judged: Sequence[LabelSet],
    bootstrap: TopicBootstrap,
) -> dict[str, Any] | None:
    """By how much the set of the highest kappa is ahead of the next, votes left out, with an interval."""
    places = [
        place for place, judge in enumerate(judged) if not judge.is_vote and agreed[place][0]["kappa"] is not None
    ]
    if len(places) < 2:
        return None
    best, second = sorted(places, key=lambda place: -agreed[place][0]["kappa"])[:2]
    ahead = agreed[best][0]["kappa"] - agreed[second][0]["kappa"]
    low, high = bootstrap.interval(ahead, agreed[best][1]["kappa"] - agreed[second][1]["kappa"])
    return {
        "best": judged[best].name,
        "next": judged[second].name,
        "difference": ahead,
        "low": plain(low),
        "high": plain(high),
    }


def confusion_rows(judge: LabelSet, table: LabelTables) -> list[dict[str, Any]]:
    """How many documents of each trusted grade got each grade."""
    return [
        {"labels": judge.name, "trusted": plain(grade), "by_labels": plain(given), "pairs": int(count)}
        for grade, counts in zip(table.trusted_grades, table.total, strict=True)
        for given, count in zip(table.grades, counts, strict=True)
    ]


def grade_rows(judge: LabelSet, table: LabelTables, bootstrap: TopicBootstrap) -> list[dict[str, Any]]:
    """By trusted grade, the share that the labels call relevant."""
    count, relevant = table.shares_by_grade()
    with np.errstate(invalid="ignore"):
        drawn = bootstrap.resampled(relevant) / bootstrap.resampled(count)
    shares = relevant.sum(axis=0) / count.sum(axis=0)
    low, high = bootstrap.interval(shares, drawn, *UNIT)
    return [
        {
            "labels": judge.name,
            "trusted": plain(grade),
            "pairs": int(of_grade),
            "relevant": plain(share),
            "ci_low": plain(least),
            "ci_high": plain(most),
        }
        for grade, of_grade, share, least, most in zip(
            table.trusted_grades, count.sum(axis=0), shares, low, high, strict=True
        )
    ]
