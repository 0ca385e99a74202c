"""Figures of comparisons: topics that drive a difference, the significance curve, a leaderboard with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankbounds.comparison.result import Comparison
from rankbounds.evaluation.score_differences import differences
from rankbounds.evaluation.scores import Scores
from rankbounds.plots.style import COLOURS, fresh_axes
from rankbounds.stats.discriminative_power import DiscriminativePower

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def topic_differences(scores: Scores, a: str, b: str, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Which topics drive the difference of two runs: a bar for each, and the mean as a line.

    Parameters
    ----------
    scores
        As from ``evaluate``.
    a, b
        The names of two runs. The topic with the largest gain of ``a`` over ``b`` comes first.
    measure
        Its label; without it the first of the scores.
    ax
        Where to draw; without it on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"1": {"x": 1}, "2": {"x": 1}}
    >>> runs = {"a": {"1": {"x": 1}, "2": {"x": 1}}, "b": {"1": {"x": 1}, "2": {"y": 2, "x": 1}}}
    >>> axes = rb.plots.topic_differences(rb.evaluate(qrels, runs, "RR"), "a", "b")
    >>> [float(bar.get_height()) for bar in axes.patches], axes.get_xlabel()
    ([0.5, 0.0], '2 topics, by difference')

    """
    axes = fresh_axes(ax)
    labels = [str(known) for known in scores.measures]
    column = labels.index(measure or labels[0])
    value_a, value_b = (scores.value[scores.runs.index(run), :, column] for run in (a, b))
    difference = differences(value_a, value_b)
    ordered = np.sort(difference)[::-1]
    axes.bar(np.arange(ordered.size), ordered, color=np.where(ordered >= 0, COLOURS[0], COLOURS[1]), width=0.85)
    axes.axhline(
        difference.mean(), color=COLOURS[6], linewidth=1, linestyle="--", label=f"mean {difference.mean():+.3f}"
    )
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set(xlabel=f"{ordered.size} topics, by difference", ylabel=f"{labels[column]}: {a} − {b}", xticks=[])  # noqa: RUF001
    axes.legend(frameon=False, loc="upper right")
    return axes


def significance_curve(power: DiscriminativePower, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """For each measure the pairs' significance levels in falling order: the lower the curve, the more it separates.

    Parameters
    ----------
    power
        As from ``rankbounds.stats.discriminative_power.discriminative_power``.
    alpha
        The level that a dotted line marks.
    ax
        Where to draw; without it on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> import rankbounds as rb
    >>> from types import SimpleNamespace
    >>> power = SimpleNamespace(significance={"AP": np.array([0.6, 0.03]), "P@10": np.array([0.9, 0.2])})
    >>> axes = rb.plots.significance_curve(power)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['AP', 'P@10']

    """
    axes = fresh_axes(ax)
    for number, (measure, levels) in enumerate(power.significance.items()):
        share = np.arange(1, levels.size + 1) / levels.size
        axes.plot(100 * share, levels, label=measure, color=COLOURS[number % len(COLOURS)], linewidth=1.4)
    axes.axhline(alpha, color="0.5", linewidth=0.8, linestyle=":")
    axes.annotate(f"α = {alpha:g}", (0, alpha), xytext=(2, 3), textcoords="offset points", fontsize=8)  # noqa: RUF001
    axes.set(xlabel="pairs of runs, largest level first (%)", ylabel="significance level", xlim=(0, 100), ylim=(0, 1))
    axes.legend(frameon=False, fontsize=8)
    return axes


def leaderboard(comparison: Comparison, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Runs by their means, best at the top: intervals over topics as lines, bounds over judgments as bars.

    Parameters
    ----------
    comparison
        As from ``compare``.
    measure
        Its label; without it the first of the comparison.
    ax
        Where to draw; without it on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"x": 1, "y": 0} for topic in range(4)}
    >>> runs = {"good": {str(topic): {"x": 2, "y": 1} for topic in range(4)}}
    >>> runs["poor"] = {str(topic): {"x": 1, "y": 1 + topic} for topic in range(4)}
    >>> axes = rb.plots.leaderboard(rb.compare(rb.evaluate(qrels, runs, "AP")))
    >>> [label.get_text().split()[0] for label in axes.get_yticklabels()]  # from the bottom up
    ['poor', 'good']

    """
    label = measure or comparison.systems[0]["measure"]
    rows = comparison.leaderboard(label)[::-1]
    axes = fresh_axes(ax, figsize=(5.4, max(1.6, 0.28 * len(rows) + 0.9)))
    place = np.arange(len(rows))
    for height, row in enumerate(rows):
        if row["low"] is not None:
            axes.barh(
                height, row["high"] - row["low"], left=row["low"], height=0.62, color=COLOURS[5], alpha=0.45, zorder=1
            )
        axes.plot([row["ci_low"], row["ci_high"]], [height, height], color=COLOURS[0], linewidth=1.6, zorder=2)
    axes.plot([row["mean"] for row in rows], place, "o", color=COLOURS[6], markersize=4, zorder=3)
    axes.set_yticks(place, [f"{row['run']}  {row['group']}" for row in rows], fontsize=8)
    confidence = f"{comparison.settings['confidence']:.0%}"
    axes.set(xlabel=f"{label}\npoint: mean; line: {confidence} interval; bar: bounds over judgments")
    return axes
