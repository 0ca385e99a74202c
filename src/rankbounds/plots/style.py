"""What all figures share: fresh axes in publication defaults, colours and marks that all readers tell apart, docs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rankbounds.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette."""
MARKERS = "osD^vPX*<>"
LINES = ("-", "--", ":", "-.")
PARAMETERS = {
    "ax": "Where to draw; without it on a new figure.",
    "checked": "As from ``rankbounds.probability.models.estimates.reliability``.",
    "comparison": "As from ``compare``.",
    "judges": "As from ``rankbounds.judging.compare_judges``.",
    "parts": "As from ``slices``.",
    "power": "As from ``rankbounds.stats.discriminative_power``.",
    "similarity": "As from ``similarity``, of three runs or more.",
    "measure": "Its label; without it the first.",
    "scores": "As from ``evaluate``.",
    "p": "The persistence.",
    "judged_depth": "The last judged rank.",
    "topics": "The number of topics that the mean is over.",
    "alpha": "The level that a dotted line marks.",
}
"""What docstrings of figures say of parameters that they do not describe themselves."""

Drawing = TypeVar("Drawing", bound=Callable[..., Any])


def figure(drawing: Drawing) -> Drawing:
    """Complete the docstring of a figure: the parameters that several figures have, and that it returns Axes."""
    if drawing.__doc__:
        parts = re.split(r"^(\w+)\n-+\n", inspect.cleandoc(drawing.__doc__), flags=re.MULTILINE)
        sections = {"Parameters": "", "Returns": "matplotlib Axes"} | dict(zip(parts[1::2], parts[2::2], strict=True))
        entries = re.findall(r"^\S.*(?:\n +.*)*", sections["Parameters"], re.MULTILINE)
        described = {name: entry for entry in entries for name in re.findall(r"\w+", entry.partition("\n")[0])}
        shared = {name: f"{name}\n    {text}" for name, text in PARAMETERS.items()}
        ordered = (described.get(name) or shared[name] for name in inspect.signature(drawing).parameters)
        sections["Parameters"] = "\n".join(dict.fromkeys(ordered))
        written = (f"{name}\n{'-' * len(name)}\n{text.strip()}" for name, text in sections.items())
        drawing.__doc__ = "\n\n".join([parts[0].strip(), *written]) + "\n"
    return drawing


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
    new_figure = ShownFigure(figsize=figsize, layout="constrained")
    axes = new_figure.subplots(rows, columns, squeeze=False, subplot_kw={"axes_class": ShownAxes}, **arranged)
    for panel in axes.flat:
        panel.spines[["top", "right"]].set_visible(False)
    return axes.view(Panels)


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
