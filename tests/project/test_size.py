"""The budget: how many lines of Python each room may have, options a command, and modules a plain command.

These numbers only fall. Whoever needs room takes something out first, in the same room or in another one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rankbounds

HOUSE = Path(rankbounds.__file__).parent
TOP = "(top level)"
LINES = {
    TOP: 2048, "columns": 1422, "files": 4576, "collection": 2898, "rankings": 1780, "measures": 6121,
    "evaluation": 6125, "stats": 2472, "rbp": 1564, "probability": 3379, "judging": 3745, "checking": 1621,
    "comparison": 5521, "interop": 1526, "plots": 1140, "studies": 2021, "report": 1108, "desk": 1460,
    "commands": 3977,
}  # fmt: skip
"""Of Python, with blank lines and docstrings."""
LARGEST_MODULE = 500
ENTERED = """
import json, sys, threading
seen = set()
def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_flags & 1 and "rankbounds" in code.co_filename:  # (a class body is no function)
        seen.add((code.co_filename, code.co_name, code.co_firstlineno))
sys.setprofile(note)
threading.setprofile(note)
from rankbounds.cli import main
sys.argv = ["rankbounds", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
print(json.dumps([len({file for file, *_ in seen}), len(seen)]), file=sys.stderr)
"""
"""Runs a command, and counts the modules of the package in which a function ran, and those functions."""


def lines_of(room: str) -> int:
    """Lines of all modules of a room."""
    files = HOUSE.glob("*.py") if room == TOP else (HOUSE / room).rglob("*.py")
    return sum(len(path.read_text("utf-8").splitlines()) for path in files)


@pytest.mark.parametrize("room", LINES)
def test_a_room_stays_within_its_lines(room):
    assert lines_of(room) <= LINES[room], f"{room} grew: take something out first"


def test_every_room_has_a_budget():
    rooms = {path.name for path in HOUSE.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert rooms == LINES.keys() - {TOP}


def test_no_module_is_too_long_to_read():
    long = {path.name: len(path.read_text("utf-8").splitlines()) for path in HOUSE.rglob("*.py")}
    assert not {name: size for name, size in long.items() if size > LARGEST_MODULE}


@pytest.mark.parametrize(
    ("command", "modules", "functions"),
    [
        (["evaluate", "qrels.txt", "runs"], 78, 650),
        (["compare", "qrels.txt", "runs/bm25.txt", "runs/learned.txt"], 106, 1110),
    ],
    ids=lambda part: part[0] if isinstance(part, list) else "",
)
def test_a_plain_command_enters_few_modules(command, modules, functions, tmp_path):
    subprocess.run([sys.executable, "-m", "rankbounds", "demo", "--write", tmp_path], check=True, capture_output=True)
    done = subprocess.run(
        [sys.executable, "-c", ENTERED, *command], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout, "the command answered"
    entered, ran = json.loads(done.stderr.splitlines()[-1])
    assert entered <= modules
    assert ran <= functions
