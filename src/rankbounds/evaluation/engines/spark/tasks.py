"""Spark's session, and what its tasks do: read whole topics of runs, from files or rows of a frame, and score them."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import socket
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.collection.gains import GainRule
from rankbounds.collection.inputs import Reading, run_in
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run
from rankbounds.errors import DataError, RankboundsError, RankboundsWarning, UsageError
from rankbounds.evaluation.engines.pieces import ScoredPiece, score_piece
from rankbounds.evaluation.scoring import Scoring
from rankbounds.files import trec
from rankbounds.files.named_columns import RUN_COLUMNS
from rankbounds.files.objects import columns_of
from rankbounds.files.opening import Content, plain_name
from rankbounds.files.topic_batches import LargeFile, MixedTopicsError
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


def session_here(master: str | None = None) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        import pyarrow  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UsageError(f'Spark needs further packages: pip install "rankbounds[spark]" ({error}).') from None
    active = SparkSession.getActiveSession()
    if active is not None:
        if master is not None and context_of(active).master != master:
            raise UsageError(
                f'A Spark session is already running, on "{context_of(active).master}": stop it to use "{master}".'
            )
        return active
    builder: Any = SparkSession.builder.appName("rankbounds").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config(f"spark.executorEnv.{SAFE_PATH}", "1")
    if master is not None:
        builder = builder.master(master)
    if sys.version_info < (3, 11):
        reject_shadowing(Path.cwd())
    try:
        with _safe_path():
            session: SparkSession = builder.getOrCreate()
    except Exception as error:
        where = f'on "{master}" ' if master else ""
        raise UsageError(f"Spark does not start {where}({first_sentence(error)}).") from None
    session.sparkContext.setLogLevel("OFF")  # what goes wrong in a task is reported in one sentence
    return session


SAFE_PATH = "PYTHONSAFEPATH"
"""Without it, Python 3.11 and newer would import Spark's workers' modules from the current folder first."""


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[SAFE_PATH]
        os.environ.update({} if before is None else {SAFE_PATH: before})


def reject_shadowing(folder: Path) -> None:
    """Reject a folder whose files older Pythons than 3.11, as Spark's workers, would import instead of modules."""
    for name in sys.modules.keys() - {"__main__"}:
        own = getattr(sys.modules[name], "__file__", None)
        for file in (folder / f"{name}.py", folder / name / "__init__.py"):
            if file.exists() and not (own and file.samefile(own)):
                raise UsageError(f"{file}: Spark's workers would run this file as the module {name}: rename it.")


def context_of(session: SparkSession) -> SparkContext:
    try:
        return session.sparkContext
    except Exception:
        raise UsageError(
            "A session of Spark Connect cannot run these tasks: use one that talks to the cluster itself, such as "
            'SparkSession.builder.master("spark://host:7077").'
        ) from None


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Report Spark's failures in one sentence; tasks return problems of the input themselves."""
    try:
        yield
    except RankboundsError:
        raise
    except Exception as error:
        text = str(error)
        lacking = re.search(r"ModuleNotFoundError: No module named '(\w+)'", text)
        if lacking:
            raise UsageError(
                f"Spark's Python workers lack the package {lacking[1]}: install it there, or let the environment "
                f"variable PYSPARK_PYTHON name a Python that has it (this one is {sys.executable})."
            ) from None
        if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark") or "Traceback" in text:
            raise
        sentence = f"Spark cannot read this ({first_sentence(error)})."
        file = re.search(r"(?:file|path):? ['\"]?((?:\w+:)?/[^\s'\",]+)", text)
        raise (DataError(without_scheme(file[1]).rstrip("."), sentence) if file else DataError(sentence)) from None


def without_scheme(path: str) -> str:
    return re.sub(r"^file:/+", "/", path)


