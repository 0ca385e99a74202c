"""The same scoring on Spark: runs and judgments are brought together by topic, and every task scores its topics.

Rows of runs and judgments go through one shuffle by topic, sorted by topic within each partition, so that a task holds
some topics at a time however large its partition is. Scores of topics stay distributed; means, bounds and variances
come from sums that Spark merges. Ties across partitions, runs that are missing from some of them and rows that stand
twice in different ones need no care of their own: all rows of a topic meet in one task. What tasks do is in
``spark_tasks``.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankbounds import spark_tasks
from rankbounds.arrays import Floats
from rankbounds.errors import DataError, RankboundsError, RankboundsWarning, UsageError
from rankbounds.evaluate import DEFAULT_MEASURES, Assumptions, fractions_lost
from rankbounds.files import trec
from rankbounds.files.columns import (
    DOC_NAMES,
    QRELS_COLUMNS,
    QUERY_NAMES,
    RANK_NAMES,
    RUN_COLUMNS,
    SOURCE_NAMES,
    ColumnNames,
    find_column,
)
from rankbounds.files.opening import plain_name
from rankbounds.judgments import POOLED_NOT_JUDGED
from rankbounds.measures import Measure, parse_measures
from rankbounds.runs import unique_names
from rankbounds.scores import ALL, RunNotes, Scores
from rankbounds.spark_tasks import JUDGMENT, LIST_SCHEMA, SEGMENT_SCHEMA, UNJUDGED

RUN_NAMES = ("run", "run_id", "system", "tag")


def evaluate(
    runs_df: Any,
    qrels_df: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    runs: Sequence[str] | None = None,
    labels: str | None = None,
    partitions: int | None = None,
    **assumptions: Any,
) -> SparkScores:
    """Score the runs in one Spark frame against the judgments in another.

    ``runs_df`` has columns for query, document and score, named as elsewhere, and ``run`` where it holds several runs;
    ``runs`` names them where that is known, which saves a pass over the data. ``qrels_df`` has query, document and
    grade; ``labels`` chooses by its column ``source``. ``partitions`` is the number of tasks (default: four for each
    core). The other options are those of ``rankbounds.evaluate``.
    """
    decided = _decided(assumptions)
    chosen = parse_measures(measures)
    decided.check(chosen)
    spark = runs_df.sparkSession
    rows = _rows(runs_df, RUN_COLUMNS, "the runs", need_rank=decided.ties == "rank")
    judgments = _judgments(qrels_df, labels)
    with _plain_errors():
        names = list(runs) if runs is not None else _run_names(rows)
        segments = _numbered(rows, names, spark).mapInArrow(spark_tasks.pack, SEGMENT_SCHEMA)
        return _scored(segments, judgments, names, chosen, decided, partitions)


def _scored(
    runs: Any, qrels: Any, names: list[str], measures: list[Measure], assumptions: Assumptions, partitions: int | None
) -> SparkScores:
    """Bring segments of runs and of judgments together and score them."""
    grades = _grades(qrels)
    tasks = partitions or 4 * runs.sparkSession.sparkContext.defaultParallelism
    by_topic = runs.union(qrels).repartition(tasks, "query_id").sortWithinPartitions("query_id")
    lists = by_topic.mapInArrow(spark_tasks.scoring(measures, assumptions, grades, names), LIST_SCHEMA)
    return SparkScores(lists.persist(), names, measures, assumptions, grades)


def evaluate_files(
    qrels: str,
    runs: str | Sequence[str],
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    spark: Any = None,
    partitions: int | None = None,
    **assumptions: Any,
) -> Scores:
    """Score files on any path that Spark reads: Parquet, or text in TREC's format. Each path is a run."""
    decided = _decided(assumptions)
    chosen = parse_measures(measures)
    decided.check(chosen)
    session = spark or session_here()
    paths = [runs] if isinstance(runs, str) else list(runs)
    need_rank = decided.ties == "rank"
    with _plain_errors():
        judgments, _ = _segments(session, qrels, QRELS_COLUMNS, JUDGMENT, False)
        parts, names = zip(
            *(_segments(session, path, RUN_COLUMNS, number, need_rank) for number, path in enumerate(paths)),
            strict=True,
        )
        together = parts[0]
        for part in parts[1:]:
            together = together.union(part)
        scores = _scored(together, judgments, unique_names(list(names), paths), chosen, decided, partitions)
        try:
            return scores.collect()
        finally:
            scores.lists.unpersist()


