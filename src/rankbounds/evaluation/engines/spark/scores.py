"""Scores of topics that stay distributed, and the table of them on the driver."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.qrels import as_qrels
from rankbounds.errors import DataError, RankboundsWarning, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.spark.scoring import SAID, UNJUDGED
from rankbounds.evaluation.engines.spark.session import functions_of_spark
from rankbounds.evaluation.engines.spark.task_errors import plain_errors
from rankbounds.evaluation.evaluate import fractions_lost, gathered
from rankbounds.evaluation.score_sheet import ScoreSheet
from rankbounds.evaluation.scores import ALL, RunNotes, Scores
from rankbounds.files.leniency import told_once
from rankbounds.measures import Measure
from rankbounds.rankings.join import no_topic_judged
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False)
class SparkScores:
    """Scores of topics that stay distributed: ``lists`` has a row for each run and topic."""

    lists: DataFrame
    runs: list[str]
    measures: list[Measure]
    assumptions: Assumptions
    grades: Floats

    def to_spark(self) -> DataFrame:
        """The tidy table as a Spark frame: run, query_id, measure, value, low, high."""
        functions = functions_of_spark()
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
        functions = functions_of_spark()
        parts = [functions.count("judged").alias("topics"), functions.sum("judged").alias("judged")]
        parts += [functions.sum(functions.col("tied").cast("int")).alias("tied")]
        parts += [functions.sum("tie_range").alias("tie_range")]
        parts += [functions.sum(functions.col("missing").cast("int")).alias("missing")]
        for number in range(len(self.measures)):
            for name in ("value", "low", "high"):
                parts.append(functions.sum(functions.col(name)[number]).alias(f"{name}{number}"))
            parts.append(functions.sum(functions.col("value")[number] ** 2).alias(f"square{number}"))
            parts.append(functions.count(functions.col("value")[number]).alias(f"count{number}"))
        with plain_errors():
            rows = self.lists.filter("run >= 0").groupBy("run").agg(*parts).collect()
        return {row["run"]: row for row in rows}

    def summary(self) -> list[dict[str, Any]]:
        """For each run and measure the mean, its bounds and the variance over topics, from merged sums."""
        rows = []
        for number, run in enumerate(self.runs):
            sums = self._sums.get(number)
            for place, measure in enumerate(self.measures):
                if sums is None or not sums[f"count{place}"]:
                    continue
                count = sums[f"count{place}"]
                mean = sums[f"value{place}"] / count
                spread = max(0.0, sums[f"square{place}"] - count * mean**2)
                low, high = sums[f"low{place}"], sums[f"high{place}"]
                total = partial(_total, measure, count)
                rows.append(
                    {
                        "run": run,
                        "measure": str(measure),
                        "value": total(sums[f"value{place}"]),
                        "low": None if low is None else total(low),
                        "high": None if high is None else total(high),
                        "variance": spread / (count - 1) if count > 1 else None,
                        "topics": count,
                    }
                )
        return rows

    def mean(self) -> Scores:
        """The means as ``Scores`` with one topic called ``"all"``, without collecting topics."""
        shape = (len(self.runs), 1, len(self.measures))
        value, low, high = (np.full(shape, np.nan) for _ in range(3))
        judged = np.full(shape[:2], np.nan)
        labels = [str(measure) for measure in self.measures]
        for row in self.summary():
            place = self.runs.index(row["run"]), 0, labels.index(row["measure"])
            value[place] = row["value"]
            low[place] = np.nan if row["low"] is None else row["low"]
            high[place] = np.nan if row["high"] is None else row["high"]
        for number, sums in self._sums.items():
            judged[number] = sums["judged"] / sums["topics"] if sums["topics"] else np.nan
        tied = any(sums["tied"] for sums in self._sums.values())
        facts = _collection(self.assumptions, self.grades)
        return Scores(
            self.runs, [ALL], self.measures, value, low, high, judged,
            notes=[RunNotes() for _ in self.runs], bounds=self.assumptions.bounds, topics=self.assumptions.topics,
            open=self.assumptions.open, most_relevant=self.assumptions.most_relevant,
            outer=[
                measure
                for measure in self.measures
                if self.assumptions.bounds_are_outer(measure, facts, tied=tied)
            ],
        )  # fmt: skip

    def collect(self) -> Scores:
        """The matrix of topics and runs on the driver, for tests, discriminative power and tables.

        Topics stand in the order of their ids; warnings are those of ``rankbounds.evaluation.evaluate``.
        """
        with plain_errors():
            rows = self.lists.collect()
        return scores_from_rows(rows, self.runs, self.measures, self.assumptions, self.grades, distinct=True)


def _collection(assumptions: Assumptions, grades: Floats) -> TopicFacts:
    """What the grades alone say of the whole collection, which stands on no machine."""
    return TopicFacts(as_qrels([("any", "any", 0.0)]), assumptions.gain, grades=grades[~np.isnan(grades)])


def scores_from_rows(
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
    said = [pickle.loads(row["query_id"]) for row in rows if row["run"] == SAID]
    for row in rows:
        if SAID < row["run"] <= UNJUDGED:
            unknown[UNJUDGED - row["run"]].append(_text(row))
    rows = [row for row in rows if row["run"] > UNJUDGED]
    queries = [_text(row) for row in rows]
    query_ids = sorted(set(queries), key=_natural)
    place = {query: number for number, query in enumerate(query_ids)}
    run, topic = np.array([row["run"] for row in rows]), np.array([place[query] for query in queries])
    columns = {
        name: np.array([row[name] for row in rows], dtype=float)
        for name in ("value", "low", "high", "judged", "tie_range", "tied", "missing")
    }
    parts = np.array([row["parts"] for row in rows], dtype=float) if rows[0]["parts"] is not None else None
    results = []
    for number, name in enumerate(runs):
        sheet = ScoreSheet(len(query_ids), measures, assumptions)
        mine = np.flatnonzero(run == number)
        for column in ("value", "low", "high", "judged", "tie_range", "tied"):
            getattr(sheet, column)[topic[mine]] = columns[column][mine]
        if sheet.parts is not None and parts is not None:
            sheet.parts[:, topic[mine]] = np.moveaxis(parts[mine].reshape(mine.size, -1, len(measures)), 1, 0)
        missing = np.sort(topic[mine[columns["missing"][mine] == 1]]).tolist()
        if len(missing) == len(query_ids):
            where = f'run "{name}"' if paths is None else paths[number + 1]
            judgments = "the judgments" if paths is None else f"the judgments ({paths[0]})"
            raise _no_topic_judged(where, unknown[number], judgments, query_ids)
        absent = [query_ids[topic_number] for topic_number in missing]
        results.append(sheet.result(name, absent, sorted(unknown[number], key=_natural)))
    without = sorted({query for query, row in zip(queries, rows, strict=True) if not row["relevant"]}, key=_natural)
    collection = _collection(assumptions, grades)
    scores = gathered(results, runs, query_ids, measures, assumptions, collection, without)
    messages = [*scores.warnings(), *fractions_lost(grades, measures, distinct)]
    for warning in [*told_once(said), *map(RankboundsWarning, messages)]:
        warn(warning)
    return scores


def _total(measure: Measure, count: int, total: float) -> float:
    """What stands for all topics, of a sum over so many of them."""
    if measure.total == "sum":
        return total
    return exp(total / count) if measure.total == "geometric" else total / count


def _text(row: Any) -> str:
    """The topic that a row is of, or what else stands there."""
    return bytes(row["query_id"]).decode("utf-8", "surrogateescape")


def _no_topic_judged(where: str, unknown: list[str], judgments: str, query_ids: list[str]) -> DataError:
    if not unknown:
        return DataError(where, "no row of this run could be used.")
    return no_topic_judged(where, min(unknown, key=_natural), judgments, query_ids[0])


def _natural(query: str) -> tuple[Any, ...]:
    """Numbers by size, other ids by their text."""
    return (0, int(query), query) if query.isdecimal() else (1, 0, query)
