"""Messages and progress on standard error."""

from __future__ import annotations

import re
import sys
import threading
import time

import pytest

from many_runs import write_collection
from rankbounds.commands.console import messages
from rankbounds.terminal import cells


def test_quiet(command, tmp_path):
    files = write_collection(tmp_path, ["one", "two"])
    with open(tmp_path / "qrels", "a") as out:
        out.write("99 0 d1 1\n")
    code, loud, err = command("evaluate", *files)
    assert (code, "warning" in err) == (0, True)
    assert command("evaluate", *files, "--quiet") == (0, loud, "")
    assert command("evaluate", *files, "--quiet", "-o", tmp_path / "out.csv") == (0, "", "")
    assert "no such file" in command("evaluate", tmp_path / "nothing", files[1], "--quiet")[2]
    assert "warning" in command("evaluate", *files)[2]


def test_an_unknown_baseline_is_said_before_runs_are_scored(command, tmp_path, monkeypatch):
    files = write_collection(tmp_path, ["one", "two", "three"])
    monkeypatch.setattr("rankbounds.comparison.Evidence.scores", lambda *_, **__: pytest.fail("scored"))
    code, _, err = command("compare", *files, "--baseline-run", "four")
    assert (code, 'There is no run "four"' in err) == (2, True)


def test_progress_on_terminals_alone(command, tmp_path, monkeypatch):
    files = write_collection(tmp_path, ["one", "two"])
    monkeypatch.setattr(messages, "PATIENCE", 0.0)
    monkeypatch.setattr(messages, "PAUSE", 0.001)
    arguments = ("judge-next", *files, "-m", "AP")
    assert "\r" not in command(*arguments)[2]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    code, _, err = command(*arguments)
    assert code == 0
    drawn, _, last = err.rpartition("\r\x1b[K")
    lines = [line.removesuffix("\x1b[K") for line in drawn.split("\r") if line.strip("\x1b[K\n")]
    assert any(re.search(r"working, \d+ s$", line) for line in lines)
    assert max(map(cells, err.replace("\r", "\n").replace("\x1b[K", "").split("\n"))) <= 60
    assert "\r" not in last
    assert "\r" not in command(*arguments, "--quiet")[2]


def test_no_progress_within_what_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(messages, "_line", line := messages._Line())
    with messages.cleared():
        drawing = threading.Thread(target=line.draw)
        drawing.start()
        drawing.join(0.05)
        assert drawing.is_alive()
        print("a warning")
    drawing.join()
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("a warning\n", "\rworking, 0 s\x1b[K")


def test_what_progress_says(monkeypatch):
    clock = iter([0.0, 10.0, 20.0, 30.0, 600.0, 601.0, 8000.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    line = messages._Line()  # begun at 0
    line.tell("runs scored", 1, 10)  # this stage at 10
    assert line.text() == "1 of 10 runs scored, 20 s"  # how long one takes is not known yet
    line.tell("runs scored", 5, 10)
    assert line.text() == "5 of 10 runs scored, 30 s, about 25 s left"
    assert line.text() == "5 of 10 runs scored, 10 min, about 12 min left"
    line.tell("reading qrels.txt")
    assert line.text() == "reading qrels.txt, 2.2 h"


def test_progress_rests_while_others_take_their_time(monkeypatch, capsys):
    monkeypatch.setattr(messages, "_line", messages._Line())
    messages._line.draw()
    assert "working" in capsys.readouterr().err
    messages.doing("")
    assert capsys.readouterr().err == "\r\x1b[K"
    messages._line.draw()
    assert capsys.readouterr().err == ""


# ---- frequent mistakes, and the sentence that mends them ----

SKU = b"query_id,sku,relevance\n1,a,1\n"
MISTAKES = {
    "a t test": (["compare", "q", "a", "b", "--test", "ttest"], 2, 'Did you mean "t"?'),
    "a permutation test": (["compare", "q", "a", "b", "--test", "permutation"], 2, 'Did you mean "randomization"?'),
    "one file twice": (["compare", "q", "a", "a"], 2, "a is given twice. Leave one out, or give them names: a=a b=a."),
    "a run as saved scores": (["compare", "q", "a", "--baseline", "b"], 3, "--baseline-run names the one to compare"),
    "a margin that is none": (["compare", "q", "a", "b", "--margin", "wide"], 2, "such as 0.01 or 1%"),
    "another column": (["evaluate", "sku.csv", "a"], 3, "--columns qrels.doc_id=sku"),
    "another column of a run": (["evaluate", "q", "run.csv"], 3, "--columns run.doc_id=sku"),
    "three fields": (["evaluate", "three", "a"], 3, "this one has 3, like a run (topic document score)"),
    "a depth": (["evaluate", "q", "a", "-k", "10"], 2, "-m nDCG@10"),
    "judgments as classes": (["compare", "q", "a", "b", "--by", "q"], 3, "looks like judgments, but a class"),
    "a run as classes": (["compare", "q", "a", "b", "--by", "a"], 3, "looks like a run, but a class"),
    "a study": (["study", "leave-out"], 2, 'Did you mean "change-by-leaving-a-group-out"?'),
    "an option": (["compare", "q", "a", "b", "--basline-run", "a"], 2, 'Did you mean "--baseline-run"?'),
}


@pytest.fixture
def small(tmp_path, monkeypatch):
    files = {
        "q": b"1 0 x 1\n1 0 y 0\n2 0 x 1\n2 0 y 0\n",
        "a": b"1 Q0 x 1 2.5 a\n1 Q0 y 2 1.5 a\n2 Q0 x 1 2.5 a\n",
        "b": b"1 Q0 y 1 2.5 b\n1 Q0 x 2 1.5 b\n2 Q0 x 1 2.5 b\n",
        "sku.csv": SKU,
        "run.csv": SKU.replace(b"relevance", b"score"),
        "three": b"1 x 1\n1 y 0\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_frequent_mistakes_are_mended_by_one_sentence(command, mistake):
    words, exit_code, told = MISTAKES[mistake]
    code, out, err = command(*words)
    assert (code, out) == (exit_code, "")
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.usefixtures("small")
def test_what_a_mistake_is_told_works(command):
    gate = ("compare", "q", "a", "b", "--fail-if", "AP worse", "--format", "json")
    assert command(*gate, "--margin", "1%") == command(*gate, "--margin", "0.01")
    assert command("evaluate", "sku.csv", "a", "--columns", "doc_id=sku")[0] == 0
    assert command("compare", "q", "x=a", "y=a")[0] == 0
