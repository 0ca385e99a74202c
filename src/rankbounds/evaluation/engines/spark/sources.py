"""What a user hands over for Spark: frames, files that tasks open, files that only Spark can open."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankbounds.collection.inputs import Reading, RunToRead
from rankbounds.errors import DataError, RankboundsError, UsageError
from rankbounds.evaluation.engines.spark.paths import TABLE_ENDINGS, expanded, files_in_table, opened_by_tasks
from rankbounds.evaluation.engines.spark.session import context_of
from rankbounds.evaluation.engines.spark.tasks import PIECE_BYTES, FilePart, FrameRows
from rankbounds.files.compression import is_compressed
from rankbounds.files.formats import pair_of_names
from rankbounds.files.named_columns import RUN_COLUMNS, found_columns
from rankbounds.files.opening import plain_name
from rankbounds.files.topic_batches import LargeFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STRETCH_BYTES = 1 << 22, 1 << 26
"""Of text, at least and at most, in the stretches into which a large file is cut for several tasks."""


@dataclass(frozen=True)
class Source:
    """A run, or a frame of several: ``parts`` that tasks open, ``rows`` of a frame, or ``contents`` of files."""

    place: str
    """What messages call it."""
    name: str | None
    """What the user calls it, if anything."""
    label: str | None = None
    """What it is called where neither the user nor its rows say so."""
    parts: Sequence[FilePart] = ()
    frame: DataFrame | None = None
    rows: FrameRows | None = None
    contents: DataFrame | None = None

    @property
    def is_cut(self) -> bool:
        """Are its parts stretches of one file?"""
        return len(self.parts) > 1 and self.parts[0].end is not None


def is_frame(given: Any) -> bool:
    """Is this a frame of Spark's?"""
    return hasattr(given, "sparkSession") and hasattr(given, "dtypes")


def sources_of_runs(session: SparkSession, given: Any, reading: Reading, *, need_rank: bool) -> list[Source]:
    """The runs in a frame, a path, a list of such, or a dict by name."""
    sources: list[Source] = []
    for name, item in _named(given):
        if is_frame(item):
            sources.append(source_of_frame(item, name, reading, need_rank=need_rank))
            continue
        files = expanded(session, item)
        if name is not None and len(files) > 1:
            raise UsageError(f'The name "{name}" stands for one run, but {item} are {len(files)} files.')
        known = {source.place for source in sources}
        for path in files:
            if path not in known:
                sources.append(_source_of_path(session, path, len(sources), name, reading, need_rank))
    if not sources:
        raise UsageError("No run was given.")
    return sources


def _named(given: Any) -> Iterator[tuple[str | None, Any]]:
    """Frames and paths, with the names that were given to them."""
    several: list[tuple[str | None, Any]]
    if isinstance(given, Mapping):
        several = [(str(name), item) for name, item in given.items()]
    elif isinstance(given, str | os.PathLike | RunToRead) or is_frame(given) or not isinstance(given, Iterable):
        several = [(None, given)]
    else:
        several = [(None, item) for item in given]
    for name, item in several:
        if isinstance(item, RunToRead) and item.path is not None:
            yield name or item.name, item.path
        elif isinstance(item, str | os.PathLike):
            yield name, os.fspath(item)
        elif is_frame(item):
            yield name, item
        else:
            raise UsageError(
                f"On Spark, runs are frames of Spark's or paths, one, a list or a dict by name, not of the type "
                f"{type(item).__name__}: make a frame of it with createDataFrame, or leave the engine out."
            )


def source_of_frame(
    frame: DataFrame, name: str | None, reading: Reading, *, need_rank: bool, path: str | None = None
) -> Source:
    """The run in a frame, or the runs that a column of it names; ``path`` is that of the table, if it was given."""
    from pyspark.sql import functions

    place = path or ("the runs" if name is None else f'run "{name}"')
    query, doc, value, rank, _, run, *_ = found_columns(frame.columns, RUN_COLUMNS.renamed(reading.columns), place)
    types = dict(frame.dtypes)
    for column in (query, doc):
        if types[column] not in ("string", "int", "bigint", "smallint", "tinyint"):
            raise DataError(
                place, f'the column "{column}" is of type {types[column]}; ids are text.', "Convert it first."
            )
    if not re.match(r"(tinyint|smallint|int|bigint|float|double|decimal)", types[value]):
        raise DataError(place, f'the column "{value}" is of type {types[value]}, not a number.', "Convert it first.")
    if need_rank and rank is None:
        raise DataError(place, "ties cannot be ordered by rank, because there is no column rank.")
    called = {"query_id": query, "doc_id": doc, "value": value}
    called |= {"rank": rank} if need_rank and rank is not None else {}
    called |= {"run": run} if run is not None and name is None and path is None else {}
    kinds = {"query_id": "string", "doc_id": "string", "value": "double", "rank": "long", "run": "string"}
    chosen = [
        functions.col(f"`{called[own]}`").cast(kind).alias(own)
        if own in called
        else functions.lit(None).cast(kind).alias(own)
        for own, kind in kinds.items()
    ]
    label = None if "run" in called else plain_name(path.rstrip("/")) if path else "run"
    if label is not None and path is None:
        place = f'run "{name or label}"'
    return Source(place, name, label, frame=frame.select(*chosen), rows=FrameRows(place, called, reading.columns))


def _source_of_path(
    session: SparkSession, path: str, number: int, name: str | None, reading: Reading, need_rank: bool
) -> Source:
    local = opened_by_tasks(session, path)
    label = plain_name(path.rstrip("/"))
    if local is not None and os.path.isdir(local):
        files = files_in_table(local)
        if files and files[0].endswith(TABLE_ENDINGS):
            parts = [FilePart(number, file, Path(file).stat().st_size, local) for file in files]
            return Source(local, name, label, parts)
    elif local is not None:
        whole = FilePart(number, local, Path(local).stat().st_size, local)
        stretches = [] if reading.lenient else _stretches(session, local, reading)
        parts = [replace(whole, begin=begin, end=end) for begin, end in stretches]
        return Source(local, name, label, parts if len(parts) > 1 else [whole])
    elif path.rstrip("/").endswith(TABLE_ENDINGS):
        return source_of_frame(session.read.parquet(path), name, reading, need_rank=need_rank, path=path)
    return Source(path, name, label, contents=session.read.format("binaryFile").load(path).select("path", "content"))


def _stretches(session: SparkSession, path: str, reading: Reading) -> list[tuple[int, int]]:
    """A large file cut where topics end, for several tasks; nothing where it cannot be cut."""
    file = LargeFile(path, RUN_COLUMNS.renamed(reading.columns), PIECE_BYTES)
    with contextlib.suppress(RankboundsError):  # the task that reads the file says what is wrong with it
        if pair_of_names(reading.formats)[1] in (None, "trec", "parquet") and not is_compressed(path):
            file.check()
            share = file.size() // (2 * context_of(session).defaultParallelism) + 1
            return file.stretches(min(max(share, STRETCH_BYTES[0]), STRETCH_BYTES[1]))
    return []


def together(session: SparkSession, source: Source, reading: Reading, *, need_rank: bool) -> Source:
    """The same run read as a whole, because its topics are spread over its parts."""
    if source.is_cut:
        return replace(source, parts=[replace(source.parts[0], begin=0, end=None)])
    if source.parts:
        table = session.read.parquet(source.place)
        return source_of_frame(table, source.name, reading, need_rank=need_rank, path=source.place)
    return source
