"""Figures of labels in question beside trusted ones: agreement by grade, bias by run."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankbounds.arrays import Floats
from rankbounds.errors import UsageError
from rankbounds.judging.judges.comparison import Judges
from rankbounds.paper import INCHES
from rankbounds.plots.style import MINUS, colour_of, draw_legend, figure, fresh_axes, fresh_panels, in_legend, marker_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY_RUNS = 20
"""More runs take the width of a page."""


def _draw_agreement(judges: Judges, axes: Axes) -> None:
    trusted = sorted({row["trusted"] for row in judges.by_grade})
    place = {grade: number for number, grade in enumerate(trusted)}
    for number, (name, aside) in enumerate(zip(judges.labels, _offsets(judges, 0.18), strict=True)):
        rows = [row for row in judges.by_grade if row["labels"] == name and row["relevant"] is not None]
        across = np.array([place[row["trusted"]] for row in rows]) + aside
        share = np.array([row["relevant"] for row in rows])
        low, high = (
            np.array([row["relevant"] if row[end] is None else row[end] for row in rows])
            for end in ("ci_low", "ci_high")
        )
        axes.errorbar(
            across, share, yerr=[np.maximum(share - low, 0), np.maximum(high - share, 0)],
            color=colour_of(number), marker=marker_of(number),
            markersize=3, linewidth=1.0, elinewidth=0.8, capsize=1.5, label=in_legend(name),
        )  # fmt: skip
    ideal = [float(grade >= judges.settings["rel"]) for grade in trusted]
    axes.step(range(len(trusted)), ideal, where="mid", color="0.7", linewidth=1.4, zorder=0, label="full agreement")
    axes.set_xticks(range(len(trusted)), [f"{grade:g}" for grade in trusted])
    axes.set(
        xlabel=f"grade by {judges.settings['trusted']} (relevant from {judges.settings['rel']:g})",
        ylabel="share called relevant",
        ylim=(-0.03, 1.03),
    )
    draw_legend(axes, ncols=2)


def _offsets(judges: Judges, width: float) -> Floats:
    return np.linspace(-width, width, len(judges.labels)) if len(judges.labels) > 1 else np.zeros(1)


def _draw_bias(judges: Judges, measure: str | None, axes: Axes) -> None:
    label = judges.measures[0] if measure is None else str(measure)
    if label not in judges.measures:
        raise UsageError(f"These labels were not compared by {label}, but by {', '.join(judges.measures)}.")
    runs = list(dict.fromkeys(row["run"] for row in judges.systems if row["measure"] == label))
    for number, (name, aside) in enumerate(zip(judges.labels, _offsets(judges, 0.25), strict=True)):
        rows = [row for row in judges.systems if row["measure"] == label and row["labels"] == name]
        colour: dict[str, Any] = {"color": colour_of(number)}
        across = np.arange(len(rows)) + aside
        bias, low, high = np.array([(row["bias"], row["ci_low"], row["ci_high"]) for row in rows], dtype=np.float64).T
        flagged = np.array([row["flag"] is not None for row in rows])
        axes.vlines(across, low, high, linewidth=0.6, alpha=0.45, **colour)
        marker, hollow = marker_of(number), colour | {"markerfacecolor": "white", "markeredgewidth": 0.8}
        axes.plot(across, bias, marker, markersize=3.2, label=in_legend(name), **hollow)
        axes.plot(across[flagged], bias[flagged], marker, markersize=4.6, **colour)
        axes.axhline(bias.mean(), linestyle="--", linewidth=0.8, alpha=0.8, **colour)
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set_xticks(
        range(len(runs)), runs, rotation=90, fontsize=7 if len(runs) <= 30 else 5 if len(runs) <= 80 else 3.5
    )
    axes.tick_params(axis="x", length=0)
    axes.set(xlabel="runs, best first (filled: favoured or penalised)")
    axes.set_ylabel(f"{label}: labels {MINUS} {judges.settings['trusted']}")
    axes.set_xlim(-0.6, len(runs) - 0.4)
    draw_legend(axes, ncols=min(4, len(judges.labels)))


@figure
def labels_overview(judges: Judges, measure: str | None = None) -> Axes:
    """Draw what share of each trusted grade labels call relevant and, if there are runs, each run's bias beside it.

    Labels that agree fully are on the grey steps. A bias is a run's score by the labels minus the trusted one, the best
    run by the trusted labels first; filled marks are runs that labels favour or penalise significantly more than the
    others, dashed lines the mean bias of all runs.

    Parameters
    ----------
    measure
        Of the bias; by default the first.

    Returns
    -------
    matplotlib Axes
        The first of the two.

    Examples
    --------
    >>> import rankbounds as rb
    >>> people = {str(topic): {"a": 1, "b": 0} for topic in range(4)}
    >>> model = {str(topic): {"a": 1, "b": topic % 2} for topic in range(4)}
    >>> runs = {"one": {topic: ["a"] for topic in people}, "two": {topic: ["b"] for topic in people}}
    >>> axes = rb.plots.labels_overview(rb.judging.compare_judges(people, {"model": model}, runs, "P@1"))
    >>> len(axes.get_figure().axes)
    2
    """
    if judges.systems:
        many = len({row["run"] for row in judges.systems}) > MANY_RUNS
        shape: dict[str, Any] = {"height_ratios": (1, 1.4)} if many else {"width_ratios": (1, 1.6)}
        panels = fresh_panels(1 + many, 2 - many, figsize=(INCHES["page"], 5.4 if many else 2.8), **shape)
        _draw_bias(judges, measure, panels.flat[1])
    axes: Axes = panels.flat[0] if judges.systems else fresh_axes(None)
    _draw_agreement(judges, axes)
    return axes
