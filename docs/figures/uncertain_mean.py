"""Makes the figures of docs/uncertain-mean.md: ``python docs/figures/uncertain_mean.py``."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import rankbounds as rb
from rankbounds.plots.style import colour_of
from rankbounds.probability.distribution import distribution_of_sum
from rankbounds.probability.models.estimates import reliability
from rankbounds.probability.models.urn import urn_moments
from rankbounds.rankings.topic_facts import TopicFacts

HERE = Path(__file__).parent


def panels(rows: int, columns: int, size: tuple[float, float]):
    """A figure and its axes."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns).ravel()


def draw_added(ax, shares: tuple[float, ...], topics: int = 1) -> None:
    """What ranks 11 to 100 add to RBP if documents there are relevant with these probabilities (Park, Figures 1-2)."""
    weights = np.tile((0.2 * 0.8 ** np.arange(100))[10:], topics) / topics
    for number, share in enumerate(shares):
        distribution = distribution_of_sum(weights, np.full(weights.size, share))
        style = {"color": colour_of(number), "label": f"q = {share:g}"}
        rb.plots.score_distribution(distribution, ax, normal=topics > 1, **style)
    what, of = ("RBP", "") if topics == 1 else ("mean RBP", f", {topics} topics")
    ax.set_xlabel(f"added to {what} by ranks 11 to 100 (p = 0.8{of})", fontsize=9)
    ax.legend(frameon=False)


SHARES = (0.05, 0.2, 0.35, 0.5)
figure, axes = panels(2, 2, (7, 4.6))
for ax, q in zip(axes, SHARES, strict=True):
    draw_added(ax, (q,))
figure.savefig(HERE / "one-topic.png", dpi=90)

figure = Figure(figsize=(5.5, 3.2), layout="constrained")
draw_added(figure.add_subplot(), SHARES, topics=50)
figure.savefig(HERE / "fifty-topics.png", dpi=90)

figure, axes = panels(1, 2, (8.4, 3.6))
ratio, share = np.linspace(0.05, 1, 39), np.linspace(0.05, 0.5, 19)
moments = urn_moments(100, share[:, None], ratio, 0.8, 10, 50)
for ax, name in zip(axes, ("mean", "sd"), strict=True):  # Park's Figure 3, by recursion instead of simulation
    ax.clabel(ax.contour(ratio, share, getattr(moments, name), levels=10, cmap="viridis"), fontsize=7)
    ax.set(xlabel="relevance ratio w (1: random order)", ylabel="share of relevant documents q")
    ax.set_title(f"{name} of what mean RBP gains below rank 10 (p = 0.8, 50 topics)", fontsize=8)
figure.savefig(HERE / "urn-contours.png", dpi=90)

collection = rb.simulate(seed=7)
facts = TopicFacts(collection.pooled)
figure, axes = panels(1, 2, (7.6, 3.6))
for ax, deeper in zip(axes, (False, True), strict=True):
    rb.plots.reliability(reliability("logistic", collection.runs, facts, deeper=deeper), ax)
figure.savefig(HERE / "reliability.png", dpi=90)
