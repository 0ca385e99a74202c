"""Are scores from a shallow pool those of a deep one?

Moffat and Zobel (TOIS 2008, Figures 2 and 4): each run's score under the judgments of a shallow pool against its score
under all judgments. AP from a shallow pool is nearly always too large; RBP can only rise as judgments are added, by
what its residual said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats
from rankbounds.errors import UsageError
from rankbounds.evaluation.judged_runs import JudgedRuns, Progress
from rankbounds.judging.candidates import ranks_of_judgments
from rankbounds.measures import Measure, parse_measures
from rankbounds.stats.rank_correlation import kendall_tau
from rankbounds.studies import Result

MEASURES = ("AP", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)")


def run(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = MEASURES,
    depths: Sequence[int] = (10,),
    gain: str | Mapping[Any, float] | None = None,
    progress: Progress | None = None,
) -> Result:
    """Each run's mean by pool depth: rows ``run, measure, depth, value, low, high, full``.

    ``low`` and ``high`` are the bounds under the shallow pool, ``full`` is the value under all judgments.
    """
    if not depths or min(depths) < 1:
        raise UsageError("Pool depths must be at least 1.")
    chosen = parse_measures(measures)
    judged = JudgedRuns(qrels, runs, gain=gain)
    best = ranks_of_judgments(judged.qrels, judged.runs).min(axis=0)
    subsets: list[Flags | None] = [None, *(best <= depth for depth in depths)]
    means = judged.scores(subsets, chosen, progress=progress).mean(axis=2)
    rows, answers = [], []
    for number, measure in enumerate(chosen):
        full = means[0, :, number]
        for place, depth in enumerate(depths, 1):
            value = means[place, :, number]
            low, high = (bound.mean(axis=1) for bound in judged.low_high(subsets[place], measure))
            rows += _rows(judged.names, measure, depth, value, low, high, full)
            answers.append(
                f"{measure} at depth {depth}: {np.mean(value > full + 1e-12):.0%} of runs score higher than under all "
                f"judgments, mean change {np.mean(value - full):+.4f}, tau {kendall_tau(value, full):.3f}."
            )
    return Result(rows, " ".join(answers), {"measures": [str(measure) for measure in chosen], "depths": list(depths)})


def _rows(
    names: Sequence[str], measure: Measure, depth: int, value: Floats, low: Floats, high: Floats, full: Floats
) -> list[dict[str, Any]]:
    return [
        {
            "run": name,
            "measure": str(measure),
            "depth": depth,
            "value": float(value[run]),
            "low": None if np.isnan(low[run]) else float(low[run]),
            "high": None if np.isnan(high[run]) else float(high[run]),
            "full": float(full[run]),
        }
        for run, name in enumerate(names)
    ]
