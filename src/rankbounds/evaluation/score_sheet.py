"""The scores of one run while they are being made: a sheet that batches of rankings fill, topic by topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import DataError
from rankbounds.evaluation.assumptions import Assumptions, Cells
from rankbounds.evaluation.run_notes import RunNotes
from rankbounds.evaluation.scores import PARTS
from rankbounds.measures import Measure
from rankbounds.measures.counts import Judged
from rankbounds.rankings.join import Joined, empty_rankings, join
from rankbounds.rankings.rankings import Rankings
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import in_threads

COVERAGE = Judged(cutoff=10)
WORTH_A_WARNING = 20
"""So many documents, none of them judged, are hardly what somebody meant to score; fewer may be."""


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


class JoinedRun(NamedTuple):
    """A run whose lists are joined with the judgments, to be scored."""

    name: str
    joined: Joined
    prepared: str = ""
    """What was done to the run before."""
    read: Callable[[], Run] | None = None
    """The run itself, for what there is to say of documents that no judgment knows; None: nothing is said."""


def score_run(run: Run, facts: TopicFacts, measures: Sequence[Measure], assumptions: Assumptions) -> RunResult:
    """Join one run with the judgments and score it."""
    sheet = ScoreSheet(len(facts.query_ids), measures, assumptions)
    return sheet.score(join_run(run, facts, measures, assumptions), facts)


def join_run(run: Run, facts: TopicFacts, measures: Sequence[Measure], assumptions: Assumptions) -> JoinedRun:
    """Join one run with the judgments."""
    joined = join(run, facts, tie_key=assumptions.ties_key, **joining(measures, assumptions))
    return JoinedRun(run.name, joined, run.prepared, lambda: run)


def join_lists(
    run: Run, facts: TopicFacts, assumptions: Assumptions, *, keep_rows: bool = True, keep_judgments: bool = False
) -> Joined:
    """Join one run with the judgments; each cell of its rankings has the row it came from, or its judgment."""
    kept = {"keep_rows": keep_rows, "keep_judgments": keep_judgments}
    return join(run, facts, tie_key=assumptions.ties_key, **joining((), assumptions) | kept)


def joining(measures: Sequence[Measure], assumptions: Assumptions) -> dict[str, Any]:
    """How runs are to be joined with judgments."""
    return {
        "order": assumptions.order,
        "precision": assumptions.score_precision,
        "topics": assumptions.topics,
        "keep_judgments": any(measure.reads_judgments for measure in measures),
    }


def strange_documents(run: Run, qrels: Qrels) -> str:
    """What to tell of a run no document of which any judgment knows, of whatever topic; empty where one does."""
    if len(run) < WORTH_A_WARNING:
        return ""
    judged = set(qrels.pairs.docs.raw_list())
    if not judged or any(document in judged for document in run.pairs.docs.raw_list()):
        return ""
    ours, theirs = run.pairs.docs[0], qrels.pairs.docs[0]
    return (
        f"not one of its {len(run):,} documents is judged, for any topic: do the ids have a prefix? The run has "
        f'documents like "{ours}", the judgments like "{theirs}".'
    )


@contextmanager
def blaming_judgments(facts: TopicFacts) -> Iterator[None]:
    """What a measure cannot take is told of the judgments, which it does not know."""
    try:
        yield
    except DataError as error:
        if error.place is not None:
            raise
        raise error.moved_to(facts.qrels.pairs.source.name) from None


class ScoreSheet:
    """The scores of one run, filled topic by topic: arrays with an axis of topics and one of measures.

    ``numbers``, ascending, are those of the topics where the sheet is for some of them.
    """

    def __init__(
        self,
        topics: int,
        measures: Sequence[Measure],
        assumptions: Assumptions,
        cells: Callable[[Rankings], Cells] | None = None,
        observe: Callable[[Rankings], None] | None = None,
        numbers: Ints | None = None,
    ) -> None:
        self.measures, self.assumptions, self.numbers = measures, assumptions, numbers
        self.cells, self.observe = cells or partial(assumptions.cells, measures), observe
        self.value, self.low, self.high = np.full((3, topics, len(measures)), np.nan)
        self.judged, self.tie_range = np.full((2, topics), np.nan)
        self.tied = np.zeros(topics, dtype=bool)
        split = assumptions.bounds != "none" and any(measure.has_residual for measure in measures)
        self.parts = np.full((len(PARTS), topics, len(measures)), np.nan) if split else None

    def score(self, run: JoinedRun, facts: TopicFacts, threads: int = 1) -> RunResult:
        """Score a whole run."""
        self.fill(run.joined.slices, threads)
        result = self.result(run.name, run.joined.missing, run.joined.unknown)
        strange = ""
        if run.read is not None and not (self.judged > 0).any():
            strange = strange_documents(run.read(), facts.qrels)
        notes = replace(result.notes, prepared=run.prepared, strange_documents=strange)
        return replace(result, notes=notes) if run.prepared or strange else result

    def fill(self, slices: Sequence[Callable[[], list[Rankings]]], threads: int = 1) -> None:
        """Score the rankings of these slices. Their topics differ, so that threads never write to the same cells."""
        for _ in in_threads(self._score_slice, slices, threads):
            pass

    def fill_empty(self, topics: Ints, facts: TopicFacts) -> None:
        """Score a list without documents for each of these topics."""
        self.fill([lambda: [empty_rankings(topics, facts)]])

    def _score_slice(self, compute: Callable[[], list[Rankings]]) -> None:
        for rankings in compute():
            topic = rankings.topic if self.numbers is None else np.searchsorted(self.numbers, rankings.topic)
            self.judged[topic] = COVERAGE.value(rankings)
            with blaming_judgments(rankings.facts):
                cells = self.cells(rankings)
            self.value[topic] = cells.value
            if cells.low is not None and cells.high is not None:
                self.low[topic], self.high[topic] = cells.low, cells.high
            if self.parts is not None and cells.parts is not None:
                self.parts[:, topic] = cells.parts
            if rankings.tied is not None:
                self.tied[topic] = rankings.tied.any(axis=-1)
                if self.assumptions.bounds != "none" and self.measures[0].total != "geometric":
                    self.tie_range[topic] = (
                        cells.parts[PARTS.index("residual_ties"), :, 0]
                        if cells.parts is not None and self.measures[0].has_residual
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
        tied = int(np.count_nonzero(self.tied))
        notes = RunNotes(missing, unknown, tied, self._mean_tie_range() if tied else None)
        return RunResult(name, self.value, self.low, self.high, self.judged, notes, self.parts)

    def _mean_tie_range(self) -> float | None:
        known = ~np.isnan(self.tie_range)
        scored = np.count_nonzero(~np.isnan(self.judged))
        return float(self.tie_range[known].sum() / scored) if known.any() else None
