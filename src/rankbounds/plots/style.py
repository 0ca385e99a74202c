"""What all figures share: style, colours that all readers tell apart, docs; drawing by name, and files."""

from __future__ import annotations

import inspect
import logging
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rankbounds.errors import UsageError, did_you_mean
from rankbounds.evaluation.scores import Scores
from rankbounds.files.writing import writing
from rankbounds.paper import INCHES
from rankbounds.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette."""
GREY = "0.55"
MARKERS = "osD^vPX*<>"
LINES = ("-", "--", ":", "-.")
MINUS = "\N{MINUS SIGN}"
STYLE = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.2,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "pdf.fonttype": 42,  # fonts are embedded whole: publishers refuse Type 3
    "ps.fonttype": 42,
    "figure.max_open_warning": 0,  # a notebook may show many
    "svg.hashsalt": "rankbounds",  # the same figure is the same file
}
"""Settings of matplotlib for figures that have no axes of the caller's."""
_MATHEMATICS = re.compile(r"greedy \$R'?_[GL]\$|\$\\mathdefault\{[^$]*\}\$")
"""Labels of vectors, and of logarithmic axes."""
PARAMETERS = {
    "ax": "Where to draw; without it on a new figure of pyplot.",
    "checks": "As from ``rankbounds.check``.",
    "comparison": "As from ``compare``.",
    "judges": "As from ``rankbounds.judging.compare_judges``.",
    "parts": "As from ``slices``.",
    "measure": "Its label; without it the first.",
    "scores": "As from ``evaluate``.",
    "p": "The persistence.",
    "judged_depth": "The last judged rank.",
    "topics": "The number of topics that the mean is over.",
}
"""What docstrings of figures say of parameters that they do not describe themselves."""
ENDINGS = ("pdf", "svg", "png")
NARROWEST = 2.0
"""Inches that one of several panels has at least."""

Drawing = TypeVar("Drawing", bound=Callable[..., Any])


def figure(drawing: Drawing) -> Drawing:
    """Draw in the common style unless the axes are the caller's; complete the docstring by what figures share."""

    @wraps(drawing)
    def draw(*given: Any, **named: Any) -> Any:
        places = inspect.signature(drawing).bind_partial(*given, **named).arguments
        with styled(places.get("ax", places.get("axes"))):
            axes = drawing(*given, **named)
            _keep_dollars(axes)  # (which makes the labels of ticks, so that they are in this style, too)
        return axes

    if drawing.__doc__:
        parts = re.split(r"^(\w+)\n-+\n", inspect.cleandoc(drawing.__doc__), flags=re.MULTILINE)
        sections = {"Parameters": "", "Returns": "matplotlib Axes"} | dict(zip(parts[1::2], parts[2::2], strict=True))
        entries = re.findall(r"^\S.*(?:\n +.*)*", sections["Parameters"], re.MULTILINE)
        described = {name: entry for entry in entries for name in re.findall(r"\w+", entry.partition("\n")[0])}
        shared = {name: f"{name}\n    {text}" for name, text in PARAMETERS.items()}
        ordered = (described.get(name) or shared[name] for name in inspect.signature(drawing).parameters)
        sections["Parameters"] = "\n".join(dict.fromkeys(ordered))
        written = (f"{name}\n{'-' * len(name)}\n{text.strip()}" for name, text in sections.items())
        draw.__doc__ = "\n\n".join([parts[0].strip(), *written]) + "\n"
    return cast(Drawing, draw)


def _keep_dollars(axes: Any) -> None:
    from matplotlib.text import Text

    for one in axes.flat if hasattr(axes, "flat") else [axes]:
        for text in one.findobj(Text):
            if "$" in text.get_text() and not _MATHEMATICS.fullmatch(text.get_text()):
                text.set_parse_math(False)


def pyplot() -> Any:
    """Import pyplot, or say what to install or to correct."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise UsageError('Figures need matplotlib: pip install "rankbounds[report]".') from None
    except ValueError as error:
        raise _unusable(error) from None
    return pyplot


def _unusable(error: Exception) -> UsageError:
    why = str(error).partition(";")[0]  # a list of all that it knows follows
    return UsageError(
        f"matplotlib cannot be used as it is set up ({why}): correct its file matplotlibrc, or set MPLBACKEND=agg."
    )


@contextmanager
def styled(ax: Any) -> Iterator[None]:
    """Settings of matplotlib for a new figure, in place of those of the user; for axes of the caller's none."""
    if ax is not None:
        yield
        return
    drawing = pyplot()
    try:  # what shows figures, as in a notebook, sets something that these settings would hide
        drawing.draw_if_interactive()
    except (ImportError, AttributeError) as error:
        raise _unusable(error) from None
    with drawing.style.context("default"), drawing.rc_context(STYLE):
        yield


def fresh_axes(ax: Axes | None, height: float = 2.3, width: str = "column", **more: Any) -> Axes:
    """The axes given, or new ones in a figure as wide as a column or a page."""
    if ax is not None:
        return ax
    axes: Axes = fresh_panels(1, 1, **{"figsize": (INCHES[width], height), **more})[0, 0]
    return axes


def fresh_panels(rows: int, columns: int, figsize: tuple[float, float], **arranged: Any) -> Any:
    """An array of new axes on one figure of pyplot; ``arranged`` as its ``subplots`` takes it."""
    arranged = {"layout": "constrained", **arranged}
    return pyplot().subplots(rows, columns, squeeze=False, figsize=figsize, **arranged)[1]


def draw_legend(axes: Axes, **more: Any) -> None:
    """Draw the legend above the axes, from their right end, where it hides nothing."""
    columns = len(axes.get_legend_handles_labels()[1])
    place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.1}
    axes.legend(**place | {"ncols": min(columns, 3)} | more)


def in_legend(name: str) -> str:
    """The label of a series of this name; matplotlib leaves labels that begin with ``_`` out of the legend."""
    return f" {name}" if name.startswith("_") else name


def colour_of(number: int) -> str:
    """The colour of a series by its number."""
    return COLOURS[number % len(COLOURS)]


def marker_of(number: int) -> str:
    """The marks of a series by its number."""
    return MARKERS[number % len(MARKERS)]


def draw_band(axes: Axes, x: Any, low: Any, high: Any, colour: str, label: str, style: str = "-") -> None:
    """A band from low to high with its two edges."""
    axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(x, low, style, color=colour, label=label)
    axes.plot(x, high, style, color=colour)


# ---- by name, and as files ----


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
