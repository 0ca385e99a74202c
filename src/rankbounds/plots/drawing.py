"""The figures of a result by name, and figures as files of the size that papers have."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.scores import Scores
from rankbounds.files.writing import writing
from rankbounds.paper import INCHES
from rankbounds.plots.style import styled
from rankbounds.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = ("pdf", "svg", "png")
"""Files that a figure can be written to."""
NARROWEST = 2.0
"""Inches that one of several panels has at least."""


def draw(result: Result | Scores, kind: str | None = None, **how: Any) -> Axes:
    """Draw a figure of a result: the usual one, or the one named.

    Parameters
    ----------
    result
        What ``evaluate``, ``compare``, ``uncertainty``, ``audit``, ``check`` or another function returns; its
        ``figures`` are the names of its figures, the usual one first.
    kind
        One of these names: that of a function of ``rankbounds.plots``.
    **how
        Arguments for that function: ``measure``, ``ax`` and others.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import rankbounds as rb
    >>> qrels = {"1": {"x": 1}, "2": {"x": 1}}
    >>> runs = {"a": {"1": ["y", "x"], "2": ["x"]}, "b": {"1": ["x"], "2": ["x"]}}
    >>> compared = rb.compare(qrels, runs, "RR")
    >>> compared.figures
    ('topic_differences', 'differences', 'leaderboard')
    >>> rb.plots.draw(compared, "leaderboard").get_xlabel()
    'RR'
    """
    from rankbounds import plots

    name = kind.replace("-", "_") if kind else next(iter(result.figures), None)
    if name not in result.figures:
        known = [known.replace("_", "-") for known in result.figures]
        if not known:
            raise UsageError("There is no figure of this result.")
        hint = did_you_mean(kind or "", known)
        raise UsageError(f'There is no figure "{kind}" of this result.{hint} There are: {", ".join(known)}.')
    axes: Axes = getattr(plots, name)(result, **how)
    return axes


def save(axes: Any, path: str | os.PathLike[str], width: str | float | None = None) -> tuple[float, float]:
    """Write the figure of these Axes to a file, with embedded fonts and in a paper's width.

    Parameters
    ----------
    axes
        What a function of ``rankbounds.plots`` returned.
    path
        The file, ending in .pdf, .svg or .png (300 dots per inch).
    width
        ``"column"`` (3.33 inches, one column of a two-column paper), ``"text"`` (4.77, a one-column paper), ``"page"``
        (7) or inches; by default as drawn.

    Returns
    -------
    tuple of float
        Width and height in inches.

    Examples
    --------
    >>> import rankbounds as rb
    >>> import os, tempfile
    >>> axes = rb.plots.contribution_of_ranks([0.5], depth=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rb.plots.save(axes, os.path.join(folder, "ranks.pdf"), "page")
    (7.0, 2.3)
    """
    ending = ending_of(path)
    drawn = (axes.flat[0] if hasattr(axes, "flat") else axes).get_figure()
    if width is not None:
        drawn.set_figwidth(INCHES[width] if isinstance(width, str) else width)
        _stack_panels(drawn)
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    fonts = logging.getLogger("fontTools")  # it warns of the dates in font files
    level = fonts.level
    fonts.setLevel(logging.ERROR)
    try:
        with writing(path, "wb") as out, styled(None):
            drawn.savefig(out, format=ending, dpi=300, metadata=metadata)
    finally:
        fonts.setLevel(level)
    across, down = map(float, drawn.get_size_inches())
    return across, down


def _stack_panels(drawn: Figure) -> None:
    """Stack side-by-side panels where they would be too narrow to read."""
    grid = drawn.axes[0].get_gridspec()
    if grid is None or grid.nrows > 1 or grid.ncols != len(drawn.axes):
        return
    if drawn.get_figwidth() / grid.ncols < NARROWEST:
        below = drawn.add_gridspec(grid.ncols, 1)
        for place, axes in enumerate(drawn.axes):
            axes.set_subplotspec(below[place])
        drawn.set_figheight(drawn.get_figheight() * 0.85 * grid.ncols)


def ending_of(path: str | os.PathLike[str]) -> str:
    """The ending of a file for a figure."""
    ending = os.fspath(path).rpartition(".")[2].lower()
    if ending not in ENDINGS:
        raise UsageError(f'"{os.fspath(path)}" is no file for a figure. Known endings: {", ".join(ENDINGS)}.')
    return ending
