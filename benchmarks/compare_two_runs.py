"""How long `compare` takes beside `evaluate` with bounds, on two made-up runs of 500 topics x 1000 documents.

python benchmarks/compare_two_runs.py [TOPICS [DEPTH]]. Processor time counts, best of three.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from rankbounds.cli import main

OPTIONS = ["-m", "RBP(p=0.8)", "-m", "AP", "-m", "nDCG@10", "-o", os.devnull]
JUDGED, COLLECTION = 150, 5000


def written(folder: Path, topics: int, depth: int) -> list[str]:
    """Judgments and two runs that find judged documents first."""
    rng = np.random.default_rng(0)
    qrels, runs = [], ([], [])
    for topic in range(topics):
        judged = rng.permutation(COLLECTION)[:JUDGED]
        qrels += [f"{topic} 0 doc-{doc:06d} {int(rng.random() < 0.3)}\n" for doc in judged]
        for number, lines in enumerate(runs):
            score = rng.random(COLLECTION)
            score[judged] += 0.8
            ranked = np.argsort(-score)[:depth]
            lines += [
                f"{topic} Q0 doc-{doc:06d} {at} {score[doc]:.6f} run{number}\n" for at, doc in enumerate(ranked, 1)
            ]
    names = [folder / name for name in ("qrels", "run0", "run1")]
    for name, lines in zip(names, (qrels, *runs), strict=True):
        name.write_text("".join(lines))
    return [str(name) for name in names]


def seconds(command: str, files: list[str]) -> float:
    """Processor time of the command, best of three after one to warm up."""
    taken = []
    for _ in range(4):
        began = time.process_time()
        main([command, *files, *OPTIONS])
        taken.append(time.process_time() - began)
    return min(taken[1:])


if __name__ == "__main__":
    sizes = [int(number) for number in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder), *[*sizes, *(500, 1000)[len(sizes) :]])
        evaluate, compare = (seconds(command, files) for command in ("evaluate", "compare"))
    print(f"evaluate {evaluate:.2f} s, compare {compare:.2f} s: {compare / evaluate:.1f} times")
