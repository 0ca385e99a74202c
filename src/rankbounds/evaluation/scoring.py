"""Runs scored against judgments: a sheet for each run, which batches of rankings fill, and one table of all sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.inputs import RunToRead
from rankbounds.collection.preparation import Preparation
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.collection.run_names import unique_names
from rankbounds.columns.native import in_use
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.run_notes import RunNotes
from rankbounds.evaluation.scores import PARTS, Scores
from rankbounds.measures import Measure
from rankbounds.measures.counts import Judged
from rankbounds.phrases import some
from rankbounds.rankings.join import Joined, empty_rankings, join, join_dict
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import Progress, in_threads, start_thread

BOUNDS_IF_COMPLETE = {"unjudged": "none", "both": "ties"}
"""What bounds still cover where no judgment is missing."""
COVERAGE = Judged(cutoff=10)
WORTH_A_WARNING = 20
"""This many documents, none of them judged, are hardly what somebody meant to score; fewer may be."""


@dataclass(frozen=True)
class Scoring:
    """How runs are scored: measures, assumptions, number of threads."""

    measures: list[Measure]
    assumptions: Assumptions
    threads: int = 1
    preparation: Preparation = field(default_factory=Preparation)
    """What is done to runs that arrive in pieces before they are scored."""

    @property
    def joining(self) -> dict[str, Any]:
        return {
            "order": self.assumptions.order,
            "precision": self.assumptions.score_precision,
            "topics": self.assumptions.topics,
            "keep_judgments": any(measure.reads_judgments for measure in self.measures),
        }


class JoinedRun(NamedTuple):
    """A run whose lists are joined with the judgments, to be scored."""

    name: str
    joined: Joined
    prepared: str = ""
    read: Callable[[], Run] | None = None
    """The run itself, for a warning about documents that no judgment knows; None: no warning."""


def reject_for_preferences(measures: Iterable[Measure], facts: TopicFacts) -> None:
    for measure in measures:
        if facts.qrels.are_preferences and not (measure.reads_preferences or measure.as_retrieved):
            raise UsageError(
                f"{measure} reads grades, and these judgments are preferences ({facts.qrels.pairs.source.name}). "
                "Measures of preferences are PrefShare, PrefShareR, NumPrefs and NumPrefsFulfilled."
            )


def join_run(run: Run, facts: TopicFacts, scoring: Scoring) -> JoinedRun:
    joined = join(run, facts, tie_key=scoring.assumptions.ties_key, **scoring.joining)
    return JoinedRun(run.name, joined, run.prepared, lambda: run)


def join_lists(
    run: Run, facts: TopicFacts, assumptions: Assumptions, *, keep_rows: bool = True, keep_judgments: bool = False
) -> Joined:
    kept = {"keep_rows": keep_rows, "keep_judgments": keep_judgments}
    return join(run, facts, tie_key=assumptions.ties_key, **Scoring([], assumptions).joining | kept)


@contextmanager
def blaming_judgments(facts: TopicFacts) -> Iterator[None]:
    """Report what a measure cannot take as an error of the judgments' file."""
    try:
        yield
    except DataError as error:
        if error.place is not None:
            raise
        raise error.moved_to(facts.qrels.pairs.source.name) from None


