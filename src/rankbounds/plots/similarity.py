"""Figures of how alike rankings are, without judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankbounds.comparison.similarity import Similarity
from rankbounds.plots.style import fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = 150
"""Up to so many runs are named at the edge."""


def similarity_matrix(similarity: Similarity, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Every run against every other, those that are alike side by side, with a tree of which belong together.

    Parameters
    ----------
    similarity
        As from ``similarity``, of three runs or more.
    measure
        Its label; without it the first.
    ax
        Where to draw; without it on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rankbounds as rb
    >>> runs = {"a": {"1": ["x", "y"]}, "b": {"1": ["z", "w"]}, "c": {"1": ["x", "y"]}}
    >>> axes = rb.plots.similarity_matrix(rb.similarity(runs))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['b', 'a', 'c']

    """
    label = measure or similarity.measures[0]
    order, tree = similarity.order(label), similarity.tree(label)
    size = float(np.clip(0.16 * len(order) + 2.2, 3.4, 14))
    axes = fresh_axes(ax, figsize=(size + 1.6, size))
    names = [similarity.runs[run] for run in order]
    matrix = similarity.matrix(label)[np.ix_(order, order)]
    shade = axes.imshow(matrix, cmap="viridis", vmin=min(0.0, float(np.nanmin(matrix))), vmax=1.0, aspect="equal")
    shown = range(len(names)) if len(names) <= NAMED else range(0, len(names), -(-len(names) // NAMED))
    axes.set_yticks(
        list(shown), [names[place] for place in shown], fontsize=8 if len(names) <= 12 else 6 if len(names) <= 60 else 5
    )
    axes.set_xticks([])
    axes.yaxis.tick_right()
    axes.spines[:].set_visible(False)
    side = axes.inset_axes((-0.26, 0.0, 0.25, 1.0))
    for across, along in tree:
        side.plot(across, along, color="0.35", linewidth=0.8)
    side.set(ylim=(len(order) - 0.5, -0.5), xticks=[], yticks=[])
    side.invert_xaxis()
    side.spines[:].set_visible(False)
    figure = axes.get_figure()
    if figure is not None:
        figure.colorbar(shade, ax=axes, orientation="horizontal", fraction=0.04, pad=0.03, label=label)
    return axes
