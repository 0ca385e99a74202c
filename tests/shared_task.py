"""A small made-up evaluation: topics, systems of different quality in groups, a pool, judgments."""

from __future__ import annotations

import numpy as np

import rankbounds as rb


def shared_task(*, topics=6, documents=60, groups=4, length=30, depth=10, grades=(0, 1, 2), seed=11):
    """Judgments of the pool of that depth, runs by name, and the group of each run (two runs each)."""
    rng = np.random.default_rng(seed)
    worth = rng.choice(grades, size=(topics, documents), p=[0.75, 0.17, 0.08][: len(grades)])
    runs, group_of = {}, {}
    for number in range(2 * groups):
        noise = rng.normal(scale=0.6 + 0.25 * number, size=worth.shape)
        taste = rng.normal(scale=0.8, size=documents) * (number // 2 == groups - 1)  # the last group goes its own way
        score = worth + noise + taste
        runs[f"run{number}"] = {
            f"t{topic}": {f"d{doc:02d}": float(score[topic, doc]) for doc in np.argsort(-score[topic])[:length]}
            for topic in range(topics)
        }
        group_of[f"run{number}"] = f"group{number // 2}"
    qrels: dict[str, dict[str, int]] = {f"t{topic}": {} for topic in range(topics)}
    for run in runs.values():
        for topic, docs in run.items():
            for doc in list(docs)[:depth]:
                qrels[topic][doc] = int(worth[int(topic[1:]), int(doc[1:])])
    return (
        qrels,
        {name: rb.Run.from_columns(*zip(*rows(run), strict=True), name=name) for name, run in runs.items()},
        group_of,
    )


def rows(run):
    return [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
