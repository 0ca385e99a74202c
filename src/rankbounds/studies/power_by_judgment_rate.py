"""Do measures still separate systems when judgments are few?

Judgments are reduced at random, topic by topic, and for every measure the share of pairs of runs is counted that a
paired t test over topics separates at level 0.05. A measure whose power falls slowly makes do with fewer judgments.

Source: Sakai, Alternatives to Bpref (SIGIR 2007, Figure 3), who tested by the bootstrap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.errors import DataError
from rankbounds.evaluation.judged_runs import JudgedRuns, Progress
from rankbounds.evaluation.score_differences import differences
from rankbounds.judging.pools import RATES, draw_reductions
from rankbounds.measures import Measure, parse_measures
from rankbounds.plots.incomplete import by_rate
from rankbounds.stats.significance import p_values, pairs_of
from rankbounds.studies import Result
from rankbounds.studies.score_by_judgment_rate import MEASURES, rows_by_rate, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.05


def run(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = MEASURES,
    rates: Sequence[float] = RATES,
    seeds: int = 5,
    first_seed: int = 0,
    gain: str | Mapping[Any, float] | None = None,
    progress: Progress | None = None,
) -> Result:
    """The share of pairs separated: rows ``measure, rate, power, low_draw, high_draw``, rate 100 first."""
    chosen = parse_measures(measures)
    judged = JudgedRuns(qrels, runs, gain=gain)
    if len(judged.names) < 2:
        raise DataError("The power to separate runs needs at least two of them.")
    first, second = pairs_of(len(judged.names))
    power = np.empty((seeds, 1 + len(rates), len(chosen)))
    for seed in range(seeds):
        reductions = draw_reductions(judged.qrels, rates, seed=first_seed + seed)
        scores = judged.scores([None, *(reductions[rate] for rate in rates)], chosen)
        for rate in range(scores.shape[0]):
            for number in range(len(chosen)):
                matrix = scores[rate, :, :, number]
                power[seed, rate, number] = np.mean(p_values(differences(matrix[first], matrix[second]), "t") < LEVEL)
        if progress:
            progress(seed + 1, seeds)
    every = [100.0, *(float(rate) for rate in rates)]
    mean = power.mean(axis=0)
    most = int(np.argmax(mean[-1]))
    answer = (
        f"With {every[-1]:g}% of the judgments {chosen[most]} separates most pairs of runs ({mean[-1, most]:.1%} of "
        f"{first.size:,} at level {LEVEL:g}, after {mean[0, most]:.1%} with all judgments)."
    )
    rows = rows_by_rate(chosen, every, power, "power")
    return Result(rows, answer, settings(chosen, rates, seeds, first_seed) | {"alpha": LEVEL, "test": "t"})


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """Each measure's power as judgments grow fewer."""
    axes = by_rate(result, "power", ax)
    axes.set_ylabel(f"share of pairs separated (t test, {LEVEL:g})")
    return axes
