"""How is a system treated whose documents nobody judged?

For each group, the judgments of documents that it alone brought into the pool are removed, as if it had not taken part,
and its runs are scored again. Measures that count unjudged documents as non-relevant fall for such a run; measures on
condensed lists, bpref among them, tend to rise, because its unjudged documents leave the list and those below move up.
RBP's residual says beforehand how much is at stake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags
from rankbounds.errors import UsageError
from rankbounds.evaluation.judged_runs import JudgedRuns, Progress
from rankbounds.evaluation.score_differences import better
from rankbounds.judging.candidates import ranks_of_judgments
from rankbounds.judging.pools import groups_of, read_groups, unique_to_group
from rankbounds.measures import Measure, parse_measure, parse_measures
from rankbounds.studies import Result

MEASURES = ("AP", "RBP(p=0.8)", "nDCG", "AP'", "RBP'(p=0.8)", "nDCG'", "Q'", "Bpref")


def run(
    qrels: Any,
    runs: Any,
    groups: Any,
    *,
    measures: Sequence[str | Measure] = MEASURES,
    depth: int = 100,
    warning: str | Measure = "RBP(p=0.8)",
    gain: str | Mapping[Any, float] | None = None,
    progress: Progress | None = None,
) -> Result:
    """What each run loses or gains when its group is left out of the pool of that depth.

    Rows ``run, group, unique, measure, value, without, change, rank, rank_without, residual``: how many documents only
    the group found, the run's mean with all judgments and without those, its place among all runs, and the residual of
    ``warning`` once they are gone. ``groups`` is a file of lines ``run group``, or a dict.
    """
    chosen, residual_of = parse_measures(measures), parse_measure(warning)
    judged = JudgedRuns(qrels, runs, gain=gain)
    group_of = groups_of(judged.names, groups if isinstance(groups, Mapping) else read_groups(groups))
    names = list(dict.fromkeys(group_of))
    if len(names) < 2:
        raise UsageError("Leaving a group out needs at least two groups.")
    rank = ranks_of_judgments(judged.qrels, judged.runs)
    unique = [unique_to_group(rank, group_of, name, depth) for name in names]
    subsets: list[Flags | None] = [None, *(~alone for alone in unique)]
    means = judged.scores(subsets, chosen, progress=progress).mean(axis=2)
    rows: list[dict[str, Any]] = []
    for subset, (name, alone) in enumerate(zip(names, unique, strict=True), 1):
        members = [number for number, group in enumerate(group_of) if group == name]
        low, high = judged.low_high(~alone, residual_of, members)
        residual = (high - low).mean(axis=1)
        for system in members:
            for number, measure in enumerate(chosen):
                full, without = means[0, :, number], means[subset, :, number]
                rows.append(
                    {
                        "run": judged.names[system],
                        "group": name,
                        "unique": int(np.count_nonzero(alone)),
                        "measure": str(measure),
                        "value": float(full[system]),
                        "without": float(without[system]),
                        "change": float(without[system] - full[system]),
                        "rank": int(np.count_nonzero(better(full, full[system], measure))) + 1,
                        "rank_without": int(np.count_nonzero(better(without, without[system], measure))) + 1,
                        "residual": float(residual[system]),
                    }
                )
    answers = []
    for measure in chosen:
        mine = [row for row in rows if row["measure"] == str(measure)]
        change = np.array([row["change"] for row in mine])
        moved = np.array([row["rank_without"] - row["rank"] for row in mine])
        answers.append(
            f"{measure}: mean change {change.mean():+.4f}, up for {np.mean(change > 1e-9):.0%} of runs, largest "
            f"{change[np.argmax(np.abs(change))]:+.4f}, places moved at most {int(np.abs(moved).max())}."
        )
    return Result(rows, " ".join(answers), {"depth": depth, "groups": len(names), "warning": str(residual_of)})
