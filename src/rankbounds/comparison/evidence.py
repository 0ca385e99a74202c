"""What judgments and runs tell of any two runs: everything is read once, joined once, and asked by everybody.

Scores alone say how two runs differ. Whoever holds the lists too can say more: what shared unjudged documents leave
open, what ties do, where another persistence turns the lead, which judgments would settle it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import Run
from rankbounds.columns.native import worth_starting
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.differences import DifferenceBounds, SharedLists, difference_bounds
from rankbounds.evaluation.differences.bounds import topic_bounds
from rankbounds.evaluation.evaluate import gather_runs
from rankbounds.evaluation.options import chosen_options
from rankbounds.evaluation.score_differences import TOLERANCE
from rankbounds.evaluation.score_sheet import RunResult, ScoreSheet
from rankbounds.evaluation.scores import Scores
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.formulas import is_weighted_sum
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.probability.completions import OpenCollection
from rankbounds.probability.differences import SharedUnjudged, chances_of_sums, drawn_chances
from rankbounds.probability.drawn_scores import SAMPLES, DrawnCompletions
from rankbounds.probability.models.estimates import ChosenModels
from rankbounds.probability.models.probabilities import ByDocument, Constant
from rankbounds.probability.unjudged_documents import UnjudgedDocuments, find_unjudged, follows_grades, joined_run
from rankbounds.rankings.join import Joined
from rankbounds.rankings.order import Order
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.ties import ORDERS
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.rankings.unjudged import CalibratedRule
from rankbounds.threads import in_threads

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rankbounds.comparison.pairs import PairTestingOptions
    from rankbounds.comparison.result import Comparison
    from rankbounds.evaluation.options import Options
    from rankbounds.judging.next.plan import SettlingPlan

JUDGMENTS = 10
"""How many documents to name as those whose judgments matter most."""
PROBABLE_RUNS = 20
"""For more runs, how likely one is better than another is not estimated: it would take long."""
SEED = 0
"""Where draws start."""
KEPT_ROWS = 4_000_000
"""Rankings of more documents than this are not kept in memory, but made again when they are asked for."""
NAMED = 10
"""How many of the topics that are left out are named."""
_COMPUTED = ("_joined", "_looked", "_made", "_few_rows")
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Probabilities:
    """How likely each run of every pair is the better one, with probabilities estimated from the judgments."""

    better: dict[Measure, Floats]
    """Of the first run; NaN where nothing is open. Exact for weighted sums over ranks, else drawn."""
    worse: dict[Measure, Floats]
    """Of the second run. With ``better`` it makes 1 minus the probability that both score the same."""
    draws: dict[Measure, int]
    """How often measures were drawn that are not weighted sums."""
    unpooled: frozenset[str]
    """Runs of which too few documents are judged for such a probability."""


@dataclass(frozen=True, eq=False)
class _Looked:
    """What one look at every run's lists gives."""

    scores: Scores
    tied: tuple[Floats, Floats]
    """By run and measure, the least and the greatest mean over all orders of tied documents; NaN: not known."""