def _decided(assumptions: dict[str, Any]) -> Assumptions:
    decided = Assumptions.of(**assumptions)
    if decided.ties in ("run", "line"):
        raise UsageError('Rows have no order on Spark, so that line order has no meaning there. Use "rank" or "trec".')
    if decided.tie_key is not None or decided.gain.grade_of:
        raise UsageError("A key of your own for ties, and words for grades, are known to the local engines only.")
    return decided


def session_here() -> Any:
    """The Spark session of this process, or a new one on this machine."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    sql = _pyspark_sql()
    active = sql.SparkSession.getActiveSession()
    if active is not None:
        return active
    builder = sql.SparkSession.builder.appName("rankbounds").config("spark.ui.showConsoleProgress", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # what goes wrong in a task is told in one sentence
    return session


def _segments(session: Any, path: str, names: ColumnNames, number: int, need_rank: bool) -> tuple[Any, str]:
    """A path as segments of one run (or of judgments), and the run's name: Parquet, or lines of TREC."""
    functions = _functions()
    try:
        if path.rstrip("/").endswith((".parquet", ".parq")) or _holds_parquet(path):
            rows = (
                _rows(session.read.parquet(path), names, path, need_rank)
                .withColumn("run", functions.lit(number))
                .drop("name")
            )
            return rows.mapInArrow(spark_tasks.pack, SEGMENT_SCHEMA), plain_name(path.rstrip("/"))
        text = session.read.text(path)
        first = text.filter("trim(value) != '' and not startswith(ltrim(value), '#')").first()
    except RankboundsError:
        raise
    except Exception as error:
        raise DataError(f"{path}: Spark cannot read this ({_first_sentence(error)}).") from None
    if first is None:
        raise DataError(f"{path}: the file holds no line of data.")
    fields = first[0].encode().split()
    layout = (trec.qrels_layout if names is QRELS_COLUMNS else trec.run_layout)(fields, path)
    tag = None if layout.tag is None else fields[layout.tag].decode()
    pack = spark_tasks.packing_lines(path, layout, number, need_rank)
    return text.mapInArrow(pack, SEGMENT_SCHEMA), tag or plain_name(path)


def _holds_parquet(path: str) -> bool:
    return os.path.isdir(path) and any(name.endswith(".parquet") for name in os.listdir(path))


def _rows(frame: Any, names: ColumnNames, what: str, need_rank: bool = False) -> Any:
    """The columns that matter under one name each, or an error that names the column."""
    functions = _functions()
    types = dict(frame.dtypes)

    def needed(known: tuple[str, ...], meaning: str) -> str:
        found = find_column(frame.columns, known)
        if found is None:
            raise DataError(
                f"{what}: no column for the {meaning}. Known names are {', '.join(known)}; this frame has "
                f"{', '.join(frame.columns)}. Rename one."
            )
        return found

    query, doc = needed(QUERY_NAMES, "query id"), needed(DOC_NAMES, "document id")
    value = needed(names.value, names.value[0])
    for column in (query, doc):
        if types[column] not in ("string", "int", "bigint", "smallint", "tinyint"):
            raise DataError(
                f'{what}: the column "{column}" is of type {types[column]}; ids are text. Convert it first.'
            )
    if not re.match(r"(tinyint|smallint|int|bigint|float|double|decimal)", types[value]):
        raise DataError(f'{what}: the column "{value}" is of type {types[value]}, not a number. Convert it first.')
    rank = find_column(frame.columns, RANK_NAMES)
    if need_rank and rank is None:
        raise DataError(f"{what}: ties cannot be ordered by rank, because there is no column rank.")
    run = find_column(frame.columns, RUN_NAMES) if names is RUN_COLUMNS else None
    column = functions.col
    return frame.select(
        (column(f"`{run}`").cast("string") if run else functions.lit("run")).alias("name"),
        column(f"`{query}`").cast("string").alias("query_id"),
        column(f"`{doc}`").cast("string").alias("doc_id"),
        column(f"`{value}`").cast("double").alias("value"),
        (column(f"`{rank}`").cast("long") if need_rank else functions.lit(None).cast("long")).alias("rank"),
    )


