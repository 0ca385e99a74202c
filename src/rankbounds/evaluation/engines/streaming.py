"""Runs and judgments larger than memory: scored topic by topic, with a bound on what is held at a time."""

from __future__ import annotations

import contextlib
import gc
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels, as_qrels
from rankbounds.collection.run import Run, of_lines
from rankbounds.columns.ids import Ids
from rankbounds.errors import DataError, RankboundsWarning, UsageError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, MeasureNames, fractions_lost, gathered
from rankbounds.evaluation.options import Options, chosen_options, shows_options
from rankbounds.evaluation.score_sheet import RunResult, ScoreSheet
from rankbounds.evaluation.scores import Scores
from rankbounds.files.formats import pair_of_names
from rankbounds.files.leniency import REPEATED, LeftOutWarning
from rankbounds.files.named_columns import QRELS_COLUMNS, RUN_COLUMNS, ColumnNames, Columns
from rankbounds.files.opening import STANDARD_INPUT, expand, plain_name
from rankbounds.files.scratch import scratch_folder
from rankbounds.files.topic_batches import LargeFile, MixedTopicsError, Piece
from rankbounds.measures import Measure, parse_measures
from rankbounds.rankings.join import no_topic_judged, slices_of
from rankbounds.rankings.preparation import Preparation
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from typing_extensions import Unpack

MEMORY = 512 << 20
"""How many bytes to use, about, where nothing is said."""
PIECE_SHARE = 16
"""The share of the memory that is read at a time: text takes several times its size while it is parsed and joined."""
QRELS_SHARE = 8
"""The share of the memory up to which judgments are held as a whole, with the index that finds them."""


