"""What a user hands over for Spark, looked at on the driver: frames, paths that tasks open, paths that Spark reads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rankbounds.collection.inputs import RunToRead
from rankbounds.errors import DataError, RankboundsError, UsageError
from rankbounds.evaluation.engines.spark import row_pieces
from rankbounds.evaluation.engines.spark.file_parts import FilePart, LinesFile, ParquetPart, Pieces, WholeFile
from rankbounds.evaluation.engines.spark.packed_rows import JUDGMENTS, RunKey
from rankbounds.evaluation.engines.spark.paths import TABLE_ENDINGS, expanded, is_table, opened_by_tasks
from rankbounds.evaluation.engines.spark.row_pieces import PiecesOfBatches
from rankbounds.evaluation.engines.spark.session import context_of, functions_of_spark, parallelism
from rankbounds.evaluation.engines.spark.task_errors import first_sentence, telling
from rankbounds.files import parquet, trec
from rankbounds.files.compression import compression_of, decompressed, is_compressed
from rankbounds.files.formats import recognised
from rankbounds.files.named_columns import (
    QRELS_COLUMNS,
    RUN_COLUMNS,
    SOURCE_NAMES,
    ColumnNames,
    find_column,
    found_columns,
    wanted_columns,
)
from rankbounds.files.opening import plain_name, stream, text_of
from rankbounds.files.text_blocks import first_fields

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
TaskOfPieces = Callable[[Pieces, bool], Iterator[T]]
"""What is done with the pieces of a partition; the flag says whether they have whole lists."""
PLAIN_TABLE = ("LogicalRelation", "ParquetFileFormat", "InMemoryFileIndex")
"""What a frame is to Spark that is a Parquet table as it was read, with nothing done to it."""


@dataclass(frozen=True)
class Source:
    """A table of a run, of several, or of judgments: tasks open its ``parts``, or Spark reads its ``frame``."""

    key: RunKey | None
    """The key of the run; None where a column says of which run a row is."""
    place: str
    """What messages call the run, or all of the table."""
    label: str | None
    """What the run is called, where that is known."""
    named: bool = False
    """Did the user give that name?"""
    parts: tuple[FilePart, ...] = ()
    frame: DataFrame | None = None
    read: PiecesOfBatches | None = None
    whole: bool = False
    expected: tuple[str, ...] | None = None
    """The names that the column of runs may hold, where they were given."""

    def rows(self) -> int:
        """How many rows there are, about; a frame is counted."""
        return int(self.frame.count()) if self.frame is not None else sum(part.rows for part in self.parts)


def found_in(
    session: SparkSession, sources: Sequence[Source], task: TaskOfPieces[T], *, lenient: bool, distinct: bool
) -> RDD[T]:
    """What the task finds in all sources, distributed as they are."""
    context = context_of(session)
    parts = [part for source in sources for part in source.parts]

    def of_parts(several: Iterable[FilePart]) -> Iterator[T]:
        for part in several:
            yield from task(part.pieces(lenient=lenient, distinct=distinct), part.whole)

    found = []
    if parts:
        tasks = min(len(parts), 4 * parallelism(session))
        found.append(context.parallelize(parts, tasks).mapPartitions(telling(of_parts)))
    for source in sources:
        if source.frame is not None:
            found.append(_found_in_frame(source, task))
    return found[0] if len(found) == 1 else context.union(found)


def _found_in_frame(source: Source, task: TaskOfPieces[T]) -> RDD[T]:
    import pickle

    from rankbounds.evaluation.engines.spark.scoring import pickled

    frame, read, whole = source.frame, source.read, source.whole
    assert frame is not None
    assert read is not None

    def of_batches(batches: Iterator[Any]) -> Iterator[Any]:
        yield from pickled(task(read(batches), whole))

    rows = frame.mapInArrow(telling(of_batches), "found binary").rdd
    return rows.map(lambda row: pickle.loads(row[0]))


# ---- what was given ----


def is_frame(given: Any) -> bool:
    """Is this a frame of Spark's?"""
    return hasattr(given, "sparkSession") and hasattr(given, "dtypes")


@dataclass(frozen=True)
class Wanted:
    """How tables are to be read: their columns' names, the format of files, whether ranks are needed, which runs."""

    columns: Mapping[str, str] | None = None
    kind: str | None = None
    need_rank: bool = False
    names: tuple[str, ...] | None = None

    @property
    def of_runs(self) -> ColumnNames:
        """Under which names the columns of runs are known."""
        return RUN_COLUMNS.renamed(self.columns)


