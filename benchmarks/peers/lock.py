"""How much of a call's time holds the interpreter's lock, as seen from outside: py-spy looks many times a second."""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from peers.contenders import FIVE

RATE = 500
EVALUATIONS = f"""
import sys, warnings
import rankbounds
def evaluate():
    rankbounds.evaluate(sys.argv[1], sys.argv[2:], {FIVE!r}, bounds="none", threads=1)
def evaluations():
    for _ in range(5):
        evaluate()
warnings.simplefilter("ignore")
evaluate()  # loads all
evaluations()
"""
WITHIN = re.compile(r"\bevaluations \(")


def sampler() -> str | None:
    """The program, beside this Python or on PATH; None where it is not installed."""
    return shutil.which("py-spy", path=str(Path(sys.executable).parent)) or shutil.which("py-spy")


def held_share(qrels: Path, runs: Sequence[Path], rounds: int = 5) -> float | None:
    """The share of looks at one thread that found it holding the lock; None where py-spy is not there or may not look.

    The five measures of these runs are evaluated a few times; the median over rounds.
    """
    if (program := sampler()) is None:
        return None
    command = [sys.executable, "-c", EVALUATIONS, str(qrels), *map(str, runs)]
    shares = []
    for _ in range(rounds):
        holding, working = (_seen(program, command, more) for more in (["--gil"], []))
        if holding is None or not working:
            return None
        shares.append(holding / working)
    return statistics.median(shares)


def _seen(program: str, command: Sequence[str], options: Sequence[str]) -> int | None:
    """How often the command was seen at work, with these options."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "stacks"
        looking = [program, "record", "--nonblocking", "--rate", str(RATE), "--format", "raw", "--output", str(found)]
        done = subprocess.run([*looking, *options, "--", *command], capture_output=True, check=False)
        if done.returncode or not found.exists():
            return None
        return seen_within(found.read_text("utf-8", "replace"))


def seen_within(stacks: str) -> int:
    """Of lines that hold a stack and how often it was seen, the sum of those within the evaluations."""
    return sum(int(line.rpartition(" ")[2]) for line in stacks.splitlines() if WITHIN.search(line))
