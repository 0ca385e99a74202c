"""Score runs against judgments."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Thread
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.errors import RankboundsWarning, UsageError, did_you_mean
from rankbounds.files.columns import is_table
from rankbounds.files.formats import pair_of_names
from rankbounds.files.opening import expand
from rankbounds.gains import GainRule, gain_rule
from rankbounds.judgments import Qrels, as_qrels, read_qrels
from rankbounds.measures import Measure, parse_measures
from rankbounds.measures.condensed import Condensed
from rankbounds.measures.judged import Judged
from rankbounds.measures.measure import Bounds
from rankbounds.rankings import Order, Precision, Rankings, TopicFacts, join
from rankbounds.runs import Run, as_run, read_run, unique_names
from rankbounds.scores import PARTS, RunNotes, Scores
from rankbounds.threads import in_threads, processors
from rankbounds.tie_key import TieKey, as_tie_key
from rankbounds.ties import ORDERS, reordered
from rankbounds.ties import RULES as TIE_RULES
from rankbounds.unjudged import UnjudgedRule

Topics: TypeAlias = Literal["judged", "shared"]
DEFAULT_MEASURES = ("RBP(p=0.8)", "AP", "nDCG@10", "P@10", "RR")
BOUNDS = ("unjudged", "ties", "both", "none")
TOPICS = ("judged", "shared")
PRECISIONS = ("double", "single")


@dataclass(frozen=True)
class Cells:
    """The numbers of one batch: arrays with an axis of lists and one of measures, ``parts`` with one of parts first."""

    value: Floats
    low: Floats
    high: Floats
    parts: Floats | None = None


@dataclass(frozen=True)
class Assumptions:
    """Everything that is decided before a measure sees a ranking, and what its bounds are to cover."""

    ties: str = "trec"
    unjudged: UnjudgedRule = field(default_factory=UnjudgedRule)
    bounds: str = "unjudged"
    gain: GainRule = field(default_factory=GainRule)
    topics: Topics = "judged"
    score_precision: Precision = "double"
    tie_key: TieKey | None = None

    def __post_init__(self) -> None:
        for what, value, known in (
            ("ties", self.ties, TIE_RULES),
            ("bounds", self.bounds, BOUNDS),
            ("topics", self.topics, TOPICS),
            ("score precision", self.score_precision, PRECISIONS),
        ):
            if value not in known:
                hint = did_you_mean(str(value), list(known))
                raise UsageError(f'There is no choice "{value}" for {what}.{hint} Known: {", ".join(known)}.')
        if (self.ties == "key") != (self.tie_key is not None):
            raise UsageError('ties="key" goes with a key for ties: a file or a dict of documents and their values.')

    @classmethod
    def of(
        cls,
        ties: str = "trec",
        unjudged: str = "nonrelevant",
        q: float | None = None,
        bounds: str = "unjudged",
        gain: str | Mapping[Any, float] | GainRule | None = None,
        topics: str = "judged",
        score_precision: str = "double",
        ties_key: Any = None,
    ) -> Assumptions:
        """From the words of ``evaluate``."""
        return cls(
            "key" if ties_key is not None and ties == "trec" else ties,
            UnjudgedRule(unjudged, q),
            bounds,
            gain_rule(gain),
            cast(Topics, topics),
            cast(Precision, score_precision),
            None if ties_key is None else as_tie_key(ties_key),
        )

    @property
    def order(self) -> Order:
        """The order in which tied documents are ranked before anything else is done to them."""
        return cast(Order, self.ties) if self.ties in ORDERS else "trec"

    def check(self, measures: Iterable[Measure]) -> None:
        """Reject measures that cannot be computed under these assumptions."""
        for measure in measures:
            if self.unjudged.name == "expected" and not (
                measure.multilinear or measure.judged_only or measure.as_retrieved
            ):
                raise UsageError(
                    f"{measure} has no exact expected value over unjudged documents, because it is not a sum over "
                    'documents. Use unjudged="nonrelevant" and read the bounds, or a measure such as RBP, P, RR or DCG.'
                )

    def value(self, measure: Measure, rankings: Rankings) -> Floats:
        """The measure of each list."""
        return self._with_ties(measure, self.assumed(measure, rankings))

    def assumed(self, measure: Measure, rankings: Rankings) -> Rankings:
        """The rankings with unjudged documents treated as they should be for this measure."""
        return rankings if measure.as_retrieved else self.unjudged(rankings)

    def _with_ties(self, measure: Measure, assumed: Rankings) -> Floats:
        """The measure under the rule for ties, once it is settled what unjudged documents count for."""
        found: Floats = assumed.remembered((measure, self.ties), lambda: self._treated(measure, assumed))
        return found

    def _treated(self, measure: Measure, assumed: Rankings) -> Floats:
        if self.ties in ORDERS or assumed.groups is None:
            return measure.value(assumed)
        if self.ties == "expected":
            found = measure.expected_over_ties(assumed)
            what = "mean over the orders"
        else:
            worst_best = measure.tie_bounds(assumed)
            found = None if worst_best is None else worst_best[(self.ties == "best") != measure.lower_is_better]
            what = f"{self.ties} order"
        if found is None:
            raise UsageError(f'{measure} has no known {what} of tied documents. Use ties="trec".')
        return found

    def low_high(self, measure: Measure, rankings: Rankings) -> tuple[Floats, Floats] | None:
        """The bounds that were asked for; None where none are known."""
        if self.bounds == "none":
            return None
        found = self._low_high(measure, rankings)
        if found is None or not (measure.judged_only or self.unjudged.name == "condensed"):
            return found
        # The list that is scored lacks documents, and a fully judged list may never score the same.
        value = self.value(measure, rankings)
        return np.minimum(found[0], value), np.maximum(found[1], value)

    def _low_high(self, measure: Measure, rankings: Rankings) -> tuple[Floats, Floats] | None:
        if self.bounds == "ties":
            return measure.tie_bounds(self.assumed(measure, rankings))
        plain = measure.measure if isinstance(measure, Condensed) else measure
        if plain.as_retrieved:  # judgments change nothing
            if self.bounds == "both":
                return plain.tie_bounds(rankings)
            return (value := self._with_ties(plain, rankings)), value
        if self.bounds == "both":
            return plain.joint_bounds(rankings)
        if self.ties in ORDERS or rankings.tied is None:
            return plain.bounds(rankings)
        return self._bounds_of_treated_ties(plain, rankings)

    def bounds_are_outer(self, measure: Measure, facts: TopicFacts, *, tied: bool) -> bool:
        """Do the bounds hold, but may be wider than what can happen? ``tied``: are there documents of equal score?"""
        if self.bounds not in ("unjudged", "both") or measure.as_retrieved:
            return False
        if measure.exactness == "outer":
            return True
        if not tied:
            return False
        return measure.joint_bounds_are_outer(facts) if self.bounds == "both" else self._treats_ties_loosely(measure)

    def _treats_ties_loosely(self, measure: Measure) -> bool:
        """Under this rule for ties, are the bounds over judgments those over all orders, which contain them?"""
        return self.ties not in ORDERS and not measure.monotone

    def _bounds_of_treated_ties(self, measure: Measure, rankings: Rankings) -> tuple[Floats, Floats] | None:
        """Bounds over judgments for the best, worst or mean order of ties.

        Exact for measures that never fall with more relevance: the same order is best (or worst) whatever follows the
        list. For others the bounds over all orders contain them.
        """
        if self._treats_ties_loosely(measure):
            return measure.joint_bounds(rankings)
        if self.ties != "expected" and not measure.tail_adds:
            ends = [measure.bounds(self._in_treated_order(measure, rankings, chance)) for chance in (0.0, 1.0)]
            return None if ends[0] is None or ends[1] is None else (ends[0][0], ends[1][1])
        worst, best = (self._with_ties(measure, rankings.assume(chance)) for chance in (0.0, 1.0))
        if measure.lower_is_better:
            return best, worst
        return worst, best + measure.open_tail(rankings)

    def _in_treated_order(self, measure: Measure, rankings: Rankings, chance: float) -> Rankings:
        """The lists in the best or worst order for unjudged documents that count like this."""
        return reordered(rankings, measure.worth(rankings.assume(chance)), best=self.ties == "best")

    def cells(self, measures: Sequence[Measure], rankings: Rankings) -> Cells:
        """All numbers of a batch."""
        shape = (rankings.length.size, len(measures))
        value, low, high = (np.full(shape, np.nan) for _ in range(3))
        for number, measure in enumerate(measures):
            value[:, number] = self.value(measure, rankings)
            found = self.low_high(measure, rankings)
            if found is not None:
                low[:, number], high[:, number] = found
        split = [number for number, measure in enumerate(measures) if measure.has_residual]
        if not split:
            return Cells(value, low, high)
        # Only now, because ties are reordered for it: until here all measures read the same arrays from the cache.
        parts = np.full((len(PARTS), *shape), np.nan)
        for number in split if self.bounds != "none" else ():
            parts[:, :, number] = self._parts(measures[number], rankings, (low[:, number], high[:, number]))
        return Cells(value, low, high, parts)

    def _parts(self, measure: Measure, rankings: Rankings, found: Bounds) -> tuple[Floats, Floats, Floats]:
        """What unjudged documents, the list's end and ties leave open.

        Where the bounds cover ties, the way from low to high is: first the best order, then the documents relevant.
        """
        over_orders = self.bounds == "both"
        ties = _range_over_orders(measure, rankings.assume(0.0) if over_orders else self.assumed(measure, rankings))
        if over_orders:
            rankings = reordered(rankings, measure.worth(rankings.assume(0.5)), best=True)
        elif self.bounds == "ties":
            found = measure.bounds(rankings) or found
        elif not measure.tail_adds and self.ties in ("best", "worst"):
            rankings = self._in_treated_order(measure, rankings, 1.0)
        tail = measure.open_tail(rankings)
        unjudged = found[1] - found[0] - tail - (ties if over_orders else 0.0)
        unjudged[unjudged < 1e-15] = 0.0  # what rounding leaves is no residual
        return unjudged, tail, ties

    def tie_range(self, measure: Measure, rankings: Rankings) -> Floats:
        """How far each list's value moves over all orders of its ties; NaN where that is not known."""
        return _range_over_orders(measure, self.assumed(measure, rankings))


