"""Figures of ties: how far they move scores, and what ties on purpose change."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.measures import Measure
from rankbounds.plots.style import COLOURS, figure, fresh_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ScoreChanges(Protocol):
    """Scores before and after treatments, as the study ``change_by_banding`` has them."""

    treatments: list[str]
    measures: list[Measure]

    def differences(self, treatment: int, measure: int) -> Floats:
        """Before minus after, for every run and topic."""

    def p_values(self, measure: int, treatment: int | None = None) -> Floats:
        """For every pair of runs."""


LEAST_RANGE = 1e-6


@figure
def ranges_by_ties(rows: Sequence[Mapping[str, Any]], ax: Axes | None = None) -> Axes:
    """For each run a line from its score with ties at worst to that with ties at best, by how far apart the two are.

    Parameters
    ----------
    rows
        Those of the study ``range_by_ties``.

    Returns
    -------
    matplotlib Axes
        Circles are trec_eval's order, triangles the mean over all; darker is more tied. Ranges below one in a million
        are drawn there.

    Examples
    --------
    >>> import rankbounds as rb
    >>> row = {"measure": "AP", "low": 0.2, "value": 0.3, "expected": 0.31, "high": 0.4, "range": 0.2}
    >>> axes = rb.plots.ranges_by_ties([{**row, "tied_documents": 5, "lines": 10}])
    >>> axes.get_xlabel()
    'mean AP'
    """
    if not rows:
        raise UsageError("There is no run to draw.")
    axes = fresh_axes(ax, figsize=(6.0, 4.0))
    height = np.maximum([row["range"] for row in rows], LEAST_RANGE)
    share = np.array([row["tied_documents"] / max(row["lines"], 1) for row in rows])
    low, high, value, expected = ([row[key] for row in rows] for key in ("low", "high", "value", "expected"))
    axes.hlines(height, low, high, colors="0.6", linewidth=1, label="worst to best")
    shades: dict[str, Any] = {"c": share, "cmap": "viridis_r", "vmin": 0, "vmax": 1}
    points = axes.scatter(value, height, s=22, zorder=3, label="trec_eval's order", **shades)
    hollow: dict[str, Any] = {"facecolors": "none", "edgecolors": COLOURS[1]}
    axes.scatter(expected, height, marker="^", s=14, zorder=4, label="mean over all orders", **hollow)
    axes.set_yscale("log")
    axes.set_xlabel(f"mean {rows[0]['measure']}")
    axes.set_ylabel("best minus worst order of ties\n(at $10^{-6}$: that or less)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small", frameon=False)
    figure: Any = axes.get_figure()
    figure.colorbar(points, ax=axes, label="share of documents tied to the one before")
    return axes


@figure
def changes_by_banding(changes: ScoreChanges, ax: Axes | None = None, *, measure: int = 0) -> Axes:
    """Box plots of the score lost on each topic of each run, by treatment. Whiskers end within 1.5 box lengths.

    Parameters
    ----------
    measure
        The number of the measure among those of ``changes``.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.studies.change_by_banding import measure_changes
    >>> made = rb.simulate(runs=2, topics=4, documents=50, depth=20, seed=1)
    >>> axes = rb.plots.changes_by_banding(measure_changes(made.complete, made.runs, "RR", rhos=["1.4", "2.0"]))
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['rho=1.4', 'rho=2.0']
    """
    axes = fresh_axes(ax)
    lost = [changes.differences(treatment, measure) for treatment in range(len(changes.treatments))]
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    boxes = axes.boxplot(lost, whis=1.5, widths=0.6, patch_artist=True, flierprops={"markersize": 2, "alpha": 0.3})
    for box in boxes["boxes"]:
        box.set(facecolor="white", edgecolor=COLOURS[0])
    for line in boxes["medians"]:
        line.set(color=COLOURS[1])
    axes.set_xticks(range(1, len(lost) + 1), changes.treatments, rotation=30 if len(lost) > 6 else 0)
    axes.set_ylabel(f"{changes.measures[measure]} lost on a topic")
    return axes


@figure
def p_values_by_banding(
    changes: ScoreChanges, ax: Axes | None = None, *, measure: int = 0, treatment: int = 0, alpha: float = 0.05
) -> Axes:
    """The p-values of all pairs of runs before (across) and after (up), and the share of pairs in each quadrant.

    Parameters
    ----------
    measure, treatment
        Their numbers among those of ``changes``.
    alpha
        The level that dotted lines mark.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.studies.change_by_banding import measure_changes
    >>> made = rb.simulate(runs=3, topics=4, documents=50, depth=20, seed=1)
    >>> axes = rb.plots.p_values_by_banding(measure_changes(made.complete, made.runs, "RR", rhos=["1.4"]))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('p of RR, exact', 'p of RR, rho=1.4')
    """
    axes = fresh_axes(ax, figsize=(4.2, 4.0))
    before, after = changes.p_values(measure), changes.p_values(measure, treatment)
    least = 1e-10  # smaller ones are drawn there
    axes.scatter(np.maximum(before, least), np.maximum(after, least), s=6, alpha=0.4, color=COLOURS[0], linewidths=0)
    axes.set(xscale="log", yscale="log", xlim=(least / 2, 2), ylim=(least / 2, 2))
    axes.axvline(alpha, color="0.4", linestyle=":")
    axes.axhline(alpha, color="0.4", linestyle=":")
    style: dict[str, Any] = {"transform": axes.transAxes, "fontsize": "small"}
    style["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}
    for along, y, late in (("top", 0.96, after > alpha), ("bottom", 0.04, after <= alpha)):
        for across, x, early in (("left", 0.04, before <= alpha), ("right", 0.96, before > alpha)):
            axes.text(x, y, f"{(early & late).mean():.1%}", ha=across, va=along, **style)
    axes.set_xlabel(f"p of {changes.measures[measure]}, exact")
    axes.set_ylabel(f"p of {changes.measures[measure]}, {changes.treatments[treatment]}")
    return axes
