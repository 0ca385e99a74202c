"""Large files of runs in pieces of whole topics, in bounded memory.

A file with contiguous topics is read once. Any other is first split into several files on disk, each with whole topics,
by a hash of the topic. TREC files (also compressed) and Parquet are supported.
"""

from __future__ import annotations

import codecs
import contextlib
import itertools
import math
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from rankbounds.arrays import Ints, Words
from rankbounds.columns.ids import PADDING, Ids, past
from rankbounds.columns.pairs import Source
from rankbounds.errors import DataError, Place, UsageError
from rankbounds.files import named_columns, parquet, trec
from rankbounds.files.compression import is_compressed
from rankbounds.files.formats import recognise
from rankbounds.files.leniency import REPEATED, LeftOut, LeftOutWarning, Problems, line_of
from rankbounds.files.named_columns import ColumnNames, Columns
from rankbounds.files.objects import columns_of, ids_of_series
from rankbounds.files.opening import STANDARD_INPUT, Text, changed, stream, text_of
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
    """Count newlines: where they are dense, NumPy is ten times as fast as ``bytes``."""
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


def queries_of(text: Text) -> tuple[Ints, Ids]:
    """Return which lines of a text hold data, and the topic of each, with the reader's notion of blanks."""
    line_ends = np.flatnonzero(text.buffer[text.begin : text.end] == 10) + text.begin
    start = past(np.concatenate(([text.begin], line_ends[:-1] + 1)), text.buffer, 1, blanks=True)
    used = np.flatnonzero((start < line_ends) & (text.buffer.take(start, mode="clip") != ord("#")))
    start = start[used]
    return used, Ids(text.buffer, start, past(start, text.buffer, 1, blanks=False) - start)


def read_fully(file: IO[bytes] | _Stretch, size: int) -> bytes:
    """Read so many bytes, or all there are; a file may give fewer at a time."""
    blocks = []
    while size and (block := file.read(min(size, READ_BYTES))):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)


ROW_BYTES = 50
"""What a row of Parquet counts for: about as much as a line of text."""
SPLIT_BYTES = 1 << 24


class ScratchError(DataError):
    """The folder for temporary files takes no more."""


def scratch_error(folder: Path, error: Exception, what: str = "temporary files") -> ScratchError:
    reason = getattr(error, "strerror", None) or str(error).rpartition("error: ")[2]
    remedy = "Free some space, or name another folder: scratch= in Python, the variable TMPDIR for commands."
    return ScratchError(folder, f"{what} cannot be written here ({reason}).", remedy)


