"""Runs scored by Spark: where lists are whole by themselves without a shuffle, else brought together by topic."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.collection.inputs import Formats, Reading
from rankbounds.collection.qrels import POOLED_NOT_JUDGED, Qrels
from rankbounds.collection.run import unique_names
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.spark.file_parts import READ_BYTES, LinesPart, Pieces
from rankbounds.evaluation.engines.spark.lists import (
    Edges,
    Found,
    Lists,
    Sums,
    added,
    lists_of,
    some_lists,
    summed,
    unless_many,
)
from rankbounds.evaluation.engines.spark.packed_rows import PackedRows, RunKey
from rankbounds.evaluation.engines.spark.paths import opened_by_tasks
from rankbounds.evaluation.engines.spark.scores import SparkScores, check_topics, natural
from rankbounds.evaluation.engines.spark.scoring import Scorer, SharedJudgments, cut
from rankbounds.evaluation.engines.spark.session import context_of, parallelism, session_here
from rankbounds.evaluation.engines.spark.sources import (
    Source,
    Wanted,
    arrow_table,
    files_of_plain_table,
    found_in,
    is_frame,
    judgments_in_frame,
    rows_of_files,
    source_of_judgments,
    sources_of_runs,
    table_of_files,
)
from rankbounds.evaluation.engines.spark.task_errors import plain_errors, telling
from rankbounds.evaluation.evaluate import DEFAULT_MEASURES
from rankbounds.files.formats import pair_of_names
from rankbounds.files.named_columns import RUN_COLUMNS
from rankbounds.files.scratch import scratch_folder
from rankbounds.files.topic_batches import LargeFile
from rankbounds.measures import Measure, parse_measures
from rankbounds.rankings.preparation import Preparation

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

DRIVER_BYTES = 1 << 26
"""Judgments in a file up to this size are read by the driver, and every process of Spark's gets them."""
DRIVER_ROWS = 2_000_000
"""The same for judgments in a frame."""
FEW_ROWS = 10_000_000
"""Files of fewer rows have few lists, most likely, whose scores come to the driver with the sums."""
PART_ROWS = 1_000_000
"""How many rows a part of the topics has, about, where rows are brought together by topic."""


def evaluate(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    names: Sequence[str] | None = None,
    labels: str | Sequence[str] | None = None,
    formats: Formats | None = None,
    columns: Mapping[str, str] | None = None,
    lenient: bool = False,
    partitions: int | None = None,
    master: str | None = None,
    spark: SparkSession | None = None,
    preparation: Preparation | None = None,
    **assumptions: Any,
) -> SparkScores:
    """Score runs by Spark; ``rb.evaluate(..., engine="spark")`` is the same.

    Parameters
    ----------
    qrels : Spark frame, path, or anything that ``rb.evaluate`` takes
        The judgments. Up to 64 MB, or two million rows of a frame, the driver reads them, and every process of Spark's
        gets them; more stay distributed.
    runs : Spark frame, path, list of these, or dict by name
        Frames have columns for query, document and score, and ``run`` where they hold several runs. Paths are files,
        patterns and folders, here or on a file system that Spark knows: TREC lines, plain or compressed, or Parquet;
        where tasks can open the file, any format that ``rb.evaluate`` reads.
    measures : str, Measure, or iterable of them
        As for ``rb.evaluate``.
    names : sequence of str, optional
        The runs that a frame's column ``run`` may name; rows of any other are an error.
    labels, formats, columns
        As for ``rb.evaluate``.
    lenient : bool, default False
        Leave out lines that cannot be used, and warn with their number: of files that tasks open.
    partitions : int, optional
        Into how many parts topics are divided where rows must be brought together.
    master : str, optional
        The cluster, such as ``"spark://host:7077"``, where no session of Spark runs yet.
    spark : SparkSession, optional
        The session; otherwise that of the frames, that of this process, or a new one.
    preparation : Preparation, optional
        What is done to runs before they are scored.
    **assumptions
        The other options of ``rb.evaluate``, but for those that need an order of rows.

    Returns
    -------
    SparkScores
        Scores of topics, which stay distributed until they are collected.

    Examples
    --------
    >>> from rankbounds import spark
    >>> scores = spark.evaluate("qrels.txt", "runs/", ["AP"], master="local[2]")  # doctest: +SKIP
    """
    decided = _decided(assumptions)
    chosen = parse_measures(measures)
    decided.check(chosen, in_memory=False)
    first_frame = next((given for given in (qrels, runs) if is_frame(given)), None)
    session = spark or (first_frame.sparkSession if first_frame is not None else session_here(master))
    context_of(session)
    kinds = pair_of_names(formats)
    wanted = Wanted(columns, kinds[1], decided.ties == "rank", None if names is None else tuple(names))
    reading = Reading(formats, labels, columns, lenient, 2, decided.gain)
    with plain_errors():
        sources = sources_of_runs(session, runs, wanted)
        job = _Job(session, sources, chosen, decided, preparation or Preparation(), lenient, partitions)
        judgments = _judgments(session, qrels, reading)
        try:
            scores = job.against_shared(judgments, qrels) if isinstance(judgments, Qrels) else job.together(judgments)
        except DataError:
            if not lenient:
                _tell_as_a_whole_file_would(sources)
            raise
    scores.warn()
    return scores


