"""Labels that resemble people's judgments, runs, and a judged sample of them."""

from __future__ import annotations

import numpy as np

import rankbounds as rb
from rankbounds.evaluation.question import Question
from rankbounds.judging.audits.labelled_pool import LabelledPool


def collection(seed, topics=6, docs=15, runs=3):
    """People's judgments, labels that resemble them, and runs that hold a document without either."""
    rng = np.random.default_rng(seed)
    people, labels = {}, {}
    systems: dict = {f"run{number}": {} for number in range(runs)}
    for topic in (f"q{number}" for number in range(topics)):
        names = [f"d{doc}" for doc in range(docs)]
        grade = rng.integers(0, 4, docs)
        people[topic] = dict(zip(names, grade.tolist(), strict=True))
        labels[topic] = dict(zip(names, np.clip(grade + rng.integers(-1, 2, docs), 0, 3).tolist(), strict=True))
        for ranked in systems.values():
            order = rng.permutation([*names, "unlabelled"])[: docs - 2]
            ranked[topic] = {doc: float(docs - place) for place, doc in enumerate(order.tolist())}
    return people, labels, systems


def judged(sample, people):
    return [row | {"relevance": people[row["query_id"]][row["doc_id"]]} for row in sample.rows()]


def pool_of(labels, runs):
    return LabelledPool.of(labels, runs, *Question.of({}, "nDCG@10"))


PEOPLE, MODEL, SYSTEMS = collection(17)
ROWS = judged(rb.judging.draw_sample(MODEL, SYSTEMS, budget=20, seed=1), PEOPLE)


def written(folder):
    """The collection as files."""
    rb.Qrels.from_columns(*zip(*[(q, d, g) for q, docs in MODEL.items() for d, g in docs.items()], strict=True)).write(
        folder / "labels"
    )
    for name, topics in SYSTEMS.items():
        lines = [f"{q} Q0 {d} 1 {score} {name}\n" for q, docs in topics.items() for d, score in docs.items()]
        (folder / name).write_text("".join(lines))