def sources_of_runs(session: SparkSession, given: Any, wanted: Wanted) -> list[Source]:
    """The runs in a frame, a path, a list of such, or a dict by name."""
    named = list(_named(given))
    if not named:
        raise UsageError("No run was given.")
    if wanted.names is not None and not (len(named) == 1 and is_frame(named[0][1])):
        raise UsageError(
            '"names" names the runs in the column "run" of one frame. Give paths and several frames as a dict.'
        )
    sources: list[Source] = []
    for name, item in named:
        if is_frame(item):
            sources.append(_source_of_frame(session, item, len(sources), name, wanted))
        else:
            files = expanded(session, [item])
            if name is not None and len(files) > 1:
                raise UsageError(f'The name "{name}" stands for one run, but {item} are {len(files)} files.')
            known = {source.place for source in sources}
            for path in files:
                if path not in known:
                    sources.append(_source_of_path(session, path, len(sources), name, wanted))
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


def _source_of_frame(session: SparkSession, frame: DataFrame, number: int, name: str | None, wanted: Wanted) -> Source:
    names = wanted.of_runs
    place = "the runs" if name is None else f'run "{name}"'
    query, doc, value, rank, _, run, *_ = found_columns(frame.columns, names, place)
    several = name is None and run is not None
    if wanted.names is not None and not several and len(wanted.names) != 1:
        raise UsageError(
            f"{len(wanted.names)} runs are named, but the frame has no column that tells them apart. "
            'Add one called "run".'
        )
    label = None if several else name or (wanted.names or ("run",))[0]
    called_so = place if several else f'run "{label}"'
    expected = wanted.names if several else None
    key = None if several else number
    if expected is not None and (len(set(expected)) < len(expected) or not expected):
        raise UsageError('"names" must name at least one run, and each once.')
    rows, called = _rows(
        frame, (query, doc, value, rank if wanted.need_rank else None, run if several else None), place
    )
    if wanted.need_rank and rank is None:
        raise DataError(place, "ties cannot be ordered by rank, because there is no column rank.")
    files = files_of_plain_table(session, frame)
    if files:
        parts = _parquet_parts(
            files, f"{place} ({os.path.dirname(files[0])})", key, label or "run", names, parallelism(session), expected
        )
        return Source(key, called_so, label, name is not None, parts=parts, expected=expected)
    read = row_pieces.pieces_of_rows(place, called, key, expected)
    return Source(key, called_so, label, name is not None, frame=rows, read=read, expected=expected)


def _rows(frame: DataFrame, columns: Sequence[str | None], place: str) -> tuple[DataFrame, dict[str, str]]:
    """The columns that matter under one name each, and what they were called; or an error that names the column."""
    functions = functions_of_spark()
    types = dict(frame.dtypes)
    query, doc, value = map(str, columns[:3])
    rank, run = columns[3:]
    for column in (query, doc):
        if types[column] not in ("string", "int", "bigint", "smallint", "tinyint"):
            problem = f'the column "{column}" is of type {types[column]}; ids are text.'
            raise DataError(place, problem, "Convert it first.")
    if not re.match(r"(tinyint|smallint|int|bigint|float|double|decimal)", types[value]):
        raise DataError(place, f'the column "{value}" is of type {types[value]}, not a number.', "Convert it first.")
    called = {"query_id": query, "doc_id": doc, "value": value}
    called |= {name: column for name, column in (("rank", rank), ("run", run)) if column is not None}
    kinds = {"value": "double", "rank": "long"}
    chosen = [
        functions.col(f"`{column}`").cast(kinds.get(name, "string")).alias(name) for name, column in called.items()
    ]
    return frame.select(*chosen), called


def files_of_plain_table(session: SparkSession, frame: DataFrame) -> list[str]:
    """The files of a frame that is a Parquet table as it was read, where tasks can open them; else none.

    Asked of Spark's own plan: whatever was done to the frame, be it a filter or another schema, shows there.
    """
    try:
        plan = frame._jdf.queryExecution().analyzed()
        if plan.getClass().getSimpleName() != PLAIN_TABLE[0]:
            return []
        relation = plan.relation()
        kinds = relation.fileFormat().getClass().getSimpleName(), relation.location().getClass().getSimpleName()
        if kinds != PLAIN_TABLE[1:] or relation.partitionSchema().size() or relation.options().size() > 1:
            return []
        files = [opened_by_tasks(session, file) for file in frame.inputFiles()]
    except Exception:  # another kind of plan or of Spark: it is read as any frame is
        return []
    if not files or not all(file is not None and _same_columns(file, frame) for file in files):
        return []
    return sorted(file for file in files if file is not None)


def _same_columns(file: str, frame: DataFrame) -> bool:
    """Has the file the columns that the frame shows? Their types must be those of ids and numbers all the same."""
    import pyarrow.parquet

    kinds = {"string": "string", "bigint": "int64", "int": "int32", "double": "double", "float": "float"}
    shown = {name: kinds.get(kind, kind) for name, kind in frame.dtypes}
    stored = {entry.name: str(entry.type).removeprefix("large_") for entry in pyarrow.parquet.read_schema(file)}
    return stored == shown


