"""Make the small collection that ``rankbounds demo`` shows (seeded; its files are part of the package).

Five systems answer 24 topics. Four contributed to the pool of judgments; ``dense`` did not, so that many of its
documents are unjudged; ``reranked`` prints probabilities with two digits, so that many of its documents are tied.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "src" / "rankbounds" / "demo"
TOPICS, COLLECTION, DEPTH, POOL_DEPTH = 24, 400, 40, 12
QUALITY = {"bm25": 1.5, "bm25-expanded": 1.75, "learned": 1.9, "reranked": 2.1, "dense": 2.0}
POOLED = ("bm25", "bm25-expanded", "learned", "reranked")


def main() -> None:
    rng = np.random.default_rng(2026)
    (FOLDER / "runs").mkdir(parents=True, exist_ok=True)
    lines: dict[str, list[str]] = {name: [] for name in QUALITY}
    judgments = []
    for topic in range(1, TOPICS + 1):
        ids = [f"doc-{number:04d}" for number in rng.choice(10_000, COLLECTION, replace=False)]
        relevant = max(4, int(rng.gamma(3.0, 8.0)))
        grade = np.zeros(COLLECTION, dtype=int)
        grade[:relevant] = 1 + (rng.random(relevant) < 0.35)
        words = rng.normal(size=COLLECTION)  # what systems that match words agree on
        pool: set[int] = set()
        for name, quality in QUALITY.items():
            shared = 0.2 if name == "dense" else 0.8
            score = quality * (0.7 + 0.3 * grade) * (grade > 0) + shared * words + rng.normal(size=COLLECTION)
            order = np.argsort(-score)[:DEPTH]
            if name in POOLED:
                pool.update(order[:POOL_DEPTH].tolist())
            low, high = score[order].min(), score[order].max()
            shown = (score[order] - low) / (high - low)
            if name == "reranked":
                shown = 1 / (1 + np.exp(-1.1 * score[order]))
            digits = 2 if name == "reranked" else 6
            lines[name] += [
                f"{topic} Q0 {ids[doc]} {rank} {value:.{digits}f} {name}\n"
                for rank, (doc, value) in enumerate(zip(order.tolist(), shown.tolist(), strict=True), 1)
            ]
        judgments += [f"{topic} 0 {ids[doc]} {grade[doc]}\n" for doc in sorted(pool)]
    (FOLDER / "qrels.txt").write_text("".join(judgments))
    for name, written in lines.items():
        (FOLDER / "runs" / f"{name}.txt").write_text("".join(written))


if __name__ == "__main__":
    main()
