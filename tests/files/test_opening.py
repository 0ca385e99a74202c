"""Pipes, and files that change while they are read."""

import gzip
import os
import subprocess
import sys
import threading

import pytest
from hostile import LINES, write_qrels

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.errors import DataError, UsageError
from rankbounds.files import opening

pytestmark = pytest.mark.usefixtures("both_ways")


@pytest.fixture
def qrels(tmp_path):
    return write_qrels(tmp_path)


@pytest.mark.parametrize("write", [bytes, gzip.compress], ids=["plain", "gz"])
def test_line_ends_of_old_macs_are_refused(tmp_path, qrels, write):
    """Else all lines would be one: a run of one document."""
    for text, end in ((LINES, "\r"), (LINES[: LINES.index("\n", 40) + 1], "\r"), (LINES, "\r\n")):
        (tmp_path / "run").write_bytes(write(text.replace("\n", end).encode()))
        if end == "\r":
            with pytest.raises(DataError, match="end in CR alone"):
                rb.read_run(tmp_path / "run")
        else:
            assert len(rb.read_run(tmp_path / "run")) == 4000


class TestPipes:
    @pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
    def test_a_named_pipe_is_read_from_its_first_byte(self, tmp_path, qrels, pack):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_bytes(pack(LINES.encode())))
        writer.start()
        assert rb.evaluate(qrels, pipe, "NumRet").value[0].tolist() == [[2000.0], [2000.0]]
        writer.join()

    @pytest.mark.parametrize("command", ["evaluate {q} <(cat {r})", "evaluate <(cat {q}) {r}", "cat {r} | {rb} - "])
    def test_the_shell_hands_over_pipes(self, tmp_path, qrels, command):
        (tmp_path / "run").write_text(LINES)
        rankbounds = f"{sys.executable} -m rankbounds"
        text = command.format(q=qrels, r=tmp_path / "run", rb=f"{rankbounds} evaluate {qrels}")
        text = text if text.startswith("cat") else f"{rankbounds} {text}"
        told = subprocess.run(
            ["bash", "-c", f"{text} -m NumRet --format csv"], capture_output=True, text=True, check=True
        )
        assert told.stdout.splitlines()[1].split(",")[3] == "4000.0"

    def test_parquet_comes_through_a_pipe(self, tmp_path, qrels):
        import polars

        frame = polars.DataFrame({"query_id": ["1", "2"], "doc_id": ["d1", "d1"], "score": [1.0, 2.0]})
        frame.write_parquet(tmp_path / "run.parquet")
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        content = (tmp_path / "run.parquet").read_bytes()
        writer = threading.Thread(target=lambda: pipe.write_bytes(content))
        writer.start()
        assert rb.read_run(pipe).to_dict() == {"1": {"d1": 1.0}, "2": {"d1": 2.0}}
        writer.join()

    def test_a_command_may_look_twice(self, tmp_path, qrels, capsys):
        """``check`` reads a bad run again, line by line."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_text("1 Q0 d1 1 2 tag\n1 Q0 d2\n"))
        writer.start()
        main(["check", str(pipe)])
        writer.join()
        assert "pipe:2: expected 6 fields" in capsys.readouterr().out

    def test_a_pipe_is_not_read_in_pieces(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UsageError, match="a pipe cannot be read in pieces"), opening.stream(str(tmp_path / "pipe")):
            pass


class TestDevices:
    @pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there are no such devices here")
    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
    def test_what_never_ends_is_refused(self, tmp_path, device):
        """In a process of its own, which reads little: without the refusal it would fill the memory."""
        (tmp_path / "qrels").write_text("1 0 d 1\n")
        program = (
            "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); "
            "from rankbounds.cli import main; sys.exit(main(['evaluate', 'qrels', sys.argv[1]]))"
        )
        for given in (device, "-"):
            with open(device, "rb") as stdin:
                ended = subprocess.run(
                    [sys.executable, "-c", program, given],
                    stdin=stdin, cwd=tmp_path, timeout=600, capture_output=True, text=True, check=False,
                )  # fmt: skip
            assert ended.returncode == 3, ended.stderr
            named = "standard input" if given == "-" else device
            assert ended.stderr == f"rankbounds: {named}: this is a device, not a file. Give a file or a pipe.\n"

    def test_the_null_device_is_empty(self):
        with pytest.raises(DataError, match="the file is empty"):
            opening.read_text(os.devnull)


class TestFilesThatChange:
    """Something happens to a file between two looks at it, as a program that still writes it has it."""

    LINE = "1 Q0 d{} 1 {} tag\n"

    @pytest.fixture(params=["one piece", "pieces"])
    def run(self, request, tmp_path, monkeypatch):
        if request.param == "pieces":
            monkeypatch.setattr(opening, "_PIECE_BYTES", 1000)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
        path = tmp_path / "run"
        path.write_text("".join(map(self.LINE.format, range(1000), range(1000))))
        os.utime(path, (1, 1))
        return path

    def change(self, path, how):
        if how == "cut":
            os.truncate(path, 500)
        elif how == "cut in its last piece":
            os.truncate(path, path.stat().st_size - 5)
        elif how == "grown":
            with path.open("a") as file:
                file.write(self.LINE.format("more", 1))
        elif how.startswith("written again"):
            path.write_bytes(path.read_bytes().replace(b" Q0 d", b" Q0 e"))
            if how.endswith("old time"):
                os.utime(path, (1, 1))

    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize(
        "how", ["cut", "cut in its last piece", "grown", "written again", "written again, old time"]
    )
    @pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
    def test_a_file_that_changes_is_refused(self, run, monkeypatch, how, threads, packed):
        if packed:
            run.write_bytes(gzip.compress(run.read_bytes(), 0))
            os.utime(run, (1, 1))
        place, name = (opening.compression, "open_decompressed") if packed else (opening, "_read_at")
        look, looks = getattr(place, name), []

        def changed(*arguments):
            looks.append(arguments)
            if len(looks) == (2 if opening._PIECE_BYTES == 1000 and not packed else 1):
                self.change(run, how)
            return look(*arguments)

        monkeypatch.setattr(place, name, changed)
        with pytest.raises(DataError, match=r"run: this file changed while it was read\. Read it again"):
            opening.read_text(str(run), threads)

    def test_what_the_memory_held_before_is_never_read(self, run, monkeypatch):
        """Even where the system tells no change: a piece that ends early leaves a hole before the next one."""
        if opening._PIECE_BYTES > 1000:
            pytest.skip("a file of one piece has no hole")
        look = opening._read_at

        def short(file, target, begin):
            return 0 if begin == 2400 else look(file, target[:400] if begin == 2000 else target, begin)

        monkeypatch.setattr(opening, "_read_at", short)
        with pytest.raises(DataError, match="changed while it was read"):
            opening.read_text(str(run), 2)

    def test_a_stream_of_a_file_that_changes_is_refused(self, run):
        def read():
            with opening.stream(str(run)) as file:
                file.read(100)
                self.change(run, "grown")

        with pytest.raises(DataError, match="changed while it was read"):
            read()

    def test_a_file_that_is_replaced_is_read_as_it_was(self, run, monkeypatch, tmp_path):
        """Whoever writes another file and gives it the name harms no reader."""
        look, content = opening._read_at, run.read_text()

        def replaced(*arguments):
            (tmp_path / "other").write_text("other\n")
            os.replace(tmp_path / "other", run)
            monkeypatch.setattr(opening, "_read_at", look)
            return look(*arguments)

        monkeypatch.setattr(opening, "_read_at", replaced)
        assert opening.read_text(str(run)).tobytes().decode() == content


def test_patterns_follow_no_link_below_all_folders(tmp_path, monkeypatch):
    """One link to its own folder would give each file forty names; two of them would never end."""
    for path in ("top.txt", "runs/a.txt", "runs/deep/b.txt", "runs/.hidden/c.txt", "runs/deep/d.run"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / "runs" / "again").symlink_to(".")
    (tmp_path / "linked").symlink_to("runs")
    monkeypatch.chdir(tmp_path)
    assert opening.expand(["**/*.txt"]) == ["runs/a.txt", "runs/deep/b.txt", "top.txt"]
    assert opening.expand(["**"]) == ["runs/a.txt", "runs/deep/b.txt", "runs/deep/d.run", "top.txt"]
    assert opening.expand(["./runs/**/deep/**/*.txt"]) == ["./runs/deep/b.txt"]
    assert opening.expand([str(tmp_path / "l*" / "**" / "?.run")]) == [str(tmp_path / "linked" / "deep" / "d.run")]
