"""Which documents to judge first: to lower residuals, and to settle which of two runs is better.

Source: Moffat, Webber and Zobel, Strategic System Comparisons via Targeted Relevance Judgments, SIGIR 2007.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.inputs import Reading
from rankbounds.collection.order import ranks
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.columns.native import worth_starting
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.judging.candidates import collect, ranks_of_judgments
from rankbounds.judging.next.question import Question
from rankbounds.judging.next.residuals import STRATEGIES, plan_by_residual
from rankbounds.judging.next.simulation import SimulatedJudging
from rankbounds.judging.pools import subset
from rankbounds.measures import Measure, RankWeighted, parse_measure, parse_measures
from rankbounds.measures.formulas import is_weighted_sum, weights_by_rank
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.probability.models.chosen import ChosenModels
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.stats.rank_correlation import kendall_tau
from rankbounds.studies.drawing import draw_series
from rankbounds.studies.study import Measures, Progress, Rows, StudyResult, rows_by, study
from rankbounds.threads import track

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEEPEST, NEGLIGIBLE = 1000, 1e-9
"""No rank below the one, and none whose weight is less than the other, is worth judging."""
LABELS = {
    "depth": "pool to a depth",
    "A": "A: heaviest documents",
    "B": "B: uncertain runs first",
    "C": "C: good uncertain runs first",
}
STAND_IN = RBP(p=0.9)
"""Strategies A, B and C need weights of ranks; for measures that have none, these."""
ORDERS = ("random", "pool", *STRATEGIES, "effect", "value")


@study("Moffat, Webber and Zobel 2007", seconds=6)
def residual_by_judging_strategy(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measure: str = "RBP(p=0.8)",
    depths: Sequence[int] = (1, 2, 3, 5, 10, 20),
    rounds: int = 200,
    progress: Progress | None = None,
) -> StudyResult:
    """How many judgments does each strategy of choosing documents save against pooling to a depth?

    Judging starts from nothing; unjudged documents count as non-relevant. For every pool depth the study notes the
    pool's cost and what it left open, and how many judgments the targeted strategies A, B and C needed to leave no more
    open. Strategies B and C are updated after every ``rounds``-th part of the largest pool, C with the outcomes so far.

    A row of strategy ``depth`` has the cost of that pool, the mean residual of all runs that it leaves, and Kendall's
    tau of the runs' order with that under all judgments. A row of A, B or C has the number of judgments for the same
    residual, and ``saved`` is the share of the pool that was not needed.
    """
    chosen = parse_measure(measure)
    if not isinstance(chosen, RankWeighted) or chosen.graded:
        raise UsageError(f"{chosen} is not a sum of fixed weights over relevant documents. Use RBP or P.")
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
    for strategy in track(STRATEGIES, progress, len(STRATEGIES)):
        batch = max(cost.values()) // rounds
        order = _order(strategy, weights, relevant, everything, usable, min(target.values()), batch)
        settled = np.cumsum(np.asarray(weights.sum(axis=1))[order]) / len(systems)
        for depth in pools:
            needed = min(int(np.searchsorted(settled, everything.mean() - target[depth] - 1e-12)) + 1, order.size)
            judged = np.zeros(shape[0])
            judged[order[:needed]] = 1
            rows.append(row(strategy, depth, judged, cost[depth]))
    deep = max(pools)
    answers = [
        f"{line['strategy']} needs {line['judgments']:,} for what a pool of depth {deep} settles with {cost[deep]:,}"
        for line in rows
        if line["strategy"] != "depth" and line["depth"] == deep
    ]
    return StudyResult(rows, "; ".join(answers) + ".")


def _order(
    strategy: str, weights: Any, relevant: Flags, everything: Floats, usable: Flags, goal: float, batch: int
) -> Ints:
    """Return the documents in a strategy's order, until no more is left open than the goal."""
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
    """Return what lies beyond the depth examined, or beyond the ends of lists, as a mean over topics."""
    cutoff = min(deepest, measure.cutoff or deepest)
    tails = []
    for system in systems:
        counts = dict(zip(system.query_ids, np.bincount(system.pairs.topic).tolist(), strict=True))
        length = np.array([counts.get(query, 0) for query in query_ids])
        tails.append(measure.tail(np.minimum(length, cutoff)).mean())
    return np.array(tails)


@residual_by_judging_strategy.figure()
def residuals_by_judgments(result: StudyResult, axes: Axes) -> None:
    """Draw the mean residual by the number of judgments, for growing pools and targeted strategies."""
    order = list(LABELS)
    rows = sorted(result.rows(), key=lambda row: (order.index(row["strategy"]), row["judgments"]))
    named = [row | {"strategy": LABELS[row["strategy"]]} for row in rows]
    draw_series(axes, named, "judgments", "residual", "{strategy}")
    axes.set(xlabel="judgments made", ylabel=f"mean residual of {result.settings['measure']}")
    if min(row["residual"] for row in rows) > 0:
        axes.set_yscale("log")
    axes.legend(fontsize="small", frameon=False)


