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
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError('Figures need matplotlib: install "rankbounds[report]".') from None
    figure = Figure(figsize=size.get("figsize", (5.0, 3.4)), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return axes


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
