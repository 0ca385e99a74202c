"""How fair comparisons are to systems that did not take part in the pool.

Source: Zobel, How Reliable Are the Results of Large-Scale Information Retrieval Experiments?, SIGIR 1998.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import rankbounds as rb
from rankbounds.studies.study import Measures, Progress, Rows, StudyResult, study, track

EQUAL = 1e-12


@study("Zobel 1998")
def change_by_leaving_a_group_out(
    qrels: rb.Qrels,
    runs: list[rb.Run],
    groups: Any,
    *,
    measures: Measures = ("AP", "RBP(p=0.8)", "nDCG", "AP'", "RBP'(p=0.8)", "nDCG'", "Q'", "Bpref"),
    depth: int = 100,
    warning: str | rb.Measure = "RBP(p=0.8)",
    gain: Any = None,
    progress: Progress | None = None,
) -> StudyResult:
    """How is a system treated whose documents nobody judged?

    For each group, the judgments of documents that only its runs brought into the pool are removed, and its runs are
    scored again. Measures that count unjudged documents as non-relevant fall; those on condensed lists, bpref among
    them, tend to rise. RBP's residual says in advance how much is at stake.

    ``unique`` is how many documents only the group found, ``value`` and ``without`` the run's mean with and without
    these judgments, ``rank`` and ``rank_without`` its rank among all runs, and ``residual`` that of ``warning``.
    """
    group_of = groups if isinstance(groups, Mapping) else rb.judging.pools.read_groups(groups)
    full = rb.evaluate(qrels, runs, measures, bounds="none", gain=gain).mean()
    names = list(dict.fromkeys(group_of.get(run, run) for run in full.runs))
    if len(names) < 2:
        raise rb.UsageError("Leaving a group out needs at least two groups.")
    rows: Rows = []
    for name in track(names, progress, len(names)):
        rest = rb.judging.pools.without_group(qrels, runs, group_of, name, depth=depth)
        anew = rb.evaluate(rest, runs, measures, bounds="none", gain=gain).mean()
        warned = rb.evaluate(rest, runs, warning, gain=gain).mean()
        for system in (number for number, run in enumerate(full.runs) if group_of.get(run, run) == name):
            for number, measure in enumerate(full.measures):
                value, without = (scores.value[:, 0, number] for scores in (full, anew))
                sign = -1 if measure.lower_is_better else 1
                rows.append(
                    {
                        "run": full.runs[system],
                        "group": name,
                        "unique": len(qrels) - len(rest),
                        "measure": str(measure),
                        "value": float(value[system]),
                        "without": float(without[system]),
                        "change": float(without[system] - value[system]),
                        "rank": 1 + int(np.count_nonzero(sign * (value - value[system]) > EQUAL)),
                        "rank_without": 1 + int(np.count_nonzero(sign * (without - without[system]) > EQUAL)),
                        "residual": float((warned.high - warned.low)[system, 0, 0]),
                    }
                )
    answers = []
    for measure in full.measures:
        mine = [row for row in rows if row["measure"] == str(measure)]
        change = np.array([row["change"] for row in mine])
        moved = np.array([row["rank_without"] - row["rank"] for row in mine])
        answers.append(
            f"{measure}: mean change {change.mean():+.4f}, up for {np.mean(change > 1e-9):.0%} of runs, largest "
            f"{change[np.argmax(np.abs(change))]:+.4f}, places moved at most {int(np.abs(moved).max())}."
        )
    return StudyResult(rows, " ".join(answers), settings={"groups": len(names)})
