"""Files of a small collection with as many runs as there are names, for tests of commands and what they print."""

from __future__ import annotations

import random


def write_collection(folder, names, topics=4, documents=12, seed=7):
    """Runs of these names that find more relevant documents the earlier they are named, and half of the judgments."""
    draw = random.Random(seed)
    relevant = {topic: {f"d{number}" for number in range(1, 6)} for topic in range(1, topics + 1)}
    (folder / "runs").mkdir(exist_ok=True)
    for number, name in enumerate(names):
        lines = []
        for topic in relevant:
            found = sorted(
                (f"d{document}" for document in range(1, documents + 1)),
                key=lambda document, topic=topic: (
                    draw.random() + (document in relevant[topic]) * (1 - number / len(names))
                ),
                reverse=True,
            )
            lines += [f"{topic} Q0 {document} {rank} {1 / rank} {name}\n" for rank, document in enumerate(found, 1)]
        (folder / "runs" / f"{number:03}.txt").write_text("".join(lines), "utf-8")
    (folder / "qrels").write_text(
        "".join(
            f"{topic} 0 d{document} {int(f'd{document}' in relevant[topic])}\n"
            for topic in relevant
            for document in range(1, documents + 1)
            if (topic + document) % 2
        )
    )
    return folder / "qrels", folder / "runs"
