"""From names to bytes: paths, globs, folders, standard input; plain or compressed."""

from __future__ import annotations

import codecs
import contextlib
import fnmatch
import glob
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from rankbounds.arrays import Bytes
from rankbounds.columns.ids import PADDING, pad, padded
from rankbounds.columns.native.reading import holds_nul
from rankbounds.errors import DataError, OutOfMemoryError, UsageError
from rankbounds.files import compression
from rankbounds.threads import in_threads

STANDARD_INPUT = "-"
_ENDINGS = frozenset(
    (".txt", ".trec", ".run", ".res", ".qrels", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet", ".parq")
)
"""Of files of runs and labels; anything else after a point may be a part of the name."""
_PIECE_BYTES = 1 << 24
_AT_ONCE = 1 << 20
_LINE = re.compile(rb"[^\n]*\n")
PARQUET_MAGIC = b"PAR1"


def expand(names: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Expand paths, globs and folders to files, each once, globs and folders in name order."""
    files: dict[str, None] = {}
    for given in names:
        name = os.fspath(given)
        found = [name]
        if name != STANDARD_INPUT and os.path.isdir(name):
            found = _files_in(name)
            if not found:
                raise DataError(name, "this folder holds no files.")
        elif name != STANDARD_INPUT and not os.path.exists(name) and glob.has_magic(name):
            found = [match for match in matching(name) if os.path.isfile(match)]
            if not found:
                raise DataError(name, "no file matches this pattern.")
        files.update(dict.fromkeys(sorted(found)))
    return list(files)


def matching(pattern: str, root: str = "") -> list[str]:
    """Return what matches a pattern below a folder; ``**`` follows no link, which may lead back to its own folder."""
    drive, path = os.path.splitdrive(pattern)
    parts = re.split(r"[\\/]" if os.sep == "\\" else "/", path)
    found = [drive + os.sep if parts[0] == "" else drive or root]
    for part in [*parts, "*"] if parts[-1] == "**" else parts:
        if part == "**":
            below: dict[str, None] = {}
            for start in found:
                for folder, inside, _ in os.walk(start or "."):
                    own = folder if start else folder[2:]
                    below[own] = None
                    inside[:] = [name for name in inside if name[0] != "." and os.path.join(own, name) not in below]
            found = list(below)
        elif glob.has_magic(part):
            found = [os.path.join(folder, name) for folder in found for name in _names_like(part, folder or ".")]
        elif part:
            found = [os.path.join(folder, part) for folder in found]
    return [path for path in found if os.path.lexists(path)]


def _names_like(pattern: str, folder: str) -> list[str]:
    with contextlib.suppress(OSError):
        return [name for name in fnmatch.filter(os.listdir(folder), pattern) if name[0] != "." or pattern[0] == "."]
    return []


def _files_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            shown = [entry for entry in entries if not entry.name.startswith(".")]
        for entry in shown:
            if entry.is_symlink():
                entry.stat()
        return [entry.path for entry in shown if entry.is_file()]
    except OSError as error:
        raise _unreadable(error.filename or folder, error) from None


def plain_name(path: str) -> str:
    """Return the file's name without folder and known endings: the name of labels, or of a run without a tag."""
    if path == STANDARD_INPUT:
        return "stdin"
    name = os.path.basename(path)
    for endings in (compression.ENDINGS.values(), _ENDINGS):
        stem, ending = os.path.splitext(name)
        name = stem if ending.lower() in endings and stem else name
    return name


def format_ending(path: str) -> str:
    """Return the ending that names the format, before any compression's: ``.csv`` for ``a.csv.gz``."""
    stem, ending = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if ending in compression.ENDINGS.values() else ending


@dataclass(frozen=True)
class Text:
    """The decompressed contents of a file: ``buffer[begin:end]``, ending in a newline, zeros around it."""

    name: str
    buffer: Bytes
    begin: int
    end: int
    before: int = 0

    def tobytes(self) -> bytes:
        return self.buffer[self.begin : self.end].tobytes()

    def start(self, size: int = 65536) -> bytes:
        return self.buffer[self.begin : min(self.begin + size, self.end)].tobytes().lstrip()

    @cached_property
    def first_line(self) -> bytes:
        return next(self.lines(), b"")

    def lines(self) -> Iterator[bytes]:
        return (bytes(line[0][:-1]) for line in _LINE.finditer(self.buffer.data[self.begin : self.end]))


@dataclass(frozen=True)
class Content:
    """Everything that a file holds, decompressed: ``size`` bytes of ``buffer`` behind its padding."""

    name: str
    buffer: Bytes
    size: int

    @classmethod
    def of(cls, name: str, data: bytes | memoryview) -> Content:
        return cls(name, pad(data), len(data))

    @classmethod
    def decompressed(cls, name: str, data: bytes | IO[bytes]) -> Content:
        source = io.BytesIO(data) if isinstance(data, bytes) else data
        source.seek(0)
        kind = compression.compression_of(source.read(6))
        source.seek(0)
        if kind is None:
            return cls.of(name, data if isinstance(data, bytes) else source.read())
        try:
            with compression.open_decompressed(source, kind) as file:
                return cls.of(name, b"".join(iter(lambda: file.read(_AT_ONCE), b"")))
        except MemoryError:
            raise
        except Exception as error:
            raise compression.damage_error(name, error) from None

    def tobytes(self) -> bytes:
        return self.buffer[PADDING : PADDING + self.size].tobytes()

    def starts_with(self, magic: bytes) -> bool:
        return self.buffer[PADDING : PADDING + min(self.size, len(magic))].tobytes() == magic

    def text(self, before: int = 0) -> Text:
        """Return the contents as text, after ``before`` lines of the file; reject empty and binary files."""
        buffer, begin, end = self.buffer, PADDING, PADDING + self.size
        if self.starts_with(codecs.BOM_UTF8):
            begin += len(codecs.BOM_UTF8)
        if begin == end:
            raise DataError(self.name, "the file is empty.")
        if holds_nul(buffer, begin, end):
            if self.starts_with(PARQUET_MAGIC):
                remedy = "Decompress it if it is compressed, and check --formats."
                raise DataError(self.name, "this is Parquet where text is expected.", remedy)
            raise DataError(self.name, "this is not a text file (it holds NUL bytes).", "Give plain text in UTF-8.")
        if buffer[end - 1] != ord("\n"):
            buffer[end] = ord("\n")
            end += 1
        text = Text(self.name, buffer, begin, end, before)
        if b"\r" in (head := text.start()).rstrip() and b"\n" not in head.rstrip():
            raise DataError(self.name, "its lines end in CR alone, as on old Macs.", "Convert the line ends to LF.")
        return text


def text_of(name: str, content: bytes | memoryview, before: int = 0) -> Text:
    return Content.of(name, content).text(before)


def read_text(path: str, threads: int = 1) -> Text:
    return read_content(path, threads).text()


def read_content(path: str, threads: int = 1, *, not_beyond: bytes | None = None) -> Content:
    """Read all of a file, a pipe or standard input, decompressed.

    It is opened once, because a pipe cannot be read again: callers that must look into it first look here. Of a file
    that begins with the bytes ``not_beyond``, only these are read.
    """
    name = "standard input" if path == STANDARD_INPUT else path
    try:
        if path != STANDARD_INPUT and os.path.isfile(path):
            return _read_file(path, threads, not_beyond)
        return Content.decompressed(name, _read_stream(path))
    except (OSError, ValueError) as error:
        raise error if isinstance(error, DataError) else _unreadable(name, error) from None
    except MemoryError:
        raise OutOfMemoryError(name, "there is not enough memory to read this.") from None


_kept_streams: dict[str, bytes] | None = None


@contextlib.contextmanager
def keeping_streams() -> Iterator[None]:
    global _kept_streams
    before, _kept_streams = _kept_streams, {}
    try:
        yield
    finally:
        _kept_streams = before


def _read_stream(path: str) -> bytes:
    if _kept_streams is not None and path in _kept_streams:
        return _kept_streams[path]
    if path == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.closed:
            raise DataError("standard input", "it is closed.")
        content = _read_to_end("standard input", sys.stdin.buffer)
    else:
        with open(path, "rb") as file:
            content = _read_to_end(path, file)
    if _kept_streams is not None:
        _kept_streams[path] = content
    return content


def _read_to_end(name: str, file: IO[bytes]) -> bytes:
    with contextlib.suppress(io.UnsupportedOperation):  # standard input that a program replaced
        number = file.fileno()
        status = os.fstat(number)
        ends = os.isatty(number) or status.st_rdev == Path(os.devnull).stat().st_rdev
        if stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not ends):
            raise DataError(name, "this is a device, not a file.", "Give a file or a pipe.")
    return file.read()


def is_pipe(path: str) -> bool:
    return path == STANDARD_INPUT or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path))