class ScoreSheet:
    """The scores of one run, filled topic by topic (axes: topic, measure); ``numbers`` are its topics, if not all."""

    name: str
    notes: RunNotes
    swapped = False

    def __init__(
        self,
        scoring: Scoring,
        topics: int,
        numbers: Ints | None = None,
        observe: Callable[[Rankings], None] | None = None,
    ) -> None:
        self.scoring, self.numbers, self.observe = scoring, numbers, observe
        measures, assumptions = scoring.measures, scoring.assumptions
        self.value, self.low, self.high = np.full((3, topics, len(measures)), np.nan)
        self.judged, self.tie_range = np.full((2, topics), np.nan)
        self.tied = np.zeros(topics, dtype=bool)
        self.limited = np.zeros(self.value.shape, dtype=bool)
        split = assumptions.bounds != "none" and any(measure.has_residual for measure in measures)
        self.parts = np.full((len(PARTS), topics, len(measures)), np.nan) if split else None

    def score(self, run: JoinedRun, facts: TopicFacts, threads: int = 1) -> ScoreSheet:
        self.fill(run.joined.slices, threads)
        strange = ""
        if run.read is not None and not (self.judged > 0).any():
            given = run.read()
            strange = strange_documents(unmatched_documents(given, facts.qrels), len(given))
        self.swapped = run.read is not None and _like_scores(facts.qrels) and _like_grades(run.read())
        return self.finish(run.name, run.joined.missing, run.joined.unknown, run.prepared, strange)

    def fill(self, slices: Sequence[Callable[[], list[Rankings]]], threads: int = 1) -> None:
        for _ in in_threads(self._score_slice, slices, threads):
            pass

    def fill_empty(self, topics: Ints, facts: TopicFacts) -> None:
        self.fill([lambda: [empty_rankings(topics, facts)]])

    def _score_slice(self, compute: Callable[[], list[Rankings]]) -> None:
        measures, assumptions = self.scoring.measures, self.scoring.assumptions
        for rankings in compute():
            topic = rankings.topic if self.numbers is None else np.searchsorted(self.numbers, rankings.topic)
            self.judged[topic] = COVERAGE.value(rankings)
            with blaming_judgments(rankings.facts):
                self.value[topic], low, high, parts = assumptions.cells(measures, rankings)
            if low is not None and high is not None:
                self.low[topic], self.high[topic] = low, high
            if assumptions.most_relevant is not None:
                for at, measure in enumerate(measures):
                    lists = rankings.facts, rankings.topic, rankings.num_holes
                    self.limited[topic, at] = assumptions.limit_binds(measure.plain, *lists)
            if self.parts is not None and parts is not None:
                self.parts[:, topic] = parts
            if rankings.tied is not None:
                self.tied[topic] = rankings.tied.any(axis=-1)
                if assumptions.bounds != "none" and measures[0].total != "geometric":
                    self.tie_range[topic] = (
                        parts[PARTS.index("residual_ties"), :, 0]
                        if parts is not None and measures[0].has_residual
                        else assumptions.tie_range(measures[0], rankings)
                    )
            if self.observe:
                self.observe(rankings)

    def put(self, places: Ints, part: ScoreSheet) -> None:
        for name in ("value", "low", "high", "judged", "tie_range", "tied", "limited"):
            getattr(self, name)[places] = getattr(part, name)
        if self.parts is not None and part.parts is not None:
            self.parts[:, places] = part.parts

    def finish(
        self, name: str, missing: Sequence[str], unknown: Sequence[str], prepared: str = "", strange: str = ""
    ) -> ScoreSheet:
        tied = int(np.count_nonzero(self.tied))
        known = ~np.isnan(self.tie_range)
        scored = np.count_nonzero(~np.isnan(self.judged))
        tie_range = float(self.tie_range[known].sum() / scored) if tied and known.any() else None
        self.name, self.notes = name, RunNotes(missing, unknown, tied, tie_range, prepared, strange)
        return self


def unmatched_documents(run: Run, qrels: Qrels) -> tuple[str, str] | None:
    """Return a document of the run and a judged one if no document of the run is judged, for whatever topic."""
    ours, theirs = run.pairs.docs, qrels.pairs.docs
    if not len(ours) or not len(theirs) or np.isin(ours.hashes(), theirs.hashes(), kind="sort").any():
        return None
    return ours[0], theirs[0]


def strange_documents(unmatched: tuple[str, str] | None, count: int) -> str:
    if unmatched is None or count < WORTH_A_WARNING:
        return ""
    return (
        f"not one of its {count:,} documents is judged, for any topic: do the ids differ by a prefix? "
        'The run has documents such as "{}", the judgments such as "{}".'.format(*unmatched)
    )


def _like_scores(qrels: Qrels) -> bool:
    grade = qrels.grade
    if np.count_nonzero(grade == np.floor(grade)) * 2 > grade.size or grade.size <= len(qrels.query_ids):
        return False
    return np.unique(np.stack((qrels.pairs.topic, grade)), axis=1).shape[1] == grade.size


def _like_grades(run: Run) -> bool:
    score = run.score
    if not np.array_equal(score, np.floor(score)):
        return False
    return not score.all() or np.unique(np.stack((run.pairs.topic, score)), axis=1).shape[1] < score.size


def score_runs(
    facts: TopicFacts,
    jobs: Sequence[RunToRead],
    scoring: Scoring,
    *,
    progress: Progress | None = None,
    observe: Callable[[int, Rankings], None] | None = None,
) -> Scores:
    # Every run is looked up in one index. Another thread builds it while the first runs are being read.
    index = None
    if scoring.threads > 1 and any(job.path is not None for job in jobs):
        index = start_thread(lambda: facts.qrels.pairs.index.native if in_use() else facts.qrels.pairs.index)

    def join_job(number: int) -> JoinedRun:
        job = jobs[number]
        if job.given is not None and facts.holds_strings:
            joined = join_dict(job.given, facts, **scoring.joining)
            if joined is not None:
                return JoinedRun(job.place, joined, read=job.read)
        run = job.read()
        if index is not None:
            index.join()
        return join_run(run, facts, scoring)

    places, named = [job.place for job in jobs], [job.name is not None for job in jobs]
    return score_joined(join_job, places, facts, scoring, named, progress=progress, observe=observe)


