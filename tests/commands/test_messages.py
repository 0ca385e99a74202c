"""Messages and progress on standard error."""

from __future__ import annotations

import random
import re
import sys
import threading
import time

from rankbounds.commands.console import messages
from rankbounds.terminal import cells


def write_collection(folder, names, topics=4, documents=12, seed=7):
    """Runs of these names that find more relevant documents the earlier they are named, and half of the judgments."""
    draw = random.Random(seed)
    relevant = {topic: {f"d{number}" for number in range(1, 6)} for topic in range(1, topics + 1)}
    (folder / "runs").mkdir(exist_ok=True)
    for number, name in enumerate(names):
        lines = []
        for topic in relevant:
            found = sorted(
                (f"d{document}" for document in range(1, documents + 1)),
                key=lambda document, topic=topic: (
                    draw.random() + (document in relevant[topic]) * (1 - number / len(names))
                ),
                reverse=True,
            )
            lines += [f"{topic} Q0 {document} {rank} {1 / rank} {name}\n" for rank, document in enumerate(found, 1)]
        (folder / "runs" / f"{number:03}.txt").write_text("".join(lines), "utf-8")
    (folder / "qrels").write_text(
        "".join(
            f"{topic} 0 d{document} {int(f'd{document}' in relevant[topic])}\n"
            for topic in relevant
            for document in range(1, documents + 1)
            if (topic + document) % 2
        )
    )
    return folder / "qrels", folder / "runs"


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
