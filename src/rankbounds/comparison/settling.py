"""What to judge next, for any measure and any question: documents by how much their judgments are expected to settle.

A pair of runs is settled when bounds that no judgments can leave lie on one side of 0. While A is ahead, two kinds of
judgments raise the lower bound: documents that speak for B and turn out non-relevant, and documents that speak for A
and turn out relevant. So a document is worth the size of its effect on the difference, times the probability that it
turns out to raise the bound of the run that is ahead; and since it is not certain which run is ahead, both bounds count
by the probability that they will be the one which settles the question.

    value = |effect| * (P(A better) * P(lower bound rises) + P(B better) * P(upper bound falls))

Where a probability is to be reached rather than certainty, what counts is the document's own part of the standard
deviation of the difference, |effect| * sqrt(p (1 - p)).

Effects are exact for weighted sums over ranks. For other measures they are means over draws of what the other unjudged
documents turn out to be (``rankbounds.probability.effects``).

How many judgments it takes is simulated before anybody judges: what documents are is drawn from their probabilities,
and they are judged in the order of their values, brought up to date as outcomes come in, until bounds that hold for
the measure (not approximations of them) lie on one side of 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.choices import check_choice
from rankbounds.collection.inputs import all_runs, judgments_from
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import SharedLists, difference_bounds
from rankbounds.evaluation.score_differences import merit, merit_of_range
from rankbounds.judging import next_judgments
from rankbounds.judging.next_judgments import STRATEGIES, JudgingPlan
from rankbounds.measures import Measure, RankWeighted, parse_measure
from rankbounds.probability.completions import CompletedFacts, OpenCollection
from rankbounds.probability.drawn_scores import DrawnCompletions, drawn_differences
from rankbounds.probability.effects import document_effects, is_plain_sum
from rankbounds.probability.model_choice import ChosenModels
from rankbounds.probability.unjudged_documents import joined_run, open_measures
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import TopicFacts

FIELDS = ("query_id", "doc_id", "value", "probability", "effect")
ALL = "all"
SETTLED = "settled"
DRAWS, DRAWS_OF_EFFECTS = 200, 8
"""How often the others are drawn for the mean difference, and for each document's effect."""
SIMULATIONS = {True: 200, False: 20}
"""How many simulated rounds of judging, for weighted sums and for other measures."""
SPAN = (0.05, 0.95)
"""The share of simulations that the interval for the number of judgments leaves below, and that it reaches."""
GROWTH = 0.1
"""Values are brought up to date whenever judgments have grown by this share."""
FIRST_LOOK = 2000
"""So many documents of the largest effects are looked at first, and more as judging goes on."""


@dataclass(frozen=True)
class Needed:
    """How many judgments it takes, from simulated rounds of judging; None where a round never got there."""

    until: str
    simulations: int
    settled: float
    """The share of simulated rounds that got there at all."""
    median: int | None
    low: int | None
    high: int | None
    unjudged: int
    """How many documents could be judged."""

    def row(self) -> dict[str, Any]:
        """The fields as a dict."""
        return dict(vars(self))