def _decided(assumptions: dict[str, Any]) -> Assumptions:
    """What was assumed, if it has a meaning on Spark."""
    decided = Assumptions(**assumptions)
    if decided.ties in ("run", "line"):
        raise UsageError('Rows have no order on Spark, so that line order has no meaning there. Use "rank" or "trec".')
    if decided.ties_key is not None:
        raise UsageError("A key of your own for ties is known to the local engines only.")
    return decided


def _judgments(session: SparkSession, given: Any, reading: Reading) -> Qrels | Source:
    """The judgments on the driver; as a source where they are too many, or on a file system that only Spark knows."""
    if is_frame(given):
        files = files_of_plain_table(session, given)
        rows = rows_of_files(files) if files else given.limit(DRIVER_ROWS + 1).count()
        if rows > DRIVER_ROWS:
            return judgments_in_frame(given, reading.labels, reading.columns)
        table = table_of_files(files) if files else arrow_table(given)
        if table is None:
            raise DataError("the judgments", "there is no row.")
        return reading.judgments(table)
    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        local = opened_by_tasks(session, path)
        if local is None and ":/" in path:
            return source_of_judgments(session, path)
        if local is not None and not os.path.isdir(local) and Path(local).stat().st_size > DRIVER_BYTES:
            if reading.labels or reading.columns or reading.formats:
                raise UsageError(
                    f"{path}: labels, columns and formats of judgments are for up to 64 MB of them on Spark."
                )
            return source_of_judgments(session, path)
        return reading.judgments(local or path)
    return reading.judgments(given)


def _tell_as_a_whole_file_would(sources: Sequence[Source]) -> None:
    """Of several things that are wrong with files here, raise the one that reading them at once would tell."""
    paths = [source.parts[0].file.path for source in sources if source.parts and isinstance(source.parts[0], LinesPart)]
    with scratch_folder() as folder:
        for path in paths:
            error = LargeFile(path, RUN_COLUMNS, READ_BYTES).first_error(folder)
            if error is not None:
                raise error from None


@dataclass
class _Result:
    """What is known of the scores: sums of all; lists that are here; and what Spark holds, if it holds any."""

    found: RDD[Any] | None
    held: list[Lists] = field(default_factory=list)
    sums: dict[RunKey, Sums] = field(default_factory=dict)
    edges: list[PackedRows] = field(default_factory=list)

    def take(self, lists: Iterable[Lists]) -> None:
        """Keep these lists here."""
        for part in lists:
            self.sums = added(self.sums, [part])
            self.held.append(part)

    def has_edges(self, edges: Iterable[Edges]) -> bool:
        """Take the edges of partitions; False where lists were found not to stand together."""
        several = list(edges)
        self.edges = [rows for part in several for rows in part.rows]
        return not any(part.mixed for part in several)


