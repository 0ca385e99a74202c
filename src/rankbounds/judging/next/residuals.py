"""What to judge next for measures of fixed weights: documents by what their judgment takes off the runs' residuals.

Strategies A, B and C: Moffat, Webber and Zobel, SIGIR 2007. A is exact: no other documents take more off the summed
residual. B and C choose one document at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.native import worth_starting
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.scoring import JoinedRun, Scoring, join_lists, score_joined
from rankbounds.judging.next.plan import JudgingPlan
from rankbounds.measures import RankWeighted
from rankbounds.measures.formulas import weights_by_rank, worth_of_one
from rankbounds.rankings.documents import RetrievedDocuments, entries_of
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

STRATEGIES = ("A", "B", "C")


def plan_by_residual(
    judgments: Qrels,
    runs: Sequence[Run],
    measure: RankWeighted,
    budget: int,
    strategy: str = "A",
    *,
    assumptions: Assumptions,
) -> JudgingPlan:
    """The unjudged documents of judged topics whose judgments take most off the residuals."""
    facts = TopicFacts(judgments, assumptions.gain)
    judgments.pairs.index  # noqa: B018 (built once, before threads share it)
    scoring = Scoring([measure], assumptions, worth_starting())
    seen: list[Ints] = []

    def join_one(number: int) -> JoinedRun:
        run = runs[number]
        return JoinedRun(run.name, join_lists(run, facts, assumptions), run.prepared, lambda: run)

    def see(number: int, rankings: Rankings) -> None:
        seen.append(entries_of(number, rankings, rankings.holes))

    scores = score_joined(join_one, [run.name for run in runs], facts, scoring, observe=see)
    seen.sort(key=lambda part: part[1, :1].tolist())
    documents = RetrievedDocuments.at(runs, np.concatenate(seen, axis=1))
    entry_weight = worth_of_one(measure, facts) * weights_by_rank(measure, documents.rank)
    entries = np.flatnonzero(entry_weight > 0)
    gone = np.bincount(documents.document[entries], entry_weight[entries], len(documents)).astype(np.float64)
    if strategy == "A":
        picked = heaviest(documents, gone, budget)
        own: Floats = gone[picked]
    else:
        entries = entries[np.argsort(documents.document[entries], kind="stable")]
        residual = (scores.high - scores.low)[:, :, 0].mean(axis=1)
        middle = scores.value[:, :, 0].mean(axis=1) + residual / 2
        trust = middle ** (3 if strategy == "C" else 0)
        shrink = entry_weight / len(facts.query_ids)
        picked, own = _one_by_one(documents, entries, entry_weight, shrink, residual, trust, budget)
    before = float((scores.high - scores.low).sum())
    return JudgingPlan(
        [facts.query_ids[number] for number in documents.topic[picked].tolist()],
        documents.doc_ids(picked),
        own,
        np.maximum(before - np.cumsum(gone[picked]), 0.0),
        before,
        len(facts.query_ids),
        len(scores.runs),
        len(documents),
        settings={"measure": str(measure), "strategy": strategy},
    )


def heaviest(documents: RetrievedDocuments, weight: Floats, budget: int) -> Ints:
    """The documents of the largest weights; equal weights in the order of topics and ids."""
    rounded = np.round(weight, 12)  # sums of the same weights in another order are equal
    held = np.flatnonzero(rounded > 0)
    if held.size > budget:
        least = np.partition(rounded[held], held.size - budget)[held.size - budget]
        held = held[rounded[held] >= least]
    keys = zip(-rounded[held], documents.topic[held].tolist(), documents.doc_ids(held), held.tolist(), strict=True)
    return np.array([key[-1] for key in sorted(keys)[:budget]], dtype=np.int64)


def _one_by_one(
    documents: RetrievedDocuments,
    entries: Ints,
    weight: Floats,
    shrink: Floats,
    residual: Floats,
    trust: Floats,
    budget: int,
) -> tuple[Ints, Floats]:
    """Choose one document at a time, each choice lowering the residuals of the runs that hold it.

    ``entries`` are sorted by document. Residuals only fall, so that an old weight is never too small: a document that
    is still the heaviest after its weight is brought up to date is the right one, and few need to be looked at.
    """
    run, weight, shrink = documents.run[entries], weight[entries], shrink[entries]
    distinct, start = np.unique(documents.document[entries], return_index=True)
    end = np.append(start[1:], entries.size)
    first = np.add.reduceat(weight * (trust * residual)[run], start) if distinct.size else np.zeros(0)
    keys = (-first, documents.topic[distinct], documents.best_rank[distinct], np.arange(distinct.size))
    heap = list(zip(*(column.tolist() for column in keys), strict=True))
    heapq.heapify(heap)
    left = residual.copy()
    picked: list[int] = []
    weights: list[float] = []
    while heap and len(picked) < budget:
        _, topic, rank, number = heapq.heappop(heap)
        rows = slice(start[number], end[number])
        now = float(weight[rows] @ (trust * left)[run[rows]])
        if heap and (-now, topic, rank, number) > heap[0]:
            heapq.heappush(heap, (-now, topic, rank, number))
            continue
        picked.append(int(distinct[number]))
        weights.append(now)
        left[run[rows]] = np.maximum(left[run[rows]] - shrink[rows], 0.0)
    return np.array(picked, dtype=np.int64), np.array(weights)
