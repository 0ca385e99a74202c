"""Draw the figures of docs/rbp.md from a simulated collection: ``python docs/figures/rbp.py``.

Forty topics of 400 documents. "fast" finds its relevant documents early, "deep" finds more of them later, "new" did not
take part in the pool, and "rounded" is "deep" with scores of one decimal, hence ties. Judged are the first 10
documents of "fast" and "deep". Lists have 200 documents, those of "new"
20.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np

import rankbounds as rb

matplotlib.rcParams["svg.hashsalt"] = "rankbounds"  # the same figure is the same file
SEED = 2008


def collection(pool: int):
    """Judgments to a pool depth, and four runs as ``{name: {topic: {document: score}}}``."""
    rng = np.random.default_rng(SEED)
    runs = {name: {} for name in ("fast", "deep", "new", "rounded")}
    qrels = {}
    for topic in range(1, 41):
        relevant = rng.random(400) < 0.1
        sharp = np.where(relevant, rng.exponential(2.2, 400) * (rng.random(400) < 0.5), 0)
        broad = np.where(relevant, rng.normal(1.75, 0.4, 400), 0)
        scores = {"fast": sharp + rng.exponential(0.5, 400), "deep": broad + rng.exponential(0.55, 400)}
        scores["new"] = 0.8 * broad + rng.exponential(0.6, 400)
        scores["rounded"] = scores["deep"].round(1)
        judged = set()
        for name, score in scores.items():
            best = np.argsort(-score, kind="stable")[: 20 if name == "new" else 200]
            runs[name][str(topic)] = {f"d{doc:03d}": float(score[doc]) for doc in best}
            if name in ("fast", "deep"):
                judged |= set(best[:pool].tolist())
        qrels[str(topic)] = {f"d{doc:03d}": int(relevant[doc]) for doc in sorted(judged)}
    return qrels, runs


def main(folder: Path) -> None:
    """Write every figure into the folder."""
    qrels, runs = collection(10)
    two = {name: runs[name] for name in ("fast", "deep")}
    depths, persistences = (
        rb.rbp.bounds_by_depth(qrels, {"fast": runs["fast"]}, 60),
        rb.rbp.bounds_by_persistence(qrels, two),
    )
    drawn = {
        "rbp-ranks": rb.plots.contribution_of_ranks((0.5, 0.8, 0.95)),
        "rbp-depth": rb.plots.bounds_by_depth(depths),
        "rbp-persistence": rb.plots.bounds_by_persistence(persistences, crossings=rb.rbp.find_crossings(qrels, two)),
    }
    for name, axes in drawn.items():
        axes.get_figure().savefig(folder / f"{name}.svg", dpi=200)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