class MixedTopicsError(Exception):
    """A topic that seemed complete goes on later in the file."""


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

    def _texts(self, size: int | None = None, *, data_alone: bool = False) -> Iterator[Text]:
        size = size or min(SPLIT_BYTES, max(SPLIT_BYTES >> 8, self.piece_bytes))
        for content, before in blocks_of_lines(self.path, size):
            yield inner_text(self.path, lines_of_data(content) if data_alone else content, before)

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
        """Return about how many bytes of text this is."""
        if self.parquet:
            with parquet.report_damage(self.path):
                return parquet.shape_of(self.path)[1] * ROW_BYTES
        if not is_compressed(self.path):
            return Path(self.path).stat().st_size
        size = 0
        with stream(self.path) as file:
            while block := file.read(SPLIT_BYTES >> 4):
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

    def grouped(self, begin: int = 0, end: int | None = None) -> Iterator[Columns]:
        """Yield the file in pieces of whole topics; raise as soon as a topic turns up again in a later piece."""
        closed: Words = np.empty(0, dtype=np.uint64)
        for piece in (self._grouped_frames if self.parquet else self._grouped_lines)(begin, end):
            new = Ids.of(piece.pairs.topics).hashes()
            if closed.size and (closed.take(np.searchsorted(closed, new), mode="clip") == new).any():
                raise MixedTopicsError  # two topics may share a hash: to split the file is right then, too
            closed = np.sort(np.concatenate([closed, new]))
            yield piece

    def _grouped_lines(self, begin: int, end: int | None) -> Iterator[Columns]:
        first_line, parts, wanted = self._first_line(), list[bytes](), 0
        for block, _ in blocks_of_lines(self.path, self.piece_bytes, begin, end):
            parts.append(lines_of_data(block))
            if sum(map(len, parts)) < wanted:
                continue  # one topic, and no end of it yet
            content = b"".join(parts)
            try:  # which line of the file this is does not matter: whoever meets an error reads the file again
                lines = self._parse_lines(inner_text(self.path, content, 0), first_line)
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
            yield trec.replace_pairs(lines, pairs, lines.values[:whole])
        with contextlib.suppress(NothingReadError):
            if content := b"".join(parts):
                yield self._parse_lines(inner_text(self.path, content, 0), first_line)

    def _first_line(self) -> tuple[Layout, str | None]:
        """Return what the first line of the file shows: the layout and the tag of all its parts."""
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
        for rows in self._frames(begin, end):
            frame = rows if carried is None else polars.concat([carried, rows], how="vertical_relaxed")
            group = frame[named_columns.find_column(frame.columns, self.names.query)].rle_id()
            whole = int(group.search_sorted(group[-1]))
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

    def split(self, parts: int, scratch: Path) -> list[Path | None]:
        """Split the file by topic into files in ``scratch``; a topic has the same part in every file."""
        try:
            return self._split(parts, scratch)
        except Exception as error:
            if not isinstance(error, OSError) and type(error).__module__.partition(".")[0] != "polars":
                raise
            raise scratch_error(scratch.parent, error, f"a copy of {self.path} that is sorted by topic") from None

    def _split(self, parts: int, scratch: Path) -> list[Path | None]:
        folder = Path(tempfile.mkdtemp(dir=scratch))
        names = [folder / str(number) for number in range(parts)]
        if self.parquet:
            import polars

            for step, frame in enumerate(self._frames()):
                part = self._queries_of(frame).hashes() % np.uint64(parts)
                for number in np.unique(part).tolist():
                    names[number].mkdir(exist_ok=True)
                    frame.filter(polars.Series(part == number)).write_parquet(names[number] / f"{step:06}.parquet")
            return [name if name.exists() else None for name in names]
        for name in names:
            name.touch()
        for text in self._texts(data_alone=True):
            used, queries = queries_of(text)
            lines = text.tobytes().split(b"\n")
            part = queries.hashes() % np.uint64(parts)
            order = np.argsort(part, kind="stable")
            numbers, begin = np.unique(part[order], return_index=True)
            for number, rows in zip(numbers.tolist(), np.split(used[order], begin[1:]), strict=False):
                with open(names[number], "ab") as out:  # one at a time: systems let a process have few files open
                    out.writelines(lines[row] + b"\n" for row in rows.tolist())
        return [name if name.stat().st_size else None for name in names]

    def _queries_of(self, frame: Any) -> Ids:
        import polars

        query = named_columns.find_column(frame.columns, self.names.query)
        return ids_of_series(frame[query].cast(polars.String).fill_null(""))

    def in_order(self, topics: Iterable[str]) -> list[str]:
        """Return these topics by first appearance in the file."""
        wanted, ordered = set(topics), dict[str, None]()
        of_lines = (queries_of(text)[1] for text in self._texts(data_alone=True))
        for queries in map(self._queries_of, self._frames()) if self.parquet else of_lines:
            ordered |= dict.fromkeys(topic for topic in queries.numbered()[0] if topic in wanted)
        return list(ordered)

    def part(self, name: Path | None) -> Columns | None:
        """Read one part of a split file; None if it has no usable line."""
        if name is None:
            return None
        try:
            if self.parquet:
                table = parquet.read_parquet(str(name), self.names)
                return replace(table, pairs=replace(table.pairs, source=Source(self.path)))
            return self._part_of_lines(name)
        except NothingReadError:
            return None
        except DataError as error:
            raise error.moved_to(replace(error.place or Place(""), file=self.path)) from None

    def _lines_of_part(self, name: Path) -> Columns:
        return self._parse_lines(inner_text(self.path, name.read_bytes(), 0), self._first_line(), distinct=True)

    def _part_of_lines(self, name: Path) -> Columns:
        lines = self._lines_of_part(name)
        pairs = replace(lines.pairs, source=Source(self.path, "line", line_in_file=partial(self._line_in_file, name)))
        if not self.lenient:
            pairs.reject_repeats(trec.KEEP_ONE_LINE, self.threads)
        return trec.replace_pairs(lines, pairs, lines.values)

    def first_error(self, scratch: Path) -> DataError | None:
        """Raise what reading the whole file at once would raise, with the same words and line.

        Pieces and parts meet problems in another order. So the file is read again: first all of it must be text, then
        all lines well-formed, and only then documents unique.
        """
        if self.parquet or self.lenient:
            return None
        try:
            for _ in self._texts():
                pass
            first_line = self._first_line()
            for text in self._texts(trec.BLOCK_BYTES):
                with contextlib.suppress(NothingReadError):
                    self._parse_lines(text, first_line, distinct=True)
            parts = self.split(max(2, -(-self.size() // self.piece_bytes)), scratch)
            repeats = {number: self._first_repeat(part) for number, part in enumerate(parts) if part is not None}
            lines = {number: line_of(error.place) for number, error in repeats.items() if error is not None}
            if not lines:
                return None
            line, number = self._first_of_lines(lines, len(parts))
        except DataError as error:
            return error
        repeat = repeats[number]
        assert repeat is not None
        return repeat.moved_to(Place(self.path, line))

    def _first_repeat(self, part: Path) -> DataError | None:
        """Return the error for the first repeated document of a part, with its line there."""
        try:
            self._lines_of_part(part).pairs.reject_repeats(trec.KEEP_ONE_LINE, self.threads)
        except NothingReadError:
            return None
        except DataError as error:
            return error.with_traceback(None)  # which holds all that was read
        return None

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

    def _line_in_file(self, part: Path, number: int) -> int:
        """Return the line of the file for a line of a part, by reading the file again."""
        return self._first_of_lines({int(part.name): number}, len(list(part.parent.iterdir())))[0]

    def _first_of_lines(self, lines: Mapping[int, int], parts: int) -> tuple[int, int]:
        """Of one line in each of some parts return the one that the file has first: its line there, and its part."""
        left = dict(lines)
        for text in self._texts():
            used, queries = queries_of(text)
            part = queries.hashes() % np.uint64(parts)
            order = np.argsort(part, kind="stable")
            there, begin, count = np.unique(part[order], return_index=True, return_counts=True)
            found = []
            for number, at, size in zip(there.tolist(), begin.tolist(), count.tolist(), strict=True):
                if number in left and left[number] <= size:
                    found.append((text.before + int(used[order[at + left[number] - 1]]) + 1, number))
                elif number in left:
                    left[number] -= size
            if found:
                return min(found)
        raise changed(self.path)