def _range_over_orders(measure: Measure, assumed: Rankings) -> Floats:
    if assumed.tied is None:
        return np.zeros(assumed.length.shape)
    worst_best = measure.tie_bounds(assumed)
    if worst_best is None:
        return np.full(assumed.length.shape, np.nan)
    with np.errstate(invalid="ignore"):  # a search that never ends, in either order
        return worst_best[1] - worst_best[0]


ASSUMPTIONS = ("ties", "ties_key", "unjudged", "q", "bounds", "gain", "topics", "score_precision")
"""The arguments of ``evaluate`` that say how rankings are looked at."""


def evaluate(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    ties: str = "trec",
    ties_key: Any = None,
    unjudged: str = "nonrelevant",
    q: float | None = None,
    bounds: str = "unjudged",
    gain: str | Mapping[Any, float] | GainRule | None = None,
    topics: str = "judged",
    score_precision: str = "double",
    labels: str | Sequence[str] | None = None,
    formats: str | tuple[str | None, str | None] | None = None,
    lenient: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    observe: Callable[[int, Rankings], None] | None = None,
) -> Scores:
    """Score one run or many.

    ``qrels`` and ``runs`` may be paths (runs also globs and folders), ``Qrels`` and ``Run``, dicts of dicts, pandas,
    polars or pyarrow frames, or rows ``(query, document, value)``. Several runs: a list of such, or a dict by name.

    ``ties``: ``trec`` (score down, then document id down, as trec_eval), ``run`` (line order, scores ignored), ``line``
    (line order among equal scores), ``rank`` (stated rank), ``docid`` (document id up), ``best``, ``worst``,
    ``expected`` (mean over all orders), ``key`` (rising value of ``ties_key``, which is ``{document: value}`` or a file
    of such lines, and which means ``key`` by itself).
    ``unjudged``: ``nonrelevant``, ``relevant``, ``condensed`` (left out), ``expected`` (relevant with chance ``q``).
    ``gain``: what grades are worth: ``linear`` (the grade), a table like ``"1=3,2=9"``, or one that names the words
    that judgments have for grades, ``"S=3,A=2,B=1"``.
    ``bounds``: what ``low`` and ``high`` cover: ``unjudged`` documents, ``ties``, ``both``, or ``none``.
    ``topics``: ``judged`` scores every judged topic, one that a run lacks as an empty list; ``shared`` only topics that
    the run has.
    ``labels``: use judgments of this source only (``"human"``), or of the first that has one (``"human,llm"``).
    ``formats``: the format of all files, or of judgments and of runs, where it should not be recognised by content.
    ``observe`` is shown every batch of rankings with the number of its run, from several threads; whoever wants more
    of the lists than scores need not read the runs a second time.
    """
    assumptions = Assumptions.of(ties, unjudged, q, bounds, gain, topics, score_precision, ties_key)
    chosen = parse_measures(measures)
    assumptions.check(chosen)
    workers = threads or processors()
    qrels_kind, run_kind = pair_of_names(formats)
    judgments = judgments_from(qrels, lenient, workers, assumptions.gain, qrels_kind, labels)
    return score_runs(
        TopicFacts(judgments, assumptions.gain),
        runs_to_read(runs, lenient, workers, run_kind),
        chosen,
        assumptions,
        threads=workers,
        progress=progress,
        observe=observe,
    )


