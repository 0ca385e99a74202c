"""Runs scored by Spark: tasks read and score whole topics, and their scores become one table on the driver."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.collection.inputs import Reading
from rankbounds.collection.qrels import Qrels
from rankbounds.collection.shapes import QrelsLike, RunsLike
from rankbounds.errors import DataError, RankboundsError, RankboundsWarning, UsageError, warn
from rankbounds.evaluation.engines.pieces import RunInPieces
from rankbounds.evaluation.engines.spark.sources import (
    TABLE_ENDINGS,
    Source,
    is_frame,
    opened_by_tasks,
    sources_of_runs,
    together,
)
from rankbounds.evaluation.engines.spark.tasks import (
    Found,
    Scorer,
    SharedJudgments,
    context_of,
    plain_errors,
    session_here,
)
from rankbounds.evaluation.scores import Scores
from rankbounds.evaluation.scoring import JudgedTopics, Scoring
from rankbounds.files import trec
from rankbounds.files.leniency import merge_warnings
from rankbounds.files.named_columns import QRELS_COLUMNS, find_column
from rankbounds.files.opening import Content

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def score(qrels: QrelsLike, runs: RunsLike, scoring: Scoring, reading: Reading, master: str | None = None) -> Scores:
    """Score runs by Spark.

    The judgments are a Spark frame, a path, or anything that ``rb.evaluate`` takes; the driver and every process of
    Spark's hold them. Runs are Spark frames or paths, one, a list, or a dict by name. Frames have columns for query,
    document and score, and ``run`` where they hold several runs. Paths are files, patterns and folders, here or on a
    file system that Spark knows: TREC lines, plain or compressed, or Parquet; where tasks can open the file, any format
    that ``rb.evaluate`` reads.
    """
    decided = scoring.assumptions
    if decided.ties in ("run", "line"):
        raise UsageError('Rows have no order on Spark, so line order has no meaning. Use "rank" or "trec".')
    if decided.ties_key is not None:
        raise UsageError("Spark does not support your own key for ties; use the local engine.")
    first_frame: Any = next((given for given in (qrels, runs) if is_frame(given)), None)
    session = first_frame.sparkSession if first_frame is not None else session_here(master)
    with plain_errors():
        judgments = SharedJudgments(_judgments(session, qrels, reading), decided.gain)
        need_rank = decided.ties in ("rank", "stated")
        sources = dict(enumerate(sources_of_runs(session, runs, reading, need_rank=need_rank)))
        broadcast = context_of(session).broadcast(judgments)
        job = _Job(session, Scorer(broadcast, scoring, reading), len(judgments.facts.query_ids))
        job.read(sources)
        if job.again:
            job.runs = {key: run for key, run in job.runs.items() if key[0] not in job.again}
            whole = {number: together(session, sources[number], reading, need_rank=need_rank) for number in job.again}
            job.read(whole, again=True)
        broadcast.destroy()
    if job.errors:
        raise job.errors[min(job.errors)]
    keys = sorted(job.runs)
    for number, source in sources.items():
        if number not in {found for found, _ in keys}:
            raise DataError(source.place, "there are no rows.")
    found = [job.runs[key] for key in keys]
    for run in found:
        run.add_missing(judgments.facts)
    place = "the judgments" if is_frame(qrels) else f"the judgments ({judgments.qrels.pairs.source.name})"
    for warning in merge_warnings(job.said):
        warn(warning)
    judged = JudgedTopics.of(judgments.facts, decided, place)
    named = [sources[number].name is not None for number, _ in keys]
    return judged.stack([run.finish(judged) for run in found], [run.place for run in found], named)


def _judgments(session: SparkSession, given: Any, reading: Reading) -> Qrels:
    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        local = opened_by_tasks(session, path)
        if local is not None or ":/" not in path:
            return reading.judgments(local or path)
        if not path.rstrip("/").endswith(TABLE_ENDINGS):
            (row,) = session.read.format("binaryFile").load(path).select("content").collect()
            text = Content.decompressed(path, bytes(row[0])).text()
            lines = trec.read_lines(text, trec.qrels_layout, lenient=reading.lenient)
            return reading.judgments(Qrels._of_pairs(lines.pairs, lines.numbers))
        given = session.read.parquet(path)
    return reading.judgments(_table_by_topic(given, reading) if is_frame(given) else given)


def _table_by_topic(frame: DataFrame, reading: Reading) -> Any:
    import pyarrow

    table = frame.toArrow() if hasattr(frame, "toArrow") else pyarrow.Table.from_pandas(frame.toPandas())  # PySpark 3
    if not table.num_rows:
        raise DataError("the judgments", "there are no rows.")
    column = find_column(table.column_names, QRELS_COLUMNS.renamed(reading.columns).query)
    if column is None:
        return table  # what is wrong with it is said by whoever reads it
    queries = list(map(str, table.column(column).to_pylist()))
    # Numbers by size, other ids by their text.
    natural = sorted(set(queries), key=lambda query: (0, int(query), query) if query.isdecimal() else (1, 0, query))
    place = {query: number for number, query in enumerate(natural)}
    return table.take(np.argsort([place[query] for query in queries], kind="stable"))


@dataclass
class _Job:
    session: SparkSession
    scorer: Scorer
    topics: int
    runs: dict[tuple[int, str], RunInPieces] = field(default_factory=dict)
    """By the number of the source and the run's name in it."""
    errors: dict[int, RankboundsError] = field(default_factory=dict)
    again: set[int] = field(default_factory=set)
    """Sources whose topics are spread over their parts: they are to be read again, as a whole."""
    said: list[RankboundsWarning] = field(default_factory=list)

    def read(self, sources: Mapping[int, Source], *, again: bool = False) -> None:
        for found in self._find(sources, again):
            number, source = found.source, sources[found.source]
            self.said += found.said
            if found.scored is None or (source.is_cut and isinstance(found.scored, RankboundsError)):
                self.again.add(number)
            elif isinstance(found.scored, RankboundsError):
                self.errors.setdefault(number, found.scored)
            else:
                place = f'run "{found.run}"' if found.run else source.place
                name = found.run or source.name or (source.label if source.frame is not None else None)
                new = RunInPieces(self.scorer.scoring, self.topics, place, name)
                try:
                    if not self.runs.setdefault((number, found.run), new).add(found.scored):
                        self.again.add(number)
                except DataError as error:
                    self.errors.setdefault(number, error)

    def _find(self, sources: Mapping[int, Source], again: bool) -> Iterable[Found]:
        from pyspark.sql import functions

        context = context_of(self.session)
        parts = [part for source in sources.values() for part in source.parts]
        if parts:
            tasks = min(len(parts), 4 * context.defaultParallelism)
            yield from context.parallelize(parts, tasks).mapPartitions(self.scorer.of_files).collect()
        frames = {number: source for number, source in sources.items() if source.frame is not None}
        if frames:
            several = [one.frame.withColumn("source", functions.lit(number)) for number, one in frames.items()]  # type: ignore[union-attr]
            rows = reduce(lambda one, other: one.union(other), several)
            by_topic = rows.repartition("query_id").sortWithinPartitions("query_id")
            read = {number: source.rows for number, source in frames.items() if source.rows is not None}
            yield from _collect(by_topic, self.scorer.of_rows(read))
        for number, source in sources.items():
            if source.contents is not None:
                table = functions.lit(source.place).alias("table")
                files = source.contents.select(functions.lit(number).alias("source"), "path", table, "content")
                files = files.coalesce(1) if again else files
                yield from _collect(files, self.scorer.of_contents(joined=again))


def _collect(frame: DataFrame, task: Any) -> Iterable[Found]:
    return (pickle.loads(row[0]) for row in frame.mapInArrow(task, "found binary").collect())
