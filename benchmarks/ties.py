"""What the treatment of ties costs: the mean over all orders against the plain order, and lists that are all tied.

    python benchmarks/ties.py FOLDER [RUNS]

writes a synthetic collection (50 topics, 1,000 documents, 14% of them tied) to the folder if it is not there.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rankbounds as rb
from workload import write_collection


def fastest(work: Callable[[], object], times: int = 5) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def many_runs(folder: Path, number: int) -> None:
    qrels_file, files = write_collection(folder, runs=number, topics=50, depth=1000)
    qrels = rb.read_qrels(qrels_file)
    for bounds in ("unjudged", "none"):
        plain, mean, best = (
            fastest(lambda ties=ties, bounds=bounds: rb.evaluate(qrels, files, ties=ties, bounds=bounds))
            for ties in ("trec", "expected", "best")
        )
        print(
            f"{number} runs, bounds={bounds}: trec {plain:.2f} s, expected {mean:.2f} s ({mean / plain:.2f} times), "
            f"best {best:.2f} s ({best / plain:.2f} times)"
        )


def all_tied(topics: int = 20, depth: int = 1000) -> None:
    rng = np.random.default_rng(1)
    docs = [f"d{at}" for at in range(depth)]
    query_ids = [f"t{topic}" for topic in range(topics) for _ in docs]
    doc_ids = docs * topics
    qrels = rb.Qrels.from_columns(query_ids, doc_ids, rng.random(len(doc_ids)) < 0.1)
    untied = rb.Run.from_columns(query_ids, doc_ids, np.tile(np.arange(depth, 0, -1), topics))
    tied = rb.Run.from_columns(query_ids, doc_ids, np.ones(len(doc_ids)))
    for measure in ("RBP(p=0.8)", "AP", "nDCG@10", "P@10", "RPrec", "RR", "ERR", "AP*@10", "IPrec(recall=0.5)"):
        plain, mean = (
            fastest(lambda run=run, ties=ties, measure=measure: rb.evaluate(qrels, run, measure, ties=ties), 3)
            for run, ties in ((untied, "trec"), (tied, "expected"))
        )
        print(f"{measure}: untied {plain * 1e3:.1f} ms, all tied {mean * 1e3:.1f} ms ({mean / plain:.1f} times)")


if __name__ == "__main__":
    many_runs(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100)
    all_tied()
