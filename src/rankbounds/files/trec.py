"""TREC runs and judgments: lines of fields with blanks between them.

A run's line is ``topic Q0 document rank score tag`` (or five fields, or ``topic document score``), a judgment's ``topic
0 document grade``, a preference's ``topic group subgroup document level``. If the second field of judgments varies, it
may name subtopics, or judges. Text is read in blocks that stay in the processor's cache: if every line of a block has
the same fields with one blank between them, the positions of the blanks are the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rankbounds.arrays import Floats, Ints
from rankbounds.columns import native
from rankbounds.columns.decimals import parse_decimals, whole_numbers
from rankbounds.columns.hash_tables import repeated_keys
from rankbounds.columns.ids import Ids, mix, past
from rankbounds.columns.native.reading import Lines, count_lines, merged_topics, renumber
from rankbounds.columns.pairs import Pairs, Source
from rankbounds.errors import DataError, Place
from rankbounds.files.leniency import NO_SCORE, OVERLONG, REPEATED, SHORT, Problems
from rankbounds.files.named_columns import Columns
from rankbounds.files.opening import Text
from rankbounds.files.records import field_lines, fields_of, is_number
from rankbounds.threads import in_threads

BLOCK_BYTES = 1 << 20
BLOCKS_IN_ONE = 8


class NothingReadError(DataError):
    """There is no usable line, as a part of a file may have none."""


@dataclass(frozen=True)
class Layout:
    """Which field of a line holds what."""

    fields: int
    query: int
    doc: int
    value: int
    description: str
    rank: int | None = None
    tag: int | None = None

    @property
    def value_name(self) -> str:
        return "grade" if self.description.endswith("grade") else "score"


ChooseLayout = Callable[[list[bytes], Place], Layout]

RUN_LAYOUT = Layout(6, query=0, doc=2, rank=3, value=4, tag=5, description="topic Q0 document rank score tag")
RUN_AND_MORE = replace(RUN_LAYOUT, description="topic Q0 document rank score tag, and more")
RUN_WITHOUT_TAG = Layout(5, query=0, doc=2, rank=3, value=4, description="topic Q0 document rank score")
RUN_WITHOUT_Q0 = Layout(5, query=0, doc=1, rank=2, value=3, tag=4, description="topic document rank score tag")
RUN_OF_SCORES = Layout(3, query=0, doc=1, value=2, description="topic document score")
QRELS_LAYOUT = Layout(4, query=0, doc=2, value=3, description="topic 0 document grade")
QRELS_OF_STRATA = Layout(5, query=0, doc=2, value=4, description="topic 0 document stratum grade")
"""Judgments that are a sample: a fourth field says from which part of the pool a document was drawn, or could be."""
PREFERENCES_LAYOUT = Layout(5, query=0, doc=3, value=4, description="topic group subgroup document level")
"""Preferences: of two documents of a subgroup the one of the higher level is preferred."""
KEEP_ONE_LINE = "Keep one of the two lines, or pass --lenient to keep the first."
KEEP_ONE_GRADE = KEEP_ONE_LINE.replace(".", ", or --raters majority where several people judged.")


def read_lines(
    text: Text,
    choose_layout: ChooseLayout,
    *,
    lenient: bool = False,
    threads: int = 1,
    words: Callable[[str], float] | None = None,
    distinct: bool = False,
    subtopics: bool = False,
    problems: Problems | None = None,
) -> Columns:
    """Read a whole file.

    ``words`` gives the value of a non-numeric token. With ``distinct=True`` the caller checks for repeated documents.
    With ``subtopics``, a document may be judged once for every second field. Without ``problems`` a warning counts.
    """
    warns, problems = problems is None, problems or Problems(lenient)
    first_fields, place = first_line(text)
    layout = choose_layout(first_fields, place)
    pairs, value = _parse_lines(text, layout, problems, words, threads)
    subgroup = fields_before(pairs) if layout is PREFERENCES_LAYOUT else None
    subtopic = None if subgroup is None else fields_before(pairs, subgroup.start)
    if subtopics and layout is QRELS_LAYOUT and _second_fields_differ(pairs):
        subtopic = fields_before(pairs)
    repeated = subtopic is not None and (subgroup is not None or repeated_keys(pairs.keys).size > 0)
    if subgroup is not None:
        pass  # a document may stand in several subgroups: repeats are seen where levels become preferences
    elif lenient and not (distinct and subtopics):
        again = pairs.repeats(further=subtopic if repeated else None)
        if again.size:
            problems.add(REPEATED, again.size, [_repeated(pairs, row) for row in again[: problems.most].tolist()])
            keep = np.ones(len(pairs), dtype=bool)
            keep[again] = False
            pairs, value = pairs.take(keep), value[keep]
            subtopic = None if subtopic is None else subtopic.take(keep)
    elif not distinct:
        pairs.reject_repeats(KEEP_ONE_GRADE if subtopics else KEEP_ONE_LINE, threads, subtopic if repeated else None)
    if warns:
        problems.warn(text.name)
    if not len(pairs):
        raise NothingReadError(text.name, "no line of this file could be used.")
    return Columns(
        pairs,
        value,
        layout.value_name,
        ranks=None if layout.rank is None else partial(stated_ranks, pairs),
        tag=tag_of(first_fields, layout),
        distinct=True,
        headed=False,
        subtopics=subtopic,
        by_subtopic=repeated,
        subgroups=subgroup,
        strata=fields_behind(pairs) if layout is QRELS_OF_STRATA else None,
    )


def _repeated(pairs: Pairs, row: int) -> DataError:
    alike = np.flatnonzero((pairs.keys == pairs.keys[row]) & (pairs.topic == pairs.topic[row])).tolist()
    first = next(other for other in alike if pairs.raw(other) == pairs.raw(row))
    return DataError(pairs.where(row), f"{pairs.describe(row)} is listed already on line {pairs.where(first).line}.")


def _second_fields_differ(pairs: Pairs) -> bool:
    if not len(pairs):
        return False
    text, start = pairs.docs.text, pairs.docs.start
    same, alone = text[start - 2] == text[start[0] - 2], (text[start - 1] <= 32) & (text[start - 3] <= 32)
    if same.all() and alone.all():
        return False
    fields = fields_before(pairs)
    return not fields.equals(fields.take(np.zeros(len(pairs), dtype=np.int64))).all()


def fields_before(pairs: Pairs, start: Ints | None = None) -> Ids:
    text = pairs.docs.text
    end = past(pairs.docs.start if start is None else start, text, -1, blanks=True)
    start = past(end, text, -1, blanks=False)
    return Ids(text, start, end - start)


def stated_ranks(pairs: Pairs) -> Ints:
    tokens = fields_behind(pairs)
    ranks, wrong = whole_numbers(tokens)
    if wrong.size:
        row = int(wrong[0])
        raise DataError(pairs.where(row), f'the rank "{tokens[row]}" is not a whole number up to 2**53.')
    return ranks


def fields_behind(pairs: Pairs) -> Ids:
    text = pairs.docs.text
    start = past(pairs.docs.start + pairs.docs.length, text, 1, blanks=True)
    end = past(start, text, 1, blanks=False)
    return Ids(text, start, end - start)


def run_layout(fields: list[bytes], place: Place | str) -> Layout:
    if len(fields) >= 6:
        # Where an id holds a blank, what stands in the place of the rank is seldom a number.
        return RUN_AND_MORE if len(fields) > 6 and fields[3].isdigit() else RUN_LAYOUT
    if len(fields) == 5:
        return _layout_of_five(fields, place)
    if len(fields) == 3:
        return RUN_OF_SCORES
    if len(fields) == 4 and is_number(fields[3]):
        raise DataError(
            place,
            f"this looks like judgments (four fields: {QRELS_LAYOUT.description}), but a run was expected.",
            "Where a command takes judgments too, they come first, then the runs (check: --qrels).",
        )
    raise DataError(
        place,
        f"a run's line has six fields ({RUN_LAYOUT.description}), five, or three "
        f"({RUN_OF_SCORES.description}); this one has {len(fields)}.",
    )


def _layout_of_five(fields: list[bytes], place: Place | str) -> Layout:
    _, second, third, fourth, last = fields
    if second.upper() == b"Q0":
        return RUN_WITHOUT_TAG
    if not is_number(last):
        return RUN_WITHOUT_Q0
    if not _is_whole(third):  # no rank: a document
        return RUN_WITHOUT_TAG
    if not _is_whole(fourth):  # no rank: a score
        return RUN_WITHOUT_Q0
    if second == b"0":
        return RUN_WITHOUT_TAG
    raise DataError(
        place,
        f"this line of five fields can be {RUN_WITHOUT_TAG.description} or {RUN_WITHOUT_Q0.description}.",
        "Write Q0 as the second field, or all six fields.",
    )


def _is_whole(token: bytes) -> bool:
    return is_number(token) and float(token).is_integer()


def qrels_layout(fields: list[bytes], place: Place | str, *, preferences: bool = False) -> Layout:
    if preferences and len(fields) != 5:
        expected = f"a line of preferences has five fields ({PREFERENCES_LAYOUT.description})"
        raise DataError(place, f"{expected}; this one has {len(fields)}.")
    if preferences:
        return PREFERENCES_LAYOUT
    if len(fields) == 4:
        return QRELS_LAYOUT
    if len(fields) == 5 and fields[1].upper() != b"Q0" and all(f.removeprefix(b"-").isdigit() for f in fields[3:]):
        return QRELS_OF_STRATA
    if len(fields) == 5 and is_number(fields[4]) and not is_number(fields[3]):
        return PREFERENCES_LAYOUT
    if len(fields) in (5, 6):
        raise DataError(
            place,
            f"this looks like a run ({len(fields)} fields: {RUN_LAYOUT.description}), but judgments were expected.",
            "The judgments come first, then the runs.",
        )
    raise DataError(
        place,
        f"a line of judgments has four fields ({QRELS_LAYOUT.description}); this one has {len(fields)}"
        + (f", like a run ({RUN_OF_SCORES.description})." if len(fields) == 3 else "."),
        "If this is a run, the judgments come before it; if these are judgments, add the second field, 0."
        if len(fields) == 3
        else "",
    )


def first_line(text: Text) -> tuple[list[bytes], Place]:
    for place, fields in field_lines(text):
        return fields, place
    raise NothingReadError(text.name, "the file has no line of data.")


def tag_of(fields: list[bytes], layout: Layout) -> str | None:
    if layout.tag is None or len(fields) <= layout.tag:
        return None
    return fields[layout.tag].decode("utf-8", "surrogateescape")


def _blocks(text: Text, begin: int, end: int, size: int) -> list[tuple[int, int]]:
    cuts = [begin]
    while cuts[-1] < end:
        cut = min(cuts[-1] + size, end)
        while cut < end and text.buffer[cut - 1] != 10:
            ahead = np.flatnonzero(text.buffer[cut : cut + 4096] == 10)
            cut = cut + int(ahead[0]) + 1 if ahead.size else min(cut + 4096, end)
        cuts.append(cut)
    return list(itertools.pairwise(cuts))


def _parse_lines(
    text: Text, layout: Layout, problems: Problems, words: Callable[[str], float] | None, threads: int
) -> tuple[Pairs, Floats]:
    size = BLOCK_BYTES
    if native.in_use():
        share = (text.end - text.begin) // (1 if threads == 1 else 4 * threads)
        size = min(max(size, share), BLOCKS_IN_ONE * BLOCK_BYTES)
    blocks = _blocks(text, text.begin, text.end, size)
    whole = Lines.empty(0)
    ends = [0] * len(blocks)
    if native.in_use():
        counts = list(in_threads(lambda block: count_lines(text.buffer, *block) or 0, blocks, threads))
        ends = list(itertools.accumulate(counts))
        whole = Lines.empty(ends[-1])

    def parse(number: int) -> list[_Block]:
        lines = whole if len(blocks) == 1 else whole[slice(ends[number - 1] if number else 0, ends[number])]
        read = lines.parse(text.buffer, blocks[number], layout.fields, layout.query, layout.doc, layout.value)
        if read is not None:
            rows, *topics = read
            in_place = rows == lines.topic.size
            return [_Block(Ids(text.buffer, *topics), lines if in_place else lines[:rows], in_place)]
        parts = _blocks(text, *blocks[number], BLOCK_BYTES)
        return [_parse_block(text, part, layout, problems, words) for part in parts]

    parsed = list(itertools.chain.from_iterable(in_threads(parse, range(len(blocks)), threads)))
    return _join_blocks(text, parsed, threads, whole)


@dataclass(frozen=True)
class _Block:
    topics: Ids
    lines: Lines
    in_place: bool = False
    """Are its columns those of the whole table already, at their place in it?"""


def _parse_block(
    text: Text, block: tuple[int, int], layout: Layout, in_file: Problems, words: Callable[[str], float] | None
) -> _Block:
    buffer, problems = text.buffer, Problems(in_file.lenient, in_file.most, in_file.model)
    start, end = _fields(text, block, layout, problems)

    def column(number: int) -> Ids:
        begin = np.ascontiguousarray(start[:, number])
        return Ids(buffer, begin, end[:, number] - begin)

    tokens, queries, docs = column(layout.value), column(layout.query), column(layout.doc)
    value, bad = parse_decimals(buffer, tokens.start, tokens.start + tokens.length)
    if words is not None:
        in_file.take(problems)  # what is wrong with the lines is reported before a word that stands for no grade
        for row in bad.tolist():
            value[row] = words(tokens.raw(row).decode("utf-8", "replace"))
    else:
        if bad.size:
            what = layout.value_name
            words_need = 'Words for grades need a gain rule, such as "S=3,A=2,B=1".'
            remedy = words_need if what == "grade" else "Correct the line, or pass --lenient to leave it out."
            errors = []
            for row in bad[: problems.most].tolist():
                place = Place(text.name, _line_number(text, int(tokens.start[row])))
                problem = f'the {what} "{tokens.raw(row).decode("utf-8", "replace")}" is not a finite number.'
                errors.append(DataError(place, problem, remedy))
            problems.add(NO_SCORE.replace("score", what), bad.size, errors)
            keep = np.ones(value.size, dtype=bool)
            keep[bad] = False
            value, queries, docs = value[keep], queries.take(keep), docs.take(keep)
        in_file.take(problems)
    hashed = queries.hashes()
    topics, topic = queries.first_and_codes(hashed)
    keys = mix(docs.hashes(), hashed)
    lines = Lines(topic.astype(np.int32), docs.start, docs.length.astype(np.int32), keys, value)
    return _Block(topics, lines)


def _line_number(text: Text, position: int) -> int:
    return text.before + int(np.count_nonzero(text.buffer[text.begin : position] == 10)) + 1


def _stretches(text: Text, block: tuple[int, int]) -> tuple[Ints, Ints]:
    begin, stop = block
    ends = np.flatnonzero(text.buffer[begin:stop] <= 32)
    ends += begin
    starts = np.empty_like(ends)
    starts[0] = begin
    np.add(ends[:-1], 1, out=starts[1:])
    return starts, ends


def _fields(text: Text, block: tuple[int, int], layout: Layout, problems: Problems) -> tuple[Ints, Ints]:
    begin, stop = block
    count = layout.fields
    starts, ends = _stretches(text, block)
    if ends.size % count == 0 and (ends > starts).all():
        line_ends = ends[count - 1 :: count]
        newlines = np.count_nonzero(text.buffer[begin:stop] == 10)
        one_line_each = newlines == line_ends.size and (text.buffer[line_ends] == 10).all()
        if one_line_each and not (text.buffer[starts[::count]] == ord("#")).any():
            return starts.reshape(-1, count), ends.reshape(-1, count)
    return _fields_of_uneven_lines(text, begin, starts, ends, layout, problems)


def _fields_of_uneven_lines(
    text: Text, begin: int, starts: Ints, ends: Ints, layout: Layout, problems: Problems
) -> tuple[Ints, Ints]:
    buffer, count = text.buffer, layout.fields
    starts, ends, lines, first_field, counted = _lines_of_data(text, starts, ends)
    wrong = counted != count
    if wrong.any():
        before = _line_number(text, begin)
        overlong = counted > count
        if layout is RUN_AND_MORE:
            rank = first_field[overlong] + 3
            wrong_rank = np.zeros(rank.size, dtype=bool)
            wrong_rank[whole_numbers(Ids(buffer, starts[rank], ends[rank] - starts[rank]))[1]] = True
            overlong[overlong] = wrong_rank
        expected = f"expected {count} fields ({layout.description}), as in {problems.model}"
        for kind, among in ((SHORT, counted < count), (OVERLONG, overlong)):
            rows = np.flatnonzero(among)
            errors = [
                DataError(Place(text.name, before + int(lines[row])), f"{expected}, but found {counted[row]}.")
                for row in rows[: problems.most].tolist()
            ]
            if errors:
                problems.add(kind, rows.size, errors)
        first_field = first_field[counted >= count]
    tokens = first_field[:, None] + np.arange(count)
    return starts[tokens], ends[tokens]


def _lines_of_data(text: Text, starts: Ints, ends: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return where fields begin and end, and of lines with any the number, the first field and how many there are."""
    newlines = ends[text.buffer[ends] == 10]
    filled = ends > starts
    starts, ends = starts[filled], ends[filled]
    fields_in_line = np.bincount(np.searchsorted(newlines, starts), minlength=newlines.size)
    first_field = np.cumsum(fields_in_line) - fields_in_line
    lines = np.flatnonzero(fields_in_line)
    lines = lines[text.buffer[starts[first_field[lines]]] != ord("#")]
    return starts, ends, lines, first_field[lines], fields_in_line[lines]


