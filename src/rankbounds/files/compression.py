"""Compressed data, known by their first bytes: gzip, bzip2, xz and Zstandard."""

from __future__ import annotations

import contextlib
import importlib
import io
from functools import partial
from types import SimpleNamespace
from typing import IO, Any

from rankbounds.errors import DataError

ENDINGS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
LIBRARIES = {".gz": ("isal.igzip", "gzip"), ".bz2": ("bz2",), ".xz": ("lzma",), ".zst": ("compression.zstd",)}
"""The modules that read each kind, the fastest first; the first that is there is taken."""
MODULES = ("zlib", "isal", "igzip_lib", "lzma", "zstandard", "zstd", "compression")
"""Which define the errors that are raised for damaged data, beside those of Python."""
_SKIPPABLE_FRAME = b"\x2a\x4d\x18"
"""Behind its first byte: what parallel writers of zstandard put before their frames."""


def compression_of(head: bytes) -> str | None:
    if head[1:4] == _SKIPPABLE_FRAME and 0x50 <= head[0] <= 0x5F:
        return ".zst"
    return next((ending for magic, ending in ENDINGS.items() if head.startswith(magic)), None)


def is_compressed(path: str) -> bool:
    with open(path, "rb") as file:
        return compression_of(file.read(6)) is not None


def damage_error(name: str, error: Exception) -> DataError:
    reason = str(error).strip().rstrip(".").replace("Compressed file ended", "Compressed data ended")
    return DataError(name, f"the compressed data are damaged{f' ({reason})' if reason else ''}.")


_MARK = b"\x00the end of the data\x00"


class _WholeStreams(io.RawIOBase):
    """Decompress stream after stream, at most as much at a time as asked for, however much a few bytes expand to.

    Readers take a truncated frame (the package zstandard), or whatever behind a stream they cannot read (Python's
    modules), for the end. So an own stream is appended to the data: it comes last only if all before it are whole.
    """

    def __init__(self, file: IO[bytes], library: Any | None) -> None:
        self._file, self._held = file, b""
        if library is None:
            import zstandard

            compress: Any = zstandard.ZstdCompressor().compress
            read: Any = partial(zstandard.ZstdDecompressor().stream_reader, read_across_frames=True)
        else:
            compress, read = library.compress, library.open
        end = io.BytesIO(compress(_MARK))
        self._reader = read(SimpleNamespace(read=lambda size: file.read(size) or end.read(size)))

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while len(self._held) <= len(_MARK):
            data = self._reader.read(max(len(target), len(_MARK)))
            if not data:
                if self._held != _MARK:
                    raise EOFError("they end in the middle, or are followed by other data")
                return 0
            self._held += data
        count = min(len(target), len(self._held) - len(_MARK))
        target[:count], self._held = self._held[:count], self._held[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _library(kind: str) -> Any | None:
    for name in LIBRARIES[kind]:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    return None


def open_decompressed(source: str | IO[bytes], kind: str | None) -> Any:
    if kind is None:
        return open(source, "rb", buffering=0) if isinstance(source, str) else source
    library = _library(kind)
    if library is not None and kind == ".gz":
        return library.open(source, "rb")
    streams = _WholeStreams(open_decompressed(source, None), library)
    return io.BufferedReader(streams, 1 << 17)  # closed with the reader
