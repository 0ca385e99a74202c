"""The one way in: judgments and runs from everything a user may hand us."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankbounds.collection.gains import GainRule
from rankbounds.collection.qrels import Qrels, as_qrels, read_qrels
from rankbounds.collection.run import Run, as_run, read_run, unique_names
from rankbounds.errors import UsageError
from rankbounds.files.named_columns import is_table
from rankbounds.files.opening import expand
from rankbounds.threads import in_threads, processors


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


def so_many_runs(runs: Any, number: int, *, lenient: bool = False) -> list[Run]:
    """Every run, of which there must be so many."""
    read = all_runs(runs, lenient=lenient)
    if len(read) != number:
        wanted = {1: "one run is", 2: "two runs are"}.get(number, f"{number} runs are")
        raise UsageError(f"Exactly {wanted} wanted here, but {len(read)} were given.")
    return read
