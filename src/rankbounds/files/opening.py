"""From names to bytes: paths, globs, folders, standard input; plain or compressed."""

from __future__ import annotations

import contextlib
import glob
import io
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from rankbounds.arrays import Bytes
from rankbounds.errors import DataError, UsageError
from rankbounds.ids import PADDING, padded
from rankbounds.threads import in_threads

STANDARD_INPUT = "-"
_COMPRESSIONS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_PIECE_BYTES = 1 << 24
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def expand(names: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files that paths, globs and folders stand for, each once, globs and folders in name order."""
    found: dict[str, None] = {}
    for given in names:
        name = os.fspath(given)
        if name == STANDARD_INPUT:
            found[name] = None
        elif os.path.isdir(name):
            try:
                entries = [entry for entry in os.scandir(name) if not entry.name.startswith(".")]
                inside = [entry.path for entry in entries if entry.is_file()]
            except OSError as error:
                raise _unreadable(error.filename or name, error) from None
            if not inside:
                raise DataError(f"{name}: this folder holds no files.")
            found.update(dict.fromkeys(sorted(inside)))
        elif not os.path.exists(name) and glob.has_magic(name):
            matches = [match for match in sorted(glob.glob(name, recursive=True)) if os.path.isfile(match)]
            if not matches:
                raise DataError(f"{name}: no file matches this pattern.")
            found.update(dict.fromkeys(matches))
        else:
            found[name] = None
    return list(found)


def plain_name(path: str) -> str:
    """The file's name without folder and compression ending: what to call a run that has no tag."""
    if path == STANDARD_INPUT:
        return "stdin"
    name = os.path.basename(path)
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in _COMPRESSIONS.values() and stem else name


def format_ending(path: str) -> str:
    """The ending that names the format, behind any ending that names a compression: ``.csv`` for ``a.csv.gz``."""
    stem, ending = os.path.splitext(path.lower())
    if ending in _COMPRESSIONS.values():
        ending = os.path.splitext(stem)[1]
    return ending


@dataclass(frozen=True)
class Text:
    """The decompressed contents of a file: ``buffer[begin:end]``, ending in a newline, zeros around it."""

    name: str
    buffer: Bytes
    begin: int
    end: int
    before: int = 0
    """How many lines of the file come before this text."""

    def tobytes(self) -> bytes:
        """The contents as bytes."""
        return self.buffer[self.begin : self.end].tobytes()


def read_text(path: str, threads: int = 1) -> Text:
    """Read a whole file of text, decompressing by content; reject what is empty or not text."""
    name = "standard input" if path == STANDARD_INPUT else path
    try:
        buffer, size = _read_buffer(path, name, threads)
    except OSError as error:
        raise _unreadable(name, error) from None
    return _checked(name, buffer, size)


def _checked(name: str, buffer: Bytes, size: int, before: int = 0) -> Text:
    begin, end = PADDING, PADDING + size
    if buffer[begin : begin + 3].tobytes() == _BYTE_ORDER_MARK:
        begin += 3
    if begin == end:
        raise DataError(f"{name}: the file is empty.")
    if buffer[begin:end].min() == 0:
        raise DataError(f"{name}: this is not a text file (it holds NUL bytes). Give plain text in UTF-8.")
    if buffer[end - 1] != ord("\n"):
        buffer[end] = ord("\n")
        end += 1
    return Text(name, buffer, begin, end, before)


def text_of(name: str, content: bytes | memoryview, before: int = 0) -> Text:
    """Bytes that are a part of a file, behind ``before`` lines of it."""
    return _checked(name, *_as_buffer(content), before)


def is_compressed(path: str) -> bool:
    """Is the content of this file compressed?"""
    with open(path, "rb") as file:
        head = file.read(6)
    return any(head.startswith(magic) for magic in _COMPRESSIONS)


@contextlib.contextmanager
def stream(path: str) -> Iterator[IO[bytes]]:
    """A file to read piece by piece, decompressed by content."""
    try:
        with open(path, "rb") as file:
            head = file.read(6)
        kind = next((ending for magic, ending in _COMPRESSIONS.items() if head.startswith(magic)), None)
        with _opened(path, kind) as opened:
            yield opened
    except (OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno:
            raise _unreadable(path, error) from None
        raise DataError(f"{path}: the compressed data are damaged ({error}).") from None


def _opened(path: str, kind: str | None) -> Any:
    if kind == ".gz":
        import gzip

        return gzip.open(path, "rb")
    if kind == ".bz2":
        import bz2

        return bz2.open(path, "rb")
    if kind == ".xz":
        import lzma

        return lzma.open(path, "rb")
    if kind == ".zst":
        try:
            from compression import zstd  # type: ignore[import-not-found, unused-ignore]

            return zstd.open(path, "rb")
        except ImportError:
            import zstandard

            return zstandard.open(path, "rb")
    return open(path, "rb", buffering=0)


def _unreadable(name: str, error: OSError) -> DataError:
    if isinstance(error, FileNotFoundError):
        folder = os.path.dirname(name) or "."
        hint = "" if os.path.isdir(folder) else f' There is no folder "{folder}".'
        return DataError(f"{name}: there is no such file.{hint}")
    if isinstance(error, IsADirectoryError):
        return DataError(f"{name}: this is a folder; a file was expected here.")
    return DataError(f"{name}: cannot be read ({error.strerror or error}).")


def _read_buffer(path: str, name: str, threads: int) -> tuple[Bytes, int]:
    if path == STANDARD_INPUT:
        return _as_buffer(_decompressed(sys.stdin.buffer.read(), name))
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        head = file.read(6)
        if not any(head.startswith(magic) for magic in _COMPRESSIONS) and os.path.isfile(path):
            buffer = padded(status.st_size)
            size = _read_into(memoryview(buffer.data)[PADDING : PADDING + status.st_size], path, threads)
            buffer[PADDING + size :] = 0
            return buffer, size
        return _as_buffer(_decompressed(head + file.read(), name))


def _read_into(target: memoryview, path: str, threads: int) -> int:
    """Fill the target from a file, large ones in pieces by several threads; return how much there was."""

    def read_piece(begin: int) -> int:
        with open(path, "rb", buffering=0) as file:
            file.seek(begin)
            done = 0
            piece = target[begin : begin + _PIECE_BYTES]
            while done < len(piece) and (count := file.readinto(piece[done:])):
                done += count
            return done

    return sum(in_threads(read_piece, range(0, len(target), _PIECE_BYTES), threads))


def _as_buffer(data: bytes | memoryview) -> tuple[Bytes, int]:
    buffer = padded(len(data))
    buffer[PADDING : PADDING + len(data)] = np.frombuffer(data, dtype=np.uint8)
    return buffer, len(data)


def _decompressed(data: bytes, name: str) -> bytes:
    kind = next((ending for magic, ending in _COMPRESSIONS.items() if data.startswith(magic)), None)
    try:
        if kind == ".gz":
            import gzip

            return gzip.decompress(data)
        if kind == ".bz2":
            import bz2

            return bz2.decompress(data)
        if kind == ".xz":
            import lzma

            return lzma.decompress(data)
        if kind == ".zst":
            return _decompressed_zstandard(data)
    except UsageError:
        raise
    except Exception as error:
        raise DataError(f"{name}: the {kind} data are damaged ({error}).") from None
    return data


def _decompressed_zstandard(data: bytes) -> bytes:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return bytes(zstd.decompress(data))
    except ImportError:
        import zstandard

        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True) as reader:
            return reader.read()


def checksum(path: str) -> str:
    """The SHA-256 of a file as it lies on disk, in hexadecimal digits."""
    import hashlib

    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError as error:
        raise _unreadable(path, error) from None
    return digest.hexdigest()
