"""Read a large text file in blocks of whole lines, and find topics before parsing."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import IO

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.columns.ids import PADDING, Ids, past
from rankbounds.errors import DataError, Place
from rankbounds.files import trec
from rankbounds.files.opening import Text, stream, text_of
from rankbounds.files.trec import NothingReadError

READ_BYTES = 1 << 26
"""How much is asked for at a time: some libraries for compressed files take room for all that they are asked for."""
SHORTEST_LINE = 8
"""Bytes of a line of data, about: where lines are shorter on average, most of them hold none."""
_NO_DATA = re.compile(rb"^(?:[\x01-\x20]*\n|[\x01-\x09\x0b-\x20]*#[^\n]*\n)", re.MULTILINE)
"""Lines of blanks, as many as follow each other, or a comment."""


def first_fields(path: str) -> tuple[list[bytes], Place]:
    """The fields of the first line with data, and where it stands."""
    content = b""
    for content, before in blocks_of_lines(path, 1 << 16):
        if not lines_of_data(content):
            continue
        with contextlib.suppress(NothingReadError):
            return trec.first_line(inner_text(path, content, before))
    if not content:
        raise DataError(path, "the file is empty.")
    raise NothingReadError(path, "the file has no line of data.")


def blocks_of_lines(path: str, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield a text file in blocks of whole lines, and how many lines precede each.

    A block ends with the line in which it reaches ``size`` bytes, as when a whole file is read.
    """
    before = 0
    with stream(path) as file:
        content = read_fully(file, len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
        while content := content + read_fully(file, max(0, size - len(content))):
            end = content.find(b"\n", size - 1) + 1
            if not end:
                content = b"".join([content, *_rest_of_line(file)])
                end = content.find(b"\n", size - 1) + 1
            block = content[:end] if end else content
            yield block, before
            before += _newlines(block)
            content = content[len(block) :]


def lines_of_data(content: bytes) -> bytes:
    """Drop lines without data where these are many: columns for them would fill the memory."""
    if _newlines(content) * SHORTEST_LINE <= len(content):
        return content
    kept, begin = [], 0
    while begin < len(content):  # some at a time, because what is replaced is noted until all is
        end = content.find(b"\n", begin + (1 << 16)) + 1 or len(content)
        kept.append(_NO_DATA.sub(b"", content[begin:end]))
        begin = end
    return b"".join(kept)


def _newlines(content: bytes) -> int:
    """Count newlines: where they are dense, NumPy is ten times as fast as ``bytes``."""
    return int(np.count_nonzero(np.frombuffer(content, dtype=np.uint8) == 10))


def trim_blanks(part: bytes) -> bytes:
    """Replace the blanks at the end of a part of a line by one."""
    return part if part[-1:].strip() or not part else part.rstrip() + b" "


def _rest_of_line(file: IO[bytes]) -> Iterator[bytes]:
    while more := file.read(1 << 16):
        yield more if b"\n" in more else trim_blanks(more)
        if b"\n" in more:
            return


def inner_text(path: str, content: bytes, before: int) -> Text:
    """Return whole lines from anywhere in a file: a byte order mark is one only at its very beginning."""
    ended = content if content.endswith(b"\n") else content + b"\n"
    return replace(text_of(path, ended, before), begin=PADDING)


def queries_of(text: Text) -> tuple[Ints, Ids]:
    """Return which lines of a text hold data, and the topic of each, with the reader's notion of blanks."""
    line_ends = np.flatnonzero(text.buffer[text.begin : text.end] == 10) + text.begin
    start = past(np.concatenate(([text.begin], line_ends[:-1] + 1)), text.buffer, 1, blanks=True)
    used = np.flatnonzero((start < line_ends) & (text.buffer.take(start, mode="clip") != ord("#")))
    start = start[used]
    return used, Ids(text.buffer, start, past(start, text.buffer, 1, blanks=False) - start)


def read_fully(file: IO[bytes], size: int) -> bytes:
    """Read so many bytes, or all there are; a file may give fewer at a time."""
    blocks = []
    while size and (block := file.read(min(size, READ_BYTES))):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)
