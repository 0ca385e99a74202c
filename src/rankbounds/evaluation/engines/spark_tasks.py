"""What Spark's tasks do with Arrow batches: parse lines, pack rows into segments, score topics.

A segment is a stretch of rows of one run and topic, packed into a few columns of bytes: a shuffle of segments moves the
same bytes as one of rows, in far fewer rows, and tasks read them without a Python object for each document.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from rankbounds.arrays import Flags, Floats, Ints
from rankbounds.collection.gains import GainRule
from rankbounds.collection.qrels import Qrels, read_qrels
from rankbounds.collection.run import Run, of_lines
from rankbounds.columns.ids import Ids
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError
from rankbounds.evaluation.assumptions import Assumptions
from rankbounds.evaluation.score_sheet import ScoreSheet
from rankbounds.files import trec
from rankbounds.files.opening import stream, text_of
from rankbounds.files.topic_batches import inner_text, read_fully
from rankbounds.measures import Measure
from rankbounds.rankings.join import empty_rankings, slices_of
from rankbounds.rankings.topic_facts import TopicFacts

JUDGMENT = -1
"""What stands for the run's number in a row that is a judgment."""
UNJUDGED = -2
"""What stands there, less the run's number, in a row that only names a topic of the run which nobody judged."""
NO_RUN = np.iinfo(np.int32).min
SAID = NO_RUN + 1
"""What stands there in a row that holds a warning."""
PACKED_ROWS = 1 << 16
"""How many rows a task gathers before it parses or packs them."""
READ_BYTES = 1 << 22
"""How many bytes of a file a task reads before it parses and packs them."""
RANGE_BYTES = 1 << 26
"""How many bytes of a file a task gets at most."""
PIECE_ROWS = 1 << 19
"""How many rows a task gathers before it scores the whole topics among them."""

# Ids are bytes, of any encoding: as text, those that are not UTF-8 would change on their way.
SEGMENT_FIELDS = {
    "run": "int",
    "query_id": "binary",
    "docs": "binary",
    "lengths": "binary",
    "value": "binary",
    "rank": "binary",
}
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
SEGMENT_SCHEMA, LIST_SCHEMA = (
    ", ".join(f"{name} {kind}" for name, kind in fields.items()) for fields in (SEGMENT_FIELDS, LIST_FIELDS)
)