def can_be_read_again(path: str) -> bool:
    return is_pipe(path) and _kept_streams is not None


@contextlib.contextmanager
def stream(path: str) -> Iterator[IO[bytes]]:
    if is_pipe(path):
        raise UsageError(f"{path}: a pipe cannot be read in pieces: write it to a file first, or use --engine local.")
    try:
        with (
            open(path, "rb") as file,
            check_unchanged(path, file.fileno()),
            compression.open_decompressed(path, compression.compression_of(file.read(6))) as opened,
        ):
            yield opened
    except Exception as error:
        if isinstance(error, OSError) and error.errno:
            raise _unreadable(path, error) from None
        library = type(error).__module__.partition(".")[0].strip("_")
        if isinstance(error, OSError | EOFError) or library in compression.MODULES:
            raise compression.damage_error(path, error) from None
        raise


def _unreadable(name: str, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        folder = os.path.dirname(name) or "."
        hint = "" if os.path.isdir(folder) else f'There is no folder "{folder}".'
        return DataError(name, "there is no such file.", hint)
    if isinstance(error, IsADirectoryError):
        return DataError(name, "this is a folder; a file was expected here.")
    return DataError(name, f"cannot be read ({getattr(error, 'strerror', None) or error}).")


def _read_file(path: str, threads: int, not_beyond: bytes | None) -> Content:
    with open(path, "rb", buffering=0) as file, check_unchanged(path, file.fileno()) as size:
        head = file.read(6)
        if not_beyond is not None and head.startswith(not_beyond):
            return Content.of(path, not_beyond)
        if not size:  # as the system's own files say
            return Content.decompressed(path, head + file.readall())
        if compression.compression_of(head):
            with open(os.dup(file.fileno()), "rb", buffering=0) as packed:  # some libraries close what they read
                packed.seek(0)
                return Content.decompressed(path, packed)
        buffer = padded(size)
        size = _read_into(memoryview(buffer.data)[PADDING : PADDING + size], file, threads)
    buffer[PADDING + size :] = 0
    return Content(path, buffer, size)


@contextlib.contextmanager
def check_unchanged(name: str, file: int) -> Iterator[int]:
    """Return the size of an opened file; raise if its size or one of its times changes meanwhile.

    The time of its status changes too where only its name is given to another file, which harms no reader.
    """
    before, problem = os.fstat(file), None
    try:
        yield before.st_size
    except Exception as error:  # half of a file looks damaged too
        problem = error
    after = os.fstat(file)
    written = (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns)
    if written or (before.st_ctime_ns != after.st_ctime_ns and before.st_nlink == after.st_nlink):
        raise changed(name)
    if problem is not None:
        raise problem


def changed(name: str) -> DataError:
    return DataError(name, "this file changed while it was read.", "Read it again when it is complete.")


def _read_into(target: memoryview, file: io.FileIO, threads: int) -> int:

    def read_piece(begin: int) -> int:
        done, piece = 0, target[begin : begin + _PIECE_BYTES]
        while done < len(piece) and (count := _read_at(file, piece[done:], begin + done)):
            done += count
        return done

    if len(target) <= _PIECE_BYTES:
        return read_piece(0)
    several = threads if hasattr(os, "preadv") else 1
    *whole, last = in_threads(read_piece, range(0, len(target), _PIECE_BYTES), several)
    if any(size < _PIECE_BYTES for size in whole):  # the memory behind it would hold what it held before
        raise changed(str(file.name))
    return len(whole) * _PIECE_BYTES + last


def _read_at(file: io.FileIO, target: memoryview, begin: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(file.fileno(), [target], begin)
    file.seek(begin)
    return file.readinto(target) or 0


def checksum(path: str) -> str:
    import hashlib

    digest = hashlib.sha256()
    try:
        with open(path, "rb") if os.path.isfile(path) else io.BytesIO(_read_stream(path)) as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError as error:
        raise _unreadable(path, error) from None
    return digest.hexdigest()
