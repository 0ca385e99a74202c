"""The scores of runs on whole topics, from segments or from lines of files, by Spark's tasks."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.collection.gains import GainRule
from rankbounds.collection.qrels import Qrels, read_qrels
from rankbounds.collection.run import Run, of_lines
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, RankboundsWarning
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.engines.spark.arrow_columns import bytes_of, column_of, lengths_of, numbers_of
from rankbounds.evaluation.engines.spark.local_files import LocalFile, Range, content_of, parsed
from rankbounds.evaluation.engines.spark.segments import JUDGMENT, NO_RUN
from rankbounds.evaluation.engines.spark.task_errors import Task, telling
from rankbounds.evaluation.score_sheet import ScoreSheet
from rankbounds.files import trec
from rankbounds.measures import Measure
from rankbounds.rankings.join import empty_rankings, slices_of
from rankbounds.rankings.topic_facts import TopicFacts

UNJUDGED = -2
"""What stands for the run's number, less that number, in a row that names a topic of the run which nobody judged."""
SAID = NO_RUN + 1
"""What stands there in a row that holds a warning."""
PIECE_ROWS = 1 << 19
"""How many rows a task gathers before it scores the whole topics among them."""

LIST_FIELDS = {
    "run": "int",
    "query_id": "binary",
    "value": "array<double>",
    "low": "array<double>",
    "high": "array<double>",
    "parts": "array<double>",
    "judged": "double",
    "tied": "boolean",
    "tie_range": "double",
    "missing": "boolean",
    "relevant": "boolean",
}
LIST_SCHEMA = ", ".join(f"{name} {kind}" for name, kind in LIST_FIELDS.items())


def scoring(measures: list[Measure], assumptions: Assumptions, grades: Floats, runs: Sequence[str]) -> Task:
    """From segments sorted by topic to the scores of every run and topic."""

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        for piece in _whole_topics(batches):
            yield from _scored(piece, measures, assumptions, grades, runs)

    return telling(score)


def _whole_topics(batches: Iterator[Any]) -> Iterator[Any]:
    """Tables of segments with many rows that end where a topic ends."""
    import pyarrow
    import pyarrow.compute

    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.column("value").nbytes // 8
        if rows < PIECE_ROWS:
            continue
        table = pyarrow.Table.from_batches(held)
        query = table.column("query_id")
        whole = pyarrow.compute.index(query, query[-1]).as_py()  # sorted: the last topic begins where it first stands
        if whole:
            yield table.slice(0, whole)
            rest = table.slice(whole).combine_chunks()
            held, rows = rest.to_batches(), rest.column("value").nbytes // 8
    if held:
        yield pyarrow.Table.from_batches(held)


def _scored(
    table: Any, measures: list[Measure], assumptions: Assumptions, grades: Floats, runs: Sequence[str]
) -> Iterator[Any]:
    """The scores of every run on the judged topics of a piece, and the topics that nobody judged."""
    values = numbers_of(table, "value", np.float64)
    lengths, ranks = numbers_of(table, "lengths", np.int32), None
    rows = lengths_of(table, "value") // 8
    run = np.repeat(table.column("run").to_numpy(), rows)
    queries = Ids.of_bytes(bytes_of(table, "query_id"), lengths_of(table, "query_id"))
    names, code = queries.codes(queries.hashes())
    topic, hashed = np.repeat(code, rows), np.repeat(queries.hashes(), rows)
    if table.column("rank").null_count < len(table):  # judgments have none
        ranks = np.zeros(values.size, dtype=np.int64)
        ranks[run != JUDGMENT] = numbers_of(table, "rank", np.int64)
    docs = Ids.of_bytes(bytes_of(table, "docs"), lengths.astype(np.int64))
    topics = tuple(name.decode("utf-8", "surrogateescape") for name in names)
    pairs = Pairs(topics, topic, docs, Pairs.keys_of(docs, hashed), Source("rows"))
    judged = np.flatnonzero(run == JUDGMENT)
    if judged.size:
        judgments = pairs.take(judged).without_unused_topics()
        _reject_repeats(judgments, values[judged], "the judgments")
        facts = TopicFacts(Qrels(judgments, values[judged]), assumptions.gain, grades=grades)
        for number, name in enumerate(runs):
            chosen = np.flatnonzero(run == number)
            part = pairs.take(chosen)
            _reject_repeats(part, values[chosen], f'run "{name}"')
            scored = Run(name, part, values[chosen], partial(_given, None if ranks is None else ranks[chosen]))
            yield lists_of(scored, number, facts, measures, assumptions, present_only=False)
    for number in range(len(runs)):
        unknown = np.setdiff1d(topic[run == number], topic[judged])
        if unknown.size:
            yield _named(UNJUDGED - number, [topics[code] for code in unknown.tolist()])


def _given(ranks: Ints | None) -> Ints | None:
    return ranks


