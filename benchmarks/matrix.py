"""Score matrices against dicts: how long it takes to score queries x documents of an embedding model.

    python benchmarks/matrix.py --queries 2000 --documents 100000

The matrix is scored as it is, and as ``{query: {document: score}}`` of the 1,000 best documents of each query (chosen
by ``np.argpartition``, which cuts tied groups) and of all documents, which is what most evaluation code makes of it.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import rankbounds as rb

MEASURES = ["nDCG@10", "Recall@100", "AP"]
DEPTH = 1000


def best_dicts(scores, query_ids, doc_ids):
    best = np.argpartition(scores, len(doc_ids) - DEPTH, axis=1)[:, len(doc_ids) - DEPTH :]
    return {
        query: {doc_ids[column]: score for column, score in zip(columns, row[columns].tolist(), strict=True)}
        for query, row, columns in zip(query_ids, scores, best.tolist(), strict=True)
    }


def all_dicts(scores, query_ids, doc_ids):
    return {query: dict(zip(doc_ids, row.tolist(), strict=True)) for query, row in zip(query_ids, scores, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--no-dicts", action="store_true", help="time the matrix alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    query_ids = [f"q{number}" for number in range(options.queries)]
    doc_ids = [f"d{number}" for number in range(options.documents)]
    scores = rng.standard_normal((options.queries, options.documents), dtype=np.float32)
    qrels = {query: {doc_ids[at]: 1 for at in rng.integers(0, options.documents, 5)} for query in query_ids}
    rb.evaluate({"q": {"d": 1}}, {"q": {"d": 1}}, MEASURES)  # what is loaded at first use

    def timed(what, call):
        began = time.perf_counter()
        values = call().mean().value.ravel()
        print(f"{what:<40}{time.perf_counter() - began:8.2f} s   {' '.join(f'{value:.5f}' for value in values)}")

    timed("matrix", lambda: rb.evaluate(qrels, scores, MEASURES, query_ids=query_ids, doc_ids=doc_ids))
    if options.no_dicts:
        return
    timed("dicts of the best 1,000", lambda: rb.evaluate(qrels, best_dicts(scores, query_ids, doc_ids), MEASURES))
    few = slice(0, max(1, options.queries // 10))
    timed(
        "dicts of all (a tenth of the queries)",
        lambda: rb.evaluate(qrels, all_dicts(scores[few], query_ids[few], doc_ids), MEASURES),
    )


if __name__ == "__main__":
    main()
