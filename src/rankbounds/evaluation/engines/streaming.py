"""Runs larger than memory: scored topic by topic, with a bound on what is held at a time."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rankbounds.collection.inputs import Reading, run_in
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import DataError, RankboundsWarning, UsageError, warn
from rankbounds.evaluation.engines.pieces import RunInPieces, check_one_file, named_runs, score_piece
from rankbounds.evaluation.scores import Scores
from rankbounds.evaluation.scoring import JudgedTopics, Scoring, reject_for_preferences
from rankbounds.files.formats import pair_of_names
from rankbounds.files.leniency import REPEATED, LeftOutWarning, merge_warnings
from rankbounds.files.named_columns import RUN_COLUMNS
from rankbounds.files.opening import expand
from rankbounds.files.topic_batches import LargeFile
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import Progress, track

MEMORY = 512 << 20
PIECE_SHARE = 16
"""The share of the memory that is read at a time: text takes several times its size while it is parsed and joined."""


def score(
    qrels: QrelsLike,
    runs: RunsLike,
    scoring: Scoring,
    reading: Reading,
    memory: int | str | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score files while holding about ``memory`` bytes (``"512M"``) at a time.

    Runs are TREC files, plain or compressed, or Parquet, in which the rows of each topic stand together. Always in
    memory: the judgments, the largest topic, the scores (24 bytes per run, topic and measure, 48 with a residual), and
    about 100 bytes per topic.
    """
    budget = memory_bytes(memory)
    kind = pair_of_names(reading.formats)[1]
    if kind not in (None, "trec", "parquet"):
        raise UsageError(f'Runs in the format "{kind}" cannot be read in pieces: only TREC files and Parquet can.')
    columns, piece = RUN_COLUMNS.renamed(reading.columns), max(1 << 12, budget // PIECE_SHARE)
    named = _named_files(runs)
    files = [LargeFile(path, columns, piece, reading.lenient, reading.threads) for _, path in named]
    judgments = reading.judgments(qrels)
    with _one_warning_per_file(files):
        facts = TopicFacts(judgments, scoring.assumptions.gain)
        reject_for_preferences(scoring.measures, facts)
        judgments.pairs.index  # noqa: B018 (built once, before threads share it)
        stream = _Stream(files, [name for name, _ in named], facts, scoring)
        with stream.first_error_of(*files):
            for file in files:
                file.check()
        scored = list(track(map(stream.score, range(len(files))), progress, len(files)))
        for run, file in zip(scored, files, strict=True):
            if not run.met.any() and not run.unknown:
                raise _nothing_used(file)
    place = f"the judgments ({qrels})" if isinstance(qrels, str | os.PathLike) else ""
    judged = JudgedTopics.of(facts, scoring.assumptions, place)
    sheets = [run.finish(judged) for run in scored]
    return judged.stack(sheets, [run.place for run in scored], [name is not None for name, _ in named])


def _named_files(runs: RunsLike) -> list[tuple[str | None, str]]:
    found: list[tuple[str | None, str]] = []
    for name, given in named_runs(runs):
        if not isinstance(given, str | os.PathLike):
            raise UsageError(
                f"Runs are read in pieces from files, and this is of the type {type(given).__name__}: give a path, or "
                "leave the engine out."
            )
        files = expand([given])
        check_one_file(name, given, files)
        known = () if isinstance(runs, Mapping) else {path for _, path in found}
        found += [(name, file) for file in files if file not in known]
    if not found:
        raise UsageError("No run was given.")
    return found


@contextlib.contextmanager
def _one_warning_per_file(files: Sequence[LargeFile]) -> Iterator[None]:
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        yield
    said = []
    for warning in met:
        if isinstance(warning.message, RankboundsWarning):
            said.append(warning.message)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    by_path = {file.path: file for file in files}
    for message in merge_warnings(said):
        if isinstance(message, LeftOutWarning) and message.file in by_path:
            message = by_path[message.file].left_out(repeats=REPEATED in message.left_out)
        warn(message)


def memory_bytes(given: int | str | None) -> int:
    if given is None:
        return MEMORY
    text = str(given).strip().upper().removesuffix("B")
    unit = {"K": 10, "M": 20, "G": 30}.get(text[-1:], 0)
    try:
        size = int(float(text[:-1] if unit else text) * (1 << unit))
    except (ValueError, OverflowError):
        size = 0
    if size < 1 << 16:
        raise UsageError(f'The memory "{given}" is not a size such as 512M or 2G.')
    return size


@dataclass(frozen=True)
class _Stream:
    """One evaluation; ``names`` are those that the user gave to runs."""

    files: Sequence[LargeFile]
    names: Sequence[str | None]
    facts: TopicFacts
    scoring: Scoring

    @contextlib.contextmanager
    def first_error_of(self, *files: LargeFile) -> Iterator[None]:
        try:
            yield
        except DataError:
            for file in files:
                first = file.first_error()
                if first is not None:
                    raise first from None
            raise

    def score(self, number: int) -> RunInPieces:
        file, facts = self.files[number], self.facts

        run = RunInPieces(self.scoring, len(facts.query_ids), file.path, self.names[number])
        with self.first_error_of(file):
            for piece in file.grouped():
                run.add(score_piece(run_in(piece, file.path), facts, self.scoring))
        run.add_missing(facts)
        return run


def _nothing_used(file: LargeFile) -> DataError:
    try:
        next(file.grouped(), None)
    except DataError as error:
        return error
    return DataError(file.path, "no line of this file could be used.")
