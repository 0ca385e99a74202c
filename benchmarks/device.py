"""Time evaluation of scores on an accelerator beside what others measure there: ``python benchmarks/device.py``.

Needs PyTorch; sentence-transformers and torchmetrics take part where they are installed. Without an accelerator only
the smallest cases run. Times are of whole calls, from scores on the device to means with bounds, and the shortest of
three; judgments are 16 documents per query, of which half are relevant.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import rankbounds as rb

MEASURES = ["nDCG@10", "AP", "RBP(p=0.8)", "P@10", "RR"]
JUDGED = 16


def shortest(call: Callable[[], object], times: int = 3) -> float:
    """Return the shortest time of a call in seconds, on an idle device."""
    taken = []
    for _ in range(times):
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def collection(queries: int, documents: int) -> dict[str, Any]:
    """Return judgments and ids."""
    rng = np.random.default_rng(0)
    judged = rng.integers(0, documents, (queries, JUDGED)).tolist()
    qrels = {
        f"q{number}": {f"d{column}": int(at < JUDGED // 2) for at, column in enumerate(columns)}
        for number, columns in enumerate(judged)
    }
    return {
        "qrels": rb.Qrels(qrels),
        "query_ids": [f"q{number}" for number in range(queries)],
        "doc_ids": [f"d{number}" for number in range(documents)],
    }


def raised(scores: torch.Tensor, given: dict[str, Any]) -> torch.Tensor:
    """Let relevant documents score higher than others, as those of a model do."""
    row = {query: number for number, query in enumerate(given["query_ids"])}
    cells = [(row[query], int(doc[1:])) for query, doc, grade in given["qrels"] if grade > 0]
    rows, columns = torch.tensor(cells, device=scores.device).T
    scores[rows, columns] += 3.0
    return scores


def whole_calls(queries: int, documents: int, device: str) -> None:
    """Time ``evaluate`` on a matrix on the device, and the same matrix copied first."""
    given = collection(queries, documents)
    qrels = given.pop("qrels")
    torch.manual_seed(0)
    scores = raised(torch.randn(queries, documents, device=device), given | {"qrels": qrels})
    taken = shortest(lambda: rb.evaluate(qrels, scores, MEASURES, **given))
    print(f"{queries:,} x {documents:,}: evaluate {taken:.3f} s", flush=True)
    ours = rb.evaluate(qrels, scores, MEASURES, ties="expected", **given)
    counter = rb.RankCounter(qrels, **given)

    def counted() -> rb.Scores:
        counter = rb.RankCounter(qrels, **given)
        counter.collect(scores)
        counter.count(scores)
        return counter.evaluate(MEASURES)

    counter.collect(scores)
    print(f"  counted {shortest(counted):.3f} s, of it counting {shortest(lambda: fresh(counter).count(scores)):.3f} s")
    theirs = counted()
    worst = max(np.nanmax(np.abs(getattr(ours, name) - getattr(theirs, name))) for name in ("value", "low", "high"))
    print(f"  largest difference between both {worst:.1e}", flush=True)
    if queries * documents <= 200_000_000:
        host = scores.cpu().numpy()
        same = rb.evaluate(qrels, host, MEASURES, ties="expected", **given)
        worst = np.nanmax(np.abs(same.value - ours.value))
        taken = shortest(lambda: rb.evaluate(qrels, host, MEASURES, **given))
        print(f"  by NumPy {taken:.3f} s, difference {worst:.1e}", flush=True)
        check_packages(host, qrels, given, ours)


def fresh(counter: rb.RankCounter) -> rb.RankCounter:
    """Return the counter as it was before anything was counted."""
    counter._counted[:] = False
    return counter


def check_packages(host: np.ndarray, qrels: rb.Qrels, given: dict[str, Any], ours: rb.Scores) -> None:
    """Compare the values of CuPy's and JAX's selection with PyTorch's."""
    for package in ("cupy", "jax.numpy"):
        try:
            xp = __import__(package, fromlist=["asarray"])
            theirs = rb.evaluate(qrels, xp.asarray(host), MEASURES, ties="expected", **given)
        except ImportError:
            continue
        print(f"  {package}: difference {np.nanmax(np.abs(theirs.value - ours.value)):.1e}", flush=True)