def score_joined(
    join_number: Callable[[int], JoinedRun],
    places: list[str],
    facts: TopicFacts,
    scoring: Scoring,
    named: Sequence[bool] | None = None,
    *,
    progress: Progress | None = None,
    observe: Callable[[int, Rankings], None] | None = None,
) -> Scores:
    """Score every run in threads; ``observe`` is called with a run's number and each batch."""
    reject_for_preferences(scoring.measures, facts)

    def score(number: int) -> ScoreSheet:
        seen = partial(observe, number) if observe else None
        sheet = ScoreSheet(scoring, len(facts.query_ids), observe=seen)
        return sheet.score(join_number(number), facts, scoring.threads if len(places) == 1 else 1)

    sheets = list(in_threads(score, range(len(places)), scoring.threads, progress))
    if sheets and all(sheet.swapped for sheet in sheets):
        warn(
            "The judgments look like scores (grades that are no whole numbers and all differ), and the runs like "
            "judgments: are they swapped? Judgments come first, then runs."
        )
    return JudgedTopics.of(facts, scoring.assumptions).stack(sheets, places, named)


@dataclass(frozen=True)
class JudgedTopics:
    """All judged topics, and what scoring by them may have to warn of."""

    facts: TopicFacts
    knowing_more: list[str]
    """Topics that know more relevant documents than the assumptions allow."""
    place: str = ""

    @classmethod
    def of(cls, facts: TopicFacts, assumptions: Assumptions, place: str = "") -> JudgedTopics:
        most = assumptions.most_relevant
        more = [] if most is None else np.flatnonzero(facts.relevant(1.0) > most).tolist()
        return cls(facts, [facts.query_ids[topic] for topic in more], place)

    @property
    def query_ids(self) -> list[str]:
        return list(self.facts.query_ids)

    def stack(self, sheets: Sequence[ScoreSheet], places: list[str], named: Sequence[bool] | None = None) -> Scores:
        measures, assumptions = sheets[0].scoring.measures, sheets[0].scoring.assumptions
        complete = self.facts.complete
        tied = any(sheet.notes.tied_topics > 0 for sheet in sheets)
        limited = np.logical_or.reduce([sheet.limited.any(axis=0) for sheet in sheets])
        parts = [sheet.parts for sheet in sheets if sheet.parts is not None]
        scores = Scores(
            runs=unique_names([sheet.name for sheet in sheets], places, named),
            query_ids=self.query_ids,
            measures=measures,
            value=_stack([sheet.value for sheet in sheets]),
            low=_stack([sheet.low for sheet in sheets]),
            high=_stack([sheet.high for sheet in sheets]),
            judged=_stack([np.where(complete, np.nan, sheet.judged) for sheet in sheets]),
            run_notes=[sheet.notes for sheet in sheets],
            bounds=BOUNDS_IF_COMPLETE.get(assumptions.bounds, assumptions.bounds) if complete else assumptions.bounds,
            topics=assumptions.topics,
            open=assumptions.open,
            most_relevant=assumptions.most_relevant,
            outer=[
                measure
                for measure, is_limited in zip(measures, limited.tolist(), strict=True)
                if is_limited or assumptions.bounds_are_outer(measure, self.facts, tied=tied)
            ],
            without_relevant=self.facts.without_relevant,
            parts=_stack(parts, axis=1) if parts else None,
        )
        for message in [*scores.notes(), *self._warnings(measures, assumptions)]:
            warn(message)
        return scores

    def _warnings(self, measures: Sequence[Measure], assumptions: Assumptions) -> Iterator[str]:
        if more := self.knowing_more:
            know = "topic knows" if len(more) == 1 else "topics know"
            yield (
                f"{len(more)} {know} more than {assumptions.most_relevant} relevant documents already "
                f"({some(more)}): there the bounds allow for no further ones."
            )
        # Grades between 0 and 1 are gains to graded measures, but not relevant to binary ones.
        fractions = int(np.count_nonzero((self.facts.grade > 0) & (self.facts.grade < 1)))
        binary = [one for one in measures if "rel" in one.parameters and one.rel == 1.0 and not one.graded]
        if fractions and binary:
            have = "judgment has a grade" if fractions == 1 else "judgments have grades"
            yield (
                f"{fractions} {have} between 0 and 1, which {binary[0]} counts as non-relevant. Set rel, as in "
                f"{binary[0].name}(rel=0.5), or use a graded measure such as RBP(graded=true) or nDCG."
            )
        highest = float(np.max(self.facts.grade, initial=0.0))
        beyond = [one for one in measures if "rel" in one.parameters and one.rel > max(highest, 1.0) and not one.graded]
        if beyond and highest > 0:
            yield f"No document counts as relevant by {some(list(map(str, beyond)))}: the highest grade is {highest:g}."


def _stack(arrays: list[Floats], axis: int = 0) -> Floats:
    return np.stack(arrays, axis) if len(arrays) > 1 else arrays[0][(slice(None),) * axis + (np.newaxis,)]
