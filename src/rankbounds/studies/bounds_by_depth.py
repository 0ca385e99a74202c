"""How deep must a list be judged before its RBP is known?

Mean RBP of every run read to growing depths, all beyond counted as unknown: low rises and high falls towards the value
with its residual at full depth. The more patient the user (the larger p), the deeper one must look.

Source: Moffat and Zobel (TOIS 2008, Figure 5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.plots.style import fresh_axes
from rankbounds.rbp import curves
from rankbounds.studies import BESIDE, Result, rows_by

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEPTHS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)


def run(
    qrels: Any,
    runs: Any,
    *,
    persistences: Sequence[float] = curves.PERSISTENCES,
    depths: Sequence[int] = DEPTHS,
    gain: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Rows ``run, p, depth, low, high``, means over topics."""
    mean = curves.bounds_by_depth(qrels, runs, depths, persistences, gain=gain, progress=progress).mean()
    axes = {"run": mean.runs, "p": persistences, "depth": depths}
    rows = rows_by(axes, {"low": mean.low, "high": mean.high})
    width = (mean.high - mean.low)[:, 0].mean(axis=0).reshape(len(persistences), len(depths))
    answer = " ".join(
        f"At p = {p:g} a run's mean is open by {width[row, 0]:.3f} on average at depth {depths[0]} and by "
        f"{width[row, -1]:.3f} at depth {depths[-1]}."
        for row, p in enumerate(persistences)
    )
    return Result(rows, answer, {"persistences": list(persistences), "depths": list(depths)})


def figure(result: Result, ax: Axes | None = None) -> Axes:
    """Low and high by depth for each p, averaged over the runs."""
    axes = fresh_axes(ax, figsize=(6.0, 3.4))
    depths = result.settings["depths"]
    for p, rows, colour in result.by("p"):
        low, high = (np.reshape([row[end] for row in rows], (-1, len(depths))).mean(axis=0) for end in ("low", "high"))
        axes.fill_between(depths, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(depths, low, color=colour, label=f"p = {p:g}")
        axes.plot(depths, high, color=colour)
    axes.set_xscale("log")
    axes.set_xticks([1, 10, 100], ["1", "10", "100"])
    axes.set(xlabel="depth read (ranks)", ylabel="bounds of mean RBP, average of runs", ylim=(0, 1))
    axes.legend(**BESIDE)
    return axes
