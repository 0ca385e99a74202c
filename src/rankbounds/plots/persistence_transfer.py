"""What a published RBP score may be at every other persistence: figures 2, 3 and 4 of Zhang, Park and Moffat.

The paper's two vectors are drawn as lines over the bounds that hold, so that it shows where the lines fall short.
"""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import DataError
from rankbounds.plots.style import COLOURS, figure, fresh_axes, fresh_panels
from rankbounds.rbp.published_score import BINARY, Published
from rankbounds.rbp.transfer import transferred
from rankbounds.rbp.vectors import greedy_vectors

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@figure
def draw_range(
    published: Published,
    ax: Axes | None = None,
    *,
    persistences: Sequence[float] | Floats | None = None,
    methods: Sequence[str] = ("relaxed", "exact", "greedy"),
    time_limit: float = 0.5,
    marks: Sequence[float] = (),
    legend: bool = True,
) -> Axes:
    """The range of a published score over all persistences: a band for relaxed, one for exact, lines for greedy.

    Parameters
    ----------
    published
        One score.
    persistences
        Where to compute the ranges; without them at 33 places.
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
    >>> axes = rb.plots.draw_range(rb.Published("0.43", 0.8), persistences=[0.5, 0.9], methods=["relaxed"])
    >>> axes.get_title()
    'RBP 0.43 at p=0.8'
    """
    axes = fresh_axes(ax)
    chosen = np.linspace(0.02, 0.98, 33) if persistences is None else np.asarray(persistences, dtype=np.float64)
    grid = np.unique([*chosen, published.p, *marks])
    for method, alpha in (("relaxed", 0.18), ("exact", 0.45)):
        if method in methods:
            ranges = [transferred(published, to, method, time_limit) for to in grid.tolist()]  # type: ignore[arg-type]
            low, high = [there.low for there in ranges], [there.high for there in ranges]
            axes.fill_between(grid, low, high, color=COLOURS[0], alpha=alpha, linewidth=0, label=method)
    if "greedy" in methods and published.gains == BINARY and published.depth is None:
        _draw_vectors(axes, published, grid)
    ends = [published.values] if published.residual is None else [published.score_range[0], published.total_range[1]]
    marks_of_ends = "o" if len(ends) == 1 else "o-"
    axes.plot([published.p] * len(ends), ends, marks_of_ends, color="black", markersize=4, label="published", zorder=5)
    for mark in marks:
        axes.axvline(mark, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="persistence p", ylabel="RBP")
    axes.set_title(f"RBP {published}", fontsize="medium")
    if legend:
        axes.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=4)
    return axes


def _draw_vectors(axes: Axes, published: Published, grid: Floats) -> None:
    residual = 0.0 if published.open_values is None else float(published.open_values)
    vectors = greedy_vectors(published.values, published.p, 10.0**-published.known_digits, residual)
    curves = np.array([vectors.scores(to) for to in grid.tolist()]).T
    names = ("greedy $R_G$", "greedy $R_L$", "greedy $R'_G$", "greedy $R'_L$")
    for curve, name, dashes in zip(curves[: 4 if residual else 2], names, ("-", "--", "-.", ":"), strict=False):
        axes.plot(grid, curve, dashes, color=COLOURS[1], linewidth=1.2, label=name)


@figure
def range_over_persistence(score: Any, p: float, ax: Axes | None = None, *, digits: int = 4, **options: Any) -> Axes:
    """The range over all persistences of a score published at p (Figure 2 of the paper).

    Parameters
    ----------
    score, p, digits
        As of ``Published``.
    **options
        Those of ``draw_range``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.range_over_persistence(0.5, 0.8, methods=["relaxed"])
    >>> axes.get_title()
    'RBP 0.5000 at p=0.8'
    """
    return draw_range(Published(score, p, digits=digits), ax, **options)


@figure
def range_with_residual(
    score: Any, p: float, residual: Any, ax: Axes | None = None, *, digits: int = 4, **options: Any
) -> Axes:
    """The range over all persistences of a score published at p with a residual (Figure 4 of the paper).

    Parameters
    ----------
    score, p, residual, digits
        As of ``Published``.
    **options
        Those of ``draw_range``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> axes = rb.plots.range_with_residual(0.5, 0.8, 0.1, methods=["relaxed"])
    >>> axes.get_title()
    'RBP 0.5000 +0.1000 at p=0.8'
    """
    return draw_range(Published(score, p, residual, digits), ax, **options)


@figure
def range_panel(
    persistences: Sequence[float] = (0.2, 0.5, 0.8),
    scores: Sequence[float] = (0.2, 0.5, 0.8),
    axes: Any = None,
    *,
    digits: int = 4,
    **options: Any,
) -> Any:
    """A panel for every p and score, each the range over all persistences (Figure 3 of the paper).

    Parameters
    ----------
    persistences
        A column for each.
    scores
        A row for each, the lowest at the bottom.
    axes
        An array of Axes to draw on; without it a new figure.
    digits
        To how many digits the scores are known.
    **options
        Those of ``draw_range``.

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
        size = (2.3 * len(persistences), 2.1 * len(scores))
        axes = fresh_panels(len(scores), len(persistences), figsize=size, sharex=True, sharey=True)
    for row, score in enumerate(sorted(scores, reverse=True)):
        for column, p in enumerate(persistences):
            ax = axes[row, column]
            try:
                range_over_persistence(score, p, ax, digits=digits, legend=False, **options)
            except DataError:
                ax.text(0.5, 0.5, "cannot occur", ha="center", va="center", color="grey")
                ax.set_title(f"RBP {score:.{digits}f} at p={p:g}", fontsize="medium")
            ax.label_outer()
    handles, labels = axes[0, 0].get_legend_handles_labels()
    axes[0, 0].get_figure().legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return axes
