"""Makes the figures of docs/uncertain-mean.md: ``python docs/figures/uncertain_mean.py``."""

from pathlib import Path

from matplotlib.figure import Figure

import rankbounds as rb

HERE = Path(__file__).parent


figure = Figure(figsize=(7, 4.6), layout="constrained")
for ax, q in zip(figure.subplots(2, 2).ravel(), (0.05, 0.2, 0.35, 0.5), strict=True):
    rb.plots.rbp_uncertainty(ax, q=[q])
figure.savefig(HERE / "one-topic.png", dpi=90)
