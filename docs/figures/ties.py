"""Draws the figures of docs/ties.md from runs made here: python docs/figures/ties.py (next to this file)."""

from pathlib import Path

import numpy as np

import rankbounds as rb
from rankbounds.studies import change_by_banding, range_by_ties
from rankbounds.studies.yang import boxes_of_changes

rng = np.random.default_rng(2016)
docs = [f"d{at:03d}" for at in range(200)]
worth = {f"t{topic}": rng.random(len(docs)) for topic in range(30)}
qrels = {t: {doc: int(one > 0.9) for doc, one in zip(docs, values, strict=True)} for t, values in worth.items()}
runs = []
for number in range(24):
    places = (6, 6, 6, 3, 2, 1)[number % 6]  # how many decimals the scores of this run have
    rows = [
        (topic, doc, round(float(score), places))
        for topic, values in worth.items()
        for doc, score in zip(docs, values + rng.normal(size=len(docs)) * (0.1 + 0.02 * number), strict=True)
    ]
    runs.append(rb.Run.from_columns(*zip(*rows, strict=True), name=f"run{number}"))

here = Path(__file__).parent
range_by_ties.draw(range_by_ties(qrels, runs)).get_figure().savefig(here / "ties-ranges.svg", dpi=200)
changes = change_by_banding(qrels, runs, measures=["AP"])
boxes_of_changes(changes)[0, 0].get_figure().savefig(here / "ties-bands.svg", dpi=200)
