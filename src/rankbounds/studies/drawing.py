"""Kinds of figures that several studies share: lines over what is varied, boxes, tables of shades."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.plots.style import COLOURS, colour_of, marker_of
from rankbounds.studies.study import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BESIDE: dict[str, Any] = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
"""A legend to the right of the axes, where it covers nothing."""


def draw_series(axes: Axes, rows: Rows, x: str, y: str, label: str = "{measure}", **style: Any) -> None:
    """Draw one column of the rows against another, a line with marks per label; a band if rows have ends."""
    series: dict[str, Rows] = {}
    for row in rows:
        series.setdefault(label.format_map(row), []).append(row)
    for number, (name, members) in enumerate(series.items()):
        across, along = [row[x] for row in members], _numbers(members, y)
        # The palette has fewer colours than there may be measures: the second time round lines are dashed.
        line = {"linestyle": "-" if number < len(COLOURS) else "--", "color": colour_of(number)} | style
        axes.plot(across, along, marker=marker_of(number), label=name, **line)
        if "low_draw" in members[0]:
            low, high = (_numbers(members, end) for end in ("low_draw", "high_draw"))
            axes.fill_between(across, low, high, color=line["color"], alpha=0.1, linewidth=0)


def _numbers(rows: Rows, name: str) -> Floats:
    return np.array([row[name] for row in rows], dtype=np.float64)


def draw_boxes(axes: Axes, values: Sequence[Floats], names: Sequence[str], label: str) -> None:
    """Draw a box from quartile to quartile per set of values, the median in colour; whiskers within 1.5 boxes."""
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    flier = {"markersize": 2, "alpha": 0.3, "rasterized": True}
    boxes = axes.boxplot(values, whis=1.5, widths=0.6, patch_artist=True, flierprops=flier)
    for box in boxes["boxes"]:
        box.set(facecolor="white", edgecolor=COLOURS[0])
    for line in boxes["medians"]:
        line.set(color=COLOURS[1])
    axes.set_xticks(range(1, len(names) + 1), names, rotation=30 if len(names) > 6 else 0)
    axes.set_ylabel(label)


def draw_shades(axes: Axes, table: Floats, names: Sequence[str], title: str) -> None:
    """A square table of numbers up to 1, the darker the larger."""
    least = float(np.nanmin(table))
    axes.imshow(table, cmap="Blues", vmin=least - 0.1 * (1 - least), vmax=1.0)
    for (a, b), shade in np.ndenumerate(table):
        colour = "white" if shade > least + 0.5 * (1 - least) else "black"
        axes.text(b, a, f"{shade:.2f}", ha="center", va="center", fontsize=6, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_title(title, fontsize=9)
