"""Makes the figures of docs/uncertain-mean.md: ``python docs/figures/uncertain_mean.py``."""

from pathlib import Path

from matplotlib.figure import Figure

import rankbounds as rb

HERE = Path(__file__).parent


def panels(rows: int, columns: int, size: tuple[float, float]):
    """A figure and its axes."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns).ravel()


figure, axes = panels(2, 2, (7, 4.6))
for ax, q in zip(axes, (0.05, 0.2, 0.35, 0.5), strict=True):
    rb.plots.rbp_uncertainty(ax, q=[q])
figure.savefig(HERE / "one-topic.png", dpi=90)

figure = Figure(figsize=(5.5, 3.2), layout="constrained")
rb.plots.rbp_uncertainty(figure.add_subplot(), topics=50)
figure.savefig(HERE / "fifty-topics.png", dpi=90)

figure, axes = panels(1, 2, (8.4, 3.6))
rb.plots.urn_contours(axes[0])
rb.plots.urn_contours(axes[1], what="sd")
figure.savefig(HERE / "urn-contours.png", dpi=90)
