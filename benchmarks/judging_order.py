"""How many judgments settle which of two runs is better, by the order in which documents are judged?

    python benchmarks/judging_order.py QRELS RUNS [--pairs 20] [--depth 20] [--kept 1] [-m MEASURE]...

Judgments are hidden and asked for again. Runs are cut at a depth, and only the judgments of a pool of ``kept``
documents remain. For random pairs of runs, documents are judged one by one until the certain bounds of the difference
lie on one side of 0: at random; by their best rank, as a pool grows; by their weights in both runs (strategy A of
Moffat, Webber and Zobel, SIGIR 2007); by the size of their effect on the difference; and by their value for settling
the pair (``judge-next --compare``). Pairs count that are open at first and settled when everything is judged. Prints
the mean number of judgments per measure and order.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

import rankbounds as rb
from rankbounds.arrays import Ints
from rankbounds.collection.inputs import Reading
from rankbounds.collection.order import ranks
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.judging.next.judge_next import plan_by_residual
from rankbounds.judging.next.open_documents import OpenDocuments, SimulatedJudging
from rankbounds.judging.pools import pool, subset
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.probability.models.chosen import ChosenModels
from rankbounds.rankings.topic_facts import TopicFacts

ORDERS = ("random", "pool", "weight", "effect", "value")
STAND_IN = rb.RBP(p=0.9)
"""Weights of ranks for measures that have none."""


def settled_after(
    two: list[Run], at_first: Qrels, judgments: Qrels, measure: rb.Measure, generator: np.random.Generator
) -> dict[str, float] | None:
    """For each order, how many judgments settle the pair; None where it is settled at first or never."""
    asked = OpenDocuments(ChosenModels("logistic", None, two, TopicFacts(at_first), Assumptions()), measure)
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
        "random": generator.permutation(size),
        "pool": np.lexsort((generator.random(size), best)),
        "weight": by_weight(asked, at_first),
        "effect": np.argsort(-np.abs(effect), kind="stable"),
        "value": judging.orders()[0],
    }
    # An order may leave documents out: they come last.
    completed = {name: np.append(order, np.setdiff1d(np.arange(size), order)) for name, order in orders.items()}
    return {name: asked.until_settled(pair, grade, order, 32) for name, order in completed.items()}


def by_weight(asked: OpenDocuments, at_first: Qrels) -> Ints:
    """The documents by their weights in both runs together."""
    collection = asked.collection
    measure = asked.measure if is_weighted_sum(asked.measure) else STAND_IN
    plan = plan_by_residual(at_first, collection.runs, measure, len(collection), collection.assumptions)
    topics = [collection.facts.query_ids[topic] for topic in collection.topic.tolist()]
    names = collection.retrieved.doc_ids(np.arange(len(collection)))
    place = {document: number for number, document in enumerate(zip(topics, names, strict=True))}
    return np.array([place[document] for document in zip(plan.query_ids, plan.doc_ids, strict=True)], dtype=np.int64)


def mean_counts(judgments: Qrels, systems: list[Run], measure: rb.Measure, pairs: int, depth: int, kept: int) -> dict:
    """The mean number of judgments over the first pairs, in random order, that count; and how many pairs there are."""
    cut = [system.take(np.flatnonzero(ranks(system) <= depth)) for system in systems]
    pooled = judgments.pairs.index.find(pool(cut, depth=kept).pairs)[1]
    at_first = subset(judgments, np.isin(np.arange(len(judgments)), pooled))
    generator = np.random.default_rng(0)
    chosen = generator.permutation(list(itertools.combinations(range(len(cut)), 2))).tolist()
    counts = (settled_after([cut[a], cut[b]], at_first, judgments, measure, generator) for a, b in chosen)
    found = list(itertools.islice(filter(None, counts), pairs))
    return {"pairs": len(found)} | {order: float(np.mean([one[order] for one in found])) for order in ORDERS if found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("qrels")
    parser.add_argument("runs")
    parser.add_argument("-m", "--measure", action="append")
    for name, number in (("pairs", 20), ("depth", 20), ("kept", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    options = parser.parse_args()
    judgments, systems = Reading().judgments(options.qrels), Reading().runs(options.runs)
    print("| measure | pairs |", " | ".join(ORDERS), "|")
    print("|---|---:|" + "---:|" * len(ORDERS))
    for measure in map(rb.parse_measure, options.measure or ("RBP(p=0.8)", "nDCG@10")):
        found = mean_counts(judgments, systems, measure, options.pairs, options.depth, options.kept)
        print(f"| {measure} |", " | ".join(f"{number:.0f}" for number in found.values()), "|", flush=True)


if __name__ == "__main__":
    main()
