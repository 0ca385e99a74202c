"""Figures of comparisons: differences by topic, slice or collection, a leaderboard, significance, similarity."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.comparison.collections.result import CollectionsComparison
from rankbounds.comparison.comparison import Comparison
from rankbounds.comparison.similarity import Similarity
from rankbounds.comparison.slices import Slices
from rankbounds.evaluation.score_differences import differences
from rankbounds.evaluation.scores import Scores
from rankbounds.plots.style import COLOURS, colour_of, figure, fresh_axes
from rankbounds.stats.separation import DiscriminativePower

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 150
"""At most this many runs are named at the edge."""


@figure
def topic_differences(
    scores: Scores, run: str, against: str, measure: str | None = None, ax: Axes | None = None
) -> Axes:
    """Which topics drive the difference of two runs: a bar for each, and the mean as a line.

    Parameters
    ----------
    run, against
        The names of two runs. The topic with the largest gain of ``run`` over ``against`` comes first.

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
    one, other = (scores.value[scores.runs.index(name), :, column] for name in (run, against))
    ordered = np.sort(differences(one, other))[::-1]
    mean = ordered.mean()
    axes.bar(np.arange(ordered.size), ordered, color=np.where(ordered >= 0, COLOURS[0], COLOURS[1]), width=0.85)
    axes.axhline(mean, color=COLOURS[6], linewidth=1, linestyle="--", label=f"mean {mean:+.3f}")
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set(xlabel=f"{ordered.size} topics, by difference", ylabel=f"{labels[column]}: {run} − {against}", xticks=[])  # noqa: RUF001
    axes.legend(frameon=False, loc="upper right")
    return axes


