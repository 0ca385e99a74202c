"""Runs and judgments larger than memory: scored topic by topic, with a bound on what is held at a time."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.inputs import Reading, run_in
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels, as_qrels
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.columns.ids import Ids
from rankbounds.errors import DataError, RankboundsWarning, UsageError, warn
from rankbounds.evaluation.engines.pieces import RunInPieces, check_one_file, named_runs, score_piece
from rankbounds.evaluation.scores import Scores
from rankbounds.evaluation.scoring import JudgedTopics, Scoring, reject_for_preferences
from rankbounds.files.formats import pair_of_names
from rankbounds.files.leniency import REPEATED, LeftOutWarning, merge_warnings
from rankbounds.files.named_columns import QRELS_COLUMNS, RUN_COLUMNS, ColumnNames
from rankbounds.files.opening import STANDARD_INPUT, expand
from rankbounds.files.topic_batches import LargeFile, MixedTopicsError, ScratchError, scratch_error
from rankbounds.rankings.topic_facts import TopicFacts
from rankbounds.threads import Progress

try:
    import fcntl
except ImportError:  # Windows has no such locks: what a killed process left there is not told from what is in use
    fcntl = None  # type: ignore[assignment]

PREFIX = "rankbounds-"
LOCK = "lock"
"""A file in the folder that is locked as long as the folder is used. The system lets go of it when a process dies."""
SIGNALS = ("SIGTERM", "SIGHUP")


@contextlib.contextmanager
def scratch_folder(below: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Create a folder in this one (default: the system's temporary one), removed at the end."""
    parent = Path(below or tempfile.gettempdir())
    remove_abandoned(parent)
    with contextlib.ExitStack() as held:
        held.enter_context(_ended_by_signals())
        try:
            made = tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent, ignore_cleanup_errors=True)
            folder = Path(held.enter_context(made))
            held.enter_context(_locked(folder))
        except OSError as error:
            raise scratch_error(parent, error) from None
        yield folder


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of processes that were killed: their locks are free."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError), open(folder / LOCK, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which is named only once locked, so that nobody finds it unlocked."""
    lock: IO[bytes]
    with open(folder / f"{LOCK}.new", "wb") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / f"{LOCK}.new").rename(folder / LOCK)
        yield


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Meanwhile, signals that end a process do so by an exception, on whose way out everything is cleaned up.

    Whoever has handlers of their own keeps them; other threads than the main one cannot have any.
    """
    before: dict[int, Any] = {}

    def leave(number: int, _frame: Any) -> NoReturn:
        raise SystemExit(128 + number)

    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in SIGNALS if hasattr(signal, name)):
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


MEMORY = 512 << 20
"""How many bytes to use, about, where nothing is said."""
PIECE_SHARE = 16
"""The share of the memory that is read at a time: text takes several times its size while it is parsed and joined."""
QRELS_SHARE = 8
"""The share of the memory up to which judgments are held as a whole, with the index that finds them."""


def score(
    qrels: QrelsLike,
    runs: RunsLike,
    scoring: Scoring,
    reading: Reading,
    memory: int | str | None = None,
    scratch: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score files while holding about ``memory`` bytes (``"512M"``) at a time.

    Runs are TREC files, plain or compressed, or Parquet; judgments that fit into memory may have any format. A file
    whose topics are contiguous is read once; any other is split by topic into temporary files in ``scratch``, which
    take about its size on disk. Judgments too large for memory are split together with every run. Always in memory: the
    largest topic, the scores (24 bytes per run, topic and measure, 48 with a residual), and about 100 bytes per topic.
    """
    budget = memory_bytes(memory)
    kind = pair_of_names(reading.formats)[1]
    if kind not in (None, "trec", "parquet"):
        raise UsageError(f'Runs in the format "{kind}" cannot be read in pieces: only TREC files and Parquet can.')

    def large(path: str, names: ColumnNames) -> LargeFile:
        return LargeFile(path, names, max(1 << 12, budget // PIECE_SHARE), reading.lenient, reading.threads)

    judgments = large(_path(qrels, "Judgments"), QRELS_COLUMNS)
    names, files = zip(*_named_files(runs), strict=True)
    several = [large(path, RUN_COLUMNS.renamed(reading.columns)) for path in files]
    whole = judgments.path != STANDARD_INPUT and judgments.size(budget // QRELS_SHARE) < budget // QRELS_SHARE
    if not whole and (reading.source or reading.columns or reading.formats):
        raise UsageError(
            f"{judgments.path}: source, columns and formats are for judgments that fit into memory. Allow more memory."
        )
    with scratch_folder(scratch) as folder, _one_warning_per_file([judgments, *several]):
        stream = _Stream(judgments, several, names, scoring, reading, folder, progress or (lambda *_: None))
        stream.check(whole)
        scored, judged = stream.with_whole_judgments() if whole else stream.with_split_judgments()
        for run, file in zip(scored, several, strict=True):
            if not run.met.any() and not run.unknown:
                raise _nothing_used(file)
    searched = ", for any topic" if whole else " for its topics"  # only these are in memory together
    sheets = [run.finish(judged, searched) for run in scored]
    return judged.stack(sheets, [run.place for run in scored], [name is not None for name in names])


def _path(given: Any, what: str) -> str:
    if not isinstance(given, str | os.PathLike):
        raise UsageError(
            f"{what} are read in pieces from files, and this is of the type {type(given).__name__}: give a path, or "
            "leave the engine out."
        )
    return os.fspath(given)


def _named_files(runs: RunsLike) -> list[tuple[str | None, str]]:
    found: list[tuple[str | None, str]] = []
    for name, given in named_runs(runs):
        files = expand([_path(given, "Runs")])
        check_one_file(name, given, files)
        known = () if isinstance(runs, Mapping) else {path for _, path in found}
        found += [(name, file) for file in files if file not in known]
    if not found:
        raise UsageError("No run was given.")
    return found


@contextlib.contextmanager
def _one_warning_per_file(files: Sequence[LargeFile]) -> Iterator[None]:
    """One warning for a file, not one for each of its pieces."""
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
    """``"512M"`` or ``"2G"`` as bytes."""
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

    qrels: LargeFile
    files: Sequence[LargeFile]
    names: Sequence[str | None]
    scoring: Scoring
    reading: Reading
    scratch: Path
    progress: Progress

    def check(self, whole: bool) -> None:
        """Reject what cannot be read in pieces, before any work is done."""
        files = [*self.files] if whole else [self.qrels, *self.files]
        try:
            with self._first_error_of(*(self.files if self.scoring.assumptions.gain.words else files)):
                for file in files:
                    file.check()
        except DataError:
            if whole:
                self.reading.judgments(self.qrels.path)  # what is wrong with judgments comes first
            raise

    @contextlib.contextmanager
    def _first_error_of(self, *files: LargeFile) -> Iterator[None]:
        """Raise the first of several problems, as reading the files at once would."""
        try:
            yield
        except ScratchError:
            raise
        except DataError:
            for file in files:
                first = file.first_error(self.scratch)
                if first is not None:
                    raise first from None
            raise

    def _run(self, number: int, topics: int) -> RunInPieces:
        return RunInPieces(self.scoring, topics, self.files[number].path, self.names[number])

    @property
    def _place(self) -> str:
        return f"the judgments ({self.qrels.path})"

    def with_whole_judgments(self) -> tuple[list[RunInPieces], JudgedTopics]:
        """All judgments in memory, each run in pieces."""
        assumptions = self.scoring.assumptions
        facts = TopicFacts(self.reading.judgments(self.qrels.path), assumptions.gain)
        reject_for_preferences(self.scoring.measures, facts)
        facts.qrels.pairs.index  # noqa: B018 (built once, before threads share it)
        runs = []
        for number, file in enumerate(self.files):
            with self._first_error_of(file):
                try:
                    run = self._run(number, len(facts.query_ids))
                    for piece in file.grouped():
                        run.add(score_piece(run_in(piece, file.path), facts, self.scoring))
                except MixedTopicsError:
                    run = self._run(number, len(facts.query_ids))
                    for part in file.split(max(2, -(-file.size() // file.piece_bytes)), self.scratch):
                        if (held := file.part(part)) is not None:
                            run.add(score_piece(run_in(held, file.path), facts, self.scoring))
                    run.unknown = _in_order(run.unknown, file)
            run.add_missing(facts)
            runs.append(run)
            self.progress(len(runs), len(self.files))
        return runs, JudgedTopics.of(facts, assumptions, self._place)

    def with_split_judgments(self) -> tuple[list[RunInPieces], JudgedTopics]:
        """Judgments and runs split by topic on disk; part by part, in memory."""
        assumptions = self.scoring.assumptions
        if assumptions.gain.words:
            raise UsageError(
                f"{self.qrels.path}: judgments that are too many for memory must have numbers for grades, not words. "
                "Allow more memory, or write them with numbers."
            )
        files = (self.qrels, *self.files)
        without_relevant: set[str] = set()
        knowing_more: set[str] = set()
        with self._first_error_of(*files):
            parts = max(2, *(-(-file.size() // file.piece_bytes) for file in files))
            qrels, *split_runs = [file.split(parts, self.scratch) for file in files]
            by_part, grades = self._judged_topics(qrels)
            place = _places_of(by_part, self.qrels)
            runs = [self._run(number, place.size) for number in range(len(self.files))]
            done = 0
            for number in range(parts):
                judgments = self._qrels_of(qrels[number])
                here = [file.part(split[number]) for file, split in zip(self.files, split_runs, strict=True)]
                if judgments is None:
                    for run, piece in zip(runs, here, strict=True):
                        run.unknown += [] if piece is None else run_in(piece, run.place).query_ids
                    continue
                facts = TopicFacts(judgments, assumptions.gain, grades=grades)
                topics = JudgedTopics.of(facts, assumptions, self._place)
                without_relevant.update(topics.without_relevant)
                knowing_more.update(topics.knowing_more)
                places = place[done : done + len(facts.query_ids)]
                done += places.size
                for run, piece in zip(runs, here, strict=True):
                    if piece is not None:
                        run.add(score_piece(run_in(piece, run.place), facts, self.scoring), places)
                    run.add_missing(facts, places)
                del judgments, facts, topics, here, piece
                gc.collect()  # an index and its pairs know each other; waiting for the collector would add up the parts
                self.progress(number + 1, parts)
            for run, file in zip(runs, self.files, strict=True):
                run.unknown = _in_order(run.unknown, file)
        query_ids = [by_part[number] for number in np.argsort(place).tolist()]
        without, more = (
            [query for query in query_ids if query in chosen] for chosen in (without_relevant, knowing_more)
        )
        collection = TopicFacts(as_qrels([("any", "any", 0.0)]), assumptions.gain, grades=grades)
        return runs, JudgedTopics(query_ids, collection, without, more, grades, self._place, distinct=True)

    def _qrels_of(self, part: Path | None) -> Qrels | None:
        piece = self.qrels.part(part)
        if piece is None:
            return None
        return Qrels._of(piece)

    def _judged_topics(self, parts: Sequence[Path | None]) -> tuple[list[str], Floats]:
        """Yield the judged topics, part by part, and the grades of the whole collection, which scale gains.

        A topic with only broken lines is not judged.
        """
        grades: Floats = np.empty(0)
        judged: list[str] = []
        for qrels in map(self._qrels_of, parts):
            if qrels is not None:
                grades = np.union1d(grades, qrels.grade)
                judged += qrels.query_ids
        if not judged:
            raise _nothing_used(self.qrels)
        return judged, np.unique(np.maximum(grades[grades != POOLED_NOT_JUDGED], 0.0))


def _nothing_used(file: LargeFile) -> DataError:
    """Raise what reading the whole of a file without rows would raise."""
    try:
        next(file.grouped(), None)
    except DataError as error:
        return error
    return DataError(file.path, "no line of this file could be used.")


def _places_of(query_ids: list[str], file: LargeFile) -> Ints:
    """Return the number of each topic by first appearance in the file."""
    hashes, first = file.first_places()
    order = np.argsort(first[np.searchsorted(hashes, Ids.of(query_ids).hashes())], kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place


def _in_order(query_ids: list[str], file: LargeFile) -> list[str]:
    places = _places_of(query_ids, file).tolist() if query_ids else []
    return [query for _, query in sorted(zip(places, query_ids, strict=True))]
