"""Files of TREC lines that Spark's tasks open themselves, some bytes each."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankbounds.errors import DataError
from rankbounds.evaluation.engines.spark.segments import same_layout, segments_of_lines
from rankbounds.evaluation.engines.spark.task_errors import Task, telling
from rankbounds.files import trec
from rankbounds.files.opening import stream, text_of
from rankbounds.files.text_blocks import inner_text, read_fully

READ_BYTES = 1 << 22
"""How many bytes of a file a task reads before it parses and packs them."""
RANGE_BYTES = 1 << 26
"""How many bytes of a file a task gets at most."""


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


def content_of(where: Range) -> bytes:
    """All bytes of a range."""
    file, begin, end = where
    with stream(file.path) as opened:
        if begin:
            opened.seek(begin)
        return read_fully(opened, end - begin)


def reading_files(ranges: Sequence[Range], need_rank: bool) -> Task:
    """From numbers of ranges to the segments of the lines there."""

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                file, begin, end = ranges[number]
                for content, position in _lines_within(file.path, begin, end):
                    with contextlib.suppress(trec.NothingReadError):
                        yield segments_of_lines(parsed(content, file, position, distinct=True), file.run, need_rank)

    return telling(read)


def parsed(
    content: bytes, file: LocalFile, position: int, *, lenient: bool = False, distinct: bool = False
) -> trec.TrecLines:
    """The lines that stand at this position of a file. Lines before them are counted only when a number is told."""

    def read(before: int) -> trec.TrecLines:
        text = inner_text(file.path, content, before) if position else text_of(file.path, content)
        return trec.read_lines(text, same_layout(file.layout), lenient=lenient, distinct=distinct)

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


def _newlines(path: str, position: int) -> int:
    """How many lines of a file end before this position."""
    count = 0
    with stream(path) as file:
        while position and (block := file.read(min(position, READ_BYTES))):
            count += block.count(b"\n")
            position -= len(block)
    return count
