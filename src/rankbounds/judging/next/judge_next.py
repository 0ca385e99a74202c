"""What to judge next, for any measure and any question: documents by how much their judgments are expected to settle.

A pair of runs is settled when bounds that no judgments can leave lie on one side of 0. While A is ahead, documents that
speak for B and turn out non-relevant raise the lower bound, and so do those that speak for A and turn out relevant:

    value = |effect| * (P(A better) * P(lower bound rises) + P(B better) * P(upper bound falls))

Where a probability is to be reached rather than certainty, what counts is the document's own part of the standard
deviation of the difference, |effect| * sqrt(p (1 - p)). How many judgments it takes is simulated: documents are drawn
from their probabilities and judged in the order of their values, until the measure's own bounds settle the question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.choices import check_count
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.columns.native import worth_starting
from rankbounds.errors import UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.options import PlanOptions
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.scoring import JoinedRun, Scoring, join_lists, score_joined
from rankbounds.judging.candidates import heaviest
from rankbounds.judging.next.open_documents import OpenDocuments
from rankbounds.judging.next.plan import SETTLED, JudgingPlan, SettlingPlan
from rankbounds.measures import RankWeighted
from rankbounds.measures.formulas import weights_by_rank, worth_of_one
from rankbounds.measures.naming.parser import MeasureLike
from rankbounds.probability.documents import open_measures
from rankbounds.probability.effects import is_plain_sum
from rankbounds.probability.models.chosen import KINDS, ChosenModels, join_and_warn
from rankbounds.probability.models.probabilities import as_relevance_probability
from rankbounds.rankings.documents import RetrievedDocuments, entries_of
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from typing_extensions import Unpack


def judge_next(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    budget: int = 20,
    measure: MeasureLike = DEFAULT_MEASURES[0],
    compare: tuple[str, str] | str | None = None,
    until: str | float | None = None,
    q: Any = "logistic",
    otherwise: float | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[PlanOptions],
) -> JudgingPlan | SettlingPlan:
    """Choose the unjudged documents whose judgments would settle most, for two runs, for the leader, or for all runs.

    Parameters
    ----------
    qrels, runs, **options
        As in ``evaluate``; ties in one fixed order. Documents are chosen for topics that have judgments.
    budget : int, default 20
        The largest number of documents.
    measure
        Any that depends on what unjudged documents turn out to be: nDCG, AP, RBP, P, recall and the like.
    compare
        The names of two runs: order documents by how much they are expected to settle which of the two is better; this
        is also what two runs alone are asked. ``"all"``: by how much they are expected to settle which runs are better
        than the leader as judged.
    until
        For a comparison: simulate how many judgments it takes until the question is ``"settled"``, whatever else is
        unjudged, or until one run is the better one with this probability (0.95).
    q, otherwise, seed
        The probability that an unjudged document is relevant, and the seed of draws, as in ``uncertainty``.
    progress : callable, optional
        Called with the numbers of documents valued (or of rounds simulated) so far and in all.

    Returns
    -------
    JudgingPlan or SettlingPlan
        The documents in the order in which to judge them; ``rows()``, or ``pool()`` to be filled in. Weighted sums
        without a comparison give a ``JudgingPlan``, everything else a ``SettlingPlan``.

    Notes
    -----
    In a comparison a document's value is how far its judgment is expected to move the bound that will settle the
    question; without one, its part of the standard deviations of all runs' means, or for weighted sums over ranks its
    weight in all runs together (strategy A of Moffat, Webber and Zobel, SIGIR 2007).

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {"a": 1, "b": 0}}
    >>> runs = {"one": {"q": ["a", "x", "b"]}, "other": {"q": ["b", "y", "a"]}}
    >>> plan = rb.judge_next(qrels, runs, budget=2, measure="P@2", q=0.1)
    >>> [(row["doc_id"], round(row["value"], 3), row["effect"]) for row in plan.rows()]
    [('y', 0.442, 0.5), ('x', 0.058, -0.5)]
    >>> several = runs | {"third": {"q": ["x", "a", "y"]}}
    >>> rb.judge_next(qrels, several, budget=1, measure="nDCG@2", q=0.1).rows()[0]["doc_id"]
    'y'
    """
    if not (isinstance(q, str) and q in KINDS):
        q, otherwise = as_relevance_probability(q, otherwise), None
    question, reading = Question.of(
        options, [measure], PlanOptions, one_order="Judgments are planned for", compare=compare, seed=seed
    )
    judgments, systems = reading.judgments(qrels), reading.runs(runs)

    def models(among: Sequence[Run]) -> ChosenModels:
        facts, assumed = TopicFacts(judgments, question.assumptions.gain), question.assumptions
        return ChosenModels(q, otherwise, list(among), facts, assumed, join_and_warn(among, facts, assumed))

    return plan_judgments(judgments, systems, question, models, budget=budget, until=until, progress=progress)


def plan_judgments(
    judgments: Qrels,
    runs: Sequence[Run],
    question: Question,
    models_of: Callable[[Sequence[Run]], ChosenModels],
    *,
    budget: int = 20,
    until: str | float | None = None,
    likely: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> JudgingPlan | SettlingPlan:
    """Answer what to judge next, wherever it is asked; ``models_of`` gives the probabilities for some of the runs."""
    check_count("The budget", budget)
    names = [run.name for run in runs]
    if question.compare is None and len(runs) == 2:
        question = replace(question, compare=(names[0], names[1]))
    measure, compare = question.measure, question.compare
    level = criterion(until, compare)
    if compare is None and isinstance(measure, RankWeighted) and is_plain_sum(measure):
        order = question.in_one_order().assumptions
        return plan_by_residual(judgments, runs, measure, budget, order)
    (measure,) = open_measures([measure], question.assumptions)
    models = models_of([runs[number] for number in question.runs_among(names)]).or_even(measure)
    left_open = OpenDocuments(models, measure, seed=question.seed)
    pairs = None if compare is None else left_open.pairs_of_leader()
    plan = left_open.plan(pairs, budget, level or 1.0, progress=progress)
    why = models.unsupported({run for pair in plan.pairs for run in pair})
    if likely and plan.settled == (False,) and not why:
        plan = replace(plan, likely=left_open.likely())
    if level is not None and level < 1 and why and not plan.is_settled:
        raise UsageError(
            f"How likely it is that one run is better cannot be estimated: {why}. Ask how many judgments settle it "
            f"whatever else is unjudged (--until {SETTLED}), or give a probability (--q 0.1)."
        )
    if level is not None and pairs is not None:
        if not models.unknown:
            plan = replace(plan, needed=left_open.needed(pairs, level, progress=progress))
        if plan.is_settled:
            nothing: dict[str, Any] = dict.fromkeys(plan.fields[2:], np.empty(0))
            plan = replace(plan, query_ids=[], doc_ids=[], **nothing)
    return plan


def plan_by_residual(
    judgments: Qrels, runs: Sequence[Run], measure: RankWeighted, budget: int, assumptions: Assumptions
) -> JudgingPlan:
    """The unjudged documents of judged topics whose judgments take most off the residuals; no others take more."""
    facts = TopicFacts(judgments, assumptions.gain)
    judgments.pairs.index  # noqa: B018 (built once, before threads share it)
    scoring = Scoring([measure], assumptions, worth_starting())
    unjudged: list[Ints] = []

    def join_one(number: int) -> JoinedRun:
        run = runs[number]
        return JoinedRun(run.name, join_lists(run, facts, assumptions), run.prepared, lambda: run)

    def keep_holes(number: int, rankings: Rankings) -> None:
        unjudged.append(entries_of(number, rankings, rankings.holes))

    scores = score_joined(join_one, [run.name for run in runs], facts, scoring, observe=keep_holes)
    unjudged.sort(key=lambda part: part[1, :1].tolist())
    documents = RetrievedDocuments.at(runs, np.concatenate(unjudged, axis=1))
    entry_weight = worth_of_one(measure, facts) * weights_by_rank(measure, documents.rank)
    weight = np.bincount(documents.document, entry_weight, len(documents)).astype(np.float64)
    picked = heaviest(documents, weight, budget)
    before = float((scores.high - scores.low).sum())
    return JudgingPlan(
        [facts.query_ids[number] for number in documents.topic[picked].tolist()],
        documents.doc_ids(picked),
        weight[picked],
        np.maximum(before - np.cumsum(weight[picked]), 0.0),
        before,
        len(facts.query_ids),
        len(scores.runs),
        len(documents),
        settings={"measure": str(measure)},
    )


def criterion(until: str | float | None, compare: object) -> float | None:
    if until is None:
        return None
    if compare is None:
        raise UsageError("until= (--until) needs a comparison: two runs, or compare= (--compare) names two, or all.")
    if until == SETTLED:
        return 1.0
    try:
        level = float(until)
    except ValueError:
        level = math.nan
    if not 0.5 < level < 1:
        raise UsageError(f'until= (--until) takes "{SETTLED}" or a probability between 0.5 and 1, not {until}.')
    return level
