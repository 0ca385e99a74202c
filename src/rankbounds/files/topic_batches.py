"""Large files of runs in pieces of whole topics, in bounded memory.

The lines of each topic must stand together. TREC files (also compressed) and Parquet are supported.
"""

from __future__ import annotations

import codecs
import contextlib
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from rankbounds.arrays import Words
from rankbounds.columns.ids import PADDING, Ids
from rankbounds.columns.pairs import Pairs
from rankbounds.errors import DataError, Place, UsageError
from rankbounds.files import named_columns, parquet, trec
from rankbounds.files.compression import is_compressed
from rankbounds.files.formats import recognise
from rankbounds.files.leniency import REPEATED, LeftOut, LeftOutWarning, Problems
from rankbounds.files.named_columns import ColumnNames, Columns
from rankbounds.files.objects import columns_of
from rankbounds.files.opening import STANDARD_INPUT, Text, stream, text_of
from rankbounds.files.records import field_lines
from rankbounds.files.trec import Layout, NothingReadError

READ_BYTES = 1 << 26
"""How much is asked for at a time: some libraries for compressed files take room for all that they are asked for."""
SHORTEST_LINE = 8
"""Bytes of a line of data, about: where lines are shorter on average, most of them hold none."""
_NO_DATA = re.compile(rb"^(?:[\x01-\x20]*\n|[\x01-\x09\x0b-\x20]*#[^\n]*\n)", re.MULTILINE)
"""Lines of blanks, as many as follow each other, or a comment."""


def first_fields(path: str) -> tuple[list[bytes], Place]:
    content = b""
    for content, before in blocks_of_lines(path, 1 << 16):
        if not lines_of_data(content):
            continue
        with contextlib.suppress(NothingReadError):
            return trec.first_line(inner_text(path, content, before))
    if not content:
        raise DataError(path, "the file is empty.")
    raise NothingReadError(path, "the file has no line of data.")


@dataclass
class _Stretch:
    """The next ``left`` bytes of an open file."""

    file: IO[bytes]
    left: float

    def read(self, size: int) -> bytes:
        block = self.file.read(int(min(size, self.left)))
        self.left -= len(block)
        return block


def blocks_of_lines(path: str, size: int, begin: int = 0, end_of_all: int | None = None) -> Iterator[tuple[bytes, int]]:
    """Yield a text file, or a stretch of whole lines, in blocks of whole lines, and how many lines precede each."""
    before, content = 0, b""
    with stream(path) as opened:
        if begin:
            opened.seek(begin)
        file = _Stretch(opened, math.inf if end_of_all is None else end_of_all - begin)
        if not begin:
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
    return int(np.count_nonzero(np.frombuffer(content, dtype=np.uint8) == 10))


def _rest_of_line(file: _Stretch) -> Iterator[bytes]:
    while more := file.read(1 << 16):
        yield more if b"\n" in more or more[-1:].strip() else more.rstrip() + b" "  # of many blanks one
        if b"\n" in more:
            return


def inner_text(path: str, content: bytes, before: int) -> Text:
    """Return whole lines from anywhere in a file: a byte order mark is one only at its very beginning."""
    ended = content if content.endswith(b"\n") else content + b"\n"
    return replace(text_of(path, ended, before), begin=PADDING)


def read_fully(file: IO[bytes] | _Stretch, size: int) -> bytes:
    blocks = []
    while size and (block := file.read(min(size, READ_BYTES))):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)


ROW_BYTES = 50
"""What a row of Parquet counts for: about as much as a line of text."""
BLOCK_BYTES = 1 << 24


class MixedTopicsError(DataError):
    """A topic that seemed complete goes on later in the file."""

    def __init__(self, file: str, topic: str) -> None:
        problem = f'the rows of topic "{topic}" do not stand together, as reading in pieces needs.'
        remedy = "Sort the file by topic once (TREC files: sort -s -k1,1 FILE), or evaluate in memory (--engine local)."
        super().__init__(file, problem, remedy)