def score_runs(
    facts: TopicFacts,
    jobs: Sequence[RunToRead],
    measures: list[Measure],
    assumptions: Assumptions,
    cells: Callable[[Rankings], Cells] | None = None,
    *,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
    observe: Callable[[int, Rankings], None] | None = None,
) -> Scores:
    """Read, join and score every run; ``cells``, where given, turns rankings into the measures' numbers its own way."""
    # Every run is looked up in one index. It is built while the first runs are being read.
    index = Thread(target=lambda: facts.qrels.pairs.index)
    index.start()

    def score(numbered: tuple[int, RunToRead]) -> RunResult:
        number, job = numbered
        seen = partial(observe, number) if observe else None
        alone = threads if len(jobs) == 1 else 1
        run = job.read()
        index.join()
        return score_run(run, facts, measures, assumptions, alone, cells, seen)

    results = []
    for result in in_threads(score, list(enumerate(jobs)), threads):
        results.append(result)
        if progress:
            progress(len(results), len(jobs))
    scores = gathered(
        results,
        [job.place for job in jobs],
        list(facts.query_ids),
        measures,
        assumptions,
        facts,
        facts.without_relevant,
    )
    for message in [*scores.warnings(), *fractions_lost(facts.grade, measures)]:
        warnings.warn(message, RankboundsWarning, stacklevel=2)
    return scores