def _source_of_path(session: SparkSession, path: str, number: int, name: str | None, wanted: Wanted) -> Source:
    local = opened_by_tasks(session, path)
    if local is None:
        return _read_by_spark(session, path, number, name, wanted.of_runs, wanted.need_rank)
    if os.path.isdir(local) and not _parquet_files(local):
        return _read_by_spark(session, path, number, name, wanted.of_runs, wanted.need_rank)
    tasks = 2 * parallelism(session)
    if os.path.isdir(local) or (wanted.kind in (None, "parquet") and parquet.is_parquet(local, RUN_COLUMNS)):
        files = _parquet_files(local)
        label = name or _tag_in(files[0], local, wanted.of_runs) or plain_name(path.rstrip("/"))
        parts = _parquet_parts(files, local, number, label, wanted.of_runs, tasks)
        return Source(number, local, label, name is not None, parts=parts)
    size = Path(local).stat().st_size
    kind = wanted.kind or _kind_of(local)
    if kind != "trec":
        whole = WholeFile(number, local, size, wanted.kind, wanted.columns)
        return Source(number, local, name, name is not None, parts=(whole,))
    fields, place = first_fields(local)
    layout = trec.run_layout(fields, place)
    lines = LinesFile(number, local, layout, size, is_compressed(local))
    label = name or trec.tag_of(fields, layout) or plain_name(local)
    return Source(number, local, label, name is not None, parts=tuple(lines.parts(tasks)))


def source_of_judgments(session: SparkSession, path: str) -> Source:
    """Judgments in a file too large for the driver: lines of TREC, or Parquet."""
    local = opened_by_tasks(session, path)
    if local is None:
        return _read_by_spark(session, path, JUDGMENTS, None, QRELS_COLUMNS, need_rank=False)
    tasks = 2 * parallelism(session)
    if parquet.is_parquet(local, QRELS_COLUMNS):
        parts = _parquet_parts(_parquet_files(local), local, JUDGMENTS, "judgments", QRELS_COLUMNS, tasks)
        return Source(JUDGMENTS, local, None, parts=parts)
    if _kind_of(local) != "trec":
        raise UsageError(f"{local}: judgments that are too many for the driver must be TREC lines or Parquet.")
    fields, place = first_fields(local)
    lines = LinesFile(
        JUDGMENTS, local, trec.qrels_layout(fields, place), Path(local).stat().st_size, is_compressed(local)
    )
    return Source(JUDGMENTS, local, None, parts=tuple(lines.parts(tasks)))


def _kind_of(local: str) -> str:
    with stream(local) as file:
        return recognised(text_of(local, file.read(1 << 16)), local)


def _parquet_files(local: str) -> list[str]:
    """The files of a table: itself, or those in the folder."""
    if not os.path.isdir(local):
        return [local]
    names = sorted(name for name in os.listdir(local) if name[0] not in "._")
    return [os.path.join(local, name) for name in names if name.endswith(TABLE_ENDINGS)]


def _tag_in(file: str, path: str, names: ColumnNames) -> str | None:
    """The run that the first row of a table is of, if a column says so."""
    import pyarrow.parquet

    with parquet.damage_told(path), pyarrow.parquet.ParquetFile(file) as table:
        column = find_column(table.schema_arrow.names, names.run)
        wanted_columns(table.schema_arrow.names, names, path)
        batch = next(table.iter_batches(1, columns=[column]), None) if column is not None else None
        return None if batch is None or not batch.num_rows else str(batch.column(0)[0].as_py() or "") or None