@study("Moffat, Webber and Zobel 2007", seconds=60)
def settling_by_judging_order(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: Measures = ("RBP(p=0.8)", "nDCG@10", "AP"),
    pairs: int = 8,
    depth: int = 20,
    kept: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> StudyResult:
    """In which order should unjudged documents be judged to settle which of two runs is better?

    Judgments are hidden and revealed again. Runs are cut at a depth, and only the judgments of a shallow pool are kept;
    unjudged documents count as non-relevant. For random pairs of runs, documents are then judged one by one until
    certain bounds lie on one side of 0, in several orders: random; by best rank, as a pool grows; strategies A, B and C
    of Moffat, Webber and Zobel (SIGIR 2007); by the size of the effect on the difference; and by the value for settling
    the pair (``judge-next --compare``). Pairs count that are open at first and settled when everything is judged.
    Probabilities are estimated once, from the judgments kept.

    A row has the median and mean number of judgments that settle a pair, the mean share of the documents that could be
    judged, and the number of pairs for which the order needs the ``fewest`` judgments.
    """
    judgments, systems = Reading().judgments(qrels), Reading(threads=worth_starting()).runs(runs)
    if len(systems) < 2:
        raise UsageError("Pairs of runs are settled: two runs are needed at least.")
    cut = [system.take(np.flatnonzero(ranks(system) <= depth)) for system in systems]
    pooled: Flags = np.logical_or.reduce(ranks_of_judgments(judgments, cut) <= kept)
    at_first = subset(judgments, pooled)
    facts = TopicFacts(at_first)
    rng = np.random.default_rng(seed)
    chosen = list(itertools.combinations(range(len(cut)), 2))
    chosen = [chosen[place] for place in rng.permutation(len(chosen)).tolist()]
    rows, asked = [], parse_measures(measures)
    for measure in track(asked, progress, len(asked)):
        settled = (_settled_after([cut[a], cut[b]], facts, at_first, judgments, measure, rng) for a, b in chosen)
        rows += _rows(str(measure), list(itertools.islice(filter(None, settled), pairs)))
    return StudyResult(rows, _answer(rows))


def _settled_after(
    two: list[Run], facts: TopicFacts, at_first: Qrels, judgments: Qrels, measure: Measure, rng: np.random.Generator
) -> tuple[dict[str, float], int] | None:
    """Return for each order how many judgments settle the pair; None if it is settled at first or never."""
    asked = Question(ChosenModels("logistic", None, two, facts, Assumptions()), measure)
    collection, pair = asked.collection, [(0, 1)]
    grade, index = np.zeros(len(collection)), judgments.pairs.index
    for unjudged, number in zip(collection.unjudged, collection.numbers, strict=True):
        here, judgment = index.find(unjudged.pairs)
        grade[number[here]] = np.maximum(judgments.grade[judgment], 0.0)  # what nobody judged is non-relevant
    low, high = asked.bounds(pair)
    all_low, all_high = asked.bounds(pair, grade)
    if low[0] > 0 or high[0] < 0 or not (all_low[0] > 0 or all_high[0] < 0):
        return None
    (effect,) = asked.effects_on(pair)
    known = effect[None], asked.share, asked.gain_shares(grade[None]), asked.standing(pair)[:, :2].T
    judging = SimulatedJudging(*known, (low, high), level=1.0, to_the_end=True)
    size = len(collection)
    best = np.where(collection.rank > 0, collection.rank, np.iinfo(np.int32).max).min(axis=0)
    orders: dict[str, Ints] = {
        "random": rng.permutation(size),
        "pool": np.lexsort((rng.random(size), best)),
        **{strategy: _by_strategy(asked, at_first, strategy) for strategy in STRATEGIES},
        "effect": np.argsort(-np.abs(effect), kind="stable"),
        "value": judging.orders()[0],
    }
    # An order may leave documents out: they come last.
    completed = {name: np.append(order, np.setdiff1d(np.arange(size), order)) for name, order in orders.items()}
    return {name: asked.until_settled(pair, grade, order, 32) for name, order in completed.items()}, size


def _by_strategy(asked: Question, at_first: Qrels, strategy: str) -> Ints:
    collection = asked.collection
    measure = asked.measure if is_weighted_sum(asked.measure) else STAND_IN
    plan = plan_by_residual(
        at_first, collection.runs, measure, len(collection), strategy, assumptions=collection.assumptions
    )
    topics = [collection.facts.query_ids[topic] for topic in collection.topic.tolist()]
    names = collection.doc_ids(np.arange(len(collection)))
    place = {document: number for number, document in enumerate(zip(topics, names, strict=True))}
    return np.array([place[document] for document in zip(plan.query_ids, plan.doc_ids, strict=True)], dtype=np.int64)


def _rows(measure: str, settled: Sequence[tuple[dict[str, float], int]]) -> Rows:
    if not settled:
        return []
    table = np.array([[counts[order] for order in ORDERS] for counts, _ in settled])
    share = table / np.array([[size] for _, size in settled])
    fewest = np.count_nonzero(table == table.min(axis=1, keepdims=True), axis=0)
    values = {"median": np.median(table, axis=0), "mean": table.mean(axis=0), "share": share.mean(axis=0)}
    return rows_by({"measure": [measure], "order": ORDERS, "pairs": [len(settled)]}, values | {"fewest": fewest})


def _answer(rows: Rows) -> str:
    clauses = []
    for measure in dict.fromkeys(row["measure"] for row in rows):
        mean = {row["order"]: row["mean"] for row in rows if row["measure"] == measure}
        clauses.append(
            f"{measure}: {mean['value']:.0f} judgments settle a pair on average in the order of value, "
            f"{mean['effect']:.0f} by effect, {mean['A']:.0f} by strategy A, {mean['pool']:.0f} as a pool grows, "
            f"{mean['random']:.0f} at random"
        )
    return "; ".join(clauses) + "." if clauses else "No pair of these runs is open at first and settled in the end."


@settling_by_judging_order.figure()
def judgments_by_order(result: StudyResult, axes: Axes) -> None:
    """The mean number of judgments by order, a line for each measure."""
    for measure, rows, colour in result.by("measure"):
        axes.plot([row["order"] for row in rows], [row["mean"] for row in rows], "o-", color=colour, label=measure)
    axes.set(xlabel="order of judging", ylabel="judgments that settle a pair (mean)", ylim=(0, None))
    if result.rows():
        axes.legend(frameon=False)
