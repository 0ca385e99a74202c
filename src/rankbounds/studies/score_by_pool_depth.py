"""Are scores from a shallow pool those of a deep one?

Moffat and Zobel (TOIS 2008, Figures 2 and 4): each run's score under the judgments of a shallow pool against its score
under all judgments. AP from a shallow pool is nearly always too large; RBP can only rise as judgments are added, by
what its residual said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags
from rankbounds.errors import UsageError
from rankbounds.evaluation.judged_runs import JudgedRuns, Progress
from rankbounds.judging.candidates import ranks_of_judgments
from rankbounds.measures import Measure, parse_measures
from rankbounds.stats.rank_correlation import kendall_tau
from rankbounds.studies import Result, rows_by

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
    full, value = means[0].T[:, None], np.moveaxis(means[1:], -1, 0)
    bounds = [[judged.low_high(subset, measure) for subset in subsets[1:]] for measure in chosen]
    low, high = np.moveaxis(np.array(bounds).mean(axis=-1), 2, 0)
    answers = [
        f"{measure} at depth {depth}: {np.mean(shallow > whole + 1e-12):.0%} of runs score higher than under all "
        f"judgments, mean change {np.mean(shallow - whole):+.4f}, tau {kendall_tau(shallow, whole):.3f}."
        for measure, by_depth, (whole,) in zip(chosen, value, full, strict=True)
        for depth, shallow in zip(depths, by_depth, strict=True)
    ]
    names = [str(measure) for measure in chosen]
    numbers = {"value": value, "low": low, "high": high, "full": np.broadcast_to(full, value.shape)}
    rows = rows_by({"measure": names, "depth": depths, "run": judged.names}, numbers)
    rows = [{"run": row["run"]} | row for row in rows]
    return Result(rows, " ".join(answers), {"measures": names, "depths": list(depths)})
