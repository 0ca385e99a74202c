"""Figures of what unjudged documents leave uncertain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.plots.style import COLOURS, fresh_axes
from rankbounds.probability.distribution import Distribution, distribution_of_sum

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankbounds.probability.estimates import Reliability

SHARES = (0.05, 0.2, 0.35, 0.5)


def score_distribution(
    distribution: Distribution, ax: Axes | None = None, *, bins: int = 80, normal: bool = False, **style: Any
) -> Axes:
    """The density of an uncertain score; ``normal`` draws the normal curve of the same mean and sd beside it."""
    axes = fresh_axes(ax)
    kept = distribution.probability > 1e-9
    low, high = distribution.value[kept][0], distribution.value[kept][-1]
    edges = np.linspace(low, high, bins + 1) if high > low else np.array([low - 1e-6, low + 1e-6])
    share = np.diff(np.append(0.0, distribution.cdf(edges[1:])))
    (line,) = axes.step(edges, np.append(share / np.diff(edges), 0.0), where="post", **style)
    if normal and distribution.sd > 0:
        x = np.linspace(low, high, 400)
        bell = np.exp(-(((x - distribution.mean) / distribution.sd) ** 2) / 2) / (distribution.sd * np.sqrt(2 * np.pi))
        axes.plot(x, bell, color=line.get_color(), linewidth=0.8, linestyle="--")
    axes.set_ylabel("density")
    axes.set_ylim(bottom=0)
    return axes


def rbp_uncertainty(
    ax: Axes | None = None,
    *,
    q: Sequence[float] = SHARES,
    p: float = 0.8,
    judged_depth: int = 10,
    depth: int = 100,
    topics: int = 1,
) -> Axes:
    """What the ranks below the judged depth add to RBP (or to its mean over topics), for several probabilities.

    Park's Figure 1 for one topic (best with axes for each q: a small one makes a tall spike); his Figure 2 with
    ``topics=50``, where dashes are the normal approximation.
    """
    axes = fresh_axes(ax)
    weights = np.tile(((1 - p) * p ** np.arange(depth))[judged_depth:], topics) / topics
    for at, one in enumerate(q):
        found = distribution_of_sum(weights, np.full(weights.size, float(one)))
        score_distribution(found, axes, normal=topics > 1, color=COLOURS[at % len(COLOURS)], label=f"q = {one:g}")
    what, of = ("RBP", "") if topics == 1 else ("mean RBP", f", {topics} topics")
    axes.set_xlabel(f"added to {what} by ranks {judged_depth + 1} to {depth} (p = {p:g}{of})", fontsize=9)
    axes.legend(frameon=False)
    return axes


def urn_contours(
    ax: Axes | None = None,
    *,
    what: str = "mean",
    p: float = 0.8,
    n_documents: int = 100,
    judged_depth: int = 10,
    topics: int = 50,
) -> Axes:
    """Exact ``mean`` or ``sd`` of what lies below the judged depth, by relevance ratio w and share q of relevant ones.

    Park's Figure 3, computed by recursion instead of simulation.
    """
    from rankbounds.probability.urn import urn_moments

    axes = fresh_axes(ax)
    ratio, share = np.linspace(0.05, 1, 39), np.linspace(0.05, 0.5, 19)
    found = urn_moments(n_documents, share[:, None], ratio, p, judged_depth, topics)
    surface = found.mean if what == "mean" else found.sd
    lines = axes.contour(ratio, share, surface, levels=10, cmap="viridis")
    axes.clabel(lines, fontsize=7)
    axes.set_xlabel("relevance ratio w (1: random order)")
    axes.set_ylabel("share of relevant documents q")
    label = "mean of what mean RBP" if what == "mean" else "sd of what mean RBP"
    axes.set_title(f"{label} gains below rank {judged_depth} (p = {p:g}, {topics} topics)", fontsize=8)
    return axes


def reliability(found: Reliability, ax: Axes | None = None) -> Axes:
    """Predicted against observed rates of relevance on held-out documents; on the diagonal they agree."""
    axes = fresh_axes(ax)
    error = np.sqrt(np.maximum(found.observed * (1 - found.observed), 1e-4) / found.count)
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.8)
    axes.errorbar(found.predicted, found.observed, 1.96 * error, fmt="o", markersize=4, color=COLOURS[0], capsize=2)
    top = 1.05 * max(float((found.observed + 1.96 * error).max()), float(found.predicted.max()))
    axes.set_xlim(0, top)
    axes.set_ylim(0, top)
    axes.set_title(f"held out: {found.held_out}", fontsize=9)
    axes.set_xlabel("predicted probability of relevance")
    axes.set_ylabel("observed rate of relevance")
    return axes
