"""The usable part of a run file: all of it, or, if it cannot be read as a whole, its readable lines."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankbounds.collection.run import Run
from rankbounds.errors import DataError, Place
from rankbounds.files import formats, parquet, trec
from rankbounds.files.named_columns import RUN_COLUMNS
from rankbounds.files.opening import STANDARD_INPUT, Text, plain_name, read_text


@dataclass(frozen=True)
class Problem:
    """Something that makes a line, or the whole file, unusable as it stands."""

    place: Place
    kind: str
    """``unreadable``, ``bad_line``, ``bad_score``, ``bad_rank`` or ``duplicate``."""
    message: str


Usable: TypeAlias = tuple[Run | None, Sequence[Problem], int]
"""What can be used of a run file, what is wrong with the rest, and how many lines it has."""


def read_usable(file: str, read: Callable[[], Run]) -> Usable:
    """Read a run; if it cannot be read as a whole, check every line separately, which is slow."""
    if file != STANDARD_INPUT and not os.path.exists(file):
        raise DataError(file, "there is no such file.")
    try:
        run = read()
        run.stated_rank  # noqa: B018 (a rank that is no number is found here)
        return run, (), len(run)
    except DataError as error:
        whole = [Problem(error.place or Place(file), "unreadable", error.advice)]
    try:
        text = read_text(file)
    except DataError:
        return None, whole, 0
    if parquet.is_parquet(file, RUN_COLUMNS) or formats.recognise(text, file) != "trec":
        return None, whole, 0
    lines = [
        (number, fields)
        for number, line in enumerate(text.tobytes().split(b"\n"), 1)
        if (fields := line.split()) and not fields[0].startswith(b"#")
    ]
    if not lines:
        return None, whole, 0
    usual = Counter(len(fields) for _, fields in lines).most_common(1)[0][0]
    number, typical = next((number, fields) for number, fields in lines if len(fields) == usual)
    try:
        layout = trec.run_layout(typical, Place(text.name, number))
    except DataError:
        return None, whole, len(lines)
    return _read_leniently(text, lines, layout)


def _read_leniently(text: Text, lines: list[tuple[int, list[bytes]]], layout: trec.Layout) -> Usable:
    """Read the usable lines, and what is wrong with the others."""
    problems: list[Problem] = []
    first_seen: dict[tuple[bytes, bytes], int] = {}
    tag = None
    for number, fields in lines:

        def wrong(kind: str, message: str, number: int = number) -> None:
            problems.append(Problem(Place(text.name, number), kind, message))

        if len(fields) != layout.fields:
            wrong("bad_line", f"expected {layout.fields} fields ({layout.description}), but found {len(fields)}.")
            if len(fields) < layout.fields:
                continue
        if not np.isfinite(_number(fields[layout.value])):
            wrong("bad_score", f'the score "{_decode(fields[layout.value])}" is not a finite number.')
            continue
        pair = topic, document = fields[layout.query], fields[layout.doc]
        if pair in first_seen:
            again = f'duplicate document "{_decode(document)}" for topic "{_decode(topic)}"'
            wrong("duplicate", f"{again}, already on line {first_seen[pair]}.")
            continue
        first_seen[pair] = number
        tag = tag or trec.tag_of(fields, layout)
        if layout.rank is not None and not _number(fields[layout.rank]).is_integer():
            wrong("bad_rank", f'the rank "{_decode(fields[layout.rank])}" is not a whole number.')
    if not first_seen:
        return None, problems, len(lines)
    read = trec.read_lines(text, lambda *_: layout, lenient=True)
    ranks = None if any(problem.kind == "bad_rank" for problem in problems) else read.ranks
    return Run._of_pairs(tag or plain_name(text.name), read.pairs, read.numbers, ranks), problems, len(lines)


def _number(token: bytes) -> float:
    try:
        return float("nan" if b"_" in token else token)
    except ValueError:
        return float("nan")


def _decode(token: bytes) -> str:
    return token.decode("utf-8", "surrogateescape")
