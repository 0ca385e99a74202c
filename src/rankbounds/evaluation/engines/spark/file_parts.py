"""Files that Spark's tasks open themselves, each task a part: lines of TREC, Parquet, or a whole file of any format."""

from __future__ import annotations

import itertools
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from rankbounds.collection.qrels import Qrels
from rankbounds.collection.run import Run, of_lines, read_run
from rankbounds.errors import DataError
from rankbounds.evaluation.engines.spark.packed_rows import JUDGMENTS, RunKey
from rankbounds.files import parquet, trec
from rankbounds.files.named_columns import ColumnNames, Columns, wanted_columns
from rankbounds.files.objects import columns_of
from rankbounds.files.opening import stream, text_of
from rankbounds.files.text_blocks import inner_text, read_fully

READ_BYTES = 1 << 22
"""A file of fewer bytes is not divided among tasks."""
RANGE_BYTES = 1 << 26
"""How many bytes of a file a task gets at most."""
PIECE_ROWS = 1 << 19
"""How many rows of a table a task takes at a time."""
LINE_BYTES = 40
"""What a line of a run takes, about."""

Pieces = Iterator[tuple[RunKey, Run]]
"""Rows of runs, some at a time, each piece with the key of its run (judgments go the same way)."""


class FilePart(Protocol):
    """What one task reads of a file."""

    @property
    def whole(self) -> bool:
        """Has it whole lists, if the file keeps lists together?"""

    @property
    def rows(self) -> int:
        """How many rows it has, about."""

    def pieces(self, *, lenient: bool, distinct: bool) -> Pieces:
        """Its rows. ``distinct``: whether documents stand twice is not looked at, others do so."""


