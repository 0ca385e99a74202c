"""Time runs that are already held as dicts of dicts (50 topics x 1000 documents) against pytrec_eval and ranx.

    python benchmarks/in_memory.py

Contenders take turns in one process; the table gives ratios of medians (ours / theirs), conversion included.
"""

from __future__ import annotations

import importlib.util
import random
import statistics
import time
import warnings

import rankbounds as rb

TREC_NAMES = ["map", "ndcg", "P_10", "recip_rank"]
RANX_NAMES = ["map", "ndcg", "precision@10", "mrr"]


def collection(topics: int = 50, depth: int = 1000, judged: int = 1600) -> tuple[dict, dict]:
    draw = random.Random(1)
    docs = [f"FT{draw.randrange(10**9):09d}-{number % 97}" for number in range(200_000)]
    run, qrels = {}, {}
    for topic in range(topics):
        found = draw.sample(docs, depth)
        run[str(400 + topic)] = {doc: 30 - 0.01 * at + draw.random() * 0.001 for at, doc in enumerate(found)}
        pool = draw.sample(found, 200) + draw.sample(docs, judged - 200)
        qrels[str(400 + topic)] = {doc: int(draw.random() < 0.1) for doc in pool}
    return qrels, run


def main(rounds: int = 15) -> None:
    warnings.simplefilter("ignore")
    qrels, run = collection()
    ours = rb.RelevanceEvaluator(qrels, TREC_NAMES)
    contenders = {"rankbounds": lambda: ours.evaluate(run)}
    if importlib.util.find_spec("pytrec_eval"):
        import pytrec_eval

        theirs = pytrec_eval.RelevanceEvaluator(qrels, set(TREC_NAMES))
        contenders["pytrec_eval"] = lambda: theirs.evaluate(run)
    if importlib.util.find_spec("ranx"):
        import ranx

        judgments = ranx.Qrels(qrels)
        contenders["ranx"] = lambda: ranx.evaluate(judgments, ranx.Run(run), RANX_NAMES)
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for at in range(rounds + 1):
        for name, evaluate in contenders.items():
            started = time.perf_counter()
            evaluate()
            if at:  # the first round warms up
                seconds[name].append(time.perf_counter() - started)
    base = statistics.median(seconds.pop("rankbounds"))
    print("| peer | ours / peer |\n|---|---:|")
    for name, found in seconds.items():
        print(f"| {name} | {base / statistics.median(found):.2f} |")


if __name__ == "__main__":
    main()
