"""A run file as far as it can be used, and what is wrong with the rest of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rankbounds.collection.run import Run
from rankbounds.errors import DataError, Place
from rankbounds.files import formats, named_columns, parquet, trec
from rankbounds.files.opening import STANDARD_INPUT, Text, plain_name, read_text


@dataclass(frozen=True)
class Problem:
    """Something that makes a line, or the whole file, unusable as it stands."""

    place: Place
    kind: str
    """``fields``, ``score``, ``rank``, ``duplicate`` or ``file``."""
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True)
class Contents:
    """A file as far as it can be used, and how to find a row of it again."""

    run: Run | None
    problems: Sequence[Problem]
    lines: int
    line_numbers: Sequence[int] | None = None
    tokens: Sequence[str] | None = None

    def where(self, row: int) -> Place:
        """Where this row of the run stands in the file."""
        assert self.run is not None
        pairs = self.run.pairs
        return pairs.where(row) if self.line_numbers is None else Place(pairs.source.name, self.line_numbers[row])

    def score_token(self, row: int) -> str:
        """The score as it is written."""
        assert self.run is not None
        if self.tokens is not None:
            return self.tokens[row]
        pairs = self.run.pairs
        if pairs.source.unit != "line":
            return f"{self.run.score[row]:.12g}"
        text, at = pairs.docs.text, int(pairs.docs.start[row])
        begin = at
        while text[begin - 1] not in (0, 10):
            begin -= 1
        end = at + int(np.argmax(text[at : at + 65536] == 10))
        fields = text[begin:end].tobytes().split()
        return fields[trec.run_layout(fields, "").value].decode("utf-8", "replace")


def read(file: str, read_run: Callable[[], Run]) -> Contents:
    """Read a run; where it does not read as a whole, the lines of it that do."""
    if file != STANDARD_INPUT and not os.path.exists(file):
        raise DataError(file, "there is no such file.")
    try:
        run = read_run()
        run.stated_rank  # noqa: B018 (a rank that is no number is found here)
    except DataError as error:
        return _read_line_by_line(file, error)
    return Contents(run, (), len(run))


def _read_line_by_line(file: str, error: DataError) -> Contents:
    """Look at every line by itself: slow, for files that do not read otherwise."""
    whole = Problem(error.place or Place(file), "file", error.advice)
    try:
        text = read_text(file)
    except DataError:
        return Contents(None, [whole], 0)
    if parquet.is_parquet(file, named_columns.RUN_COLUMNS) or formats.recognise(text, file) != "trec":
        return Contents(None, [whole], 0)
    lines = [
        (number, fields)
        for number, line in enumerate(text.tobytes().split(b"\n"), 1)
        if (fields := line.split()) and not fields[0].startswith(b"#")
    ]
    if not lines:
        return Contents(None, [whole], 0)
    usual = Counter(len(fields) for _, fields in lines).most_common(1)[0][0]
    number, typical = next((number, fields) for number, fields in lines if len(fields) == usual)
    try:
        layout = trec.run_layout(typical, Place(text.name, number))
    except DataError:
        return Contents(None, [whole], len(lines))
    return _usable(text, lines, layout)


def _usable(text: Text, lines: list[tuple[int, list[bytes]]], layout: trec.Layout) -> Contents:
    """The lines that can be used, and what is wrong with the others."""
    problems: list[Problem] = []
    first_seen: dict[tuple[bytes, bytes], int] = {}
    kept: list[tuple[int, list[bytes], float, int | None]] = []
    for number, fields in lines:

        def wrong(kind: str, message: str, number: int = number) -> None:
            problems.append(Problem(Place(text.name, number), kind, message))

        if len(fields) != layout.fields:
            wrong("fields", f"expected {layout.fields} fields ({layout.description}), but found {len(fields)}.")
            if len(fields) < layout.fields:
                continue
        score = _number(fields[layout.value])
        if score is None:
            wrong("score", f'the score "{_decoded(fields[layout.value])}" is not a finite number.')
            continue
        pair = (fields[layout.query], fields[layout.doc])
        if pair in first_seen:
            doc, topic = _decoded(pair[1]), _decoded(pair[0])
            earlier = f"line {first_seen[pair]}"
            wrong("duplicate", f'document "{doc}" of topic "{topic}" stands here again, first on {earlier}.')
            continue
        first_seen[pair] = number
        rank = None
        if layout.rank is not None:
            stated = _number(fields[layout.rank])
            rank = int(stated) if stated is not None and stated == int(stated) else None
            if rank is None:
                wrong("rank", f'the rank "{_decoded(fields[layout.rank])}" is not a whole number.')
        kept.append((number, fields, score, rank))
    if not kept:
        return Contents(None, problems, len(lines))
    ranks = [rank for *_, rank in kept if rank is not None]
    tag = None if layout.tag is None else _decoded(kept[0][1][layout.tag])
    table = named_columns.Columns.of(
        [_decoded(fields[layout.query]) for _, fields, *_ in kept],
        [_decoded(fields[layout.doc]) for _, fields, *_ in kept],
        [score for *_, score, _ in kept],
        value_name="score",
        source=text.name,
    )
    stated_ranks = np.array(ranks, dtype=np.int64) if len(ranks) == len(kept) else None
    run = Run(tag or plain_name(text.name), table.pairs, table.numbers, stated_ranks)
    tokens = [_decoded(fields[layout.value]) for _, fields, *_ in kept]
    return Contents(run, problems, len(lines), [number for number, *_ in kept], tokens)


def _number(token: bytes) -> float | None:
    try:
        value = float(token)
    except ValueError:
        return None
    return value if np.isfinite(value) and b"_" not in token else None


def _decoded(token: bytes) -> str:
    return token.decode("utf-8", "surrogateescape")
