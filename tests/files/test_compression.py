"""Compressed files that are cut off, follow each other, or need more memory than there is."""

import gzip

import numpy as np
import pytest
from hostile import LINES

import rankbounds as rb
from rankbounds.errors import DataError, OutOfMemoryError
from rankbounds.files import compression, opening
from rankbounds.files.topic_batches import read_fully

pytestmark = pytest.mark.usefixtures("both_ways")


@pytest.fixture(params=["gzip", "isal.igzip"], autouse=True)
def reader_of_gzip(request, monkeypatch):
    """Python's own module and the faster one, where it is installed."""
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    monkeypatch.setitem(compression.LIBRARIES, ".gz", (request.param,))


class TestCompression:
    def packed(self, kind):
        if kind == "zst":
            zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
            return zstandard.ZstdCompressor().compress(LINES.encode())
        import bz2
        import lzma

        return {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind](LINES.encode())

    @pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
    def test_whatever_is_cut_off_is_missed(self, tmp_path, kind):
        packed = self.packed(kind)
        path = tmp_path / "run"
        for kept in np.linspace(8, len(packed) - 1, 40).astype(int).tolist():
            path.write_bytes(packed[:kept])
            with pytest.raises(DataError, match=r"run: the compressed data are damaged"):
                rb.read_run(path)
            with pytest.raises(DataError, match=r"damaged"), opening.stream(str(path)) as file:
                read_fully(file, 1 << 30)

    @pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
    def test_streams_may_follow_each_other(self, tmp_path, kind):
        half = self.packed(kind)
        path = tmp_path / "run"
        path.write_bytes(half + half)
        assert opening.read_text(str(path)).tobytes().decode() == LINES + LINES
        with opening.stream(str(path)) as file:
            assert file.read().decode() == LINES + LINES

    @pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
    def test_what_follows_a_stream_and_cannot_be_read_is_damage(self, tmp_path, kind):
        """Not the end of the data, or a part of the run would be missing."""
        half = self.packed(kind)
        path = tmp_path / "run"
        for second in (half[:-3], half[:2] + b"?" + half[3:], half[1:], b"other data"):
            path.write_bytes(half + second)
            with pytest.raises(DataError, match="damaged"):
                rb.read_run(path)
            with pytest.raises(DataError, match="damaged"), opening.stream(str(path)) as file:
                read_fully(file, 1 << 30)

    def test_gzip_of_two_members_is_read_whole(self, tmp_path):
        """The last four bytes of a file are the size of its last member only."""
        two = self.packed("gz") + gzip.compress(b"2 Q0 d 1 1 t\n")
        (tmp_path / "run").write_bytes(two)
        assert opening.read_text(str(tmp_path / "run")).tobytes().decode() == LINES + "2 Q0 d 1 1 t\n"

    def test_a_parallel_writer_begins_with_a_frame_to_skip(self, tmp_path):
        path = tmp_path / "run"
        path.write_bytes(b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + self.packed("zst"))
        assert len(rb.read_run(path)) == 4000

    def test_little_memory_is_not_damage(self, tmp_path, monkeypatch):
        def no_room(*_):
            raise MemoryError

        monkeypatch.setattr(compression, "open_decompressed", no_room)
        (tmp_path / "run").write_bytes(gzip.compress(LINES.encode()))
        with pytest.raises(OutOfMemoryError, match="run: there is not enough memory"):
            rb.read_run(tmp_path / "run")
        assert issubclass(OutOfMemoryError, MemoryError)
