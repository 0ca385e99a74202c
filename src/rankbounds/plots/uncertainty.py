"""Figures of what unjudged documents leave uncertain."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.plots.style import colour_of, draw_legend, figure, fresh_axes
from rankbounds.probability.distribution import Distribution, distribution_of_sum

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SHARES = (0.05, 0.2, 0.35, 0.5)


@figure
def score_distribution(
    distribution: Distribution, ax: Axes | None = None, *, bins: int = 80, normal: bool = False, **style: Any
) -> Axes:
    """Draw the density of an uncertain score.

    Parameters
    ----------
    distribution
        As from a score of ``rankbounds.uncertainty``: ``found.scores[0].distribution()``.
    bins
        The number of steps.
    normal
        Also draw the normal curve of the same mean and sd.
    **style
        Of the line, as matplotlib's ``step`` takes it.

    Examples
    --------
    >>> import rankbounds as rb
    >>> found = rb.uncertainty({"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}, q=0.5, interval="distribution")
    >>> axes = rb.plots.score_distribution(found.scores[0].distribution())
    >>> axes.get_ylabel()
    'density'
    """
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
    axes.set(xlabel="score", ylabel="density")
    axes.set_ylim(bottom=0)
    return axes


@figure
def rbp_uncertainty(
    ax: Axes | None = None,
    *,
    q: Sequence[float] = SHARES,
    p: float = 0.8,
    judged_depth: int = 10,
    depth: int = 100,
    topics: int = 1,
) -> Axes:
    """Draw what the ranks below the judged depth add to RBP (or to its mean over topics), for several probabilities.

    Parameters
    ----------
    q
        Probabilities that an unjudged document is relevant, a line for each.
    depth
        The last rank of all.

    Notes
    -----
    Park's Figure 1 for one topic (best with axes for each q: a small one makes a tall spike); Figure 2 with
    ``topics=50``, where dashes are the normal approximation.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.rbp_uncertainty(q=[0.2, 0.5], depth=20)
    >>> axes.get_xlabel(), len(axes.lines)
    ('added to RBP by ranks 11 to 20 (p = 0.8)', 2)
    """
    axes = fresh_axes(ax)
    weights = np.tile(((1 - p) * p ** np.arange(depth))[judged_depth:], topics) / topics
    for number, share in enumerate(q):
        distribution = distribution_of_sum(weights, np.full(weights.size, float(share)))
        colour = colour_of(number)
        score_distribution(distribution, axes, normal=topics > 1, color=colour, label=f"q = {share:g}")
    what = "RBP" if topics == 1 else f"mean RBP of {topics} topics\n"
    axes.set_xlabel(f"added to {what} by ranks {judged_depth + 1} to {depth} (p = {p:g})".replace("\n ", "\n"))
    draw_legend(axes, ncols=4, columnspacing=0.8, handlelength=1.2)
    return axes


@figure
def urn_contours(
    ax: Axes | None = None,
    *,
    what: str = "mean",
    p: float = 0.8,
    n_documents: int = 100,
    judged_depth: int = 10,
    topics: int = 50,
) -> Axes:
    """Draw the mean or sd of what lies below the judged depth, by relevance ratio w and share q of relevant documents.

    Parameters
    ----------
    what
        ``"mean"`` or ``"sd"``.
    n_documents
        The number of documents in each list.

    Notes
    -----
    Park's Figure 3, computed exactly by recursion instead of simulation.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.urn_contours(n_documents=20, judged_depth=5)
    >>> axes.get_title().splitlines()
    ['mean of what ranks below 5 add', '(p = 0.8, 50 topics)']
    """
    from rankbounds.probability.models.urn import urn_moments

    axes = fresh_axes(ax)
    ratio, share = np.linspace(0.05, 1, 39), np.linspace(0.05, 0.5, 19)
    moments = urn_moments(n_documents, share[:, None], ratio, p, judged_depth, topics)
    surface = moments.mean if what == "mean" else moments.sd
    lines = axes.contour(ratio, share, surface, levels=10, cmap="viridis")
    axes.clabel(lines, fontsize=5.5)
    axes.set(xlabel="relevance ratio w (1: random order)", ylabel="share of relevant documents q")
    name = "mean" if what == "mean" else "sd"
    axes.set_title(f"{name} of what ranks below {judged_depth} add\n(p = {p:g}, {topics} topics)")
    return axes
