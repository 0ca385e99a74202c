"""Parquet files that are damaged or hold odd columns."""

import contextlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hostile import refused, write_qrels

import rankbounds as rb
from rankbounds.errors import DataError
from rankbounds.files.named_columns import RUN_COLUMNS, wanted_columns
from rankbounds.files.parquet import frames_of, read_parquet

pytestmark = pytest.mark.usefixtures("both_ways")


@pytest.fixture
def qrels(tmp_path):
    return write_qrels(tmp_path)


class TestParquet:
    def content(self, tmp_path):
        import polars

        frame = polars.DataFrame(
            {"query_id": [str(n % 3) for n in range(60)], "doc_id": [f"d{n}" for n in range(60)], "score": range(60)}
        )
        frame.write_parquet(tmp_path / "whole.parquet")
        return (tmp_path / "whole.parquet").read_bytes()

    def damaged(self, content, seed):
        rng = np.random.default_rng(seed)
        broken = bytearray(content[: rng.integers(8, len(content))] if seed % 3 == 0 else content)
        for at in rng.integers(4, len(broken), 1 + seed % 9):
            broken[at] = rng.integers(256)
        return bytes(broken)

    def test_damage_is_told(self, tmp_path):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        content = self.content(tmp_path)
        path = tmp_path / "run.parquet"
        told = 0
        for seed in range(300):
            path.write_bytes(self.damaged(content, seed))
            with contextlib.suppress(DataError):
                rb.read_run(path)
                continue
            told += 1
        assert told > 200
        assert sorted(one.name for one in tmp_path.iterdir()) == ["run.parquet", "whole.parquet"]

    def test_polars_reads_where_pyarrow_is_not_installed(self, tmp_path, monkeypatch):
        content = self.content(tmp_path)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        assert len(read_parquet(str(tmp_path / "whole.parquet"), RUN_COLUMNS)) == 60
        assert len(read_parquet("a pipe", RUN_COLUMNS, content)) == 60
        (tmp_path / "run.parquet").write_bytes(content[:-40] + b"\xff" * 32 + content[-8:])
        with pytest.raises(DataError, match=r"run.parquet: cannot be read as Parquet"):
            read_parquet(str(tmp_path / "run.parquet"), RUN_COLUMNS)

    @pytest.mark.parametrize("reader", ["pyarrow", "polars"])
    def test_a_file_written_in_place_meanwhile_is_refused(self, tmp_path, monkeypatch, reader):
        import polars

        self.content(tmp_path)
        path = tmp_path / "whole.parquet"
        os.utime(path, (1, 1))

        def write_again(call):
            def changed(*arguments, **options):
                path.write_bytes(path.read_bytes().replace(b"d7", b"e7"))
                os.utime(path, (1, 1))
                return call(*arguments, **options)

            return changed

        if reader == "polars":
            monkeypatch.setitem(sys.modules, "pyarrow", None)
            monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
            monkeypatch.setattr(polars, "read_parquet", write_again(polars.read_parquet))
        else:
            pytest.importorskip("pyarrow", reason="pyarrow is not installed")
            monkeypatch.setattr("rankbounds.files.parquet.wanted_columns", write_again(wanted_columns))
        with pytest.raises(DataError, match=r"whole.parquet: this file changed while it was read\. Read it again"):
            read_parquet(str(path), RUN_COLUMNS)

    @pytest.mark.parametrize("reader", ["pyarrow", "polars"])
    def test_a_file_written_in_place_between_pieces_is_refused(self, tmp_path, monkeypatch, reader):
        self.content(tmp_path)
        path = tmp_path / "whole.parquet"
        if reader == "polars":
            monkeypatch.setitem(sys.modules, "pyarrow", None)
            monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        frames = frames_of(str(path), ["query_id", "doc_id", "score"], 7)
        assert len(next(frames)) == 7
        path.write_bytes(path.read_bytes())
        with pytest.raises(DataError, match="changed while it was read"):
            list(frames)

    @pytest.mark.parametrize("odd", [["1"], {"a": 1}, [["d"]]], ids=["list", "struct", "list of lists"])
    def test_ids_that_are_lists_or_structs(self, tmp_path, capsys, qrels, odd):
        import polars

        for queries, docs in (([odd], ["d"]), (["1"], [odd])):
            path = tmp_path / "run.parquet"
            polars.DataFrame({"query_id": queries, "doc_id": docs, "score": [1.0]}).write_parquet(path)
            assert "ids are text" in refused(capsys, "evaluate", qrels, path)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
    def test_a_forked_child_reads_tables_too(self, tmp_path):
        """In a process of its own: what other tests have loaded there does not count."""
        (tmp_path / "run.csv").write_text("query_id,doc_id,score\n1,a,2\n")
        (tmp_path / "run.jsonl").write_text('{"query_id": "1", "doc_id": "a", "score": 2}\n')
        program = (
            "import os, signal, rankbounds as rb\n"
            "files = ['run.csv', 'run.jsonl']\n"
            "first = [rb.read_run(file).to_dict() for file in files]\n"
            "child = os.fork()\n"
            "if not child:\n"
            "    signal.alarm(600)\n"
            "    os._exit(0 if [rb.read_run(file).to_dict() for file in files] == first else 1)\n"
            "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
        assert done.returncode == 0
