"""Large files piece by piece: whole topics at a time, in bounded memory.

A file that has the lines of each topic together is read once. A file that mixes its topics is first split into several
files on disk, each with whole topics, by a hash of the topic. TREC files (also compressed) and Parquet can be read so.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from rankbounds.arrays import Ints
from rankbounds.errors import DataError, UsageError
from rankbounds.files import columns, trec
from rankbounds.files.columns import QRELS_COLUMNS, ColumnNames, Columns
from rankbounds.files.formats import is_parquet, recognised
from rankbounds.files.opening import STANDARD_INPUT, Text, is_compressed, stream, text_of
from rankbounds.files.trec import Layout, NothingReadError, TrecLines
from rankbounds.ids import PADDING, Ids

ROW_BYTES = 50
"""What a row of Parquet counts for: about as much as a line of text."""
COMPRESSED = 6
"""How many times its size a compressed file is taken to have when it is read."""
SPLIT_BYTES = 1 << 24

Piece = TrecLines | Columns


class MixedTopicsError(Exception):
    """A topic that seemed complete goes on later in the file."""


@dataclass(frozen=True)
class Split:
    """A file split by topic: its parts (None: without a line), and its topics in their order."""

    parts: list[Path | None]
    topics: list[str]


@dataclass(frozen=True)
class LargeFile:
    """A file of runs or judgments to be read in pieces of about ``piece_bytes``."""

    path: str
    names: ColumnNames
    piece_bytes: int
    lenient: bool = False
    threads: int = 1

    @property
    def parquet(self) -> bool:
        """Is it Parquet? Everything else must be lines of TREC."""
        return is_parquet(self.path, QRELS_COLUMNS)

    def check(self) -> None:
        """Reject what cannot be read in pieces, before any work is done."""
        if self.path == STANDARD_INPUT:
            raise UsageError("Standard input cannot be read in pieces: write it to a file first.")
        if self.parquet:
            columns.wanted_columns(self._scan().collect_schema().names(), self.names, self.path)
            return
        with stream(self.path) as file:
            start = file.read(1 << 16)
        kind = recognised(text_of(self.path, start), self.path)
        if kind != "trec":
            raise UsageError(
                f"{self.path}: only TREC files and Parquet can be read in pieces, and this is {kind}. Convert it, or "
                "evaluate in memory (--engine local)."
            )

    def size(self) -> int:
        """How many bytes of text this is, about."""
        if self.parquet:
            return int(self._scan().select(_polars().len()).collect().item()) * ROW_BYTES
        return Path(self.path).stat().st_size * (COMPRESSED if is_compressed(self.path) else 1)

    def grouped(self) -> Iterator[Piece]:
        """The file in pieces of whole topics; an error as soon as a topic turns up again in a later piece."""
        closed: set[str] = set()
        for piece in self._grouped_frames() if self.parquet else self._grouped_lines():
            topics = set(piece.topics if isinstance(piece, Columns) else piece.pairs.topics)
            if topics & closed:
                raise MixedTopicsError
            closed |= topics
            yield piece

    def _grouped_lines(self) -> Iterator[TrecLines]:
        carried, before, first_line = b"", 0, self._first_line()
        with stream(self.path) as file:
            while True:
                block = read_fully(file, self.piece_bytes)
                content = carried + block
                at_end = len(block) < self.piece_bytes
                end = len(content) if at_end else content.rfind(b"\n") + 1
                if not content:
                    return
                if not end:
                    carried = content
                    continue
                try:
                    lines = self._parsed(text_of(self.path, content[:end], before), first_line)
                except NothingReadError:
                    carried, before = content[end:], before + content.count(b"\n", 0, end)
                    if at_end:
                        return
                    continue
                if at_end:
                    yield lines
                    return
                whole = _rows_before_last_topic(lines.pairs.topic)
                if not whole:
                    carried = content  # one topic, and no end of it yet
                    continue
                kept = _line_start(lines.pairs.docs, whole) - PADDING
                carried = content[kept:]
                before += content.count(b"\n", 0, kept)
                pairs = lines.pairs.take(slice(0, whole)).without_unused_topics()
                yield TrecLines(pairs, lines.value[:whole], lines.layout, lines.tag)

    def _first_line(self) -> tuple[Layout, str | None]:
        """What the first line of the file shows: the layout and the tag of all its parts."""
        with stream(self.path) as file:
            fields, place = trec.first_line(text_of(self.path, read_fully(file, 1 << 16)))
        layout = trec.qrels_layout(fields, place) if self.names is QRELS_COLUMNS else trec.run_layout(fields, place)
        return layout, trec.tag_of(fields, layout)

    def _parsed(self, text: Text, first_line: tuple[Layout, str | None]) -> TrecLines:
        layout, tag = first_line
        lines = trec.read_lines(text, lambda *_: layout, lenient=self.lenient, threads=self.threads)
        return replace(lines, tag=tag)

    def _grouped_frames(self) -> Iterator[Columns]:
        carried, before = None, 0
        for frame in self._frames():
            frame = frame if carried is None else _polars().concat([carried, frame])
            group = frame[columns.find_column(frame.columns, columns.QUERY_NAMES)].rle_id()
            whole = int(group.search_sorted(group[-1]))
            if whole:
                yield columns.of_object(frame[:whole], self.names, source=self.path, before=before)
            carried, before = frame[whole:], before + whole
        if carried is not None:
            yield columns.of_object(carried, self.names, source=self.path, before=before)

    def _scan(self) -> Any:
        polars = _polars()
        parts = os.path.join(self.path, "*.parquet") if os.path.isdir(self.path) else self.path
        return polars.scan_parquet(parts)

    def _frames(self) -> Iterator[Any]:
        """The columns that matter, some rows at a time, in the order of the file."""
        scan = self._scan()
        wanted = columns.wanted_columns(scan.collect_schema().names(), self.names, self.path)
        step = max(1, self.piece_bytes // ROW_BYTES)
        for at in range(0, int(scan.select(_polars().len()).collect().item()), step):
            yield scan.select(wanted).slice(at, step).collect()

    def split(self, parts: int, scratch: Path) -> Split:
        """Split the file by topic into files below ``scratch``; a topic has the same part in every file split so."""
        folder = Path(tempfile.mkdtemp(dir=scratch))
        return self._split_frames(parts, folder) if self.parquet else self._split_lines(parts, folder)

    def _split_lines(self, parts: int, folder: Path) -> Split:
        names = [folder / str(number) for number in range(parts)]
        topics: dict[bytes, None] = {}
        carried = b""
        with stream(self.path) as file, contextlib.ExitStack() as stack:
            out = [stack.enter_context(open(name, "wb")) for name in names]
            while block := read_fully(file, SPLIT_BYTES):
                content = carried + block
                end = content.rfind(b"\n") + 1
                carried = content[end:]
                if end:
                    _distribute(content[:end], out, topics)
            if carried:
                _distribute(carried + b"\n", out, topics)
        found = [name if name.stat().st_size else None for name in names]
        return Split(found, [name.decode("utf-8", "surrogateescape") for name in topics])

    def _split_frames(self, parts: int, folder: Path) -> Split:
        polars = _polars()
        topics: dict[str, None] = {}
        names = [folder / f"{number}" for number in range(parts)]
        for number, frame in enumerate(self._frames()):
            queries = frame[columns.find_column(frame.columns, columns.QUERY_NAMES)].cast(polars.String).fill_null("")
            topics.update(dict.fromkeys(queries.unique(maintain_order=True).to_list()))
            part = (columns.ids_of_series(queries).hashes() % np.uint64(parts)).astype(np.int64)
            for one in np.unique(part).tolist():
                names[one].mkdir(exist_ok=True)
                frame.filter(polars.Series(part == one)).write_parquet(names[one] / f"{number:06}.parquet")
        return Split([name if name.exists() else None for name in names], list(topics))

    def part(self, name: Path | None) -> Piece | None:
        """One part of a file that was split, read; None if it has no line to use."""
        if name is None:
            return None
        try:
            if self.parquet:
                return columns.read_parquet(str(name), self.names)
            return self._parsed(text_of(str(name), name.read_bytes()), self._first_line())
        except NothingReadError:
            return None
        except DataError as error:
            raise self._located(error, str(name)) from None

    def _located(self, error: DataError, part: str) -> DataError:
        """The same error with the place where it stands in the file itself, which is read again to find it."""
        if self.parquet:
            told = str(error).partition(": ")[2] or str(error)
            return DataError(f"{self.path}: {told}")
        seen: dict[tuple[bytes, bytes], int] = {}
        first_line = self._first_line()
        layout = first_line[0]
        with stream(self.path) as file:
            for number, line in enumerate(file, 1):
                fields = line.split()
                if not fields or fields[0].startswith(b"#"):
                    continue
                try:
                    self._parsed(text_of(self.path, line, number - 1), first_line)
                except DataError as found:
                    return found
                pair = fields[layout.query], fields[layout.doc]
                if pair in seen:
                    query, doc = (one.decode("utf-8", "replace") for one in pair)
                    return DataError(
                        f'{self.path}:{number}: document "{doc}" of topic "{query}" stands here for the second time '
                        f"(first on line {seen[pair]}). Keep one of the two lines, or pass --lenient to keep the first."
                    )
                seen[pair] = number
        return DataError(str(error).replace(part, self.path))


def _rows_before_last_topic(topic: Ints) -> int:
    """How many rows come before those at the end that are all of the last row's topic."""
    other = np.flatnonzero(topic != topic[-1])
    return int(other[-1]) + 1 if other.size else 0


