"""Compressed files that are cut off, follow each other, or need more memory than there is."""

import gzip

import numpy as np
import pytest
from hostile import LINES

import rankbounds as rb
from rankbounds.errors import DataError, OutOfMemoryError
from rankbounds.files import opening
from rankbounds.files.text_blocks import read_fully

pytestmark = pytest.mark.usefixtures("both_ways")


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
        path.write_bytes(half + half[:-3])
        with pytest.raises(DataError, match="damaged"):
            rb.read_run(path)

    def test_a_parallel_writer_begins_with_a_frame_to_skip(self, tmp_path):
        path = tmp_path / "run"
        path.write_bytes(b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + self.packed("zst"))
        assert len(rb.read_run(path)) == 4000

    def test_little_memory_is_not_damage(self, tmp_path, monkeypatch):
        def no_room(_):
            raise MemoryError

        monkeypatch.setattr(gzip, "decompress", no_room)
        (tmp_path / "run").write_bytes(gzip.compress(LINES.encode()))
        with pytest.raises(OutOfMemoryError, match="run: there is not enough memory"):
            rb.read_run(tmp_path / "run")
        assert issubclass(OutOfMemoryError, MemoryError)
