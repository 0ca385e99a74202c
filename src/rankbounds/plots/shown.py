"""Axes that a notebook shows: as the last expression of a cell they are the picture of their whole figure.

Figures are made without pyplot, which keeps every figure alive and shows it a second time at the end of the cell. Axes
that a caller handed in stay what they are: whoever made them shows them.
"""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SHARPNESS = 2
"""Pixels for each one that the picture takes on the page, so that it is sharp on fine screens too."""


def picture(figure: Any) -> tuple[bytes, dict[str, int]]:
    """The figure as PNG, and how large it is to be shown."""
    written = io.BytesIO()
    figure.savefig(written, format="png", dpi=SHARPNESS * figure.dpi, bbox_inches="tight")
    drawn = written.getvalue()
    width, height = struct.unpack(">II", drawn[16:24])  # (where every PNG has them)
    return drawn, {"width": width // SHARPNESS, "height": height // SHARPNESS}


class ShownFigure(Figure):
    """A figure with a picture for notebooks."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        return picture(self)


class ShownAxes(Axes):
    """Axes with a picture for notebooks."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        return picture(self.get_figure())


class Panels(np.ndarray):
    """Several Axes of one figure, in rows and columns as they are drawn."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
        return picture(self.flat[0].get_figure()) if self.size else None
