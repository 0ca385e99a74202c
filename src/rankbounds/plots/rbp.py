"""Figures of RBP: weights of ranks, bounds by depth and persistence, residuals, published scores at another p."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError, UsageError
from rankbounds.evaluation.scores import ALL, Scores
from rankbounds.measures.rank_biased_precision import RBP
from rankbounds.paper import INCHES
from rankbounds.plots.intervals import LETTERS, LONGEST_NAME, TALLEST
from rankbounds.plots.style import (
    COLOURS,
    LINES,
    colour_of,
    draw_band,
    draw_legend,
    figure,
    fresh_axes,
    fresh_panels,
    in_legend,
)
from rankbounds.rbp.crossings import Crossings
from rankbounds.rbp.curves import PERSISTENCES
from rankbounds.rbp.other_persistence import transfer_published
from rankbounds.rbp.published_score import Published
from rankbounds.terminal import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CURVES = 8
"""At most this many recall-precision curves have a colour and a name."""


@figure
def contribution_of_ranks(p: Sequence[float] = PERSISTENCES, depth: int = 20, *, ax: Axes | None = None) -> Axes:
    """Draw what a relevant document at each rank adds to RBP, for several p.

    Parameters
    ----------
    p
        The persistences, a line for each.
    depth
        The last rank.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.contribution_of_ranks([0.5], depth=3)
    >>> axes.lines[0].get_ydata().tolist()
    [0.5, 0.25, 0.125]
    """
    axes = fresh_axes(ax)
    from matplotlib.ticker import MaxNLocator

    for number, persistence in enumerate(p):
        weights = RBP(p=persistence).weights(depth)
        axes.plot(np.arange(1, depth + 1), weights, label=f"p = {persistence:g}", **_marked_line(number))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="rank", ylabel="contribution to RBP", xlim=(0.5, depth + 0.5), ylim=(0, None))
    draw_legend(axes)
    return axes


@figure
def bounds_by_depth(scores: Scores, run: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw low and high of one run's mean RBP as its lists are read deeper.

    Parameters
    ----------
    scores
        As from ``rb.rbp.bounds_by_depth``.
    run
        Its name; by default the first of the scores.

    Examples
    --------
    >>> import rankbounds as rb
    >>> scores = rb.rbp.bounds_by_depth({"q": {"a": 1}}, {"mine": {"q": {"a": 2.0, "b": 1.0}}}, 2, 0.5)
    >>> axes = rb.plots.bounds_by_depth(scores)
    >>> axes.get_title(loc="left"), axes.lines[1].get_ydata().tolist()
    ('mine', [1.0, 1.0])
    """
    axes = fresh_axes(ax)
    mean, number_of_run = scores.mean(), _number_of_run(scores, run)
    families: dict[float, list[tuple[int, int]]] = {}
    for column, measure in enumerate(mean.measures):
        if not isinstance(measure, RBP) or measure.cutoff is None:
            raise UsageError("This figure shows RBP at several depths: give it the result of bounds_by_depth.")
        families.setdefault(measure.p, []).append((measure.cutoff, column))
    for number, (p, places) in enumerate(families.items()):
        depth, columns = np.array(sorted(places)).T
        _draw_bounds(axes, depth, mean, number_of_run, columns, number, f"p = {p:g}")
    axes.set(xlabel="depth (documents read)", ylabel="mean RBP, low to high", ylim=(0, 1))
    axes.set_title(mean.runs[number_of_run], loc="left")
    draw_legend(axes)
    return axes