@dataclass(frozen=True)
class _Job:
    """One evaluation: what is read, and how it is scored."""

    session: SparkSession
    sources: Sequence[Source]
    measures: list[Measure]
    assumptions: Assumptions
    preparation: Preparation
    lenient: bool
    partitions: int | None

    def against_shared(self, qrels: Qrels, given: Any) -> SparkScores:
        """Against judgments that every process has: lists that are whole where they stand need no shuffle."""
        shared = SharedJudgments(qrels, self.assumptions.gain)
        facts = shared.facts
        scorer = self._scorer(context_of(self.session).broadcast(shared))
        on_driver = self._scorer(shared)
        found: RDD[Any] = found_in(self.session, self.sources, scorer.scored, lenient=self.lenient, distinct=False)
        result = self._result(found)
        if result is not None:
            result.take(on_driver.scored_edges(result.edges, self._places(result.sums)))
        if result is None or any(np.unique(part.hashes).size < part.hashes.size for part in result.sums.values()):
            found.unpersist()  # a list stands in two places
            self._refuse_what_needs_order()
            result = self._result(self._brought_together(self.sources, scorer, None))
            assert result is not None
        result.take(self._lacked(on_driver, result.sums))
        ordered = None if is_frame(given) else list(facts.query_ids)
        place = "the judgments" if is_frame(given) else f"the judgments ({qrels.pairs.source.name})"
        topic = ordered[0] if ordered else min(facts.query_ids, key=natural)
        check_topics(result.sums, self._places(result.sums), place, topic, len(facts.query_ids))
        more_known = self.assumptions.more_known(facts)
        return self._scores(result, facts.grade, ordered, distinct=False, messages=more_known)

    def together(self, judgments: Source) -> SparkScores:
        """Against judgments that stay distributed: runs and judgments are brought together by topic."""
        self._refuse_what_needs_order()
        if self.assumptions.gain.grade_of:
            raise UsageError(
                "Words for grades are known where the driver reads the judgments: those here are too many."
            )
        names = self._all_names()
        grades = self._grades(judgments)
        scorer = self._scorer(None)
        result = self._result(self._brought_together([judgments, *self.sources], scorer, grades, names))
        assert result is not None
        topics = max(len(sums.hashes) for sums in result.sums.values())
        check_topics(result.sums, names, "the judgments", _some_topic(result.sums), topics)
        return self._scores(result, grades, None, distinct=True)

    def _scorer(self, judgments: Any) -> Scorer:
        return Scorer(judgments, self.measures, self.assumptions, self.preparation, self.lenient)

    def _refuse_what_needs_order(self) -> None:
        if self.lenient:
            raise UsageError(
                "On Spark, lines that cannot be read are left out only of files that tasks open themselves and that "
                "keep the lines of each topic together. Use --engine stream, or clean the files first."
            )

    def _result(self, found: RDD[Any]) -> _Result | None:
        """The sums of all runs, and their lists if these are few; None where lists do not stand together."""
        if all(source.parts for source in self.sources) and sum(source.rows() for source in self.sources) < FEW_ROWS:
            parts = found.mapPartitions(unless_many).collect()
            if None not in parts:
                result = _Result(None)
                result.take(part for part in parts if isinstance(part, Lists))
                return result if result.has_edges(part for part in parts if isinstance(part, Edges)) else None
        found.persist()
        result = _Result(found)
        several = found.mapPartitions(summed).collect()
        for part in several:
            if isinstance(part, Sums):
                result.sums[part.run] = result.sums[part.run] + part if part.run in result.sums else part
        return result if result.has_edges(part for part in several if isinstance(part, Edges)) else None

    def _places(self, sums: Mapping[RunKey, Sums]) -> dict[RunKey, str]:
        """What messages call each run: those of the sources, and those that a column names."""
        places: dict[RunKey, str] = {source.key: source.place for source in self.sources if source.key is not None}
        named = [key for key in sums if isinstance(key, str)]
        named += [name for source in self.sources for name in source.expected or ()]
        return places | {name: f'run "{name}"' for name in named}

    def _lacked(self, scorer: Scorer, sums: Mapping[RunKey, Sums]) -> list[Lists]:
        """The scores of lists that runs lack, which are empty."""
        facts = scorer.facts
        empty = lists_of(None, 0, facts, self.measures, self.assumptions)
        judged = empty.query_ids.hashes()
        lacked = []
        for key in self._places(sums):
            has = sums[key].hashes if key in sums else np.empty(0, dtype=np.uint64)
            if has.size < judged.size:
                lacked.append(some_lists(empty, np.flatnonzero(~np.isin(judged, has, kind="sort")), key))
        return lacked

    def _brought_together(
        self, sources: Sequence[Source], scorer: Scorer, grades: Floats | None, names: dict[RunKey, str] | None = None
    ) -> RDD[Any]:
        rows = sum(source.rows() for source in sources)
        parts = self.partitions or max(4 * parallelism(self.session), -(-rows // PART_ROWS))
        need_rank = self.assumptions.ties == "rank"

        def cut_by_topic(pieces: Pieces, whole: bool) -> Iterator[tuple[int, PackedRows]]:
            del whole
            yield from cut(pieces, parts, need_rank)

        known = names or _AnyName()

        def score(several: Iterable[tuple[int, PackedRows]]) -> Iterator[Found]:
            yield from scorer.scored_together((rows for _, rows in several), known, grades)

        by_topic = found_in(self.session, sources, cut_by_topic, lenient=False, distinct=True)
        return by_topic.partitionBy(parts, _itself).mapPartitions(telling(score))

    def _all_names(self) -> dict[RunKey, str]:
        """All runs, where tasks must know them: those in a column are asked for."""
        names = self._places({})
        for source in self.sources:
            if source.key is None and not source.expected:
                pairs = found_in(self.session, [source], _keys, lenient=False, distinct=True)
                names |= {key: f'run "{key}"' for key in sorted(set(pairs.collect()), key=str)}
        return names

    def _grades(self, judgments: Source) -> Floats:
        """The distinct grades of the collection, by which gains are scaled and bounded."""
        parts = found_in(self.session, [judgments], _distinct_values, lenient=False, distinct=True).collect()
        if not parts:
            raise DataError(judgments.place, "there is no row.")
        grades = np.unique(np.concatenate(parts))
        return np.unique(np.maximum(grades[grades != POOLED_NOT_JUDGED], 0.0))

    def _scores(
        self,
        result: _Result,
        grades: Floats,
        query_ids: list[str] | None,
        *,
        distinct: bool,
        messages: Sequence[str] = (),
    ) -> SparkScores:
        sums = result.sums
        keys: list[RunKey] = []
        labels: list[str] = []
        places: list[str] = []
        given: list[bool] = []
        for source in self.sources:
            if source.key is not None:
                keys.append(source.key)
                labels.append(source.label or sums[source.key].label or source.place)
                places.append(source.place)
                given.append(source.named)
            else:
                named = source.expected or sorted(key for key in sums if isinstance(key, str))
                new = [name for name in named if name not in keys]
                keys += new
                labels += new
                places += [source.place] * len(new)
                given += [False] * len(new)
        if not keys:
            raise DataError("the runs", "there is no row.")
        runs = unique_names(labels, places, given)
        return SparkScores(
            self.session,
            result.found,
            result.held,
            runs,
            keys,
            self.measures,
            self.assumptions,
            grades,
            sums,
            self.preparation,
            query_ids,
            distinct,
            list(messages),
        )


class _AnyName(dict[RunKey, str]):
    """What messages call a run that only its rows name."""

    def __missing__(self, key: RunKey) -> str:
        return f'run "{key}"'

    def __bool__(self) -> bool:
        return True


def _itself(part: int) -> int:
    return part


def _keys(pieces: Pieces, whole: bool) -> Iterator[RunKey]:
    del whole
    yield from {key for key, _ in pieces}


def _distinct_values(pieces: Pieces, whole: bool) -> Iterator[Floats]:
    del whole
    for _, piece in pieces:
        yield np.unique(piece.score)


def _some_topic(sums: Mapping[RunKey, Sums]) -> str | None:
    missing = next((part.missing for part in sums.values() if part.missing), None)
    return missing[0] if missing else None
