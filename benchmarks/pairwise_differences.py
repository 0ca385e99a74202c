"""Times all pairs of runs with shared unjudged documents: ``python benchmarks/pairwise_differences.py QRELS RUNS``."""

from __future__ import annotations

import sys
import time

import rankbounds as rb
from rankbounds.probability.differences import differences


def main(qrels: str, runs: str) -> None:
    started = time.perf_counter()
    read = rb.read_runs(runs)
    print(f"{len(read)} runs read in {time.perf_counter() - started:.1f} s")
    for q in (0.2, "logistic"):
        started = time.perf_counter()
        found = differences(qrels, read, q=q)
        print(f"q={q}: {len(found.pairs):,} pairs in {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
