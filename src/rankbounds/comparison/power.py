"""What a test of two runs can show with these topics: the difference it finds, the topics it needs, its smallest p."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.choices import check_share
from rankbounds.comparison.pairs import build_rows
from rankbounds.comparison.tables import Rows, p_column
from rankbounds.evaluation.score_differences import limits_of_differences
from rankbounds.results import Column, Result, count
from rankbounds.stats.equivalence import find_test, topics_for_margin
from rankbounds.stats.power import (
    minimum_detectable_effect,
    smallest_p_value,
    topics_for_effects,
    topics_for_equivalence,
    topics_that_must_differ,
)
from rankbounds.tables import signed

if TYPE_CHECKING:
    from rankbounds.comparison.compared import Compared


def must_differ(settings: Mapping[str, Any]) -> int | None:
    if not find_test(settings["test"]).of_difference:
        return None
    how = {name: settings[name] for name in ("test", "alpha", "alternative", "resamples")}
    return topics_that_must_differ(sampled(settings), **how)


def sampled(settings: Mapping[str, Any]) -> int:
    return int(settings["clusters"] or settings["topics"])


def detectable_differences(comparison: Compared, power: float) -> Floats:
    scores = comparison.scores
    effect = minimum_detectable_effect(1.0, sampled(comparison.settings), comparison.settings["alpha"], power)
    with np.errstate(invalid="ignore"):  # where so few topics find nothing
        wanted = effect * comparison.tested.numbers["deviation"]
    most = [limits_of_differences(measure, scores.value[..., at])[1] for at, measure in enumerate(scores.measures)]
    least = must_differ(comparison.settings)
    never = least is not None and not 0 < least <= sampled(comparison.settings)
    return np.where(never | (wanted > np.array(most)[:, None]), np.inf, wanted)


def topics_needed(comparison: Compared, power: float) -> Floats:
    known, settings = comparison.tested.numbers, comparison.settings
    if comparison.of_equivalence:
        moments = known["difference"], known["deviation"]
        needed = topics_for_equivalence(*moments, settings["margin"], settings["alpha"], power)
    else:
        needed = topics_for_effects(known["effect"], settings["alpha"], power)
    # With fewer topics than must differ, the test that was used shows nothing.
    least = topics_for_margin(settings["alpha"]) if comparison.of_equivalence else must_differ(settings)
    return np.where(needed > 0, np.maximum(needed, least or 0), 0.0)


def power_of_pairs(comparison: Compared, power: float) -> Result:
    check_share("power", power)
    columns = (
        Column("run"), Column("against", importance=9), Column("measure", importance=8),
        Column("difference", cell=lambda row: signed(row["difference"]), importance=7), Column("deviation"),
        count("topics"), Column("detectable", importance=6), count("topics_needed", importance=5),
        count("differing"), count("must_differ"), p_column("smallest_p", "smallest p"),
    )  # fmt: skip
    settings = comparison.settings
    what = "rule out the margin" if comparison.of_equivalence else "find a true difference as large as this one"
    note = (
        f"detectable: the smallest true difference that a t test finds {power:.0%} of the time at level "
        f"{settings['alpha']:g}; topics needed: how many it takes to {what} that often; must differ: on how many "
        f"topics the runs must differ for p < {settings['alpha']:g}; smallest p: the smallest p-value that the test of "
        "the pair alone can give when as many topics differ as here."
    )
    return Rows(partial(_rows, comparison, power), columns, note=note, settings=settings | {"power": power})


def _rows(comparison: Compared, power: float) -> list[dict[str, Any]]:
    settings, topics = comparison.settings, sampled(comparison.settings)
    least = must_differ(settings)
    test = None if comparison.of_equivalence else settings["test"]
    rows: list[dict[str, Any]] = []
    for part in comparison.parts:
        known = {name: column[0] for name, column in part.tested.numbers.items()}
        detectable = detectable_differences(part, power)[0]
        needed = topics_needed(part, power)[0]
        differing = known["differing"].astype(np.int64)
        how = {name: settings[name] for name in ("alternative", "resamples")}
        smallest = np.full(differing.size, np.nan) if test is None else smallest_p_value(differing, topics, test, **how)
        runs, others = ([comparison.runs[run] for run in side.tolist()] for side in part.sides[:, 0])
        rows += build_rows(
            run=runs, against=others, measure=str(part.measures[0]),
            difference=0.0 + np.where(part.turned[0], -1, 1) * known["difference"], deviation=known["deviation"],
            topics=topics, detectable=np.where(np.isfinite(detectable), detectable, np.nan),
            topics_needed=[int(topics) or None for topics in needed.tolist()], differing=differing,
            must_differ=least or None, smallest_p=smallest,
        )  # fmt: skip
    return rows