def gathered(
    results: Sequence[RunResult],
    places: list[str],
    query_ids: list[str],
    measures: list[Measure],
    assumptions: Assumptions,
    facts: TopicFacts,
    without_relevant: list[str],
) -> Scores:
    """The results of several runs as one table; ``facts`` may be those of a part that knows the collection's grades."""
    return Scores(
        runs=unique_names([result.name for result in results], places),
        query_ids=query_ids,
        measures=measures,
        value=_stacked([result.value for result in results]),
        low=_stacked([result.low for result in results]),
        high=_stacked([result.high for result in results]),
        judged=_stacked([result.judged for result in results]),
        notes=[result.notes for result in results],
        bounds=assumptions.bounds,
        topics=assumptions.topics,
        outer=[
            measure
            for measure in measures
            if assumptions.bounds_are_outer(
                measure, facts, tied=any(result.notes.tied_topics > 0 for result in results)
            )
        ],
        without_relevant=without_relevant,
        parts=_stacked([result.parts for result in results if result.parts is not None], axis=1)
        if results[0].parts is not None
        else None,
    )


def _stacked(arrays: list[Floats], axis: int = 0) -> Floats:
    """Arrays along a new axis; one alone is not copied, because it may be large."""
    return np.stack(arrays, axis) if len(arrays) > 1 else np.expand_dims(arrays[0], axis)


