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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, as_qrels
from rankbounds.collection.run import unique_names
from rankbounds.errors import DataError, RankboundsError, RankboundsWarning, UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines import spark_tasks
from rankbounds.evaluation.engines.spark_tasks import JUDGMENT, LIST_SCHEMA, SAID, SEGMENT_SCHEMA, UNJUDGED
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES, fractions_lost, gathered
from rankbounds.evaluation.score_sheet import ScoreSheet
from rankbounds.evaluation.scores import ALL, RunNotes, Scores
from rankbounds.files import trec
from rankbounds.files.formats import is_parquet
from rankbounds.files.named_columns import (
    DOC_NAMES,
    QRELS_COLUMNS,
    QUERY_NAMES,
    RANK_NAMES,
    RUN_COLUMNS,
    SOURCE_NAMES,
    ColumnNames,
    find_column,
)
from rankbounds.files.opening import STANDARD_INPUT, expand, is_compressed, plain_name
from rankbounds.files.scratch import scratch_folder
from rankbounds.files.topic_batches import LargeFile, first_fields, told_once
from rankbounds.measures import Measure, parse_measures
from rankbounds.rankings.topic_facts import TopicFacts

DRIVER_BYTES = 1 << 26
"""Judgments in a file up to this size are held by the driver and by every task."""
TABLE_ENDINGS = (".parquet", ".parq")
WRITTEN_BY_SPARK = "_SUCCESS"
"""The file that Spark leaves in a folder when all parts of a table are written."""
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
    ``runs`` names them where that is known, which saves a pass over the data (rows of any other run are an error).
    ``qrels_df`` has query, document and grade; ``labels`` chooses by its column ``source``. ``partitions`` is the
    number of tasks (default: four for each core). The other options are those of ``rankbounds.evaluation.evaluate``.
    """
    decided = _decided(assumptions)
    chosen = parse_measures(measures)
    decided.check(chosen)
    spark = runs_df.sparkSession
    rows, columns = _rows(runs_df, RUN_COLUMNS, "the runs", need_rank=decided.ties == "rank")
    judgments = _judgments(qrels_df, labels)
    with _plain_errors():
        names = _names(rows, runs, columns)
        pack = spark_tasks.packing("the runs", columns)
        segments = _numbered(rows, names, "run" in columns, spark).mapInArrow(pack, SEGMENT_SCHEMA).union(judgments)
        grades = _grades(judgments)
        lists = _lists(segments, names, chosen, decided, grades, partitions)
        return SparkScores(lists.persist(), names, chosen, decided, grades)


def _lists(
    segments: Any,
    names: list[str],
    measures: list[Measure],
    assumptions: Assumptions,
    grades: Floats,
    partitions: int | None,
) -> Any:
    """Bring segments of runs and of judgments together by topic and score them."""
    tasks = partitions or 4 * _parallelism(segments.sparkSession)
    by_topic = segments.repartition(tasks, "query_id").sortWithinPartitions("query_id")
    return by_topic.mapInArrow(spark_tasks.scoring(measures, assumptions, grades, names), LIST_SCHEMA)


def evaluate_files(
    qrels: str,
    runs: str | Sequence[str],
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    spark: Any = None,
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
    decided = _decided(assumptions)
    chosen = parse_measures(measures)
    decided.check(chosen)
    session = spark or session_here()
    paths = _expanded(session, [runs] if isinstance(runs, str) else runs)
    try:
        with _plain_errors():
            return _scores_of_files(session, [qrels, *paths], chosen, decided, partitions, lenient)
    except DataError:
        if not lenient:
            _tell_as_a_whole_file_would(session, [qrels, *paths])
        raise


def _scores_of_files(
    session: Any,
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
        facts = spark_tasks.facts_of(files[0], assumptions.gain, lenient)
        rows = _rows_of_files(session, files, facts, measures, assumptions, lenient)
        if rows is not None:
            return _gathered(rows, names, measures, assumptions, facts.grade, paths=paths)
    if lenient:
        raise UsageError(
            "On Spark, lines that cannot be read are left out only of text files on this machine that keep the "
            "lines of each topic together. Use --engine stream, or clean the files first."
        )
    grades = _grades(_segments(session, sources[:1], need_rank))
    lists = _lists(_segments(session, sources, need_rank), names, measures, assumptions, grades, partitions)
    with _plain_errors():
        rows = lists.collect()
    return _gathered(rows, names, measures, assumptions, grades, distinct=True, paths=paths)


def _tell_as_a_whole_file_would(session: Any, paths: Sequence[str]) -> None:
    """Of several things that are wrong with files here, raise the one that reading them at once would tell."""
    with scratch_folder() as folder:
        for number, path in enumerate(paths):
            local = _on_this_machine(session, path)
            if local is not None and os.path.isfile(local):
                file = LargeFile(local, RUN_COLUMNS if number else QRELS_COLUMNS, spark_tasks.READ_BYTES)
                error = file.first_error(folder)
                if error is not None:
                    raise error from None


def _expanded(session: Any, paths: Sequence[str]) -> list[str]:
    """Each file is a run, whichever way it is named: by its path, by a pattern, or by the folder that holds it.

    A folder that is one table (its name ends like a Parquet file, or Spark wrote it) is one run.
    """
    found: dict[str, None] = {}
    for path in paths:
        if path == STANDARD_INPUT or _is_pipe(path):
            raise UsageError(f'Spark cannot read "{path}", which is no file: write it to one first.')
        if _is_table(path):
            found[path] = None
        elif ":/" in path and not os.path.exists(path):
            found.update(dict.fromkeys(_listed_by_spark(session, path)))
        else:
            found.update(dict.fromkeys(expand([path])))
    return list(found)


def _is_pipe(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _is_table(folder: str) -> bool:
    named_so = folder.rstrip("/").endswith(TABLE_ENDINGS)
    return os.path.isdir(folder) and (named_so or os.path.exists(os.path.join(folder, WRITTEN_BY_SPARK)))


def _listed_by_spark(session: Any, path: str) -> list[str]:
    """The same for a path on a file system that Spark knows."""
    jvm = getattr(session, "_jvm", None)
    if jvm is None:
        return [path]
    try:
        place = jvm.org.apache.hadoop.fs.Path(path)
        system = place.getFileSystem(session._jsc.hadoopConfiguration())
        found = []
        for status in system.globStatus(place) or ():
            inside = list(system.listStatus(status.getPath())) if status.isDirectory() else []
            names = [one.getPath().getName() for one in inside]
            if (
                not status.isDirectory()
                or status.getPath().getName().endswith(TABLE_ENDINGS)
                or WRITTEN_BY_SPARK in names
            ):
                found.append(status.getPath().toString())
            else:
                files = (one for one in inside if one.isFile() and one.getPath().getName()[0] not in "._")
                found += sorted(one.getPath().toString() for one in files)
    except Exception as error:
        raise DataError(path, f"Spark cannot read this ({_first_sentence(error)}).") from None
    if not found:
        raise DataError(path, f"there is no such file.")
    return found


def _rows_of_files(
    session: Any,
    files: Sequence[spark_tasks.LocalFile],
    facts: TopicFacts,
    measures: list[Measure],
    assumptions: Assumptions,
    lenient: bool,
) -> list[Any] | None:
    """The scores of runs in files that keep the lines of each topic together: no shuffle is needed.

    None where a topic turns up in two places, which is seen when all of the file was read.
    """
    qrels, *runs = files
    cores = _parallelism(session)
    ranges = [part for file in runs for part in file.ranges_of_topics(2 * cores)]
    score = spark_tasks.scoring_files(qrels, measures, assumptions, lenient)
    # Not a frame: planning and compiling one takes seconds in a session that has just started.
    batches = session.sparkContext.parallelize(ranges, min(len(ranges), 4 * cores)).mapPartitions(score).collect()
    rows = [row for batch in batches for row in batch.to_pylist()]
    met = [(row["run"], row["query_id"]) for row in rows if row["run"] != SAID]
    seen = set(met)
    if len(seen) < len(met):
        return None
    empty = spark_tasks.lists_of(None, 0, facts, measures, assumptions, present_only=False).to_pylist()
    for number in range(len(runs)):
        rows += [{**row, "run": number} for row in empty if (number, row["query_id"]) not in seen]
    return rows


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


@dataclass(frozen=True)
class _Source:
    """A path that holds one run or the judgments: ``frame`` has its segments, or tasks read the file ``lines``."""

    number: int
    name: str
    frame: Callable[[bool], Any] | None = None
    lines: spark_tasks.LocalFile | None = None


def _source(session: Any, path: str, names: ColumnNames, number: int) -> _Source:
    """What a path holds, looked at on the driver: Parquet, or lines of TREC."""
    choose = trec.qrels_layout if names is QRELS_COLUMNS else trec.run_layout
    local = _on_this_machine(session, path)
    if local is not None:
        LargeFile(local, names, spark_tasks.READ_BYTES).check()
        fields, place = first_fields(local)
        layout = choose(fields, place)
        status = Path(local).stat()
        lines = spark_tasks.LocalFile(number, local, layout, status.st_size, status.st_mtime_ns, is_compressed(local))
        return _Source(number, trec.tag_of(fields, layout) or plain_name(local), lines=lines)
    functions = _functions()
    try:
        if path.rstrip("/").endswith(TABLE_ENDINGS) or is_parquet(_without_scheme(path), QRELS_COLUMNS):
            table = session.read.parquet(path)

            def packed(need_rank: bool) -> Any:
                rows, columns = _rows(table, names, path, need_rank and names is RUN_COLUMNS)
                rows = rows.withColumn("run", functions.lit(number)).drop("name")
                return rows.mapInArrow(spark_tasks.packing(path, columns), SEGMENT_SCHEMA)

            return _Source(number, plain_name(path.rstrip("/")), packed)
        text = session.read.text(path)
        first = text.filter("trim(value) != '' and not startswith(ltrim(value), '#')").first()
    except RankboundsError:
        raise
    except Exception as error:
        raise DataError(path, f"Spark cannot read this ({_first_sentence(error)}).") from None
    if first is None:
        raise DataError(path, f"the file holds no line of data.")
    fields = first[0].encode().split()
    layout = choose(fields, path)

    def parsed(need_rank: bool) -> Any:
        return text.mapInArrow(spark_tasks.packing_lines(path, layout, number, need_rank), SEGMENT_SCHEMA)

    return _Source(number, trec.tag_of(fields, layout) or plain_name(path), parsed)


def _segments(session: Any, sources: Sequence[_Source], need_rank: bool) -> Any:
    """The segments of all sources; files on this machine are read by the tasks themselves, some bytes each."""
    parts = [source.frame(need_rank) for source in sources if source.frame is not None]
    files = [source.lines for source in sources if source.lines is not None]
    if files:
        ranges = [part for file in files for part in file.ranges(_parallelism(session))]
        tasks = session.range(0, len(ranges), 1, len(ranges))
        parts.append(tasks.mapInArrow(spark_tasks.reading_files(ranges, need_rank), SEGMENT_SCHEMA))
    together = parts[0]
    for part in parts[1:]:
        together = together.union(part)
    return together


def _on_this_machine(session: Any, path: str) -> str | None:
    """The name of a text file which the tasks of this session can open as the driver does, or None."""
    name = path.removeprefix("file://") if path.startswith("file:///") else path
    context = getattr(session, "sparkContext", None)
    if context is None or not str(context.master).startswith("local") or not os.path.isfile(name):
        return None
    return None if is_parquet(name, QRELS_COLUMNS) else os.path.abspath(name)


def _parallelism(session: Any) -> int:
    return int(session.sparkContext.defaultParallelism)


def _without_scheme(path: str) -> str:
    return re.sub(r"^file:/+", "/", path)


def _rows(frame: Any, names: ColumnNames, what: str, need_rank: bool = False) -> tuple[Any, dict[str, str]]:
    """The columns that matter under one name each, and what they were called; or an error that names the column."""
    functions = _functions()
    types = dict(frame.dtypes)

    def needed(known: tuple[str, ...], meaning: str) -> str:
        found = find_column(frame.columns, known)
        if found is None:
            raise DataError(
                what,
                f"no column for the {meaning}. Known names are {', '.join(known)}; this frame has "
                f"{', '.join(frame.columns)}. Rename one.",
            )
        return found

    query, doc = needed(QUERY_NAMES, "query id"), needed(DOC_NAMES, "document id")
    value = needed(names.value, names.value[0])
    for column in (query, doc):
        if types[column] not in ("string", "int", "bigint", "smallint", "tinyint"):
            raise DataError(
                what, f'the column "{column}" is of type {types[column]}; ids are text.', "Convert it first."
            )
    if not re.match(r"(tinyint|smallint|int|bigint|float|double|decimal)", types[value]):
        raise DataError(what, f'the column "{value}" is of type {types[value]}, not a number.', "Convert it first.")
    rank = find_column(frame.columns, RANK_NAMES)
    if need_rank and rank is None:
        raise DataError(what, f"ties cannot be ordered by rank, because there is no column rank.")
    run = find_column(frame.columns, RUN_NAMES) if names is RUN_COLUMNS else None
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


def _judgments(frame: Any, labels: str | None) -> Any:
    """Segments of judgments, of one source where several made labels."""
    functions = _functions()
    source = find_column(frame.columns, SOURCE_NAMES)
    if labels is not None and source is None:
        raise DataError("the judgments", 'labels cannot be chosen by source, because there is no column "source".')
    if labels is not None:
        chosen = frame.filter(functions.col(source) == labels)
        if chosen.isEmpty():
            found = ", ".join(sorted(f'"{row[0]}"' for row in frame.select(source).distinct().head(10)))
            raise DataError(
                "the judgments", f'no row has the source "{labels}" (column "{source}"); there are {found}.'
            )
        frame = chosen
    rows, columns = _rows(frame, QRELS_COLUMNS, "the judgments")
    rows = rows.drop("name").withColumn("run", functions.lit(JUDGMENT))
    if source is not None and labels is None:
        pair = rows.groupBy("query_id", "doc_id")
        with _plain_errors():
            apart = (
                pair.agg(functions.min("value").alias("a"), functions.max("value").alias("b")).filter("a != b").first()
            )
        if apart is not None:
            raise DataError(
                "the judgments",
                f'sources disagree on document "{apart["doc_id"]}" of topic "{apart["query_id"]}" '
                f'(column "{source}"): {apart["a"]:g} and {apart["b"]:g}. Choose one with labels="human" or the like.',
            )
        rows = rows.dropDuplicates(["query_id", "doc_id"])
    return rows.mapInArrow(spark_tasks.packing("the judgments", columns), SEGMENT_SCHEMA)


def _names(rows: Any, given: Sequence[str] | None, columns: dict[str, str]) -> list[str]:
    """What the runs are called: as was said, or as their column says."""
    if "run" not in columns:
        if given is not None and len(given) != 1:
            raise UsageError(
                f'{len(given)} runs are named, but the frame has no column that tells them apart. Add one called "run".'
            )
        return list(given or ["run"])
    if given is not None:
        if len(set(given)) < len(given) or not given:
            raise UsageError('"runs" must name at least one run, and each once.')
        return list(given)
    found = sorted(str(row[0]) for row in rows.select("name").distinct().collect() if row[0] is not None)
    if not found:
        raise DataError("the runs", f'there is no row with a run\'s name (column "{columns["run"]}").')
    return found


def _grades(judgments: Any) -> Floats:
    """The distinct grades of the collection, by which gains are scaled and bounded."""
    rows = judgments.mapInArrow(spark_tasks.distinct_values, "value double").collect()
    if not rows:
        raise DataError("the judgments", "there is no row.")
    return _without_pooled(np.array([row[0] for row in rows]))


def _without_pooled(grades: Floats) -> Floats:
    return np.unique(np.maximum(grades[grades != POOLED_NOT_JUDGED], 0.0))


def _numbered(rows: Any, names: list[str], named: bool, spark: Any) -> Any:
    """The same rows with the run's number in place of its name, which is kept as ``stranger`` if it is not known."""
    functions = _functions()
    if not named:
        return rows.drop("name").withColumn("run", functions.lit(0))
    if len(names) == 1:
        numbered = rows.withColumn("run", functions.when(functions.col("name") == functions.lit(names[0]), 0))
    else:
        table = spark.createDataFrame(list(enumerate(names)), "run int, name string")
        numbered = rows.join(functions.broadcast(table), "name", "left")
    stranger = functions.when(functions.col("run").isNull(), functions.col("name"))
    return numbered.withColumn("stranger", stranger).drop("name")


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
        query = functions.col("query_id").cast("string").alias("query_id")
        return (
            scored.select(names[functions.col("run")].alias("run"), query, zipped)
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

        Topics stand in the order of their ids; warnings are those of ``rankbounds.evaluation.evaluate``.
        """
        with _plain_errors():
            rows = self.lists.collect()
        return _gathered(rows, self.runs, self.measures, self.assumptions, self.grades, distinct=True)


def _gathered(
    rows: list[Any],
    runs: list[str],
    measures: list[Measure],
    assumptions: Assumptions,
    grades: Floats,
    distinct: bool = False,
    paths: Sequence[str] | None = None,
) -> Scores:
    """Rows of lists as the table that every engine gives, with its warnings.

    ``paths`` are those of the judgments and of the runs, where they are files.
    """
    unknown: list[list[str]] = [[] for _ in runs]
    said = [_text(row) for row in rows if row["run"] == SAID]
    for row in rows:
        if SAID < row["run"] <= UNJUDGED:
            unknown[UNJUDGED - row["run"]].append(_text(row))
    rows = [row for row in rows if row["run"] > UNJUDGED]
    queries = [_text(row) for row in rows]
    query_ids = sorted(set(queries), key=_natural)
    place = {query: number for number, query in enumerate(query_ids)}
    run, topic = np.array([row["run"] for row in rows]), np.array([place[query] for query in queries])
    found = {
        name: np.array([row[name] for row in rows], dtype=float)
        for name in ("value", "low", "high", "judged", "tie_range", "tied", "missing")
    }
    parts = np.array([row["parts"] for row in rows], dtype=float) if rows[0]["parts"] is not None else None
    results = []
    for number, name in enumerate(runs):
        sheet = ScoreSheet(len(query_ids), measures, assumptions)
        mine = np.flatnonzero(run == number)
        for column in ("value", "low", "high", "judged", "tie_range", "tied"):
            getattr(sheet, column)[topic[mine]] = found[column][mine]
        if sheet.parts is not None and parts is not None:
            sheet.parts[:, topic[mine]] = np.moveaxis(parts[mine].reshape(mine.size, -1, len(measures)), 1, 0)
        missing = np.sort(topic[mine[found["missing"][mine] == 1]]).tolist()
        if len(missing) == len(query_ids):
            where = f'run "{name}"' if paths is None else paths[number + 1]
            judgments = "the judgments" if paths is None else f"the judgments ({paths[0]})"
            raise _no_topic_judged(where, unknown[number], judgments, query_ids)
        results.append(sheet.result(name, [query_ids[at] for at in missing], sorted(unknown[number], key=_natural)))
    without = sorted({query for query, row in zip(queries, rows, strict=True) if not row["relevant"]}, key=_natural)
    collection = TopicFacts(as_qrels([("any", "any", 0.0)]), assumptions.gain, grades=grades[~np.isnan(grades)])
    scores = gathered(results, runs, query_ids, measures, assumptions, collection, without)
    for message in [*told_once(said), *scores.warnings(), *fractions_lost(grades, measures, distinct)]:
        warnings.warn(message, RankboundsWarning, stacklevel=3)
    return scores


def _text(row: Any) -> str:
    """The topic that a row is of, or what else stands there."""
    return bytes(row["query_id"]).decode("utf-8", "surrogateescape")


def _no_topic_judged(where: str, unknown: list[str], judgments: str, query_ids: list[str]) -> DataError:
    if not unknown:
        return DataError(where, f"no row of this run could be used.")
    return DataError(
        where,
        f"no topic of this run is among the judged ones. The run has topics like "
        f'"{min(unknown, key=_natural)}", {judgments} like "{query_ids[0]}".',
    )


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
        if type(error).__module__.partition(".")[0] in ("py4j", "pyspark") and "Traceback" not in str(error):
            file = re.search(r"(?:file|path):? ['\"]?((?:\w+:)?/[^\s'\",]+)", str(error))
            where = f"{_without_scheme(file[1]).rstrip('.')}: " if file else ""
            raise DataError(f"{where}Spark cannot read this ({_first_sentence(error)}).") from None


def _first_sentence(error: Exception) -> str:
    """What is wrong, of all that Java tells: the innermost cause, without the names of classes."""
    text = str(error).strip() or type(error).__name__
    causes = re.findall(r"^(?:Caused by: |: )[\w.$]+(?:Exception|Error): (.*)", text, re.MULTILINE)
    return (causes[-1] if causes else text.splitlines()[0]).strip().rstrip(".")[:200]


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