class Evidence:
    """Judgments, runs and how to look at them, to be asked about any two of the runs.

    With ``topics="shared"`` everything is over the topics that all runs have.

    Parameters
    ----------
    qrels : Qrels
        The judgments.
    runs : sequence of Run
        The runs, of different names.
    assumptions : Assumptions, optional
        How ties, unjudged documents, grades and missing topics are treated.

    Examples
    --------
    >>> from rankbounds.comparison import Evidence
    >>> qrels = {"1": {"d1": 1, "d2": 0}, "2": {"d1": 1, "d2": 0}, "3": {"d1": 1, "d2": 0}}
    >>> runs = {"good": {q: {"d1": 2, "d2": 1} for q in qrels}, "bad": {q: {"d2": 2, "d1": 1} for q in qrels}}
    >>> evidence = Evidence.read(qrels, runs)
    >>> evidence.scores("RR").mean().value[:, 0, 0].tolist()
    [1.0, 0.5]

    """

    def __init__(self, qrels: Qrels, runs: Sequence[Run], assumptions: Assumptions | None = None) -> None:
        self.assumptions = assumptions or Assumptions()
        self.judged = qrels
        """All judgments, also of topics that a run lacks."""
        self.left_out: list[str] = []
        """Judged topics that are left out, since a run lacks them."""
        self.qrels, self.runs = qrels, list(runs)
        if self.assumptions.topics == "shared" and len(self.runs) > 1:
            self.qrels, self.runs, self.left_out = _of_shared_topics(qrels, self.runs)
        self.names = [run.name for run in self.runs]
        self.facts = TopicFacts(self.qrels, self.assumptions.gain)
        self._forget()

    def _forget(self) -> None:
        """Begin without anything that can be computed from judgments and runs."""
        self._joined: dict[int, Joined] = {}
        self._looked: dict[tuple[Measure, ...], _Looked] = {}
        self._made: dict[tuple[object, ...], Any] = {}

    def _once(self, *key: object, make: Callable[[], Made]) -> Made:
        """What was made before under this key; else it is made now and kept."""
        if key not in self._made:
            self._made[key] = make()
        found: Made = self._made[key]
        return found

    @classmethod
    def read(
        cls, qrels: Any, runs: Any, assumptions: Assumptions | None = None, **options: Unpack[Options]
    ) -> Evidence:
        """From everything that ``evaluate`` takes for judgments and runs, and its options; each file is read once."""
        assumed, reading = chosen_options(options)
        assumptions = assumptions or assumed
        reading = replace(reading, threads=options.get("threads") or worth_starting(), gain=assumptions.gain)
        return cls(reading.judgments(qrels), reading.runs(runs), assumptions)

    def __getstate__(self) -> dict[str, Any]:
        """What was read, without what can be computed from it."""
        return {name: value for name, value in self.__dict__.items() if name not in _COMPUTED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._forget()

    # ---- scores ----

    def scores(
        self,
        measures: str | Measure | Iterable[str | Measure],
        *,
        progress: Callable[[int, int], None] | None = None,
        observe: Callable[[int, Rankings], None] | None = None,
    ) -> Scores:
        """As ``evaluate`` scores them. ``observe`` is shown every batch of rankings with the number of its run."""
        chosen = tuple(parse_measures(measures))
        if chosen in self._looked and observe is None:
            return self._looked[chosen].scores
        self.assumptions.check(chosen)
        if self.left_out:
            warn(left_out_words(self.left_out, len(self.judged.query_ids)))
        return self._look(chosen, progress, observe).scores

    def compare(
        self,
        measures: str | Measure | Iterable[str | Measure],
        *,
        ranks: str = "auto",
        margin: float | None = None,
        among: Sequence[str] | None = None,
        **how: Unpack[PairTestingOptions],
    ) -> Comparison:
        """All pairs of the runs; options are those of ``rankbounds.compare``."""
        from rankbounds.comparison.verdict import compare

        return compare(self.scores(measures), ranks=ranks, margin=margin, among=among, evidence=self, **how)

    def _look(
        self,
        measures: tuple[Measure, ...],
        progress: Callable[[int, int], None] | None = None,
        observe: Callable[[int, Rankings], None] | None = None,
    ) -> _Looked:
        """One look at every run's lists, for scores and ties."""
        self.qrels.pairs.index  # noqa: B018 (built once, before threads share it)
        alone = worth_starting() if len(self.runs) == 1 else 1
        ends = np.full((2, len(self.runs), len(self.facts.query_ids), len(measures)), np.nan)
        untied = np.zeros(ends.shape[1:], dtype=bool)

        def see(number: int, rankings: Rankings) -> None:
            lists = replace(rankings, row=None)  # nobody asks where a document is that another one changes with
            for at, measure in enumerate(measures):
                found = self._over_orders(measure, lists)
                if found is None:
                    untied[number, rankings.topic, at] = True
                else:
                    ends[:, number, rankings.topic, at] = found
            if observe:
                observe(number, rankings)

        def score(number: int) -> RunResult:
            sheet = ScoreSheet(
                len(self.facts.query_ids), list(measures), self.assumptions, observe=partial(see, number)
            )
            return sheet.score(self._rankings(number), self.names[number], alone)

        jobs, names = range(len(self.runs)), list(self.names)
        scores = gather_runs(
            score, jobs, names, self.facts, list(measures), self.assumptions, worth_starting(), progress
        )
        scored = ~np.isnan(scores.value)
        least, most = np.where(scored, np.where(untied, scores.value, ends), 0.0).sum(axis=2) / np.maximum(
            scored.sum(axis=1), 1
        )
        self._looked[measures] = _Looked(scores, (least, most))
        return self._looked[measures]

    def _rankings(self, number: int) -> Joined:
        """One run's rankings, each cell with the row it came from; kept where they are few."""
        if number not in self._joined:
            joined = joined_run(self.runs[number], self.facts, self.assumptions)
            if not self._few_rows:
                return joined
            slices: list[Callable[[], list[Rankings]]] = [partial(list, [rankings]) for rankings in joined.batches]
            self._joined[number] = replace(joined, slices=slices)
        return self._joined[number]

    @cached_property
    def _few_rows(self) -> bool:
        return sum(map(len, self.runs)) <= KEPT_ROWS

    def _over_orders(self, measure: Measure, rankings: Rankings) -> tuple[Floats, Floats] | None:
        """The least and the greatest value of each list over all orders of its ties; NaN where they are not known.

        None where nothing is tied: the values are both.
        """
        assumed = self.assumptions.assumed(measure, rankings)
        if assumed.tied is None:
            return None
        unknown = np.full(assumed.length.shape, np.nan)
        return measure.tie_bounds(assumed) or (unknown, unknown)

    # ---- unjudged documents ----

    @property
    def _follows_unjudged(self) -> bool:
        """Can unjudged documents be followed through the difference of two runs?"""
        return (
            len(self.runs) > 1
            and self.assumptions.ties in (*ORDERS, "expected")
            and self.assumptions.unjudged.name != "condensed"
        )

    def shared_lists(self, among: Sequence[int] | None = None) -> SharedLists:
        """The lists of all runs, or of those with these numbers, topic by topic."""
        numbers = tuple(range(len(self.runs)) if among is None else among)

        def join() -> SharedLists:
            self.qrels.pairs.index  # noqa: B018 (built once, before threads share it)
            batches = in_threads(lambda number: list(self._rankings(number).batches), numbers, worth_starting())
            return SharedLists([self.runs[number] for number in numbers], self.facts, list(batches))

        return self._once("lists", numbers, make=join)

    def unjudged(
        self, measures: Sequence[Measure], among: Sequence[int] | None = None
    ) -> dict[Measure, DifferenceBounds]:
        """Bounds of the differences of all pairs; unknown but of pairs ``among`` these runs, where they are named."""
        chosen = self._looked_at(measures)
        numbers = tuple(range(len(self.runs)) if among is None else among)
        return self._once("bounds", chosen, numbers, make=lambda: self._unjudged_of(chosen, numbers))

    def _documents_of(
        self, measures: tuple[Measure, ...], numbers: tuple[int, ...]
    ) -> dict[Measure, list[UnjudgedDocuments]]:
        """By measure that is a weighted sum over ranks, the unjudged documents of these runs."""
        weighted = [measure for measure in measures if is_weighted_sum(measure) and self._follows_unjudged]

        def find(number: int) -> list[UnjudgedDocuments]:
            batches = list(self._rankings(number).batches)
            return [
                find_unjudged(self.runs[number], self.facts, measure, self.assumptions, rankings_of_run=batches)
                for measure in weighted
            ]

        def collect() -> dict[Measure, list[UnjudgedDocuments]]:
            by_run = list(in_threads(find, numbers, worth_starting())) if weighted else []
            return {measure: [of_run[place] for of_run in by_run] for place, measure in enumerate(weighted)}

        return self._once("documents", tuple(weighted), numbers, make=collect)

    def probabilities(self, measures: Sequence[Measure]) -> Probabilities:
        """How likely each run of every pair is the better one; nothing for many runs."""
        chosen = self._looked_at(measures)
        return self._once("chances", chosen, make=lambda: self._probabilities_of(chosen))

    def _looked_at(self, measures: Sequence[Measure]) -> tuple[Measure, ...]:
        """The measures of a look that was taken before and holds these; else these."""
        return next((known for known in self._looked if set(measures) <= set(known)), tuple(measures))

    def _known_of_unjudged(self) -> str | ByDocument:
        """What is known of unjudged documents: calibrated labels where there are any, else it is to be estimated."""
        rule = self.assumptions.unjudged
        if not isinstance(rule, CalibratedRule):
            return "logistic"
        labelled = np.flatnonzero(self.qrels.grade == POOLED_NOT_JUDGED)
        return ByDocument(self.qrels.pairs.take(labelled), rule.chance[labelled], rule.q)

    def _unjudged_of(self, measures: tuple[Measure, ...], among: tuple[int, ...]) -> dict[Measure, DifferenceBounds]:
        bounds = {}
        unjudged = self._documents_of(measures, among) if self.assumptions.bounds != "both" else {}
        for measure, of_runs in unjudged.items():
            *_, low, high = SharedUnjudged(of_runs, Constant(0.5)).columns(exact=False)
            bounds[measure] = DifferenceBounds(low, high, np.ones(low.size, dtype=bool))
        for measure in measures if len(among) > 1 else ():
            if measure not in bounds:
                bounds[measure] = difference_bounds(self.shared_lists(among), measure, self.assumptions)
        if len(among) < len(self.runs):
            bounds = {measure: self._of_all_pairs(known, among) for measure, known in bounds.items()}
        return bounds

    def _of_all_pairs(self, known: DifferenceBounds, among: tuple[int, ...]) -> DifferenceBounds:
        """Bounds of pairs among some of the runs, in the places of these pairs among all."""
        held = np.isin(np.arange(len(self.runs)), among)
        first, second = np.triu_indices(len(self.runs), 1)
        looked_at = held[first] & held[second]
        low, high = np.full((2, first.size), np.nan)
        exact = np.zeros(first.size, dtype=bool)
        low[looked_at], high[looked_at], exact[looked_at] = known.low, known.high, known.exact
        return DifferenceBounds(low, high, exact)

    def _probabilities_of(self, measures: tuple[Measure, ...]) -> Probabilities:
        found = Probabilities({}, {}, {}, frozenset())
        measures = tuple(filter(follows_grades, measures))
        if not measures or not self._follows_unjudged or len(self.runs) > PROBABLE_RUNS or not self._few_rows:
            return found
        models = self._models()
        if models.kind is None:
            return found  # there is nothing to estimate probabilities from
        batches = [list(self._rankings(at).batches) for at in range(len(self.runs))]
        pairs = list(combinations(range(len(self.runs)), 2))
        weighted = self._documents_of(measures, tuple(range(len(self.runs))))
        collection = OpenCollection(self.runs, self.facts, self.assumptions, batches)
        for measure in measures:
            if measure in weighted:
                better, worse = chances_of_sums(weighted[measure], models.of(measure))
            else:
                drawn = DrawnCompletions(collection, measure, models.of_grades(measure), SAMPLES, SEED)
                likely = drawn_chances(drawn, pairs)
                if likely is None:
                    continue
                better, worse, found.draws[measure] = likely
            found.better[measure], found.worse[measure] = better, worse
        return replace(found, unpooled=frozenset(models.unpooled()))

    def topics_that_can_differ(self, measure: Measure, first: Ints, second: Ints) -> Ints:
        """On how many topics each pair can differ at the most, whatever unjudged documents turn out to be."""
        lists = self.shared_lists()
        can = np.zeros(first.size, dtype=np.int64)
        for of_topic in topic_bounds(lists, measure, self.assumptions, (first, second)):
            slack = TOLERANCE * np.where(np.isfinite(of_topic.size), of_topic.size, 0.0)
            can += ~((of_topic.low >= -slack) & (of_topic.high <= slack))  # (those that are not known may differ)
        return can

    def unjudged_documents(self, measure: Measure, runs: Sequence[int]) -> int:
        """How many different documents of these runs nobody judged, down to the measure's depth, on judged topics."""
        from rankbounds.judging.candidates import collect

        order = self.assumptions.ties if self.assumptions.ties in ORDERS else "trec"
        chosen = [self.runs[number] for number in runs]
        retrieved = collect(
            chosen, depth=measure.cutoff, order=cast(Order, order), precision=self.assumptions.score_precision
        )
        return int(np.count_nonzero(retrieved.unjudged(self.qrels)))

    # ---- ties ----

    def over_ties(self, measures: Sequence[Measure]) -> tuple[Floats, Floats]:
        """By run and measure, the least and the greatest mean over all orders of tied documents; NaN: not known."""
        known = self._looked_at(measures)
        least, most = (self._looked[known] if known in self._looked else self._look(known)).tied
        places = [known.index(measure) for measure in measures]
        return least[:, places], most[:, places]

    # ---- two runs ----

    def lead_changes(self, measure: Measure, a: int, b: int) -> list[tuple[float, str, str]] | None:
        """Where, over p, the lead changes: p, who leads below, who above. None: not for this measure or order."""
        if not isinstance(measure, RBP) or measure.by_topic or self.assumptions.ties not in ORDERS:
            return None
        from rankbounds.rbp.crossings import lead_changes

        lists = [(self.names[run], list(self._rankings(run).batches)) for run in (a, b)]
        return lead_changes(lists, self.facts, measure)

    def to_judge(self, measure: Measure, a: int, b: int) -> SettlingPlan | None:
        """The documents whose judgments are expected to settle most between two runs; None where that is not known."""
        if self.assumptions.ties not in ORDERS or not self._follows_unjudged or not self._few_rows:
            return None
        if not follows_grades(measure):
            return None
        from rankbounds.judging.next.question import Question

        question = Question.about(
            [self.runs[a], self.runs[b]],
            self.facts,
            self.assumptions,
            measure,
            batches=[list(self._rankings(number).batches) for number in (a, b)],
            models=self._models(),
            seed=SEED,
        )
        plan = question.plan([(0, 1)], JUDGMENTS)
        return plan if len(plan) else None

    def _models(self) -> ChosenModels:
        """Probabilities estimated from the judgments; even ones where there is nothing to estimate them from."""

        def estimate() -> ChosenModels:
            batches = [list(self._rankings(at).batches) for at in range(len(self.runs))]
            models = ChosenModels(self._known_of_unjudged(), None, self.runs, self.facts, self.assumptions, batches)
            try:
                models.of_grades(RBP())
            except UsageError:
                models = ChosenModels(0.5, None, self.runs, self.facts, self.assumptions, batches)
            return models

        return self._once("models", make=estimate)


def left_out_words(topics: Sequence[str], number: int, *, judged: bool = True) -> str:
    """Which of the topics, or of the judged ones, are left out of a comparison, and why."""
    named = ", ".join(topics[:NAMED]) + (", ..." if len(topics) > NAMED else "")
    return (
        f"{len(topics)} of {number} {'judged ' * judged}topics are left out, since a run lacks them ({named}); "
        "everything here is over the topics that all runs have."
    )


def _of_shared_topics(judgments: Qrels, runs: list[Run]) -> tuple[Qrels, list[Run], list[str]]:
    """Judgments and lists of the topics that every run has, and the topics that are left out."""
    shared = set.intersection(*(set(run.query_ids) for run in runs))
    has = np.array([query in shared for query in judgments.query_ids])
    if has.all():
        return judgments, runs, []
    if not has.any():
        raise DataError("The runs have no judged topic in common: they cannot be compared.")
    from rankbounds.judging.pools import subset

    missing = [query for query in judgments.query_ids if query not in shared]
    return subset(judgments, has[judgments.pairs.topic]), [_of_topics(run, shared) for run in runs], missing


def _of_topics(run: Run, topics: set[str]) -> Run:
    """The run's lists for these topics."""
    pairs, rows = run.pairs.of_topics(topics)
    kept = run.take(rows)
    return Run(run.name, pairs, kept.score, lambda: kept.stated_rank)