def _line_start(docs: Ids, row: int) -> int:
    """Where in the text the line of this row begins."""
    at = int(docs.start[row])
    while docs.text[at - 1] not in (0, 10):
        at -= 1
    return at


def _distribute(content: bytes, out: list[Any], topics: dict[bytes, None]) -> None:
    """Write each line to the file of its topic's part."""
    text = text_of("", content)
    begins = np.flatnonzero(text.buffer[text.begin : text.end - 1] == 10) + text.begin + 1
    start = np.concatenate(([text.begin], begins))
    while (blank := np.isin(text.buffer[start], (9, 11, 12, 13, 32))).any():
        start = start + blank
    end = start.copy()
    while (inside := text.buffer[end] > 32).any():
        end = end + inside
    lines = text.tobytes().split(b"\n")
    used = np.flatnonzero((end > start) & (text.buffer[start] != ord("#")))
    queries = Ids(text.buffer, start[used], (end - start)[used])
    hashed = queries.hashes()
    topics.update(dict.fromkeys(queries.codes(hashed)[0]))
    part = (hashed % np.uint64(len(out))).astype(np.int64)
    order = np.argsort(part, kind="stable")
    edges = np.searchsorted(part[order], np.arange(len(out) + 1))
    for number in np.flatnonzero(np.diff(edges)).tolist():
        rows = used[order[edges[number] : edges[number + 1]]].tolist()
        chosen = itemgetter(*rows)(lines) if len(rows) > 1 else (lines[rows[0]],)
        out[number].write(b"\n".join(chosen) + b"\n")


def read_fully(file: Any, size: int) -> bytes:
    """So many bytes, or all there are; a file may give fewer at a time."""
    found = []
    while size and (block := file.read(size)):
        found.append(block)
        size -= len(block)
    return b"".join(found)


def _polars() -> Any:
    import polars

    return polars
