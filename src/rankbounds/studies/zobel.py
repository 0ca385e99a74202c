"""How fair comparisons are to systems that did not take part in the pool.

Source: Zobel, How Reliable Are the Results of Large-Scale Information Retrieval Experiments?, SIGIR 1998.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags
from rankbounds.collection.run_names import groups_of, read_groups
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import UsageError
from rankbounds.evaluation.judged_runs import JudgedRuns
from rankbounds.evaluation.score_differences import better
from rankbounds.judging.candidates import ranks_of_judgments
from rankbounds.judging.pools import unique_to_group
from rankbounds.measures import Measure, parse_measure, parse_measures
from rankbounds.studies.study import BESIDE, Measures, Progress, Rows, StudyResult, draw_series, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RESIDUAL_TICKS = (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1)


@study("Zobel 1998")
def change_by_leaving_a_group_out(
    qrels: QrelsLike,
    runs: RunsLike,
    groups: Any,
    *,
    measures: Measures = ("AP", "RBP(p=0.8)", "nDCG", "AP'", "RBP'(p=0.8)", "nDCG'", "Q'", "Bpref"),
    depth: int = 100,
    warning: str | Measure = "RBP(p=0.8)",
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """How is a system treated whose documents nobody judged?

    For each group, the judgments of documents that only its runs brought into the pool are removed, as if it had not
    taken part, and its runs are scored again. Measures that count unjudged documents as non-relevant fall for such a
    run; measures on condensed lists, bpref among them, tend to rise, because its unjudged documents leave the list and
    those below move up. RBP's residual says in advance how much is at stake.

    ``unique`` is how many documents only the group found, ``value`` and ``without`` the run's mean with and without
    these judgments, ``rank`` and ``rank_without`` its rank among all runs, and ``residual`` that of ``warning`` without
    them. ``groups`` is a file of lines ``run group``, or a dict; ``depth`` is that of the pool.
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
    rows: Rows = []
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
    return StudyResult(rows, " ".join(answers), settings={"groups": len(names)})


@change_by_leaving_a_group_out.figure(figsize=(6.4, 3.8))
def changes_by_residual(result: StudyResult, axes: Axes) -> None:
    """What each run gains or loses when its group is left out of the pool, against the residual that warns of it."""
    draw_series(axes, result.rows(), "residual", "change", linestyle="", markersize=3, alpha=0.6)
    axes.axhline(0, color="grey", linewidth=0.8, linestyle=":")
    # Most runs lie close together near 0, a few far away: square roots bring them apart.
    axes.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
    axes.set_xlim(left=0)
    axes.set_xticks([tick for tick in RESIDUAL_TICKS if tick <= 1.3 * max(row["residual"] for row in result.rows())])
    axes.set(
        xlabel=f"residual of {result.settings['warning']} without the group's own documents",
        ylabel="change of the run's mean",
    )
    axes.legend(fontsize="x-small", **BESIDE)
