"""The one way in: judgments and runs from everything that a user may give.

Judgments and runs may be paths (runs also patterns and folders; ``"-"`` is standard input), our own ``Qrels`` and
``Run``, ``{query: {document: value}}``, ``{query: [document, ...]}`` (of a run the order is the ranking, of judgments
all that is listed is relevant), pandas, polars and pyarrow frames, rows ``(query, document, value)``, other packages'
named tuples, ranx's objects. Several runs are a list of such, a dict by name, or a frame with a column ``run``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from rankbounds.collection.gains import GainRule
from rankbounds.collection.qrels import Qrels, as_qrels, read_qrels
from rankbounds.collection.run import Run, as_run, as_runs, read_run, with_unique_names
from rankbounds.errors import UsageError
from rankbounds.files.formats import pair_of_names
from rankbounds.files.named_columns import QRELS_COLUMNS, RUN_COLUMNS, ColumnNames
from rankbounds.files.objects import expected_shapes, is_column_wise, is_row, is_table
from rankbounds.files.opening import expand, plain_name
from rankbounds.threads import in_threads

Formats: TypeAlias = str | tuple[str | None, str | None]
"""One format for all files, or that of the judgments and that of the runs."""


@dataclass(frozen=True)
class RunToRead:
    """A run to score, read only when it is needed, so that memory holds few at a time."""

    place: str
    read: Callable[[], Run]
    path: str | None = None
    """The file that it is read from, if it is."""
    name: str | None = None
    """What the user calls it, if anything."""
    given: Any = None
    """What it is made from, where that is one object in memory."""


@dataclass(frozen=True)
class Reading:
    """How judgments and runs are read.

    ``formats`` and ``columns`` are needed where files and tables do not show by themselves what they are; ``source``
    says whose judgments to use; ``gain`` may name the words that judgments have for grades.
    """

    formats: Formats | None = None
    source: str | Sequence[str] | None = None
    columns: Mapping[str, str] | None = None
    lenient: bool = False
    threads: int = 1
    gain: GainRule = field(default_factory=GainRule)

    def __post_init__(self) -> None:
        pair_of_names(self.formats)  # unknown names are reported before anything is read
        _ = self._names

    @property
    def _names(self) -> ColumnNames:
        return RUN_COLUMNS.renamed(self.columns)

    def _of_files(self, number: int) -> dict[str, Any]:
        """How files of judgments (0) or of runs (1) are read."""
        return {"formats": pair_of_names(self.formats)[number], "columns": self.columns, "lenient": self.lenient}

    def judgments(self, given: Any) -> Qrels:
        """The judgments in anything that ``evaluate`` takes."""
        if isinstance(given, Qrels):
            return given
        if isinstance(given, Run | RunToRead):
            raise UsageError("Judgments were expected, not a run. The judgments come first, then the runs.")
        if not isinstance(given, str | os.PathLike):
            return as_qrels(given, self.gain.grade_of, self.source, self.columns)
        words = self.gain.grade_of
        return read_qrels(given, source=self.source, grade_of=words, threads=self.threads, **self._of_files(0))

    def label_sets(self, given: Any) -> dict[str, Qrels]:
        """One set of labels or several, by name: a dict of names, a list, paths, patterns, or one as judgments are."""
        names = QRELS_COLUMNS.renamed(self.columns)
        if isinstance(given, Mapping) and not is_column_wise(given, names):
            if not given:
                raise UsageError("No labels were given.")
            if all(
                isinstance(name, str) and not isinstance(inner, set | frozenset) and not _is_one_query(inner)
                for name, inner in given.items()
            ):
                return {name: self.judgments(labels) for name, labels in given.items()}
        several = [given]
        if isinstance(given, Iterable) and not isinstance(given, str | Mapping | Qrels) and not is_table(given):
            several = list(given)
            if not several:
                raise UsageError("No labels were given.")
            if is_row(several[0], names):
                several = [several]
        sets: dict[str, Qrels] = {}
        for number, labels in enumerate(several, 1):
            if isinstance(labels, str | os.PathLike):
                for path in expand([labels]):
                    name = plain_name(path)
                    sets[path if name in sets else name] = self.judgments(path)
            else:
                sets["labels" if len(several) == 1 else f"labels{number}"] = self.judgments(labels)
        return sets

    def runs(self, given: Any) -> list[Run]:
        """Every run in memory, under names that differ."""
        jobs = self.runs_to_read(given)
        read = list(in_threads(lambda job: job.read(), jobs, self.threads))
        return with_unique_names(read, [job.place for job in jobs], [job.name is not None for job in jobs])

    def run(self, given: Any) -> Run:
        """The one run in what was given."""
        jobs = self.runs_to_read(given)
        if len(jobs) > 1:
            raise UsageError(f"One run was expected, but {len(jobs)} were given.")
        return jobs[0].read()

    def runs_to_read(self, given: Any) -> list[RunToRead]:
        """The runs in anything that ``evaluate`` takes: one run or several."""
        if isinstance(given, str | os.PathLike | RunToRead):
            given = [given]
        if isinstance(given, Run) or is_table(given) or is_column_wise(given, self._names):
            return self._in_memory(given, "run")
        if isinstance(given, Qrels):
            raise UsageError("A run was expected, not judgments. The judgments come first, then the runs.")
        if isinstance(given, Mapping):
            if not given:
                raise UsageError("No run was given.")
            if all(map(_is_one_query, given.values())):
                return self._in_memory(given, "run")
            threads = self.threads if len(given) == 1 else 1
            return [self._named(str(name), run, threads) for name, run in given.items()]
        if not isinstance(given, Iterable):
            raise UsageError(f"No run was given: expected {expected_shapes(RUN_COLUMNS)}; got {type(given).__name__}.")
        several = list(given)
        if not several:
            raise UsageError("No run was given.")
        if is_row(several[0], self._names):
            return self._in_memory(several, "run")
        files = {number: expand([run]) for number, run in enumerate(several, 1) if isinstance(run, str | os.PathLike)}
        threads = self.threads if len(several) == len(files) and sum(map(len, files.values())) == 1 else 1
        jobs: list[RunToRead] = []
        for number, run in enumerate(several, 1):
            if isinstance(run, RunToRead):
                jobs.append(run)
            elif number in files:
                jobs += [self._in_file(path, threads) for path in files[number]]
            else:
                jobs += self._in_memory(run, f"run{number}" if len(several) > 1 else "run")
        return jobs

    def _named(self, name: str, given: Any, threads: int) -> RunToRead:
        if isinstance(given, RunToRead):
            return RunToRead(given.place, lambda: given.read().renamed(name), given.path, name)
        if isinstance(given, str | os.PathLike):
            files = expand([given])
            if len(files) > 1:
                raise UsageError(
                    f'The name "{name}" stands for one run, but {os.fspath(given)} are {len(files)} files.'
                )
            return self._in_file(files[0], threads, name)
        return RunToRead(name, lambda: as_run(given, name, self.columns).renamed(name), name=name, given=given)

    def _in_file(self, path: str, threads: int, name: str | None = None) -> RunToRead:
        return RunToRead(path, partial(read_run, path, name=name, threads=threads, **self._of_files(1)), path, name)

    def _in_memory(self, given: Any, place: str) -> list[RunToRead]:
        """A frame with a column ``run`` is read at once, because only its rows say how many runs it holds."""
        if isinstance(given, Run) or is_table(given) or is_column_wise(given, self._names):
            return [RunToRead(place, lambda run=run: run) for run in as_runs(given, place, self.columns)]  # type: ignore[misc]
        return [RunToRead(place, lambda: as_run(given, place, self.columns), given=given)]


def _is_one_query(inner: Any) -> bool:
    """Is this of one query, ``{document: score}`` or ``[document, ...]``, rather than a whole run?"""
    if type(inner) is dict or isinstance(inner, Mapping):
        value = next(iter(inner.values()), None)
        return not isinstance(value, Mapping | list | tuple | set | frozenset | np.ndarray)
    if isinstance(inner, list | tuple | np.ndarray):
        return not len(inner) or isinstance(inner[0], str | bytes | int | np.generic)
    return False
