"""Compressed data, known by their first bytes: gzip, bzip2, xz and Zstandard."""

from __future__ import annotations

import io
from typing import IO, Any

from rankbounds.errors import DataError

ENDINGS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_SKIPPABLE_FRAME = b"\x2a\x4d\x18"
"""Behind its first byte: what parallel writers of zstandard put before their frames."""


def compression_of(head: bytes) -> str | None:
    """The ending of the compression whose data begin like this; None where they are not compressed."""
    if head[1:4] == _SKIPPABLE_FRAME and 0x50 <= head[0] <= 0x5F:
        return ".zst"
    return next((ending for magic, ending in ENDINGS.items() if head.startswith(magic)), None)


def is_compressed(path: str) -> bool:
    """Is the content of this file compressed?"""
    with open(path, "rb") as file:
        return compression_of(file.read(6)) is not None


def is_damage(error: Exception) -> bool:
    """Is this what a library for compressed data raises where it cannot go on?"""
    library = type(error).__module__.partition(".")[0]
    return isinstance(error, OSError | EOFError) or library in (
        "zlib",
        "lzma",
        "_lzma",
        "zstandard",
        "zstd",
        "_zstd",
        "compression",
    )


def damaged(name: str, error: Exception) -> DataError:
    """What to tell of a file whose compressed data end or go wrong."""
    told = (
        str(error).strip().rstrip(".").replace("Compressed file ended", "Compressed data ended")
    )  # read at once or not
    return DataError(name, f"the compressed data are damaged{f' ({told})' if told else ''}.")


_MARK = b"\x00the end of the data\x00"


class _WithMark(io.RawIOBase):
    """The bytes of a file, and behind them a frame of zstandard that holds the mark."""

    def __init__(self, file: IO[bytes]) -> None:
        import zstandard

        self._file, self._rest = file, zstandard.ZstdCompressor().compress(_MARK)

    def read(self, size: int = -1) -> bytes:
        """So many bytes at most."""
        data = self._file.read(size)
        if not data:
            data, self._rest = self._rest[:size], self._rest[size:]
        return data

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()


class _ZstandardFrames(io.RawIOBase):
    """Decompresses frame after frame, and no more at a time than is asked for, however much a few bytes hold.

    The package's own reader cannot tell a frame that was cut off from one that ends. So a frame of our own follows the
    data: what it holds comes last only if all frames before it are whole.
    """

    def __init__(self, file: IO[bytes]) -> None:
        import zstandard

        self._source = _WithMark(file)
        decompressor: Any = zstandard.ZstdDecompressor()
        self._reader = decompressor.stream_reader(self._source, read_across_frames=True)
        self._held = b""

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill the target with what comes next, holding back what may be the mark."""
        while len(self._held) <= len(_MARK):
            data = self._reader.read(max(len(target), len(_MARK)))
            if not data:
                if self._held != _MARK:
                    raise EOFError("they end in the middle of a frame")
                return 0
            self._held += data
        count = min(len(target), len(self._held) - len(_MARK))
        target[:count], self._held = self._held[:count], self._held[count:]
        return count

    def close(self) -> None:
        """Close the file as well."""
        self._source.close()
        super().close()


def opened(path: str, kind: str | None) -> Any:
    """A file to read piece by piece, which decompresses what it reads."""
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
            return io.BufferedReader(_ZstandardFrames(open(path, "rb")), 1 << 17)  # closed with the reader
    return open(path, "rb", buffering=0)


def decompressed(data: bytes, name: str) -> bytes:
    """All of the data at once; they may be plain."""
    kind = compression_of(data[:6])
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
    except MemoryError:
        raise
    except Exception as error:
        raise damaged(name, error) from None
    return data


def _decompressed_zstandard(data: bytes) -> bytes:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return bytes(zstd.decompress(data))
    except ImportError:
        frames = io.BufferedReader(_ZstandardFrames(io.BytesIO(data)), 1 << 20)
        return b"".join(iter(lambda: frames.read(1 << 20), b""))
