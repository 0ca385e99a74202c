"""Draws the figure of docs/labels.md: python docs/figures/judges.py FOLDER (of dl21-half, unpacked)."""

import sys
from pathlib import Path

import rankbounds as rb

folder = Path(sys.argv[1])
names = ("binary-gpt4", "binary-gpt4o", "binary-llama3.2", "umbrela-gpt4")
labels = [folder / f"{name}.qrels" for name in names]
found = rb.judging.compare_judges(folder / "human.qrels", labels, folder / "runs", "RBP(p=0.8,rel=2)")
figure = rb.plots.labels_overview(found).get_figure()
figure.savefig(Path(__file__).with_name("judges.png"), dpi=160)
