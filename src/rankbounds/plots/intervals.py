"""Lines of numbers below each other: points with intervals, bounds as bars, names on the left.

Leaderboards, forests of differences and ranks share it, so that they look alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from rankbounds.plots.style import COLOURS, draw_legend, fresh_axes
from rankbounds.terminal import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Ends = tuple[float | None, float | None]
NONE: Ends = (None, None)
ROW, TALLEST, LETTERS = 0.17, 9.0, 7.0
"""Inches of a line where there are few, of the tallest figure, and points of its letters."""
LONGEST_NAME, LONGEST_LEGEND = 30, 36
POINT: dict[str, Any] = {"markersize": 4, "linestyle": "none", "zorder": 4}


@dataclass(frozen=True)
class Line:
    """A name and its numbers; of a heading the name alone."""

    name: str
    value: float | None = None
    interval: Ends = NONE
    bounds: Ends = NONE
    beside: float | None = None
    """Another number, drawn as a hollow mark."""
    note: str = ""
    """Written on the right; of a heading inside the axes."""
    colour: str = COLOURS[0]
    marker: str = "o"
    size: float = 4.0
    heading: bool = False


def draw_lines(
    lines: Sequence[Line], ax: Axes | None, xlabel: str, legend: Mapping[str, str], *, zero: bool = False
) -> Axes:
    """Draw the lines, the first at the top.

    ``legend`` names ``value``, ``interval``, ``bounds`` and ``beside``; what is not drawn is left out. ``zero`` draws
    the line of no difference.
    """
    from matplotlib.ticker import MaxNLocator

    step = min(ROW, TALLEST / max(len(lines), 1))
    letters = min(LETTERS, 72 * step * 0.9)
    axes = fresh_axes(ax, max(1.15, step * len(lines) + 0.75))
    if zero:
        axes.axvline(0, color="0.3", linewidth=0.7, zorder=1)
    axes.hlines(range(len(lines)), 0, 1, transform=axes.get_yaxis_transform(), color="0.93", linewidth=0.5, zorder=0)
    thin = min(1.0, step / ROW)
    drawn: dict[str, Any] = {}
    for height, line in enumerate(lines):
        low, high = line.bounds
        if low is not None and high is not None and isfinite(high - low):
            bar = axes.barh(height, high - low, left=low, height=0.56, color=COLOURS[5], alpha=0.38, zorder=2)
            drawn.setdefault("bounds", bar)
        low, high = line.interval
        if low is not None and high is not None and isfinite(high - low):
            (across,) = axes.plot([low, high], [height] * 2, color=line.colour, linewidth=1.5 * thin, zorder=3)
            across.set_solid_capstyle("butt")
            drawn.setdefault("interval", across)
        if line.beside is not None:
            hollow = POINT | {"markersize": 3.4 * thin + 0.4, "markerfacecolor": "white", "markeredgewidth": 0.8}
            drawn.setdefault("beside", axes.plot(line.beside, height, "o", color=COLOURS[1], **hollow)[0])
        if line.value is not None:
            filled = POINT | {"markersize": line.size * thin + 0.3, "color": line.colour}
            drawn.setdefault("value", axes.plot(line.value, height, line.marker, **filled)[0])
        if line.note:
            axes.annotate(
                line.note, (1, height), xycoords=axes.get_yaxis_transform(), xytext=(-2 if line.heading else 3, 0),
                textcoords="offset points", va="center", ha="right" if line.heading else "left", fontsize=letters,
                color="0.35", annotation_clip=False,
            )  # fmt: skip
    axes.set_yticks(range(len(lines)), shorten([line.name for line in lines], LONGEST_NAME), fontsize=letters)
    for text, line in zip(axes.get_yticklabels(), lines, strict=True):
        text.set_fontweight("bold" if line.heading else "normal")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.use_sticky_edges = False
    axes.margins(x=0.04)
    axes.set(xlabel=xlabel, ylim=(len(lines) - 0.4, -0.6))
    ticks = MaxNLocator(6, steps=[1, 2, 2.5, 5, 10], min_n_ticks=1)
    axes.xaxis.set_major_locator(ticks)  # the same in every width that is tried
    named = [name for name in legend if name in drawn]
    if len(named) > 1 or "bounds" in named:
        labels = [legend[name] for name in named]
        ncols = 4 if sum(map(len, labels)) <= LONGEST_LEGEND else 2
        draw_legend(axes, handles=[drawn[name] for name in named], labels=labels, ncols=ncols)
    return axes
