"""Draws the figure of docs/many.md: python docs/figures/slices.py FOLDER (of TREC-8's qrels.txt and runs)."""

import sys
from pathlib import Path

import rankbounds as rb

folder = Path(sys.argv[1])
runs = [folder / "runs" / "input.Sab8A1", folder / "runs" / "input.tno8t2"]
scores = rb.evaluate(folder / "qrels.txt", runs, ["AP", "NumRel"])
known = scores["NumRel"].value[0, :, 0].tolist()
labels = {query: "few" if count < 45 else "many" for query, count in zip(scores.query_ids, known, strict=True)}
sliced = rb.compare(scores["AP"]).slices({"relevant": labels})
print(sliced)
rb.plots.save(rb.plots.forest(sliced), Path(__file__).with_name("forest.svg"))
