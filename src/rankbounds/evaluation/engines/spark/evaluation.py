"""Runs scored by Spark: tasks read and score whole topics, and their scores become one table on the driver."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.collection.inputs import Formats, Reading
from rankbounds.collection.qrels import Qrels
from rankbounds.errors import DataError, RankboundsError, RankboundsWarning, UsageError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.pieces import JudgedTopics, RunInPieces, Scoring, gather
from rankbounds.evaluation.engines.spark.paths import TABLE_ENDINGS, opened_by_tasks
from rankbounds.evaluation.engines.spark.session import context_of, plain_errors, session_here
from rankbounds.evaluation.engines.spark.sources import Source, is_frame, sources_of_runs, together
from rankbounds.evaluation.engines.spark.tasks import Found, Scorer, SharedJudgments
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, MeasureNames
from rankbounds.evaluation.scores import Scores
from rankbounds.files import trec
from rankbounds.files.compression import decompress
from rankbounds.files.leniency import merge_warnings
from rankbounds.files.named_columns import QRELS_COLUMNS, find_column
from rankbounds.files.opening import text_of
from rankbounds.measures import parse_measures
from rankbounds.rankings.preparation import Preparation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def evaluate(
    qrels: Any,
    runs: Any,
    measures: MeasureNames = DEFAULT_MEASURES,
    *,
    labels: str | Sequence[str] | None = None,
    formats: Formats | None = None,
    columns: Mapping[str, str] | None = None,
    lenient: bool = False,
    master: str | None = None,
    preparation: Preparation | None = None,
    **assumptions: Any,
) -> Scores:
    """Score runs by Spark; ``rb.evaluate(..., engine="spark")`` is the same.

    Parameters
    ----------
    qrels : Spark frame, path, or anything that ``rb.evaluate`` takes
        The judgments, which the driver and every process of Spark's hold.
    runs : Spark frame, path, list of these, or dict by name
        Frames have columns for query, document and score, and ``run`` where they hold several runs. Paths are files,
        patterns and folders, here or on a file system that Spark knows: TREC lines, plain or compressed, or Parquet;
        where tasks can open the file, any format that ``rb.evaluate`` reads.
    measures : str, Measure, or iterable of them
        As for ``rb.evaluate``.
    labels, formats, columns, lenient, preparation
        As for ``rb.evaluate``.
    master : str, optional
        The cluster, such as ``"spark://host:7077"``, where no session of Spark runs yet.
    **assumptions
        The other options of ``rb.evaluate``, but for those that need an order of rows.

    Returns
    -------
    Scores
        As of every engine.

    Examples
    --------
    >>> from rankbounds import spark
    >>> scores = spark.evaluate("qrels.txt", "runs/", ["AP"], master="local[2]")  # doctest: +SKIP
    """
    decided = _decided(assumptions)
    scoring = Scoring(parse_measures(measures), decided, preparation or Preparation())
    decided.check(scoring.measures, in_memory=False)
    first_frame = next((given for given in (qrels, runs) if is_frame(given)), None)
    session = first_frame.sparkSession if first_frame is not None else session_here(master)
    reading = Reading(formats, labels, columns, lenient, 1, decided.gain)
    with plain_errors():
        judgments = SharedJudgments(_judgments(session, qrels, reading), decided.gain)
        need_rank = decided.ties == "rank"
        sources = dict(enumerate(sources_of_runs(session, runs, reading, need_rank=need_rank)))
        broadcast = context_of(session).broadcast(judgments)
        job = _Job(session, Scorer(broadcast, scoring, reading), len(judgments.facts.query_ids))
        outcome = job.outcome(sources)
        if outcome.again:
            whole = {
                number: together(session, sources[number], reading, need_rank=need_rank) for number in outcome.again
            }
            outcome.replace(job.outcome(whole, again=True))
        broadcast.destroy()
    if outcome.errors:
        raise outcome.errors[min(outcome.errors)]
    keys = sorted(outcome.runs)
    for number, source in sources.items():
        if number not in {found for found, _ in keys}:
            raise DataError(source.place, "there is no row.")
    for key in keys:
        outcome.runs[key].add_missing(judgments.facts)
    place = "the judgments" if is_frame(qrels) else f"the judgments ({judgments.qrels.pairs.source.name})"
    for warning in merge_warnings(outcome.said):
        warn(warning)
    judged = JudgedTopics.of(judgments.facts, decided, place)
    return gather([outcome.runs[key] for key in keys], judged, [sources[number].name is not None for number, _ in keys])


def _decided(assumptions: dict[str, Any]) -> Assumptions:
    """What was assumed, if it has a meaning on Spark."""
    decided = Assumptions(**assumptions)
    if decided.ties in ("run", "line"):
        raise UsageError('Rows have no order on Spark, so that line order has no meaning there. Use "rank" or "trec".')
    if decided.ties_key is not None:
        raise UsageError("A key of your own for ties is known to the local engines only.")
    return decided


def _judgments(session: SparkSession, given: Any, reading: Reading) -> Qrels:
    """The judgments, on the driver."""
    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        local = opened_by_tasks(session, path)
        if local is not None or ":/" not in path:
            return reading.judgments(local or path)
        if not path.rstrip("/").endswith(TABLE_ENDINGS):
            (row,) = session.read.format("binaryFile").load(path).select("content").collect()
            lines = trec.read_lines(
                text_of(path, decompress(bytes(row[0]), path)), trec.qrels_layout, lenient=reading.lenient
            )
            return Qrels(lines.pairs, lines.numbers)
        given = session.read.parquet(path)
    return reading.judgments(_table_by_topic(given, reading) if is_frame(given) else given)


def _table_by_topic(frame: DataFrame, reading: Reading) -> Any:
    """All rows of a frame of judgments as a table of Arrow: the rows of a frame have no order, so topics get one."""
    import pyarrow

    table = frame.toArrow() if hasattr(frame, "toArrow") else pyarrow.Table.from_pandas(frame.toPandas())  # PySpark 3
    if not table.num_rows:
        raise DataError("the judgments", "there is no row.")
    column = find_column(table.column_names, QRELS_COLUMNS.renamed(reading.columns).query)
    if column is None:
        return table  # what is wrong with it is said by whoever reads it
    queries = list(map(str, table.column(column).to_pylist()))
    place = {query: number for number, query in enumerate(sorted(set(queries), key=_natural))}
    return table.take(np.argsort([place[query] for query in queries], kind="stable"))


def _natural(query: str) -> tuple[Any, ...]:
    """Numbers by size, other ids by their text."""
    return (0, int(query), query) if query.isdecimal() else (1, 0, query)


@dataclass
class _Outcome:
    """What tasks found: runs by the number of their source and their name in it, errors, sources to read again."""

    runs: dict[tuple[int, str], RunInPieces]
    errors: dict[int, RankboundsError]
    again: set[int]
    """Sources whose topics are spread over their parts."""
    said: list[RankboundsWarning]

    def replace(self, whole: _Outcome) -> None:
        """Take over what was found in sources that were read again."""
        self.runs = {key: run for key, run in self.runs.items() if key[0] not in self.again} | whole.runs
        self.errors |= whole.errors
        self.said += whole.said


@dataclass(frozen=True)
class _Job:
    session: SparkSession
    scorer: Scorer
    topics: int

    def outcome(self, sources: Mapping[int, Source], *, again: bool = False) -> _Outcome:
        """Read and score these sources."""
        outcome = _Outcome({}, {}, set(), [])
        for found in self._found(sources, again):
            number, source = found.source, sources[found.source]
            outcome.said += found.said
            if found.scored is None or (source.is_cut and isinstance(found.scored, RankboundsError)):
                outcome.again.add(number)
            elif isinstance(found.scored, RankboundsError):
                outcome.errors.setdefault(number, found.scored)
            else:
                place = f'run "{found.run}"' if found.run else source.place
                name = found.run or source.name or (source.label if source.frame is not None else None)
                run = outcome.runs.setdefault(
                    (number, found.run), RunInPieces(self.scorer.scoring, self.topics, place, name)
                )
                try:
                    if not run.add(found.scored):
                        outcome.again.add(number)
                except DataError as error:
                    outcome.errors.setdefault(number, error)
        return outcome

    def _found(self, sources: Mapping[int, Source], again: bool) -> Iterable[Found]:
        """What tasks find, in the order of the parts of each source."""
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
            yield from _collected(by_topic, self.scorer.of_rows(read))
        for number, source in sources.items():
            if source.contents is not None:
                table = functions.lit(source.place).alias("table")
                files = source.contents.select(functions.lit(number).alias("source"), "path", table, "content")
                files = files.coalesce(1) if again else files
                yield from _collected(files, self.scorer.of_contents(joined=again))


def _collected(frame: DataFrame, task: Any) -> Iterable[Found]:
    return (pickle.loads(row[0]) for row in frame.mapInArrow(task, "found binary").collect())
