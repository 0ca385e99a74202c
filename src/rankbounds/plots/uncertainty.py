"""Figures of what unjudged documents leave uncertain."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.plots.style import COLOURS, figure, fresh_axes
from rankbounds.probability.distribution import Distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rankbounds.probability.models.estimates import Reliability


@figure
def score_distribution(
    distribution: Distribution, ax: Axes | None = None, *, bins: int = 80, normal: bool = False, **style: Any
) -> Axes:
    """The density of an uncertain score.

    Parameters
    ----------
    distribution
        As from a score of ``rankbounds.uncertainty``: ``found.scores[0].distribution()``.
    bins
        How many steps.
    normal
        Draw the normal curve of the same mean and sd beside it.
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
    axes.set_ylabel("density")
    axes.set_ylim(bottom=0)
    return axes


@figure
def reliability(checked: Reliability, ax: Axes | None = None) -> Axes:
    """Predicted against observed rates of relevance on held-out documents; on the diagonal they agree.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.probability.models.estimates import reliability
    >>> from rankbounds.rankings.topic_facts import TopicFacts
    >>> made = rb.simulate(runs=4, topics=5, documents=60, depth=20, seed=1)
    >>> axes = rb.plots.reliability(reliability("logistic", made.runs, TopicFacts(made.pooled)))
    >>> axes.get_title()
    'held out: 5 random parts in turn'
    """
    axes = fresh_axes(ax)
    error = np.sqrt(np.maximum(checked.observed * (1 - checked.observed), 1e-4) / checked.count)
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.8)
    axes.errorbar(checked.predicted, checked.observed, 1.96 * error, fmt="o", markersize=4, color=COLOURS[0], capsize=2)
    top = 1.05 * max(float((checked.observed + 1.96 * error).max()), float(checked.predicted.max()))
    axes.set_title(f"held out: {checked.held_out}", fontsize=9)
    labels = {"xlabel": "predicted probability of relevance", "ylabel": "observed rate of relevance"}
    axes.set(xlim=(0, top), ylim=(0, top), **labels)
    return axes
