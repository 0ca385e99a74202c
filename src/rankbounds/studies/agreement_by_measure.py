"""Do two measures order systems alike?

Kendall's tau between the orders of runs by every two measures, and between the order by each measure when only a
shallow pool is judged and that by every measure under all judgments.

Sources: Moffat and Zobel (TOIS 2008, Table III); Sakai, Alternatives to Bpref (SIGIR 2007, Table 2).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.errors import UsageError
from rankbounds.evaluation.judged_runs import JudgedRuns, Progress
from rankbounds.evaluation.score_differences import merit
from rankbounds.judging.candidates import ranks_of_judgments
from rankbounds.measures import Measure, parse_measures
from rankbounds.stats.rank_correlation import kendall_tau
from rankbounds.studies import Result

MEASURES = (
    *("RR", "P@10", "RPrec", "AP", "nDCG(base=2)@1000", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)"),
    *("Q", "AP'", "Q'", "nDCG'(base=2)@1000", "Bpref_R", "Bpref_N", "Rpref_N", "Rpref_relative2"),
)


def run(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = MEASURES,
    depths: Sequence[int] = (10,),
    gain: str | Mapping[Any, float] | None = None,
    progress: Progress | None = None,
) -> Result:
    """Rank correlation of every two measures: rows ``measure, other, pool_depth, tau``.

    ``pool_depth`` is empty where both use all judgments. Where it is a number, the first measure sees the judgments of
    a pool of that depth alone, and the other all of them.
    """
    chosen = parse_measures(measures)
    if len(chosen) < 2:
        raise UsageError("Agreement needs at least two measures.")
    judged = JudgedRuns(qrels, runs, gain=gain)
    best = ranks_of_judgments(judged.qrels, judged.runs).min(axis=0)
    means = judged.scores([None, *(best <= depth for depth in depths)], chosen, progress=progress).mean(axis=2)
    means = np.stack([merit(means[..., column], measure) for column, measure in enumerate(chosen)], axis=-1)
    names = [str(measure) for measure in chosen]
    rows: list[dict[str, Any]] = [
        {"measure": names[a], "other": names[b], "pool_depth": depth, "tau": kendall_tau(shallow[:, a], means[0][:, b])}
        for depth, shallow in zip((None, *depths), means, strict=True)
        for a, b in itertools.product(range(len(names)), repeat=2)
        if depth or a < b
    ]
    whole = [row for row in rows if row["pool_depth"] is None]
    closest, farthest = (pick(whole, key=lambda row: row["tau"]) for pick in (max, min))
    answer = (
        f"{closest['measure']} and {closest['other']} order runs most alike (tau {closest['tau']:.3f}), "
        f"{farthest['measure']} and {farthest['other']} least ({farthest['tau']:.3f})."
    )
    for depth in depths:
        kept = [row for row in rows if row["pool_depth"] == depth and row["measure"] == row["other"]]
        most, least = (pick(kept, key=lambda row: row["tau"]) for pick in (max, min))
        answer += (
            f" Judged to depth {depth} only, {most['measure']} keeps its order best (tau {most['tau']:.3f} with that "
            f"under all judgments) and {least['measure']} worst ({least['tau']:.3f})."
        )
    return Result(rows, answer, {"measures": names, "runs": len(judged.names), "depths": list(depths)})