@dataclass(frozen=True)
class SettlingPlan:
    """Documents in the order in which their judgments are expected to settle most.

    ``value`` is in units of the measure; ``effect`` is what the document adds if it is as relevant as can be, to the
    difference or, without a comparison, to all runs' means together.
    """

    query_ids: list[str]
    doc_ids: list[str]
    value: Floats
    probability: Floats
    effect: Floats
    pairs: tuple[tuple[str, str], ...]
    """Whom it is about; nothing where documents are valued for all runs' scores."""
    better: tuple[float, ...]
    """For each pair, how likely the first run is the better one."""
    settled: tuple[bool, ...]
    """For each pair, is it settled whatever the unjudged documents turn out to be?"""
    number_unjudged: int
    needed: Needed | None = None
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.doc_ids)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each document: ``query_id, doc_id, value, probability, effect``."""
        columns = (self.query_ids, self.doc_ids, self.value.tolist(), self.probability.tolist(), self.effect.tolist())
        return [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]

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
    compare: tuple[str, str] | str | None = None,
    until: str | float | None = None,
    q: Any = "logistic",
    otherwise: float | None = None,
    gain: Any = None,
    ties: str = "trec",
    score_precision: str = "double",
    seed: int = 0,
    lenient: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> JudgingPlan | SettlingPlan:
    """Choose the unjudged documents whose judgments would say most: about all runs, about two, or about who leads.

    Parameters
    ----------
    qrels, runs
        In any form that ``evaluate`` takes. Documents are chosen for topics that have judgments.
    budget
        How many documents at most.
    measure
        Any that depends on what unjudged documents turn out to be: nDCG, AP, RBP, P, recall and the like.
    strategy
        Of weighted sums over ranks without a comparison: ``"A"``: documents with the largest weight in all runs
        together, which is what their judgment takes off the summed residual. ``"B"``: a run's weights count in
        proportion to its residual. ``"C"``: also in proportion to the cube of the middle of the run's possible scores.
    compare
        The names of two runs: documents by how much they are expected to settle which of them is better. ``"all"``:
        by how much they are expected to settle who is better than the run that leads as judged.
    until
        With ``compare``: simulate how many judgments it takes until the question is ``"settled"``, whatever else is
        unjudged, or until one run is the better one with this probability (0.95).
    q, otherwise
        How probable it is that an unjudged document is relevant, as in ``uncertainty``.
    gain, ties, score_precision, lenient
        As in ``evaluate``; ties in one fixed order.
    seed
        Where draws start.
    progress : callable, optional
        Told how many of how many runs, pairs of runs or simulated rounds are done.

    Returns
    -------
    JudgingPlan or SettlingPlan
        The documents in the order in which to judge them; ``rows()``, or ``pool()`` to be filled in. Weighted sums
        without a comparison give a ``JudgingPlan``, everything else a ``SettlingPlan``.

    Notes
    -----
    A document's value is what its judgment is expected to move the bound that will settle the question by; without a
    comparison, what it takes off the bounds of all runs' means. Effects of documents are exact for weighted sums over
    ranks; for other measures they are means over seeded draws of the other documents, and the order is a good one
    rather than the best. Strategies A, B and C: Moffat, Webber and Zobel, SIGIR 2007.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"q": {"a": 1, "b": 0}}
    >>> runs = {"one": {"q": ["a", "x", "b"]}, "other": {"q": ["b", "y", "a"]}}
    >>> plan = rb.judge_next(qrels, runs, budget=2, measure="P@2", compare=("one", "other"), q=0.1)
    >>> [(row["doc_id"], round(row["value"], 3), row["effect"]) for row in plan.rows()]
    [('y', 0.442, -0.5), ('x', 0.058, 0.5)]
    >>> rb.judge_next(qrels, runs, budget=1, measure="nDCG@2", q=0.1).rows()[0]["doc_id"]
    'y'

    """
    if budget < 1:
        raise UsageError(f"The budget must be at least 1, not {budget}.")
    check_choice("strategy", strategy, STRATEGIES)
    chosen = parse_measure(measure)
    criterion = _criterion(until, compare)
    if compare is None and is_plain_sum(chosen) and gain is None:
        return next_judgments.judge_next(
            qrels, runs, budget=budget, measure=chosen, strategy=strategy, ties=ties, score_precision=score_precision,
            lenient=lenient,
        )  # fmt: skip
    if strategy != "A":
        raise UsageError(f"Strategy {strategy} is one for weighted sums over ranks without a comparison.")
    if ties not in ORDERS:
        raise UsageError(f'Judgments are planned for one order of tied documents: {", ".join(ORDERS)}, not "{ties}".')
    assumptions = Assumptions(ties, gain=gain, score_precision=score_precision)
    (chosen,) = open_measures([chosen], assumptions)
    systems = all_runs(runs, lenient=lenient)
    if compare is not None and compare != ALL:
        systems = _two_of(systems, compare)
    facts = TopicFacts(judgments_from(qrels, lenient, rule=assumptions.gain), assumptions.gain)
    question = Question.about(systems, facts, assumptions, chosen, q=q, otherwise=otherwise, seed=seed)
    pairs = None if compare is None else question.pairs_of_leader()
    plan = question.plan(pairs, budget, criterion or 1.0, progress=progress)
    if criterion is not None and pairs is not None:
        plan = replace(plan, needed=question.needed(pairs, criterion, progress=progress))
    return plan


def _criterion(until: str | float | None, compare: object) -> float | None:
    """The probability to be reached; 1 stands for what is certain."""
    if until is None:
        return None
    if compare is None:
        raise UsageError("until= (--until) needs a comparison: compare= (--compare) names two runs, or all.")
    if until == SETTLED:
        return 1.0
    try:
        level = float(until)
    except ValueError:
        level = math.nan
    if not 0.5 < level < 1:
        raise UsageError(f'until= (--until) takes "{SETTLED}" or a probability between 0.5 and 1, not {until}.')
    return level


def _two_of(systems: list[Run], compare: tuple[str, str] | str) -> list[Run]:
    by_name = {run.name: run for run in systems}
    if isinstance(compare, str) or len(compare) != 2:
        raise UsageError(f'Compare two runs, or "{ALL}" of them, not {compare!r}.')
    for name in compare:
        if name not in by_name:
            raise UsageError(f'There is no run "{name}" to compare.{did_you_mean(name, list(by_name))}')
    if compare[0] == compare[1]:
        raise UsageError(f'A run cannot be compared with itself ("{compare[0]}").')
    return [by_name[name] for name in compare]


@dataclass(eq=False)
class Question:
    """Runs under one measure, and what is not known of their documents."""

    collection: OpenCollection
    batches: Sequence[Sequence[Rankings]]
    measure: Measure
    models: ChosenModels
    seed: int

    @classmethod
    def about(
        cls,
        runs: Sequence[Run],
        facts: TopicFacts,
        assumptions: Assumptions,
        measure: Measure,
        *,
        batches: Sequence[Sequence[Rankings]] | None = None,
        models: ChosenModels | None = None,
        q: Any = "logistic",
        otherwise: float | None = None,
        seed: int = 0,
    ) -> Question:
        """The question that is asked of these runs; probabilities are estimated from what they all hold."""
        systems = list(runs)
        batches = batches or [list(joined_run(run, facts, assumptions).batches) for run in systems]
        kept = [list(parts) for parts in batches]
        models = models or ChosenModels(q, otherwise, systems, facts, assumptions, kept)
        return cls(OpenCollection(systems, facts, assumptions, batches), batches, measure, models, seed)

    # ---- documents ----

    @cached_property
    def drawn(self) -> DrawnCompletions:
        """Draws of what the documents turn out to be."""
        return DrawnCompletions(self.collection, self.measure, self._model, DRAWS, self.seed)

    @property
    def _model(self) -> Any:
        weighted = isinstance(self.measure, RankWeighted)
        return self.models.of(self.measure) if weighted else self.models.of_grades(self.measure)

    @cached_property
    def share(self) -> Floats:
        """Of each document, the expected gain as a share of the largest; for binary measures its probability."""
        if isinstance(self.measure, RankWeighted) or not self.measure.graded:
            return self.drawn.chance
        rule, grades = self.collection.facts.rule, self.drawn.grades
        return self.drawn.chance * grades.expected_gain(rule) / max(float(rule(grades.grade[-1:])[0]), 1e-300)

    def effects(self, among: Sequence[int]) -> Floats:
        """A row for each of these runs: what each document adds to its mean, turned so that more is better."""
        few = DrawnCompletions(self.collection, self.measure, self._model, DRAWS_OF_EFFECTS, self.seed)
        return merit(document_effects(few, among), self.measure)

    def effect_on(self, pair: tuple[int, int]) -> Floats:
        """What each document adds to the first run less the second."""
        if pair not in self._effect:
            one, other = self.effects(pair)
            self._effect[pair] = one - other
        return self._effect[pair]

    @cached_property
    def _effect(self) -> dict[tuple[int, int], Floats]:
        return {}

    # ---- pairs ----

    def pairs_of_leader(self) -> list[tuple[int, int]]:
        """Two runs as they stand; of more, the one that leads as judged against every other."""
        runs = range(len(self.collection.runs))
        if len(runs) < 2:
            raise UsageError("A comparison needs two runs.")
        if len(runs) == 2:
            return [(0, 1)]
        leader = int(np.argmax(merit(self._means_as_judged(), self.measure)))
        return [(leader, run) for run in runs if run != leader]

    def _means_as_judged(self) -> Floats:
        assumptions = self.collection.assumptions
        values = [
            np.concatenate([assumptions.value(self.measure, part.assume(0.0)) for part in parts])
            for parts in self.batches
        ]
        return np.array([value.mean() for value in values])

    def bounds(self, pairs: Sequence[tuple[int, int]], judged: Floats | None = None) -> tuple[Floats, Floats]:
        """The least and the greatest difference of each pair, turned so that more is better.

        ``judged`` are grades for some of the documents, NaN for the others.
        """
        facts, batches = self.collection.facts, self.batches
        if judged is not None:
            facts, batches = self._judged(judged)
        lists = SharedLists(self.collection.runs, facts, batches)
        first, second = (np.array(side) for side in zip(*pairs, strict=True))
        found = difference_bounds(lists, self.measure, self.collection.assumptions, (first, second))
        return merit_of_range(found.low, found.high, self.measure)

    def _judged(self, grade: Floats) -> tuple[TopicFacts, list[list[Rankings]]]:
        """Facts and rankings with some of the documents judged."""
        collection = self.collection
        known, topics = ~np.isnan(grade), len(collection.facts.query_ids)
        relevant = np.flatnonzero(known & (np.nan_to_num(grade) > 0))
        facts = CompletedFacts(
            collection.facts,
            np.arange(topics),
            np.bincount(collection.topic[known], minlength=topics),
            collection.topic[relevant],
            grade[relevant],
        )
        batches = []
        for run, unjudged, number, parts in zip(
            collection.runs, collection.unjudged, collection.numbers, self.batches, strict=True
        ):
            of_row = np.full(len(run) + 1, np.nan)  # the last stands for cells beyond a list's end
            of_row[unjudged.row] = grade[number]
            batches.append([_regraded(part, of_row, facts) for part in parts])
        return facts, batches

    # ---- values ----

    def standing(self, pair: tuple[int, int]) -> tuple[float, float, float]:
        """The expected difference of a pair, its sd, and how likely the first run is the better one (as if normal)."""
        if pair not in self._standing:
            (drawn,) = drawn_differences(self.drawn, [pair])
            mean = float(merit(np.array(drawn.mean), self.measure))
            self._standing[pair] = mean, drawn.sd, _better(mean, drawn.sd)
        return self._standing[pair]

    @cached_property
    def _standing(self) -> dict[tuple[int, int], tuple[float, float, float]]:
        return {}

    def plan(
        self,
        pairs: Sequence[tuple[int, int]] | None,
        budget: int,
        level: float = 1.0,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> SettlingPlan:
        """The documents in order of their value, for these pairs or, without any, for all runs' bounds.

        Where a probability below 1 is to be reached, a document's value is its part of the standard deviation.
        """
        names = [run.name for run in self.collection.runs]
        standing: list[float] = []
        settled: list[bool] = []
        if pairs is None:
            effects = []
            for run in range(len(names)):
                effects.append(self.effects((run,))[0])
                if progress:
                    progress(run + 1, len(names))
            effect = np.sum(effects, axis=0) if len(self.collection) else np.zeros(0)
            value = np.abs(effects).sum(axis=0)
        else:
            value, effect = np.zeros(len(self.collection)), np.zeros(len(self.collection))
            low, high = self.bounds(pairs)
            for pair, least, most in zip(pairs, low.tolist(), high.tolist(), strict=True):
                if progress:
                    progress(len(standing), len(pairs))
                standing.append(self.standing(pair)[2])
                settled.append(least > 0 or most < 0)
                if len(pairs) > 1 and settled[-1]:
                    continue
                one = self.effect_on(pair)
                if level < 1:
                    value += np.sqrt(self.share * (1 - self.share)) * np.abs(one)
                else:
                    value += _values(one, self.share, np.array([standing[-1]]))[0]
                effect += one
        order = self._heaviest(value, budget)
        return SettlingPlan(
            [self.collection.facts.query_ids[topic] for topic in self.collection.topic[order].tolist()],
            self.collection.doc_ids(order),
            value[order],
            self.share[order] if order.size else np.empty(0),
            np.asarray(merit(effect[order], self.measure)),
            () if pairs is None else tuple((names[a], names[b]) for a, b in pairs),
            tuple(standing),
            tuple(settled),
            len(self.collection),
            remarks=tuple(self.models.remarks()),
        )

    def _heaviest(self, value: Floats, budget: int) -> Ints:
        """The documents of the largest values; equal ones in the order of topics and ids."""
        rounded = np.round(value, 12)  # sums of the same numbers in another order are equal
        held = np.flatnonzero(rounded > 0)
        if held.size > budget:
            least = np.partition(rounded[held], held.size - budget)[held.size - budget]
            held = held[rounded[held] >= least]
        keys = zip(-rounded[held], self.collection.topic[held], self.collection.doc_ids(held), held, strict=True)
        return np.array([key[-1] for key in sorted(keys)[:budget]], dtype=np.int64)

    # ---- how many judgments ----

    def needed(
        self,
        pairs: Sequence[tuple[int, int]],
        level: float,
        simulations: int | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> Needed:
        """How many judgments it takes until every pair is settled, or decided with this probability."""
        exact = is_plain_sum(self.measure)
        rounds = simulations or SIMULATIONS[exact or level < 1]
        grade = self._truths(rounds)
        judging = SimulatedJudging(
            np.stack([self.effect_on(pair) for pair in pairs]),
            self.share,
            self.gain_shares(grade),
            np.array([self.standing(pair) for pair in pairs])[:, :2].T,
            self.bounds(pairs),
            level=level,
            to_the_end=not exact and level == 1,
        )
        counts = judging.counts()
        if judging.to_the_end:
            guesses = counts.tolist()
            for line, (order, guess) in enumerate(zip(judging.orders(), guesses, strict=True)):
                counts[line] = self.until_settled(pairs, grade[line], order, guess)
                if progress:
                    progress(line + 1, rounds)
        done = np.sort(counts[np.isfinite(counts)]).astype(int)

        def quantile(share: float) -> int | None:
            place = math.ceil(share * rounds) - 1
            return int(done[place]) if place < done.size else None

        return Needed(
            SETTLED if level == 1 else f"{level:g}",
            rounds,
            done.size / rounds,
            quantile(0.5),
            quantile(SPAN[0]),
            quantile(SPAN[1]),
            len(self.collection),
        )

    def _truths(self, rounds: int) -> Floats:
        """What documents turn out to be: a row of grades for each round."""
        truth = DrawnCompletions(self.collection, self.measure, self._model, rounds, self.seed + 1)
        grade = np.zeros((rounds, len(self.collection)))
        for topics in self.collection.parts(self.measure, rounds):
            part = truth.completed(topics)
            grade[part.completion, part.document] = part.grade
        return grade

    def gain_shares(self, grade: Floats) -> Floats:
        """The gains of these grades as shares of the largest; 1 for every relevant one where gains do not count."""
        if not self.measure.graded:
            return (grade > 0).astype(np.float64)
        facts = self.collection.facts
        return np.clip((facts.rule(grade) - facts.nonrelevant_gain) / (facts.max_gain - facts.nonrelevant_gain), 0, 1)

    def until_settled(self, pairs: Sequence[tuple[int, int]], grade: Floats, order: Ints, guess: float) -> float:
        """After how many judgments in this order every pair's bounds lie on one side of 0; bounds only narrow."""

        def settled(count: int) -> bool:
            judged = np.full(len(self.collection), np.nan)
            judged[order[:count]] = grade[order[:count]]
            low, high = self.bounds(pairs, judged)
            return bool(((low > 0) | (high < 0)).all())

        return _least_count(settled, order.size, guess)


