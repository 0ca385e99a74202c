"""Where no thread can be started, and polars, zstandard and optional packages are missing: what needs none works."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BARE = """
import sys, threading, _thread
for name in ("polars", "zstandard", "pyarrow", "pandas", "matplotlib", "mcp"):
    sys.modules[name] = None
def refuse(*_, **__):
    raise RuntimeError("can't start new thread")
threading.Thread.start = _thread.start_new_thread = refuse
if hasattr(_thread, "start_joinable_thread"):
    _thread.start_joinable_thread = refuse
"""
RUN = "from rankbounds.cli import main\nsys.exit(main(sys.argv[1:]))"


def run(*words, bare=True, cwd=None, code=RUN):
    program = BARE + code if bare else f"import sys\n{code}"
    env = os.environ | {"NO_COLOR": "1"}
    return subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, cwd=cwd, env=env)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bare")
    assert run("demo", "--write", "demo", cwd=folder).returncode == 0
    return folder / "demo"


@pytest.mark.parametrize(
    "command",
    [
        "evaluate qrels.txt runs",
        "evaluate qrels.txt runs -q --format json",
        "compare qrels.txt runs/bm25.txt runs/learned.txt",
        "check runs --qrels qrels.txt",
        "judge-next qrels.txt runs --budget 3",
        "explain nDCG@10=0.366 qrels.txt runs/bm25.txt",
        "similarity runs/bm25.txt runs/learned.txt",
        "evaluate qrels.txt runs --engine stream -m AP",
    ],
)
def test_commands_say_what_they_say_elsewhere(demo, command):
    bare, usual = (run(*command.split(), bare=bare, cwd=demo) for bare in (True, False))
    assert bare.returncode == usual.returncode == 0, bare.stderr
    assert bare.stdout == usual.stdout


def test_reports_and_tables_of_scores(demo):
    assert run("report", "qrels.txt", "runs", "-o", "bare.html", cwd=demo).returncode == 0
    assert "</html>" in Path(demo, "bare.html").read_text()
    assert run("evaluate", "qrels.txt", "runs", "-q", "-o", "scores.csv", cwd=demo).returncode == 0
    assert run("compare", "--scores", "scores.csv", "-m", "AP", cwd=demo).returncode == 0


def test_what_needs_a_package_names_it(demo):
    told = run("evaluate", "qrels.txt", "runs", "-o", "scores.parquet", cwd=demo)
    assert (told.returncode, "this needs the package polars" in told.stderr) == (2, True)
    Path(demo, "x.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    told = run("evaluate", "qrels.txt", "x.zst", cwd=demo)
    assert told.returncode in (2, 3)
    assert "zstandard" in told.stderr or sys.version_info >= (3, 14)
    assert "mistake in rankbounds" not in told.stderr


def test_python_without_polars():
    code = """
import rankbounds as rb
scores = rb.evaluate([{"id": 1, "retrieved_ids": ["a", "b"], "expected_ids": ["b"]}], measures="RR", bounds="none")
compared = rb.compare({"q": {"a": 1}, "r": {"b": 1}}, {"x": {"q": ["a"]}, "y": {"r": ["b"]}}, "RR")
print(scores.value.item(), compared.pairs.rows()[0]["won"])
"""
    told = run(code=code)
    assert told.stdout.split() == ["0.5", "1"], told.stderr
