"""What a user hands over for Spark: frames, files that tasks open, files that only Spark can open."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankbounds.collection.inputs import Reading
from rankbounds.errors import DataError, RankboundsError, UsageError
from rankbounds.evaluation.engines.pieces import check_one_file, named_runs
from rankbounds.evaluation.engines.spark.tasks import (
    PIECE_BYTES,
    FilePart,
    FrameRows,
    context_of,
    first_sentence,
    without_scheme,
)
from rankbounds.files.compression import is_compressed
from rankbounds.files.formats import pair_of_names
from rankbounds.files.named_columns import RUN_COLUMNS, found_columns
from rankbounds.files.opening import STANDARD_INPUT, expand, is_pipe, plain_name
from rankbounds.files.topic_batches import LargeFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLE_ENDINGS = (".parquet", ".parq")
WRITTEN_BY_SPARK = "_SUCCESS"
STRETCH_BYTES = 1 << 22, 1 << 26
"""Of text, at least and at most, in the stretches into which a large file is cut for several tasks."""


@dataclass(frozen=True)
class Source:
    """A run, or a frame of several: ``parts`` that tasks open, ``rows`` of a frame, or ``contents`` of files."""

    place: str
    name: str | None
    label: str | None = None
    """What it is called where neither the user nor its rows say so."""
    parts: Sequence[FilePart] = ()
    frame: DataFrame | None = None
    rows: FrameRows | None = None
    contents: DataFrame | None = None

    @property
    def is_cut(self) -> bool:
        return len(self.parts) > 1 and self.parts[0].end is not None


def is_frame(given: Any) -> bool:
    return hasattr(given, "sparkSession") and hasattr(given, "dtypes")


def sources_of_runs(session: SparkSession, given: Any, reading: Reading, *, need_rank: bool) -> list[Source]:
    sources: list[Source] = []
    for name, item in named_runs(given, is_frame):
        if is_frame(item):
            sources.append(source_of_frame(item, name, reading, need_rank=need_rank))
            continue
        if not isinstance(item, str):
            raise UsageError(
                f"On Spark, runs are Spark frames or paths (one, a list, or a dict by name), not "
                f"{type(item).__name__}: make a frame with createDataFrame, or leave out the engine."
            )
        files = _expand(session, item)
        check_one_file(name, item, files)
        known = {source.place for source in sources}
        for path in files:
            if path not in known:
                sources.append(_source_of_path(session, path, len(sources), name, reading, need_rank))
    if not sources:
        raise UsageError("No run was given.")
    return sources


def source_of_frame(
    frame: DataFrame, name: str | None, reading: Reading, *, need_rank: bool, path: str | None = None
) -> Source:
    from pyspark.sql import functions

    place = path or ("the runs" if name is None else f'run "{name}"')
    query, doc, value, rank, _, run, *_ = found_columns(frame.columns, RUN_COLUMNS.renamed(reading.columns), place)
    if value == rank:
        raise DataError(place, "this frame has ranks, but no scores.", "Add a column score, such as minus the rank.")
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
        files = sorted(os.path.join(local, file) for file in os.listdir(local) if file[0] not in "._")
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
    file = LargeFile(path, RUN_COLUMNS.renamed(reading.columns), PIECE_BYTES)
    with contextlib.suppress(RankboundsError):  # the task that reads the file says what is wrong with it
        if pair_of_names(reading.formats)[1] in (None, "trec", "parquet") and not is_compressed(path):
            file.check()
            share = file.size() // (2 * context_of(session).defaultParallelism) + 1
            return file.stretches(min(max(share, STRETCH_BYTES[0]), STRETCH_BYTES[1]))
    return []


def together(session: SparkSession, source: Source, reading: Reading, *, need_rank: bool) -> Source:
    if source.is_cut:
        return replace(source, parts=[replace(source.parts[0], begin=0, end=None)])
    if source.parts:
        table = session.read.parquet(source.place)
        return source_of_frame(table, source.name, reading, need_rank=need_rank, path=source.place)
    return source


def _expand(session: SparkSession, path: str) -> list[str]:
    if path == STANDARD_INPUT or is_pipe(path):
        raise UsageError(f'Spark cannot read "{path}", which is not a file: write it to one first.')
    if os.path.isdir(path) and (
        path.rstrip("/").endswith(TABLE_ENDINGS) or os.path.exists(os.path.join(path, WRITTEN_BY_SPARK))
    ):
        return [path]
    if ":/" in path and not os.path.exists(path):
        return _listed_by_spark(session, path)
    return expand([path])


def _listed_by_spark(session: SparkSession, path: str) -> list[str]:
    jvm = getattr(session, "_jvm", None)
    if jvm is None:
        return [path]
    try:
        place = jvm.org.apache.hadoop.fs.Path(path)
        system = place.getFileSystem(session._jsc.hadoopConfiguration())
        listed: list[str] = []
        for status in system.globStatus(place) or ():
            inside = list(system.listStatus(status.getPath())) if status.isDirectory() else []
            names = [entry.getPath().getName() for entry in inside]
            is_table = status.getPath().getName().endswith(TABLE_ENDINGS) or WRITTEN_BY_SPARK in names
            if is_table or not status.isDirectory():
                listed.append(status.getPath().toString())
            else:
                shown = (entry for entry in inside if entry.isFile() and entry.getPath().getName()[0] not in "._")
                listed += sorted(entry.getPath().toString() for entry in shown)
    except Exception as error:
        raise DataError(path, f"Spark cannot read this ({first_sentence(error)}).") from None
    if not listed:
        raise DataError(path, "there is no such file.")
    return listed


def opened_by_tasks(session: SparkSession, path: str) -> str | None:
    """Return the path by which tasks can open a file or folder; None if it is on a cluster's default file system."""
    name = without_scheme(path)
    if not os.path.exists(name) or not path:
        return None
    if name == path and not str(context_of(session).master).startswith("local"):
        default = session._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///")
        if not str(default).startswith("file:"):
            return None
    return os.path.abspath(name)
