"""In which order should unjudged documents be judged to settle which of two runs is better?

Judgments are hidden and asked for again. Runs are cut at a depth, and of the judgments only those of a shallow pool are
kept; what nobody judged is non-relevant. For random pairs of runs, documents are then judged one by one in several
orders until bounds that no further judgment can leave lie on one side of 0: at random; by their best rank, as a pool
grows; by strategies A, B and C of Moffat, Webber and Zobel (SIGIR 2007); by the size of their effect on the difference;
and by their value for settling the pair (``judge-next --compare``). Pairs count that are open at first and settled when
everything is judged. Probabilities are estimated once, from the judgments that are kept.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.native import worth_starting
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.judged_runs import Progress
from rankbounds.judging.candidates import ranks_of_judgments
from rankbounds.judging.next.question import Question
from rankbounds.judging.next.residuals import STRATEGIES, plan_by_residual
from rankbounds.judging.next.simulation import SimulatedJudging
from rankbounds.judging.pools import subset
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.rankings.order import ranks
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.studies import Result, rows_by

MEASURES = ("RBP(p=0.8)", "nDCG@10", "AP")
STAND_IN = RBP(p=0.9)
"""Strategies A, B and C need weights of ranks; for measures that have none, these."""
ORDERS = ("random", "pool", *STRATEGIES, "effect", "value")


def run(
    qrels: Any,
    runs: Any,
    *,
    measures: Any = MEASURES,
    pairs: int = 20,
    depth: int = 20,
    kept: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> Result:
    """Rows ``measure, order, pairs, median, mean, share, fewest``.

    Over so many pairs: the median and mean number of judgments that settle a pair, the mean share of the documents that
    could be judged, and for how many pairs the order needs fewest judgments (or as few as any other).
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
    for done, measure in enumerate(asked, 1):
        settled = (_settled_after([cut[a], cut[b]], facts, at_first, judgments, measure, rng) for a, b in chosen)
        rows += _rows(str(measure), list(itertools.islice(filter(None, settled), pairs)))
        if progress:
            progress(done, len(asked))
    return Result(
        rows,
        _answer(rows),
        {"measures": [str(measure) for measure in asked], "pairs": pairs, "depth": depth, "kept": kept, "seed": seed},
    )


def _settled_after(
    two: list[Run], facts: TopicFacts, at_first: Qrels, judgments: Qrels, measure: Measure, rng: np.random.Generator
) -> tuple[dict[str, float], int] | None:
    """For each order, how many judgments settle the pair; None where it is settled at first or never."""
    asked = Question(two, facts, Assumptions(), measure)
    collection, pair = asked.collection, [(0, 1)]
    grade = _truth(asked, judgments)
    low, high = asked.bounds(pair)
    all_low, all_high = asked.bounds(pair, grade)
    if low[0] > 0 or high[0] < 0 or not (all_low[0] > 0 or all_high[0] < 0):
        return None
    (effect,) = asked.effects_on(pair)
    judging = SimulatedJudging(
        effect[None],
        asked.share,
        asked.gain_shares(grade[None]),
        asked.standing(pair)[:, :2].T,
        (low, high),
        level=1.0,
        to_the_end=True,
    )
    size = len(collection)
    best = np.where(collection.rank > 0, collection.rank, np.iinfo(np.int32).max).min(axis=0)
    orders: dict[str, Ints] = {
        "random": rng.permutation(size),
        "pool": np.lexsort((rng.random(size), best)),
        **{strategy: _by_strategy(asked, at_first, strategy) for strategy in STRATEGIES},
        "effect": np.argsort(-np.abs(effect), kind="stable"),
        "value": judging.orders()[0],
    }
    everything = np.arange(size)
    counts = {}
    for name, order in orders.items():
        completed = np.concatenate((order, np.setdiff1d(everything, order)))  # an order may leave documents out
        counts[name] = asked.until_settled(pair, grade, completed, 32)
    return counts, size


def _truth(asked: Question, judgments: Qrels) -> Floats:
    """The grades that all judgments give the documents; what nobody judged is non-relevant."""
    collection = asked.collection
    grade = np.zeros(len(collection))
    for unjudged, number in zip(collection.unjudged, collection.numbers, strict=True):
        pairs = unjudged.pairs
        here, judgment = judgments.pairs.index.find(pairs, judgments.pairs.index.topics_of(pairs))
        grade[number[here]] = np.maximum(judgments.grade[judgment], 0.0)
    return grade


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


def _rows(measure: str, settled: Sequence[tuple[Mapping[str, float], int]]) -> list[dict[str, Any]]:
    if not settled:
        return []
    table = np.array([[counts[order] for order in ORDERS] for counts, _ in settled])
    share = table / np.array([[size] for _, size in settled])
    fewest = np.count_nonzero(table == table.min(axis=1, keepdims=True), axis=0)
    values = {"median": np.median(table, axis=0), "mean": table.mean(axis=0), "share": share.mean(axis=0)}
    return rows_by({"measure": [measure], "order": ORDERS, "pairs": [len(settled)]}, values | {"fewest": fewest})


def _answer(rows: Sequence[Mapping[str, Any]]) -> str:
    """One clause for each measure."""
    clauses = []
    for measure in dict.fromkeys(row["measure"] for row in rows):
        mean = {row["order"]: row["mean"] for row in rows if row["measure"] == measure}
        clauses.append(
            f"{measure}: {mean['value']:.0f} judgments settle a pair on average in the order of value, "
            f"{mean['effect']:.0f} by effect, {mean['A']:.0f} by strategy A, {mean['pool']:.0f} as a pool grows, "
            f"{mean['random']:.0f} at random"
        )
    return "; ".join(clauses) + "." if clauses else "No pair of these runs is open at first and settled in the end."


def figure(result: Result) -> Any:
    """The mean number of judgments by order, a line for each measure."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots()
    for measure, rows, _ in result.by("measure"):
        axes.plot([row["order"] for row in rows], [row["mean"] for row in rows], marker="o", label=measure)
    axes.set(xlabel="order of judging", ylabel="judgments that settle a pair (mean)", ylim=(0, None))
    if result.rows:
        axes.legend(frameon=False)
    return axes
