"""What all figures share: fresh axes in publication defaults, and colours that colour-blind readers tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankbounds.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette."""


def fresh_axes(ax: Axes | None, **size: Any) -> Axes:
    """The axes given, or new ones of a size that fits a column."""
    if ax is not None:
        return ax
    axes: Axes = fresh_panels(1, 1, **size)[0, 0]
    return axes


def fresh_panels(rows: int, columns: int, figsize: tuple[float, float] = (5.0, 3.4), **arranged: Any) -> Any:
    """An array of new axes on one figure; ``arranged`` as matplotlib's ``Figure.subplots`` takes it."""
    try:
        from rankbounds.plots.shown import Panels, ShownAxes, ShownFigure
    except ImportError:
        raise UsageError('Figures need matplotlib: install "rankbounds[report]".') from None
    figure = ShownFigure(figsize=figsize, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, subplot_kw={"axes_class": ShownAxes}, **arranged)
    for panel in axes.flat:
        panel.spines[["top", "right"]].set_visible(False)
    return axes.view(Panels)


def save(axes: Axes, path: str) -> None:
    """Write a figure to a file.

    Parameters
    ----------
    axes
        What a plot returned.
    path
        The file's ending names the format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import rankbounds as rb
    >>> from rankbounds.plots.style import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "ranks.svg"
    ...     save(rb.plots.contribution_of_ranks(), str(path))
    ...     path.exists()
    True

    """
    figure: Any = axes.get_figure()
    figure.savefig(path, dpi=200)
