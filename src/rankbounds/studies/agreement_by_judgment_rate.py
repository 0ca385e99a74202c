"""Do fewer judgments order systems as all judgments do?

Sakai (SIGIR 2007, Figure 2): Kendall's tau between the order of runs under all judgments and under a reduced part of
them. The paper has one draw for each rate; here each is repeated over seeds, and 95% of the draws lie between
``low_draw`` and ``high_draw``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.evaluation.judged_runs import Progress
from rankbounds.judging.pools import RATES
from rankbounds.measures import Measure, parse_measures
from rankbounds.stats.rank_correlation import kendall_tau
from rankbounds.studies import Result
from rankbounds.studies.score_by_judgment_rate import MEASURES, mean_scores, rows_by_rate, settings


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
    """Rank correlation with full judgments: rows ``measure, rate, tau, low_draw, high_draw``."""
    chosen = parse_measures(measures)
    means = mean_scores(qrels, runs, gain, chosen, rates, seeds, first_seed, progress)
    tau = np.array(
        [[[kendall_tau(*both) for both in zip(draw[0].T, few.T, strict=True)] for few in draw[1:]] for draw in means]
    )
    rows = rows_by_rate(chosen, rates, tau, "tau")
    last = tau[:, -1].mean(axis=0)
    best, worst = int(np.argmax(last)), int(np.argmin(last))
    answer = (
        f"At {rates[-1]:g}% of the judgments {chosen[best]} keeps the order of runs best (tau {last[best]:.3f}) and "
        f"{chosen[worst]} worst (tau {last[worst]:.3f})."
    )
    return Result(rows, answer, settings(chosen, rates, seeds, first_seed))