def _parquet_parts(
    files: Sequence[str],
    path: str,
    key: RunKey | None,
    name: str,
    names: ColumnNames,
    tasks: int,
    expected: tuple[str, ...] | None = None,
) -> tuple[FilePart, ...]:
    """The row groups of a table's files for some tasks."""
    import pyarrow.parquet

    parts: list[FilePart] = []
    before = 0
    for file in files:
        with parquet.damage_told(path):
            metadata = pyarrow.parquet.read_metadata(file)
            wanted_columns(pyarrow.parquet.read_schema(file).names, names, path)
        rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        share = -(-sum(rows) // tasks)
        groups: list[int] = []
        for group, count in enumerate(rows):
            groups.append(group)
            held = sum(rows[number] for number in groups)
            if held >= share or group == len(rows) - 1:
                size = Path(file).stat().st_size
                parts.append(ParquetPart(key, name, path, file, size, names, tuple(groups), before, held, expected))
                before += held
                groups = []
            del count
    return tuple(parts)


def _read_by_spark(
    session: SparkSession, path: str, key: RunKey, name: str | None, names: ColumnNames, need_rank: bool
) -> Source:
    """A table on a file system that Spark knows: Parquet, or lines of TREC, plain or compressed."""
    own = plain_name(path.rstrip("/"))
    try:
        if path.rstrip("/").endswith(TABLE_ENDINGS) or is_table(path, of_parquet=True):
            table = session.read.parquet(path)
            query, doc, value, rank, *_ = found_columns(table.columns, names, path)
            rows, called = _rows(table, (query, doc, value, rank if need_rank else None, None), path)
            if need_rank and rank is None:
                raise DataError(path, "ties cannot be ordered by rank, because there is no column rank.")
            return Source(
                key, path, name or own, name is not None, frame=rows, read=row_pieces.pieces_of_rows(path, called, key)
            )
        choose = trec.qrels_layout if names.of_judgments else trec.run_layout
        contents = session.read.format("binaryFile").load(path).select("content")
        head = contents.selectExpr("substring(content, 1, 6)").first()
        if head is not None and compression_of(bytes(head[0])) is not None:
            content = contents.first()
            assert content is not None
            fields, place = trec.first_line(text_of(path, decompressed(bytes(content[0]), path)))
            layout = choose(fields, place)
            read, frame, whole = row_pieces.pieces_of_contents(path, layout, key), contents, True
        else:
            frame = session.read.text(path)
            first = frame.filter("trim(value) != '' and not startswith(ltrim(value), '#')").first()
            if first is None:
                raise DataError(path, "the file holds no line of data.")
            fields = first[0].encode().split()
            layout = choose(fields, path)
            read, whole = row_pieces.pieces_of_lines(path, layout, key, need_rank), False
    except RankboundsError:
        raise
    except Exception as error:
        raise DataError(path, f"Spark cannot read this ({first_sentence(error)}).") from None
    label = name or trec.tag_of(fields, layout) or own
    return Source(key, path, label, name is not None, frame=frame, read=read, whole=whole)


def judgments_in_frame(
    frame: DataFrame, labels: str | Sequence[str] | None, columns: Mapping[str, str] | None
) -> Source:
    """Judgments in a frame that is too large for the driver, of one source where several made labels."""
    functions = functions_of_spark()
    names = QRELS_COLUMNS.renamed(columns)
    source = find_column(frame.columns, names.source)
    if labels is not None:
        if source is None or not isinstance(labels, str) or "," in labels:
            raise UsageError(
                "Of judgments that are too many for the driver, labels are chosen by one name of a column "
                f'"{SOURCE_NAMES[0]}".'
            )
        frame = frame.filter(functions.col(source) == labels)
    query, doc, value, *_ = found_columns(frame.columns, names, "the judgments")
    rows, called = _rows(frame, (query, doc, value, None, None), "the judgments")
    if source is not None and labels is None:
        pair = rows.groupBy("query_id", "doc_id").agg(
            functions.min("value").alias("a"), functions.max("value").alias("b")
        )
        apart = pair.filter("a != b").first()
        if apart is not None:
            raise DataError(
                "the judgments",
                f'sources disagree on document "{apart["doc_id"]}" of topic "{apart["query_id"]}" '
                f'(column "{source}"): {apart["a"]:g} and {apart["b"]:g}.',
                'Choose one with labels="human" or the like.',
            )
        rows = rows.dropDuplicates(["query_id", "doc_id"])
    read = row_pieces.pieces_of_rows("the judgments", called, JUDGMENTS)
    return Source(JUDGMENTS, "the judgments", None, frame=rows, read=read)


def arrow_table(frame: DataFrame) -> Any:
    """All rows of a frame on the driver, as a table of Arrow."""
    import pyarrow

    rows = frame.mapInArrow(_as_bytes, "found binary").collect()
    batches = [batch for row in rows for batch in pyarrow.ipc.open_stream(bytes(row[0]))]
    return pyarrow.Table.from_batches(batches) if batches else None


def rows_of_files(files: Sequence[str]) -> int:
    """How many rows Parquet files have."""
    return sum(map(parquet.rows_of, files))


def table_of_files(files: Sequence[str]) -> Any:
    """All rows of Parquet files as a table of Arrow."""
    import pyarrow
    import pyarrow.parquet

    return pyarrow.concat_tables([pyarrow.parquet.read_table(file) for file in files], promote_options="permissive")


def _as_bytes(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow

    from rankbounds.evaluation.engines.spark.arrow_columns import column_of

    for batch in batches:
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pyarrow.RecordBatch.from_arrays([column_of([sink.getvalue().to_pybytes()])], ["found"])
