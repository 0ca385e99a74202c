"""Runs and judgments in Spark frames: rows are packed, brought together by topic, and scored."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.qrels import POOLED_NOT_JUDGED
from rankbounds.errors import DataError, UsageError, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.spark import scoring, segments
from rankbounds.evaluation.engines.spark.scores import SparkScores
from rankbounds.evaluation.engines.spark.scoring import LIST_SCHEMA
from rankbounds.evaluation.engines.spark.segments import JUDGMENT, SEGMENT_SCHEMA
from rankbounds.evaluation.engines.spark.session import functions_of_spark, parallelism
from rankbounds.evaluation.engines.spark.task_errors import plain_errors
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.files.named_columns import (
    QRELS_COLUMNS,
    RUN_COLUMNS,
    SOURCE_NAMES,
    ColumnNames,
    find_column,
    found_columns,
)
from rankbounds.measures import Measure, parse_measures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Given = ParamSpec("Given")


def _also_in_the_old_order(evaluate: Callable[Given, SparkScores]) -> Callable[Given, SparkScores]:
    """For one release, runs may come before judgments and their names be called ``runs``, with a warning."""

    @wraps(evaluate)
    def accepting(*given: Given.args, **options: Given.kwargs) -> SparkScores:
        ordered: list[Any] = list(given)
        if len(ordered) > 1 and "runs" in options:
            options["names"] = options.pop("runs")
            _warn_of('the names of runs as "runs"', 'give them as "names"')
        if len(ordered) > 1 and _looks_like_runs(ordered[0]) and _looks_like_judgments(ordered[1]):
            ordered[:2] = ordered[1::-1]
            _warn_of("runs before judgments", "give the judgments first, as everywhere")
        return evaluate(*ordered, **options)

    return accepting


def _warn_of(old: str, remedy: str) -> None:
    message = f"spark.evaluate: {old} will not be understood by the next release; {remedy}."
    warn(message, DeprecationWarning)


def _is_frame(given: Any) -> bool:
    return hasattr(given, "sparkSession") and hasattr(given, "dtypes")


def _looks_like_judgments(given: Any) -> bool:
    """Is it a frame with a column that only judgments have?"""
    only_of_judgments = tuple(name for name in QRELS_COLUMNS.value if name not in RUN_COLUMNS.value)
    return _is_frame(given) and find_column(given.columns, only_of_judgments) is not None


def _looks_like_runs(given: Any) -> bool:
    """Is it a frame with scores and without grades? Judgments may call their grades scores too."""
    has_scores = _is_frame(given) and find_column(given.columns, RUN_COLUMNS.value) is not None
    return has_scores and not _looks_like_judgments(given)


def _reject_all_but_frames(**given: Any) -> None:
    for name, frame in given.items():
        if isinstance(frame, str | os.PathLike):
            raise UsageError(
                f'spark.evaluate takes Spark frames, and {name} is a path ("{os.fspath(frame)}"): call '
                "spark.evaluate_files(qrels, runs) for files."
            )
        if not _is_frame(frame):
            raise UsageError(
                f"spark.evaluate takes Spark frames, and {name} is of the type {type(frame).__name__}: make a frame of "
                "it with createDataFrame, or call rankbounds.evaluate."
            )


@_also_in_the_old_order
def evaluate(
    qrels: DataFrame,
    runs: DataFrame,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    names: Sequence[str] | None = None,
    labels: str | None = None,
    partitions: int | None = None,
    **assumptions: Any,
) -> SparkScores:
    """Score the runs in one Spark frame against the judgments in another.

    Parameters
    ----------
    qrels
        A frame with columns for query, document and grade, named as elsewhere.
    runs
        A frame with columns for query, document and score, and ``run`` where it holds several runs.
    measures
        As for ``rankbounds.evaluate``.
    names
        The runs' names where they are known, which saves a pass over the data; rows of any other run are an error.
    labels
        Of judgments with a column ``source``, the source to take.
    partitions
        The number of tasks (default: four for each core).
    **assumptions
        The other options of ``rankbounds.evaluate``, but for those that need an order of rows.

    Returns
    -------
    SparkScores
        Scores of topics, which stay distributed until they are collected.

    """
    _reject_all_but_frames(qrels=qrels, runs=runs)
    decided = decided_for_spark(assumptions)
    chosen = parse_measures(measures)
    decided.check(chosen, in_memory=False)
    spark = runs.sparkSession
    rows, columns = rows_of(runs, RUN_COLUMNS, "the runs", need_rank=decided.ties == "rank")
    judgments = _judgments(qrels, labels)
    with plain_errors():
        run_names = _names(rows, names, columns)
        pack = segments.packing("the runs", columns)
        packed = _numbered(rows, run_names, "run" in columns, spark).mapInArrow(pack, SEGMENT_SCHEMA)
        grades = grades_of(judgments)
        lists = scored_lists(packed.union(judgments), run_names, chosen, decided, grades, partitions)
        return SparkScores(lists.persist(), run_names, chosen, decided, grades)


def scored_lists(
    segments: DataFrame,
    names: list[str],
    measures: list[Measure],
    assumptions: Assumptions,
    grades: Floats,
    partitions: int | None,
) -> DataFrame:
    """Bring segments of runs and of judgments together by topic and score them."""
    tasks = partitions or 4 * parallelism(segments.sparkSession)
    by_topic = segments.repartition(tasks, "query_id").sortWithinPartitions("query_id")
    return by_topic.mapInArrow(scoring.scoring(measures, assumptions, grades, names), LIST_SCHEMA)


def decided_for_spark(assumptions: dict[str, Any]) -> Assumptions:
    """What was assumed, if it has a meaning on Spark."""
    decided = Assumptions(**assumptions)
    if decided.ties in ("run", "line"):
        raise UsageError('Rows have no order on Spark, so that line order has no meaning there. Use "rank" or "trec".')
    if decided.ties_key is not None or decided.gain.grade_of:
        raise UsageError("A key of your own for ties, and words for grades, are known to the local engines only.")
    return decided


def rows_of(
    frame: DataFrame, names: ColumnNames, what: str, need_rank: bool = False
) -> tuple[DataFrame, dict[str, str]]:
    """The columns that matter under one name each, and what they were called; or an error that names the column."""
    functions = functions_of_spark()
    types = dict(frame.dtypes)

    query, doc, value, rank, _, run = found_columns(frame.columns, names, what)
    for column in (query, doc):
        if types[column] not in ("string", "int", "bigint", "smallint", "tinyint"):
            raise DataError(
                what, f'the column "{column}" is of type {types[column]}; ids are text.', "Convert it first."
            )
    if not re.match(r"(tinyint|smallint|int|bigint|float|double|decimal)", types[value]):
        raise DataError(what, f'the column "{value}" is of type {types[value]}, not a number.', "Convert it first.")
    if need_rank and rank is None:
        raise DataError(what, "ties cannot be ordered by rank, because there is no column rank.")
    column = functions.col
    called = {"query_id": query, "doc_id": doc, "value": value} | ({"run": run} if run else {})
    rows = frame.select(
        (column(f"`{run}`").cast("string") if run else functions.lit("run")).alias("name"),
        column(f"`{query}`").cast("string").alias("query_id"),
        column(f"`{doc}`").cast("string").alias("doc_id"),
        column(f"`{value}`").cast("double").alias("value"),
        (column(f"`{rank}`").cast("long") if need_rank else functions.lit(None).cast("long")).alias("rank"),
    )
    return rows, called | ({"rank": rank} if need_rank and rank else {})


def _judgments(frame: DataFrame, labels: str | None) -> DataFrame:
    """Segments of judgments, of one source where several made labels."""
    functions = functions_of_spark()
    source = find_column(frame.columns, SOURCE_NAMES)
    if labels is not None:
        if source is None:
            raise DataError("the judgments", 'labels cannot be chosen by source, because there is no column "source".')
        chosen = frame.filter(functions.col(source) == labels)
        if chosen.isEmpty():
            sources = ", ".join(sorted(f'"{row[0]}"' for row in frame.select(source).distinct().head(10)))
            problem = f'no row has the source "{labels}" (column "{source}"); there are {sources}.'
            raise DataError("the judgments", problem)
        frame = chosen
    rows, columns = rows_of(frame, QRELS_COLUMNS, "the judgments")
    rows = rows.drop("name").withColumn("run", functions.lit(JUDGMENT))
    if source is not None and labels is None:
        pair = rows.groupBy("query_id", "doc_id")
        with plain_errors():
            apart = (
                pair.agg(functions.min("value").alias("a"), functions.max("value").alias("b")).filter("a != b").first()
            )
        if apart is not None:
            raise DataError(
                "the judgments",
                f'sources disagree on document "{apart["doc_id"]}" of topic "{apart["query_id"]}" '
                f'(column "{source}"): {apart["a"]:g} and {apart["b"]:g}.',
                'Choose one with labels="human" or the like.',
            )
        rows = rows.dropDuplicates(["query_id", "doc_id"])
    return rows.mapInArrow(segments.packing("the judgments", columns), SEGMENT_SCHEMA)


def _names(rows: DataFrame, given: Sequence[str] | None, columns: dict[str, str]) -> list[str]:
    """What the runs are called: as was said, or as their column says."""
    if "run" not in columns:
        if given is not None and len(given) != 1:
            raise UsageError(
                f'{len(given)} runs are named, but the frame has no column that tells them apart. Add one called "run".'
            )
        return list(given or ["run"])
    if given is not None:
        if len(set(given)) < len(given) or not given:
            raise UsageError('"names" must name at least one run, and each once.')
        return list(given)
    named = sorted(str(row[0]) for row in rows.select("name").distinct().collect() if row[0] is not None)
    if not named:
        raise DataError("the runs", f'there is no row with a run\'s name (column "{columns["run"]}").')
    return named


def grades_of(judgments: DataFrame) -> Floats:
    """The distinct grades of the collection, by which gains are scaled and bounded."""
    rows = judgments.mapInArrow(segments.distinct_values, "value double").collect()
    if not rows:
        raise DataError("the judgments", "there is no row.")
    return _without_pooled(np.array([row[0] for row in rows]))


def _without_pooled(grades: Floats) -> Floats:
    return np.unique(np.maximum(grades[grades != POOLED_NOT_JUDGED], 0.0))


def _numbered(rows: DataFrame, names: list[str], named: bool, spark: SparkSession) -> DataFrame:
    """The same rows with the run's number in place of its name, which is kept as ``stranger`` if it is not known."""
    functions = functions_of_spark()
    if not named:
        return rows.drop("name").withColumn("run", functions.lit(0))
    if len(names) == 1:
        numbered = rows.withColumn("run", functions.when(functions.col("name") == functions.lit(names[0]), 0))
    else:
        table = spark.createDataFrame(list(enumerate(names)), "run int, name string")
        numbered = rows.join(functions.broadcast(table), "name", "left")
    stranger = functions.when(functions.col("run").isNull(), functions.col("name"))
    return numbered.withColumn("stranger", stranger).drop("name")
