"""How many judgments does each strategy of choosing documents save against pooling to a depth?

Moffat, Webber and Zobel (SIGIR 2007). Judging starts from nothing; documents are judged as the judgments at hand say,
those that nobody judged as non-relevant. For every pool depth the study notes what the pool cost and what it left open,
and how many judgments the targeted strategies A, B and C needed to leave no more open. Strategies B and C are brought
up to date after every ``rounds``-th part of the largest pool, C with the outcomes seen so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.inputs import Reading
from rankbounds.collection.run import Run
from rankbounds.columns.native import worth_starting
from rankbounds.errors import UsageError
from rankbounds.evaluation.judged_runs import Progress
from rankbounds.judging.candidates import collect
from rankbounds.judging.next.residuals import STRATEGIES
from rankbounds.measures import RankWeighted, parse_measure
from rankbounds.measures.formulas import weights_by_rank
from rankbounds.stats.rank_correlation import kendall_tau
from rankbounds.studies import Result

DEEPEST, NEGLIGIBLE = 1000, 1e-9
"""No rank below the one, and none whose weight is less than the other, is worth judging."""


def run(
    qrels: Any,
    runs: Any,
    *,
    measure: str = "RBP(p=0.8)",
    depths: Sequence[int] = (1, 2, 3, 5, 10, 20),
    rounds: int = 200,
    progress: Progress | None = None,
) -> Result:
    """Rows ``strategy, depth, judgments, residual, tau, saved``.

    A row of strategy ``depth`` says what the pool of that depth costs, the mean residual of all runs that it leaves,
    and Kendall's tau of the runs' order with that under all judgments. A row of A, B or C says how many judgments were
    enough for the same residual, and ``saved`` is the share of the pool that was not needed.
    """
    chosen = parse_measure(measure)
    if not isinstance(chosen, RankWeighted) or chosen.graded:
        raise UsageError(f"{chosen} is no sum of fixed weights over relevant documents. Use RBP or P.")
    from scipy.sparse import csr_array

    judgments, systems = Reading().judgments(qrels), Reading(threads=worth_starting()).runs(runs)
    deepest = max(max(depths), int(np.count_nonzero(chosen.weights(DEEPEST) >= NEGLIGIBLE)))
    candidates = collect(systems, depth=deepest)
    held = np.isin(candidates.topics, list(judgments.query_ids))[candidates.topic[candidates.document]]
    share = weights_by_rank(chosen, candidates.rank)[held] / len(judgments.query_ids)
    shape = (len(candidates), len(systems))
    weights = csr_array((share, (candidates.document[held], candidates.run[held])), shape=shape)
    relevant = candidates.grades(judgments) >= chosen.rel
    best = candidates.best_rank
    usable = np.asarray(weights.sum(axis=1)) > 0
    truth = relevant @ weights
    tail = _open_tail(chosen, systems, judgments.query_ids, deepest)
    everything = np.ones(shape[0]) @ weights + tail

    def left_open(judged: Floats) -> Floats:
        return everything - judged @ weights

    def row(strategy: str, depth: int, judged: Floats, cost: int) -> dict[str, Any]:
        number = int(np.count_nonzero(judged))
        return {
            "strategy": strategy,
            "depth": depth,
            "judgments": number,
            "residual": float(left_open(judged).mean()),
            "tau": kendall_tau((judged * relevant) @ weights, truth),
            "saved": 1 - number / cost,
        }

    pools = {depth: (usable & (best <= depth)).astype(np.float64) for depth in sorted(depths)}
    cost = {depth: int(judged.sum()) for depth, judged in pools.items()}
    rows = [row("depth", depth, judged, cost[depth]) for depth, judged in pools.items()]
    target = {depth: float(left_open(judged).mean()) for depth, judged in pools.items()}
    for done, strategy in enumerate(STRATEGIES, 1):
        order = _order(
            strategy, weights, relevant, everything, usable, min(target.values()), max(cost.values()) // rounds
        )
        settled = np.cumsum(np.asarray(weights.sum(axis=1))[order]) / len(systems)
        for depth in pools:
            needed = min(int(np.searchsorted(settled, everything.mean() - target[depth] - 1e-12)) + 1, order.size)
            judged = np.zeros(shape[0])
            judged[order[:needed]] = 1
            rows.append(row(strategy, depth, judged, cost[depth]))
        if progress:
            progress(done, len(STRATEGIES))
    answers = [
        f"{strategy} needs "
        + ", ".join(
            f"{line['judgments']:,} for what a pool of depth {line['depth']} settles with {cost[line['depth']]:,}"
            for line in rows
            if line["strategy"] == strategy and line["depth"] == max(pools)
        )
        for strategy in STRATEGIES
    ]
    return Result(rows, "; ".join(answers) + ".", {"measure": str(chosen), "depths": sorted(depths), "rounds": rounds})


def _order(
    strategy: str, weights: Any, relevant: Flags, everything: Floats, usable: Flags, goal: float, batch: int
) -> Ints:
    """The documents in the order in which a strategy judges them, until it leaves no more open than the goal."""
    left = np.flatnonzero(usable)
    if strategy == "A":
        return left[np.argsort(-np.asarray(weights.sum(axis=1))[left], kind="stable")]
    judged = np.zeros(weights.shape[0])
    chosen: list[Ints] = []
    residual = everything
    while left.size and residual.mean() > goal:
        trust = residual * (((judged * relevant) @ weights + residual / 2) ** 3 if strategy == "C" else 1.0)
        picked = left[np.argsort(-(weights @ trust)[left], kind="stable")[: max(1, batch)]]
        chosen.append(picked)
        judged[picked] = 1
        left = left[judged[left] == 0]
        residual = everything - judged @ weights
    return np.concatenate(chosen)


def _open_tail(measure: RankWeighted, systems: Sequence[Run], query_ids: Sequence[str], deepest: int) -> Floats:
    """What lies beyond the depth that is looked at, or beyond the ends of lists, as a mean over topics."""
    cutoff = min(deepest, measure.cutoff or deepest)
    tails = []
    for system in systems:
        counts = dict(zip(system.query_ids, np.bincount(system.pairs.topic).tolist(), strict=True))
        length = np.array([counts.get(query, 0) for query in query_ids])
        tails.append(measure.tail(np.minimum(length, cutoff)).mean())
    return np.array(tails)
