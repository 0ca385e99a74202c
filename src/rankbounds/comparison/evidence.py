"""Judgments and runs, read and joined once, as evidence on any two runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.preparation import Preparation
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.native import worth_starting
from rankbounds.comparison.pairs import Pairs
from rankbounds.errors import DataError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import DifferenceBounds, SharedLists, difference_bounds
from rankbounds.evaluation.differences.bounds import topic_bounds
from rankbounds.evaluation.options import chosen_options
from rankbounds.evaluation.question import Question
from rankbounds.evaluation.score_differences import TOLERANCE, merit_of_range
from rankbounds.evaluation.score_files import origin_of
from rankbounds.evaluation.scores import Origin, Scores
from rankbounds.evaluation.scoring import JoinedRun, Scoring, join_lists, score_joined
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.naming.parser import MeasuresLike
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.probability.completions import OpenCollection
from rankbounds.probability.documents import follows_grades, looks_pooled
from rankbounds.probability.drawn_scores import DrawnCompletions
from rankbounds.probability.models.chosen import SAMPLES, ChosenModels
from rankbounds.probability.models.estimates import NotEstimatedError
from rankbounds.probability.models.probabilities import ByDocument
from rankbounds.probability.probable_differences import chances_of_sums, draw_chances
from rankbounds.rankings.documents import RetrievedDocuments
from rankbounds.rankings.join import Joined
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.rankings.unjudged import CalibratedRule
from rankbounds.threads import in_threads

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.comparison.result import Comparison
    from rankbounds.evaluation.options import Options
    from rankbounds.evaluation.question import TestingOptions
    from rankbounds.judging.next.plan import JudgingPlan, SettlingPlan

JUDGMENTS = 10
"""How many documents to name as those whose judgments matter most."""
CHANCES = ("probability_better_if_judged", "probability_worse_if_judged")
PROBABLE_ROWS = 2_500_000
"""How likely one run is better than another is not estimated where all pairs' lists are longer: it would take long."""
SEED = 0
KEPT_ROWS = 4_000_000
"""Rankings of more documents than this are not kept in memory, but made again when they are asked for."""
NAMED = 10
"""How many of the topics that are left out are named."""
Made = TypeVar("Made")