def _least_count(settled: Callable[[int], bool], most: int, guess: float) -> float:
    """The least count for which this holds, if it goes on holding from there; infinite where it never does."""
    if settled(0):
        return 0
    if not settled(most):
        return math.inf
    below, above = 0, most
    place, step = int(min(guess, most - 1)), 1
    while below < place < above:  # away from the guess in growing steps, until the answer lies between two counts
        step = max(2 * step, place // 16)
        if settled(place):
            above, place = place, place - step
        else:
            below, place = place, place + step
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if settled(middle) else (middle, above)
    return above


def _regraded(rankings: Rankings, grade_of_row: Floats, facts: TopicFacts) -> Rankings:
    assert rankings.row is not None
    judged = grade_of_row[rankings.row]
    grade = np.where(rankings.holes & ~np.isnan(judged), judged, rankings.grade)
    return replace(rankings, grade=grade, facts=facts, _memory={})


def _better(mean: float, sd: float) -> float:
    """How likely a normal difference is positive; even odds for none that can be told from 0."""
    if not math.isfinite(mean):  # of searches that may never end
        return 0.5
    if sd == 0:
        return 0.5 if mean == 0 else float(mean > 0)
    return 0.5 * math.erfc(-mean / sd / math.sqrt(2))


def _values(effect: Floats, share: Floats, better: Floats) -> Floats:
    """What each judgment is expected to move the bound that settles a pair by; a row for each probability of A."""
    rises = np.where(effect > 0, share, 1 - share) * np.abs(effect)
    falls = np.abs(effect) - rises
    return better[:, None] * rises + (1 - better[:, None]) * falls


class SimulatedJudging:
    """Rounds of judging in which documents come in the order of their values.

    ``effect`` has a row for each pair, ``truth`` one for each round: the gain of every document as a share of the
    largest. ``standing`` (mean and sd) and ``bounds`` are those of each pair before anything is judged. A round ends
    when every pair is settled, which for weighted sums is exact, or decided with the probability ``level`` (taken as
    normal; what estimating probabilities adds to the variance falls in proportion to that of documents). With
    ``to_the_end`` every document is judged all the same.
    """

    def __init__(
        self,
        effect: Floats,
        share: Floats,
        truth: Floats,
        standing: Floats,
        bounds: tuple[Floats, Floats],
        *,
        level: float,
        to_the_end: bool = False,
    ) -> None:
        size = np.abs(effect).max(axis=0, initial=0.0)
        matter = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
        self.documents = matter
        self.effect, self.share, self.truth = effect[:, matter], share[matter], truth[:, matter]
        self.level, self.to_the_end = level, to_the_end
        rounds = truth.shape[0]
        mean, sd = standing
        self.low, self.high, self.mean = (np.repeat(part[:, None], rounds, axis=1) for part in (*bounds, mean))
        spread = self.effect**2 * self.share * (1 - self.share)
        of_documents = spread.sum(axis=-1)
        factor = np.divide(sd**2, of_documents, out=np.ones(sd.size), where=of_documents > 0)
        self.spread = spread * factor[:, None]
        self.variance = np.repeat(self.spread.sum(axis=-1)[:, None], rounds, axis=1)
        self._counts: Floats = np.full(rounds, np.inf)
        self._orders: list[list[Ints]] = [[] for _ in range(rounds)]
        self._judge()

    def counts(self) -> Floats:
        """For each round, after how many judgments it ended; infinite where it never did."""
        return self._counts

    def orders(self) -> list[Ints]:
        """For each round, the documents in the order in which they were judged."""
        nothing = np.empty(0, dtype=np.int64)
        return [self.documents[np.concatenate([nothing, *parts])] for parts in self._orders]

    def _better(self, rounds: Ints) -> Floats:
        from scipy.special import ndtr

        mean, sd = self.mean[:, rounds], np.sqrt(np.maximum(self.variance[:, rounds], 0.0))
        ratio = np.divide(mean, sd, out=np.sign(mean) * np.inf, where=sd > 1e-12)
        return np.where(np.isnan(ratio), 0.5, ndtr(ratio))

    def _ended(self, low: Floats, high: Floats, mean: Floats, variance: Floats) -> Flags:
        """Which are settled or decided, over all pairs (the first axis)."""
        from scipy.special import ndtri

        certain: Flags = (low > 1e-12) | (high < -1e-12)
        if self.level < 1:
            needed = float(ndtri(self.level)) * np.sqrt(np.maximum(variance, 0.0))
            certain = certain | ((np.abs(mean) >= needed) & (np.abs(mean) > 1e-12))
        return np.atleast_1d(np.logical_and.reduce(certain))

    def _judge(self) -> None:
        active = np.arange(self.truth.shape[0])
        ended = self._ended(self.low, self.high, self.mean, self.variance)
        self._counts[ended] = 0
        if not self.to_the_end:
            active = active[~ended]
        left = np.ones(self.truth.shape, dtype=bool)
        count, looked_at = 0, FIRST_LOOK
        while active.size and count < self.documents.size:
            # Documents stand by the size of their effects, and no value is larger: those far behind need no look yet.
            looked_at = min(max(looked_at, 3 * count), self.documents.size)
            size = min(max(1, int(GROWTH * count)), self.documents.size - count)
            value = self._values_of(active, looked_at)
            value = np.where(left[active, :looked_at], value, -1.0)
            picked = np.argpartition(-value, size - 1, axis=-1)[:, :size]
            order = np.argsort(-np.take_along_axis(value, picked, axis=-1), axis=-1, kind="stable")
            picked = np.take_along_axis(picked, order, axis=-1)
            left[active[:, None], picked] = False
            ended = self._learn(active, picked, count)
            count += size
            active = active[~ended]

    def _values_of(self, active: Ints, looked_at: int) -> Floats:
        """The values of the first documents in each round, summed over the pairs that are open."""
        value = np.zeros((active.size, looked_at))
        parts = zip(self.effect, self.spread, self._better(active), self.low, self.high, strict=True)
        for effect, spread, ahead, low, high in parts:
            if self.level < 1:
                of_pair = np.broadcast_to(np.sqrt(spread[:looked_at]), value.shape)
            else:
                of_pair = _values(effect[:looked_at], self.share[:looked_at], ahead)
            if len(self.effect) > 1:
                of_pair = np.where(((low[active] <= 0) & (high[active] >= 0))[:, None], of_pair, 0.0)
            value += of_pair
        return value

    def _learn(self, active: Ints, picked: Ints, count: int) -> Flags:
        """Bring bounds and means up to date with the judgments of these documents; which rounds have ended?"""
        truth, share = self.truth[active[:, None], picked], self.share[picked]
        effect = self.effect[:, picked]
        rises = np.abs(effect) * np.where(effect > 0, truth, 1 - truth)
        falls = np.abs(effect) - rises
        low = self.low[:, active, None] + np.cumsum(rises, axis=-1)
        high = self.high[:, active, None] - np.cumsum(falls, axis=-1)
        mean = self.mean[:, active, None] + np.cumsum(effect * (truth - share), axis=-1)
        variance = self.variance[:, active, None] - np.cumsum(self.spread[:, picked], axis=-1)
        for line, documents in zip(active.tolist(), picked, strict=True):
            self._orders[line].append(documents)
        ends = self._ended(low, high, mean, variance)
        ended = np.logical_or.reduce(ends, axis=-1)
        first = np.where(ended, count + 1.0 + np.argmax(ends, axis=-1), np.inf)
        self._counts[active] = np.minimum(self._counts[active], first)
        for whole, part in ((self.low, low), (self.high, high), (self.mean, mean), (self.variance, variance)):
            whole[:, active] = part[..., -1]
        return np.zeros(active.size, dtype=bool) if self.to_the_end else np.asarray(ended)
