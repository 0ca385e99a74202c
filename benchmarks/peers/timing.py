"""Contenders take turns, round by round, so that a busy moment of the machine hits all alike."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from peers.contenders import Contender


@dataclass(frozen=True)
class Timing:
    """What one turn of a contender took."""

    wall: float
    processor: float
    peak: float | None = None
    """Megabytes at the most; None of a call within this process."""


LAUNCHER = """
import json, os, sys, time
began, processor, peak = time.perf_counter(), 0.0, 0.0
for command in json.loads(sys.stdin.read()):
    read, write = os.pipe()
    nothing = os.open(os.devnull, os.O_RDWR)
    places = [(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_DUP2, nothing, 2)]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=places)
    os.close(write)
    os.close(nothing)
    while os.read(read, 1 << 20):
        pass
    os.close(read)
    _, status, usage = os.wait4(process, 0)
    if status:
        sys.exit(1)
    processor += usage.ru_utime + usage.ru_stime
    peak = max(peak, usage.ru_maxrss / 1024)
print(json.dumps([time.perf_counter() - began, processor, peak]))
"""
"""Starts commands one after the other. It is small, because a new process counts its parent's memory as its own."""


def of_process(contender: Contender, files: Sequence[Sequence[str]]) -> Timing | None:
    """Start the contender, once for each group of files; None if it failed."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LAUNCHER],
        input=json.dumps([[*contender.command, *arguments] for arguments in files]),
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        check=False,
    )
    if done.returncode:
        return None
    return Timing(*json.loads(done.stdout))


def of_call(contender: Contender, turn: int) -> Timing:
    """Call the contender with what this turn has for it; seconds are of one call."""
    assert contender.call
    assert contender.given
    call, given = contender.call, contender.given(turn)
    began, processor = time.perf_counter(), time.process_time()
    for argument in given:
        call(argument)
    wall, processor = time.perf_counter() - began, time.process_time() - processor
    return Timing(wall / len(given), processor / len(given))


def in_turns(
    contenders: Sequence[Contender],
    rounds: int,
    qrels: Path | None = None,
    runs: Sequence[Path] = (),
    *,
    warm: bool = True,
) -> dict[Contender, list[Timing | None]]:
    """The timings of every round; a first round that is not counted makes bytecode and fills caches."""
    results: dict[Contender, list[Timing | None]] = {contender: [] for contender in contenders}
    together = [[str(qrels), *map(str, runs)]] if qrels else [[]]
    apart = [[str(qrels), str(run)] for run in runs]
    for turn in range(1 - warm, rounds + 1):
        for contender in contenders:
            if contender.call:
                timing: Timing | None = of_call(contender, turn)
            else:
                timing = of_process(contender, apart if contender.one_run_each else together)
            if turn:
                results[contender].append(timing)
    return results


@dataclass(frozen=True)
class Ratio:
    """A contender of ours against a peer: medians over rounds of what each round's two timings say."""

    workload: str
    ours: str
    threads: int | None
    peer: str
    wall: float
    processor: float
    peak: float | None

    @property
    def key(self) -> str:
        """By which a later run finds the same ratio."""
        threads = f", threads: {self.threads}" if self.threads else ""
        return f"{self.workload}: {self.ours}{threads} / {self.peer}"


def ratios(workload: str, results: dict[Contender, list[Timing | None]]) -> list[Ratio]:
    """Of every contender of ours to every peer."""
    return [
        ratio
        for ours, mine in results.items()
        if ours.ours
        for peer, theirs in results.items()
        if not peer.ours
        if (ratio := _ratio(workload, ours, mine, peer, theirs))
    ]


def _ratio(
    workload: str, ours: Contender, mine: list[Timing | None], peer: Contender, theirs: list[Timing | None]
) -> Ratio | None:
    both = [(a, b) for a, b in zip(mine, theirs, strict=True) if a and b]
    if not both:
        return None
    peaks = [a.peak / b.peak for a, b in both if a.peak and b.peak]
    return Ratio(
        workload,
        ours.what,
        ours.threads,
        peer.name,
        statistics.median(a.wall / b.wall for a, b in both),
        statistics.median(a.processor / max(b.processor, 1e-9) for a, b in both),
        statistics.median(peaks) if peaks else None,
    )