@dataclass(frozen=True)
class LinesFile:
    """A file of TREC lines, with the key of its run."""

    run: RunKey
    path: str
    layout: trec.Layout
    size: int
    compressed: bool

    def parts(self, tasks: int) -> list[FilePart]:
        """The file for some tasks, cut where a topic ends, so that lists are whole if the file keeps them together."""
        if self.compressed:
            return [LinesPart(self, 0, sys.maxsize)]
        edges = [0]
        with open(self.path, "rb") as file:
            for begin in self._even_cuts(tasks):
                file.seek(max(begin, edges[-1]) - 1)
                file.readline()
                at, topic = file.tell(), None
                while line := file.readline():
                    fields = line.split(None, self.layout.query + 1)
                    if fields and not fields[0].startswith(b"#"):
                        if topic not in (None, fields[self.layout.query]):
                            break
                        topic = fields[self.layout.query]
                    at = file.tell()
                if at < self.size:
                    edges.append(at)
        ranges = itertools.pairwise([*edges, self.size])
        return [LinesPart(self, begin, end) for begin, end in ranges if end > begin]

    def _even_cuts(self, tasks: int) -> list[int]:
        parts = max(-(-self.size // RANGE_BYTES), min(tasks, -(-self.size // READ_BYTES)))
        cuts: list[int] = np.linspace(0, self.size, parts + 1).astype(np.int64).tolist()
        return cuts[1:-1]


@dataclass(frozen=True)
class LinesPart:
    """The lines that stand within some bytes of a file."""

    file: LinesFile
    begin: int
    end: int
    whole: ClassVar[bool] = True

    @property
    def rows(self) -> int:
        """How many rows it has, about."""
        return (self.file.size if self.file.compressed else self.end - self.begin) // LINE_BYTES

    def pieces(self, *, lenient: bool, distinct: bool) -> Pieces:
        """All of it at once."""
        check_there(self.file.path, self.file.size)
        with stream(self.file.path) as opened:
            if self.begin:
                opened.seek(self.begin)
            content = read_fully(opened, self.end - self.begin)
        try:
            lines = self._parsed(content, lenient, distinct)
        except trec.NothingReadError:
            return
        yield self.file.run, of_lines(lines, self.file.path)

    def _parsed(self, content: bytes, lenient: bool, distinct: bool) -> trec.TrecLines:
        """The lines; those before them in the file are counted only when a number is told."""

        def read(before: int) -> trec.TrecLines:
            path = self.file.path
            text = inner_text(path, content, before) if self.begin else text_of(path, content)
            return trec.read_lines(text, same_layout(self.file.layout), lenient=lenient, distinct=distinct)

        try:
            return read(self._newlines_before() if lenient else 0)
        except trec.NothingReadError:
            raise
        except DataError:
            return read(self._newlines_before())

    def _newlines_before(self) -> int:
        count, left = 0, self.begin
        with stream(self.file.path) as file:
            while left and (block := file.read(min(left, READ_BYTES))):
                count += block.count(b"\n")
                left -= len(block)
        return count


def same_layout(layout: trec.Layout) -> trec.ChooseLayout:
    """The layout that the driver found, whatever the first line of a part looks like; tags are not read again."""
    here = layout if layout.tag is None else replace(layout, tag=None)
    known = next((known for known in (trec.QRELS_LAYOUT, trec.RUN_OF_SCORES) if known == here), here)  # a copy got here
    return lambda *_: known


@dataclass(frozen=True)
class ParquetPart:
    """Some row groups of a Parquet file, which may be one of several that make a table."""

    run: RunKey | None
    """The key of the run; None where a column says of which run a row is."""
    name: str
    """What the run is called where no column says so."""
    path: str
    """The table, as it was given."""
    file: str
    size: int
    names: ColumnNames
    groups: tuple[int, ...]
    before: int
    """How many rows of the table come before these."""
    rows: int
    expected: tuple[str, ...] | None = None
    """The names of all runs that a row may be of, where they were given."""
    whole: ClassVar[bool] = False

    def pieces(self, *, lenient: bool, distinct: bool) -> Pieces:
        """The rows, some at a time."""
        del lenient, distinct
        import pyarrow
        import pyarrow.parquet

        check_there(self.file, self.size)
        before = self.before
        with parquet.damage_told(self.path), pyarrow.parquet.ParquetFile(self.file, pre_buffer=False) as file:
            wanted = wanted_columns(file.schema_arrow.names, self.names, self.path)
            for batch in file.iter_batches(PIECE_ROWS, list(self.groups), columns=wanted, use_threads=False):
                table = pyarrow.Table.from_batches([batch])
                yield from self._runs(columns_of(table, self.names, source=self.path, before=before))
                before += batch.num_rows

    def _runs(self, columns: Columns) -> Pieces:
        if self.run == JUDGMENTS:
            qrels = Qrels._of(columns)
            yield JUDGMENTS, Run(self.name, qrels.pairs, qrels.grade)
            return
        pairs, score = columns.checked()
        ranks = columns.ranks
        if columns.runs is None:
            yield self.run if self.run is not None else self.name, Run(self.name, pairs, score, lambda: ranks)
            return
        tags, number = columns.numbered_runs(one=self.run is not None)
        if self.run is not None:
            yield self._one_run(tags), Run(self.name, pairs, score, lambda: ranks)
            return
        for own, tag in enumerate(tags):
            rows = np.flatnonzero(number == own)
            self._check_named(tag, pairs.where(int(rows[0])))
            mine = None if ranks is None else ranks[rows]
            yield tag, Run(tag, pairs.take(rows).without_unused_topics(), score[rows], _given(mine))

    def _one_run(self, tags: list[str]) -> RunKey:
        assert self.run is not None
        others = [tag for tag in tags if tag and tag != self.name]
        if others or len(tags) > 1:
            raise DataError(
                f'{self.path}: this table holds several runs ("{self.name}", "{(others or tags)[-1]}", ...). Write a '
                "file for each, or read it with Spark and hand over the frame."
            )
        return self.run

    def _check_named(self, tag: str, place: Any) -> None:
        if self.expected is not None and tag not in self.expected:
            raise DataError(place, f"{not_named(tag)}.", NAME_IT_TOO)


def _given(ranks: Any) -> Any:
    return lambda: ranks


NAME_IT_TOO = "Name it too, or leave its rows out."


def not_named(tag: str) -> str:
    """What is wrong with a row of a run that is none of those expected."""
    return f'a row is of the run "{tag}", which "names" does not name'


@dataclass(frozen=True)
class WholeFile:
    """A file of any format, which one task reads as a whole."""

    run: RunKey
    path: str
    size: int
    kind: str | None
    columns: Mapping[str, str] | None
    whole: ClassVar[bool] = True

    @property
    def rows(self) -> int:
        """How many rows it has, about."""
        return self.size // LINE_BYTES

    def pieces(self, *, lenient: bool, distinct: bool) -> Pieces:
        """All of it at once."""
        del distinct
        check_there(self.path, self.size)
        yield self.run, read_run(self.path, kind=self.kind, columns=self.columns, lenient=lenient)


def check_there(path: str, size: int) -> None:
    """Raise if the machine of a task has not the file that the driver saw."""
    if not os.path.isfile(path) or Path(path).stat().st_size != size:
        raise DataError(
            path,
            f"a worker of Spark's ({socket.gethostname()}) has not this file, or another one under its name.",
            "Put files where every machine of the cluster finds them under the same path, or on a file system that "
            "Spark knows (hdfs://, s3a://).",
        )