def _judgments(frame: Any, labels: str | None) -> Any:
    """Segments of judgments, of one source where several made labels."""
    functions = _functions()
    source = find_column(frame.columns, SOURCE_NAMES)
    if labels is not None and source is None:
        raise DataError('the judgments: labels cannot be chosen by source, because there is no column "source".')
    if labels is not None:
        frame = frame.filter(functions.col(source) == labels)
    rows = _rows(frame, QRELS_COLUMNS, "the judgments").drop("name").withColumn("run", functions.lit(JUDGMENT))
    if source is not None and labels is None:
        pair = rows.groupBy("query_id", "doc_id")
        with _plain_errors():
            apart = (
                pair.agg(functions.min("value").alias("a"), functions.max("value").alias("b")).filter("a != b").first()
            )
        if apart is not None:
            raise DataError(
                f'the judgments: sources disagree on document "{apart["doc_id"]}" of topic "{apart["query_id"]}" '
                f'(column "source"): {apart["a"]:g} and {apart["b"]:g}. Choose one with labels="human" or the like.'
            )
        rows = rows.dropDuplicates(["query_id", "doc_id"])
    return rows.mapInArrow(spark_tasks.pack, SEGMENT_SCHEMA)


def _run_names(rows: Any) -> list[str]:
    found = sorted(str(row[0]) for row in rows.select("name").distinct().collect() if row[0] is not None)
    if not found:
        raise DataError("the runs: there is no row with a run's name.")
    return found


def _grades(judgments: Any) -> Floats:
    """The distinct grades of the collection, by which gains are scaled and bounded."""
    rows = judgments.mapInArrow(spark_tasks.distinct_values, "value double").collect()
    if not rows:
        raise DataError("the judgments: there is no row.")
    found = np.unique([row[0] for row in rows])
    return np.unique(np.maximum(found[found != POOLED_NOT_JUDGED], 0.0))


def _numbered(rows: Any, names: list[str], spark: Any) -> Any:
    """The same rows with the run's number in place of its name."""
    functions = _functions()
    if len(names) == 1:
        return rows.drop("name").withColumn("run", functions.lit(0))
    table = spark.createDataFrame(list(enumerate(names)), "run int, name string")
    return rows.join(functions.broadcast(table), "name", "left").drop("name")


