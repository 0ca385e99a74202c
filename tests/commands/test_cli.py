"""How the program ends: interruptions, pipes that close, bugs, and words that are none of ours."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import rankbounds as rb
from rankbounds.cli import main
from rankbounds.errors import DataError, RankboundsWarning


def shell(line, *arguments):
    script = line.replace("RANKBOUNDS", f"{sys.executable} -m rankbounds")
    done = subprocess.run(
        ["bash", "-c", script, "-", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_standard_output_that_takes_nothing(files):
    for line, expected in (
        ('RANKBOUNDS evaluate "$1" "$2" > /dev/full', "Standard output cannot be written (No space left on device)."),
        ('RANKBOUNDS evaluate "$1" "$2" >&-', "Standard output is closed. Name a file with -o."),
        ('RANKBOUNDS pool "$2"/run --depth 1 > /dev/full', "Standard output cannot be written (No space left"),
    ):
        code, _, err = shell(line, files / "qrels", files / "runs")
        assert code == 3
        assert expected in err
        assert len(err.splitlines()) == 1
    assert shell('RANKBOUNDS evaluate "$1" "$2" >&- 2>&-', files / "qrels", files / "runs") == (3, "", "")
    assert shell('RANKBOUNDS evaluate "$1" "$2" 2>&-', files / "qrels", files / "runs")[0] == 0


def test_an_interruption_while_loading_is_one_line(tmp_path):
    (tmp_path / "numpy.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n")
    source = Path(rb.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "rankbounds", "measures"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{source}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == "rankbounds: interrupted\n"
    assert done.returncode in (130, -signal.SIGINT)  # in a shell both are 130


def test_an_interruption_while_a_command_is_loaded(command, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("rankbounds.commands.importlib.import_module", interrupt)
    assert command("measures") == (130, "", "rankbounds: interrupted\n")


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (MemoryError(), 3, "not enough memory"),
        (RecursionError(), 3, "nested too deeply"),
        (OverflowError("big"), 3, "too large"),
        (PermissionError(13, "Permission denied", "name"), 3, "name: cannot be used (Permission denied)"),
        (TypeError("oops"), 70, "a bug in rankbounds, not a problem with your files: TypeError: oops"),
    ],
)
def test_the_last_line_of_defence_disguises_no_bug(command, monkeypatch, error, code, told):
    def fail(_):
        raise error

    monkeypatch.setattr("rankbounds.commands.measures.describe", fail)
    found, out, err = command("measures")
    assert (found, out) == (code, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_a_bug_can_be_seen_whole(monkeypatch):
    def fail(_):
        raise TypeError("oops")

    monkeypatch.setattr("rankbounds.commands.measures.describe", fail)
    monkeypatch.setenv("RANKBOUNDS_TRACEBACK", "1")
    with pytest.raises(TypeError, match="oops"):
        main(["measures"])


def test_messages_are_one_line_without_control_characters_and_not_too_long(command, monkeypatch):
    def fail(_):
        raise DataError("file: a\nb\x1b[31m\u2028" + "x" * 10**6 + " Do this.")

    monkeypatch.setattr("rankbounds.commands.measures.describe", fail)
    _, _, err = command("measures")
    assert err.startswith(r"rankbounds: file: a\nb\x1b[31m\u2028xxx")
    assert err.endswith("xxx Do this.\n")
    assert len(err) < 1000


def test_a_message_of_many_codes_and_a_warning_are_not_too_long(command, monkeypatch):
    def tell(_):
        warnings.warn(RankboundsWarning("\U000e0001" * 500), stacklevel=1)
        raise DataError("a \x1b" * 500)

    monkeypatch.setattr("rankbounds.commands.measures.describe", tell)
    code, _, err = command("measures")
    assert code == 3
    assert [len(line) < 1000 for line in err.splitlines()] == [True, True]


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "Q", "R", "--memory", "infG"],
        ["evaluate", "Q", "R", "--memory", "1e400"],
        ["evaluate", "Q", "R", "-m", "P@99999999999999999999"],
        ["evaluate", "Q", "R", "-m", "RBP(p=0.8)@99999999999999999999"],
        ["evaluate", "Q", "R", "-m", "P_99999999999999999999"],
        ["serve", "Q", "R", "--port", "99999"],
        ["serve", "Q", "R", "--port", "-1"],
        ["uncertainty", "Q", "R", "-m", "AP", "--seed", "-1"],
    ],
)
def test_odd_options_are_one_sentence(command, files, arguments):
    names = {"Q": files / "qrels", "R": files / "runs", "F": files / "new"}
    code, out, err = command(*(names.get(one, one) for one in arguments))
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert not (files / "new").exists()


def test_a_reader_that_goes_away_from_a_pipe_is_no_error(files):
    read, write = os.pipe()
    os.close(read)
    with contextlib.closing(os.fdopen(write)) as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "rankbounds", "evaluate", files / "qrels", files / "runs", "-o", f"/dev/fd/{write}"],
            pass_fds=[pipe.fileno()],
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
