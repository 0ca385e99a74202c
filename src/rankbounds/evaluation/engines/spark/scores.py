"""Scores of topics that stay distributed: their sums on the driver, and from there whatever needs no topic."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.qrels import as_qrels
from rankbounds.columns.ids import Ids
from rankbounds.errors import DataError, RankboundsWarning, UnknownNameError, UsageError, did_you_mean, warn
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.spark.arrow_columns import column_of, texts
from rankbounds.evaluation.engines.spark.lists import Lists, Sums, some_lists
from rankbounds.evaluation.engines.spark.packed_rows import RunKey
from rankbounds.evaluation.engines.spark.session import context_of, parallelism
from rankbounds.evaluation.engines.spark.task_errors import plain_errors
from rankbounds.evaluation.evaluate import fractions_lost, gathered
from rankbounds.evaluation.run_notes import RunNotes
from rankbounds.evaluation.score_differences import differences
from rankbounds.evaluation.score_sheet import ScoreSheet
from rankbounds.evaluation.scores import ALL, Scores
from rankbounds.files.leniency import told_once
from rankbounds.measures import Measure
from rankbounds.rankings.join import no_topic_judged
from rankbounds.rankings.preparation import Preparation
from rankbounds.rankings.topic_facts import TopicFacts

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

TIDY_SCHEMA = "run string, query_id string, measure string, value double, low double, high double"


@dataclass(frozen=True)
class PairedSums:
    """Sums over topics of the first run minus the second. Arrays have an axis of measures."""

    topics: Floats
    """On how many topics both have a value."""
    mean: Floats
    squares: Floats
    """Squared distances of differences from their mean, summed."""
    low: Floats
    high: Floats
    """The mean difference lies between these, whatever the unjudged documents turn out to be."""
    won: Floats
    lost: Floats
    size: Floats
    """The mean of the sizes of the scores, beside which rounding is judged."""

    def __add__(self, other: PairedSums) -> PairedSums:
        """The same over the topics of both."""
        topics = self.topics + other.topics
        share = np.where(topics > 0, other.topics / np.maximum(topics, 1), 0.0)

        def mean(one: Floats, more: Floats) -> Floats:
            return np.where(self.topics == 0, more, np.where(other.topics == 0, one, one + share * (more - one)))

        with np.errstate(invalid="ignore"):  # of infinite scores
            apart = np.where(self.topics * other.topics > 0, other.mean - self.mean, 0.0)
            between = apart**2 * self.topics * share
            return PairedSums(
                topics,
                mean(self.mean, other.mean),
                self.squares + other.squares + between,
                mean(self.low, other.low),
                mean(self.high, other.high),
                self.won + other.won,
                self.lost + other.lost,
                mean(self.size, other.size),
            )


@dataclass(frozen=True, eq=False)
class SparkScores:
    """Scores that Spark holds: those of topics stay on its machines, and their sums are here.

    What ``rb.evaluate(..., engine="spark")`` returns. Means, bounds, variances and comparisons of runs come from sums;
    ``collect`` brings the scores of all topics here, where they are ``Scores`` as of any engine.

    Attributes
    ----------
    runs : list of str
        The names of the runs.
    measures : list of Measure
        The measures.
    number_of_topics : int
        How many topics are judged.

    Examples
    --------
    >>> import rankbounds as rb
    >>> scores = rb.evaluate("qrels.parquet", "runs/*.parquet", ["AP"], engine="spark")  # doctest: +SKIP
    >>> scores.summary()  # mean, bounds and variance of each run and measure  # doctest: +SKIP
    >>> scores.to_spark().filter("value < 0.1").show()  # doctest: +SKIP
    """

    session: SparkSession
    found: RDD[Any] | None
    """What tasks found and Spark holds; None where few lists came to the driver all together."""
    held: list[Lists]
    """Lists that are here."""
    runs: list[str]
    keys: list[RunKey]
    measures: list[Measure]
    assumptions: Assumptions
    grades: Floats
    sums: dict[RunKey, Sums]
    preparation: Preparation
    query_ids: list[str] | None = None
    """The judged topics in their order, where the driver read the judgments."""
    distinct: bool = False
    """Are ``grades`` each listed once, not those of every judgment?"""
    messages: list[str] = field(default_factory=list)
    """What must be told of the judgments beside what the scores tell."""

    @property
    def number_of_topics(self) -> int:
        """How many topics are judged."""
        return len(next(iter(self.sums.values())).hashes)

    def _lists(self) -> RDD[Lists]:
        """All lists, distributed."""
        context = context_of(self.session)
        here = context.parallelize(self.held, max(1, min(len(self.held), parallelism(self.session))))
        return here if self.found is None else context.union([self._distributed(self.found), here])

    def _distributed(self, found: RDD[Any]) -> RDD[Lists]:
        return found.filter(lambda part: isinstance(part, Lists))

    def to_spark(self) -> DataFrame:
        """The tidy table as a Spark frame.

        Returns
        -------
        DataFrame
            ``run, query_id, measure, value, low, high``, a row for each run, topic and measure.

        Examples
        --------
        >>> scores.to_spark().groupBy("run", "measure").avg("value").show()  # doctest: +SKIP
        """
        tidy = tidying(dict(zip(self.keys, self.runs, strict=True)), [str(measure) for measure in self.measures])
        rows = self._lists().map(lambda lists: (bytearray(pickle.dumps(lists)),))
        packed = self.session.createDataFrame(rows, "found binary", verifySchema=False)
        return packed.mapInArrow(tidy, TIDY_SCHEMA)

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Let Spark write the tidy table as Parquet, the means (topic ``all``) too: a folder with a file for each task.

        Parameters
        ----------
        path : path
            The folder, on any file system that Spark knows; one that is there is replaced.

        Examples
        --------
        >>> scores.write_parquet("scores.parquet")  # doctest: +SKIP
        """
        name = os.fspath(path)
        if os.path.isfile(name):
            raise DataError(name, "this is a file, and Spark writes a folder.", "Name another, or remove it.")
        means = [(row["run"], ALL, row["measure"], row["value"], row["low"], row["high"]) for row in self.summary()]
        with plain_errors():
            table = self.to_spark().union(self.session.createDataFrame(means, TIDY_SCHEMA))
            table.write.mode("overwrite").parquet(name)

    def summary(self) -> list[dict[str, Any]]:
        """For each run and measure the mean, its bounds and the variance over topics, from sums.

        Returns
        -------
        list of dict
            ``run, measure, value, low, high, variance, topics``; None where something is not known.

        Examples
        --------
        >>> scores.summary()[0]["value"]  # doctest: +SKIP
        0.3280
        """
        rows = []
        for run, key in zip(self.runs, self.keys, strict=True):
            sums = self.sums[key]
            for place, measure in enumerate(self.measures):
                count = int(sums.count[place])
                if count:
                    mean = {
                        name: _total(measure, count, getattr(sums, name)[place]) for name in ("value", "low", "high")
                    }
                    variance = sums.squares[place] / (count - 1) if count > 1 else np.nan
                    numbers = {**mean, "variance": variance}
                    known = {name: None if np.isnan(number) else float(number) for name, number in numbers.items()}
                    rows.append({"run": run, "measure": str(measure), **known, "topics": count})
        return rows

    def mean(self) -> Scores:
        """The means as ``Scores`` with one topic called ``"all"``, from sums.

        Returns
        -------
        Scores

        Examples
        --------
        >>> print(scores.mean())  # doctest: +SKIP
        """
        return Scores(
            self.runs,
            [ALL],
            self.measures,
            self._means("value")[:, None],
            self._means("low")[:, None],
            self._means("high")[:, None],
            np.array([[sums.judged / sums.topics if sums.topics else np.nan] for sums in self._in_order()]),
            notes=self._notes(),
            bounds=self.assumptions.bounds,
            topics=self.assumptions.topics,
            open=self.assumptions.open,
            most_relevant=self.assumptions.most_relevant,
            outer=self._outer(),
            without_relevant=self._without_relevant(),
            parts=None if self._in_order()[0].parts is None else np.moveaxis(self._means("parts"), 0, 1)[:, :, None],
            mean_over=self.number_of_topics,
        )

    def _in_order(self) -> list[Sums]:
        return [self.sums[key] for key in self.keys]

    def _means(self, name: str) -> Floats:
        """Of each run and measure the sum of this, made what stands for all topics."""
        means = []
        for sums in self._in_order():
            total = np.asarray(getattr(sums, name))
            columns = [
                np.where(sums.count[place] > 0, _totals(measure, int(sums.count[place]), total[..., place]), np.nan)
                for place, measure in enumerate(self.measures)
            ]
            means.append(np.stack(columns, axis=-1))
        return np.stack(means)

    def _notes(self) -> list[RunNotes]:
        order = self._place_of if self.query_ids is not None else natural
        return [
            RunNotes(
                sorted(sums.missing, key=order),
                sorted(set(sums.unknown), key=natural),
                sums.tied,
                sums.tie_range / sums.topics if sums.with_tie_range else None,
                self.preparation.words(sums.prepared),
            )
            for sums in self._in_order()
        ]

    def _outer(self) -> list[Measure]:
        facts = _collection(self.assumptions, self.grades)
        tied = any(sums.tied for sums in self.sums.values())
        return [measure for measure in self.measures if self.assumptions.bounds_are_outer(measure, facts, tied=tied)]

    def _without_relevant(self) -> list[str]:
        order = self._place_of if self.query_ids is not None else natural
        return sorted({query for sums in self.sums.values() for query in sums.without_relevant}, key=order)

    def _place_of(self, query: str) -> Any:
        if not hasattr(self, "_places"):
            object.__setattr__(self, "_places", {name: place for place, name in enumerate(self.query_ids or [])})
        return self._places[query]  # type: ignore[attr-defined]

    def warn(self) -> None:
        """Warn of what must be known beside the numbers, as every engine does."""
        said = [warning for sums in self._in_order() for warning in sums.said]
        messages = [
            *self.mean().warnings(),
            *self.messages,
            *fractions_lost(self.grades[~np.isnan(self.grades)], self.measures, self.distinct),
        ]
        for warning in [*told_once(said), *map(RankboundsWarning, messages)]:
            warn(warning)

    def collect(self) -> Scores:
        """The scores of all topics on the driver, for other tests and tables.

        Returns
        -------
        Scores
            Topics stand in the order of the judgments, or of their ids where the judgments are a frame.

        Examples
        --------
        >>> rb.compare(scores.collect())  # doctest: +SKIP
        """
        lists = list(self.held)
        if self.found is not None:
            with plain_errors():
                lists += self._distributed(self.found).collect()
        query_ids = self.query_ids
        if query_ids is None:
            names = {query for part in lists if part.run == self.keys[0] for query in part.query_ids.to_list()}
            query_ids = sorted(names, key=natural)
        place = {query: number for number, query in enumerate(query_ids)}
        sheets = {key: ScoreSheet(len(query_ids), self.measures, self.assumptions) for key in self.keys}
        for part in lists:
            sheet, topic = sheets[part.run], np.array([place[query] for query in part.query_ids.to_list()], dtype=int)
            for column in ("value", "low", "high", "judged", "tie_range", "tied"):
                getattr(sheet, column)[topic] = getattr(part, column)
            if sheet.parts is not None and part.parts is not None:
                sheet.parts[:, topic] = part.parts
        results = [
            replace(sheets[key].result(run, noted.missing, noted.unknown), notes=noted)
            for key, run, noted in zip(self.keys, self.runs, self._notes(), strict=True)
        ]
        facts = _collection(self.assumptions, self.grades)
        return gathered(results, self.runs, query_ids, self.measures, self.assumptions, facts, self._without_relevant())

    def paired_sums(self, a: str, b: str) -> PairedSums:
        """What two runs' differences over topics add up to, without bringing any topic here.

        Parameters
        ----------
        a, b : str
            The runs; differences are those of ``a`` less ``b``.

        Returns
        -------
        PairedSums
            Its bounds are those of each run taken by itself, ``low`` of the one less ``high`` of the other: they hold,
            but are wider than need be where both runs retrieved the same unjudged document. There are none (NaN) for
            measures such as AP and nDCG, which a relevant document that the other run retrieved can lower.

        Examples
        --------
        >>> scores.paired_sums("bm25", "dense").mean  # doctest: +SKIP
        """
        for run in (a, b):
            if run not in self.runs:
                raise UnknownNameError(f'There is no run "{run}".{did_you_mean(run, self.runs)}')
        if a == b:
            raise UsageError(f'Two runs are compared, not "{a}" with itself.')
        key_a, key_b = (self.keys[self.runs.index(run)] for run in (a, b))
        if self.found is None:
            both = ([lists for lists in self.held if lists.run == key] for key in (key_a, key_b))
            return self._with_known_bounds(_paired(*both))
        parts = max(4 * parallelism(self.session), -(-self.number_of_topics // 100_000))

        def cut(lists: Lists) -> Iterator[tuple[int, Lists]]:
            if lists.run in (key_a, key_b) and len(lists):
                part = (lists.query_ids.hashes() % np.uint64(parts)).astype(np.int64)
                for number in np.unique(part).tolist():
                    yield number, some_lists(lists, np.flatnonzero(part == number))

        def paired(several: Iterable[tuple[int, Lists]]) -> Iterator[PairedSums]:
            both = [lists for _, lists in several]
            one, other = ([lists for lists in both if lists.run == key] for key in (key_a, key_b))
            if one and other:
                yield _paired(one, other)

        with plain_errors():
            found = self._lists().flatMap(cut).partitionBy(parts, lambda part: part).mapPartitions(paired).collect()
        if not found:
            raise DataError(f'The runs "{a}" and "{b}" have no topic in common.')
        total = found[0]
        for more in found[1:]:
            total = total + more
        return self._with_known_bounds(total)

    def _with_known_bounds(self, sums: PairedSums) -> PairedSums:
        """None where judging one run's documents moves the other's score, or bounds do not cover judgments."""
        covered = self.assumptions.bounds in ("unjudged", "both")
        known = np.array([covered and measure.list_only for measure in self.measures], dtype=bool)
        return replace(sums, low=np.where(known, sums.low, np.nan), high=np.where(known, sums.high, np.nan))

    def unpersist(self) -> None:
        """Let Spark forget the scores of topics; what sums tell is still known."""
        if self.found is not None:
            self.found.unpersist()


def _paired(one: Sequence[Lists], other: Sequence[Lists]) -> PairedSums:
    """The sums over the topics of a part."""

    def column(parts: Sequence[Lists], name: str) -> Floats:
        return np.concatenate([getattr(lists, name) for lists in parts])

    names = [[query for lists in parts for query in lists.query_ids.raw_list()] for parts in (one, other)]
    place = {query: row for row, query in enumerate(names[1])}
    pairs = [(row, place[query]) for row, query in enumerate(names[0]) if query in place]
    mine, theirs = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    a, b = column(one, "value")[mine], column(other, "value")[theirs]
    counted = ~(np.isnan(a) | np.isnan(b))
    topics = counted.sum(axis=0)
    apart = np.where(counted, differences(np.where(counted, a, 0.0).T, np.where(counted, b, 0.0).T).T, 0.0)

    def mean(array: Floats) -> Floats:
        summed: Floats = np.where(counted, array, 0.0).sum(axis=0) / np.maximum(topics, 1)
        return summed

    middle = mean(apart)
    with np.errstate(invalid="ignore"):
        squares = np.where(counted, (apart - middle) ** 2, 0.0).sum(axis=0)
        low = mean(column(one, "low")[mine] - column(other, "high")[theirs])
        high = mean(column(one, "high")[mine] - column(other, "low")[theirs])
    return PairedSums(
        topics.astype(float), middle, squares, low, high,
        (apart > 0).sum(axis=0).astype(float), (apart < 0).sum(axis=0).astype(float), mean(np.abs(a) + np.abs(b)),
    )  # fmt: skip


def tidying(names: dict[RunKey, str], labels: Sequence[str]) -> Any:
    """From packed lists to rows of the tidy table."""

    def tidy(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            for packed in batch.column(0):
                lists: Lists = pickle.loads(packed.as_buffer())
                kept = ~np.isnan(lists.value)
                topic, measure = np.nonzero(kept)
                yield pyarrow.RecordBatch.from_arrays(
                    [
                        texts(Ids.of([names[lists.run]]).take(np.zeros(topic.size, dtype=np.int64))),
                        texts(lists.query_ids.take(topic)),
                        texts(Ids.of(list(labels)).take(measure)),
                        *(column_of(array[kept]) for array in (lists.value, lists.low, lists.high)),
                    ],
                    ["run", "query_id", "measure", "value", "low", "high"],
                )

    return tidy


def _collection(assumptions: Assumptions, grades: Floats) -> TopicFacts:
    """What the grades alone say of the whole collection, which stands on no machine."""
    return TopicFacts(as_qrels([("any", "any", 0.0)]), assumptions.gain, grades=grades[~np.isnan(grades)])


def check_topics(
    sums: dict[RunKey, Sums], places: dict[RunKey, str], judgments: str, judged_topic: str | None, topics: int
) -> None:
    """Raise for a run that has no judged topic."""
    for key, place in places.items():
        found = sums.get(key)
        if found is None or len(found.missing) == topics:
            unknown = sorted([] if found is None else found.unknown, key=natural)
            if not unknown:
                raise DataError(place, "no row of this run could be used.")
            raise no_topic_judged(place, unknown[0], judgments, judged_topic or "")


def _total(measure: Measure, count: int, total: float) -> float:
    """What stands for all topics, of a sum over so many of them."""
    if measure.total == "sum":
        return total
    return exp(total / count) if measure.total == "geometric" else total / count


def _totals(measure: Measure, count: int, total: Floats) -> Floats:
    mean = total if measure.total == "sum" else total / max(count, 1)
    return np.exp(mean) if measure.total == "geometric" else mean


def natural(query: str) -> tuple[Any, ...]:
    """Numbers by size, other ids by their text."""
    return (0, int(query), query) if query.isdecimal() else (1, 0, query)