def usual_line(text: Text) -> tuple[int, list[bytes], Place]:
    """Return how many lines hold data, and the fields and place of the first line with the usual number of fields."""
    times: dict[int, int] = {}
    first: dict[int, int] = {}
    for block in _blocks(text, text.begin, text.end, BLOCK_BYTES):
        starts, _, _, first_field, counted = _lines_of_data(text, *_stretches(text, block))
        for count, at, several in zip(*map(np.ndarray.tolist, np.unique(counted, True, False, True)), strict=True):
            times[count] = times.get(count, 0) + several
            first.setdefault(count, int(starts[first_field[at]]))
    if not times:
        raise NothingReadError(text.name, "the file has no line of data.")
    begin = first[max(times, key=lambda count: (times[count], -first[count]))]
    line = next(replace(text, begin=begin).lines())
    return sum(times.values()), fields_of(line), Place(text.name, _line_number(text, begin))


def _join_blocks(text: Text, blocks: list[_Block], threads: int, whole: Lines) -> tuple[Pairs, Floats]:
    source = Source(text.name, "line", text.before)
    names, numbers = _number_topics([block.topics for block in blocks])
    table = blocks[0].lines
    if len(blocks) > 1:
        ends = list(itertools.accumulate(block.lines.topic.size for block in blocks))
        in_place = all(block.in_place for block in blocks)
        table = whole if in_place else Lines.empty(ends[-1])

        def fill(number: int) -> None:
            lines, end = blocks[number].lines, ends[number]
            part = table[end - lines.topic.size : end]
            if not in_place:
                for column, of_block in zip(vars(part).values(), vars(lines).values(), strict=True):
                    column[:] = of_block
            if number:  # the first block has the numbers that its topics keep
                renumber(part.topic, numbers[number])

        for _ in in_threads(fill, range(len(blocks)), threads):
            pass
    docs = Ids(text.buffer, table.start, table.length)
    return Pairs(names, table.topic, docs, table.keys, source), table.value


def _number_topics(topics: list[Ids]) -> tuple[tuple[str, ...], list[Ints]]:
    cuts = np.cumsum([len(block) for block in topics])[:-1]
    start, length = (np.concatenate([getattr(block, name) for block in topics]) for name in ("start", "length"))
    merged = merged_topics(topics[0].text, start, length)
    if merged is None:
        every = Ids(topics[0].text, start, length)
        numbers: dict[bytes, int] = {}
        number = np.array([numbers.setdefault(name, len(numbers)) for name in every.raw_list()], dtype=np.int32)
        merged = tuple(name.decode("utf-8", "surrogateescape") for name in numbers), number
    return merged[0], np.split(merged[1], cuts)