Task = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(frozen=True)
class LocalFile:
    """A file of TREC lines that tasks open by its name, with the number of its run."""

    run: int
    path: str
    layout: trec.Layout
    size: int
    modified: int
    compressed: bool

    def ranges(self, tasks: int) -> list[Range]:
        """The file for some tasks: each has the lines that begin within its bytes."""
        if self.compressed:
            return [(self, 0, sys.maxsize)]
        parts = max(-(-self.size // RANGE_BYTES), min(tasks, -(-self.size // READ_BYTES)))
        edges = np.linspace(0, self.size, parts + 1).astype(np.int64).tolist()
        return [(self, begin, end) for begin, end in itertools.pairwise(edges)]

    def ranges_of_topics(self, tasks: int) -> list[Range]:
        """The same with cuts where a topic ends, so that a task has whole topics if the file keeps them together."""
        if self.compressed:
            return [(self, 0, sys.maxsize)]
        edges = [0]
        with open(self.path, "rb") as file:
            for _, begin, _ in self.ranges(tasks)[1:]:
                file.seek(max(begin, edges[-1]) - 1)
                file.readline()
                at, topic = file.tell(), None
                while line := file.readline():
                    fields = line.split(None, self.layout.query + 1)
                    if fields and not fields[0].startswith(b"#"):
                        if topic not in (None, fields[self.layout.query]):
                            break
                        topic = fields[self.layout.query]
                    at = file.tell()
                if at < self.size:
                    edges.append(at)
        return [(self, begin, end) for begin, end in itertools.pairwise([*edges, self.size]) if end > begin]


Range = tuple[LocalFile, int, int]
"""A file and the bytes of it that a task reads."""


def reading_files(ranges: Sequence[Range], need_rank: bool) -> Task:
    """From numbers of ranges to the segments of the lines there."""

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                file, begin, end = ranges[number]
                for content, position in _lines_within(file.path, begin, end):
                    with contextlib.suppress(trec.NothingReadError):
                        yield _segments_of(_parsed(content, file, position, distinct=True), file.run, need_rank)

    return read


def scoring_files(
    qrels: LocalFile, measures: list[Measure], assumptions: Assumptions, lenient: bool
) -> Callable[[Iterator[Range]], Iterator[Any]]:
    """From ranges that hold whole topics to the scores there, without any shuffle."""

    def score(ranges: Iterator[Range]) -> Iterator[Any]:
        facts = facts_of(qrels, assumptions.gain, lenient)
        for where in ranges:
            yield from _scored_range(where, facts, measures, assumptions, lenient)

    return score


def _scored_range(
    where: Range, facts: TopicFacts, measures: list[Measure], assumptions: Assumptions, lenient: bool
) -> Iterator[Any]:
    file, begin, end = where
    with stream(file.path) as opened:
        if begin:
            opened.seek(begin)
        content = read_fully(opened, end - begin)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            run = of_lines(_parsed(content, file, begin, lenient=lenient), file.path)
        except trec.NothingReadError:
            yield _named(SAID, [str(one.message) for one in told])
            return
    yield lists_of(run, file.run, facts, measures, assumptions, present_only=True)
    judged = set(facts.query_ids)
    yield _named(UNJUDGED - file.run, [query for query in run.query_ids if query not in judged])
    yield _named(SAID, [str(one.message) for one in told])


@lru_cache(maxsize=1)
def facts_of(qrels: LocalFile, gain: GainRule, lenient: bool) -> TopicFacts:
    """What the judgments in a file say, kept for the next task of this process."""
    return TopicFacts(read_qrels(qrels.path, lenient=lenient), gain)


def _parsed(
    content: bytes, file: LocalFile, position: int, *, lenient: bool = False, distinct: bool = False
) -> trec.TrecLines:
    """The lines that stand at this position of a file. Lines before them are counted only when a number is told."""

    def read(before: int) -> trec.TrecLines:
        text = inner_text(file.path, content, before) if position else text_of(file.path, content)
        return trec.read_lines(text, _same(file.layout), lenient=lenient, distinct=distinct)

    try:
        return read(_newlines(file.path, position) if lenient else 0)
    except trec.NothingReadError:
        raise
    except DataError:
        return read(_newlines(file.path, position))


def _lines_within(path: str, begin: int, end: int) -> Iterator[tuple[bytes, int]]:
    """Whole lines of a file, those that begin within these bytes, some at a time, and where they stand."""
    with stream(path) as file:
        position = max(0, begin - 1)
        if position:
            file.seek(position)
        content, skip = b"", begin > 0  # what comes before the first newline belongs to the range before
        while position < end:
            block = file.read(READ_BYTES)
            content += block
            if skip and (first := content.find(b"\n") + 1):
                content, position, skip = content[first:], position + first, False
            last = end - position - 1  # the line that goes on here began within the range
            if skip:
                stop = 0
            elif last < len(content):
                stop = content.find(b"\n", max(0, last)) + 1
            else:
                stop = content.rfind(b"\n") + 1
            if not block:
                stop = len(content) * (not skip)
            if stop and position < end:
                yield content[:stop], position
                content, position = content[stop:], position + stop
            if not block:
                return


def _same(layout: trec.Layout) -> Callable[[list[bytes], str], trec.Layout]:
    """The layout that the driver found, whatever the first line of a part looks like; tags are not read again."""
    here = layout if layout.tag is None else replace(layout, tag=None)
    known = next((one for one in (trec.QRELS_LAYOUT, trec.RUN_OF_SCORES) if one == here), here)  # a copy got here
    return lambda *_: known


def _newlines(path: str, position: int) -> int:
    """How many lines of a file end before this position."""
    count = 0
    with stream(path) as file:
        while position and (block := file.read(min(position, READ_BYTES))):
            count += block.count(b"\n")
            position -= len(block)
    return count


def _segments_of(lines: trec.TrecLines, run: int, need_rank: bool) -> Any:
    """Lines of TREC as segments of one run."""
    pairs = lines.pairs
    ranks = trec.stated_ranks(lines) if need_rank else None
    return _segments(np.full(len(pairs), run), pairs.topics, pairs.topic, pairs.docs, lines.value, ranks)


def packing_lines(path: str, layout: trec.Layout, run: int, need_rank: bool) -> Task:
    """From lines of TREC to segments of one run."""

    def pack_lines(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow
        import pyarrow.compute

        for several in _gathered(batches, PACKED_ROWS):
            lines = pyarrow.ListArray.from_arrays([0, len(several)], several.column(0).combine_chunks())
            content = memoryview(pyarrow.compute.binary_join(lines, "\n")[0].as_buffer())
            try:
                found = trec.read_lines(text_of(path, content), _same(layout), distinct=True)
            except trec.NothingReadError:
                continue
            except DataError as error:
                raise _without_line_number(error, path, content) from None
            yield _segments_of(found, run, need_rank)

    return pack_lines


def _without_line_number(error: DataError, path: str, content: memoryview) -> DataError:
    """The error with the line itself: Spark hands out parts of a file, so that its number is not known."""
    numbered = re.match(re.escape(path) + r":(\d+): (.*)", str(error))
    if numbered is None:
        return error
    line = content.tobytes().split(b"\n")[int(numbered[1]) - 1].decode("utf-8", "replace")
    return DataError(path, f'{numbered[2]} The line is "{line[:200]}".')


def packing(place: str, columns: Mapping[str, str]) -> Task:
    """From rows ``run, query_id, doc_id, value, rank`` to segments; an error for a row that cannot be used.

    ``columns`` has the names under which the user knows them, for what is said of a row of ``place``.
    """

    def reject(table: Any, bad: Flags, column: str, problem: str) -> None:
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            inside = ", ".join(
                f"{own}={table.column(name)[row].as_py()!r}" for name, own in columns.items() if name != "run"
            )
            raise DataError(place, f'{problem} (column "{columns.get(column, column)}"). The row has {inside}.')

    def ids(table: Any, column: str, what: str) -> Ids:
        reject(table, table.column(column).is_null().to_numpy().astype(bool), column, f"a {what} is null")
        lengths = _lengths(table, column)
        reject(table, lengths == 0, column, f"a {what} is empty")
        return Ids.of_bytes(_bytes(table, column), lengths)

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow.compute

        for table in _gathered(batches, PACKED_ROWS):
            run = table.column("run").fill_null(NO_RUN).to_numpy()
            if (run == NO_RUN).any():
                _reject_strangers(table.filter(pyarrow.compute.is_null(table.column("run"))), reject)
            queries, docs = ids(table, "query_id", "query id"), ids(table, "doc_id", "document id")
            value = table.column("value").fill_null(np.nan).to_numpy()
            reject(table, ~np.isfinite(value), "value", "a value is not a finite number")
            names, topic = queries.codes(queries.hashes())
            topics = [name.decode("utf-8", "surrogateescape") for name in names]
            ranks = table.column("rank")
            if "rank" in columns:
                reject(table, ranks.is_null().to_numpy().astype(bool), "rank", "a rank is null")
            yield _segments(run, topics, topic, docs, value, ranks.to_numpy() if "rank" in columns else None)

    return pack


def _reject_strangers(rows: Any, reject: Callable[[Any, Flags, str, str], None]) -> None:
    """Raise for rows whose run is none of those that were named."""
    stranger = rows.column("stranger")[0].as_py()
    problem = (
        "a row has no run: name it, or leave such rows out"
        if stranger is None
        else f'a row is of the run "{stranger}", which "runs" does not name: name it too, or leave its rows out'
    )
    reject(rows, np.ones(len(rows), dtype=bool), "run", problem)


def _segments(run: Ints, topics: Sequence[str], topic: Ints, docs: Ids, value: Floats, ranks: Ints | None) -> Any:
    """Rows of any order, packed by run and topic."""
    import pyarrow

    if (np.diff(topic) < 0).any() or (np.diff(run) != 0).any():
        order = np.lexsort((topic, run))
        run, topic, value, docs = run[order], topic[order], value[order], docs.take(order)
        ranks = None if ranks is None else ranks[order]
    first = np.flatnonzero((np.diff(run, prepend=NO_RUN) != 0) | (np.diff(topic, prepend=-1) != 0))
    edges = np.append(first, topic.size)
    data, offsets = docs.packed()
    return pyarrow.RecordBatch.from_arrays(
        [
            _column(run[first].astype(np.int32)),
            _column([topics[number] for number in topic[first].tolist()]),
            _binary(data, offsets[edges]),
            _binary(docs.length.astype(np.int32), 4 * edges),
            _binary(value, 8 * edges),
            pyarrow.nulls(first.size, pyarrow.binary())
            if ranks is None
            else _binary(ranks.astype(np.int64), 8 * edges),
        ],
        list(SEGMENT_FIELDS),
    )


def distinct_values(batches: Iterator[Any]) -> Iterator[Any]:
    """The distinct grades in segments of judgments."""
    import pyarrow

    for table in _gathered(batches, PACKED_ROWS):
        grades = np.unique(_numbers(table, "value", np.float64))
        yield pyarrow.RecordBatch.from_arrays([_column(grades)], ["value"])


def scoring(measures: list[Measure], assumptions: Assumptions, grades: Floats, runs: Sequence[str]) -> Task:
    """From segments sorted by topic to the scores of every run and topic."""

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        for piece in _whole_topics(batches):
            yield from _scored(piece, measures, assumptions, grades, runs)

    return score


def _gathered(batches: Iterator[Any], enough: int) -> Iterator[Any]:
    """Small batches as tables of some size."""
    import pyarrow

    held, rows = [], 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= enough:
            yield pyarrow.Table.from_batches(held)
            held, rows = [], 0
    if rows:
        yield pyarrow.Table.from_batches(held)


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
    values = _numbers(table, "value", np.float64)
    lengths, ranks = _numbers(table, "lengths", np.int32), None
    rows = _lengths(table, "value") // 8
    run = np.repeat(table.column("run").to_numpy(), rows)
    queries = Ids.of_bytes(_bytes(table, "query_id"), _lengths(table, "query_id"))
    names, code = queries.codes(queries.hashes())
    topic, hashed = np.repeat(code, rows), np.repeat(queries.hashes(), rows)
    if table.column("rank").null_count < len(table):  # judgments have none
        ranks = np.zeros(values.size, dtype=np.int64)
        ranks[run != JUDGMENT] = _numbers(table, "rank", np.int64)
    docs = Ids.of_bytes(_bytes(table, "docs"), lengths.astype(np.int64))
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
            one = Run(name, part, values[chosen], partial(_given, None if ranks is None else ranks[chosen]))
            yield lists_of(one, number, facts, measures, assumptions, present_only=False)
    for number in range(len(runs)):
        unknown = np.setdiff1d(topic[run == number], topic[judged])
        if unknown.size:
            yield _named(UNJUDGED - number, [topics[one] for one in unknown.tolist()])


def _given(ranks: Ints | None) -> Ints | None:
    return ranks


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
        flat = _column(array.reshape(-1))
        return pyarrow.FixedSizeListArray.from_arrays(flat, array[0].size).cast(pyarrow.list_(pyarrow.float64()))

    def table(array: Floats | None) -> Any:
        if array is None or not chosen.size:
            return pyarrow.nulls(chosen.size, pyarrow.list_(pyarrow.float64()))
        return lists(np.ascontiguousarray(array[chosen]))

    return pyarrow.RecordBatch.from_arrays(
        [
            _column(np.full(chosen.size, number, dtype=np.int32)),
            _column([facts.query_ids[at] for at in chosen.tolist()]),
            table(sheet.value),
            table(sheet.low),
            table(sheet.high),
            table(None if sheet.parts is None else np.moveaxis(sheet.parts, 0, 1)),
            _column(sheet.judged[chosen]),
            _column(sheet.tied[chosen]),
            _column(sheet.tie_range[chosen]),
            _column(~met[chosen]),
            _column((facts.relevant(1.0) > 0)[chosen]),
        ],
        list(LIST_FIELDS),
    )


def _named(number: int, names: list[str]) -> Any:
    """Rows that only name something: a topic which nobody judged, or what was read leniently."""
    import pyarrow

    size = len(names)
    numbers, lists = pyarrow.nulls(size, pyarrow.float64()), pyarrow.nulls(size, pyarrow.list_(pyarrow.float64()))
    no, run = _column(np.zeros(size, dtype=bool)), _column(np.full(size, number, dtype=np.int32))
    columns = [run, _column(names), lists, lists, lists, lists, numbers, no, numbers, no, no]
    return pyarrow.RecordBatch.from_arrays(columns, list(LIST_FIELDS))


def _column(values: Any) -> Any:
    """The bytes of texts, or an array, as a column of Arrow, NaN as null. pyarrow.array would import pandas."""
    import pyarrow

    if isinstance(values, list):
        texts = [text.encode("utf-8", "surrogateescape") for text in values]
        offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        return pyarrow.Array.from_buffers(
            pyarrow.binary(), len(texts), [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"".join(texts))]
        )
    if values.dtype == bool:
        return _of_buffers(pyarrow.bool_(), values.size, None, np.packbits(values, bitorder="little"))
    valid = np.packbits(~np.isnan(values), bitorder="little") if values.dtype == np.float64 else None
    return _of_buffers(pyarrow.from_numpy_dtype(values.dtype), values.size, valid, np.ascontiguousarray(values))


def _of_buffers(kind: Any, size: int, valid: Any, data: Any) -> Any:
    import pyarrow

    mask = None if valid is None else pyarrow.py_buffer(valid)
    return pyarrow.Array.from_buffers(kind, size, [mask, pyarrow.py_buffer(data)])


def _binary(data: Any, offsets: Ints) -> Any:
    """The bytes of an array cut at these places, as a column of Arrow."""
    import pyarrow

    cuts, content = pyarrow.py_buffer(offsets.astype(np.int32)), pyarrow.py_buffer(np.ascontiguousarray(data))
    return pyarrow.BinaryArray.from_buffers(pyarrow.binary(), offsets.size - 1, [None, cuts, content])


def _offsets(table: Any, name: str) -> tuple[Any, Ints]:
    """The bytes of a column, and where each entry begins (and the last ends)."""
    import pyarrow

    column = table.column(name)
    kind = pyarrow.large_binary() if pyarrow.types.is_binary(column.type) else pyarrow.large_string()
    array = pyarrow.concat_arrays(column.cast(kind).chunks)
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return array.buffers()[2], offsets


def _bytes(table: Any, name: str) -> memoryview:
    data, offsets = _offsets(table, name)
    return memoryview(data if data is not None else b"")[int(offsets[0]) : int(offsets[-1])]


def _numbers(table: Any, name: str, kind: Any) -> Any:
    return np.frombuffer(_bytes(table, name), dtype=kind)


def _lengths(table: Any, name: str) -> Ints:
    return np.diff(_offsets(table, name)[1])


def _reject_repeats(pairs: Pairs, value: Floats, what: str) -> None:
    again = pairs.repeats()
    if again.size:
        row = int(again[0])
        same = (pairs.keys == pairs.keys[row]) & (pairs.topic == pairs.topic[row])
        found = " and ".join(f"{one:g}" for one in np.sort(value[same])[:2])
        raise DataError(what, f"{pairs.describe(row)} stands there twice (with {found}).", "Keep one row.")
