"""Do scores stay level while judgments grow fewer?

Sakai (SIGIR 2007, Figure 1) reduced the judgments of four collections to 90, 70, 50, 30 and 10 percent and averaged
each measure over all runs: AP, Q and nDCG fall with the judgments, bpref and measures on condensed lists hardly do.
The paper has one draw for each rate; here each is repeated over seeds, and 95% of the draws lie between ``low_draw``
and ``high_draw``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.evaluation.judged_runs import JudgedRuns, Progress
from rankbounds.judging.pools import RATES, draw_reductions
from rankbounds.measures import Measure, parse_measures
from rankbounds.studies import Result, rows_by

MEASURES = (
    *("AP", "Q", "nDCG(base=2)@1000", "AP'", "Q'", "nDCG'(base=2)@1000"),
    *("Bpref", "Rpref_relative2", "RBP(p=0.8)", "RBP'(p=0.8)"),
)


def run(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = MEASURES,
    rates: Sequence[float] = RATES,
    seeds: int = 20,
    first_seed: int = 0,
    gain: str | Mapping[Any, float] | None = None,
    progress: Progress | None = None,
) -> Result:
    """Mean values over topics and runs: rows ``measure, rate, value, low_draw, high_draw``."""
    chosen = parse_measures(measures)
    means = mean_scores(qrels, runs, gain, chosen, rates, seeds, first_seed, progress)
    over_runs = means.mean(axis=2)
    rows = rows_by_rate(chosen, [100.0, *rates], over_runs, "value")
    full, least = over_runs[0, 0], over_runs[:, -1].mean(axis=0)
    change = {str(measure): float(b / a - 1) if a else 0.0 for measure, a, b in zip(chosen, full, least, strict=True)}
    steady = min(change, key=lambda name: abs(change[name]))
    moved = max(change, key=lambda name: abs(change[name]))
    answer = (
        f"At {rates[-1]:g}% of the judgments {steady} changes least ({change[steady]:+.0%}) and {moved} most "
        f"({change[moved]:+.0%})."
    )
    return Result(rows, answer, settings(chosen, rates, seeds, first_seed))


def mean_scores(
    qrels: Any,
    runs: Any,
    gain: str | Mapping[Any, float] | None,
    measures: Sequence[Measure],
    rates: Sequence[float],
    seeds: int,
    first_seed: int,
    progress: Progress | None,
) -> Floats:
    """Means over topics, with axes seed, rate (all judgments first), run, measure."""
    judged = JudgedRuns(qrels, runs, gain=gain)
    subsets: list[Any] = [None]
    for seed in range(first_seed, first_seed + seeds):
        reductions = draw_reductions(judged.qrels, rates, seed=seed)
        subsets += [reductions[rate] for rate in rates]
    means = judged.scores(subsets, measures, progress=progress).mean(axis=2)
    drawn = means[1:].reshape(seeds, len(rates), *means.shape[1:])
    full = np.broadcast_to(means[0], (seeds, 1, *means.shape[1:]))
    return np.concatenate((full, drawn), axis=1)


def rows_by_rate(
    measures: Sequence[Measure], rates: Sequence[float], values: Floats, name: str
) -> list[dict[str, Any]]:
    """Rows from values with axes seed, rate, measure: the mean over seeds, and where 95% of the draws lie."""
    low, high = np.quantile(values, (0.025, 0.975), axis=0)
    axes: dict[str, list[Any]] = {
        "measure": [str(measure) for measure in measures],
        "rate": [float(rate) for rate in rates],
    }
    return rows_by(axes, {name: values.mean(axis=0).T, "low_draw": low.T, "high_draw": high.T})


def settings(measures: Sequence[Measure], rates: Sequence[float], seeds: int, first_seed: int) -> dict[str, Any]:
    """What would repeat the study."""
    return {
        "measures": [str(measure) for measure in measures],
        "rates": [float(rate) for rate in rates],
        "seeds": seeds,
        "first_seed": first_seed,
    }
