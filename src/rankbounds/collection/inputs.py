"""The entry point for judgments and runs in any form.

Paths (runs also patterns and folders; ``"-"`` is standard input), our own ``Qrels`` and ``Run``, dicts by query of
documents with values or of lists, frames, matrices, rows ``(query, document, value)``, rows of one question each with
lists of documents, ranx's objects. Several runs are a list of such, a dict by name, or a frame with a column ``run``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from rankbounds.choices import check_choice
from rankbounds.collection.gains import GainRule
from rankbounds.collection.qrels import RATERS, Qrels, as_qrels, read_qrels
from rankbounds.collection.run import KEEP_ONE, Run
from rankbounds.collection.run_names import unique_names
from rankbounds.collection.same_documents import same_documents
from rankbounds.collection.score_matrix import is_found, is_matrix, run_of_found, run_of_matrix
from rankbounds.errors import DataError, RankboundsWarning, UsageError, warn
from rankbounds.files.formats import columns_in, pair_of_names, read
from rankbounds.files.id_lists import answers_in, hits_by_query, is_answer, is_hit
from rankbounds.files.named_columns import (
    DOC_NAMES,
    LISTS,
    QRELS_COLUMNS,
    QUESTION_NAMES,
    RUN_COLUMNS,
    ColumnNames,
    Columns,
    find_column,
    has_lists,
    list_candidates,
    turn_column,
)
from rankbounds.files.objects import (
    columns_of,
    expected_shapes,
    frame_columns,
    is_column_wise,
    is_list_row,
    is_row,
    is_table,
)
from rankbounds.files.opening import expand, plain_name
from rankbounds.threads import in_threads

Formats: TypeAlias = str | tuple[str | None, str | None]
"""One format for all files, or that of the judgments and that of the runs."""
ROWS_OF_TEXT = 4_000_000
"""Runs in files that together have more rows than this, as each expects from its own, are kept without their text."""


@dataclass(frozen=True)
class RunToRead:
    """A run to score, read only when needed, so that memory holds few at a time."""

    place: str
    read: Callable[[], Run]
    path: str | None = None
    name: str | None = None
    given: Any = None
    """What it is made from, where that is one object in memory."""


@dataclass(frozen=True)
class Reading:
    """How judgments and runs are read."""

    formats: Formats | None = None
    source: str | Sequence[str] | None = None
    columns: Mapping[str, str] | None = None
    lenient: bool = False
    threads: int = 1
    gain: GainRule = field(default_factory=GainRule)
    query_ids: Sequence[Any] | None = None
    """The queries of a matrix of scores, or of a list of lists, row by row."""
    doc_ids: Sequence[Any] | None = None
    """The documents of a matrix of scores, column by column."""
    raters: str | None = None
    """How the judgments of a document by several raters become one."""
    complete: bool = False
    """Whether documents that the judgments do not list are judged non-relevant."""
    same_as: Any = None
    """Groups of ids of one document each."""

    def __post_init__(self) -> None:
        pair_of_names(self.formats)  # unknown names are reported before anything is read
        _ = self._names
        if self.same_as is not None:
            object.__setattr__(self, "same_as", same_documents(self.same_as))
        if self.raters is not None:
            check_choice("raters", self.raters, RATERS)
        if self.raters == "mean" and self.gain.table:
            raise UsageError("A table of gains has none for means of grades: choose raters majority or first.")

    @property
    def _names(self) -> ColumnNames:
        return RUN_COLUMNS.renamed(self.columns)

    def _of_files(self, number: int) -> dict[str, Any]:
        return {"formats": pair_of_names(self.formats)[number], "columns": self.columns, "lenient": self.lenient}

    def judgments(self, given: Any) -> Qrels:
        if isinstance(given, Run | RunToRead):
            raise UsageError("Judgments were expected, not a run. The judgments come first, then the runs.")
        if isinstance(given, Qrels):
            qrels = given
        elif isinstance(given, str | os.PathLike):
            how = {"source": self.source, "grade_of": self.gain.grade_of, "raters": self.raters}
            qrels = read_qrels(given, threads=self.threads, **how, **self._of_files(0))  # type: ignore[arg-type]
        else:
            qrels = as_qrels(given, self.gain.grade_of, self.source, self.columns, self.raters)
        if self.same_as is not None:
            qrels = self.same_as.judgments(qrels)
        return qrels.completed() if self.complete and not qrels.complete else qrels

    def label_sets(self, given: Any) -> dict[str, Qrels]:
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

    def runs(self, given: Any, qrels: Any = None) -> list[Run]:
        """Every run in memory, under names that differ; ``qrels`` as in ``runs_to_read``."""
        jobs = self.runs_to_read(given, qrels)

        def read_one(job: RunToRead) -> Run:
            run = job.read()
            many = len(run) * len(jobs) > ROWS_OF_TEXT and os.path.isfile(job.path or "")
            return run.packed(job.read) if many else run

        runs = list(in_threads(read_one, jobs, self.threads))
        given = [job.name is not None for job in jobs]
        names = unique_names([run.name for run in runs], [job.place for job in jobs], given)
        return [run if run.name == name else run.renamed(name) for run, name in zip(runs, names, strict=True)]

    def run(self, given: Any) -> Run:
        jobs = self.runs_to_read(given)
        if len(jobs) > 1:
            raise UsageError(f"One run was expected, but {len(jobs)} were given.")
        return jobs[0].read()

    def holds_run(self, qrels: Any) -> bool:
        columns, sides = self._columns(qrels), (self._names, QRELS_COLUMNS.renamed(self.columns))
        return all(has_lists(columns, names) and list_candidates(columns, names) for names in sides)

    def lacking_list(self, qrels: Any) -> str:
        """Return what is missing in rows of expected or of retrieved documents; empty if these are no such rows."""
        columns = self._columns(qrels)
        sides = {"retrieved": self._names, "expected": QRELS_COLUMNS.renamed(self.columns)}
        lacking = [side for side, names in sides.items() if not list_candidates(columns, names)]
        if not columns or not lacking or find_column(columns, DOC_NAMES):
            return ""
        if len(lacking) == 2:
            return (
                f"No run was given, and the columns are not known: this table has {', '.join(columns)}. Name run files "
                "after the judgments, or the columns of rows that hold both: --columns query_id=NAME,retrieved=NAME,"
                "expected=NAME."
            )
        others = {*QUESTION_NAMES, *LISTS["run"], *LISTS["judgments"]}
        advice = sides[lacking[0]].advice(lacking[0], columns, others)
        shown = ", ".join(columns)
        return f"No run was given, and no column lists the {lacking[0]} documents: this table has {shown}. {advice}"

    def _columns(self, given: Any, of: int = 0) -> list[str]:
        if isinstance(given, str | os.PathLike):
            lists = pair_of_names(self.formats)[of] in (None, "csv", "tsv", "jsonl", "parquet")
            return columns_in(os.fspath(given)) if lists else []
        if is_table(given):
            return list(map(str, frame_columns(given) or ()))
        first = given[0] if isinstance(given, list | tuple) and given else given
        own = is_column_wise(first, self._names) if first is given else is_list_row(first, self._names)
        return list(map(str, first)) if own and isinstance(first, Mapping) else []

    def runs_to_read(self, given: Any, qrels: Any = None) -> list[RunToRead]:
        """Return the runs in anything that ``evaluate`` takes.

        If ``qrels`` holds rows of expected and retrieved documents, it is the first run, unless it is among the runs
        already; others must have the same expected documents.
        """
        if qrels is None or not self.holds_run(qrels):
            if given is None and qrels is not None and (lacking := self.lacking_list(qrels)):
                raise UsageError(lacking)
            jobs = self._to_read(given)
        else:
            others = [] if given is None or given is qrels else self._to_read(given)
            own = self._to_read([qrels] if isinstance(qrels, str | os.PathLike) else qrels)
            if any((job.path is not None and job.path == own[0].path) or job.given is qrels for job in others):
                own = []
            for job in others:
                self._check_expected(job, qrels)
            jobs = [*own, *others]
        if self.same_as is None:
            return jobs
        return [replace(job, read=partial(lambda read: self.same_as.run(read()), job.read), given=None) for job in jobs]

    def _check_expected(self, job: RunToRead, qrels: Any) -> None:
        theirs = job.given if job.path is None else job.path
        if theirs is None or theirs is qrels or not self.holds_run(theirs):
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankboundsWarning)  # they are said where the rows are read to be used
            first, other = self.judgments(qrels).to_dict(), self.judgments(theirs).to_dict()
        for query in other:
            if query in first and first[query] != other[query]:
                raise DataError(
                    job.place,
                    f'the question "{query[:60]}" expects different documents than in the first rows.',
                    "Make the rows agree, or give the judgments first in a separate file.",
                )

    def _to_read(self, given: Any) -> list[RunToRead]:
        if isinstance(given, str | os.PathLike | RunToRead):
            given = [given]
        if is_matrix(given) or self._is_list_of_lists(given) or answers_in(given) is not None:
            return self._in_memory(given, "run")
        if self.doc_ids is not None and (holds := _numbers_in(given)):
            raise UsageError(
                "Scores with query_ids and doc_ids are an array of numbers with two axes, queries x documents; got "
                f"{holds}."
            )
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
            got = "" if given is None else f"; got {type(given).__name__}"
            raise UsageError(f"No run was given: expected {expected_shapes(RUN_COLUMNS)}{got}.")
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
                jobs += [job for path in files[number] for job in self._in_file_of_turns(path, threads)]
            else:
                jobs += self._in_memory(run, f"run{number}" if len(several) > 1 else "run")
        return jobs

    def _named(self, name: str, given: Any, threads: int) -> RunToRead:
        if isinstance(given, RunToRead):
            return RunToRead(given.place, lambda: given.read().renamed(name), given.path, name)
        if isinstance(given, str | os.PathLike):
            files = expand([given])
            if len(files) > 1:
                raise UsageError(f'The name "{name}" is for one run, but {os.fspath(given)} are {len(files)} files.')
            return self._in_file(files[0], threads, name)
        return RunToRead(name, lambda: self._as_run(given, name).renamed(name), name=name, given=given)

    def _in_file(self, path: str, threads: int, name: str | None = None) -> RunToRead:
        return RunToRead(path, partial(read_run, path, name=name, threads=threads, **self._of_files(1)), path, name)

    def _in_file_of_turns(self, path: str, threads: int) -> list[RunToRead]:
        try:
            turn = turn_column(self._columns(path, 1), self._names)
        except DataError:
            turn = None  # what is wrong is told where the file is read
        if turn is None:
            return [self._in_file(path, threads)]
        table = read(path, self._names, kind=self._of_files(1)["formats"], lenient=self.lenient, threads=threads)
        if table.runs is None:
            return [self._in_file(path, threads)]
        named = [run.renamed(f"{plain_name(path)} {run.name}") for run in runs_in(table, path)]
        return [RunToRead(path, lambda run=run: run, path, run.name) for run in named]  # type: ignore[misc]

    def _in_memory(self, given: Any, place: str) -> list[RunToRead]:
        turns = turn_column(self._columns(given, 1), self._names) is not None
        if turns or isinstance(given, Run) or is_table(given) or is_column_wise(given, self._names):
            return [RunToRead(place, lambda run=run: run) for run in as_runs(given, place, self.columns)]  # type: ignore[misc]
        return [RunToRead(place, lambda: self._as_run(given, place), given=given)]

    def _as_run(self, given: Any, name: str) -> Run:
        if is_matrix(given):
            return run_of_matrix(given, self.query_ids, self.doc_ids, name=name)
        if is_found(given):
            return run_of_found(given, self.query_ids, self.doc_ids, name)
        if self._is_list_of_lists(given):
            if self.query_ids is None:
                raise UsageError("A list of lists of documents needs query_ids=[...], an id for each list.")
            if len(self.query_ids) != len(given):
                raise UsageError(f"There are {len(given):,} lists of documents, but {len(self.query_ids):,} query_ids.")
            given = dict(zip(self.query_ids, given, strict=True))
        answers = answers_in(given)
        return as_run(given if answers is None else hits_by_query(answers, name, self.query_ids), name, self.columns)

    def _is_list_of_lists(self, given: Any) -> bool:
        if not isinstance(given, list | tuple) or not given or not all(isinstance(one, list | tuple) for one in given):
            return False
        first = next((entry for one in given for entry in one), None)
        known = self.query_ids is not None and self.doc_ids is None and not isinstance(first, list | tuple)
        return (known or is_hit(first)) and all(_is_one_query(one) for one in given)


def _numbers_in(given: Any) -> str:
    if isinstance(given, np.ndarray) and given.ndim <= 2:
        return f"one of {given.dtype} with the shape {given.shape}"
    first: Any = given
    while isinstance(first, list | tuple) and first:
        first = first[0]
    return f"a {type(given).__name__} of numbers" if isinstance(first, float | np.floating) else ""


def _is_one_query(inner: Any) -> bool:
    if type(inner) is dict or isinstance(inner, Mapping):
        value = next(iter(inner.values()), None)
        of_several = isinstance(value, Mapping | list | tuple | set | frozenset | np.ndarray) or is_answer(value)
        return not of_several and not isinstance(inner.get("responses"), list)
    if isinstance(inner, list | tuple | np.ndarray):
        return not len(inner) or isinstance(inner[0], str | bytes | int | np.generic) or is_hit(inner[0])
    return False


def read_run(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    formats: str | None = None,
    columns: Mapping[str, str] | None = None,
    lenient: bool = False,
    threads: int = 1,
) -> Run:
    r"""Read one run from a file.

    Parameters
    ----------
    path : path
        A file in any known format; ``"-"`` is standard input.
    name : str, optional
        The name; by default its tag, then its file's name without endings.
    formats : str, optional
        The format, such as ``"trec"``, ``"csv"`` or ``"beir"``; by default recognised from the contents.
    columns : mapping, optional
        The columns of a table with other names: ``{"query_id": "q", "doc_id": "d", "score": "s"}``.
    lenient : bool, default False
        Leave out unusable lines, and warn with their number.
    threads : int, default 1
        The number of threads that may read.

    Returns
    -------
    Run

    Examples
    --------
    >>> import os, tempfile
    >>> from rankbounds import read_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.txt")
    ...     with open(path, "w") as file:
    ...         _ = file.write("q1 Q0 a 1 2.5 bm25\nq1 Q0 b 2 1.5 bm25\n")
    ...     run = read_run(path)
    >>> run.name, run.to_dict()
    ('bm25', {'q1': {'a': 2.5, 'b': 1.5}})
    """
    file = os.fspath(path)
    found = read(file, RUN_COLUMNS.renamed(columns), kind=formats, lenient=lenient, threads=threads)
    return run_in(found, file, name)


def run_in(table: Columns, file: str, name: str | None = None) -> Run:
    tags = [table.tag or ""] if table.runs is None else table.numbered_runs(one=True)[0]
    if len(tags) > 1:
        raise several_runs(file, tags[:2], str(len(tags)))
    if not table.headed and table.ranks is None and _counts_up(table):
        warn(
            f"{file}: the scores are whole numbers that rise from line to line in every topic, as ranks do, so the "
            'last document ranks first. If they are ranks, call the column "rank", or write the run with six columns.'
        )
    return Run._of(table, name or "".join(tags) or plain_name(file))


def several_runs(file: str, two: Sequence[str], how_many: str = "several") -> DataError:
    return DataError(
        f'{file}: this table holds {how_many} runs ("{two[0]}", "{two[1]}", ...). '
        "Write one file per run, or pass the table to Python as a frame."
    )


def _counts_up(table: Columns) -> bool:
    value, pairs = table.numbers, table.pairs
    if len(pairs) <= len(pairs.topics) or value[0] != np.floor(value[0]) or (value < 0).any():
        return False
    rows = pairs.rows_by_topic()
    rises = np.diff(value[rows]) > 0
    return bool((rises | (np.diff(pairs.topic[rows]) != 0)).all() and (value == np.floor(value)).all())


def read_runs(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    formats: str | None = None,
    columns: Mapping[str, str] | None = None,
    lenient: bool = False,
) -> list[Run]:
    r"""Read every run in paths, globs and folders.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, patterns such as ``"runs/*.txt"``, and folders.
    formats, columns, lenient
        As for ``read_run``.

    Returns
    -------
    list of Run
        With different names: the file name is added to repeated ones.

    Examples
    --------
    >>> import os, tempfile
    >>> from rankbounds import read_runs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("bm25", "dense"):
    ...         with open(os.path.join(folder, f"{name}.txt"), "w") as file:
    ...             _ = file.write(f"q1 Q0 a 1 2.5 {name}\n")
    ...     [run.name for run in read_runs(os.path.join(folder, "*.txt"))]
    ['bm25', 'dense']
    """
    return Reading(None if formats is None else (None, formats), None, columns, lenient).runs(paths)


def as_run(given: Any, name: str = "run", columns: Mapping[str, str] | None = None) -> Run:
    runs = as_runs(given, name, columns)
    if len(runs) > 1:
        raise UsageError(f"One run was expected, but this table holds {len(runs)}.")
    return runs[0]


def as_runs(given: Any, name: str = "run", columns: Mapping[str, str] | None = None) -> list[Run]:
    if isinstance(given, Run):
        return [given]
    if isinstance(given, str | os.PathLike):
        return [read_run(given, columns=columns)]
    if type(given).__module__.partition(".")[0] == "ranx":
        name = given.name or name
    return runs_in(columns_of(given, RUN_COLUMNS.renamed(columns), source=name), name)


def runs_in(table: Columns, name: str) -> list[Run]:
    if not table.pairs.topics:
        raise DataError(f"{name}: the run is empty.")
    if table.runs is None:
        return [Run._of(table, name)]
    whole = Run._of_pairs("", table.pairs, table.numbers, table.ranks)
    tags, number = table.numbered_runs()
    runs = []
    for own, tag in enumerate(tags):
        rows = np.flatnonzero(number == own)
        run = whole._take(table.pairs.take(rows).without_unused_topics(), rows).renamed(tag)
        run.pairs.reject_repeats(KEEP_ONE)
        runs.append(run)
    return runs