@dataclass(frozen=True)
class LargeFile:
    """A file of a run, read in pieces of about ``piece_bytes``."""

    path: str
    names: ColumnNames
    piece_bytes: int
    lenient: bool = False
    threads: int = 1

    @property
    def parquet(self) -> bool:
        return parquet.is_parquet(self.path, self.names)

    def _texts(self, size: int | None = None) -> Iterator[Text]:
        size = size or min(BLOCK_BYTES, max(BLOCK_BYTES >> 8, self.piece_bytes))
        for content, before in blocks_of_lines(self.path, size):
            yield inner_text(self.path, content, before)

    def check(self) -> None:
        if self.path == STANDARD_INPUT:
            raise UsageError("Standard input cannot be read in pieces: write it to a file first.")
        if self.parquet:
            self._wanted_columns()
            return
        with stream(self.path) as file:
            start = file.read(1 << 16)
        kind = recognise(text_of(self.path, start), self.path)
        if kind != "trec":
            raise UsageError(
                f"{self.path}: only TREC files and Parquet can be read in pieces, and this is {kind}. Convert it, or "
                "evaluate in memory (--engine local)."
            )

    def size(self) -> int:
        if self.parquet:
            with parquet.report_damage(self.path):
                return parquet.shape_of(self.path)[1] * ROW_BYTES
        if not is_compressed(self.path):
            return Path(self.path).stat().st_size
        size = 0
        with stream(self.path) as file:
            while block := file.read(BLOCK_BYTES >> 4):
                size += len(block)
        return size

    def stretches(self, size: int) -> list[tuple[int, int]]:
        """Divide the file into stretches of about so many bytes of text, at boundaries of topics."""
        if self.parquet:
            with parquet.report_damage(self.path):
                query = named_columns.find_column(parquet.shape_of(self.path)[0], self.names.query)
                assert query is not None
                return list(itertools.pairwise(parquet.starts_of_ids(self.path, query, size // ROW_BYTES)))
        end, edges = self.size(), [0]
        with open(self.path, "rb") as file:
            for begin in range(size, end, size):
                file.seek(max(begin, edges[-1]) - 1)
                file.readline()
                at, topic = file.tell(), None
                while line := file.readline():
                    fields = line.split(None, 1)
                    if fields and not fields[0].startswith(b"#"):
                        if topic not in (None, fields[0]):
                            break
                        topic = fields[0]
                    at = file.tell()
                if edges[-1] < at < end:
                    edges.append(at)
        return list(itertools.pairwise([*edges, end]))

    def grouped(self, begin: int = 0, end: int | None = None, *, distinct: bool = False) -> Iterator[Columns]:
        """Yield the file in pieces of whole topics; raise as soon as a topic turns up again in a later piece.

        With ``distinct=True`` the caller checks for repeated documents.
        """
        closed: Words = np.empty(0, dtype=np.uint64)
        pieces = self._grouped_frames(begin, end) if self.parquet else self._grouped_lines(begin, end, distinct)
        for piece in pieces:
            new = Ids.of(piece.pairs.topics).hashes()
            again = closed.take(np.searchsorted(closed, new), mode="clip") == new if closed.size else new < 0
            if again.any():
                raise MixedTopicsError(self.path, piece.pairs.topics[int(again.argmax())])
            closed = np.sort(np.concatenate([closed, new]))
            yield piece

    def _grouped_lines(self, begin: int, end: int | None, distinct: bool) -> Iterator[Columns]:
        first_line, parts, wanted = self._first_line(), list[bytes](), 0
        blocks = itertools.chain(blocks_of_lines(self.path, self.piece_bytes, begin, end), [(b"", 0)])
        for (block, _), (after, _) in itertools.pairwise(blocks):
            parts.append(lines_of_data(block))
            if not after or sum(map(len, parts)) < wanted:
                continue  # the end of all, or of one topic no end yet
            content = b"".join(parts)
            try:  # which line of the file this is does not matter: whoever meets an error reads the file again
                lines = self._parse_lines(inner_text(self.path, content, 0), first_line, distinct)
            except NothingReadError:
                parts = []
                continue
            topic, docs = lines.pairs.topic, lines.pairs.docs
            other = np.flatnonzero(topic != topic[-1])
            if not other.size:
                parts, wanted = [content], 2 * len(content)
                continue
            whole = int(other[-1]) + 1
            parts, wanted = [content[content.rfind(b"\n", 0, int(docs.start[whole]) - PADDING) + 1 :]], 0
            pairs = lines.pairs.take(slice(0, whole)).without_unused_topics()
            ranks = lines.ranks and partial(trec.stated_ranks, pairs)
            yield replace(lines, pairs=pairs, values=lines.values[:whole], ranks=ranks)
        with contextlib.suppress(NothingReadError):
            if content := b"".join(parts):
                yield self._parse_lines(inner_text(self.path, content, 0), first_line, distinct)

    def _first_line(self) -> tuple[Layout, str | None]:
        fields, place = first_fields(self.path)
        layout = trec.run_layout(fields, place)
        return layout, trec.tag_of(fields, layout)

    def _parse_lines(self, text: Text, first_line: tuple[Layout, str | None], distinct: bool = False) -> Columns:
        layout, tag = first_line
        lines = trec.read_lines(text, lambda *_: layout, lenient=self.lenient, threads=self.threads, distinct=distinct)
        return replace(lines, tag=tag)

    def _grouped_frames(self, begin: int, end: int | None) -> Iterator[Columns]:
        import polars

        carried, before = None, begin
        for rows, after in itertools.pairwise(itertools.chain(self._frames(begin, end), [None])):
            frame = rows if carried is None else polars.concat([carried, rows], how="vertical_relaxed")
            group = frame[named_columns.find_column(frame.columns, self.names.query)].rle_id()
            whole = 0 if after is None else int(group.search_sorted(group[-1]))
            if whole:
                yield columns_of(frame[:whole], self.names, source=self.path, before=before)
            carried, before = frame[whole:], before + whole
        if carried is not None:
            yield columns_of(carried, self.names, source=self.path, before=before)

    def _wanted_columns(self) -> list[str]:
        with parquet.report_damage(self.path):
            columns, _ = parquet.shape_of(self.path)
        if named_columns.has_lists(columns, self.names):
            raise UsageError(f"{self.path}: rows with lists of ids are read in memory: use --engine local.")
        return named_columns.wanted_columns(columns, self.names, self.path)

    def _frames(self, begin: int = 0, end: int | None = None) -> Iterator[Any]:
        wanted = self._wanted_columns()
        step = max(1, self.piece_bytes // ROW_BYTES)
        with parquet.report_damage(self.path):
            for path in parquet.files_of(self.path):
                yield from (frame for frame in parquet.frames_of(path, wanted, step, begin, end) if len(frame))

    def first_error(self) -> DataError | None:
        """Return what reading the whole file at once would raise, with the same words and line.

        Pieces meet problems in another order. So the file is read again: first all of it must be text, then all lines
        well-formed, then topics together, and only then documents unique.
        """
        if self.parquet or self.lenient:
            return None
        try:
            for _ in self._texts():
                pass
            layout, tag = self._first_line()
            for text in self._texts(trec.BLOCK_BYTES):
                with contextlib.suppress(NothingReadError):
                    self._parse_lines(text, (layout, tag), distinct=True)
            repeat: DataError | None = None
            for piece in self.grouped(distinct=True):
                for row in () if repeat else piece.pairs.repeats(self.threads)[:1].tolist():
                    repeat = self._repeat(piece.pairs, row, layout)
        except DataError as error:
            return error
        return repeat

    def _repeat(self, pairs: Pairs, row: int, layout: Layout) -> DataError:
        wanted = [pairs.topics[int(pairs.topic[row])].encode("utf-8", "surrogateescape"), pairs.docs.raw(row)]
        lines = itertools.chain.from_iterable(map(field_lines, self._texts()))
        places = [place for place, fields in lines if [fields[layout.query], fields[layout.doc]] == wanted]
        return DataError(places[1], f"{pairs.describe(row)} is listed twice.", trec.KEEP_ONE_LINE)

    def left_out(self, repeats: bool) -> LeftOutWarning:
        """Warn about what lenient reading leaves out. Pieces may see a line twice, so they are not asked."""
        problems = Problems(lenient=True)
        layout, _ = self._first_line()
        for text in self._texts():
            with contextlib.suppress(NothingReadError):
                trec.read_lines(text, lambda *_: layout, lenient=True, threads=self.threads, problems=problems)
        kinds = {kind: part for kind, part in problems.left_out.items() if kind != REPEATED}
        if repeats:
            kinds[REPEATED] = LeftOut(None, None)
        return LeftOutWarning(self.path, kinds)
