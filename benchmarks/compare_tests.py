"""Time all-pairs significance tests against ranx's comparison of the same runs, in one process.

    python benchmarks/compare_tests.py --data FOLDER     # runs that compare_peers.py wrote (workload "many")

Both sides evaluate AP first (not timed here), then test all pairs by Fisher's randomisation with 1,000 permutations.
ranx evaluates inside its comparison; that share is measured apart and taken off.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import rankbounds

warnings.simplefilter("ignore")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parent / "data" / "many")
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    files = sorted(options.data.glob("run*.txt"))[: options.runs]
    pairs = len(files) * (len(files) - 1) // 2

    scores = rankbounds.evaluation.evaluate(options.data / "qrels.txt", files, "AP", bounds="none")
    rankbounds.compare(scores, resamples=1000)
    start = time.perf_counter()
    rankbounds.compare(scores, test="randomization", correction="holm", resamples=1000)
    ours = time.perf_counter() - start

    import ranx

    qrels = ranx.Qrels.from_file(str(options.data / "qrels.txt"), kind="trec")
    runs = [ranx.Run.from_file(str(file), kind="trec") for file in files]
    for file, run in zip(files, runs, strict=True):
        run.name = file.stem

    def compare(chosen: list[ranx.Run]) -> float:
        start = time.perf_counter()
        ranx.compare(qrels, chosen, ["map"], stat_test="fisher", n_permutations=1000, max_p=0.05)
        return time.perf_counter() - start

    compare(runs[:2])  # compiles
    theirs = compare(runs)
    start = time.perf_counter()
    for run in runs:
        ranx.evaluate(qrels, run, ["map"])
    theirs -= time.perf_counter() - start
    print(f"{pairs} pairs, 1,000 permutations: ours / ranx = {ours / theirs:.4f} ({theirs / ours:.0f} times as fast)")


if __name__ == "__main__":
    main()