@shows_options(Options)
def evaluate(
    qrels: str | os.PathLike[str],
    runs: Any,
    measures: MeasureNames = DEFAULT_MEASURES,
    *,
    memory: int | str | None = None,
    scratch: str | os.PathLike[str] | None = None,
    preparation: Preparation | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[Options],
) -> Scores:
    """As ``rankbounds.evaluation.evaluate`` for files, with about ``memory`` bytes (``"512M"``) held at a time.

    Runs are TREC files, plain or compressed, or Parquet; judgments that fit into memory may have any format. A file
    that has its topics together is read once; one that mixes them is split by topic into files below ``scratch`` (the
    system's place for temporary files), which takes about its size on disk. Judgments too many for memory are split so
    together with every run. What must fit in memory always: the largest topic, the scores (24 bytes for each run, topic
    and measure, 48 where any has a residual), and some 100 bytes for each topic.
    """
    assumptions, reading = chosen_options(options, threads=None)
    chosen = parse_measures(measures)
    assumptions.check(chosen, in_memory=False)
    budget = memory_bytes(memory)
    kind = pair_of_names(reading.formats)[1]
    if kind not in (None, "trec", "parquet"):
        raise UsageError(f'Runs in the format "{kind}" cannot be read in pieces: only TREC files and Parquet can.')

    def large(path: str, names: ColumnNames) -> LargeFile:
        return LargeFile(path, names, max(1 << 12, budget // PIECE_SHARE), reading.lenient, reading.threads)

    judgments = large(_path(qrels, "Judgments"), QRELS_COLUMNS)
    named = list(_named_files(runs))
    several = [large(path, RUN_COLUMNS.renamed(reading.columns)) for _, path in named]
    whole = judgments.path != STANDARD_INPUT and judgments.size(budget // QRELS_SHARE) < budget // QRELS_SHARE
    if not whole and (reading.labels or reading.columns or reading.formats):
        raise UsageError(
            f"{judgments.path}: labels, columns and formats are for judgments that fit into memory. Allow more memory."
        )
    with scratch_folder(scratch) as folder, _warnings_of([judgments, *several]):
        stream = _Stream(
            judgments,
            several,
            chosen,
            assumptions,
            reading,
            preparation or Preparation(),
            [name for name, _ in named],
            folder,
            progress or (lambda *_: None),
        )
        stream.check(whole)
        scores = stream.whole_judgments() if whole else stream.split_judgments()
    for message in [
        *scores.warnings(),
        *assumptions.more_known_words([scores.query_ids[topic] for topic in sorted(stream.knowing_more)]),
        *fractions_lost(stream.grades, chosen, stream.distinct),
    ]:
        warn(message)
    return scores


def _path(given: Any, what: str) -> str:
    if not isinstance(given, str | os.PathLike):
        raise UsageError(
            f"{what} are read in pieces from files, and this is of the type {type(given).__name__}: give a path, or "
            "leave the engine out."
        )
    return os.fspath(given)


def _named_files(runs: Any) -> Iterator[tuple[str | None, str]]:
    """The files of the runs, each with the name that the user gave it, if any."""
    if isinstance(runs, Mapping):
        given: list[tuple[str | None, Any]] = [(str(name), run) for name, run in runs.items()]
    else:
        alone = isinstance(runs, str | os.PathLike | RunToRead) or not isinstance(runs, Iterable)
        given = [(None, run) for run in ([runs] if alone else runs)]
    seen: set[str] = set()
    for name, run in given:
        own, path = (run.name, run.path) if isinstance(run, RunToRead) else (None, run)
        files = expand([_path(path, "Runs")])
        if (name or own) is not None and len(files) > 1:
            raise UsageError(f'The name "{name or own}" stands for one run, but {path} are {len(files)} files.')
        for file in files:
            if file not in seen or name is not None:
                seen.add(file)
                yield name or own, file
    if not given:
        raise UsageError("No run was given.")


@contextlib.contextmanager
def _warnings_of(files: Sequence[LargeFile]) -> Iterator[None]:
    """One warning for a file, not one for each of its pieces."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        yield
    by_text: dict[str, RankboundsWarning] = {}
    for warning in met:
        if isinstance(warning.message, RankboundsWarning):
            by_text[str(warning.message)] = warning.message
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    for file in files:
        of_pieces = [one for one in by_text.values() if isinstance(one, LeftOutWarning) and one.file == file.path]
        if of_pieces:
            by_text = {text: warning for text, warning in by_text.items() if warning not in of_pieces}
            left_out = file.left_out(repeats=any(REPEATED in warning.left_out for warning in of_pieces))
            by_text[str(left_out)] = left_out
    for message in by_text.values():
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
        raise UsageError(f'The memory "{given}" is no size, such as 512M or 2G.')
    return size


@dataclass
class _RunInPieces:
    """One run while it is scored piece by piece, and what was met of it so far."""

    file: LargeFile
    name: str | None
    """The name that the user gave it, else that of its first piece."""
    sheet: ScoreSheet
    unknown: list[str] = field(default_factory=list)
    missing: list[Ints] = field(default_factory=list)
    """The numbers of judged topics that the run lacks."""
    prepared: Ints = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    """What was done to the run before it is scored, in numbers."""


@dataclass
class _Stream:
    qrels: LargeFile
    runs: Sequence[LargeFile]
    measures: list[Measure]
    assumptions: Assumptions
    reading: Reading
    preparation: Preparation
    given: Sequence[str | None]
    """The names that the user gave to runs."""
    scratch: Path
    progress: Callable[[int, int], None]
    grades: Floats = field(default_factory=lambda: np.empty(0))
    distinct: bool = False
    """Are ``grades`` each listed once, not those of every judgment?"""
    knowing_more: list[int] = field(default_factory=list)
    """The numbers of topics that know more relevant documents than there should be at most."""

    def check(self, whole: bool) -> None:
        """Reject what cannot be read in pieces, before any work is done; judgments that are held whole can."""
        files = [*self.runs] if whole else [self.qrels, *self.runs]
        try:
            with self._first_error_of(*(self.runs if self.assumptions.gain.words else files)):
                for file in files:
                    file.check()
        except DataError:
            if whole:
                self.reading.judgments(self.qrels.path)  # what is wrong with judgments is told first
            raise

    def whole_judgments(self) -> Scores:
        """All judgments in memory, each run in pieces."""
        facts = TopicFacts(self.reading.judgments(self.qrels.path), self.assumptions.gain)
        self.grades, self.knowing_more = facts.grade, self.assumptions.topics_knowing_more(facts)
        facts.qrels.pairs.index  # noqa: B018 (built once, before threads share it)
        results = []
        for file, given in zip(self.runs, self.given, strict=True):
            with self._first_error_of(file):
                run = self._scored_run(file, given, facts)
            results.append(self._result(run, facts.query_ids))
            self.progress(len(results), len(self.runs))
        return self._gathered(results, list(facts.query_ids), facts, facts.without_relevant)

    def _scored_run(self, file: LargeFile, given: str | None, facts: TopicFacts) -> _RunInPieces:
        topics = len(facts.query_ids)
        try:
            return self._scored(_RunInPieces(file, given, self._sheet(topics)), file.grouped(), facts)
        except MixedTopicsError:
            parts = file.split(max(2, -(-file.size() // file.piece_bytes)), self.scratch)
            pieces = (piece for piece in map(file.part, parts) if piece is not None)
            return self._scored(_RunInPieces(file, given, self._sheet(topics)), pieces, facts)

    def _sheet(self, topics: int) -> ScoreSheet:
        return ScoreSheet(topics, self.measures, self.assumptions)

    def split_judgments(self) -> Scores:
        """Judgments and runs split by topic on disk; part by part, in memory."""
        if self.assumptions.gain.words:
            raise UsageError(
                f"{self.qrels.path}: judgments that are too many for memory must have numbers for grades, not words. "
                "Allow more memory, or write them with numbers."
            )
        files = (self.qrels, *self.runs)
        without_relevant: list[Ints] = []
        with self._first_error_of(*files):
            parts = max(2, *(-(-file.size() // file.piece_bytes) for file in files))
            qrels, *split_runs = [file.split(parts, self.scratch) for file in files]
            by_part = self._judged_topics(qrels)
            place = _places_of(by_part, self.qrels)
            runs = [
                _RunInPieces(file, given, self._sheet(place.size))
                for file, given in zip(self.runs, self.given, strict=True)
            ]
            done = 0
            for number in range(parts):
                judgments = self._qrels_of(qrels[number])
                here = [file.part(split[number]) for file, split in zip(self.runs, split_runs, strict=True)]
                if judgments is None:
                    for run, piece in zip(runs, here, strict=True):
                        run.unknown += [] if piece is None else _run_of(piece, run.file.path).query_ids
                    continue
                facts = TopicFacts(judgments, self.assumptions.gain, grades=self.grades)
                places = place[done : done + len(facts.query_ids)]
                done += places.size
                without_relevant.append(places[facts.relevant(1.0) == 0])
                self.knowing_more += places[self.assumptions.topics_knowing_more(facts)].tolist()
                for run, piece in zip(runs, here, strict=True):
                    self._scored(run, [] if piece is None else [piece], facts, places)
                del judgments, facts, here, piece
                gc.collect()  # an index and its pairs know each other; waiting for the collector would add up the parts
                self.progress(number + 1, parts)
        query_ids = [by_part[number] for number in np.argsort(place).tolist()]
        results = [self._result(run, query_ids) for run in runs]
        without = np.sort(np.concatenate(without_relevant)).tolist()
        collection = TopicFacts(as_qrels([("any", "any", 0.0)]), self.assumptions.gain, grades=self.grades)
        return self._gathered(results, query_ids, collection, [query_ids[number] for number in without])

    @contextlib.contextmanager
    def _first_error_of(self, *files: LargeFile) -> Iterator[None]:
        """Of several things that are wrong with files, raise the one that reading them at once would raise."""
        try:
            yield
        except DataError:
            for file in files:
                first = file.first_error(self.scratch)
                if first is not None:
                    raise first from None
            raise

    def _scored(
        self, run: _RunInPieces, pieces: Iterable[Piece], facts: TopicFacts, places: Ints | None = None
    ) -> _RunInPieces:
        """Score a run on the topics of ``facts``, from pieces that hold whole topics.

        ``places`` are the numbers of these topics among all that are judged, where ``facts`` are of some.
        """
        sheet = run.sheet if places is None else self._sheet(places.size)
        met = np.zeros(len(facts.query_ids), dtype=bool)
        for piece in pieces:
            rows = _run_of(piece, run.file.path)
            run.name = run.name or rows.name
            if self.preparation:
                rows, counts = self.preparation.counted(rows)
                run.prepared += counts
            topic = facts.qrels.pairs.index.topics_of(rows.pairs)
            met[topic[topic >= 0]] = True
            run.unknown += [rows.query_ids[number] for number in np.flatnonzero(topic < 0).tolist()]
            chosen = self.assumptions
            slices = slices_of(rows, facts, topic, chosen.order, chosen.score_precision, chosen.ties_key)
            sheet.fill(slices, self.reading.threads)
            emptied = topic[(topic >= 0) & (np.bincount(rows.pairs.topic, minlength=topic.size) == 0)]
            if emptied.size:  # every document of these lists was left out before
                sheet.fill_empty(emptied, facts)
        absent = np.flatnonzero(~met)
        if self.assumptions.topics == "judged" and absent.size:
            sheet.fill_empty(absent, facts)
        if places is not None:
            run.sheet.put(places, sheet)
        run.missing.append(absent if places is None else places[absent])
        return run

    def _qrels_of(self, part: Path | None) -> Qrels | None:
        piece = self.qrels.part(part)
        if piece is None:
            return None
        return Qrels._of(piece) if isinstance(piece, Columns) else Qrels(piece.pairs, piece.value)

    def _judged_topics(self, parts: Sequence[Path | None]) -> list[str]:
        """The judged topics, part by part; the grades of the whole collection, which scale gains, are noted by the way.

        A topic that has broken lines only is not judged.
        """
        grades: Floats = np.empty(0)
        judged: list[str] = []
        for qrels in map(self._qrels_of, parts):
            if qrels is not None:
                grades = np.union1d(grades, qrels.grade)
                judged += qrels.query_ids
        if not judged:
            raise _nothing_used(self.qrels)
        self.grades, self.distinct = np.unique(np.maximum(grades[grades != POOLED_NOT_JUDGED], 0.0)), True
        return judged

    def _result(self, run: _RunInPieces, query_ids: Sequence[str]) -> RunResult:
        path, unknown = run.file.path, run.unknown
        missing = np.sort(np.concatenate(run.missing)).tolist()
        if len(unknown) > 1:  # parts hold them in another order
            unknown = [unknown[number] for number in np.argsort(_places_of(unknown, run.file)).tolist()]
        if len(missing) == len(query_ids):
            if not unknown:
                raise _nothing_used(run.file)
            raise no_topic_judged(path, unknown[0], f"the judgments ({self.qrels.path})", query_ids[0])
        result = run.sheet.result(run.name or "", [query_ids[number] for number in missing], unknown)
        if not self.preparation:
            return result
        return replace(result, notes=replace(result.notes, prepared=self.preparation.words(run.prepared)))

    def _gathered(
        self, results: list[RunResult], query_ids: list[str], facts: TopicFacts, without_relevant: list[str]
    ) -> Scores:
        places, named = [run.path for run in self.runs], [given is not None for given in self.given]
        return gathered(results, places, query_ids, self.measures, self.assumptions, facts, without_relevant, named)


def _nothing_used(file: LargeFile) -> DataError:
    """What reading the whole of a file that gave no row would raise: it may hold no line at all."""
    try:
        next(file.grouped(), None)
    except DataError as error:
        return error
    return DataError(file.path, "no line of this file could be used.")


def _run_of(piece: Piece, path: str) -> Run:
    return Run._of(piece, plain_name(path)) if isinstance(piece, Columns) else of_lines(piece, path)


def _places_of(query_ids: list[str], file: LargeFile) -> Ints:
    """The number of each topic in the order in which they first stand in the file."""
    hashes, first = file.first_places()
    order = np.argsort(first[np.searchsorted(hashes, Ids.of(query_ids).hashes())], kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place
