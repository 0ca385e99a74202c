"""Synthetic runs and judgments in TREC form, for timing only (seeded, so every machine times the same bytes)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SOURCES = ("FBIS3-", "FBIS4-", "FR940104-0-", "FT911-", "FT943-", "LA010189-")


def document_ids(count: int, rng: np.random.Generator) -> np.ndarray:
    """Ids of uneven length, like those of a newswire collection."""
    source = rng.integers(0, len(SOURCES), count)
    return np.array([f"{SOURCES[s]}{i:05d}" if i % 3 else f"{SOURCES[s]}{i}" for i, s in enumerate(source)])


def write_collection(
    folder: Path,
    *,
    runs: int,
    topics: int,
    depth: int,
    judged: int = 1600,
    tied: float = 0.14,
    seed: int = 1,
) -> tuple[Path, list[Path]]:
    """Write ``qrels.txt`` and one file a run; return their paths. Existing files are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    qrels = folder / "qrels.txt"
    paths = [folder / f"run{number:03d}.txt" for number in range(runs)]
    done = folder / "complete"
    if done.exists():
        return qrels, paths
    rng = np.random.default_rng(seed)
    candidates = max(4 * depth, judged)
    ids = document_ids(200_000, rng)
    pools = [rng.choice(ids.size, candidates, replace=False) for _ in range(topics)]
    quality = [rng.normal(size=candidates) for _ in range(topics)]
    with qrels.open("w") as out:
        for topic in range(topics):
            best = np.argsort(-quality[topic])[:judged]
            relevant = rng.random(best.size) < 0.15 * np.linspace(1.6, 0.1, best.size)
            out.writelines(
                f"{401 + topic} 0 {ids[pools[topic][doc]]} {grade}\n"
                for doc, grade in zip(best.tolist(), relevant.astype(int).tolist(), strict=True)
            )
    for number, path in enumerate(paths):
        with path.open("w") as out:
            for topic in range(topics):
                score = quality[topic] + rng.normal(size=candidates)
                order = np.argsort(-score)[:depth]
                value = score[order] + 5
                repeat = rng.random(depth) < tied
                repeat[0] = False
                first = np.maximum.accumulate(np.where(repeat, 0, np.arange(depth)))
                names = ids[pools[topic][order]].tolist()
                out.writelines(
                    f"{401 + topic} Q0 {name} {rank} {number_:.6f} run{number:03d}\n"
                    for rank, (name, number_) in enumerate(zip(names, value[first].tolist(), strict=True), 1)
                )
    done.touch()
    return qrels, paths