def scoring_files(
    qrels: LocalFile, measures: list[Measure], assumptions: Assumptions, lenient: bool
) -> Callable[[Iterable[Range]], Iterator[Any]]:
    """From ranges that hold whole topics to the scores there, without any shuffle."""

    def score(ranges: Iterable[Range]) -> Iterator[Any]:
        facts = facts_of(qrels, assumptions.gain, lenient)
        for where in ranges:
            yield from _scored_range(where, facts, measures, assumptions, lenient)

    return telling(score)


def _scored_range(
    where: Range, facts: TopicFacts, measures: list[Measure], assumptions: Assumptions, lenient: bool
) -> Iterator[Any]:
    file, begin, _ = where
    run = None
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        with contextlib.suppress(trec.NothingReadError):
            run = of_lines(parsed(content_of(where), file, begin, lenient=lenient), file.path)
    if run is not None:
        yield lists_of(run, file.run, facts, measures, assumptions, present_only=True)
        judged = set(facts.query_ids)
        yield _named(UNJUDGED - file.run, [query for query in run.query_ids if query not in judged])
    said = (warning.message for warning in met)
    ours = (warning if isinstance(warning, RankboundsWarning) else RankboundsWarning(warning) for warning in said)
    yield _named(SAID, [pickle.dumps(warning) for warning in ours])


@lru_cache(maxsize=1)
def facts_of(qrels: LocalFile, gain: GainRule, lenient: bool) -> TopicFacts:
    """What the judgments in a file say, kept for the next task of this process."""
    return TopicFacts(read_qrels(qrels.path, lenient=lenient), gain)


def lists_of(
    run: Run | None,
    number: int,
    facts: TopicFacts,
    measures: list[Measure],
    assumptions: Assumptions,
    present_only: bool,
) -> Any:
    """A run's scores on the topics of the judgments: all of them, or those that the run has."""
    import pyarrow

    sheet = ScoreSheet(len(facts.query_ids), measures, assumptions)
    met = np.zeros(len(facts.query_ids), dtype=bool)
    if run is not None and len(run):
        topic = facts.qrels.pairs.index.topics_of(run.pairs)
        present = topic[np.unique(run.pairs.topic)]
        met[present[present >= 0]] = True
        sheet.fill(slices_of(run, facts, topic, assumptions.order, assumptions.score_precision))
    absent = np.flatnonzero(~met)
    if assumptions.topics == "judged" and absent.size and not present_only:
        sheet.fill([lambda: [empty_rankings(absent, facts)]])
    chosen = np.flatnonzero(met | (not present_only))

    def lists(array: Floats) -> Any:
        flat = column_of(array.reshape(-1))
        return pyarrow.FixedSizeListArray.from_arrays(flat, array[0].size).cast(pyarrow.list_(pyarrow.float64()))

    def table(array: Floats | None) -> Any:
        if array is None or not chosen.size:
            return pyarrow.nulls(chosen.size, pyarrow.list_(pyarrow.float64()))
        return lists(np.ascontiguousarray(array[chosen]))

    return pyarrow.RecordBatch.from_arrays(
        [
            column_of(np.full(chosen.size, number, dtype=np.int32)),
            column_of([facts.query_ids[topic_number] for topic_number in chosen.tolist()]),
            table(sheet.value),
            table(sheet.low),
            table(sheet.high),
            table(None if sheet.parts is None else np.moveaxis(sheet.parts, 0, 1)),
            column_of(sheet.judged[chosen]),
            column_of(sheet.tied[chosen]),
            column_of(sheet.tie_range[chosen]),
            column_of(~met[chosen]),
            column_of((facts.relevant(1.0) > 0)[chosen]),
        ],
        list(LIST_FIELDS),
    )


def _named(number: int, names: Sequence[str | bytes]) -> Any:
    """Rows that only name something: a topic which nobody judged, or what was read leniently."""
    import pyarrow

    size = len(names)
    numbers, lists = pyarrow.nulls(size, pyarrow.float64()), pyarrow.nulls(size, pyarrow.list_(pyarrow.float64()))
    no, run = column_of(np.zeros(size, dtype=bool)), column_of(np.full(size, number, dtype=np.int32))
    columns = [run, column_of(list(names)), lists, lists, lists, lists, numbers, no, numbers, no, no]
    return pyarrow.RecordBatch.from_arrays(columns, list(LIST_FIELDS))


def _reject_repeats(pairs: Pairs, value: Floats, what: str) -> None:
    again = pairs.repeats()
    if again.size:
        row = int(again[0])
        same = (pairs.keys == pairs.keys[row]) & (pairs.topic == pairs.topic[row])
        values = " and ".join(f"{each:g}" for each in np.sort(value[same])[:2])
        raise DataError(what, f"{pairs.describe(row)} stands there twice (with {values}).", "Keep one row.")
