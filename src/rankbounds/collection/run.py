"""Runs: what a system retrieved for each query."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import DataError, RankboundsWarning
from rankbounds.files import formats, named_columns, pair_files, svmrank, trec
from rankbounds.files.opening import expand, plain_name


class Run:
    """A table ``query_id, doc_id, score`` in the order given, with the stated rank where there is one."""

    def __init__(
        self,
        name: str,
        pairs: Pairs,
        score: Floats,
        read_ranks: Callable[[], Ints | None] = lambda: None,
    ) -> None:
        self.name, self.pairs, self.score = name, pairs, score
        self._read_ranks = read_ranks

    def __reduce__(self) -> tuple[Any, ...]:
        return _run_with_ranks, (self.name, self.pairs, self.score, self.stated_rank)

    @classmethod
    def from_columns(
        cls,
        query_ids: Iterable[Any],
        doc_ids: Iterable[Any],
        scores: Iterable[Any],
        ranks: Iterable[int] | None = None,
        *,
        name: str = "run",
    ) -> Run:
        """From columns of equal length."""
        return cls._of(
            named_columns.Columns.of(query_ids, doc_ids, scores, value_name="score", source=name, ranks=ranks), name
        )

    @classmethod
    def _of(cls, table: named_columns.Columns, name: str) -> Run:
        pairs, score = table.checked()
        if not table.distinct:
            pairs.reject_repeats("Keep one entry for each document.")
        return _run_with_ranks(name, pairs, score, table.ranks)

    @property
    def query_ids(self) -> tuple[str, ...]:
        """The topics, in the order of their first document."""
        return self.pairs.topics

    @cached_property
    def stated_rank(self) -> Ints | None:
        """The rank that the file states for each document; None if it states none."""
        return self._read_ranks()

    def take(self, rows: slice | Ints) -> Run:
        """Some of the rows, in the order asked for."""

        def ranks() -> Ints | None:
            return None if self.stated_rank is None else self.stated_rank[rows]

        return Run(self.name, self.pairs.take(rows), self.score[rows], ranks)

    def renamed(self, name: str) -> Run:
        """The same run under another name."""
        return Run(name, self.pairs, self.score, self._read_ranks)

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(self):,} documents, {len(self.query_ids):,} topics)"

    def rows(self) -> Iterable[tuple[str, str, float]]:
        """``(query_id, doc_id, score)``, in the order given."""
        return self.pairs.rows(self.score)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """``{query_id: {doc_id: score}}``."""
        return self.pairs.nested(self.score)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write as CSV, TSV or JSON lines where the name ends so (``.csv``, ``.tsv``, ``.jsonl``), else as TREC.

        Without stated ranks, documents are numbered in the order given. Only TREC files hold the run's name.
        """
        table = {"rank": self._ranks().tolist(), "score": self.score.tolist()}
        pair_files.write_pairs(path, self.pairs, table, self.trec_lines)

    def trec_lines(self) -> Iterable[str]:
        """The lines of a TREC file of six columns; blanks in the run's name become underscores."""
        pair_files.reject_for_trec(self.pairs)
        tag = re.sub(r"[\x00-\x20]", "_", self.name) or "run"
        return (
            f"{query} Q0 {doc} {rank} {score!r} {tag}\n"
            for (query, doc, score), rank in zip(self.rows(), self._ranks().tolist(), strict=True)
        )

    def text(self) -> str:
        """The run as a TREC file has it."""
        return "".join(pair_files.recognisable(self.trec_lines(), "standard output"))

    def _ranks(self) -> Ints:
        return position_in_topic(self.pairs) if self.stated_rank is None else self.stated_rank


def _run_with_ranks(name: str, pairs: Pairs, score: Floats, ranks: Ints | None) -> Run:
    return Run(name, pairs, score, lambda: ranks)


def position_in_topic(pairs: Pairs) -> Ints:
    """1 for the first document given for a topic, 2 for the second, and so on."""
    order = np.argsort(pairs.topic, kind="stable")
    counts = np.bincount(pairs.topic, minlength=len(pairs.topics))
    positions = np.empty(len(pairs), dtype=np.int64)
    positions[order] = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    return positions


