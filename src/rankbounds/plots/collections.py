"""Figures of comparisons over several collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbounds.comparison.collections.result import CollectionsComparison
from rankbounds.plots.style import COLOURS, fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def collections_forest(
    comparison: CollectionsComparison,
    a: str | None = None,
    b: str | None = None,
    measure: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Two runs on every collection: differences with intervals, their mean, the random-effects summary, a new one.

    Parameters
    ----------
    comparison
        As from ``compare_collections``.
    a, b
        The names of two runs; without them the first two of the leaderboard.
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
    >>> qrels = {str(query): {"x": 1} for query in range(4)}
    >>> good, poor = {query: ["x"] for query in qrels}, {query: ["y", "x"] for query in qrels}
    >>> collections = {name: (qrels, {"good": good, "poor": poor | {"0": ["x"]}}) for name in ("web", "news")}
    >>> axes = rb.plots.collections_forest(rb.compare_collections(collections, "RR"))
    >>> [label.get_text() for label in axes.get_yticklabels()][:2]
    ['web (4)', 'news (4)']

    """
    leading = comparison.leading_pair(measure)
    a, b = a or leading[0], b or leading[1]
    label = str(comparison.measure(measure))
    parts = comparison.differences_of(a, b, label)
    row = comparison.pair(a, b, label)
    names = [f"{part['collection']} ({part['topics']:,})" for part in parts]
    overall = "mean of collections" if comparison.settings["mean"] == "collections" else "mean over all queries"
    names += [overall, *(["collections like these"] if row["summary"] is not None else [])]
    names += ["a new collection"] if row["new_low"] is not None else []
    axes = fresh_axes(ax, figsize=(5.8, 1.3 + 0.27 * len(names)))
    largest = max((part["topics"] for part in parts), default=1)
    for height, part in enumerate(parts):
        if part["ci_low"] is not None:
            axes.plot([part["ci_low"], part["ci_high"]], [height, height], color=COLOURS[0], linewidth=1.4, zorder=2)
        size = 3.0 + 4.0 * (part["topics"] / largest) ** 0.5
        axes.plot(part["difference"], height, "s", color=COLOURS[0], markersize=size, zorder=3)
    height = len(parts)
    _diamond(axes, row["ci_low"], row["difference"], row["ci_high"], height, COLOURS[6])
    if row["summary"] is not None:
        height += 1
        _diamond(axes, row["summary_low"], row["summary"], row["summary_high"], height, COLOURS[1])
    if row["new_low"] is not None:
        height += 1
        axes.plot([row["new_low"], row["new_high"]], [height, height], color=COLOURS[1], linewidth=3.5, alpha=0.55)
    axes.axvline(0, color="0.4", linewidth=0.8, zorder=1)
    axes.axhline(len(parts) - 0.5, color="0.8", linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    confidence = f"{comparison.settings['confidence']:.0%}"
    axes.set_xlabel(f"{label}: {a} − {b}, {confidence} intervals (topics in brackets)", fontsize=9)  # noqa: RUF001
    return axes


def _diamond(axes: Axes, low: float | None, middle: float, high: float | None, height: int, colour: str) -> None:
    if low is None or high is None:
        axes.plot(middle, height, "D", color=colour, markersize=4.0, zorder=3)
        return
    across, along = [low, middle, high, middle], [height, height - 0.24, height, height + 0.24]
    axes.fill(across, along, color=colour, linewidth=0, zorder=3)
