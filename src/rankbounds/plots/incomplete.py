"""Figures on incomplete judgments. Each takes the result of the study of the same name."""

# ruff: noqa: D417 (the decorator describes parameters that several figures have)
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankbounds.plots.style import COLOURS, colour_of, figure, fresh_axes, marker_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class StudyResult(Protocol):
    """What a study found."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of its table."""

    @property
    def settings(self) -> dict[str, Any]:
        """What would repeat it."""


TICKS = (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1)
STRATEGIES = {
    "depth": "pool to a depth",
    "A": "A: heaviest documents",
    "B": "B: uncertain runs first",
    "C": "C: good uncertain runs first",
}
BESIDE: dict[str, Any] = {"fontsize": "x-small", "loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}
"""A legend beside the axes."""


def _draw_series(
    axes: Axes, rows: Sequence[dict[str, Any]], x: str, y: str, label: str = "{measure}", **style: Any
) -> None:
    """One column of the rows against another, with a colour and marks for each label; a band where rows have ends."""
    series: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        series.setdefault(label.format_map(row), []).append(row)
    for number, (name, members) in enumerate(series.items()):
        across, along = [row[x] for row in members], [row[y] for row in members]
        # The palette has fewer colours than there may be measures: the second time round lines are dashed.
        line = {"linestyle": "-" if number < len(COLOURS) else "--", "color": colour_of(number)} | style
        axes.plot(across, along, marker=marker_of(number), label=name, **line)
        if "low_draw" in members[0]:
            low, high = ([row[end] for row in members] for end in ("low_draw", "high_draw"))
            axes.fill_between(across, low, high, color=line["color"], alpha=0.1, linewidth=0)


@figure
def by_rate(result: StudyResult, name: str, ax: Axes | None) -> Axes:
    """A column of the rows by the share of judgments kept, a line for each measure; bands hold 95% of the draws.

    Parameters
    ----------
    result
        Of a study over rates of judgments: rows with ``measure``, ``rate``, ``low_draw``, ``high_draw`` and the column.
    name
        Of the column.

    Examples
    --------
    >>> from rankbounds.plots.incomplete import by_rate
    >>> from rankbounds.studies import Result
    >>> ends = {"low_draw": 0.3, "high_draw": 0.5}
    >>> rows = [{"measure": "AP", "rate": rate, "power": rate / 200, **ends} for rate in (100, 50)]
    >>> axes = by_rate(Result(rows, "", {}), "power", None)
    >>> axes.get_xlabel(), axes.lines[0].get_ydata().tolist()
    ('judgments kept (%)', [0.5, 0.25])
    """
    axes = fresh_axes(ax, figsize=(6.4, 3.8))
    _draw_series(axes, result.rows, "rate", name)
    axes.invert_xaxis()
    axes.set_xlabel("judgments kept (%)")
    axes.legend(**BESIDE)
    return axes


@figure
def score_by_judgment_rate(result: StudyResult, ax: Axes | None = None) -> Axes:
    """Each measure's mean over runs as judgments grow fewer; the bands hold 95% of the draws.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.studies import Result
    >>> ends = {"low_draw": 0.3, "high_draw": 0.5}
    >>> rows = [{"measure": "AP", "rate": rate, "value": 0.4, **ends} for rate in (100, 50)]
    >>> axes = rb.plots.score_by_judgment_rate(Result(rows, "", {}))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('judgments kept (%)', 'mean over topics and runs')
    """
    axes = by_rate(result, "value", ax)
    axes.set_ylabel("mean over topics and runs")
    axes.set_ylim(bottom=0)
    return axes


@figure
def agreement_by_judgment_rate(result: StudyResult, ax: Axes | None = None) -> Axes:
    """How well fewer judgments keep the order of runs; the bands hold 95% of the draws.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.studies import Result
    >>> ends = {"low_draw": 0.8, "high_draw": 1.0}
    >>> rows = [{"measure": "AP", "rate": rate, "tau": 0.9, **ends} for rate in (90, 50)]
    >>> axes = rb.plots.agreement_by_judgment_rate(Result(rows, "", {}))
    >>> axes.get_ylabel()
    "Kendall's tau with all judgments"
    """
    axes = by_rate(result, "tau", ax)
    axes.set_ylabel("Kendall's tau with all judgments")
    axes.set_ylim(top=1.0)
    return axes


@figure
def agreement_by_measure(result: StudyResult, ax: Axes | None = None) -> Axes:
    """Kendall's tau between the orders of runs by every two measures, as a table of shades.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.studies import Result
    >>> result = Result([{"measure": "AP", "other": "RR", "pool_depth": None, "tau": 0.6}], "", {})
    >>> axes = rb.plots.agreement_by_measure(result)
    >>> [text.get_text() for text in axes.texts]
    ['1.00', '0.60', '0.60', '1.00']
    """
    rows = [row for row in result.rows if row["pool_depth"] is None]
    names = list(dict.fromkeys([row["measure"] for row in rows] + [row["other"] for row in rows]))
    side = 1.7 + 0.32 * len(names)
    axes = fresh_axes(ax, figsize=(side, side))
    tau = np.eye(len(names))
    for row in rows:
        a, b = names.index(row["measure"]), names.index(row["other"])
        tau[a, b] = tau[b, a] = row["tau"]
    least = float(tau.min())
    axes.imshow(tau, cmap="Blues", vmin=least - 0.1 * (1 - least), vmax=1.0)
    for (a, b), shade in np.ndenumerate(tau):
        colour = "white" if shade > least + 0.5 * (1 - least) else "black"
        axes.text(b, a, f"{shade:.2f}", ha="center", va="center", fontsize=6, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_title("Kendall's tau between orders of runs, all judgments", fontsize=9)
    return axes


@figure
def score_by_pool_depth(result: StudyResult, ax: Axes | None = None) -> Axes:
    """Each run's score under a shallow pool's judgments against that under all judgments.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.studies import Result
    >>> result = Result([{"measure": "AP", "depth": 10, "run": "a", "value": 0.3, "full": 0.4}], "", {})
    >>> axes = rb.plots.score_by_pool_depth(result)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['AP, pool depth 10', 'no change']
    """
    axes = fresh_axes(ax, figsize=(4.8, 4.4))
    label = "{measure}, pool depth {depth}"
    _draw_series(axes, result.rows, "value", "full", label, linestyle="", markersize=3, alpha=0.7)
    top = max((row[name] for row in result.rows for name in ("value", "full")), default=0.0)
    axes.plot([0, top], [0, top], ":", color="grey", label="no change")
    axes.set_xlabel("mean over topics, a pool of this depth judged")
    axes.set_ylabel("mean over topics, all judgments")
    axes.legend(fontsize="x-small", frameon=False)
    return axes


@figure
def change_by_leaving_a_group_out(result: StudyResult, ax: Axes | None = None) -> Axes:
    """What each run gains or loses when its group is left out of the pool, against the residual that warns of it.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.studies import Result
    >>> result = Result([{"measure": "AP", "residual": 0.02, "change": -0.01}], "", {"warning": "RBP(p=0.8)"})
    >>> axes = rb.plots.change_by_leaving_a_group_out(result)
    >>> axes.get_xlabel()
    "residual of RBP(p=0.8) without the group's own documents"
    """
    axes = fresh_axes(ax, figsize=(6.4, 3.8))
    _draw_series(axes, result.rows, "residual", "change", linestyle="", markersize=3, alpha=0.6)
    axes.axhline(0, color="grey", linewidth=0.8, linestyle=":")
    # Most runs lie close together near 0, a few far away: square roots bring them apart.
    axes.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
    axes.set_xlim(left=0)
    axes.set_xticks([tick for tick in TICKS if tick <= 1.3 * max(row["residual"] for row in result.rows)])
    axes.set_xlabel(f"residual of {result.settings['warning']} without the group's own documents")
    axes.set_ylabel("change of the run's mean")
    axes.legend(**BESIDE)
    return axes


@figure
def residual_by_judging_strategy(result: StudyResult, ax: Axes | None = None) -> Axes:
    """The mean residual by the number of judgments, for pools of growing depth and for targeted strategies.

    Examples
    --------
    >>> import rankbounds as rb
    >>> from rankbounds.studies import Result
    >>> rows = [{"strategy": name, "judgments": 10, "residual": 0.1} for name in ("depth", "A")]
    >>> axes = rb.plots.residual_by_judging_strategy(Result(rows, "", {"measure": "RBP(p=0.8)"}))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['pool to a depth', 'A: heaviest documents']
    """
    axes = fresh_axes(ax)
    order = list(dict.fromkeys(row["strategy"] for row in result.rows))
    rows = sorted(result.rows, key=lambda row: (order.index(row["strategy"]), row["judgments"]))
    named = [row | {"strategy": STRATEGIES[row["strategy"]]} for row in rows]
    _draw_series(axes, named, "judgments", "residual", "{strategy}")
    axes.set_xlabel("judgments made")
    axes.set_ylabel(f"mean residual of {result.settings['measure']}")
    if min(row["residual"] for row in result.rows) > 0:
        axes.set_yscale("log")
    axes.legend(fontsize="small", frameon=False)
    return axes
