"""Runs and judgments in files, on any path that Spark reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankbounds.collection.run import unique_names
from rankbounds.errors import DataError, RankboundsError, UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.spark import local_files, scoring, segments
from rankbounds.evaluation.engines.spark.frames import decided_for_spark, grades_of, rows_of, scored_lists
from rankbounds.evaluation.engines.spark.local_files import LocalFile
from rankbounds.evaluation.engines.spark.paths import TABLE_ENDINGS, expanded, on_this_machine
from rankbounds.evaluation.engines.spark.scores import scores_from_rows
from rankbounds.evaluation.engines.spark.scoring import SAID
from rankbounds.evaluation.engines.spark.segments import JUDGMENT, SEGMENT_SCHEMA
from rankbounds.evaluation.engines.spark.session import functions_of_spark, parallelism, session_here
from rankbounds.evaluation.engines.spark.task_errors import first_sentence, plain_errors, without_scheme
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.evaluation.scores import Scores
from rankbounds.files import trec
from rankbounds.files.compression import is_compressed
from rankbounds.files.named_columns import QRELS_COLUMNS, RUN_COLUMNS, ColumnNames
from rankbounds.files.opening import plain_name
from rankbounds.files.parquet import is_parquet
from rankbounds.files.scratch import scratch_folder
from rankbounds.files.text_blocks import first_fields
from rankbounds.files.topic_batches import LargeFile
from rankbounds.measures import Measure, parse_measures
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DRIVER_BYTES = 1 << 26
"""Judgments in a file up to this size are held by the driver and by every task."""


def evaluate_files(
    qrels: str | os.PathLike[str],
    runs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    spark: SparkSession | None = None,
    partitions: int | None = None,
    lenient: bool = False,
    **assumptions: Any,
) -> Scores:
    """Score files on any path that Spark reads: Parquet, or text in TREC's format, plain or compressed.

    Each file is a run, as elsewhere: paths may be patterns, or folders with a file for each run. A folder that is one
    table, because it is named ``*.parquet`` or Spark wrote it, is one run.

    ``lenient=True`` leaves out lines that cannot be read, and counts them; Spark must run on this machine for it, and
    the files must keep the lines of each topic together, because rows have no order otherwise.
    """
    decided = decided_for_spark(assumptions)
    chosen = parse_measures(measures)
    decided.check(chosen, in_memory=False)
    session = spark or session_here()
    given = [runs] if isinstance(runs, str | os.PathLike) else runs
    judgments, paths = os.fspath(qrels), expanded(session, [os.fspath(path) for path in given])
    try:
        with plain_errors():
            return _scores_of_files(session, [judgments, *paths], chosen, decided, partitions, lenient)
    except DataError:
        if not lenient:
            _tell_as_a_whole_file_would(session, [judgments, *paths])
        raise


def _scores_of_files(
    session: SparkSession,
    paths: list[str],
    measures: list[Measure],
    assumptions: Assumptions,
    partitions: int | None,
    lenient: bool,
) -> Scores:
    """The scores of the runs in all files but the first, which holds the judgments."""
    need_rank = assumptions.ties == "rank"
    sources = [_source(session, paths[0], QRELS_COLUMNS, JUDGMENT)]
    sources += [_source(session, path, RUN_COLUMNS, number) for number, path in enumerate(paths[1:])]
    names = unique_names([source.name for source in sources[1:]], paths[1:])
    files = [source.lines for source in sources if source.lines is not None]
    if len(files) == len(sources) and files[0].size <= DRIVER_BYTES:
        facts = scoring.facts_of(files[0], assumptions.gain, lenient)
        rows = _rows_of_files(session, files, facts, measures, assumptions, lenient)
        if rows is not None:
            return scores_from_rows(rows, names, measures, assumptions, facts.grade, paths=paths)
    if lenient:
        raise UsageError(
            "On Spark, lines that cannot be read are left out only of text files on this machine that keep the "
            "lines of each topic together. Use --engine stream, or clean the files first."
        )
    grades = grades_of(_segments(session, sources[:1], need_rank))
    lists = scored_lists(_segments(session, sources, need_rank), names, measures, assumptions, grades, partitions)
    with plain_errors():
        rows = lists.collect()
    return scores_from_rows(rows, names, measures, assumptions, grades, distinct=True, paths=paths)


def _tell_as_a_whole_file_would(session: SparkSession, paths: Sequence[str]) -> None:
    """Of several things that are wrong with files here, raise the one that reading them at once would tell."""
    with scratch_folder() as folder:
        for number, path in enumerate(paths):
            local = on_this_machine(session, path)
            if local is not None and os.path.isfile(local):
                file = LargeFile(local, RUN_COLUMNS if number else QRELS_COLUMNS, local_files.READ_BYTES)
                error = file.first_error(folder)
                if error is not None:
                    raise error from None


def _rows_of_files(
    session: SparkSession,
    files: Sequence[LocalFile],
    facts: TopicFacts,
    measures: list[Measure],
    assumptions: Assumptions,
    lenient: bool,
) -> list[Any] | None:
    """The scores of runs in files that keep the lines of each topic together: no shuffle is needed.

    None where a topic turns up in two places, which is seen when all of the file was read.
    """
    qrels, *runs = files
    cores = parallelism(session)
    ranges = [part for file in runs for part in file.ranges_of_topics(2 * cores)]
    score = scoring.scoring_files(qrels, measures, assumptions, lenient)
    # Not a frame: planning and compiling one takes seconds in a session that has just started.
    batches = session.sparkContext.parallelize(ranges, min(len(ranges), 4 * cores)).mapPartitions(score).collect()
    rows = [row for batch in batches for row in batch.to_pylist()]
    met = [(row["run"], row["query_id"]) for row in rows if row["run"] != SAID]
    seen = set(met)
    if len(seen) < len(met):
        return None
    empty = scoring.lists_of(None, 0, facts, measures, assumptions, present_only=False).to_pylist()
    for number in range(len(runs)):
        rows += [{**row, "run": number} for row in empty if (number, row["query_id"]) not in seen]
    return rows


@dataclass(frozen=True)
class _Source:
    """A path that holds one run or the judgments: ``frame`` has its segments, or tasks read the file ``lines``."""

    number: int
    name: str
    frame: Callable[[bool], DataFrame] | None = None
    lines: LocalFile | None = None


def _source(session: SparkSession, path: str, names: ColumnNames, number: int) -> _Source:
    """What a path holds, looked at on the driver: Parquet, or lines of TREC."""
    choose = trec.qrels_layout if names is QRELS_COLUMNS else trec.run_layout
    local = on_this_machine(session, path)
    if local is not None:
        LargeFile(local, names, local_files.READ_BYTES).check()
        fields, place = first_fields(local)
        layout = choose(fields, place)
        status = Path(local).stat()
        lines = LocalFile(number, local, layout, status.st_size, status.st_mtime_ns, is_compressed(local))
        return _Source(number, trec.tag_of(fields, layout) or plain_name(local), lines=lines)
    functions = functions_of_spark()
    try:
        if path.rstrip("/").endswith(TABLE_ENDINGS) or is_parquet(without_scheme(path), QRELS_COLUMNS):
            table = session.read.parquet(path)

            def packed(need_rank: bool) -> DataFrame:
                rows, columns = rows_of(table, names, path, need_rank and names is RUN_COLUMNS)
                rows = rows.withColumn("run", functions.lit(number)).drop("name")
                return rows.mapInArrow(segments.packing(path, columns), SEGMENT_SCHEMA)

            return _Source(number, plain_name(path.rstrip("/")), packed)
        text = session.read.text(path)
        first = text.filter("trim(value) != '' and not startswith(ltrim(value), '#')").first()
    except RankboundsError:
        raise
    except Exception as error:
        raise DataError(path, f"Spark cannot read this ({first_sentence(error)}).") from None
    if first is None:
        raise DataError(path, "the file holds no line of data.")
    fields = first[0].encode().split()
    layout = choose(fields, path)

    def parsed(need_rank: bool) -> DataFrame:
        return text.mapInArrow(segments.packing_lines(path, layout, number, need_rank), SEGMENT_SCHEMA)

    return _Source(number, trec.tag_of(fields, layout) or plain_name(path), parsed)


def _segments(session: SparkSession, sources: Sequence[_Source], need_rank: bool) -> DataFrame:
    """The segments of all sources; files on this machine are read by the tasks themselves, some bytes each."""
    parts = [source.frame(need_rank) for source in sources if source.frame is not None]
    files = [source.lines for source in sources if source.lines is not None]
    if files:
        ranges = [part for file in files for part in file.ranges(parallelism(session))]
        tasks = session.range(0, len(ranges), 1, len(ranges))
        parts.append(tasks.mapInArrow(local_files.reading_files(ranges, need_rank), SEGMENT_SCHEMA))
    together = parts[0]
    for part in parts[1:]:
        together = together.union(part)
    return together