@figure
def significance_curve(power: DiscriminativePower, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """For each measure the pairs' significance levels in falling order: the lower the curve, the more it separates.

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
        axes.plot(100 * share, levels, label=measure, color=colour_of(number), linewidth=1.4)
    axes.axhline(alpha, color="0.5", linewidth=0.8, linestyle=":")
    axes.annotate(f"α = {alpha:g}", (0, alpha), xytext=(2, 3), textcoords="offset points", fontsize=8)  # noqa: RUF001
    axes.set(xlabel="pairs of runs, largest level first (%)", ylabel="significance level", xlim=(0, 100), ylim=(0, 1))
    axes.legend(frameon=False, fontsize=8)
    return axes


@figure
def leaderboard(comparison: Comparison, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Runs by their means, best at the top: intervals over topics as lines, bounds over judgments as bars.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"x": 1, "y": 0} for topic in range(4)}
    >>> runs = {"good": {str(topic): {"x": 2, "y": 1} for topic in range(4)}}
    >>> runs["poor"] = {str(topic): {"x": 1, "y": 1 + topic} for topic in range(4)}
    >>> axes = rb.plots.leaderboard(rb.compare(qrels, runs, "AP"))
    >>> [label.get_text().split()[0] for label in axes.get_yticklabels()]  # from the bottom up
    ['poor', 'good']
    """
    label = measure or str(comparison.measures[0])
    rows = comparison.leaderboard(label)[::-1]
    axes = fresh_axes(ax, figsize=(5.4, max(1.6, 0.28 * len(rows) + 0.9)))
    place = np.arange(len(rows))
    for height, row in enumerate(rows):
        if row["low"] is not None:
            width = row["high"] - row["low"]
            axes.barh(height, width, left=row["low"], height=0.62, color=COLOURS[5], alpha=0.45, zorder=1)
        axes.plot([row["ci_low"], row["ci_high"]], [height, height], color=COLOURS[0], linewidth=1.6, zorder=2)
    axes.plot([row["mean"] for row in rows], place, "o", color=COLOURS[6], markersize=4, zorder=3)
    axes.set_yticks(place, [f"{row['run']}  {row['group']}" for row in rows], fontsize=8)
    confidence = f"{comparison.settings['confidence']:.0%}"
    axes.set(xlabel=f"{label}\npoint: mean; line: {confidence} interval; bar: bounds over judgments")
    return axes


@figure
def forest(
    parts: Slices, measure: str | None = None, pair: tuple[str, str] | None = None, ax: Axes | None = None
) -> Axes:
    """The difference of two runs in every part of the topics: points with intervals, and a diamond for all topics.

    Parameters
    ----------
    pair
        The names of two runs; without it the first pair.

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {str(topic): {"r": 1} for topic in range(8)}
    >>> runs = {"old": {topic: {"r": 1, "n": int(topic) % 2 * 2} for topic in qrels}}
    >>> runs["new"] = {topic: {"r": 2, "n": 1} for topic in qrels}
    >>> kind = {"kind": {topic: "odd" if int(topic) % 2 else "even" for topic in qrels}}
    >>> axes = rb.plots.forest(rb.compare(qrels, runs, "RR").slices(kind))
    >>> [label.get_text().split()[0] for label in axes.get_yticklabels()]  # from the bottom up
    ['all', 'odd', 'even', 'kind']
    """
    rows = parts.forest_rows(measure, pair)
    lines: list[dict[str, Any] | str] = []
    for row in rows:
        if row["heading"] and row["heading"] not in lines:
            lines.append(row["heading"])
        lines.append(row)
    lines.reverse()
    axes = fresh_axes(ax, figsize=(5.6, max(1.8, 0.27 * len(lines) + 1.0)))
    axes.axvline(0, color="0.4", linewidth=0.8, zorder=0)
    for height, line in enumerate(lines):
        if isinstance(line, str):
            continue
        over_all = not line["heading"]
        colour = COLOURS[6] if over_all else COLOURS[0]
        _draw_interval(axes, line, height, color=colour)
        axes.plot(line["difference"], height, "D" if over_all else "s", color=colour, markersize=6 if over_all else 4.5)
    labels = [line if isinstance(line, str) else f"{line['label']}  ({line['topics']})" for line in lines]
    axes.set_yticks(range(len(lines)), labels, fontsize=8)
    for text, line in zip(axes.get_yticklabels(), lines, strict=True):
        text.set_fontweight("bold" if isinstance(line, str) else "normal")
    axes.tick_params(axis="y", length=0)
    confidence = f"{parts.settings['confidence']:.0%}"
    first = rows[0]
    axes.set(
        xlabel=f"{first['measure']}: {first['run']} − {first['against']}\n"  # noqa: RUF001
        f"point: difference; line: {confidence} interval; in brackets: topics",
        ylim=(-0.7, len(lines) - 0.3),
    )
    return axes


@figure
def collections_forest(
    comparison: CollectionsComparison,
    run: str | None = None,
    against: str | None = None,
    measure: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Two runs on every collection: differences with intervals, their mean, the random-effects summary, a new one.

    Parameters
    ----------
    comparison
        As from ``compare_collections``.
    run, against
        The names of two runs; without them the first two of the leaderboard (of two runs, the second and the first).

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
    run, against = run or leading[0], against or leading[1]
    label = str(comparison.measure(measure))
    parts = comparison.differences_of(run, against, label)
    row = comparison.pair(run, against, label)
    names = [f"{part['collection']} ({part['topics']:,})" for part in parts]
    names += ["mean of collections" if comparison.settings["mean"] == "collections" else "mean over all queries"]
    names += ["collections like these"] if row["summary"] is not None else []
    names += ["a new collection"] if row["new_low"] is not None else []
    axes = fresh_axes(ax, figsize=(5.8, 1.3 + 0.27 * len(names)))
    largest = max((part["topics"] for part in parts), default=1)
    for height, part in enumerate(parts):
        _draw_interval(axes, part, height, color=COLOURS[0], zorder=2)
        size = 3.0 + 4.0 * (part["topics"] / largest) ** 0.5
        axes.plot(part["difference"], height, "s", color=COLOURS[0], markersize=size, zorder=3)
    height = len(parts)
    _draw_diamond(axes, row["ci_low"], row["difference"], row["ci_high"], height, COLOURS[6])
    if row["summary"] is not None:
        height += 1
        _draw_diamond(axes, row["summary_low"], row["summary"], row["summary_high"], height, COLOURS[1])
    if row["new_low"] is not None:
        height += 1
        axes.plot([row["new_low"], row["new_high"]], [height, height], color=COLOURS[1], linewidth=3.5, alpha=0.55)
    axes.axvline(0, color="0.4", linewidth=0.8, zorder=1)
    axes.axhline(len(parts) - 0.5, color="0.8", linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    confidence = f"{comparison.settings['confidence']:.0%}"
    axes.set_xlabel(f"{label}: {run} − {against}, {confidence} intervals (topics in brackets)", fontsize=9)  # noqa: RUF001
    return axes


def _draw_interval(axes: Axes, row: dict[str, Any], height: int, **style: Any) -> None:
    if row["ci_low"] is not None:
        axes.plot([row["ci_low"], row["ci_high"]], [height, height], linewidth=1.4, **style)


def _draw_diamond(axes: Axes, low: float | None, middle: float, high: float | None, height: int, colour: str) -> None:
    if low is None or high is None:
        axes.plot(middle, height, "D", color=colour, markersize=4.0, zorder=3)
        return
    across, along = [low, middle, high, middle], [height, height - 0.24, height, height + 0.24]
    axes.fill(across, along, color=colour, linewidth=0, zorder=3)


@figure
def similarity_matrix(similarity: Similarity, measure: str | None = None, ax: Axes | None = None) -> Axes:
    """Every run against every other, those that are alike side by side, with a tree of which belong together.

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
    named = range(0, len(names), -(-len(names) // MOST_NAMED))
    letters = 8 if len(names) <= 12 else 6 if len(names) <= 60 else 5
    axes.set_yticks(list(named), [names[place] for place in named], fontsize=letters)
    axes.set_xticks([])
    axes.yaxis.tick_right()
    axes.spines[:].set_visible(False)
    side = axes.inset_axes((-0.26, 0.0, 0.25, 1.0))
    for across, along in tree:
        side.plot(across, along, color="0.35", linewidth=0.8)
    side.set(ylim=(len(order) - 0.5, -0.5), xticks=[], yticks=[])
    side.invert_xaxis()
    side.spines[:].set_visible(False)
    drawn: Any = axes.get_figure()
    drawn.colorbar(shade, ax=axes, orientation="horizontal", fraction=0.04, pad=0.03, label=label)
    return axes