def peers(queries: int, documents: int, device: str) -> None:
    """Time what others compute of the same scores: of all, or of the best 100 where they need lists."""
    given = collection(queries, documents)
    qrels = given.pop("qrels")
    scores = raised(torch.randn(queries, documents, device=device), given | {"qrels": qrels})
    target = torch.zeros(queries, documents, dtype=torch.bool, device=device)
    row = {query: number for number, query in enumerate(given["query_ids"])}
    for query, doc, grade in qrels:
        target[row[query], int(doc[1:])] = grade > 0
    print(f"{queries:,} x {documents:,}: ours {shortest(lambda: rb.evaluate(qrels, scores, MEASURES, **given)):.3f} s")
    try:
        from torchmetrics.retrieval import RetrievalMAP, RetrievalNormalizedDCG

        index = torch.arange(queries, device=device)[:, None].expand_as(scores).reshape(-1)
        for metric in (RetrievalMAP(), RetrievalNormalizedDCG(top_k=10)):
            taken = shortest(lambda metric=metric: metric(scores.reshape(-1), target.reshape(-1), indexes=index), 1)
            print(f"  torchmetrics {type(metric).__name__} {taken:.3f} s", flush=True)
    except ImportError:
        print("  torchmetrics is not installed")
    try:
        from sentence_transformers.evaluation import InformationRetrievalEvaluator
    except ImportError:
        print("  sentence-transformers is not installed")
        return
    relevant: dict[str, set[str]] = {query: set() for query in given["query_ids"]}
    for query, doc, grade in qrels:
        if grade > 0:
            relevant[query].add(doc)
    evaluator = InformationRetrievalEvaluator(
        dict.fromkeys(given["query_ids"], "a"), dict.fromkeys(given["doc_ids"], "b"), relevant
    )
    depth = min(100, documents)

    def theirs() -> object:
        best = torch.topk(scores, depth, dim=1)
        hits = [
            [
                {"corpus_id": given["doc_ids"][column], "score": score}
                for column, score in zip(columns, values, strict=True)
            ]
            for columns, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]
        return evaluator.compute_metrics(hits)

    print(f"  sentence-transformers compute_metrics of the best {depth} {shortest(theirs):.3f} s", flush=True)


def counting(queries: int, documents: int, device: str, dimensions: int = 768) -> None:
    """Time both passes over blocks of products of embeddings, which no memory holds at once."""
    given = collection(queries, documents)
    torch.manual_seed(0)
    wanted = torch.randn(queries, dimensions, device=device, dtype=torch.bfloat16)
    embedded = torch.randn(documents, dimensions, device=device, dtype=torch.bfloat16)
    width = max(1, 2**31 // queries)
    begin = time.perf_counter()
    counter = rb.RankCounter(**given)
    print(f"{queries:,} x {documents:,} x {dimensions}: prepared in {time.perf_counter() - begin:.2f} s", flush=True)

    def blocks() -> Any:
        for first in range(0, documents, width):
            yield first, wanted @ embedded[first : first + width].T

    def product() -> None:
        for _ in blocks():
            pass

    begin = time.perf_counter()
    for first, block in blocks():
        counter.collect(block, first)
    collected = time.perf_counter() - begin
    begin = time.perf_counter()
    for first, block in blocks():
        counter.count(block, first)
    torch.cuda.synchronize() if device == "cuda" else None
    counted = time.perf_counter() - begin
    begin = time.perf_counter()
    print(counter.evaluate(["nDCG@10", "RBP(p=0.8)"]).mean())
    scored = time.perf_counter() - begin
    alone = shortest(product, 1)
    print(
        f"  products {alone:.2f} s, collected {collected:.2f}, counted {counted:.2f}, scored {scored:.2f}", flush=True
    )
    if device == "cuda":
        print(f"  {torch.cuda.max_memory_allocated() >> 20:,} MB on the device at most", flush=True)


def main() -> None:
    """Run the cases that the device can hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="only the smallest cases")
    small = parser.parse_args().small or not torch.cuda.is_available()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(torch.cuda.get_device_name() if device == "cuda" else "no accelerator", f"PyTorch {torch.__version__}")
    rb.evaluate({"q": {"d": 1}}, {"q": ["d"]}, MEASURES)
    for queries, documents in [(200, 10_000)] if small else [(1000, 100_000), (2000, 100_000), (2000, 1_000_000)]:
        whole_calls(queries, documents, device)
    for queries, documents in [(200, 1000)] if small else [(2000, 100), (1000, 100_000)]:
        peers(queries, documents, device)
    counting(*((500, 20_000) if small else (100_000, 1_000_000)), device)


if __name__ == "__main__":
    main()
