"""What to judge next: the unjudged documents whose judgments would say most about the runs at hand."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_choice
from rankbounds.collection.inputs import all_runs, judgments_from
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.evaluate import evaluate
from rankbounds.evaluation.scores import Scores
from rankbounds.judging.candidates import Candidates, collect
from rankbounds.measures import Measure, RankWeighted, parse_measure
from rankbounds.measures.measure import is_weighted_sum, weights_by_rank, worth_of_one
from rankbounds.notebook import shown
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.tables import table_of

STRATEGIES = ("A", "B", "C")
FIELDS = ("query_id", "doc_id", "weight", "residual_after")


class Documents(Protocol):
    """Documents by number, each with its topic's number and its name."""

    @property
    def topic(self) -> Ints:
        """The number of each document's topic."""
        ...

    def doc_ids(self, documents: Ints) -> list[str]:
        """The names of these documents."""
        ...


@dataclass(frozen=True)
class JudgingPlan:
    """Documents in the order in which to judge them.

    ``residual_after`` is what all runs together leave open once a document and all before it are judged: the residuals
    of every run and topic, summed. For a comparison of two runs it is how far the sum of their differences is open.
    """

    query_ids: list[str]
    doc_ids: list[str]
    weight: Floats
    residual_after: Floats
    residual_before: float
    number_of_topics: int
    number_of_runs: int
    number_unjudged: int
    """How many different unjudged documents the runs hold."""

    def __len__(self) -> int:
        return len(self.doc_ids)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each document: ``query_id, doc_id, weight, residual_after``."""
        columns = (self.query_ids, self.doc_ids, self.weight.tolist(), self.residual_after.tolist())
        return [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]

    def _repr_html_(self) -> str:
        words = f"{len(self):,} of {self.number_unjudged:,} unjudged documents, those first whose judgment closes most."
        return shown(table_of(self.rows(), FIELDS), words)

    def pool(self) -> Qrels:
        """The documents as a pool: judgments of grade -1, to be filled in."""
        return Qrels.from_columns(self.query_ids, self.doc_ids, [POOLED_NOT_JUDGED] * len(self), source="plan")


def judge_next(
    qrels: Any,
    runs: Any,
    *,
    budget: int,
    measure: str | Measure = "RBP(p=0.8)",
    strategy: str = "A",
    compare: tuple[str, str] | None = None,
    ties: str = "trec",
    score_precision: str = "double",
    depth: int | None = None,
    scores: Scores | None = None,
    lenient: bool = False,
) -> JudgingPlan:
    """Choose the unjudged documents whose judgments would say most about the runs at hand.

    Parameters
    ----------
    qrels, runs
        In any form that ``evaluate`` takes. Documents are chosen for topics that have judgments.
    budget
        How many documents at most.
    measure
        One that gives every rank a fixed weight: RBP, P or DCG.
    strategy
        ``"A"``: those with the largest weight in all runs together, which is what their judgment takes off the summed
        residual. ``"B"``: a run's weights count in proportion to its residual, so that runs that are known less well
        come first. ``"C"``: also in proportion to the cube of the middle of the run's possible scores, so that good
        runs come first. Residuals in B and C fall as documents are chosen.
    compare
        The names of two runs: a document is weighed by the difference of its weights in the two, which is what its
        judgment takes off the range of their difference.
    ties, score_precision, lenient
        As in ``evaluate``; ties in one fixed order.
    depth
        Look no deeper than this, which is quicker.
    scores
        Those of these runs by this measure, where they are at hand, need not be computed again.

    Returns
    -------
    JudgingPlan
        The documents in the order in which to judge them; ``rows()``, or ``pool()`` to be filled in.

    Notes
    -----
    Exact for A and ``compare``: no other documents take more off the residual. B and C choose one document at a time.
    (Moffat, Webber and Zobel, SIGIR 2007.)

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    >>> plan = rb.judge_next(qrels, run, budget=1, measure="RBP(p=0.5)")
    >>> plan.rows()
    [{'query_id': 'q', 'doc_id': 'b', 'weight': 0.25, 'residual_after': 0.25}]

    """
    if budget < 1:
        raise UsageError(f"The budget must be at least 1, not {budget}.")
    check_choice("strategy", strategy, STRATEGIES)
    assumptions = Assumptions(ties, score_precision=score_precision)
    if ties not in ORDERS:
        raise UsageError(f'Judgments are planned for one order of tied documents: {", ".join(ORDERS)}, not "{ties}".')
    judgments, systems = judgments_from(qrels, lenient), all_runs(runs, lenient=lenient)
    if compare is not None:
        systems = two_of(systems, compare)
    chosen = _of_fixed_weights(parse_measure(measure))
    candidates = collect(systems, depth=depth, order=assumptions.order, precision=assumptions.score_precision)
    known_topic = np.isin(candidates.topics, list(judgments.query_ids))[candidates.topic]
    unjudged = known_topic & np.isnan(candidates.grades(judgments))
    if scores is None:
        scores = evaluate(judgments, systems, chosen, ties=ties, score_precision=score_precision)
    return plan_among(
        candidates, unjudged, TopicFacts(judgments), chosen, scores, budget, strategy, compared=compare is not None
    )


def plan_among(
    candidates: Candidates,
    unjudged: Flags,
    facts: TopicFacts,
    measure: RankWeighted,
    scores: Scores,
    budget: int,
    strategy: str = "A",
    *,
    compared: bool = False,
) -> JudgingPlan:
    """The plan of ``judge_next`` among the documents that are marked, by the scores of these runs."""
    entry_weight = worth_of_one(measure, facts) * weights_by_rank(measure, candidates.rank)
    base = scores.value[:, :, 0].mean(axis=1)
    residual = (scores.high - scores.low)[:, :, 0].mean(axis=1)
    before = float((scores.high - scores.low).sum())
    entries = np.flatnonzero(unjudged[candidates.document] & (entry_weight > 0))
    document, run, weight = candidates.document[entries], candidates.run[entries], entry_weight[entries]
    gone: Floats = np.bincount(document, weights=weight, minlength=len(candidates)).astype(np.float64)
    if compared:
        signed = np.bincount(document, weights=np.where(run == 0, weight, -weight), minlength=len(candidates))
        before += float(np.abs(signed).sum() - gone.sum())  # what the two have in common cancels out
        gone = np.abs(signed).astype(np.float64)
    if compared or strategy == "A":
        picked = heaviest(candidates, gone, budget)
        own = gone[picked]
    else:
        trust = residual * ((base + residual / 2) ** 3 if strategy == "C" else 1)
        shrink = weight / len(facts.query_ids)
        picked, own = _by_residual(candidates, document, run, weight, shrink, residual, trust, budget)
    return JudgingPlan(
        [candidates.topics[number] for number in candidates.topic[picked].tolist()],
        candidates.doc_ids(picked),
        own,
        np.maximum(before - np.cumsum(gone[picked]), 0.0),
        before,
        len(facts.query_ids),
        len(scores.runs),
        int(np.count_nonzero(unjudged)),
    )


def two_of(systems: list[Run], compare: tuple[str, str]) -> list[Run]:
    """The two runs of these names."""
    by_name = {run.name: run for run in systems}
    for name in compare:
        if name not in by_name:
            raise UsageError(f'There is no run "{name}" to compare.{did_you_mean(name, list(by_name))}')
    if compare[0] == compare[1]:
        raise UsageError(f'A run cannot be compared with itself ("{compare[0]}").')
    return [by_name[name] for name in compare]


def _of_fixed_weights(measure: Measure) -> RankWeighted:
    if not is_weighted_sum(measure):
        raise UsageError(
            f"{measure} does not give every rank a fixed weight, so that documents cannot be ordered by what their "
            "judgment would settle. Use RBP, P or DCG."
        )
    return measure


def heaviest(documents: Documents, weight: Floats, budget: int) -> Ints:
    """The documents of the largest weights; equal weights in the order of topics and ids."""
    rounded = np.round(weight, 12)  # sums of the same weights in another order are equal
    held = np.flatnonzero(rounded > 0)
    if held.size > budget:
        least = np.partition(rounded[held], held.size - budget)[held.size - budget]
        held = held[rounded[held] >= least]
    keys = zip(-rounded[held], documents.topic[held].tolist(), documents.doc_ids(held), held.tolist(), strict=True)
    return np.array([key[-1] for key in sorted(keys)[:budget]], dtype=np.int64)


def _by_residual(
    candidates: Candidates,
    document: Ints,
    run: Ints,
    weight: Floats,
    shrink: Floats,
    residual: Floats,
    trust: Floats,
    budget: int,
) -> tuple[Ints, Floats]:
    """Choose one document at a time, each choice lowering the residuals of the runs that hold it.

    Residuals only fall, so that an old weight is never too small: a document that is still the heaviest after its
    weight is brought up to date is the right one, and few need to be looked at.
    """
    by_document = np.argsort(document, kind="stable")
    document, run = document[by_document], run[by_document]
    weight, shrink = weight[by_document], shrink[by_document]
    distinct, start = np.unique(document, return_index=True)
    end = np.append(start[1:], document.size)
    factor = np.divide(trust, residual, out=np.zeros(residual.size), where=residual > 0)
    left = residual.copy()
    first = np.add.reduceat(weight * (factor * left)[run], start) if distinct.size else np.zeros(0)
    rank = candidates.best_rank[distinct].tolist()
    topic = candidates.topic[distinct].tolist()
    heap = [(-weight, *place) for weight, *place in zip(first.tolist(), topic, rank, range(len(topic)), strict=True)]
    heapq.heapify(heap)
    picked: list[int] = []
    weights: list[float] = []
    while heap and len(picked) < budget:
        _, *place, number = heapq.heappop(heap)
        rows = slice(start[number], end[number])
        now = float(weight[rows] @ (factor * left)[run[rows]])
        key = (-now, *place, number)
        if heap and key > heap[0]:
            heapq.heappush(heap, key)
            continue
        picked.append(int(distinct[number]))
        weights.append(now)
        left[run[rows]] = np.maximum(left[run[rows]] - shrink[rows], 0.0)
    return np.array(picked, dtype=np.int64), np.array(weights)
