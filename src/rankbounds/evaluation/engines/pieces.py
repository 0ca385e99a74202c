"""Runs that arrive in pieces of whole topics: score each piece and join the scores of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.collection.inputs import RunToRead, several_runs
from rankbounds.collection.preparation import COUNTS
from rankbounds.collection.run import Run
from rankbounds.errors import UsageError
from rankbounds.evaluation.scoring import (
    JudgedTopics,
    ScoreSheet,
    Scoring,
    strange_documents,
    unmatched_documents,
)
from rankbounds.rankings.join import no_topic_judged, slices_of
from rankbounds.rankings.topic_facts import TopicFacts


def named_runs(given: Any, is_run: Callable[[Any], bool] = lambda _: False) -> Iterator[tuple[str | None, Any]]:
    several: Iterable[tuple[str | None, Any]]
    if isinstance(given, Mapping):
        several = ((str(name), run) for name, run in given.items())
    else:
        alone = isinstance(given, str | os.PathLike | RunToRead) or is_run(given) or not isinstance(given, Iterable)
        several = ((None, run) for run in ([given] if alone else given))
    for name, run in several:
        if isinstance(run, RunToRead) and run.path is not None:
            yield name or run.name, run.path
        else:
            yield name, os.fspath(run) if isinstance(run, os.PathLike) else run


def check_one_file(name: str | None, given: Any, files: Sequence[str]) -> None:
    if name is not None and len(files) > 1:
        raise UsageError(f'The name "{name}" is for one run, but {given} are {len(files)} files.')


@dataclass(frozen=True)
class ScoredPiece:
    """The scores of some topics of a run, and its warnings."""

    name: str
    topics: Ints
    """The numbers of the judged topics, ascending."""
    sheet: ScoreSheet
    unknown: list[str]
    prepared: Ints
    documents: int
    unmatched: tuple[str, str] | None
    """A document of the piece and a judged one, if none of the piece is judged."""


def score_piece(piece: Run, facts: TopicFacts, scoring: Scoring) -> ScoredPiece:
    name, given, chosen = piece.name, piece, scoring.assumptions
    prepared: Ints = np.zeros(COUNTS, dtype=np.int64)
    if scoring.preparation:
        piece, prepared = scoring.preparation.counted(piece)
    topic = facts.qrels.pairs.index.topics_of(piece.pairs)
    judged = topic >= 0
    topics = np.sort(topic[judged])
    sheet = ScoreSheet(scoring, topics.size, topics)
    sheet.fill(slices_of(piece, facts, topic, chosen.order, chosen.score_precision, chosen.ties_key), scoring.threads)
    emptied = topic[judged & (np.bincount(piece.pairs.topic, minlength=topic.size) == 0)]
    if emptied.size:  # every document of these lists was left out before
        sheet.fill_empty(emptied, facts)
    unknown = [piece.query_ids[number] for number in np.flatnonzero(~judged).tolist()]
    unmatched = None if (sheet.judged > 0).any() else unmatched_documents(given, facts.qrels)
    return ScoredPiece(name, topics, sheet, unknown, prepared, len(given), unmatched)


class RunInPieces:
    """The scores of one run while its pieces arrive; ``place`` names it in messages, ``name`` is the user's."""

    def __init__(self, scoring: Scoring, topics: int, place: str, name: str | None = None) -> None:
        self.scoring, self.place, self.name = scoring, place, name
        self.tag: str | None = None
        self.sheet = ScoreSheet(scoring, topics)
        self.met = np.zeros(topics, dtype=bool)
        self.unknown: list[str] = []
        self.prepared: Ints = np.zeros(COUNTS, dtype=np.int64)
        self.documents = 0
        self.unmatched: list[tuple[str, str] | None] = []
        """Of each piece with documents: one of these and a judged one, if none is judged."""

    def add(self, piece: ScoredPiece) -> bool:
        is_new = not self.met[piece.topics].any()
        if piece.name != (self.tag or piece.name):
            raise several_runs(self.place, [str(self.tag), piece.name])
        self.tag = piece.name
        self.sheet.put(piece.topics, piece.sheet)
        self.met[piece.topics] = True
        self.unknown += piece.unknown
        self.prepared += piece.prepared
        self.documents += piece.documents
        self.unmatched += [piece.unmatched] * (piece.documents > 0)
        return is_new

    def add_missing(self, facts: TopicFacts) -> None:
        missing = np.flatnonzero(~self.met)
        if self.scoring.assumptions.topics == "judged" and missing.size:
            sheet = ScoreSheet(self.scoring, missing.size, missing)
            sheet.fill_empty(missing, facts)
            self.sheet.put(missing, sheet)

    def finish(self, judged: JudgedTopics) -> ScoreSheet:
        missing = [judged.query_ids[number] for number in np.flatnonzero(~self.met).tolist()]
        if not self.met.any():
            raise no_topic_judged(self.place, self.unknown[0], judged.place, judged.query_ids[0])
        prepared = self.scoring.preparation.words(self.prepared) if self.scoring.preparation else ""
        unmatched = self.unmatched[0] if self.unmatched and all(self.unmatched) else None
        strange = strange_documents(unmatched, self.documents)
        return self.sheet.finish(self.name or self.tag or "", missing, self.unknown, prepared, strange)