@figure
def bounds_by_persistence(
    scores: Scores,
    runs: Sequence[str] | None = None,
    *,
    crossings: Crossings | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw low and high of runs' mean RBP by p, crossings marked.

    Parameters
    ----------
    scores
        As from ``rb.rbp.bounds_by_persistence``.
    runs
        Their names; by default all of the scores.
    crossings
        As from ``rb.rbp.find_crossings``; those of the mean over topics are marked: a line where the winner changes, a
        dotted one where its lead becomes certain or uncertain.

    Examples
    --------
    >>> import rankbounds as rb
    >>> scores = rb.rbp.bounds_by_persistence({"q": {"a": 1}}, {"mine": {"q": {"a": 2.0, "b": 1.0}}}, (0.5, 0.8))
    >>> axes = rb.plots.bounds_by_persistence(scores)
    >>> axes.get_xlabel(), [text.get_text() for text in axes.get_legend().get_texts()]
    ('persistence p', ['mine'])
    """
    axes = fresh_axes(ax)
    mean = scores.mean()
    p = np.array([getattr(measure, "p", np.nan) for measure in mean.measures])
    if np.isnan(p).any():
        raise UsageError("This figure shows RBP at several p: give it the result of bounds_by_persistence.")
    order = np.argsort(p)
    for number, name in enumerate(runs or mean.runs):
        _draw_bounds(axes, p[order], mean, _number_of_run(mean, name), order, number, in_legend(name))
    for row in [] if crossings is None else crossings.rows():
        if row["query_id"] == ALL and p.min() <= row["p"] <= p.max():
            sure = row["change"] == "certainty"
            axes.axvline(row["p"], color="0.4", linestyle=":" if sure else "-", linewidth=0.8, zorder=0)
            if not sure:
                axes.annotate(
                    f"{row['p']:.3f}", (row["p"], 1), xycoords=("data", "axes fraction"), xytext=(2, -8),
                    textcoords="offset points", fontsize=6.5, color="0.3",
                )  # fmt: skip
    axes.set(xlabel="persistence p", ylabel="mean RBP, low to high", xlim=(p.min(), p.max()), ylim=(0, None))
    draw_legend(axes)
    return axes


@figure
def residual_parts(scores: Scores, *, ax: Axes | None = None) -> Axes:
    """Draw a bar per run: its certain mean RBP, and on top what unjudged documents and the lists' ends leave open.

    Parameters
    ----------
    scores
        As from ``evaluate``, with a measure that has a residual, such as RBP, and bounds for unjudged documents. If the
        bounds do not cover ties, a thin bar below shows how far their order moves the score.

    Examples
    --------
    >>> import rankbounds as rb
    >>> scores = rb.evaluate({"q": {"a": 1}}, {"mine": {"q": {"a": 2.0, "b": 1.0}}}, "RBP(p=0.5)")
    >>> axes = rb.plots.residual_parts(scores)
    >>> [float(bar.get_width()) for bar in axes.patches]
    [0.5, 0.25, 0.25]
    """
    mean = scores.mean()
    column = next((number for number, measure in enumerate(mean.measures) if measure.has_residual), None)
    if column is None or mean.parts is None or mean.bounds == "ties":
        raise UsageError(
            "This figure needs a measure with a residual, such as RBP, with bounds for unjudged documents."
        )
    step = min(0.19, TALLEST / max(len(mean.runs), 1))
    axes = fresh_axes(ax, max(1.4, step * len(mean.runs) + 1.0))
    unjudged, tail, ties = mean.parts[:, :, 0, column]
    place, left = np.arange(len(mean.runs)), mean.low[:, 0, column]
    stack = [(left, 0, "certain"), (unjudged, 1, "unjudged documents"), (tail, 4, "beyond the list")]
    if mean.bounds == "both":
        stack.append((ties, 5, "order of ties"))
    start = np.zeros(len(mean.runs))
    for width, colour, label in stack:
        named = label if (width > 0).any() else "_"
        axes.barh(place, width, left=start, height=0.7, color=COLOURS[colour], label=named)
        start = start + width
    if mean.bounds != "both" and (ties > 0).any():
        axes.barh(place + 0.43, ties, left=left, height=0.12, color="black", label="order of ties (width)")
    axes.set_yticks(place, shorten(list(mean.runs), LONGEST_NAME), fontsize=min(LETTERS, 72 * step * 0.9))
    axes.set(xlim=(0, 1), ylim=(len(mean.runs) - 0.4, -0.6), xlabel=f"mean {mean.measures[column]}")
    axes.tick_params(axis="y", length=0)
    draw_legend(axes, ncols=2)
    return axes


@figure
def recall_precision(scores: Scores, *, ax: Axes | None = None) -> Axes:
    """Draw recall-precision curves: mean interpolated precision at points of recall; of many runs, the best in colour.

    Parameters
    ----------
    scores
        As from ``evaluate`` with several measures ``IPrec(recall=...)``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> measures = [f"IPrec(recall={recall})" for recall in (0, 0.5, 1)]
    >>> scores = rb.evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}, measures)
    >>> axes = rb.plots.recall_precision(scores)
    >>> axes.lines[0].get_ydata().round(3).tolist()
    [1.0, 1.0, 0.667]
    """
    axes = fresh_axes(ax)
    mean = scores.mean()
    points = [(measure.recall, column) for column, measure in enumerate(mean.measures) if hasattr(measure, "recall")]
    if len(points) < 2:
        raise UsageError("A recall-precision curve needs IPrec at several points of recall.")
    recall, columns = zip(*sorted(points), strict=True)
    curves = mean.value[:, 0, list(columns)]
    best, others = np.split(np.argsort(-np.nanmean(curves, axis=1), kind="stable"), [MOST_CURVES])
    for number, run in enumerate(np.sort(best).tolist()):
        axes.plot(recall, curves[run], label=in_legend(mean.runs[run]), **_marked_line(number))
    if others.size:
        labels = [f"{others.size} other runs", *["_"] * (others.size - 1)]
        axes.plot(recall, curves[others].T, color="0.8", linewidth=0.5, zorder=1, label=labels)
    axes.set(xlabel="recall", ylabel="interpolated precision", xlim=(0, 1), ylim=(0, 1))
    draw_legend(axes)
    return axes


def _marked_line(number: int) -> dict[str, Any]:
    return {"linestyle": LINES[number % 4], "marker": "o", "markersize": 2.5, "color": colour_of(number)}


def _number_of_run(scores: Scores, name: str | None) -> int:
    if name is None:
        return 0
    if name not in scores.runs:
        raise UsageError(f'There is no run "{name}" in these scores.')
    return scores.runs.index(name)


def _draw_bounds(axes: Axes, x: Any, mean: Scores, run: int, columns: Any, number: int, label: str) -> None:
    low, high = mean.low[run, 0, columns], mean.high[run, 0, columns]
    draw_band(axes, x, low, high, colour_of(number), label, LINES[number % 4])


@figure
def range_over_persistence(
    published: Published,
    ax: Axes | None = None,
    *,
    persistences: Sequence[float] | Floats | None = None,
    methods: Sequence[str] = ("relaxed", "exact", "greedy"),
    time_limit: float = 0.5,
    marks: Sequence[float] = (),
    legend: bool = True,
) -> Axes:
    """Draw the range of a published score over all persistences: bands for relaxed and exact, lines for greedy.

    The lines are the vectors of Zhang, Park and Moffat (ADCS 2008), which can fall outside the bands.

    Parameters
    ----------
    published
        One score, with a residual or without.
    persistences
        Where to compute the ranges; by default at 33 places.
    methods
        Which to draw, of ``relaxed``, ``exact`` and ``greedy``.
    time_limit
        Seconds for either end of an exact range.
    marks
        Persistences to mark by a dotted line.
    legend
        Whether to draw one.

    Examples
    --------
    >>> import rankbounds as rb
    >>> published = rb.rbp.Published("0.43", 0.8)
    >>> axes = rb.plots.range_over_persistence(published, persistences=[0.5, 0.9], methods=["relaxed"])
    >>> axes.get_title()
    'RBP 0.43 at p=0.8'
    """
    axes = fresh_axes(ax, 2.7)
    chosen = np.linspace(0.02, 0.98, 33) if persistences is None else np.asarray(persistences, dtype=np.float64)
    grid = np.unique([*chosen, published.p, *marks])
    for method, alpha in (("relaxed", 0.18), ("exact", 0.45)):
        if method in methods:
            ranges = [transfer_published(published, to, method, time_limit) for to in grid.tolist()]  # type: ignore[arg-type]
            low, high = [there.low for there in ranges], [there.high for there in ranges]
            axes.fill_between(grid, low, high, color=COLOURS[0], alpha=alpha, linewidth=0, label=method)
    if "greedy" in methods and published.steps == 1 and published.depth is None:
        _draw_vectors(axes, published, grid)
    ends = (
        [published.printed.value]
        if published.residual is None
        else [published.score_range[0], published.total_range[1]]
    )
    marks_of_ends = "o" if len(ends) == 1 else "o-"
    axes.plot([published.p] * len(ends), ends, marks_of_ends, color="black", markersize=4, label="published", zorder=5)
    for mark in marks:
        axes.axvline(mark, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="persistence p", ylabel="RBP")
    axes.set_title(f"RBP {published}")
    if legend:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=4.4, ncols=3)
    return axes


def _draw_vectors(axes: Axes, published: Published, grid: Floats) -> None:
    vectors = published.vectors
    curves = np.array([vectors.scores(to) for to in grid.tolist()]).T
    names = ("greedy $R_G$", "greedy $R_L$", "greedy $R'_G$", "greedy $R'_L$")
    drawn = curves[: 4 if published.printed_residual else 2]
    for curve, name, dashes in zip(drawn, names, ("-", "--", "-.", ":"), strict=False):
        axes.plot(grid, curve, dashes, color=COLOURS[1], linewidth=1.2, label=name)


@figure
def range_panel(
    persistences: Sequence[float] = (0.2, 0.5, 0.8),
    scores: Sequence[float] = (0.2, 0.5, 0.8),
    axes: Any = None,
    *,
    digits: int = 4,
    **options: Any,
) -> Any:
    """Draw a panel for every p and score, each the range over all persistences (Figure 3 of the paper).

    Parameters
    ----------
    persistences
        One per column.
    scores
        One per row, the lowest at the bottom.
    axes
        An array of Axes to draw on; by default a new figure.
    digits
        The number of known digits of the scores.
    **options
        Those of ``range_over_persistence``.

    Returns
    -------
    array of matplotlib Axes
        A score that cannot occur at its p leaves a panel that says so.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.range_panel([0.2, 0.8], [0.5], methods=["relaxed"])
    >>> [panel.get_title() for panel in axes[0]], axes[0, 0].texts[0].get_text()
    (['RBP 0.5000 at p=0.2', 'RBP 0.5000 at p=0.8'], 'cannot occur')
    """
    if axes is None:
        size = (INCHES["page"], 1.9 * len(scores) + 0.4)
        axes = fresh_panels(len(scores), len(persistences), figsize=size, sharex=True, sharey=True)
    for row, score in enumerate(sorted(scores, reverse=True)):
        for column, p in enumerate(persistences):
            ax = axes[row, column]
            try:
                range_over_persistence(Published(score, p, digits=digits), ax, legend=False, **options)
            except DataError:
                ax.text(0.5, 0.5, "cannot occur", ha="center", va="center", color="grey")
                ax.set_title(f"RBP {score:.{digits}f} at p={p:g}")
            ax.label_outer()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    axes[0, 0].get_figure().legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return axes
