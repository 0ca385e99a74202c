"""Time judgments and runs that are held as dicts of dicts against pytrec_eval.

    python benchmarks/in_memory.py [ROUNDS]

Contenders take turns in one process; the table gives ratios of medians of processor time (ours / theirs), so that other
work on the machine counts as little as possible. Workloads:

- prepared judgments, runs of 50 x 1000 and 1,000 x 100 documents. "New documents": every call brings a run that the
  evaluator has not just seen. "New scores": the documents of the last call in the same order, as while a re-ranker is
  trained. In both cases documents come in no order, and runs and judgments hold strings of their own, as if read.
- prepared judgments, one query of ten documents with new scores at every call.
- judgments and run at once, 50 x 100: ``rb.evaluate`` against construction and evaluation there.
- starting the program: ``rankbounds --version`` and ``--help`` against ``python -c "import numpy"``.

``WORKLOADS`` has them by name for other scripts: each is a function that returns its contenders, ours first.
"""

from __future__ import annotations

import importlib.util
import os
import random
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle

import rankbounds as rb

TREC_NAMES = ["map", "ndcg", "P_10", "recip_rank"]

Nested = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Contest:
    """Contenders by name, ours first; ``calls`` of each are timed together where one is too short to be timed."""

    contenders: dict[str, Callable[[], object]]
    calls: int = 1
    target: float | None = None
    """What our time over the first peer's should be."""
    clock: Callable[[], float] = time.process_time


def collection(topics: int, depth: int, judged: int, runs: int) -> tuple[dict[str, dict[str, int]], list[Nested]]:
    """Judgments, and runs that retrieve the same documents in different orders with different scores."""
    draw = random.Random(1)
    qrels: dict[str, dict[str, int]] = {}
    several: list[Nested] = [{} for _ in range(runs)]
    for topic in range(400, 400 + topics):
        numbers = draw.sample(range(10**9), depth + judged)
        found, pool = numbers[:depth], numbers[depth - depth // 5 : depth + judged - depth // 5]
        draw.shuffle(pool)
        qrels[str(topic)] = {_name(number): int(draw.random() < 0.1) for number in pool}
        for run in several:
            draw.shuffle(found)
            run[str(topic)] = {_name(number): draw.random() for number in found}
    return qrels, several


def _name(number: int) -> str:
    return f"FT{number:09d}-{number % 97}"


def rescored(run: Nested, times: int) -> list[Nested]:
    """The same documents in the same order with other scores."""
    draw = random.Random(2)
    return [{topic: {doc: draw.random() for doc in inner} for topic, inner in run.items()} for _ in range(times)]


def prepared(topics: int, depth: int, judged: int, *, again: bool, calls: int = 1, target: float = 0.3) -> Contest:
    """Runs against judgments that are prepared: others at every call, or the same documents with new scores."""
    qrels, runs = collection(topics, depth, judged, 1 if again else 3)
    turns = rescored(runs[0], 5 if topics > 1 else 1000) if again else runs
    ours = rb.interop.RelevanceEvaluator(qrels, TREC_NAMES)
    contenders: dict[str, Callable[[], object]] = {"rankbounds": _in_turn(ours.evaluate, turns)}
    if importlib.util.find_spec("pytrec_eval"):
        import pytrec_eval

        theirs = pytrec_eval.RelevanceEvaluator(qrels, set(TREC_NAMES))
        contenders["pytrec_eval"] = _in_turn(theirs.evaluate, turns)
    return Contest(contenders, calls, target)


def at_once(topics: int = 50, depth: int = 100, judged: int = 160, bounds: str = "none") -> Contest:
    """Judgments and a run, both from dicts, in one call."""
    qrels, runs = collection(topics, depth, judged, 3)
    contenders = {"rankbounds": _in_turn(lambda run: rb.evaluate(qrels, run, TREC_NAMES, bounds=bounds), runs)}
    if importlib.util.find_spec("pytrec_eval"):
        import pytrec_eval

        def theirs(run: Nested) -> object:
            return pytrec_eval.RelevanceEvaluator(qrels, set(TREC_NAMES)).evaluate(run)

        contenders["pytrec_eval"] = _in_turn(theirs, runs)
    return Contest(contenders, calls=5, target=1.0)


def start(option: str) -> Contest:
    """The program from nothing, against Python with NumPy."""

    def process(*arguments: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    def of_children() -> float:
        times = os.times()
        return times.children_user + times.children_system

    contenders = {"rankbounds": process("-m", "rankbounds", option), "import numpy": process("-c", "import numpy")}
    return Contest(contenders, calls=5, target=1.3, clock=of_children)


def _in_turn(evaluate: Callable[[Nested], object], runs: list[Nested]) -> Callable[[], object]:
    turns: Iterator[Nested] = cycle(runs)
    return lambda: evaluate(next(turns))


WORKLOADS: dict[str, Callable[[], Contest]] = {
    "dicts 50 x 1000, prepared, new documents": lambda: prepared(50, 1000, 1600, again=False),
    "dicts 50 x 1000, prepared, new scores": lambda: prepared(50, 1000, 1600, again=True),
    "dicts 1,000 x 100, prepared, new documents": lambda: prepared(1000, 100, 160, again=False),
    "dicts 1,000 x 100, prepared, new scores": lambda: prepared(1000, 100, 160, again=True),
    "one query of ten documents, prepared": lambda: prepared(1, 10, 20, again=True, calls=1000, target=10.0),
    "dicts 50 x 100, at once": at_once,
    "dicts 50 x 100, at once, with bounds": lambda: at_once(bounds="unjudged"),
    "rankbounds --version": lambda: start("--version"),
    "rankbounds --help": lambda: start("--help"),
}


def seconds(contest: Contest, rounds: int = 9) -> dict[str, float]:
    """The median time of a call of each contender, who take turns."""
    taken: dict[str, list[float]] = {name: [] for name in contest.contenders}
    for number in range(rounds + 2):
        for name, call in contest.contenders.items():
            started = contest.clock()
            for _ in range(contest.calls):
                call()
            if number > 1:  # the first rounds warm up
                taken[name].append((contest.clock() - started) / contest.calls)
    return {name: statistics.median(times) for name, times in taken.items()}


def main(rounds: int = 9) -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print("| workload | ours | peer | ours / peer | target |\n|---|---:|---|---:|---:|")
    for name, workload in WORKLOADS.items():
        contest = workload()
        medians = seconds(contest, rounds)
        ours = medians.pop("rankbounds")
        shown = f"{ours * 1e6:.0f} µs" if ours < 1e-3 else f"{ours * 1e3:.1f} ms"
        for number, (peer, theirs) in enumerate(medians.items()):
            target = f"{contest.target:g}" if number == 0 and contest.target else ""
            print(f"| {name} | {shown} | {peer} | {ours / theirs:.2f} | {target} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