class Evidence:
    """Judgments, runs and assumptions, as evidence on any two of the runs.

    With ``topics="shared"`` everything is over the topics that all runs have.
    """

    def __init__(self, qrels: Qrels, runs: Sequence[Run], assumptions: Assumptions | None = None) -> None:
        self.assumptions = assumptions or Assumptions()
        self.judged = qrels
        """All judgments, also of topics that a run lacks."""
        self.left_out: list[str] = []
        """Judged topics that are left out, since a run lacks them."""
        self.qrels, self.runs, grades = qrels, list(runs), None
        if self.assumptions.topics == "shared" and len(self.runs) > 1:
            shared = set(qrels.query_ids).intersection(*(run.query_ids for run in self.runs))
            if not shared:
                raise DataError("The runs have no judged topic in common: they cannot be compared.")
            self.left_out = [query for query in qrels.query_ids if query not in shared]
            if self.left_out:
                self.qrels, self.runs = qrels.filter(shared), [run.filter(shared) for run in self.runs]
                grades = np.maximum(qrels.grade[qrels.grade != POOLED_NOT_JUDGED], 0.0)  # gains stay on their scale
        self.names = [run.name for run in self.runs]
        self.preparation = Preparation()
        self.facts = TopicFacts(self.qrels, self.assumptions.gain, grades=grades)
        self._made: dict[tuple[object, ...], Any] = {}

    @classmethod
    def read(
        cls,
        qrels: Any,
        runs: Any,
        assumptions: Assumptions | None = None,
        *,
        preparation: Preparation | None = None,
        **options: Unpack[Options],
    ) -> Evidence:
        assumed, reading = chosen_options(options)
        assumptions = assumptions or assumed
        reading = replace(reading, threads=options.get("threads") or worth_starting(), gain=assumptions.gain)
        judgments, given = reading.judgments(qrels), reading.runs(runs, qrels)
        evidence = cls(judgments, list(map(preparation, given)) if preparation else given, assumptions)
        evidence.preparation = preparation or evidence.preparation
        return evidence

    def filter(self, names: Sequence[str]) -> Evidence:
        if list(names) == self.names:
            return self
        chosen = copy(self)
        chosen.runs = [self.runs[self.names.index(name)] for name in names]
        chosen.names, chosen._made = list(names), {}
        return chosen

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_made": {}}

    def _once(self, *key: object, make: Callable[[], Made]) -> Made:
        if key not in self._made:
            self._made[key] = make()
        cached: Made = self._made[key]
        return cached

    # ---- scores and lists ----

    def scores(
        self,
        measures: MeasuresLike,
        *,
        progress: Callable[[int, int], None] | None = None,
        observe: Callable[[int, Rankings], None] | None = None,
    ) -> Scores:
        chosen = tuple(parse_measures(measures))
        if observe is None and ("scores", chosen) in self._made:
            known: Scores = self._made["scores", chosen]
            return known
        self.assumptions.check(chosen)
        if self.left_out:
            warn(left_out_words(self.left_out, len(self.judged.query_ids)))
        return self._score(chosen, progress, observe)

    def compare(self, measures: MeasuresLike, **how: Unpack[TestingOptions]) -> Comparison:
        from rankbounds.comparison.comparison import compare_scores

        return compare_scores(self.scores(measures), Question(**how, assumptions=self.assumptions), evidence=self)

    def _score(
        self,
        measures: tuple[Measure, ...],
        progress: Callable[[int, int], None] | None = None,
        observe: Callable[[int, Rankings], None] | None = None,
    ) -> Scores:
        self.qrels.pairs.index  # noqa: B018 (built once, before threads share it)
        ends = np.full((2, len(self.runs), len(self.facts.query_ids), len(measures)), np.nan)
        untied = np.zeros(ends.shape[1:], dtype=bool)

        def see(number: int, rankings: Rankings) -> None:
            lists = replace(rankings, row=None)  # nobody asks where a document is that another one changes with
            for at, measure in enumerate(measures):
                assumed = self.assumptions.assumed(measure, lists)
                if assumed.tied is None:
                    untied[number, rankings.topic, at] = True
                elif (over_orders := measure.tie_bounds(assumed)) is not None:
                    ends[:, number, rankings.topic, at] = over_orders
            if observe:
                observe(number, rankings)

        def join(number: int) -> JoinedRun:
            joined = self._join(number, keep_judgments=scoring.joining["keep_judgments"])
            return JoinedRun(self.names[number], joined, read=lambda: self.runs[number])

        scoring = Scoring(list(measures), self.assumptions, worth_starting())
        scores = score_joined(join, list(self.names), self.facts, scoring, progress=progress, observe=see)
        scored = ~np.isnan(scores.value)
        total = np.where(scored, np.where(untied, scores.value, ends), 0.0).sum(axis=2)
        for at, measure in enumerate(measures):
            self._made["ties", measure] = total[..., at] / np.maximum(scored[..., at].sum(axis=1), 1)
        self._made["scores", measures] = scores
        return scores

    def over_ties(self, measures: Sequence[Measure]) -> Floats:
        if any(("ties", measure) not in self._made for measure in measures):
            self._score(tuple(measures))
        return np.stack([self._made["ties", measure] for measure in measures], axis=-1)

    def _join(self, number: int, *, keep_judgments: bool = False) -> Joined:
        join_one = partial(join_lists, self.runs[number], self.facts, self.assumptions, keep_judgments=keep_judgments)

        def keep() -> Joined:
            joined = join_one()
            slices: list[Callable[[], list[Rankings]]] = [partial(list, [rankings]) for rankings in joined.batches]
            return replace(joined, slices=slices)

        if self._few_rows:
            return self._once("joined", number, keep_judgments, make=keep)
        return join_one()

    def _batches(self, number: int) -> list[Rankings]:
        return list(self._join(number).batches)

    @property
    def _all_batches(self) -> list[list[Rankings]]:
        return [self._batches(number) for number in range(len(self.runs))]

    @property
    def _few_rows(self) -> bool:
        return sum(map(len, self.runs)) <= KEPT_ROWS

    def shared_lists(self, among: Sequence[int] | None = None) -> SharedLists:
        numbers = tuple(range(len(self.runs)) if among is None else among)

        def join() -> SharedLists:
            self.qrels.pairs.index  # noqa: B018 (built once, before threads share it)
            batches = in_threads(self._batches, numbers, worth_starting())
            return SharedLists([self.runs[number] for number in numbers], self.facts, list(batches))

        return self._once("lists", numbers, make=join)

    # ---- unjudged documents ----

    @property
    def _follows_unjudged(self) -> bool:
        return (
            len(self.runs) > 1
            and self.assumptions.bounds != "none"
            and self.assumptions.ties in (*ORDERS, "expected")
            and self.assumptions.unjudged.name != "condensed"
        )

    def bounds(self, measures: Sequence[Measure], among: Sequence[int] | None = None) -> Pairs:
        """Bound the mean differences of all pairs of runs, or of those ``among`` these, over all judgments.

        ``certain`` is 1 where some judgments attain both bounds, 0 where they may be wider than necessary, NaN where
        none are known.
        """
        numbers = tuple(range(len(self.runs)) if among is None else among)

        def of_measure(measure: Measure) -> DifferenceBounds:
            return difference_bounds(self.shared_lists(numbers), measure, self.assumptions)

        first, second = (np.array(numbers)[side] for side in np.triu_indices(len(numbers), 1))
        low, high, attained = np.empty((3, len(measures), first.size))
        for at, measure in enumerate(measures if first.size else ()):
            known = self._once("bounds", measure, numbers, make=partial(of_measure, measure))
            low[at], high[at], attained[at] = known.low, known.high, np.where(known.known, known.exact, np.nan)
        return Pairs(first, second, {"certain_low": low, "certain_high": high, "certain": attained})

    def greatest_leads(self, measure: Measure, runs: Ints, against: int) -> Floats:
        """How far ahead of another run judgments of documents in either list could put these runs; NaN: unknown."""
        pairs = runs, np.full(runs.size, against)
        bounds = difference_bounds(self.shared_lists(), measure, self.assumptions, pairs)
        return merit_of_range(bounds.low, bounds.high, measure)[1]

    def chances(self, measure: Measure) -> Pairs | None:
        """Estimate how likely each run of every pair is better, from the lists of these two runs and their judgments.

        NaN where nothing is open or nothing is known; None where that holds for all pairs, or it would take long.
        """
        if not self._has_chances(measure):
            return None

        def estimate() -> Pairs | None:
            bounds = self.bounds([measure])
            low, high = (bounds.numbers[name][0][:, None] for name in ("certain_low", "certain_high"))
            pairs = zip(bounds.first.tolist(), bounds.second.tolist(), zip(low, high, strict=True), strict=True)
            found = np.array([self.pair(a, b)._chances_of_two(measure, ends) for a, b, ends in pairs]).reshape(-1, 2)
            known = dict(zip(CHANCES, found.T, strict=True))
            return None if np.isnan(found).all() else Pairs(bounds.first, bounds.second, known)

        return self._once("chances", measure, make=estimate)

    def pair(self, a: int, b: int) -> Evidence:
        if (a, b) == (0, len(self.runs) - 1) == (0, 1):
            return self

        def keep() -> Evidence:
            two = self.filter([self.names[a], self.names[b]])
            for (what, *of), made in self._made.items():
                if what == "joined" and of[0] in (a, b):
                    two._made[("joined", [a, b].index(of[0]), *of[1:])] = made
            return two

        return self._once("pair", a, b, make=keep)

    def _chances_of_two(self, measure: Measure, ends: tuple[Floats, Floats]) -> tuple[float, float]:
        unknown = math.nan, math.nan
        is_open = any(rankings.holes.any() for lists in self._all_batches for rankings in lists)
        if not is_open or self._models.kind is None:
            return unknown
        try:
            if is_weighted_sum(measure):
                documents = [self._models.unjudged(number, measure) for number in (0, 1)]
                better, worse = chances_of_sums(documents, self._models.model_of(measure), ends)
            else:
                model = self._models.model_of(measure)
                completions = DrawnCompletions(self._open_collection, measure, model, SAMPLES, SEED)
                likely = draw_chances(completions, [(0, 1)], merit_of_range(*ends, measure))
                if likely is None:
                    return unknown
                better, worse, _ = likely
        except NotEstimatedError:  # judgments give none for the grades that the measure asks for
            return unknown
        return float(better[0]), float(worse[0])

    @property
    def origin(self) -> Origin:
        held = self.qrels, self.assumptions, self.preparation, self.runs
        return self._once("origin", make=lambda: origin_of(*held))

    def _has_chances(self, measure: Measure) -> bool:
        few = (len(self.runs) - 1) * sum(map(len, self.runs)) <= PROBABLE_ROWS
        return follows_grades(measure) and self._follows_unjudged and few

    def why_unknown(self, measure: Measure) -> str:
        """Return why judgments do not show how likely anything is; nothing where they do, or where it takes long."""
        return self.unknown if self._has_chances(measure) else ""

    @property
    def unknown(self) -> str:
        return self._models.unknown

    @property
    def _open_collection(self) -> OpenCollection:
        held = self.runs, self.facts, self.assumptions
        return self._once("open collection", make=lambda: OpenCollection(*held, self._all_batches))

    @property
    def unpooled(self) -> frozenset[str]:
        pairs = zip(self.names, self._all_batches, strict=True)
        return self._once("unpooled", make=lambda: frozenset(name for name, lists in pairs if not looks_pooled(lists)))

    @property
    def _estimated(self) -> ChosenModels:

        def estimate() -> ChosenModels:
            rule, known = self.assumptions.unjudged, cast("str | ByDocument", "logistic")
            if isinstance(rule, CalibratedRule):
                labelled = np.flatnonzero(self.qrels.grade == POOLED_NOT_JUDGED)
                known = ByDocument(self.qrels.pairs.take(labelled), rule.chance[labelled], rule.q)
            return ChosenModels(known, None, self.runs, self.facts, self.assumptions, self._all_batches)

        return self._once("estimated", make=estimate)

    @property
    def _models(self) -> ChosenModels:
        return self._once("models", make=lambda: self._estimated.or_even(RBP()))

    def topics_that_can_differ(self, measure: Measure, first: Ints, second: Ints) -> Ints:
        lists = self.shared_lists()
        can = np.zeros(first.size, dtype=np.int64)
        for of_topic in topic_bounds(lists, measure, self.assumptions, (first, second)):
            slack = TOLERANCE * np.where(np.isfinite(of_topic.size), of_topic.size, 0.0)
            can += ~((of_topic.low >= -slack) & (of_topic.high <= slack))  # (those that are not known may differ)
        return can

    def unjudged_documents(self, measure: Measure, runs: Sequence[int]) -> int:
        chosen, batches = [self.runs[number] for number in runs], [self._batches(number) for number in runs]
        depth = np.inf if measure.cutoff is None else measure.cutoff
        found = RetrievedDocuments.in_lists(
            chosen, batches, lambda rankings: rankings.holes & (np.arange(rankings.holes.shape[-1]) < depth)
        )
        return len(found)

    # ---- two runs ----

    def lead_changes(self, measure: Measure, a: int, b: int) -> list[tuple[float, str, str]] | None:
        if not isinstance(measure, RBP) or measure.by_topic or self.assumptions.ties not in ORDERS:
            return None
        from rankbounds.rbp.crossings import lead_changes

        lists = [(self.names[run], self._batches(run)) for run in (a, b)]
        return lead_changes(lists, self.facts, measure)

    def to_judge(
        self, measure: Measure, pair: tuple[int, int] | None = None, budget: int = JUDGMENTS, *, likely: bool = False
    ) -> JudgingPlan | SettlingPlan | None:
        condensed = self.assumptions.unjudged.name == "condensed"
        if self.assumptions.ties not in ORDERS or condensed or not self._few_rows or not follows_grades(measure):
            return None
        from rankbounds.judging.next.judge_next import plan_judgments

        among = self if pair is None else self.pair(*pair)
        question = Question((measure,), assumptions=self.assumptions)
        return plan_judgments(
            self.qrels, among.runs, question, lambda _: among._estimated, budget=budget, likely=likely
        )


def left_out_words(topics: Sequence[str], number: int, *, judged: bool = True) -> str:
    named = ", ".join(topics[:NAMED]) + (", ..." if len(topics) > NAMED else "")
    return (
        f"{len(topics)} of {number} {'judged ' * judged}topics are left out, because a run lacks them ({named}); all "
        "results are over the topics that all runs have."
    )


def keep_shared_topics(scores: Scores) -> Scores:
    has = np.asarray(~np.isnan(scores.value).any(axis=(0, 2)))
    if scores.topics != "shared" or has.all():
        return scores
    if not has.any():
        for run, measure in np.argwhere(np.isnan(scores.value).all(axis=1)).tolist():
            lacking = f"{scores.runs[run]} has no score by {scores.measures[measure]}."
            raise DataError(f"{lacking} Compare by a measure that all runs have.")
        raise DataError("No topic has scores of all runs: the runs have different topics, or different ids for them.")
    kept = [query for query, shared in zip(scores.query_ids, has.tolist(), strict=True) if shared]
    left_out = [query for query in scores.query_ids if query not in set(kept)]
    warn(left_out_words(left_out, has.size, judged=scores.has_judged))
    return scores.filter(topic=kept)