@dataclass(frozen=True, eq=False)
class SparkScores:
    """Scores of topics that stay distributed: ``lists`` has a row for each run and topic."""

    lists: Any
    runs: list[str]
    measures: list[Measure]
    assumptions: Assumptions
    grades: Floats

    def to_spark(self) -> Any:
        """The tidy table as a Spark frame: run, query_id, measure, value, low, high."""
        functions = _functions()
        labels = functions.array(*(functions.lit(str(measure)) for measure in self.measures))
        names = functions.array(*(functions.lit(run) for run in self.runs))
        zipped = functions.explode(functions.arrays_zip(labels.alias("measure"), "value", "low", "high")).alias("one")
        scored = self.lists.filter("run >= 0 and value is not null")
        return (
            scored.select(names[functions.col("run")].alias("run"), "query_id", zipped)
            .select("run", "query_id", "one.measure", "one.value", "one.low", "one.high")
            .filter("value is not null")
        )

    @cached_property
    def _sums(self) -> dict[int, Any]:
        """For each run what Spark merged: counts, sums and sums of squares."""
        functions = _functions()
        parts = [functions.count("judged").alias("topics"), functions.sum("judged").alias("judged")]
        parts += [functions.sum(functions.col("tied").cast("int")).alias("tied")]
        parts += [functions.sum("tie_range").alias("tie_range")]
        parts += [functions.sum(functions.col("missing").cast("int")).alias("missing")]
        for number in range(len(self.measures)):
            for name in ("value", "low", "high"):
                parts.append(functions.sum(functions.col(name)[number]).alias(f"{name}{number}"))
            parts.append(functions.sum(functions.col("value")[number] ** 2).alias(f"square{number}"))
            parts.append(functions.count(functions.col("value")[number]).alias(f"count{number}"))
        with _plain_errors():
            rows = self.lists.filter("run >= 0").groupBy("run").agg(*parts).collect()
        return {row["run"]: row for row in rows}

    def summary(self) -> list[dict[str, Any]]:
        """For each run and measure the mean, its bounds and the variance over topics, from merged sums."""
        found = []
        for number, run in enumerate(self.runs):
            row = self._sums.get(number)
            for at, measure in enumerate(self.measures):
                if row is None or not row[f"count{at}"]:
                    continue
                count = row[f"count{at}"]
                mean = row[f"value{at}"] / count
                spread = max(0.0, row[f"square{at}"] - count * mean**2)
                low, high = row[f"low{at}"], row[f"high{at}"]
                divisor = 1 if measure.total == "sum" else count
                found.append(
                    {
                        "run": run,
                        "measure": str(measure),
                        "value": row[f"value{at}"] / divisor,
                        "low": None if low is None else low / divisor,
                        "high": None if high is None else high / divisor,
                        "variance": spread / (count - 1) if count > 1 else None,
                        "topics": count,
                    }
                )
        return found

    def mean(self) -> Scores:
        """The means as ``Scores`` with one topic called ``"all"``, without collecting topics."""
        shape = (len(self.runs), 1, len(self.measures))
        value, low, high = (np.full(shape, np.nan) for _ in range(3))
        judged = np.full(shape[:2], np.nan)
        labels = [str(measure) for measure in self.measures]
        for one in self.summary():
            place = self.runs.index(one["run"]), 0, labels.index(one["measure"])
            value[place] = one["value"]
            low[place] = np.nan if one["low"] is None else one["low"]
            high[place] = np.nan if one["high"] is None else one["high"]
        for number, row in self._sums.items():
            judged[number] = row["judged"] / row["topics"] if row["topics"] else np.nan
        return Scores(
            self.runs, [ALL], self.measures, value, low, high, judged,
            notes=[RunNotes() for _ in self.runs], bounds=self.assumptions.bounds, topics=self.assumptions.topics,
        )  # fmt: skip

    def collect(self) -> Scores:
        """The matrix of topics and runs on the driver, for tests, discriminative power and tables.

        Topics stand in the order of their ids; warnings are those of ``rankbounds.evaluate``.
        """
        with _plain_errors():
            rows = self.lists.collect()
        unknown: list[list[str]] = [[] for _ in self.runs]
        for row in rows:
            if row["run"] <= UNJUDGED:
                unknown[UNJUDGED - row["run"]].append(row["query_id"])
        rows = [row for row in rows if row["run"] > UNJUDGED]
        query_ids = sorted({row["query_id"] for row in rows}, key=_natural)
        if all(row["missing"] for row in rows):
            raise DataError("No topic of the runs is among the judged ones.")
        place = {query: number for number, query in enumerate(query_ids)}
        run, topic = [row["run"] for row in rows], [place[row["query_id"]] for row in rows]
        shape = (len(self.runs), len(query_ids), len(self.measures))
        arrays: dict[str, Any] = {name: np.full(shape, np.nan) for name in ("value", "low", "high")}
        arrays |= {name: np.full(shape[:2], np.nan) for name in ("judged", "tie_range", "tied", "missing")}
        for name, array in arrays.items():
            array[run, topic] = np.array([row[name] for row in rows], dtype=float)
        tie_range, tied, missing = (arrays.pop(name) for name in ("tie_range", "tied", "missing"))
        notes = []
        for number in range(len(self.runs)):
            known = ~np.isnan(tie_range[number])
            scored = np.count_nonzero(~np.isnan(arrays["judged"][number]))
            notes.append(
                RunNotes(
                    [query_ids[at] for at in np.flatnonzero(missing[number] == 1).tolist()],
                    sorted(unknown[number], key=_natural),
                    int(np.count_nonzero(tied[number] == 1)),
                    float(tie_range[number, known].sum() / scored) if known.any() else None,
                )
            )
        without = sorted({row["query_id"] for row in rows if not row["relevant"]}, key=_natural)
        scores = Scores(
            self.runs, query_ids, self.measures, **arrays, notes=notes, bounds=self.assumptions.bounds,
            without_relevant=without, topics=self.assumptions.topics,
        )  # fmt: skip
        for message in [*scores.warnings(), *fractions_lost(self.grades, self.measures)]:
            warnings.warn(message, RankboundsWarning, stacklevel=2)
        return scores


def _natural(query: str) -> tuple[Any, ...]:
    """Numbers by size, other ids by their text."""
    return (0, int(query), query) if query.isdecimal() else (1, 0, query)


class _plain_errors:  # noqa: N801
    """Turns a failure inside a Spark task into the one sentence that says what is wrong."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, RankboundsError) or not isinstance(error, Exception):
            return
        found = re.findall(r"rankbounds\.errors\.(\w+): (.*)", str(error))
        if found:
            raise (UsageError if found[-1][0] == "UsageError" else DataError)(found[-1][1].strip()) from None
        lacking = re.search(r"ModuleNotFoundError: No module named '(\w+)'", str(error))
        if lacking:
            raise UsageError(
                f"Spark's Python workers lack the package {lacking[1]}: install it there, or let the environment "
                f"variable PYSPARK_PYTHON name a Python that has it (this one is {sys.executable})."
            ) from None


def _first_sentence(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:200]


def _functions() -> Any:
    _pyspark_sql()
    from pyspark.sql import functions

    return functions


def _pyspark_sql() -> Any:
    try:
        import pyarrow  # noqa: F401
        from pyspark import sql
    except ImportError as error:
        raise UsageError(f'Spark needs further packages: pip install "rankbounds[spark]" ({error}).') from None
    return sql
