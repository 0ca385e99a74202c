"""Do two measures order systems alike?

Sakai (SIGIR 2007, Table 2): Kendall's tau between the orders of runs by every two measures, all judgments used.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.judged_runs import JudgedRuns, Progress
from rankbounds.measures import Measure, parse_measures
from rankbounds.studies import Result

MEASURES = (
    "Bpref_R",
    "Bpref_N",
    "Rpref_N",
    "Rpref_relative2",
    "AP'",
    "Q'",
    "nDCG'(base=2)@1000",
    "AP",
    "Q",
    "nDCG(base=2)@1000",
)


def run(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = MEASURES,
    gain: str | Mapping[Any, float] | None = None,
    progress: Progress | None = None,
) -> Result:
    """Rank correlation of every two measures: rows ``measure, other, tau``."""
    chosen = parse_measures(measures)
    if len(chosen) < 2:
        raise UsageError("Agreement needs at least two measures.")
    judged = JudgedRuns(qrels, runs, gain=gain)
    means = judged.scores([None], chosen, progress=progress)[0].mean(axis=1)
    rows: list[dict[str, Any]] = [
        {"measure": str(chosen[a]), "other": str(chosen[b]), "tau": kendall(means[:, a], means[:, b])}
        for a, b in itertools.combinations(range(len(chosen)), 2)
    ]
    closest, farthest = (pick(rows, key=lambda row: row["tau"]) for pick in (max, min))
    answer = (
        f"{closest['measure']} and {closest['other']} order runs most alike (tau {closest['tau']:.3f}), "
        f"{farthest['measure']} and {farthest['other']} least ({farthest['tau']:.3f})."
    )
    return Result(rows, answer, {"measures": [str(one) for one in chosen], "runs": len(judged.names)})


def kendall(one: Floats, other: Floats) -> float:
    """Kendall's tau-b: of pairs of runs, those in the same order less those in the opposite one, ties allowed for."""
    if len(one) < 2:
        raise UsageError("The order of runs needs at least two of them.")
    from scipy.stats import kendalltau

    return float(kendalltau(one.round(12), other.round(12)).statistic)