def first_sentence(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    causes = re.findall(r"^(?:Caused by: |: )[\w.$]+(?:Exception|Error): (.*)", text, re.MULTILINE)
    return (causes[-1] if causes else text.splitlines()[0]).strip().rstrip(".")[:200]


PIECE_BYTES = 1 << 25
"""How much of a file a task reads at a time where it gets a stretch of it."""
PIECE_ROWS = 1 << 19


class SharedJudgments:
    """Judgments that every process of Spark's gets once, and derives facts from once."""

    def __init__(self, qrels: Qrels, gain: GainRule) -> None:
        self.qrels, self.gain = qrels, gain

    def __getstate__(self) -> dict[str, Any]:
        return {"qrels": self.qrels, "gain": self.gain}

    @cached_property
    def facts(self) -> TopicFacts:
        return TopicFacts(self.qrels, self.gain)


@dataclass(frozen=True)
class Found:
    """A task's result for a piece: scores, an error, or None for topics that are not contiguous."""

    source: int
    run: str
    """The name of the run where a column of a frame says it, else empty."""
    scored: ScoredPiece | RankboundsError | None
    said: list[RankboundsWarning]


@dataclass(frozen=True)
class FilePart:
    """A file that a task opens, or a stretch of it up to ``end``."""

    source: int
    path: str
    size: int
    table: str
    """The folder, where the file is one of several that make a run; else the file."""
    begin: int = 0
    end: int | None = None

    def runs(self, reading: Reading) -> Iterator[tuple[str, Run]]:
        if not os.path.isfile(self.path) or Path(self.path).stat().st_size != self.size:
            raise DataError(
                self.path,
                f"the Spark worker on {socket.gethostname()} lacks this file, or has a different one of this name.",
                "Put files where every machine of the cluster finds them under the same path, or on a file system that "
                "Spark knows (hdfs://, s3a://).",
            )
        if self.end is not None:
            file = LargeFile(self.path, RUN_COLUMNS.renamed(reading.columns), PIECE_BYTES)
            for piece in file.grouped(self.begin, self.end):
                yield "", run_in(piece, self.path)
            return
        run = reading.run(self.path)
        untagged = self.table != self.path and run.name == plain_name(self.path)
        yield "", run.renamed(plain_name(self.table)) if untagged else run


@dataclass(frozen=True)
class FrameRows:
    """How the rows of a frame are read: its name in messages, and its columns."""

    place: str
    called: Mapping[str, str]
    columns: Mapping[str, str] | None

    def runs(self, rows: Any) -> Iterator[tuple[str, Run]]:
        table = rows.select(list(self.called)).rename_columns(list(self.called.values()))
        try:
            columns = columns_of(table, RUN_COLUMNS.renamed(self.columns), source=self.place)
            pairs, score, stated = columns.pairs, columns.numbers, columns.ranks
            tags, number = ([""], None) if columns.runs is None else columns.numbered_runs()
        except DataError as error:
            if error.place is None or error.place.row is None:
                raise
            row = table.slice(error.place.row - 1, 1).to_pylist()[0]
            shown = ", ".join(f"{name}={value!r}" for name, value in row.items())
            raise DataError(self.place, f"{error.problem} The row has {shown}.", error.remedy) from None
        for own, tag in enumerate(tags):
            mine = slice(None) if number is None else np.flatnonzero(number == own)
            ranks = stated[mine] if isinstance(stated, np.ndarray) else None
            run = Run._of_pairs(tag or self.place, pairs.take(mine).without_unused_topics(), score[mine], ranks)
            again = run.pairs.repeats()
            if again.size:
                row, place = int(again[0]), f'run "{tag}"' if tag else self.place
                same = (run.pairs.keys == run.pairs.keys[row]) & (run.pairs.topic == run.pairs.topic[row])
                values = " and ".join(f"{value:g}" for value in np.sort(run.score[same])[:2])
                problem = f"{run.pairs.describe(row)} is listed twice (with {values})."
                raise DataError(place, problem, "Keep one row.")
            yield tag, run


@dataclass(frozen=True)
class Scorer:
    """Scores runs in tasks; ``judgments`` is a broadcast variable of ``SharedJudgments``."""

    judgments: Any
    scoring: Scoring
    reading: Reading

    def of_files(self, parts: Iterable[FilePart]) -> Iterator[Found]:
        for part in parts:
            yield from self._score_pieces(part.source, part.runs(self.reading))

    def of_rows(self, sources: Mapping[int, FrameRows]) -> Callable[[Iterator[Any]], Iterator[Any]]:
        def task(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow.compute

            for table in _whole_topics(batches):
                for number in sorted(table.column("source").unique().to_pylist()):
                    rows = table.filter(pyarrow.compute.equal(table.column("source"), number))
                    yield from _pickle(self._score_pieces(number, sources[number].runs(rows)))

        return task

    def of_contents(self, *, joined: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
        def task(batches: Iterator[Any]) -> Iterator[Any]:
            rows = (row for batch in batches for row in batch.to_pylist())
            for row in _as_one(list(rows)) if joined else rows:
                yield from _pickle(self._score_pieces(row.pop("source"), self._run_in(**row)))

        return task

    def _run_in(self, path: str, table: str, content: bytes) -> Iterator[tuple[str, Run]]:
        file = without_scheme(path)
        text = Content.decompressed(file, content).text()
        lines = trec.read_lines(text, trec.run_layout, lenient=self.reading.lenient)
        yield "", run_in(lines, file, lines.tag or plain_name(table))

    def _score_pieces(self, source: int, runs: Iterator[tuple[str, Run]]) -> Iterator[Found]:
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            try:
                for name, run in runs:
                    scored = score_piece(run, self.judgments.value.facts, self.scoring)
                    yield Found(source, name, scored, _ours(met))
                    met.clear()
            except MixedTopicsError:
                yield Found(source, "", None, [])
            except RankboundsError as error:
                yield Found(source, "", error, [])


def _ours(met: Sequence[warnings.WarningMessage]) -> list[RankboundsWarning]:
    said = (warning.message for warning in met)
    return [one if isinstance(one, RankboundsWarning) else RankboundsWarning(str(one)) for one in said]


def _as_one(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    contents = [Content.decompressed(row["path"], row["content"]).tobytes() for row in rows]
    return [{**rows[0], "path": rows[0]["table"], "content": b"\n".join(contents)}]


def _whole_topics(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow
    import pyarrow.compute

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= PIECE_ROWS:
            table = pyarrow.Table.from_batches(held)
            topics = table.column("query_id")
            last = max(0, pyarrow.compute.index(topics, topics[-1]).as_py())
            if last:
                yield table.slice(0, last)
            held = table.slice(last).to_batches()
    if held:
        yield pyarrow.Table.from_batches(held)


def _pickle(found: Iterable[Found]) -> Iterator[Any]:
    import pyarrow

    for one in found:
        yield pyarrow.RecordBatch.from_pydict({"found": [pickle.dumps(one)]})