def judgments_from(
    given: Any,
    lenient: bool = False,
    threads: int = 1,
    rule: GainRule | None = None,
    kind: str | None = None,
    labels: str | Sequence[str] | None = None,
) -> Qrels:
    """Judgments from a path or anything else that ``evaluate`` takes."""
    if isinstance(given, Qrels):
        return given
    grade_of = rule.grade_of if rule else None
    if isinstance(given, str | os.PathLike):
        return read_qrels(given, kind=kind, labels=labels, grade_of=grade_of, lenient=lenient, threads=threads)
    return as_qrels(given, grade_of, labels)


@dataclass(frozen=True)
class RunToRead:
    """A run to score, read only when its turn comes so that memory holds few at a time."""

    place: str
    read: Callable[[], Run]


def runs_to_read(runs: Any, lenient: bool = False, workers: int = 1, kind: str | None = None) -> list[RunToRead]:
    """The runs in anything that ``evaluate`` takes: one run or several."""

    def from_file(path: str, threads: int, name: str | None = None) -> RunToRead:
        return RunToRead(path, lambda: read_run(path, kind=kind, lenient=lenient, threads=threads, name=name))

    if isinstance(runs, str | os.PathLike):
        runs = [runs]
    if isinstance(runs, Run) or is_table(runs):
        return [RunToRead("run", lambda: as_run(runs))]
    if isinstance(runs, Mapping):
        if not runs:
            raise UsageError("No run was given.")
        if all(_is_one_query(inner) for inner in runs.values()):
            return [RunToRead("run", lambda: as_run(runs))]
        return [
            from_file(os.fspath(run), 1, str(name))
            if isinstance(run, str | os.PathLike)
            else RunToRead(str(name), lambda run=run, name=name: as_run(run, str(name)).renamed(str(name)))  # type: ignore[misc]
            for name, run in runs.items()
        ]
    if not isinstance(runs, Iterable):
        raise UsageError(f"No run was given, but something of the type {type(runs).__name__}.")
    given = list(runs)
    if not given:
        raise UsageError("No run was given.")
    if isinstance(given[0], tuple) and len(given[0]) >= 3 and not isinstance(given[0][1], Run):
        return [RunToRead("run", lambda: as_run(given))]
    jobs: list[RunToRead] = []
    files = [one for one in given if isinstance(one, str | os.PathLike)]
    alone = len(files) == len(given) and len(expand(files)) == 1
    for number, one in enumerate(given, 1):
        if isinstance(one, str | os.PathLike):
            jobs += [from_file(path, workers if alone else 1) for path in expand([one])]
        else:
            place = f"run{number}" if len(given) > 1 else "run"
            jobs.append(RunToRead(place, lambda one=one, place=place: as_run(one, place)))  # type: ignore[misc]
    return jobs


def all_runs(runs: Any, *, lenient: bool = False, threads: int | None = None) -> list[Run]:
    """Every run in whatever form ``evaluate`` takes them, read into memory, under names that differ."""
    workers = threads or processors()
    jobs = runs_to_read(runs, lenient, workers)
    read = list(in_threads(lambda job: job.read(), jobs, workers))
    names = unique_names([run.name for run in read], [job.place for job in jobs])
    return [run if run.name == name else run.renamed(name) for run, name in zip(read, names, strict=True)]


def _is_one_query(inner: Any) -> bool:
    """Is this the ``{document: score}`` of one query, rather than a whole run?"""
    return isinstance(inner, Mapping) and not isinstance(next(iter(inner.values()), None), Mapping | Sequence)


@dataclass(frozen=True)
class RunResult:
    """One run's scores: arrays with an axis of topics and one of measures; NaN for topics left out."""

    name: str
    value: Floats
    low: Floats
    high: Floats
    judged: Floats
    notes: RunNotes
    parts: Floats | None


def score_run(
    run: Run,
    facts: TopicFacts,
    measures: Sequence[Measure],
    assumptions: Assumptions,
    threads: int = 1,
    cells: Callable[[Rankings], Cells] | None = None,
    observe: Callable[[Rankings], None] | None = None,
) -> RunResult:
    """Join one run with the judgments and score it."""
    joined = join(
        run,
        facts,
        order=assumptions.order,
        precision=assumptions.score_precision,
        topics=assumptions.topics,
        tie_key=assumptions.tie_key,
    )
    sheet = ScoreSheet(len(facts.query_ids), measures, assumptions, cells, observe)
    sheet.fill(joined.slices, threads)
    return sheet.result(run.name, joined.missing, joined.unknown)