def read_run(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    kind: str | None = None,
    lenient: bool = False,
    threads: int = 1,
) -> Run:
    """Read one run in any known format, recognised by its contents unless ``kind`` names it. ``"-"`` is standard input.

    The run is called ``name``, else by its tag, else by its file. ``lenient=True`` leaves out lines that cannot be
    used and warns with their number.
    """
    file = os.fspath(path)
    lines = formats.read(file, named_columns.RUN_COLUMNS, kind=kind, lenient=lenient, threads=threads)
    if isinstance(lines, named_columns.Columns):
        return Run._of(lines, name or plain_name(file))
    return of_lines(lines, file, name)


def of_lines(lines: trec.TrecLines, file: str, name: str | None = None) -> Run:
    """A run from the lines of a file."""
    if lines.layout is trec.RUN_OF_SCORES and _counts_up(lines):
        warnings.warn(
            f"{file}: the third column holds whole numbers that rise from line to line in every topic, as ranks do. It "
            "is read as a score, so that the last document comes first; if it is a rank, write the run with six "
            "columns.",
            RankboundsWarning,
            stacklevel=2,
        )
    return Run(name or lines.tag or plain_name(file), lines.pairs, lines.value, lambda: trec.stated_ranks(lines))


def _counts_up(lines: trec.TrecLines) -> bool:
    """Are all values whole numbers, none below zero, that rise within every topic?"""
    value, pairs = lines.value, lines.pairs
    if len(pairs) <= len(pairs.topics) or value[0] != np.floor(value[0]) or (value < 0).any():
        return False
    rows = pairs.rows_by_topic()
    rises = np.diff(value[rows]) > 0
    return bool((rises | (np.diff(pairs.topic[rows]) != 0)).all() and (value == np.floor(value)).all())


def read_predictions(ltr: str | os.PathLike[str], path: str | os.PathLike[str], *, name: str | None = None) -> Run:
    r"""A ranker's predictions, one number a line in the order of the learning-to-rank file ``ltr``, as a run.

    Parameters
    ----------
    ltr : path
        The learning-to-rank file (``grade qid:N 1:... # document``) whose lines were ranked.
    path : path
        The predictions, as many as the file has lines.
    name : str, optional
        The run's name; the file's without its ending of compression otherwise.

    Returns
    -------
    Run
        The documents of each query with the predictions as scores.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import rankbounds as rb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ltr, predictions = pathlib.Path(folder, "test.txt"), pathlib.Path(folder, "scores")
    ...     _ = ltr.write_text("2 qid:1 1:0.5 # a\n0 qid:1 1:0.1 # b\n")
    ...     _ = predictions.write_text("0.25\n0.75\n")
    ...     run = rb.read_predictions(ltr, predictions)
    >>> print(rb.evaluate({"1": {"a": 2, "b": 0}}, run, "RR").mean().value.item())
    0.5
    """
    return Run._of(svmrank.read_predictions(ltr, path), name or plain_name(os.fspath(path)))


def read_runs(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, kind: str | None = None, lenient: bool = False
) -> list[Run]:
    """Read every run that paths, globs and folders name."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    files = expand(given)
    runs = [read_run(file, kind=kind, lenient=lenient) for file in files]
    names = unique_names([run.name for run in runs], files)
    return [run if run.name == unique else run.renamed(unique) for run, unique in zip(runs, names, strict=True)]


def unique_names(names: list[str], files: list[str]) -> list[str]:
    """Names as they are where they differ; those that repeat are told apart by their files, then by number."""

    def repeated(labels: list[str]) -> set[str]:
        return {label for label, count in Counter(labels).items() if count > 1}

    again = repeated(names)
    unique = [
        f"{name} ({plain_name(file)})" if name in again else name for name, file in zip(names, files, strict=True)
    ]
    again = repeated(unique)
    seen: dict[str, int] = {}
    for number, name in enumerate(unique):
        if name in again:
            seen[name] = seen.get(name, 0) + 1
            unique[number] = f"{name} #{seen[name]}"
    return unique


def as_run(given: Any, name: str = "run") -> Run:
    """A run from whatever a caller holds: a path, a dict of dicts, a frame, or rows of three."""
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        return read_run(given)
    if type(given).__module__.partition(".")[0] == "ranx":
        name = given.name or name
    table = named_columns.of_object(given, named_columns.RUN_COLUMNS, source=name)
    if not table.topics:
        raise DataError(f"{name}: the run is empty.")
    return Run._of(table, name)