class ScoreSheet:
    """The scores of one run, filled topic by topic: arrays with an axis of topics and one of measures."""

    def __init__(
        self,
        topics: int,
        measures: Sequence[Measure],
        assumptions: Assumptions,
        cells: Callable[[Rankings], Cells] | None = None,
        observe: Callable[[Rankings], None] | None = None,
    ) -> None:
        self.measures, self.assumptions = measures, assumptions
        self.cells, self.observe = cells or partial(assumptions.cells, measures), observe
        self.value, self.low, self.high = (np.full((topics, len(measures)), np.nan) for _ in range(3))
        self.judged, self.tie_range = (np.full(topics, np.nan) for _ in range(2))
        self.tied = np.zeros(topics, dtype=bool)
        split = any(measure.has_residual for measure in measures)
        self.parts = np.full((len(PARTS), topics, len(measures)), np.nan) if split else None

    def fill(self, slices: Sequence[Callable[[], list[Rankings]]], threads: int = 1) -> None:
        """Score the rankings of these slices. Their topics differ, so that threads never write to the same cells."""
        for _ in in_threads(self._score, slices, threads):
            pass

    def _score(self, compute: Callable[[], list[Rankings]]) -> None:
        coverage = Judged(cutoff=10)
        for rankings in compute():
            topic = rankings.topic
            self.judged[topic] = coverage.value(rankings)
            found = self.cells(rankings)
            self.value[topic], self.low[topic], self.high[topic] = found.value, found.low, found.high
            if self.parts is not None and found.parts is not None:
                self.parts[:, topic] = found.parts
            if rankings.tied is not None:
                self.tied[topic] = rankings.tied.any(axis=-1)
                if self.assumptions.bounds != "none":
                    self.tie_range[topic] = (
                        found.parts[PARTS.index("residual_ties"), :, 0]
                        if found.parts is not None and self.measures[0].has_residual
                        else self.assumptions.tie_range(self.measures[0], rankings)
                    )
            if self.observe:
                self.observe(rankings)

    def put(self, places: Ints, part: ScoreSheet) -> None:
        """Take over the scores of some topics, which have these places here."""
        for name in ("value", "low", "high", "judged", "tie_range", "tied"):
            getattr(self, name)[places] = getattr(part, name)
        if self.parts is not None and part.parts is not None:
            self.parts[:, places] = part.parts

    def result(self, name: str, missing: Sequence[str], unknown: Sequence[str]) -> RunResult:
        """What was scored, under the run's name."""
        known = ~np.isnan(self.tie_range)
        scored = np.count_nonzero(~np.isnan(self.judged))
        notes = RunNotes(
            missing=missing,
            unknown=unknown,
            tied_topics=int(np.count_nonzero(self.tied)),
            tie_range=float(self.tie_range[known].sum() / scored) if known.any() else None,
        )
        return RunResult(name, self.value, self.low, self.high, self.judged, notes, self.parts)


def fractions_lost(grade: Floats, measures: Sequence[Measure], distinct: bool = False) -> list[str]:
    """Grades between 0 and 1 are gains to graded measures, but not relevant to binary ones: say so.

    ``distinct``: how many judgments have these grades is not known.
    """
    binary = [str(one) for one in measures if getattr(one, "rel", 0) == 1.0 and not getattr(one, "graded", False)]
    fractions = int(np.count_nonzero((grade > 0) & (grade < 1)))
    if not binary or not fractions:
        return []
    count = "Some" if distinct else str(fractions)
    have = "judgment has a grade" if count == "1" else "judgments have grades"
    return [
        f"{count} {have} between 0 and 1, which {binary[0]} counts as non-relevant. Set rel, as in "
        f"{type(parse_measures(binary[0])[0]).name}(rel=0.5), or use a graded measure such as RBP(graded=true) or nDCG."
    ]
